"""Places of values in a taxonomy that is cut down to what the values need."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nominym.control import Progress, reporter
from nominym.error import ParameterError, UnknownConceptError
from nominym.meaning.base import Space, Values, refuse_numbers
from nominym.meaning.measure import Measure, as_measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nominym.meaning.taxonomy import Taxonomy


class ConceptSpace(Space):
    """Semantic distances between the concepts below the least common subsumer of all values, or below ``root``."""

    def __init__(self, taxonomy: Taxonomy, columns: Sequence[Values], measure: str | Measure, root: object) -> None:
        """Place the values of the columns."""
        super().__init__(columns)
        self.measure = as_measure(measure)
        for column in columns:
            refuse_numbers(column)
        placed = [taxonomy.concepts(c.categories, c.counts.tolist(), c.name) for c in columns]
        used = np.concatenate([*placed, np.empty(0, dtype=np.uint32)])
        top = taxonomy.graph.lcs(used) if root is None else _root(taxonomy, root)
        self.taxonomy, kept = taxonomy.restrict_to(top)
        """The taxonomy as restricted."""
        self.root = self.taxonomy.root
        outside = used[kept[np.minimum(np.searchsorted(kept, used), len(kept) - 1)] != used]
        if len(outside):
            names = ", ".join(repr(column.name) for column in columns if column.name is not None)
            where = f"column {names}: " if names else ""
            raise ParameterError(f"{where}{taxonomy.ids[outside[0]]!r} is not below root={self.root!r}")
        self.places = [np.searchsorted(kept, p).astype(np.uint32) for p in placed]
        self.content = self.taxonomy.content(self.measure, taxonomy)
        """Information content of every place, where the measure needs it."""

    def __len__(self) -> int:
        """Count the concepts."""
        return len(self.taxonomy)

    def name(self, place: int) -> str:
        """Return the id of a concept."""
        return self.taxonomy.ids[place]

    def label(self, place: int) -> str:
        """Return label and id of a concept."""
        name = self.taxonomy.ids[place]
        label = self.taxonomy.label(name)
        return name if label.casefold() == name.casefold() else f"{label} ({name})"

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure every concept of one list against every concept of another."""
        if a is not b and not np.array_equal(a, b):
            return self.pairs(np.repeat(a, len(b)), np.tile(b, len(a)), progress).reshape(len(a), len(b))
        out = np.empty((len(a), len(a)))
        with reporter(progress, "distances") as report:
            self.taxonomy.graph.matrix(a, self.measure.name, out, self.content, report)
        return out

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure pairs of concepts."""
        with reporter(progress, "distances") as report:
            return self.taxonomy.graph.pairs(a, b, self.measure.name, self.content, report)

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the semantic mean: ties by id."""
        with reporter(progress, "semantic mean") as report:
            return self.taxonomy.graph.mean(places, counts, self.measure.name, self.content, report)

    def common(self, places: NDArray[np.uint32]) -> str:
        """Return the id of the least common subsumer."""
        return self.taxonomy.ids[self.taxonomy.graph.lcs(np.ascontiguousarray(places, dtype=np.uint32))]


def _root(taxonomy: Taxonomy, root: object) -> int:
    try:
        return taxonomy.concept(root)
    except UnknownConceptError as error:
        raise type(error)(f"root={root!r}: {error}") from None
