"""Delimited text, read and written in batches: of a column, only its distinct texts are kept, and a code a record."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from nominym.control import Progress, reporter
from nominym.error import NO_VALUE, Advice, DataError, FormatError, ParameterError
from nominym.files import StrPath, as_path, check_encoding

# Text that is parsed at a time; no record can be longer.
_BLOCK = 1 << 20
# Rows that are written at a time.
_ROWS = 1 << 14
_USUAL = ",;\t|"
_NEWLINE = b"\n"


def check_text(delimiter: str, encoding: str) -> None:
    """Refuse what is no delimiter or no encoding."""
    check_encoding(encoding)
    if not isinstance(delimiter, str) or len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ParameterError("give one character, such as ',' or ';' or a tab", parameter="delimiter", value=delimiter)


class Watched(io.FileIO):
    """The bytes of a file, each read once: counted and hashed on the way."""

    def __init__(self, path: StrPath) -> None:
        """Open the file."""
        super().__init__(as_path(path))
        self._digest, self.done, self.size = hashlib.sha256(), 0, os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """Read the next bytes."""
        data = super().read(size) or b""
        self.done += len(data)
        self._digest.update(data)
        return data

    def fingerprint(self) -> dict[str, Any]:
        """Return name, size and SHA-256 of the file; not its folder, which may tell more than it should."""
        while self.read(_BLOCK):
            pass
        return {"name": Path(self.name).name, "bytes": self.done, "sha256": self._digest.hexdigest()}


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

    def __init__(self, path: StrPath, delimiter: str, encoding: str) -> None:
        """Open the file and read the names of its columns."""
        check_text(delimiter, encoding)
        self.where, self._path = os.fspath(path), path
        self._delimiter, self._encoding = delimiter, encoding
        self.types: dict[str, Any] = {}
        self._watched, self._bytes = self._opened()
        try:
            self._start = bytes(self._bytes.read(_BLOCK))
            # A character may be cut at the end of what was read.
            start = codecs.getincrementaldecoder(encoding)().decode(self._start)
            self.names = self._header(start.removeprefix("\ufeff"))
        except Exception as error:
            self.close()
            raise (self._explained(error) if isinstance(error, OSError | UnicodeError) else error) from None

    def _opened(self) -> tuple[Watched, Any]:
        watched = Watched(self._path)
        packed = Path(self._path).suffix.lower() == ".gz"
        return watched, pa.CompressedInputStream(pa.PythonFile(watched, "r"), "gzip") if packed else watched

    def close(self) -> None:
        """Let go of the file."""
        self._watched.close()

    def fingerprint(self) -> dict[str, Any]:
        """Return name, size and SHA-256 of the file."""
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
        batches, last, final = [], "", self.names[-1]
        try:
            with reporter(progress, "reading") as report:
                reader = arrow_csv.open_csv(
                    _Rejoined(self._start, self._bytes),
                    read_options=arrow_csv.ReadOptions(block_size=_BLOCK, encoding=self._encoding, use_threads=False),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self._delimiter, newlines_in_values=True, ignore_empty_lines=len(self.names) > 1
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        # One column more than asked for: the last, where a quote that is never closed would be seen.
                        include_columns=list(dict.fromkeys([*columns, final])),
                        column_types=dict.fromkeys(self.names, pa.string()),
                        null_values=[""],
                        strings_can_be_null=True,
                    ),
                )
                for batch in reader:
                    if batch.num_rows:
                        last = batch.column(final)[-1].as_py() or ""
                    # Only the codes and the distinct texts of a batch outlive it.
                    coded = [batch.column(name).dictionary_encode() for name in columns]
                    batches.append(pa.record_batch(coded, names=list(columns)))
                    if report:
                        report(min(self._watched.done, self._watched.size), self._watched.size)
        except (pa.ArrowInvalid, UnicodeError, OSError) as error:
            raise self._explained(error) from None
        if "\n" in last and sum(data.count(b'"') for data in self._blocks()) % 2:
            raise FormatError(f"{self.where}: a quote is opened and never closed, so the last record has no end")
        schema = pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in columns])
        read = pa.Table.from_batches(batches, schema)
        return pa.table({name: whole(read[name]) for name in columns})

    def _explained(self, error: Exception) -> Exception:
        """Say what is wrong and where, without the cells of the record."""
        text = str(error)
        if isinstance(error, OSError):
            return error if error.errno is not None else FormatError(f"{self.where}: {text}; expected a gzip file")
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
        try:
            for data in self._blocks():
                line += decoder.decode(data).count("\n")
        except UnicodeError as error:
            if isinstance(error, UnicodeDecodeError):
                return f", line {line + data.count(_NEWLINE, 0, error.start)}"
        return ""

    def _blocks(self) -> Iterator[bytes]:
        """Read the file anew, to say what is wrong with it."""
        watched, stream = self._opened()
        with closing(watched):
            yield from iter(lambda: bytes(stream.read(_BLOCK)), b"")


# ---- out


def whole(column: Any) -> Any:
    """Return a column in one piece, with one dictionary."""
    return column.unify_dictionaries().combine_chunks() if isinstance(column, pa.ChunkedArray) else column


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
    columns = [_cells(name, whole(table[name]), delimiter) for name in table.column_names]
    # A line with nothing in it would be no record.
    empty = '""' if len(columns) == 1 else ""
    for first in range(0, table.num_rows, _ROWS):
        cells = [column(first) for column in columns]
        lines = pc.binary_join_element_wise(*cells, delimiter, null_handling="replace", null_replacement=empty)
        joined = pc.binary_join_element_wise(lines, "\n", "")
        # The texts of an Arrow array lie one after another: the file as it is to be.
        _, ends, data = joined.buffers()
        yield memoryview(data)[: int(np.frombuffer(ends, np.int32)[len(joined)])]


def _cells(name: str, array: Any, delimiter: str) -> Callable[[int], Any]:
    """Return what gives some cells of a column; of a dictionary, the texts are quoted once, not in every record."""
    coded = pa.types.is_dictionary(array.type)
    values = array.dictionary if coded else array
    if pa.types.is_nested(values.type):
        raise DataError(f"holds {values.type} values, which delimited text has no form for; write Parquet", column=name)
    try:
        texts = values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"its type {values.type} cannot be written as text ({error})", column=name) from None
    if not coded:
        return lambda first: _quoted(texts.slice(first, _ROWS), delimiter)
    quoted, indices = _quoted(texts, delimiter), array.indices
    return lambda first: quoted.take(indices.slice(first, _ROWS))


def _quoted(texts: Any, delimiter: str) -> Any:
    needs = pc.match_substring_regex(texts, f'[{re.escape(delimiter)}"\r\n]')
    if not pc.any(needs).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(needs, pc.binary_join_element_wise('"', doubled, '"', ""), texts)
