"""Columns made ready for swapping: numbered in an order that does not depend on the rows, with their distances."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.error import DataError, ParameterError
from nominym.frame import Missing, Table, by_name, code_ordered, is_sequence
from nominym.taxonomy.matrix import DistanceMatrix
from nominym.taxonomy.space import Semantics, Space
from nominym.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.taxonomy.measure import Measure


class Nominal:
    """A column of concepts.

    Categories are numbered by their names, never by who comes first: what a method does with equal distances must not
    depend on the order of the rows.
    """

    def __init__(
        self,
        table: Table,
        name: Any,
        semantics: Semantics,
        measure: str | Measure,
        root: object,
        missing: Missing,
        progress: Progress,
    ) -> None:
        """Code a column and find its concepts; the distances come when they are asked for."""
        if not isinstance(semantics, Taxonomy | DistanceMatrix):
            raise ParameterError(
                f"column {name!r}: a Taxonomy or a DistanceMatrix is needed, not {type(semantics).__name__}; "
                "orders of values go with method='numerical'"
            )
        self.column = by_name(table.code(name, missing))
        self._progress = progress
        self._space = Space(semantics, [self.column], measure, root)

    @property
    def root(self) -> str | None:
        """Root for depths; None for a given matrix."""
        return self._space.root

    @property
    def categories(self) -> int:
        """Number of distinct values, those missing not counted."""
        return len(self.column.categories)

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Distances between the categories."""
        return self._space.matrix(self._space.places[0], self._progress)

    @cached_property
    def extended(self) -> tuple[NDArray[np.uint32], NDArray[np.float64], int | None]:
        """Codes, distances and the code of missing values, which are a category of their own here.

        A missing value is equal to others of its kind and as far from every value as the two farthest values are from
        each other: it says nothing about which values are near.
        """
        if not self.column.missing:
            return self.column.codes, self.distances, None
        d = self.categories
        distances = np.full((d + 1, d + 1), self.distances.max() or 1.0)
        distances[:d, :d] = self.distances
        distances[d, d] = 0
        return np.minimum(self.column.codes, np.uint32(d)), distances, d

    def between(self, x: NDArray[np.uint32], y: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Measure pairs of categories."""
        if "distances" in self.__dict__:
            return self.distances[x, y]
        places = self._space.places[0]
        return self._space.pairs(places[x], places[y])


class Ordered:
    """A column of numbers, dates or ordered values."""

    root = None

    def __init__(self, table: Table, name: Any, order: Any, missing: Missing) -> None:
        """Code a column by the rank of its values."""
        if order is not None and (isinstance(order, Taxonomy | DistanceMatrix) or not is_sequence(order)):
            raise ParameterError(
                f"column {name!r}: method='numerical' takes None for values that have an order (numbers, dates, "
                f"ordered categoricals) or the list of all values in order, not {type(order).__name__}"
            )
        self.column = code_ordered(table.values(name), str(name), order, missing)
        if not self.column.categories:
            raise DataError(f"column {name!r}: no value at all")

    @property
    def categories(self) -> int:
        """Number of distinct values."""
        return len(self.column.categories)

    def between(self, x: NDArray[np.uint32], y: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Give the difference of pairs of values: of numbers, or of ranks where they are none."""
        numbers = np.asarray(self.column.categories)
        if numbers.dtype.kind not in "biuf":
            numbers = np.arange(self.categories)
        before, after = numbers[x].astype(np.float64), numbers[y].astype(np.float64)
        # Not by subtraction alone: infinity less itself is no number.
        return np.where(x == y, 0.0, np.abs(before - np.where(x == y, 0.0, after)))
