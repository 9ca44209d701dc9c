"""Delimited text, read and written in batches: of a column, only its distinct texts are kept, and a code a record."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from nominym.control import Progress, reporter
from nominym.error import DataError, FormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nominym.atomic import StrPath

# Text that is parsed at a time; no record can be longer.
_BLOCK = 1 << 20
_ROWS = 1 << 14
_USUAL = ",;\t|"
_NEWLINE = b"\n"


def usual_delimiter(path: StrPath) -> str:
    """Give the delimiter that a file has by its name."""
    return "\t" if ".tsv" in [suffix.lower() for suffix in Path(path).suffixes] else ","


def header(path: StrPath, delimiter: str, encoding: str) -> list[str]:
    """Read the names of the columns."""
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ParameterError(f"delimiter={delimiter!r}: give one character, such as ',' or ';' or a tab")
    try:
        with _bytes(path)[0] as file:
            start = _decoded(path, file.read(_BLOCK), encoding)
    except OSError as error:
        raise _unpacked(path, error) from None
    if not start.strip():
        raise FormatError(f"{os.fspath(path)} is empty: expected a first line with the names of the columns")
    try:
        names = next(csv.reader(io.StringIO(start, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise FormatError(f"{os.fspath(path)}: the names of the columns cannot be read ({error})") from None
    others = [other for other in _USUAL if other != delimiter and other in start.splitlines()[0]]
    if len(names) == 1 and others:
        raise FormatError(
            f"{os.fspath(path)}: one column only, {names[0]!r}, when cells are separated by {delimiter!r}; "
            f"pass delimiter={others[0]!r}"
        )
    return names


def read(path: StrPath, columns: Sequence[str], delimiter: str, encoding: str, progress: Progress) -> Any:
    """Read columns as texts, each as a dictionary of its distinct texts and codes."""
    names = header(path, delimiter, encoding)
    kind = pa.dictionary(pa.int32(), pa.string())
    chunks: dict[str, list[Any]] = {name: [] for name in columns}
    last = ""
    file, raw, size = _bytes(path)
    with file, reporter(progress, "reading") as report:
        try:
            reader = arrow_csv.open_csv(
                file,
                read_options=arrow_csv.ReadOptions(block_size=_BLOCK, encoding=encoding, use_threads=False),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
                ),
                convert_options=arrow_csv.ConvertOptions(
                    # One column more than asked for: the last, where a quote that is never closed would be seen.
                    include_columns=list(dict.fromkeys([*columns, names[-1]])),
                    column_types=dict.fromkeys(names, pa.string()),
                    null_values=[""],
                    strings_can_be_null=True,
                ),
            )
            for batch in reader:
                if batch.num_rows:
                    last = batch.column(batch.schema.names.index(names[-1]))[-1].as_py() or ""
                for name, parts in chunks.items():
                    # Only the codes and the distinct texts of a batch outlive it.
                    parts.append(batch.column(batch.schema.names.index(name)).dictionary_encode())
                if report:
                    report(min(raw.tell(), size), size)
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            raise _explained(path, error, delimiter, encoding) from None
        except OSError as error:
            raise _unpacked(path, error) from None
    if "\n" in last:
        _require_closed_quotes(path)
    found = {name: pa.chunked_array(parts, type=kind).unify_dictionaries() for name, parts in chunks.items()}
    return pa.table({name: column.combine_chunks() for name, column in found.items()})


def _bytes(path: StrPath) -> tuple[Any, Any, int]:
    """Open a file, packed or not: what gives its text, what tells the place, and its size."""
    size = Path(path).stat().st_size
    raw = pa.OSFile(os.fspath(path), "rb")
    packed = Path(path).suffix.lower() == ".gz"
    return (pa.CompressedInputStream(raw, "gzip") if packed else raw), raw, size


def _decoded(path: StrPath, data: bytes, encoding: str) -> str:
    try:
        # A character may be cut at the end of what was read.
        return codecs.getincrementaldecoder(encoding)().decode(data).removeprefix("\ufeff")
    except LookupError:
        raise ParameterError(
            f"encoding={encoding!r} is no text encoding; use for example 'utf-8', 'latin-1' or 'cp1252'"
        ) from None
    except UnicodeDecodeError as error:
        raise _explained(path, error, "", encoding) from None


def _unpacked(path: StrPath, error: OSError) -> Exception:
    """Tell a packed file that is broken from one that cannot be read."""
    return error if error.errno is not None else FormatError(f"{os.fspath(path)}: {error}; expected a gzip file")


def _explained(path: StrPath, error: Exception, delimiter: str, encoding: str) -> FormatError:
    """Say what is wrong and where, without the cells of the record."""
    text = str(error)
    if isinstance(error, UnicodeDecodeError) or "UTF8" in text:
        return FormatError(
            f"{os.fspath(path)}{_undecodable(path, encoding)}: not {encoding} text; pass the encoding of the file, "
            "for example encoding='latin-1'"
        )
    cells = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", text)
    if cells:
        row, expected, found = cells.groups()
        return FormatError(
            f"{os.fspath(path)}, row {row}: {found} cells, but {expected} in the first row; quote cells that contain "
            f"{delimiter!r}, or pass delimiter="
        )
    if "straddling" in text or "try to increase block size" in text:
        return FormatError(
            f"{os.fspath(path)}: a record is longer than {_BLOCK >> 20} MiB; is a quote opened and never closed?"
        )
    return FormatError(f"{os.fspath(path)}: {text.splitlines()[0]}")


def _undecodable(path: StrPath, encoding: str) -> str:
    """Say in which line the first byte is that does not decode."""
    decoder, line, data = codecs.getincrementaldecoder(encoding)(), 1, b""
    try:
        with _bytes(path)[0] as file:
            while data := file.read(1 << 20):
                line += decoder.decode(data).count("\n")
    except UnicodeDecodeError as error:
        return f", line {line + data.count(_NEWLINE, 0, error.start)}"
    return ""


def _require_closed_quotes(path: StrPath) -> None:
    with _bytes(path)[0] as file:
        quotes = sum(data.count(b'"') for data in iter(lambda: file.read(1 << 20), b""))
    if quotes % 2:
        raise FormatError(f"{os.fspath(path)}: a quote is opened and never closed, so the last record has no end")


# ---- out


def write(table: Any, file: BinaryIO, delimiter: str, encoding: str) -> None:
    """Write a table, some rows at a time; cells are quoted where they have to be, missing ones are empty."""
    encoder = codecs.getincrementalencoder(encoding)() if codecs.lookup(encoding).name != "utf-8" else None
    try:
        for lines in _lines(table, delimiter):
            file.write(lines if encoder is None else encoder.encode(bytes(lines).decode()))
    except UnicodeEncodeError as error:
        sign = error.object[error.start]
        raise DataError(f"{sign!r} cannot be written as {encoding}; give encoding='utf-8'") from None


def _lines(table: Any, delimiter: str) -> Iterator[Any]:
    names = _quoted(pa.array(table.column_names, pa.string()), delimiter).to_pylist()
    yield (delimiter.join(names) + "\n").encode()
    columns = [_prepared(name, table[name], delimiter) for name in table.column_names]
    # A line with nothing in it would be no record.
    empty = '""' if len(columns) == 1 else ""
    for first in range(0, table.num_rows, _ROWS):
        cells = [_cells(column.slice(first, _ROWS), delimiter) for column in columns]
        lines = pc.binary_join_element_wise(*cells, delimiter, null_handling="replace", null_replacement=empty)
        joined = pc.binary_join_element_wise(lines, "\n", "")
        # The texts of an Arrow array lie one after another: the file as it is to be.
        _, ends, data = joined.buffers()
        yield memoryview(data)[: int(np.frombuffer(ends, np.int32)[len(joined)])]


def _prepared(name: str, column: Any, delimiter: str) -> Any:
    """Give one array for a column; of a dictionary, the texts are quoted once, not in every record."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if pa.types.is_nested(kind):
        raise DataError(f"column {name!r} holds {kind} values, which delimited text has no form for; write Parquet")
    try:
        if pa.types.is_dictionary(array.type):
            texts = _quoted(array.dictionary.cast(pa.string()), delimiter)
            return pa.DictionaryArray.from_arrays(array.indices, texts)
        return array if pa.types.is_string(kind) else array.cast(pa.string())
    except pa.ArrowInvalid as error:
        raise DataError(f"column {name!r} of type {kind} cannot be written as text ({error})") from None


def _cells(array: Any, delimiter: str) -> Any:
    if pa.types.is_dictionary(array.type):
        return array.dictionary.take(array.indices)
    return _quoted(array, delimiter)


def _quoted(texts: Any, delimiter: str) -> Any:
    needs = pc.match_substring_regex(texts, f'[{re.escape(delimiter)}"\r\n]')
    if not pc.any(needs).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(needs, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


def some(names: Sequence[str], most: int = 10) -> str:
    """List names for a message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, islice(names, most))) + more
