"""How figures look: colours that people with any colour vision can tell apart, one layout for all.

Colours of categories are those of Okabe and Ito (2008), "Color Universal Design"; scales go from light to dark in
one hue and, where values have a sign, from purple to orange (Harrower and Brewer 2003, The Cartographic Journal 40).
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from nominym.error import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

BLUE, ORANGE, VERMILLION, GREEN = "#0072B2", "#E69F00", "#D55E00", "#009E73"

BEFORE, AFTER, MEASURED, BOUND = BLUE, ORANGE, BLUE, VERMILLION
"""What a colour stands for, in every figure."""

STILL = "#8A94A0"
"""Records that did not change."""

INK, FAINT, GRID, PAPER = "#1B2530", "#5A6672", "#E1E6EB", "#FFFFFF"

_LINES = (BLUE, VERMILLION, GREEN, ORANGE, "#56B4E9", "#CC79A7", STILL, INK)
_MARKS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "star", "hexagon")


def line_look(place: int) -> tuple[str, str]:
    """Return the colour and the mark of a line, by its place: colours alone would not do for more than a few."""
    return _LINES[place % len(_LINES)], _MARKS[place % len(_MARKS)]


SCALE = "Blues"
"""From light (little) to dark (much)."""

SIGNED = "PuOr"
"""A colour for each side of 0."""

COLOUR_BAR = {"thickness": 12, "outlinewidth": 0, "tickfont": {"color": FAINT}}

_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
_LONGEST = 36


def extra(module: str, what: str) -> Any:
    """Return a module that figures or reports need, or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"{what} needs the extra: pip install nominym[report]") from None


def new(title: str, subtitle: str = "", *, alt: str = "", x: str = "", y: str = "", height: int = 320) -> go.Figure:
    """Start a figure: titled, with labelled axes. ``alt`` says what it shows to those who do not see it."""
    figure = extra("plotly.graph_objects", "a figure").Figure()
    axis = {
        "gridcolor": GRID,
        "linecolor": FAINT,
        "tickcolor": FAINT,
        "tickfont": {"color": FAINT, "size": 12},
        "title": {"font": {"color": FAINT, "size": 13}, "standoff": 12},
        "automargin": True,
        "zeroline": False,
    }
    figure.update_layout(
        title={
            "text": title,
            "x": 0,
            "xanchor": "left",
            "xref": "paper",
            "font": {"size": 17, "color": INK},
            "subtitle": {"text": subtitle, "font": {"size": 13, "color": FAINT}},
        },
        font={"family": _FONT, "size": 13, "color": INK},
        paper_bgcolor=PAPER,
        plot_bgcolor=PAPER,
        colorway=[BLUE, ORANGE, GREEN, VERMILLION],
        margin={"l": 60, "r": 24, "t": 84, "b": 56},
        height=height,
        bargap=0.18,
        dragmode=False,
        hoverlabel={"font": {"family": _FONT, "size": 13}},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"color": INK}},
        meta={"alt": alt or title},
    )
    figure.update_xaxes(**axis, showgrid=False, title_text=x)
    figure.update_yaxes(**axis, title_text=y)
    return figure


def plain(text: object, longest: int = _LONGEST) -> str:
    """Write a text of the data into a figure: shortened, and with nothing that plotly would take for markup.

    >>> plain("<b>flu</b>"), plain("a" * 50, 4)
    ('&lt;b&gt;flu&lt;/b&gt;', 'aaa…')
    """
    written = " ".join(str(text).split())
    return escape(written if len(written) <= longest else written[: longest - 1] + "…", quote=False)


def name_ticks(names: Iterable[Any], longest: int = _LONGEST) -> dict[str, Any]:
    """Return the ticks of an axis of categories.

    They are placed by number, not by name: plotly would read names such as "1" as numbers, and join names that are
    shortened alike.
    """
    labels = [plain(name, longest) for name in names]
    return {"tickvals": list(range(len(labels))), "ticktext": labels}


def add_pairs(
    figure: go.Figure, table: pd.DataFrame, of: str, diagonal: float | None = None, longest: int = _LONGEST, **look: Any
) -> dict[str, Any]:
    """Draw a number for each pair of x and y as a square of coloured cells, and return the ticks of both axes.

    ``diagonal`` is what a name has with itself.
    """
    names = list(dict.fromkeys([*table["x"], *table["y"]]))
    ticks = name_ticks(names, longest)
    labels = ticks["ticktext"]
    numbers = zip(table["x"], table["y"], table[of], strict=True)
    known = {frozenset((x, y)): float(value) for x, y, value in numbers if value == value}
    figure.add_heatmap(
        z=[[diagonal if x == y else known.get(frozenset((x, y))) for x in names] for y in names],
        x=ticks["tickvals"],
        y=ticks["tickvals"],
        customdata=[[f"{x} and {y}" for x in labels] for y in labels],
        hoverongaps=False,
        xgap=2,
        ygap=2,
        **look,
    )
    return {**ticks, "showgrid": False}


def write_above(figure: go.Figure, text: str, x: float, **look: Any) -> None:
    """Write a text above the axes."""
    figure.add_annotation(text=text, x=x, yref="paper", y=1, yanchor="bottom", showarrow=False, **look)


def mark_bound(figure: go.Figure, value: float, text: str, *, right: bool = False) -> None:
    """Draw a bound as a dashed vertical line, with what it is; one at the right end has its text to the left."""
    line = {"color": BOUND, "width": 2, "dash": "dash"}
    figure.add_shape(type="line", yref="paper", y0=0, y1=1, x0=value, x1=value, line=line)
    write_above(figure, text, value, xanchor="right" if right else "center", font={"color": BOUND, "size": 12})


def card(title: str, rows: Iterable[tuple[object, object]]) -> str:
    """Return a small table for notebooks, with every text escaped.

    >>> card("<b>", [("a", "&")])
    '<div class="nominym"><strong>&lt;b&gt;</strong><table><tr><th>a</th><td>&amp;</td></tr></table></div>'
    """
    cells = "".join(f"<tr><th>{escape(str(name))}</th><td>{escape(str(value))}</td></tr>" for name, value in rows)
    return f'<div class="nominym"><strong>{escape(title)}</strong><table>{cells}</table></div>'
