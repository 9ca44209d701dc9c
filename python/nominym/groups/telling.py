"""How well columns predict others: combinations that occur, how often they agree, and numbers in equal parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nominym.table import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.table import Column

_PARTS = 100
"""Largest number of equal parts into which numbers are divided; about the square root of the records."""
_SAMPLED = 100_000
"""Records used for a first look at sets of columns, where there are many more."""
_REMAINDERS = (*range(2, 13), 100)
_LETTERS = 3
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Coded(NamedTuple):
    """Records as numbers from 0 to ``span`` − 1, not all of which need to occur."""

    codes: NDArray[np.int64]
    span: int
    parts: int = 0
    """The number of equal parts, where the numbers are parts: neighbours are near, and missing values are apart."""

    def counts(self) -> NDArray[np.int64]:
        """Count the records of each number that occurs."""
        return tally(self.codes, self.span)[1]

    def some(self, share: int) -> NDArray[np.bool_]:
        """Choose one in ``share`` numbers, and all records that have them."""
        mixed = self.codes.astype(np.uint64) * _SPREAD >> np.uint64(40)
        chosen: NDArray[np.bool_] = mixed % np.uint64(share) == 0
        return chosen


class Agreement(NamedTuple):
    """How often two records with the same kept values agree in a masked one."""

    right: float
    """Share of agreeing records among the others with the same kept values, over all records that have such others."""
    chance: float
    """The same share among all records."""
    parts: int = 0
    """For numbers in equal parts, the number of parts: the same part or the next one agrees."""

    @property
    def beyond(self) -> float:
        """Return how well the masked value is predicted: 0 by chance, 1 always."""
        return (self.right - self.chance) / (1 - self.chance)


def coded(column: Column) -> Coded:
    """Return the codes of a column; missing is a value too."""
    codes, size = column.dense()
    return Coded(codes.astype(np.int64), size)


def in_parts(column: Column, ranks: NDArray[np.int64] | None) -> Coded | None:
    """Divide ranked values into equal parts of the records; None where there are so few that each is its own part.

    >>> from nominym.table import code
    >>> column = code([1.5, 2.5, 2.5, *(float(i) for i in range(3, 100))])
    >>> found = in_parts(column, np.arange(column.size))
    >>> found.parts, found.codes[:4].tolist(), found.codes[-1]
    (10, [0, 0, 0, 0], np.int64(9))
    """
    known = len(column) - column.missing
    parts = min(_PARTS, int(np.sqrt(known)))
    if ranks is None or column.size <= parts or parts < 2:
        return None
    by_rank = np.argsort(ranks, kind="stable")
    counts = column.counts[by_rank].astype(np.float64)
    part_of = np.full(column.size + 1, parts + 1, dtype=np.int64)  # what is missing is next to nothing
    part_of[by_rank] = ((np.cumsum(counts) - counts / 2) / known * parts).astype(np.int64)
    return Coded(part_of[column.dense()[0]], parts + 2, parts)


def ranks_of(column: Column) -> NDArray[np.int64] | None:
    """Rank the categories of a column of numbers, dates or numeric texts; None for others."""
    values: Any = column.categories
    try:
        if column.kind == "time":
            order = np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.int64)
        else:
            texts = column.kind not in ("whole", "number", "truth")
            numbers = np.array(list(map(str, values)) if texts else values).astype(np.float64)
            if not np.isfinite(numbers).all():
                return None
            order = np.argsort(numbers, kind="stable")
    except (TypeError, ValueError, OverflowError):
        return None
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def aspects(column: Column) -> dict[str, Coded]:
    """Return what can be computed from the values of a column: parts of dates, remainders of numbers, first letters.

    >>> import datetime
    >>> from nominym.table import code
    >>> days = code([datetime.date(2024, 2, day) for day in (5, 6, 12)])
    >>> list(aspects(days)), aspects(days)["weekday"].codes.tolist()
    (['year', 'month', 'day', 'weekday'], [0, 1, 0])
    """
    if column.kind == "time":
        times: Any = column.categories
        if not all(hasattr(each, "weekday") for each in times):
            return {}
        found = {part: [getattr(each, part) for each in times] for part in ("year", "month", "day")}
        return {name: _of_categories(column, each) for name, each in {
            **found, "weekday": [each.weekday() for each in times]}.items()}  # fmt: skip
    if column.kind == "nested":
        return {}
    numbers = column.numbers if column.kind in ("whole", "number") else None
    if numbers is not None:
        whole = np.isfinite(numbers) & (numbers == np.floor(numbers)) & (np.abs(numbers) < 2**53)
        if not whole.all():
            return {}
        exact = numbers.astype(np.int64)
        return {f"remainder by {by}": _of_categories(column, exact % by) for by in _REMAINDERS}
    texts = list(map(str, column.categories))
    sizes = range(1, min(_LETTERS, max(map(len, texts), default=1)) + 1)
    return {f"first {size} letters": _of_categories(column, [text[:size] for text in texts]) for size in sizes}


def _of_categories(column: Column, values: Any) -> Coded:
    """Number what each category comes to; what is missing is a value too."""
    found, numbers = np.unique(np.asarray(values), return_inverse=True)
    return Coded(np.append(numbers.reshape(-1), len(found))[column.dense()[0]].astype(np.int64), len(found) + 1)


def membership(kept: Column, masked: Column) -> Agreement | None:
    """Compare how often the value of a record is an item of its own set with how often it is one of another's.

    >>> from nominym.table import code
    >>> membership(code(["a", "b", "c"]), code([["a", "b"], ["b", "d"], ["e"]]))
    Agreement(right=0.6666666666666666, chance=0.16666666666666666, parts=0)
    """
    known = (kept.codes != MISSING) & (masked.codes != MISSING)
    n = int(known.sum())
    if n < 2:
        return None
    place = {str(value): i for i, value in enumerate(kept.categories)}
    sets = [{place[text] for text in map(str, items) if text in place} for items in masked.categories]
    values, times = np.unique(kept.codes[known], return_counts=True)
    share = dict(zip(values.tolist(), times.tolist(), strict=True))
    codes = list(zip(kept.codes[known].tolist(), masked.codes[known].tolist(), strict=True))
    hits = sum(value in sets[of] for value, of in codes)
    reach = [sum(share.get(value, 0) for value in items) for items in sets]
    chance = (sum(reach[of] for _, of in codes) - hits) / (n * (n - 1))
    return None if chance >= 1 else Agreement(hits / n, chance)


def together(columns: Sequence[Coded]) -> Coded:
    """Number the combinations of values.

    >>> together([Coded(np.array([0, 1, 1]), 2), Coded(np.array([2, 0, 2]), 3)]).codes.tolist()
    [2, 3, 5]
    """
    codes, span = columns[0].codes, columns[0].span
    for column in columns[1:]:
        if span * column.span > 2**40:
            # Numbers of combinations that occur leave room for more.
            found, codes = np.unique(codes, return_inverse=True)
            codes, span = codes.reshape(-1), len(found)
        codes, span = codes * column.span + column.codes, span * column.span
    return Coded(codes, span)


def tally(codes: NDArray[np.int64], span: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers that occur, in order, and their frequencies."""
    if span > 4 * len(codes):
        return np.unique(codes, return_counts=True)
    counts = np.bincount(codes)
    at = np.flatnonzero(counts)
    return at, counts[at]


def agreement(kept: Coded, masked: Coded, covered: float, worth: float = 0.0) -> Agreement | None:
    """Predict the masked value of each record from others with the same kept values, and compare with chance.

    None where too few records, a share below ``covered``, have such others, or where all have the same masked value.
    With ``worth``, agreement clearly below this beyond chance is only estimated, from some of the kept values.
    """
    n = len(masked.codes)
    at, counts = tally(masked.codes, masked.span)
    pairs = float(n) * (n - 1)
    chance = _near(at, counts.astype(np.float64), masked).sum() / pairs if n > 1 else 1.0
    if chance >= 1:
        return None
    share = n // _SAMPLED
    if worth and share > 1 and kept.span * masked.span > 4 * n:
        some = kept.some(share)
        first = _right(Coded(kept.codes[some], kept.span), Coded(masked.codes[some], *masked[1:]), covered / 2)
        if first is None or (first - chance) / (1 - chance) < worth - 0.1:
            return None
    right = _right(kept, masked, covered)
    return None if right is None else Agreement(right, float(chance), masked.parts)


def _right(kept: Coded, masked: Coded, covered: float) -> float | None:
    n = len(kept.codes)
    if not n:
        return None
    cells = kept.codes * masked.span + masked.codes
    at, both = tally(cells, kept.span * masked.span)
    owner, value = np.divmod(at, masked.span)
    starts = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
    of_kept = np.add.reduceat(both, starts)
    shared = int(of_kept[of_kept > 1].sum())
    if not shared or shared < covered * n:
        return None
    agreeing = np.add.reduceat(_near(value, both.astype(np.float64), masked, owner), starts)
    return float((agreeing / np.maximum(of_kept - 1, 1)).sum() / shared)


def _near(
    values: NDArray[np.int64], counts: NDArray[np.float64], masked: Coded, owner: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Count, for each value, the ordered pairs of records that agree; those of neighbouring parts with the first."""
    found = counts * (counts - 1)
    if masked.parts:
        next_to = values[1:] == values[:-1] + 1
        if owner is not None:
            next_to &= owner[1:] == owner[:-1]
        found[:-1] += np.where(next_to, 2 * counts[:-1] * counts[1:], 0.0)
    return found
