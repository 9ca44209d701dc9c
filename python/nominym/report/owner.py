"""The owner's edition: the attacks, what this draw did to the data, and other choices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from nominym import distortion, risk
from nominym.control import Progress
from nominym.report import draw, guarantee, measured
from nominym.report.content import (
    Block,
    Cell,
    Grid,
    Page,
    Picture,
    Section,
    State,
    Terms,
    Tile,
    Verdict,
    cells,
    count,
    grid_of,
    share,
)
from nominym.report.guarantee import definitions, described, not_covered, sources, statement, subtitle
from nominym.report.subject import MaskedTable
from nominym.report.sweep import sweep
from nominym.report.words import interval, listed, number, one_in, percent
from nominym.table import Change, Comparison

# Rows of the table of categories, for each attribute.
_LONGEST = 200


def page(
    table: MaskedTable,
    title: str | None,
    k: int | None,
    values: Mapping[str, Iterable[float]] | None,
    progress: Progress,
) -> Page:
    """Run the attacks, measure what was lost, and put the page together."""
    comparison = table.comparison
    swept = None if values is None else sweep(table.subject, values, progress=progress)
    k = table.params.get("k") if k is None else k
    attacks = measured.attacks(comparison, k, progress)
    correlations = table.realised.get("correlations")
    if not isinstance(correlations, pd.DataFrame):
        correlations = measured.correlations(comparison, progress)
    sections = [
        _what_was_done(table, comparison),
        *guarantee.section(statement(table)),
        _risk(table, comparison, attacks, k),
        _utility(comparison, correlations, progress),
        _changed(comparison, k),
        *([] if swept is None else [other_choices(swept)]),
        not_covered(table, table.realised, number, _alone(table, comparison)),
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
        verdict=_verdict(table, attacks, k),
        tiles=_tiles(table, comparison, attacks, correlations),
        sections=sections,
        sources=sources(table.method, *more),
    )


def _verdict(table: MaskedTable, attacks: pd.DataFrame, k: int | None) -> Verdict:
    said, worst = statement(table), _worst(attacks)
    sampled = worst["attacked"] < worst["records"]
    who = f"{worst['attacked']:,} of the" if sampled else "all"
    around = f" (95 % interval {interval(worst['low'], worst['high'])})" if sampled else ""
    found = (
        f"The attacks run re-identified at most {percent(worst['share'])} of the records{around}: an adversary who "
        f"knows the true {worst['known']} of a person takes the row that fits best. {who.capitalize()} "
        f"{worst['records']:,} records were looked for. An attack that fails is no proof."
    )
    state, headline = _judged(table, attacks, None if k is None else 1 / k, said.state, said.headline)
    return Verdict(state, headline, [said.sentence, found])


def _worst(attacks: pd.DataFrame) -> pd.Series[Any]:
    return attacks.iloc[int(attacks["share"].argmax())]


def _judged(
    table: MaskedTable, attacks: pd.DataFrame, compared: float | None, state: State, headline: str
) -> tuple[State, str]:
    """Compare the attacks with the bound that is guaranteed, or with the one that was asked for."""
    if compared is None:
        return state, f"{headline}; the attacks re-identified {percent(attacks['share'].max())}"
    exceeded = not attacks["holds"].all()
    guaranteed = table.method is not None and table.method.bound == compared and not table.seeded
    if exceeded:
        what = "guarantee" if guaranteed else "bound"
        return "broken", f"The {what} of {one_in(compared)} does not hold"
    if guaranteed:
        return "holds", f"The attacks stayed within the guarantee of {one_in(compared)}"
    short = "Made with a seed" if table.seeded else "No guarantee of this bound"
    return "open", f"{short}; the attacks stayed within {one_in(compared)}"


def _tiles(
    table: MaskedTable, comparison: Comparison, attacks: pd.DataFrame, correlations: pd.DataFrame | None
) -> list[Tile]:
    worst = _worst(attacks)
    sampled = worst["attacked"] < worst["records"]
    note = interval(worst["low"], worst["high"]) if sampled else f"of all {worst['records']:,}"
    made = [Tile(percent(worst["share"]), "Records re-identified", f"{note}, by the attacks run")]
    if not math.isnan(worst["bound"]):
        exceeded = "not exceeded" if attacks["holds"].all() else "exceeded"
        made.append(Tile(percent(worst["bound"]), "Bound to compare with", exceeded))
    swaps = measured.candidates(table.realised)
    if "groups" in table.realised:
        groups = table.realised["groups"]
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
    rows = [
        cells(
            [
                str(name),
                "masked",
                count(change.before.size),
                count(len(change.after.column.occurring().categories)),
                count(change.before.column.missing),
                _distances(table, change),
            ]
        )
        for name, change in comparison.changes.items()
    ]
    none = ("–", math.nan)
    rows += [cells([str(name), "kept", none, none, none, "–"]) for name in comparison.kept]
    header = ["attribute", "masked or kept", "categories before", "categories after", "missing", "distances"]
    blocks: list[Block] = [Terms(table.options)] if table.options else []
    return Section("What was done", described(table.method).done,
                   [*blocks, Grid("Attributes of the release", header, rows)])  # fmt: skip


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
    rows = [
        [
            *cells(
                [
                    row.known,
                    share(row.share),
                    interval(row.low, row.high) if row.attacked < row.records else "all attacked",
                    share(row.bound),
                    count(row.attacked),
                ]
            ),
            verdicts.get(row.holds, Cell("–")),
        ]
        for row in measured.rows_of(attacks)
    ]
    header = ["the adversary knows", "re-identified", "95 % interval", "bound", "attacked", "verdict"]
    grid = Grid("Attacks that were run", header, rows)
    blocks: list[Block] = [Picture(draw.attacks(attacks), grid)]
    swaps = measured.candidates(table.realised)
    if "groups" in table.realised:
        sizes = measured.group_sizes(table.realised, table.params["k"])
        blocks.append(Picture(draw.group_sizes(sizes), grid_of("Records by size of their group", sizes)))
    elif swaps is not None:
        blocks.append(Picture(draw.candidates(swaps, k), grid_of("Effective k", swaps)))
    lead = (
        "An adversary who knows true values of a person looks for the row that fits best; among rows that fit equally "
        "well one is guessed. Re-identified means: the guess is right. Kept columns were not used."
    )
    return Section("Risk", lead, [*blocks, grid, _uniqueness(table, comparison)])


def _uniqueness(table: MaskedTable, comparison: Comparison) -> Grid:
    masked, kept = list(comparison.changes), comparison.kept
    sets = {"masked": masked}
    if kept:
        sets |= {"kept": kept, "all": [*masked, *kept]}
    rows = []
    for name, columns in sets.items():
        was, now = (risk.classes(side, columns) for side in (comparison.before, comparison.after))
        figures = [count(was.classes), share(was.share_unique), count(now.classes), share(now.share_unique)]
        rows.append(cells([f"{name}: {listed(columns)}", *figures]))
    header = ["attributes", "combinations before", "unique before", "combinations after", "unique after"]
    return Grid("Records that share all values with no other", header, rows)


def _alone(table: MaskedTable, comparison: Comparison) -> str:
    if not comparison.kept:
        return ""
    unique = risk.classes(comparison.after, comparison.kept).share_unique
    return f" {percent(unique)} of the records are the only ones with their combination of these."


def _utility(comparison: Comparison, correlations: pd.DataFrame | None, progress: Progress) -> Section:
    rows = [
        cells(
            [
                str(row["attribute"]),
                share(row["unchanged"]),
                count(row["rmse"]),
                count(row["total_variation"]),
                count(row.get("variance_before", math.nan)),
                count(row.get("variance_after", math.nan)),
                _means(row.get("mean_before"), row.get("mean_after")),
            ]
        )
        for row in measured.utility(comparison).to_dict("records")
    ]
    header = ["attribute", "unchanged", "distance moved (RMSE)", "total variation", "variance before", "variance after",
              "mean"]  # fmt: skip
    blocks: list[Block] = [Grid("What masking did to each attribute", header, rows)]
    for name, change in comparison.changes.items():
        if change.space.measured:
            shares = measured.histogram(change)
            grid = grid_of(f"{name}: records by distance", shares[["distance", "share"]])
            blocks.append(Picture(draw.histogram(shares, name, change.rmse), grid))
    if correlations is not None:
        grid = grid_of("Distance correlations", correlations)
        blocks.append(Picture(draw.correlations(correlations), grid, wide=True))
    together = measured.associations(comparison, progress)
    if together is not None:
        pairs = together[together["x"].notna()]
        grid = grid_of("Distortion of joint distributions", pairs[["x", "y", *distortion.MEASURES]])
        wide = len({*pairs["x"], *pairs["y"]}) > 4
        blocks += [
            Picture(distortion.heat_map(together, measure), grid, wide=wide)
            for measure in ("total_variation", "cramers_v_change")
        ]
    lead = "What is lost: how far values moved in meaning, and what became of distributions and correlations."
    return Section("Utility", lead, blocks)


def _means(before: Any, after: Any) -> str:
    if not isinstance(before, str):
        return "–"
    return f"{before}, as before" if before == after else f"{before}, now {after}"


_CATEGORY = ["category", "attribute", "records before", "records after", "moved", "mean distance"]


def _changed(comparison: Comparison, k: int | None) -> Section:
    least = measured.least_records(k)
    rows: list[list[Cell]] = []
    blocks: list[Block] = []
    hidden = []
    for name, change in comparison.changes.items():
        found, few = measured.changed_categories(change, least)
        if few["categories"]:
            hidden.append(f"{name} {few['categories']:,} ({percent(few['share'])} of the records)")
        if len(found):
            listing = [
                cells([row.category, row.attribute, count(row.before), count(row.after),
                       (draw.moved(row.moved), row.moved), (f"{row.distance:.2f}", row.distance)])
                for row in measured.rows_of(found.head(_LONGEST))
            ]  # fmt: skip
            rows += listing
            top = Grid(f"{name}: the {min(len(found), draw.MOST)} most changed", _CATEGORY, listing[: draw.MOST])
            blocks.append(Picture(draw.changed(found, name), top))
    lead = (
        f"Categories with at least {least:,} records, those first whose records moved farthest in all. Shares and "
        "distances are rounded to 5 %: exact figures of few records would tell who they are."
    )
    if hidden:
        lead += f" Not named, because they have fewer records: {'; '.join(hidden)}."
    if rows:
        blocks.append(Grid("All of them", _CATEGORY, rows, searched=True))
    return Section("Most changed categories", lead, blocks)


def other_choices(swept: pd.DataFrame) -> Section:
    """Show what other values of an option would have given."""
    name = str(swept.columns[0])
    rates = ("loss",) if "query_error" in swept else ()
    grid = grid_of(f"Other values of {name}", swept.drop(columns="current"),
                   ("risk", "low", "high", "bound", "query_error", *rates))  # fmt: skip
    lead = (
        f"The data were masked again with other values of {name}, all else alike. Further down is safer, further left "
        "is more useful."
    )
    return Section("Other choices", lead, [Picture(draw.risk_utility(swept), grid, wide=True)])
