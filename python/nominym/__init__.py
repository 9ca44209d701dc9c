"""Anonymize nominal, mixed and set-valued microdata using what the values mean.

>>> import nominym as nym
>>> tax = nym.Taxonomy.from_edges([("flu", "illness"), ("coma", "illness")])
>>> tax.distance("flu", "coma")
0.5
"""

from nominym import datasets, distortion, error, itemsets, release, report, risk, stats
from nominym._core import __version__
from nominym.control import set_threads
from nominym.error import NominymError, PrivacyWarning, SeedWarning
from nominym.guarantee import Guarantee
from nominym.itemsets import Itemsets, Recode, best_order, gray_order, gray_tsp_order, recode, tour_length
from nominym.meaning import CONTENTS, MEASURES, DistanceMatrix, Equality, Measure, Order, Taxonomy, read_taxonomy
from nominym.method import Result
from nominym.noise import Noise, NoiseModel, add_noise
from nominym.release import publish
from nominym.swap import DataSwap, RankSwap, data_swap, rank_swap

__all__ = [
    "CONTENTS",
    "MEASURES",
    "DataSwap",
    "DistanceMatrix",
    "Equality",
    "Guarantee",
    "Itemsets",
    "Measure",
    "Noise",
    "NoiseModel",
    "NominymError",
    "Order",
    "PrivacyWarning",
    "RankSwap",
    "Recode",
    "Result",
    "SeedWarning",
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
    "publish",
    "rank_swap",
    "read_taxonomy",
    "recode",
    "release",
    "report",
    "risk",
    "set_threads",
    "stats",
    "tour_length",
]
