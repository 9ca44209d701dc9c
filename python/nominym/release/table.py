"""Tables in files: which columns there are, reading some of them, writing, and the order of the rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from nominym.atomic import StrPath, check_new, draft_of
from nominym.control import Progress
from nominym.error import DataError, FormatError, ParameterError, UnknownColumnError
from nominym.frame import Table
from nominym.release import delimited, parquet

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TEXT, _PARQUET = (".csv", ".tsv", ".txt"), (".parquet", ".pq")


def is_parquet(path: StrPath) -> bool:
    """Tell by its name whether a file is Parquet or delimited text; other names are refused."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _PARQUET:
        return True
    packed = suffixes[-1:] == [".gz"]
    if (suffixes[:-1] if packed else suffixes)[-1:] and (suffixes[:-1] if packed else suffixes)[-1] in _TEXT:
        return False
    raise ParameterError(
        f"{os.fspath(path)}: a table is in a file that ends in {', '.join((*_TEXT, *_PARQUET))}, or .gz after text"
    )


def column_names(path: StrPath, *, delimiter: str | None = None, encoding: str = "utf-8") -> list[str]:
    """List the columns of a file; a column without a name, or two with the same one, are an error."""
    if Path(path).is_dir():
        raise FormatError(f"{os.fspath(path)} is a folder; a table is a single file")
    if is_parquet(path):
        names = list(parquet.schema(path).names)
    else:
        names = delimited.header(path, _delimiter(path, delimiter), encoding)
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1 and name:
        raise DataError(f"{os.fspath(path)}: column name {name!r} stands {times} times; rename the columns")
    if "" in names:
        raise DataError(f"{os.fspath(path)}: column {names.index('') + 1} has no name; name it in the first line")
    return names


def _delimiter(path: StrPath, given: str | None) -> str:
    return delimited.usual_delimiter(path) if given is None else given


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

    Parameters
    ----------
    path
        Ends in ``.csv``, ``.tsv`` or ``.txt`` (with ``.gz`` after it, if packed), or in ``.parquet``.
    columns
        The columns to read, by default all. Others are never in memory.
    delimiter, encoding
        Of delimited text: by default a comma (a tab in ``.tsv``), and UTF-8.
    na
        Texts that stand for a missing value, besides empty cells: for all columns, or by column.
    progress
        ``True`` for a bar, or a callable of (done, total).

    Returns
    -------
    pyarrow.Table
        Delimited text is not interpreted: "007" stays what it is. Texts are dictionaries: a code for each record, and
        every distinct text once. Parquet columns of other types keep them.
    """
    names = column_names(path, delimiter=delimiter, encoding=encoding)
    wanted = names if columns is None else list(columns)
    for name in wanted:
        if name not in names:
            raise UnknownColumnError(f"{os.fspath(path)} has no column {name!r}; there are {delimited.some(names)}")
    if is_parquet(path):
        table = parquet.read(path, wanted, progress)
    else:
        table = delimited.read(path, wanted, _delimiter(path, delimiter), encoding, progress)
    markers = na if isinstance(na, Mapping) else dict.fromkeys(wanted, tuple(na))
    for name, texts in markers.items():
        if texts:
            place = table.column_names.index(name)
            table = table.set_column(place, name, _without(table[name], texts))
    return table


def _without(column: Any, texts: Sequence[str]) -> Any:
    """Take some values for missing."""
    if not pa.types.is_dictionary(column.type):
        return column
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    stays = ~np.isin(np.array(array.dictionary.to_pylist(), dtype=object), list(texts))
    codes = pa.array(np.cumsum(stays) - 1, array.type.index_type, mask=~stays)
    return pa.DictionaryArray.from_arrays(codes.take(array.indices), array.dictionary.filter(pa.array(stays)))


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

    A pandas or polars frame, an Arrow table or a mapping of columns; an index is left out. ``types`` are Arrow types by
    column, for Parquet. A file that is already there is replaced only with ``overwrite=True``.
    """
    check_new(path, overwrite)
    is_parquet(path)
    with draft_of(path) as draft:
        write_draft(as_arrow(table), draft, path, delimiter, encoding, types)


def write_draft(
    table: Any,
    draft: Path,
    path: StrPath,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    types: Mapping[str, Any] | None = None,
) -> None:
    """Write an Arrow table to a draft of the file ``path``."""
    if is_parquet(path):
        parquet.write(table, draft, types or {})
        return
    with draft.open("wb") as file:
        if Path(path).suffix.lower() == ".gz":
            with pa.CompressedOutputStream(pa.PythonFile(file, "w"), "gzip") as packed:
                delimited.write(table, packed, _delimiter(path, delimiter), encoding)
        else:
            delimited.write(table, file, _delimiter(path, delimiter), encoding)


def as_arrow(table: Any) -> Any:
    """Turn a table of any library into an Arrow table."""
    held = Table(table)
    held.check_lengths()
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pd.DataFrame):
        return pa.Table.from_pandas(table, preserve_index=False)
    if hasattr(table, "to_arrow"):
        return table.to_arrow()
    return pa.table({name: pa.array(held.values(name), from_pandas=True) for name in held.names})


def in_order(table: Any, rows: NDArray[np.uint32]) -> Any:
    """Give the rows of an Arrow table in another order."""
    chosen = pa.array(rows)
    columns = []
    for name in table.column_names:
        column = table[name]
        # Column by column and in one piece, or Arrow would look every row up among the pieces.
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        columns.append(pc.take(whole, chosen))
    return pa.table(columns, names=table.column_names)


def inverse(rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Turn "record to row" into "row to record", and back."""
    found = np.empty_like(rows)
    found[rows] = np.arange(len(rows), dtype=rows.dtype)
    return found
