"""Distortion as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from nominym import chart
from nominym.distortion.measure import MEASURES
from nominym.error import DataError, ParameterError

if TYPE_CHECKING:
    import plotly.graph_objects as go

_TITLES = {
    "hellinger": "Hellinger distance of pairs",
    "total_variation": "Total variation distance of pairs",
    "entropy_change": "Change of entropy of pairs",
    "cramers_v_change": "Cramér's V of pairs, before − after",
    "contingency_change": "Contingency coefficient C of pairs, before − after",
}


def heat_map(table: pd.DataFrame, measure: str = "hellinger") -> go.Figure:
    """Draw one measure of ``distortion.table`` for all pairs of columns in the table.

    Distances go from light to dark; changes, which have a sign, have a colour for each side of 0. The result is a
    plotly figure: ``figure.write_html("distortion.html")``. Needs the extra ``nominym[report]``.
    """
    if measure not in MEASURES:
        raise ParameterError(f"give {', '.join(map(repr, MEASURES))}", parameter="measure", value=measure)
    if not isinstance(table, pd.DataFrame) or not {"x", "y", "columns", *MEASURES} <= set(table.columns):
        raise DataError("table: give the result of distortion.table")
    # Wherever it stands: a table may have been sorted, or cut down to some pairs.
    whole = table["x"].isna() & table["y"].isna()
    pairs = table[~whole]
    if not len(pairs):
        raise DataError("table: a heat map shows pairs of columns, and there is only one column")
    largest = float(pairs[measure].abs().fillna(0).max()) or 1.0
    signed = measure.endswith("change")
    together = ", ".join(
        f"all {count} columns together: {value:.4f}"
        for count, value in table.loc[whole, ["columns", measure]].itertuples(index=False)
        if not pd.isna(value)
    )
    title = _TITLES[measure]
    height = 180 + 56 * len({*pairs["x"], *pairs["y"]})
    figure = chart.new(title, together, alt=f"Heat map: {title}", height=height)
    ticks = chart.add_pairs(
        figure,
        pairs,
        measure,
        texttemplate="%{z:.3f}",
        hovertemplate="%{customdata}: %{z:.4f}<extra></extra>",
        colorscale=chart.SIGNED if signed else chart.SCALE,
        zmin=-largest if signed else 0,
        zmax=largest,
        colorbar=chart.COLOUR_BAR,
    )
    figure.update_xaxes(**ticks)
    figure.update_yaxes(**ticks, autorange="reversed")
    return figure
