"""The exceptions of nominym: one hierarchy, each also a built-in ``ValueError`` or ``KeyError``.

>>> import nominym as nym
>>> try:
...     nym.Taxonomy.from_edges([("a", "b"), ("b", "a")])
... except ValueError as error:
...     print(type(error).__name__)
CycleError
"""

from __future__ import annotations


class NominymError(Exception):
    """Base class of every error that nominym raises on purpose."""

    concepts: tuple[int, ...] | list[int] = ()
    """Concepts that the compiled core names, by index; messages name them by id."""


class ParameterError(NominymError, ValueError):
    """An argument that has no meaning here; the message says which values have."""


class DataError(NominymError, ValueError):
    """A table or column that cannot be used as it is."""


class MissingValueError(DataError):
    """Missing values where the caller asked for ``missing="error"``."""


class UnknownColumnError(NominymError, KeyError):
    """A column name that the table does not have."""

    # KeyError would show the message quoted and escaped.
    __str__ = Exception.__str__


class TaxonomyError(NominymError, ValueError):
    """Concepts and links that do not make a taxonomy."""


class CycleError(TaxonomyError):
    """Is-a links that run in a circle; the message prints the circle."""


class RootError(TaxonomyError):
    """Several concepts without a parent; the message lists them."""


class FormatError(TaxonomyError):
    """A file that is not what its format promises; the message names file and line."""


class UnknownConceptError(NominymError, KeyError):
    """Values that are no concept of the taxonomy; the message lists and counts them."""

    __str__ = Exception.__str__


class AmbiguousConceptError(UnknownConceptError):
    """Values that name several concepts; the message lists the ids to choose from."""


class SizeError(NominymError, ValueError):
    """A result that would not fit into memory; the message says what it needs."""


class MissingExtraError(NominymError, ValueError):
    """An optional package is not installed; the message says how to get it."""


class InternalError(NominymError, ValueError):
    """A defect in nominym itself; please report it."""


class PrivacyWarning(UserWarning):
    """A use that takes away from the promise of a method; the message says what to do instead."""
