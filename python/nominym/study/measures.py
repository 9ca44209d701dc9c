"""What a study measures: named figures of a masked table or of a release of item sets, compared with the original."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from nominym import distortion, itemsets, risk, stats
from nominym.error import DataError, ParameterError
from nominym.itemsets import Itemsets, Release
from nominym.method import Result
from nominym.study.keys import digest
from nominym.table import Comparison, Table, as_table

if TYPE_CHECKING:
    from nominym.control import Progress

Kind: TypeAlias = Literal["table", "sets"]
"""What a measure is of."""


@dataclass(eq=False, repr=False)
class Outcome:
    """What became of the data in one cell of a study: what every measure is given."""

    original: Any
    """The data set, as it was given: a table of any library, or ``Itemsets``."""
    meanings: Any
    """What goes with it: meanings by column, or labels of item sets."""
    returned: Any
    """What the method returned: a ``Result``, a ``Release``, or the table or item sets of an own function."""
    seed: int
    """The seed of the cell."""
    table: Table | None = field(default=None)
    """The original, coded; None for item sets."""
    progress: Progress = None
    """What long work reports to, so that it can be stopped."""

    @property
    def masked(self) -> Any:
        """Return the masked table; of item sets, what is published for the records."""
        if isinstance(self.returned, Release):
            return self.returned.base
        return self.returned.data if isinstance(self.returned, Result) else self.returned

    @cached_property
    def comparison(self) -> Comparison:
        """Return both tables side by side, coded; row i of one is row i of the other."""
        if self.table is None:
            raise DataError("item sets have no columns to compare")
        if isinstance(self.returned, Result) and self.returned.secret is not None:
            return self.returned.secret.comparison
        return Comparison.of(self.table, as_table(self.masked), self.meanings, progress=self.progress)

    @property
    def rows(self) -> Any:
        """Return the row that each record got in a release of item sets; None where row i is record i."""
        if isinstance(self.returned, Release) and self.returned.secret is not None:
            return self.returned.secret.row_of[self.returned.secret.assignment]
        return None

    @property
    def items(self) -> Itemsets:
        """Return the original records; for a release by a taxonomy, their closures."""
        if isinstance(self.returned, Release) and self.returned.secret is not None:
            return self.returned.secret.original
        return self.original  # type: ignore[no-any-return]


Figures: TypeAlias = float | Mapping[Any, float]
"""What a measure returns: a number, or several by name, "" for the measure itself."""


@dataclass(frozen=True)
class Measured:
    """A measure with its name."""

    name: str
    function: Callable[[Outcome], Figures]
    of: Kind | None = None
    """What it is of; None for both."""
    usual: bool = False
    """Whether it is measured where nobody says what to measure."""
    known: str = ""
    """The name that it is registered by."""
    version: int | None = None
    """Of a registered measure: grows when it becomes another, so that stored figures are not taken for it."""

    @property
    def key(self) -> str:
        """Return a hash of what is measured, and under which name."""
        what = self.function if self.version is None else (self.known, self.version)
        return digest(self.name, what)


MEASURES: dict[str, Measured] = {}
"""All measures that have a name."""


def register(
    name: str, function: Callable[[Outcome], Figures], of: Kind | None = None, *, usual: bool = False, version: int = 1
) -> None:
    """Register a measure under a name for studies and ``nominym study``.

    >>> register("records", lambda outcome: len(outcome.table), "table")
    >>> MEASURES.pop("records").of
    'table'
    """
    if name in MEASURES:
        raise ParameterError(f"there is a measure {name!r} already", parameter="name", value=name)
    MEASURES[name] = Measured(name, function, of, usual, name, version)


def chosen(given: Any, kinds: set[Kind]) -> list[Measured]:
    """Return the measures that are asked for: by name, as functions, or the usual ones."""
    if given is None:
        return [each for each in MEASURES.values() if each.usual and (each.of is None or each.of in kinds)]
    if isinstance(given, str) or callable(given):
        given = [given]
    if not isinstance(given, Mapping):
        try:
            given = {each if isinstance(each, str) else getattr(each, "__name__", ""): each for each in list(given)}
        except TypeError:
            raise ParameterError("give names and functions of an outcome", parameter="measures", value=given) from None
    found = []
    for name, each in given.items():
        if isinstance(each, str):
            if each not in MEASURES:
                raise ParameterError(f"there is no measure {each!r}; there are {', '.join(MEASURES)}",
                                     parameter="measures")  # fmt: skip
            known = MEASURES[each]
            if known.of is not None and known.of not in kinds:
                what = (
                    "tables, and there are item sets only" if known.of == "table" else "item sets, and there are none"
                )
                raise ParameterError(f"{each!r} is of {what}", parameter="measures")
            found.append(replace(known, name=str(name)))
        elif callable(each):
            if name in ("", "<lambda>"):
                raise ParameterError("a function without a name: give a mapping, {'name': function}",
                                     parameter="measures")  # fmt: skip
            found.append(Measured(str(name), each))
        else:
            raise ParameterError(f"a name or a function of an outcome is needed, not {each!r}", parameter="measures")
    if not found:
        raise ParameterError("give one measure at least, or None for the usual ones", parameter="measures", value=given)
    return found


def figures(measure: Measured, outcome: Outcome) -> dict[str, float]:
    """Measure, and name what was found: ``rmse``, and ``rmse[diagnosis]`` for parts."""
    found = measure.function(outcome)
    parts = found if isinstance(found, Mapping) else {"": found}
    return {measure.name if part == "" else f"{measure.name}[{part}]": float(value) for part, value in parts.items()}


# ---- tables


def rmse(outcome: Outcome) -> Figures:
    """Root mean square distance that values moved, of each masked column and of all together."""
    parts = {name: change.rmse for name, change in outcome.comparison.changes.items()}
    return {"": math.sqrt(math.fsum(each**2 for each in parts.values()) / len(parts)), **parts}


def unchanged(outcome: Outcome) -> Figures:
    """Share of values that mean what they did, of each masked column and on average."""
    parts = {name: change.unchanged for name, change in outcome.comparison.changes.items()}
    return {"": math.fsum(parts.values()) / len(parts), **parts}


def correlation_change(outcome: Outcome) -> Figures:
    """Absolute change of the distance correlation of each pair of masked columns, and on average."""
    found = stats.correlation_changes(outcome.comparison.changes, outcome.progress)
    parts = {f"{x}, {y}": abs(value) for x, y, value in zip(found["x"], found["y"], found["difference"], strict=True)}
    return {"": math.fsum(parts.values()) / len(parts), **parts} if parts else {}


def correlation_lost(outcome: Outcome) -> Figures:
    """Share of the distance correlation that is lost, on average over the pairs of masked columns."""
    found = stats.correlation_changes(outcome.comparison.changes, outcome.progress)
    return float(-(found["difference"] / found["before"]).mean()) if len(found) else {}


def mean_distance(outcome: Outcome) -> Figures:
    """Distance between the semantic means before and after, of each masked column."""
    changes = outcome.comparison.changes.items()
    ends = {name: (change, np.array([[c.mean for c in (change.before, change.after)]], np.uint32).T)
            for name, change in changes}  # fmt: skip
    return {name: float(change.space.pairs(*means)[0]) for name, (change, means) in ends.items()}


def variance_change(outcome: Outcome) -> Figures:
    """Semantic variance after less that before, of each masked column."""
    changes = outcome.comparison.changes.items()
    return {name: change.after.variance - change.before.variance for name, change in changes}


def nearest_row(outcome: Outcome) -> float:
    """Share of people found by taking the nearest row, where an adversary knows all masked columns."""
    seed, progress = outcome.seed, outcome.progress
    return risk.link(outcome.comparison, kept=[], attacks="nearest row", seed=seed, progress=progress).share


def attack(outcome: Outcome) -> Figures:
    """Share of people that the best attack finds: by masked columns, and where all kept ones are known too."""
    secret = outcome.returned.secret if isinstance(outcome.returned, Result) else None
    groups = None if secret is None else secret.groups
    found = risk.link(outcome.comparison, groups=groups, seed=outcome.seed, progress=outcome.progress)
    return {"": found.share, **({} if found.share_masked is None else {"masked": found.share_masked})}


def distorted(name: str) -> Callable[[Outcome], Figures]:
    """Return a measure of distortion: of the masked columns together, or, for two-way ones, of pairs on average."""

    def measure(outcome: Outcome) -> Figures:
        compared, names = outcome.comparison, list(outcome.comparison.changes)
        if len(names) == 1 and name in distortion.MEASURES[3:]:
            return {}
        found = distortion.compare(compared, names, progress=outcome.progress)[name]
        return float(found.iloc[:-1].mean() if name in distortion.MEASURES[3:] else found.iloc[-1])

    measure.__doc__ = f"Distortion of the masked columns: {name}."
    return measure


def k_marginal(k: int) -> Callable[[Outcome], Figures]:
    """Return the k-marginal score of all columns, masked and kept: 1,000 where nothing changed."""

    def measure(outcome: Outcome) -> Figures:
        compared = outcome.comparison
        if len(compared.shared) < k:
            return {}
        sides = compared.before, compared.after
        return distortion.k_marginal(*sides, compared.shared, k, progress=outcome.progress)

    measure.__doc__ = f"Score of the marginals of {k} columns."
    return measure


def s_pmse(outcome: Outcome) -> Figures:
    """Propensity error of pairs of columns, masked and kept, relative to that of a fresh draw, on average."""
    compared = outcome.comparison
    if len(compared.shared) < 2:
        return {}
    sides = compared.before, compared.after
    return float(distortion.marginals(*sides, compared.shared, 2, progress=outcome.progress)["s_pmse"].mean())


def unique_exact_matches(outcome: Outcome) -> Figures:
    """Share of the unique records that are in the release verbatim: by all columns, and by masked ones."""
    compared, progress = outcome.comparison, outcome.progress
    sets = {"": compared.shared, "masked": list(compared.changes)}
    sides = compared.before, compared.after
    return {name: risk.unique_exact_matches(*sides, each, progress=progress).share for name, each in sets.items()}


# ---- item sets


def error_rate(outcome: Outcome) -> float:
    """Items wrong in the published base, relative to those of a record; expected over the draw where that is known."""
    if isinstance(outcome.returned, Release):
        return outcome.returned.error_rate(expected=True)
    return itemsets.error_rate(outcome.items, outcome.masked, outcome.rows, progress=outcome.progress)


def query_error(kind: Literal["present", "absent"], size: int | None = None) -> Callable[[Outcome], float]:
    """Return the measure of the error of counting queries over items that are present, or absent."""

    def measure(outcome: Outcome) -> float:
        options: dict[str, Any] = {"size": size, "seed": outcome.seed, "progress": outcome.progress}
        return itemsets.query_error(outcome.items, outcome.masked, kind, **options)

    return measure


register("rmse", rmse, "table", usual=True)
register("unchanged", unchanged, "table", usual=True)
register("correlation_change", correlation_change, "table", usual=True)
register("correlation_lost", correlation_lost, "table")
register("mean_distance", mean_distance, "table")
register("variance_change", variance_change, "table")
register("nearest_row", nearest_row, "table", usual=True)
register("attack", attack, "table")
for _name in distortion.MEASURES:
    register(_name, distorted(_name), "table", usual=_name == "total_variation")
register("k_marginal_2", k_marginal(2), "table")
register("k_marginal_3", k_marginal(3), "table")
register("s_pmse", s_pmse, "table")
register("unique_exact_matches", unique_exact_matches, "table")
register("error_rate", error_rate, "sets", usual=True)
register("query_error_present", query_error("present"), "sets", usual=True)
register("query_error_absent", query_error("absent"), "sets", usual=True)
