"""Methods as values, and what they return.

A method is a frozen dataclass whose fields are declared in ``nominym.options``. From these declarations come its
checks, its text as code, the options of the command line, the keys of a TOML file, and what a result says about how it
was made. A result has a public side, which may be published, and the owner's side, which may not.
"""

from __future__ import annotations

import difflib
import operator
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from nominym import chart
from nominym._core import __version__
from nominym.error import ParameterError, PrivacyWarning, SeedWarning, as_argument, warn
from nominym.guarantee import SEEDED, Guarantee, none
from nominym.options import KINDS, Options, is_of
from nominym.table import Change, Comparison, Table, as_table, names_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray


Self = TypeVar("Self", bound="Method")


@dataclass(frozen=True, repr=False)
class Method(Options):
    """A method and its options. Subclasses declare the options and define ``apply``."""

    implied: ClassVar[tuple[str, ...]] = ()
    """Options that follow from others and are left out of the representation as code."""

    @classmethod
    def from_options(cls: type[Self], given: Mapping[str, Any]) -> Self:
        """Make a method from the options of a file or a command line; unknown names and wrong types are errors.

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
                if not is_of(known[name].kind, value):
                    raise ParameterError(f"{KINDS[known[name].kind]} is needed", parameter=name, value=value)
            elif name not in more:
                close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
                hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(known)}"
                raise ParameterError(f"there is no option {name!r}{hint}")
        return cls(**given)

    def check_values(self) -> None:
        """Check every option by itself, and convert numbers of any library to plain ones."""
        for name, declared in self.options().items():
            value = getattr(self, name)
            if value is not None or self.default(name) is not None:
                object.__setattr__(self, name, declared.checked(name, value))

    def check_options(self) -> None:
        """Check every option by itself and in combination with the others."""
        self.check_values()
        for name, declared in self.options().items():
            value = getattr(self, name)
            if not self.has_part(name) and value != self.default(name):
                allowed = "; ".join(
                    f"{other} is {' or '.join(map(repr, values))}" for other, values in declared.only.items()
                )
                raise ParameterError(f"it applies only where {allowed}", parameter=name, value=value)

    def check_roots(self) -> None:
        """Copy the roots of columns, so that the method cannot change."""
        roots = getattr(self, "roots", None)
        if roots is not None and not isinstance(roots, Mapping):
            raise ParameterError("give a mapping from column names to concepts", parameter="roots", value=roots)
        object.__setattr__(self, "roots", None if roots is None else dict(roots))

    def check_accept(self) -> None:
        """Store the names of accepted columns as a tuple; a single name is allowed too."""
        given = getattr(self, "accept", ())
        names = (given,) if isinstance(given, str) else given
        listed = isinstance(names, Sequence) and not isinstance(names, bytes)
        if not listed or not all(isinstance(name, Hashable) for name in names):
            raise ParameterError("give a list of column names", parameter="accept", value=given)
        object.__setattr__(self, "accept", tuple(names))

    def has_part(self, name: str) -> bool:
        """Return whether an option applies, given the others."""
        return all(getattr(self, other) in values for other, values in self.options()[name].only.items())

    @property
    def bound(self) -> float | None:
        """Return the guaranteed bound on the re-identification probability; None if there is none."""
        return None

    @property
    def grouped(self) -> bool:
        """Return whether the method forms groups of the records of a table, and checks kept columns itself."""
        return False

    def statement(
        self,
        masked: Sequence[Any],
        kept: Sequence[Any] = (),
        *,
        seeded: bool = False,
        roots: Mapping[Any, Any] | None = None,
    ) -> Guarantee:
        """State the guarantee of a release with given masked and kept columns.

        ``roots`` are the roots in effect by masked column, None for one whose meaning has none.
        """
        return SEEDED if seeded else self._statement(masked, kept, roots or {})

    def _statement(self, masked: Sequence[Any], kept: Sequence[Any], roots: Mapping[Any, Any]) -> Guarantee:
        return none(
            "No re-identification probability is guaranteed by this method. The risk of a release can only be "
            "measured, by attacks; a stronger attack may find more."
        )

    def params(self) -> dict[str, Any]:
        """Return the options in effect, for the record of a result."""
        given = {name: getattr(self, name) for name in self.options() if self.has_part(name)}
        return {name: value for name, value in given.items() if value is not None and (name, value) != ("accept", ())}

    def __repr__(self) -> str:
        """Return the code that creates the method."""
        said = []
        for each in fields(self):
            value = getattr(self, each.name)
            default = each.default if each.default is not MISSING else None
            if value != default and each.name not in self.implied:
                said.append(as_argument(each.name, value))
        return f"{type(self).__name__}({', '.join(said)})"


def made_with(seed: int | None) -> dict[str, Any]:
    """Return how a result was drawn, for its record: never the seed, but whether there was one."""
    if seed is not None:
        what = (
            "made with a seed, for studies: anyone who has or guesses it can repeat the draw, so nothing is guaranteed"
        )
        warn(f"{what}; for a release, give none", SeedWarning)
    return {"seeded": seed is not None, "version": __version__}


def finish(
    method: Method,
    table: Table,
    changes: Mapping[Any, Change],
    summary: dict[str, Any],
    measure: Callable[[], dict[str, Any]],
    seed: int | None,
    *,
    moved: bool = False,
    dropped: Sequence[Any] = (),
    retyped: Sequence[Any] = (),
    more: Mapping[str, Any] | None = None,
    **owners: Any,
) -> Result:
    """Make the result of a method: build the masked table, and keep the owner's side separate.

    ``measure`` returns the figures of this draw, in addition to the ``summary`` that does not depend on it. With a seed
    no bound is guaranteed. ``dropped`` columns are not part of the masked table; ``retyped`` ones have values of
    another type.
    """
    if seed is not None and "bound" in summary:
        summary = {**summary, "bound": None}
    columns = {name: change.after.column for name, change in changes.items()}
    masked = table.replaced(columns, moved=moved, dropped=dropped, retyped=retyped)
    for change in changes.values():
        # Who watched this call does not watch what is asked of its result later.
        change.before.forget_progress()
        change.after.forget_progress()
    roots = {name: change.before.root for name, change in changes.items()}
    params = {"columns": list(changes), **method.params(), "roots": roots, **(more or {}), **made_with(seed)}
    secret = Secret(
        measure=lambda: {**summary, **measure()},
        comparison=Comparison(table, masked, changes),
        seed=None if seed is None else operator.index(seed),
        **owners,
    )
    return Result(masked.data, method, params, summary, secret)


def described(changes: Mapping[Any, Change]) -> dict[Any, dict[str, Any]]:
    """Return what may be published about masked columns whatever the method."""
    return {
        name: {"categories": change.before.size, "missing": change.before.column.missing, "root": change.before.root}
        for name, change in changes.items()
    }


class OwnersOnly:
    """What only the owner of the data may know: never shown, copied or pickled, and written to files only on request.

    Not a dataclass: ``dataclasses.asdict`` of what holds it would show it.
    """

    def __init__(self, **parts: Any) -> None:
        """Store the parts that the class declares."""
        self.__dict__.update(parts)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        """Raise on changes."""
        raise AttributeError(f"{name}: what only the owner may know cannot be changed")

    def __repr__(self) -> str:
        """Show nothing."""
        return f"<{type(self).__name__}: for the owner only>"

    def __reduce__(self) -> NoReturn:
        """Raise instead of being pickled."""
        raise TypeError("what only the owner may know is not pickled; keep it in memory, or save its parts on purpose")

    def __deepcopy__(self, memo: Any) -> None:
        """Return None, so that copies do without it."""


class Secret(OwnersOnly):
    """The owner's side of a result."""

    measure: Callable[[], dict[str, Any]]
    """Measures the figures of this draw on demand."""
    comparison: Comparison
    """The original and the masked table, coded."""
    seed: int | None = None
    """The seed, if one was given: anyone who has it can repeat every draw."""
    groups: NDArray[np.uint32] | None = None
    """The group of each record, where the method forms groups."""
    pairs: dict[tuple[Any, ...], NDArray[np.uint32]] | None = None
    """For data swapping, the row numbers of the pairs, one pair per row, by the columns swapped together."""

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Return all figures, including those of this draw, which would help to undo it."""
        return self.measure()


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A masked table, how it was made, and what was achieved. Pickles and copies leave out the owner's side."""

    data: Any
    """The masked table: same type, columns, index and row order as the input, which is not changed."""
    method: Method
    """The method that made it."""
    params: dict[str, Any]
    """How it was made; never the seed."""
    summary: dict[str, Any]
    """What was achieved: figures that do not depend on the draw."""
    secret: Secret | None = field(default=None)
    """The owner's side. Never publish it."""

    def __repr__(self) -> str:
        """Return method and size; data and secrets are not shown."""
        return f"<Result of {self.method!r}: {self.summary.get('records', 0):,} records>"

    def _repr_html_(self) -> str:
        """Show the public side in a notebook: how it was made, what is guaranteed, and what is expected of the draw."""
        said = self.guarantee
        rows: list[tuple[object, object]] = [("Guarantee", said.headline), ("", said.claim), *said.terms]
        for name, figures in self.summary.get("attributes", {}).items():
            if "expected_rmse" in figures:
                stay = f"{figures['expected_unchanged']:.1%} of the values expected to be unchanged"
                rows.append((name, f"expected RMSE {figures['expected_rmse']:.4f}, {stay}"))
        return chart.card(repr(self), rows)

    def __getstate__(self) -> dict[str, Any]:
        """Return the public side."""
        return {**self.__dict__, "secret": None}

    @property
    def guarantee(self) -> Guarantee:
        """Return what the release guarantees: the claim, its adversary, unit and premise, and what is not covered."""
        masked = self.params["columns"]
        kept = [name for name in names_of(self.data) if name not in masked]
        return self.method.statement(masked, kept, seeded=self.params["seeded"], roots=self.params.get("roots"))

    def linkage(self, known: Any = None, **options: Any) -> Any:
        """Attack the release; owner only. The options are those of ``nominym.risk.linkage``.

        By default, ``k`` and ``person`` are those of the method, and ``groups`` those it formed.
        """
        from nominym import risk

        secret = self.owners("linkage()")
        options.setdefault("k", getattr(self.method, "k", None))
        options.setdefault("person", getattr(self.method, "person", None))
        options.setdefault("groups", secret.groups)
        return risk.link(secret.comparison, known=known, **options)

    def report(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """Write a report on the release, for publication unless ``edition="owner"``; see ``nominym.report.write``.

        Without a path, return the edition for publication as a page that a notebook shows.
        """
        from nominym import report

        return report.inline(self, **options) if path is None else report.write(path, self, **options)

    def owners(self, what: str) -> Secret:
        """Return the owner's side, or raise if there is none."""
        if self.secret is None:
            raise ParameterError(f"{what} compares with the original; only the owner's result has it")
        return self.secret


def source_of(frame: Any, *, strict: bool) -> tuple[Table, list[str]]:
    """Return the table to mask; warn if it is a result that is masked again.

    Each call forms its own groups. A row that shows values from two partitions has fewer possible owners than a group
    has members, down to one; attributes that are released together must therefore be masked together.
    """
    if not isinstance(frame, Result):
        return as_table(frame), []
    done = sorted(map(str, frame.params.get("columns", ())))
    message = (
        f"{', '.join(done)} of this table: already masked in an earlier call. Separate calls have separate groups, "
        f"and no guarantee holds for both together; mask all columns in one call"
    )
    if strict or frame.method.bound is not None:
        warnings.warn(message, PrivacyWarning, stacklevel=4)
    return Table(frame.data), [message]
