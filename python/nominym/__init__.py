"""Anonymize nominal and set-valued microdata with what the values mean.

>>> import nominym as nym
>>> tax = nym.Taxonomy.from_edges([("flu", "illness"), ("coma", "illness")])
>>> tax.distance("flu", "coma")
0.5
"""

from nominym import datasets, distortion, error, itemsets, risk, stats
from nominym._core import __version__
from nominym.control import set_threads
from nominym.error import NominymError, PrivacyWarning
from nominym.itemsets import Itemsets, best_order, gray_order, gray_tsp_order, recode, tour_length
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
    "best_order",
    "data_swap",
    "datasets",
    "distortion",
    "error",
    "gray_order",
    "gray_tsp_order",
    "itemsets",
    "rank_swap",
    "read_taxonomy",
    "recode",
    "risk",
    "set_threads",
    "stats",
    "tour_length",
]
