"""What a report is about: a release, how it was made, and, for its owner, the original beside it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from nominym.control import Progress
from nominym.error import DataError, ParameterError
from nominym.guarantee import SEEDED, Guarantee, none
from nominym.itemsets import Itemsets, Release
from nominym.method import Method, Result
from nominym.release import FilePair, SetsPair, Verification, verify
from nominym.report.words import option_value
from nominym.swap.rank import HARDLY_ANY
from nominym.table import Comparison, names_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class MaskedTable:
    """A released table, and the original beside it where the owner asks."""

    subject: Result | FilePair
    method: Method | None
    params: Mapping[str, Any]
    summary: Mapping[str, Any]
    seeded: bool

    @classmethod
    def of(cls, subject: Any) -> MaskedTable:
        """Take what a method returned, or files that were compared; anything else is an error."""
        if not isinstance(subject, Result | FilePair):
            raise ParameterError(
                "a report is about what a method returned, files of a release, or a release of item sets, "
                f"not about a {type(subject).__name__}"
            )
        seeded = subject.params["seeded"] if isinstance(subject, Result) else subject.seeded
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
    def groups(self) -> NDArray[np.uint32] | None:
        """The group of each record, where there are groups and they are known; the owner's."""
        if isinstance(self.subject, Result):
            return self.subject.owners("the owner's edition").groups
        return self.subject.groups

    @property
    def person(self) -> Any:
        """The column of the original that tells persons, if there is one."""
        return self.params.get("person") if isinstance(self.subject, Result) else self.subject.person

    @property
    def guarantee(self) -> Guarantee:
        """What is guaranteed: by what a method returned, or by the manifest of files."""
        if isinstance(self.subject, Result):
            return self.subject.guarantee
        if self.seeded:
            return SEEDED
        if self.subject.manifest is None:
            return none("Nothing is guaranteed: there is no manifest that says how the release was made.")
        return self.subject.manifest.statement

    def verify(self, progress: Progress = None) -> Verification | None:
        """Check files against what their manifest guarantees; None where there are no files, or no guarantee."""
        if isinstance(self.subject, Result) or not self.guarantee:
            return None
        return verify(self.subject, progress)

    @property
    def first(self) -> list[str]:
        """What comes before anything else, if it is so: that hardly anything changes."""
        figures = [each.get("expected_unchanged", 0.0) for each in self.summary.get("attributes", {}).values()]
        still = bool(figures) and math.fsum(figures) / len(figures) >= HARDLY_ANY
        return list(self.summary.get("notes", []))[:1] if still else []

    @property
    def masked(self) -> list[Any]:
        """Columns that were masked."""
        if "columns" in self.params or isinstance(self.subject, Result):
            return list(self.params["columns"])
        return list(self.subject.comparison.changes)

    @property
    def kept(self) -> list[Any]:
        """Columns of the release that were not."""
        names = names_of(self.subject.data) if isinstance(self.subject, Result) else self.subject.comparison.shared
        return [name for name in names if name not in self.masked]


@dataclass(frozen=True)
class ItemsetRelease:
    """Published item sets, and the original ones where the owner asks."""

    release: Release
    given: Itemsets | None
    pair: SetsPair | None = None
    """The files, where it is about files."""

    @classmethod
    def of(cls, subject: Release | SetsPair, sets: Itemsets | None) -> ItemsetRelease:
        """Take a release, and the records where they are not in it."""
        release = subject if isinstance(subject, Release) else subject.release
        if sets is None and not isinstance(subject, Release):
            sets = subject.sets
        if sets is not None and not isinstance(sets, Itemsets):
            raise ParameterError(f"give the original Itemsets, not a {type(sets).__name__}", parameter="sets")
        if sets is not None and len(sets) != len(release):
            raise DataError(f"{len(sets):,} records, but {len(release):,} rows; give the records that were recoded")
        return cls(release, sets, None if isinstance(subject, Release) else subject)

    def verify(self, progress: Progress = None) -> Verification | None:
        """Check files against what their manifest guarantees; None where there are no files, or no guarantee."""
        return None if self.pair is None or not self.release.guarantee else verify(self.pair, progress)

    @property
    def seeded(self) -> bool:
        """Whether it was made with a seed."""
        return bool(self.release.params.get("seeded"))

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


def options(made: MaskedTable | Release) -> list[tuple[str, str]]:
    """List the options of the method and their values, as people read them."""
    declared = {} if made.method is None else made.method.options()
    said = [
        (option.shown or name, option_value(made.params[name]))
        for name, option in declared.items()
        # What is guaranteed has a place of its own.
        if name in made.params and name != "guarantee" and (option.shown or option.kind in (int, float))
    ]
    return [(name, value) for name, value in said if value]


def are_sets(subject: object) -> TypeGuard[Release | SetsPair]:
    """Tell whether a report is about item sets."""
    return isinstance(subject, Release | SetsPair)
