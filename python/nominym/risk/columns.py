"""Columns that an intruder knows: coded alike before and after, with the distances of their values."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.error import DataError, ParameterError
from nominym.frame import Column, Missing, Table, code, code_ordered, is_sequence, own_order
from nominym.memory import require_matrix
from nominym.taxonomy.matrix import DistanceMatrix
from nominym.taxonomy.space import Space
from nominym.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.taxonomy.measure import Measure


class Known:
    """A column of two tables over the same categories; a missing value is one more.

    A missing value is equal to others of its kind and as far from every value as the two farthest values are from each
    other, as in rank swapping.
    """

    def __init__(
        self,
        tables: tuple[Table, Table],
        name: Any,
        semantics: Any,
        measure: Measure,
        root: object,
        missing: Missing,
        progress: Progress,
    ) -> None:
        """Code the column on both sides; the distances come when they are asked for."""
        values = [table.values(name) for table in tables]
        names = [f"{name} ({when})" for when in ("before", "after")]
        given = list(zip(values, names, strict=True))
        if root is not None and not isinstance(semantics, Taxonomy):
            raise ParameterError(f"roots: {name!r} has no taxonomy, so it has no root")
        if isinstance(semantics, Taxonomy | DistanceMatrix):
            columns = [code(*each, missing) for each in given]
            space = Space(semantics, columns, measure, root)
            places, numbers = _united(space.places)
            self._measured: Callable[[], NDArray[np.float64]] = lambda: space.matrix(places, progress)
        elif isinstance(semantics, str) and semantics == "equal":
            columns = [code(*each, missing) for each in given]
            _refuse_empty(columns, name)
            place: dict[str, int] = {}
            numbers = [
                np.array([place.setdefault(str(value), len(place)) for value in column.categories], dtype=np.int64)
                for column in columns
            ]
            self._measured = lambda: _unequal(len(place), name)
        elif semantics is None or (is_sequence(semantics) and np.ndim(semantics) == 1):
            listed = own_order(values[0]) if semantics is None else list(semantics)
            columns = [code_ordered(*each, listed, missing) for each in given]
            _refuse_empty(columns, name)
            scale, numbers = _scale(columns, listed, name)
            self._measured = lambda: _apart(scale, name)
        else:
            raise ParameterError(
                f"column {name!r}: a Taxonomy, a DistanceMatrix, 'equal', None for values that have an order, or the "
                f"list of all values in order is needed, not {type(semantics).__name__}; for a plain matrix give "
                "nym.DistanceMatrix(matrix, labels)"
            )
        last = 1 + max(int(part.max(initial=0)) for part in numbers)
        self._gaps = any(column.missing for column in columns)
        self.before, self.after = (
            np.append(part, last).astype(np.uint32)[np.minimum(column.codes, np.uint32(len(part)))]
            for column, part in zip(columns, numbers, strict=True)
        )

    @cached_property
    def distances(self) -> NDArray[np.float64]:
        """Distances between the categories."""
        measured = self._measured()
        if not self._gaps:
            return measured
        d = len(measured)
        distances = np.full((d + 1, d + 1), measured.max(initial=0.0) or 1.0)
        distances[:d, :d] = measured
        distances[d, d] = 0
        return distances


def _united(parts: Sequence[Any]) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
    """Give the distinct items of two lists, and the number of each item of each list among them."""
    kinds, numbers = np.unique(np.concatenate([np.asarray(part) for part in parts]), return_inverse=True)
    return kinds, np.split(numbers.reshape(-1), [len(parts[0])])


def _refuse_empty(columns: Sequence[Column], name: Any) -> None:
    if not any(len(column.categories) for column in columns):
        raise DataError(f"column {name!r}: no value at all")


def _unequal(size: int, name: Any) -> NDArray[np.float64]:
    require_matrix(size, 8, f"column {name!r} has too many values; leave it out of known=, or make them coarser")
    return 1.0 - np.eye(size)


def _scale(
    columns: Sequence[Column], listed: list[Any] | None, name: Any
) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
    """Put the values of an ordered column on a scale from 0 to 1: numbers as they are, others by rank."""
    if listed is not None:
        place = {str(value): i for i, value in enumerate(listed)}
        ranks, numbers = _united([[place[str(value)] for value in column.categories] for column in columns])
        return _stretched(np.arange(len(ranks)), name), numbers
    kinds: list[Any] = [value for column in columns for value in column.categories]
    try:
        united = sorted(set(kinds))
    except TypeError:
        raise DataError(
            f"column {name!r}: values before and after cannot be compared; bring them to one type"
        ) from None
    place = {value: i for i, value in enumerate(united)}
    numbers = [np.array([place[value] for value in column.categories], dtype=np.int64) for column in columns]
    values = np.asarray(united)
    return _stretched(values if values.dtype.kind in "biuf" else np.arange(len(united)), name), numbers


def _stretched(values: NDArray[Any], name: Any) -> NDArray[np.float64]:
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise DataError(f"column {name!r}: holds an infinite number, which is far from everything; replace it")
    return values.astype(np.float64)


def _apart(values: NDArray[np.float64], name: Any) -> NDArray[np.float64]:
    """Measure differences relative to the largest: a column of numbers weighs as much as one of concepts."""
    require_matrix(len(values), 8, f"round the values of column {name!r}, or leave it out of known=")
    return np.abs(np.subtract.outer(values, values)) / (np.ptp(values) or 1.0)
