"""How much memory a command takes: logged before the work, and an error if it is not free.

Without memory, some libraries end the process instead of raising an error. The peak memory of a command, besides the
libraries themselves, is therefore checked in advance: by the number of records as soon as the file is open, and by what
was read as soon as that is known. The figures are measured upper bounds; a test measures them again. What grows with
the square of the categories, and what a kernel of the core takes, is checked where it is allocated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from nominym.control import expect, require


class Bytes(NamedTuple):
    """Peak memory of some work."""

    record: int
    cell: int
    """Per record and column."""

    def of(self, rows: int, columns: int) -> int:
        """Return the bytes for a table."""
        return rows * (self.record + self.cell * columns)


RELEASE, MASKING = Bytes(40, 28), Bytes(40, 12)
"""For making a release, and for the part after reading."""

COMPARISON, JUDGING = Bytes(360, 52), Bytes(330, 36)
"""For comparing, attacking and verifying a release, and for the part after reading."""

IDENTIFIER = 110
"""Bytes per record and identifier, which is read to see whether it identifies persons, and then dropped."""

CATEGORY = 600
"""Bytes for each value of a column."""

TEXT = 200
"""Bytes to collect each distinct text, besides three times its length."""

REMEDY = "end other programs, raise the limit of the process, or take fewer columns"


class Reading:
    """Records on their way into memory: an error as soon as what was read could no longer be combined."""

    def __init__(self, where: str) -> None:
        """Start without records."""
        self._where, self._rows = where, 0
        self._texts: Counter[str] = Counter()

    def add(self, batch: Any) -> Any:
        """Count further records and return them."""
        self._rows += batch.num_rows
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if pa.types.is_dictionary(column.type):
                listed = column.dictionary
                size = TEXT * len(listed) + 3 * listed.nbytes
                # Where most texts are new to their batch, they are new to the column.
                new = 2 * len(listed) > len(column)
                self._texts[name] = self._texts[name] + size if new else max(self._texts[name], 4 * size)
        most = max(self._texts.values(), default=0)
        require(8 * self._rows + most, f"reading {self._rows:,} records of {self._where} and more", REMEDY)
        return batch


def expect_release(rows: int | None, columns: int, identifiers: int) -> None:
    """Raise if a release of about this many records would not fit into memory."""
    if rows is not None:
        size = RELEASE.of(rows, columns) + IDENTIFIER * identifiers * rows
        expect(size, f"masking about {rows:,} records of {columns:,} columns", REMEDY)


def require_release(table: Any) -> None:
    """Raise if masking a table that was read would not fit into memory."""
    shape = table.num_rows, table.num_columns
    size = MASKING.of(*shape) + table.get_total_buffer_size() + CATEGORY * _values(table)
    require(size, "masking {:,} records of {:,} columns".format(*shape), REMEDY)


def expect_comparison(rows: Sequence[int | None], columns: int) -> None:
    """Raise if a comparison of about this many records would not fit into memory."""
    known = [each for each in rows if each is not None]
    if known:
        size = COMPARISON.of(max(known), columns)
        expect(size, f"comparing about {max(known):,} records of {columns:,} columns", REMEDY)


def require_comparison(old: Any, new: Any) -> None:
    """Raise if comparing two tables that were read would not fit into memory."""
    shape = max(old.num_rows, new.num_rows), old.num_columns
    size = JUDGING.of(*shape) + CATEGORY * (_values(old) + _values(new))
    require(size, "comparing {:,} records of {:,} columns".format(*shape), REMEDY)


def _values(table: Any) -> int:
    """Count the values that the dictionaries of a table list."""
    parts = [chunk for column in table.columns for chunk in column.chunks if pa.types.is_dictionary(column.type)]
    return sum(len(part.dictionary) for part in parts)
