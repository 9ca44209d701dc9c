"""Anonymize nominal and set-valued microdata with what the values mean.

>>> import nominym as nym
>>> tax = nym.Taxonomy.from_edges([("flu", "illness"), ("coma", "illness")])
>>> tax.distance("flu", "coma")
0.5
"""

from nominym import datasets, distortion, error, itemsets, stats
from nominym._core import __version__
from nominym.control import set_threads
from nominym.error import NominymError, PrivacyWarning
from nominym.itemsets import Itemsets
from nominym.noise import NoiseModel, add_noise
from nominym.result import Result
from nominym.swap import data_swap, rank_swap
from nominym.taxonomy import CONTENTS, MEASURES, DistanceMatrix, Measure, Taxonomy, read_taxonomy

__all__ = [
    "CONTENTS",
    "MEASURES",
    "DistanceMatrix",
    "Itemsets",
    "Measure",
    "NoiseModel",
    "NominymError",
    "PrivacyWarning",
    "Result",
    "Taxonomy",
    "__version__",
    "add_noise",
    "data_swap",
    "datasets",
    "distortion",
    "error",
    "itemsets",
    "rank_swap",
    "read_taxonomy",
    "set_threads",
    "stats",
]
