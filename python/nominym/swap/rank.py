"""Semantic rank swapping: in groups with a guarantee, or as published; and its baselines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from nominym import _core, groups
from nominym.control import Progress, check_progress, check_seed, reporter, require_matrices
from nominym.error import NO_VALUE, Advice, Code, ParameterError, SizeError, warn
from nominym.guarantee import Guarantee, of_groups, of_limits
from nominym.meaning import Distances, Meaning, Measure, Order, as_measure, shortest
from nominym.method import Method, Result, described, finish, source_of
from nominym.options import Draw, GuaranteeName, Published, RankSwapOptions
from nominym.stats import correlation_changes, quantiles
from nominym.table import Attribute, Change, Missing, Table, all_with_missing, attributes

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False)
class RankSwap(RankSwapOptions, Method):
    """Rank swapping and its options, which ``rank_swap`` explains.

    >>> import nominym as nym
    >>> nym.RankSwap(k=10)
    RankSwap(k=10)
    >>> nym.RankSwap(k=10).bound, nym.RankSwap(k=10, method="records").bound
    (0.1, None)
    >>> nym.RankSwap(k=10, sensitive={"hiv": 3}).bound  # groups that depend on a kept column say something about it
    """

    # Naming a method or not says which guarantee there is.
    implied: ClassVar[tuple[str, ...]] = ("guarantee",)

    def __post_init__(self) -> None:
        """Check the options and their combination."""
        self.check_accept()
        object.__setattr__(self, "sensitive", groups.check_columns(self.person, self.sensitive))
        self.check_values()
        if self.method is not None and self.guarantee == "strict":
            raise ParameterError(
                "a published method guarantees nothing",
                parameter="method",
                value=self.method,
                remedy=Advice("leave out {} for groups that keep 1/k, or {} for the method as published",
                              method=self.method, guarantee="strict"),
            )  # fmt: skip
        if self.guarantee is None:
            object.__setattr__(self, "guarantee", "strict" if self.method is None else "published")
        elif self.guarantee == "published" and self.method is None:
            object.__setattr__(self, "method", "records")
        if not self.strict and self.person is not None:
            chosen = {"guarantee": "published"} if self.method is None else {"method": self.method}
            raise ParameterError(
                "published methods do not count persons, groups do",
                parameter="person",
                value=self.person,
                remedy=Advice("leave out {}, or {}", **chosen, person=NO_VALUE),
            )
        self.check_options()
        self.check_roots()
        object.__setattr__(self, "measure", shortest(self.measure))
        if self.k is not None and self.p is not None:
            raise ParameterError(
                "p is given as well", parameter="k", value=self.k, remedy="give k (records) or p (percent), not both"
            )
        if self.p is not None and self.p > 100:
            raise ParameterError("give a percentage above 0 and up to 100", parameter="p", value=self.p)
        if self.p is None and self.k is None and self.method != "random":
            raise ParameterError(
                "give the smallest size of a group" if self.strict else "give the number of candidates of a value",
                parameter="k",
                value=None,
            )
        if self.strict and self.k == 1:
            raise ParameterError(
                "a group of one record protects nobody", parameter="k", value=1, remedy="give 2 or more"
            )

    @property
    def strict(self) -> bool:
        """Return whether there is a guarantee."""
        return self.guarantee == "strict"

    @property
    def grouped(self) -> bool:
        """Return whether groups are formed."""
        return self.strict

    @property
    def bound(self) -> float | None:
        """Return strict swapping's bound on the re-identification probability, 1/k; None with sensitive columns."""
        return 1 / self.k if self.strict and self.k is not None and not self.sensitive else None

    def _statement(self, masked: Sequence[Any], kept: Sequence[Any], roots: Mapping[Any, Any]) -> Guarantee:
        if not self.strict or self.k is None:
            return super()._statement(masked, kept, roots)
        accepted, joint = [name for name in self.accept if name in kept], self.draw == "joint"
        if self.sensitive:
            limits = self.sensitive
            return of_limits(self.k, masked, kept, limits, person=self.person, accepted=accepted, joint=joint)
        return of_groups(self.k, masked, kept, person=self.person, accepted=accepted, joint=joint)

    def params(self) -> dict[str, Any]:
        """Return the options in effect, for the record of a result."""
        return {**super().params(), **as_measure(self.measure).params()}

    def apply(
        self, frame: Any, meanings: Mapping[Any, Meaning], seed: int | None = None, progress: Progress = None
    ) -> Result:
        """Mask the columns that have a meaning; the input frame is not changed."""
        check_progress(progress)
        check_seed(seed)
        table, notes = source_of(frame, strict=self.strict)
        before = attributes(table, meanings, self.measure, self.roots, self.missing, progress)
        if self.method == "numerical":
            _require_orders(before)
        reach = self._reach(len(table))
        if self.strict:
            formed = groups.form_of_table(
                table, before, reach, person=self.person, sensitive=self.sensitive, accept=self.accept,
                longer=self.anneal, seed=seed, notes=notes, progress=progress,
            )  # fmt: skip
            return self._permute(table, before, formed, seed, progress)
        with reporter(progress, "rank swapping") as report:
            swapped = swap_as_published(list(before.values()), str(self.method), reach, seed, report)
        return self._result(table, before, swapped, {}, groups.Notes([*notes, NO_GUARANTEE], []), seed)

    def _permute(
        self,
        table: Table,
        before: Mapping[Any, Attribute],
        formed: groups.Formed,
        seed: int | None,
        progress: Progress,
    ) -> Result:
        """Permute values inside groups, and return the expected effect."""
        partition, kept, person, told = formed
        after = partition.permuted(list(before.values()), joint=self.draw == "joint", seed=seed, progress=progress)
        sizes = np.bincount(partition.sizes, partition.sizes).astype(np.uint64)
        expected = {name: partition.expected(old, progress) for name, old in before.items()}
        masked = {name: old.place_codes for name, old in before.items()}
        sizing = partition.summary(masked, kept, person, list(self.sensitive or ()))
        notes = notes_of(expected, told.public)
        bound = None if self.bound is None else sizing.get("largest_share", 1 / sizing["smallest"])
        said = {"groups": sizing, "bound": bound}
        swapped = Swapped(after, [sizes] * len(after), expected, partition.group_of)
        return self._result(table, before, swapped, said, told._replace(public=notes), seed)

    def _result(
        self,
        table: Table,
        before: Mapping[Any, Attribute],
        swapped: Swapped,
        said: dict[str, Any],
        told: groups.Notes,
        seed: int | None,
    ) -> Result:
        after = zip(before.items(), swapped.codes, strict=True)
        changes = {name: Change(old, old.with_codes(codes)) for (name, old), codes in after}
        public = {name: {**each, **swapped.expected.get(name, {})} for name, each in described(changes).items()}
        summary = {"records": len(table), "attributes": public, **said, "notes": told.public}

        def measure() -> dict[str, Any]:
            reach = self._reach(len(table))
            realised = {
                name: {**public[name], **_realised(changes[name], candidates, reach)}
                for name, candidates in zip(before, swapped.candidates, strict=True)
            }
            correlated = {"correlations": correlation_changes(changes)} if self.correlations else {}
            notes = [*told.public, *told.owners, *_seen(realised, self.method, reach)]
            return {"attributes": realised, "notes": notes, **correlated}

        dropped = [] if self.person is None else [self.person]
        return finish(
            self, table, changes, summary, measure, seed, moved=self.strict, dropped=dropped, groups=swapped.groups
        )

    def _reach(self, records: int) -> int:
        """Return the number of candidates for a table with a number of records."""
        if self.strict and self.k is not None:
            groups.check_size(records, self.k)
        if self.p is not None:
            return max(1, int(records * self.p / 100))
        # More candidates than records are not to be had.
        return min(self.k, max(records, 1)) if self.k is not None else 1


def rank_swap(
    frame: Any,
    meanings: Mapping[Any, Meaning],
    k: int | None = None,
    *,
    p: float | None = None,
    method: Published | None = None,
    guarantee: GuaranteeName | None = None,
    draw: Draw = "independent",
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
    """Swap the values of some columns, each with one of similar meaning.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
    >>> res = nym.rank_swap(frame, taxonomies, k=5)
    >>> sorted(res.data["diagnosis"]) == sorted(frame["diagnosis"])
    True
    >>> res.guarantee.headline
    'Re-identification probability of a row: at most 1 in 5'

    Parameters
    ----------
    frame
        A pandas or polars frame, an Arrow table or stream, or a mapping of columns. It is not changed.
    meanings
        The columns to mask and the meaning of their values: a ``Taxonomy``, a ``DistanceMatrix``, an ``Order`` or an
        ``Equality`` by column name.
    k
        The smallest size of a group. With a published method, the number of candidates of a value: the size of
        clusters, or the length of an interval in records.
    p
        Length of the interval in percent of the records, instead of ``k``, for methods based on a ranking.
    method
        By default none: groups of at least ``k`` records over all columns, inside which every column is permuted by
        itself. To an adversary who knows the masked values of everybody, the groups and the algorithm, but nothing that
        tells the rows of a group apart, every row of a group is equally likely to belong to a given member of it: at
        most 1/k, unless there are ``sensitive`` columns (docs/guarantees.md; docs/rank-swapping.md has the proof).
        A published method is applied as published, without a guarantee: "fixed" (SRS-1), "dynamic" (SRS-2), "records"
        (SRS-3: all columns at once), "distributional" (ranked by frequency), "random" (no restriction; ``k`` is only
        compared with), "numerical" (ranked by value; every meaning is an ``Order``).
    guarantee
        "strict" or "published"; optional, and must agree with ``method``.
    draw
        With groups, "joint" permutes whole tuples instead: correlations are preserved and 1/k holds, but an adversary
        who knows one masked value of a row can read the others.
    anneal
        With groups, search longer for better ones: worthwhile below some ten thousand records.
    measure, roots
        The distance for taxonomies, and the root for depths by column; by default the least common subsumer of the
        column.
    correlations
        Also compare the distance correlations of all pairs of columns before and after masking, for the owner.
    missing
        "keep" or "error". With a published method a missing cell stays in place; in groups it moves like any value,
        because one that stayed would reveal whose row it is.
    person
        With groups, the column that identifies the person of each record, where a person has several: ``k`` then counts
        persons, and no person has more than 1/k of the records of a group. The column is not in ``Result.data``, and a
        kept column that links the records of a person is an error.
    sensitive
        With groups, kept columns with their l, such as ``{"hiv": 3}``: no value, missing included, is on more than 1/l
        of the records of a group. Groups then depend on these columns, so 1/k is not guaranteed: only what groups show
        is, and an adversary who knows the algorithm may be more certain of values and of rows.
    accept
        Kept columns that are published although they, alone or together, are nearly unique, predict a masked column or
        link the records of a person, which is otherwise an error: for values that nobody can know of a person.
    seed, progress
        A seed is for studies; without it, randomness is cryptographic. ``True`` for a bar, or a callable (done, total).

    Returns
    -------
    Result
        The public side has what holds whatever was drawn: for each column in ``summary["attributes"]``,
        ``expected_rmse`` and ``expected_unchanged`` over all draws; ``bound``, None where none is guaranteed; and
        ``groups``: sizes, in how many a kept column is ``constant`` or a masked one can be ``read_off``, the smallest
        number of ``persons`` in one and the ``largest_share`` of a person, and that of ``sensitive`` values. The
        owner's side, ``secret.summary``, adds the figures of this draw: ``rmse``, the share ``unchanged``, the number
        of swaps with ``no_partner``, quantiles of the ``candidates`` that swaps actually had, and the share with
        ``fewer_than_k``; and in ``notes`` what kept columns reveal about masked ones. ``secret.groups`` has the groups.

    Rodriguez-Garcia, Batet and Sánchez (2019), Utility-preserving privacy protection of nominal data sets via semantic
    rank swapping, Information Fusion 45; Rodríguez-García (2017), doctoral thesis, chapter 5.
    """
    chosen = RankSwap(
        k, p, method, guarantee, draw, anneal, measure, roots, correlations, missing, person, sensitive, accept
    )
    return chosen.apply(frame, meanings, seed, progress)


HARDLY_ANY = 0.95
"""Share of masked values expected to be unchanged from which this is stated first."""


def notes_of(expected: Mapping[Any, Mapping[str, float]], notes: Sequence[str]) -> list[str]:
    """Add to the notes of a strict release whether its values change, by the expectations of its columns."""
    stay = sum(figures["expected_unchanged"] for figures in expected.values()) / len(expected)
    if stay >= HARDLY_ANY:
        hardly = (
            f"hardly anything changes: {stay:.1%} of the masked values are expected to be unchanged, because groups "
            f"consist of equal values; masking protects little here, and the kept columns decide"
        )
        warn(hardly)
        notes = [hardly, *notes]
    still = [str(name) for name, figures in expected.items() if figures["expected_unchanged"] == 1.0]
    return [*notes, *([f"{', '.join(still)}: no value changes"] if still else [])]


NO_GUARANTEE = "as published: no guarantee is given; the measured risk of this release is for its owner"
"""What is noted of every release by a published method."""


class Swapped(NamedTuple):
    """Codes after swapping and numbers of candidates, column by column; expectations and groups where there are any."""

    codes: list[NDArray[np.uint32]]
    candidates: list[NDArray[np.uint64]]
    expected: Mapping[Any, dict[str, float]] = {}
    groups: NDArray[np.uint32] | None = None


def swap_as_published(
    columns: list[Attribute], method: str, k: int, seed: int | None, report: Callable[[int, int], object] | None = None
) -> Swapped:
    """Swap the values of columns by a published method."""
    if method != "records":
        _require_matrices(columns, method)
        found = [_swap_alone(column, method, k, seed, i, report) for i, column in enumerate(columns)]
        return Swapped([codes for codes, _ in found], [candidates for _, candidates in found])
    codes, distances, missing = all_with_missing(columns)
    try:
        found = _core.swap_records(codes, distances, missing, k, seed, report)
    except SizeError as error:
        # Distances between categories take most of it.
        most = max(columns, key=lambda column: len(column.column.counts))
        remedy = (
            f"make its {len(most.column.counts):,} categories coarser, or swap without a method, which takes any number"
        )
        raise SizeError(error.message, column=most.name, remedy=remedy) from None
    after = [column.without_missing(new) for column, (new, _) in zip(columns, found, strict=True)]
    return Swapped(after, [candidates for _, candidates in found])


def _swap_alone(
    attribute: Attribute,
    method: str,
    k: int,
    seed: int | None,
    column: int,
    report: Callable[[int, int], object] | None,
) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    codes, counts = attribute.column.codes, attribute.column.counts
    if method == "fixed":
        return _core.swap_fixed(codes, counts, attribute.meant, k, seed, column, report)
    if method == "dynamic":
        return _core.swap_dynamic(codes, counts, _clustered(attribute), k, seed, column, report)
    if method == "random":
        return _core.swap_random(codes, seed, column, report)
    if method == "distributional":
        ranks = _core.ranks_by_frequency(counts)
    else:
        ranks = np.arange(attribute.size, dtype=np.uint32)
    return _core.swap_ranked(codes, ranks, k, seed, column, report)


def _clustered(attribute: Attribute) -> Distances:
    """Return the distances for SRS-2, which needs the nearest and farthest: directly on a line, else from a matrix."""
    return attribute.distances if attribute.space.positions is None else attribute.meant


def _require_matrices(columns: list[Attribute], method: str) -> None:
    """Raise if the matrices of all columns for SRS-2 do not fit into memory together."""
    if method == "dynamic":
        sizes = {column.name: column.matrix_size for column in columns if column.space.positions is None}
        require_matrices(
            sizes,
            "column {} has too many categories for the method 'dynamic'; swap without a method, or with 'fixed', which "
            "take any number of concepts of a tree and of labels, or make its values coarser",
        )


def _require_orders(columns: Mapping[Any, Attribute]) -> None:
    for name, attribute in columns.items():
        if not isinstance(attribute.meaning, Order):
            raise ParameterError(
                f"values are swapped by size, but their meaning is {attribute.meaning.noun}",
                parameter="method",
                value="numerical",
                column=name,
                remedy=Advice(
                    "give {}, or {} if they are not numbers",
                    numbers=Code("nym.Order()"),
                    listed=Code("nym.Order([...])"),
                ),
            )


def _realised(change: Change, candidates: NDArray[np.uint64], k: int) -> dict[str, Any]:
    """Return the figures of a column after swapping. ``candidates[c]`` counts the swaps that had ``c`` candidates."""
    before = change.before.column
    known, swaps = len(before) - before.missing, int(candidates.sum())
    # By meaning, as what is expected: 0 and −0, or a set in another order, are the same.
    same = int(change.count[change.old == change.new].sum())
    return {
        "rmse": change.rmse,
        "unchanged": same / known,
        "no_partner": int(candidates[:1].sum()),
        "candidates": quantiles(candidates),
        "fewer_than_k": int(candidates[:k].sum()) / swaps if swaps else 0.0,
        "missing_moved": change.missing_moved,
    }


def _seen(realised: Mapping[Any, dict[str, Any]], method: str | None, k: int) -> list[str]:
    """Return notes that an owner who reads the figures should not miss."""
    found = []
    still = [str(name) for name, figures in realised.items() if figures["unchanged"] == 1.0]
    if still and method == "dynamic":
        found.append(
            f"{', '.join(still)}: no value changed. Where every category has more than k = {k:,} records, swapping "
            "inside clusters exchanges equal values; combinations of columns stay as unique as before. Leave method= "
            "out for groups with a guarantee, or use method='records'"
        )
    elif still and method is not None:
        found.append(f"{', '.join(still)}: no value changed")
    few = {str(name): figures["fewer_than_k"] for name, figures in realised.items() if figures["fewer_than_k"] > 0}
    if few and method not in (None, "random"):
        shares = ", ".join(f"{name} {share:.1%}" for name, share in few.items())
        found.append(
            f"swaps that had fewer than k = {k:,} candidates: {shares}. Re-identification at most 1/k is not "
            "guaranteed; leave method= out for groups that keep it"
        )
    return found
