"""An attribute: a coded column with what its values mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.control import Progress
from nominym.error import ParameterError
from nominym.meaning import Meaning, Measure, Space, as_measure, check_meanings
from nominym.table.coding import MISSING, Column, Missing, check_policy, code
from nominym.table.frame import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Attribute:
    """A coded column, its meaning, and the place of every category in the space of that meaning."""

    name: Any
    column: Column
    meaning: Meaning
    space: Space
    places: NDArray[np.uint32]
    progress: Progress = None

    @property
    def root(self) -> str | None:
        """Root for depths; None where the meaning is no taxonomy."""
        return self.space.root

    @property
    def size(self) -> int:
        """Number of categories, what is missing not counted."""
        return len(self.column.categories)

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Distances between the categories."""
        return self.space.matrix(self.places, self.progress)

    @cached_property
    def with_missing(self) -> tuple[NDArray[np.uint32], NDArray[np.float64], int | None]:
        """Codes, distances and the code of missing values, which are a category of their own here.

        A missing value is equal to others of its kind and as far from every value as the two farthest values are from
        each other: it says nothing about which values are near.
        """
        codes = np.minimum(self.column.codes, np.uint32(self.size)) if self.column.missing else self.column.codes
        return codes, *padded(self.distances, self.column.missing > 0)

    def between(self, x: NDArray[np.uint32], y: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Measure pairs of categories."""
        if "distances" in self.__dict__:
            return self.distances[x, y]
        return self.space.pairs(self.places[x], self.places[y])

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


def padded(distances: NDArray[np.float64], missing: bool) -> tuple[NDArray[np.float64], int | None]:
    """Add the category of missing values to a matrix of distances, if there are any; return its number too."""
    if not missing:
        return distances, None
    d = len(distances)
    wider = np.full((d + 1, d + 1), distances.max(initial=0.0) or 1.0)
    wider[:d, :d] = distances
    wider[d, d] = 0
    return wider, d


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
        column = table.column(name)
        column.check_missing(missing)
        order = meaning.arrangement(column)
        if order is not None:
            column = table.arrange(name, order)
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
        order = meaning.arrangement(column)
        numbered = column if order is None else column.arranged(order)
        space = meaning.space([numbered], measure, root)
        found.append(Attribute(column.name, numbered, meaning, space, space.places[0], progress))
    return found


def placed(codes: NDArray[np.uint32], size: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Number the places that occur: the places, and the code of each record among them.

    >>> placed(np.array([7, 3, MISSING, 7], dtype=np.uint32), 9)[0].tolist()
    [3, 7]
    """
    known = codes != MISSING
    present = np.flatnonzero(np.bincount(codes[known], minlength=size)).astype(np.uint32)
    number = np.full(size, MISSING, dtype=np.uint32)
    number[present] = np.arange(len(present), dtype=np.uint32)
    numbered = np.full(len(codes), MISSING, dtype=np.uint32)
    numbered[known] = number[codes[known]]
    return present, numbered
