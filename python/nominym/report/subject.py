"""The subject of a report: a release, how it was made, and, for its owner, the original."""

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
    """A released table, and the original if the owner asks."""

    subject: Result | FilePair
    method: Method | None
    params: Mapping[str, Any]
    summary: Mapping[str, Any]
    seeded: bool

    @classmethod
    def of(cls, subject: Any) -> MaskedTable:
        """Return the subject for the result of a method or for compared files; anything else is an error."""
        if not isinstance(subject, Result | FilePair):
            raise ParameterError(
                f"a report is about the result of a method, files of a release, or a release of item sets, not about "
                f"a {type(subject).__name__}"
            )
        seeded = subject.params["seeded"] if isinstance(subject, Result) else subject.seeded
        return cls(subject, subject.method, subject.params, subject.summary, seeded)

    @property
    def comparison(self) -> Comparison:
        """Return the comparison of original and release; owner only."""
        if isinstance(self.subject, Result):
            return self.subject.owners("the owner's edition").comparison
        if not self.subject.aligned:
            what = "the owner's edition needs to know which row is whose"
            raise ParameterError(what, remedy="give the owner's record of the release")
        return self.subject.comparison

    @property
    def realised(self) -> Mapping[str, Any]:
        """Return all figures, including those of the draw; owner only."""
        if isinstance(self.subject, Result):
            return self.subject.owners("the owner's edition").summary
        return self.subject.secret_summary or self.summary

    @property
    def groups(self) -> NDArray[np.uint32] | None:
        """Return the group of each record, if there are groups and they are known; owner only."""
        if isinstance(self.subject, Result):
            return self.subject.owners("the owner's edition").groups
        return self.subject.groups

    @property
    def person(self) -> Any:
        """Return the column of the original that identifies persons, if there is one."""
        return self.params.get("person") if isinstance(self.subject, Result) else self.subject.person

    @property
    def guarantee(self) -> Guarantee:
        """Return the guarantee: that of the result, or of the manifest."""
        if isinstance(self.subject, Result):
            return self.subject.guarantee
        if self.seeded:
            return SEEDED
        if self.subject.manifest is None:
            return none("Nothing is guaranteed: there is no manifest that says how the release was made.")
        return self.subject.manifest.statement

    def verify(self, progress: Progress = None) -> Verification | None:
        """Check files against the guarantee of their manifest; None if there are no files, or no guarantee."""
        if isinstance(self.subject, Result) or not self.guarantee:
            return None
        return verify(self.subject, progress)

    @property
    def first(self) -> list[str]:
        """Return the note that comes first, if it applies: that hardly anything changes."""
        figures = [each.get("expected_unchanged", 0.0) for each in self.summary.get("attributes", {}).values()]
        still = bool(figures) and math.fsum(figures) / len(figures) >= HARDLY_ANY
        return list(self.summary.get("notes", []))[:1] if still else []

    @property
    def masked(self) -> list[Any]:
        """Return the columns that were masked."""
        if "columns" in self.params or isinstance(self.subject, Result):
            return list(self.params["columns"])
        return list(self.subject.comparison.changes)

    @property
    def kept(self) -> list[Any]:
        """Return the columns of the release that were not."""
        names = names_of(self.subject.data) if isinstance(self.subject, Result) else self.subject.comparison.shared
        return [name for name in names if name not in self.masked]


@dataclass(frozen=True)
class ItemsetRelease:
    """Published item sets, and the original ones if the owner asks."""

    release: Release
    given: Itemsets | None
    pair: SetsPair | None = None
    """The files, if the subject is files."""

    @classmethod
    def of(cls, subject: Release | SetsPair, sets: Itemsets | None) -> ItemsetRelease:
        """Return the subject for a release, and for the records if they are not in it."""
        release = subject if isinstance(subject, Release) else subject.release
        if sets is None and not isinstance(subject, Release):
            sets = subject.sets
        if sets is not None and not isinstance(sets, Itemsets):
            raise ParameterError(f"give the original Itemsets, not a {type(sets).__name__}", parameter="sets")
        if sets is not None and len(sets) != len(release):
            raise DataError(f"{len(sets):,} records, but {len(release):,} rows; give the records that were recoded")
        return cls(release, sets, None if isinstance(subject, Release) else subject)

    def verify(self, progress: Progress = None) -> Verification | None:
        """Check files against the guarantee of their manifest; None if there are no files, or no guarantee."""
        return None if self.pair is None or not self.release.guarantee else verify(self.pair, progress)

    @property
    def seeded(self) -> bool:
        """Return whether it was made with a seed."""
        return bool(self.release.params.get("seeded"))

    @property
    def sets(self) -> Itemsets:
        """Return the original records; owner only."""
        if self.given is not None:
            return self.given
        if self.release.secret is None:
            raise ParameterError("the owner's edition compares with the original records, which are not in the release",
                                 parameter="sets", value=None, remedy="give them")  # fmt: skip
        return self.release.secret.original

    @property
    def least(self) -> int:
        """Return the least number of rows that a record could be: k, or l."""
        method = self.release.method
        return int(self.release.summary.get("matches", 1)) if method is None else method.least


def options(made: MaskedTable | Release) -> list[tuple[str, str]]:
    """Return the options of the method and their values in readable form."""
    declared = {} if made.method is None else made.method.options()
    said = [
        (option.shown or name, option_value(made.params[name]))
        for name, option in declared.items()
        # What is guaranteed has a place of its own.
        if name in made.params and name != "guarantee" and (option.shown or option.kind in (int, float))
    ]
    return [(name, value) for name, value in said if value]


def are_sets(subject: object) -> TypeGuard[Release | SetsPair]:
    """Return whether a report is about item sets."""
    return isinstance(subject, Release | SetsPair)
