"""The page about methods that were compared, for the owner of the data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nominym.report import draw
from nominym.report.content import Cell, Grid, Page, Picture, Section, Tile, Verdict, share
from nominym.report.guarantee import definitions
from nominym.report.measured import rows_by_name
from nominym.report.suggestion import CRITERIA
from nominym.report.words import SOURCES, listed, number, one_in, percent

if TYPE_CHECKING:
    from nominym.report.choosing import Choice

_NOTICE = "For the owner, not for publication: figures that were measured on the original data."


def page(choice: Choice, title: str | None = None) -> Page:
    """Put the page together."""
    said = choice.suggestion
    reasons = list(said.reasons)
    if choice.refusal:
        reasons.append(f"As it stands, the method refuses the table: {choice.refusal}.")
    terms = ["Re-identification probability", "Re-identified", "Information loss", "Total variation",
             "Distance correlation", "Semantic distance"]  # fmt: skip
    return Page(
        edition="owner",
        seeded=False,
        title=title or f"Methods compared on {choice.records:,} records",
        subtitle=f"{listed(choice.masked)} masked; {listed(choice.kept)} kept",
        verdict=Verdict("holds" if said.guaranteed else "open", said.headline, reasons),
        tiles=_tiles(choice),
        remark=None,
        sections=[
            _map(choice),
            _all(choice),
            *_failed(choice),
            Section("What is not covered", notes=said.not_covered),
            definitions(*terms),
        ],
        sources=[SOURCES[name] for name in ("map", "linkage", "rank", "aggregation", "noise")],
        kind="Comparison of methods",
        notice=_NOTICE,
    )


def _tiles(choice: Choice) -> list[Tile]:
    of = "" if choice.records == choice.rows else f"drawn from {choice.rows:,}"
    made = [Tile(number(choice.records), "Records", of)]
    made.append(Tile(percent(choice.max_risk), "Largest accepted risk", "what the suggestion has to keep"))
    best = [row for row in rows_by_name(choice.table) if row["name"] == choice.suggestion.name]
    for row in best:
        bound = "none" if math.isnan(row["bound"]) else percent(row["bound"])
        made.append(Tile(bound, "Stated bound", "re-identification probability"))
        made.append(Tile(percent(row["risk"]), f"{choice.unit.capitalize()} found", "by attacks; no guarantee"))
        made.append(Tile(percent(row["loss"]), "Information loss", "relative to one mean for all records"))
        made.append(Tile(percent(row["counts"]), "Change of counts", "total variation, mean of columns"))
    return made


_HEADER = ["method", "stated bound", "found by attacks", "largest of draws", "found with kept columns known",
           "information loss", "change of counts", "change of correlations", "distance moved (RMSE)",
           "smallest class", "seconds"]  # fmt: skip


def _grid(choice: Choice) -> Grid:
    rows: list[list[Any]] = []
    for row in rows_by_name(choice.table[choice.table["risk"].notna()]):
        stated = Cell("none" if math.isnan(row["bound"]) else one_in(row["bound"]), row["bound"])
        found = Cell(percent(row["largest"]), row["largest"], "broken" if row["holds"] is False else "")
        shares = [share(row["kept"]), share(row["loss"]), share(row["counts"])]
        figures = [row["correlations"], row["rmse"], int(row["class"]), row["seconds"]]
        rows.append([row["name"].replace(" = ", "\u00a0=\u00a0"), stated, share(row["risk"]), found, *shares, *figures])
    return Grid.of("Methods side by side", _HEADER, rows)


def _map(choice: Choice) -> Section:
    several = f"the mean of {choice.draws} draws (bars go from the smallest to the largest)"
    draws = "one draw" if choice.draws == 1 else several
    lead = (
        f"Every method was run on the same {choice.records:,} records. What was found is {draws}: the share of "
        f"{choice.unit} re-identified by the best attack of an adversary who knows all masked values. It is a "
        "measurement, and a stronger attack may find more. A stated bound holds whatever is drawn, under its premise."
    )
    figure = draw.compared(choice.table, choice.by, choice.max_risk, choice.suggestion.name, choice.unit)
    return Section("Risk and loss", lead, [Picture(figure, _grid(choice), wide=True)])


def _all(choice: Choice) -> Section:
    lead = (
        f"The suggestion is decided by the {CRITERIA[choice.by]}, among methods whose stated bound is at most "
        f"{percent(choice.max_risk)}. Swapping keeps the counts of all values and moves them between rows; "
        "microaggregation and generalization move values less, and change their counts. With kept columns known, an "
        "adversary takes the nearest row among those with the same kept values."
    )
    return Section("All figures", lead, [_grid(choice)])


def _failed(choice: Choice) -> list[Section]:
    rows = [[row["name"], row["error"]] for row in rows_by_name(choice.table[choice.table["error"] != ""])]
    return [Section("Methods that failed", blocks=[Grid.of("Failed", ["method", "why"], rows)])] if rows else []
