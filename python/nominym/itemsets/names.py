"""Names of items: whole numbers or texts, never both in one set of records."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nominym.error import DataError, MissingValueError, ParameterError
from nominym.frame import is_missing, is_sequence
from nominym.rng import is_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

Missing = Literal["error", "empty"]
"""What ``missing=`` takes: refuse missing rows and items, or take them for nothing."""


def check_missing(missing: object) -> None:
    """Refuse what is no policy for missing values."""
    if missing not in ("error", "empty"):
        raise ParameterError(f"missing={missing!r}: give 'error', or 'empty' to take what is missing for nothing")


def refuse_missing(what: str) -> NoReturn:
    """Raise the error for something missing; `what` says where."""
    raise MissingValueError(f"{what} is missing; fill or drop it, or give missing='empty' to take it for nothing")


def plain(values: Any) -> Any:
    """Bring names in an Arrow array to whole numbers of 64 bits or to text; None where they are something else."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if pa.types.is_null(kind):
        return values.cast(pa.int64())
    if pa.types.is_integer(kind):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:
            return None
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return values.cast(pa.large_string())
    return None


def from_python(values: Sequence[Any], where: Callable[[int], str]) -> Any:
    """Put names into an Arrow array; the error says where the first is that is none, by `where` of its place."""
    try:
        # Arrow would take True for a number beside numbers.
        found = None if any(isinstance(value, bool | np.bool_) for value in values) else plain(pa.array(values))
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        found = None
    if found is not None and found.null_count == 0:
        return found
    first: type | None = None
    for place, given_value in enumerate(values):
        value = given_value.item() if isinstance(given_value, np.generic) else given_value
        kind = str if isinstance(value, str) else int if is_whole(value) else None
        if kind is None:
            raise DataError(
                f"{where(place)}: {value!r} of type {type(value).__name__} is no item; items are whole numbers or texts"
            )
        if kind is int and not -(2**63) <= operator.index(value) < 2**63:
            raise DataError(f"{where(place)}: {value!r} has more than 64 bits; write such items as text")
        if first is not None and kind is not first:
            raise DataError(
                f"{where(place)}: {value!r} beside items of another type; items are whole numbers or texts, not both"
            )
        first = kind
    return plain(pa.array([str(value) if first is str else operator.index(value) for value in values]))


def given(items: Any) -> Any:
    """Check the list of all items that a caller gives, and put it into an Arrow array."""
    if not is_sequence(items):
        raise ParameterError(f"items={items!r}: give the list of all items")
    if isinstance(items, range):
        return pa.array(np.arange(items.start, items.stop, items.step, dtype=np.int64))
    if isinstance(items, np.ndarray) and items.ndim == 1 and items.dtype.kind in "iu":
        items = pa.array(items)
    listed = plain(items) if isinstance(items, pa.Array) else None
    if listed is None or listed.null_count:
        values = items.to_pylist() if isinstance(items, pa.Array) else list(items)
        for place, value in enumerate(values):
            if is_missing(value):
                raise ParameterError(f"items: the one at place {place} is missing")
        listed = from_python(values, lambda place: f"items, place {place}")
    if len(listed.unique()) < len(listed):
        twice = pc.value_counts(listed).filter(pc.greater(pc.value_counts(listed).field("counts"), 1))
        raise ParameterError(f"items: {twice[0]['values'].as_py()!r} stands twice")
    return listed


def sorted_names(values: Any) -> Any:
    """List the names that occur, in order: the order in which they appear would tell who was first."""
    found = values.unique()
    return found.take(pc.sort_indices(found))


def code(values: Any, names: Any) -> NDArray[np.uint32] | int:
    """Give the place of every value in a list of names, or the place of the first value that is not there."""
    if not len(values):
        return np.empty(0, dtype=np.uint32)
    if values.type != names.type:
        return 0
    codes = pc.index_in(values, value_set=names)
    if codes.null_count:
        return int(np.flatnonzero(codes.is_null().to_numpy(zero_copy_only=False))[0])
    found: NDArray[np.uint32] = codes.to_numpy().astype(np.uint32)
    return found
