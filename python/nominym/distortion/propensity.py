"""Propensity: how well a model distinguishes the records after masking from those before."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nominym import _core
from nominym.control import Progress, check_progress, reporter, require, steps
from nominym.error import Advice, ParameterError, SizeError
from nominym.table import as_table, coded_alike, distinct, shared_columns, side_by_side

Model = Literal["saturated", "main", "pairs"]
"""Values of ``model=``."""

# A model with more values, or pairs of values, takes minutes a step, and cannot be stopped in between.
_MOST_LEVELS = 2_000

# A fit ends when no propensity score moves by more than this.
_NEAR = 1e-10
_ROUNDS = 200

# Directions with a smaller variance, of values brought to one scale, are no directions.
_FLAT = 1e-9


@dataclass(frozen=True)
class Propensity:
    """How well a model distinguishes two tables."""

    pmse: float
    """Mean squared difference of the propensity scores from the share of the masked records; 0 where the model
    cannot tell the tables apart, and c(1 − c), which is 1/4 for tables of equal size, where it always can."""
    expected: float
    """Expectation for a table drawn anew from the distribution of the original."""
    s_pmse: float
    """``pmse`` relative to ``expected``; NaN where the model has no parameter but the share itself."""
    model: Model
    """The model of the propensity scores."""
    parameters: int
    """Its independent parameters, including the intercept."""
    cells: int
    """Distinct tuples before or after."""
    before: int
    """Records before."""
    after: int
    """Records after."""

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return asdict(self)


def propensity(
    before: Any, after: Any, columns: Any = None, *, model: Model = "saturated", progress: Progress = None
) -> Propensity:
    """Measure how well the records before and after can be distinguished: pMSE, and its ratio to chance.

    The tables are pooled, a model gives every record the probability of belonging to the table after, and pMSE is the
    mean squared difference between this propensity score and the share c of those records.

    >>> found = propensity({"x": ["a", "a", "b", "b"]}, {"x": ["a", "b", "b", "b"]})
    >>> round(found.pmse, 4), round(found.s_pmse, 4), found.parameters
    (0.0167, 1.0667, 2)

    Parameters
    ----------
    before, after
        Two tables, each of any kind, with rows in any order and any number of records.
    columns
        Columns of both tables; by default all. Every value is a category; a missing value is one of its own.
    model
        "saturated": a parameter for each combination of values that occurs, so that the scores are shares of counts,
        exact at any size; for a few columns. "main": a logistic model with a parameter for each value; "pairs": one for
        each combination of values of two columns. These are fitted on the distinct records, and may have up to 2,000
        such values or combinations.
    progress
        ``True`` for a bar, or a callable of (done, total).

    References
    ----------
    Woo, Reiter, Oganian and Karr (2009), Global measures of data utility for microdata masked for disclosure
    limitation, Journal of Privacy and Confidentiality 1. Snoke, Raab, Nowok, Dibben and Slavković (2018), General and
    specific utility measures for synthetic data, JRSS A 181: with p parameters and N records, the expectation is
    (p − 1)(1 − c)²c/N. Raab, Nowok and Dibben (2021), Assessing, visualizing and improving the utility of synthetic
    data, arXiv 2109.12717: counts of tables are the saturated model.
    """
    check_progress(progress)
    if model not in get_args(Model):
        raise ParameterError("give 'saturated', 'main' or 'pairs'", parameter="model", value=model)
    first, second = as_table(before), as_table(after)
    names = shared_columns(first, second, columns)
    records = len(first), len(second)
    if model == "saturated":
        coded = side_by_side(coded_alike(name, first, second) for name in names)
        with reporter(progress, "propensity") as report:
            found = _core.distortions(*coded, [list(range(len(names)))], report)[0]
        pmse, cells, parameters = found[4], found[5], found[5]
    else:
        tuples = distinct(first, second, names, progress, "propensity")
        levels = _levels(tuples.codes, model)
        counts = tuples.before.astype(np.float64), tuples.after.astype(np.float64)
        scores, parameters = _fitted(levels, *counts, progress)
        total = counts[0] + counts[1]
        pmse = math.fsum(total * (scores - records[1] / sum(records)) ** 2) / sum(records)
        cells = len(total)
    usual = expected(parameters, *records)
    return Propensity(pmse, usual, pmse / usual if usual else math.nan, model, parameters, cells, *records)


def expected(parameters: int, before: int, after: int) -> float:
    """Return the expected pMSE of a table drawn anew: (p − 1)(1 − c)²c/N, where c = after/N.

    >>> expected(3, 50, 50)
    0.0025
    """
    total = before + after
    return (parameters - 1) * (before / total) ** 2 * (after / total) / total


# ---- logistic models


def _levels(codes: list[NDArray[np.uint32]], model: Model) -> list[NDArray[np.int64]]:
    """Number the values of every column in each tuple, or those of every pair of columns."""
    singles = [np.unique(each, return_inverse=True)[1].reshape(-1) for each in codes]
    if model == "main" or len(singles) == 1:
        return singles
    return [
        np.unique(x * (int(y.max()) + 1) + y, return_inverse=True)[1].reshape(-1) for x, y in combinations(singles, 2)
    ]


def _fitted(
    levels: list[NDArray[np.int64]], before: NDArray[np.float64], after: NDArray[np.float64], progress: Progress
) -> tuple[NDArray[np.float64], int]:
    """Fit a logistic model by Newton's method: the score of every tuple, and the number of independent parameters.

    There is a parameter for every level, which is more than are independent; the scores are the same for all solutions.
    Where a level occurs only on one side, its scores go to 0 or 1.
    """
    sizes = [int(each.max()) + 1 for each in levels]
    number = sum(sizes)
    if number > _MOST_LEVELS:
        fault = f"the model has {number:,} values or combinations of values, more than {_MOST_LEVELS:,}"
        raise SizeError(fault, remedy=Advice("name fewer columns, make values coarser, or give {}", model="saturated"))
    size = 8 * (len(after) * (len(levels) + 8) + 5 * number * number)
    require(size, "fitting a propensity model", "name fewer columns")
    total = before + after
    starts = np.cumsum([0, *sizes])

    def summed(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up weights by level."""
        return np.concatenate(
            [np.bincount(each, weights, size) for each, size in zip(levels, sizes, strict=True)],
            dtype=np.float64,
        )

    def crossed(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Add up weights by pair of levels."""
        found = np.zeros((number, number))
        for i, j in combinations(range(len(levels)), 2):
            cells = np.bincount(levels[i] * sizes[j] + levels[j], weights, sizes[i] * sizes[j])
            found[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] = cells.reshape(sizes[i], sizes[j])
        found += found.T
        found[np.diag_indices(number)] = summed(weights)
        return found

    def loss(linear: NDArray[np.float64]) -> float:
        return float((before * np.logaddexp(0, linear) + after * np.logaddexp(0, -linear)).sum())

    cross = crossed(total)
    root = np.sqrt(np.diag(cross))
    parameters = int((np.linalg.eigvalsh(cross / np.outer(root, root)) > _FLAT).sum())
    linear = np.full(len(total), math.log(after.sum() / before.sum()))
    scores, least = _score(linear), loss(linear)
    with steps(progress, "propensity", _ROUNDS) as done:
        for rounds in range(_ROUNDS):
            curved = crossed(total * scores * (1 - scores))
            # Where there is no curve there is no slope either: a little keeps the step finite.
            curved[np.diag_indices(number)] += 1e-10 * len(total)
            step = np.linalg.solve(curved, summed(after - total * scores))
            change = np.sum([step[a:][each] for a, each in zip(starts[:-1], levels, strict=True)], axis=0)
            while loss(linear + change) > least * (1 + 1e-12) and np.abs(change).max() > _NEAR:
                change /= 2
            linear = linear + change
            was, scores, least = scores, _score(linear), min(loss(linear), least)
            done(rounds + 1)
            if np.abs(scores - was).max() < _NEAR:
                break
    return scores, parameters


def _score(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.logaddexp(0, -linear))
