"""Order: numbers, dates and ranked values, near each other where few values lie between."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nominym.error import DataError, ParameterError
from nominym.meaning.base import Meaning, Space, Values, refuse_root
from nominym.values import is_missing, is_sequence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.meaning.base import Measure


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

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        """Check that the list names each value once."""
        if values is not None and not is_sequence(values):
            raise ParameterError("list all values from lowest to highest, or leave it out", parameter="values",
                                 value=values)  # fmt: skip
        self.values: tuple[Any, ...] | None = None if values is None else tuple(values)
        """The listed values, or None."""
        if self.values is not None:
            texts = [str(value) for value in self.values]
            missing = next((value for value in self.values if is_missing(value)), self)
            if not texts or missing is not self:
                raise ParameterError("list at least one value, and no missing ones", parameter="values",
                                     value=values)  # fmt: skip
            twice = (
                next((text for text in texts if texts.count(text) > 1), None) if len(set(texts)) < len(texts) else None
            )
            if twice is not None:
                raise ParameterError(f"{twice!r} is listed twice; list each value once", parameter="values")

    def __repr__(self) -> str:
        """Return the code that makes it."""
        return "Order()" if self.values is None else f"Order({list(self.values)!r})"

    def __eq__(self, other: object) -> bool:
        """Tell whether two list the same values."""
        return isinstance(other, Order) and self.values == other.values

    def __hash__(self) -> int:
        """Hash the listed values."""
        return hash(self.values)

    def arrangement(self, values: Values) -> list[int]:
        """Number the categories of a column from lowest to highest."""
        numbers = self.numbers(values)
        return sorted(range(len(numbers)), key=lambda i: (numbers[i], str(values.categories[i])))

    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Put the values of some columns on one line; the order that one of them lists holds for all."""
        refuse_root(root, columns, self.noun)
        listed = next((column.order for column in columns if column.order is not None), None)
        order = self if self.values is not None or listed is None else Order(listed)
        if order.values is None and len({column.kind == "time" for column in columns if column.categories}) > 1:
            names = ", ".join(repr(column.name) for column in columns)
            raise DataError(
                f"column {names}: dates or times cannot be compared with other values; bring them to one type"
            )
        return _Line(columns, [order.numbers(column) for column in columns], order.values is not None)

    def numbers(self, column: Values) -> list[float]:
        """Return a number for each category: its rank, or its size."""
        listed = self.values if self.values is not None else column.order
        if listed is not None:
            place = {str(value): float(rank) for rank, value in enumerate(listed)}
            unknown = next((value for value in column.categories if str(value) not in place), None)
            if unknown is not None:
                raise DataError(
                    f"{unknown!r} has no place in the given order",
                    column=column.name,
                    remedy="list all values, lowest first: nym.Order([...])",
                )
            return [place[str(value)] for value in column.categories]
        if column.kind == "nested":
            raise DataError("holds lists or the like, which have no order", column=column.name)
        return [_number(value, column) for value in column.categories]


class _Line(Space):
    """Numbers on a line from the smallest, at 0, to the largest, at 1."""

    def __init__(self, columns: Sequence[Values], numbers: Sequence[Sequence[float]], ranked: bool) -> None:
        super().__init__(columns)
        every = [number for part in numbers for number in part]
        # Whole numbers of 64 bits count from the smallest, so that large ones stay apart.
        exact = all(isinstance(number, int) and -(2**63) <= number < 2**64 for number in every)
        low = min(every, default=0) if exact else 0
        values = [np.array([number - low for number in part], dtype=np.float64) for part in numbers]
        self._values, inverse = np.unique(np.concatenate(values) if values else np.empty(0), return_inverse=True)
        ends = np.cumsum([len(part) for part in values])[:-1]
        self.places = [part.astype(np.uint32) for part in np.split(inverse.reshape(-1), ends)] if values else []
        spread = float(self._values[-1]) - float(self._values[0]) if len(self._values) else 0.0
        if math.isinf(spread):
            raise DataError("values are too far apart for a number of 64 bits", column=columns[0].name)
        self._spread = spread or 1.0
        self.unit = None if ranked else spread
        self._names: dict[int, str] = {}
        for column, places in zip(columns, self.places, strict=True):
            for place, value in zip(places.tolist(), column.categories, strict=True):
                self._names.setdefault(place, str(value))

    def __len__(self) -> int:
        """Count the distinct values."""
        return len(self._values)

    def name(self, place: int) -> str:
        """Write the value."""
        return self._names[place]

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure every value of one list against every value of another."""
        return np.abs(np.subtract.outer(self._values[a], self._values[b])) / self._spread

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure pairs of values."""
        return np.abs(self._values[a] - self._values[b]) / self._spread

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the median, the lower one of two."""
        totals = np.zeros(len(self._values), dtype=np.uint64)
        np.add.at(totals, places, counts)
        sums = np.cumsum(totals)
        return int(np.searchsorted(sums, (int(sums[-1]) + 1) // 2))

    def common(self, places: NDArray[np.uint32]) -> str:
        """Write the interval from the smallest to the largest."""
        low, high = int(np.min(places)), int(np.max(places))
        return self.name(low) if low == high else f"[{self.name(low)}, {self.name(high)}]"


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
            remedy="list all values, lowest first, with nym.Order([...]), or turn the column into numbers",
        ) from None
    if not math.isfinite(number):
        raise DataError(f"holds {_short(value)}, which is far from everything", column=column.name,
                        remedy="replace it")  # fmt: skip
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
