"""Scenes of an attack: the two tables, who is attacked, and what the adversary knows about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nominym import _core
from nominym.control import Progress, reporter
from nominym.error import DataError, ParameterError, no_column
from nominym.meaning import categories_of
from nominym.table import Comparison, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.meaning import Distances

    Pair = tuple[NDArray[np.uint32], NDArray[np.uint32]]
    """A value for each record, and for each row of the release."""


@dataclass(frozen=True, eq=False)
class People:
    """Who is attacked: persons with all their records, or records, each a person of its own."""

    owner: NDArray[np.uint32]
    """The person of each record."""
    number: int
    """Persons in all."""
    chosen: NDArray[np.uint32] | None = None
    """Those attacked, ascending; None for all."""

    @classmethod
    def of(cls, table: Table, person: Any) -> People:
        """Read the person of each record from a column; without one, every record is a person."""
        if person is None:
            return cls(np.arange(len(table), dtype=np.uint32), len(table))
        if person not in table.names:
            raise no_column(person, table.names, "before")
        column = table.column(person).occurring()
        if column.missing:
            what = f"{column.missing:,} of {len(column):,} records belong to no person"
            raise DataError(what, column=person, remedy="give each of them a person, or leave them out")
        return cls(column.codes, column.size)

    @property
    def attacked(self) -> int:
        """Return the number of those attacked."""
        return self.number if self.chosen is None else len(self.chosen)

    @cached_property
    def target(self) -> NDArray[np.int64]:
        """Return for each record the position of its person among those attacked, or −1."""
        if self.chosen is None:
            return self.owner.astype(np.int64)
        place = np.full(self.number, -1)
        place[self.chosen] = np.arange(len(self.chosen))
        return place[self.owner]

    @cached_property
    def rows(self) -> NDArray[np.uint32]:
        """Return the records of those attacked."""
        return np.flatnonzero(self.target >= 0).astype(np.uint32)

    def some(self, records: int, seed: int | None) -> People:
        """Draw people among those attacked, with about a given number of records in total."""
        if len(self.rows) <= records:
            return self
        return self.drawn(max(self.attacked * records // len(self.rows), 1), seed)

    def drawn(self, number: int, seed: int | None) -> People:
        """Draw a given number of those attacked."""
        if self.attacked <= number:
            return self
        places = _core.draw_sample(self.attacked, number, seed)
        return People(self.owner, self.number, places if self.chosen is None else self.chosen[places])

    def best(
        self, records: NDArray[Any], chance: NDArray[np.float64], *order: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return for each person the guess for one of their records that comes first by ``order``.

        The result has the positions of these guesses, one for each person who has any, and the probability that the
        guess is right, which is the mean over equally good ones.
        """
        target = self.target[records]
        sorted_ = np.lexsort((*reversed(order), target))
        new = np.diff(target[sorted_], prepend=-1) > 0
        first = sorted_[new]
        place = np.empty(len(sorted_), dtype=np.int64)
        place[sorted_] = np.cumsum(new) - 1
        equal = np.logical_and.reduce([key == key[first][place] for key in order])
        return first, np.bincount(place[equal], chance[equal]) / np.bincount(place[equal])


@dataclass(frozen=True, eq=False)
class Scene:
    """The input of an attack: who is attacked, in which release, and what is known."""

    comparison: Comparison
    people: People
    known: tuple[Any, ...]
    """The masked columns that the adversary knows."""
    also: tuple[Any, ...] = ()
    """The kept columns that the adversary knows as well: rows with other values in them are left out."""
    kept: tuple[Any, ...] = ()
    """All kept columns considered."""
    partial: bool = False
    """Whether only some of the masked columns that may be known are."""
    groups: NDArray[np.uint32] | None = None
    """The group of each record, if the adversary knows groups."""
    k: int | None = None
    seed: int | None = None
    progress: Progress = None
    brief: bool = False
    """Whether slow attacks are left out because there are many scenes."""

    @cached_property
    def columns(self) -> list[tuple[NDArray[np.uint32], NDArray[np.uint32], Distances]]:
        """Return the codes before and after, and the distances, of each known masked column."""
        return [self.comparison.changes[name].united for name in self.known]

    @cached_property
    def cells(self) -> Pair | None:
        """Return numbers that are equal where all known kept columns are; None if none is known."""
        if not self.also:
            return None
        records = len(self.comparison)
        columns = [self.comparison.matched(name) for name in self.also]
        cell = _numbered([(np.concatenate([before, after]), number) for before, after, number in columns])
        return cell[:records].astype(np.uint32), cell[records:].astype(np.uint32)

    @cached_property
    def alone(self) -> NDArray[np.bool_]:
        """Return for each record attacked whether no other record has the same known values."""
        columns = [(before, categories_of(distances)) for before, _, distances in self.columns]
        cells = [] if self.cells is None else [(self.cells[0], int(self.cells[0].max()) + 1)]
        tuples = _numbered([*columns, *cells])
        # A person with several such records is one.
        pairs = _numbered([(tuples, int(tuples.max()) + 1), (self.people.owner, self.people.number)])
        tuple_of_pair = np.empty(int(pairs.max()) + 1, dtype=np.int64)
        tuple_of_pair[pairs] = tuples
        return np.asarray(np.bincount(tuple_of_pair)[tuples[self.people.rows]] == 1)

    @cached_property
    def rare(self) -> NDArray[np.bool_]:
        """Return for each record attacked whether fewer than k records have its value, in every known masked column."""
        rows, fewer = self.people.rows, self.k or 2
        few = [np.bincount(before)[before[rows]] < fewer for before, _, _ in self.columns]
        return np.asarray(np.logical_and.reduce(few))

    @cached_property
    def owner_of_row(self) -> NDArray[np.uint32]:
        """Return the person of each row; an unused number for rows that belong to no record."""
        others = self.comparison.unowned
        nobody = np.full(0 if others is None else len(others), self.people.number, dtype=np.uint32)
        return np.concatenate([self.people.owner, nobody])

    def search(
        self, after: list[NDArray[np.uint32]] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32], NDArray[np.uint32]]:
        """Find for each record attacked how far the nearest rows are, how many, and how many of them are the person's.

        ``after`` takes the place of the release.
        """
        rows = self.people.rows
        before, release, distances = map(list, zip(*self.columns, strict=True))
        cells = None if self.cells is None else (self.cells[0][rows], self.cells[1])
        targets = [codes[rows] for codes in before]
        owner = self.people.owner[rows]
        with reporter(self.progress, "nearest rows") as report:
            return _core.link_records(targets, after or release, distances, owner, self.owner_of_row, report, cells)

    @cached_property
    def nearest(self) -> tuple[NDArray[np.float64], NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the result of a search in the release."""
        return self.search()


def _numbered(columns: Sequence[tuple[NDArray[Any], int]]) -> NDArray[np.int64]:
    """Number the combinations of codes that occur; each column with its number of categories."""
    found = np.zeros(len(columns[0][0]), dtype=np.int64)
    for codes, number in columns:
        # Numbered anew with every column, so that products stay small. Not by pandas: without memory, its hash
        # table of numbers ends the process.
        found = pa.array(found * number + codes).dictionary_encode().indices.to_numpy().astype(np.int64)
    return found


def check_groups(groups: Any, records: int) -> NDArray[np.uint32] | None:
    """Check the group of each record."""
    if groups is None:
        return None
    given = np.asarray(groups)
    if given.shape != (records,) or given.dtype.kind not in "iu" or (given < 0).any():
        raise ParameterError(
            f"the number of a group, 0 or more, for each of the {records:,} records is needed, "
            f"not {given.dtype} of shape {given.shape}",
            parameter="groups",
        )
    return given.astype(np.uint32)
