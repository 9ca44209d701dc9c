"""Tables in files: delimited text and Parquet, with columns read and written in batches.

``open_table`` opens a file once: for the names of its columns, then for the records of the requested ones, and for a
fingerprint of the bytes read.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv as arrow_csv

from nominym.atomic import check_new, draft_of
from nominym.control import Progress, reporter, require
from nominym.error import NO_VALUE, Advice, DataError, FormatError, ParameterError, SizeError, no_column
from nominym.files import StrPath, as_input, check_encoding, check_mark, likely_encoding
from nominym.journal import recover
from nominym.release.sheets import SHEETS, read_sheet
from nominym.release.sizing import Reading
from nominym.table import Table, bare, or_data_error, tidied, to_arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Text that is parsed at a time; no record can be longer.
_BLOCK = 1 << 20
# What a thread of Arrow takes of an address space that is limited.
_THREADS = 16 * _BLOCK
# Rows that are written at a time.
_LINES = 1 << 14
_USUAL = ",;\t|"


def check_text(delimiter: str, encoding: str, comment: str | None = None) -> None:
    """Raise unless delimiter, encoding and comment prefix are valid."""
    check_encoding(encoding)
    if not isinstance(delimiter, str) or len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ParameterError("give one character, such as ',' or ';' or a tab", parameter="delimiter", value=delimiter)
    if comment is not None and (not isinstance(comment, str) or not comment or set(comment) & {'"', "\r", "\n"}):
        raise ParameterError("give the prefix of comment lines, such as '#'", parameter="comment", value=comment)


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


class Watched(io.FileIO):
    """The bytes of a file, each read once, counted and hashed on the way."""

    def __init__(self, path: StrPath) -> None:
        """Open the file."""
        super().__init__(as_input(path))
        self._digest, self.done, self.size = hashlib.sha256(), 0, os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """Read the next bytes."""
        data = super().read(size) or b""
        self.done += len(data)
        self._digest.update(data)
        return data

    def fingerprint(self) -> dict[str, Any]:
        """Return name, size and SHA-256 of the file; not its folder, which may reveal too much."""
        while self.read(_BLOCK):
            pass
        return {"name": Path(self.name).name, "bytes": self.done, "sha256": self._digest.hexdigest()}


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


# ---- delimited text, out


def whole(column: Any) -> Any:
    """Return a column in one piece, with one dictionary."""
    if getattr(column, "num_chunks", 0) == 1:
        return column.chunk(0)
    return column.unify_dictionaries().combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _write_text(table: Any, file: BinaryIO, delimiter: str, encoding: str) -> None:
    """Write an Arrow table, some rows at a time; cells are quoted where necessary, missing ones are empty."""
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


def as_texts(name: str, values: Any) -> Any:
    """Return values as written in text."""
    try:
        return values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"its type {values.type} cannot be written as text ({error})", column=name) from None


def _quoted(texts: Any, delimiter: str) -> Any:
    needs = pc.match_substring_regex(texts, f'[{re.escape(delimiter)}"\r\n]')
    if not pc.any(needs).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(needs, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


# ---- any table


TEXT, PARQUET, FIMI = (".csv", ".tsv", ".txt"), (".parquet", ".pq"), (".dat", ".fimi")
"""Suffixes of files."""

_ROWS = 1 << 17


def suffix(path: StrPath) -> str:
    """Return the suffix of a name in lower case, without that of a compression.

    >>> suffix("visits.CSV.gz"), suffix("visits.parquet")
    ('.csv', '.parquet')
    """
    found = [part.lower() for part in Path(path).suffixes]
    return "".join((found[:-1] if found[-1:] == [".gz"] else found)[-1:])


def is_parquet(path: StrPath) -> bool:
    """Return whether a file is Parquet or delimited text, by its name; raise for other names."""
    if Path(path).suffix.lower() in PARQUET:
        return True
    if suffix(path) not in TEXT:
        raise ParameterError(
            f"{os.fspath(path)}: a table is in a file that ends in {', '.join((*TEXT, *PARQUET))}, or .gz after text; "
            f"{', '.join(SHEETS)} are read, not written"
        )
    return False


def fingerprint(path: StrPath) -> dict[str, Any]:
    """Return name, size and SHA-256 of a file; not its folder, which may reveal too much."""
    with closing(Watched(path)) as file:
        return file.fingerprint()


def listed(names: Sequence[Any], most: int = 10) -> str:
    """List names for a message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, islice(names, most))) + more


def open_table(
    source: Any, *, delimiter: str | None = None, encoding: str = "utf-8", comment: str | None = None
) -> closing[Reader]:
    """Open a table, in a file or in memory."""
    found: Reader
    if not isinstance(source, str | os.PathLike):
        found = _InMemory(source)
    else:
        recover(source)
        # Arrow waits for ever for a thread that cannot be started.
        require(_THREADS, f"reading {os.fspath(source)}", "raise the limit of the process")
        if as_input(source).suffix.lower() in SHEETS:
            found = _InMemory(read_sheet(source), source)
        elif is_parquet(source):
            found = ParquetTable(source)
        else:
            found = TextFile(source, delimiter_of(source, delimiter), encoding, comment)
    name, times = next(iter(Counter(found.names).most_common(1)), ("", 0))
    if times > 1 or "" in found.names:
        found.close()
        if "" in found.names:
            raise DataError(f"{found.where}: column {found.names.index('') + 1} has no name; name it in the first line")
        raise DataError(f"{found.where}: column name {name!r} occurs {times} times; rename the columns")
    return closing(found)


def delimiter_of(path: StrPath, given: str | None) -> str:
    """Return the delimiter of a file, as given or by its name."""
    return given if given is not None else "\t" if suffix(path) == ".tsv" else ","


def read_columns(
    table: Reader,
    columns: Sequence[str] | None = None,
    na: Mapping[str, Sequence[str]] | Sequence[str] = (),
    progress: Progress = None,
) -> Any:
    """Read columns of an open table, by default all; ``na`` are texts that mark a missing value."""
    wanted = table.names if columns is None else list(columns)
    for name in wanted:
        if name not in table.names:
            raise no_column(name, table.names, table.where)
    found = table.read(wanted, progress)
    return with_missing(found, na if isinstance(na, Mapping) else dict.fromkeys(wanted, tuple(na)))


def with_missing(table: Any, na: Mapping[str, Sequence[str]]) -> Any:
    """Replace some texts of columns with missing values."""
    for name, texts in na.items():
        if texts and name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, _without(table[name], texts))
    return table


def foreign_marks(opened: Reader, table: Any, path: StrPath, delimiter: str | None, encoding: str) -> list[str]:
    """Return what a file holds besides its values: what ``write_table`` would not have written.

    ``table`` has all columns of the file, as read. Compressed files are not examined.
    """
    if isinstance(opened, ParquetTable):
        return opened.notes()
    if not isinstance(opened, TextFile) or Path(path).suffix.lower() == ".gz":
        return []
    digest = hashlib.sha256()
    encoder = codecs.getincrementalencoder(encoding)()
    for lines in _lines(table, delimiter_of(path, delimiter)):
        digest.update(encoder.encode(bytes(lines).decode()))
    same = digest.hexdigest() == opened.fingerprint()["sha256"]
    return (
        [] if same else ["cells are not written as this library writes them, such as in quotes that they do not need"]
    )


def read_table(
    path: StrPath,
    columns: Sequence[str] | None = None,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    na: Mapping[str, Sequence[str]] | Sequence[str] = (),
    comment: str | None = None,
    progress: Progress = None,
) -> Any:
    """Read a table from a file, as an Arrow table that every method of nominym takes.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "visits.csv")
    ...     _ = path.write_text("id,diagnosis\\n007,flu\\n008,\\n009,flu\\n")
    ...     table = read_table(path, ["diagnosis"])
    >>> table["diagnosis"].to_pylist()
    ['flu', None, 'flu']

    The file ends in ``.csv``, ``.tsv`` or ``.txt`` (followed by ``.gz`` if compressed), ``.parquet`` or ``.dta``
    (Stata); with the extra ``tables`` also in ``.xlsx`` (Excel, first sheet) or ``.sav`` (SPSS). Columns that are not
    requested are never in memory, except from Stata, Excel and SPSS files; by default all are read. Delimited text has
    a comma (a tab in ``.tsv``) and UTF-8 by default; lines that begin with ``comment`` are skipped. ``na`` are texts
    that mark a missing value, besides empty cells: for all columns, or by column.

    Delimited text is not interpreted: "007" stays a text. Texts are dictionaries: a code for each record, and every
    distinct text once. Parquet columns of other types keep them.
    """
    with open_table(path, delimiter=delimiter, encoding=encoding, comment=comment) as table:
        return read_columns(table, columns, na, progress)


def _without(column: Any, texts: Sequence[str]) -> Any:
    """Replace some texts with missing values."""
    column = whole(column)
    if is_text(column.type):
        return pc.if_else(pc.is_in(column, pa.array(texts, column.type)), None, column)
    if not pa.types.is_dictionary(column.type):
        return column
    stays = ~np.isin(np.array(column.dictionary.to_pylist(), dtype=object), list(texts))
    codes = pa.array(np.cumsum(stays) - 1, column.type.index_type, mask=~stays)
    return pa.DictionaryArray.from_arrays(codes.take(column.indices), column.dictionary.filter(pa.array(stays)))


class _InMemory:
    """A frame from any library, or one read from the file of another program."""

    def __init__(self, data: Any, path: StrPath | None = None) -> None:
        self._table, self._path = Table(data), path
        self.where, self.names = "the table" if path is None else os.fspath(path), self._table.names
        self.rows: int | None = len(self._table)
        self.types: dict[str, Any] = {}

    def read(self, columns: Sequence[str], progress: Progress) -> Any:
        found = as_arrow(self._table, columns)
        self.types |= {field.name: field.type for field in found.schema}
        return found

    def fingerprint(self) -> dict[str, Any]:
        return {} if self._path is None else fingerprint(self._path)

    def close(self) -> None:
        pass


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
        while data := self._bytes.read(_BLOCK):
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


Reader: TypeAlias = TextFile | ParquetTable | _InMemory
"""A source from which a table can be read once: names first, then the records of some columns."""


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


# ---- out


def write_table(
    table: Any,
    path: StrPath,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    types: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> None:
    """Write a table to a CSV or Parquet file, which appears when it is complete.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "visits.csv")
    ...     write_table({"id": ["007", "008"], "diagnosis": ["flu, bird", None]}, path)
    ...     print(path.read_text(), end="")
    id,diagnosis
    007,"flu, bird"
    008,

    A pandas or polars frame, an Arrow table or stream, or a mapping of columns; an index is left out. ``types`` are
    Arrow types by column, for Parquet. An existing file is replaced only with ``overwrite=True``.
    """
    check_new(path, overwrite)
    held = Table(table)
    with draft_of(path) as draft:
        write_draft(as_arrow(held, held.names), draft, path, delimiter, encoding, types or {})


def write_draft(
    table: Any, draft: Path, path: StrPath, delimiter: str | None, encoding: str, types: Mapping[str, Any]
) -> None:
    """Write an Arrow table to a draft of the file ``path``."""
    if is_parquet(path):
        _write_parquet(table, draft, types)
        return
    delimiter = delimiter_of(path, delimiter)
    check_text(delimiter, encoding)
    # One file for both, closed by itself: Arrow keeps the file of a packed stream open that it could not finish.
    with draft.open("wb") as file:
        if Path(path).suffix.lower() == ".gz":
            with pa.CompressedOutputStream(file, "gzip") as packed:
                _write_text(table, packed, delimiter, encoding)
        else:
            _write_text(table, file, delimiter, encoding)


def types_kept(types: Mapping[str, Any], before: Any, after: Any) -> dict[str, Any]:
    """Return the types of columns whose type a method did not change, such as to texts for intervals of numbers.

    ``types`` are those in the file of the table ``before``, which holds texts as codes.
    """

    def is_kept(name: str) -> bool:
        old, new = before.schema.field(name).type, after.schema.field(name).type
        coded = pa.types.is_dictionary(old) and pa.types.is_dictionary(new)
        return bool(old.value_type == new.value_type if coded else old == new)

    return {name: types[name] for name in after.schema.names if name in types and is_kept(name)}


def as_arrow(table: Table, columns: Sequence[Any]) -> Any:
    """Return some columns of a table from any library as an Arrow table."""
    for name in columns:
        if not isinstance(name, str) or name.encode(errors="ignore").decode() != name:
            raise DataError("column names in a file must be texts", column=name)
    return pa.table({name: to_arrow(table.values(name), name) for name in columns})


def _write_parquet(table: Any, path: Path, types: Mapping[str, Any]) -> None:
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


# ---- the order of rows


def in_order(table: Any, rows: NDArray[np.uint32]) -> Any:
    """Return the rows of an Arrow table in another order."""
    chosen = pa.array(rows)
    # Column by column and in one piece, or Arrow would look every row up among the pieces.
    found = {}
    for name in table.column_names:
        with or_data_error(name, f"rows of its type {table[name].type} cannot be reordered"):
            found[name] = pc.take(whole(table[name]), chosen)
    return pa.table(found)


def inverse(rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Turn "record to row" into "row to record", and back."""
    found = np.empty_like(rows)
    found[rows] = np.arange(len(rows), dtype=rows.dtype)
    return found
