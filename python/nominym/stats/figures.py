"""Figures from counts: quantiles, and confidence intervals of a sample."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_QUANTILES = {"min": 0.0, "5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95, "max": 1.0}

_Z = 1.959964
"""Standard normal quantile that leaves 2.5 % above."""


def quantiles(counts: NDArray[np.uint64], values: NDArray[Any] | None = None) -> dict[str, int]:
    """Return quantiles of values with given frequencies; the values ascend, by default 0, 1, 2, …

    >>> quantiles(np.array([1, 0, 3], dtype=np.uint64))["median"]
    2
    >>> quantiles(np.array([1, 3], dtype=np.uint64), np.array([1, 20]))["median"]
    20
    """
    sums = np.cumsum(counts)
    if not len(sums) or not sums[-1]:
        return {}
    total = int(sums[-1])
    places = {name: int(np.searchsorted(sums, max(math.ceil(q * total), 1))) for name, q in _QUANTILES.items()}
    return places if values is None else {name: int(values[place]) for name, place in places.items()}


def interval(
    mean: float, squares: float, size: int, population: int | None = None, z: float = _Z
) -> tuple[float, float]:
    """Return 95 % bounds for the mean of numbers from 0 to 1, given the mean and the mean square of a sample.

    The score interval of Wilson for a share, with the sample size that would give a share the variance that was seen:
    numbers between 0 and 1 vary less than zeros and ones of the same mean. If nothing varies in the sample, its own
    size is used. With the size of the ``population``, the interval of a sample that is a large part of it is narrower.
    Another ``z``, the quantile of the standard normal distribution, gives bounds of another level.

    >>> [round(bound, 4) for bound in interval(0.1, 0.1, 100)]
    [0.0552, 0.1744]
    >>> interval(0.0, 0.0, 100)[0]
    0.0

    Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22; for other samples,
    Franco, Little, Louis and Slud (2019), Comparative study of confidence intervals for proportions in complex sample
    surveys, Journal of Survey Statistics and Methodology 7.
    """
    binary = mean * (1 - mean)
    variance = (squares - mean * mean) * size / (size - 1) if size > 1 else 0.0
    # Differences of floats that stand for nothing are nothing.
    ratio = min(variance / binary, 1.0) if binary > 0 and variance > 1e-12 * binary else 1.0
    left = 1.0 if population is None else (population - size) / max(population - 1, 1)
    if left <= 0:
        return mean, mean
    one = z * z * ratio * left / size
    centre = (mean + one / 2) / (1 + one)
    reach = math.sqrt(binary * one + one * one / 4) / (1 + one)
    return max(min(centre - reach, mean), 0.0) if mean > 0 else 0.0, min(max(centre + reach, mean), 1.0)
