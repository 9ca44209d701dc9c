"""Hierarchical values as numbers: marginality (Domingo-Ferrer 2012) and the variance of positions.

Defined on trees. For a taxonomy with several parents the caller chooses a tree, ``tree="first-parent"``.
All cost O(V) for V concepts, whatever the number of records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from nominym import _core
from nominym.control import Progress, reporter
from nominym.error import DataError, MissingValueError, ParameterError, TaxonomyError
from nominym.meaning import ConceptSpace, Equality, Meaning, Order, Taxonomy
from nominym.table import MISSING, Column, Missing, Table, code, column_names, complete

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tree = Literal["first-parent"] | None
"""How to make a tree of a taxonomy with several parents; ``None`` raises an error instead."""


def _as_tree(tax: Taxonomy, tree: Tree) -> Taxonomy:
    if not isinstance(tax, Taxonomy):
        raise ParameterError(f"marginality needs a Taxonomy, not {type(tax).__name__}")
    if tree is not None:
        return tax.to_tree(tree)
    if not tax.is_tree:
        name = next(c for c in tax if len(tax.parents(c)) > 1)
        raise TaxonomyError(
            f"marginality is defined on trees, but {name!r} has the parents {', '.join(map(repr, tax.parents(name)))}; "
            "give tree='first-parent' to keep the first parent of each concept"
        )
    return tax


class _Mapped:
    """A coded column with the marginality of its categories."""

    def __init__(self, column: Column, tax: Taxonomy, tree: Tree) -> None:
        self.column = column
        self.space = ConceptSpace(_as_tree(tax, tree), [column], "wu-palmer", None)
        self.places = self.space.places[0]
        self.core = _core.Marginality(self.space.taxonomy.graph, _counted(self.space, column))
        self.of_category = self.core.of[self.places]

    @property
    def variance(self) -> float:
        """Return the mean marginality of the records (definition 2)."""
        return math.fsum(self.column.counts * self.of_category) / int(self.column.counts.sum())


def _counted(space: ConceptSpace, column: Column) -> NDArray[np.uint64]:
    """Count the records at every place."""
    totals = np.zeros(len(space), dtype=np.uint64)
    np.add.at(totals, space.places[0], column.counts)
    return totals


def marginality(values: Any, tax: Taxonomy, *, tree: Tree = None, missing: Missing = "keep") -> NDArray[np.float64]:
    """Map each value to its marginality: the sum of weighted path lengths to all other values (algorithm 2).

    The tree is pruned to the values; with its depth ``L``, a link from depth ``i−1`` to ``i`` weighs ``2^(L−i)``.
    Exact while n·2^(L+1) < 2^53. Missing values give NaN.

    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> marginality(["flu", "coma", "deep coma"], tax).tolist()
    [9.0, 5.0, 6.0]
    """
    mapped = _Mapped(code(values, missing=missing), tax, tree)
    of_code = np.append(mapped.of_category, np.nan)
    found: NDArray[np.float64] = of_code[np.minimum(mapped.column.codes, len(mapped.of_category))]
    return found


def marginality_mean(values: Any, tax: Taxonomy, *, tree: Tree = None, missing: Missing = "keep") -> tuple[str, float]:
    """Find the least marginal value of the sample and its marginality (definition 1); ties by id.

    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> marginality_mean(["flu", "coma", "deep coma"], tax)
    ('coma', 5.0)
    """
    mapped = _Mapped(code(values, missing=missing), tax, tree)
    # Places are in the order of ids.
    least, place = min(zip(mapped.of_category, mapped.places, strict=True))
    return mapped.space.name(int(place)), float(least)


def marginality_variance(values: Any, tax: Taxonomy, *, tree: Tree = None, missing: Missing = "keep") -> float:
    """Return the mean marginality of the values (definition 2).

    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> round(marginality_variance(["flu", "coma", "deep coma"], tax), 4)
    6.6667
    """
    return _Mapped(code(values, missing=missing), tax, tree).variance


def marginality_covariance(
    x: Any, y: Any, tax_x: Taxonomy, tax_y: Taxonomy, *, tree: Tree = None, missing: Missing = "keep"
) -> float:
    """Return the mean of the geometric means of both values' marginalities (definition 3), over records with both.

    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> marginality_covariance(["flu", "coma"], ["coma", "flu"], tax, tax)
    2.0
    """
    matrix = marginality_covariance_matrix({"x": x, "y": y}, {"x": tax_x, "y": tax_y}, tree=tree, missing=missing)
    return float(matrix.to_numpy()[0, 1])


def marginality_covariance_matrix(
    frame: Any, taxonomies: Mapping[Any, Taxonomy], *, tree: Tree = None, missing: Missing = "keep"
) -> pd.DataFrame:
    """Return variances (diagonal) and covariances of several columns, over records with all values.

    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> marginality_covariance_matrix({"first": ["flu", "coma"], "second": ["coma", "flu"]}, {"first": tax})
           first
    first    2.0
    """
    table = Table(frame)
    columns = complete({name: code(table.values(name), str(name), missing) for name in taxonomies})
    mapped = [_Mapped(column, tax, tree) for column, tax in zip(columns, taxonomies.values(), strict=True)]
    cells = np.diag([column.variance for column in mapped])
    for i, j in combinations(range(len(mapped)), 2):
        first, second = mapped[i], mapped[j]
        sizes = len(first.of_category), len(second.of_category)
        x, y, count = _core.joint(first.column.codes, second.column.codes, sizes)
        roots = np.sqrt(first.of_category[x] * second.of_category[y])
        cells[i, j] = cells[j, i] = math.fsum(count * roots) / int(count.sum())
    return pd.DataFrame(cells, index=list(taxonomies), columns=list(taxonomies))


def var_h(values: Any, tax: Taxonomy, *, tree: Tree = None, missing: Missing = "keep") -> Fraction:
    """Return the nominal variance of Domingo-Ferrer and Solanas (2008), exactly (algorithm 1).

    The base is the largest number of children in the taxonomy given, before it is pruned to the values. Children are
    ranked by the number of values below them (ties by id); the variance of each digit is the sample variance
    (divisor n − 1), as in the distance of definition 4.

    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> var_h(["flu", "coma", "deep coma"], tax)
    Fraction(4, 3)
    """
    column = code(values, missing=missing)
    hierarchy = _as_tree(tax, tree)
    space = ConceptSpace(hierarchy, [column], "wu-palmer", hierarchy.root)
    base, n, sums = _core.digits(hierarchy.graph, _counted(space, column))
    if n < 2:
        return Fraction(0)
    digits = (base ** (2 * place) * (n * squares - total * total) for place, (total, squares) in enumerate(sums))
    return Fraction(sum(digits), n * (n - 1))


def sse_distance(
    frame: Any,
    first: Any,
    second: Any,
    taxonomies: Mapping[Any, Meaning],
    *,
    columns: Sequence[Any] | None = None,
    tree: Tree = None,
    progress: Progress = None,
) -> NDArray[np.float64]:
    """Measure the distance between pairs of records over nominal, ordinal and numerical columns (definition 4).

    ``first`` and ``second`` are row numbers (one each, or one per pair). ``taxonomies`` gives the meanings of columns:
    a ``Taxonomy`` for concepts, an ``Order`` for ranked values, ``Equality`` for plain categories; numbers and ordered
    categories (by rank) need none. Each column contributes the variance within the pair divided by the variance of all
    records; a column without variance contributes nothing. The variance of plain categories is half the probability
    that two different records differ, as that of numbers is half their expected squared difference.

    >>> tax = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])
    >>> frame = {"diag": ["flu", "coma", "deep coma"], "age": [30, 60, 90]}
    >>> sse_distance(frame, [0, 0], [1, 2], {"diag": tax}).round(4).tolist()
    [1.0488, 1.6583]
    >>> frame |= {"pain": ["none", "some", "much"], "sex": ["f", "m", "f"]}
    >>> meanings = {"diag": tax, "pain": Order(["none", "some", "much"]), "sex": Equality()}
    >>> sse_distance(frame, [0, 0], [1, 2], meanings).round(4).tolist()
    [1.7607, 2.1794]
    """
    table = Table(frame)
    if isinstance(columns, str):
        raise ParameterError(f"columns: a list of names is needed, not the one text {columns!r}")
    names = table.names if columns is None else column_names(list(dict.fromkeys(columns)), table.names)
    for name, given in taxonomies.items():
        if name not in names:
            raise ParameterError(f"taxonomies names {name!r}, which is not among the columns {names}")
        if not isinstance(given, Taxonomy | Order | Equality):
            what = f"column {name!r}: {type(given).__name__} has no variance; give a Taxonomy, an Order or Equality"
            raise ParameterError(what, parameter="taxonomies")
    if not names:
        raise DataError("no column to measure")
    records = len(table)
    pairs = [_rows(rows, records, which) for rows, which in ((first, "first"), (second, "second"))]
    if len(pairs[0]) != len(pairs[1]):
        raise ParameterError(f"first has {len(pairs[0])} rows and second {len(pairs[1])}; give pairs")
    total = np.zeros(len(pairs[0]))
    for name in names:
        meaning, column = taxonomies.get(name), table.column(name)
        if isinstance(meaning, Taxonomy):
            column.check_missing("error")
            mapped = _Mapped(column, meaning, tree)
            places = [mapped.places[column.codes[rows]] for rows in pairs]
            with reporter(progress, "distances") as report:
                within, overall = mapped.core.distances(places[0], places[1], report), mapped.variance
        elif isinstance(meaning, Equality):
            column.check_missing("error")
            of_record = meaning.space([column]).places[0][column.codes]
            counts = np.bincount(of_record).astype(np.float64)
            within = (of_record[pairs[0]] != of_record[pairs[1]]) / 2
            overall = float((counts * (records - counts)).sum()) / (2 * records * max(records - 1, 1))
        else:
            numbers = _numbers(column, name, meaning if isinstance(meaning, Order) else None)
            within = (numbers[pairs[0]] - numbers[pairs[1]]) ** 2 / 2
            overall = float(np.var(numbers, ddof=1)) if records > 1 else 0.0
        if overall > 0:
            total += within / overall
    return np.sqrt(total)


def _rows(rows: Any, records: int, which: str) -> NDArray[np.intp]:
    found = np.atleast_1d(np.asarray(rows, dtype=np.intp if np.size(rows) == 0 else None))
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise ParameterError(f"{which}: row numbers are needed, not {rows!r}")
    outside = found[(found < 0) | (found >= records)]
    if len(outside):
        raise ParameterError(f"{which}: there is no row {outside[0]}; the rows are 0 … {records - 1}")
    return found.astype(np.intp)


def _numbers(column: Column, name: Any, order: Order | None) -> NDArray[np.float64]:
    """Read a column as numbers; ordered categories and listed values by their rank."""
    if order is None and column.order is None and column.kind not in ("whole", "number", "truth"):
        what = "it is nominal: give it a taxonomy, an Order or Equality, or leave it out with columns="
        raise DataError(what, column=name)
    if column.missing:
        row = int(np.flatnonzero(column.codes == MISSING)[0])
        raise MissingValueError(f"row {row} is missing; fill or drop such records", column=name)
    of_category: NDArray[np.float64] = np.array((order or Order()).numbers(column), dtype=np.float64)
    return of_category[column.codes]
