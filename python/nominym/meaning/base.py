"""What a meaning answers: how far apart are two values, what is the mean of several, what do several have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from nominym.error import DataError, ParameterError
from nominym.memory import require_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.meaning.measure import Measure

Kind = Literal["text", "whole", "number", "truth", "time", "mixed", "nested"]
"""What the values of a column are: ``number`` has decimal places, ``mixed`` several types, ``nested`` lists."""


class Values(Protocol):
    """Distinct values of a column, as the table room codes them."""

    @property
    def name(self) -> str | None:
        """Name of the column, for messages."""

    @property
    def categories(self) -> tuple[Any, ...]:
        """The distinct values."""

    @property
    def counts(self) -> NDArray[np.uint64]:
        """Records of each."""

    @property
    def kind(self) -> Kind:
        """What they are."""

    @property
    def order(self) -> tuple[Any, ...] | None:
        """All values from lowest to highest, where the column itself lists them so."""


class Space(ABC):
    """A meaning applied to the values at hand: every value has a place, and places have distances.

    Values that mean the same have one place. A space serves one column, or several that are compared.
    """

    root: str | None = None
    """The concept that is the root for depths, where there is one."""
    unit: float | None = None
    """The difference in numbers that has distance 1, where values are numbers."""
    measured: bool = True
    """Whether there are distances between 0 and the largest: not so where values are equal or not."""

    def __init__(self, columns: Sequence[Values]) -> None:
        """Refuse columns without any value."""
        if columns and not any(len(column.categories) for column in columns):
            names = ", ".join(repr(column.name) for column in columns if column.name is not None)
            raise DataError(f"column {names}: no value at all" if names else "values: no value at all")
        self.places: list[NDArray[np.uint32]] = []

    @abstractmethod
    def __len__(self) -> int:
        """Count the places."""

    @abstractmethod
    def name(self, place: int) -> str:
        """Write what is at a place: the id of a concept, or the value."""

    def label(self, place: int) -> str:
        """Write what is at a place as people read it."""
        return self.name(place)

    @abstractmethod
    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure every place of one list against every place of another."""

    def matrix(self, places: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure all pairs of some places."""
        require_matrix(len(places), 8, "the column has too many categories for this; make its values coarser")
        return self.block(places, places, progress)

    @abstractmethod
    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure pairs of places."""

    @abstractmethod
    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the place, of all there are, with the smallest sum of distances to the counted ones."""

    @abstractmethod
    def common(self, places: NDArray[np.uint32]) -> str:
        """Write what several places have in common: a concept, an interval, a set."""


class Meaning(ABC):
    """What gives the values of a column their meaning: a taxonomy, a matrix, an order, or equality."""

    noun: ClassVar[str]
    """What to call it in a message."""

    @abstractmethod
    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Give every category of some columns its place; values without a meaning are an error that lists them."""

    def arrangement(self, values: Values) -> list[int] | None:
        """Number the categories of a column from lowest to highest, where this meaning has such an order."""
        return None


def refuse_root(root: object, columns: Sequence[Values], noun: str) -> None:
    """Refuse a root for values that are not concepts of a taxonomy."""
    if root is not None:
        name = columns[0].name if columns else None
        raise ParameterError(f"only a taxonomy has a root, not {noun}", parameter="root", value=root, column=name)


def refuse_numbers(column: Values) -> None:
    """Refuse values that have no name of their own: 250.0 may stand for the concept "250" or for "250.0"."""
    if column.kind == "nested":
        raise DataError("holds lists or the like, but one value per record is needed", column=column.name)
    if column.kind == "number" and column.categories:
        raise DataError(
            "holds numbers with decimal places, but nominal values are needed",
            column=column.name,
            remedy="read the column as text or as whole numbers, or use nym.Order() or nym.Equality() as its meaning",
        )


def check_meanings(meanings: object, columns: Sequence[Any] | None = None) -> dict[Any, Meaning]:
    """Refuse what does not say of some columns what their values mean."""
    if not isinstance(meanings, Mapping) or not meanings:
        raise ParameterError(
            "a mapping from column names to meanings is needed, with one column at least",
            parameter="meanings",
            value=meanings if meanings is None or isinstance(meanings, str) else type(meanings).__name__,
            remedy="for example meanings={'diagnosis': taxonomy, 'age': nym.Order()}",
        )
    for name, meaning in meanings.items():
        if not isinstance(meaning, Meaning):
            raise ParameterError(
                f"a Taxonomy, a DistanceMatrix, an Order or an Equality is needed, not {type(meaning).__name__}",
                column=name,
                remedy="for numbers, dates and ranked values give nym.Order(), for other values nym.Equality()",
            )
    return dict(meanings)


def least_sum(sums: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the places whose sums of distances are smallest, up to rounding."""
    return np.flatnonzero(sums - sums.min() <= 1e-12 * sums.min())
