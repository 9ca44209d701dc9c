"""Values as numbers: how they are read, their origin, and which of them a float cannot tell apart."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nominym.error import Advice, Code, DataError
from nominym.meaning.base import BLANK, Values, marks_missing
from nominym.meaning.generalized import parse

LISTED = Code("nym.Order([...])")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def written_dates(column: Values) -> date | None:
    """Return a date if a column holds dates as texts, such as "1950-01-31", judged by the first; otherwise None."""
    first = next(iter(column.categories), None) if column.kind == "text" else None
    return date.min if isinstance(first, str) and _DATE.fullmatch(first) else None


def as_time(like: Any) -> Callable[[Any, Values], float]:
    """Return a function that reads texts of dates or times of one kind."""

    def found(value: Any, column: Values) -> float:
        try:
            return _time(_read_time(value, like))
        except (TypeError, ValueError):
            what = "is not a date or time like those it is compared with"
            raise DataError(f"{_short(value)} {what}", column=column.name, remedy="bring them to one type") from None

    return found


def _read_time(text: Any, like: Any) -> Any:
    """Read a date or time of the kind of another."""
    if hasattr(like, "hour") and not hasattr(like, "year"):
        return time.fromisoformat(text)
    if type(like) is date:
        return date.fromisoformat(text)
    return pd.Timedelta(text) if hasattr(like, "total_seconds") else pd.Timestamp(text)


def number(value: Any, column: Values) -> float:
    """Return a value as a number on an interval scale."""
    try:
        if hasattr(value, "ordinal"):  # a period
            return float(value.ordinal)
        if column.kind == "time" or isinstance(value, pd.Timestamp | pd.Timedelta):
            return _time(value)
        number = float(value)
        if isinstance(value, str) and ("_" in value or not math.isfinite(number)):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        too_large = isinstance(value, int) and not isinstance(value, bool)
        reason = "is too large for a number of 64 bits" if too_large else "has no order of its own"
        advice = Advice("list all values, lowest first, with {}, or turn the column into numbers", listed=LISTED)
        if marks_missing(value):
            advice = Advice("if it stands for a missing value, {}; otherwise list all values, lowest first, with {}",
                            blank=BLANK, listed=LISTED)  # fmt: skip
        raise DataError(f"{_short(value)} {reason}", column=column.name, remedy=advice) from None
    if not math.isfinite(number):
        raise DataError(
            f"holds {_short(value)}, which is infinitely far from everything", column=column.name, remedy="replace it"
        )
    return value if isinstance(value, int) else number


def _time(value: Any) -> float:
    if hasattr(value, "hour") and not hasattr(value, "year"):  # a time of day
        return float(value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6)
    if hasattr(value, "total_seconds"):
        return float(value.total_seconds())
    return float(pd.Timestamp(value).timestamp())


def moment(number: float, step: float, like: Any) -> Any:
    """Return the date, time or period at a number of microsecond steps from the origin of ``_time``."""
    if hasattr(like, "ordinal"):
        return type(like)(ordinal=round(number), freq=like.freq)
    span = timedelta(microseconds=round(number * step))
    if hasattr(like, "hour") and not hasattr(like, "year"):
        return (datetime.min + span).time()
    if hasattr(like, "total_seconds"):
        return span
    found = datetime(1970, 1, 1, tzinfo=timezone.utc) + span
    if not hasattr(like, "hour"):
        return found.date()
    return found.replace(tzinfo=None) if like.tzinfo is None else found.astimezone(like.tzinfo)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def from_the_smallest(numbers: Sequence[list[float] | NDArray[Any]]) -> tuple[list[NDArray[np.float64]], int]:
    """Return numbers as floats, and their origin.

    Whole numbers of 64 bits count from the smallest, so that large ones stay distinct.
    """
    kinds = {part.dtype for part in numbers if isinstance(part, np.ndarray)}
    if len(kinds) == 1 and all(isinstance(part, np.ndarray) for part in numbers):
        parts = [np.asarray(part) for part in numbers]
        if kinds == {np.dtype(np.float64)}:
            return parts, 0
        smallest = min(int(part.min()) for part in parts if len(part))
        # Modulo 2^64 a difference is right whatever the signs are.
        return [(part.astype(np.uint64) - np.uint64(smallest % 2**64)).astype(np.float64) for part in parts], smallest
    listed = [part.tolist() if isinstance(part, np.ndarray) else part for part in numbers]
    every = [number for part in listed for number in part]
    exact = all(isinstance(number, int | Fraction) and -(2**63) <= number < 2**64 for number in every)
    low = math.floor(min(every, default=0)) if exact else 0
    return [np.array([number - low for number in part], dtype=np.float64) for part in listed], low


def arranged(
    values: NDArray[np.float64], wide: NDArray[np.float64], exact: NDArray[Any] | None
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Number some values from the smallest, equal ones with the same number, and return a value for each number.

    An interval comes after the value in its middle and is not equal to it. ``exact`` orders equal floats.
    """
    keys = [key for key in (exact, wide if wide.any() else None, values) if key is not None]
    order = np.lexsort(keys)
    new = np.zeros(len(order), dtype=bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    numbers = np.empty(len(order), dtype=np.uint32)
    numbers[order] = np.cumsum(new) - 1
    return numbers, order[new]


def told_apart(
    columns: Sequence[Values],
    numbers: Sequence[list[float] | NDArray[Any]],
    values: NDArray[np.float64],
    wide: NDArray[np.float64],
) -> NDArray[np.int64] | None:
    """Return the order of values that are equal as floats; None if all floats are exact."""
    kinds = {part.dtype if isinstance(part, np.ndarray) else None for part in numbers}
    if len(kinds) == 1 and kinds <= {np.dtype(np.int64), np.dtype(np.uint64)}:
        return np.concatenate(numbers)
    if not any(map(_is_rounded, columns, numbers)):
        return None
    ends = np.cumsum([len(column.counts) for column in columns])
    times = next((column.categories[0] for column in columns if column.kind == "time" and column.categories), None)
    order = np.argsort(values, kind="stable")
    order = order[wide[order] == 0]
    starts = np.flatnonzero(np.append(True, values[order[1:]] != values[order[:-1]]))
    sizes = np.diff(np.append(starts, len(order)))
    found = np.zeros(len(values), dtype=np.int64)
    for start, size in zip(starts[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        tied = order[start : start + size]
        owners = np.searchsorted(ends, tied, side="right").tolist()
        keys = [_exactly(columns[c].categories[i - ends[c]], times) for c, i in zip(owners, tied.tolist(), strict=True)]
        rank = {key: number for number, key in enumerate(sorted(set(keys)))}
        found[tied] = [rank[key] for key in keys]
    return found


def _is_rounded(column: Values, numbers: list[float] | NDArray[Any]) -> bool:
    """Return whether different values of a column may be equal as floats."""
    if isinstance(numbers, np.ndarray):
        return numbers.dtype.kind != "f" and bool(len(numbers)) and max(-int(numbers.min()), int(numbers.max())) > 2**53
    if column.kind == "text":
        return max(map(len, column.categories), default=0) > 15  # digits that a float holds
    return column.kind != "truth"


def _exactly(value: Any, times: Any) -> Any:
    """Return a value as an exact number; times in nanoseconds."""
    if isinstance(value, str) and times is not None:
        value = _read_time(value, times)
    if isinstance(value, str):
        try:
            value = parse(value) if value.startswith('"') else value
            return Decimal(value)
        except ArithmeticError:
            return Decimal(repr(float(value)))  # beyond what is exact
    if hasattr(value, "ordinal"):
        return value.ordinal
    if hasattr(value, "hour") and not hasattr(value, "year"):
        return _time(value)
    if hasattr(value, "total_seconds"):
        span = pd.Timedelta(value)
        return span.to_pytimedelta() // timedelta(microseconds=1) * 1000 + span.nanoseconds
    if hasattr(value, "year"):
        moment = pd.Timestamp(value)
        naive = moment if moment.tzinfo is None else moment.tz_convert(None)
        since = naive.to_pydatetime(warn=False) - datetime(1970, 1, 1)
        return since // timedelta(microseconds=1) * 1000 + moment.nanosecond
    if isinstance(value, Decimal):
        return value
    # The shortest text of a float, so that 0.33 is what a decimal number of that text is.
    return int(value) if isinstance(value, Integral) else Decimal(repr(float(value)))
