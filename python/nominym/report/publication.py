"""The edition for publication: only what is a function of the groups and of the values, never of the draw, rounded."""

from __future__ import annotations

import math

from nominym.report import draw, guarantee, measured
from nominym.report.content import Block, Grid, Page, Picture, Section, Terms, Tile, Verdict, cells, grid_of, share
from nominym.report.guarantee import definitions, described, not_covered, sources, statement, subtitle
from nominym.report.subject import MaskedTable
from nominym.report.words import about, listed, number, percent

_MEASURED = "The measured risk is in the owner's edition of this report."


def page(table: MaskedTable, title: str | None) -> Page:
    """Put the page together."""
    said = statement(table)
    records = table.summary.get("records")
    grouped = "groups" in table.summary
    sections = [_what_was_done(table), *guarantee.section(said, *_group_sizes(table))]
    if grouped:
        sections += [_expected_change(table), _other_tools(table)]
    terms = ["Re-identification probability", "Semantic distance"]
    if grouped:
        terms += ["Group", "Expected", "Distance moved (RMSE)"]
    return Page(
        edition="publication",
        seeded=table.seeded,
        title=title or (f"Release of {records:,} records" if records else "Release of a table"),
        subtitle=subtitle(table),
        verdict=Verdict(said.state, said.headline, [said.sentence, *([] if said.terms else [_MEASURED])]),
        tiles=_tiles(table),
        sections=[*sections, not_covered(table, table.summary, about), definitions(*terms)],
        sources=sources(table.method, "wu-palmer"),
    )


def _tiles(table: MaskedTable) -> list[Tile]:
    summary, method = table.summary, table.method
    made = [Tile(number(summary["records"]), "Records")] if "records" in summary else []
    if "groups" not in summary:
        made += [Tile(number(len(table.masked)), "Masked attributes"), Tile(number(len(table.kept)), "Kept attributes")]
    if method is not None and method.bound is not None and not table.seeded:
        made.append(Tile(percent(method.bound), "Bound on re-identification", f"1 in {round(1 / method.bound):,}"))
    if "groups" in summary:
        groups = summary["groups"]
        made.append(Tile(_whole(groups["smallest"]), "Smallest group", f"of {about(groups['count'])} groups"))
        figures = summary["attributes"].values()
        unchanged, moved = (
            math.fsum(each[name] for each in figures) / len(figures) for name in ("expected_unchanged", "expected_rmse")
        )
        made.append(Tile(percent(1 - unchanged, 2), "Values expected to change", _mean_of(len(figures))))
        made.append(Tile(number(moved, 2), "Expected distance moved", "root mean square; 0 unchanged, 1 unrelated"))
    return made


def _mean_of(attributes: int) -> str:
    return "of one masked attribute" if attributes == 1 else f"mean of {attributes} masked attributes"


def _what_was_done(table: MaskedTable) -> Section:
    figures = table.summary.get("attributes", {})
    rows = []
    for name in table.masked:
        told = figures.get(name, {})
        root = told.get("root")
        rows.append(
            cells(
                [
                    str(name),
                    "masked",
                    (_whole(told.get("categories")), told.get("categories", math.nan)),
                    (_whole(told.get("missing")), told.get("missing", math.nan)),
                    "–" if root is None else str(root),
                ]
            )
        )
    rows += [cells([str(name), "kept", ("–", math.nan), ("–", math.nan), "–"]) for name in table.kept]
    grid = Grid("Attributes of the release", ["attribute", "masked or kept", "categories", "missing", "root"], rows)
    blocks: list[Block] = [Terms(table.options)] if table.options else []
    return Section("What was done", described(table.method).done, [*blocks, grid])


def _group_sizes(table: MaskedTable) -> list[Block]:
    if "groups" not in table.summary:
        return []
    sizes = measured.group_sizes(table.summary, table.params["k"])
    sizes["share"] = [float(f"{each:.2g}") for each in sizes["share"]]
    return [Picture(draw.group_sizes(sizes), grid_of("Records by size of their group", sizes), wide=True)]


def _expected_change(table: MaskedTable) -> Section:
    rows = []
    for name, figures in table.summary["attributes"].items():
        lost = figures["expected_missing_moved"]
        rows.append(
            cells(
                [
                    str(name),
                    share(figures["expected_unchanged"], 2),
                    (number(figures["expected_rmse"], 2), figures["expected_rmse"]),
                    "none" if not lost else about(lost),
                ]
            )
        )
    header = ["attribute", "unchanged", "distance moved (RMSE)", "values that become missing"]
    lead = (
        f"What swapping is expected to do to {listed(list(table.summary['attributes']))}, over all draws that could "
        "have been made, to two digits. What this draw did is not published: exact figures of it would help to undo "
        "it. The counts of every category are exactly as they were."
    )
    return Section("Expected change", lead, [Grid("Expected change of each masked attribute", header, rows)])


def _other_tools(table: MaskedTable) -> Section:
    names = listed(table.masked)
    lead = (
        "A tool that counts equal rows, such as pycanon, may read “k = 1” from this release: a combination of "
        f"{names} may occur only once. That is no contradiction. Such tools measure k-anonymity, where the masked "
        "values of a row are those of its owner, made so coarse that k rows look alike. Here values stay as fine as "
        "they were and change places: the values of a row come from several records of its group, so a row that is the "
        "only one of its kind does not show whose it is. Each row of the group is equally likely to be the one of a "
        "given person."
    )
    return Section("Checks with other tools", lead)


def _whole(count: int | None) -> str:
    return "–" if count is None else about(count, 0)
