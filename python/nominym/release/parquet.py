"""Parquet files, read and written in batches: texts are codes from the start."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nominym.control import Progress, reporter
from nominym.error import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nominym.atomic import StrPath

_ROWS = 1 << 18


def schema(path: StrPath) -> Any:
    """Read names and types of the columns."""
    if Path(path).stat().st_size == 0:
        raise FormatError(f"{os.fspath(path)} is empty: expected a Parquet file")
    try:
        return pq.read_schema(os.fspath(path))
    except pa.ArrowException as error:
        raise FormatError(f"{os.fspath(path)}: no Parquet file ({str(error).splitlines()[0]})") from None


def read(path: StrPath, columns: Sequence[str], progress: Progress) -> Any:
    """Read columns with their types; texts become dictionaries of the distinct ones, and codes."""
    kinds = schema(path)
    text = [name for name in columns if _is_text(kinds.field(name).type)]
    chunks: dict[str, list[Any]] = {name: [] for name in columns}
    try:
        with (
            pq.ParquetFile(os.fspath(path), read_dictionary=text) as file,
            reporter(progress, "reading") as report,
        ):
            rows, done = file.metadata.num_rows, 0
            for batch in file.iter_batches(batch_size=_ROWS, columns=list(columns)):
                for name, parts in chunks.items():
                    parts.append(batch.column(batch.schema.names.index(name)))
                done += batch.num_rows
                if report:
                    report(done, rows)
            read_as = {field.name: field.type for field in file.schema_arrow}
    except pa.ArrowException as error:
        raise FormatError(f"{os.fspath(path)}: {str(error).splitlines()[0]}") from None
    return pa.table({name: _whole(parts, read_as[name]) for name, parts in chunks.items()})


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _whole(parts: list[Any], kind: Any) -> Any:
    column = pa.chunked_array(parts, type=parts[0].type if parts else kind)
    return column.unify_dictionaries().combine_chunks() if pa.types.is_dictionary(column.type) else column


def write(table: Any, path: Path, types: Mapping[str, Any]) -> None:
    """Write a table, some rows at a time, in the given types; where there is none, a dictionary is written as values.

    What else the schema of the table says stays behind: notes of other programs may tell of the original.
    """
    fields = []
    for field in table.schema:
        kind = types.get(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        # New values may be more than the old codes can number.
        if pa.types.is_dictionary(kind) and pa.types.is_dictionary(field.type):
            kind = pa.dictionary(field.type.index_type, kind.value_type, kind.ordered)
        fields.append(pa.field(field.name, kind))
    columns = [_by_name(table[field.name]) if pa.types.is_dictionary(field.type) else table[field.name]
               for field in fields]  # fmt: skip
    made = pa.schema(fields)
    ready = pa.table(columns, names=made.names)
    with pq.ParquetWriter(os.fspath(path), made, compression="zstd") as writer:
        for first in range(0, max(table.num_rows, 1), _ROWS):
            writer.write_table(ready.slice(first, _ROWS).cast(made))


def _by_name(column: Any) -> Any:
    """List the values of a dictionary by name: the order of their first appearance would tell who was first."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries().chunk(0) if column.num_chunks else pa.array([], column.type)
    if not pa.types.is_dictionary(column.type) or column.type.ordered:
        return column
    order = pc.sort_indices(column.dictionary)
    place = pc.sort_indices(order).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(place.take(column.indices), column.dictionary.take(order))
