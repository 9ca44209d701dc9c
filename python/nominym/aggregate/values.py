"""One value per group: columns of means, or of what the values have in common."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nominym.groups import Partition
from nominym.meaning import ConceptSpace, MatrixSpace, SetSpace, Standing
from nominym.table import MISSING, Attribute, Change, Column, Listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.meaning import Kind


def aggregated(attribute: Attribute, partition: Partition, *, common: bool, progress: Progress = None) -> Change:
    """Return one value for all records of each group: the mean of their values, or what these have in ``common``.

    Either all records of a group have a value or none has. A missing value does not enter the mean, which a group has
    unless more than half of its values are missing. What values have in common is missing if any of them is: no other
    value is known to hold for the missing one.
    """
    known = attribute.place_codes != MISSING
    with_value = np.bincount(partition.group_of[known], minlength=len(partition.sizes))
    stays = with_value == partition.sizes if common else 2 * with_value >= partition.sizes
    return _replaced(attribute, partition, stays, common, progress)


def total_squares(attribute: Attribute, progress: Progress = None, counts: NDArray[np.uint64] | None = None) -> float:
    """Return the sum of squared distances of all values of a column to their overall mean.

    ``counts`` are the records of each category, by default those that the column has.
    """
    weights = attribute.column.counts if counts is None else counts
    used = np.flatnonzero(weights).astype(np.uint32)
    if not len(used):
        return 0.0
    once = replace(attribute, column=attribute.column.with_codes(used))
    change = _replaced(once, Partition(np.zeros_like(used), used), np.array([True]), False, progress, weights)
    apart = change.space.pairs(change.before.places[used], np.repeat(change.after.places[:1], len(used)), progress)
    return math.fsum(weights[used] * apart**2)


def squares(change: Change) -> float:
    """Return the sum of squared distances between values before and after."""
    return math.fsum(change.count * change.distance**2)


def is_retyped(attribute: Attribute, common: bool) -> bool:
    """Return whether a column changes its type, to decimals or texts; depends on its meaning and type alone."""
    space, column = attribute.space, attribute.column
    if isinstance(space, SetSpace):
        return True
    if isinstance(space, ConceptSpace | MatrixSpace) and not (common and isinstance(space, MatrixSpace)):
        return column.kind != "text"
    if common:
        return column.kind != "text" or column.order is not None
    if space.unit is None:
        return False  # some value of the column
    exact = isinstance(column.categories[0], Decimal) if column.kind == "number" else True
    return column.kind in ("whole", "truth", "mixed", "number") and exact and not _are_periods(column)


def _are_periods(column: Column) -> bool:
    return column.numbers is None and hasattr(column.categories[0], "ordinal")


def _replaced(
    attribute: Attribute,
    partition: Partition,
    stays: NDArray[np.bool_],
    common: bool,
    progress: Progress,
    weights: NDArray[np.uint64] | None = None,
) -> Change:
    """Put one value in place of those of each group; ``weights``, of one group, count its records by category."""
    if len(attribute.space.places) > 1:
        # What became of the values plays no part.
        how = (attribute.space.measure, attribute.space.root) if isinstance(attribute.space, ConceptSpace) else ()
        alone = attribute.meaning.space([attribute.column], *how)
        attribute = replace(attribute, space=alone, places=alone.places[0])
    codes, space = attribute.place_codes, attribute.space
    cells = partition.cells(codes, (codes != MISSING) & stays[partition.group_of])
    if weights is not None:
        every = np.zeros(len(space), dtype=np.uint64)
        np.add.at(every, attribute.places, weights)
        cells = cells._replace(counts=every[cells.places])
    of_group = np.full(len(partition.sizes), MISSING, dtype=np.uint32)
    listed: Any = ()
    kind = attribute.column.kind
    found = Standing(np.empty(0, dtype=np.int64))
    if len(cells.places):
        found = space.commons(cells, progress) if common else space.centroids(cells, progress)
        of_group[stays], listed, kind = _written(attribute, found, common)
    order = attribute.column.order if not common and space.unit is None else None
    column = Column(of_group[partition.group_of], listed, attribute.column.name, kind, order)
    if isinstance(space, SetSpace):
        columns = [attribute.column, column]
        return Change.between(attribute.name, columns, attribute.meaning, "wu-palmer", None, attribute.progress)
    # By places, never by texts: what a text such as "{a, b}" stands for depends on who wrote it.
    before, places = attribute, np.unique(found.chosen).astype(np.uint32)
    if found.values is not None:
        space = space.beside(column, found)
        before, places = replace(attribute, space=space, places=space.places[0]), space.places[1]
    return Change(before, Attribute(attribute.name, column, attribute.meaning, space, places, attribute.progress))


def _written(attribute: Attribute, found: Standing, common: bool) -> tuple[NDArray[np.int64], Any, Kind]:
    """Return for each group the index of its value, the values as written, and what they are."""
    space, column = attribute.space, attribute.column
    if found.values is None:
        present, numbers = np.unique(found.chosen, return_inverse=True)
        if isinstance(space, ConceptSpace | MatrixSpace):
            # All alike, so that the way a value is written does not tell whether it was there before.
            spelled = space.spellings(space.labelled([column]))
            return numbers.reshape(-1), tuple(spelled[place] for place in present.tolist()), "text"
        own = np.zeros(len(space), dtype=np.int64)
        own[attribute.places[::-1]] = np.arange(column.size)[::-1]
        return numbers.reshape(-1), tuple(column.categories[i] for i in own[present].tolist()), column.kind
    values = found.values
    if isinstance(space, SetSpace):
        whole = space.taxonomy is None and all(type(item) is int for value in column.categories for item in value)
        return found.chosen, tuple([int(i) for i in value] if whole else value for value in values), "nested"
    if common:
        return found.chosen, tuple(values), "text"
    if isinstance(values, np.ndarray):
        if column.kind == "text":
            return found.chosen, tuple(str(int(x)) if x == int(x) else repr(x) for x in values.tolist()), "text"
        return found.chosen, Listed(pa.array(values)), "number"
    return found.chosen, tuple(values), column.kind
