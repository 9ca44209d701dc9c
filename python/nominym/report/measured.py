"""The tables behind the owner's figures: counted over pairs of categories, never over records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import distortion, risk, stats
from nominym.error import DataError
from nominym.report.subject import MaskedTable
from nominym.report.words import listed
from nominym.table import Change, Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.control import Progress

BINS = 10
STEP = 0.05
"""Figures of single categories are rounded to this share, and the lowest and the highest are not distinguished."""

UNCHANGED = "unchanged"

_WORST_OFF = ("above_2k", "above_half")

# A column with more categories tells records apart rather than kinds of records.
_MOST_CATEGORIES = 5_000
# A heat map with more columns cannot be read.
_MOST_COLUMNS = 12


def least_records(k: float | None) -> int:
    """Return the number of records that a category needs to be listed.

    Figures of a category reveal something about the draw, more so with fewer records. With three groups of k or thirty
    records, rounded, they reveal next to nothing about a single one.

    >>> least_records(None), least_records(50)
    (30, 150)
    """
    return max(30, 3 * math.ceil(k or 0))


def histogram(change: Change) -> pd.DataFrame:
    """Return the share of records by distance: zero, and ten ranges up to the largest."""
    _require_pairs(change)
    width = _scale(change) / BINS
    # A distance on an edge belongs below it, whatever the last digit says.
    place = np.clip(np.ceil(change.distance / width - 1e-9), 1, BINS).astype(np.intp)
    place[change.old == change.new] = 0
    share = np.bincount(place, change.count, BINS + 1) / change.records
    edges = [i * width for i in range(BINS + 1)]
    rows = [(UNCHANGED, 0.0, 0.0), *((f"{a:.3g} to {b:.3g}", a, b) for a, b in pairwise(edges))]
    return pd.DataFrame(rows, columns=["distance", "above", "up_to"]).assign(share=share)


def changed_categories(change: Change, least: int) -> tuple[pd.DataFrame, dict[str, Any]]:
    """List the categories with enough records, the farthest moved first; count the others."""
    sides = change.before, change.after
    size = 1 + int(max(side.places.max(initial=0) for side in sides))
    before, after = (np.bincount(side.places, side.column.counts, size) for side in sides)
    both = np.bincount(change.old, change.count, size)
    moved = np.bincount(change.old, change.count * (change.old != change.new), size) / np.maximum(both, 1)
    distance = np.bincount(change.old, change.count * change.distance, size) / np.maximum(both, 1)
    named = np.flatnonzero((before >= least) & (both >= least))
    few = np.flatnonzero((before > 0) & ((before < least) | (both < least)))
    found = pd.DataFrame(
        {
            "attribute": str(change.name),
            "category": [change.space.label(int(place)) for place in named],
            "before": before[named].astype(np.int64),
            "after": after[named].astype(np.int64),
            "moved": np.clip(_rounded(moved[named], STEP), STEP, 1 - STEP),
            "distance": _rounded(distance[named], STEP * _scale(change)),
        }
    )
    total = found["before"] * found["distance"]
    order = sorted(range(len(found)), key=lambda i: (-total[i], -found["before"][i], found["category"][i]))
    hidden = {"categories": len(few), "share": float(before[few].sum() / max(before.sum(), 1))}
    return found.iloc[order].reset_index(drop=True), hidden


def utility(comparison: Comparison) -> pd.DataFrame:
    """List what masking did to each attribute on its own."""
    rows = []
    for name, change in comparison.changes.items():
        _require_pairs(change)
        row = {
            "attribute": name,
            "unchanged": change.unchanged,
            "rmse": change.rmse if change.space.measured else math.nan,
            "total_variation": math.nan,
        }
        if _has_categories(comparison, name):
            row["total_variation"] = float(distortion.compare(comparison, [name])["total_variation"].iloc[-1])
        if change.space.measured:
            for when, side in (("before", change.before), ("after", change.after)):
                row |= {f"mean_{when}": change.space.label(side.mean), f"variance_{when}": side.variance}
        rows.append(row)
    return pd.DataFrame(rows)


def loss(comparison: Comparison) -> float:
    """Return the distance moved, or the share changed where values have no distance, averaged over the attributes."""
    losses = [each.rmse if each.space.measured else 1 - each.unchanged for each in comparison.changes.values()]
    return math.fsum(losses) / len(losses)


def correlations(comparison: Comparison, progress: Progress = None) -> pd.DataFrame | None:
    """Compare the distance correlations of the masked attributes; None if there are fewer than two."""
    sides = {
        name: change
        for name, change in comparison.changes.items()
        if max(change.before.size, change.after.size) <= _MOST_CATEGORIES
    }
    return stats.correlation_changes(sides, progress) if len(sides) > 1 else None


def associations(comparison: Comparison, progress: Progress = None) -> pd.DataFrame | None:
    """Measure the distortion of pairs of columns with categories; None if there are fewer than two."""
    names = [name for name in (*comparison.changes, *comparison.kept) if _has_categories(comparison, name)]
    chosen = names[:_MOST_COLUMNS]
    return distortion.compare(comparison, chosen, progress=progress) if len(chosen) > 1 else None


def marginals(comparison: Comparison, progress: Progress = None) -> pd.DataFrame | None:
    """Score the marginals of columns with categories; None if there are none."""
    names = [name for name in (*comparison.changes, *comparison.kept) if _has_categories(comparison, name)]
    chosen = names[:_MOST_COLUMNS]
    return distortion.scores(comparison.before, comparison.after, chosen, progress=progress) if chosen else None


def unique_matches(comparison: Comparison, progress: Progress = None) -> dict[str, risk.UniqueMatches]:
    """Count unique exact matches by masked columns, and by all."""
    masked, kept = list(comparison.changes), comparison.kept
    sets = {listed(masked): masked, **({"all attributes": [*masked, *kept]} if kept else {})}
    sides = comparison.before, comparison.after
    return {name: risk.unique_exact_matches(*sides, names, progress=progress) for name, names in sets.items()}


def disclosed(comparison: Comparison, progress: Progress = None) -> pd.DataFrame | None:
    """Measure what masked columns disclose of kept columns with categories; None if there are none."""
    kept = [name for name in comparison.kept if _has_categories(comparison, name)]
    sides = comparison.before, comparison.after
    return risk.disclosures(*sides, list(comparison.changes), kept, progress=progress) if kept else None


def _has_categories(comparison: Comparison, name: Any) -> bool:
    sides = comparison.before.column(name), comparison.after.column(name)
    return all(side.kind not in ("number", "nested") and len(side.categories) <= _MOST_CATEGORIES for side in sides)


def attacks(table: MaskedTable, k: int | None, progress: Progress = None) -> risk.Linkage:
    """Run all attacks: with the masked columns known, with each kept column as well, and with all of them."""
    return risk.link(table.comparison, k=k, groups=table.groups, person=table.person, progress=progress)


def unit(found: risk.Linkage) -> str:
    """Return the unit of the shares of attacks."""
    return "records" if found.persons is None else "persons"


def best_attacks(found: risk.Linkage) -> pd.DataFrame:
    """Return the most successful attack for everything an adversary may know, with ``knowledge`` in words.

    The worst-off are those of all attacks.
    """
    table = found.attacks
    masked = max(table["known"], key=len)
    kept = max(table["also_known"], key=len)
    rows: dict[str, dict[str, Any]] = {}
    for row in rows_by_name(table):
        said = _knowledge(row, masked, kept)
        other = rows.get(said, row)
        # Of attacks that do not tell, the other counts.
        worst = {name: np.fmax(other[name], row[name]) for name in _WORST_OFF if row[name] is not None}
        rows[said] = {**(row if row["share"] > other["share"] else other), **worst, "knowledge": said}
    return pd.DataFrame(list(rows.values()))


def _knowledge(row: Mapping[str, Any], masked: Sequence[Any], kept: Sequence[Any]) -> str:
    if row["attack"] == "informed adversary":
        return "… and kept ones predicted"
    if row["also_known"]:
        return f"… and {also_known(row['also_known'], kept)}"
    return "all masked columns" if len(row["known"]) == len(masked) else f"{listed(row['known'])} alone"


def also_known(names: Sequence[Any], kept: Sequence[Any]) -> str:
    """Return what an adversary knows besides masked columns, in words."""
    if not names:
        return "nothing else"
    return "all kept columns" if len(names) == len(kept) > 1 else listed(names)


def group_sizes(summary: Mapping[str, Any], k: int) -> pd.DataFrame:
    """Return the share of records by size of their group, from k to 2k."""
    sizes = {int(size): times for size, times in summary["groups"]["sizes"].items()}
    # Larger groups hold copies of one tuple only; how many records these are is all that matters.
    last = 2 * k
    share: dict[int, float] = {}
    for size, times in sizes.items():
        share[min(size, last)] = share.get(min(size, last), 0) + size * times / summary["records"]
    rows = [(f"{size}+" if size == last else str(size), share[size]) for size in sorted(share)]
    return pd.DataFrame(rows, columns=["group size", "share"])


def candidates(summary: Mapping[str, Any]) -> pd.DataFrame | None:
    """Return the quantiles of the number of candidates that swaps had, by attribute; None if nothing was counted."""
    found = {name: figures.get("candidates") for name, figures in summary.get("attributes", {}).items()}
    rows = [{"attribute": str(name), **quantiles} for name, quantiles in found.items() if quantiles]
    return pd.DataFrame(rows) if rows else None


def doubling(counts: Any, least: int) -> pd.DataFrame:
    """Return the shares of numbers from ``least`` on, in doubling ranges.

    >>> doubling([3, 5, 9, 9], 4)["rows"].tolist()
    ['fewer than 4', '4 to 7', '8 to 15']
    """
    numbers = np.asarray(counts).astype(np.int64)
    place = np.where(numbers < least, 0, 1 + np.log2(np.maximum(numbers, least) / least).astype(np.int64))
    share = np.bincount(place) / len(numbers)
    labels = [f"fewer than {least:,}"]
    labels += [f"{least * 2**i:,} to {least * 2 ** (i + 1) - 1:,}" for i in range(len(share) - 1)]
    found = pd.DataFrame({"rows": labels, "share": share})
    return found if share[0] else found.iloc[1:].reset_index(drop=True)


def rows_of(table: pd.DataFrame) -> Iterator[Any]:
    """Return the rows of a table, with the columns as attributes."""
    return iter(table.itertuples(index=False))


def rows_by_name(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, with the columns as keys."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _require_pairs(change: Change) -> None:
    if not change.records:
        raise DataError("no record has a value before and after", column=change.name)


def _scale(change: Change) -> float:
    """Return the upper end of the distance scale: 1, or the next of 2, 5, 10, 20, … for larger measures."""
    largest = float(change.distance.max(initial=1))
    tens = 10.0 ** math.floor(math.log10(largest))
    return next(step * tens for step in (1.0, 2.0, 5.0, 10.0) if step * tens >= largest * (1 - 1e-12))


def _rounded(values: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    return np.round(np.round(values / step) * step, 10)
