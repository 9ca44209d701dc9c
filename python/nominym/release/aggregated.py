"""Whether a release of microaggregation is what its groups make: one value for all of a group, and the right one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym import _core
from nominym.aggregate import Interval, aggregated, lost, parse, published
from nominym.table import MISSING

if TYPE_CHECKING:
    from nominym.aggregate import Microaggregate
    from nominym.control import Progress
    from nominym.groups import Partition
    from nominym.release.comparing import FilePair
    from nominym.table import Change, Column


def smallest_class(pair: FilePair, masked: Sequence[str]) -> int:
    """Count the records of the smallest class of equal rows."""
    sizes, _ = _core.class_sizes([pair.comparison.after.column(name).dense() for name in masked], None)
    return int(sizes[0])


def departures(pair: FilePair, masked: Sequence[str], partition: Partition, method: Microaggregate) -> list[str]:
    """Say where the values of groups differ, or are not those that the method makes."""
    found = []
    for name in masked:
        column = pair.comparison.after.column(name)
        codes = column.dense()[0][partition.records]
        starts = np.cumsum(partition.sizes) - partition.sizes
        several = int((np.minimum.reduceat(codes, starts) != np.maximum.reduceat(codes, starts)).sum())
        if several:
            found.append(f"column {name!r}: {several:,} groups have several values")
        elif name not in pair.weaker:
            made = aggregated(pair.comparison.changes[name].before, partition, common=method.replace == "subsumer")
            firsts = partition.records[starts]
            wrong = int((~_same(made.after.column, column, firsts)).sum())
            if wrong:
                found.append(f"column {name!r}: {wrong:,} groups have another value than theirs")
    return found


def figures_of(pair: FilePair, masked: Sequence[str], partition: Partition, method: Microaggregate,
               progress: Progress = None) -> tuple[dict[str, dict[str, Any]], dict[str, float]]:  # fmt: skip
    """Compute what is public of the loss, by column and altogether; the latter only where all meanings are known."""
    common, found = method.replace == "subsumer", {}
    for name in masked:
        if name not in pair.weaker:
            before = pair.comparison.changes[name].before
            change: Change = aggregated(before, partition, common=common, progress=progress)
            found[name] = lost(change, before, progress)
    rounded, overall = published(found)
    return rounded, overall if len(found) == len(masked) else {}


def _same(made: Column, released: Column, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Tell for some rows whether both columns have the same value, however it is written."""
    pairs, numbers = np.unique(
        np.stack([made.codes[rows], released.codes[rows]]).astype(np.int64), axis=1, return_inverse=True
    )
    same = [
        a == b == MISSING or (MISSING not in (a, b) and _alike(made.categories[a], released.categories[b]))
        for a, b in pairs.T.tolist()
    ]
    return np.array(same, dtype=bool)[numbers.reshape(-1)]


def _alike(first: Any, second: Any) -> bool:
    if isinstance(first, list | tuple | np.ndarray):
        return sorted(map(str, first)) == sorted(map(str, second))
    one, other = (parse(x) if isinstance(x, str) else str(x) for x in (first, second))
    if isinstance(one, Interval) and isinstance(other, Interval):
        return all(map(_equal, one, other))
    if isinstance(one, str) and isinstance(other, str):
        return _equal(one, other)
    return one == other


def _equal(first: str, second: str) -> bool:
    if first == second:
        return True
    try:
        return math.isclose(float(first), float(second), rel_tol=1e-9)
    except ValueError:
        # Dates with and without a time of midnight.
        return first.removesuffix(" 00:00:00") == second.removesuffix(" 00:00:00")
