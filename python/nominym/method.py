"""Methods as values: frozen, comparable, printable, and declared once.

A method is a frozen dataclass whose fields are made by ``option``. From these declarations come its checks, its text as
code, the options of the command line, the keys of a TOML file, and what a result says about how it was made.
"""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from numbers import Real
from typing import Any, ClassVar, TypeVar

from nominym._core import __version__
from nominym.error import ParameterError, as_argument
from nominym.rng import is_whole

Self = TypeVar("Self", bound="Method")

_KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", list: "a list of texts"}


@dataclass(frozen=True)
class Option:
    """The declaration of an option."""

    kind: type
    """int, float, str, bool, or list (of texts)."""
    help: str
    """One line for the command line."""
    choices: tuple[str, ...] = ()
    """All values of a text, where they can be listed."""
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """The option plays a part only where each of these other options has one of these values."""
    least: float | None = None
    """The smallest number allowed; numbers with decimal places have to be above it."""
    shown: str | None = None
    """How reports call it; by default its name."""


def option(kind: type, default: Any, help: str, **more: Any) -> Any:  # noqa: A002
    """Declare a field of a method."""
    return field(default=default, metadata={"option": Option(kind, help, **more)})


@dataclass(frozen=True, repr=False)
class Method:
    """A method with its options. Subclasses declare the options and have ``apply``."""

    command: ClassVar[str]
    """Name on the command line and in files."""
    implied: ClassVar[tuple[str, ...]] = ()
    """Options that follow from others, so that the method as code leaves them out."""

    @classmethod
    def options(cls) -> dict[str, Option]:
        """List the declarations by name."""
        return {each.name: each.metadata["option"] for each in fields(cls) if "option" in each.metadata}

    @classmethod
    def default(cls, name: str) -> Any:
        """Return what an option is when nobody says."""
        return next(each.default for each in fields(cls) if each.name == name)

    @classmethod
    def from_options(cls: type[Self], given: Mapping[str, Any]) -> Self:
        """Make a method from what a file or a command line says; unknown names and wrong types are errors.

        >>> from nominym import RankSwap
        >>> RankSwap.from_options({"k": 10, "anneal": True})
        RankSwap(k=10, anneal=True)
        >>> RankSwap.from_options({"aneal": True})
        Traceback (most recent call last):
        nominym.error.ParameterError: there is no option 'aneal'; did you mean 'anneal'?
        """
        known = cls.options()
        more = [each.name for each in fields(cls)]
        for name, value in given.items():
            if name in known:
                if not _is_of(known[name].kind, value):
                    raise ParameterError(f"{_KINDS[known[name].kind]} is needed", parameter=name, value=value)
            elif name not in more:
                close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
                hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"
                raise ParameterError(f"there is no option {name!r}{hint}")
        return cls(**given)

    def check_values(self) -> None:
        """Check every option by itself, and keep numbers of any library as plain ones."""
        for name, declared in self.options().items():
            value = getattr(self, name)
            if value is not None or self.default(name) is not None:
                object.__setattr__(self, name, _checked(name, value, declared))

    def check_options(self) -> None:
        """Check every option by itself and beside the others."""
        self.check_values()
        for name, declared in self.options().items():
            value = getattr(self, name)
            if not self.has_part(name) and value != self.default(name):
                allowed = "; ".join(
                    f"{other} is {' or '.join(map(repr, values))}" for other, values in declared.only.items()
                )
                raise ParameterError(f"it plays a part only where {allowed}", parameter=name, value=value)

    def has_part(self, name: str) -> bool:
        """Tell whether an option plays a part beside the others."""
        return all(getattr(self, other) in values for other, values in self.options()[name].only.items())

    @property
    def bound(self) -> float | None:
        """The re-identification probability that the method guarantees not to exceed; None where it guarantees none."""
        return None

    def params(self) -> dict[str, Any]:
        """List the options that play a part, for the record of a result."""
        given = {name: getattr(self, name) for name in self.options() if self.has_part(name)}
        return {name: value for name, value in given.items() if value is not None}

    def __repr__(self) -> str:
        """Return the code that makes the method again."""
        said = []
        for each in fields(self):
            value = getattr(self, each.name)
            default = each.default if each.default is not MISSING else None
            if value != default and each.name not in self.implied:
                said.append(as_argument(each.name, value))
        return f"{type(self).__name__}({', '.join(said)})"


def made_with(seed: int | None) -> dict[str, Any]:
    """Return what the record of a result says of how it was drawn: never the seed, but whether there was one."""
    return {"seeded": seed is not None, "version": __version__}


def _is_of(kind: type, value: Any) -> bool:
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind is list:
        return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)
    return isinstance(value, kind) or (kind is float and isinstance(value, int))


def _checked(name: str, value: Any, declared: Option) -> Any:
    if declared.kind is bool and not isinstance(value, bool):
        raise ParameterError("give True or False", parameter=name, value=value)
    if declared.choices and not (isinstance(value, str) and value in declared.choices):
        raise ParameterError(f"give {', '.join(map(repr, declared.choices))}", parameter=name, value=value)
    if declared.kind is int:
        if not is_whole(value) or (declared.least is not None and value < declared.least):
            least = "" if declared.least is None else f", {declared.least:g} or more"
            raise ParameterError(f"give a whole number{least}", parameter=name, value=value)
        return operator.index(value)
    if declared.kind is float:
        number = _as_float(value)
        if not math.isfinite(number) or (declared.least is not None and not number > declared.least):
            above = "" if declared.least is None else f" above {declared.least:g}"
            raise ParameterError(f"give a number{above}", parameter=name, value=value)
        return value if type(value) in (int, float) else number
    if value is None:
        raise ParameterError(f"{_KINDS[declared.kind]} is needed", parameter=name, value=None)
    return value


def _as_float(value: Any) -> float:
    """Return a number as a float; what is none, or too large, is not finite."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf
