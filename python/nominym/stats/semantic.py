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
from nominym.error import DataError
from nominym.meaning import Meaning, Measure, check_meanings
from nominym.table import MISSING, Attribute, Change, Missing, Table, code, complete, of_columns, single

if TYPE_CHECKING:
    from numpy.typing import NDArray


def semantic_mean(
    values: Any,
    tax: Meaning,
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
    attribute = single(values, tax, measure, root, missing, progress)
    return attribute.space.name(attribute.mean)


def semantic_variance(
    values: Any,
    tax: Meaning,
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
    return single(values, tax, measure, root, missing, progress).variance


def distance_covariance(
    x: Any,
    y: Any,
    tax_x: Meaning,
    tax_y: Meaning,
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
    return covariance(first, second, progress)


def distance_variance(
    x: Any,
    tax: Meaning,
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
    attribute = single(x, tax, measure, root, missing, progress)
    return covariance(attribute, attribute, progress)


def distance_correlation(
    x: Any,
    y: Any,
    tax_x: Meaning,
    tax_y: Meaning,
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
    return correlation(first, second, progress)


def covariance_matrix(
    frame: Any,
    meanings: Mapping[Any, Meaning],
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
    table, given = Table(frame), check_meanings(meanings)
    values = {name: (table.values(name), meaning, (roots or {}).get(name)) for name, meaning in given.items()}
    cells = covariances(_attributes(values, measure, missing, progress), progress)
    return pd.DataFrame(cells, index=list(given), columns=list(given))


def _attributes(
    given: Mapping[Any, tuple[Any, Meaning, object]],
    measure: str | Measure,
    missing: Missing,
    progress: Progress,
) -> list[Attribute]:
    """Code columns, and keep the records in which none is missing."""
    columns = {
        name: code(values, str(getattr(values, "name", None) or name), missing)
        for name, (values, _, _) in given.items()
    }
    _, meanings, roots = zip(*given.values(), strict=True)
    return of_columns(complete(columns), meanings, measure, roots, progress)


def correlation(x: Attribute, y: Attribute, progress: Progress = None) -> float:
    """Measure ``sdCor`` of two attributes; records with both values count. Not a number where there is none."""
    pairs = _core.joint(x.column.codes, y.column.codes, (x.size, y.size))
    if not len(pairs[2]):
        return math.nan
    spread = math.prod(
        _root(_diagonal(np.bincount(codes, pairs[2], side.size)), side, side, progress)
        for codes, side in ((pairs[0], x), (pairs[1], y))
    )
    return _root(pairs, x, y, progress) / math.sqrt(spread) if spread > 0 else 0.0


def correlation_changes(changes: Mapping[Any, Change], progress: Progress = None) -> pd.DataFrame:
    """Compare the distance correlations of all pairs of attributes before and after masking."""
    rows = []
    for x, y in combinations(changes, 2):
        was = correlation(changes[x].before, changes[y].before, progress)
        now = correlation(changes[x].after, changes[y].after, progress)
        rows.append((x, y, was, now, now - was))
    return pd.DataFrame(rows, columns=["x", "y", "before", "after", "difference"])


def covariances(attributes: Sequence[Attribute], progress: Progress = None) -> NDArray[np.float64]:
    """Measure ``sdVar`` (diagonal) and ``sdCov`` of attributes; only records with all values count."""
    codes = [attribute.column.codes for attribute in attributes]
    rows = np.logical_and.reduce([column != MISSING for column in codes])
    if not rows.any():
        raise DataError("no record has a value in all of the columns, so they have no covariance; mask them apart")
    kept = codes if rows.all() else [column[rows] for column in codes]
    counts = [np.bincount(column, minlength=side.size) for column, side in zip(kept, attributes, strict=True)]
    cells = np.diag([_root(_diagonal(n), side, side, progress) for n, side in zip(counts, attributes, strict=True)])
    for i, j in combinations(range(len(codes)), 2):
        pairs = _core.joint(kept[i], kept[j], (attributes[i].size, attributes[j].size))
        cells[i, j] = cells[j, i] = _root(pairs, attributes[i], attributes[j], progress)
    return cells


_Pairs: TypeAlias = "tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]"


def covariance(x: Attribute, y: Attribute, progress: Progress = None) -> float:
    """Measure ``sdCov`` of two attributes without missing values."""
    if x is y:
        return _root(_diagonal(x.column.counts), x, x, progress)
    return _root(_core.joint(x.column.codes, y.column.codes, (x.size, y.size)), x, y, progress)


def _diagonal(counts: NDArray[Any]) -> _Pairs:
    """Pairs of every category with itself."""
    every = np.arange(len(counts), dtype=np.uint32)
    return every, every, counts.astype(np.uint64)


def _root(pairs: _Pairs, x: Attribute, y: Attribute, progress: Progress) -> float:
    with reporter(progress, "distance covariance") as report:
        squared = _core.covariance_squared(*pairs, x.distances, y.distances, report)
    return math.sqrt(max(squared, 0.0))


def rmse(
    before: Any,
    after: Any,
    tax: Meaning,
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
    columns = {name: code(values, name, missing) for name, values in (("before", before), ("after", after))}
    return Change.between("values", complete(columns), tax, measure, root, progress).rmse
