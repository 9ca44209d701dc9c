"""The report of published item sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym.control import Progress, check_progress
from nominym.error import DataError, ParameterError
from nominym.itemsets.metrics import over_both, query_error
from nominym.itemsets.release import Release
from nominym.itemsets.sets import Itemsets
from nominym.report import again, draw, figures, page, risks, tables
from nominym.report.content import Block, Grid, Notes, Page, Picture, Section, Terms, Tile, Verdict, cells, grid_of
from nominym.report.words import SOURCES, number, one_in, percent
from nominym.taxonomy.read.files import StrPath

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAID = {
    "k": "k, equally likely identities",
    "l": "l, sensitive labels",
    "structure": "Structure",
    "order": "Order of the records",
    "segment": "Sizes of segments",
    "method": "Draw of the assignment",
    "effort": "Search for groups",
}
_STRUCTURE = {
    "ring": "Nonreciprocal recoding: every record matches the published forms of the k records that follow it in an "
    "order of like records, and one of these is drawn to be its own.",
    "groups": "Recoding in groups: every record matches the published forms of all records of its group of like "
    "ones, and one of these is drawn to be its own.",
}
# Sizes of the queries that are asked.
_QUERIES = (1, 2, 3, 4, 5)
_LONGEST = 200


def write_itemsets(
    path: StrPath,
    sets: Itemsets,
    rel: Release,
    *,
    sweep: Mapping[str, Iterable[int]] | None = None,
    labels: Any = None,
    title: str | None = None,
    overwrite: bool = False,
    progress: Progress = None,
) -> Path:
    """Write a report of published item sets: possible worlds, flipped items, answers to queries, sizes, thresholds.

    >>> import nominym as nym, pathlib, tempfile
    >>> sets, _ = nym.datasets.baskets(500, seed=1, items=60)
    >>> rel = nym.recode(sets, k=5, order="gray", seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     nym.report.write_itemsets(pathlib.Path(folder, "report.html"), sets, rel).name
    'report.html'

    Parameters
    ----------
    path
        The HTML file to write. It needs nothing else.
    sets
        The records as they were.
    rel
        What ``recode`` gave, or a release read from a file; the error rate is known for the former only.
    sweep
        Further values of k, ``{"k": [2, 5, 10]}``, or of l: the records are recoded with each.
    labels
        The sensitive label of each record, for a sweep of l.
    title, overwrite, progress
        As for ``write``.
    """
    target = page.check_path(path, overwrite)
    check_progress(progress)
    if not isinstance(sets, Itemsets) or not isinstance(rel, Release):
        raise ParameterError(
            f"give an Itemsets and a Release of it, not {type(sets).__name__} and {type(rel).__name__}"
        )
    if len(sets) != len(rel):
        raise DataError(f"{len(sets):,} records, {len(rel):,} published rows; give the records that were recoded")
    swept = None
    if sweep is not None:
        swept = again.sweep_itemsets(sets, rel, sweep, labels=labels, progress=progress)
    return page.write(_page(sets, rel, swept, title, progress), target)


def _page(sets: Itemsets, rel: Release, swept: pd.DataFrame | None, title: str | None, progress: Progress) -> Page:
    least = int(rel.params.get("k", rel.params.get("l", rel.summary.get("matches", 1))))
    found = risks.worlds(rel, sets, k=least, progress=progress)
    errors = _errors(sets, rel, progress)
    done = _STRUCTURE.get(rel.params.get("structure", ""), "Records are published as the votes of like records.")
    sections = [
        Section("What was done", done, [Terms([(_SAID[n], _written(v)) for n, v in rel.params.items() if n in _SAID])]),
        _risk(rel, found, least),
        _utility(sets, rel, errors),
        _items(sets, rel, least),
        *([] if swept is None else [_choices(swept)]),
        _limits(rel),
        _definitions(),
    ]
    return Page(
        title=title or f"Release of {len(sets):,} item sets",
        subtitle=f"{len(sets):,} records over {sets.n_items:,} items, each with {least:,} possible rows at least",
        verdict=_verdict(rel, found, least),
        tiles=_tiles(rel, found, least, errors),
        sections=sections,
        sources=[SOURCES["itemsets"], *([SOURCES["map"]] if swept is not None else [])],
    )


def _written(value: Any) -> str:
    return " to ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _verdict(rel: Release, found: Any, least: int) -> Verdict:
    promise = (
        f"Promised: somebody who knows all items of a person and everything about the method, but not the draw, "
        f"assigns the person to any row with a probability of {one_in(1 / least)} at most."
    )
    who = "every record" if found.attacked == found.records else f"{found.attacked:,} of {found.records:,} records"
    measured = (
        f"Counted for {who}: by what is published alone, each could be at least {found.smallest:,} rows; half of "
        f"them could be {found.quantiles['median']:,} or more."
    )
    if "l" in rel.params:
        promise += " The rows that a record may be were made for records with different labels."
    if found.holds is False:
        return Verdict("broken", "The promise does not hold", promise, measured)
    return Verdict("holds", "The promise holds", promise, measured)


def _tiles(rel: Release, found: Any, least: int, errors: pd.DataFrame) -> list[Tile]:
    made = [
        Tile(number(int(found.smallest)), "Rows that a record could be", f"fewest; promised are {least:,}"),
        Tile(percent(1 / least), "Bound on the probability of a row", f"1 in {least:,}"),
        Tile(number(int(found.quantiles["median"])), "Median of rows", "that a record could be"),
    ]
    if rel.secret is not None:
        made.append(Tile(percent(rel.error_rate()), "Items flipped", "relative to the items of a record"))
    made.append(Tile(percent(float(errors["present"].mean())), "Error of counts", "mean over queries, of all records"))
    made.append(Tile(number(float(rel.threshold.mean())), "Mean threshold", "items in which a form may be wrong"))
    return made


def _risk(rel: Release, found: Any, least: int) -> Section:
    table = tables.doubling(found.counts, least)
    quantiles = Grid(
        "Rows that a record could be",
        ["quantile", "rows"],
        [cells([name, (number(int(value)), int(value))]) for name, value in found.quantiles.items()],
    )
    thresholds = _ranges(24, share=rel.threshold.astype(np.int64))
    pictures: list[Block] = [
        Picture(figures.draw_worlds(found, least), grid_of("Rows that a record could be", table)),
        Picture(
            draw.shares(
                thresholds, "Thresholds", "items in which a row may be wrong at most", "items", "share of rows"
            ),
            grid_of("Thresholds", thresholds),
        ),
    ]
    lead = "A row could be a record if they differ in no more items than the row says, all of them marked as uncertain."
    return Section("Risk", lead, [*pictures, quantiles])


def _errors(sets: Itemsets, rel: Release, progress: Progress) -> pd.DataFrame:
    sizes = [size for size in _QUERIES if size <= sets.n_items]
    rows = [
        (str(size), *(query_error(sets, rel.base, kind, size, progress=progress) for kind in ("present", "absent")))
        for size in sizes
    ]
    return pd.DataFrame(rows, columns=["items", "present", "absent"])


def _utility(sets: Itemsets, rel: Release, errors: pd.DataFrame) -> Section:
    sides = [np.diff(one.core.starts()).astype(np.int64) for one in (sets, rel.base)]
    sizes = _ranges(12, before=sides[0], after=sides[1])
    rows = [
        cells(["Items of a record, mean", _value(sides[0].mean())]),
        cells(["… of a base", _value(sides[1].mean())]),
    ]
    if rel.secret is not None:
        rows.append(cells(["Error rate of the assignment drawn", _share(rel.error_rate())]))
    if "expected_error" in rel.summary:
        rows.append(cells(["Error rate, expected over the draw", _share(rel.summary["expected_error"])]))
    grids = grid_of("Errors of counts", errors, ("present", "absent"))
    blocks: list[Block] = [
        Picture(
            draw.two_sides(
                errors,
                "Errors of counting queries",
                "how many records have all (present) or none (absent) of some items",
                "items in the query",
                "mean error, of all records",
                form=".1%",
            ),
            grids,
        ),
        Picture(
            draw.two_sides(sizes, "Sizes of records", "items of a record, and of a base", "items", "share of records"),
            grid_of("Sizes of records", sizes, ("before", "after")),
        ),
        Grid("What recoding did to the records", ["figure", "value"], rows),
    ]
    return Section(
        "Utility", "What is lost: items that are wrong in the published bases, and what counts of them say.", blocks
    )


def _value(value: float) -> tuple[str, float]:
    return number(float(value)), float(value)


def _share(value: float) -> tuple[str, float]:
    return percent(float(value)), float(value)


def _ranges(most: int, **sides: NDArray[np.int64]) -> pd.DataFrame:
    """Give the shares of numbers, or of ranges of them if they were more than can be shown."""
    top = max(int(side.max(initial=0)) for side in sides.values())
    width = max(1, -(-(top + 1) // most))
    places = range(top // width + 1)
    labels = [str(i) if width == 1 else f"{i * width} to {(i + 1) * width - 1}" for i in places]
    shares = {name: np.bincount(side // width, minlength=len(places)) / len(side) for name, side in sides.items()}
    return pd.DataFrame({"items": labels, **shares})


def _items(sets: Itemsets, rel: Release, least: int) -> Section:
    limit = tables.threshold(least)
    old, new = over_both(sets, rel.base)
    before, after = (one.core.frequencies().astype(np.int64) for one in (old, new))
    named = np.flatnonzero(before >= limit)
    order = named[np.argsort(-np.abs(after - before)[named], kind="stable")]
    few = int(((before > 0) & (before < limit)).sum())
    found = pd.DataFrame({"item": [str(old.items[i]) for i in order], "before": before[order], "after": after[order]})
    lead = f"Items that at least {limit:,} records have, those first whose count changed most."
    if few:
        lead += f" {few:,} items with fewer records are not named."
    blocks: list[Block] = []
    if len(found):
        header = ["item", "records before", "bases after", "change"]
        rows = [
            cells([r.item, _count(r.before), _count(r.after), (f"{r.after - r.before:+,}", r.after - r.before)])
            for r in tables.rows_of(found.head(_LONGEST))
        ]
        top = found.head(draw.MOST)
        shown = top.assign(before=top["before"] / len(sets), after=top["after"] / len(sets))
        picture = draw.two_sides(
            shown, "Most changed items", "share of records that have them", "item", "share of records"
        )
        blocks = [
            Picture(picture, Grid("Most changed items", header, rows[: draw.MOST]), wide=True),
            Grid("All of them", header, rows, searched=True),
        ]
    return Section("Most changed items", lead, blocks)


def _count(value: int) -> tuple[str, float]:
    return number(int(value)), int(value)


def _choices(swept: pd.DataFrame) -> Section:
    name = str(swept.columns[0])
    grid = grid_of(
        f"Other values of {name}",
        swept.drop(columns=["current", "low", "high"]),
        ("risk", "bound", "loss", "query_error"),
    )
    lead = f"The records were recoded with other values of {name}. Further down is safer, further left is more useful."
    return Section("Other choices", lead, [Picture(draw.risk_utility(swept), grid, wide=True)])


def _limits(rel: Release) -> Section:
    found = [
        "What all records have that a row may be, the row says: whoever belongs there has it.",
        "Publish one release of the records: two, with other draws, are two views of each record.",
    ]
    if rel.labels is not None and rel.params.get("structure") != "groups":
        found.insert(
            0,
            "Labels: those published at the rows that a record may be need not all differ; groups make them differ.",
        )
    return Section("What this does not cover", "", [Notes(found)])


def _definitions() -> Section:
    return Section(
        "Definitions",
        "",
        [
            Terms(
                [
                    ("Base", "The items that most of the records have that a row may be."),
                    (
                        "Distance",
                        "The items of a row that are uncertain: some of these records have them, others have not.",
                    ),
                    ("Threshold", "The largest number of items in which one of these records differs from the base."),
                    ("Error rate", "Items flipped between a record and its base, relative to the items of the record."),
                    (
                        "Error of counts",
                        "Difference of a count before and after, relative to all records, over 500 random queries.",
                    ),
                ]
            )
        ],
    )
