"""Names of items: whole numbers or texts, never both in one set of records."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nominym.control import require
from nominym.error import Advice, DataError, MissingValueError, ParameterError
from nominym.meaning import is_missing, is_sequence, to_list
from nominym.table import ARROW_REFUSES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Missing = Literal["error", "empty"]
"""Values of ``missing=``: raise on missing rows and items, or treat them as empty."""

LARGEST = 2**31 - 1
"""The largest whole number of an item in text files."""


def check_missing(missing: object) -> None:
    """Raise unless a policy for missing values is valid."""
    if not isinstance(missing, str) or missing not in ("error", "empty"):
        raise ParameterError("give 'error', or 'empty' to ignore missing values", parameter="missing", value=missing)


def missing_error(what: str, column: Any = None) -> MissingValueError:
    """Return the error for something missing; `what` says where."""
    remedy = Advice("fill or drop it, or give {} to ignore it", missing="empty")
    return MissingValueError(f"{what} is missing", column=column, remedy=remedy)


def plain(values: Any) -> Any:
    """Convert names in an Arrow array to whole numbers of 64 bits or to text; None where they are something else."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if pa.types.is_null(kind) or pa.types.is_integer(kind):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return values.cast(pa.large_string())
    return None


def from_python(values: Sequence[Any], where: Callable[[int], str], **about: Any) -> Any:
    """Convert names to an Arrow array; the error names the place of the first invalid one, as `where` words it."""
    try:
        # Arrow would take True for a number beside numbers.
        found = None if any(isinstance(value, bool | np.bool_) for value in values) else plain(pa.array(values))
    except ARROW_REFUSES:
        found = None
    if found is not None and found.null_count == 0:
        return found
    for place, value in enumerate(values):
        fault = _fault(value.item() if isinstance(value, np.generic) else value, values[0])
        if fault is not None:
            raise DataError(f"{where(place)}: {fault}", **about)
    return plain(pa.array([value if isinstance(value, str) else operator.index(value) for value in values]))


def _fault(value: Any, first: Any) -> str | None:
    """Return why a value cannot be a name beside the first one, or None."""
    try:
        number = None if isinstance(value, str | bool) else operator.index(value)
    except TypeError:
        number = None
    if isinstance(value, str):
        if not is_unicode(value):
            return f"{value!r} has half of a surrogate pair, which is not Unicode text; decode it again"
    elif number is None:
        return f"{shown(value)} of type {type(value).__name__} is not an item; items are whole numbers or texts"
    elif not -(2**63) <= number < 2**63:
        return f"{shown(number)} has more than 64 bits; write such items as text"
    if isinstance(value, str) != isinstance(first, str):
        return f"{value!r} among items of another type; items are whole numbers or texts, not both"
    return None


def shown(value: Any) -> str:
    """Return a value for a message; Python refuses to print numbers of thousands of digits.

    >>> shown("a"), shown(10**5000)
    ("'a'", 'a huge number')
    """
    try:
        return repr(value)
    except ValueError:
        return "a huge number"


def is_unicode(text: str) -> bool:
    """Return whether a text can be encoded: Python allows single surrogates, files do not.

    >>> is_unicode("ü"), is_unicode("\\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def texts(names: Any, where: str) -> list[str]:
    """Return names as written in lines of text."""
    if pa.types.is_integer(names.type):
        numbers = names.to_numpy()
        wrong = np.flatnonzero((numbers < 0) | (numbers > LARGEST))
        if len(wrong):
            raise DataError(f"item {numbers[wrong[0]]}: {where} holds numbers from 0 to {LARGEST}; use a Parquet file")
    found: list[str] = names.cast(pa.large_string()).to_pylist()
    odd = next((text for text in found if not text or re.search(r"[\s|]", text)), None)
    if odd is not None:
        raise DataError(f"item {odd!r}: {where} cannot hold blanks, bars or empty names; use a Parquet file")
    return found


def as_list(values: Any) -> list[Any] | None:
    """Return an iterable as a list, or None for what only looks like one, such as a numpy scalar."""
    try:
        return list(values)
    except (TypeError, OverflowError):
        return None


def checked_items(items: Any) -> Any:
    """Check the list of all items given by a caller, and convert it to an Arrow array."""
    if isinstance(items, range):
        return _numbered(items)
    if isinstance(items, np.ndarray) and items.ndim == 1 and items.dtype.kind in "iu":
        items = pa.array(items)
    listed = plain(items) if isinstance(items, pa.Array) else None
    if listed is None or listed.null_count:
        values = to_list(items) if isinstance(items, pa.Array) else as_list(items) if is_sequence(items) else None
        if values is None:
            raise ParameterError(f"give the list of all items, not {type(items).__name__}", parameter="items")
        for place, value in enumerate(values):
            if is_missing(value):
                raise ParameterError(f"the item at position {place} is missing", parameter="items")
        listed = from_python(values, lambda place: f"position {place}", parameter="items")
    if len(listed.unique()) < len(listed):
        twice = pc.value_counts(listed).filter(pc.greater(pc.value_counts(listed).field("counts"), 1))
        raise ParameterError(f"{twice[0]['values'].as_py()!r} occurs twice", parameter="items")
    return listed


def _numbered(items: range) -> Any:
    number = max(0, (items[-1] - items[0]) // items.step + 1) if items else 0
    if number >= 2**32 or (items and not -(2**63) <= min(items[0], items[-1]) <= max(items[0], items[-1]) < 2**63):
        raise ParameterError("give at most 2^32 − 1 items, of 64 bits each", parameter="items")
    require(16 * number, f"a list of {number:,} items", "name only those that occur")
    return pa.array(np.arange(items.start, items.stop, items.step, dtype=np.int64) if items else [], pa.int64())


def sorted_names(values: Any) -> Any:
    """List the names that occur, sorted: the order of appearance would reveal whose record came first."""
    found = values.unique()
    return found.take(pc.sort_indices(found))


def code(values: Any, names: Any) -> NDArray[np.uint32] | int:
    """Return the position of every value in a list of names, or the index of the first value that is not in it."""
    if not len(values):
        return np.empty(0, dtype=np.uint32)
    if values.type != names.type:
        return 0
    codes = pc.index_in(values, value_set=names)
    if codes.null_count:
        return int(np.flatnonzero(codes.is_null().to_numpy(zero_copy_only=False))[0])
    found: NDArray[np.uint32] = codes.to_numpy().astype(np.uint32)
    return found


def as_array(values: Any) -> NDArray[Any] | None:
    """Return a list of values as a one-dimensional array; None for anything else."""
    try:
        if str(getattr(values, "dtype", "")) in ("Int128", "UInt128"):
            # Versions of polars differ in what they do where numpy has no numbers as wide; some panic.
            array = np.array(list(values), dtype=object)
        else:
            array = np.asarray(values if hasattr(values, "__array__") else list(values))
    except MemoryError:
        raise
    except Exception:  # other libraries raise what they like
        return None
    return array if array.ndim == 1 else None


def whole_numbers(values: Any) -> NDArray[Any] | None:
    """Return a list of whole numbers from any library as an array; None for anything else.

    >>> whole_numbers([2, 1]), whole_numbers([0.5]), whole_numbers(None), whole_numbers([[1], [2, 3]])
    (array([2, 1]), None, None, None)
    """
    array = as_array(values)
    if array is None or (array.size and array.dtype.kind not in "iu"):
        return None
    return array if array.size else np.empty(0, dtype=np.int64)
