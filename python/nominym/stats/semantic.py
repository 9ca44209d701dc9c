"""Statistics over semantic distances (Rodriguez-Garcia, Batet and Sánchez; thesis sections 4.4–4.6).

Costs do not depend on the number of records once a column is coded. With ``d`` categories, ``V`` concepts and ``P``
distinct pairs of values: mean and variance O(d·V), distance variance O(d²), distance covariance O(P·d).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd

from nominym import _core
from nominym.control import Progress, reporter
from nominym.error import DataError, ParameterError
from nominym.frame import MISSING, Column, Missing, Table, code, code_together
from nominym.taxonomy.measure import Measure
from nominym.taxonomy.space import Semantics, Space

if TYPE_CHECKING:
    from numpy.typing import NDArray


def semantic_mean(
    values: Any,
    tax: Semantics,
    *,
    measure: str | Measure = "wu-palmer",
    root: object = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> str:
    """Find the concept, of all below the values' least common subsumer, nearest to all values (4.18); ties by id.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> semantic_mean(["flu", "coma", "deep coma", "coma"], tax)
    'coma'
    """
    space, _, mean = _centre(values, tax, measure, root, missing, progress)
    return space.names[mean]


def semantic_variance(
    values: Any,
    tax: Semantics,
    *,
    measure: str | Measure = "wu-palmer",
    root: object = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> float:
    """Average the squared distances to the semantic mean (4.19).

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> round(semantic_variance(["flu", "coma", "deep coma", "coma"], tax), 4)
    0.0725
    """
    space, column, mean = _centre(values, tax, measure, root, missing, progress)
    places = space.places[0]
    distances = space.pairs(places, np.full_like(places, mean))
    counts = column.counts.astype(np.float64)
    return math.fsum(counts * distances**2) / math.fsum(counts)


def _centre(
    values: Any, tax: Semantics, measure: str | Measure, root: object, missing: Missing, progress: Progress
) -> tuple[Space, Column, int]:
    column = code(values, missing=missing)
    space = Space(tax, [column], measure, root)
    return space, column, space.mean(space.places[0], column.counts, progress)


def distance_covariance(
    x: Any,
    y: Any,
    tax_x: Semantics,
    tax_y: Semantics,
    *,
    measure: str | Measure = "wu-palmer",
    root_x: object = None,
    root_y: object = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> float:
    """Measure how the distances within two columns go together (4.23): ``sdCov``, never negative.

    A negative sum, which distances that are not Euclidean can give, counts as 0.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> distance_covariance(["flu", "coma"], ["coma", "flu"], tax, tax)
    0.25
    """
    first, second = _attributes({"x": (x, tax_x, root_x), "y": (y, tax_y, root_y)}, measure, missing, progress)
    return _covariance(first, second, progress)


def distance_variance(
    x: Any,
    tax: Semantics,
    *,
    measure: str | Measure = "wu-palmer",
    root: object = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> float:
    """Measure the distance covariance of a column with itself (4.25): ``sdVar``.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> distance_variance(["flu", "coma"], tax)
    0.25
    """
    (column,) = _attributes({"x": (x, tax, root)}, measure, missing, progress)
    return _covariance(column, column, progress)


def distance_correlation(
    x: Any,
    y: Any,
    tax_x: Semantics,
    tax_y: Semantics,
    *,
    measure: str | Measure = "wu-palmer",
    root_x: object = None,
    root_y: object = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> float:
    """Measure the association of two columns (4.24): ``sdCor``, 0 where a variance is 0.

    Only records with both values are used, for the variances too.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> round(distance_correlation(["flu", "coma", "flu"], ["coma", "flu", "coma"], tax, tax), 6)
    1.0
    """
    first, second = _attributes({"x": (x, tax_x, root_x), "y": (y, tax_y, root_y)}, measure, missing, progress)
    return correlation(first.column.codes, second.column.codes, first.distances, second.distances, progress)


def covariance_matrix(
    frame: Any,
    taxonomies: Mapping[Any, Semantics],
    *,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> pd.DataFrame:
    """Collect ``sdVar`` (diagonal) and ``sdCov`` of several columns; only records with all values are used.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> covariance_matrix({"first": ["flu", "coma"], "second": ["coma", "flu"]}, {"first": tax, "second": tax})
            first  second
    first    0.25    0.25
    second   0.25    0.25
    """
    table = Table(frame)
    if not isinstance(taxonomies, Mapping):
        raise ParameterError(
            f"taxonomies: a mapping from column to taxonomy is needed, not {type(taxonomies).__name__}"
        )
    given = {name: (table.values(name), tax, (roots or {}).get(name)) for name, tax in taxonomies.items()}
    columns = _attributes(given, measure, missing, progress)
    cells = covariances([c.column.codes for c in columns], [c.distances for c in columns], progress)
    return pd.DataFrame(cells, index=list(taxonomies), columns=list(taxonomies))


class _Attribute:
    """A column with the distances between its categories."""

    def __init__(self, column: Column, space: Space, progress: Progress) -> None:
        self.column = column
        self.distances = space.matrix(space.places[0], progress)


def _attributes(
    given: Mapping[Any, tuple[Any, Semantics, object]],
    measure: str | Measure,
    missing: Missing,
    progress: Progress,
) -> list[_Attribute]:
    columns = code_together({name: values for name, (values, _, _) in given.items()}, missing)
    return [
        _Attribute(column, Space(tax, [column], measure, root), progress)
        for column, (_, tax, root) in zip(columns, given.values(), strict=True)
    ]


def correlation(
    x: NDArray[np.uint32],
    y: NDArray[np.uint32],
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    progress: Progress = None,
) -> float:
    """Measure ``sdCor`` of two coded columns by the distances of their categories; records with both values count.

    Not a number where there is no such record.
    """
    pairs = _core.joint(x, y, (len(a), len(b)))
    if not len(pairs[2]):
        return math.nan
    spread = math.prod(
        _root(_diagonal(np.bincount(codes, pairs[2], len(cells))), cells, cells, progress)
        for codes, cells in ((pairs[0], a), (pairs[1], b))
    )
    return _root(pairs, a, b, progress) / math.sqrt(spread) if spread > 0 else 0.0


Coded: TypeAlias = "tuple[NDArray[np.uint32], NDArray[np.float64]]"
"""Codes of a column, and the distances of its categories."""


def correlation_changes(
    before: Mapping[Any, Coded], after: Mapping[Any, Coded], progress: Progress = None
) -> pd.DataFrame:
    """Compare the distance correlations of all pairs of columns before and after masking."""
    rows = []
    for x, y in combinations(before, 2):
        was, now = (
            correlation(coded[x][0], coded[y][0], coded[x][1], coded[y][1], progress) for coded in (before, after)
        )
        rows.append((x, y, was, now, now - was))
    return pd.DataFrame(rows, columns=["x", "y", "before", "after", "difference"])


def covariances(
    codes: Sequence[NDArray[np.uint32]], distances: Sequence[NDArray[np.float64]], progress: Progress = None
) -> NDArray[np.float64]:
    """Measure ``sdVar`` (diagonal) and ``sdCov`` of coded columns; only records with all values count."""
    complete = np.logical_and.reduce([column != MISSING for column in codes])
    if not complete.any():
        raise DataError("no record has a value in all of the columns, so they have no covariance; mask them apart")
    kept = codes if complete.all() else [column[complete] for column in codes]
    counts = [np.bincount(column, minlength=len(d)) for column, d in zip(kept, distances, strict=True)]
    cells = np.diag([_root(_diagonal(n), d, d, progress) for n, d in zip(counts, distances, strict=True)])
    for i, j in combinations(range(len(codes)), 2):
        pairs = _core.joint(kept[i], kept[j], (len(distances[i]), len(distances[j])))
        cells[i, j] = cells[j, i] = _root(pairs, distances[i], distances[j], progress)
    return cells


_Pairs: TypeAlias = "tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]"


def _covariance(x: _Attribute, y: _Attribute, progress: Progress) -> float:
    if x is y:
        return _root(_diagonal(x.column.counts), x.distances, x.distances, progress)
    pairs = _core.joint(x.column.codes, y.column.codes, (len(x.distances), len(y.distances)))
    return _root(pairs, x.distances, y.distances, progress)


def _diagonal(counts: NDArray[Any]) -> _Pairs:
    """Pairs of every category with itself."""
    every = np.arange(len(counts), dtype=np.uint32)
    return every, every, counts.astype(np.uint64)


def _root(pairs: _Pairs, a: NDArray[np.float64], b: NDArray[np.float64], progress: Progress) -> float:
    with reporter(progress, "distance covariance") as report:
        squared = _core.covariance_squared(*pairs, a, b, report)
    return math.sqrt(max(squared, 0.0))


def rmse(
    before: Any,
    after: Any,
    tax: Semantics,
    *,
    measure: str | Measure = "wu-palmer",
    root: object = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> float:
    """Average what masking did to a column: the root of the mean squared distance, record by record.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness")])
    >>> rmse(["flu", "coma"], ["coma", "flu"], tax)
    0.5
    """
    old, new = code_together({"before": before, "after": after}, missing)
    space = Space(tax, [old, new], measure, root)
    x, y, count = _core.joint(old.codes, new.codes, (len(old.categories), len(new.categories)))
    distances = space.pairs(space.places[0][x], space.places[1][y], progress)
    return math.sqrt(math.fsum(count * distances**2) / int(count.sum()))
