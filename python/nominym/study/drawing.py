"""Figures of studies: means over seeds, with confidence intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import chart
from nominym.error import ParameterError
from nominym.study.summary import means

if TYPE_CHECKING:
    import plotly.graph_objects as go


def figure(
    results: pd.DataFrame,
    x: str,
    y: str,
    by: Any = "method",
    *,
    log: bool = False,
    level: float = 0.95,
    title: str = "",
) -> go.Figure:
    """Draw the means of a measure against an option, or against another measure.

    >>> import nominym as nym
    >>> found = pd.DataFrame({"data": "visits", "method": "swap", "k": [2, 2, 5, 5], "seed": [0, 1] * 2,
    ...                       "measure": "rmse", "value": [0.1, 0.2, 0.3, 0.4], "error": ""})
    >>> drawn = nym.study.figure(found, x="k", y="rmse")
    >>> [(line.name, list(line.x)) for line in drawn.data]
    [('swap', [2, 5])]

    Parameters
    ----------
    results
        What ``Study.run`` returned, or a part of it.
    x
        A column of numbers, such as ``k``; or a measure, for a map of risk and utility.
    y
        A measure.
    by
        What lines are told apart by, one column or several.
    log
        Whether the axis of x is logarithmic.
    level
        Of the confidence intervals, which stand as bars.
    title
        By default, what is drawn against what.
    """
    names = [by] if isinstance(by, str) else list(by)
    told = [str(name) for name in results if name not in ("seed", "measure", "value", "seconds", "error")]
    up = _means(results, y, told, level)
    if x in told:
        points = up.assign(x=pd.to_numeric(up[x], errors="coerce"), wide=np.nan)
    else:
        along = _means(results, x, told, level).rename(columns={"mean": "x", "half": "wide"})
        points = up.merge(along[[*told, "x", "wide"]], on=told)
    points = points.dropna(subset=["x", "mean"])
    if points.empty:
        raise ParameterError("no line has a number there", parameter="x", value=x)
    share = f"{100 * level:g} %"
    said = f"Means over seeds, {share} confidence intervals (Student's t)"
    alt = f"Means of {y} against {x}, a line for each {' and '.join(names)}"
    drawn = chart.new(title or f"{y} against {x}", said, alt=alt, x=x, y=y, height=420)
    for place, (key, part) in enumerate(points.groupby(names, sort=False, dropna=False)):
        line = part.sort_values("x")
        if (line["x"].duplicated()).any() and x in told:
            others = [name for name in told if name not in (*names, x) and line[name].nunique(dropna=False) > 1]
            raise ParameterError(f"lines have several points at one {x}: {', '.join(others)} differs too",
                                 remedy="name it in by=, or choose a part of the results")  # fmt: skip
        colour, mark = chart.line_look(place)
        bars = {"thickness": 1, "width": 3}
        drawn.add_scatter(
            x=line["x"].to_list(),
            y=line["mean"].to_list(),
            error_x={"array": line["wide"].to_list(), **bars} if x not in told else None,
            error_y={"array": line["half"].to_list(), **bars},
            mode="lines+markers",
            name=chart.plain(", ".join(str(value) for value in key), 60),
            line={"color": colour},
            marker={"symbol": mark, "size": 8, "color": colour},
        )
    drawn.update_layout(legend={"y": -0.2, "yanchor": "top"})
    if log:
        drawn.update_xaxes(type="log")
    return drawn


def _means(results: pd.DataFrame, measure: str, told: list[str], level: float) -> pd.DataFrame:
    part = results[results["measure"] == measure]
    if part.empty:
        known = ", ".join(dict.fromkeys(results["measure"]))
        raise ParameterError(f"{measure!r} is no measure of these results, and no column of theirs; there are {known}")
    return means(part, told, level=level)
