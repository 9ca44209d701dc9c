"""The exceptions of nominym: one hierarchy, each also a built-in ``ValueError`` or ``KeyError``.

Every error carries its details: ``parameter`` and ``value``, ``column``, and a ``remedy``. The message is composed from
them, so that the command line can spell options its own way without parsing messages.

>>> import nominym as nym
>>> try:
...     nym.RankSwap(k=1)
... except ValueError as error:
...     print(error)
...     error.parameter, error.value
k=1: a group of one record protects nobody; give 2 or more
('k', 1)
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

Spelling = Callable[[str, Any], str]
"""Spells an option and its value: as an argument in Python, as an option on the command line."""

NO_VALUE: Any = object()
"""Stands for the value of a parameter that was not given, or that a message leaves out."""


def as_argument(name: str, value: Any = NO_VALUE) -> str:
    """Return an option as an argument of a Python call.

    >>> as_argument("k", 10), as_argument("k")
    ('k=10', 'k=')
    """
    if value is NO_VALUE or isinstance(value, Code):
        return f"{name}=" if value is NO_VALUE else str(value)
    try:
        return f"{name}={value!r}"
    except ValueError:  # Python does not write numbers of thousands of digits
        return f"{name}=…"


class Code(str):
    """What messages to Python callers have in place of an option: code, or a sentence about it."""


MASKED = Code("the masked columns")
"""What messages to Python callers have in place of the option that masks a column."""


class Advice:
    """A remedy that names options, spelled by the code that shows it.

    >>> str(Advice("use {} instead", guarantee="strict"))
    "use guarantee='strict' instead"
    """

    def __init__(self, text: str, **options: Any) -> None:
        """Store a text with a place, ``{}``, for each option."""
        self.text, self.options = text, options

    def spelled(self, spelling: Spelling) -> str:
        """Return the text with the options spelled."""
        return self.text.format(*(spelling(name, value) for name, value in self.options.items()))

    def __str__(self) -> str:
        """Return the text as Python callers read it."""
        return self.spelled(as_argument)


class NominymError(Exception):
    """Base class of every error that nominym raises on purpose."""

    concepts: tuple[int, ...] | list[int] = ()
    """Concepts that the compiled core refers to by index; messages name them by id."""

    def __init__(
        self,
        message: str = "",
        *,
        parameter: str | None = None,
        value: Any = NO_VALUE,
        column: Any = None,
        remedy: str | Advice | None = None,
    ) -> None:
        """Store what is wrong, and with what."""
        super().__init__(message)
        self.message, self.parameter, self.value, self.column, self.remedy = message, parameter, value, column, remedy

    def worded(self, spelling: Spelling = as_argument) -> str:
        """Return the message, with options spelled as the caller writes them."""
        text = self.message
        if self.column is not None:
            text = f"column {self.column!r}: {text}"
        if self.parameter is not None:
            text = f"{spelling(self.parameter, self.value)}: {text}"
        if self.remedy is None:
            return text
        remedy = self.remedy.spelled(spelling) if isinstance(self.remedy, Advice) else self.remedy
        return f"{text}; {remedy}"

    def __str__(self) -> str:
        """Return the message as Python callers read it."""
        return self.worded()


class ParameterError(NominymError, ValueError):
    """An invalid argument; the message says which values are allowed."""


class DataError(NominymError, ValueError):
    """A table or column that cannot be used as it is."""


class MissingValueError(DataError):
    """Missing values where the caller asked for ``missing="error"``."""


class UnknownColumnError(NominymError, KeyError):
    """A column name that the table does not have."""


class TaxonomyError(NominymError, ValueError):
    """Concepts and links that do not make a taxonomy."""


class CycleError(TaxonomyError):
    """Is-a links that form a cycle; the message prints the cycle."""


class RootError(TaxonomyError):
    """Several concepts without a parent; the message lists them."""


class FormatError(TaxonomyError):
    """A file that is not what its format says; the message names file and line."""


class UnknownConceptError(NominymError, KeyError):
    """Values that are no concept of the taxonomy; the message lists and counts them."""


class AmbiguousConceptError(UnknownConceptError):
    """Values that name several concepts; the message lists the ids to choose from."""


class SizeError(NominymError, ValueError, MemoryError):
    """A result that would not fit into memory; the message says what it needs and what is free."""


class MissingExtraError(NominymError, ValueError):
    """An optional package is not installed; the message says how to get it."""


class AbsentFileError(NominymError, FileNotFoundError):
    """A file that should give the meaning of values does not exist."""


class CutShortError(NominymError, OSError):
    """A publication that currently can be neither finished nor undone; the message says what to do."""


class InternalError(NominymError, ValueError):
    """A defect in nominym itself; please report it."""


class PrivacyWarning(UserWarning):
    """A use that weakens the guarantee of a method; the message says what to do instead."""


class SeedWarning(PrivacyWarning):
    """A result was made with a seed, so it guarantees nothing. Studies may ignore this warning."""


class MeaningWarning(UserWarning):
    """Values that can be read but look as if they meant something else; the message says what."""


class RecoveryWarning(UserWarning):
    """An interrupted publication has been finished or undone; the message says which."""


def warn(message: str, category: type[Warning] = PrivacyWarning) -> None:
    """Warn with the line of the caller's code, however deep in this library the cause is noticed."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "nominym":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def no_column(name: Any, known: Any, where: str = "") -> UnknownColumnError:
    """Return the error for a column that a table does not have.

    >>> raise no_column("agee", ["age", "sex"])
    Traceback (most recent call last):
    nominym.error.UnknownColumnError: there is no column 'agee'; there are 'age', 'sex'
    """
    names = list(known)
    there = f" in the table {where}" if where else ""
    comment = bool(where and names) and str(names[0]).startswith("#")
    return UnknownColumnError(
        f"there is no column {name!r}{there}; there are {', '.join(map(repr, names))}",
        remedy=Advice("skip comment lines with {}", comment="#") if comment else None,
    )


def listed(names: Sequence[Any], most: int = 10) -> str:
    """List names for a message."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, islice(names, most))) + more
