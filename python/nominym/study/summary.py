"""Means over seeds with confidence intervals, and tables of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nominym.error import ParameterError, no_column

_FORMATS = ("markdown", "latex")
_TEX = {"\\": r"\textbackslash{}", **{sign: f"\\{sign}" for sign in "&%$#_{}"}, "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}", "±": r"$\pm$", "–": "--"}  # fmt: skip


def t_quantile(level: float, degrees: int) -> float:
    """Return the t between −t and t of which Student's distribution has a share of ``level``.

    >>> round(t_quantile(0.95, 4), 4), round(t_quantile(0.95, 1), 3)
    (2.7764, 12.706)

    The probability is the finite sum for whole degrees of freedom (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4), and
    t is found by halving.
    """
    low, high = 0.0, math.pi / 2
    for _ in range(100):
        angle = (low + high) / 2
        term = math.cos(angle) if degrees % 2 else 1.0
        total = term if degrees > 1 else 0.0
        for i in range(3 if degrees % 2 else 2, degrees - 1, 2):
            term *= (i - 1) / i * math.cos(angle) ** 2
            total += term
        total *= math.sin(angle)
        within = 2 / math.pi * (angle + total) if degrees % 2 else total
        low, high = (angle, high) if within < level else (low, angle)
    return math.sqrt(degrees) * math.tan(high)


def means(results: pd.DataFrame, by: Any, *, level: float = 0.95) -> pd.DataFrame:
    """Return means over seeds with confidence intervals.

    >>> found = pd.DataFrame({"k": 2, "seed": [0, 1, 2], "measure": "rmse", "value": [0.1, 0.2, 0.3], "error": ""})
    >>> means(found, ["k", "measure"]).round(3).values.tolist()
    [[2, 'rmse', 0.2, 0.248, 3, 0]]

    Parameters
    ----------
    results
        What ``Study.run`` returned, or a part of it.
    by
        Columns that tell apart what is not averaged. Whatever else differs, except for the seed, is an error: means
        over methods or data sets say nothing.
    level
        The probability with which an interval holds the mean of all draws, if figures of draws are normal.

    Returns
    -------
    pandas.DataFrame
        The columns of ``by``; ``mean``; ``half``, half the width of the interval by Student's t distribution, missing
        for a single figure; ``count`` of the figures, and ``failed`` of the runs.
    """
    if not (isinstance(level, float) and 0 < level < 1):
        raise ParameterError("give a number between 0 and 1", parameter="level", value=level)
    names = _columns(results, by, "by")
    rest = [name for name in _told(results) if name not in names]
    # A figure without a number, such as the mean distance of a failed run, still counts as a failure.
    groups = results.groupby(names, sort=False, dropna=False, observed=True)
    mixed = groups[rest].nunique(dropna=False) if rest else pd.DataFrame()
    for name in rest:
        if len(mixed) and (mixed[name] > 1).any():
            what = f"{name!r} differs within a cell, and means over it say nothing"
            raise ParameterError(what, remedy="add it to the rows or columns, or choose a part of the results")
    rows = []
    for key, part in groups:
        values = part.loc[part["error"] == "", "value"].dropna()
        count = len(values)
        spread = float(values.std(ddof=1)) if count > 1 else math.nan
        half = t_quantile(level, count - 1) * spread / math.sqrt(count) if count > 1 else math.nan
        mean = float(values.mean()) if count else math.nan
        rows.append([*key, mean, half, count, int((part["error"] != "").sum())])
    return pd.DataFrame(rows, columns=[*names, "mean", "half", "count", "failed"])


def _told(results: pd.DataFrame) -> list[str]:
    """List the columns that say what a figure is of."""
    return [str(name) for name in results if name not in ("seed", "value", "seconds", "error")]


def _columns(results: pd.DataFrame, given: Any, parameter: str) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in results:
            raise no_column(name, list(results))
        if name in ("seed", "value", "seconds", "error"):
            raise ParameterError(
                "it is averaged over, or no part of what a figure is of", parameter=parameter, value=name
            )
    return names


def table(
    results: pd.DataFrame,
    rows: Any,
    columns: Any,
    values: Any = None,
    *,
    format: str = "markdown",  # noqa: A002
    digits: int = 3,
    level: float = 0.95,
    note: bool = True,
) -> str:
    """Write means over seeds, ± half the width of their confidence intervals, as a table.

    >>> found = pd.DataFrame({"k": [2, 2, 5], "seed": [0, 1, 0], "measure": "rmse", "value": [1, 2, 3], "error": ""})
    >>> print(table(found, "measure", "k", digits=1))
    | measure | k = 2 | k = 5 |
    | --- | --- | --- |
    | rmse | 1.5 ± 6.4 | 3.0 |
    <BLANKLINE>
    Means over 2 seeds (0, 1), ± half the width of the 95 % confidence interval (Student's t).

    Parameters
    ----------
    results
        What ``Study.run`` returned, or a part of it.
    rows, columns
        What tells rows and columns apart: ``data``, ``method``, an option, ``measure``; one or several.
    values
        Measures to write; by default all that there are.
    format
        "markdown", or "latex" (with the package booktabs).
    digits
        Decimal places.
    level
        Of the confidence intervals.
    note
        Whether to write below what the figures are.
    """
    if format not in _FORMATS:
        raise ParameterError(f"give {' or '.join(map(repr, _FORMATS))}", parameter="format", value=format)
    chosen = results
    if values is not None:
        asked = [values] if isinstance(values, str) else list(values)
        known = list(dict.fromkeys(results["measure"]))
        unknown = next((name for name in asked if name not in known), None)
        if unknown is not None:
            raise ParameterError(
                f"there is no measure {unknown!r} here; there are {', '.join(known)}", parameter="values"
            )
        chosen = results[results["measure"].isin(asked)]
        chosen = chosen.iloc[np.argsort(chosen["measure"].map(asked.index), kind="stable")]
    down, across = _columns(chosen, rows, "rows"), _columns(chosen, columns, "columns")
    cells: dict[tuple[tuple[str, ...], tuple[str, ...]], str] = {}
    for *said, mean, half, count, failed in means(chosen, [*down, *across], level=level).itertuples(index=False):
        names = [_shown(value) for value in said]
        heads = [
            name if of in _NAMED else f"{of} = {name}" for of, name in zip(across, names[len(down) :], strict=True)
        ]
        cells[tuple(names[: len(down)]), tuple(heads)] = _cell(mean, half, count, failed, digits)
    left, top = (list(dict.fromkeys(key[side] for key in cells)) for side in (0, 1))
    lines = [[*down, *map(", ".join, top)], *([*key, *(cells.get((key, head), "") for head in top)] for key in left)]
    below = _note(chosen, level) if note else ""
    return _markdown(lines, below) if format == "markdown" else _latex(lines, len(down), below)


# Columns whose values speak for themselves.
_NAMED = ("data", "method", "measure")


def _shown(value: Any) -> str:
    """Write what tells a row or a column apart."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cell(mean: float, half: float, count: int, failed: int, digits: int) -> str:
    said = [] if math.isnan(mean) else [f"{mean:.{digits}f}" + ("" if math.isnan(half) else f" ± {half:.{digits}f}")]
    return " ".join([*said, *([f"({failed} of {count + failed} failed)"] if failed else [])])


def _note(results: pd.DataFrame, level: float) -> str:
    seeds = sorted(set(results["seed"]))
    apart = seeds != list(range(seeds[0], seeds[-1] + 1)) if seeds else True
    listed = ", ".join(map(str, seeds)) if apart or len(seeds) < 3 else f"{seeds[0]} to {seeds[-1]}"
    if len(seeds) == 1:
        return f"One seed ({listed})."
    said = f"± half the width of the {100 * level:g} % confidence interval (Student's t)"
    return f"Means over {len(seeds)} seeds ({listed}), {said}."


def _markdown(lines: Sequence[Sequence[str]], below: str) -> str:
    held = [[text.replace("|", "\\|") for text in line] for line in lines]
    drawn = "\n".join(f"| {' | '.join(line)} |" for line in (held[0], ["---"] * len(held[0]), *held[1:]))
    return f"{drawn}\n\n{below}" if below else drawn


def _latex(lines: Sequence[Sequence[str]], left: int, below: str) -> str:
    held = [" & ".join("".join(_TEX.get(sign, sign) for sign in text) for text in line) + r" \\" for line in lines]
    layout = "l" * left + "r" * (len(lines[0]) - left)
    drawn = [rf"\begin{{tabular}}{{{layout}}}", r"\toprule", held[0], r"\midrule", *held[1:], r"\bottomrule",
             r"\end{tabular}"]  # fmt: skip
    return "\n".join([f"% {below}", *drawn] if below else drawn)
