"""Set-valued records in columns, tables and matrices of other libraries: in and out."""

from __future__ import annotations

import importlib
import operator
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from nominym.control import require
from nominym.error import DataError, MissingExtraError, ParameterError
from nominym.itemsets import names
from nominym.itemsets.names import Missing
from nominym.table import MISSING, Column, Table
from nominym.values import is_frame, is_missing, is_polars, is_sequence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.itemsets.sets import Itemsets

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_COUNTS = "a record holds an item (1) or not (0): turn counts into truth values first"


def row_of(starts: NDArray[np.uint64], place: int) -> int:
    """Tell which row a place in the flat list of all items belongs to."""
    return int(np.searchsorted(starts, place, side="right")) - 1


def _starts(sizes: Any) -> NDArray[np.uint64]:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.uint64))).astype(np.uint64)


# ---- lists and columns of lists


def from_lists(rows: Any, column: Any, missing: Missing) -> tuple[NDArray[np.uint64], Any]:
    """Flatten rows of items: where each begins, and the names of all items in an Arrow array."""
    listed = names.as_list(rows) if is_sequence(rows) else None
    if listed is None:
        raise DataError(f"rows of items are needed, not {type(rows).__name__}", column=column)
    try:
        array = pa.array(listed, from_pandas=True)
        if _is_list(array.type) and names.plain(array.flatten()) is not None:
            return from_arrow(array, column, missing)
    except names.ARROW_REFUSES:
        pass
    # Sets, several types, or a mistake: row by row, with the place for the message.
    lists = [_row(i, row, column, missing) for i, row in enumerate(listed)]
    starts = _starts([len(row) for row in lists])
    values = list(chain.from_iterable(lists))
    return starts, names.from_python(values, lambda place: f"row {row_of(starts, place)}", column=column)


def _row(i: int, row: Any, column: Any, missing: Missing) -> list[Any]:
    """Return the items of one row that are there."""
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
    """Flatten a column of lists of any library; also return its name for messages."""
    name = getattr(series, "name", None)
    name = None if is_missing(name) or str(name) == "" else name
    if is_frame(series):
        raise DataError(f"one column of lists is needed, not a {type(series).__name__}; choose a column of it")
    array = _as_arrow(series)
    if not isinstance(array, pa.Array | pa.ChunkedArray):
        return *from_lists(array, name, missing), name
    if not _is_list(array.type):
        where = "" if name is not None else "the column "
        raise DataError(f"{where}holds {array.type} values, but lists of items are needed", column=name)
    return *from_arrow(array, name, missing), name


def _as_arrow(series: Any) -> Any:
    """Bring a column into Arrow where its library has it so; otherwise return the values themselves."""
    if isinstance(series, pd.Series) and isinstance(series.dtype, pd.ArrowDtype):
        return pa.array(series)
    if is_polars(series, "Series"):
        try:
            # Objects would come as the bytes of pointers.
            return series.to_list() if str(series.dtype) == "Object" else series.to_arrow()
        except names.ARROW_REFUSES:
            return series.to_list()
    return series


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
        starts = np.concatenate(([0], np.cumsum(~gaps))).astype(np.uint64)[starts]
        values = values.drop_null()
    return starts, values


def to_arrow(sets: Itemsets) -> Any:
    """Return records as an Arrow array of lists."""
    starts, values = sets.core.starts(), sets.names.take(pa.array(sets.core.items()))
    if pa.types.is_large_string(values.type) and values.nbytes < 2**31:
        values = values.cast(pa.string())
    if len(values) < 2**31:
        return pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), values)
    return pa.LargeListArray.from_arrays(pa.array(starts.astype(np.int64)), values)


def to_column(sets: Itemsets, library: str) -> Any:
    """Return records as a column of lists."""
    _check_library(library)
    array = to_arrow(sets)
    if library == "pandas":
        return pd.Series(array, dtype=pd.ArrowDtype(array.type))
    return array if library == "arrow" else _polars().Series(array)


def _check_library(library: object) -> None:
    if not isinstance(library, str) or library not in ("pandas", "arrow", "polars"):
        raise ParameterError("give 'pandas', 'arrow' or 'polars'", parameter="library", value=library)


def _polars() -> Any:
    try:
        return importlib.import_module("polars")
    except ImportError:
        raise MissingExtraError("polars columns and frames need the extra: pip install nominym[polars]") from None


# ---- tables with a column for each item


def from_frame(frame: Any, missing: Missing) -> tuple[NDArray[np.uint64], NDArray[np.uint32], Any]:
    """Flatten a table of truth values: where rows begin, item numbers, names."""
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
                f"{value!r} of type {type(value).__name__} is no truth value; "
                "a column for each item with true and false, or 0 and 1, is needed",
                column=name,
            )
        if value not in (0, 1):
            raise DataError(f"row {int(np.argmax(column.codes == number))}: {value}; {_COUNTS}", column=name)
    # What is missing has the last place.
    truth = np.array([*(bool(value) for value in column.categories), False])
    return truth[np.minimum(column.codes, np.uint32(len(column.categories)))]


def to_frame(sets: Itemsets, library: str) -> Any:
    """Return records as a table of truth values."""
    _check_library(library)
    n, width = sets.n, sets.n_items
    require(2 * n * width, f"a table of {n:,} × {width:,} truth values", "keep the records as they are, or to_csr()")
    starts = sets.core.starts().astype(np.int64)
    cells = np.zeros((width, n), dtype=bool)
    cells[sets.core.items(), np.repeat(np.arange(n), starts[1:] - starts[:-1])] = True
    if library == "pandas":
        return pd.DataFrame(cells.T, columns=pd.Index(sets.items))
    table = pa.table([pa.array(column) for column in cells], names=[str(item) for item in sets.items])
    return table if library == "arrow" else _polars().from_arrow(table)


# ---- sparse matrices


def from_csr(matrix: Any) -> tuple[NDArray[np.uint64], NDArray[np.uint32], int]:
    """Read a sparse matrix: where rows begin, item numbers, number of columns."""
    needed = ("indptr", "indices", "data", "shape")
    kind = getattr(matrix, "format", "csr")
    kind = kind if isinstance(kind, str) else type(kind).__name__
    if kind != "csr" or not all(hasattr(matrix, name) for name in needed):
        found = type(matrix).__name__ + ("" if kind == "csr" else f" ({kind})")
        remedy = "sparse matrices have tocsr(), tables go to from_frame"
        raise DataError(f"a sparse matrix in CSR form is needed, not {found}", remedy=remedy)
    starts, columns, values, width = _parts(matrix)
    used = int(starts[-1])
    columns, values = columns[:used], values[:used]
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if len(wrong):
        row = row_of(starts, int(wrong[0]))
        raise DataError(f"row {row}, column {columns[wrong[0]]}: {values[wrong[0]]}; {_COUNTS}")
    held = values != 0
    kept = np.concatenate(([0], np.cumsum(held)))[starts]
    return kept.astype(np.uint64), columns[held].astype(np.uint32), width


def _parts(matrix: Any) -> tuple[NDArray[np.uint64], NDArray[Any], NDArray[Any], int]:
    """Return row starts, columns, values and width of a sparse matrix, if they fit together."""
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
    return starts.astype(np.uint64), columns, values, width


def to_csr(sets: Itemsets) -> Any:
    """Return records as a sparse matrix of SciPy."""
    try:
        sparse = importlib.import_module("scipy.sparse")
    except ImportError:
        raise MissingExtraError("sparse matrices need SciPy: pip install scipy") from None
    items = sets.core.items()
    # SciPy works with signed numbers, the shorter the better.
    kind = np.int32 if max(len(items), sets.n_items) < 2**31 else np.int64
    data = (np.ones(len(items), dtype=bool), items.astype(kind), sets.core.starts().astype(kind))
    return sparse.csr_array(data, shape=(sets.n, sets.n_items))
