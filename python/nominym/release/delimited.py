"""Delimited text, read and written in batches: of a column, only its distinct texts are kept, and a code a record."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from nominym.control import Progress, reporter
from nominym.error import NO_VALUE, Advice, DataError, FormatError, ParameterError
from nominym.files import StrPath

# Text that is parsed at a time; no record can be longer.
_BLOCK = 1 << 20
# Rows that are written at a time.
_ROWS = 1 << 14
_USUAL = ",;\t|"
_NEWLINE = b"\n"


def check_text(delimiter: str, encoding: str) -> None:
    """Refuse what is no delimiter or no encoding."""
    try:
        "a".encode(encoding).decode(encoding)
    except (LookupError, TypeError, ValueError):
        raise ParameterError(
            "there is no such text encoding",
            parameter="encoding",
            value=encoding,
            remedy="use for example 'utf-8', 'latin-1' or 'cp1252'",
        ) from None
    if not isinstance(delimiter, str) or len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ParameterError("give one character, such as ',' or ';' or a tab", parameter="delimiter", value=delimiter)


class Watched:
    """The bytes of a file, each read once: counted and, where wanted, hashed on the way."""

    closed = False

    def __init__(self, path: StrPath, hashed: bool) -> None:
        """Open the file."""
        self._name, self._digest, self.done = Path(path).name, hashlib.sha256() if hashed else None, 0
        self._file = Path(path).open("rb", buffering=0)  # noqa: SIM115
        self.size = os.fstat(self._file.fileno()).st_size

    def read(self, size: int = -1) -> bytes:
        """Read the next bytes."""
        data = self._file.read(size) or b""
        self.done += len(data)
        if self._digest is not None:
            self._digest.update(data)
        return data

    def fingerprint(self) -> dict[str, Any]:
        """Return name, size and SHA-256 of the file; not its folder, which may tell more than it should."""
        assert self._digest is not None
        while self.read(_BLOCK):
            pass
        return {"name": self._name, "bytes": self.done, "sha256": self._digest.hexdigest()}

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class _Rejoined:
    """Bytes whose start was looked at already."""

    closed = False

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start, self._rest = start, rest

    def read(self, size: int = -1) -> bytes:
        if not self._start:
            return bytes(self._rest.read(size))
        data, self._start = self._start[:size], self._start[size:]
        return data

    def close(self) -> None:
        """Leave the file open: its owner still asks for the fingerprint."""


class TextFile:
    """A file of delimited text, opened once: nothing is interpreted, an empty cell is missing."""

    def __init__(self, path: StrPath, delimiter: str, encoding: str, hashed: bool) -> None:
        """Open the file and read the names of its columns."""
        check_text(delimiter, encoding)
        self.where, self._path = os.fspath(path), path
        self._delimiter, self._encoding = delimiter, encoding
        self.types: dict[str, Any] = {}
        self._watched, self._bytes = self._opened(hashed)
        try:
            self._start = bytes(self._bytes.read(_BLOCK))
            self.names = self._header(self._decoded(self._start))
        except BaseException as error:
            self.close()
            raise (self._unpacked(error) if isinstance(error, OSError) else error) from None

    def _opened(self, hashed: bool) -> tuple[Watched, Any]:
        watched = Watched(self._path, hashed)
        packed = Path(self._path).suffix.lower() == ".gz"
        return watched, pa.CompressedInputStream(pa.PythonFile(watched, "r"), "gzip") if packed else watched

    def close(self) -> None:
        """Let go of the file."""
        self._watched.close()

    def fingerprint(self) -> dict[str, Any]:
        """Return name, size and SHA-256 of the file, which has to be opened ``hashed``."""
        return self._watched.fingerprint()

    def _header(self, start: str) -> list[str]:
        if not start.strip():
            raise FormatError(f"{self.where} is empty: expected a first line with the names of the columns")
        try:
            names = next(csv.reader(io.StringIO(start, newline=""), delimiter=self._delimiter))
        except csv.Error as error:
            raise FormatError(f"{self.where}: the names of the columns cannot be read ({error})") from None
        others = [other for other in _USUAL if other != self._delimiter and other in start.splitlines()[0]]
        if len(names) == 1 and others:
            raise FormatError(
                f"{self.where}: one column only, {names[0]!r}, when cells are separated by {self._delimiter!r}",
                remedy=Advice("pass {}", delimiter=others[0]),
            )
        return names

    def read(self, columns: Sequence[str], progress: Progress) -> Any:
        """Read columns as texts, each as a dictionary of its distinct texts and codes."""
        names, last = self.names, ""
        chunks: dict[str, list[Any]] = {name: [] for name in columns}
        with reporter(progress, "reading") as report:
            try:
                reader = arrow_csv.open_csv(
                    _Rejoined(self._start, self._bytes),
                    read_options=arrow_csv.ReadOptions(block_size=_BLOCK, encoding=self._encoding, use_threads=False),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self._delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
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
                        report(min(self._watched.done, self._watched.size), self._watched.size)
            except (pa.ArrowInvalid, UnicodeDecodeError) as error:
                raise self._explained(error) from None
            except OSError as error:
                raise self._unpacked(error) from None
        if "\n" in last:
            self._require_closed_quotes()
        kind = pa.dictionary(pa.int32(), pa.string())
        return pa.table({name: whole(pa.chunked_array(parts, type=kind)) for name, parts in chunks.items()})

    def _decoded(self, data: bytes) -> str:
        try:
            # A character may be cut at the end of what was read.
            return codecs.getincrementaldecoder(self._encoding)().decode(data).removeprefix("\ufeff")
        except UnicodeError as error:
            raise self._explained(error) from None

    def _unpacked(self, error: OSError) -> Exception:
        """Tell a packed file that is broken from one that cannot be read."""
        return error if error.errno is not None else FormatError(f"{self.where}: {error}; expected a gzip file")

    def _explained(self, error: Exception) -> FormatError:
        """Say what is wrong and where, without the cells of the record."""
        text = str(error)
        if isinstance(error, UnicodeError) or "UTF8" in text:
            return FormatError(
                f"{self.where}{self._undecodable()}: not {self._encoding} text",
                remedy=Advice("pass the encoding of the file, for example {}", encoding="latin-1"),
            )
        cells = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", text)
        if cells:
            row, expected, found = cells.groups()
            advice = f"quote cells that contain {self._delimiter!r}, or pass another {{}}"
            return FormatError(
                f"{self.where}, row {row}: {found} cells, but {expected} in the first row",
                remedy=Advice(advice, delimiter=NO_VALUE),
            )
        if "straddling" in text or "try to increase block size" in text:
            return FormatError(
                f"{self.where}: a record is longer than {_BLOCK >> 20} MiB; is a quote opened and never closed?"
            )
        return FormatError(f"{self.where}: {text.splitlines()[0]}")

    def _undecodable(self) -> str:
        """Say in which line the first byte is that does not decode."""
        decoder, line, data = codecs.getincrementaldecoder(self._encoding)(), 1, b""
        watched, stream = self._opened(hashed=False)
        with closing(watched):
            try:
                while data := bytes(stream.read(_BLOCK)):
                    line += decoder.decode(data).count("\n")
            except UnicodeDecodeError as error:
                return f", line {line + data.count(_NEWLINE, 0, error.start)}"
            except UnicodeError:
                return ""
        return ""

    def _require_closed_quotes(self) -> None:
        watched, stream = self._opened(hashed=False)
        with closing(watched):
            quotes = sum(bytes(data).count(b'"') for data in iter(lambda: stream.read(_BLOCK), b""))
        if quotes % 2:
            raise FormatError(f"{self.where}: a quote is opened and never closed, so the last record has no end")


# ---- out


def whole(column: Any) -> Any:
    """Return a column in one piece, with one dictionary."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    found = column.combine_chunks()
    return found if isinstance(found, pa.Array) else pa.concat_arrays(found.chunks)


def write(table: Any, file: BinaryIO, delimiter: str, encoding: str) -> None:
    """Write an Arrow table, some rows at a time; cells are quoted where they have to be, missing ones are empty."""
    encoder = codecs.getincrementalencoder(encoding)() if codecs.lookup(encoding).name != "utf-8" else None
    try:
        for lines in _lines(table, delimiter):
            file.write(lines if encoder is None else encoder.encode(bytes(lines).decode()))
    except UnicodeEncodeError as error:
        sign = error.object[error.start]
        raise DataError(
            f"{sign!r} cannot be written as {encoding}", remedy=Advice("give {}", encoding="utf-8")
        ) from None


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
    """Return one array for a column; of a dictionary, the texts are quoted once, not in every record."""
    array = whole(column)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if pa.types.is_nested(kind):
        raise DataError(f"holds {kind} values, which delimited text has no form for; write Parquet", column=name)
    try:
        if pa.types.is_dictionary(array.type):
            texts = _quoted(array.dictionary.cast(pa.string()), delimiter)
            return pa.DictionaryArray.from_arrays(array.indices, texts)
        return array if pa.types.is_string(kind) else array.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"its type {kind} cannot be written as text ({error})", column=name) from None


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
