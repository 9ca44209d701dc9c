"""The published form of set-valued records, and what only their owner may know."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym import _core, chart
from nominym.atomic import check_new, draft_of
from nominym.control import Progress, check_seed, is_whole, reporter
from nominym.error import DataError, MissingValueError, ParameterError
from nominym.files import StrPath
from nominym.guarantee import Guarantee, none
from nominym.itemsets import metrics
from nominym.itemsets.concepts import check_taxonomy, closed, lowest
from nominym.itemsets.graph import Graph
from nominym.itemsets.metrics import Kind
from nominym.itemsets.names import whole_numbers
from nominym.itemsets.sets import Item, Itemsets, check_sets
from nominym.meaning import Measure, Taxonomy
from nominym.method import OwnersOnly, made_with
from nominym.table import MISSING, Column, code

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.itemsets.recode import Recode


class Secret(OwnersOnly):
    """The owner's side of a release."""

    original: Itemsets
    """The original records; with a taxonomy, their closures, which have all concepts above their items."""
    graph: Graph
    """The graph of which records may be which nodes."""
    assignment: NDArray[np.uint32]
    """For each record, the record whose published form it received."""
    row_of: NDArray[np.uint32]
    """For each record, the row of the release that has its published form: record i is in row
    ``row_of[assignment[i]]``."""
    expected_error: float
    """Expected error rate over all nodes that a record matches."""
    assignments: NDArray[np.uint32] | None = None
    """All assignments, m × n, if the method extracts all of them."""
    chosen: int | None = None
    """The index of the chosen one."""
    seed: int | None = None
    """The seed, if one was given: anyone who has it and the records can repeat every draw."""

    def matches(self, i: int) -> NDArray[np.uint32]:
        """Return the records whose published forms record ``i`` may be."""
        if not is_whole(i) or not 0 <= i < len(self.assignment):
            raise ParameterError(f"no record {i!r}: there are {len(self.assignment):,}")
        return self.graph.matches(i)


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """Published records: in each row a base, the items in which it may be wrong, and the largest number of wrong items.

    Rows are in random order. ``secret`` is for the owner; everything else may be published. Pickles, copies and files
    never contain the secret.

    >>> import nominym as nym
    >>> rel = nym.itemsets.Release(
    ...     base=nym.Itemsets.from_lists([[1, 2], [2]], items=[1, 2, 3]),
    ...     distance=nym.Itemsets.from_lists([[1], [1, 3]], items=[1, 2, 3]),
    ...     threshold=[1, 1],
    ... )
    >>> rel
    <Release: 2 records of 3 items>
    >>> rel.compatible([2]), rel.compatible([2, 3])
    (2, 1)
    """

    base: Itemsets
    """For each row, the items that most of its possible records have."""
    distance: Itemsets
    """For each row, the items on which they disagree."""
    threshold: NDArray[np.uint32]
    """For each row, the largest number of items in which a possible record differs from the base."""
    labels: NDArray[Any] | None = None
    """For each row, the label of the record it was drawn for, if there are labels."""
    method: Recode | None = None
    """The method that made it; None if a file does not say."""
    params: dict[str, Any] = field(default_factory=dict)
    """How it was made; never the seed."""
    summary: dict[str, Any] = field(default_factory=dict)
    """What was achieved: figures that do not depend on the draw."""
    secret: Secret | None = None
    """The owner's side. Never publish it."""
    taxonomy: Taxonomy | None = None
    """The taxonomy of the items, if records were recoded by closures: items are then ids of concepts. Files do not
    hold it; pass it to ``read_release``."""

    def __post_init__(self) -> None:
        """Check that the parts are consistent, and make them read-only."""
        check_sets(base=self.base, distance=self.distance)
        n = self.base.n
        threshold = whole_numbers(self.threshold)
        if threshold is None or threshold.min(initial=0) < 0:
            raise DataError("a threshold is a number of items: a whole number, 0 or more")
        sizes = np.diff(self.distance.core.starts())
        if not len(threshold) == self.distance.n == n or not self.base.names.equals(self.distance.names):
            raise DataError("base, distance and threshold are of the same rows, base and distance over the same items")
        if (threshold > sizes).any():
            row = int(np.argmax(threshold > sizes))
            raise DataError(f"row {row}: the threshold is above the {sizes[row]} items that may differ")
        threshold = threshold.astype(np.uint32)
        threshold.setflags(write=False)
        object.__setattr__(self, "threshold", threshold)
        if self.labels is not None:
            object.__setattr__(self, "labels", _array_of(code_labels(self.labels, n)))
        if self.taxonomy is not None:
            check_taxonomy(self.taxonomy)

    def __len__(self) -> int:
        """Count the published rows."""
        return self.base.n

    def compatible(self, records: Itemsets | Iterable[Item], *, progress: Progress = None) -> Any:
        """Count the published rows that a record could be: its possible worlds.

        A row could be a record if all items in which its base differs from the record are in its distance bitmap, and
        they are no more than its threshold.

        Parameters
        ----------
        records
            The items of one record, or the records of an ``Itemsets``. Items that the release does not contain are
            allowed: no row could be a record that has one. With a taxonomy, items are its concepts, and closures are
            compared.

        Returns
        -------
        int or array
            The number of rows, for one record or for each. Every original record could be at least k rows.
        """
        single = not isinstance(records, Itemsets)
        given = records if isinstance(records, Itemsets) else Itemsets.from_lists([records])
        if self.taxonomy is not None:
            given = closed(given, self.taxonomy)
        base, given = metrics.over_both(self.base, given)
        distance = self.distance.over(base.names)
        with reporter(progress, "possible worlds") as report:
            found = _core.count_compatible(base.core, distance.core, self.threshold, given.core, report)
        return int(found[0]) if single else found

    def error_rate(self, *, expected: bool = False, progress: Progress = None) -> float:
        """Return the mean share of items flipped in the base of a record, relative to its own items; owner only.

        With ``expected=True``, the expectation over all nodes that a record matches, not the chosen assignment. See
        ``nominym.itemsets.error_rate``. With a taxonomy, items are those of the closures: a concept published one level
        too high counts as one missing item, not as two different ones.
        """
        secret = self._owners("error_rate()")
        if expected:
            return secret.expected_error
        rows = secret.row_of[secret.assignment]
        return metrics.error_rate(secret.original, self.base, rows, progress=progress)

    def query_error(
        self,
        kind: Kind = "present",
        size: int | None = None,
        queries: int = 500,
        seed: int | None = 0,
        *,
        progress: Progress = None,
    ) -> float:
        """Return the mean error of the bases' answers to random counting queries; owner only.

        See ``nominym.itemsets.query_error``. With a taxonomy, queries name any concepts of the closures: a record has
        one if it has an item below it.
        """
        secret = self._owners("query_error()")
        return metrics.query_error(secret.original, self.base, kind, size, queries, seed, progress=progress)

    def semantic_error(
        self, taxonomy: Taxonomy | None = None, *, measure: str | Measure = "wu-palmer", progress: Progress = None
    ) -> float:
        """Return the mean distance of items from the nearest published ones, and vice versa; owner only.

        The taxonomy is by default the one of the release. See ``nominym.itemsets.semantic_error``.
        """
        secret = self._owners("semantic_error()")
        rows = secret.row_of[secret.assignment]
        tax = self._meant(taxonomy)
        return metrics.semantic_error(secret.original, self.base, tax, rows, measure=measure, progress=progress)

    def lowest(self, taxonomy: Taxonomy | None = None, *, labels: bool = False) -> Itemsets:
        """Return the lowest concepts of every base; concepts above one of them are left out.

        The taxonomy is by default the one of the release. See ``nominym.itemsets.lowest``.
        """
        return lowest(self.base, self._meant(taxonomy), labels=labels)

    def _meant(self, taxonomy: Taxonomy | None) -> Taxonomy:
        chosen = self.taxonomy if taxonomy is None else taxonomy
        if chosen is None:
            raise ParameterError("the release has none; give it", parameter="taxonomy")
        return chosen

    def to_parquet(self, path: StrPath, *, overwrite: bool = False) -> None:
        """Write what is published to a Parquet file: lists base and distance, threshold, and label if there is one.

        The file appears only when it is complete. An existing file is replaced only with ``overwrite=True``.
        ``params`` and ``summary`` are in its metadata.
        """
        from nominym.itemsets.files import draft_parquet

        check_new(path, overwrite)
        with draft_of(path) as draft:
            draft_parquet(self, draft)

    def to_text(self, path: StrPath, *, overwrite: bool = False) -> None:
        """Write what is published as text, one row per line: ``base items | distance items | threshold | label``.

        Items are separated by blanks, as in FIMI files; the fourth field exists if there are labels, and extends to the
        end of the line. Items have to be whole numbers from 0 to 2^31 − 1, or texts without blanks and bars.
        """
        from nominym.itemsets.files import draft_text

        check_new(path, overwrite)
        with draft_of(path) as draft:
            draft_text(self, draft)

    @property
    def guarantee(self) -> Guarantee:
        """Return what the release guarantees: the claim, its adversary, unit and premise, and what is not covered."""
        if self.method is None:
            return none("Nothing is guaranteed: how the release was made is not recorded.")
        return self.method.stated(self.labels is not None, self.summary, bool(self.params.get("seeded")))

    def __eq__(self, other: object) -> bool:
        """Return whether two releases have the same rows in the same order."""
        if not isinstance(other, Release):
            return NotImplemented
        labels = [None if release.labels is None else release.labels.tolist() for release in (self, other)]
        same = np.array_equal(self.threshold, other.threshold) and labels[0] == labels[1]
        return same and self.base == other.base and self.distance == other.distance

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return method and size; records and secrets are not shown."""
        made = "" if self.method is None else f" of {self.method!r}"
        return f"<Release{made}: {self.base.n:,} records of {self.base.n_items:,} items>"

    def _repr_html_(self) -> str:
        """Show the public side in a notebook: how it was made, what is guaranteed, and what is expected of the draw."""
        said = self.guarantee
        rows: list[tuple[object, object]] = [("Guarantee", said.headline), ("", said.claim), *said.terms]
        if "expected_error" in self.summary:
            error = f"{self.summary['expected_error']:.1%} of a record's items, expected"
            rows.append(("Items wrong in the base", error))
        return chart.card(repr(self), rows)

    def __getstate__(self) -> dict[str, Any]:
        """Return the public side."""
        return {**self.__dict__, "secret": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the public side, and make it read-only."""
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()

    def _owners(self, what: str) -> Secret:
        if self.secret is None:
            raise ParameterError(f"{what} compares with the original records; only their owner's release has them")
        return self.secret


def code_labels(labels: Any, n: int) -> Column:
    """Code the labels of ``n`` records from any library; already coded labels are not coded again."""
    column = labels if isinstance(labels, Column) else code(labels, "labels")
    if len(column) != n:
        raise DataError(f"{len(column):,} labels for {n:,} records; give one for each")
    if column.kind == "nested":
        raise DataError("labels are single values, not lists of them; turn them into texts")
    if column.missing:
        first = int(np.argmax(column.codes == MISSING))
        what = f"{column.missing:,} of {n:,} labels are missing, the first in row {first}"
        raise MissingValueError(what, remedy="fill or drop them")
    return column


def _array_of(column: Column) -> NDArray[Any]:
    """Return labels as a read-only array of whole numbers or objects."""
    kinds = np.fromiter(column.categories, dtype=object, count=len(column.categories))
    if all(type(kind) is int and -(2**63) <= kind < 2**63 for kind in column.categories) and len(kinds):
        kinds = kinds.astype(np.int64)
    found = kinds[column.codes]
    found.setflags(write=False)
    return found


def publish(
    sets: Itemsets,
    graph: Graph,
    assignment: Any,
    *,
    method: Recode | None = None,
    labels: Any = None,
    assignments: Any = None,
    chosen: int | None = None,
    summary: Mapping[str, Any] | None = None,
    seed: int | None = None,
    progress: Progress = None,
    taxonomy: Taxonomy | None = None,
) -> Release:
    """Make a release: let the preimages of every node vote, assign the labels, and shuffle the rows.

    >>> from nominym.itemsets.graph import Ring
    >>> rows = [[0, 1], [1, 2], [0, 1, 3], [1, 2, 3], [0, 1, 2], [0, 2, 3]]
    >>> ring = Ring(np.array([1, 3, 2, 0, 4, 5], dtype=np.uint32), 3)
    >>> rel = publish(Itemsets.from_lists(rows), ring, [0, 1, 2, 3, 4, 5], labels=list("ccmbbm"))
    >>> row = rel.secret.row_of[4]
    >>> rel.base[row], rel.distance[row], int(rel.threshold[row]), rel.labels[row]
    ([0, 1], [2, 3], 1, 'b')

    ``assignment`` is the node drawn for each record, among those it matches in the graph; ``assignments`` and
    ``chosen`` are for the owner. ``summary`` adds figures that do not depend on the draw. The order of the rows has its
    own random stream, so that it reveals nothing about the assignment.
    """
    check_seed(seed)
    n = sets.n
    if not n:
        raise DataError("there are no records to publish")
    numbers = whole_numbers(assignment)
    if numbers is None or not np.array_equal(np.sort(numbers), np.arange(n)):
        raise ParameterError(f"an assignment has each of the {n:,} records once")
    drawn = np.ascontiguousarray(numbers, dtype=np.uint32)
    if not graph.has(drawn):
        raise ParameterError("the assignment sends a record to a node that it does not match")
    published = None if labels is None else code_labels(labels, n)
    row_of = _core.shuffle_rows(n, seed)
    with reporter(progress, "votes") as report:
        base, distance, threshold, expected = graph.vote(sets.core, row_of, report)
    if published is not None:
        carried = np.empty_like(published.codes)
        carried[row_of[drawn]] = published.codes
        published = published.with_codes(carried)
    table = None if assignments is None else np.ascontiguousarray(assignments, dtype=np.uint32)
    return Release(
        base=Itemsets(base, sets.names),
        distance=Itemsets(distance, sets.names),
        threshold=threshold,
        labels=published,  # type: ignore[arg-type]  # coded; the release makes an array of it
        method=method,
        params={**({} if method is None else method.params()), **made_with(seed)},
        summary={
            "records": n,
            "items": sets.n_items,
            "matches": graph.smallest,
            "bound": None if seed is not None or method is None or method.bound is None else 1 / graph.smallest,
            "expected_error": expected,
            "threshold": {"mean": float(threshold.mean()), "largest": int(threshold.max())},
            **(summary or {}),
        },
        secret=Secret(
            original=sets,
            graph=graph,
            assignment=drawn,
            row_of=row_of,
            expected_error=expected,
            assignments=table,
            chosen=chosen,
            seed=None if seed is None else operator.index(seed),
        ),
        taxonomy=taxonomy,
    )
