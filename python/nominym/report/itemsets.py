"""The pages about published item sets, for publication and for their owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import risk
from nominym.control import Progress
from nominym.itemsets import Release, query_error
from nominym.itemsets.metrics import over_both
from nominym.report import draw, guarantee, measured
from nominym.report.content import Cell, Grid, Page, Picture, Section, Tile, Verdict, share
from nominym.report.guarantee import definitions, not_covered, statement, verified
from nominym.report.owner import other_choices
from nominym.report.subject import ItemsetRelease, options
from nominym.report.words import SOURCES, about, number, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DONE = {
    "ring": "Nonreciprocal recoding, as published: every record matches the published forms of the k records that "
    "follow it in an order of similar records, and one of these is drawn to be its own.",
    "groups": "Recoding in groups: every record matches the published forms of all records of its group of similar "
    "records, and one of these is drawn to be its own.",
    "cahd": "Recoding in groups of consecutive records: every record matches the published forms of all records of its "
    "group, and one of these is drawn to be its own.",
}
_LONGEST = 200


def public_page(subject: ItemsetRelease, title: str | None) -> Page:
    """Compose the edition for publication, from the public side of a release."""
    rel, summary = subject.release, subject.release.summary
    said = statement(rel.guarantee)
    tiles = [Tile(number(len(rel)), "Records"), Tile(number(rel.base.n_items), "Items")]
    if rel.guarantee:
        tiles.append(Tile(number(subject.least), "Rows that a record could be", "at least"))
    change = []
    lost = _lost(rel)
    if "expected_error" in summary:
        error, threshold = share(summary["expected_error"], 2), summary["threshold"]
        rows: list[list[Any]] = [
            ["Items flipped, of the items of a record; expected", error],
            ["Items that are in no base", lost],
            ["Items in which a row may be wrong, mean", float(f"{threshold['mean']:.2g}")],
            ["Items in which a row may be wrong, largest", threshold["largest"]],
        ]
        lead = "Expected over all possible draws, to two digits. What this draw did is not published."
        change.append(Section("Expected change", lead, [Grid.of("Expected change", ["figure", "value"], rows)]))
        tiles.append(Tile(error.text, "Wrong items, expected", _WRONG))
        said = said._replace(paragraphs=[*said.paragraphs, _cost(rel, f"are expected to be {error.text}", lost)])
    tiles.append(_lost_tile(rel, lost))
    if "groups" in summary:
        tiles.append(Tile(about(summary["groups"]["count"]), "Groups", f"of {summary['groups']['smallest']} or more"))
    sections = [_what_was_done(subject), *guarantee.section(said), *change]
    return Page(
        edition="publication",
        verdict=said,
        tiles=tiles,
        sections=[*sections, _missed(rel), definitions("Base", "Distance", "Threshold", "Expected")],
        **_head(subject, title, "itemsets"),
    )


def owners_page(
    subject: ItemsetRelease, title: str | None, k: int | None, swept: pd.DataFrame | None, progress: Progress
) -> Page:
    """Count the rows that records could be, measure what was lost, and compose the owner's edition."""
    rel, sets = subject.release, subject.sets
    least = subject.least if k is None else k
    found = risk.worlds(rel, sets, k=least, progress=progress)
    errors = _errors(sets, rel.base, progress)
    said = statement(rel.guarantee)
    wrong = _wrong(rel)
    if wrong is not None:
        are = "are" if rel.secret is not None else "are expected to be"
        said = said._replace(paragraphs=[*said.paragraphs, _cost(rel, f"{are} {wrong.value}", _lost(rel, sets))])
    sections = [
        _what_was_done(subject),
        *guarantee.section(said),
        _risk(rel, found, least),
        _utility(rel, sets, errors),
        _items(rel, sets, least),
        *other_choices(swept),
        _missed(rel),
        definitions("Base", "Distance", "Threshold", "Error rate", "Error of counts"),
    ]
    return Page(
        edition="owner",
        verdict=_verdict(verified(said, subject.verify(progress)), found, least),
        tiles=_tiles(rel, sets, found, least),
        sections=sections,
        **_head(subject, title, "itemsets", *(() if swept is None else ("map",))),
    )


_WRONG = "missing or added in a base, relative to the items of the record"


def _wrong(rel: Release) -> Tile | None:
    """Return the share of wrong items: of the draw where it is known, otherwise expected over all draws."""
    if rel.secret is not None:
        return Tile(percent(rel.error_rate()), "Wrong items", _WRONG)
    if "expected_error" in rel.summary:
        return Tile(percent(rel.summary["expected_error"]), "Wrong items, expected", _WRONG)
    return None


def _lost(rel: Release, sets: Any = None) -> int:
    """Count the items that no base has, which are at best shown as uncertain; with ``sets``, those they have."""
    if sets is None:
        return int((rel.base.core.frequencies() == 0).sum())
    old, new = over_both(sets, rel.base)
    return int(((old.core.frequencies() > 0) & (new.core.frequencies() == 0)).sum())


def _lost_tile(rel: Release, lost: int) -> Tile:
    return Tile(f"{lost:,} of {rel.base.n_items:,}", "Lost items", "in no base; at best shown as uncertain")


def _cost(rel: Release, wrong: str, lost: int) -> str:
    """Return what the release costs, in items."""
    none = "one item is" if lost == 1 else f"{lost:,} of the {rel.base.n_items:,} items are"
    said = f"What it costs: the wrong items in the base of a record, missing or added, {wrong} of its own items on "
    return f"{said}average; {none} in no base."


def _head(subject: ItemsetRelease, title: str | None, *sources: str) -> dict[str, Any]:
    rel = subject.release
    size = f"{len(rel):,} records over {rel.base.n_items:,} items"
    return {
        "seeded": subject.seeded,
        "title": title or f"Release of {len(rel):,} item sets",
        "subtitle": f"{size}, each with {subject.least:,} possible rows or more",
        "remark": None,
        "sources": [SOURCES[name] for name in sources],
    }


def _missed(rel: Release) -> Section:
    return not_covered(rel.guarantee, rel.summary.get("notes", []))


def _what_was_done(subject: ItemsetRelease) -> Section:
    structure = subject.release.params.get("structure", "")
    done = _DONE.get(structure, "Records are published as the votes of similar records.")
    return Section("What was done", done, (), options(subject.release))


def _verdict(said: Verdict, found: Any, least: int) -> Verdict:
    who = "every record" if found.attacked == found.records else f"{found.attacked:,} of {found.records:,} records"
    counted = (
        f"Counted for {who}: by the published data alone, each could be at least {found.smallest:,} rows; half of them "
        f"could be {found.quantiles['median']:,} or more."
    )
    if found.holds is False:
        headline = f"Broken: some records could be fewer than {least:,} rows"
        return Verdict("broken", headline, [counted, *said.paragraphs])
    more = "" if said.state == "broken" else f"; each record could be {found.smallest:,} rows or more"
    return said._replace(headline=f"{said.headline}{more}", paragraphs=[*said.paragraphs, counted])


def _tiles(rel: Any, sets: Any, found: Any, least: int) -> list[Tile]:
    made = [
        Tile(number(found.smallest), "Rows that a record could be", f"fewest; at least {least:,} required"),
        Tile(percent(1 / least), "Bound to compare with", f"1 in {least:,}"),
    ]
    made.extend(filter(None, [_wrong(rel)]))
    made.append(_lost_tile(rel, _lost(rel, sets)))
    made.append(Tile(number(float(rel.threshold.mean())), "Uncertainty", "items in which a row may be wrong, mean"))
    return made


def _risk(rel: Any, found: Any, least: int) -> Section:
    title = "Rows that a record could be"
    table = measured.doubling(found.counts, least)
    thresholds = _ranges(24, share=rel.threshold.astype(np.int64))
    wrong = "items in which a row may be wrong at most"
    limits = draw.shares(thresholds, "Thresholds", wrong, "items", "share of rows")
    blocks: list[Grid | Picture] = [
        Picture(draw.worlds(table, least), Grid.of_frame(title, table)),
        Picture(limits, Grid.of_frame("Thresholds", thresholds)),
        Grid.of(title, ["quantile", "rows"], list(found.quantiles.items())),
    ]
    lead = (
        "A row could be a record if they differ only in items marked as uncertain, and in no more than the row states."
    )
    return Section("Risk", lead, blocks)


def _errors(sets: Any, base: Any, progress: Progress) -> pd.DataFrame:
    rows = [
        (str(size), *(query_error(sets, base, kind, size, progress=progress) for kind in ("present", "absent")))
        for size in range(1, min(sets.n_items, 5) + 1)
    ]
    return pd.DataFrame(rows, columns=["items", "present", "absent"])


def _utility(rel: Any, sets: Any, errors: pd.DataFrame) -> Section:
    sides = [np.diff(one.core.starts()).astype(np.int64) for one in (sets, rel.base)]
    sizes = _ranges(12, before=sides[0], after=sides[1])
    rows = [["Items of a record, mean", sides[0].mean()], ["… of a base", sides[1].mean()]]
    if rel.secret is not None:
        rows.append(["Error rate of the assignment drawn", share(rel.error_rate())])
    if "expected_error" in rel.summary:
        rows.append(["Error rate, expected over the draw", share(rel.summary["expected_error"])])
    asked = "how many records have all (present) or none (absent) of some items"
    axes = ("items in the query", "mean error, of all records")
    queries = draw.two_sides(errors, "Errors of counting queries", asked, *axes, form=".1%")
    by_size = draw.two_sides(sizes, "Sizes of records", "items of a record, and of a base", "items")
    blocks: list[Grid | Picture] = [
        Picture(queries, Grid.of_frame("Errors of counts", errors, ("present", "absent"))),
        Picture(by_size, Grid.of_frame("Sizes of records", sizes, ("before", "after"))),
        Grid.of("What recoding did to the records", ["figure", "value"], rows),
    ]
    lead = "What is lost: wrong items in the published bases, and the errors of counts."
    return Section("Utility", lead, blocks)


def _ranges(most: int, **sides: NDArray[np.int64]) -> pd.DataFrame:
    """Return the shares of numbers, or of ranges if there are too many to show."""
    top = max(int(side.max(initial=0)) for side in sides.values())
    width = max(1, -(-(top + 1) // most))
    places = range(top // width + 1)
    labels = [str(i) if width == 1 else f"{i * width} to {(i + 1) * width - 1}" for i in places]
    shares = {name: np.bincount(side // width, minlength=len(places)) / len(side) for name, side in sides.items()}
    return pd.DataFrame({"items": labels, **shares})


def _items(rel: Release, sets: Any, least: int) -> Section:
    limit = measured.least_records(least)
    old, new = over_both(sets, rel.base)
    before, after = (one.core.frequencies().astype(np.int64) for one in (old, new))
    named = np.flatnonzero(before >= limit)
    order = named[np.argsort(-np.abs(after - before)[named], kind="stable")]
    few = int(((before > 0) & (before < limit)).sum())
    tax = rel.taxonomy
    named_items = [old.items[i] if tax is None else tax.written(tax.concept(old.items[i])) for i in order]
    found = pd.DataFrame({"item": list(map(str, named_items)), "before": before[order], "after": after[order]})
    lead = f"Items that at least {limit:,} records have, those whose count changed most first."
    if few:
        lead += f" {few:,} items with fewer records are not listed."
    blocks: list[Grid | Picture] = []
    if len(found):
        header = ["item", "records before", "bases after", "change"]
        rows = [
            [item, was, now, Cell(f"{now - was:+,}", now - was)]
            for item, was, now in measured.rows_of(found.head(_LONGEST))
        ]
        top = found.head(draw.MOST)
        shown = top.assign(before=top["before"] / len(sets), after=top["after"] / len(sets))
        picture = draw.two_sides(shown, "Most changed items", "share of records that have them", "item")
        blocks = [
            Picture(picture, Grid.of("Most changed items", header, rows[: draw.MOST]), wide=True),
            Grid.of("All of them", header, rows, searched=True),
        ]
    return Section("Most changed items", lead, blocks)
