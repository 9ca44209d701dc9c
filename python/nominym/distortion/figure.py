"""Distortion as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from nominym.distortion.measure import MEASURES
from nominym.error import DataError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLES = {
    "hellinger": "Hellinger distance",
    "total_variation": "total variation distance",
    "entropy_change": "change of entropy",
    "cramers_v_change": "Cramér's V, before − after",
    "contingency_change": "contingency coefficient C, before − after",
}


def heat_map(table: pd.DataFrame, measure: str = "hellinger") -> Figure:
    """Draw one measure of ``distortion.table`` for all pairs of columns, or for those that are left in the table.

    Distances go from light to dark; changes, which have a sign, have a colour for each side of 0. The figure belongs to
    the caller: ``figure.savefig("distortion.png")``. Needs matplotlib, the extra ``nominym[report]``.
    """
    if measure not in MEASURES:
        raise ParameterError(f"measure={measure!r}: give {', '.join(map(repr, MEASURES))}")
    if not isinstance(table, pd.DataFrame) or not {"x", "y", "columns", *MEASURES} <= set(table.columns):
        raise DataError("table: what distortion.table gives is needed")
    # Wherever it stands: a table may have been sorted, or cut down to some pairs.
    whole = table["x"].isna() & table["y"].isna()
    pairs = table[~whole]
    if not len(pairs):
        raise DataError("table: a heat map shows pairs of columns, and there is one column only")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("a heat map needs the extra: pip install nominym[report]") from None
    names = list(dict.fromkeys([*pairs["x"], *pairs["y"]]))
    place = {name: i for i, name in enumerate(names)}
    cells = np.full((len(names), len(names)), np.nan)
    for x, y, value in zip(pairs["x"], pairs["y"], pairs[measure], strict=True):
        cells[place[x], place[y]] = cells[place[y], place[x]] = value
    largest = float(np.nanmax(np.abs(cells))) or 1.0
    signed = measure.endswith("change")
    side = 1.6 + 0.7 * len(names)
    figure = Figure(figsize=(side + 1, side), layout="constrained")
    axes = figure.subplots()
    picture = axes.imshow(
        cells, cmap="PuOr" if signed else "cividis_r", vmin=-largest if signed else 0, vmax=largest, aspect="equal"
    )
    for (i, j), value in np.ndenumerate(cells):
        if not np.isnan(value):
            dark = abs(value) > 0.6 * largest
            axes.text(j, i, f"{value:.3f}", ha="center", va="center", fontsize=8, color="white" if dark else "black")
    axes.set_xticks(range(len(names)), [str(name) for name in names], rotation=45, ha="right")
    axes.set_yticks(range(len(names)), [str(name) for name in names])
    below = "".join(
        f"\nall {count} columns together: {together:.4f}"
        for count, together in table.loc[whole, ["columns", measure]].itertuples(index=False)
        if not pd.isna(together)
    )
    axes.set_title(f"{_TITLES[measure]} of pairs{below}", fontsize=10)
    figure.colorbar(picture, shrink=0.8)
    return figure
