"""Set-valued records on the command line: FIMI files and list columns of Parquet files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from nominym.cli import console
from nominym.error import DataError, FormatError, ParameterError
from nominym.itemsets import Itemsets, files
from nominym.release import parquet
from nominym.release.delimited import some

_FIMI = (".dat", ".fimi")


def is_fimi(path: Path) -> bool:
    """Tell by its name whether a file has a line of item numbers for each record."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return (suffixes[:-1] if suffixes[-1:] == [".gz"] else suffixes)[-1:] in [[suffix] for suffix in _FIMI]


def is_release(path: Path) -> bool:
    """Tell whether a Parquet file holds a release of set-valued records."""
    if path.suffix.lower() not in (".parquet", ".pq"):
        return False
    return files.NAME.encode() in (parquet.schema(path).metadata or {})


def read(path: Path, column: str | None, label: str | None) -> tuple[Itemsets, Any]:
    """Read records, and their labels if there are such; both from one Parquet file, or each from a file of lines."""
    if is_fimi(path):
        if column is not None:
            raise ParameterError(f"column={column!r}: {path} has lines of items, no columns; leave it out")
        sets = Itemsets.from_fimi(path, progress=console.progress())
        if not sets.n:
            raise DataError(f"{path} has no record")
        return sets, None if label is None else Path(label).read_text(encoding="utf-8").splitlines()
    if path.suffix.lower() not in (".parquet", ".pq"):
        raise ParameterError(f"{path}: item sets are in a file that ends in {', '.join(_FIMI)} (also .gz) or .parquet")
    return _from_parquet(path, column, label)


def _from_parquet(path: Path, column: str | None, label: str | None) -> tuple[Itemsets, Any]:
    schema = parquet.schema(path)
    lists = [field.name for field in schema if pa.types.is_list(field.type) or pa.types.is_large_list(field.type)]
    if column is None:
        if len(lists) != 1:
            found = f"there are {some(lists)}" if lists else f"there is none among {some(schema.names)}"
            raise ParameterError(f"column=: name the column of {path} that holds lists of items; {found}")
        column = lists[0]
    wanted = [column, *([] if label is None else [label])]
    for name in wanted:
        if name not in schema.names:
            raise ParameterError(f"{path} has no column {name!r}; there are {some(schema.names)}")
    others = [name for name in schema.names if name not in wanted]
    if others:
        console.notice(f"not part of the release: {', '.join(others)}")
    try:
        table = pq.read_table(os.fspath(path), columns=wanted)
    except pa.ArrowException as error:
        raise FormatError(f"{path}: {error}") from None
    if not table.num_rows:
        raise DataError(f"{path} has no record")
    return Itemsets.from_column(table[column]), None if label is None else table[label]
