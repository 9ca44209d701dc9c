"""Two tables that need not have the same records: their columns over the same categories, their distinct tuples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nominym import _core
from nominym.control import Progress, reporter
from nominym.error import Advice, DataError, ParameterError, no_column
from nominym.table.coding import MISSING, Column
from nominym.table.frame import Table, column_names


def shared_columns(before: Table, after: Table, columns: Any = None, parameter: str = "columns") -> list[Any]:
    """List the columns to compare, by default all; both tables must have them, and at least one record."""
    for when, table in (("before", before), ("after", after)):
        if not len(table):
            raise DataError(f"the table {when} has no records, so there is nothing to compare")
    if columns is None:
        for when, one, other in (("after", before, after), ("before", after, before)):
            apart = next((name for name in one.names if name not in other.names), None)
            if apart is not None:
                named: dict[str, Any] = {parameter: [name for name in one.names if name in other.names]}
                remedy = Advice("name the columns to compare, {}", **named)
                raise DataError(f"column {apart!r} is not in the table {when}", remedy=remedy)
    names = list(before.names) if columns is None else column_names(columns, before.names, parameter)
    if not names:
        raise ParameterError("name at least one column", parameter=parameter)
    for name in names:
        if name not in after.names:
            raise no_column(name, after.names, "after")
    return names


def coded_alike(name: Any, *tables: Table) -> tuple[list[NDArray[np.uint32]], int]:
    """Return a column of some tables over the same categories, and their number.

    Numbers match if they are equal, all other values if their texts are.
    """
    columns = [table.column(name) for table in tables]
    if all(column.listed is columns[0].listed for column in columns):
        return [column.codes for column in columns], columns[0].size
    places, number = _places(columns)
    codes = [
        np.append(place, MISSING).take(column.codes, mode="clip") for place, column in zip(places, columns, strict=True)
    ]
    return codes, number


def _places(columns: list[Column]) -> tuple[list[NDArray[np.uint32]], int]:
    """Number the categories of all columns, in order of appearance."""
    numbers = [column.numbers for column in columns]
    if all(each is not None for each in numbers) and len({each.dtype for each in numbers if each is not None}) == 1:
        # Plain numbers need no object each.
        values = np.concatenate([each for each in numbers if each is not None])
        _, firsts, inverse = np.unique(values, return_index=True, return_inverse=True)
        rank = np.empty(len(firsts), dtype=np.uint32)
        rank[np.argsort(firsts)] = np.arange(len(firsts), dtype=np.uint32)
        ends = np.cumsum([column.size for column in columns])[:-1]
        return np.split(rank[inverse.reshape(-1)], ends), len(firsts)
    numeric = all(column.kind in ("whole", "number") for column in columns)
    place: dict[Any, int] = {}
    found = [
        np.array(
            [place.setdefault(value if numeric else str(value), len(place)) for value in column.categories],
            dtype=np.uint32,
        )
        for column in columns
    ]
    return found, len(place)


def side_by_side(
    coded: Iterable[tuple[list[NDArray[np.uint32]], int]],
) -> tuple[list[NDArray[np.uint32]], list[NDArray[np.uint32]], list[int]]:
    """Return the columns before, those after, and their numbers of categories, as the core takes them."""
    columns = list(coded)
    return [codes[0] for codes, _ in columns], [codes[1] for codes, _ in columns], [number for _, number in columns]


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct tuples of two tables, in lexicographic order of their categories."""

    codes: list[NDArray[np.uint32]]
    """For each column, its category in each tuple; a missing value is a category of its own."""
    before: NDArray[np.int64]
    """Number of records with each tuple before."""
    after: NDArray[np.int64]
    """Number of records with each tuple after."""


def distinct(before: Table, after: Table, names: list[Any], progress: Progress = None, label: str = "") -> Distinct:
    """Count the distinct tuples of some columns in two tables."""
    first, second, sizes = side_by_side([coded_alike(name, before, after) for name in names])
    with reporter(progress, label) as report:
        codes, old, new = _core.distinct_tuples(first, second, sizes, report)
    return Distinct(codes, old.astype(np.int64), new.astype(np.int64))
