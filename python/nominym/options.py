"""The options of every method, each declared once.

The classes here hold declarations alone. The method objects inherit them and add checks and work, so that the command
line shows its help, and reads TOML files, without loading what masks tables.

>>> list(DECLARED)
['swap', 'aggregate', 'noise', 'data-swap', 'recode']
>>> DECLARED["aggregate"].options()["replace"].choices
('mean', 'subsumer')
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from numbers import Real
from typing import Any, ClassVar, Literal, get_args

from nominym.control import is_whole
from nominym.error import ParameterError

KINDS = {
    int: "a whole number", float: "a number", str: "a text", bool: "true or false", list: "a list of texts",
    dict: "a whole number for each column",
}  # fmt: skip
"""Kinds of options, as named in messages."""


@dataclass(frozen=True)
class Option:
    """The declaration of an option."""

    kind: type
    """int, float, str, bool, list (of texts), or dict (of whole numbers by column)."""
    help: str
    """One line of help for the command line."""
    choices: tuple[str, ...] = ()
    """All allowed values of a text, if they can be listed."""
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """The option applies only if each of these other options has one of these values."""
    least: float | None = None
    """The smallest number allowed; decimal numbers must be above it."""
    shown: str | None = None
    """Its name in reports; by default its own name."""

    def checked(self, name: str, value: Any) -> Any:
        """Return a value of the option ``name``, a plain number for a number of any library; raise if not allowed."""
        if self.kind is bool and not isinstance(value, bool):
            raise ParameterError("give True or False", parameter=name, value=value)
        if self.choices and not (isinstance(value, str) and value in self.choices):
            raise ParameterError(f"give {', '.join(map(repr, self.choices))}", parameter=name, value=value)
        if self.kind is int:
            if not is_whole(value) or (self.least is not None and value < self.least):
                least = "" if self.least is None else f", {self.least:g} or more"
                raise ParameterError(f"give a whole number{least}", parameter=name, value=value)
            return operator.index(value)
        if self.kind is float:
            number = _as_float(value)
            if not math.isfinite(number) or (self.least is not None and not number > self.least):
                above = "" if self.least is None else f" above {self.least:g}"
                raise ParameterError(f"give a number{above}", parameter=name, value=value)
            return value if type(value) in (int, float) else number
        if value is None:
            raise ParameterError(f"{KINDS[self.kind]} is needed", parameter=name, value=None)
        return value


def _as_float(value: Any) -> float:
    """Return a number as a float; not finite if it is not a number, or too large."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def option(kind: type, default: Any, help: str, **more: Any) -> Any:  # noqa: A002
    """Declare a field of a method."""
    # A mapping has no hash: methods that differ in it alone have the same, and are unequal.
    hashed = False if kind is dict else None
    return field(default=default, hash=hashed, metadata={"option": Option(kind, help, **more)})


Missing = Literal["keep", "error"]
"""Values of ``missing=``: leave values missing, or raise."""

ACCEPT = (
    "Kept columns to publish although they may tell rows apart, because nobody can know their values. May be repeated."
)
"""Help of the option ``accept`` of all methods for tables."""

MISSING = "What to do with missing values: keep (default), or error to refuse them."
"""Help of the option ``missing`` of all methods for tables."""


def is_of(kind: type, value: Any) -> bool:
    """Return whether a value read from a file or the command line is of a kind of option."""
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    if kind is list:
        return isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)
    if kind is dict:
        return isinstance(value, Mapping) and all(is_whole(part) for part in value.values())
    return isinstance(value, kind) or (kind is float and isinstance(value, int))


@dataclass(frozen=True, repr=False)
class Options:
    """Options of a method, as fields."""

    command: ClassVar[str]
    """Name of the method on the command line and in files."""

    @classmethod
    def options(cls) -> dict[str, Option]:
        """Return the declarations by name."""
        return dict(_declared(cls))  # type: ignore[arg-type]  # a class has a hash

    @classmethod
    def default(cls, name: str) -> Any:
        """Return the default of an option."""
        return _defaults(cls)[name]  # type: ignore[arg-type]


# Methods are made over and over, in sweeps and studies; what they declare is read once.
@cache
def _declared(method: type[Options]) -> dict[str, Option]:
    return {each.name: each.metadata["option"] for each in fields(method) if "option" in each.metadata}


@cache
def _defaults(method: type[Options]) -> dict[str, Any]:
    return {each.name: each.default for each in fields(method)}


# ---- rank swapping

Published = Literal["fixed", "dynamic", "records", "random", "distributional", "numerical"]
GuaranteeName = Literal["strict", "published"]
Draw = Literal["independent", "joint"]
_ALONG_A_RANKING = ("fixed", "distributional", "numerical")


@dataclass(frozen=True, repr=False)
class RankSwapOptions(Options):
    """Options of rank swapping; ``nominym.rank_swap`` explains them."""

    command: ClassVar[str] = "swap"

    k: int | None = option(int, None, "Smallest size of a group; with --method, number of candidates of a value.",
                           least=1)  # fmt: skip
    p: float | None = option(float, None, "Instead of k, percent of the records (fixed, distributional, numerical).",
                             least=0, only={"method": _ALONG_A_RANKING}, shown="p, percent of records")  # fmt: skip
    method: Published | None = option(str, None, "A published method: its protection is measured, not guaranteed.",
                                      choices=get_args(Published), shown="Published method")  # fmt: skip
    guarantee: GuaranteeName | None = option(str, None, "strict (default): at most 1/k; published: none, which "
                                                        "--method implies.",
                                             choices=("strict", "published"), shown="Guarantee")  # fmt: skip
    draw: Draw = option(str, "independent", "With strict: permute each column by itself (independent), or "
                                            "whole tuples (joint).",
                        choices=("independent", "joint"), only={"guarantee": ("strict",)},
                        shown="Draw within groups")  # fmt: skip
    anneal: bool = option(bool, False, "With strict: search longer for better groups.",
                          only={"guarantee": ("strict",)}, shown="Longer search for groups")  # fmt: skip
    measure: Any = option(str, "wu-palmer", "Semantic distance for taxonomies.",
                                    shown="Semantic distance")  # fmt: skip
    roots: Mapping[Any, object] | None = field(default=None, hash=False)
    correlations: bool = option(bool, False, "Compare distance correlations before and after masking, for the owner.")
    missing: Missing = option(str, "keep", MISSING, choices=("keep", "error"),
                              shown="Missing values")  # fmt: skip
    person: Any = option(str, None, "With strict: column that identifies the person of each record, so that k counts "
                                    "persons; dropped.", only={"guarantee": ("strict",)},
                         shown="k counts persons, by column")  # fmt: skip
    sensitive: Mapping[Any, int] | None = option(
        dict, None, "With strict: kept column and its l, such as hiv=3: no value is on more than 1/l of a group. May "
                    "be repeated.",
        only={"guarantee": ("strict",)}, shown="Sensitive columns, and l")  # fmt: skip
    accept: Any = option(list, (), ACCEPT, shown="Accepted kept columns")


# ---- microaggregation

Replace = Literal["mean", "subsumer"]


@dataclass(frozen=True, repr=False)
class MicroaggregateOptions(Options):
    """Options of microaggregation; ``nominym.microaggregate`` explains them."""

    command: ClassVar[str] = "aggregate"

    k: int | None = option(int, None, "Smallest size of a group.", least=1)
    replace: Replace = option(str, "mean", "Value published for a group: the mean of its values, or what all of them "
                                           "have in common (subsumer).", choices=("mean", "subsumer"),
                              shown="Value of a group")  # fmt: skip
    anneal: bool = option(bool, False, "Search longer for better groups.", shown="Longer search for groups")
    measure: Any = option(str, "wu-palmer", "Semantic distance for taxonomies.",
                                    shown="Semantic distance")  # fmt: skip
    roots: Mapping[Any, object] | None = field(default=None, hash=False)
    correlations: bool = option(bool, False, "Compare distance correlations before and after masking, for the owner.")
    missing: Missing = option(str, "keep", MISSING, choices=("keep", "error"),
                              shown="Missing values")  # fmt: skip
    person: Any = option(str, None, "Column that identifies the person of each record, so that k counts persons; "
                                    "dropped.",
                         shown="k counts persons, by column")  # fmt: skip
    sensitive: Mapping[Any, int] | None = option(
        dict, None, "Kept column and its l, such as hiv=3: no value is on more than 1/l of a group. May be repeated.",
        shown="Sensitive columns, and l")  # fmt: skip
    accept: Any = option(list, (), ACCEPT, shown="Accepted kept columns")


# ---- semantic noise

Algorithm = Literal["semantic", "exponential", "naive", "probabilistic"]
Reference = Literal["mean", "pair", "root"]
Law = Literal["normal", "laplace"]
Pairs = Sequence[tuple[Any, Any]]

_SEMANTIC = {"method": ("semantic",)}


@dataclass(frozen=True, repr=False)
class NoiseOptions(Options):
    """Options of semantic noise; ``nominym.add_noise`` explains them."""

    command: ClassVar[str] = "noise"

    alpha: float | None = option(float, None, "Amount of noise: variance of errors relative to that of the column.",
                                 least=0, only=_SEMANTIC, shown="α, noise relative to the variance")  # fmt: skip
    correlated: bool = option(bool, True, "Correlate the errors of a record like its columns.",
                              only=_SEMANTIC, shown="Errors correlated as the columns")  # fmt: skip
    reference: Reference = option(str, "mean", "Reference that errors move values away from, or towards.",
                                  choices=("mean", "pair", "root"), only=_SEMANTIC,
                                  shown="Reference of errors")  # fmt: skip
    law: Law = option(str, "normal", "Distribution of errors.", choices=("normal", "laplace"),
                      only=_SEMANTIC, shown="Law of errors")  # fmt: skip
    method: Algorithm = option(str, "semantic", "Semantic noise, the exponential mechanism, or a baseline.",
                               choices=("semantic", "exponential", "naive", "probabilistic"),
                               shown="Method")  # fmt: skip
    epsilon: float | None = option(float, None, "For exponential: privacy budget spent on each value.", least=0,
                                   only={"method": ("exponential",)}, shown="ε, spent on each value")  # fmt: skip
    pairs: Pairs | None = field(default=None)
    roots: Mapping[Any, object] | None = field(default=None, hash=False)
    measure: Any = option(str, "wu-palmer", "Semantic distance for taxonomies, within [0, 1].",
                                    shown="Semantic distance")  # fmt: skip
    correlations: bool = option(bool, False, "Compare distance correlations before and after masking, for the owner.")
    moments: bool = option(bool, True, "Compare means and variances before and after masking, for the owner.")
    missing: Missing = option(str, "keep", MISSING, choices=("keep", "error"),
                              shown="Missing values")  # fmt: skip
    accept: Any = option(list, (), ACCEPT, shown="Accepted kept columns")


# ---- data swapping

Mode = Literal["simultaneous", "sequential"]


@dataclass(frozen=True, repr=False)
class DataSwapOptions(Options):
    """Options of data swapping; ``nominym.data_swap`` explains them."""

    command: ClassVar[str] = "data-swap"

    rate: float = option(float, 0.05, "Share of records in a pair, from 0 to 1.",
                         least=0, shown="Rate, share of records in a pair")  # fmt: skip
    equal: Any = option(list, (), "Columns in which pairs agree. May be repeated.", shown="Equal within pairs")
    unequal: Any = option(list, (), "Columns in which pairs differ. May be repeated.", shown="Different within pairs")
    true_swaps: bool = option(bool, False, "Draw only pairs whose values differ.",
                              shown="Only swaps that change something")  # fmt: skip
    mode: Mode = option(str, "simultaneous", "Swap columns together, or one after another.",
                        choices=("simultaneous", "sequential"), shown="Swapped columns")  # fmt: skip
    strict_rate: bool = option(bool, False, "Raise an error if there are too few feasible pairs.")
    missing: Missing = option(str, "keep", MISSING, choices=("keep", "error"),
                              shown="Missing values")  # fmt: skip
    accept: Any = option(list, (), ACCEPT, shown="Accepted kept columns")


# ---- recoding of item sets

Structure = Literal["groups", "ring", "cahd"]
OrderName = Literal["gray", "gray-tsp", "best", "tree"]
RingMethod = Literal["split", "augment", "closed-walk", "wmc"]
Effort = Literal["none", "usual", "long"]
Insiders = Literal["refused", "accepted"]

SEGMENT = (300, 350)
"""Sizes of segments, as in the paper."""


@dataclass(frozen=True, repr=False)
class RecodeOptions(Options):
    """Options of recoding; ``nominym.recode`` explains them."""

    command: ClassVar[str] = "recode"

    k: int | None = option(int, None, "Number of rows that a record may be.", least=2,
                           shown="k, rows that a record may be")  # fmt: skip
    l: int | None = option(int, None, "Instead of k: number of sensitive labels of a group.", least=1,  # noqa: E741
                           shown="l, sensitive labels")  # fmt: skip
    structure: Structure = option(str, "groups", "How records are matched with rows: groups (default), ring (as "
                                                 "published), cahd (baseline).",
                                  choices=get_args(Structure), shown="Structure")  # fmt: skip
    order: Any = option(str, None, "Order of records: tree (default for groups), gray-tsp (default otherwise), gray, "
                                   "best.",
                        shown="Order of the records")  # fmt: skip
    method: RingMethod | None = option(str, None, "How to draw from a ring: split (default), augment, closed-walk, "
                                                  "wmc.",
                                       choices=get_args(RingMethod), only={"structure": ("ring",)},
                                       shown="Draw of the assignment")  # fmt: skip
    segment: tuple[int, int] = field(default=SEGMENT)
    effort: Effort = option(str, "usual", "How hard to search for better groups.", choices=get_args(Effort),
                            only={"structure": ("groups",)}, shown="Search for groups")  # fmt: skip
    limit: float | None = option(float, None, "Time limit of the search for better groups, in seconds.", least=0,
                                 only={"structure": ("groups",)}, shown="Limit of the search, seconds")  # fmt: skip
    insiders: Insiders = option(str, "refused", "Whether to accept that insiders of a ring learn about others from "
                                                "their own rows.",
                                choices=get_args(Insiders), only={"structure": ("ring",)},
                                shown="Insiders of a ring")  # fmt: skip
    taxonomy: Any = field(default=None)


DECLARED: Mapping[str, type[Options]] = {
    each.command: each
    for each in (RankSwapOptions, MicroaggregateOptions, NoiseOptions, DataSwapOptions, RecodeOptions)
}
"""All declarations by the name of the command."""
