"""Anonymize nominal, mixed and set-valued microdata using what the values mean.

>>> import nominym as nym
>>> tax = nym.Taxonomy.from_edges([("flu", "illness"), ("coma", "illness")])
>>> tax.distance("flu", "coma")
0.5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nominym import error
from nominym._core import __version__
from nominym.error import NominymError, PrivacyWarning, SeedWarning

if TYPE_CHECKING:
    from nominym import aggregate, datasets, distortion, itemsets, release, report, risk, spark, stats, study
    from nominym.aggregate import Microaggregate, microaggregate
    from nominym.control import set_threads
    from nominym.guarantee import Guarantee
    from nominym.itemsets import Itemsets, Recode, best_order, gray_order, gray_tsp_order, tour_length, tree_order
    from nominym.itemsets.recode import recode
    from nominym.meaning import (
        CONTENTS,
        MEASURES,
        DistanceMatrix,
        Equality,
        Measure,
        Order,
        Sets,
        Taxonomy,
        read_taxonomy,
    )
    from nominym.method import Result
    from nominym.noise import Noise, NoiseModel, add_noise
    from nominym.release import publish
    from nominym.study import Study
    from nominym.swap import DataSwap, RankSwap, data_swap, rank_swap
    from nominym.table import one_record_per_person

__all__ = [
    "CONTENTS",
    "MEASURES",
    "DataSwap",
    "DistanceMatrix",
    "Equality",
    "Guarantee",
    "Itemsets",
    "Measure",
    "Microaggregate",
    "Noise",
    "NoiseModel",
    "NominymError",
    "Order",
    "PrivacyWarning",
    "RankSwap",
    "Recode",
    "Result",
    "SeedWarning",
    "Sets",
    "Study",
    "Taxonomy",
    "__version__",
    "add_noise",
    "aggregate",
    "best_order",
    "data_swap",
    "datasets",
    "distortion",
    "error",
    "gray_order",
    "gray_tsp_order",
    "itemsets",
    "microaggregate",
    "one_record_per_person",
    "publish",
    "rank_swap",
    "read_taxonomy",
    "recode",
    "release",
    "report",
    "risk",
    "set_threads",
    "spark",
    "stats",
    "study",
    "tour_length",
    "tree_order",
]

# Rooms that are names of their own, and the names that others have for everybody.
_ROOMS = ("aggregate", "datasets", "distortion", "itemsets", "release", "report", "risk", "spark", "stats", "study")
_NAMES = {
    "aggregate": "Microaggregate microaggregate",
    "control": "set_threads",
    "guarantee": "Guarantee",
    "itemsets": "Itemsets Recode best_order gray_order gray_tsp_order recode tour_length tree_order",
    "meaning": "CONTENTS MEASURES DistanceMatrix Equality Measure Order Sets Taxonomy read_taxonomy",
    "method": "Result",
    "noise": "Noise NoiseModel add_noise",
    "release": "publish",
    "study": "Study",
    "swap": "DataSwap RankSwap data_swap rank_swap",
    "table": "one_record_per_person",
}
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a subpackage on first use, so that commands start quickly and can be interrupted from the start."""
    if name in _ROOMS:
        return import_module(f"nominym.{name}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'nominym' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"nominym.{_ROOM_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    """List the public names."""
    return __all__
