"""The concepts that may replace the values of a column."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.error import DataError, ParameterError, UnknownConceptError
from nominym.frame import MISSING, Column
from nominym.taxonomy.matrix import DistanceMatrix
from nominym.taxonomy.space import Space
from nominym.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from nominym.taxonomy.measure import Measure
    from nominym.taxonomy.space import Semantics


class Domain:
    """A taxonomy below a concept, or a matrix, with the distances between all its concepts.

    Built from the columns of a sample; after that, columns with values it does not have are refused.
    """

    def __init__(
        self, semantics: Semantics, columns: Sequence[Column], measure: Measure, root: object, by_label: bool = False
    ) -> None:
        """Restrict a taxonomy to ``root``, or else to the least common subsumer of the columns.

        All concepts are written alike, by id or by label, whether the columns have them or not: the way a value is
        written must not tell whether it was there before. Labels are used if all values of the columns are labels.
        """
        self._space = Space(semantics, columns, measure, root)
        self.measure = measure
        places = zip(self._space.places, columns, strict=True)
        self.by_label = by_label or (bool(columns) and all(self._is_labelled(at, column) for at, column in places))
        """Whether concepts are written by label."""

    def _is_labelled(self, places: NDArray[np.uint32], column: Column) -> bool:
        if not isinstance(self.semantics, Taxonomy):
            return False
        found = [self.semantics.label(self.names[place]) for place in places.tolist()]
        ids = [self.names[place] for place in places.tolist()]
        return found == list(column.categories) and found != ids

    @cached_property
    def spellings(self) -> tuple[str, ...]:
        """How each concept is written: by id, or by label where that names one concept only."""
        if not self.by_label or not isinstance(self.semantics, Taxonomy):
            return self.names
        labels = [self.semantics.label(name) for name in self.names]
        times = Counter(text.casefold() for text in (*labels, *self.names))
        return tuple(
            label if times[label.casefold()] == 1 else name for label, name in zip(labels, self.names, strict=True)
        )

    @property
    def semantics(self) -> Semantics:
        """The taxonomy as restricted, or the matrix."""
        return self._space.semantics

    @property
    def space(self) -> Space:
        """The distances."""
        return self._space

    @property
    def root(self) -> str | None:
        """The concept that all others are below; None for a matrix."""
        return self._space.root

    @property
    def names(self) -> tuple[str, ...]:
        """Id of each concept."""
        return self._space.names

    def __len__(self) -> int:
        """Count the concepts."""
        return len(self.names)

    def place(self, column: Column) -> NDArray[np.uint32]:
        """Find the concepts of a column's categories."""
        try:
            return self.semantics.concepts(column.categories, column.counts.tolist(), column.name)
        except UnknownConceptError as error:
            below = f" below {self.root!r}" if self.root else ""
            message = f"{error} Noise was fitted to the {len(self):,} concepts{below}"
            raise type(error)(message) from None

    @property
    def arguments(self) -> tuple[Any, str, NDArray[np.float64] | None]:
        """What the compiled core needs to measure here: the concepts, the measure and its information content."""
        if isinstance(self.semantics, Taxonomy):
            return self.semantics.graph, self.measure.name, self._space.content
        return self.semantics.matrix, self.measure.name, None


def require_text(column: Column) -> None:
    """Refuse a column whose type cannot hold the names of concepts, before anything is done."""
    other = next((value for value in column.categories if not isinstance(value, str)), None)
    if other is not None:
        raise DataError(
            f"column {column.name!r} holds values such as {other!r} of type {type(other).__name__}, but noise writes "
            "concepts by name; turn the column into text first"
        )


def require_shares(name: object, semantics: Semantics) -> None:
    """Refuse a matrix of distances that errors, which are shares of the largest distance, cannot be compared with."""
    if isinstance(semantics, DistanceMatrix) and semantics.matrix.max() > 1:
        raise ParameterError(
            f"column {name!r}: distances up to {semantics.matrix.max():g}; errors are shares of the largest distance, "
            "so divide the matrix by its maximum"
        )


def written(concepts: NDArray[np.uint32], names: Sequence[str], name: str | None) -> tuple[Column, NDArray[np.uint32]]:
    """Code concepts as values, and give the places of these."""
    known = concepts != MISSING
    present = np.flatnonzero(np.bincount(concepts[known], minlength=len(names)))
    number = np.full(len(names), MISSING, dtype=np.uint32)
    number[present] = np.arange(len(present), dtype=np.uint32)
    codes = np.full(len(concepts), MISSING, dtype=np.uint32)
    codes[known] = number[concepts[known]]
    return Column(codes, tuple(names[place] for place in present.tolist()), name), present.astype(np.uint32)
