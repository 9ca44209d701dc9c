"""The figures of the owner's report, one by one, for notebooks: each function returns a plotly figure.

>>> import nominym as nym
>>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
>>> res = nym.rank_swap(frame, taxonomies, k=5)
>>> figure = nym.report.figures.distance_histogram(res, "diagnosis")
>>> figure.layout.title.text
'diagnosis: how far values moved'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from nominym import risk
from nominym.aggregate import Microaggregate
from nominym.error import DataError, no_column
from nominym.report import draw, measured
from nominym.report.subject import ItemsetRelease, MaskedTable
from nominym.table import Change, Comparison

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from nominym.control import Progress
    from nominym.itemsets import Itemsets, Release
    from nominym.meaning import Meaning
    from nominym.method import Result
    from nominym.release import FilePair


def distance_histogram(
    result: Any, column: Any, meaning: Meaning | None = None, *, name: str | None = None
) -> go.Figure:
    """Draw how far the values of a column moved: the share of records by semantic distance, 0 for unchanged.

    Takes a result and the name of a column; or the column before, the column after, and its meaning. Records with a
    missing value before or after are left out.
    """
    if meaning is None:
        change = _change(result, column)
    else:
        name = str(getattr(result, "name", None) or "values") if name is None else name
        change = Comparison.of({name: result}, {name: column}, {name: meaning}).changes[name]
    return draw.histogram(measured.histogram(change), change.name, change.rmse)


def correlations(result: Result | FilePair, *, progress: Progress = None) -> go.Figure:
    """Draw the distance correlations of all pairs of masked columns as two heat maps, before and after."""
    found = measured.correlations(MaskedTable.of(result).comparison, progress)
    if found is None:
        raise DataError("correlations need pairs: mask at least two columns")
    return draw.correlations(found)


def changed_categories(result: Result | FilePair, column: Any) -> go.Figure:
    """Draw the twenty categories of a column whose records moved farthest in total.

    Categories with fewer than 30 records, or 3k, are left out, and figures are rounded to 5 %: exact figures of few
    records would reveal who they are.
    """
    found, _ = measured.changed_categories(_change(result, column), measured.least_records(result.params.get("k")))
    return draw.changed(found, column)


def effective_k(result: Result | FilePair) -> go.Figure:
    """Draw the effective k: sizes of groups (strict), or candidates that swaps had (as published)."""
    table = MaskedTable.of(result)
    if "groups" in table.summary:
        sizes = measured.group_sizes(table.summary, table.params["k"])
        return draw.group_sizes(sizes, alike=isinstance(table.method, Microaggregate))
    found = measured.candidates(table.realised)
    if found is None:
        raise DataError("effective k: rank swapping counts candidates; other methods have none")
    return draw.candidates(found, table.params.get("k"))


def linkage(result: Result | FilePair, *, k: int | None = None, progress: Progress = None) -> go.Figure:
    """Draw the share re-identified by the best attack, with masked columns known and with kept ones known as well."""
    table = MaskedTable.of(result)
    found = measured.attacks(table, table.params.get("k") if k is None else k, progress)
    return draw.attacks(measured.best_attacks(found), measured.unit(found))


def risk_utility(sweep_table: pd.DataFrame) -> go.Figure:
    """Draw risk against loss for each value of an option: the table of ``report.sweep``."""
    if not isinstance(sweep_table, pd.DataFrame) or not {"risk", "loss", "bound", "current"} <= set(sweep_table):
        raise DataError("a risk–utility map is drawn from the result of report.sweep")
    return draw.risk_utility(sweep_table)


def worlds(rel: Release, sets: Itemsets, *, progress: Progress = None) -> go.Figure:
    """Draw the number of published rows that each record could be."""
    least = ItemsetRelease(rel, sets).least
    return draw.worlds(measured.doubling(risk.worlds(rel, sets, progress=progress).counts, least), least)


def _change(result: Result | FilePair, column: Any) -> Change:
    changes: dict[Any, Change] = MaskedTable.of(result).comparison.changes
    if column not in changes:
        raise no_column(column, changes)
    return changes[column]
