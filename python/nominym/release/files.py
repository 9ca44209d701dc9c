"""Tables in files: delimited text and Parquet, of which columns are read and written in batches.

``open_table`` opens a file once: for the names of its columns, then for the records of those that are wanted, and for a
fingerprint of the bytes that went by.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nominym.control import Progress, reporter
from nominym.error import DataError, FormatError, ParameterError, no_column
from nominym.files import StrPath, check_new, draft_of, read_text
from nominym.itemsets import Itemsets
from nominym.release import delimited
from nominym.release.delimited import TextFile, Watched, check_text, whole
from nominym.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT, PARQUET, FIMI = (".csv", ".tsv", ".txt"), (".parquet", ".pq"), (".dat", ".fimi")
"""How names of files end."""

_ROWS = 1 << 18


def suffix(path: StrPath) -> str:
    """Return how a name ends, in small letters; what packs a file is left out.

    >>> suffix("visits.CSV.gz"), suffix("visits.parquet")
    ('.csv', '.parquet')
    """
    found = [part.lower() for part in Path(path).suffixes]
    return "".join((found[:-1] if found[-1:] == [".gz"] else found)[-1:])


def is_parquet(path: StrPath) -> bool:
    """Tell by its name whether a file is Parquet or delimited text; other names are refused."""
    if Path(path).suffix.lower() in PARQUET:
        return True
    if suffix(path) not in TEXT:
        raise ParameterError(
            f"{os.fspath(path)}: a table is in a file that ends in {', '.join((*TEXT, *PARQUET))}, or .gz after text"
        )
    return False


def fingerprint(path: StrPath) -> dict[str, Any]:
    """Return name, size and SHA-256 of a file; not its folder, which may tell more than it should."""
    with closing(Watched(path)) as file:
        return file.fingerprint()


def listed(names: Sequence[Any], most: int = 10) -> str:
    """List names for a message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, islice(names, most))) + more


def open_table(source: Any, *, delimiter: str | None = None, encoding: str = "utf-8") -> closing[Reader]:
    """Open a table, in a file or in memory."""
    found: Reader
    if not isinstance(source, str | os.PathLike):
        found = _InMemory(source)
    elif Path(source).is_dir():
        raise FormatError(f"{os.fspath(source)} is a folder; a table is a single file")
    elif is_parquet(source):
        found = ParquetTable(source)
    else:
        found = TextFile(source, _delimiter(source, delimiter), encoding)
    name, times = next(iter(Counter(found.names).most_common(1)), ("", 0))
    if times > 1 or "" in found.names:
        found.close()
        if "" in found.names:
            raise DataError(f"{found.where}: column {found.names.index('') + 1} has no name; name it in the first line")
        raise DataError(f"{found.where}: column name {name!r} stands {times} times; rename the columns")
    return closing(found)


def _delimiter(path: StrPath, given: str | None) -> str:
    return given if given is not None else "\t" if suffix(path) == ".tsv" else ","


def read_columns(
    table: Reader,
    columns: Sequence[str] | None = None,
    na: Mapping[str, Sequence[str]] | Sequence[str] = (),
    progress: Progress = None,
) -> Any:
    """Read columns of an open table, by default all; ``na`` are texts that stand for a missing value."""
    wanted = table.names if columns is None else list(columns)
    for name in wanted:
        if name not in table.names:
            raise no_column(name, table.names, table.where)
    found = table.read(wanted, progress)
    for name, texts in (na if isinstance(na, Mapping) else dict.fromkeys(wanted, tuple(na))).items():
        if texts and name in wanted:
            found = found.set_column(found.column_names.index(name), name, _without(found[name], texts))
    return found


def read_table(
    path: StrPath,
    columns: Sequence[str] | None = None,
    *,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    na: Mapping[str, Sequence[str]] | Sequence[str] = (),
    progress: Progress = None,
) -> Any:
    """Read a table from a CSV or Parquet file, as an Arrow table that every method of nominym takes.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "visits.csv")
    ...     _ = path.write_text("id,diagnosis\\n007,flu\\n008,\\n009,flu\\n")
    ...     table = read_table(path, ["diagnosis"])
    >>> table["diagnosis"].to_pylist()
    ['flu', None, 'flu']

    The file ends in ``.csv``, ``.tsv`` or ``.txt`` (with ``.gz`` after it, if packed), or in ``.parquet``. Columns that
    are not asked for are never in memory; by default all are. Delimited text has a comma (a tab in ``.tsv``) and UTF-8,
    unless said otherwise. ``na`` are texts that stand for a missing value, besides empty cells: for all columns, or by
    column.

    Delimited text is not interpreted: "007" stays what it is. Texts are dictionaries: a code for each record, and every
    distinct text once. Parquet columns of other types keep them.
    """
    with open_table(path, delimiter=delimiter, encoding=encoding) as table:
        return read_columns(table, columns, na, progress)


def _without(column: Any, texts: Sequence[str]) -> Any:
    """Take some texts for missing."""
    column = whole(column)
    if _is_text(column.type):
        return pc.if_else(pc.is_in(column, pa.array(texts, column.type)), None, column)
    if not pa.types.is_dictionary(column.type):
        return column
    stays = ~np.isin(np.array(column.dictionary.to_pylist(), dtype=object), list(texts))
    codes = pa.array(np.cumsum(stays) - 1, column.type.index_type, mask=~stays)
    return pa.DictionaryArray.from_arrays(codes.take(column.indices), column.dictionary.filter(pa.array(stays)))


class _InMemory:
    """A frame of any library."""

    def __init__(self, data: Any) -> None:
        self._table = Table(data)
        self.where, self.names = "the table", self._table.names
        self.types: dict[str, Any] = {}

    def read(self, columns: Sequence[str], progress: Progress) -> Any:
        found = as_arrow(self._table, columns)
        self.types |= {field.name: field.type for field in found.schema}
        return found

    def fingerprint(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        pass


class ParquetTable:
    """A Parquet file, opened once: texts are codes from the start, other columns keep their types."""

    def __init__(self, path: StrPath) -> None:
        """Open the file and read the names and types of its columns."""
        self.where, self._path = os.fspath(path), path
        if Path(path).stat().st_size == 0:
            raise FormatError(f"{self.where} is empty: expected a Parquet file")
        try:
            self._file = pq.ParquetFile(self.where)
            self.schema = self._file.schema_arrow
        except (pa.ArrowException, OSError) as error:
            raise self._broken(error) from None
        self.names = list(self.schema.names)
        self.types = {field.name: field.type for field in self.schema}

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def fingerprint(self) -> dict[str, Any]:
        """Return name, size and SHA-256 of the file."""
        return fingerprint(self._path)

    def _broken(self, error: Exception) -> Exception:
        if isinstance(error, OSError) and error.errno is not None:
            return error
        return FormatError(f"{self.where}: no Parquet file, or a damaged one ({str(error).partition(chr(10))[0]})")

    def read(self, columns: Sequence[str], progress: Progress) -> Any:
        """Read columns with their types; texts become dictionaries of the distinct ones, and codes."""
        text = [name for name in columns if _is_text(self.types[name])]
        batches = []
        try:
            with (
                pq.ParquetFile(self.where, metadata=self._file.metadata, read_dictionary=text) as file,
                reporter(progress, "reading") as report,
            ):
                done = 0
                for batch in file.iter_batches(batch_size=_ROWS, columns=list(columns)):
                    batches.append(batch.select(list(columns)))
                    done += batch.num_rows
                    if report:
                        report(done, file.metadata.num_rows)
                schema = (
                    batches[0].schema if batches else pa.schema([file.schema_arrow.field(name) for name in columns])
                )
        except (pa.ArrowException, OSError) as error:
            raise self._broken(error) from None
        read = pa.Table.from_batches(batches, schema)
        parts = zip(read.column_names, read.columns, strict=True)
        return pa.table({name: whole(each) if pa.types.is_dictionary(each.type) else each for name, each in parts})


Reader: TypeAlias = TextFile | ParquetTable | _InMemory
"""What a table can be read from once: names first, then the records of some columns."""


def _is_text(kind: Any) -> bool:
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
    """Write a table to a CSV or Parquet file, which gets its name when it is complete.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "visits.csv")
    ...     write_table({"id": ["007", "008"], "diagnosis": ["flu, bird", None]}, path)
    ...     print(path.read_text(), end="")
    id,diagnosis
    007,"flu, bird"
    008,

    A pandas or polars frame, an Arrow table or stream, or a mapping of columns; an index is left out. ``types`` are
    Arrow types by column, for Parquet. A file that is already there is replaced only with ``overwrite=True``.
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
    delimiter = _delimiter(path, delimiter)
    check_text(delimiter, encoding)
    packed = "gzip" if Path(path).suffix.lower() == ".gz" else None
    with pa.output_stream(os.fspath(draft), compression=packed) as file:
        delimited.write(table, file, delimiter, encoding)


def as_arrow(table: Table, columns: Sequence[Any]) -> Any:
    """Return some columns of a table of any library as an Arrow table."""
    data = table.data
    if isinstance(data, pa.Table):
        return data.select(list(columns))
    found = {}
    for name in columns:
        values = table.values(name)
        try:
            found[name] = values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError) as error:
            raise DataError(f"its values have no form in a file ({error})", column=name) from None
        if not isinstance(name, str):
            raise DataError("the name of a column in a file is a text", column=name)
    return pa.table(found)


def _write_parquet(table: Any, path: Path, types: Mapping[str, Any]) -> None:
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
    made = pa.schema(fields)
    ready = pa.table([_by_name(whole(table[name])) for name in made.names], names=made.names)
    with pq.ParquetWriter(os.fspath(path), made, compression="zstd") as writer:
        for first in range(0, max(table.num_rows, 1), _ROWS):
            writer.write_table(ready.slice(first, _ROWS).cast(made))


def _by_name(column: Any) -> Any:
    """List the values of a dictionary by name: the order of their first appearance would tell who was first."""
    if not pa.types.is_dictionary(column.type) or column.type.ordered:
        return column
    order = pc.sort_indices(column.dictionary)
    place = pc.sort_indices(order).cast(column.type.index_type)
    return pa.DictionaryArray.from_arrays(place.take(column.indices), column.dictionary.take(order))


# ---- the order of rows


def in_order(table: Any, rows: NDArray[np.uint32]) -> Any:
    """Return the rows of an Arrow table in another order."""
    chosen = pa.array(rows)
    # Column by column and in one piece, or Arrow would look every row up among the pieces.
    return pa.table([pc.take(whole(table[name]), chosen) for name in table.column_names], names=table.column_names)


def inverse(rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Turn "record to row" into "row to record", and back."""
    found = np.empty_like(rows)
    found[rows] = np.arange(len(rows), dtype=rows.dtype)
    return found


# ---- set-valued records


def read_sets(
    source: Any, column: str | None = None, label: Any = None, progress: Progress = None
) -> tuple[Itemsets, Any, list[str]]:
    """Read set-valued records, their labels if there are such, and the names of columns that are left out.

    Records are in a FIMI file, with labels in a file of their own, one a line; in a column of lists of a Parquet file
    or a frame, with labels in another column; or an ``Itemsets`` with a list of labels.
    """
    if isinstance(source, Itemsets) or (isinstance(source, str | os.PathLike) and suffix(source) in FIMI):
        if column is not None:
            raise ParameterError("there are no columns to choose from; leave it out", parameter="column", value=column)
        if isinstance(source, Itemsets):
            return source, label, []
        sets = Itemsets.from_fimi(source, progress=progress)
        if not sets.n:
            raise DataError(f"{os.fspath(source)} has no record")
        remedy = "labels are in UTF-8, one a line"
        return sets, None if label is None else read_text(label, remedy=remedy).splitlines(), []
    if isinstance(source, str | os.PathLike) and Path(source).suffix.lower() not in PARQUET:
        raise ParameterError(
            f"{os.fspath(source)}: item sets are in a file that ends in {', '.join(FIMI)} (also .gz) or .parquet"
        )
    with open_table(source) as table:
        column = _list_column(table) if column is None else column
        wanted = list(dict.fromkeys([column, *([] if label is None else [label])]))
        found = read_columns(table, wanted, progress=progress)
        if not found.num_rows:
            raise DataError(f"{table.where} has no record")
        left_out = [name for name in table.names if name not in wanted]
    return Itemsets.from_column(found[column]), None if label is None else found[label], left_out


def _list_column(table: Reader) -> str:
    kinds = table.types.items()
    lists = [name for name, kind in kinds if pa.types.is_list(kind) or pa.types.is_large_list(kind)]
    if len(lists) == 1:
        return lists[0]
    raise ParameterError(
        f"name the column of {table.where} that holds lists of items; there are {listed(lists or table.names)}",
        parameter="column",
    )
