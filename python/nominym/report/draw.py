"""Figures from tables: each has a title, labelled axes and an alternative text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pandas as pd

from nominym import chart
from nominym.report.measured import UNCHANGED, rows_of
from nominym.report.words import percent

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST = 20
"""Number of categories in a figure."""


def histogram(table: pd.DataFrame, name: Any, rmse: float) -> go.Figure:
    """Draw the share of records by distance."""
    still = float(table["share"][table["distance"] == UNCHANGED].sum())
    top = float(table["up_to"].max())
    width = top / (len(table) - 1)
    what = f"{chart.plain(name)}: how far values moved"
    figure = chart.new(
        what,
        f"{percent(still)} unchanged, root mean square distance {rmse:.3g}",
        alt=f"Histogram of {what}: {percent(still)} of the records are unchanged, the others moved by up to {top:.3g}.",
        x="distance between the value before and after",
        y="share of records",
    )
    # What did not move stands apart, left of 0.
    centre = ((table["above"] + table["up_to"]) / 2).where(table["distance"] != UNCHANGED, -1.5 * width)
    figure.add_bar(
        x=centre.tolist(),
        y=table["share"].tolist(),
        width=0.92 * width,
        marker_color=[chart.STILL if distance == UNCHANGED else chart.MEASURED for distance in table["distance"]],
        customdata=table["distance"].tolist(),
        hovertemplate="%{customdata}: %{y:.1%} of the records<extra></extra>",
    )
    edges = [i * top / 5 for i in range(6)]
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    figure.update_xaxes(
        tickvals=[-1.5 * width, *edges],
        ticktext=["same", *(f"{edge:.3g}" for edge in edges)],
        range=[-2.4 * width, top + 0.3 * width],
        ticks="outside",
        tickangle=0,
    )
    return figure


def correlations(table: pd.DataFrame) -> go.Figure:
    """Draw the correlations of all pairs, before and after."""
    figure = chart.new(
        "Correlations before and after",
        f"distance correlation of pairs; the largest change is {float(table['difference'].abs().max()):.3f}",
        alt="Two heat maps of distance correlations, before and after masking: "
        + "; ".join(f"{r.x} and {r.y} {r.before:.2f} before, {r.after:.2f} after" for r in rows_of(table)),
        height=190 + 62 * len({*table["x"], *table["y"]}),
    )
    look = {**figure.layout.xaxis.to_plotly_json(), "title": None}
    panels = {"before": ("x", "y", [0, 0.4]), "after": ("x2", "y2", [0.6, 1])}
    for when, (x_axis, y_axis, domain) in panels.items():
        hover = f"%{{customdata}}: %{{z:.3f}}<extra>{when}</extra>"
        place = {"xaxis": x_axis, "yaxis": y_axis, "coloraxis": "coloraxis"}
        ticks = chart.add_pairs(
            figure, table, when, diagonal=1.0, longest=18, texttemplate="%{z:.2f}", hovertemplate=hover, **place
        )
        figure.update_layout(
            {
                f"xaxis{x_axis[1:]}": {**look, **ticks, "domain": domain, "anchor": y_axis},
                f"yaxis{y_axis[1:]}": {**look, **ticks, "anchor": x_axis, "autorange": "reversed"},
            }
        )
        chart.write_above(figure, when, sum(domain) / 2, xref="paper", font={"size": 14, "color": chart.INK})
    bar = {**chart.COLOUR_BAR, "tickformat": ".1f"}
    figure.update_layout(coloraxis={"colorscale": chart.SCALE, "cmin": 0, "cmax": 1, "colorbar": bar})
    return figure


def changed(table: pd.DataFrame, name: Any) -> go.Figure:
    """Draw the share of each category that moved, and how far."""
    shown = table.head(MOST).iloc[::-1]
    what = f"{chart.plain(name)}: most changed categories"
    figure = chart.new(
        what,
        "share of its records that now have another value; number: their mean distance",
        alt=f"Bars: {what}. " + "; ".join(f"{r.category}: {moved(r.moved)}" for r in rows_of(shown.iloc[::-1].head(5))),
        x="share moved",
        height=150 + 25 * max(len(shown), 2),
    )
    _add_rows(
        figure,
        shown["category"],
        shown["moved"],
        top=max(float(shown["moved"].max()), 0.25) if len(shown) else 1.0,
        text=[f"{distance:.2f}" for distance in shown["distance"]],
        textposition="outside",
        textfont={"color": chart.FAINT, "size": 12},
        cliponaxis=False,
        customdata=[
            [chart.plain(row.category, 80), f"{row.before:,}", f"{row.after:,}", moved(row.moved), row.distance]
            for row in rows_of(shown)
        ],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]} records before, %{customdata[2]} after<br>"
        "moved: %{customdata[3]}, mean distance %{customdata[4]:.2f}<extra></extra>",
    )
    return figure


def moved(share: float) -> str:
    """Return the share of a category that moved; the lowest and the highest are not stated exactly."""
    if share <= 0.05:
        return "5\u00a0% or less"
    return "95\u00a0% or more" if share >= 0.95 else percent(share)


def attacks(table: pd.DataFrame, unit: str) -> go.Figure:
    """Draw the share of people whom an adversary re-identifies, by what is known, and the bound."""
    table = table.head(MOST)
    shown = table.iloc[::-1]
    bounds = [bound for bound in table["bound"] if not pd.isna(bound)]
    sampled = bool((table["high"] > table["low"]).any())
    figure = chart.new(
        f"{unit.capitalize()} re-identified",
        "by the most successful attack, for what is known" + (", with 95 % interval" if sampled else ""),
        alt=f"Bars: share of {unit} re-identified by what is known: "
        + "; ".join(f"{row.knowledge}: {percent(row.share)}" for row in rows_of(table))
        + (f". The bound is {percent(bounds[0])}." if bounds else "."),
        x=f"share of {unit} re-identified",
        height=max(320, 170 + 38 * len(table)),
    )
    around = "<br>interval %{customdata[2]} to %{customdata[3]}" if sampled else ""
    top = max([*table["high"], *bounds, 1e-6])
    _add_rows(
        figure,
        shown["knowledge"],
        shown["share"],
        top=top,
        error_x=_error_bars(shown, "share", chart.INK),
        customdata=[
            [chart.plain(row.knowledge, 80), row.attack, percent(row.low), percent(row.high)] for row in rows_of(shown)
        ],
        hovertemplate="%{customdata[0]}: %{x:.2%}<br>%{customdata[1]}" + around + "<extra></extra>",
    )
    if bounds:
        chart.mark_bound(figure, bounds[0], f"bound {percent(bounds[0])}", right=bounds[0] > 0.7 * top)
    return figure


def candidates(table: pd.DataFrame, k: int | None) -> go.Figure:
    """Draw the number of candidates that the swaps of each attribute had."""
    figure = chart.new(
        "Effective k: candidates that swaps actually had",
        "line: 5 % to 95 % of the swaps, bar: the middle half, dot: median",
        alt="Ranges of the number of candidates by attribute: "
        + "; ".join(f"{row['attribute']}: median {row['median']}" for _, row in table.iterrows()),
        x="candidates of a swap",
        height=170 + 60 * len(table),
    )
    for i, row in enumerate(table.to_dict("records")):
        said = "<br>".join(f"{name}: {value:,}" for name, value in row.items() if name != "attribute")
        for ends, width in ((("5 %", "95 %"), 3), (("25 %", "75 %"), 12)):
            line = {"width": width, "color": chart.MEASURED}
            figure.add_scatter(x=[row[end] for end in ends], y=[i, i], mode="lines", line=line, hoverinfo="skip")
        figure.add_scatter(
            x=[row["median"]],
            y=[i],
            mode="markers",
            marker={"size": 14, "color": chart.AFTER, "line": {"width": 2, "color": chart.PAPER}},
            hovertemplate=f"{chart.plain(row['attribute'])}<br>{said}<extra></extra>",
        )
    figure.update_yaxes(**chart.name_ticks(table["attribute"]), range=[len(table) - 0.5, -0.5])
    figure.update_xaxes(rangemode="tozero", showgrid=True)
    figure.update_layout(showlegend=False)
    if k is not None:
        chart.mark_bound(figure, k, f"k = {k:,}", right=k >= 0.7 * float(table["95 %"].max()))
    return figure


def group_sizes(table: pd.DataFrame, *, alike: bool) -> go.Figure:
    """Draw the share of records by group size; ``alike`` if all records of a group have the same masked values."""
    moved = "values were swapped inside groups, and nowhere else"
    subtitle = "all records of a group have the same masked values" if alike else moved
    return shares(table, "Effective k: records that share a group", subtitle, "records in the group")


def worlds(table: pd.DataFrame, least: int) -> go.Figure:
    """Draw the number of published rows that records could be."""
    subtitle = f"by the published data alone; guaranteed: at least {least:,}"
    return shares(table, "Rows that a record could be", subtitle, "published rows that fit the record")


def shares(table: pd.DataFrame, title: str, subtitle: str, x: str, y: str = "share of records") -> go.Figure:
    """Draw shares of categories, named by the first column."""
    kinds = [chart.plain(kind) for kind in table.iloc[:, 0]]
    alt = "; ".join(f"{kind}: {percent(share)}" for kind, share in zip(kinds, table["share"], strict=True) if share > 0)
    figure = chart.new(title, subtitle, alt=f"Bars: {title}. {alt}", x=x, y=y)
    figure.add_bar(
        x=kinds,
        y=table["share"].tolist(),
        marker_color=chart.MEASURED,
        hovertemplate="%{x}: %{y:.1%}<extra></extra>",
    )
    figure.update_xaxes(type="category")
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return figure


def two_sides(
    table: pd.DataFrame, title: str, subtitle: str, x: str, y: str = "share of records", form: str = ".0%"
) -> go.Figure:
    """Draw two bars for each category, named by the first column; the others are the two sides."""
    ticks = chart.name_ticks(table.iloc[:, 0], 24)
    sides = list(table.columns[1:3])
    figure = chart.new(title, subtitle, alt=f"Bars in pairs, {' and '.join(sides)}: {title}.", x=x, y=y)
    for side, colour in zip(sides, (chart.BEFORE, chart.AFTER), strict=True):
        figure.add_bar(
            x=ticks["tickvals"],
            y=table[side].tolist(),
            name=side,
            marker_color=colour,
            customdata=ticks["ticktext"],
            hovertemplate="%{customdata}: %{y:" + form + "}<extra>" + side + "</extra>",
        )
    figure.update_xaxes(**ticks)
    figure.update_yaxes(tickformat=form, rangemode="tozero")
    figure.update_layout(barmode="group")
    return figure


def risk_utility(table: pd.DataFrame) -> go.Figure:
    """Draw risk against loss, a point for each value of the option."""
    name = str(table.columns[0])
    shown = table.sort_values(name)
    shown["label"] = [f"{name} = {value:g}" for value in shown[name]]
    figure = chart.new(
        f"Risk and loss for other values of {chart.plain(name)}",
        "lower left is better; dashed: the bound, if there is one",
        alt="Risk–utility map: "
        + "; ".join(f"{row.label}: risk {percent(row.risk)}, loss {row.loss:.3g}" for row in rows_of(shown)),
        x=str(table.attrs.get("loss", "loss")),
        y=str(table.attrs.get("risk", "risk")),
        height=420,
    )
    if shown["bound"].notna().any():
        figure.add_scatter(
            x=shown["loss"].tolist(),
            y=shown["bound"].tolist(),
            mode="lines+markers",
            name="bound",
            line={"color": chart.BOUND, "dash": "dash", "width": 2},
            marker={"symbol": "line-ew-open", "size": 12},
            hovertemplate="bound %{y:.1%}<extra></extra>",
        )
    named = {"mode": "markers+text", "textposition": "bottom center", "textfont": {"color": chart.INK, "size": 12}}
    figure.add_scatter(
        x=shown["loss"].tolist(),
        y=shown["risk"].tolist(),
        name="measured",
        text=shown["label"].where(~shown["current"], "").tolist(),
        customdata=shown["label"].tolist(),
        cliponaxis=False,
        line={"color": chart.MEASURED, "width": 2},
        marker={"size": 10},
        error_y=_error_bars(shown, "risk", chart.MEASURED),
        hovertemplate="%{customdata}<br>risk %{y:.2%}, loss %{x:.4g}<extra></extra>",
        **{**named, "mode": "lines+markers+text"},
    )
    here = shown[shown["current"]]
    if len(here):
        edge = {"width": 2, "color": chart.INK}
        figure.add_scatter(
            x=here["loss"].tolist(),
            y=here["risk"].tolist(),
            name="this release",
            text=here["label"].tolist(),
            marker={"size": 18, "color": chart.AFTER, "line": edge, "symbol": "diamond"},
            hovertemplate="this release<br>risk %{y:.2%}, loss %{x:.4g}<extra></extra>",
            **named,
        )
    top = max(float(shown[["risk", "high", "bound"]].max().max()), 1e-6)
    figure.update_yaxes(tickformat=".1%" if top < 0.1 else ".0%", range=[-0.1 * top, 1.12 * top])
    figure.update_xaxes(range=[0, 1.15 * (float(shown["loss"].max()) or 1.0)], showgrid=True)
    return figure


_BESIDE = ("top right", "bottom left", "bottom right", "top left")


def compared(table: pd.DataFrame, by: str, limit: float, suggested: str, unit: str) -> go.Figure:
    """Draw risk against loss, a line for each method: what attacks found, and what is stated not to be exceeded."""
    axes = {
        "loss": "information loss", "counts": "change of counts (total variation)",
        "correlations": "largest change of a correlation",
    }  # fmt: skip
    shown = table.dropna(subset=["risk", by])
    figure = chart.new(
        f"Risk and {axes[by].split(' (')[0]} of methods",
        "low and to the left is better; filled: found by the best attack; dashed and open: stated bound",
        alt="Risk–utility map of methods: "
        + "; ".join(f"{r.name}: found {percent(r.risk)}, {by} {getattr(r, by):.3g}" for r in rows_of(shown)),
        x=axes[by],
        y=f"share of {unit} re-identified",
        height=480,
    )
    for place, (method, part) in enumerate(shown.groupby("method", sort=False)):
        colour, mark = chart.line_look(place)
        line = part.sort_values(by)
        labels = [chart.plain(name.removeprefix(f"{method}, "), 40) for name in line["name"]]
        common = {"x": line[by].tolist(), "legendgroup": str(place), "customdata": labels, "cliponaxis": False}
        name = chart.plain(method, 60)
        if line["bound"].notna().any():
            figure.add_scatter(
                y=line["bound"].tolist(),
                mode="lines+markers",
                showlegend=False,
                line={"color": colour, "dash": "dash", "width": 1.5},
                marker={"symbol": f"{mark}-open", "size": 8},
                hovertemplate=f"{name}, %{{customdata}}<br>stated bound %{{y:.1%}}<extra></extra>",
                **common,
            )
        figure.add_scatter(
            y=line["risk"].tolist(),
            name=name,
            mode="lines+markers+text",
            text=labels,
            textposition=_BESIDE[place % len(_BESIDE)],
            textfont={"color": colour, "size": 11},
            line={"color": colour, "width": 2},
            marker={"symbol": mark, "size": 9, "color": colour},
            error_y=_error_bars(line.assign(low=line["smallest"], high=line["largest"]), "risk", colour),
            hovertemplate=f"{name}, %{{customdata}}<br>found %{{y:.2%}}, {by} %{{x:.4g}}<extra></extra>",
            **common,
        )
    here = shown[shown["name"] == suggested]
    if len(here):
        figure.add_scatter(
            x=here[by].tolist(),
            y=here["risk"].tolist(),
            name="suggested",
            mode="markers",
            marker={"symbol": "circle-open", "size": 22, "color": chart.INK, "line": {"width": 2.5}},
            hoverinfo="skip",
        )
    top = max(float(shown[["largest", "bound"]].max().max()), limit) if len(shown) else limit
    figure.add_hline(
        limit, line={"color": chart.FAINT, "width": 1, "dash": "dot"}, annotation_position="bottom left",
        annotation_text=f"largest accepted risk, {percent(limit)}", annotation_font={"color": chart.FAINT, "size": 12},
    )  # fmt: skip
    figure.update_yaxes(tickformat=".1%" if top < 0.1 else ".0%", range=[-0.08 * top, 1.1 * top])
    most = float(shown[by].max()) if len(shown) else 0.0
    form = {} if by == "correlations" else {"tickformat": ".1%" if most < 0.1 else ".0%"}
    figure.update_xaxes(range=[-0.03 * (most or 1.0), 1.1 * (most or 1.0)], showgrid=True, **form)
    return figure


def _add_rows(figure: go.Figure, names: Iterable[Any], shares: pd.Series[float], top: float, **bars: Any) -> None:
    """Draw shares as horizontal bars, a row for each name; ``top`` is the largest visible share."""
    figure.add_bar(y=list(range(len(shares))), x=shares.tolist(), orientation="h", marker_color=chart.MEASURED, **bars)
    figure.update_yaxes(**chart.name_ticks(names), showgrid=False)
    form = ".1%" if top < 0.1 else ".0%"
    figure.update_xaxes(tickformat=form, range=[0, 1.15 * top], showgrid=True, nticks=5, tickangle=0)


def _error_bars(table: pd.DataFrame, of: str, colour: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": (table["high"] - table[of]).clip(lower=0).tolist(),
        "arrayminus": (table[of] - table["low"]).clip(lower=0).tolist(),
        "color": colour,
        "thickness": 1.5,
        "visible": bool((table["high"] > table["low"]).any()),
    }
