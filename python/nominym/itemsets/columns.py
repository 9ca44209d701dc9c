"""Set-valued records in columns, tables and matrices of other libraries: in and out."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from nominym.error import DataError, MissingExtraError, ParameterError
from nominym.frame import Table, is_frame, is_missing
from nominym.itemsets.names import Missing, from_python, plain, refuse_missing
from nominym.memory import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.itemsets.sets import Itemsets

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def row_of(starts: NDArray[np.uint64], place: int) -> int:
    """Tell which row a place in the flat list of all items belongs to."""
    return int(np.searchsorted(starts, place, side="right")) - 1


def _starts(sizes: Any) -> NDArray[np.uint64]:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.uint64))).astype(np.uint64)


# ---- lists and columns of lists


def from_lists(rows: Any, where: str, missing: Missing) -> tuple[NDArray[np.uint64], Any]:
    """Flatten rows of items: where each begins, and the names of all items in an Arrow array."""
    if isinstance(rows, str | bytes | Mapping) or is_frame(rows) or not isinstance(rows, Iterable):
        raise DataError(f"{where}rows of items are needed, not {type(rows).__name__}")
    rows = list(rows)
    try:
        array = pa.array(rows, from_pandas=True)
        if _is_list(array.type) and plain(array.flatten()) is not None:
            return from_arrow(array, where, missing)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        pass
    # Sets, several types, or a mistake: row by row, with the place for the message.
    lists = [_listed(i, row, where, missing) for i, row in enumerate(rows)]
    starts = _starts([len(row) for row in lists])
    values = list(chain.from_iterable(lists))
    return starts, from_python(values, lambda place: f"{where}row {row_of(starts, place)}")


def _listed(i: int, row: Any, where: str, missing: Missing) -> list[Any]:
    """Give the items of one row that are there."""
    if is_missing(row):
        if missing == "error":
            refuse_missing(f"{where}row {i}")
        return []
    if isinstance(row, str | bytes | Mapping) or not isinstance(row, Iterable):
        raise DataError(f"{where}row {i}: a list of items is needed, not {row!r} of type {type(row).__name__}")
    items = list(row)
    known = [item for item in items if not is_missing(item)]
    if missing == "error" and len(known) < len(items):
        refuse_missing(f"{where}row {i}: an item")
    return known


def from_column(series: Any, missing: Missing) -> tuple[NDArray[np.uint64], Any, str]:
    """Flatten a column of lists of any library; also give its name for messages."""
    name = getattr(series, "name", None)
    where = "" if name in (None, "") else f"column {name!r}, "
    if is_frame(series):
        raise DataError(f"one column of lists is needed, not a {type(series).__name__}; choose a column of it")
    array = series
    if isinstance(series, pd.Series) and isinstance(series.dtype, pd.ArrowDtype):
        array = pa.array(series)
    elif type(series).__module__.partition(".")[0] == "polars":
        array = series.to_arrow()
    if not isinstance(array, pa.Array | pa.ChunkedArray):
        return *from_lists(array, where, missing), where
    if not _is_list(array.type):
        raise DataError(f"{where or 'the column '}holds {array.type} values, but lists of items are needed")
    return *from_arrow(array, where, missing), where


def _is_list(kind: Any) -> bool:
    return any(is_list(kind) for is_list in _LISTS)


def from_arrow(array: Any, where: str, missing: Missing) -> tuple[NDArray[np.uint64], Any]:
    """Flatten an Arrow array of lists."""
    if isinstance(array, pa.ChunkedArray):
        # All items together may be more than a list of 32-bit places can have.
        array = array.cast(pa.large_list(array.type.value_type)).combine_chunks()
        array = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    if array.null_count and missing == "error":
        refuse_missing(f"{where}row {int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))}")
    sizes = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    starts = _starts(sizes)
    raw = array.flatten()
    values = plain(raw)
    if values is None:
        # Not names, but maybe missing ones among them: the slow way knows, and has the right message.
        return from_lists(array.to_pylist(), where, missing)
    if values.null_count:
        gaps = values.is_null().to_numpy(zero_copy_only=False)
        if missing == "error":
            refuse_missing(f"{where}row {row_of(starts, int(np.argmax(gaps)))}: an item")
        starts = np.concatenate(([0], np.cumsum(~gaps))).astype(np.uint64)[starts]
        values = values.drop_null()
    return starts, values


def to_arrow(sets: Itemsets) -> Any:
    """Give records as an Arrow array of lists."""
    starts, values = sets.core.starts(), sets.names.take(pa.array(sets.core.items()))
    if pa.types.is_large_string(values.type) and values.nbytes < 2**31:
        values = values.cast(pa.string())
    if len(values) < 2**31:
        return pa.ListArray.from_arrays(pa.array(starts.astype(np.int32)), values)
    return pa.LargeListArray.from_arrays(pa.array(starts.astype(np.int64)), values)


def to_column(sets: Itemsets, library: str) -> Any:
    """Give records as a column of lists."""
    array = to_arrow(sets)
    if library == "arrow":
        return array
    if library == "polars":
        return _polars().Series(array)
    _check_library(library)
    return pd.Series(array, dtype=pd.ArrowDtype(array.type))


def _check_library(library: object) -> None:
    if library != "pandas":
        raise ParameterError(f"library={library!r}: give 'pandas', 'arrow' or 'polars'")


def _polars() -> Any:
    try:
        return importlib.import_module("polars")
    except ImportError:
        raise MissingExtraError("polars columns and frames need the extra: pip install nominym[polars]") from None


# ---- tables with a column for each item


def from_frame(frame: Any, missing: Missing) -> tuple[NDArray[np.uint64], NDArray[np.uint32], Any]:
    """Flatten a table of truth values: where rows begin, item numbers, names."""
    table = Table(frame)
    table.check_lengths()
    found = from_python(table.names, lambda place: f"column {table.names[place]!r}")
    held = [np.flatnonzero(_truth(table.values(name), name, missing)) for name in table.names]
    n = len(table.values(table.names[0])) if table.names else len(frame) if not isinstance(frame, Mapping) else 0
    rows = np.concatenate(held) if held else np.empty(0, dtype=np.int64)
    codes = np.repeat(np.arange(len(held), dtype=np.uint32), [len(column) for column in held])
    order = np.argsort(rows, kind="stable")
    return _starts(np.bincount(rows, minlength=n)), codes[order], found


def _truth(values: Any, name: Any, missing: Missing) -> NDArray[np.bool_]:
    """Read a column of truth values, or of 0 and 1."""
    if type(values).__module__.partition(".")[0] == "polars":
        values = values.to_arrow()
    try:
        array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        array = pa.array([repr(value) for value in values])
    if array.null_count:
        if missing == "error":
            refuse_missing(f"column {name!r}, row {int(np.argmax(np.asarray(array.is_null())))}: a value")
        array = array.cast(pa.bool_()) if pa.types.is_null(array.type) else array
        array = pc.fill_null(array, False if pa.types.is_boolean(array.type) else 0)
    if not pa.types.is_boolean(array.type):
        if not pa.types.is_integer(array.type) and len(array):
            raise DataError(
                f"column {name!r} holds {array.type} values, such as {array[0].as_py()!r}; "
                "a column for each item with true and false, or 0 and 1, is needed"
            )
        numbers = np.asarray(array)
        wrong = np.flatnonzero((numbers != 0) & (numbers != 1))
        if len(wrong):
            raise DataError(
                f"column {name!r}, row {wrong[0]}: {numbers[wrong[0]]}; "
                "a record holds an item (1) or not (0): turn counts into truth values first"
            )
    truth: NDArray[np.bool_] = np.asarray(array).astype(bool)
    return truth


def _sizes(sets: Itemsets) -> NDArray[np.int64]:
    starts = sets.core.starts().astype(np.int64)
    return starts[1:] - starts[:-1]


def to_frame(sets: Itemsets, library: str) -> Any:
    """Give records as a table of truth values."""
    n, width = sets.n, sets.n_items
    require(2 * n * width, f"a table of {n:,} × {width:,} truth values", "keep the records as they are, or to_csr()")
    cells = np.zeros((width, n), dtype=bool)
    cells[sets.core.items(), np.repeat(np.arange(n), _sizes(sets))] = True
    if library in ("arrow", "polars"):
        table = pa.table([pa.array(column) for column in cells], names=[str(item) for item in sets.items])
        return table if library == "arrow" else _polars().from_arrow(table)
    _check_library(library)
    return pd.DataFrame(cells.T, columns=pd.Index(sets.items))


# ---- sparse matrices


def from_csr(matrix: Any) -> tuple[NDArray[np.uint64], NDArray[np.uint32], int]:
    """Read a sparse matrix: where rows begin, item numbers, number of columns."""
    needed = ("indptr", "indices", "data", "shape")
    if getattr(matrix, "format", "csr") != "csr" or not all(hasattr(matrix, name) for name in needed):
        kind = getattr(matrix, "format", None)
        raise DataError(
            f"a sparse matrix in CSR form is needed, not {type(matrix).__name__}{f' ({kind})' if kind else ''}; "
            "sparse matrices have tocsr(), tables go to from_frame"
        )
    n, width = matrix.shape
    if width >= 2**32:
        raise DataError(f"a matrix of {width:,} columns; at most 2^32 − 1")
    starts, columns, values = (np.asarray(x) for x in (matrix.indptr, matrix.indices, matrix.data))
    broken = len(starts) != n + 1 or starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] > len(columns)
    if broken or len(columns) != len(values) or (len(columns) and not 0 <= columns.min() <= columns.max() < width):
        raise DataError("the matrix is broken: indptr and indices do not fit its shape; see its check_format()")
    used = int(starts[-1])
    columns, values = columns[:used], values[:used]
    wrong = np.flatnonzero((values != 0) & (values != 1))
    if len(wrong):
        row = row_of(starts.astype(np.uint64), int(wrong[0]))
        raise DataError(
            f"row {row}, column {columns[wrong[0]]}: {values[wrong[0]]}; "
            "a record holds an item (1) or not (0): turn counts into truth values first"
        )
    held = values != 0
    kept = np.concatenate(([0], np.cumsum(held)))[starts]
    return kept.astype(np.uint64), columns[held].astype(np.uint32), int(width)


def to_csr(sets: Itemsets) -> Any:
    """Give records as a sparse matrix of SciPy."""
    try:
        sparse = importlib.import_module("scipy.sparse")
    except ImportError:
        raise MissingExtraError("sparse matrices need SciPy: pip install scipy") from None
    items = sets.core.items()
    # SciPy works with signed numbers, the shorter the better.
    kind = np.int32 if max(len(items), sets.n_items) < 2**31 else np.int64
    data = (np.ones(len(items), dtype=bool), items.astype(kind), sets.core.starts().astype(kind))
    return sparse.csr_array(data, shape=(sets.n, sets.n_items))
