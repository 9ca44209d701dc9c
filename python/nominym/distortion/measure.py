"""The measures of distortion, one by one and all together."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import DataError, ParameterError, UnknownColumnError
from nominym.frame import MISSING, Column, Table, column_names, is_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEASURES = ("hellinger", "total_variation", "entropy_change", "cramers_v_change", "contingency_change")
"""The measures, as ``table`` names them."""


def hellinger(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Give the Hellinger distance √(½ Σ(√f − √g)²) of the joint distributions f before and g after: 0 to 1.

    >>> round(hellinger({"x": ["a", "b"]}, {"x": ["a", "a"]}), 4)
    0.5412
    """
    return _single(before, after, columns, progress)[0]


def total_variation(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Give the total variation distance ½ Σ|f − g|: the share of records to change to undo it, 0 to 1.

    >>> total_variation({"x": ["a", "b"]}, {"x": ["a", "a"]})
    0.5
    """
    return _single(before, after, columns, progress)[1]


def entropy_change(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Give the entropy after less the entropy before, in nats; positive where there is more uncertainty.

    >>> round(entropy_change({"x": ["a", "b"]}, {"x": ["a", "a"]}), 4)
    -0.6931
    """
    return _single(before, after, columns, progress)[2]


def cramers_v_change(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Give Cramér's V of two columns before, less V after; positive where masking weakened the association.

    >>> x = ["a", "a", "b", "b"]
    >>> cramers_v_change({"x": x, "y": x}, {"x": x, "y": ["a", "b", "a", "b"]})
    1.0
    """
    return _associated(before, after, columns, progress)[0]


def contingency_change(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> float:
    """Give Pearson's contingency coefficient C of two columns before, less C after.

    >>> x = ["a", "a", "b", "b"]
    >>> round(contingency_change({"x": x, "y": x}, {"x": x, "y": ["a", "b", "a", "b"]}), 4)
    0.7071
    """
    return _associated(before, after, columns, progress)[1]


def table(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> pd.DataFrame:
    """Give every measure for every pair of columns, and for all columns together.

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
    check_progress(progress)
    given = _Pair(before, after, columns)
    count = len(given.names)
    sets = [*map(list, combinations(range(count), 2)), list(range(count))]
    rows: list[tuple[Any, ...]] = []
    for members, figures in zip(sets, given.compare(sets, progress), strict=True):
        v, c = figures[3] or (math.nan, math.nan)
        x, y = (given.names[i] for i in members) if len(rows) < len(sets) - 1 else (None, None)
        rows.append((x, y, len(members), *figures[:3], v, c))
    found = dict(zip(["x", "y", "columns", *MEASURES], zip(*rows, strict=True), strict=True))
    # Beside the gaps of the last row, names that are whole numbers would become floats.
    kind = None if all(isinstance(name, str) for name in given.names) else object
    names = {of: pd.Series(found[of], dtype=kind) for of in ("x", "y")}
    return pd.DataFrame({**found, **names})


_Figures = tuple[float, float, float, tuple[float, float] | None]


def _single(before: Any, after: Any, columns: Any, progress: Progress) -> _Figures:
    check_progress(progress)
    given = _Pair(before, after, columns)
    return given.compare([list(range(len(given.names)))], progress)[0]


def _associated(before: Any, after: Any, columns: Any, progress: Progress) -> tuple[float, float]:
    check_progress(progress)
    given = _Pair(before, after, columns)
    if len(given.names) != 2:
        raise ParameterError(
            f"columns: V and C are measures of two columns, not of {len(given.names)}; name two, or use table() for "
            "all pairs"
        )
    return given.compare([[0, 1]], progress)[0][3] or (math.nan, math.nan)


class _Pair:
    """Two tables of the same records; nothing is counted before all is checked."""

    def __init__(self, before: Any, after: Any, columns: Any) -> None:
        self._tables = Table(before), Table(after)
        self.names = self._chosen(columns)
        lengths = [len(table.values(self.names[0])) for table in self._tables]
        for table in self._tables:
            table.check_lengths()
        if lengths[0] != lengths[1]:
            raise DataError(
                f"{lengths[0]:,} records before and {lengths[1]:,} after; distortion compares tables of the same "
                "records, so give both without the ones that were left out"
            )
        if lengths[0] == 0:
            raise DataError("the tables have no records, so there are no distributions to compare")

    def _chosen(self, columns: Any) -> list[Any]:
        first, second = self._tables
        if columns is None:
            apart = [name for name in first.names if name not in second.names]
            extra = [name for name in second.names if name not in first.names]
            if apart or extra:
                where, name = ("after", apart[0]) if apart else ("before", extra[0])
                raise DataError(
                    f"column {name!r} is not in the table {where}; name the columns to compare with columns="
                )
            names = list(first.names)
        elif is_frame(columns):
            raise ParameterError(f"columns: a list of column names is needed, not {type(columns).__name__}")
        else:
            names = column_names(columns, first.names)
        if not names:
            raise ParameterError("columns: name one column at least")
        for name in names:
            if names.count(name) > 1:
                raise ParameterError(f"columns: {name!r} stands {names.count(name)} times; name each column once")
            for when, table in zip(("before", "after"), self._tables, strict=True):
                if name not in table.names:
                    raise UnknownColumnError(
                        f"there is no column {name!r} in the table {when}; there are "
                        f"{', '.join(map(repr, table.names))}"
                    )
        return names

    def compare(self, sets: list[list[int]], progress: Progress) -> list[_Figures]:
        """Count and measure sets of columns."""
        first, second = self._tables
        coded = [_together(first.code(name), second.code(name)) for name in self.names]
        with reporter(progress, "distortion") as report:
            return _core.distortions(
                [before for before, _, _ in coded],
                [after for _, after, _ in coded],
                [categories for _, _, categories in coded],
                sets,
                report,
            )


def _together(before: Column, after: Column) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int]:
    """Code two columns with the same categories: those of the first, then what the second has besides."""
    place: dict[str, int] = {}
    maps = []
    for column in (before, after):
        numbers = [place.setdefault(str(value), len(place)) for value in column.categories]
        maps.append(np.array([*numbers, MISSING], dtype=np.uint32))
    codes = [
        of_code[np.minimum(column.codes, np.uint32(len(column.categories)))]
        for of_code, column in zip(maps, (before, after), strict=True)
    ]
    return codes[0], codes[1], len(place)
