"""The owner's edition: the attacks, what this draw did to the data, and other choices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from nominym import distortion, risk
from nominym.control import Progress
from nominym.report import draw, guarantee, measured
from nominym.report.content import Cell, Grid, Page, Picture, Section, Tile, Verdict, share
from nominym.report.guarantee import definitions, described, not_covered, sources, statement, subtitle
from nominym.report.subject import MaskedTable, options
from nominym.report.words import interval, listed, number, one_in, percent
from nominym.table import Change, Comparison

# Rows of the table of categories, for each attribute.
_LONGEST = 200


def page(table: MaskedTable, title: str | None, k: int | None, swept: pd.DataFrame | None, progress: Progress) -> Page:
    """Run the attacks, measure what was lost, and put the page together."""
    comparison, realised = table.comparison, table.realised
    k = table.params.get("k") if k is None else k
    attacks = measured.attacks(comparison, k, progress)
    correlations = realised.get("correlations")
    if not isinstance(correlations, pd.DataFrame):
        correlations = measured.correlations(comparison, progress)
    said = statement(table)
    sections = [
        _what_was_done(table, comparison),
        *guarantee.section(said),
        _risk(table, comparison, attacks, k),
        _utility(comparison, correlations, progress),
        _changed(comparison, k),
        *other_choices(swept),
        not_covered(table, realised, number, _alone(comparison)),
        definitions(
            "Records re-identified", "Effective k", "Semantic distance", "Distance moved (RMSE)",
            "Distance correlation", "Total variation", "Mean and variance", "Cramér's V",
        ),
    ]  # fmt: skip
    more = ("wu-palmer", "correlation", "distortion", "linkage", *(() if swept is None else ("map",)))
    return Page(
        edition="owner",
        seeded=table.seeded,
        title=title or f"Release of {len(comparison):,} records",
        subtitle=subtitle(table),
        verdict=_verdict(table, said, attacks, k),
        tiles=_tiles(realised, comparison, attacks, correlations),
        sections=sections,
        sources=sources(table.method, *more),
    )


def _verdict(table: MaskedTable, said: Verdict, attacks: pd.DataFrame, k: int | None) -> Verdict:
    """Compare the attacks with the bound that is guaranteed, or with the one that was asked for."""
    worst = attacks.iloc[int(attacks["share"].argmax())]
    sampled = worst["attacked"] < worst["records"]
    who = f"{worst['attacked']:,} of the" if sampled else "All"
    around = f" (95 % interval {interval(worst['low'], worst['high'])})" if sampled else ""
    found = (
        f"The attacks run re-identified at most {percent(worst['share'])} of the records{around}: an adversary who "
        f"knows the true {worst['known']} of a person takes the row that fits best. {who} {worst['records']:,} records "
        "were looked for. An attack that fails is no proof."
    )
    state, headline = said.state, f"{said.headline}; the attacks re-identified {percent(worst['share'])}"
    if k is not None:
        guaranteed = table.bound == 1 / k and not table.seeded
        if not attacks["holds"].all():
            state, headline = "broken", f"The {'guarantee' if guaranteed else 'bound'} of {one_in(1 / k)} does not hold"
        elif guaranteed:
            state, headline = "holds", f"The attacks stayed within the guarantee of {one_in(1 / k)}"
        else:
            short = "Made with a seed" if table.seeded else "No guarantee of this bound"
            state, headline = "open", f"{short}; the attacks stayed within {one_in(1 / k)}"
    return Verdict(state, headline, [*said.paragraphs, found])


def _tiles(
    realised: Mapping[str, Any], comparison: Comparison, attacks: pd.DataFrame, correlations: pd.DataFrame | None
) -> list[Tile]:
    worst = attacks.iloc[int(attacks["share"].argmax())]
    sampled = worst["attacked"] < worst["records"]
    note = interval(worst["low"], worst["high"]) if sampled else f"of all {worst['records']:,}"
    made = [Tile(percent(worst["share"]), "Records re-identified", f"{note}, by the attacks run")]
    if not math.isnan(worst["bound"]):
        exceeded = "not exceeded" if attacks["holds"].all() else "exceeded"
        made.append(Tile(percent(worst["bound"]), "Bound to compare with", exceeded))
    swaps = measured.candidates(realised)
    if "groups" in realised:
        groups = realised["groups"]
        made.append(Tile(number(groups["smallest"]), "Effective k", f"smallest of {groups['count']:,} groups"))
    elif swaps is not None:
        median = int(swaps["median"].min())
        made.append(Tile(number(median), "Effective k", "median candidates of a swap, lowest attribute"))
    changes = list(comparison.changes.values())
    changed = math.fsum(1 - change.unchanged for change in changes) / len(changes)
    mean_of = "one masked attribute" if len(changes) == 1 else f"mean of {len(changes)} masked attributes"
    made.append(Tile(percent(changed), "Values changed", mean_of))
    moved = [change.rmse for change in changes if change.space.measured]
    if moved:
        mean = math.fsum(moved) / len(moved)
        made.append(Tile(number(mean), "Distance moved", "root mean square; 0 unchanged, 1 unrelated"))
    largest = math.nan if correlations is None else float(correlations["difference"].abs().max())
    if not math.isnan(largest):
        made.append(Tile(number(largest, 2), "Change of correlations", "largest, of distance correlations"))
    return made


def _what_was_done(table: MaskedTable, comparison: Comparison) -> Section:
    rows: list[list[Any]] = []
    for name, change in comparison.changes.items():
        left = len(change.after.column.occurring().categories)
        counts = [change.before.size, left, change.before.column.missing]
        rows.append([str(name), "masked", *counts, _distances(table, change)])
    rows += [[str(name), "kept", *[math.nan] * 3, "–"] for name in comparison.kept]
    header = ["attribute", "masked or kept", "categories before", "categories after", "missing", "distances"]
    grid = Grid.of("Attributes of the release", header, rows)
    return Section("What was done", described(table.method).done, [grid], options(table))


def _distances(table: MaskedTable, change: Change) -> str:
    if change.space.root is not None:
        return f"{table.params.get('measure', 'wu-palmer')}, below {change.space.root}"
    if not change.space.measured:
        return "equal or not"
    if change.space.unit is not None and change.before.column.kind in ("whole", "number"):
        return f"difference, 1 stands for {change.space.unit:g}"
    return f"by {change.before.meaning.noun}"


def _risk(table: MaskedTable, comparison: Comparison, attacks: pd.DataFrame, k: int | None) -> Section:
    verdicts = {True: Cell("not exceeded", state="holds"), False: Cell("exceeded", state="broken")}
    rows = []
    for row in measured.rows_of(attacks):
        around = interval(row.low, row.high) if row.attacked < row.records else "all attacked"
        verdict = verdicts.get(row.holds, "–")
        rows.append([row.known, share(row.share), around, share(row.bound), row.attacked, verdict])
    header = ["the adversary knows", "re-identified", "95 % interval", "bound", "attacked", "verdict"]
    grid = Grid.of("Attacks that were run", header, rows)
    blocks: list[Grid | Picture] = [Picture(draw.attacks(attacks), grid)]
    swaps = measured.candidates(table.realised)
    if "groups" in table.realised:
        sizes = measured.group_sizes(table.realised, table.params["k"])
        blocks.append(Picture(draw.group_sizes(sizes), Grid.of_frame("Records by size of their group", sizes)))
    elif swaps is not None:
        blocks.append(Picture(draw.candidates(swaps, k), Grid.of_frame("Effective k", swaps)))
    lead = (
        "An adversary who knows true values of a person looks for the row that fits best; among rows that fit equally "
        "well one is guessed. Re-identified means: the guess is right. Kept columns were not used."
    )
    return Section("Risk", lead, [*blocks, grid, _uniqueness(comparison)])


def _uniqueness(comparison: Comparison) -> Grid:
    masked, kept = list(comparison.changes), comparison.kept
    sets = {"masked": masked}
    if kept:
        sets |= {"kept": kept, "all": [*masked, *kept]}
    rows = []
    for name, columns in sets.items():
        was, now = (risk.classes(side, columns) for side in (comparison.before, comparison.after))
        figures = [was.classes, share(was.share_unique), now.classes, share(now.share_unique)]
        rows.append([f"{name}: {listed(columns)}", *figures])
    header = ["attributes", "combinations before", "unique before", "combinations after", "unique after"]
    return Grid.of("Records that share all values with no other", header, rows)


def _alone(comparison: Comparison) -> str:
    if not comparison.kept:
        return ""
    unique = risk.classes(comparison.after, comparison.kept).share_unique
    return f" {percent(unique)} of the records are the only ones with their combination of these."


def _utility(comparison: Comparison, correlations: pd.DataFrame | None, progress: Progress) -> Section:
    figures = ("rmse", "total_variation", "variance_before", "variance_after")
    rows = [
        [str(row["attribute"]), share(row["unchanged"]), *(row.get(name, math.nan) for name in figures), _means(row)]
        for row in measured.utility(comparison).to_dict("records")
    ]
    header = ["attribute", "unchanged", "distance moved (RMSE)", "total variation", "variance before", "variance after",
              "mean"]  # fmt: skip
    blocks: list[Grid | Picture] = [Grid.of("What masking did to each attribute", header, rows)]
    for name, change in comparison.changes.items():
        if change.space.measured:
            shares = measured.histogram(change)
            grid = Grid.of_frame(f"{name}: records by distance", shares[["distance", "share"]])
            blocks.append(Picture(draw.histogram(shares, name, change.rmse), grid))
    if correlations is not None:
        grid = Grid.of_frame("Distance correlations", correlations)
        blocks.append(Picture(draw.correlations(correlations), grid, wide=True))
    together = measured.associations(comparison, progress)
    if together is not None:
        pairs = together[together["x"].notna()]
        grid = Grid.of_frame("Distortion of joint distributions", pairs[["x", "y", *distortion.MEASURES]])
        wide = len({*pairs["x"], *pairs["y"]}) > 4
        blocks += [
            Picture(distortion.heat_map(together, measure), grid, wide=wide)
            for measure in ("total_variation", "cramers_v_change")
        ]
    lead = "What is lost: how far values moved in meaning, and what became of distributions and correlations."
    return Section("Utility", lead, blocks)


def _means(row: Mapping[Any, Any]) -> str:
    before, after = row.get("mean_before"), row.get("mean_after")
    if not isinstance(before, str):
        return "–"
    return f"{before}, as before" if before == after else f"{before}, now {after}"


_CATEGORY = ["category", "attribute", "records before", "records after", "moved", "mean distance"]


def _changed(comparison: Comparison, k: int | None) -> Section:
    least = measured.least_records(k)
    rows: list[list[Any]] = []
    blocks: list[Grid | Picture] = []
    hidden = []
    for name, change in comparison.changes.items():
        found, few = measured.changed_categories(change, least)
        if few["categories"]:
            hidden.append(f"{name} {few['categories']:,} ({percent(few['share'])} of the records)")
        if len(found):
            listing = [
                [row.category, row.attribute, row.before, row.after, Cell(draw.moved(row.moved), row.moved),
                 Cell(f"{row.distance:.2f}", row.distance)]
                for row in measured.rows_of(found.head(_LONGEST))
            ]  # fmt: skip
            rows += listing
            top = Grid.of(f"{name}: the {min(len(found), draw.MOST)} most changed", _CATEGORY, listing[: draw.MOST])
            blocks.append(Picture(draw.changed(found, name), top))
    lead = (
        f"Categories with at least {least:,} records, those first whose records moved farthest in all. Shares and "
        "distances are rounded to 5 %: exact figures of few records would tell who they are."
    )
    if hidden:
        lead += f" Not named, because they have fewer records: {'; '.join(hidden)}."
    if rows:
        blocks.append(Grid.of("All of them", _CATEGORY, rows, searched=True))
    return Section("Most changed categories", lead, blocks)


def other_choices(swept: pd.DataFrame | None) -> list[Section]:
    """Show what other values of an option would have given, if they were tried."""
    if swept is None:
        return []
    name = str(swept.columns[0])
    shares = ["risk", "low", "high", "bound", *(("loss", "query_error") if "query_error" in swept else ())]
    grid = Grid.of_frame(f"Other values of {name}", swept.drop(columns="current"), shares)
    lead = (
        f"The data were masked again with other values of {name}, all else alike. Further down fewer records "
        "are re-identified, further left less is lost."
    )
    return [Section("Other choices", lead, [Picture(draw.risk_utility(swept), grid, wide=True)])]
