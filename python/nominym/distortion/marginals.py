"""Marginals of k columns: the k-marginal score of NIST, and which marginals differ."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nominym import _core
from nominym.control import Progress, check_progress, check_seed, is_whole, reporter
from nominym.distortion.propensity import expected
from nominym.error import Advice, DataError, ParameterError, no_column
from nominym.table import MISSING, Column, Table, as_table, coded_alike, shared_columns, side_by_side

# Largest number of marginals that are all computed; beyond it, a sample is required.
_MOST = 1_000_000


def k_marginal(
    before: Any,
    after: Any,
    columns: Any = None,
    k: int = 2,
    *,
    bins: Mapping[Any, int | Sequence[float]] | None = None,
    sample: int | None = None,
    seed: int | None = None,
    progress: Progress = None,
) -> float:
    """Return the k-marginal score: 1,000 where all joint distributions of k columns are the same, 0 where none overlap.

    That is (2 − d)·500, where d is the mean of Σ|f − g| over the marginals, the joint distributions f before and g
    after of every set of k columns.

    >>> before = {"x": ["a", "a", "b", "b"], "y": ["p", "q", "p", "q"], "z": [1, 1, 2, 2]}
    >>> after = {"x": ["a", "a", "b", "b"], "y": ["p", "p", "q", "q"], "z": [1, 1, 2, 2]}
    >>> k_marginal(before, after, k=1), round(k_marginal(before, after), 1)
    (1000.0, 666.7)

    Parameters
    ----------
    before, after
        Two tables, each of any kind, with rows in any order and any number of records. Tables that are already coded,
        such as those of a ``Comparison``, are not coded again.
    columns
        Columns of both tables; by default all. A missing value is a value of its own.
    k
        Columns of a marginal; 2 and 3 are usual.
    bins
        How to bin numbers, by column: edges in ascending order, each the least value of a bin; or a number of bins with
        about equally many records of the original. Without it, every value is a bin.
    sample
        Number of marginals to draw, without replacement, where there are very many; by default all.
    seed
        For the sample; without it, it is drawn from the operating system's randomness.
    progress
        ``True`` for a bar, or a callable of (done, total).

    References
    ----------
    Task, Bhagat and Howarth (2023), SDNist v2: deidentified data report tool, NIST.
    """
    apart = _apart(before, after, columns, k, bins, sample, seed, progress)
    return (2 - math.fsum(2 * figures[1] for _, figures in apart) / len(apart)) * 500


def marginals(
    before: Any,
    after: Any,
    columns: Any = None,
    k: int = 2,
    *,
    bins: Mapping[Any, int | Sequence[float]] | None = None,
    sample: int | None = None,
    seed: int | None = None,
    progress: Progress = None,
) -> pd.DataFrame:
    """Return the k-marginal score and the propensity error of each marginal of k columns, the most different first.

    >>> before = {"x": ["a", "a", "b", "b"], "y": ["p", "q", "p", "q"], "z": [1, 1, 2, 2]}
    >>> after = {"x": ["a", "a", "b", "b"], "y": ["p", "p", "q", "q"], "z": [1, 1, 2, 2]}
    >>> marginals(before, after)[["columns", "score", "cells", "pmse"]].round(4)
      columns   score  cells    pmse
    0  (x, y)   500.0      4  0.0833
    1  (y, z)   500.0      4  0.0833
    2  (x, z)  1000.0      2  0.0000

    The options are those of ``k_marginal``.

    Returns
    -------
    pandas.DataFrame
        A row for each marginal: its ``columns``; its ``score``, whose mean is the k-marginal score; the number of
        ``cells``, distinct tuples before or after; ``pmse`` and ``s_pmse`` as in ``propensity`` for the saturated model
        of these columns.
    """
    before, after = as_table(before), as_table(after)
    apart = _apart(before, after, columns, k, bins, sample, seed, progress)
    found = pd.DataFrame(
        {
            "columns": pd.Series([names for names, _ in apart], dtype=object),
            "score": [1000 * (1 - figures[1]) for _, figures in apart],
            "cells": [figures[5] for _, figures in apart],
            "pmse": [figures[4] for _, figures in apart],
        }
    )
    usual = [expected(cells, len(before), len(after)) for cells in found["cells"]]
    found["s_pmse"] = [pmse / one if one else math.nan for pmse, one in zip(found["pmse"], usual, strict=True)]
    return found.sort_values("score", kind="stable", ignore_index=True)


def scores(
    before: Any, after: Any, columns: Any = None, *, most: int = 1_000, progress: Progress = None
) -> pd.DataFrame:
    """Return the k-marginal score and the propensity error over all marginals of 1, 2 and 3 columns, a row for each k.

    >>> before = {"x": ["a", "a", "b", "b"], "y": ["p", "q", "p", "q"]}
    >>> after = {"x": ["a", "a", "b", "b"], "y": ["p", "p", "q", "q"]}
    >>> scores(before, after)[["k", "marginals", "k_marginal", "pmse", "s_pmse", "worst"]].round(3)
       k  marginals  k_marginal   pmse  s_pmse   worst
    0  1          2      1000.0  0.000   0.000    (x,)
    1  2          1       500.0  0.083   1.778  (x, y)

    A k with more than ``most`` marginals is left out. ``pmse`` and ``s_pmse`` are means over the marginals, ``worst``
    are the columns of the one with the lowest score.
    """
    first, second = as_table(before), as_table(after)
    names = shared_columns(first, second, columns)
    rows = []
    for k in range(1, min(3, len(names)) + 1):
        if math.comb(len(names), k) <= most:
            found = marginals(first, second, names, k, progress=progress)
            means = [float(found[name].mean()) for name in ("score", "pmse", "s_pmse")]
            rows.append((k, len(found), *means, found["columns"][0]))
    return pd.DataFrame(rows, columns=["k", "marginals", "k_marginal", "pmse", "s_pmse", "worst"])


_Figures = tuple[float, float, float, tuple[float, float] | None, float, int]


def _apart(
    before: Any, after: Any, columns: Any, k: int, bins: Any, sample: Any, seed: Any, progress: Progress
) -> list[tuple[tuple[Any, ...], _Figures]]:
    """Measure the chosen marginals."""
    check_progress(progress)
    check_seed(seed)
    first, second = as_table(before), as_table(after)
    names = shared_columns(first, second, columns)
    if not (is_whole(k) and 1 <= k <= len(names)):
        fault = f"give a whole number from 1 to {len(names)}, the number of columns"
        raise ParameterError(fault, parameter="k", value=k)
    sets = _sets(len(names), operator.index(k), sample, seed)
    classes = _check_bins(bins, names)
    coded = side_by_side(
        _classed(name, first, second, classes[name]) if name in classes else coded_alike(name, first, second)
        for name in names
    )
    with reporter(progress, "marginals") as report:
        figures = _core.distortions(*coded, sets, report)
    return [(tuple(names[i] for i in each), found) for each, found in zip(sets, figures, strict=True)]


def _sets(columns: int, k: int, sample: Any, seed: Any) -> list[list[int]]:
    """List all sets of k columns, or draw some."""
    total = math.comb(columns, k)
    if sample is not None and not (is_whole(sample) and sample >= 1):
        fault = "give a number of marginals, 1 or more, or None for all"
        raise ParameterError(fault, parameter="sample", value=sample)
    if sample is None or sample >= total:
        if total > _MOST:
            remedy = Advice("give {}, or fewer columns", sample=_MOST // 1000)
            raise ParameterError(f"there are {total:,} marginals of {k} columns", parameter="k", value=k, remedy=remedy)
        return [list(each) for each in combinations(range(columns), k)]
    if total >= 2**32:
        fault = f"there are {total:,} marginals, too many to draw from; name fewer columns"
        raise ParameterError(fault, parameter="k", value=k)
    return [_combination(int(rank), columns, k) for rank in _core.draw_sample(total, int(sample), seed)]


def _combination(rank: int, columns: int, k: int) -> list[int]:
    """Return a set of k columns by its place in the lexicographic order of all.

    >>> [_combination(rank, 4, 2) for rank in range(6)] == [list(each) for each in combinations(range(4), 2)]
    True
    """
    found: list[int] = []
    for column in range(columns):
        left = k - len(found)
        with_it = math.comb(columns - column - 1, left - 1) if left else 0
        if rank < with_it:
            found.append(column)
        else:
            rank -= with_it
    return found


# ---- classes of numbers


def _check_bins(bins: Any, names: list[Any]) -> dict[Any, int | NDArray[np.float64]]:
    """Raise on invalid bins, or bins of columns that are not compared."""
    if bins is None:
        return {}
    if not isinstance(bins, Mapping):
        fault = f"a mapping from column names to edges, or to numbers of bins, is needed, not {type(bins).__name__}"
        raise ParameterError(fault, parameter="bins")
    found: dict[Any, int | NDArray[np.float64]] = {}
    for name, given in bins.items():
        if name not in names:
            raise no_column(name, names, "that is compared")
        if is_whole(given) and given >= 2:
            found[name] = operator.index(given)
            continue
        edges = _as_edges(given)
        if edges is None or not len(edges) or not np.isfinite(edges).all() or (np.diff(edges) <= 0).any():
            fault = "give two bins or more, or ascending edges, such as [18, 65]"
            raise ParameterError(fault, parameter="bins", value=given, column=name)
        found[name] = edges
    return found


def _as_edges(given: Any) -> NDArray[np.float64] | None:
    try:
        edges = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return edges if edges.ndim == 1 else None


def _classed(
    name: Any, before: Table, after: Table, classes: int | NDArray[np.float64]
) -> tuple[list[NDArray[np.uint32]], int]:
    """Bin the numbers of a column."""
    columns = before.column(name), after.column(name)
    values = [_numbers(name, column) for column in columns]
    edges = _equally_filled(values[0], columns[0].counts, classes) if isinstance(classes, int) else classes
    places = [np.searchsorted(edges, each, side="right").astype(np.uint32) for each in values]
    codes = [
        np.append(place, MISSING).take(column.codes, mode="clip") for place, column in zip(places, columns, strict=True)
    ]
    return codes, len(edges) + 1


def _numbers(name: Any, column: Column) -> NDArray[np.float64]:
    if column.kind not in ("whole", "number") and column.size:
        raise DataError("holds no numbers, so it cannot be binned", column=name, remedy="leave it out of bins=")
    return np.array(column.categories if column.numbers is None else column.numbers, dtype=np.float64)


def _equally_filled(values: NDArray[np.float64], counts: NDArray[np.uint64], classes: int) -> NDArray[np.float64]:
    """Return the least value of each bin but the first, by the mean rank of equal values, as SDNist ranks them."""
    order = np.argsort(values, kind="stable")
    values, counts = values[order], counts[order].astype(np.float64)
    total = counts.sum()
    rank = (np.cumsum(counts) - counts + (counts + 1) / 2) / total
    place = np.minimum((classes * rank).astype(np.int64), classes - 1)
    edges: NDArray[np.float64] = values[1:][np.diff(place) > 0]
    return edges
