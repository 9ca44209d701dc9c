"""Anonymize nominal and set-valued microdata with what the values mean.

>>> import nominym as nym
>>> tax = nym.Taxonomy.from_edges([("flu", "illness"), ("coma", "illness")])
>>> tax.distance("flu", "coma")
0.5
"""

from nominym import datasets, error, stats
from nominym.control import set_threads
from nominym.error import NominymError
from nominym.taxonomy import CONTENTS, MEASURES, DistanceMatrix, Measure, Taxonomy, read_taxonomy

__all__ = [
    "CONTENTS",
    "MEASURES",
    "DistanceMatrix",
    "Measure",
    "NominymError",
    "Taxonomy",
    "datasets",
    "error",
    "read_taxonomy",
    "set_threads",
    "stats",
]
