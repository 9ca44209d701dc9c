"""Columns of Arrow tables: in one piece, as texts, in their old types, in another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nominym.error import DataError
from nominym.table import Table, or_data_error, to_arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray


def whole(column: Any) -> Any:
    """Return a column in one piece, with one dictionary."""
    if getattr(column, "num_chunks", 0) == 1:
        return column.chunk(0)
    return column.unify_dictionaries().combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type holds texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def as_texts(name: str, values: Any) -> Any:
    """Return values as written in text."""
    try:
        return values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"its type {values.type} cannot be written as text ({error})", column=name) from None


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
