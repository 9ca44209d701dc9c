"""Several rows of a person as one record."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from nominym.error import DataError, ParameterError
from nominym.meaning import is_polars, to_list
from nominym.table.coding import MISSING, Column
from nominym.table.frame import Table, column_names


def one_record_per_person(data: Any, person: Any, lists: Any = None) -> Any:
    """Return a table with one record per person: several rows become a list in each column in which they differ.

    In a hospital's table, a person's rows are stays or diagnoses. A guarantee for rows says little about somebody with
    twenty of them; as one record, everything a person has is masked together, with ``nym.Sets`` for the lists.

    Each list holds the distinct values of a person in the order of their text; missing values are left out. Persons are
    in the order of their text. A pandas index is not kept: it numbers rows, not persons.

    >>> import pandas as pd
    >>> stays = pd.DataFrame({"patient": [7, 8, 7], "sex": ["f", "m", "f"], "diagnosis": ["flu", "coma", "asthma"]})
    >>> one_record_per_person(stays, "patient", ["diagnosis"])
       patient sex      diagnosis
    0        7   f  [asthma, flu]
    1        8   m         [coma]

    Parameters
    ----------
    data
        A data frame of pandas or polars, an Arrow table or stream, or a mapping of columns. The result is of the same
        kind, except that a stream becomes an Arrow table.
    person
        The column that identifies persons.
    lists
        Columns that become lists, for all persons. All others must have one value for each person; otherwise an error
        is raised. By default, those that differ between the rows of any person.
    """
    table = Table(data)
    (whose,) = column_names([person], table.names, "person")
    owner = table.column(whose).merged()
    if owner.missing:
        row = int(np.flatnonzero(owner.codes == MISSING)[0])
        what = f"{owner.missing:,} of {len(owner):,} rows name no person, the first of them row {row}"
        raise DataError(what, column=whose, remedy="fill them, or drop these rows")
    listed = None if lists is None else column_names(lists, table.names, "lists")
    if listed is not None and whose in listed:
        raise ParameterError(f"{whose!r} identifies persons, and cannot be a list", parameter="lists")
    of_person = {name: _Held(owner, _meant(table.column(name))) for name in table.names if name != whose}
    if listed is None:
        listed = [name for name, held in of_person.items() if held.several]
    new = {whose: _rows(table.values(whose), owner.first_rows())}
    for name, held in of_person.items():
        if name in listed and held.column.kind == "nested":
            remedy = "give each item a row of its own first"
            raise DataError("holds lists already, which would become lists of lists", column=name, remedy=remedy)
        if name not in listed and held.several:
            what = f"{held.several:,} of {owner.size:,} persons have different values in their rows"
            raise DataError(what, column=name, remedy=f"add {name!r} to lists, or make the values of a person equal")
    for name, held in of_person.items():
        values = table.values(name)
        new[name] = held.lists(values) if name in listed else _rows(values, held.rows())
    return _like(table.data, {name: new[name] for name in table.names})


def _meant(column: Column) -> Column:
    """Return a column with one category for equal values, however they are written; lists as they are."""
    return column if column.kind == "nested" else column.merged()


class _Held:
    """The distinct values that each person has in a column."""

    def __init__(self, owner: Column, column: Column) -> None:
        """Sort the values by person."""
        self.column, self.persons = column, owner.size
        self._first = owner.first_rows()
        known = np.flatnonzero(column.codes != MISSING)
        # Of equal values of a person one row is enough.
        keys = owner.codes[known].astype(np.int64) * max(column.size, 1) + column.codes[known]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        new = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
        self._chosen: NDArray[np.int64] = known[order[new]]
        self._sizes = np.bincount(owner.codes[self._chosen], minlength=self.persons)
        self.several = int((self._sizes > 1).sum())
        """Number of persons with more than one value."""

    def rows(self) -> NDArray[np.int64]:
        """Return for each person a row that has the person's value, if there is any."""
        found = self._first.copy()
        found[self._sizes > 0] = self._chosen[self._starts()[:-1][self._sizes > 0]]
        return found

    def lists(self, values: Any) -> Any:
        """Return the values of each person as a list, in the library of the column."""
        flat, starts = _rows(values, self._chosen), self._starts()
        if isinstance(flat, pa.Array | pa.ChunkedArray):
            whole = flat.combine_chunks() if isinstance(flat, pa.ChunkedArray) else flat
            return pa.LargeListArray.from_arrays(pa.array(starts), whole)
        items = to_list(flat)
        found = [items[first:end] for first, end in pairwise(starts.tolist())]
        if is_polars(values, "Series"):
            import polars as pl

            return pl.Series(values.name, found, dtype=pl.List(values.dtype))
        if isinstance(values, list | tuple):
            return found
        cells = np.empty(len(found), dtype=object)
        cells[:] = found
        return pd.Series(cells) if isinstance(values, pd.Series) else cells

    def _starts(self) -> NDArray[np.int64]:
        return np.append(0, np.cumsum(self._sizes)).astype(np.int64)


def some_rows(data: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a table, as a table of the same kind; an index of pandas is not kept.

    >>> some_rows({"age": [31, 34, 39]}, np.array([2, 0]))
    {'age': [39, 31]}
    """
    table = Table(data)
    return _like(table.data, {name: _rows(table.values(name), rows) for name in table.names})


def _rows(values: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a column, in its own library."""
    if isinstance(values, pd.Series):
        return values.take(rows).reset_index(drop=True)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values.take(pa.array(rows))
    if is_polars(values, "Series"):
        return values.gather(rows)
    if isinstance(values, list | tuple):
        return [values[row] for row in rows.tolist()]
    return values[rows]


def _like(data: Any, columns: dict[Any, Any]) -> Any:
    """Return columns as a table of the same kind as another."""
    if isinstance(data, pd.DataFrame):
        made = pd.concat(columns.values(), axis=1)
        made.columns = data.columns
        return made
    if isinstance(data, pa.Table):
        return pa.table(columns)
    return type(data)(list(columns.values())) if is_polars(data, "DataFrame") else columns
