"""Tables in Parquet files: texts as codes, other columns with their types, and no notes of other programs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nominym.control import Progress, reporter
from nominym.error import DataError, FormatError, listed
from nominym.files import StrPath, as_input
from nominym.release.columns import is_text, whole
from nominym.release.sizing import Reading
from nominym.table import bare, or_data_error, tidied

# Rows that are read or written at a time.
_ROWS = 1 << 17

# Of a damaged file, Arrow may raise anything that can be wrong with a number, an index, a type or a text.
_DAMAGED = (pa.ArrowException, ArithmeticError, LookupError, OSError, RecursionError, TypeError, ValueError)


class ParquetTable:
    """A Parquet file, opened once: texts are read as codes, other columns keep their types."""

    def __init__(self, path: StrPath) -> None:
        """Open the file and read the names and types of its columns."""
        self.where = os.fspath(path)
        if as_input(path).stat().st_size == 0:
            raise FormatError(f"{self.where} is empty: expected a Parquet file")
        with self._or_damaged():
            self._bytes = pa.OSFile(self.where)
            self._file = pq.ParquetFile(self._bytes)
            self.schema = self._file.schema_arrow
            self.names = list(self.schema.names)
            said = self._file.metadata
            self.rows: int = sum(said.row_group(i).num_rows for i in range(said.num_row_groups))
            if self.rows != said.num_rows:
                raise pa.ArrowInvalid(f"{said.num_rows:,} records, and {self.rows:,} in its parts")
        self.types = {field.name: field.type for field in self.schema}

    def close(self) -> None:
        """Close the file."""
        self._bytes.close()

    def fingerprint(self) -> dict[str, Any]:
        """Return name, size and SHA-256 of the file; this takes another pass over it."""
        self._bytes.seek(0)
        digest = hashlib.sha256()
        while data := self._bytes.read(1 << 20):
            digest.update(data)
        return {"name": Path(self.where).name, "bytes": self._bytes.size(), "sha256": digest.hexdigest()}

    def notes(self) -> list[str]:
        """Return what the file holds besides its columns: metadata of the table or of a column."""
        # That of Arrow says the types; the number of a column is told of each.
        beside = set(self._file.metadata.metadata or {}) - {b"ARROW:schema"}
        of_columns = {key for field in self.schema for key in field.metadata or {}} - {b"PARQUET:field_id"}
        named = sorted(key.decode(errors="replace") for key in beside | of_columns)
        return [f"the file has metadata of another program, {listed(named)}"] if named else []

    @contextmanager
    def _or_damaged(self) -> Iterator[None]:
        try:
            yield
        except MemoryError:
            raise
        except _DAMAGED as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            told = str(error).partition("\n")[0]
            raise FormatError(f"{self.where}: not a Parquet file, or a damaged one ({told})") from None

    def read(self, columns: Sequence[str], progress: Progress) -> Any:
        """Read columns with their types; texts become dictionaries of distinct texts and codes."""
        text = [name for name in columns if is_text(self.types[name])]
        with self._or_damaged():
            file = pq.ParquetFile(
                self._bytes, metadata=self._file.metadata, read_dictionary=text, page_checksum_verification=True
            )
        batches, reading, done = [], Reading(self.where), 0
        with reporter(progress, "reading") as report:
            for batch in self._batches(file, list(columns)):
                batches.append(reading.add(batch))
                done += batch.num_rows
                if report:
                    report(done, self.rows)
        schema = batches[0].schema if batches else pa.schema([file.schema_arrow.field(name) for name in columns])
        read = pa.Table.from_batches(batches, schema)
        parts = zip(read.column_names, read.columns, strict=True)
        return pa.table({name: whole(each) if pa.types.is_dictionary(each.type) else each for name, each in parts})

    def _batches(self, file: Any, columns: list[str]) -> Iterator[Any]:
        done = 0
        with self._or_damaged():
            for batch in file.iter_batches(batch_size=_ROWS, columns=columns):
                found = batch.select(columns)
                # A damaged page may be decoded to codes of no value and to texts that are none, or be passed over.
                found.validate(full=True)
                done += batch.num_rows
                yield found
            if columns and done != self.rows:
                raise pa.ArrowInvalid(f"only {done:,} of {self.rows:,} records can be read")


def write_parquet(table: Any, path: Path, types: Mapping[str, Any]) -> None:
    """Write a table, some rows at a time, in the given types; without a type, a dictionary is written as values.

    Other metadata of the schema is dropped: notes of other programs may reveal the original.
    """
    fields: list[Any] = []
    columns: list[Any] = []
    for field in table.schema:
        kind = types.get(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        # New values may be more than the old codes can number.
        if pa.types.is_dictionary(kind) and pa.types.is_dictionary(field.type):
            kind = pa.dictionary(field.type.index_type, kind.value_type, kind.ordered)
        fields.append(pa.field(field.name, bare(kind)))
        with or_data_error(field.name, f"its type {kind} cannot be stored in a Parquet file"):
            columns.append(tidied(whole(table[field.name]), field.name))
    made = pa.schema(fields)
    ready = pa.table(columns, names=made.names)
    try:
        _write_rows(ready, os.fspath(path), made)
    except pa.ArrowException:
        for field in made:  # which one was it?
            with or_data_error(field.name, f"its values of type {field.type} cannot be stored in a Parquet file"):
                try:
                    _write_rows(ready.select([field.name]), pa.BufferOutputStream(), pa.schema([field]))
                except pa.ArrowInvalid:  # which quotes a value
                    fault = f"its values do not fit the type {field.type} of a Parquet file"
                    raise DataError(fault, column=field.name, remedy="turn the column into text first") from None
        raise


def _write_rows(table: Any, where: Any, schema: Any) -> None:
    with pq.ParquetWriter(where, schema, compression="zstd", write_page_checksum=True) as writer:
        for first in range(0, max(table.num_rows, 1), _ROWS):
            writer.write_table(table.slice(first, _ROWS).cast(schema))
