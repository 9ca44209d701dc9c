"""Set-valued records in files: lines of items, a column of lists, or a table with one row per item."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from nominym.control import Progress
from nominym.error import NO_VALUE, Advice, DataError, ParameterError, listed
from nominym.files import StrPath, read_text
from nominym.itemsets import Itemsets
from nominym.itemsets.names import Missing, check_missing
from nominym.release import files
from nominym.table import code


class Layout(NamedTuple):
    """How a source holds set-valued records."""

    column: str | None = None
    """The column of lists."""
    label: Any = None
    """The column of labels, a file with one per line, or the labels themselves."""
    person: Any = None
    """The same for persons."""
    record: str | None = None
    """In a table with one row per item, the column of the record."""
    item: str | None = None
    """… and the column of the item."""
    missing: Missing = "error"
    """How to treat missing items and lists."""
    delimiter: str | None = None
    encoding: str = "utf-8"
    comment: str | None = None


def read_sets(
    source: Any,
    how: Layout,
    progress: Progress = None,
) -> tuple[Itemsets, Any, Any, list[str]]:
    """Read set-valued records, their labels and persons if any, and the names of columns that are left out.

    Records are in a FIMI file or in lines of delimited text, with labels and persons in separate files, one per line;
    in a column of lists of a Parquet file or a frame, or in rows of (record, item), with labels and persons in other
    columns; or an ``Itemsets`` with lists of them.
    """
    check_missing(how.missing)
    path = source if isinstance(source, str | os.PathLike) else None
    if (how.record is None) != (how.item is None):
        remedy = Advice("give both, {} and {}", record=NO_VALUE, item=NO_VALUE)
        raise ParameterError("a table with one row per item has a column of records and one of items", remedy=remedy)
    if how.record is not None:
        if how.column is not None or isinstance(source, Itemsets):
            remedy = Advice("leave {} and {} out", record=NO_VALUE, item=NO_VALUE)
            raise ParameterError("a row holds one item, or a list of them", remedy=remedy)
        return _read_long(source, how, progress)
    lined = path is not None and files.suffix(path) in (*files.FIMI, *files.TEXT)
    if isinstance(source, Itemsets) or lined:
        if how.column is not None:
            fault = "there are no columns to choose from; leave it out"
            raise ParameterError(fault, parameter="column", value=how.column)
        if isinstance(source, Itemsets):
            return source, how.label, how.person, []
        assert path is not None
        sets = _read_lines(path, how, progress)
        if not sets.n:
            raise DataError(f"{os.fspath(path)} has no record")
        told, beside = "labels and persons are in UTF-8, one per line", (how.label, how.person)
        labels, persons = (None if at is None else read_text(at, remedy=told).splitlines() for at in beside)
        return sets, labels, persons, []
    if path is not None and Path(path).suffix.lower() not in files.PARQUET:
        ends = ", ".join((*files.FIMI, *files.TEXT))
        raise ParameterError(f"{os.fspath(path)}: item sets are in a file that ends in {ends}, or .parquet")
    with files.open_table(source) as table:
        column = _list_column(table) if how.column is None else how.column
        wanted = list(dict.fromkeys([column, *(name for name in (how.label, how.person) if name is not None)]))
        found = files.read_columns(table, wanted, progress=progress)
        if not found.num_rows:
            raise DataError(f"{table.where} has no record")
        left_out = [name for name in table.names if name not in wanted or name == how.person]
    labels, persons = (None if name is None else found[name] for name in (how.label, how.person))
    return Itemsets.from_column(found[column], missing=how.missing), labels, persons, left_out


def _read_lines(path: StrPath, how: Layout, progress: Progress) -> Itemsets:
    """Read a file with one record per line: numbers separated by blanks, or names by a delimiter."""
    if files.suffix(path) in files.FIMI:
        return Itemsets.from_fimi(path, progress=progress)
    delimiter = files.delimiter_of(path, how.delimiter)
    sets = Itemsets.from_baskets(path, delimiter=delimiter, encoding=how.encoding, comment=how.comment)
    sizes = np.diff(sets.core.starts())
    same = sets.n > 2 and bool((sizes == sizes[0]).all())
    if same and sizes[0] == 2:
        raise DataError(
            f"{os.fspath(path)}: every line has two cells, as in a table of records and items",
            remedy=Advice("give {} and {}, the columns of these; or write pairs of items as Parquet", record=NO_VALUE,
                          item=NO_VALUE),
        )  # fmt: skip
    # A line of column names is unlike all others.
    if same and sizes[0] > 2 and (np.bincount(sets.core.items())[sets.core.items()[: sizes[0]]] == 1).all():
        raise DataError(
            f"{os.fspath(path)}: every line has {sizes[0]} cells, and those of the first line occur nowhere else, as "
            "in a table with the names of its columns",
            remedy=Advice("give {} and {} if each row holds one item; if each line is a record, delete the first "
                          "line, or move it down if it is a record too", record=NO_VALUE, item=NO_VALUE),
        )  # fmt: skip
    return sets


def _read_long(source: Any, how: Layout, progress: Progress) -> tuple[Itemsets, Any, Any, list[str]]:
    """Read a table with one row per item; labels and persons are the same in all rows of a record."""
    assert how.record is not None
    assert how.item is not None
    beside = [name for name in (how.label, how.person) if name is not None]
    wanted = list(dict.fromkeys([how.record, how.item, *beside]))
    text: dict[str, Any] = {"delimiter": how.delimiter, "encoding": how.encoding, "comment": how.comment}
    with files.open_table(source, **text) as table:
        found = files.read_columns(table, wanted, progress=progress)
        if not found.num_rows:
            raise DataError(f"{table.where} has no record")
        left_out = [name for name in table.names if name not in (how.item, how.label)]
    sets, firsts = Itemsets.of_long_file(found, how.record, how.item, how.missing)
    records = code(found[how.record], how.record).codes
    for name in beside:
        several = np.unique(np.stack([records, code(found[name], name).codes]), axis=1)[0]
        twice = several[:-1][several[1:] == several[:-1]]
        if len(twice):
            row = int(np.argmax(records == twice[0]))
            raise DataError(f"the record of row {row} has several values; one is needed", column=name)
    labels, persons = (None if name is None else found[name].take(pa.array(firsts)) for name in (how.label, how.person))
    return sets, labels, persons, left_out


def _list_column(table: files.Reader) -> str:
    kinds = table.types.items()
    lists = [name for name, kind in kinds if pa.types.is_list(kind) or pa.types.is_large_list(kind)]
    if len(lists) == 1:
        return lists[0]
    raise ParameterError(
        f"name the column of {table.where} that holds lists of items; there are {listed(lists or table.names)}",
        parameter="column",
    )
