"""What swapping achieved, told in figures: of columns, of groups, of correlations. Nothing here names a record."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import _core
from nominym.frame import Table, distinct_codes
from nominym.stats.semantic import correlation_changes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.swap.columns import Nominal, Ordered

_QUANTILES = {"min": 0.0, "5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95, "max": 1.0}


def of_column(
    column: Nominal | Ordered, after: NDArray[np.uint32], candidates: NDArray[np.uint64], k: int
) -> dict[str, Any]:
    """Tell what happened to a column. ``candidates[c]`` counts the swaps that had ``c`` candidates."""
    before = column.column
    x, y, count = _core.joint(before.codes, after, (column.categories, column.categories))
    both, known, swaps = int(count.sum()), len(before) - before.missing, int(candidates.sum())
    return {
        "rmse": math.sqrt(math.fsum(count * column.between(x, y) ** 2) / both) if both else 0.0,
        "unchanged": int(count[x == y].sum()) / known,
        "no_partner": int(candidates[:1].sum()),
        "candidates": quantiles(candidates),
        "fewer_than_k": int(candidates[:k].sum()) / swaps if swaps else 0.0,
        "categories": column.categories,
        "missing": before.missing,
        "missing_moved": known - both,
        "root": column.root,
    }


def notes(attributes: Mapping[Any, dict[str, Any]], method: str, k: int) -> list[str]:
    """Say in words what a reader of the figures should not miss."""
    found = []
    still = [str(name) for name, figures in attributes.items() if figures["unchanged"] == 1.0]
    if still and method == "dynamic":
        found.append(
            f"{', '.join(still)}: no value changed. Where every category has more than k = {k:,} records, swapping "
            "inside clusters exchanges equal values; combinations of columns stay as unique as they were. Use "
            "method='records' or guarantee='strict'"
        )
    elif still:
        found.append(f"{', '.join(still)}: no value changed")
    few = {str(name): figures["fewer_than_k"] for name, figures in attributes.items() if figures["fewer_than_k"] > 0}
    if few and method != "random":
        shares = ", ".join(f"{name} {share:.1%}" for name, share in few.items())
        found.append(
            f"swaps that had fewer than k = {k:,} candidates: {shares}. Re-identification at most 1/k is not promised; "
            "use guarantee='strict' for a promise that holds"
        )
    return found


def quantiles(histogram: NDArray[np.uint64]) -> dict[str, int]:
    """Give quantiles of the numbers whose frequencies are listed.

    >>> quantiles(np.array([1, 0, 3], dtype=np.uint64))["median"]
    2
    """
    sums = np.cumsum(histogram)
    if not len(sums) or not sums[-1]:
        return {}
    total = int(sums[-1])
    return {name: int(np.searchsorted(sums, max(math.ceil(q * total), 1))) for name, q in _QUANTILES.items()}


# Below so many rows they may well be in order by chance.
_CHANCE = 30


def in_order(table: Mapping[Any, Nominal]) -> list[str]:
    """Name the columns by which the rows are sorted, in whatever order: there, the place of a row tells its value."""
    found = []
    for name, column in table.items():
        codes = column.column.codes
        if len(codes) < _CHANCE:
            continue
        changes = int((codes[1:] != codes[:-1]).sum())
        distinct = column.categories + (column.column.missing > 0)
        together = changes == distinct - 1 and 2 < distinct <= len(codes) // 2
        steps = np.sign(np.diff(codes.astype(np.int64)))
        monotone = distinct > 2 and bool((steps >= 0).all() or (steps <= 0).all())
        if together or monotone:
            found.append(str(name))
    return found


def of_groups(groups: NDArray[np.uint32], table: Table, masked: Collection[Any]) -> dict[str, Any]:
    """Tell the sizes of groups, and in how many an untouched column has one value only.

    Whoever is known to belong to such a group has that value, whichever row is theirs.
    """
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.cumsum(sizes) - sizes
    constant = {}
    for name in table.names:
        if name not in masked:
            codes = distinct_codes(table.values(name))[order]
            same = np.minimum.reduceat(codes, starts) == np.maximum.reduceat(codes, starts)
            constant[name] = {"groups": int(same.sum()), "records": int(sizes[same].sum())}
    size, times = np.unique(sizes, return_counts=True)
    return {
        "count": len(sizes),
        "smallest": int(size[0]),
        "largest": int(size[-1]),
        "sizes": dict(zip(size.tolist(), times.tolist(), strict=True)),
        "constant": constant,
    }


def of_correlations(
    columns: Mapping[Any, Nominal], after: Sequence[NDArray[np.uint32]], progress: Progress
) -> pd.DataFrame:
    """Compare the distance correlations of all pairs of columns before and after."""
    before = {name: (column.column.codes, column.distances) for name, column in columns.items()}
    changed = {name: (codes, columns[name].distances) for name, codes in zip(columns, after, strict=True)}
    return correlation_changes(before, changed, progress)
