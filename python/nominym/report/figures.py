"""The pictures of the report, one by one, for notebooks: each function gives a figure of plotly.

>>> import nominym as nym
>>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
>>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
>>> res = nym.rank_swap(frame, masked, k=5, guarantee="strict", seed=1)
>>> figure = nym.report.figures.distance_histogram(frame["diagnosis"], res.data["diagnosis"], masked["diagnosis"])
>>> figure.layout.title.text
'diagnosis: how far values moved'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from nominym.error import DataError
from nominym.report import draw, risks, tables
from nominym.result import Result

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from nominym.control import Progress
    from nominym.itemsets import Itemsets, Release
    from nominym.taxonomy.measure import Measure
    from nominym.taxonomy.space import Semantics


def distance_histogram(
    before: Any,
    after: Any,
    taxonomy: Semantics,
    *,
    name: str | None = None,
    measure: str | Measure = "wu-palmer",
    root: object = None,
    truth: Any = None,
    progress: Progress = None,
) -> go.Figure:
    """Draw how far the values of a column moved: the share of records by semantic distance, 0 for unchanged.

    ``truth[i]`` is the row of ``after`` that is record i, if they are in another order. Records with a gap before or
    after are left out.
    """
    column = _column(before, after, taxonomy, name, measure, root, truth, progress)
    return draw.histogram(column.histogram(), column.name, column.rmse)


def correlations(
    before: Any,
    after: Any,
    taxonomies: Mapping[Any, Semantics],
    *,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    progress: Progress = None,
) -> go.Figure:
    """Draw the distance correlations of all pairs of columns as two heat maps, before and after."""
    if isinstance(after, Result):
        after = after.data
    columns = tables.attributes(before, after, taxonomies, measure=measure, roots=roots, progress=progress)
    if len(columns) < 2:
        raise DataError("correlations are of pairs: give two columns at least")
    return draw.correlations(tables.correlations(columns, progress))


def changed_categories(
    before: Any,
    after: Any,
    taxonomy: Semantics,
    *,
    k: int | None = None,
    name: str | None = None,
    measure: str | Measure = "wu-palmer",
    root: object = None,
    truth: Any = None,
    progress: Progress = None,
) -> go.Figure:
    """Draw the twenty categories whose records moved farthest in all.

    Categories with fewer than 30 records, or 3k, are left out, and figures are rounded to 5 %: what happened to few
    records would tell who they are.
    """
    column = _column(before, after, taxonomy, name, measure, root, truth, progress)
    found, _ = column.changed(tables.threshold(k))
    return draw.changed(found, column.name)


def effective_k(result: Result) -> go.Figure:
    """Draw how many candidates there really were: sizes of groups (strict), or candidates of swaps (as published)."""
    return draw.effective_k(*tables.effective_k(result))


def linkage(
    before: Any,
    after: Any,
    taxonomies: Mapping[Any, Semantics],
    *,
    k: int | None = None,
    truth: Any = None,
    progress: Progress = None,
) -> go.Figure:
    """Draw the share of records that an intruder finds, who knows all attributes, or one of them."""
    data = after.data if isinstance(after, Result) else after
    return draw.risks(risks.attacks(before, data, taxonomies, k=k, truth=truth, progress=progress))


def risk_utility(sweep_table: pd.DataFrame) -> go.Figure:
    """Draw risk against loss for each value of a parameter: the table of ``report.sweep`` or ``sweep_itemsets``."""
    if not isinstance(sweep_table, pd.DataFrame) or not {"risk", "loss", "bound", "current"} <= set(sweep_table):
        raise DataError("a risk–utility map is drawn from what report.sweep or report.sweep_itemsets gives")
    return draw.risk_utility(sweep_table)


def worlds(rel: Release, sets: Itemsets, *, progress: Progress = None) -> go.Figure:
    """Draw how many published rows each record could be."""
    least = int(rel.params.get("k", rel.params.get("l", 1)))
    return draw_worlds(risks.worlds(rel, sets, k=least, progress=progress), least)


def draw_worlds(found: Any, least: int) -> go.Figure:
    """Draw what ``risk.worlds`` found."""
    return draw.shares(
        tables.doubling(found.counts, least),
        "Rows that a record could be",
        f"by what is published alone; promised: {least:,} at least",
        x="published rows that fit the record",
    )


def _column(
    before: Any,
    after: Any,
    taxonomy: Semantics,
    name: str | None,
    measure: str | Measure,
    root: object,
    truth: Any,
    progress: Progress,
) -> tables.Attribute:
    if truth is not None:
        truth = tables.check_truth(truth, len(before), len(after))
    called = getattr(before, "name", None) if name is None else name
    return tables.Attribute(called, before, after, taxonomy, measure=measure, root=root, truth=truth, progress=progress)
