"""The edition for publication: only functions of the groups and of the values, never of the draw, rounded."""

from __future__ import annotations

import math
from typing import Any

from nominym.aggregate import Microaggregate
from nominym.report import draw, guarantee, measured
from nominym.report.content import Cell, Grid, Page, Picture, Section, Tile, share
from nominym.report.guarantee import (
    definitions,
    described,
    not_covered,
    notes_of,
    one_value,
    other_tools,
    sources,
    statement,
    subtitle,
)
from nominym.report.subject import MaskedTable, options
from nominym.report.words import about, listed, number, percent

_COUNTS = ("categories", "missing")
_MEASURED = "The measured risk is in the owner's edition of this report."


def page(table: MaskedTable, title: str | None) -> Page:
    """Compose the page."""
    stated = table.guarantee
    said = statement(stated, *table.first)
    records = table.summary.get("records")
    sections = [_what_was_done(table), *guarantee.section(said, *_group_sizes(table))]
    terms = ["Re-identification probability", "Semantic distance"]
    if isinstance(table.method, Microaggregate):
        sections.append(_lost(table))
        terms += ["Group of equals", "Information loss", "Distance moved (RMSE)"]
    elif "groups" in table.summary:
        sections.append(_expected_change(table))
        terms += ["Group", "Expected", "Distance moved (RMSE)"]
    missed = not_covered(stated, notes_of(table, table.summary), *one_value(table.summary, about))
    return Page(
        edition="publication",
        seeded=table.seeded,
        title=title or (f"Release of {records:,} records" if records else "Release of a table"),
        subtitle=subtitle(table),
        verdict=said if stated else said._replace(paragraphs=[*said.paragraphs, _MEASURED]),
        tiles=_tiles(table),
        remark=other_tools(table),
        sections=[*sections, missed, definitions(*terms)],
        sources=sources(table.method, "wu-palmer"),
    )


def _tiles(table: MaskedTable) -> list[Tile]:
    summary = table.summary
    made = [Tile(number(summary["records"]), "Records")] if "records" in summary else []
    if "groups" not in summary:
        made += [Tile(number(len(table.masked)), "Masked attributes"), Tile(number(len(table.kept)), "Kept attributes")]
    bound = table.guarantee.bound
    if bound is not None:
        made.append(Tile(percent(bound), "Bound on re-identification", f"1 in {round(1 / bound):,}"))
    if "groups" in summary:
        groups = summary["groups"]
        made.append(Tile(about(groups["smallest"], 0), "Smallest group", f"of {about(groups['count'])} groups"))
        figures = summary["attributes"].values()
        exact = isinstance(table.method, Microaggregate)
        names = ("unchanged", "rmse") if exact else ("expected_unchanged", "expected_rmse")
        unchanged, moved = (math.fsum(each[name] for each in figures) / len(figures) for name in names)
        mean_of = "of one masked attribute" if len(figures) == 1 else f"mean of {len(figures)} masked attributes"
        changed, far = ("Values changed", "Distance moved") if exact else (
            "Values expected to change", "Expected distance moved")  # fmt: skip
        made.append(Tile(percent(1 - unchanged, 2), changed, mean_of))
        made.append(Tile(number(moved, 2), far, "root mean square; 0 unchanged, 1 unrelated"))
        if exact:
            made.append(Tile(percent(summary["loss"], 2), "Information loss", "of the variance; 0 nothing, 1 all"))
    return made


def _what_was_done(table: MaskedTable) -> Section:
    rows: list[list[Any]] = []
    for name in table.masked:
        told = table.summary.get("attributes", {}).get(name, {})
        counts = [Cell(about(told[each], 0), told[each]) if each in told else math.nan for each in _COUNTS]
        root = told.get("root")
        rows.append([str(name), "masked", *counts, "–" if root is None else str(root)])
    rows += [[str(name), "kept", math.nan, math.nan, "–"] for name in table.kept]
    grid = Grid.of("Attributes of the release", ["attribute", "masked or kept", *_COUNTS, "root"], rows)
    return Section("What was done", described(table.method).done, [grid], options(table))


def _group_sizes(table: MaskedTable) -> list[Picture]:
    if "groups" not in table.summary:
        return []
    sizes = measured.group_sizes(table.summary, table.params["k"])
    sizes["share"] = [float(f"{each:.2g}") for each in sizes["share"]]
    figure = draw.group_sizes(sizes, alike=isinstance(table.method, Microaggregate))
    return [Picture(figure, Grid.of_frame("Records by size of their group", sizes), wide=True)]


def _lost(table: MaskedTable) -> Section:
    rows = []
    for name, figures in table.summary["attributes"].items():
        counts = [about(figures[each]) if figures[each] else "none" for each in ("missing_made", "missing_filled")]
        shares = [share(figures[each], 2) for each in ("unchanged", "loss")]
        rmse = figures["rmse"]
        values = Cell(about(figures["values"]), figures["values"])
        rows.append([str(name), values, shares[0], Cell(number(rmse, 2), rmse), shares[1], *counts])
    header = ["attribute", "values left", "unchanged", "distance moved (RMSE)", "information loss",
              "values that become missing", "missing values that get one"]  # fmt: skip
    lead = (
        f"The loss of {listed(list(table.summary['attributes']))} from one value for all records of a group, to two "
        f"digits. The figures follow from the records; they do not depend on what was drawn."
    )
    return Section("Information loss", lead, [Grid.of("Loss of each masked attribute", header, rows)])


def _expected_change(table: MaskedTable) -> Section:
    rows = []
    for name, figures in table.summary["attributes"].items():
        rmse, lost = figures["expected_rmse"], figures["expected_missing_moved"]
        unchanged = share(figures["expected_unchanged"], 2)
        rows.append([str(name), unchanged, Cell(number(rmse, 2), rmse), about(lost) if lost else "none"])
    header = ["attribute", "unchanged", "distance moved (RMSE)", "values that become missing"]
    lead = (
        f"The expected effect of swapping on {listed(list(table.summary['attributes']))}, over all possible draws, "
        f"to two digits. What this draw did is not published: exact figures of it would help to undo it. The count "
        f"of every category is exactly unchanged."
    )
    return Section("Expected change", lead, [Grid.of("Expected change of each masked attribute", header, rows)])
