"""A partition of records into groups, and what permuting values inside them does on average."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym import _core
from nominym.control import Progress, reporter
from nominym.error import Advice, DataError, MissingValueError, as_argument
from nominym.meaning import Cells
from nominym.table import MISSING, Attribute, Column, all_with_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Where the search for settled groups starts, in every run.
_START = 0


def form(
    attributes: Sequence[Attribute],
    k: int,
    *,
    person: Column | None = None,
    sensitive: Mapping[Any, tuple[Column, int]] | None = None,
    longer: bool = False,
    settled: bool = False,
    seed: int | None = None,
    progress: Progress = None,
) -> Partition:
    """Form groups of at least ``k`` similar records; ``longer`` searches for better ones.

    With ``settled``, the values of the groups follow from those of the table, whatever the order of its rows: only
    which of several equal records goes into which group is drawn, uniformly. For one column of numbers without limits,
    the groups are optimal. A seed starts the search elsewhere.

    With ``person``, the column that identifies persons, no person has more than 1/k of the records of a group; with
    ``sensitive``, columns with their l, no value of such a column is on more than 1/l of them.
    """
    limits = [(column.dense()[0], share) for column, share in (sensitive or {}).values()]
    if person is not None:
        limits.append((person.codes, k))
    check_limits(k, person, sensitive)
    # Whoever knows the order of the rows must not know which of several equal records is in which group. A search that
    # always starts from the same place tells them apart by their places, so these are drawn first.
    order = _drawn_order(len(attributes[0].column), seed) if settled else None
    if order is not None and not limits and len(attributes) == 1:
        found = _along_the_line(attributes[0], k, order, progress)
        if found is not None:
            return found
    codes, distances, _ = all_with_missing(attributes)
    start = seed
    if order is not None:
        codes, limits = [each[order] for each in codes], [(each[order], share) for each, share in limits]
        start = _START if seed is None else seed
    with reporter(progress, "groups") as report:
        group_of, records = _core.group_records(codes, distances, k, longer, start, report, limits or None)
    if order is None:
        return Partition(group_of, records)
    own = np.empty_like(group_of)
    own[order] = group_of
    return Partition(own, order[records])


def _drawn_order(records: int, seed: int | None) -> NDArray[np.uint32]:
    """Draw an order of records, uniformly; with a seed, it differs from the order in which rows are published."""
    places = np.arange(records, dtype=np.uint32)
    return _core.permute_groups([places], np.zeros_like(places), False, seed)[0]


def _along_the_line(attribute: Attribute, k: int, order: NDArray[np.uint32], progress: Progress) -> Partition | None:
    """Return the optimal groups of a column of numbers; None for other columns, or too few missing values for a group.

    Missing values form groups of their own. Equal records are divided as they stand in ``order``.
    """
    positions, places, gaps = attribute.space.positions, attribute.place_codes, attribute.column.missing
    if positions is None or 0 < gaps < k or len(places) - gaps < k:
        return None
    records = order[np.argsort(places[order], kind="stable")]
    with reporter(progress, "groups") as report:
        sizes = _core.cut_line(positions[places[records[: len(places) - gaps]]], k, report)
    sizes = np.append(sizes, np.uint32(gaps)) if gaps else sizes
    group_of = np.empty(len(places), dtype=np.uint32)
    group_of[records] = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    return Partition(group_of, records)


def check_limits(k: int, person: Column | None, sensitive: Mapping[Any, tuple[Column, int]] | None = None) -> None:
    """Raise on limits that no groups can meet, and name the largest possible: that of all records in one group."""
    if person is not None:
        check_persons(person)
        if person.size < k:
            some = "1 person" if person.size == 1 else f"{person.size:,} persons"
            raise DataError(
                f"{some} cannot make a group of {as_argument('k', k)}",
                column=person.name,
                remedy="give a smaller k or more records",
            )
        _check_share(person, k, "person {} has", "k")
    for column, share in (sensitive or {}).values():
        _check_share(column, share, "{} is on", "sensitive")


def check_persons(person: Column) -> None:
    """Raise on records without a person."""
    if person.missing:
        first = int(np.flatnonzero(person.codes == MISSING)[0])
        raise MissingValueError(
            f"{person.missing:,} of {len(person):,} records have no person, the first in row {first}",
            column=person.name,
            remedy="fill the column, with a separate value for each unknown person, or leave such records out",
        )


def _check_share(column: Column, share: int, what: str, option: str) -> None:
    """Raise on a value that more than one in ``share`` records has; ``what`` it is, and the ``option`` of the limit."""
    codes, size = column.dense()
    counts = np.bincount(codes, minlength=size)
    most, n = int(counts.argmax()), len(codes)
    count = int(counts[most])
    if count * share <= n:
        return
    named = what.format("a missing value" if most == column.size else repr(column.categories[most]))
    possible = n // count
    limit = possible if option == "k" else {column.name: possible}
    remedy = Advice("give {} or less", **{option: limit})
    if possible < 2:
        # Half of the records that are left, then, and no other value has more.
        least, dropped = 2 if option == "k" else {column.name: 2}, {column.name: "identifier"}
        remedy = Advice(
            f"no limit is possible: leave out {2 * count - n:,} of these {count:,} records and give {{}}, or drop the "
            "column (in a release by {}) without a limit",
            **{option: least},
            roles=dropped,
        )
    raise DataError(
        f"{named} {count:,} of {n:,} records, more than 1/{share} of them", column=column.name, remedy=remedy
    )


@dataclass(frozen=True, eq=False)
class Partition:
    """The group of each record."""

    group_of: NDArray[np.uint32]
    records: NDArray[np.uint32]
    """All records, group after group."""

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Return the number of records of each group."""
        return np.bincount(self.group_of)

    def permuted(
        self, attributes: Sequence[Attribute], *, joint: bool, seed: int | None, progress: Progress = None
    ) -> list[NDArray[np.uint32]]:
        """Permute values inside groups, uniformly: each attribute by itself, or all by one permutation (``joint``).

        A missing value moves like any other: one that stayed would reveal its row.
        """
        codes = [attribute.with_missing[0] for attribute in attributes]
        with reporter(progress, "permuting") as report:
            after = _core.permute_groups(codes, self.group_of, joint, seed, report, self.records)
        return [attribute.without_missing(new) for attribute, new in zip(attributes, after, strict=True)]

    def expected(self, attribute: Attribute, progress: Progress = None) -> dict[str, float]:
        """Return the effect of permuting, averaged over all draws: a function of groups and values alone.

        ``expected_rmse`` is the root of the expected sum of squared distances divided by the expected number of records
        with a value before and after; ``expected_unchanged`` is the share of records with a value that keep it;
        ``expected_missing_moved`` is the number of records that lose theirs.
        """
        codes, distances, gap = attribute.with_missing
        known = len(codes) - attribute.column.missing
        with reporter(progress, "expected change") as report:
            squares = _core.expected_squares(codes, distances, gap, self.group_of, report) * len(codes)
        # What means the same is the same, however it is written.
        meant = np.minimum(attribute.place_codes, np.uint32(len(attribute.space)))
        same, lost = self._expected_same(meant, None if gap is None else len(attribute.space))
        kept = known - lost
        return {
            "expected_rmse": math.sqrt(squares / kept) if kept > 0 else 0.0,
            "expected_unchanged": same / known if known else 1.0,
            "expected_missing_moved": lost,
        }

    def cells(self, codes: NDArray[np.uint32], some: NDArray[np.bool_] | None = None) -> Cells:
        """Count the values of each group, ascending; with ``some``, only of these records, without empty groups."""
        group_of = self.group_of if some is None else self.group_of[some]
        codes = codes if some is None else codes[some]
        # Values of each group in order, so that equal ones are one run.
        ordered = np.sort(group_of.astype(np.uint64) << np.uint64(32) | codes)
        runs = np.flatnonzero(np.concatenate((ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1])))
        groups = ordered[runs] >> np.uint64(32)
        firsts = np.flatnonzero(np.concatenate((groups[:1] == groups[:1], groups[1:] != groups[:-1])))
        counts = np.diff(np.append(runs, len(ordered))).astype(np.uint64)
        places = (ordered[runs] & np.uint64(2**32 - 1)).astype(np.uint32)
        return Cells(np.append(firsts, len(runs)).astype(np.uint64), places, counts)

    def _expected_same(self, codes: NDArray[np.uint32], gap: int | None) -> tuple[float, float]:
        """Return how many records are expected to keep their value, and how many to get a missing one instead."""
        cells = self.cells(codes)
        counts, values = cells.counts.astype(np.float64), cells.places.astype(np.int64)
        sizes = self.sizes[cells.groups].astype(np.float64)
        missing = values == (-1 if gap is None else gap)
        same = math.fsum(counts[~missing] ** 2 / sizes[~missing])
        lost = math.fsum(counts[missing] * (sizes[missing] - counts[missing]) / sizes[missing])
        return same, lost

    def summary(
        self,
        masked: Mapping[Any, NDArray[np.uint32]],
        kept: Mapping[Any, Column],
        person: Column | None = None,
        sensitive: Sequence[Any] = (),
    ) -> dict[str, Any]:
        """Return the sizes of groups, and in how many a column has a single value.

        ``masked`` columns are compared by meaning, not by how values are written.

        Whoever is known to belong to such a group has that value, whichever row is theirs: of a kept column
        (``constant``) or of a masked one (``read_off``). Where a column identifies ``persons``, also the smallest
        number of them in a group and the ``largest_share`` of one; for ``sensitive`` columns, the largest share of a
        value.
        """
        size, times = np.unique(self.sizes, return_counts=True)
        persons = {}
        if person is not None:
            distinct, share = self._largest(person)
            persons = {"persons": distinct, "largest_share": share}
        limited = {name: self._largest(kept[name].merged())[1] for name in sensitive}
        return {
            "count": len(self.sizes),
            "smallest": int(size[0]),
            "largest": int(size[-1]),
            "sizes": dict(zip(size.tolist(), times.tolist(), strict=True)),
            **persons,
            **({"sensitive": limited} if limited else {}),
            "constant": {name: self._constant(column.codes) for name, column in kept.items()},
            "read_off": {name: self._constant(codes) for name, codes in masked.items()},
        }

    def _largest(self, column: Column) -> tuple[int, float]:
        """Return the smallest number of values in a group, and the largest share of one."""
        codes, size = column.dense()
        cells, counts = np.unique(self.group_of.astype(np.int64) * size + codes, return_counts=True)
        groups = cells // size
        return int(np.bincount(groups).min()), float((counts / self.sizes[groups]).max())

    def _constant(self, codes: NDArray[np.uint32]) -> dict[str, int]:
        codes = codes[self.records]
        starts = np.cumsum(self.sizes) - self.sizes
        same = np.minimum.reduceat(codes, starts) == np.maximum.reduceat(codes, starts)
        return {"groups": int(same.sum()), "records": int(self.sizes[same].sum())}
