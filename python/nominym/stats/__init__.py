"""Semantic statistics: exact for any number of records, because they are computed on categories.

The semantic ones (``semantic``) are those of the thesis: mean and variance over a taxonomy, distance covariance and
correlation, root mean square error. ``marginality`` maps hierarchical values to numbers.

All take columns of any library or plain sequences; records with a missing value are left out (``missing="keep"``) or an
error (``missing="error"``).
"""

from nominym.stats.figures import interval, quantiles
from nominym.stats.marginality import (
    marginality,
    marginality_covariance,
    marginality_covariance_matrix,
    marginality_mean,
    marginality_variance,
    sse_distance,
    var_h,
)
from nominym.stats.semantic import (
    correlation,
    correlation_changes,
    covariance_matrix,
    covariances,
    distance_correlation,
    distance_covariance,
    distance_variance,
    rmse,
    semantic_mean,
    semantic_variance,
)

__all__ = [
    "correlation",
    "correlation_changes",
    "covariance_matrix",
    "covariances",
    "distance_correlation",
    "distance_covariance",
    "distance_variance",
    "interval",
    "marginality",
    "marginality_covariance",
    "marginality_covariance_matrix",
    "marginality_mean",
    "marginality_variance",
    "quantiles",
    "rmse",
    "semantic_mean",
    "semantic_variance",
    "sse_distance",
    "var_h",
]
