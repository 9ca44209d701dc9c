"""The concepts that may replace the values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.error import Advice, Code, ParameterError, UnknownConceptError
from nominym.meaning import ConceptSpace, DistanceMatrix, MatrixSpace, Meaning, Measure, Taxonomy
from nominym.table import Attribute, Column, placed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.control import Progress
    from nominym.noise.method import Noise


# In a domain of fewer values, noise is nearly undone by excluding the one that is shown.
_FEW = 5


class Domain:
    """The space of a taxonomy below a concept, or of a matrix, and how its concepts are written.

    Built from the columns of a sample; columns with values outside it are errors later.
    """

    def __init__(
        self, meaning: Meaning, columns: Sequence[Column], measure: Measure, root: object, by_label: bool = False
    ) -> None:
        """Restrict a taxonomy to ``root``, or to the least common subsumer of the columns.

        All concepts are written the same way, by id or by label, whether the columns have them or not: how a value is
        written must not reveal whether it was present before. Labels are used if all values of the columns are labels.
        """
        space = meaning.space(columns, measure, root)
        assert isinstance(space, ConceptSpace | MatrixSpace)  # check_meaning refuses anything else
        self.meaning, self.measure, self.space, self.names = meaning, measure, space, space.names
        self.taxonomy = space.taxonomy if isinstance(space, ConceptSpace) else None
        """The restricted taxonomy; None for a matrix."""
        self.by_label = by_label or space.labelled(columns)
        """Whether concepts are written by label."""

    @cached_property
    def spellings(self) -> Sequence[str]:
        """Return how each concept is written: by id, or by label if that names only one concept."""
        return self.space.spellings(self.by_label)

    def place(self, column: Column) -> NDArray[np.uint32]:
        """Find the concepts of a column's categories."""
        holder = self.space.taxonomy if isinstance(self.space, ConceptSpace) else self.space.given
        try:
            return holder.concepts(column.categories, column.counts.tolist(), column.name)
        except UnknownConceptError as error:
            below = f" below {self.space.root!r}" if self.space.root else ""
            raise type(error)(f"{error} Noise was fitted to the {len(self.names):,} concepts{below}") from None

    def attribute(self, name: Any, column: Column, progress: Progress) -> Attribute:
        """Place a column in this domain."""
        return Attribute(name, column, self.meaning, self.space, self.place(column), progress)

    def replaced(self, before: Attribute, concepts: NDArray[np.uint32]) -> Attribute:
        """Return the attribute whose records have these concepts."""
        present, codes = placed(concepts, len(self.names))
        column = Column(codes, tuple(self.spellings[place] for place in present.tolist()), before.column.name)
        return Attribute(before.name, column, self.meaning, self.space, present, before.progress)

    @property
    def arguments(self) -> tuple[Any, str, NDArray[np.float64] | None]:
        """Return what the compiled core needs to measure: the concepts, the measure and its information content."""
        if isinstance(self.space, ConceptSpace):
            return self.space.taxonomy.graph, self.measure.name, self.space.content
        return self.space.given.matrix, self.measure.name, None


_INSTEAD = "use rank swapping together with other columns, or the exponential mechanism, which may keep a value"


def check_two_values(name: object, column: Column) -> None:
    """Raise on a column of two values: as published, noise never keeps one, so where one is shown, it was the other."""
    if column.size != 2:
        return
    one, other = column.categories
    raise ParameterError(
        f"it has two values, {one!r} and {other!r}, and noise always changes a value: where one of them is shown, it "
        f"was the other, whatever else the domain has",
        column=name,
        remedy=_INSTEAD,
    )


def check_domain(name: object, domain: Domain) -> None:
    """Raise on a domain of two concepts: as published, noise turns each into the other."""
    if len(domain.names) != 2:
        return
    one, other = domain.spellings
    remedies = _INSTEAD
    if isinstance(domain.meaning, Taxonomy) and domain.space.root != domain.meaning.root:
        remedies = f"name a concept above {domain.space.root!r} as the root of the column, {remedies}"
    raise ParameterError(
        f"its domain has two values, {one!r} and {other!r}, and noise always changes a value: each becomes the "
        f"other, so anyone who sees one knows the other",
        column=name,
        remedy=remedies,
    )


def weakness_of(domain: Domain) -> str | None:
    """Return what is weak about noise in a small domain."""
    size = len(domain.names)
    if size == 1:
        return "its domain has one value, which noise cannot change"
    if size < _FEW:
        return (
            f"its domain has {size} values, and noise always changes a value: an adversary who excludes the value "
            f"shown has {size - 1} left, of which the rule favours some"
        )
    return None


def check_meaning(name: object, meaning: Meaning, method: Noise) -> None:
    """Raise on meanings for which noise cannot be drawn."""
    if not isinstance(meaning, Taxonomy | DistanceMatrix):
        raise ParameterError(
            f"noise replaces values with concepts of a taxonomy or labels of a matrix; {meaning.noun} has none",
            column=name,
            remedy=Advice("use {}, which takes any meaning", rank_swap=Code("nym.rank_swap")),
        )
    if method.method == "semantic" and method.reference == "root" and isinstance(meaning, DistanceMatrix):
        remedy = Advice("use {}, or pair", reference="mean")
        raise ParameterError("a distance matrix has no root", column=name, remedy=remedy)
    if method.by_distance and isinstance(meaning, DistanceMatrix) and meaning.matrix.max() > 1:
        raise ParameterError(
            f"distances up to {meaning.matrix.max():g}; errors are shares of the largest distance",
            column=name,
            remedy="divide the matrix by its maximum",
        )
