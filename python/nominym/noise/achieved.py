"""What noise achieved, told in figures. Nothing here names a record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import _core
from nominym.stats.semantic import correlation_changes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.frame import Column
    from nominym.noise.domain import Domain


class Before:
    """A column before noise: its domain, and the concept of each category."""

    def __init__(self, domain: Domain, column: Column, places: NDArray[np.uint32]) -> None:
        """Hold them together."""
        self.domain, self.column, self.places = domain, column, places


def of_column(before: Before, after: Column, places: NDArray[np.uint32]) -> dict[str, Any]:
    """Tell how far values moved, and how many did not."""
    space, column = before.domain.space, before.column
    x, y, count = _core.joint(column.codes, after.codes, (len(column.categories), len(places)))
    from_, to = before.places[x], places[y]
    squares = math.fsum(count * space.pairs(from_, to) ** 2)
    records = int(count.sum())
    return {
        "rmse": math.sqrt(squares / records) if records else 0.0,
        "unchanged": int(count[from_ == to].sum()) / records if records else 1.0,
        "categories": len(places),
        "missing": column.missing,
        "root": before.domain.root,
        "domain": len(before.domain),
    }


def of_moments(before: Before, after: Column, places: NDArray[np.uint32], progress: Progress) -> dict[str, Any]:
    """Compare semantic mean and variance before and after."""
    space = before.domain.space
    means = [
        space.mean(at, column.counts, progress) for at, column in ((before.places, before.column), (places, after))
    ]
    variances = []
    for mean, at, column in zip(means, (before.places, places), (before.column, after), strict=True):
        squares = space.pairs(at, np.full_like(at, mean)) ** 2
        variances.append(math.fsum(column.counts * squares) / int(column.counts.sum()))
    first, second = (np.array([mean], dtype=np.uint32) for mean in means)
    return {
        "mean_before": space.names[means[0]],
        "mean_after": space.names[means[1]],
        "mean_distance": float(space.pairs(first, second)[0]),
        "variance_before": variances[0],
        "variance_after": variances[1],
    }


def of_correlations(
    before: Mapping[Any, Before], after: Mapping[Any, tuple[Column, NDArray[np.uint32]]], progress: Progress
) -> pd.DataFrame:
    """Compare the distance correlations of all pairs of columns before and after."""
    was = {name: (b.column.codes, b.domain.space.matrix(b.places, progress)) for name, b in before.items()}
    now = {
        name: (column.codes, before[name].domain.space.matrix(places, progress))
        for name, (column, places) in after.items()
    }
    return correlation_changes(was, now, progress)
