"""Two tables of the same records, before and after masking, over the same categories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import _core
from nominym.control import Progress, check_progress
from nominym.error import DataError, ParameterError, no_column
from nominym.meaning import Meaning, Measure, as_measure, check_meanings
from nominym.table.attribute import Attribute, check_roots, padded
from nominym.table.coding import MISSING, Column, Missing, check_policy
from nominym.table.frame import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Change:
    """An attribute before and after masking: pairs of categories, their records, and how far apart they are."""

    def __init__(self, before: Attribute, after: Attribute, unowned: Column | None = None) -> None:
        """Hold two attributes whose places are those of one space.

        ``unowned`` are rows of the release that belong to none of the records, over the categories of ``after``.
        """
        self.before, self.after, self.unowned = before, after, unowned
        self.name, self.space = before.name, before.space

    @classmethod
    def between(
        cls,
        name: Any,
        columns: Sequence[Column],
        meaning: Meaning,
        measure: str | Measure,
        root: object,
        progress: Progress,
    ) -> Change:
        """Give two columns, before and after, one meaning; a third has the rows that belong to no record."""
        check_meanings({name: meaning})
        space = meaning.space(columns[:2], measure, root)
        before, after = (
            Attribute(name, column, meaning, space, places, progress)
            for column, places in zip(columns[:2], space.places, strict=True)
        )
        return cls(before, after, *columns[2:])

    @cached_property
    def _joint(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]:
        x, y, count = _core.joint(
            self.before.column.codes, self.after.column.codes, (self.before.size, self.after.size)
        )
        return self.before.places[x], self.after.places[y], count

    @property
    def old(self) -> NDArray[np.uint32]:
        """Place before, of each pair of places that occurs."""
        return self._joint[0]

    @property
    def new(self) -> NDArray[np.uint32]:
        """Place after."""
        return self._joint[1]

    @property
    def count(self) -> NDArray[np.uint64]:
        """Records of each pair."""
        return self._joint[2]

    @cached_property
    def distance(self) -> NDArray[np.float64]:
        """Distance of each pair."""
        return self.space.pairs(self.old, self.new, self.before.progress)

    @cached_property
    def records(self) -> int:
        """Records with a value before and after."""
        return int(self.count.sum())

    @property
    def unchanged(self) -> float:
        """Share of the records with a value before and after whose value means what it did."""
        return int(self.count[self.old == self.new].sum()) / self.records if self.records else 1.0

    @property
    def rmse(self) -> float:
        """Root of the mean squared distance."""
        return math.sqrt(math.fsum(self.count * self.distance**2) / self.records) if self.records else 0.0

    @property
    def missing_moved(self) -> int:
        """Records that had a value and have none."""
        return len(self.before.column) - self.before.column.missing - self.records

    @cached_property
    def united(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]:
        """Codes before and after over the same categories, what is missing being one, and their distances.

        After the rows of the records come those that belong to none of them.
        """
        columns = [self.before.column, self.after.column, *([] if self.unowned is None else [self.unowned])]
        sides = self.before, self.after
        kinds, numbers = np.unique(np.concatenate([side.places for side in sides]), return_inverse=True)
        parts = np.split(numbers.reshape(-1).astype(np.uint32), [self.before.size])
        last = np.uint32(len(kinds))
        codes = [
            np.append(part, last)[np.minimum(column.codes, np.uint32(len(part)))]
            for column, part in zip(columns, (*parts, parts[1]), strict=False)
        ]
        gaps = any(column.missing for column in columns)
        if self.before.places is self.after.places and len(kinds) == self.before.size:
            measured = self.before.distances[np.ix_(np.argsort(parts[0]), np.argsort(parts[0]))]
        else:
            measured = self.space.matrix(kinds.astype(np.uint32), self.before.progress)
        return codes[0], np.concatenate(codes[1:]), np.ascontiguousarray(padded(measured, gaps)[0])


class Comparison:
    """Two tables of the same records. Row i of ``after`` is what became of record i of ``before``."""

    def __init__(self, before: Table, after: Table, changes: Mapping[Any, Change]) -> None:
        """Hold two tables that are in the same order."""
        self.before, self.after, self.changes = before, after, dict(changes)

    @classmethod
    def of(
        cls,
        before: Any,
        after: Any,
        meanings: Mapping[Any, Meaning],
        *,
        measure: str | Measure = "wu-palmer",
        roots: Mapping[Any, object] | None = None,
        truth: Any = None,
        missing: Missing = "keep",
        progress: Progress = None,
    ) -> Comparison:
        """Compare two tables; ``truth[i]`` is the row of ``after`` that is record i, if they are in another order.

        Rows of ``after`` that belong to no record are no part of the comparison; an attack has to tell them apart.
        """
        check_progress(progress)
        check_policy(missing)
        given = check_meanings(meanings) if meanings else {}
        how, tops = as_measure(measure), check_roots(roots, given)
        tables = as_table(before), as_table(after)
        for when, table in zip(("before", "after"), tables, strict=True):
            for name in given:
                if name not in table.names:
                    raise no_column(name, table.names, when)
            if not len(table):
                raise DataError(f"the table {when} has no records")
        old, new = tables
        if truth is None:
            _refuse_other_order(old.data, new.data)
        rows = check_truth(truth, len(old), len(new))
        sides = {"before": old, "after": new if rows is None else new.taken(rows)}
        if rows is not None and len(rows) < len(new):
            sides["unowned"] = new.taken(np.setdiff1d(np.arange(len(new), dtype=np.uint32), rows))
        changes = {}
        for name, meaning in given.items():
            columns = [replace(table.column(name), name=f"{name} ({when})") for when, table in sides.items()]
            for column in columns[:2]:
                column.check_missing(missing)
            changes[name] = Change.between(name, columns, meaning, how, tops.get(name), progress)
        return cls(old, sides["after"], changes)

    def __len__(self) -> int:
        """Count the records."""
        return len(self.before)

    @cached_property
    def shared(self) -> list[Any]:
        """Columns that both tables have."""
        return [name for name in self.before.names if name in self.after.names]

    @property
    def kept(self) -> list[Any]:
        """Columns of both tables that have no meaning here: those that were not masked."""
        return [name for name in self.shared if name not in self.changes]

    def coded(self, name: Any) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int]:
        """Return a column before and after over the same categories, those with the same text, and their number."""
        return united_by_text(self.before.column(name), self.after.column(name))


def as_table(data: Any) -> Table:
    """Return the table of a frame, or of what holds one already."""
    return data if isinstance(data, Table) else Table(getattr(data, "data", data) if hasattr(data, "secret") else data)


def united_by_text(before: Column, after: Column) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int]:
    """Code two columns with the same categories: those of the first, then what the second has besides."""
    if before.categories is after.categories:
        return before.codes, after.codes, len(before.categories)
    place: dict[str, int] = {}
    maps = []
    for column in (before, after):
        numbers = [place.setdefault(str(value), len(place)) for value in column.categories]
        maps.append(np.array([*numbers, MISSING], dtype=np.uint32))
    codes = [
        of_code[np.minimum(column.codes, np.uint32(len(column.categories)))]
        for of_code, column in zip(maps, (before, after), strict=True)
    ]
    return codes[0], codes[1], len(place)


def check_truth(truth: Any, records: int, rows: int) -> NDArray[np.uint32] | None:
    """Check the row of each record; without any, tables have to have the same number of rows."""
    if truth is None:
        if records != rows:
            raise DataError(
                f"{records:,} records before and {rows:,} rows after; row i has to be the release of record i, or give "
                "truth=, the row of each record"
            )
        return None
    given = np.asarray(truth)
    if given.shape != (records,) or given.dtype.kind not in "iu":
        raise ParameterError(
            f"one row number for each of the {records:,} records is needed, not {given.dtype} of shape {given.shape}",
            parameter="truth",
            remedy="leave out of before the records that are not in the release",
        )
    wrong = (given < 0) | (given >= rows)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ParameterError(
            f"record {first} has row {given[first]}, but rows go from 0 to {rows - 1:,}", parameter="truth"
        )
    times = np.bincount(given, minlength=rows)
    if times.max() > 1:
        row = int(times.argmax())
        raise ParameterError(
            f"row {row} belongs to {times[row]:,} records; each record has a row of its own", parameter="truth"
        )
    return given.astype(np.uint32)


def _refuse_other_order(before: Any, after: Any) -> None:
    """Refuse frames whose index says that the rows are in another order: risk would be told to be lower than it is."""
    if not (isinstance(before, pd.DataFrame) and isinstance(after, pd.DataFrame)) or len(before) != len(after):
        return
    first, second = before.index, after.index
    if first.equals(second) or not (first.is_unique and second.is_unique):
        return
    if bool(first.isin(second).all()):
        raise DataError(
            "the tables have the same index in another order; rows are compared by position, so sort one like the "
            "other, or give truth=after.index.get_indexer(before.index)"
        )
