"""What is done with the records of one block: groups and what happens inside them, or SRS-3.

Records come as codes. Categories, roots, and the lowest and highest of numbers, and therefore distances, are those of
all records.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nominym import groups
from nominym.aggregate import Microaggregate, aggregated, squares
from nominym.meaning import Meaning
from nominym.spark import draws, plan
from nominym.swap import RankSwap
from nominym.swap.rank import swap_as_published
from nominym.table import MISSING, Attribute, Column, of_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Meant:
    """A masked column of all records."""

    column: Column
    """Each category once, in the order of its code."""
    meaning: Meaning
    root: object
    values: pa.Array
    """The same categories in Arrow."""
    kind: pa.DataType
    """The type of values after masking."""


@dataclass(frozen=True)
class Job:
    """What tasks are told: the method, and the columns by their name here."""

    method: RankSwap | Microaggregate
    columns: Mapping[str, Meant]
    start: int
    """Where the search for groups that follow from the records alone starts."""
    key: bytes
    name: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    """Tells one job from all others, those with the same key too."""

    @property
    def attributes(self) -> dict[str, Attribute]:
        """The columns of all records with their meaning; a worker makes them once for all of its blocks."""
        if self.name not in _made:
            _made.clear()
            _made[self.name] = {
                name: of_columns([each.column], [each.meaning], self.method.measure, [each.root])[0]
                for name, each in self.columns.items()
            }
        return _made[self.name]


_made: dict[bytes, dict[str, Attribute]] = {}


@dataclass(frozen=True)
class Treated:
    """A masked block."""

    values: dict[str, pa.Array]
    groups: NDArray[np.uint32]
    figures: dict[str, Any]
    """What the block adds to the public summary."""


def treated(job: Job, codes: Mapping[str, NDArray[np.uint32]], block: int) -> Treated:
    """Mask the records of a block, which are in the order that the key drew."""
    whole = {
        name: each.with_codes(np.where(codes[name] == each.size, MISSING, codes[name]))
        for name, each in job.attributes.items()
    }
    used = {name: np.flatnonzero(each.column.counts) for name, each in whole.items()}
    here = {
        name: replace(each, column=each.column.arranged(used[name]), places=each.places[used[name]])
        for name, each in whole.items()
    }
    start = int(draws.numbers(job.key, block, 0, 1)[0])
    method = job.method
    if isinstance(method, Microaggregate):
        return _aggregated(job, method, whole, here)
    if method.strict:
        return _permuted(job, method, codes, here, start, block)
    n = len(next(iter(codes.values())))
    found = swap_as_published(list(here.values()), "records", min(method.k or 1, n), start).codes
    new = {}
    for (name, each), after in zip(here.items(), found, strict=True):
        known = np.append(used[name], len(job.columns[name].values))
        new[name] = plan.taken(job.columns[name].values, known.take(np.minimum(after, each.size)))
    figures = {"records": n, "attributes": {name: {"missing": each.column.missing} for name, each in here.items()}}
    return Treated(new, np.zeros(n, dtype=np.uint32), figures)


def _permuted(
    job: Job,
    method: RankSwap,
    codes: Mapping[str, NDArray[np.uint32]],
    here: Mapping[str, Attribute],
    start: int,
    block: int,
) -> Treated:
    """Form groups, and permute inside them by draws of the key."""
    # An adversary is taken to know the groups; what must not be guessed are permutations, which have the whole key.
    partition = groups.form(list(here.values()), method.k or 2, longer=method.anneal, seed=start)
    n = len(partition.group_of)
    members = np.argsort(partition.group_of, kind="stable")
    values, drawn = {}, None
    for i, name in enumerate(here):
        if drawn is None or method.draw == "independent":
            drawn = draws.shuffled_within(partition.group_of, draws.numbers(job.key, block, i + 1, n))
        rows = np.empty(n, dtype=np.int64)
        rows[members] = drawn
        values[name] = plan.taken(job.columns[name].values, codes[name][rows])
    expected = {name: {**partition.expected(each), "missing": each.column.missing} for name, each in here.items()}
    return Treated(values, partition.group_of, {"attributes": expected, **_grouped(partition, here)})


def _aggregated(
    job: Job, method: Microaggregate, whole: Mapping[str, Attribute], here: Mapping[str, Attribute]
) -> Treated:
    """Form groups, and give all records of a group the same values."""
    # Which of several equal records is in which group was drawn with the key; the values of groups follow from records.
    partition = groups.form(list(here.values()), method.k or 2, longer=method.anneal, settled=True, seed=job.start)
    values, figures = {}, {}
    for name, each in whole.items():
        change = aggregated(each, partition, common=method.replace == "subsumer")
        after = change.after.column
        listed = plan.categories_of(after, job.columns[name].kind)
        values[name] = plan.taken(listed, np.minimum(after.codes, np.uint32(len(listed))))
        figures[name] = {
            "missing": each.column.missing,
            "records": change.records,
            "squares": squares(change),
            "same": int(change.count[change.old == change.new].sum()),
            "missing_made": change.missing_moved,
            "missing_filled": len(after) - after.missing - change.records,
        }
    return Treated(values, partition.group_of, {"attributes": figures, **_grouped(partition, here)})


def _grouped(partition: groups.Partition, here: Mapping[str, Attribute]) -> dict[str, Any]:
    masked = {name: each.place_codes for name, each in here.items()}
    return {"records": len(partition.group_of), "groups": partition.summary(masked, {})}
