"""Meanings that values bring along: an order, by which numbers, dates and ranked values are near, or mere equality."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nominym.control import Progress
from nominym.error import Advice, Code, DataError, ParameterError
from nominym.meaning.base import (
    ONE_VALUE,
    Cells,
    Meaning,
    Measure,
    Space,
    Standing,
    Values,
    is_missing,
    is_sequence,
    refuse_lists,
    refuse_root,
)
from nominym.meaning.generalized import Interval, between, parse

_LISTED = Code("nym.Order([...])")


@dataclass(frozen=True, init=False, repr=False)
class Order(Meaning):
    """Values that have an order: numbers and dates by their difference, listed values by their rank.

    The distance of two values is their difference, relative to that of the largest and the smallest value at hand.

    >>> import nominym as nym
    >>> nym.Order()
    Order()
    >>> nym.Order(["low", "middle", "high"])
    Order(['low', 'middle', 'high'])
    >>> nym.stats.distance_correlation([1, 2, 3], ["low", "middle", "high"], nym.Order(), nym.Order(["low", "middle", \
"high"]))
    1.0

    Parameters
    ----------
    values
        All values from lowest to highest. By default numbers, dates and times go by size, ordered categoricals by
        their own list, and texts by the numbers that they are.
    """

    noun: ClassVar[str] = "an order"
    values: tuple[Any, ...] | None
    """The listed values, or None."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        """Check that the list names each value once."""
        listed = None
        if values is not None:
            if not is_sequence(values):
                fault = "list all values from lowest to highest, or leave it out"
                raise ParameterError(fault, parameter="values", value=values)
            listed = tuple(values)
            if not listed or any(map(is_missing, listed)):
                fault = "list at least one value, and no missing ones"
                raise ParameterError(fault, parameter="values", value=values)
            text, times = Counter(map(str, listed)).most_common(1)[0]
            if times > 1:
                raise ParameterError(f"{text!r} is listed twice; list each value once", parameter="values")
        object.__setattr__(self, "values", listed)

    def __repr__(self) -> str:
        """Return the code that makes it."""
        return "Order()" if self.values is None else f"Order({list(self.values)!r})"

    def arrangement(self, values: Values) -> Sequence[int] | NDArray[np.int64]:
        """Number the categories of a column from lowest to highest."""
        numbers = self.numbers(values)
        if isinstance(numbers, np.ndarray):
            return np.argsort(numbers, kind="stable")  # −0 is before 0 already
        return sorted(range(len(numbers)), key=lambda i: (numbers[i], str(values.categories[i])))

    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Put the values of some columns on one line; the order that one of them lists holds for all."""
        refuse_root(root, columns, self.noun)
        listed = next((column.order for column in columns if column.order is not None), None)
        order = self if self.values is not None or listed is None else Order(listed)
        used = [column for column in columns if len(column.counts)]
        times = next((column.categories[0] for column in used if column.kind == "time"), None)
        # Intervals of dates are texts.
        if order.values is None and times is not None and any(c.kind not in ("time", "text") for c in used):
            names = ", ".join(repr(column.name) for column in columns)
            raise DataError(
                f"column {names}: dates or times cannot be compared with other values; bring them to one type"
            )
        return _Line(columns, [order.numbers(column, times) for column in columns], order.values is not None)

    def numbers(self, column: Values, times: Any = None) -> list[float] | NDArray[Any]:
        """Return a number for each category: its rank, or its size; of an interval, such as "[30, 40]", the middle.

        Where texts stand beside dates or times, one of these says how to read them.
        """
        if column.kind == "nested":
            raise DataError("holds lists or the like, which have no order", column=column.name, remedy=ONE_VALUE)
        listed = self.values if self.values is not None else column.order
        if listed is not None:
            place = {str(value): float(rank) for rank, value in enumerate(listed)}
            rank = _middle_or(lambda text, _: place.get(str(text)))
            ranks = [rank(value, column) for value in column.categories]
            unknown = next((value for value, at in zip(column.categories, ranks, strict=True) if at is None), None)
            if unknown is not None:
                raise DataError(
                    f"{unknown!r} has no place in the given order",
                    column=column.name,
                    remedy=Advice("list all values, lowest first: {}", listed=_LISTED),
                )
            return ranks
        plain = column.numbers
        if plain is not None and np.isfinite(plain).all():
            return plain
        read = _middle_or(_number if times is None or column.kind == "time" else _as_time(times))
        return [read(value, column) for value in column.categories]


class _Line(Space):
    """Numbers on a line from the smallest, at 0, to the largest, at 1."""

    def __init__(self, columns: Sequence[Values], numbers: Sequence[list[float] | NDArray[Any]], ranked: bool) -> None:
        super().__init__(columns)
        self._columns = columns
        values, self._origin = _from_the_smallest(numbers)
        self._values, firsts, inverse = np.unique(np.concatenate(values), return_index=True, return_inverse=True)
        ends = np.cumsum([len(part) for part in values])[:-1]
        self.places = np.split(inverse.reshape(-1).astype(np.uint32), ends)
        spread = float(self._values[-1]) - float(self._values[0])
        if math.isinf(spread):
            raise DataError("values are too far apart for a number of 64 bits", column=columns[0].name)
        self._spread = spread or 1.0
        self.positions: NDArray[np.float64] = self._values / self._spread
        self.unit = None if ranked else spread
        self.names = _Texts(columns, firsts)

    def matrixless(self, places: NDArray[np.uint32], missing: bool) -> NDArray[np.float64]:
        """Return the positions of some values, and NaN for what is missing."""
        found = self.positions[places]
        return np.append(found, math.nan) if missing else found

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure pairs of values."""
        return np.abs(self._values[a] - self._values[b]) / self._spread

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure every value of one list against every value of another, in the room of the result alone."""
        found: NDArray[np.float64] = np.subtract.outer(self._values[a], self._values[b])
        np.abs(found, out=found)
        found /= self._spread
        return found

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the median, the lower one of two."""
        sums = np.cumsum(np.bincount(places, counts, len(self)))
        return int(np.searchsorted(sums, (int(sums[-1]) + 1) // 2))

    def centroids(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the arithmetic means; of ranked values the medians, the lower one of two."""
        counts = cells.counts.astype(np.int64)
        sizes = np.add.reduceat(counts, cells.firsts)
        if self.unit is None:
            # Records up to and with each place: the first with half of its group.
            upto = np.cumsum(counts)
            before = np.concatenate(([0], np.cumsum(sizes)[:-1]))
            return Standing(cells.places[np.searchsorted(upto, before + (sizes + 1) // 2)].astype(np.int64))
        # From the smallest of a group, so that no digits are lost.
        low = self._values[cells.places[cells.firsts]]
        more = counts * (self._values[cells.places] - low[cells.groups])
        means, chosen = np.unique(low + np.add.reduceat(more, cells.firsts) / sizes, return_inverse=True)
        return Standing(chosen.reshape(-1), self._valued(means))

    def commons(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the intervals from the smallest to the largest."""
        low, high = (cells.places[at].astype(np.int64) for at in (cells.firsts, cells.starts[1:].astype(np.int64) - 1))
        ends, chosen = np.unique(low * len(self) + high, return_inverse=True)
        names = ((self.name(end // len(self)), self.name(end % len(self))) for end in ends.tolist())
        return Standing(chosen.reshape(-1), [between(*pair) for pair in names])

    def _valued(self, numbers: NDArray[np.float64]) -> Any:
        """Return numbers as values like those of the column: dates and times as such, all else as floats."""
        example = next((column for column in self._columns if column.kind == "time" and len(column.counts)), None)
        periods = next((c.categories[0] for c in self._columns if c.categories and hasattr(c.categories[0], "ordinal")),
                       None) if example is None else None  # fmt: skip
        if periods is not None:
            return [type(periods)(ordinal=round(x), freq=periods.freq) for x in (numbers + self._origin).tolist()]
        if example is None:
            return numbers + float(self._origin)
        # As fine as the values are: whole days, seconds, milliseconds, or microseconds.
        micros = np.round((self._values + float(self._origin)) * 1e6)
        step = next((step for step in (86_400e6, 1e6, 1e3) if not np.any(micros % step)), 1.0)
        whole = np.ceil((numbers + float(self._origin)) * (1e6 / step) - 0.5)  # the earlier of two
        return [_moment(x, step, example.categories[0]) for x in whole.tolist()]

    def common(self, places: NDArray[np.uint32]) -> str:
        """Write the interval from the smallest to the largest."""
        return between(self.name(int(np.min(places))), self.name(int(np.max(places))))


class _Texts(Sequence[str]):
    """What some values are as text, made when it is asked for: of a million numbers hardly any is."""

    def __init__(self, columns: Sequence[Values], chosen: NDArray[np.int64]) -> None:
        """Choose values among those of several columns, one after another."""
        self._columns, self._chosen = columns, chosen
        self._ends = np.cumsum([len(column.counts) for column in columns])

    def __len__(self) -> int:
        """Count the values."""
        return len(self._chosen)

    def __getitem__(self, place: Any) -> Any:
        """Return the text of one value, or of some."""
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        value = int(self._chosen[place])
        column = int(np.searchsorted(self._ends, value, side="right"))
        return str(self._columns[column].categories[value - self._ends[column]])


def _from_the_smallest(numbers: Sequence[list[float] | NDArray[Any]]) -> tuple[list[NDArray[np.float64]], int]:
    """Return numbers as floats, and where they count from.

    Whole ones of 64 bits count from the smallest, so that large ones stay apart.
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
    exact = all(isinstance(number, int) and -(2**63) <= number < 2**64 for number in every)
    low = min(every, default=0) if exact else 0
    return [np.array([number - low for number in part], dtype=np.float64) for part in listed], int(low)


def _middle_or(number: Callable[[Any, Values], Any]) -> Callable[[Any, Values], Any]:
    """Return what finds the number of a value, and of an interval the middle."""

    def found(value: Any, column: Values) -> Any:
        ends = parse(value) if isinstance(value, str) and value[:1] in ("[", '"') else value
        if not isinstance(ends, Interval):
            return number(ends, column)
        low, high = (number(end, column) for end in ends)
        return None if low is None or high is None else (low + high) / 2

    return found


def _as_time(like: Any) -> Callable[[Any, Values], float]:
    """Return what reads texts of dates or times of one kind."""

    def found(value: Any, column: Values) -> float:
        try:
            if hasattr(like, "hour") and not hasattr(like, "year"):
                return _time(time.fromisoformat(value))
            return _time(pd.Timedelta(value) if hasattr(like, "total_seconds") else pd.Timestamp(value))
        except (TypeError, ValueError):
            what = "is no date or time, as those that it is compared with"
            raise DataError(f"{_short(value)} {what}", column=column.name, remedy="bring them to one type") from None

    return found


def _number(value: Any, column: Values) -> float:
    """Return the number that a value is, on a scale on which differences mean something."""
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
        raise DataError(
            f"{_short(value)} {reason}",
            column=column.name,
            remedy=Advice("list all values, lowest first, with {}, or turn the column into numbers", listed=_LISTED),
        ) from None
    if not math.isfinite(number):
        raise DataError(f"holds {_short(value)}, which is far from everything", column=column.name, remedy="replace it")
    return value if isinstance(value, int) else number


def _time(value: Any) -> float:
    if hasattr(value, "hour") and not hasattr(value, "year"):  # a time of day
        return float(value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6)
    if hasattr(value, "total_seconds"):
        return float(value.total_seconds())
    return float(pd.Timestamp(value).timestamp())


def _moment(number: float, step: float, like: Any) -> Any:
    """Return the date or time that is so many steps of microseconds from where ``_time`` counts."""
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


@dataclass(frozen=True)
class Equality(Meaning):
    """Values that are equal (distance 0) or not (distance 1), such as sex or region. Compared by their text.

    >>> import nominym as nym
    >>> nym.stats.rmse(["north", "south"], ["north", "west"], nym.Equality())
    0.7071067811865476
    """

    noun: ClassVar[str] = "equality"

    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Give equal values of some columns one place."""
        refuse_root(root, columns, self.noun)
        refuse_lists(columns)
        return _Points(columns)


class _Points(Space):
    """Values, each as far from every other."""

    measured = False

    def __init__(self, columns: Sequence[Values]) -> None:
        super().__init__(columns)
        place: dict[str, int] = {}
        self.places = [
            np.array([place.setdefault(str(value), len(place)) for value in column.categories], dtype=np.uint32)
            for column in columns
        ]
        self.names = list(place)

    def matrixless(self, places: NDArray[np.uint32], missing: bool) -> NDArray[np.uint32]:
        """Return the values by their places; what is missing is one more."""
        return np.append(places, np.uint32(len(self))) if missing else places

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Tell of pairs of values whether they differ."""
        return np.not_equal(a, b).astype(np.float64)

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Compare every value of one list with every value of another, in the room of the result alone."""
        found = np.empty((len(a), len(b)))
        np.not_equal(a[:, None], b[None, :], out=found, casting="unsafe")
        return found

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the most frequent value; ties by name."""
        totals = np.bincount(places, counts, len(self))
        return min(np.flatnonzero(totals == totals.max()).tolist(), key=self.name)

    def centroids(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the most frequent values; ties by name."""
        by_name = np.empty(len(self), dtype=np.int64)
        by_name[sorted(range(len(self)), key=self.name)] = np.arange(len(self))
        best = np.lexsort((by_name[cells.places], -cells.counts.astype(np.int64), cells.groups))
        return Standing(cells.places[best[cells.firsts]].astype(np.int64))
