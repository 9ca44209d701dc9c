"""Distortion: how much a masked table's joint distributions differ from those of the original.

Every measure takes two tables, before and after masking by any method, and looks at the joint distribution of some
columns (all by default). Only tuples that occur are counted. A missing value is a category of its own; values are
compared by their text, so that the type of a table may have changed.

``k_marginal``, ``marginals``, ``scores`` and ``propensity`` are published measures; they also take tables of different
sizes.

Gomatam and Karr (2003), Distortion measures for categorical data swapping, NISS technical report 131.
"""

from nominym.distortion.figure import heat_map
from nominym.distortion.marginals import k_marginal, marginals, scores
from nominym.distortion.measure import (
    MEASURES,
    compare,
    contingency_change,
    cramers_v_change,
    entropy_change,
    hellinger,
    table,
    total_variation,
)
from nominym.distortion.propensity import Propensity, propensity

__all__ = [
    "MEASURES",
    "Propensity",
    "compare",
    "contingency_change",
    "cramers_v_change",
    "entropy_change",
    "heat_map",
    "hellinger",
    "k_marginal",
    "marginals",
    "propensity",
    "scores",
    "table",
    "total_variation",
]
