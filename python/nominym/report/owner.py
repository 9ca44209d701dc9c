"""The owner's edition: the attacks, what this draw did to the data, and alternatives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from nominym import distortion, risk
from nominym.aggregate import Microaggregate
from nominym.control import Progress
from nominym.report import draw, guarantee, measured
from nominym.report.content import Cell, Grid, Page, Picture, Section, Tile, Verdict, share
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
    verified,
)
from nominym.report.subject import MaskedTable, options
from nominym.report.words import by_chance, interval, listed, number, one_in, percent
from nominym.table import Change, Comparison

# Rows of the table of categories, for each attribute.
_LONGEST = 200

# Number of attacks that exceed the bound and are described in words; the table has them all.
_REASONS = 3


def page(
    table: MaskedTable,
    title: str | None,
    k: int | None,
    swept: pd.DataFrame | None,
    others: pd.DataFrame | None,
    progress: Progress,
) -> Page:
    """Run the attacks, measure what was lost, and compose the page."""
    comparison, realised, stated = table.comparison, table.realised, table.guarantee
    k = table.params.get("k") if k is None else k
    found = measured.attacks(table, k, progress)
    correlations = realised.get("correlations")
    if not isinstance(correlations, pd.DataFrame):
        correlations = measured.correlations(comparison, progress)
    said = statement(stated, *table.first)
    sections = [
        _what_was_done(table, comparison),
        *guarantee.section(said),
        _risk(table, comparison, found, k, progress),
        _utility(comparison, correlations, progress),
        _changed(comparison, k),
        *other_choices(swept),
        *_other_methods(others),
        not_covered(stated, notes_of(table, realised), *one_value(table.summary, number)),
        definitions(
            "Re-identified", "Worst-off", "Effective k", "Semantic distance", "Distance moved (RMSE)",
            "Distance correlation", "Total variation", "Mean and variance", "Cramér's V", "k-marginal score",
            "pMSE and S_pMSE", "Unique exact matches", "Disclosure",
        ),
    ]  # fmt: skip
    more = (
        "wu-palmer",
        "correlation",
        "distortion",
        "linkage",
        "marginals",
        "propensity",
        "disclosure",
        *(() if swept is None else ("map",)),
    )
    return Page(
        edition="owner",
        seeded=table.seeded,
        title=title or f"Release of {len(comparison):,} records",
        subtitle=subtitle(table),
        verdict=_verdict(verified(said, table.verify(progress)), found, comparison.kept),
        tiles=_tiles(table, comparison, found, correlations),
        remark=other_tools(table),
        sections=sections,
        sources=sources(table.method, *more),
    )


def _verdict(said: Verdict, found: risk.Linkage, kept: Sequence[Any]) -> Verdict:
    """Add what the attacks found to the guarantee; a failed attack proves nothing."""
    worst, unit = found.worst, measured.unit(found)
    around = f" (95 % interval {interval(worst['low'], worst['high'])})" if worst["high"] > worst["low"] else ""
    most = (
        f"The attacks that were run found at most {percent(worst['share'])} of the {unit}{around}: {worst['attack']}, "
        f"by {listed([*worst['known'], *worst['also_known']])}. A better attack may find more."
    )
    most = " ".join([most, *_above_by_chance(found)])
    if said.state == "broken":
        return said._replace(paragraphs=[*said.paragraphs, most])
    exceeding = [row for row in measured.rows_by_name(found.attacks) if row["holds"] is False]
    if found.bound is not None and found.holds_masked is False:
        headline = f"Broken: more than {one_in(found.bound)} by masked columns alone"
        reasons = [f"{str(row['attack']).capitalize()}: {row['why']}." for row in exceeding if not row["also_known"]]
        paragraphs = [*reasons[:_REASONS], most, *said.paragraphs]
        return said._replace(state="broken", headline=headline, paragraphs=paragraphs)
    if exceeding:
        # What is guaranteed says nothing about adversaries who know or predict kept columns.
        headline = _with_more(said.headline, f"with kept columns, attacks found {percent(worst['share'])}")
        known = list(dict.fromkeys(_also_known(row, kept) for row in exceeding))
        exceeded = (
            f"The bound is exceeded by adversaries who, besides the masked columns, know {listed(known, word='or')}."
        )
        return said._replace(state="open", headline=headline, paragraphs=[*said.paragraphs, exceeded, most])
    headline = _with_more(said.headline, f"attacks found at most {percent(worst['share'])}")
    return said._replace(headline=headline, paragraphs=[*said.paragraphs, most])


def _above_by_chance(found: risk.Linkage) -> list[str]:
    """Explain why a share above the bound may leave the bound unbroken, where there is one."""
    over = [row for row in measured.rows_by_name(found.attacks) if row["holds"] and row["share"] > (found.bound or 1)]
    if found.bound is None or not over:
        return []
    row = max(over, key=lambda row: float(row["share"]))
    also = f" ({row['attack']}, by {listed([*row['known'], *row['also_known']])}: {percent(row['share'])})"
    return [by_chance(row["share"], found.bound, row["attacked"]).replace(" was found", f" was found{also}", 1)]


def _with_more(headline: str, more: str) -> str:
    """Add to a headline, unless it already has two parts: what is left out is in a paragraph."""
    several = headline.startswith("Not verified: ") or ". " in headline
    return headline if several else f"{headline}; {more}"


def _also_known(row: Mapping[str, Any], kept: Sequence[Any]) -> str:
    # Somebody who only predicts kept columns knows how they go with masked ones.
    return measured.also_known(row["also_known"], kept) if row["also_known"] else "statistics of kept columns"


def _tiles(
    table: MaskedTable, comparison: Comparison, found: risk.Linkage, correlations: pd.DataFrame | None
) -> list[Tile]:
    unit, alone = measured.unit(found), found.share_masked
    by_masked = math.nan if alone is None else alone
    made = [Tile(percent(by_masked), f"{unit.capitalize()} re-identified", "at most, by masked columns")]
    if comparison.kept:
        made.append(Tile(percent(found.share), "With kept columns", f"of the {unit} re-identified, at most"))
    if found.bound is not None:
        exceeded = "exceeded" if found.holds_masked is False else "exceeded with kept columns"
        kept = "not exceeded by more than chance" if _above_by_chance(found) else "not exceeded"
        made.append(Tile(percent(found.bound), "Bound to compare with", kept if found.holds else exceeded))
        worse = float(found.attacks["above_half"].max())
        made.append(Tile(percent(worse), "Worst-off", "found, or believed found, with more than 1/2"))
    swaps, groups = measured.candidates(table.realised), table.summary.get("groups")
    if groups is not None:
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
        return f"difference, 1 stands for {_plainly(change.space.unit)}"
    return f"by {change.before.meaning.noun}"


def _plainly(value: float) -> str:
    """Return a number in full, without insignificant digits.

    >>> _plainly(2500140.0), _plainly(0.25), _plainly(1e-7)
    ('2,500,140', '0.25', '1e-07')
    """
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def _risk(
    table: MaskedTable, comparison: Comparison, found: risk.Linkage, k: int | None, progress: Progress
) -> Section:
    unit, best = measured.unit(found), measured.best_attacks(found)
    blocks: list[Grid | Picture] = [Picture(draw.attacks(best, unit), _attacks(found, comparison))]
    swaps = measured.candidates(table.realised)
    if "groups" in table.summary:
        sizes = measured.group_sizes(table.summary, table.params["k"])
        figure = draw.group_sizes(sizes, alike=isinstance(table.method, Microaggregate))
        blocks.append(Picture(figure, Grid.of_frame("Records by size of their group", sizes)))
    elif swaps is not None:
        blocks.append(Picture(draw.candidates(swaps, k), Grid.of_frame("Effective k", swaps)))
    lead = (
        f"Adversaries who know true values of a person look for the row; the figures are shares of the {unit} for "
        f"whom the guess is right. An attack that finds little is no proof: a better one may find more."
    )
    blocks += [_what_if(found, comparison), _worst_off(best), _uniqueness(comparison)]
    return Section("Risk", lead, [*blocks, _verbatim(table, comparison, progress), *_disclosed(comparison, progress)])


def _what_if(found: risk.Linkage, comparison: Comparison) -> Grid:
    """Tabulate what attacks find if kept columns are known besides all masked ones."""
    masked = max(len(known) for known in found.attacks["known"])
    run = found.attacks[found.attacks["known"].map(len) == masked]
    names = list(dict.fromkeys(run["attack"]))
    rows: dict[str, dict[str, Cell]] = {}
    for row in measured.rows_by_name(run):
        around = f" ({interval(row['low'], row['high'])})" if row["high"] > row["low"] else ""
        state = "broken" if row["holds"] is False else ""
        cell = Cell(f"{percent(row['share'])}{around}", row["share"], state)
        rows.setdefault(measured.also_known(row["also_known"], comparison.kept), {})[row["attack"]] = cell
    missing = Cell("–", math.nan)
    cells = [[Cell(also), *(given.get(name, missing) for name in names)] for also, given in rows.items()]
    bound = "" if found.bound is None else f"; marked: some are found with more than {one_in(found.bound)}"
    return Grid(f"What if they also know …{bound}", ["besides the masked columns", *names], cells)


_EXCEEDED = {True: Cell("not exceeded"), False: Cell("exceeded", state="broken"), None: Cell("–")}


def _worst_off(best: pd.DataFrame) -> Grid:
    """List the most successful attacks, and how many people are found with more than the bound."""
    rows = []
    for row in measured.rows_by_name(best):
        worse = [share(math.nan if row[name] is None else row[name]) for name in ("above_2k", "above_half")]
        rows.append([row["knowledge"], row["attack"], share(row["share"]), *worse, _EXCEEDED[row["holds"]]])
    header = ["known", "most successful attack", "re-identified", "above 2/k", "above 1/2", "bound"]
    return Grid.of("The worst-off: found, or believed found, with more than …", header, rows)


def _attacks(found: risk.Linkage, comparison: Comparison) -> Grid:
    """List all attacks."""
    rows = []
    for row in measured.rows_by_name(found.attacks):
        around = interval(row["low"], row["high"]) if row["high"] > row["low"] else "–"
        also = measured.also_known(row["also_known"], comparison.kept)
        figures = [row["attacked"], share(row["share"]), around]
        rows.append([row["attack"], listed(row["known"]), also, *figures, _EXCEEDED[row["holds"]]])
    header = ["attack", "known", "also known", "attacked", "re-identified", "95 % interval", "bound"]
    return Grid.of("Attacks that were run", header, rows)


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


def _verbatim(table: MaskedTable, comparison: Comparison, progress: Progress) -> Grid:
    """Count unique exact matches, and explain what they mean where rows mix values of a group."""
    found = measured.unique_matches(comparison, progress)
    rows = [[name, each.unique, each.matches, share(each.share)] for name, each in found.items()]
    caption = "Unique exact matches: records unique before whose values a row has verbatim"
    if "groups" in table.summary and not isinstance(table.method, Microaggregate):
        caption += (
            ". Masked values were swapped in groups: by these alone, such a row is as likely to be that of anyone "
            "else in the group; an adversary who also knows kept values can tell rows apart"
        )
    return Grid.of(caption, ["attributes", "unique before", "in the release verbatim", "share"], rows)


def _disclosed(comparison: Comparison, progress: Progress) -> list[Grid]:
    """Tabulate what masked attributes disclose of kept ones, if the release is taken for the original."""
    found = measured.disclosed(comparison, progress)
    if found is None:
        return []
    caption = f"Disclosure of kept attributes, given {listed(list(comparison.changes))}"
    header = ["attribute", "unique before (UiO)", "unique before and after (repU)", "disclosive before (Dorig)",
              "disclosive after and correct (DiSCO)", "guessed by frequency", "guessed by the release (DCAP)",
              "of those found, disclosed (TCAP)"]  # fmt: skip
    rows = [[str(row[0]), *map(share, row[1:])] for row in found.itertuples(index=False, name=None)]
    return [Grid.of(caption, header, rows)]


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
    scores = measured.marginals(comparison, progress)
    if scores is not None:
        header = ["attributes of a marginal", "marginals", "k-marginal score", "pMSE", "S_pMSE", "lowest score"]
        rows = [[*row[:-1], listed(row[-1])] for row in scores.itertuples(index=False, name=None)]
        blocks.append(Grid.of("Marginals of one, two and three attributes", header, rows))
    lead = "What is lost: how far values moved in meaning, and how distributions and correlations changed."
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
        f"Categories with at least {least:,} records, the farthest moved in total first. Shares and distances are "
        f"rounded to 5 %: exact figures of few records would reveal who they are."
    )
    if hidden:
        lead += f" Not named, because they have fewer records: {'; '.join(hidden)}."
    if rows:
        blocks.append(Grid.of("All of them", _CATEGORY, rows, searched=True))
    return Section("Most changed categories", lead, blocks)


def _other_methods(others: pd.DataFrame | None) -> list[Section]:
    """Show the risk and loss of other methods, if they were tried."""
    if others is None:
        return []
    rows = [
        [row["method"], Cell("none" if math.isnan(row["bound"]) else one_in(row["bound"]), row["bound"]),
         share(row["risk"]), row["smallest"], row["rmse"], share(row["loss"]), row["correlations"]]
        for row in measured.rows_by_name(others)
    ]  # fmt: skip
    header = ["method", "guaranteed", "re-identified", "smallest class", "distance moved (RMSE)", "information loss",
              "change of correlations"]  # fmt: skip
    lead = (
        "The data were masked again with each method at the same k, all else equal. Those re-identified are found by "
        "an adversary who knows all masked values and takes the nearest row; a class is a set of rows with equal "
        "masked values. Strict swapping keeps every value and its frequency and moves values between rows; "
        "microaggregation and generalization make rows equal. Choose the smallest loss at a risk that you can "
        "accept; only the first three guarantee a bound."
    )
    return [Section("Other methods", lead, [Grid.of("Methods side by side", header, rows)])]


def other_choices(swept: pd.DataFrame | None) -> list[Section]:
    """Show the risk and loss of other values of an option, if they were tried."""
    if swept is None:
        return []
    name = str(swept.columns[0])
    shares = ["risk", "low", "high", "bound", *(("loss", "query_error") if "query_error" in swept else ())]
    grid = Grid.of_frame(f"Other values of {name}", swept.drop(columns="current"), shares)
    lead = (
        f"The data were masked again with other values of {name}, all else equal. Lower points re-identify fewer "
        f"records; points further left lose less."
    )
    return [Section("Other choices", lead, [Picture(draw.risk_utility(swept), grid, wide=True)])]
