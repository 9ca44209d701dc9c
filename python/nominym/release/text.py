"""Tables in delimited text: read in blocks, as codes of distinct texts, and written some rows at a time."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from nominym.control import Progress, reporter
from nominym.error import NO_VALUE, Advice, DataError, FormatError, ParameterError, SizeError
from nominym.files import StrPath, Watched, check_comment, check_encoding, check_mark, likely_encoding
from nominym.release.columns import as_texts, whole
from nominym.release.sizing import Reading

# Text that is parsed at a time; no record can be longer.
_BLOCK = 1 << 20
# Rows that are written at a time.
_LINES = 1 << 14
_USUAL = ",;\t|"


def check_text(delimiter: str, encoding: str, comment: str | None = None) -> None:
    """Raise unless delimiter, encoding and comment prefix are valid."""
    check_encoding(encoding)
    if not isinstance(delimiter, str) or len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ParameterError("give one character, such as ',' or ';' or a tab", parameter="delimiter", value=delimiter)
    check_comment(comment)


class _Comments:
    """Removes comment lines from streamed text, except inside quotes."""

    def __init__(self, sign: str) -> None:
        self._sign, self._quoted, self.held = sign.encode(), False, b""

    def without(self, data: bytes, final: bool) -> bytes:
        """Return the complete lines, without comments."""
        data = self.held + data
        end = len(data) if final else data.rfind(b"\n") + 1
        text, self.held = data[:end], data[end:]
        kept = []
        for line in text.splitlines(keepends=True):
            if self._quoted or not line.startswith(self._sign):
                kept.append(line)
                self._quoted ^= bool(line.count(b'"') % 2)
        return b"".join(kept)


class _Decoded:
    """The text of a file as UTF-8, for Arrow: decoded once, with one extra record at its end."""

    closed = False

    def __init__(self, stream: Any, path: StrPath, delimiter: str, encoding: str, comment: str | None) -> None:
        self._comments = None if comment is None else _Comments(comment)
        self._stream, self._where, self._encoding = stream, os.fspath(path), encoding
        self._begun = bytes(stream.read(_BLOCK))
        check_mark(encoding, self._begun[:4], path)
        self._decoder, self._lines, self._done = codecs.getincrementaldecoder(encoding)(), 1, False
        self._ready = self._decoded(self._begun).removeprefix(codecs.BOM_UTF8)
        if self._comments is not None and not self._ready:  # one line, of which the end is not seen yet
            self._ready = self._decoded(b"")
        self._last = self._ready[-1:]
        self.names = self._header(self._ready.decode(), delimiter)
        self.density = (self._lines - 1) / len(self._begun)
        self.end = "." if delimiter == "-" else "-"
        """Last cell of the record added after the last one: if it is not found, a quote was never closed."""
        self._extra = f"{delimiter * (len(self.names) - 1)}{self.end}\n".encode()

    def _decoded(self, data: bytes) -> bytes:
        try:
            text = self._decoder.decode(data, final=not data).encode()
        except UnicodeError as error:
            if isinstance(error, UnicodeDecodeError):
                self._lines += error.object.count(b"\n", 0, error.start)
            raise FormatError(
                f"{self._where}, line {self._lines}: not {self._encoding} text",
                remedy=Advice("pass the encoding of the file, for example {}", encoding=likely_encoding(self._begun)),
            ) from None
        self._lines += text.count(b"\n")
        return text if self._comments is None else self._comments.without(text, final=not data)

    def _header(self, start: str, delimiter: str) -> list[str]:
        if not start.strip():
            raise FormatError(f"{self._where} is empty: expected a first line with the names of the columns")
        first = start.splitlines()[0]
        if "\0" in first:
            raise FormatError(
                f"{self._where}: zero bytes in the names of the columns",
                remedy=Advice("pass the encoding of the file, perhaps {}", encoding=likely_encoding(self._begun)),
            )
        try:
            names = next(csv.reader(io.StringIO(start, newline=""), delimiter=delimiter))
        except csv.Error as error:
            raise FormatError(f"{self._where}: the names of the columns cannot be read ({error})") from None
        if not names:
            raise FormatError(f"{self._where}: the first line is empty; put the names of the columns there")
        others = [other for other in _USUAL if other != delimiter and other in first]
        if len(names) == 1 and others:
            raise FormatError(
                f"{self._where}: only one column, {names[0]!r}, when cells are separated by {delimiter!r}",
                remedy=Advice("pass {}", delimiter=others[0]),
            )
        return names

    def read(self, size: int) -> bytes:
        """Return the next bytes, as many as requested except at the end: Arrow treats what it gets as a block."""
        while len(self._ready) < size and not self._done:
            data = bytes(self._stream.read(_BLOCK))
            text, self._done = self._decoded(data), not data
            self._last = text[-1:] or self._last
            if self._done:
                text += self._extra if self._last in b"\r\n" else b"\n" + self._extra
            self._ready += text
        found, self._ready = self._ready[:size], self._ready[size:]
        return found

    def close(self) -> None:
        """Leave the file open: its owner still needs the fingerprint."""


class TextFile:
    """A file of delimited text, opened once: nothing is interpreted, and an empty cell is missing."""

    def __init__(self, path: StrPath, delimiter: str, encoding: str, comment: str | None = None) -> None:
        """Open the file and read the names of its columns."""
        check_text(delimiter, encoding, comment)
        self.where, self._delimiter = os.fspath(path), delimiter
        self.types: dict[str, Any] = {}
        self._watched = Watched(path)
        packed = Path(path).suffix.lower() == ".gz"
        # Held as long as the file: Arrow closes what it unpacks when it lets go of it.
        self._bytes = pa.CompressedInputStream(pa.PythonFile(self._watched, "r"), "gzip") if packed else self._watched
        try:
            self._text: _Decoded | None = _Decoded(self._bytes, path, delimiter, encoding, comment)
            self.names = self._text.names
            # As many as there are at the beginning; of a packed file nobody knows.
            self.rows = None if packed else round(self._watched.size * self._text.density) - 1
        except Exception as error:
            self.close()
            raise (self._explained(error) if isinstance(error, OSError) else error) from None

    def close(self) -> None:
        """Close the file."""
        self._watched.close()

    def fingerprint(self) -> dict[str, Any]:
        """Return name, size and SHA-256 of the file."""
        return self._watched.fingerprint()

    def read(self, columns: Sequence[str], progress: Progress) -> Any:
        """Read columns as dictionaries of distinct texts and codes; only once, because the file is streamed."""
        assert self._text is not None, "a file of delimited text can be read only once"
        batches, final, reading = [], self.names[-1], Reading(self.where)
        text, self._text = self._text, None
        held: Any = None
        try:
            with reporter(progress, "reading") as report:
                reader = arrow_csv.open_csv(
                    text,
                    read_options=arrow_csv.ReadOptions(block_size=_BLOCK, use_threads=False),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self._delimiter, newlines_in_values=True, ignore_empty_lines=len(self.names) > 1
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        # One column more than asked for: the last, which shows where the records end.
                        include_columns=list(dict.fromkeys([*columns, final])),
                        column_types=dict.fromkeys(self.names, pa.string()),
                        null_values=[""],
                        strings_can_be_null=True,
                    ),
                )
                for batch in reader:
                    if held is not None and batch.num_rows:
                        batches.append(reading.add(_coded(held, columns)))
                    held = batch if batch.num_rows else held
                    if report:
                        report(min(self._watched.done, self._watched.size), self._watched.size)
        except pa.ArrowMemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise self._explained(error) from None
        if held is None or held.column(final)[-1].as_py() != text.end:
            raise self._unclosed()
        batches.append(reading.add(_coded(held.slice(0, held.num_rows - 1), columns)))
        schema = pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in columns])
        read = pa.Table.from_batches(batches, schema)
        return pa.table({name: whole(read[name]) for name in columns})

    def _explained(self, error: Exception) -> Exception:
        """Return what is wrong and where, without the cells of the record."""
        text = str(error)
        if isinstance(error, OSError):
            return error if error.errno is not None else FormatError(f"{self.where}: {text}; expected a gzip file")
        if "worker thread" in text:
            return SizeError(f"{self.where}: there is no memory for a thread that reads it")
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
        if "cannot infer number of columns" in text:  # there is no end of the names, which were there before
            return self._unclosed()
        return FormatError(f"{self.where}: {text.splitlines()[0]}")

    def _unclosed(self) -> FormatError:
        return FormatError(f"{self.where}: a quote is opened and never closed, so the last record has no end")


def _coded(batch: Any, columns: Sequence[str]) -> Any:
    """Keep only the codes and the distinct texts of a batch."""
    return pa.record_batch([batch.column(name).dictionary_encode() for name in columns], names=list(columns))


def write_text(table: Any, file: BinaryIO, delimiter: str, encoding: str) -> None:
    """Write an Arrow table, some rows at a time; cells are quoted where necessary, missing ones are empty."""
    encoder = codecs.getincrementalencoder(encoding)() if codecs.lookup(encoding).name != "utf-8" else None
    try:
        for lines in written_lines(table, delimiter):
            file.write(lines if encoder is None else encoder.encode(bytes(lines).decode()))
    except UnicodeEncodeError as error:
        sign = error.object[error.start]
        raise DataError(
            f"{sign!r} cannot be written as {encoding}", remedy=Advice("give {}", encoding="utf-8")
        ) from None


def written_lines(table: Any, delimiter: str) -> Iterator[Any]:
    """Return the lines of an Arrow table in UTF-8, some at a time."""
    names = _quoted(pa.array(table.column_names, pa.string()), delimiter).to_pylist()
    yield (delimiter.join(names) + "\n").encode()
    columns = [_cells(name, whole(table[name]), delimiter) for name in table.column_names]
    # A line with nothing in it would be no record.
    empty = '""' if len(columns) == 1 else ""
    for first in range(0, table.num_rows, _LINES):
        cells = [column(first) for column in columns]
        lines = pc.binary_join_element_wise(*cells, delimiter, null_handling="replace", null_replacement=empty)
        joined = pc.binary_join_element_wise(lines, "\n", "")
        # The texts of an Arrow array lie one after another: the file as it is to be.
        _, ends, data = joined.buffers()
        yield memoryview(data)[: int(np.frombuffer(ends, np.int32)[len(joined)])]


def _cells(name: str, array: Any, delimiter: str) -> Callable[[int], Any]:
    """Return a function that returns some cells of a column; texts of a dictionary are quoted once, not per record."""
    coded = pa.types.is_dictionary(array.type)
    values = array.dictionary if coded else array
    if pa.types.is_nested(values.type):
        raise DataError(f"holds {values.type} values, which delimited text cannot hold; write Parquet", column=name)
    texts = as_texts(name, values)
    if not coded:
        return lambda first: _quoted(texts.slice(first, _LINES), delimiter)
    quoted, indices = _quoted(texts, delimiter), array.indices
    return lambda first: quoted.take(indices.slice(first, _LINES))


def _quoted(texts: Any, delimiter: str) -> Any:
    needs = pc.match_substring_regex(texts, f'[{re.escape(delimiter)}"\r\n]')
    if not pc.any(needs).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(needs, pc.binary_join_element_wise('"', doubled, '"', ""), texts)
