"""The plan of the driver: what the records of each tuple become, and which share of it each block of records has.

A method whose result depends on records through their tuples alone treats records of one tuple alike: given how many
records of tuple t become t′, which of them do is a uniform draw. So the driver needs the tuples with their counts, runs
the method on them, and hands out slots, one for each record of a tuple. Who gets which is drawn where the records are.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from nominym.error import NominymError
from nominym.spark import draws
from nominym.table import Column, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PlanError(NominymError, RuntimeError):
    """Records that are not those the plan was made for: the source gave other rows when it was read again."""


def categories_of(column: Column, kind: pa.DataType) -> pa.Array:
    """Return the categories of a column in Arrow, in the type that it has."""
    return pa.array(list(column.categories), type=kind)


def in_utc(data: Any) -> Any:
    """Return a table or batch whose moments are in UTC: Spark hands them over in the zone of its session."""
    columns = [
        column if _in_utc(column.type) == column.type else column.cast(_in_utc(column.type)) for column in data.columns
    ]
    return type(data).from_arrays(columns, names=data.schema.names)


def _in_utc(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_in_utc(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_in_utc(kind.value_type)))
    return kind


@dataclass(frozen=True)
class Counted:
    """Distinct tuples of some columns, in the order of their codes, and how many records have each."""

    names: tuple[Any, ...]
    codes: NDArray[np.uint32]
    """A row for each tuple, a column for each name; a missing value is one category more."""
    categories: tuple[pa.Array, ...]
    counts: NDArray[np.int64]
    places: NDArray[np.int64]
    """A hash of each tuple, by which records find their block."""
    sums: NDArray[np.int64] | None = None
    """Of each tuple, what ``hash_sum`` says of the whole rows that have it."""

    @classmethod
    def of(cls, table: pa.Table, names: Sequence[Any], categories: Sequence[pa.Array], *about: str) -> Counted:
        """Order distinct tuples: the first columns are the codes of the names', ``about`` names the other columns."""
        codes = np.column_stack([codes_of(table.column(i), len(values)) for i, values in enumerate(categories)])
        order = np.lexsort(codes.T[::-1])
        more = [table[name].to_numpy().astype(np.int64)[order] for name in about]
        return cls(tuple(names), np.ascontiguousarray(codes[order]), tuple(categories), *more)

    @property
    def records(self) -> int:
        """Records in all."""
        return int(self.counts.sum())

    def table(self) -> Table:
        """Return all records as a table of codes, tuple after tuple."""
        columns = []
        for i, values in enumerate(self.categories):
            codes = np.repeat(self.codes[:, i], self.counts)
            gaps = codes == len(values) if bool((self.codes[:, i] == len(values)).any()) else None
            columns.append(pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32), mask=gaps), values))
        made = Table(pa.table(columns, names=list(map(str, self.names))))
        # Their order is that of the codes, which nobody publishes.
        made.shuffled = True
        return made


class Share(NamedTuple):
    """What a block of records is to become: tuples with their counts, and slots in runs."""

    codes: NDArray[np.uint32]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    """How many slots in a row are alike; slots come tuple after tuple."""
    slots: NDArray[np.uint32]
    """A row for each run: new codes of the masked columns, then the group."""

    def to_bytes(self) -> bytes:
        """Return the share as bytes."""
        target = io.BytesIO()
        np.savez_compressed(target, *self)
        return target.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> Share:
        """Read the share again; nothing in it is code."""
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            return cls(*(found[name] for name in found.files))


def slots_of(after: Sequence[Column], groups: NDArray[np.uint32] | None, records: int) -> NDArray[np.uint32]:
    """Return a row for each record: its new codes, and its group where there are groups."""
    columns = [np.minimum(column.codes, np.uint32(column.size)) for column in after]
    return np.column_stack([*columns, np.zeros(records, np.uint32) if groups is None else groups])


def blocks_of(places: NDArray[np.int64], blocks: int) -> NDArray[np.int64]:
    """Return the block of each tuple, as ``pmod`` of Spark has it."""
    return np.mod(places, blocks)


def shares(
    counted: Counted,
    slots: NDArray[np.uint32],
    blocks: int,
    split: Mapping[int, tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]] | None = None,
    key: bytes = b"",
) -> dict[int, Share]:
    """Cut the slots into one share for each block.

    A block that is too large is ``split`` by a hash of whole rows: of each part of it there are the tuples, the numbers
    of the parts and the counts. Its slots are dealt out at random, so that the share of a part is a multivariate
    hypergeometric draw.
    """
    ends = np.cumsum(counted.counts)
    starts = ends - counted.counts
    block = blocks_of(counted.places, blocks)
    order = np.argsort(block, kind="stable")
    cuts = np.flatnonzero(np.diff(block[order])) + 1
    made = {}
    for tuples in np.split(order, cuts):
        if not len(tuples):
            continue
        number = int(block[tuples[0]])
        rows = ranges(starts[tuples], counted.counts[tuples])
        if split is None or number not in split:
            made[number] = _share(counted.codes[tuples], counted.counts[tuples], slots[rows])
            continue
        codes, parts, counts = split[number]
        made |= _dealt(number, blocks, counted, tuples, slots[rows], codes, parts, counts, key)
    return made


def _dealt(
    number: int,
    blocks: int,
    counted: Counted,
    tuples: NDArray[np.int64],
    slots: NDArray[np.uint32],
    codes: NDArray[np.uint32],
    parts: NDArray[np.int64],
    counts: NDArray[np.int64],
    key: bytes,
) -> dict[int, Share]:
    """Deal the slots of one block out to its parts."""
    owner = np.repeat(np.arange(len(tuples)), counted.counts[tuples])
    slots = slots[draws.shuffled_within(owner, draws.numbers(key, number, -1, len(owner)))]
    order = np.lexsort((parts, *codes.T[::-1]))
    codes, parts, counts = codes[order], parts[order], counts[order]
    first = np.flatnonzero(np.concatenate(([True], (codes[1:] != codes[:-1]).any(axis=1))))
    totals = np.add.reduceat(counts, first)
    if not (np.array_equal(codes[first], counted.codes[tuples]) and np.array_equal(totals, counted.counts[tuples])):
        raise PlanError(CHANGED)
    part_of = np.repeat(parts, counts)
    made = {}
    for part in np.unique(parts):
        held = parts == part
        made[number + blocks * int(part)] = _share(codes[held], counts[held], slots[part_of == part])
    return made


def _share(codes: NDArray[np.uint32], counts: NDArray[np.int64], slots: NDArray[np.uint32]) -> Share:
    owner = np.repeat(np.arange(len(counts)), counts)
    changed = (slots[1:] != slots[:-1]).any(axis=1) | (owner[1:] != owner[:-1])
    starts = np.flatnonzero(np.concatenate(([True], changed)))
    return Share(codes, counts, np.diff(np.append(starts, len(slots))), slots[starts])


def ranges(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all places of several runs, one run after the other.

    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(int(ends[-1]) if len(ends) else 0)


def hash_sum(hashes: pa.ChunkedArray | pa.Array) -> int:
    """Return the sum of the upper halves of hashes, as Spark sums them while it counts."""
    return int((hashes.to_numpy() >> 32).sum())


CHANGED = (
    "the records are not those of the plan: the source gave other rows when it was read again; write it to Parquet "
    "first, and mask what was written"
)


def placed(
    codes: NDArray[np.uint32], hashes: Sequence[NDArray[np.int64]], share: Share, key: bytes, block: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Assign the slots of a block to its records: rows in their canonical order, and the slot of each.

    ``hashes`` are those of whole rows: rows of one tuple that agree in them are equal, so that which comes first does
    not matter. Refuses records that are not the plan's.
    """
    order = np.lexsort((*hashes, *codes.T[::-1]))
    codes = codes[order]
    changed = (codes[1:] != codes[:-1]).any(axis=1)
    first = np.flatnonzero(np.concatenate(([len(codes) > 0], changed)))
    counts = np.diff(np.append(first, len(codes)))
    if not (np.array_equal(codes[first], share.codes) and np.array_equal(counts, share.counts)):
        raise PlanError(CHANGED)
    slots = np.repeat(share.slots, share.lengths, axis=0)
    owner = np.repeat(np.arange(len(counts)), counts)
    return order, slots[draws.shuffled_within(owner, draws.numbers(key, block, 0, len(owner)))]


def codes_of(found: pa.ChunkedArray | pa.Array, size: int) -> NDArray[np.uint32]:
    """Read codes as Spark has them; what is missing, −1 there, has one code more than there are categories.

    Refuses values that were none of the categories: Spark found no code for them.
    """
    if found.null_count:
        raise PlanError(CHANGED)
    codes = found.to_numpy().astype(np.int64)
    return np.where(codes < 0, size, codes).astype(np.uint32)


def taken(categories: pa.Array, codes: NDArray[np.uint32]) -> pa.Array:
    """Return the categories of codes; the code beyond the last is a missing value."""
    gaps = codes == len(categories)
    return categories.take(pa.array(np.where(gaps, 0, codes).astype(np.int64), mask=gaps if gaps.any() else None))
