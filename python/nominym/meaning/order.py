"""Meanings that values have by themselves: an order of numbers, dates or ranked values, or mere equality."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nominym.control import Progress
from nominym.error import Advice, DataError, ParameterError
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
from nominym.meaning.sizes import (
    LISTED,
    arranged,
    as_time,
    from_the_smallest,
    moment,
    number,
    told_apart,
    written_dates,
)

# The width of an interval whose ends are the same as floats.
_LEAST = 5e-324


@dataclass(frozen=True, init=False, repr=False)
class Order(Meaning):
    """Ordered values: numbers and dates by their difference, listed values by their rank.

    The distance between two values is their difference, relative to that of the largest and the smallest value present.

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
        All values from lowest to highest. By default numbers, dates and times are ordered by size, ordered categoricals
        by their own list, and texts of numbers or of dates (1950-01-31) like these.
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
        """Return the code that creates it."""
        return "Order()" if self.values is None else f"Order({list(self.values)!r})"

    def arrangement(self, values: Values) -> Sequence[int] | NDArray[np.int64]:
        """Number the categories of a column from lowest to highest."""
        numbers = self.numbers(values)
        if isinstance(numbers, np.ndarray):
            return np.argsort(numbers, kind="stable")  # −0 is before 0 already
        return sorted(range(len(numbers)), key=lambda i: (numbers[i], str(values.categories[i])))

    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Place the values of some columns on one line; the order listed by one of them holds for all."""
        refuse_root(root, columns, self.noun)
        listed = next((column.order for column in columns if column.order is not None), None)
        order = self if self.values is not None or listed is None else Order(listed)
        used = [column for column in columns if len(column.counts)]
        times = next((column.categories[0] for column in used if column.kind == "time"), None)
        if times is None and order.values is None:
            times = next(filter(None, (written_dates(column) for column in used if not column.released)), None)
        # Intervals of dates are texts.
        if order.values is None and times is not None and any(c.kind not in ("time", "text") for c in used):
            names = ", ".join(repr(column.name) for column in columns)
            raise DataError(
                f"column {names}: dates or times cannot be compared with other values; bring them to one type"
            )
        numbers = [order.numbers(column, times) if not column.released else [] for column in columns]
        widths: list[list[float] | None] = [None] * len(columns)
        for at, column in enumerate(columns):
            if column.released:
                numbers[at], widths[at] = order._released(column, times, columns, numbers)
        return _Line(columns, numbers, order.values is not None, widths)

    def numbers(self, column: Values, times: Any = None) -> list[float] | NDArray[Any]:
        """Return a number for each category: its rank, or its size.

        Texts beside dates or times are read like one of these.
        """
        if column.kind == "nested":
            raise DataError("holds lists or the like, which have no order", column=column.name, remedy=ONE_VALUE)
        plain = column.numbers if self.values is None and column.order is None else None
        if plain is not None and np.isfinite(plain).all():
            return plain
        read = self._reader(column, times)
        return [read(value) for value in column.categories]

    def _reader(self, column: Values, times: Any) -> Callable[[Any], float]:
        """Return a function that finds the number of a value of a column."""
        listed = self.values if self.values is not None else column.order
        if listed is None:
            times = written_dates(column) if times is None else times
            size = number if times is None or column.kind == "time" else as_time(times)
            return lambda value: size(value, column)
        place = {str(value): float(rank) for rank, value in enumerate(listed)}

        def rank(value: Any) -> float:
            found = place.get(str(value))
            if found is None and isinstance(value, float) and value.is_integer():
                found = place.get(str(int(value)))  # whole numbers become floats beside a missing value
            if found is None:
                raise DataError(
                    f"{value!r} has no place in the given order",
                    column=column.name,
                    remedy=Advice("list all values, lowest first: {}", listed=LISTED),
                )
            return found

        return rank

    def _released(
        self, column: Values, times: Any, columns: Sequence[Values], numbers: Sequence[list[float] | NDArray[Any]]
    ) -> tuple[list[float] | NDArray[Any], list[float] | None]:
        """Return the numbers of values of a release, with the middle of intervals such as "[30, 40]", and their widths.

        A value is never read as an interval. The other ``columns`` show what their values are as text.
        """
        if not any(isinstance(value, str) for value in (column.categories if column.numbers is None else ())):
            return self.numbers(column, times), None
        read = self._reader(column, times)
        listed = self.values if self.values is not None else column.order
        known = {str(value): 0.0 for value in listed or ()}
        for other, own in zip(columns, numbers, strict=True) if listed is None else ():
            if not other.released and other.kind != "text":
                known |= zip(map(str, other.categories), np.asarray(own, dtype=object).tolist(), strict=True)

        def end(text: Any) -> float:
            return known[text] if listed is None and text in known else read(text)

        found: list[Any] = []
        widths: list[float] = []
        for value in column.categories:
            ends = parse(value) if isinstance(value, str) and value[:1] in ("[", '"') and value not in known else value
            low, high = map(end, ends if isinstance(ends, Interval) else (ends, ends))
            if low == high:
                found.append(low)
            elif isinstance(low, int) and isinstance(high, int):
                found.append(Fraction(low + high, 2))  # a float may be too small for it
            else:
                found.append(low / 2 + high / 2)
            widths.append(max(float(abs(high - low)), _LEAST) if isinstance(ends, Interval) else 0.0)
        return found, widths


class _Line(Space):
    """Numbers on a line from the smallest, at 0, to the largest, at 1."""

    def __init__(
        self,
        columns: Sequence[Values],
        numbers: Sequence[list[float] | NDArray[Any]],
        ranked: bool,
        widths: Sequence[list[float] | None],
    ) -> None:
        """Place the values of the columns, given their numbers and the widths of intervals."""
        super().__init__(columns)
        self._columns = columns
        parts, self._origin = from_the_smallest(numbers)
        values = np.concatenate(parts)
        wide = np.concatenate([np.zeros(len(p)) if w is None else w for p, w in zip(parts, widths, strict=True)])
        inverse, firsts = arranged(values, wide, None if ranked else told_apart(columns, numbers, values, wide))
        self._values = values[firsts]
        self.places = np.split(inverse, np.cumsum([len(part) for part in parts])[:-1])
        spread = float(self._values[-1]) - float(self._values[0])
        if math.isinf(spread):
            raise DataError("values are too far apart for a number of 64 bits", column=columns[0].name)
        self._spread = spread or 1.0
        self.positions: NDArray[np.float64] = self._values / self._spread
        self.unit = None if ranked else spread
        self.names: _Texts = _Texts(columns, firsts)

    def beside(self, column: Values, found: Standing) -> Space:
        """Return the line with the representatives of its only column's groups: means, or intervals by their ends."""
        parts = np.asarray(found.parts)
        if parts.ndim == 1:
            values, wide, same = parts, np.zeros(len(parts)), np.searchsorted(self._values, parts)
        else:
            low, high = self._values[parts].T
            single, same = parts[:, 0] == parts[:, 1], parts[:, 0]
            values = np.where(single, low, low / 2 + high / 2)
            wide = np.where(single, 0.0, np.maximum(high - low, _LEAST))
        size = len(self)
        every = np.concatenate([self._values, values])
        own = np.concatenate([np.arange(size), np.where(wide > 0, 0, same)])
        inverse, firsts = arranged(every, np.concatenate([np.zeros(size), wide]), own)
        other = copy(self)
        other._values = every[firsts]
        other.positions = other._values / self._spread
        other.places = [inverse[self.places[0]], inverse[size:]]
        kept = np.concatenate([self.names.chosen, len(self._columns[0].counts) + np.arange(len(parts))])
        other.names = _Texts([*self._columns, column], kept[firsts])
        return other

    def matrixless(self, places: NDArray[np.uint32], missing: bool) -> NDArray[np.float64]:
        """Return the positions of some values, with NaN for missing ones."""
        found = self.positions[places]
        return np.append(found, math.nan) if missing else found

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure pairs of values."""
        return np.abs(self._values[a] - self._values[b]) / self._spread

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure every value of one list against every value of another, without memory beyond the result."""
        found: NDArray[np.float64] = np.subtract.outer(self._values[a], self._values[b])
        np.abs(found, out=found)
        found /= self._spread
        return found

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the median, the lower of two."""
        sums = np.cumsum(np.bincount(places, counts, len(self)))
        return int(np.searchsorted(sums, (int(sums[-1]) + 1) // 2))

    def centroids(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the arithmetic means; for ranked values the medians, the lower of two."""
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
        return self._standing(low + np.add.reduceat(more, cells.firsts) / sizes)

    def commons(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the intervals from the smallest to the largest."""
        low, high = (cells.places[at].astype(np.int64) for at in (cells.firsts, cells.starts[1:].astype(np.int64) - 1))
        pairs, chosen = np.unique(low * len(self) + high, return_inverse=True)
        ends = np.stack(np.divmod(pairs, len(self)), axis=1)
        return Standing(chosen.reshape(-1), [between(self.name(a), self.name(b)) for a, b in ends.tolist()], ends)

    def _standing(self, means: NDArray[np.float64]) -> Standing:
        """Return means as values like those of the column: dates, times and periods as such, all others as floats."""
        column, origin = self._columns[0], float(self._origin)
        like = next(iter(column.categories), None) if column.numbers is None else None
        dates = None if self.unit is None or column.numbers is not None else written_dates(column)
        if column.kind != "time" and not hasattr(like, "ordinal") and dates is None:
            numbers, chosen = np.unique(means, return_inverse=True)
            return Standing(chosen.reshape(-1), numbers + origin, numbers)
        # As fine as the values are: whole periods, days, seconds, milliseconds, or microseconds.
        fine = 1.0
        if column.kind == "time" or dates is not None:
            micros = np.round((self._values + origin) * 1e6)
            fine = 1e6 / next((step for step in (86_400e6, 1e6, 1e3) if not np.any(micros % step)), 1.0)
        whole = np.ceil((means + origin) * fine - 0.5)  # the earlier of two
        steps, chosen = np.unique(whole, return_inverse=True)
        values = [moment(x, 1e6 / fine, like if dates is None else dates) for x in steps.tolist()]
        values = values if dates is None else list(map(str, values))
        return Standing(chosen.reshape(-1), values, steps / fine - origin)

    def common(self, places: NDArray[np.uint32]) -> str:
        """Return the interval from the smallest to the largest."""
        return between(self.name(int(np.min(places))), self.name(int(np.max(places))))


class _Texts(Sequence[str]):
    """Some values as text, converted on demand: of a million numbers, hardly any is needed."""

    def __init__(self, columns: Sequence[Values], chosen: NDArray[np.int64]) -> None:
        """Choose values among those of several columns, one after another."""
        self._columns, self.chosen = columns, chosen
        self._ends = np.cumsum([len(column.counts) for column in columns])

    def __len__(self) -> int:
        """Count the values."""
        return len(self.chosen)

    def __getitem__(self, place: Any) -> Any:
        """Return the text of one value, or of some."""
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        value = int(self.chosen[place])
        column = int(np.searchsorted(self._ends, value, side="right"))
        return str(self._columns[column].categories[value - self._ends[column]])


@dataclass(frozen=True)
class Equality(Meaning):
    """Values that are equal (distance 0) or not (distance 1), such as sex or region. Compared by their text.

    >>> import nominym as nym
    >>> nym.stats.rmse(["north", "south"], ["north", "west"], nym.Equality())
    0.7071067811865476
    """

    noun: ClassVar[str] = "equality"

    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Return the space of some columns, in which equal values have one place."""
        refuse_root(root, columns, self.noun)
        refuse_lists(columns)
        return _Points(columns)


class _Points(Space):
    """Values that are all equally far apart."""

    measured = False

    def __init__(self, columns: Sequence[Values]) -> None:
        super().__init__(columns)
        place: dict[str, int] = {}
        self.places = []
        for column in columns:
            texts = [str(value) for value in column.categories]
            if column.released:
                texts = [_unquoted(text) if text[:1] == '"' and text not in place else text for text in texts]
            found = [place.setdefault(text, len(place)) for text in texts]
            self.places.append(np.array(found, dtype=np.uint32))
        self.names = list(place)

    def matrixless(self, places: NDArray[np.uint32], missing: bool) -> NDArray[np.uint32]:
        """Return the values by their places; missing is one more."""
        return np.append(places, np.uint32(len(self))) if missing else places

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Return whether pairs of values differ."""
        return np.not_equal(a, b).astype(np.float64)

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Compare every value of one list with every value of another, without memory beyond the result."""
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


def _unquoted(text: str) -> str:
    """Return the value that a text of a release stands for, if it is a single one."""
    found = parse(text)
    return found if isinstance(found, str) else text
