"""Figures from tables: every one has a title, labelled axes, and a sentence for those who do not see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import chart
from nominym.report.tables import UNCHANGED, rows_of
from nominym.report.words import percent

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST = 20
"""Categories that a figure shows."""

_TALL = 320


def histogram(table: pd.DataFrame, name: Any, rmse: float) -> go.Figure:
    """Draw the share of records by distance."""
    go = chart.objects("a figure")
    still = float(table["share"][table["distance"] == UNCHANGED].sum())
    what = "How far values moved" if name is None else f"{chart.plain(name)}: how far values moved"
    figure = chart.new(
        what,
        f"{percent(still)} unchanged, root mean square distance {rmse:.3g}",
        alt=f"Histogram of {what}: {percent(still)} of the records are unchanged, the others moved by up to "
        f"{table['up_to'][table['share'] > 0].max():.3g}; root mean square {rmse:.3g}.",
        x="semantic distance moved",
        y="share of records",
        height=_TALL,
    )
    top = float(table["up_to"].max())
    width = top / (len(table) - 1)
    # What did not move stands apart, left of 0.
    centre = ((table["above"] + table["up_to"]) / 2).where(table["distance"] != UNCHANGED, -1.5 * width)
    figure.add_trace(
        go.Bar(
            x=centre.tolist(),
            y=table["share"].tolist(),
            width=0.92 * width,
            marker_color=[chart.STILL if distance == UNCHANGED else chart.MEASURED for distance in table["distance"]],
            customdata=table["distance"].tolist(),
            hovertemplate="%{customdata}: %{y:.1%} of the records<extra></extra>",
        )
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
    """Draw the correlations of all pairs, before beside after."""
    go = chart.objects("a figure")
    names = list(dict.fromkeys([*table["x"], *table["y"]]))
    place = {name: i for i, name in enumerate(names)}
    labels = [chart.plain(name, 18) for name in names]
    every = list(range(len(names)))
    largest = float(table["difference"].abs().max())
    figure = chart.new(
        "Correlations before and after",
        f"distance correlation of pairs; the largest change is {largest:.3f}",
        alt="Two heat maps of distance correlations, before and after masking: "
        + "; ".join(f"{r.x} and {r.y} {r.before:.2f} before, {r.after:.2f} after" for r in rows_of(table)),
        height=190 + 62 * len(names),
    )
    axis = {**_ticks(figure.layout.xaxis), "tickvals": every, "ticktext": labels, "showgrid": False}
    panels = {"before": ("x", "y", [0, 0.4]), "after": ("x2", "y2", [0.6, 1])}
    for when, (x_axis, y_axis, domain) in panels.items():
        cells: list[list[float | None]] = [[None] * len(names) for _ in names]
        for x, y, value in zip(table["x"], table["y"], table[when], strict=True):
            cells[place[x]][place[y]] = cells[place[y]][place[x]] = None if np.isnan(value) else float(value)
        for i in every:
            cells[i][i] = 1.0
        figure.add_trace(
            go.Heatmap(
                z=cells,
                x=every,
                y=every,
                xaxis=x_axis,
                yaxis=y_axis,
                coloraxis="coloraxis",
                texttemplate="%{z:.2f}",
                customdata=[[f"{x} and {y}" for x in labels] for y in labels],
                hovertemplate="%{customdata}: %{z:.3f}<extra>" + when + "</extra>",
                hoverongaps=False,
                xgap=2,
                ygap=2,
            )
        )
        figure.update_layout(
            {
                f"xaxis{x_axis[1:]}": {**axis, "domain": domain, "anchor": y_axis},
                f"yaxis{y_axis[1:]}": {**axis, "anchor": x_axis, "autorange": "reversed"},
            }
        )
        figure.add_annotation(
            text=when,
            x=sum(domain) / 2,
            xref="paper",
            y=1,
            yref="paper",
            yanchor="bottom",
            showarrow=False,
            font={"size": 14, "color": chart.INK},
        )
    bar = {"thickness": 12, "outlinewidth": 0, "tickfont": {"color": chart.FAINT}, "tickformat": ".1f"}
    figure.update_layout(coloraxis={"colorscale": chart.SCALE, "cmin": 0, "cmax": 1, "colorbar": bar})
    return figure


def _ticks(axis: Any) -> dict[str, Any]:
    """Give the look of an axis, for a further one."""
    look: dict[str, Any] = axis.to_plotly_json()
    look.pop("title", None)
    return look


def changed(table: pd.DataFrame, name: Any = None) -> go.Figure:
    """Draw how much of each category moved, and write how far."""
    go = chart.objects("a figure")
    shown = table.head(MOST).iloc[::-1]
    what = "Most changed categories" if name is None else f"{chart.plain(name)}: most changed categories"
    figure = chart.new(
        what,
        "share of its records that now have another value; number: their mean distance",
        alt=f"Bars: {what}. " + "; ".join(f"{r.category}: {moved(r.moved)}" for r in rows_of(shown.iloc[::-1].head(5))),
        x="share moved",
        height=150 + 25 * max(len(shown), 2),
    )
    every = list(range(len(shown)))
    figure.add_trace(
        go.Bar(
            y=every,
            x=shown["moved"].tolist(),
            orientation="h",
            marker_color=chart.MEASURED,
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
    )
    figure.update_yaxes(tickvals=every, ticktext=[chart.plain(text) for text in shown["category"]], showgrid=False)
    top = max(float(shown["moved"].max()), 0.25) if len(shown) else 1.0
    figure.update_xaxes(tickformat=".0%", range=[0, 1.15 * top], showgrid=True, nticks=5, tickangle=0)
    return figure


def effective_k(table: pd.DataFrame, k: int | None) -> go.Figure:
    """Draw sizes of groups, or the range of candidates by attribute."""
    go = chart.objects("a figure")
    if "group_size" in table:
        figure = chart.new(
            "Effective k: records that share a group",
            "everybody is one of so many, who cannot be told apart",
            alt="Bars: share of records by size of their group, from "
            f"{table['group_size'].iloc[0]} to {table['group_size'].iloc[-1]}.",
            x="records in the group",
            y="share of records",
            height=_TALL,
        )
        figure.add_trace(
            go.Bar(
                x=table["group_size"].tolist(),
                y=table["share"].tolist(),
                marker_color=chart.MEASURED,
                hovertemplate="groups of %{x}: %{y:.1%} of the records<extra></extra>",
            )
        )
        figure.update_xaxes(type="category")
        figure.update_yaxes(tickformat=".0%", rangemode="tozero")
        return figure
    figure = chart.new(
        "Effective k: candidates that swaps really had",
        "line: 5 % to 95 % of the swaps, bar: the middle half, dot: median",
        alt="Ranges of the number of candidates by attribute: "
        + "; ".join(f"{row['attribute']}: median {row['median']}" for _, row in table.iterrows()),
        x="candidates of a swap",
        height=170 + 60 * len(table),
    )
    for i, row in enumerate(table.to_dict("records")):
        said = "<br>".join(f"{name}: {value:,}" for name, value in row.items() if name != "attribute")
        for ends, width in ((("5 %", "95 %"), 3), (("25 %", "75 %"), 12)):
            figure.add_trace(
                go.Scatter(
                    x=[row[end] for end in ends],
                    y=[i, i],
                    mode="lines",
                    line={"width": width, "color": chart.MEASURED},
                    hoverinfo="skip",
                )
            )
        figure.add_trace(
            go.Scatter(
                x=[row["median"]],
                y=[i],
                mode="markers",
                marker={"size": 14, "color": chart.AFTER, "line": {"width": 2, "color": chart.PAPER}},
                hovertemplate=f"{chart.plain(row['attribute'])}<br>{said}<extra></extra>",
            )
        )
    names = [chart.plain(name) for name in table["attribute"]]
    figure.update_yaxes(tickvals=list(range(len(names))), ticktext=names, range=[len(names) - 0.5, -0.5])
    figure.update_xaxes(rangemode="tozero", showgrid=True)
    figure.update_layout(showlegend=False)
    if k is not None:
        chart.mark_bound(figure, k, f"k = {k:,}", right=k >= 0.7 * float(table["95 %"].max()))
    return figure


def risks(table: pd.DataFrame) -> go.Figure:
    """Draw what an intruder finds, by what they know, beside the bound."""
    go = chart.objects("a figure")
    shown = table.iloc[::-1]
    bounds = [bound for bound in table["bound"] if bound is not None and not pd.isna(bound)]
    sampled = bool((table["high"] > table["low"]).any())
    figure = chart.new(
        "Records found by an intruder",
        "share of records put to the right row" + (", with 95 % interval" if sampled else ""),
        alt="Bars: share of records re-identified by what is known: "
        + "; ".join(f"{row.known}: {percent(row.share)}" for row in rows_of(table))
        + (f". The bound is {percent(bounds[0])}." if bounds else "."),
        x="share of records found",
        height=max(_TALL, 170 + 38 * len(table)),
    )
    every = list(range(len(shown)))
    figure.add_trace(
        go.Bar(
            y=every,
            x=shown["share"].tolist(),
            orientation="h",
            marker_color=chart.MEASURED,
            error_x={
                "type": "data",
                "symmetric": False,
                "array": (shown["high"] - shown["share"]).clip(lower=0).tolist(),
                "arrayminus": (shown["share"] - shown["low"]).clip(lower=0).tolist(),
                "color": chart.INK,
                "thickness": 1.5,
                "visible": sampled,
            },
            customdata=[[chart.plain(row.known, 80), percent(row.low), percent(row.high)] for row in rows_of(shown)],
            hovertemplate="%{customdata[0]}: %{x:.2%}"
            + ("<br>interval %{customdata[1]} to %{customdata[2]}" if sampled else "")
            + "<extra></extra>",
        )
    )
    figure.update_yaxes(tickvals=every, ticktext=[chart.plain(text) for text in shown["known"]], showgrid=False)
    top = max([*table["high"], *bounds, 1e-6])
    form = ".1%" if top < 0.1 else ".0%"
    figure.update_xaxes(tickformat=form, range=[0, 1.08 * top], showgrid=True, nticks=5, tickangle=0)
    if bounds:
        chart.mark_bound(figure, bounds[0], f"bound {percent(bounds[0])}", right=bounds[0] > 0.7 * top)
    return figure


def risk_utility(table: pd.DataFrame) -> go.Figure:
    """Draw risk against loss, a point for each value of the parameter."""
    go = chart.objects("a figure")
    name = str(table.columns[0])
    shown = table.sort_values(name)
    loss = "loss"
    labels = [f"{name} = {value:g}" for value in shown[name]]
    figure = chart.new(
        f"Risk and loss for other values of {chart.plain(name)}",
        "low and to the left is better; dashed: the bound, where there is one",
        alt="Risk–utility map: "
        + "; ".join(
            f"{name} = {row[name]:g}: risk {percent(row['risk'])}, loss {row[loss]:.3g}" for _, row in shown.iterrows()
        ),
        x=str(table.attrs.get("loss", "loss")),
        y=str(table.attrs.get("risk", "risk")),
        height=420,
    )
    if shown["bound"].notna().any():
        figure.add_trace(
            go.Scatter(
                x=shown[loss].tolist(),
                y=shown["bound"].tolist(),
                mode="lines+markers",
                name="bound",
                line={"color": chart.BOUND, "dash": "dash", "width": 2},
                marker={"symbol": "line-ew-open", "size": 12},
                hovertemplate="bound %{y:.1%}<extra></extra>",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=shown[loss].tolist(),
            y=shown["risk"].tolist(),
            mode="lines+markers+text",
            name="measured",
            text=["" if here else label for here, label in zip(shown["current"], labels, strict=True)],
            customdata=labels,
            textposition="bottom center",
            textfont={"color": chart.INK, "size": 12},
            cliponaxis=False,
            line={"color": chart.MEASURED, "width": 2},
            marker={"size": 10},
            error_y={
                "type": "data",
                "symmetric": False,
                "array": (shown["high"] - shown["risk"]).clip(lower=0).tolist(),
                "arrayminus": (shown["risk"] - shown["low"]).clip(lower=0).tolist(),
                "color": chart.MEASURED,
                "thickness": 1.5,
                "visible": bool((shown["high"] > shown["low"]).any()),
            },
            hovertemplate="%{customdata}<br>risk %{y:.2%}, loss %{x:.4g}<extra></extra>",
        )
    )
    here = shown[shown["current"]]
    if len(here):
        figure.add_trace(
            go.Scatter(
                x=here[loss].tolist(),
                y=here["risk"].tolist(),
                mode="markers+text",
                name="this release",
                text=[label for here, label in zip(shown["current"], labels, strict=True) if here],
                textposition="bottom center",
                textfont={"color": chart.INK, "size": 12},
                marker={
                    "size": 18,
                    "color": chart.AFTER,
                    "line": {"width": 2, "color": chart.INK},
                    "symbol": "diamond",
                },
                hovertemplate="this release<br>risk %{y:.2%}, loss %{x:.4g}<extra></extra>",
            )
        )
    top = max(float(shown[["risk", "high", "bound"]].max().max()), 1e-6)
    right = float(shown[loss].max()) or 1.0
    figure.update_yaxes(tickformat=".1%" if top < 0.1 else ".0%", range=[-0.1 * top, 1.12 * top])
    figure.update_xaxes(range=[0, 1.15 * right], showgrid=True)
    return figure


def shares(table: pd.DataFrame, title: str, subtitle: str, x: str, y: str = "share of records") -> go.Figure:
    """Draw shares of kinds: the first column names them."""
    go = chart.objects("a figure")
    kinds = [chart.plain(kind) for kind in table.iloc[:, 0]]
    figure = chart.new(
        title,
        subtitle,
        alt=f"Bars: {title}. "
        + "; ".join(
            f"{kind}: {percent(share)}" for kind, share in zip(kinds, table["share"], strict=True) if share > 0
        ),
        x=x,
        y=y,
        height=_TALL,
    )
    figure.add_trace(
        go.Bar(
            x=kinds,
            y=table["share"].tolist(),
            marker_color=chart.MEASURED,
            hovertemplate="%{x}: %{y:.1%}<extra></extra>",
        )
    )
    figure.update_xaxes(type="category")
    figure.update_yaxes(tickformat=".0%", rangemode="tozero")
    return figure


def two_sides(table: pd.DataFrame, title: str, subtitle: str, x: str, y: str, *, form: str = ".0%") -> go.Figure:
    """Draw two bars for each kind: the first column names kinds, the others are the two sides."""
    go = chart.objects("a figure")
    kinds = [chart.plain(kind, 24) for kind in table.iloc[:, 0]]
    sides = list(table.columns[1:3])
    figure = chart.new(title, subtitle, alt=f"Bars in pairs, {' and '.join(sides)}: {title}.", x=x, y=y, height=_TALL)
    # By number, not by name: names that are shortened alike are still two.
    every = list(range(len(kinds)))
    for side, colour in zip(sides, (chart.BEFORE, chart.AFTER), strict=True):
        figure.add_trace(
            go.Bar(
                x=every,
                y=table[side].tolist(),
                name=side,
                marker_color=colour,
                customdata=kinds,
                hovertemplate="%{customdata}: %{y:" + form + "}<extra>" + side + "</extra>",
            )
        )
    figure.update_xaxes(tickvals=every, ticktext=kinds)
    figure.update_yaxes(tickformat=form, rangemode="tozero")
    figure.update_layout(barmode="group")
    return figure


def moved(share: float) -> str:
    """Write the share of a category that moved; the lowest and the highest are not told exactly."""
    if share <= 0.05:
        return "5\u00a0% or less"
    return "95\u00a0% or more" if share >= 0.95 else percent(share)
