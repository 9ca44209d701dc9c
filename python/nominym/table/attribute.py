"""Attributes: coded columns with what their values mean; and two tables of the same records, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nominym import _core
from nominym.control import Progress, check_progress, require_matrices
from nominym.error import DataError, ParameterError, no_column
from nominym.meaning import MANY, Distances, Meaning, Measure, Space, as_measure, check_meanings, padded
from nominym.options import Missing
from nominym.table.coding import MISSING, Column, check_policy, code
from nominym.table.frame import Table
from nominym.table.pair import coded_alike


@dataclass(frozen=True, eq=False, repr=False)
class Attribute:
    """A coded column, its meaning, and the place of every category in the space of that meaning."""

    name: Any
    column: Column
    meaning: Meaning
    space: Space
    places: NDArray[np.uint32]
    progress: Progress = None

    def forget_progress(self) -> None:
        """Stop reporting to whoever watched the call that made the attribute."""
        object.__setattr__(self, "progress", None)

    @property
    def root(self) -> str | None:
        """Root for depths; None where the meaning is no taxonomy."""
        return self.space.root

    @property
    def size(self) -> int:
        """Number of categories, what is missing not counted."""
        return self.column.size

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Distances between the categories."""
        return self.space.matrix(self.places, self.progress)

    @property
    def meant(self) -> Distances:
        """Distances between the categories for the core: without a matrix if they are many and there is another way."""
        many = self.size > MANY and not self.space.linked
        found = self.space.matrixless(self.places, missing=False) if many else None
        return self.distances if found is None else found

    @property
    def place_codes(self) -> NDArray[np.uint32]:
        """The place of each record's value, which tells what it means, however it is written."""
        return np.append(self.places, MISSING).take(self.column.codes, mode="clip")

    @cached_property
    def _matrixless(self) -> Distances | None:
        return self.space.matrixless(self.places, self.column.missing > 0)

    @property
    def matrix_size(self) -> int:
        """Bytes of the matrix that ``distances`` has yet to make."""
        return 0 if "distances" in self.__dict__ else 8 * self.size**2

    @property
    def needs(self) -> int:
        """Bytes of the matrices that ``with_missing`` has yet to make; none where it goes without."""
        if "with_missing" in self.__dict__ or self._matrixless is not None:
            return 0
        return self.matrix_size + (8 * (self.size + 1) ** 2 if self.column.missing else 0)

    @cached_property
    def with_missing(self) -> tuple[NDArray[np.uint32], Distances, int | None]:
        """Codes, distances and the code of missing values, which are a category of their own here."""
        missing = self.column.missing > 0
        distances = self._matrixless
        if distances is None:
            distances = padded(self.distances, missing)
        return self.column.dense()[0], distances, self.size if missing else None

    def without_missing(self, codes: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Turn the category that ``with_missing`` adds back into what is missing."""
        return np.where(codes == self.size, MISSING, codes) if self.column.missing else codes

    @cached_property
    def mean(self) -> int:
        """Place of the mean: of all places, the one with the smallest sum of distances to the records."""
        return self.space.mean(self.places, self.column.counts, self.progress)

    @cached_property
    def variance(self) -> float:
        """Mean squared distance of the records to the mean."""
        squares = self.space.pairs(self.places, np.full_like(self.places, self.mean)) ** 2
        return math.fsum(self.column.counts * squares) / int(self.column.counts.sum())

    def with_codes(self, codes: NDArray[np.uint32]) -> Attribute:
        """Return the attribute after its values were given to other records."""
        other = replace(self, column=self.column.with_codes(codes))
        if "distances" in self.__dict__:
            other.__dict__["distances"] = self.distances
        return other


def all_with_missing(columns: Sequence[Attribute]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return codes, distances and codes of missing values of columns; what all of them need is asked for beforehand."""
    remedy = "column {} has the most categories: make its values coarser, or mask fewer columns at once"
    require_matrices({column.name: column.needs for column in columns}, remedy)
    codes, distances, missing = map(list, zip(*(column.with_missing for column in columns), strict=True))
    return codes, distances, missing


def attributes(
    table: Table,
    meanings: Mapping[Any, Meaning],
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> dict[Any, Attribute]:
    """Give the columns of a table their meanings; any fault in any of them is an error before work begins."""
    given = check_meanings(meanings)
    check_policy(missing)
    how = as_measure(measure)
    roots = check_roots(roots, given)
    found = {}
    for name, meaning in given.items():
        table.column(name).check_missing(missing)
        column = table.arrange(name, meaning.arrangement(table.column(name)))
        space = meaning.space([column], how, roots.get(name))
        found[name] = Attribute(name, column, meaning, space, space.places[0], progress)
    return found


def check_roots(roots: object, columns: Mapping[Any, Any]) -> dict[Any, object]:
    """Refuse roots of columns that have no meaning here."""
    if roots is None:
        return {}
    if not isinstance(roots, Mapping):
        raise ParameterError(
            f"a mapping from column names to concepts is needed, not {type(roots).__name__}", parameter="roots"
        )
    unknown = next((name for name in roots if name not in columns), None)
    if unknown is not None:
        raise ParameterError(
            f"{unknown!r} is not among the columns with a meaning: {', '.join(map(str, columns))}", parameter="roots"
        )
    return {name: root for name, root in roots.items() if root is not None}


def single(
    values: Any,
    meaning: Meaning,
    measure: str | Measure = "wu-palmer",
    root: object = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> Attribute:
    """Give a column of any library, or a plain sequence, a meaning."""
    column = code(values, missing=missing)
    return of_columns([column], [meaning], measure, [root], progress)[0]


def of_columns(
    columns: Sequence[Column],
    meanings: Sequence[Meaning],
    measure: str | Measure = "wu-palmer",
    roots: Sequence[object] = (),
    progress: Progress = None,
) -> list[Attribute]:
    """Give coded columns their meanings, each on its own."""
    found = []
    for column, meaning, root in zip(columns, meanings, roots or [None] * len(columns), strict=True):
        check_meanings({column.name or "values": meaning})
        numbered = column.arranged(meaning.arrangement(column))
        space = meaning.space([numbered], measure, root)
        found.append(Attribute(column.name, numbered, meaning, space, space.places[0], progress))
    return found


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
        pair = [columns[0], replace(columns[1], released=True)]
        space = meaning.space(pair, measure, root)
        before, after = (
            Attribute(name, column, meaning, space, places, progress)
            for column, places in zip(pair, space.places, strict=True)
        )
        return cls(before, after, *columns[2:])

    @cached_property
    def _joint(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]:
        old, new = self.before, self.after
        x, y, count = _core.joint(old.column.codes, new.column.codes, (old.size, new.size))
        return old.places[x], new.places[y], count

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
    def united(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32], Distances]:
        """Codes before and after over the same categories, what is missing being one, and their distances.

        After the rows of the records come those that belong to none of them.
        """
        old, new = self.before, self.after
        others = [] if self.unowned is None else [self.unowned]
        columns, places = [old.column, new.column, *others], [old.places, new.places, *[new.places for _ in others]]
        codes, distances = unite(self.space, columns, places, self._matrix)
        return codes[0], np.concatenate(codes[1:]), distances

    def _matrix(self, places: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Measure places in ascending order; where the categories are those that were measured, put these in order."""
        old = self.before
        if old.places is self.after.places and len(places) == old.size:
            order = np.argsort(old.places)
            return old.distances[np.ix_(order, order)]
        return self.space.matrix(places, old.progress)


def unite(
    space: Space,
    columns: Sequence[Column],
    places: Sequence[NDArray[np.uint32]],
    matrix: Callable[[NDArray[np.uint32]], NDArray[np.float64]],
) -> tuple[list[NDArray[np.uint32]], Distances]:
    """Code several columns of one space over the same categories, what is missing being the last; and their distances.

    ``places`` are those of the categories of each column; ``matrix`` measures places, if a matrix is needed.
    """
    kinds, numbers = np.unique(np.concatenate(places), return_inverse=True)
    parts = np.split(numbers.reshape(-1).astype(np.uint32), np.cumsum([len(each) for each in places])[:-1])
    codes = [
        np.append(part, np.uint32(len(kinds))).take(column.codes, mode="clip")
        for column, part in zip(columns, parts, strict=True)
    ]
    gaps = any(column.missing for column in columns)
    kinds = kinds.astype(np.uint32, copy=False)
    measured = space.matrixless(kinds, gaps)
    return codes, np.ascontiguousarray(padded(matrix(kinds), gaps)) if measured is None else measured


class Comparison:
    """Two tables of the same records. Row i of ``after`` is what became of record i of ``before``."""

    def __init__(
        self, before: Table, after: Table, changes: Mapping[Any, Change], unowned: Table | None = None
    ) -> None:
        """Hold two tables that are in the same order, and the rows of the release that belong to no record."""
        self.before, self.after, self.changes, self.unowned = before, after, dict(changes), unowned

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
        old, new = as_table(before), as_table(after)
        for when, table in {"before": old, "after": new}.items():
            for name in given:
                if name not in table.names:
                    raise no_column(name, table.names, when)
            if not len(table):
                raise DataError(f"the table {when} has no records")
        if truth is None:
            _refuse_other_order(old.data, new.data)
        rows = _rows_of(truth, len(old), len(new))
        sides = {"before": old, "after": new if rows is None else new.taken(rows)}
        if rows is not None and len(rows) < len(new):
            sides["unowned"] = new.taken(np.setdiff1d(np.arange(len(new), dtype=np.uint32), rows))
        changes = {}
        for name, meaning in given.items():
            columns = [replace(table.column(name), name=f"{name} ({when})") for when, table in sides.items()]
            for column in columns[:2]:
                column.check_missing(missing)
            changes[name] = Change.between(name, columns, meaning, how, tops.get(name), progress)
        return cls(old, sides["after"], changes, sides.get("unowned"))

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
        """Return a column before and after over the same categories, and their number.

        Numbers are the same if they are equal, all else if its text is.
        """
        codes, number = coded_alike(name, self.before, self.after)
        return codes[0], codes[1], number

    def matched(self, name: Any) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int]:
        """Return the same for all rows of the release, and what is missing as a category, the last."""
        others = [] if self.unowned is None else [self.unowned]
        codes, number = coded_alike(name, self.before, self.after, *others)
        before, *after = (np.minimum(part, np.uint32(number)) for part in codes)
        return before, np.concatenate(after), number + 1


def as_table(data: Any) -> Table:
    """Return the table of a frame, or of what holds one already."""
    return data if isinstance(data, Table) else Table(getattr(data, "data", data) if hasattr(data, "secret") else data)


def _rows_of(truth: Any, records: int, rows: int) -> NDArray[np.uint32] | None:
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
    if not first.equals(second) and first.is_unique and second.is_unique and first.isin(second).all():
        raise DataError(
            "the tables have the same index in another order; rows are compared by position, so sort one like the "
            "other, or give truth=after.index.get_indexer(before.index)"
        )
