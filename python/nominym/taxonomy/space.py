"""Where the values of a column live: a taxonomy cut down to what the values need, or a given matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from nominym.control import Progress, reporter
from nominym.error import DataError, ParameterError, UnknownConceptError
from nominym.memory import require_matrix
from nominym.taxonomy.matrix import DistanceMatrix
from nominym.taxonomy.measure import Measure, as_measure
from nominym.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nominym.frame import Column

Semantics: TypeAlias = Taxonomy | DistanceMatrix
"""What gives values their meaning."""


class Space:
    """Distances between the values of one column, or of several that share their meaning.

    A taxonomy is restricted to the least common subsumer of all values, which is the root for depths, unless the
    caller names another ``root``. Values are placed once; after that, everything is by *place*.
    """

    def __init__(
        self,
        semantics: Semantics,
        columns: Sequence[Column],
        measure: str | Measure = "wu-palmer",
        root: object = None,
    ) -> None:
        """Place the values of the columns."""
        if not isinstance(semantics, Taxonomy | DistanceMatrix):
            raise ParameterError(f"a Taxonomy or a DistanceMatrix is needed, not {type(semantics).__name__}")
        self._measure = as_measure(measure)
        self._columns = columns
        self._given = semantics
        self.content: NDArray[np.float64] | None = None
        """Information content of every place, where the measure needs it."""
        self.root: str | None = None
        """Root for depths; None for a given matrix."""
        placed = [semantics.concepts(c.categories, c.counts.tolist(), c.name) for c in columns]
        if columns and not sum(map(len, placed)):
            raise DataError(f"{_names(columns)}: no value at all")
        if isinstance(semantics, Taxonomy):
            used = np.concatenate([*placed, np.empty(0, dtype=np.uint32)])
            top = semantics.graph.lcs(used) if root is None else _root(semantics, root)
            self._given, kept = semantics.restrict_to(top)
            self.root = self._given.root
            outside = used[kept[np.minimum(np.searchsorted(kept, used), len(kept) - 1)] != used]
            if len(outside):
                name = semantics.ids[outside[0]]
                raise ParameterError(f"{_names(columns)}: {name!r} is not below root={self.root!r}")
            placed = [np.searchsorted(kept, p).astype(np.uint32) for p in placed]
            self.content = self._given.content(self._measure, semantics)
        elif root is not None:
            raise ParameterError("root= has no meaning for a distance matrix")
        self.places: list[NDArray[np.uint32]] = placed
        """Place of each category, one array per column."""

    @property
    def semantics(self) -> Semantics:
        """The taxonomy as restricted, or the given matrix."""
        return self._given

    @property
    def names(self) -> tuple[str, ...]:
        """Id of each place."""
        return self._given.ids if isinstance(self._given, Taxonomy) else self._given.labels

    def matrix(self, places: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure all pairs of places."""
        require_matrix(len(places), 8, "the column has too many categories for this statistic")
        if isinstance(self._given, DistanceMatrix):
            return np.ascontiguousarray(self._given.matrix[np.ix_(places, places)])
        out = np.empty((len(places), len(places)))
        with reporter(progress, "distances") as report:
            self._given.graph.matrix(places, self._measure.name, out, self.content, report)
        return out

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure pairs of places."""
        if isinstance(self._given, DistanceMatrix):
            found: NDArray[np.float64] = self._given.matrix[a, b]
            return found
        with reporter(progress, "distances") as report:
            return self._given.graph.pairs(a, b, self._measure.name, self.content, report)

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the place, of all there are, with the smallest sum of distances to the counted ones (ties: by id)."""
        if isinstance(self._given, DistanceMatrix):
            sums = self._given.matrix[:, places] @ counts.astype(np.float64)
            tied = np.flatnonzero(sums - sums.min() <= 1e-12 * sums.min())
            return int(min(tied, key=lambda place: self.names[place]))
        with reporter(progress, "semantic mean") as report:
            return self._given.graph.mean(places, counts, self._measure.name, self.content, report)

    def counted(self, which: int) -> NDArray[np.uint64]:
        """Count the records of a column, by its number, at every place."""
        totals = np.zeros(len(self._given), dtype=np.uint64)
        np.add.at(totals, self.places[which], self._columns[which].counts)
        return totals


def _root(taxonomy: Taxonomy, root: object) -> int:
    try:
        return taxonomy.concept(root)
    except UnknownConceptError as error:
        raise type(error)(f"root={root!r}: {error}") from None


def _names(columns: Sequence[Column]) -> str:
    names = [repr(c.name) for c in columns if c.name is not None]
    return f"column {', '.join(names)}" if names else "values"
