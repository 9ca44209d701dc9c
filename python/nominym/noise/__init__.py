"""Semantic noise: values are replaced by concepts as far away as a drawn error says.

``add_noise`` masks a table in one call; ``NoiseModel`` keeps fitting and masking apart, for batches and streams. The
other modules check what was asked (``request``), hold a column's concepts (``domain``), draw errors (``errors``), tell
what was achieved (``achieved``) and keep models in files (``file``).
"""

from nominym.noise.model import NoiseModel, add_noise

__all__ = ["NoiseModel", "add_noise"]
