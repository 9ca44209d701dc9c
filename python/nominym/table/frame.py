"""Tables of any library: coded on the way in, written back in their own library and type on the way out.

Where a method only moves values between records, the new column is taken from the old one, row by row, so that any type
is preserved. New values, as from noise, are created in the type of the column.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api.types import is_hashable

from nominym.error import DataError, ParameterError, no_column
from nominym.meaning import is_frame, is_lazy, is_polars, is_sequence
from nominym.table.coding import (
    MISSING,
    Column,
    Listed,
    by_name,
    check_lengths,
    code,
    of_one_class,
    or_data_error,
    plain,
    type_of,
)


class Table:
    """A table whose columns are coded once, on first use.

    >>> table = Table({"diag": ["flu", "coma"], "age": [30, 60]})
    >>> column = table.column("diag")
    >>> table.replaced({"diag": column.with_codes(column.codes[::-1])}).data
    {'diag': ['coma', 'flu'], 'age': [30, 60]}
    """

    def __init__(self, data: Any) -> None:
        """Wrap a table without copying it."""
        self.data = _as_table(data)
        """The table; an Arrow stream has become an Arrow table."""
        data = self.data
        named = data.column_names if isinstance(data, pa.Table) else data if isinstance(data, Mapping) else data.columns
        self.names: list[Any] = list(named)
        self._place = {name: place for place, name in enumerate(self.names)}
        if len(self._place) < len(self.names):
            name, times = Counter(self.names).most_common(1)[0]
            raise DataError(f"column name {name!r} occurs {times} times; rename the columns")
        if isinstance(data, Mapping):
            for name, values in data.items():
                if not is_sequence(values) or not hasattr(values, "__getitem__") or getattr(values, "ndim", 1) == 0:
                    raise DataError(f"a list of values is needed, not {type(values).__name__}", column=name)
            check_lengths({name: len(values) for name, values in data.items()})
        self._coded: dict[Any, Column] = {}
        self._code: Callable[[Any], Column] = lambda name: code(self.values(name), str(name))
        self._length = len(next(iter(data.values()), ())) if isinstance(data, Mapping) else len(data)
        self.shuffled = False
        """Whether the rows are in a random order that nobody knows."""

    @property
    def has_ids(self) -> bool:
        """Whether a pandas index tells most rows apart by more than a number: by labels, or by what its name says."""
        index = self.data.index if isinstance(self.data, pd.DataFrame) else pd.RangeIndex(0)
        numbered = list(index.names) == [None] and pd.api.types.is_integer_dtype(index.dtype)
        return not numbered and 2 * index.nunique() > len(index)

    def __len__(self) -> int:
        """Count the records."""
        return self._length

    def values(self, name: Any) -> Any:
        """Return a column in its own library's form."""
        if name not in self._place:
            raise no_column(name, self.names)
        return self.data.iloc[:, self._place[name]] if isinstance(self.data, pd.DataFrame) else self.data[name]

    def column(self, name: Any) -> Column:
        """Return a column as numbers."""
        if name not in self._coded:
            self._coded[name] = self._code(name)
        return self._coded[name]

    def arrange(self, name: Any, order: Sequence[int] | NDArray[np.int64]) -> Column:
        """Renumber the categories of a column for the lifetime of the table."""
        self._coded[name] = self.column(name).arranged(order)
        return self._coded[name]

    def replaced(
        self,
        changes: Mapping[Any, Column],
        *,
        moved: bool = False,
        dropped: Sequence[Any] = (),
        retyped: Collection[Any] = (),
    ) -> Table:
        """Return a table of the same kind with some columns replaced, and without the ``dropped`` ones.

        Everything else, including index and types, is unchanged; ``retyped`` columns get the type of their new values.

        Cells that are missing before and after keep their marker (None, NaN, NA), unless missing values have ``moved``:
        then all get the same marker, because one that stays would reveal its row. Categories without an order are
        listed by name, because the order of first appearance would reveal who was first, and only those that occur.
        """
        new: dict[Any, Any] = {}
        place = {name: place for name, place in self._place.items() if name not in dropped}
        for name in place:
            old = self.values(name)
            if name in changes:
                new[name] = written(old, self.column(name), changes[name], moved, retyped=name in retyped)
            elif (tidy := tidied(old, str(name))) is not old:
                new[name] = tidy
        after = Table(_with_columns(self.data, place, new))
        after._coded = dict(changes)
        after._code = self.column  # what a method kept has the codes that it had before
        return after

    def taken(self, rows: NDArray[np.uint32]) -> Table:
        """Return the codes of all columns with the rows in another order; only for comparing, nothing is copied."""
        other = copy(self)
        other._coded, other._length = {}, len(rows)
        other._code = lambda name: self.column(name).with_codes(self.column(name).codes[rows])
        return other


def names_of(data: Any) -> list[Any]:
    """Return the names of the columns of a table, including one on Spark, which is not computed for this."""
    on_spark = type(data).__module__.startswith("pyspark.")
    return Table(data).names if is_frame(data) and not on_spark else list(data.columns)


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


def _with_columns(data: Any, place: Mapping[Any, int], new: Mapping[Any, Any]) -> Any:
    if isinstance(data, pd.DataFrame):
        fewer = len(place) < data.shape[1]
        data = data.iloc[:, list(place.values())] if fewer else data.copy(deep=False)
        for at, name in enumerate(place):
            if name in new:
                data.isetitem(at, new[name])
        if isinstance(data.index, pd.MultiIndex):
            used = data.index.remove_unused_levels()
            data.index = used.set_levels([tidied(each, each.name) for each in used.levels], verify_integrity=False)
        else:
            data.index = tidied(data.index, data.index.name)
        data.attrs = {}
        return data
    if isinstance(data, pa.Table):
        fields = []
        for field in map(data.schema.field, place.values()):
            said = {key: what for key, what in (field.metadata or {}).items() if key.startswith(b"ARROW:extension:")}
            kind = new[field.name].type if field.name in new else field.type
            fields.append(pa.field(field.name, bare(kind), field.nullable, said))
        schema = pa.schema(fields, {b"pandas": notes} if (notes := (data.schema.metadata or {}).get(b"pandas")) else {})
        return pa.table([new.get(name, data[name]) for name in place], schema=schema)
    if isinstance(data, Mapping):
        return {name: new.get(name, data[name]) for name in place}
    return data.select(list(place)).with_columns(list(new.values()))


def bare(kind: Any) -> Any:
    """Return an Arrow type without metadata of other programs in its fields, such as all values of an Enum."""

    def field(of: Any) -> Any:
        return pa.field(of.name, bare(of.type), of.nullable)

    if pa.types.is_struct(kind):
        return pa.struct([field(of) for of in kind])
    if pa.types.is_map(kind):
        return pa.map_(field(kind.key_field), field(kind.item_field), kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(field(kind.value_field), kind.list_size)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return (pa.list_ if pa.types.is_list(kind) else pa.large_list)(field(kind.value_field))
    return kind


def column_names(given: Any, known: Sequence[Any], parameter: str = "columns") -> list[Any]:
    """Return the column names given by a caller: several, or a single one, which may be a tuple.

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
        raise ParameterError(f"{name!r} occurs {times} times; name each column once", parameter=parameter)
    return names


def written(old: Any, before: Column, after: Column, moved: bool, *, retyped: bool = False) -> Any:
    """Return a coded column in the form of an old one: same library, and same type unless it is ``retyped``."""
    if len(after) != len(before):
        raise DataError(f"{len(after):,} new values for {len(before):,} records", column=before.name)
    if retyped:
        return _tidied(_fresh(old, after))
    mixed = before.kind == "text" and _holds_objects(old) and not of_one_class(old)
    steps = _steps(before, after, moved) if not mixed and _is_same(before, after) else None
    example = "" if steps or not after.size else f", such as {after.categories[0]!r}"
    with or_data_error(before.name, f"its type {type_of(old)} cannot hold the new values{example}"):
        return _tidied(_like(old, after, moved) if steps is None else _taken(old, *steps))


def tidied(values: Any, name: Any) -> Any:
    """Return a column without values that no record has, in a dictionary or from a larger column that was cut.

    Dictionaries list values in their order if they have one, else by name. The same object is returned if there is
    nothing to do. The polars type ``Enum`` lists its values and is rebuilt, even when nested; a polars ``Categorical``
    lists none.
    """
    with or_data_error(name, f"its type {type_of(values)} cannot be cleared of values that no record has"):
        return _tidied(values)


def _is_same(before: Column, after: Column) -> bool:
    if (after.missing and not before.missing) or before.size != after.size:
        return False
    if before.listed is after.listed:
        return True
    pairs = zip(before.categories, after.categories, strict=True)
    return all(x is y or (type(x) is type(y) and x == y) for x, y in pairs)


def _holds_objects(values: Any) -> bool:
    return isinstance(values, list | tuple) or str(getattr(values, "dtype", "")) == "object"


# ---- values that other records had


def _steps(before: Column, after: Column, moved: bool) -> list[NDArray[Any]]:
    """Return the rows to take, step by step, so that each record gets a cell with its new value.

    First one cell of each value, then from these: nearly all steps stay in a small part of memory. Missing values that
    stay keep their marker; those that moved all get the same, as row −1.
    """
    cells, places = before.first_rows(), after.dense()[0]
    if not after.missing:
        return [cells, places]
    cells = np.append(cells, -1)
    return [cells, places] if moved else [np.where(after.codes == MISSING, np.arange(len(after)), cells[places])]


def _taken(old: Any, first: NDArray[Any], *steps: NDArray[Any]) -> Any:
    """Take rows, then rows of these; row −1 is missing. The result shares no memory with the old column."""
    gaps = bool((first < 0).any())
    if isinstance(getattr(old, "dtype", None), pd.ArrowDtype):
        return _in_pandas(_taken(pa.array(old), first, *steps), old)
    if isinstance(old, pd.Series):
        return pd.Series(_taken(old.array, first, *steps), index=old.index, name=old.name, dtype=old.dtype)
    if isinstance(old, pd.Index):
        return pd.Index(_taken(old.array, first, *steps), name=old.name, dtype=old.dtype)
    if isinstance(old, pd.arrays.NumpyExtensionArray):
        return type(old)(_taken(old.to_numpy(), first, *steps))
    if isinstance(old, pa.Array | pa.ChunkedArray):
        taken = plain(old).take(pa.array(first, mask=first < 0))
        taken = reduce(lambda values, rows: values.take(pa.array(rows)), steps, taken)
        if pa.types.is_run_end_encoded(old.type):
            return pc.run_end_encode(taken, run_end_type=old.type.run_end_type)
        return taken if taken.type == old.type else taken.cast(old.type)
    if is_polars(old, "Series") and str(old.dtype) == "Object":
        return type(old)(old.name, _taken(old.to_list(), first, *steps), dtype=old.dtype)
    if is_polars(old, "Series"):
        taken = old.gather(type(old)(pa.array(first, mask=first < 0)))
        return reduce(lambda values, rows: values.gather(rows), steps, _tidied(taken))
    if isinstance(old, pd.api.extensions.ExtensionArray):
        return reduce(lambda values, rows: values.take(rows), steps, old.take(first, allow_fill=gaps))
    if isinstance(old, np.ndarray):
        if gaps:
            masked = isinstance(old, np.ma.MaskedArray)
            gap = np.ma.array([0], old.dtype, mask=True) if masked else np.array([None], dtype=old.dtype)
            old = (np.ma if masked else np).concatenate([old, gap])
        taken = reduce(lambda values, rows: values.take(rows), (first, *steps), old)
        if taken.dtype == object and _holds_lists(taken):
            for row, value in enumerate(taken):
                taken[row] = copy(value)
        return taken
    values = reduce(lambda values, rows: [values[row] for row in rows.tolist()], (first, *steps), [*old, None])
    if _holds_lists(values):
        values = [copy(value) for value in values]
    return tuple(values) if isinstance(old, tuple) else values


def _holds_lists(values: Any) -> bool:
    """Return whether cells are lists or the like, which two rows must not share: who changes one would change both."""
    first = next((value for value in values if value is not None), None)
    return isinstance(first, list | set | dict | np.ndarray)


def _in_pandas(values: Any, old: Any) -> Any:
    """Return an array in the form of a pandas Series, Index or array."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        values = pd.arrays.ArrowExtensionArray(values)
    if isinstance(old, pd.Series):
        return pd.Series(values, index=old.index, name=old.name)
    return pd.Index(values, name=old.name) if isinstance(old, pd.Index) else values


# ---- dictionaries without values that no record has


def _tidied(values: Any) -> Any:
    kind = getattr(values, "dtype", None)
    if isinstance(kind, pd.CategoricalDtype):
        held: Any = values.array if isinstance(values, pd.Series) else values
        counts = np.bincount(held.codes[held.codes >= 0], minlength=len(held.categories))
        found = _listed(np.flatnonzero(counts), held.categories, held.ordered)
        if found is None:
            return values
        listed = pd.CategoricalDtype(kind.categories.take(found[0]), kind.ordered)
        return _in_pandas(pd.Categorical.from_codes(found[1][held.codes], dtype=listed), values)
    if isinstance(kind, pd.ArrowDtype):
        array = pa.array(values)
        tidy = _tidied_arrow(array)
        return values if tidy is array else _in_pandas(tidy, values)
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return _tidied_arrow(values)
    if getattr(kind, "storage", None) == "pyarrow":
        return values.take(np.arange(len(values)))
    if is_polars(values, "Series") and "Enum" in str(kind):
        narrow = _with_enums(kind, values)
        return values if narrow == kind else values.cast(_with_enums(kind, values, as_text=True)).cast(narrow)
    if is_polars(values, "Series") and re.search("String|Binary", str(kind)) and not re.search("Object|128", str(kind)):
        # Rows that were taken or cut out of a column still hold all its texts. Not by Arrow where they are in lists:
        # polars 1.36 reads lists that are missing wrongly, and ends the process.
        nested = kind.is_nested()  # type: ignore[union-attr]
        return type(values)(values.name, values.to_list() if nested else values.alias("").to_arrow(), dtype=kind)
    return values


def _listed(used: NDArray[Any], values: Any, ordered: bool) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return the dictionary values that occur, in the right order; None if they are already.

    The second part has the new numbers of the old ones, and −1 at the end for missing.
    """
    if not ordered:
        order = by_name(values)
        used = order[np.isin(order, used)]
    if np.array_equal(used, np.arange(len(values))):
        return None
    number = np.full(len(values) + 1, -1)
    number[used] = np.arange(len(used))
    return used, number


def _tidied_arrow(array: Any) -> Any:
    kind = array.type
    stored = getattr(kind, "storage_type", kind)
    if isinstance(array, pa.ChunkedArray):
        old = array.chunks
        new = [_tidied_arrow(chunk) for chunk in old]
        return array if all(x is y for x, y in zip(old, new, strict=True)) else pa.chunked_array(new, kind)
    if "dictionary<" not in str(stored):
        if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
            return plain(array).cast(kind)
        # What is cut out of a larger column still holds all of it, unless it is copied.
        return pa.concat_arrays([array, array[:0]]) if array.nbytes < array.get_total_buffer_size() else array
    if stored is not kind:
        return kind.wrap_array(_tidied_arrow(array.storage))
    if pa.types.is_dictionary(kind):
        values, indices = array.dictionary, array.indices
        used = np.sort(indices.unique().drop_null().to_numpy(zero_copy_only=False)).astype(np.int64)
        found = _listed(used, values, kind.ordered)
        if found is None:
            tidy, indices = _tidied_arrow(values), _tidied_arrow(indices)
        else:
            tidy = _tidied_arrow(_taken(values, found[0]))
            number = found[1][:-1]
            indices = pa.array(number, mask=number < 0).cast(kind.index_type).take(indices)
        return pa.DictionaryArray.from_arrays(indices, tidy, ordered=kind.ordered)
    if pa.types.is_struct(kind):
        children = [_tidied_arrow(child) for child in array.flatten()]
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=array.is_null())
    own_buffers = 1 if pa.types.is_fixed_size_list(kind) else 2
    if own_buffers == 2 and not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind)):
        raise NotImplementedError("its dictionary is nested in a type that cannot be decomposed")
    whole = array.take(pa.array(np.arange(len(array))))  # without values before, after and between the lists
    if pa.types.is_map(kind):
        parts = _tidied_arrow(whole.keys), _tidied_arrow(whole.items)
        return pa.MapArray.from_arrays(whole.offsets, *parts, type=kind, mask=whole.is_null())
    buffers, children = whole.buffers()[:own_buffers], [_tidied_arrow(whole.values)]
    return pa.Array.from_buffers(kind, len(whole), buffers, whole.null_count, children=children)


def _with_enums(kind: Any, values: Any, as_text: bool = False) -> Any:
    """Restrict the Enum types in a polars type to the values that occur, or convert them to texts."""
    import polars as pl

    if isinstance(kind, pl.Enum):
        present = set(values.unique())
        return pl.String if as_text else pl.Enum([value for value in kind.categories if value in present])
    if isinstance(kind, pl.List):
        return pl.List(_with_enums(kind.inner, values.explode(), as_text))
    if isinstance(kind, pl.Array):
        return pl.Array(_with_enums(kind.inner, values.explode(), as_text), kind.size)
    if isinstance(kind, pl.Struct):
        return pl.Struct({f.name: _with_enums(f.dtype, values.struct.field(f.name), as_text) for f in kind.fields})
    return kind


# ---- new values


def _like(old: Any, column: Column, moved: bool) -> Any:
    """Return a column of new values like another."""
    if isinstance(old, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        return _like_pandas(old, column, moved)
    if isinstance(old, pa.Array | pa.ChunkedArray):
        made = _like_arrow(old.type, column)
        return made if isinstance(old, pa.Array) else pa.chunked_array([made])
    if is_polars(old, "Series"):
        return _like_polars(old, column)
    if not isinstance(old, np.ndarray):
        made = _like(np.array([*old, None], dtype=object)[:-1], column, moved).tolist()
        return tuple(made) if isinstance(old, tuple) else made
    kinds = _objects(column)
    # Texts of a fixed width get the room that the longest needs.
    widest = np.result_type(old.dtype, kinds.astype(old.dtype.kind)) if old.dtype.kind in "US" else old.dtype
    return _filled(old.astype(widest), kinds, column, moved)


def _fresh(old: Any, column: Column) -> Any:
    """Return a column of new values in the library of another, in the type of the new values."""
    codes = pa.array(column.codes, mask=column.codes == MISSING)
    held = column.listed
    kinds = held.array if isinstance(held, Listed) else pa.array(list(held))
    if is_polars(old, "Series"):
        return type(old)(old.name, kinds.take(codes))
    if isinstance(old, pa.Array | pa.ChunkedArray):
        made = kinds.take(codes)
        return made if isinstance(old, pa.Array) else pa.chunked_array([made])
    if isinstance(getattr(old, "dtype", None), pd.ArrowDtype):
        return _in_pandas(kinds.take(codes), old)
    nested = column.kind == "nested"
    objects = np.concatenate([_objects(column), np.array([None], dtype=object)])
    values: Any = objects[np.minimum(column.codes, column.size)] if nested else kinds.take(codes)
    if isinstance(old, pd.Series | pd.Index | pd.api.extensions.ExtensionArray):
        return _in_pandas(values if nested else values.to_pandas().array, old)
    if isinstance(old, np.ndarray):
        return values if nested else values.to_numpy(zero_copy_only=False)
    made = values.tolist() if nested else values.to_pylist()
    return tuple(made) if isinstance(old, tuple) else made


def _filled(values: Any, kinds: Any, column: Column, moved: bool) -> Any:
    """Write a coded column over the old values; missing ones get the same marker if they have moved."""
    known = column.codes != MISSING
    if moved and not known.all():
        values[~known] = None
    values[known] = kinds[column.codes[known]]
    return values


def _objects(column: Column) -> NDArray[np.object_]:
    kinds = np.empty(len(column.categories), dtype=object)
    kinds[:] = column.categories
    return kinds


def _joined(listed: Iterable[Any], column: Column) -> tuple[list[Any], NDArray[np.int64]]:
    """Add the new values of a column to a list, and return the position of each record in it, −1 for missing."""
    place: dict[Any, int] = {}
    for value in (*listed, *column.categories):
        place.setdefault(value, len(place))
    of_code = np.array([*(place[value] for value in column.categories), -1])
    return list(place), of_code.take(column.codes, mode="clip")


def _like_pandas(old: Any, column: Column, moved: bool) -> Any:
    if isinstance(old.dtype, pd.CategoricalDtype):
        listed = old.dtype.categories
        categories, places = _joined(listed, column)
        # The very kind of index is kept, whatever its categories are made of, where none is new.
        dtype = pd.CategoricalDtype(listed if len(categories) == len(listed) else categories, old.dtype.ordered)
        return _in_pandas(pd.Categorical.from_codes(places, dtype=dtype), old)
    if isinstance(old.dtype, pd.ArrowDtype):
        return _in_pandas(_like_arrow(old.dtype.pyarrow_dtype, column), old)
    values = old.array.copy() if isinstance(old, pd.Series | pd.Index) else old.copy()
    kinds = pd.Series(_objects(column), dtype=old.dtype).array
    return _in_pandas(_filled(values, kinds, column, moved), old)


def _like_arrow(kind: Any, column: Column) -> Any:
    if not pa.types.is_dictionary(kind):
        codes = pa.array(column.codes, mask=column.codes == MISSING)
        made_of = pa.large_string() if pa.types.is_string_view(kind) else kind
        return pa.array(list(column.categories), type=made_of).take(codes).cast(kind)
    listed, places = _joined(column.order or () if kind.ordered else (), column)
    codes = pa.array(places, mask=places < 0)
    try:
        codes = codes.cast(kind.index_type)
    except pa.ArrowInvalid:
        codes = codes.cast(pa.int32())  # more categories than the old type can number
    return pa.DictionaryArray.from_arrays(codes, pa.array(listed, type=kind.value_type), ordered=kind.ordered)


def _like_polars(old: Any, column: Column) -> Any:
    import polars as pl

    dtype = old.dtype
    if isinstance(dtype, pl.Enum):
        dtype = pl.Enum(list(dict.fromkeys([*dtype.categories.to_list(), *column.categories])))
    # Categorical types are made from text, the others from their own values.
    made_of = pl.String if isinstance(dtype, pl.Enum | pl.Categorical) else dtype
    kinds = pl.Series(old.name, list(column.categories), dtype=made_of).cast(dtype)
    return kinds.gather(pl.Series(pa.array(column.codes, mask=column.codes == MISSING)))
