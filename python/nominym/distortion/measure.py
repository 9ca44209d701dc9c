"""The measures of distortion, one by one and all together."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import pandas as pd

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import NO_VALUE, Advice, DataError, ParameterError
from nominym.table import Comparison, as_table, shared_columns

MEASURES = ("hellinger", "total_variation", "entropy_change", "cramers_v_change", "contingency_change")
"""The measures, as ``table`` names them."""


def hellinger(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Return the Hellinger distance √(½ Σ(√f − √g)²) of the joint distributions f before and g after: 0 to 1.

    >>> round(hellinger({"x": ["a", "b"]}, {"x": ["a", "a"]}), 4)
    0.5412
    """
    return _single(before, after, columns, progress)[0]


def total_variation(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Return the total variation distance ½ Σ|f − g|: the share of records that would have to change, 0 to 1.

    >>> total_variation({"x": ["a", "b"]}, {"x": ["a", "a"]})
    0.5
    """
    return _single(before, after, columns, progress)[1]


def entropy_change(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Return the entropy after minus the entropy before, in nats; positive where there is more uncertainty.

    >>> round(entropy_change({"x": ["a", "b"]}, {"x": ["a", "a"]}), 4)
    -0.6931
    """
    return _single(before, after, columns, progress)[2]


def cramers_v_change(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Return Cramér's V of two columns before minus V after; positive where masking weakened the association.

    >>> x = ["a", "a", "b", "b"]
    >>> cramers_v_change({"x": x, "y": x}, {"x": x, "y": ["a", "b", "a", "b"]})
    1.0
    """
    return _associated(before, after, columns, progress)[0]


def contingency_change(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Return Pearson's contingency coefficient C of two columns before minus C after.

    >>> x = ["a", "a", "b", "b"]
    >>> round(contingency_change({"x": x, "y": x}, {"x": x, "y": ["a", "b", "a", "b"]}), 4)
    0.7071
    """
    return _associated(before, after, columns, progress)[1]


def table(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> pd.DataFrame:
    """Return every measure for every pair of columns, and for all columns together.

    >>> x = ["a", "a", "b", "b"]
    >>> table({"x": x, "y": x}, {"x": x, "y": ["a", "b", "a", "b"]}).round(2).iloc[:, 2:6]
       columns  hellinger  total_variation  entropy_change
    0        2       0.54              0.5            0.69
    1        2       0.54              0.5            0.69

    Returns
    -------
    pandas.DataFrame
        A row for each pair, with the names ``x`` and ``y``; ``columns``, their number; and a column for each of
        ``MEASURES``. The last row is the joint distribution of all columns: ``x`` and ``y`` are missing there, and so
        are V and C, which are measures of two columns, unless there are two.
    """
    return compare(_compared(before, after), columns, progress=progress)


def compare(comparison: Comparison, columns: Any = None, *, progress: Progress = None) -> pd.DataFrame:
    """Return the same as ``table``, for two coded tables."""
    names = _chosen(comparison, columns)
    count = len(names)
    sets = [*map(list, combinations(range(count), 2)), list(range(count))]
    rows: list[tuple[Any, ...]] = []
    for members, figures in zip(sets, _measured(comparison, names, sets, progress), strict=True):
        v, c = figures[3] or (math.nan, math.nan)
        x, y = (names[i] for i in members) if len(rows) < len(sets) - 1 else (None, None)
        rows.append((x, y, len(members), *figures[:3], v, c))
    found = dict(zip(["x", "y", "columns", *MEASURES], zip(*rows, strict=True), strict=True))
    # Beside the gaps of the last row, names that are whole numbers would become floats.
    kind = None if all(isinstance(name, str) for name in names) else object
    return pd.DataFrame({**found, **{of: pd.Series(found[of], dtype=kind) for of in ("x", "y")}})


_Figures = tuple[float, float, float, tuple[float, float] | None, float, int]


def _single(before: Any, after: Any, columns: Any, progress: Progress) -> _Figures:
    comparison = _compared(before, after)
    names = _chosen(comparison, columns)
    return _measured(comparison, names, [list(range(len(names)))], progress)[0]


def _associated(before: Any, after: Any, columns: Any, progress: Progress) -> tuple[float, float]:
    comparison = _compared(before, after)
    names = _chosen(comparison, columns)
    if len(names) != 2:
        raise ParameterError(
            f"V and C are measures of two columns, not of {len(names)}; name two, or use table() for all pairs",
            parameter="columns",
        )
    return _measured(comparison, names, [[0, 1]], progress)[0][3] or (math.nan, math.nan)


def _compared(before: Any, after: Any) -> Comparison:
    """Code two tables of the same records; their order does not matter."""
    tables = as_table(before), as_table(after)
    if len(tables[0]) != len(tables[1]):
        raise DataError(
            f"{len(tables[0]):,} records before and {len(tables[1]):,} after; distortion is measured between tables of "
            "the same records"
        )
    return Comparison(*tables, {})


def _chosen(comparison: Comparison, columns: Any) -> list[Any]:
    names = shared_columns(comparison.before, comparison.after, columns)
    for name in names:
        for table in (comparison.before, comparison.after):
            if table.column(name).kind in ("number", "nested"):
                raise DataError(
                    "holds numbers with decimal places or lists, which have no categories",
                    column=name,
                    remedy=Advice("bin them, or leave the column out with {}", columns=NO_VALUE),
                )
    return names


def _measured(comparison: Comparison, names: list[Any], sets: list[list[int]], progress: Progress) -> list[_Figures]:
    """Count and measure sets of columns."""
    check_progress(progress)
    before, after, categories = map(list, zip(*map(comparison.coded, names), strict=True))
    with reporter(progress, "distortion") as report:
        return _core.distortions(before, after, categories, sets, report)
