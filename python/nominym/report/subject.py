"""What a report is about: a release, how it was made, and, for its owner, the original beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from nominym.error import DataError, ParameterError
from nominym.itemsets import Itemsets, Release
from nominym.method import Method, Result
from nominym.report.words import option_value
from nominym.table import Comparison, Table


class ComparedFiles(Protocol):
    """A released file beside its original, as ``nominym.release`` reads them."""

    @property
    def method(self) -> Method | None:
        """The method that made the release, where its manifest says so."""

    @property
    def params(self) -> Mapping[str, Any]:
        """How it was made."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """What was achieved, in figures that do not depend on the draw."""

    @property
    def secret_summary(self) -> Mapping[str, Any] | None:
        """All figures, where the owner has a record of them."""

    @property
    def seeded(self) -> bool:
        """Whether it was made with a seed."""

    @property
    def aligned(self) -> bool:
        """Whether it is known which row is whose."""

    @property
    def comparison(self) -> Comparison:
        """Both tables, coded; row by row the same records, if ``aligned``."""


class ComparedSets(Protocol):
    """A release of item sets beside the original records, as ``nominym.release`` reads them."""

    @property
    def sets(self) -> Itemsets:
        """The original records."""

    @property
    def release(self) -> Release:
        """What was published of them."""

    @property
    def manifest(self) -> Any:
        """What stands beside the release, or None; it has ``seeded``."""


@dataclass(frozen=True)
class MaskedTable:
    """A released table, and the original beside it where the owner asks."""

    subject: Result | ComparedFiles
    method: Method | None
    params: Mapping[str, Any]
    summary: Mapping[str, Any]
    seeded: bool

    @classmethod
    def of(cls, subject: Any) -> MaskedTable:
        """Take what a method returned, or files that were compared; anything else is an error."""
        if isinstance(subject, Result):
            seeded = subject.params["seeded"]
        elif hasattr(subject, "secret_summary"):
            seeded = subject.seeded
        else:
            raise ParameterError(
                "a report is about what a method returned, files of a release, or a release of item sets, "
                f"not about a {type(subject).__name__}"
            )
        return cls(subject, subject.method, subject.params, subject.summary, seeded)

    @property
    def comparison(self) -> Comparison:
        """The original beside the release; the owner's."""
        if isinstance(self.subject, Result):
            return self.subject.owners("the owner's edition").comparison
        if not self.subject.aligned:
            what = "the owner's edition needs to know which row is whose"
            raise ParameterError(what, remedy="give the owner's record of the release")
        return self.subject.comparison

    @property
    def realised(self) -> Mapping[str, Any]:
        """All figures, those of the draw too; the owner's."""
        if isinstance(self.subject, Result):
            return self.subject.owners("the owner's edition").summary
        return self.subject.secret_summary or self.summary

    @property
    def masked(self) -> list[Any]:
        """Columns that were masked."""
        if "columns" in self.params or isinstance(self.subject, Result):
            return list(self.params["columns"])
        return list(self.subject.comparison.changes)

    @property
    def kept(self) -> list[Any]:
        """Columns of the release that were not."""
        names = Table(self.subject.data).names if isinstance(self.subject, Result) else self.subject.comparison.shared
        return [name for name in names if name not in self.masked]

    @property
    def options(self) -> list[tuple[str, str]]:
        """The options of the method and their values, as people read them."""
        return _options(self.method, self.params)


@dataclass(frozen=True)
class ItemsetRelease:
    """Published item sets, and the original ones where the owner asks."""

    release: Release
    given: Itemsets | None
    labels: Any
    seeded: bool

    @classmethod
    def of(cls, subject: Release | ComparedSets, sets: Itemsets | None, labels: Any) -> ItemsetRelease:
        """Take a release, and the records where they are not in it."""
        if isinstance(subject, Release):
            release = subject
        else:
            release = subject.release
            sets = subject.sets if sets is None else sets
        if sets is not None and not isinstance(sets, Itemsets):
            raise ParameterError(f"give the original Itemsets, not a {type(sets).__name__}", parameter="sets")
        if sets is not None and len(sets) != len(release):
            raise DataError(f"{len(sets):,} records, but {len(release):,} rows; give the records that were recoded")
        return cls(release, sets, labels, release.params.get("seeded", False))

    @property
    def sets(self) -> Itemsets:
        """The original records; the owner's."""
        if self.given is not None:
            return self.given
        if self.release.secret is None:
            raise ParameterError("the owner's edition compares with the original records, which are not in the release",
                                 parameter="sets", value=None, remedy="give them")  # fmt: skip
        return self.release.secret.original

    @property
    def least(self) -> int:
        """Rows that a record could be, at least: k, or l."""
        method = self.release.method
        return int(self.release.summary.get("matches", 1)) if method is None else method.least

    @property
    def options(self) -> list[tuple[str, str]]:
        """The options of the method and their values, as people read them."""
        return _options(self.release.method, self.release.params)


def _options(method: Method | None, params: Mapping[str, Any]) -> list[tuple[str, str]]:
    declared = {} if method is None else method.options()
    said = [
        (option.shown or name, option_value(params[name]))
        for name, option in declared.items()
        if name in params and (option.shown or option.kind in (int, float))
    ]
    return [(name, value) for name, value in said if value]


def are_sets(subject: object) -> TypeGuard[Release | ComparedSets]:
    """Tell whether a report is about item sets."""
    return isinstance(subject, Release) or isinstance(getattr(subject, "release", None), Release)
