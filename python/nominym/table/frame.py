"""Tables of any library: pandas, polars, Arrow, mappings of columns, and whatever gives an Arrow stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
from pandas.api.types import is_hashable

from nominym.error import DataError, ParameterError, no_column
from nominym.table.coding import Column, check_lengths, code
from nominym.table.write_back import tidied, written
from nominym.values import is_frame, is_lazy, is_polars, is_sequence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Table:
    """A table whose columns are coded once, when they are first asked for.

    >>> table = Table({"diag": ["flu", "coma"], "age": [30, 60]})
    >>> column = table.column("diag")
    >>> table.replaced({"diag": column.with_codes(column.codes[::-1])}).data
    {'diag': ['coma', 'flu'], 'age': [30, 60]}
    """

    def __init__(self, data: Any) -> None:
        """Hold a table without copying it."""
        self.data = _as_table(data)
        """The table; what only gives an Arrow stream has become an Arrow table."""
        data = self.data
        named = data.column_names if isinstance(data, pa.Table) else data if isinstance(data, Mapping) else data.columns
        self.names: list[Any] = list(named)
        self._place = {name: place for place, name in enumerate(self.names)}
        if len(self._place) < len(self.names):
            name, times = Counter(self.names).most_common(1)[0]
            raise DataError(f"column name {name!r} stands {times} times; rename the columns")
        if isinstance(data, Mapping):
            _check_mapping(data)
        self._coded: dict[Any, Column] = {}
        self._kept_from: Table | None = None

    def __len__(self) -> int:
        """Count the records."""
        if isinstance(self.data, Mapping):
            return len(self.data[self.names[0]]) if self.names else 0
        return len(self.data)

    def values(self, name: Any) -> Any:
        """Return a column in its own library's form."""
        if name not in self._place:
            raise no_column(name, self.names)
        return self.data.iloc[:, self._place[name]] if isinstance(self.data, pd.DataFrame) else self.data[name]

    def column(self, name: Any) -> Column:
        """Return a column as numbers."""
        if name not in self._coded:
            values = self.values(name)
            # What a method kept has the codes that it had before.
            self._coded[name] = code(values, str(name)) if self._kept_from is None else self._kept_from.column(name)
        return self._coded[name]

    def arrange(self, name: Any, order: Sequence[int]) -> Column:
        """Number the categories of a column anew, for as long as the table lives."""
        self._coded[name] = self.column(name).arranged(order)
        return self._coded[name]

    def replaced(self, changes: Mapping[Any, Column], *, moved: bool = False) -> Table:
        """Return a table of the same kind with some columns replaced; all else, index and types are as they were.

        Cells that are missing before and after stay exactly what they were (None, NaN, NA), unless missing values have
        ``moved``: then all are written alike, since a marker that stays would tell its row. Categories without an order
        are listed by name, since the order of their first appearance would tell who was first, and only those that
        occur.
        """
        new: dict[Any, Any] = {}
        for name in self.names:
            old = self.values(name)
            if name in changes:
                new[name] = written(old, self.column(name), changes[name], moved)
            elif (tidy := tidied(old, str(name))) is not old:
                new[name] = tidy
        after = Table(_with_columns(self.data, self._place, new))
        after._coded = dict(changes)
        after._kept_from = self
        return after

    def taken(self, rows: NDArray[np.uint32]) -> Table:
        """Return the codes of all columns with the rows in another order; for comparing only, nothing is copied."""
        return _Reordered(self, rows)


class _Reordered(Table):
    """A table whose coded columns are those of another, row by row in another order."""

    def __init__(self, table: Table, rows: NDArray[np.uint32]) -> None:
        self.data, self.names, self._place, self._coded = table.data, table.names, table._place, {}
        self._table, self._rows = table, rows

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, name: Any) -> Column:
        if name not in self._coded:
            column = self._table.column(name)
            self._coded[name] = column.with_codes(column.codes[self._rows])
        return self._coded[name]


def _as_table(data: Any) -> Any:
    if not is_frame(data):
        raise DataError(
            "a pandas or polars DataFrame, an Arrow table or stream, or a mapping of columns is needed, "
            f"not {type(data).__name__}"
        )
    if is_lazy(data):
        raise DataError("a LazyFrame has no records yet", remedy="give frame.collect()")
    if isinstance(data, pd.DataFrame | pa.Table | Mapping) or is_polars(data, "DataFrame"):
        return data
    try:
        return pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else pa.table(data)
    except MemoryError:
        raise
    except Exception as reason:  # whatever the engine behind it raises
        raise DataError(f"the Arrow stream of this {type(data).__name__} cannot be read ({reason})") from reason


def _check_mapping(data: Mapping[Any, Any]) -> None:
    for name, values in data.items():
        if not is_sequence(values) or not hasattr(values, "__getitem__") or getattr(values, "ndim", 1) == 0:
            raise DataError(f"a list of values is needed, not {type(values).__name__}", column=name)
    check_lengths({name: len(values) for name, values in data.items()})


def _with_columns(data: Any, place: Mapping[Any, int], new: Mapping[Any, Any]) -> Any:
    if isinstance(data, pd.DataFrame):
        data = data.copy(deep=False)
        for name, values in new.items():
            data.isetitem(place[name], values)
        if isinstance(data.index, pd.MultiIndex):
            data.index = data.index.remove_unused_levels()
        elif isinstance(data.index, pd.CategoricalIndex):
            data.index = tidied(data.index, data.index.name)
        return data
    if isinstance(data, pa.Table):
        for name, values in new.items():
            data = data.set_column(place[name], data.schema.field(place[name]).with_type(values.type), values)
        return data
    if isinstance(data, Mapping):
        return {name: new.get(name, data[name]) for name in place}
    return data.with_columns(list(new.values()))


def column_names(given: Any, known: Sequence[Any], parameter: str = "columns") -> list[Any]:
    """List the names of columns that a caller gave: several, or a single one, which may be a tuple.

    >>> column_names("x", ["x"]), column_names(("x", 1), [("x", 1)]), column_names(("x", "y"), ["x", "y"])
    (['x'], [('x', 1)], ['x', 'y'])
    """
    if is_frame(given):
        raise ParameterError(f"a list of column names is needed, not {type(given).__name__}", parameter=parameter)
    single = not is_sequence(given) or (isinstance(given, tuple) and is_hashable(given) and given in set(known))
    names = [given] if single else list(given)
    for name in names:
        if not is_hashable(name) or name not in set(known):
            raise no_column(name, known)
    if len(set(names)) < len(names):
        name, times = Counter(names).most_common(1)[0]
        raise ParameterError(f"{name!r} stands {times} times; name each column once", parameter=parameter)
    return names
