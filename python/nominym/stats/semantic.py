"""Statistics over semantic distances (Rodriguez-Garcia, Batet and Sánchez; thesis sections 4.4–4.6).

Costs do not depend on the number of records once a column is coded. With ``d`` categories, ``V`` concepts and ``P``
distinct pairs of values: mean and variance O(d·V), distance variance O(d²), distance covariance O(P·d). Many numbers,
dates, labels and concepts of trees need no matrix: O(P log P), times the levels of the trees. Many concepts of other
taxonomies are measured a few rows at a time: O(P·d) still, in O(d) memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import pandas as pd

from nominym import _core
from nominym.control import LITTLE, Progress, free_memory, reporter
from nominym.error import DataError
from nominym.meaning import MANY, Distances, Meaning, Measure, check_meanings
from nominym.table import MISSING, Attribute, Change, Missing, Table, code, complete, of_columns, single

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack


class Common(TypedDict, total=False):
    """Keyword options of all statistics."""

    measure: str | Measure
    missing: Missing
    progress: Progress


class Options(Common, total=False):
    """Options for one column, with its root for depths: by default the least common subsumer of its values."""

    root: object


class PairOptions(Common, total=False):
    """Options for two columns."""

    root_x: object
    root_y: object


def semantic_mean(values: Any, tax: Meaning, **options: Unpack[Options]) -> str:
    """Find the concept nearest to all values, among all below their least common subsumer (4.18); ties by id.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> semantic_mean(["flu", "coma", "deep coma", "coma"], tax)
    'coma'
    """
    attribute = single(values, tax, **options)
    return attribute.space.name(attribute.mean)


def semantic_variance(values: Any, tax: Meaning, **options: Unpack[Options]) -> float:
    """Return the mean squared distance to the semantic mean (4.19).

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> round(semantic_variance(["flu", "coma", "deep coma", "coma"], tax), 4)
    0.0725
    """
    return single(values, tax, **options).variance


def distance_covariance(x: Any, y: Any, tax_x: Meaning, tax_y: Meaning, **options: Unpack[PairOptions]) -> float:
    """Return the distance covariance of two columns (4.23): ``sdCov``, never negative.

    A negative sum, which distances that are not Euclidean can give, counts as 0.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> distance_covariance(["flu", "coma"], ["coma", "flu"], tax, tax)
    0.25
    """
    return float(covariances(_pair(x, y, tax_x, tax_y, **options), options.get("progress"))[0, 1])


def distance_variance(x: Any, tax: Meaning, **options: Unpack[Options]) -> float:
    """Return the distance covariance of a column with itself (4.25): ``sdVar``.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> distance_variance(["flu", "coma"], tax)
    0.25
    """
    return float(covariances([single(x, tax, **options)], options.get("progress"))[0, 0])


def distance_correlation(x: Any, y: Any, tax_x: Meaning, tax_y: Meaning, **options: Unpack[PairOptions]) -> float:
    """Return the distance correlation of two columns (4.24): ``sdCor``, 0 where a variance is 0.

    Only records with both values are used, for the variances too.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> round(distance_correlation(["flu", "coma", "flu"], ["coma", "flu", "coma"], tax, tax), 6)
    1.0
    """
    first, second = _pair(x, y, tax_x, tax_y, **options)
    return correlation(first, second, options.get("progress"))


def covariance_matrix(
    frame: Any, meanings: Mapping[Any, Meaning], *, roots: Mapping[Any, object] | None = None, **options: Unpack[Common]
) -> pd.DataFrame:
    """Return ``sdVar`` (diagonal) and ``sdCov`` of several columns, over records with all values.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> covariance_matrix({"first": ["flu", "coma"], "second": ["coma", "flu"]}, {"first": tax, "second": tax})
            first  second
    first    0.25    0.25
    second   0.25    0.25
    """
    table, given = Table(frame), check_meanings(meanings)
    values = {name: (table.values(name), meaning, (roots or {}).get(name)) for name, meaning in given.items()}
    cells = covariances(_attributes(values, **options), options.get("progress"))
    return pd.DataFrame(cells, index=list(given), columns=list(given))


def _pair(
    x: Any, y: Any, tax_x: Meaning, tax_y: Meaning, root_x: Any = None, root_y: Any = None, **options: Unpack[Common]
) -> list[Attribute]:
    return _attributes({"x": (x, tax_x, root_x), "y": (y, tax_y, root_y)}, **options)


def _attributes(
    given: Mapping[Any, tuple[Any, Meaning, object]],
    measure: str | Measure = "wu-palmer",
    missing: Missing = "keep",
    progress: Progress = None,
) -> list[Attribute]:
    """Code columns, and keep the records in which none is missing."""
    columns = {
        name: code(values, str(getattr(values, "name", None) or name), missing)
        for name, (values, _, _) in given.items()
    }
    _, meanings, roots = zip(*given.values(), strict=True)
    return of_columns(complete(columns), meanings, measure, roots, progress)


def correlation(x: Attribute, y: Attribute, progress: Progress = None) -> float:
    """Return ``sdCor`` of two attributes, over records with both values; NaN if there are none."""
    if not ((x.column.codes != MISSING) & (y.column.codes != MISSING)).any():
        return math.nan
    cells = covariances([x, y], progress)
    spread = cells[0, 0] * cells[1, 1]
    return float(cells[0, 1] / math.sqrt(spread)) if spread > 0 else 0.0


def correlation_changes(changes: Mapping[Any, Change], progress: Progress = None) -> pd.DataFrame:
    """Compare the distance correlations of all pairs of attributes before and after masking."""
    rows = []
    for x, y in combinations(changes, 2):
        was = correlation(changes[x].before, changes[y].before, progress)
        now = correlation(changes[x].after, changes[y].after, progress)
        rows.append((x, y, was, now, now - was))
    return pd.DataFrame(rows, columns=["x", "y", "before", "after", "difference"])


def covariances(attributes: Sequence[Attribute], progress: Progress = None) -> NDArray[np.float64]:
    """Return ``sdVar`` (diagonal) and ``sdCov`` of attributes, over records with all values."""
    codes = [attribute.column.codes for attribute in attributes]
    rows = np.logical_and.reduce([column != MISSING for column in codes])
    if not rows.any():
        raise DataError("no record has a value in all of the columns, so they have no covariance; mask them separately")
    kept = codes if rows.all() else [column[rows] for column in codes]
    distances = [_distances(attribute) for attribute in attributes]
    cells = np.empty((len(codes), len(codes)))
    for i, j in combinations_with_replacement(range(len(codes)), 2):
        x, y = attributes[i], attributes[j]
        pairs = _diagonal(kept[i], x.size) if i == j else _core.joint(kept[i], kept[j], (x.size, y.size))
        with reporter(progress, "distance covariance") as report:
            squared = _core.covariance_squared(*pairs, distances[i], distances[j], report)
        cells[i, j] = cells[j, i] = math.sqrt(max(squared, 0.0))
    return cells


def _distances(attribute: Attribute) -> Distances | _core.ConceptRows:
    """Return the distances of an attribute for the core: as a matrix if it is small, else without one.

    A matrix is more precise. If the only alternative is rows of a taxonomy, which take longer, a matrix may use an
    eighth of the memory.
    """
    if "distances" in attribute.__dict__:
        return attribute.distances
    free = free_memory()
    fits = free is None or 8 * attribute.size**2 <= max(free // 8, LITTLE)
    if not fits or attribute.size > MANY:
        found: Distances | _core.ConceptRows | None = None
        if not attribute.space.linked:
            found = attribute.space.matrixless(attribute.places, missing=False)
        if found is None and not fits:
            found = attribute.space.rows(attribute.places)
        if found is not None:
            return found
    return attribute.distances


def _diagonal(
    codes: NDArray[np.uint32], size: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint64]]:
    """Pair every category with itself."""
    every = np.arange(size, dtype=np.uint32)
    return every, every, np.bincount(codes, minlength=size).astype(np.uint64)


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
    """Return the root mean squared distance between a column before and after masking, record by record.

    >>> from nominym import Taxonomy
    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness")])
    >>> rmse(["flu", "coma"], ["coma", "flu"], tax)
    0.5
    """
    columns = {name: code(values, name, missing) for name, values in (("before", before), ("after", after))}
    return Change.between("values", complete(columns), tax, measure, root, progress).rmse
