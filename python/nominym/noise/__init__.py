"""Semantic noise: values are replaced with concepts at a randomly drawn semantic distance.

``method`` masks a table in one call; ``model`` separates fitting from masking, for batches, streams and files.
``domain`` holds a column's concepts, ``errors`` draws errors.
"""

from nominym.noise.method import Noise, add_noise
from nominym.noise.model import NoiseModel

__all__ = ["Noise", "NoiseModel", "add_noise"]
