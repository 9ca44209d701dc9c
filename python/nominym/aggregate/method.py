"""Microaggregation: groups of similar records, each published with one value for the whole group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nominym import groups
from nominym.aggregate.values import aggregated, is_retyped, squares, total_squares
from nominym.control import Progress, check_progress, check_seed
from nominym.error import ParameterError
from nominym.guarantee import Guarantee, of_classes
from nominym.meaning import Meaning, Measure, as_measure, shortest
from nominym.method import Method, Result, described, finish, source_of
from nominym.options import MicroaggregateOptions, Replace
from nominym.stats import correlation_changes
from nominym.table import Attribute, Change, Missing, attributes

_DIGITS = 3
"""Significant digits of published losses: exact losses could be solved for the values of small groups."""


@dataclass(frozen=True, repr=False)
class Microaggregate(MicroaggregateOptions, Method):
    """Microaggregation and its options, which ``microaggregate`` explains.

    >>> import nominym as nym
    >>> nym.Microaggregate(k=5, replace="subsumer")
    Microaggregate(k=5, replace='subsumer')
    >>> nym.Microaggregate(k=5).bound
    0.2
    """

    def __post_init__(self) -> None:
        """Check the options."""
        self.check_accept()
        object.__setattr__(self, "sensitive", groups.check_columns(self.person, self.sensitive))
        self.check_options()
        self.check_roots()
        object.__setattr__(self, "measure", shortest(self.measure))
        if self.k is None:
            raise ParameterError("give the smallest size of a group", parameter="k", value=None)
        if self.k == 1:
            raise ParameterError(
                "a group of one record protects nobody", parameter="k", value=1, remedy="give 2 or more"
            )

    @property
    def grouped(self) -> bool:
        """Return whether groups are formed."""
        return True

    @property
    def bound(self) -> float | None:
        """Return the bound on the re-identification probability, 1/k; None with sensitive columns."""
        return 1 / self.k if self.k is not None and not self.sensitive else None

    def _statement(self, masked: Sequence[Any], kept: Sequence[Any], roots: Mapping[Any, Any]) -> Guarantee:
        assert self.k is not None  # checked
        accepted = [name for name in self.accept if name in kept]
        means, limits = self.replace == "mean", self.sensitive
        return of_classes(self.k, masked, kept, means=means, person=self.person, sensitive=limits, accepted=accepted)

    def params(self) -> dict[str, Any]:
        """Return the options in effect, for the record of a result."""
        return {**super().params(), **as_measure(self.measure).params()}

    def apply(
        self, frame: Any, meanings: Mapping[Any, Meaning], seed: int | None = None, progress: Progress = None
    ) -> Result:
        """Mask the columns that have a meaning; the input frame is not changed."""
        check_progress(progress)
        check_seed(seed)
        assert self.k is not None  # checked
        table, notes = source_of(frame, strict=True)
        before = attributes(table, meanings, self.measure, self.roots, self.missing, progress)
        partition, kept, person, told = groups.form_of_table(
            table, before, self.k, person=self.person, sensitive=self.sensitive, accept=self.accept,
            longer=self.anneal, settled=True, seed=seed, notes=notes, progress=progress,
        )  # fmt: skip
        common = self.replace == "subsumer"
        changes = {name: aggregated(old, partition, common=common, progress=progress) for name, old in before.items()}
        masked = {name: old.place_codes for name, old in before.items()}
        sizing = partition.summary(masked, kept, person, list(self.sensitive or ()))
        figures = {name: lost(change, before[name], progress) for name, change in changes.items()}
        known = described(changes)
        lessened, overall = published(figures)
        summary = {
            "records": len(table),
            "attributes": {name: {**each, **lessened[name]} for name, each in known.items()},
            **overall,
            "groups": sizing,
            "bound": None if self.bound is None else sizing.get("largest_share", 1 / sizing["smallest"]),
            "notes": told.public,
        }

        def measure() -> dict[str, Any]:
            correlated = {"correlations": correlation_changes(changes)} if self.correlations else {}
            exact = {"attributes": {name: {**each, **figures[name]} for name, each in known.items()}}
            return {**exact, **altogether(figures), "notes": [*told.public, *told.owners], **correlated}

        return finish(
            self, table, changes, summary, measure, seed,
            moved=True,
            dropped=[] if self.person is None else [self.person],
            retyped=[name for name, old in before.items() if is_retyped(old, common)],
            groups=partition.group_of,
        )  # fmt: skip


def lost(change: Change, before: Attribute, progress: Progress = None) -> dict[str, float]:
    """Return what a column loses by having one value per group: figures that do not depend on the draw.

    ``sse`` is the sum of squared distances between values before and after, divided by the number of records with both;
    ``loss`` is the sum relative to that with one mean for all records; ``values`` is the number of distinct values
    afterwards.
    """
    found, total = squares(change), total_squares(before, progress)
    return {
        "values": change.after.size,
        "sse": found / change.records if change.records else 0.0,
        "rmse": change.rmse,
        "loss": found / total if total else 0.0,
        "unchanged": change.unchanged,
        "missing_made": change.missing_moved,
        "missing_filled": len(change.after.column) - change.after.column.missing - change.records,
    }


def altogether(figures: Mapping[Any, Mapping[str, float]]) -> dict[str, float]:
    """Return the figures of all columns together: squared distances summed over the columns, and the mean loss."""
    return {
        "sse": sum(each["sse"] for each in figures.values()),
        "loss": sum(each["loss"] for each in figures.values()) / max(len(figures), 1),
    }


def published(
    figures: Mapping[Any, Mapping[str, float]],
) -> tuple[dict[Any, dict[str, float]], dict[str, float]]:
    """Return the figures of the columns, and of all together, rounded for publication; counts are exact."""

    def rounded(given: Mapping[str, float]) -> dict[str, float]:
        return {name: float(f"{x:.{_DIGITS}g}") if isinstance(x, float) else x for name, x in given.items()}

    return {name: rounded(each) for name, each in figures.items()}, rounded(altogether(figures))


def microaggregate(
    frame: Any,
    meanings: Mapping[Any, Meaning],
    k: int | None = None,
    *,
    replace: Replace = "mean",
    anneal: bool = False,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    correlations: bool = False,
    missing: Missing = "keep",
    person: Any = None,
    sensitive: Mapping[Any, int] | None = None,
    accept: Any = (),
    seed: int | None = None,
    progress: Progress = None,
) -> Result:
    """Replace the masked values of similar records by one common value per group: classical k-anonymity.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
    >>> res = nym.microaggregate(frame, taxonomies, k=5)
    >>> nym.risk.classes(res.data, list(taxonomies)).smallest >= 5
    True
    >>> general = nym.microaggregate({"age": [31, 34, 39, 52, 57]}, {"age": nym.Order()}, k=2, replace="subsumer")
    >>> general.data["age"]
    ['[31, 39]', '[31, 39]', '[31, 39]', '[52, 57]', '[52, 57]']

    Parameters
    ----------
    frame
        A pandas or polars frame, an Arrow table or stream, or a mapping of columns. It is not changed.
    meanings
        The columns to mask and the meaning of their values: a ``Taxonomy``, a ``DistanceMatrix``, an ``Order``, an
        ``Equality`` or ``Sets`` by column name.
    k
        The smallest size of a group.
    replace
        "mean": for concepts, the concept below the root with the smallest sum of squared distances to those of the
        group (ties: one that a value of the group is below, then the deepest, then by id); for labels of a matrix, the
        label with the smallest sum (then by name); for numbers, the arithmetic mean, so whole numbers may become
        decimals; for dates and times, the mean, rounded to days or seconds where all values are; for ranked values, the
        median, the lower of two; for values that are only equal or not, the most frequent (then by name); for sets, the
        items that more than half have. "subsumer": what all values of the group have in common, so that nothing false
        is stated: the least common subsumer, the interval ``[30, 40]`` with both ends included, one of ``{a, b}``, or
        the items that all sets have. ``nominym.aggregate.parse`` reads such texts.
    anneal
        Search longer for better groups: worthwhile below some ten thousand records. For a single column of numbers, the
        groups are optimal anyway.
    measure, roots
        The distance for taxonomies, and the root for depths by column; by default the least common subsumer of the
        column.
    correlations
        Also compare the distance correlations of all pairs of columns before and after masking, for the owner.
    missing
        "keep" or "error". Either all records of a group have a value or none has: the mean of the values present,
        unless more than half are missing; what values have in common is missing if any of them is.
    person
        The column that identifies the person of each record, where a person has several: ``k`` then counts persons. The
        column is not in ``Result.data``, and a kept column that links the records of a person is an error.
    sensitive
        Kept columns with their l, such as ``{"hiv": 3}``: no value, missing included, is on more than 1/l of the
        records of a group. Groups then depend on these columns, so 1/k is not guaranteed.
    accept
        Kept columns that are published although they could tell rows apart, because an adversary cannot know their
        values.
    seed, progress
        The masked values that occur, and their figures, depend only on the records, not on their order. Which of
        several equal records is in which group, and so next to which kept values, is drawn: two releases of the same
        records reveal more than one. A seed, for studies, fixes that draw as well, and starts the search for groups
        elsewhere. ``progress``: ``True`` for a bar, or a callable (done, total).

    Returns
    -------
    Result
        In the order of the frame. ``summary`` has for each column ``sse`` (mean squared distance between a value and
        its replacement), ``rmse``, ``loss`` (relative to one mean for all records), the share ``unchanged``, the number
        of ``values`` that occur, missing values ``made`` and ``filled``; ``sse`` and ``loss`` of all columns;
        ``bound``; and ``groups``: sizes, in how many a kept column is ``constant`` or a masked one can be ``read_off``,
        persons and shares of sensitive values. Losses have three digits there, because exact ones narrow down the
        values of small groups; ``secret.summary`` has all digits.

    Domingo-Ferrer and Mateo-Sanz (2002), Practical data-oriented microaggregation for statistical disclosure control,
    IEEE TKDE 14; Martínez, Sánchez and Valls (2012), Semantic adaptive microaggregation of categorical microdata,
    Computers & Security 31.
    """
    chosen = Microaggregate(k, replace, anneal, measure, roots, correlations, missing, person, sensitive, accept)
    return chosen.apply(frame, meanings, seed, progress)
