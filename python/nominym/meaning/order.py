"""Meanings that values bring along: an order, by which numbers, dates and ranked values are near, or mere equality."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nominym.control import Progress
from nominym.error import Advice, Code, DataError, ParameterError
from nominym.meaning.base import (
    ONE_VALUE,
    Meaning,
    Measure,
    Space,
    Values,
    is_missing,
    is_sequence,
    refuse_lists,
    refuse_root,
)

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
        if order.values is None and len({column.kind == "time" for column in columns if len(column.counts)}) > 1:
            names = ", ".join(repr(column.name) for column in columns)
            raise DataError(
                f"column {names}: dates or times cannot be compared with other values; bring them to one type"
            )
        return _Line(columns, [order.numbers(column) for column in columns], order.values is not None)

    def numbers(self, column: Values) -> list[float] | NDArray[Any]:
        """Return a number for each category: its rank, or its size."""
        if column.kind == "nested":
            raise DataError("holds lists or the like, which have no order", column=column.name, remedy=ONE_VALUE)
        listed = self.values if self.values is not None else column.order
        if listed is not None:
            place = {str(value): float(rank) for rank, value in enumerate(listed)}
            unknown = next((value for value in column.categories if str(value) not in place), None)
            if unknown is not None:
                raise DataError(
                    f"{unknown!r} has no place in the given order",
                    column=column.name,
                    remedy=Advice("list all values, lowest first: {}", listed=_LISTED),
                )
            return [place[str(value)] for value in column.categories]
        plain = column.numbers
        if plain is not None and np.isfinite(plain).all():
            return plain
        return [_number(value, column) for value in column.categories]


class _Line(Space):
    """Numbers on a line from the smallest, at 0, to the largest, at 1."""

    def __init__(self, columns: Sequence[Values], numbers: Sequence[list[float] | NDArray[Any]], ranked: bool) -> None:
        super().__init__(columns)
        values = _from_the_smallest(numbers)
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

    def common(self, places: NDArray[np.uint32]) -> str:
        """Write the interval from the smallest to the largest."""
        low, high = int(np.min(places)), int(np.max(places))
        return self.name(low) if low == high else f"[{self.name(low)}, {self.name(high)}]"


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


def _from_the_smallest(numbers: Sequence[list[float] | NDArray[Any]]) -> list[NDArray[np.float64]]:
    """Return numbers as floats. Whole ones of 64 bits count from the smallest, so that large ones stay apart."""
    kinds = {part.dtype for part in numbers if isinstance(part, np.ndarray)}
    if len(kinds) == 1 and all(isinstance(part, np.ndarray) for part in numbers):
        parts = [np.asarray(part) for part in numbers]
        if kinds == {np.dtype(np.float64)}:
            return parts
        smallest = np.uint64(min(int(part.min()) for part in parts if len(part)) % 2**64)
        # Modulo 2^64 a difference is right whatever the signs are.
        return [(part.astype(np.uint64) - smallest).astype(np.float64) for part in parts]
    listed = [part.tolist() if isinstance(part, np.ndarray) else part for part in numbers]
    every = [number for part in listed for number in part]
    exact = all(isinstance(number, int) and -(2**63) <= number < 2**64 for number in every)
    low = min(every, default=0) if exact else 0
    return [np.array([number - low for number in part], dtype=np.float64) for part in listed]


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
