"""Tables in files of any kind, with columns read and written in batches.

``open_table`` opens a file once: for the names of its columns, then for the records of the requested ones, and for a
fingerprint of the bytes read.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nominym.atomic import check_new, draft_of
from nominym.control import Progress, require
from nominym.error import DataError, ParameterError, no_column
from nominym.files import StrPath, as_input, fingerprint
from nominym.journal import recover
from nominym.release.columns import as_arrow, is_text, whole
from nominym.release.parquet import ParquetTable, write_parquet
from nominym.release.sheets import SHEETS, read_sheet
from nominym.release.text import TextFile, check_text, write_text, written_lines
from nominym.table import Table

# What a thread of Arrow takes of an address space that is limited.
_THREADS = 1 << 24

TEXT, PARQUET, FIMI = (".csv", ".tsv", ".txt"), (".parquet", ".pq"), (".dat", ".fimi")
"""Suffixes of files."""


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
    for lines in written_lines(table, delimiter_of(path, delimiter)):
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


Reader: TypeAlias = TextFile | ParquetTable | _InMemory
"""A source from which a table can be read once: names first, then the records of some columns."""


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
        write_parquet(table, draft, types)
        return
    delimiter = delimiter_of(path, delimiter)
    check_text(delimiter, encoding)
    # One file for both, closed by itself: Arrow keeps the file of a packed stream open that it could not finish.
    with draft.open("wb") as file:
        if Path(path).suffix.lower() == ".gz":
            with pa.CompressedOutputStream(file, "gzip") as packed:
                write_text(table, packed, delimiter, encoding)
        else:
            write_text(table, file, delimiter, encoding)
