"""Where the values of a column live: a taxonomy cut down to what the values need, or a given matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from nominym._core import counts as count_codes
from nominym.control import Progress, reporter
from nominym.error import DataError, ParameterError
from nominym.taxonomy.matrix import DistanceMatrix, check_room
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
        self._measure = as_measure(measure)
        placed = [semantics.concepts(c.categories, c.counts.tolist(), c.name) for c in columns]
        self.root: str | None
        if isinstance(semantics, Taxonomy):
            used = np.concatenate(placed) if placed else np.empty(0, dtype=np.uint32)
            if not len(used):
                raise DataError(f"{_names(columns)}: no value at all")
            top = semantics.graph.lcs(used) if root is None else semantics.concept(root)
            self._taxonomy: Taxonomy | None = semantics.restrict(semantics.ids[top])
            self.root = self._taxonomy.root
            inside = {name: i for i, name in enumerate(self._taxonomy.ids)}
            ids = semantics.ids
            outside = [ids[i] for i in used.tolist() if ids[i] not in inside]
            if outside:
                raise ParameterError(f"{_names(columns)}: {outside[0]!r} is not below root={self.root!r}")
            placed = [np.array([inside[ids[i]] for i in p.tolist()], dtype=np.uint32) for p in placed]
            self._content = self._taxonomy.content(self._measure)
        elif isinstance(semantics, DistanceMatrix):
            if root is not None:
                raise ParameterError("root= has no meaning for a distance matrix")
            if not sum(len(p) for p in placed):
                raise DataError(f"{_names(columns)}: no value at all")
            self._taxonomy, self.root = None, None
            self._cells = semantics.matrix
            self._labels = semantics.labels
        else:
            raise ParameterError(f"a Taxonomy or a DistanceMatrix is needed, not {type(semantics).__name__}")
        self.places: list[NDArray[np.uint32]] = placed
        """Place of each category, one array per column."""

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The restricted taxonomy; None for a given matrix."""
        return self._taxonomy

    def name(self, place: int) -> str:
        """Give the id of a place."""
        return self._labels[place] if self._taxonomy is None else self._taxonomy.ids[place]

    def matrix(self, places: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure all pairs of places."""
        check_room(len(places), 8, "the column has too many categories for this statistic")
        if self._taxonomy is None:
            return np.ascontiguousarray(self._cells[np.ix_(places, places)])
        out = np.empty((len(places), len(places)))
        with reporter(progress, "distances") as report:
            self._taxonomy.graph.matrix64(places, self._measure.name, out, self._content, report)
        return out

    def pairs(
        self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None
    ) -> NDArray[np.float64]:
        """Measure pairs of places."""
        if self._taxonomy is None:
            found: NDArray[np.float64] = self._cells[a, b]
            return found
        with reporter(progress, "distances") as report:
            return self._taxonomy.graph.pairs(a, b, self._measure.name, self._content, report)

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the place, of all there are, with the smallest sum of distances to the counted ones (ties: by id)."""
        if self._taxonomy is None:
            sums = self._cells[:, places] @ counts.astype(np.float64)
            tied = np.flatnonzero(sums - sums.min() <= 1e-12 * max(float(sums.min()), 1.0))
            return int(min(tied, key=lambda place: self._labels[place]))
        with reporter(progress, "semantic mean") as report:
            return self._taxonomy.graph.mean(places, counts, self._measure.name, self._content, report)[0]

    def counted(self, column: Column, which: int) -> NDArray[np.uint64]:
        """Count the records of a column at every place."""
        size = len(self._labels) if self._taxonomy is None else len(self._taxonomy)
        totals = np.zeros(size, dtype=np.uint64)
        np.add.at(totals, self.places[which], count_codes(column.codes, len(column.categories)))
        return totals


def _names(columns: Sequence[Column]) -> str:
    names = [repr(c.name) for c in columns if c.name is not None]
    return f"column {', '.join(names)}" if names else "values"
