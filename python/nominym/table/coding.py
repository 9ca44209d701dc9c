"""Columns of any library as numbers: every distinct value once, and a code for each record."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_hashable

from nominym._core import counts as count_codes
from nominym.error import Advice, DataError, MissingValueError, NominymError, ParameterError
from nominym.meaning import Kind, is_missing, is_polars, is_sequence, to_list
from nominym.options import Missing

MISSING = np.uint32(2**32 - 1)
"""The code of a missing value."""

ARROW_REFUSES = (pa.ArrowCapacityError, LookupError, OverflowError, NotImplementedError, TypeError, ValueError)
"""What Arrow raises for values without an Arrow type: mixtures, huge numbers, texts that are not Unicode."""


class Listed:
    """Distinct values in Arrow, converted to Python objects on first use."""

    def __init__(self, array: Any) -> None:
        """Wrap an array without copying it."""
        self.array = array

    def __len__(self) -> int:
        """Count the values."""
        return len(self.array)

    @cached_property
    def objects(self) -> tuple[Any, ...]:
        """Return the values."""
        return tuple(python_values(self.array))


@dataclass(frozen=True, eq=False)
class Column:
    """A column as numbers: ``categories[codes[i]]`` is the value of record ``i``.

    Categories are numbered by name, never by first appearance: what a method does with equal distances must not depend
    on the order of the rows.

    >>> column = code(["flu", "coma", None, "flu"])
    >>> column.codes.tolist()[:2], column.categories, column.counts.tolist(), column.missing
    ([1, 0], ('coma', 'flu'), [1, 2], 1)
    """

    codes: NDArray[np.uint32]
    listed: tuple[Any, ...] | Listed
    """The categories, which may be in Arrow until they are needed."""
    name: str | None = None
    kind: Kind = "text"
    """The kind of values."""
    order: tuple[Any, ...] | None = None
    """All values from lowest to highest, if the column itself orders them (ordered categoricals)."""
    released: bool = False
    """Whether it is compared as part of a release, in which values may be generalized."""

    @property
    def categories(self) -> tuple[Any, ...]:
        """Return the distinct values."""
        return self.listed.objects if isinstance(self.listed, Listed) else self.listed

    @cached_property
    def numbers(self) -> NDArray[Any] | None:
        """Return the categories as float64, int64 or uint64, if they are plain numbers, without creating objects."""
        array = self.listed.array if isinstance(self.listed, Listed) else None
        if isinstance(array, pa.FloatingPointArray):
            return array.to_numpy().astype(np.float64)  # type: ignore[no-any-return]
        if isinstance(array, pa.IntegerArray):
            wide = np.uint64 if pa.types.is_uint64(array.type) else np.int64
            return array.to_numpy().astype(wide)  # type: ignore[no-any-return]
        return None

    @property
    def lists(self) -> Any:
        """Return the categories as an Arrow array of lists, if they are plain lists, without creating objects."""
        array = self.listed.array if isinstance(self.listed, Listed) else None
        return array if isinstance(array, pa.LargeListArray) else None

    @property
    def size(self) -> int:
        """Return the number of categories."""
        return len(self.listed)

    @cached_property
    def counts(self) -> NDArray[np.uint64]:
        """Return the number of records of each category."""
        return count_codes(np.ascontiguousarray(self.codes), self.size)

    @cached_property
    def missing(self) -> int:
        """Return the number of records without a value."""
        return len(self.codes) - int(self.counts.sum())

    def __len__(self) -> int:
        """Count the records."""
        return len(self.codes)

    def with_codes(self, codes: NDArray[np.uint32]) -> Column:
        """Return a column over the same categories."""
        return replace(self, codes=codes)

    def arranged(self, order: Sequence[int] | NDArray[np.integer[Any]]) -> Column:
        """Renumber the categories: ``order`` lists the current numbers of all that occur.

        >>> code(["flu", "coma", "flu"]).arranged([1, 0]).codes.tolist()
        [0, 1, 0]
        """
        places = np.asarray(order, dtype=np.int64)
        if np.array_equal(places, np.arange(self.size)):
            return self
        number = np.full(self.size + 1, MISSING, dtype=np.uint32)
        number[places] = np.arange(len(places), dtype=np.uint32)
        codes = number.take(self.codes, mode="clip")  # what is missing is beyond the end
        old = self.listed
        listed = Listed(old.array.take(pa.array(places))) if isinstance(old, Listed) else tuple(old[i] for i in places)
        return replace(self, codes=codes, listed=listed)

    def merged(self) -> Column:
        """Return the column with one category for values that are equal, however they are written: 1, 1.0 and "1".

        >>> code([1, "1", 1.0, 2]).merged().codes.tolist()
        [0, 0, 0, 1]
        """
        if self.kind == "text" or (isinstance(self.listed, Listed) and self.kind != "number"):
            return self
        # Of plain numbers only 0 and −0 are equal.
        meant = [_meant(value) for value in self.categories] if self.numbers is None else self.numbers
        _, firsts, places = np.unique(meant, return_index=True, return_inverse=True)
        if len(firsts) == self.size:
            return self
        number: NDArray[np.uint32] = np.append(places.reshape(-1), MISSING).astype(np.uint32)
        codes = number.take(self.codes, mode="clip")
        return replace(self, codes=codes, listed=tuple(self.categories[i] for i in firsts))

    def occurring(self) -> Column:
        """Return the column without the categories that no record has."""
        return self.arranged(np.flatnonzero(self.counts))

    def dense(self) -> tuple[NDArray[np.uint32], int]:
        """Return codes in which missing is one more category, and the number of categories."""
        d = self.size
        return np.minimum(self.codes, np.uint32(d)) if self.missing else self.codes, d + bool(self.missing)

    def first_rows(self) -> NDArray[np.int64]:
        """Return one record of each category."""
        rows = np.zeros(self.size + 1, dtype=np.int64)
        rows[self.dense()[0][::-1]] = np.arange(len(self.codes))[::-1]
        return rows[:-1]

    def check_missing(self, missing: Missing) -> None:
        """Raise on missing values, if the policy is "error"."""
        if missing == "error" and self.missing:
            first = int(np.flatnonzero(self.codes == MISSING)[0])
            where = "values: " if self.name is None else ""
            what = f"{where}{self.missing:,} of {len(self):,} values are missing, the first in row {first}"
            remedy = Advice("fill or drop them, or give {} to keep them", missing="keep")
            raise MissingValueError(what, column=self.name, remedy=remedy)


def _meant(value: Any) -> str:
    """Return a text that is the same for equal values: numbers without a fraction as whole, lists as sets."""
    if isinstance(value, int | float | Decimal | np.number) and not isinstance(value, bool):
        with suppress(ArithmeticError, ValueError):
            return str(int(value) if value == int(value) else float(value))
    if isinstance(value, list | tuple | set | frozenset | np.ndarray):
        return "{" + ", ".join(sorted({_meant(item) for item in value})) + "}"
    return str(value)


def check_policy(missing: object) -> None:
    """Raise unless a policy for missing values is valid."""
    if not isinstance(missing, str) or missing not in ("keep", "error"):
        raise ParameterError("give 'keep' or 'error'", parameter="missing", value=missing)


def code(values: Any, name: str | None = None, missing: Missing = "keep") -> Column:
    """Code a column of any library, or a plain sequence, with values of any kind."""
    check_policy(missing)
    if name is None and isinstance(values, pd.Series) and values.name is not None:
        name = str(values.name)
    where = "values: " if name is None else ""
    if not is_sequence(values) or (isinstance(values, np.ndarray) and values.ndim != 1):
        what = f"array of shape {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
        raise DataError(f"{where}a column of values is needed, not {what}", column=name)
    with or_data_error(name, f"{where}{type_of(values)} cannot be read"):
        codes, found, kind = _encode(values)
        listed = Listed(found) if isinstance(found, pa.Array) else tuple(found)
        is_float = isinstance(found, pa.FloatingPointArray)
        if isinstance(found, pa.LargeListArray):
            order = np.arange(len(found))  # by their items already
        else:
            order = _by_size(np.asarray(found)) if is_float else by_name(found)
        column = Column(codes, listed, name, kind, _own_order(values))
    column = column.arranged(order[column.counts[order] > 0])
    column.check_missing(missing)
    return column


def _by_size(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Return the order of different numbers by size, −0 before 0."""
    if np.count_nonzero(numbers == 0) < 2:
        return np.argsort(numbers)  # several times as fast as a stable order
    return np.lexsort((~np.signbit(numbers), numbers))


def by_name(values: Any) -> NDArray[np.int64]:
    """Return the order of values by text; equal texts by type, then by representation, never by first appearance.

    >>> by_name([9, 10, -1]).tolist(), by_name(pa.array([9, 10, -1])).tolist()
    ([2, 1, 0], [2, 1, 0])
    >>> by_name([5, "5"]).tolist(), by_name(["5", 5]).tolist()
    ([0, 1], [1, 0])
    """
    if isinstance(getattr(values, "dtype", None), pd.StringDtype):
        values = pa.array(values.array if isinstance(values, pd.Index) else values)
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if isinstance(values, pa.Array):
        if not values.null_count and re.fullmatch("u?int[0-9]+|(large_)?string(_view)?", str(values.type)):
            return pc.sort_indices(values.cast(pa.large_string())).to_numpy().astype(np.int64)  # type: ignore[no-any-return]
        values = python_values(values)
    # Lists by their items, as those that Arrow codes.
    lists = (list, tuple, np.ndarray)
    texts = [tuple(map(str, value)) if isinstance(value, lists) else (str(value),) for value in values]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    if any(texts[a] == texts[b] for a, b in itertools.pairwise(order)):
        order.sort(key=lambda i: (texts[i], *_spelled(values[i])))
    return np.array(order, dtype=np.int64)


def _spelled(value: Any) -> tuple[str, str, str]:
    """Return what distinguishes values of the same text: their type, the type of their items, and their representation.

    5 and "5" are different values; so are equal times in two zones. numpy shortens long arrays when it prints them.
    """
    held = isinstance(value, np.ndarray)
    kind = type(value)
    return (
        f"{kind.__module__}.{kind.__qualname__}",
        str(value.dtype) if held else "",
        repr(value.tolist() if held else value),
    )


def complete(columns: Mapping[Any, Column]) -> list[Column]:
    """Keep the records in which no column has a missing value, and the categories that still occur.

    >>> columns = {"x": code(["a", "b", "a"]), "y": code(["c", None, "d"])}
    >>> [column.codes.tolist() for column in complete(columns)]
    [[0, 0], [0, 1]]
    """
    check_lengths({name: len(column) for name, column in columns.items()})
    found = list(columns.values())
    if not any(column.missing for column in found):
        return found
    rows = np.logical_and.reduce([column.codes != MISSING for column in found])
    if not rows.any():
        raise DataError(f"no record has a value in all of {', '.join(map(repr, columns))}")
    return [column.with_codes(column.codes[rows]).occurring() for column in found]


def placed(codes: NDArray[np.uint32], size: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the places that occur, and the code of each record among them.

    >>> placed(np.array([7, 3, MISSING, 7], dtype=np.uint32), 9)[0].tolist()
    [3, 7]
    """
    column = Column(codes, tuple(range(size))).occurring()
    return np.array(column.categories, dtype=np.uint32), column.codes


def check_lengths(lengths: Mapping[Any, int]) -> None:
    """Raise on columns of different lengths."""
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{name!r} has {length:,}" for name, length in lengths.items())
        raise DataError(f"columns of one table must have the same number of records: {sizes}")


@contextmanager
def or_data_error(column: Any, message: str) -> Iterator[None]:
    """Turn anything that the library of a column, or an object in it, raises into a ``DataError``."""
    try:
        yield
    except (NominymError, MemoryError):
        raise
    except Exception as reason:
        remedy = "turn the column into text first"
        raise DataError(f"{message} ({reason})", column=column, remedy=remedy) from reason


def type_of(values: Any) -> str:
    """Return the type of a column, for messages."""
    return str(getattr(values, "dtype", getattr(values, "type", type(values).__name__)))


def _own_order(values: Any) -> tuple[Any, ...] | None:
    kind: Any = getattr(values, "dtype", None)
    if isinstance(kind, pd.CategoricalDtype):
        return tuple(kind.categories) if kind.ordered else None
    if type(kind).__name__ == "Enum" and is_polars(values, "Series"):
        return tuple(kind.categories)
    values = pa.array(values) if isinstance(kind, pd.ArrowDtype) else values
    kind = getattr(values, "type", None)
    if isinstance(kind, pa.DictionaryType) and kind.ordered:
        listed = [python_values(chunk.dictionary) for chunk in getattr(values, "chunks", [values])]
        if listed and all(part == listed[0] for part in listed):
            return tuple(value for value in listed[0] if not is_missing(value))
    return None


# ---- encoding

_COLUMNS = (pd.Series, pd.Index, pd.api.extensions.ExtensionArray, np.ndarray, pa.Array, pa.ChunkedArray)
_SLICE = 1 << 20
_Encoded = tuple["NDArray[np.uint32]", "list[Any] | pa.Array", Kind]


# Before version 3, the hash table that pandas has for texts alone takes half characters for one another.
_TEXTS_TOLD_APART = int(pd.__version__.partition(".")[0]) >= 3


def _encode(values: Any) -> _Encoded:
    """Return codes, the distinct values they refer to, and the kind of values."""
    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        held: Any = values.array if isinstance(values, pd.Series) else values
        codes, categories, kind = _encode(held.categories)
        return np.append(codes, MISSING)[held.codes], categories, kind  # −1, missing, is the last
    if not isinstance(values, _COLUMNS) and not is_polars(values, "Series"):
        values = np.fromiter(values, dtype=object, count=len(values) if hasattr(values, "__len__") else -1)
    if str(getattr(values, "dtype", "")) == "object":
        values = np.asarray(values)
        if _is_text(values) and _repeats(values):
            found, texts = pd.factorize(values if _TEXTS_TOLD_APART else np.append(values, [None]))
            codes = found[: len(values)].astype(np.uint32)  # −1, missing, becomes the highest number
            return codes, list(texts) if of_one_class(values) else list(map(str.__str__, texts)), "text"
    try:
        array = _to_arrow(values)
        encoded = None if array is None else _encode_arrow(array)
    except ARROW_REFUSES:
        encoded = None
    if encoded is None:
        objects = to_list(values)
        encoded = _encode_plain_lists(objects) or _encode_objects(objects)
    return encoded


def _to_arrow(values: Any) -> Any:
    """Convert a column to Arrow without a Python loop; None if something would be lost."""
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    kind = getattr(values, "dtype", None)
    if is_polars(values, "Series"):
        # Objects would come as the bytes of pointers, wide numbers and some names not at all.
        odd = values.dtype.is_nested() or str(kind) in ("Object", "Int128", "UInt128")
        return None if odd else values.alias("").to_arrow()
    if isinstance(kind, pd.SparseDtype):
        values = np.asarray(values)
    if str(kind) == "object" and not _is_of_one_type(values):
        return None
    array = None
    if len(values) > _SLICE and kind is not None and kind.kind in "OU":
        # Slice by slice, so that Ctrl-C is heard in between; an empty slice may have a type of its own.
        parts = [pa.array(values[i : i + _SLICE], from_pandas=True) for i in range(0, len(values), _SLICE)]
        parts = [part for piece in parts for part in getattr(piece, "chunks", [piece])]
        array = pa.chunked_array(parts) if len({part.type for part in parts}) == 1 else None
    if array is None:
        array = pa.array(values, from_pandas=True)
    if isinstance(kind, pd.ArrowDtype) or not isinstance(array.type, pa.BaseExtensionType):
        return array
    return None  # periods and intervals are more than what they are stored as


def to_arrow(values: Any, name: Any) -> Any:
    """Return a column for a file: an Arrow array in one piece, without views and runs; raise if impossible."""
    with or_data_error(name, f"its type {type_of(values)} cannot be stored in a file"):
        if not isinstance(values, _COLUMNS) and not is_polars(values, "Series"):
            values = np.fromiter(values, dtype=object, count=len(values))
        kind = str(getattr(values, "dtype", ""))
        if is_polars(values, "Series") and not re.search("Object|128", kind):
            array = values.alias("").to_arrow()
        elif kind == "object":
            values = np.asarray(values)
            several = len(set(map(type, values[~pd.isna(values)]))) > 1
            array = None if several and not _is_text(values) else pa.array(values, from_pandas=True)
        else:
            array = _to_arrow(values)
        if array is None:
            raise DataError(f"its values of type {type_of(values)} cannot be stored in a file", column=name)
        array = plain(array)
        return array if getattr(array, "num_chunks", 1) == 1 else array.unify_dictionaries().combine_chunks()


def _is_of_one_type(values: NDArray[np.object_]) -> bool:
    """Return whether objects can be passed to Arrow.

    Arrow merges dates and times, texts and bytes, 1 and 1.0, stops at microseconds, and some mixtures of numpy scalars
    crash the process.
    """
    types = set() if _is_text(values) else set(map(type, values)) - _GAPS
    return len(types) <= 1 and types <= _FAITHFUL


def of_one_class(texts: Iterable[Any]) -> bool:
    """Return whether texts are all of one class: among equal texts of several classes, the first must not matter.

    >>> of_one_class(["a", None, "b"]), of_one_class(["a", np.str_("a")])
    (True, False)
    """
    return len(set(map(type, texts)) - _GAPS - {float}) <= 1


def _is_text(values: NDArray[np.object_]) -> bool:
    return infer_dtype(values, skipna=True) == "string"


def _repeats(values: NDArray[np.object_]) -> bool:
    """Return whether a sample shows few distinct texts: Python's own hashes are then faster than Arrow."""
    some = values[:: len(values) // 10_000 + 1]
    return len(set(some)) < len(some) / 2


_NESTED = (tuple, frozenset, pa.Array, pa.ChunkedArray, pa.Scalar)
_GAPS = {type(None), type(pd.NA), type(pd.NaT)}
_KINDS: dict[Callable[[pa.DataType], bool], Kind] = {
    pa.types.is_floating: "number",
    pa.types.is_decimal: "number",
    pa.types.is_integer: "whole",
    pa.types.is_boolean: "truth",
    pa.types.is_temporal: "time",
    pa.types.is_string: "text",
    pa.types.is_large_string: "text",
}
_FAITHFUL = {int, float, bool, bytes, date, np.int64, np.int32, np.float64, np.bool_}


def _encode_arrow(array: Any) -> _Encoded | None:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        parts = [part.storage for part in getattr(array, "chunks", [array])]
        codes, stored, holds = _encode(pa.chunked_array(parts, kind.storage_type))
        stored = stored if isinstance(stored, pa.Array) else pa.array(stored)
        return codes, python_values(kind.wrap_array(stored.cast(kind.storage_type))), holds
    if pa.types.is_dictionary(kind):
        return _encode_dictionaries(getattr(array, "chunks", [array]), kind.value_type)
    array = plain(array)
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _encode_lists(array)
    if pa.types.is_nested(kind):
        return None
    if pa.types.is_null(kind):
        array = array.cast(pa.string())
    if pa.types.is_floating(kind):
        array = pc.if_else(pc.is_nan(array), None, array)
    array = array.dictionary_encode()
    if isinstance(array, pa.ChunkedArray):
        # Only now, as codes: the texts together may be longer than one Arrow array can be.
        array = array.unify_dictionaries().combine_chunks()
    holds = next((name for is_such, name in _KINDS.items() if is_such(kind)), "mixed")
    if holds != "time":
        return _indices(array), array.dictionary, holds
    times = python_values(array.dictionary)
    return _indices(array), times, "whole" if times and type(times[0]) is int else holds


def _encode_dictionaries(parts: Sequence[Any], kind: Any) -> _Encoded:
    """Code dictionaries instead of records: they may repeat values, hold nulls, and differ between chunks."""
    of_index, categories, holds = _encode(pa.chunked_array([part.dictionary for part in parts], kind))
    if len(parts) == 1 and len(categories) == len(of_index):
        return _indices(parts[0]), categories, holds
    codes, start = np.empty(sum(map(len, parts)), dtype=np.uint32), 0
    ends = np.cumsum([0, *(len(part.dictionary) for part in parts)])
    for part, first, last in zip(parts, ends[:-1], ends[1:], strict=True):
        np.append(of_index[first:last], MISSING).take(_indices(part), mode="clip", out=codes[start : start + len(part)])
        start += len(part)
    return codes, categories, holds


def _indices(array: Any) -> NDArray[np.uint32]:
    """Return the positions of the values in a dictionary."""
    return array.indices.cast(pa.uint32()).fill_null(int(MISSING)).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def plain(array: Any) -> Any:
    """Return an Arrow array in a layout that all Arrow functions support: no views, no runs."""
    kind = array.type
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return array.cast(pa.large_binary())
    return pc.run_end_decode(array) if pa.types.is_run_end_encoded(kind) else array


def python_values(array: Any) -> list[Any]:
    """Return the values of an Arrow array as Python objects; times that Python cannot represent as numbers."""
    try:
        return list(array.to_pylist())
    except (OverflowError, ValueError):
        return list(array.view(f"int{array.type.bit_width}").to_pylist())


def _encode_plain_lists(values: list[Any]) -> _Encoded | None:
    """Code lists of texts, or of whole numbers, in Arrow; None if there is anything else among them.

    All must be lists, or all numpy arrays of one type: values with the same code must be equal.
    """
    known = [value for value in values if type(value) is list or isinstance(value, np.ndarray)]
    kinds = {(type(value), getattr(value, "dtype", None), getattr(value, "ndim", 1)) for value in known}
    if len(kinds) != 1 or not all(map(is_missing, (value for value in values if type(value) not in _LISTS))):
        return None
    (_, dtype, dimensions), *_ = kinds
    plain_items = dtype is not None and dtype.kind in "iu"
    if dimensions != 1 or not (plain_items or set(map(type, itertools.chain.from_iterable(known))) in ({str}, {int})):
        return None
    try:
        return _encode_lists(pa.array([value if type(value) in _LISTS else None for value in values]))
    except ARROW_REFUSES:
        return None


_LISTS = (list, np.ndarray)


def _encode_lists(array: Any) -> _Encoded | None:
    """Code Arrow lists of texts or whole numbers, numbered by their items; None if items are of another kind."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks() if array.num_chunks else pa.array([], array.type)
    items = plain(array.flatten())
    if not re.fullmatch("u?int[0-9]+|(large_)?string", str(items.type)) or items.null_count:
        return None
    items = items.dictionary_encode()
    order = by_name(items.dictionary)
    rank = np.empty(len(order), dtype=">u4")
    rank[order] = np.arange(len(order))
    ends = np.cumsum(pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
    # A list as the bytes of the ranks of its items: equal where the lists are, and ordered.
    written = rank[items.indices.to_numpy(zero_copy_only=False)]
    buffers = [None, pa.py_buffer(4 * np.append(0, ends)), pa.py_buffer(written)]
    rows = pa.Array.from_buffers(pa.large_binary(), len(array), buffers).dictionary_encode()
    ascending = pc.sort_indices(rows.dictionary).to_numpy()
    number = np.empty(len(ascending), dtype=np.uint32)
    number[ascending] = np.arange(len(ascending), dtype=np.uint32)
    codes = number[rows.indices.to_numpy(zero_copy_only=False)]
    codes[array.is_null().to_numpy(zero_copy_only=False)] = MISSING  # was written as an empty list
    distinct = rows.dictionary.take(pa.array(ascending))
    starts = np.append(0, np.cumsum(pc.binary_length(distinct).to_numpy())) // 4
    ranks = np.frombuffer(b"".join(distinct.to_pylist()), dtype=">u4").astype(np.uint32)
    listed = items.dictionary.take(pa.array(order)).take(pa.array(ranks))
    return codes, pa.LargeListArray.from_arrays(pa.array(starts, pa.int64()), listed), "nested"


def _encode_objects(values: list[Any]) -> _Encoded:
    """Code objects: distinguished by type, text and equality, and kept unchanged."""
    found: dict[tuple[Any, ...], tuple[int, Any]] = {}
    codes = np.full(len(values), MISSING, dtype=np.uint32)
    for row, value in enumerate(values):
        if not is_missing(value):
            key = (type(value), *_spelled(value), value if is_hashable(value) else None)
            codes[row] = found.setdefault(key, (len(found), value))[0]
    categories = [value for _, value in found.values()]
    return codes, categories, _kind_of(categories)


def _kind_of(categories: Sequence[Any]) -> Kind:
    types = {type(value) for value in categories}

    def only(*of: type) -> bool:
        return bool(types) and all(issubclass(kind, of) for kind in types)

    if any(issubclass(kind, _NESTED) or kind.__hash__ is None for kind in types):
        return "nested"
    if any(issubclass(kind, float | complex | np.inexact | Decimal) for kind in types):
        return "number"
    if only(int, np.integer) and bool not in types:
        return "whole"
    if types == {date} or only(datetime) or only(time) or only(timedelta):
        return "time"
    return "text" if types <= {str} else "mixed"
