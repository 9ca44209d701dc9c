"""The report of a masked table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nominym import distortion
from nominym.control import Progress, check_progress
from nominym.error import DataError
from nominym.report import again, draw, page, risks, tables
from nominym.report.content import Block, Cell, Grid, Notes, Page, Picture, Section, Terms, cells, grid_of, text
from nominym.report.given import Given
from nominym.report.verdict import done, named, tiles, verdict
from nominym.report.words import SOURCES, interval, listed, number, percent
from nominym.taxonomy.read.files import StrPath

# Rows of the table of categories, for each attribute.
_LONGEST = 200
# A heat map with more columns cannot be read.
_WIDEST = 12

_SAID = {
    "method": "Method",
    "guarantee": "Guarantee",
    "k": "k",
    "p": "p, percent of records",
    "draw": "Draw within groups",
    "anneal": "Longer search for groups",
    "alpha": "α, noise relative to the variance",
    "epsilon": "ε, spent on each value",
    "correlated": "Errors correlated as the columns",
    "reference": "Reference of errors",
    "law": "Law of errors",
    "pairs": "Pairs of columns",
    "rate": "Rate, share of records swapped",
    "equal": "Equal within pairs",
    "unequal": "Different within pairs",
    "true_swaps": "Only swaps that change something",
    "mode": "Swapped columns",
    "measure": "Semantic distance",
    "ic": "Information content",
    "missing": "Missing values",
}


def write(
    path: StrPath,
    before: Any,
    after: Any,
    taxonomies: Mapping[Any, Any],
    *,
    k: int | None = None,
    sweep: Mapping[str, Iterable[float]] | None = None,
    truth: Any = None,
    title: str | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> Path:
    """Write a report: what was done, the promise and whether it holds, what can be found, and what was lost.

    >>> import nominym as nym, pathlib, tempfile
    >>> frame, taxonomies = nym.datasets.discharges(500, seed=1)
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> res = nym.rank_swap(frame, masked, k=5, guarantee="strict", seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nym.report.write(pathlib.Path(folder, "report.html"), frame, res, masked).name
    'report.html'

    Parameters
    ----------
    path
        The HTML file to write. It needs nothing else: no network, no other file.
    before
        The table as it was.
    after
        What ``rank_swap``, ``add_noise`` or ``data_swap`` gave, or just the released table.
    taxonomies
        What the values mean, by column: a ``Taxonomy`` or a ``DistanceMatrix``, None or a list for ordered columns,
        "equal" for others. With a result, columns that it did not mask only enter the correlations.
    k
        The promise to compare with, 1/k; by default that of the result.
    sweep
        One parameter and further values of it, such as ``{"k": [2, 5, 10, 20, 50]}`` or ``{"alpha": [0.1, 0.3]}``: the
        table is masked again with each, for the risk–utility map.
    truth
        The row of the release that is each record; by default they are in the same order.
    title
        Heading of the page.
    overwrite
        Replace a file that is there.

    Returns
    -------
    pathlib.Path
        The file. It holds figures of groups of records only: no record, no row, no partner, no seed; categories with
        few records are not named (docs/report.md).
    """
    target = page.check_path(path, overwrite)
    check_progress(progress)
    given = Given(before, after, taxonomies, k, truth, progress)
    swept = None
    if sweep is not None:
        swept = again.sweep(before, after, given.masked, sweep, truth=truth, progress=progress)
    return page.write(_page(given, swept, title), target)


def _page(given: Given, swept: pd.DataFrame | None, title: str | None) -> Page:
    found = risks.attacks(
        given.before,
        given.after,
        given.masked,
        k=given.k,
        truth=given.truth,
        measure=given.measure,
        roots=given.roots,
        progress=given.progress,
    )
    attack: dict[str, Any] = {str(name): value for name, value in found.to_dict("records")[0].items()}
    correlated = given.correlated()
    correlations = tables.correlations(correlated, given.progress) if len(correlated) > 1 else None
    largest = None if correlations is None else float(correlations["difference"].abs().max())
    sections = [
        _what_was_done(given),
        _risk(given, found),
        _utility(given, correlations),
        *_changed(given),
        *([] if swept is None else [_choices(swept)]),
        _limits(given),
        _definitions(given),
    ]
    return Page(
        title=title or f"Release of {given.records:,} records",
        subtitle=f"{listed(list(given.masked))} masked: {named(given)}",
        verdict=verdict(given, attack),
        tiles=tiles(given, attack, largest),
        sections=sections,
        sources=_sources(given, swept is not None),
    )


def _what_was_done(given: Given) -> Section:
    said = [(_SAID[name], _written(value)) for name, value in given.params.items() if name in _SAID]
    said = [(name, value) for name, value in said if value]
    if given.kind == "strict":
        # It goes without saying: there is one such method.
        said = [(name, value) for name, value in said if name != _SAID["method"]]
    rows = [
        cells(
            [
                str(column.name),
                "yes",
                (number(len(column.before.categories)), len(column.before.categories)),
                (number(len(column.after.categories)), len(column.after.categories)),
                (number(column.before.missing), column.before.missing),
                _below(given, column),
            ]
        )
        for column in given.columns
    ]
    rows += [
        cells([str(name), "no", ("–", math.nan), ("–", math.nan), ("–", math.nan), "–"]) for name in given.untouched
    ]
    header = ["attribute", "masked", "values before", "values after", "missing", "distances"]
    blocks: list[Block] = [Terms(said)] if said else []
    return Section("What was done", done(given), [*blocks, Grid("Attributes of the release", header, rows)])


def _below(given: Given, column: tables.Attribute) -> str:
    if column.space is None:
        return "by order" if column.measured else "equal or not"
    name = given.params.get("measure", "wu-palmer")
    return f"{name}, below {column.space.root}" if column.space.root is not None else "a given matrix"


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(" and ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def _risk(given: Given, found: pd.DataFrame) -> Section:
    rows = []
    for row in found.to_dict("records"):
        state = {True: Cell("holds", state="holds"), False: Cell("exceeded", state="broken")}.get(
            row["holds"], text("–")
        )
        sampled = row["attacked"] < row["records"]
        rows.append(
            [
                text(row["known"]),
                Cell(percent(row["share"]), row["share"]),
                text(interval(row["low"], row["high"]) if sampled else "all attacked"),
                Cell(percent(row["bound"]), row["bound"]),
                Cell(number(row["attacked"]), row["attacked"]),
                state,
            ]
        )
    header = ["the intruder knows", "found", "95 % interval", "bound", "attacked", "verdict"]
    attacks = Grid("Attacks that were run", header, rows)
    blocks: list[Block] = [Picture(draw.risks(found), attacks)]
    try:
        sizes, k = tables.effective_k(given.result)
    except DataError:
        pass  # no candidates to count
    else:
        blocks.append(Picture(draw.effective_k(sizes, k), grid_of("Effective k", sizes)))
    blocks += [attacks, _uniqueness(given)]
    lead = (
        "An intruder who knows true values of a person looks for the row that fits best; among rows that fit equally "
        "well one is guessed. Found means: the guess is right."
    )
    return Section("Risk", lead, blocks)


def _uniqueness(given: Given) -> Grid:
    sets = {"masked attributes": list(given.masked)}
    if given.untouched:
        sets |= {"attributes not masked": given.untouched, "all attributes": [*given.masked, *given.untouched]}
    rows = []
    for name, columns in sets.items():
        was, now = (risks.unique(table, columns) for table in (given.before, given.after))
        rows.append(
            cells(
                [
                    f"{name}: {listed(columns)}",
                    (number(was["classes"]), was["classes"]),
                    (percent(was["share_unique"]), was["share_unique"]),
                    (number(now["classes"]), now["classes"]),
                    (percent(now["share_unique"]), now["share_unique"]),
                ]
            )
        )
    header = ["together", "combinations before", "unique before", "combinations after", "unique after"]
    return Grid("Records that nobody shares all values with", header, rows)


def _utility(given: Given, correlations: pd.DataFrame | None) -> Section:
    found = tables.utility(given.columns, given.before, given.after)
    rows = [
        cells(
            [
                str(row["attribute"]),
                (percent(row["unchanged"]), row["unchanged"]),
                (number(row["rmse"]), row["rmse"]),
                (number(row["total_variation"]), row["total_variation"]),
                (number(row.get("variance_before")), row.get("variance_before", math.nan)),
                (number(row.get("variance_after")), row.get("variance_after", math.nan)),
                _means(row.get("mean_before"), row.get("mean_after")),
            ]
        )
        for row in found.to_dict("records")
    ]
    header = ["attribute", "unchanged", "distance moved (RMSE)", "total variation", "variance before", "variance after",
              "semantic mean"]  # fmt: skip
    blocks: list[Block] = [Grid("What masking did to each attribute", header, rows)]
    for column in given.columns:
        if column.measured:
            shares = column.histogram()
            picture = draw.histogram(shares, column.name, column.rmse)
            blocks.append(
                Picture(picture, grid_of(f"{column.name}: records by distance", shares[["distance", "share"]]))
            )
    if correlations is not None:
        grid = grid_of("Distance correlations", correlations)
        blocks.append(Picture(draw.correlations(correlations), grid, wide=True))
    together = tables.associations(given.before, given.after, given.nominal[:_WIDEST], given.progress)
    if together is not None:
        pairs = together[together["x"].notna()][["x", "y", *distortion.MEASURES]]
        grid = grid_of("Distortion of joint distributions", pairs)
        blocks.append(Picture(distortion.heat_map(together, "total_variation"), grid, wide=len(given.nominal) > 4))
        blocks.append(Picture(distortion.heat_map(together, "cramers_v_change"), grid, wide=len(given.nominal) > 4))
    lead = "What is lost: how far values moved in meaning, and what became of distributions and correlations."
    return Section("Utility", lead, blocks)


def _means(before: Any, after: Any) -> str:
    if not isinstance(before, str):
        return "–"
    return f"{before}, as before" if before == after else f"{before}, now {after}"


def _changed(given: Given) -> list[Section]:
    least = tables.threshold(given.k)
    rows: list[list[Cell]] = []
    pictures: list[Block] = []
    hidden = []
    for column in given.columns:
        found, few = column.changed(least)
        if few["categories"]:
            hidden.append(f"{column.name} {few['categories']:,} ({percent(few['share'])} of the records)")
        if not len(found):
            continue
        grid = _category_rows(found.head(_LONGEST))
        rows += grid
        top = Grid(f"{column.name}: the {min(len(found), draw.MOST)} most changed", _CATEGORY, grid[: draw.MOST])
        pictures.append(Picture(draw.changed(found, column.name), top))
    lead = (
        f"Categories with at least {least:,} records, those first whose records moved farthest in all. Shares and "
        "distances are rounded to 5 %: exact figures of few records would tell who they are."
    )
    if hidden:
        lead += f" Not named, because they have fewer records: {'; '.join(hidden)}."
    blocks = [*pictures, *([Grid("All of them", _CATEGORY, rows, searched=True)] if rows else [])]
    return [Section("Most changed categories", lead, blocks)]


_CATEGORY = ["category", "attribute", "records before", "records after", "moved", "mean distance"]


def _category_rows(found: pd.DataFrame) -> list[list[Cell]]:
    return [
        cells(
            [
                row.category,
                row.attribute,
                (number(row.before), row.before),
                (number(row.after), row.after),
                (draw.moved(row.moved), row.moved),
                (f"{row.distance:.2f}", row.distance),
            ]
        )
        for row in tables.rows_of(found)
    ]


def _choices(swept: pd.DataFrame) -> Section:
    name = str(swept.columns[0])
    grid = grid_of(f"Other values of {name}", swept.drop(columns="current"))
    lead = (
        f"The table was masked again with other values of {name}, all else alike. Further down is safer, further "
        "left is more useful."
    )
    return Section("Other choices", lead, [Picture(draw.risk_utility(swept), grid, wide=True)])


def _limits(given: Given) -> Section:
    found = list(given.summary.get("notes", []))
    if given.untouched:
        alone = risks.unique(given.after, given.untouched)
        found.append(
            f"Not masked: {listed(given.untouched, 12)}. Whoever knows these of a person can look for them in the "
            f"release; {percent(alone['share_unique'])} of the records are the only ones with their combination."
        )
    for name, figures in given.summary.get("groups", {}).get("constant", {}).items():
        if figures["groups"]:
            found.append(
                f"In {figures['groups']:,} groups ({figures['records']:,} records) all have the same {name}: whoever "
                "is known to belong to one of them has it, whichever row is theirs."
            )
    if given.params.get("draw") == "joint":
        found.append(
            "Masked values of a row were moved together (draw='joint'): whoever recognises one can read the others."
        )
    if given.params.get("missing") == "keep" and given.kind != "strict":
        gaps = [column.name for column in given.columns if column.before.missing]
        if gaps:
            found.append(f"Missing values of {listed(gaps)} stay where they were, and are not protected.")
    found.append("Publish one release of a table: two, with other draws, are two views of each record.")
    return Section("What this does not cover", "", [Notes(found)])


def _definitions(given: Given) -> Section:
    terms = [
        ("Records found", "Expected share of records for which the row nearest to the true values is the person's "
         "own; of t equally near rows each is guessed with probability 1/t."),
        ("Semantic distance", "How far apart two values are in a taxonomy: 0 for the same, up to 1 for values that "
         "have nothing in common (Wu and Palmer, unless another measure is named)."),
        ("Distance moved (RMSE)", "Root of the mean squared distance between a record's value before and after."),
        ("Distance correlation", "How far records that are near in one attribute are near in another: 0 to 1."),
        ("Total variation", "Share of records that would have to change to make two distributions equal: 0 to 1."),
        ("Semantic mean and variance", "The concept nearest to all values, and the mean squared distance to it."),
        ("Cramér's V", "Strength of the association of two attributes, 0 to 1; here before less after."),
    ]  # fmt: skip
    if given.kind in ("strict", "published"):
        terms.insert(1, ("Effective k", "Among how many a value, or a whole record, was really hidden."))
    return Section("Definitions", "", [Terms(terms)])


def _sources(given: Given, swept: bool) -> list[str]:
    names = {"strict": ["rank"], "published": ["rank"], "noise": ["noise"], "exponential": ["noise"]}
    chosen = [
        *names.get(given.kind, []),
        "wu-palmer",
        "correlation",
        "distortion",
        "linkage",
        *(["map"] if swept else []),
    ]
    return [SOURCES[name] for name in chosen]
