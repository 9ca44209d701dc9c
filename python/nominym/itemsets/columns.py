"""Set-valued records from columns, tables and matrices of other libraries."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from nominym.error import DataError
from nominym.itemsets import names
from nominym.itemsets.names import Missing
from nominym.meaning import is_frame, is_missing, is_polars, is_sequence
from nominym.table import ARROW_REFUSES, MISSING, Column, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_COUNTS = "a record holds an item (1) or not (0): turn counts into truth values first"


def row_of(starts: NDArray[np.uint64], place: int) -> int:
    """Return the row to which a position in the flat list of all items belongs."""
    return int(np.searchsorted(starts, place, side="right")) - 1


def _starts(sizes: Any) -> NDArray[np.uint64]:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.uint64))).astype(np.uint64)


# ---- lists and columns of lists


def from_lists(rows: Any, column: Any, missing: Missing) -> tuple[NDArray[np.uint64], Any]:
    """Flatten rows of items; return where each begins, and the names of all items in an Arrow array."""
    listed = names.as_list(rows) if is_sequence(rows) else None
    if listed is None:
        raise DataError(f"rows of items are needed, not {type(rows).__name__}", column=column)
    try:
        array = pa.array(listed, from_pandas=True)
        if _is_list(array.type) and names.plain(array.flatten()) is not None:
            return from_arrow(array, column, missing)
    except ARROW_REFUSES:
        pass
    # Sets, several types, or a mistake: row by row, with the place for the message.
    lists = [_row(i, row, column, missing) for i, row in enumerate(listed)]
    starts = _starts([len(row) for row in lists])
    values = list(chain.from_iterable(lists))
    return starts, names.from_python(values, lambda place: f"row {row_of(starts, place)}", column=column)


def _row(i: int, row: Any, column: Any, missing: Missing) -> list[Any]:
    """Return the items of one row that are not missing."""
    if is_missing(row):
        if missing == "error":
            raise names.missing_error(f"row {i}", column)
        return []
    items = None if isinstance(row, str | bytes | Mapping) else names.as_list(row)
    if items is None:
        what = f"row {i}: a list of items is needed, not {names.shown(row)} of type {type(row).__name__}"
        raise DataError(what, column=column)
    known = [item for item in items if not is_missing(item)]
    if missing == "error" and len(known) < len(items):
        raise names.missing_error(f"row {i}: an item", column)
    return known


def from_column(series: Any, missing: Missing) -> tuple[NDArray[np.uint64], Any, Any]:
    """Flatten a column of lists from any library; also return its name for messages."""
    name = getattr(series, "name", None)
    name = None if is_missing(name) or str(name) == "" else name
    if is_frame(series):
        raise DataError(f"one column of lists is needed, not a {type(series).__name__}; choose a column of it")
    array = series
    if isinstance(series, pd.Series) and isinstance(series.dtype, pd.ArrowDtype):
        array = pa.array(series)
    elif is_polars(series, "Series"):
        try:
            # Objects would come as the bytes of pointers.
            array = series.to_list() if str(series.dtype) == "Object" else series.to_arrow()
        except ARROW_REFUSES:
            array = series.to_list()
    if not isinstance(array, pa.Array | pa.ChunkedArray):
        return *from_lists(array, name, missing), name
    if not _is_list(array.type):
        where = "" if name is not None else "the column "
        raise DataError(f"{where}holds {array.type} values, but lists of items are needed", column=name)
    return *from_arrow(array, name, missing), name


def _is_list(kind: Any) -> bool:
    return any(is_list(kind) for is_list in _LISTS)


def from_arrow(array: Any, column: Any, missing: Missing) -> tuple[NDArray[np.uint64], Any]:
    """Flatten an Arrow array of lists."""
    if isinstance(array, pa.ChunkedArray):
        # All items together may be more than a list of 32-bit places can have.
        array = array.cast(pa.large_list(array.type.value_type)).combine_chunks()
        array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    if array.null_count and missing == "error":
        raise names.missing_error(f"row {int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))}", column)
    sizes = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    starts = _starts(sizes)
    values = names.plain(array.flatten())
    if values is None:
        # Not names, but maybe missing ones among them: the slow way knows, and has the right message.
        return from_lists(array.to_pylist(), column, missing)
    if values.null_count:
        gaps = values.is_null().to_numpy(zero_copy_only=False)
        if missing == "error":
            raise names.missing_error(f"row {row_of(starts, int(np.argmax(gaps)))}: an item", column)
        starts = _starts(~gaps)[starts]
        values = values.drop_null()
    return starts, values


# ---- texts that list items, and tables with a row for each item of a record


def split(texts: Any, separator: str) -> tuple[NDArray[np.uint64], Any]:
    """Flatten texts that list items; return where each begins, and the names of all items, without empty ones."""
    lists = pc.split_pattern(texts, separator)
    starts = _starts(pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False))
    values = pc.utf8_trim_whitespace(lists.flatten()).cast(pa.large_string())
    held = pc.not_equal(values, "")
    return _starts(held.to_numpy(zero_copy_only=False))[starts], as_numbers(values.filter(held))


def as_numbers(values: Any) -> Any:
    """Return items as whole numbers if all are written in plain form; "007" is a text."""
    number = pc.match_substring_regex(values, "^(0|[1-9][0-9]{0,9})$")
    if not len(values) or not pc.all(number).as_py():
        return values
    numbers = values.cast(pa.int64())
    return numbers if pc.max(numbers).as_py() <= names.LARGEST else values


def from_long(
    frame: Any, record: Any, item: Any, missing: Missing, of_text: bool
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], Any, NDArray[np.int64]]:
    """Flatten a table of (record, item); return where records begin, item numbers, names, and first rows of records.

    Records are in order of first appearance. A repeated pair counts once.
    """
    table = Table(frame)
    of, what = (table.column(name) for name in (record, item))
    if of.missing:
        gap = int(np.argmax(of.codes == MISSING))
        raise DataError(f"row {gap}: the record of this row is missing; fill or drop it", column=record)
    gaps = what.codes == MISSING
    if missing == "error" and gaps.any():
        raise names.missing_error(f"row {int(np.argmax(gaps))}: an item", item)
    found = names.from_python(what.categories or [""], lambda place: f"{what.categories[place]!r}", column=item)
    found = found[: len(what.categories)]
    found = as_numbers(found) if of_text and pa.types.is_large_string(found.type) else found
    order = pc.sort_indices(found).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    codes, firsts, places = np.unique(of.codes, return_index=True, return_inverse=True)
    number = np.empty(len(codes), dtype=np.int64)
    number[np.argsort(firsts, kind="stable")] = np.arange(len(codes))
    rows, width = number[places.reshape(-1)], max(len(order), 1)
    pairs = np.unique(rows[~gaps] * width + rank[what.codes[~gaps]])
    sizes = np.bincount(pairs // width, minlength=len(codes))
    return _starts(sizes), (pairs % width).astype(np.uint32), found.take(pa.array(order)), np.sort(firsts)


# ---- tables with a column for each item


def from_frame(frame: Any, missing: Missing) -> tuple[NDArray[np.uint64], NDArray[np.uint32], Any]:
    """Flatten a table of truth values; return where rows begin, item numbers and names."""
    table = Table(frame)
    found = names.from_python(table.names, lambda place: f"column {table.names[place]!r}")
    held = [np.flatnonzero(_truth(table.column(name), name, missing)) for name in table.names]
    rows = np.concatenate(held) if held else np.empty(0, dtype=np.int64)
    codes = np.repeat(np.arange(len(held), dtype=np.uint32), [len(column) for column in held])
    order = np.argsort(rows, kind="stable")
    return _starts(np.bincount(rows, minlength=len(table))), codes[order], found


def _truth(column: Column, name: Any, missing: Missing) -> NDArray[np.bool_]:
    """Read a column of truth values, or of 0 and 1."""
    if column.missing and missing == "error":
        raise names.missing_error(f"row {int(np.argmax(column.codes == MISSING))}: a value", name)
    for number, value in enumerate(column.categories):
        if not isinstance(value, bool | np.bool_ | int | np.integer):
            raise DataError(
                f"{value!r} of type {type(value).__name__} is not a truth value; a column of true and false, or 0 "
                f"and 1, is needed for each item",
                column=name,
            )
        if value not in (0, 1):
            raise DataError(f"row {int(np.argmax(column.codes == number))}: {value}; {_COUNTS}", column=name)
    # What is missing has the last place.
    truth = np.array([*(bool(value) for value in column.categories), False])
    return truth[np.minimum(column.codes, np.uint32(len(column.categories)))]


# ---- sparse matrices


def from_csr(matrix: Any) -> tuple[NDArray[np.uint64], NDArray[np.uint32], int]:
    """Read a sparse matrix; return where rows begin, item numbers and the number of columns."""
    needed = ("indptr", "indices", "data", "shape")
    kind = getattr(matrix, "format", "csr")
    kind = kind if isinstance(kind, str) else type(kind).__name__
    if kind != "csr" or not all(hasattr(matrix, name) for name in needed):
        found = type(matrix).__name__ + ("" if kind == "csr" else f" ({kind})")
        remedy = "sparse matrices have tocsr(), tables go to from_frame"
        raise DataError(f"a sparse matrix in CSR form is needed, not {found}", remedy=remedy)
    starts, columns = names.whole_numbers(matrix.indptr), names.whole_numbers(matrix.indices)
    try:
        n, width = map(operator.index, matrix.shape)
    except (TypeError, ValueError):
        n = width = -1
    if starts is None or columns is None or min(n, width) < 0:
        raise DataError("the matrix is broken: shape, indptr and indices have to be whole numbers")
    if width >= 2**32:
        raise DataError(f"a matrix of {width.bit_length()}-bit width; at most 2^32 − 1 columns")
    if len(starts) != n + 1 or starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] > len(columns):
        raise DataError("the matrix is broken: indptr does not fit its shape and indices; see its check_format()")
    if len(columns) and not 0 <= columns.min() <= columns.max() < width:
        raise DataError(f"the matrix is broken: indices go beyond its {width:,} columns; see its check_format()")
    values = names.as_array(matrix.data)
    if values is None or len(values) != len(columns) or values.dtype.kind not in "biuf":
        raise DataError(f"the matrix is broken: one value of 0 or 1 for each of its {len(columns):,} indices is needed")
    used = int(starts[-1])
    columns, values = columns[:used], values[:used]
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if len(wrong):
        row = row_of(starts, int(wrong[0]))
        raise DataError(f"row {row}, column {columns[wrong[0]]}: {values[wrong[0]]}; {_COUNTS}")
    held = values != 0
    return _starts(held)[starts], columns[held].astype(np.uint32), width
