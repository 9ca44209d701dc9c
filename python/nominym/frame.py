"""Tables and columns of any library: coded once on the way in, given back in kind on the way out."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from nominym._core import counts as count_codes
from nominym.error import DataError, MissingValueError, ParameterError, UnknownColumnError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MISSING = np.uint32(2**32 - 1)
"""The code of a missing value."""

Missing = Literal["keep", "error"]
"""What ``missing=`` takes: leave missing values in place and unused, or refuse them."""


@dataclass(frozen=True)
class Column:
    """A column of nominal values as numbers: ``categories[codes[i]]`` is the value of record ``i``.

    >>> column = code(["flu", "coma", None, "flu"])
    >>> column.codes.tolist()[:2], column.categories, column.counts.tolist(), column.missing
    ([0, 1], ('flu', 'coma'), [2, 1], 1)
    """

    codes: NDArray[np.uint32]
    categories: tuple[Any, ...]
    name: str | None = None

    @cached_property
    def counts(self) -> NDArray[np.uint64]:
        """Records of each category."""
        return count_codes(self.codes, len(self.categories))

    @cached_property
    def missing(self) -> int:
        """Records without a value."""
        return len(self.codes) - int(self.counts.sum())

    def __len__(self) -> int:
        """Count the records."""
        return len(self.codes)


def is_missing(value: Any) -> bool:
    """Tell whether a single value is missing: None, NaN, NaT or NA."""
    return value is None or bool(pd.api.types.is_scalar(value) and pd.isna(value))


def is_frame(data: object) -> bool:
    """Tell whether data have named columns that a ``Table`` can hold."""
    return isinstance(data, pd.DataFrame | pa.Table | Mapping) or _is_polars(data, "DataFrame")


def code(values: Any, name: str | None = None, missing: Missing = "keep") -> Column:
    """Code a column of any library, or a plain sequence; categories are in order of appearance.

    Text, whole numbers, booleans and categoricals are taken. Floats are refused: ``250.0`` may stand for the concept
    "250" or for "250.0", and long codes lose digits.
    """
    check_missing(missing)
    if name is None and isinstance(values, pd.Series) and values.name is not None:
        name = str(values.name)
    where = f"column {name!r}" if name is not None else "values"
    codes, categories = _encode(values, where)
    column = Column(codes, tuple(categories), name)
    if len(column.categories) and not column.counts.all():
        # Categoricals may list values that do not occur; they are no part of the sample.
        column = _present(column)
    _refuse_missing(column, where, missing)
    return column


def check_missing(missing: object) -> None:
    """Refuse what is no policy for missing values."""
    if missing not in ("keep", "error"):
        raise ParameterError(f"missing={missing!r}: give 'keep' or 'error'")


def _refuse_missing(column: Column, where: str, missing: Missing) -> None:
    check_missing(missing)
    if missing == "error" and column.missing:
        first = int(np.flatnonzero(column.codes == MISSING)[0])
        raise MissingValueError(
            f"{where}: {column.missing:,} of {len(column):,} values are missing, the first in row {first}; "
            "fill or drop them, or give missing='keep' to leave them as they are"
        )


def code_together(given: Mapping[Any, Any], missing: Missing = "keep") -> list[Column]:
    """Code columns of one table, and keep the records in which none is missing.

    >>> [column.codes.tolist() for column in code_together({"x": ["a", "b", "a"], "y": ["c", None, "d"]})]
    [[0, 0], [0, 1]]
    """
    columns = [code(values, str(getattr(values, "name", None) or name), missing) for name, values in given.items()]
    _check_lengths({column.name: len(column) for column in columns})
    if any(column.missing for column in columns):
        complete = np.logical_and.reduce([column.codes != MISSING for column in columns])
        if not complete.any():
            raise DataError(f"no record has a value in all of {', '.join(repr(c.name) for c in columns)}")
        columns = [_kept(column, complete) for column in columns]
    return columns


def reordered(column: Column, order: Sequence[int]) -> Column:
    """Number the categories of a column anew: ``order`` lists their present numbers.

    >>> reordered(code(["flu", "coma", "flu"]), [1, 0]).codes.tolist()
    [1, 0, 1]
    """
    rank = np.full(len(order) + 1, MISSING, dtype=np.uint32)
    rank[list(order)] = np.arange(len(order), dtype=np.uint32)
    codes = rank[np.minimum(column.codes, np.uint32(len(order)))]
    return Column(codes, tuple(column.categories[i] for i in order), column.name)


def by_name(column: Column) -> Column:
    """Number the categories of a column by their names.

    >>> by_name(code(["flu", "coma", None, "flu"])).codes.tolist()[:2]
    [1, 0]
    """
    return reordered(column, sorted(range(len(column.categories)), key=lambda i: str(column.categories[i])))


def is_sequence(values: object) -> bool:
    """Tell whether something is a list of values of any library, rather than a single one or a table."""
    single = isinstance(values, str | bytes | Mapping) or is_frame(values)
    return not single and hasattr(values, "__iter__")


def column_names(given: Any, known: Sequence[Any]) -> list[Any]:
    """List the names of columns that a caller gave: several, or a single one, which may be a tuple.

    >>> column_names("x", ["x"]), column_names(("x", 1), [("x", 1)]), column_names(("x", "y"), ["x", "y"])
    (['x'], [('x', 1)], ['x', 'y'])
    """
    single = not is_sequence(given) or (isinstance(given, tuple) and given in known)
    return [given] if single else list(given)


def code_ordered(values: Any, name: str | None = None, order: Any = None, missing: Missing = "keep") -> Column:
    """Code a column so that a smaller code is a smaller value: by the values' own order, or by a given one.

    Numbers, dates and ordered categoricals have an order of their own; for others, ``order`` lists all values.

    >>> code_ordered([3.5, 1, 3.5]).codes.tolist(), code_ordered(["low", "high"], order=["low", "high"]).codes.tolist()
    ([1, 0, 1], [0, 1])
    """
    where = f"column {name!r}" if name is not None else "values"
    if order is not None:
        column = code(values, name, missing)
        place = {str(value): i for i, value in enumerate(order)}
        unknown = [value for value in column.categories if str(value) not in place]
        if unknown:
            raise DataError(f"{where}: {unknown[0]!r} has no place in the given order; list all values, lowest first")
        return reordered(column, sorted(range(len(column.categories)), key=lambda i: place[str(column.categories[i])]))
    series = _to_pandas(values)
    if isinstance(series.dtype, pd.CategoricalDtype):
        if not series.cat.ordered:
            raise DataError(f"{where}: a categorical without an order; give the list of its values, lowest first")
        numbers, kinds = series.cat.codes.to_numpy(), series.cat.categories
        present = np.unique(numbers[numbers >= 0])
        codes, categories = np.searchsorted(present, numbers), kinds[present].tolist()
        codes = np.where(numbers < 0, -1, codes)
    elif pd.api.types.is_numeric_dtype(series) or series.dtype.kind in "mM":
        codes, kinds = pd.factorize(series, sort=True)
        categories = kinds.tolist()
    elif series.isna().all():
        codes, categories = np.full(len(series), -1), []
    else:
        raise DataError(
            f"{where}: values of type {series.dtype} have no order of their own; give the list of all values, "
            "lowest first, or turn them into numbers"
        )
    column = Column(np.where(codes < 0, int(MISSING), codes).astype(np.uint32), tuple(categories), name)
    _refuse_missing(column, where, missing)
    return column


def own_order(values: Any) -> list[Any] | None:
    """Give the values that an ordered categorical lists, lowest first; None for every other column.

    >>> own_order(pd.Categorical(["low"], ["low", "high"], ordered=True))
    ['low', 'high']
    """
    kind = _to_pandas(values).dtype
    return list(kind.categories) if isinstance(kind, pd.CategoricalDtype) and kind.ordered else None


def distinct_codes(values: Any) -> NDArray[np.int64]:
    """Number the distinct values of any column whatever, −1 where missing."""
    series = _to_pandas(values)
    try:
        return pd.factorize(series)[0]
    except (TypeError, pa.ArrowNotImplementedError):  # lists and the like
        return pd.factorize(np.array([repr(value) for value in series], dtype=object))[0]


def _to_pandas(values: Any) -> pd.Series[Any]:
    array = values.to_arrow() if _is_polars(values, "Series") else values
    if isinstance(array, list | tuple):
        # Arrow keeps whole numbers whole beside gaps; what it has no type for is left to pandas.
        with contextlib.suppress(pa.ArrowException, OverflowError):
            array = pa.array(array, from_pandas=True)
    if isinstance(array, pa.Array | pa.ChunkedArray):
        # Plain pandas would turn whole numbers with gaps into floats; but only it knows categoricals.
        kind = None if pa.types.is_dictionary(array.type) else pd.ArrowDtype
        return pd.Series(array.to_pandas(types_mapper=kind))
    return pd.Series(array)


def _check_lengths(lengths: Mapping[Any, int]) -> None:
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name!r} has {length:,}" for name, length in lengths.items())
        raise DataError(f"columns of one table have the same number of records: {sizes}")


def _kept(column: Column, rows: NDArray[np.bool_]) -> Column:
    """Keep some records, and of the categories those that still occur."""
    return _present(Column(column.codes[rows], column.categories, column.name))


def _present(column: Column) -> Column:
    """Drop the categories that do not occur."""
    present = np.flatnonzero(column.counts)
    renumber = np.full(len(column.categories) + 1, MISSING, dtype=np.uint32)
    renumber[present] = np.arange(len(present), dtype=np.uint32)
    codes = renumber[np.minimum(column.codes, np.uint32(len(column.categories)))]
    return Column(codes, tuple(column.categories[i] for i in present), column.name)


def _encode(values: Any, where: str) -> tuple[NDArray[np.uint32], list[Any]]:
    """Give codes and the list of distinct values that they point into."""
    if not is_sequence(values):
        raise DataError(f"{where}: a column of values is needed, not {type(values).__name__}")
    if not isinstance(values, _COLUMNS) and not _is_polars(values, "Series"):
        values = list(values)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise DataError(f"{where}: one column is needed, not an array of shape {values.shape}")
    try:
        return _encode_arrow(_to_arrow(values), where)
    except (pa.ArrowException, OverflowError, NotImplementedError):
        # Values that Arrow has no type for: several types in one column, periods, very large numbers.
        return _encode_mixed(values, where)


_COLUMNS = (pd.Series, pd.Index, pd.Categorical, np.ndarray, pa.Array, pa.ChunkedArray)
_SLICE = 1 << 20


def _to_arrow(values: Any) -> Any:
    """Bring a column into Arrow without a Python loop where there is a way."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    if _is_polars(values, "Series"):
        return values.to_arrow()
    if len(values) > _SLICE and getattr(values, "dtype", None) is not None and values.dtype.kind in "OU":
        # Slice by slice, so that Ctrl-C is heard in between; an empty slice may have a type of its own.
        parts = [pa.array(values[i : i + _SLICE], from_pandas=True) for i in range(0, len(values), _SLICE)]
        parts = [part for piece in parts for part in getattr(piece, "chunks", [piece])]
        if len({part.type for part in parts}) == 1:
            return pa.chunked_array(parts)
    return pa.array(values, from_pandas=True)


def _encode_arrow(array: Any, where: str) -> tuple[NDArray[np.uint32], list[Any]]:
    if pa.types.is_dictionary(array.type):
        if isinstance(array, pa.ChunkedArray):
            array = array.unify_dictionaries().combine_chunks()
        # Arrow lets a dictionary repeat values and hold nulls; then only decoding tells what is what.
        if array.dictionary.null_count or len(array.dictionary.unique()) < len(array.dictionary):
            array = array.dictionary_decode()
        else:
            _refuse_numbers(array.dictionary, where)
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_nested(array.type):
            raise DataError(f"{where}: holds {array.type} values, but one nominal value per record is needed")
        if pa.types.is_floating(array.type) or pa.types.is_decimal(array.type):
            _refuse_numbers(array, where)
            array = pa.nulls(len(array), pa.string())
        if pa.types.is_null(array.type):
            array = array.cast(pa.string())
        array = array.dictionary_encode()
        if isinstance(array, pa.ChunkedArray):
            # Only now, as codes: the texts together may be longer than one Arrow array can be.
            array = array.unify_dictionaries().combine_chunks()
    codes = array.indices.cast(pa.uint32()).fill_null(int(MISSING)).to_numpy(zero_copy_only=False)
    return codes, array.dictionary.to_pylist()


def _refuse_numbers(array: Any, where: str) -> None:
    """Refuse floats and decimals, unless all of them are missing."""
    floating = pa.types.is_floating(array.type)
    if not floating and not pa.types.is_decimal(array.type):
        return
    known = pc.if_else(pc.is_nan(array), None, array) if floating else array
    if known.null_count < len(known):
        raise DataError(
            f"{where}: holds {array.type} numbers, but nominal values are needed; read the column as text "
            "(for example dtype=str) or as whole numbers"
        )


def _encode_mixed(values: Any, where: str) -> tuple[NDArray[np.uint32], list[Any]]:
    """Code values of several types: told apart by type and text, and kept as they are."""
    categories: dict[tuple[type, str], tuple[int, Any]] = {}
    codes = np.full(len(values), MISSING, dtype=np.uint32)
    for row, value in enumerate(values):
        if is_missing(value):
            continue
        if isinstance(value, float | complex | np.inexact | list | dict | tuple | set):
            raise DataError(
                f"{where}: row {row} holds {value!r} of type {type(value).__name__}, but nominal values are needed; "
                "turn the column into text"
            )
        # 5 and "5" are the same concept, but not the same value.
        codes[row] = categories.setdefault((type(value), str(value)), (len(categories), value))[0]
    return codes, [value for _, value in categories.values()]


def _is_polars(data: object, kind: str) -> bool:
    # Polars is an extra: looked for by name, so that it is never imported for those who do not use it.
    cls = type(data)
    return cls.__name__ == kind and cls.__module__.partition(".")[0] == "polars"


class Table:
    """A pandas or polars frame, an Arrow table or a mapping of columns, read and replaced column by column.

    >>> table = Table({"diag": ["flu", "coma"], "age": [30, 60]})
    >>> column = table.code("diag")
    >>> table.replace({"diag": Column(column.codes[::-1], column.categories)})
    {'diag': ['coma', 'flu'], 'age': [30, 60]}
    """

    def __init__(self, data: Any) -> None:
        """Hold a table without copying it."""
        if not is_frame(data):
            raise DataError(
                f"a pandas or polars DataFrame, a pyarrow Table or a mapping of columns is needed, "
                f"not {type(data).__name__}"
            )
        self.data = data
        named = data.column_names if isinstance(data, pa.Table) else data if isinstance(data, Mapping) else data.columns
        self.names: list[Any] = list(named)
        name, times = next(iter(Counter(self.names).most_common(1)), (None, 0))
        if times > 1:
            raise DataError(f"column name {name!r} stands {times} times; rename the columns")

    def values(self, name: Any) -> Any:
        """Give a column in its own library's form."""
        if name not in self.names:
            raise UnknownColumnError(f"there is no column {name!r}; there are {', '.join(map(repr, self.names))}")
        return self.data[name]

    def check_lengths(self) -> None:
        """Refuse columns of different lengths, or none at all, which a plain mapping can have."""
        if isinstance(self.data, Mapping):
            lists = {name: is_sequence(values) and hasattr(values, "__len__") for name, values in self.data.items()}
            single = [name for name, is_list in lists.items() if not is_list]
            if single:
                kind = type(self.data[single[0]]).__name__
                raise DataError(f"column {single[0]!r}: a list of values is needed, not {kind}")
            _check_lengths({name: len(self.data[name]) for name in self.names})

    def code(self, name: Any, missing: Missing = "keep") -> Column:
        """Code a column."""
        return code(self.values(name), str(name), missing)

    def distinct(self, name: Any, rows: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Number the distinct values that any column whatever has in some rows, −1 where missing."""
        values = self.values(name)
        if isinstance(values, pa.Array | pa.ChunkedArray):
            return distinct_codes(values.take(pa.array(rows)))
        if isinstance(values, pd.Series):
            return distinct_codes(values.iloc[rows])
        if isinstance(values, np.ndarray | pd.Categorical | pd.Index) or _is_polars(values, "Series"):
            return distinct_codes(values[rows])
        return distinct_codes(pd.Series([values[row] for row in rows.tolist()], dtype=object))

    def replace(self, changes: Mapping[Any, Column], *, moved: bool = False, occurring: bool = False) -> Any:
        """Give a table of the same kind with some columns replaced; all else, index and types are as they were.

        Cells that are missing before and after stay exactly what they were (None, NaN, NA), unless missing values have
        ``moved``: then all are written alike, since a marker that stays would tell its row. Categories without an order
        are listed by name, since the order of their first appearance would tell who was first; with ``occurring`` only
        those that occur.
        """
        new = {}
        for name, column in changes.items():
            old = self.values(name)
            if len(column) != len(old):
                raise DataError(f"column {name!r}: {len(column):,} new values for {len(old):,} records")
            try:
                new[name] = _like(old, column, moved, occurring)
            except (ValueError, TypeError, pa.ArrowException) as reason:
                kind = getattr(old, "dtype", getattr(old, "type", type(old).__name__))
                raise DataError(
                    f"column {name!r} of type {kind} cannot hold the new values, such as {column.categories[0]!r}; "
                    f"turn it into text first ({reason})"
                ) from None
        data = self.data
        if isinstance(data, pd.DataFrame):
            data = data.copy(deep=False)
            for name, values in new.items():
                data[name] = values
            return data
        if isinstance(data, pa.Table):
            for name, values in new.items():
                place = data.column_names.index(name)
                data = data.set_column(place, data.schema.field(place).with_type(values.type), values)
            return data
        if isinstance(data, Mapping):
            return {name: new.get(name, data[name]) for name in self.names}
        return data.with_columns(list(new.values()))


def _like(old: Any, column: Column, moved: bool, occurring: bool) -> Any:
    """Turn a coded column into one like another: same library, same type."""
    if isinstance(old, pd.Series):
        return _like_pandas(old, column, moved, occurring)
    if isinstance(old, pd.Categorical):
        return _like_pandas(pd.Series(old), column, moved, occurring).array
    if isinstance(old, pa.ChunkedArray):
        return pa.chunked_array([_like_arrow(old.type, column)])
    if isinstance(old, pa.Array):
        return _like_arrow(old.type, column)
    if _is_polars(old, "Series"):
        return _like_polars(old, column)
    kinds = _kinds(column)
    if isinstance(old, np.ndarray):
        # Texts of a fixed width get the room that the longest needs.
        widest = np.result_type(old.dtype, kinds.astype(old.dtype.kind)) if old.dtype.kind in "US" else old.dtype
        values = old.astype(widest)
    else:
        values = np.array([*old, None], dtype=object)[:-1]
    _fill(values, kinds, column, moved)
    if isinstance(old, np.ndarray):
        return values
    return tuple(values.tolist()) if isinstance(old, tuple) else values.tolist()


def _fill(values: Any, kinds: Any, column: Column, moved: bool) -> None:
    """Write a coded column over the old values; missing ones too, all alike, if they have moved."""
    known = column.codes != MISSING
    if moved and not known.all():
        values[~known] = None
    values[known] = kinds[column.codes[known]]


def _kinds(column: Column) -> NDArray[np.object_]:
    kinds = np.empty(len(column.categories), dtype=object)
    kinds[:] = column.categories
    return kinds


def _grown(categories: Sequence[Any], column: Column) -> list[Any]:
    return list(dict.fromkeys([*categories, *column.categories]))


def _places(column: Column, categories: Sequence[Any]) -> NDArray[np.int64]:
    """Positions of a column's values in a list that holds all its categories, −1 where missing."""
    position = {value: i for i, value in enumerate(categories)}
    of_code = np.array([position[value] for value in column.categories] + [-1], dtype=np.int64)
    return of_code[np.minimum(column.codes, len(column.categories))]


def _like_pandas(old: pd.Series[Any], column: Column, moved: bool, occurring: bool) -> pd.Series[Any]:
    if isinstance(old.dtype, pd.CategoricalDtype):
        ordered = bool(old.cat.ordered)
        categories = _grown([] if occurring and not ordered else old.cat.categories.tolist(), column)
        if not ordered:
            categories.sort(key=str)
        # The very kind of index is kept, whatever its categories are made of, where none is new.
        listed = old.cat.categories
        position = {value: i for i, value in enumerate(listed)}
        known = all(value in position for value in categories)
        index = listed.take([position[value] for value in categories]) if known else categories
        dtype = pd.CategoricalDtype(index, ordered)
        return pd.Series(
            pd.Categorical.from_codes(_places(column, categories), dtype=dtype),
            index=old.index,
            name=old.name,
        )
    if isinstance(old.dtype, pd.ArrowDtype):
        made = pa.chunked_array([_like_arrow(old.dtype.pyarrow_dtype, column)])
        return pd.Series(pd.arrays.ArrowExtensionArray(made), index=old.index, name=old.name)
    values = old.array.copy()
    _fill(values, pd.Series(_kinds(column), dtype=old.dtype).array, column, moved)
    return pd.Series(values, index=old.index, name=old.name, dtype=old.dtype)


def _like_arrow(kind: Any, column: Column) -> Any:
    codes = pa.array(column.codes, mask=column.codes == MISSING)
    if pa.types.is_dictionary(kind):
        try:
            codes = codes.cast(kind.index_type)
        except pa.ArrowInvalid:
            codes = codes.cast(pa.int32())  # more categories than the old type can number
        dictionary = pa.array(list(column.categories), type=kind.value_type)
        return pa.DictionaryArray.from_arrays(codes, dictionary, ordered=kind.ordered)
    made_of = pa.large_string() if pa.types.is_string_view(kind) else kind
    return pa.array(list(column.categories), type=made_of).take(codes).cast(kind)


def _like_polars(old: Any, column: Column) -> Any:
    import polars as pl

    dtype = old.dtype
    if isinstance(dtype, pl.Enum):
        dtype = pl.Enum(_grown(dtype.categories.to_list(), column))
    # Categorical types are made from text, the others from their own values.
    made_of = pl.String if isinstance(dtype, pl.Enum | pl.Categorical) else dtype
    kinds = pl.Series(old.name, list(column.categories), dtype=made_of).cast(dtype)
    return kinds.gather(pl.Series(pa.array(column.codes, mask=column.codes == MISSING)))
