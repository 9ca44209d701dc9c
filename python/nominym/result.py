"""What a masking method returns: a public side, which may be published, and the owner's side, which may not."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

from nominym.error import ParameterError, PrivacyWarning
from nominym.method import Method
from nominym.table import Comparison, Table, as_table

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from nominym.control import Progress


class OwnersOnly:
    """What only the owner of the data may know. It is not shown, not pickled, and in no file that was not asked for."""

    def __repr__(self) -> str:
        """Show nothing."""
        return f"<{type(self).__name__}: for the owner only>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError("what only the owner may know is not pickled; keep it in memory, or save its parts on purpose")


@dataclass(frozen=True, eq=False, repr=False)
class Secret(OwnersOnly):
    """The owner's side of a result."""

    measure: Callable[[], dict[str, Any]]
    """Measures what this draw realised, when it is asked for."""
    comparison: Comparison
    """The original beside the masked table, coded."""
    seed: int | None = None
    """The seed, if one was given: whoever has it can repeat every draw."""
    groups: NDArray[np.uint32] | None = None
    """The group of each record, where the method forms groups."""
    pairs: dict[tuple[Any, ...], NDArray[np.uint32]] | None = None
    """For data swapping, by the columns that were swapped together, the row numbers of the pairs, one pair a row."""

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All figures, those that this draw realised too. They would help to undo it."""
        return self.measure()


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A masked table, how it was made, and what was achieved. Pickling and copying leave out the owner's side."""

    data: Any
    """The masked table: same type, columns, index and row order as the one given. The one given is untouched."""
    method: Method
    """The method that made it."""
    params: dict[str, Any]
    """How it was made; never the seed."""
    summary: dict[str, Any]
    """What was achieved, in figures that do not depend on the draw."""
    secret: Secret | None = field(default=None)
    """The owner's side. Never publish it."""

    def __repr__(self) -> str:
        """Name method and size; data and secrets are not shown."""
        return f"<Result of {self.method!r}: {self.summary.get('records', 0):,} records>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the public side."""
        return {**self.__dict__, "secret": None}

    def linkage(
        self,
        known: Any = None,
        *,
        k: int | None = None,
        sample: Any = "auto",
        seed: int | None = None,
        progress: Progress = None,
    ) -> Any:
        """Attack the release by record linkage; owner only. See ``nominym.risk.linkage``.

        ``k`` is by default that of the method.
        """
        from nominym import risk

        least = getattr(self.method, "k", None) if k is None else k
        comparison = self.owners("linkage()").comparison
        return risk.link(comparison, known, k=least, sample=sample, seed=seed, progress=progress)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        edition: str = "publication",
        k: int | None = None,
        sweep: Mapping[str, Iterable[float]] | None = None,
        title: str | None = None,
        overwrite: bool = False,
        progress: Progress = None,
    ) -> Path:
        """Write a report of the release; see ``nominym.report.write``."""
        from nominym import report

        return report.write(
            path, self, edition=edition, k=k, sweep=sweep, title=title, overwrite=overwrite, progress=progress
        )

    def owners(self, what: str) -> Secret:
        """Return the owner's side, or explain why there is none."""
        if self.secret is None:
            raise ParameterError(f"{what} compares with the original; only the owner's result has it")
        return self.secret


def source_of(frame: Any, *, strict: bool) -> tuple[Table, list[str]]:
    """Return the table to mask; a result that is masked again gets a warning.

    Each call has groups of its own. A row that shows values from two partitions has fewer possible owners than a group
    has members, down to one; so attributes that are released together have to be masked together.
    """
    if not isinstance(frame, Result):
        return as_table(frame), []
    done = sorted(map(str, frame.params.get("columns", ())))
    message = (
        f"{', '.join(done)} of this table: masked in an earlier call. Separate calls have separate groups, and no "
        "guarantee holds for both together; mask all columns in one call"
    )
    if strict or frame.method.bound is not None:
        warnings.warn(message, PrivacyWarning, stacklevel=4)
    return Table(frame.data), [message]
