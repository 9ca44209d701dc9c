"""What the figures show, as tables: counted over pairs of categories, never over records."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import _core, distortion
from nominym.error import DataError, ParameterError, UnknownColumnError
from nominym.frame import Column, Table, code, code_ordered
from nominym.stats.semantic import correlation_changes
from nominym.taxonomy.matrix import DistanceMatrix
from nominym.taxonomy.space import Space
from nominym.taxonomy.taxonomy import Taxonomy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.taxonomy.measure import Measure

BINS = 10
STEP = 0.05
"""Figures of single categories are rounded to this share, and the lowest and the highest are not told apart."""

EQUAL = "equal"
"""In place of a taxonomy: values are equal or not, and there is no more to say."""

UNCHANGED = "unchanged"


def threshold(k: float | None) -> int:
    """Give the number of records that a category needs to be named.

    Figures of a category tell something about the draw, the more the fewer records it has. With three groups of k or
    thirty records, rounded, they tell next to nothing about one of them.

    >>> threshold(None), threshold(50)
    (30, 150)
    """
    return max(30, 3 * math.ceil(k or 0))


def is_equal(semantics: object) -> bool:
    """Tell whether values of a column are only compared."""
    return isinstance(semantics, str) and semantics == EQUAL


class Attribute:
    """A column before and after masking: pairs of categories, their records, and how far apart they are."""

    def __init__(
        self,
        name: Any,
        before: Any,
        after: Any,
        semantics: Any,
        *,
        measure: str | Measure = "wu-palmer",
        root: object = None,
        truth: NDArray[np.intp] | None = None,
        progress: Progress = None,
    ) -> None:
        """Code both columns; with ``truth``, record i is in row ``truth[i]`` after."""
        self.name, self._progress = name, progress
        self.space: Space | None = None
        self.scale = 1.0
        """The distance that counts as large."""
        label = None if name is None else str(name)
        if isinstance(semantics, Taxonomy | DistanceMatrix):
            self.before, self.after = code(before, label), _moved(code(after, label), truth)
            self.space = Space(semantics, [self.before, self.after], measure, root)
            self._places = self.space.places[0], self.space.places[1]
        else:

            def read(values: Any) -> Column:
                return code(values, label) if is_equal(semantics) else code_ordered(values, label, semantics)

            self.before, self.after = read(before), _moved(read(after), truth)
            self._places = _by_text(self.before, self.after)
        self._semantics = semantics
        if len(self.before) != len(self.after):
            raise DataError(
                f"column {name!r}: {len(self.before):,} records before, {len(self.after):,} after; a report compares "
                "tables of the same records"
            )
        x, y, self.count = _core.joint(
            self.before.codes, self.after.codes, (len(self.before.categories), len(self.after.categories))
        )
        if not len(self.count):
            raise DataError(f"column {name!r}: no record has a value before and after")
        self.x, self.y = self._places[0][x], self._places[1][y]
        self.distance = self._distances(x, y)
        if self.distance.max() > 1:
            self.scale = _nice(float(self.distance.max()))

    def _distances(self, x: NDArray[np.uint32], y: NDArray[np.uint32]) -> NDArray[np.float64]:
        if self.space is not None:
            return self.space.pairs(self.x, self.y, self._progress)
        if is_equal(self._semantics):
            return np.not_equal(self.x, self.y).astype(np.float64)
        first, second = _numbers(self.before, self.after, self._semantics)
        return np.abs(first[x] - second[y])

    @property
    def measured(self) -> bool:
        """Whether there are distances, not only equal and different values."""
        return not is_equal(self._semantics)

    @cached_property
    def records(self) -> int:
        """Records with a value before and after."""
        return int(self.count.sum())

    @property
    def unchanged(self) -> float:
        """Share of the records whose value means what it did."""
        return int(self.count[self.x == self.y].sum()) / self.records

    @property
    def rmse(self) -> float:
        """Root of the mean squared distance."""
        return math.sqrt(math.fsum(self.count * self.distance**2) / self.records)

    def histogram(self) -> pd.DataFrame:
        """Give the share of records by distance: none, and ten ranges up to the largest."""
        width = self.scale / BINS
        # A distance on an edge belongs below it, whatever the last digit says.
        place = np.clip(np.ceil(self.distance / width - 1e-9), 1, BINS).astype(np.intp)
        place[self.x == self.y] = 0
        share = np.bincount(place, self.count, BINS + 1) / self.records
        edges = [i * width for i in range(BINS + 1)]
        rows = [(UNCHANGED, 0.0, 0.0), *((_range(a, b), a, b) for a, b in pairwise(edges))]
        return pd.DataFrame(rows, columns=["distance", "above", "up_to"]).assign(share=share)

    def changed(self, least: int) -> tuple[pd.DataFrame, dict[str, Any]]:
        """List the categories with enough records, those first whose records moved farthest; count the others."""
        size = 1 + int(max(places.max(initial=0) for places in self._places))
        before, after = (
            np.bincount(places, column.counts, size)
            for places, column in zip(self._places, (self.before, self.after), strict=True)
        )
        both = np.bincount(self.x, self.count, size)
        moved = np.bincount(self.x, self.count * (self.x != self.y), size) / np.maximum(both, 1)
        distance = np.bincount(self.x, self.count * self.distance, size) / np.maximum(both, 1)
        named = np.flatnonzero((before >= least) & (both >= least))
        few = np.flatnonzero((before > 0) & ((before < least) | (both < least)))
        names = dict(zip(self._places[0][::-1].tolist(), reversed(self.before.categories), strict=True))
        found = pd.DataFrame(
            {
                "attribute": str(self.name),
                "category": [self._written(names[place]) for place in named],
                "before": before[named].astype(np.int64),
                "after": after[named].astype(np.int64),
                "moved": np.clip(_rounded(moved[named], STEP), STEP, 1 - STEP),
                "distance": _rounded(distance[named], STEP * self.scale),
            }
        )
        total = found["before"] * found["distance"]
        order = sorted(range(len(found)), key=lambda i: (-total[i], -found["before"][i], found["category"][i]))
        hidden = {"categories": len(few), "share": float(before[few].sum() / max(before.sum(), 1))}
        return found.iloc[order].reset_index(drop=True), hidden

    def _written(self, category: Any) -> str:
        text = str(category)
        if not isinstance(self._semantics, Taxonomy):
            return text
        label = self._semantics.label(category)
        return text if label.casefold() == text.casefold() else f"{label} ({text})"

    def moments(self) -> dict[str, Any]:
        """Compare semantic mean and variance."""
        assert self.space is not None
        found: dict[str, Any] = {}
        for when, places, column in zip(("before", "after"), self._places, (self.before, self.after), strict=True):
            mean = self.space.mean(places, column.counts, self._progress)
            squares = self.space.pairs(places, np.full_like(places, mean)) ** 2
            found[f"mean_{when}"] = self._written(self.space.names[mean])
            found[f"variance_{when}"] = math.fsum(column.counts * squares) / int(column.counts.sum())
        return found


def attributes(
    before: Any,
    after: Any,
    taxonomies: Mapping[Any, Any],
    *,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    truth: Any = None,
    progress: Progress = None,
) -> list[Attribute]:
    """Pair the columns of two tables."""
    if not isinstance(taxonomies, Mapping):
        raise ParameterError(
            f"taxonomies: a mapping from column names to taxonomies is needed, not {type(taxonomies).__name__}"
        )
    tables = Table(before), Table(after)
    for name in taxonomies:
        for when, table in zip(("before", "after"), tables, strict=True):
            if name not in table.names:
                known = ", ".join(map(repr, table.names))
                raise UnknownColumnError(f"there is no column {name!r} in the table {when}; there are {known}")
    rows = None
    if truth is not None and taxonomies:
        name = next(iter(taxonomies))
        rows = check_truth(truth, *(len(table.values(name)) for table in tables))
    return [
        Attribute(
            name,
            tables[0].values(name),
            tables[1].values(name),
            semantics,
            measure=measure,
            root=(roots or {}).get(name),
            truth=rows,
            progress=progress,
        )
        for name, semantics in taxonomies.items()
    ]


def check_truth(truth: Any, records: int, rows: int) -> NDArray[np.intp]:
    """Read which row of the release each record is."""
    found = np.asarray(truth)
    if found.shape != (records,) or found.dtype.kind not in "iu":
        raise ParameterError(f"truth: the row of the release for each of the {records:,} records is needed")
    if len(found) and (int(found.min()) < 0 or int(found.max()) >= rows):
        raise ParameterError(f"truth: the release has {rows:,} rows, numbered from 0")
    return found.astype(np.intp)


def correlations(columns: Sequence[Attribute], progress: Progress = None) -> pd.DataFrame:
    """Compare the distance correlations of all pairs of attributes that have semantic distances."""
    coded: tuple[dict[Any, Any], dict[Any, Any]] = {}, {}
    for column in columns:
        if column.space is None:
            continue
        for found, side, places in zip(coded, (column.before, column.after), column.space.places, strict=True):
            found[column.name] = side.codes, column.space.matrix(places, progress)
    return correlation_changes(*coded, progress)


def utility(columns: Sequence[Attribute], before: Any, after: Any) -> pd.DataFrame:
    """List what masking did to each attribute on its own."""
    rows = []
    for column in columns:
        apart = {
            name: getattr(distortion, name)(before, after, [column.name]) if _is_nominal(column) else math.nan
            for name in ("total_variation", "entropy_change")
        }
        rows.append(
            {
                "attribute": column.name,
                "categories_before": len(column.before.categories),
                "categories_after": len(column.after.categories),
                "unchanged": column.unchanged,
                "rmse": column.rmse if column.measured else math.nan,
                **apart,
                **(column.moments() if column.space is not None else {}),
            }
        )
    return pd.DataFrame(rows)


def associations(before: Any, after: Any, names: Sequence[Any], progress: Progress = None) -> pd.DataFrame | None:
    """Measure distortion for pairs of those columns that are nominal; None where there are no two."""
    kept = []
    for name in names:
        try:
            sizes = [len(Table(table).code(name).categories) for table in (before, after)]
        except (DataError, UnknownColumnError):
            continue  # numbers have no categories
        if max(sizes) <= _MOST:
            kept.append(name)
    return distortion.table(before, after, kept, progress=progress) if len(kept) > 1 else None


# A column with more categories tells records apart rather than kinds of records.
_MOST = 5_000


def effective_k(result: Any) -> tuple[pd.DataFrame, int | None]:
    """Give the candidates that records or swaps had, and k.

    For strict rank swapping the sizes of groups, by share of records; for the published methods the quantiles of the
    number of candidates, by attribute.
    """
    summary, k = getattr(result, "summary", None) or {}, (getattr(result, "params", None) or {}).get("k")
    if "groups" in summary and "sizes" in summary["groups"]:
        sizes = summary["groups"]["sizes"]
        # Larger groups hold copies of one tuple only; how many of these there are is all that matters.
        last = 2 * (k or min(sizes))
        share: dict[int, float] = {}
        for size, times in sizes.items():
            share[min(size, last)] = share.get(min(size, last), 0) + size * times / summary["records"]
        rows = [(f"{size}+" if size == last else str(size), share[size]) for size in sorted(share)]
        return pd.DataFrame(rows, columns=["group_size", "share"]), k
    found = {
        str(name): figures["candidates"]
        for name, figures in summary.get("attributes", {}).items()
        if figures.get("candidates")
    }
    if not found:
        raise DataError("effective k: rank swapping counts candidates; other methods have none")
    return pd.DataFrame([{"attribute": name, **quantiles} for name, quantiles in found.items()]), k


def doubling(counts: Any, least: int) -> pd.DataFrame:
    """Give the shares of numbers from ``least`` on, in ranges that double.

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
    """Give the rows of a table, with the columns as attributes."""
    return iter(table.itertuples(index=False))


def _is_nominal(column: Attribute) -> bool:
    return column.space is not None or not column.measured


def _moved(column: Column, truth: NDArray[np.intp] | None) -> Column:
    if truth is None:
        return column
    if len(truth) and truth.max() >= len(column):
        raise ParameterError(f"truth: the release has {len(column):,} rows, numbered from 0")
    return Column(column.codes[truth], column.categories, column.name)


def _by_text(before: Column, after: Column) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Number the values of two columns alike: values with the same text are the same."""
    place: dict[str, int] = {}
    first, second = (
        np.array([place.setdefault(str(value), len(place)) for value in column.categories], dtype=np.uint32)
        for column in (before, after)
    )
    return first, second


def _numbers(before: Column, after: Column, order: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Put ordered values on a scale: as numbers, or by rank where they are none."""
    sides = [np.asarray(column.categories) for column in (before, after)]
    if any(side.dtype.kind not in "biuf" for side in sides):
        ranked = list(order) if order is not None else sorted({*before.categories, *after.categories})
        rank = {str(value): i for i, value in enumerate(ranked)}
        sides = [np.array([rank[str(value)] for value in column.categories]) for column in (before, after)]
    return sides[0].astype(np.float64), sides[1].astype(np.float64)


def _rounded(values: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    return np.round(np.round(values / step) * step, 10)


def _nice(value: float) -> float:
    """Give the next of 1, 2, 5, 10, 20, … that is not below a number.

    >>> _nice(3.2), _nice(10), _nice(60)
    (5.0, 10.0, 100.0)
    """
    tens = 10.0 ** math.floor(math.log10(value))
    return next(step * tens for step in (1.0, 2.0, 5.0, 10.0) if step * tens >= value * (1 - 1e-12))


def _range(above: float, up_to: float) -> str:
    return f"{above:.3g} to {up_to:.3g}"
