"""Sets as values: lists of items in a cell, such as the diagnoses of a patient."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nominym._core import Sets as Rows
from nominym._core import vote_cells
from nominym.control import Progress, reporter
from nominym.error import Advice, Code, DataError, ParameterError
from nominym.meaning.base import (
    MANY,
    Cells,
    Distances,
    Meaning,
    Measure,
    Space,
    Standing,
    Values,
    is_missing,
    refuse_root,
)
from nominym.meaning.taxonomy import Taxonomy


@dataclass(frozen=True, repr=False)
class Sets(Meaning):
    """Values that are sets: lists in which neither the order nor repeats matter.

    The distance between two sets is the number of items that only one of them has, divided by the number that either
    has. With a taxonomy, items name its concepts, by id, label or synonym, and sets are first closed: they get all
    concepts above their items, except the root, which all would have. Sets of different items are therefore near if the
    items are related. Two empty sets are equal, and an empty set is at distance 1 from all others.

    The mean of several is the set of items that more than half of them have (a tie goes to the side that more than half
    of all records are on); what they have in common is what all of them have, both of closures.

    >>> import nominym as nym
    >>> tax = nym.Taxonomy.from_edges([("flu", "lung"), ("cold", "lung"), ("lung", "illness"), ("coma", "illness")])
    >>> nym.stats.rmse([["flu"]], [["cold"]], nym.Sets()), nym.stats.rmse([["flu"]], [["cold"]], nym.Sets(tax))
    (1.0, 0.6666666666666666)
    >>> nym.stats.semantic_mean([["flu"], ["cold", "coma"], ["cold"], ["flu", "coma"]], nym.Sets(tax))
    '{lung}'

    Parameters
    ----------
    taxonomy
        The taxonomy of the items; by default items are only equal or not.
    """

    noun: ClassVar[str] = "sets"
    taxonomy: Taxonomy | None = None
    """The taxonomy of the items, if any."""

    def __post_init__(self) -> None:
        """Raise unless given a taxonomy or None."""
        if self.taxonomy is not None and not isinstance(self.taxonomy, Taxonomy):
            what = f"give a Taxonomy of the items, or leave it out, not {type(self.taxonomy).__name__}"
            raise ParameterError(what, parameter="taxonomy")

    def __repr__(self) -> str:
        """Return the code that creates it, as far as possible."""
        return "Sets()" if self.taxonomy is None else f"Sets({self.taxonomy!r})"

    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Return the space of some columns; sets of the same closure share a place; one error lists unknown items."""
        refuse_root(root, columns, self.noun)
        return SetSpace(self, columns)


class SetSpace(Space):
    """Sets of items, or of concepts with all that is above them."""

    def __init__(self, meaning: Sets, columns: Sequence[Values]) -> None:
        """Place the sets of the columns."""
        super().__init__(columns)
        self.taxonomy = meaning.taxonomy
        listed = [_flattened(column) for column in columns]
        counts = np.concatenate([column.counts for column in columns]).astype(np.int64)
        self._items: Sequence[str] = sorted({item for names, _, _ in listed for item in names})
        number = {item: i for i, item in enumerate(self._items)}
        sizes = np.concatenate([sizes for _, _, sizes in listed])
        of_item = [np.array([number[item] for item in names], dtype=np.int64)[codes] for names, codes, _ in listed]
        # Each item of a set once, and in order.
        owner, width = np.repeat(np.arange(len(sizes)), sizes), max(len(number), 1)
        held = np.sort(owner * width + np.concatenate(of_item))
        owner, codes = np.divmod(held[np.append(True, held[1:] != held[:-1])[: len(held)]], width)
        starts = np.append(0, np.cumsum(np.bincount(owner, minlength=len(sizes))))
        rows = Rows.make(len(number), starts.astype(np.uint64), codes.astype(np.uint32))
        assert isinstance(rows, Rows)  # each item once
        if self.taxonomy is not None:
            frequency = np.bincount(codes, counts[owner], len(number)).astype(int)
            names = [column.name for column in columns if column.name is not None]
            concepts = self.taxonomy.concepts(self._items, frequency.tolist(), ", ".join(names) or None, items=True)
            rows, self._concepts = rows.over_concepts(self.taxonomy.graph, concepts)
            self._items = [self.taxonomy.ids[concept] for concept in self._concepts.tolist()]
        place, firsts = _distinct(rows)
        self._rows = rows.select(firsts)
        self._known: dict[bytes, int] | None = None
        self.places = np.split(place, np.cumsum([len(sizes) for _, _, sizes in listed])[:-1])
        self._votes = self._count(place, counts)
        self._records = int(counts.sum())
        self.names = _Names(self)

    def __len__(self) -> int:
        """Count the sets."""
        return len(self._rows)

    def name(self, place: int) -> str:
        """Return the items of a set as text; for concepts, the lowest."""
        return self._written(self._rows.row(place))

    def label(self, place: int) -> str:
        """Return the items of a set as text, concepts by label."""
        return self._written(self._rows.row(place), labels=True)

    def matrixless(self, places: NDArray[np.uint32], missing: bool) -> Distances | None:
        """Return the sets themselves if there are many; missing is one more."""
        return None if len(places) <= MANY else (self._rows.select(np.ascontiguousarray(places)), missing)

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure pairs of sets."""
        first, second = np.broadcast_arrays(a, b)
        with reporter(progress, "distances") as report:
            found = self._rows.pairs(_flat(first), _flat(second), report)
        return found.reshape(first.shape)

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure every set of one list against every set of another."""
        with reporter(progress, "distances") as report:
            return self._rows.block(_flat(a), _flat(b), report).reshape(len(a), len(b))

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the set of the items that more than half of the records have; it gets a place if it has none.

        For closed sets it is closed: a set with a concept has its parents too, so these have no fewer votes, and are no
        less frequent where a tie is decided by frequency.
        """
        votes, voters = self._count(places, counts.astype(np.int64)), int(counts.sum())
        tied = (2 * votes == voters) & (2 * self._votes > self._records)
        found = np.flatnonzero((2 * votes > voters) | tied).astype(np.uint32)
        if self._known is None:
            self._known = {key: place for place, key in enumerate(_keys(self._rows))}
        place = self._known.setdefault(found.tobytes(), len(self))
        if place == len(self):
            starts, items = self._rows.starts(), self._rows.items()
            ends = np.append(starts, np.uint64(len(items) + len(found)))
            more = Rows.make(len(self._items), ends, np.concatenate([items, found]))
            assert isinstance(more, Rows)  # each item once
            self._rows = more
        return place

    def centroids(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the sets of the items that more than half of the records of each group have; ties as for the mean."""
        return self._voted(cells, 2 * self._votes > self._records, progress)

    def commons(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the sets of the items that all records of each group have."""
        return self._voted(cells, None, progress)

    def _voted(self, cells: Cells, common: NDArray[np.bool_] | None, progress: Progress) -> Standing:
        """Return lists of items (for concepts, the lowest) and the index of each group's list."""
        with reporter(progress, "votes") as report:
            voted = vote_cells(self._rows, cells, common, report)
        place, firsts = _distinct(voted)
        rows, names = voted.select(firsts), self._items
        if self.taxonomy is not None:
            rows, concepts = rows.over_concepts(self.taxonomy.graph, self._concepts, True)
            names = [self.taxonomy.ids[concept] for concept in concepts.tolist()]
        starts, items = rows.starts().tolist(), rows.items().tolist()
        values = [[names[item] for item in items[start:end]] for start, end in pairwise(starts)]
        return Standing(place.astype(np.int64), values)

    def common(self, places: NDArray[np.uint32]) -> str:
        """Return the items that several sets share, as text; for concepts, the lowest."""
        distinct = np.unique(places)
        votes = self._count(distinct, np.ones(len(distinct), dtype=np.int64))
        return self._written(np.flatnonzero(votes == len(distinct)).astype(np.uint32))

    def _count(self, places: NDArray[np.uint32], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count the records that have each item."""
        chosen = self._rows.select(_flat(places))
        starts = chosen.starts().astype(np.int64)
        votes = np.zeros(len(self._items), dtype=np.int64)
        np.add.at(votes, chosen.items(), np.repeat(counts, starts[1:] - starts[:-1]))
        return votes

    def _written(self, row: NDArray[np.uint32], *, labels: bool = False) -> str:
        items = [self._items[item] for item in row.tolist()]
        if self.taxonomy is not None:
            one = Rows.make(len(self._items), np.array([0, len(row)], dtype=np.uint64), row)
            assert isinstance(one, Rows)  # each item once
            low, concepts = one.over_concepts(self.taxonomy.graph, self._concepts, True)
            found = concepts[low.items()].tolist()
            items = [self.taxonomy.written(c) if labels else self.taxonomy.ids[c] for c in found]
        return f"{{{', '.join(items)}}}"


class _Names(Sequence[str]):
    """The names of all sets, created on demand."""

    def __init__(self, space: SetSpace) -> None:
        self._space = space

    def __len__(self) -> int:
        return len(self._space)

    @overload
    def __getitem__(self, key: int) -> str: ...
    @overload
    def __getitem__(self, key: slice) -> list[str]: ...
    def __getitem__(self, key: int | slice) -> str | list[str]:
        if isinstance(key, slice):
            return [self._space.name(place) for place in range(*key.indices(len(self)))]
        return self._space.name(range(len(self))[key])


def _flattened(column: Values) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """Return the items of a column, their indices in all sets one after another, and the sizes of the sets."""
    if column.lists is None:
        sets = [_items(value, column.name) for value in column.categories]
        number: dict[str, int] = {}
        codes = [number.setdefault(item, len(number)) for items in sets for item in items]
        return list(number), np.array(codes, dtype=np.int64), np.array([len(items) for items in sets], dtype=np.int64)
    encoded = column.lists.flatten().dictionary_encode()
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    starts = column.lists.offsets.to_numpy()
    return list(map(str, encoded.dictionary.to_pylist())), codes, np.diff(starts)


def _items(value: Any, column: str | None) -> list[str]:
    """Return the distinct items of a set as texts."""
    # What can be gone through once would be empty in the release.
    if isinstance(value, str | bytes | Mapping | Iterator) or not isinstance(value, Iterable):
        raise DataError(
            f"{value!r} of type {type(value).__name__} is not a list of items",
            column=column,
            remedy=Advice("for single values give a Taxonomy or {} as the meaning", equality=Code("nym.Equality()")),
        )
    items = list(value)
    wrong = next((item for item in items if is_missing(item) or not _is_single(item)), items)
    if wrong is not items:
        what = "misses an item" if is_missing(wrong) else f"holds {wrong!r} of type {type(wrong).__name__} as an item"
        raise DataError(f"the list {items!r} {what}", column=column, remedy="items are texts or whole numbers")
    return list(dict.fromkeys(map(str, items)))


def _is_single(item: Any) -> bool:
    return isinstance(item, str | int | np.integer | np.bool_)


def _flat(places: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return np.ascontiguousarray(places, dtype=np.uint32).reshape(-1)


def _keys(rows: Rows) -> Iterable[bytes]:
    starts, held = (4 * rows.starts().astype(np.int64)).tolist(), rows.items().tobytes()
    return (held[start:end] for start, end in pairwise(starts))


def _distinct(rows: Rows) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Number the distinct rows; return the number of each row, and the first row of each number."""
    ends, held = 4 * rows.starts().astype(np.int64), rows.items()
    written = pa.Array.from_buffers(pa.large_binary(), len(rows), [None, pa.py_buffer(ends), pa.py_buffer(held)])
    place = written.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.uint32)
    return place, np.unique(place, return_index=True)[1].astype(np.uint32)
