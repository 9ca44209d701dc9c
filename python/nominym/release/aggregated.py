"""Verify that a release of microaggregation follows from its groups, and its groups from the method.

Apart from the draw, the groups and all values of a release follow from the original. They are therefore recomputed and
compared with the file as written: a cell written differently from the others of its group would mark its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nominym import _core
from nominym.aggregate import aggregated, is_retyped, lost, published
from nominym.groups import Partition, form
from nominym.release.columns import as_texts, is_text, whole
from nominym.release.comparing import tuples_of
from nominym.table import Attribute, Table, attributes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.aggregate import Microaggregate
    from nominym.control import Progress
    from nominym.release.comparing import FilePair
    from nominym.table import Change


class Remade:
    """A release of microaggregation, recomputed from the original and the groups of the owner's record."""

    def __init__(
        self, pair: FilePair, masked: Sequence[str], partition: Partition, method: Microaggregate, progress: Progress
    ) -> None:
        """Start from the columns of the original, as the method received them."""
        assert pair.raw is not None  # it is read with the files of this method
        self._pair, self._masked, self._partition, self._method = pair, list(masked), partition, method
        self._progress, self._table = progress, Table(pair.raw[0])
        changes = pair.comparison.changes
        known = {name: changes[name].before.meaning for name in masked if name not in pair.weaker}
        roots = {name: root for name, root in (method.roots or {}).items() if name in known}
        self._columns: dict[Any, Attribute] = {}
        if known:
            self._columns = attributes(self._table, known, method.measure, roots, progress=progress)

    @cached_property
    def _changes(self) -> dict[Any, Change]:
        common = self._method.replace == "subsumer"
        return {
            name: aggregated(old, self._partition, common=common, progress=self._progress)
            for name, old in self._columns.items()
        }

    def figures(self) -> tuple[dict[Any, dict[str, float]], dict[str, float]]:
        """Compute the public figures of the loss, by column and in total; the latter only with all meanings."""
        lost_of = {name: lost(change, self._columns[name], self._progress) for name, change in self._changes.items()}
        columns, overall = published(lost_of)
        return columns, overall if len(columns) == len(self._masked) else {}

    def smallest_class(self) -> int:
        """Return the size of the smallest class of equal rows."""
        after = self._pair.comparison.after
        sizes, _ = _core.class_sizes([after.column(name).dense() for name in self._masked], None)
        return int(sizes[0])

    def departures(self) -> list[str]:
        """Return where the values of groups differ, or are not those of the method."""
        assert self._pair.raw is not None
        common = self._method.replace == "subsumer"
        retyped = [name for name, old in self._columns.items() if is_retyped(old, common)]
        columns = {name: change.after.column for name, change in self._changes.items()}
        made = Table(self._table.data.select(list(columns))).replaced(columns, moved=True, retyped=retyped)
        found = []
        for name in self._masked:
            released = _plain(self._pair.raw[1][name])
            expected = _as_file(name, _plain(made.data[name]), released.type) if name in columns else None
            if expected is not None and expected.equals(released):
                continue
            several = self._several(released)
            if several:
                found.append(f"column {name!r}: {several:,} groups have several values, or one written in several ways")
            elif name in columns:
                wrong = self._several(released, expected)
                found.append(f"column {name!r}: {wrong:,} groups have a value that is not theirs")
        return found

    def _several(self, released: Any, expected: Any = None) -> int:
        """Count the groups with several values; with ``expected``, those with another than that."""
        codes = _codes(released)
        if expected is not None:
            n = len(released)
            both = _codes(pa.concat_arrays([released, expected]))
            return len(np.unique(self._partition.group_of[both[:n] != both[n:]]))
        along = codes[self._partition.records]
        starts = np.cumsum(self._partition.sizes) - self._partition.sizes
        return int((np.minimum.reduceat(along, starts) != np.maximum.reduceat(along, starts)).sum())

    def formed(self, columns: Sequence[str]) -> bool | None:
        """Return whether these are the groups that the method forms from these values, apart from what is drawn.

        ``columns`` are the masked ones in the order of the method. None where the meaning of one is not known.
        """
        if set(columns) != set(self._columns):
            return None
        known = [self._columns[name] for name in columns]
        person, limits = self._limits
        made = form(known, self._method.k or 2, person=person, sensitive=limits, longer=self._method.anneal,
                    settled=True, progress=self._progress)  # fmt: skip
        tuples = tuples_of([old.place_codes for old in known])
        # A group is known by the sum of the random numbers of its tuples.
        numbers = np.random.default_rng().integers(1 << 63, size=int(tuples.max()) + 1, dtype=np.uint64)[tuples]
        first, second = (np.sort(_sums(numbers, parts)) for parts in (self._partition, made))
        return bool(np.array_equal(first, second))

    @cached_property
    def _limits(self) -> tuple[Any, dict[Any, tuple[Any, int]]]:
        """Return the column of persons, and the sensitive columns with their l."""
        person = self._method.person
        sensitive = self._method.sensitive or {}
        limits = {name: (self._table.column(name).merged(), share) for name, share in sensitive.items()}
        return None if person is None else self._table.column(person).merged(), limits

    def equal_records(self) -> Partition:
        """Return the classes of records that the method cannot tell apart."""
        person, limits = self._limits
        told = [column for column, _ in limits.values()] + ([] if person is None else [person])
        known = [old.place_codes for old in self._columns.values()]
        classes = tuples_of([*known, *(column.dense()[0] for column in told)]).astype(np.uint32)
        return Partition(classes, np.argsort(classes, kind="stable").astype(np.uint32))


def _sums(numbers: NDArray[np.uint64], partition: Partition) -> NDArray[np.uint64]:
    starts = np.cumsum(partition.sizes) - partition.sizes
    return np.add.reduceat(numbers[partition.records], starts)


def _plain(column: Any) -> Any:
    """Return a column in one piece, without a dictionary."""
    column = whole(column)
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _as_file(name: str, made: Any, kind: Any) -> Any:
    """Return values as a file of a type holds them; None if it cannot."""
    if is_text(kind):
        texts = as_texts(name, made).cast(kind)
        return pc.if_else(pc.equal(texts, ""), None, texts)
    try:
        return made.cast(kind)
    except pa.ArrowException:
        return None


def _codes(column: Any) -> NDArray[np.int64]:
    """Number the values as they are written; missing and NaN are different."""
    if pa.types.is_nested(column.type):
        column = pa.array([None if each is None else repr(each) for each in column.to_pylist()], pa.string())
    return np.asarray(column.dictionary_encode(null_encoding="encode").indices)
