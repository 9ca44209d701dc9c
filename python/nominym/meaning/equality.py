"""Equality: values are equal or not, and there is no more to say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from nominym.error import DataError
from nominym.meaning.base import Meaning, Space, Values, refuse_root

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.meaning.base import Measure


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
        nested = next((column for column in columns if column.kind == "nested"), None)
        if nested is not None:
            raise DataError("holds lists or the like, but one value per record is needed", column=nested.name)
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
        self._names = list(place)

    def __len__(self) -> int:
        """Count the distinct values."""
        return len(self._names)

    def name(self, place: int) -> str:
        """Write the value."""
        return self._names[place]

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Tell of every value of one list whether it is another than each of a second list."""
        return np.not_equal.outer(a, b).astype(np.float64)

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Tell of pairs of values whether they differ."""
        return np.not_equal(a, b).astype(np.float64)

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the most frequent value; ties by name."""
        totals = np.zeros(len(self._names), dtype=np.uint64)
        np.add.at(totals, places, counts)
        return int(min(np.flatnonzero(totals == totals.max()), key=lambda place: self._names[place]))

    def common(self, places: NDArray[np.uint32]) -> str:
        """Write the one value, or the set of them."""
        names = sorted({self._names[place] for place in np.asarray(places).tolist()})
        return names[0] if len(names) == 1 else f"{{{', '.join(names)}}}"
