"""Recoding: releases of set-valued records in which each record has k possible published forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from nominym import _core, groups
from nominym.control import Progress, check_seed, reporter
from nominym.error import NO_VALUE, Advice, DataError, ParameterError, warn
from nominym.guarantee import Guarantee, none, of_groups, of_labels
from nominym.itemsets import order as orders
from nominym.itemsets.concepts import check_taxonomy, closed
from nominym.itemsets.graph import Assignments, Graph, Groups, Ring
from nominym.itemsets.release import Release, code_labels, publish
from nominym.itemsets.sets import Itemsets, check_sets
from nominym.meaning import Taxonomy
from nominym.method import Method
from nominym.options import SEGMENT, Effort, Insiders, OrderName, RecodeOptions, RingMethod, Structure
from nominym.table import code

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.table import Column


_LEARNED = {3: 0.339, 4: 0.389, 5: 0.203, 6: 0.225, 7: 0.145, 8: 0.154, 10: 0.116, 12: 0.092, 16: 0.067}
"""By k, the mean probability with which 20 insiders among 5,000 records of a ring guess another's row, measured by
``risk.worlds``. Without insiders, or at odd k with insiders far away, it is 1/k."""

_GIVEN = "given"
"""Stands for an order given by number, and for a taxonomy: the method of a release does not keep them."""

_LABELLED = "anyone who knows the published labels of some records is an insider and learns about all others"
_REMEDY = Advice("use {}, or give {} if members may learn about each other", structure="groups", insiders="accepted")


class _Numbers:
    """The numbers of all records in an order, as a value that can be compared and hashed, and is not shown."""

    def __init__(self, order: Any) -> None:
        self.order = orders.check_order(order).copy()
        self.order.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Numbers) and np.array_equal(self.order, other.order)

    def __hash__(self) -> int:
        return hash(self.order.tobytes())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = np.asarray(self.order, dtype=dtype)
        return found.copy() if copy else found  # before version 2, numpy says nothing of copies

    def __repr__(self) -> str:
        return f"<{len(self.order):,} numbers>"


@dataclass(frozen=True, repr=False)
class Recode(RecodeOptions, Method):
    """Recoding of set-valued records and its options, which ``recode`` explains.

    >>> import nominym as nym
    >>> nym.itemsets.Recode(k=8)
    Recode(k=8)
    >>> nym.itemsets.Recode(k=8, structure="ring", order=[1, 0, 2])
    Recode(k=8, structure='ring', order=<3 numbers>, method='split')
    >>> nym.itemsets.Recode(k=8).bound, nym.itemsets.Recode(k=8, structure="ring").bound
    (0.125, None)
    """

    def __post_init__(self) -> None:
        """Check the options and their combination."""
        self._set("segment", orders.check_segment(self.segment))
        if self.order is None:
            self._set("order", self._usual_order)
        elif not isinstance(self.order, str | _Numbers):
            self._set("order", _Numbers(self.order))
        if self.method is None and isinstance(self.structure, str) and self.structure == "ring":
            self._set("method", "split")
        self.check_options()
        if self.limit is not None and self.limit >= 1e9:
            raise ParameterError("give less than 10^9 seconds", parameter="limit", value=self.limit)
        if (self.k is None) == (self.l is None):
            remedy = Advice("give {} (rows that a record may be) or {} (sensitive labels)", k=NO_VALUE, l=NO_VALUE)
            raise ParameterError("give one of the two numbers, not both", remedy=remedy)
        if self.least >= 2**32:
            raise ParameterError("too large for any set of records", parameter=self._said)
        if self.structure == "ring" and self.insiders == "refused":
            self._check_ring()
        names = (*get_args(OrderName), _GIVEN)
        if isinstance(self.order, str) and self.order not in names:
            what = f"give {', '.join(map(repr, names[:-1]))}, or the numbers of all records"
            raise ParameterError(what, parameter="order", value=self.order)
        if self.order != "gray-tsp" and self.segment != SEGMENT:
            what = "it applies only where order is 'gray-tsp'"
            raise ParameterError(what, parameter="segment", value=self.segment)
        if self.taxonomy is not None and self.taxonomy != _GIVEN:
            check_taxonomy(self.taxonomy)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def _usual_order(self) -> str:
        """Return the default order: groups start from clusters, the others are as published."""
        in_groups = isinstance(self.structure, str) and self.structure == "groups"
        return "tree" if in_groups and self.segment == SEGMENT else "gray-tsp"

    @property
    def implied(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return the order, if it is the default of the structure."""
        return ("order",) if self.order == self._usual_order else ()

    @property
    def _said(self) -> str:
        return "k" if self.l is None else "l"

    @property
    def least(self) -> int:
        """Return the number of forms that a record must have: k, or l."""
        return int(getattr(self, self._said))

    @property
    def bound(self) -> float | None:
        """Return the re-identification probability that groups of k guarantee, 1/k; None for rings, and for l.

        In a ring insiders learn more, and l is about labels that a group shows.
        """
        return 1 / self.least if self.l is None and self.structure != "ring" else None

    def _check_ring(self) -> None:
        """Raise on rings in which insiders learn everything, or in which anyone may be an insider."""
        if self.l is not None:
            raise ParameterError(f"in a ring {_LABELLED}", parameter="l", value=self.l, remedy=_REMEDY)
        if self.k == 2 or (self.k == 3 and self.method == "wmc"):
            how = "two assignments" if self.k == 2 else "assignments by 'wmc' that shift all records equally"
            what = f"a ring of {self.k} has {how}: one insider, who knows their own row, learns the rows of all"
            raise ParameterError(what, parameter="k", value=self.k, remedy=_REMEDY)

    def _warn_of_insiders(self) -> None:
        """Warn of what insiders learn from a ring, with the figure for this k where it was measured."""
        if self.least in _LEARNED:
            figures = f"{_LEARNED[self.least]:g} instead of {1 / self.least:.3g} at k = {self.least}"
        else:
            figures = "0.39, 0.22 and 0.15 instead of 0.25, 0.17 and 0.12 at k = 4, 6 and 8"
        warn(
            "all draws from a ring are bound together: insiders, who know their own rows, learn about others (20 of "
            f"5,000 guess a row with probability {figures}); nothing is guaranteed; use groups, or accept insiders"
        )

    def _statement(self, masked: Sequence[Any], kept: Sequence[Any], roots: Mapping[Any, Any]) -> Guarantee:
        if self.structure == "ring":
            return none(
                f"As published: each of the {self.least:,} rows that may be a record's is drawn with the same "
                "probability, but all draws from a ring are bound together, so members who know their own rows learn "
                "more about others, at k = 2 everything. Nothing is guaranteed against them; groups do not have this."
            )
        return of_labels(self.least) if self.l is not None else of_groups(self.least, masked, kept, what="all items")

    @property
    def public(self) -> Recode:
        """Return the method without the record numbers of a given order, and without a taxonomy."""
        order = self.order if isinstance(self.order, str) else _GIVEN
        return replace(self, order=order, taxonomy=None if self.taxonomy is None else _GIVEN)

    def params(self) -> dict[str, Any]:
        """Return the options in effect, for the record of a release."""
        segment = {"segment": self.segment} if self.order == "gray-tsp" else {}
        meant = {} if self.taxonomy is None else {"taxonomy": _GIVEN}
        return {**super().params(), "order": self.public.order, **segment, **meant}

    def apply(
        self,
        sets: Itemsets,
        labels: Any = None,
        seed: int | None = None,
        progress: Progress = None,
        person: Any = None,
    ) -> Release:
        """Publish the records so that each may be any of at least k rows, or groups show l labels."""
        check_sets(sets=sets)
        check_seed(seed)
        self.check_size(sets.n)
        if self.structure == "ring" and self.insiders == "refused":
            if labels is not None:
                raise ParameterError(f"in a ring {_LABELLED}", parameter="labels", remedy=_REMEDY)
            self._warn_of_insiders()
        meant = self._taxonomy()
        if meant is not None:
            sets = closed(sets, meant, progress=progress)
        sensitive = self._labels(sets, labels)
        persons = None if person is None else self._persons(sets, person)
        along = self._order(sets, seed, progress)
        codes = None
        if sensitive is not None and self.l is not None:
            # Numbered by appearance, for what seeds draw to stay what it was.
            codes = sensitive.arranged(np.argsort(sensitive.first_rows()).tolist()).codes
        elif persons is not None:
            codes = persons.codes
        graph, drawn, everything = self._match(sets, along, codes, seed, progress)
        assignments, chosen = everything or (None, None)
        return publish(
            sets,
            graph,
            drawn,
            method=self.public,
            labels=sensitive,
            assignments=assignments,
            chosen=chosen,
            summary=_summary(graph, sensitive, persons, meant),
            seed=seed,
            progress=progress,
            taxonomy=meant,
        )

    def check_size(self, records: int) -> None:
        """Refuse fewer records than each is to have forms."""
        if records < self.least:
            what = f"{records:,} records, but each needs {self.least:,} forms"
            remedy = "give a smaller number, or more records"
            raise DataError(what, parameter=self._said, value=self.least, remedy=remedy)

    def stated(self, labelled: bool, summary: Mapping[str, Any], seeded: bool) -> Guarantee:
        """State what a release guarantees, by what it says of labels and groups."""
        labels = ["the label"] if labelled else []
        said = self.statement(["the items"], labels, seeded=seeded)
        if said.kind == "groups" and "persons" in summary.get("groups", {}):
            return of_groups(self.least, ["the items"], labels, what="all items", person="of persons")
        return said

    def _taxonomy(self) -> Taxonomy | None:
        if isinstance(self.taxonomy, str):
            raise ParameterError("it was not kept; give it", parameter="taxonomy", value=self.taxonomy)
        meant: Taxonomy | None = self.taxonomy
        return meant

    def _labels(self, sets: Itemsets, labels: Any) -> Column | None:
        """Code the labels once, and raise on those that are too frequent for l."""
        if labels is None:
            if self.l is not None:
                remedy = Advice("give {}", labels=NO_VALUE)
                raise ParameterError("each record needs a sensitive label", parameter="l", value=self.l, remedy=remedy)
            return None
        column = code_labels(labels, sets.n)
        if self.l == 1:
            warn("l=1 publishes every record unchanged")
        frequent = int(np.argmax(column.counts))
        count = int(column.counts[frequent])
        if self.l is not None and count * self.l > sets.n:
            remedy = Advice("give {} or less, or divide the label", l=sets.n // count)
            if sets.n < 2 * count:
                few = f"leave out {2 * count - sets.n:,} of these records and give {{}}"
                remedy = Advice(f"no l is possible with this label: divide it, or {few}", l=2)
            raise DataError(
                f"label {column.categories[frequent]!r} is on {count:,} of {sets.n:,} records, more than 1/{self.l} "
                "of them",
                remedy=remedy,
            )
        return column

    def _persons(self, sets: Itemsets, person: Any) -> Column:
        """Code the persons, and raise on options that do not work with persons."""
        if self.structure != "groups" or self.l is not None:
            said = {"l": self.l} if self.l is not None else {"structure": self.structure}
            raise ParameterError(
                "only groups of k can be formed of persons",
                parameter="person",
                remedy=Advice("leave out {}", **said),
            )
        column = code(person, "person")
        if len(column) != sets.n:
            raise DataError(f"{len(column):,} persons for {sets.n:,} records; give one for each")
        groups.check_limits(self.least, column)
        return column

    def _order(self, sets: Itemsets, seed: int | None, progress: Progress) -> NDArray[np.uint32]:
        along = self.order
        if along == "gray":
            return orders.gray_order(sets, progress=progress)
        if along == "gray-tsp":
            return orders.gray_tsp_order(sets, self.segment, seed, progress=progress)
        if along == "best":
            return orders.best_order(sets, self.least, seed, progress=progress)
        if along == "tree":
            return orders.tree_order(sets, seed, progress=progress)
        if self.order == _GIVEN:
            raise ParameterError("the numbers of the records were not kept; give them", parameter="order", value=_GIVEN)
        return orders.check_order(self.order, sets.n)

    def _match(
        self,
        sets: Itemsets,
        order: NDArray[np.uint32],
        labels: NDArray[np.uint32] | None,
        seed: int | None,
        progress: Progress,
    ) -> tuple[Graph, NDArray[np.uint32], tuple[NDArray[np.uint32], int] | None]:
        """Match records with nodes and draw an assignment; also return all assignments, where there are any."""
        if self.structure == "ring":
            method = str(self.method)
            with reporter(progress, "assignment") as report:
                if labels is None:
                    everything, drawn = _core.assign_ring(order, self.least, method, seed, report)
                    return Ring(order, self.least), drawn, everything
                table = _core.match_diverse(sets.core, order, labels, self.least, seed, report)
                # The walks left most records in place in their first round, so an assignment is drawn from all matches.
                everything, drawn = _core.assign_matches(table, order, method, seed, report)
                return Assignments(table), drawn, everything
        with reporter(progress, "groups") as report:
            if self.structure == "groups":
                how = self.effort, self.limit
                group_of = _core.group_alike(sets.core, order, self.least, labels, *how, seed, report)
            else:
                group_of = _core.group_along(sets.core, order, self.least, labels, report)
        return Groups(group_of), _core.assign_groups(group_of, seed), None


def recode(
    sets: Itemsets,
    k: int | None = None,
    *,
    l: int | None = None,  # noqa: E741
    labels: Any = None,
    person: Any = None,
    structure: Structure = "groups",
    order: Any = None,
    method: RingMethod | None = None,
    segment: tuple[int, int] = SEGMENT,
    effort: Effort = "usual",
    limit: float | None = None,
    insiders: Insiders = "refused",
    taxonomy: Taxonomy | None = None,
    seed: int | None = None,
    progress: Progress = None,
) -> Release:
    """Publish set-valued records so that each may be any of at least k rows, or groups show l labels.

    Every record is matched with the published forms of k similar records, one of which is drawn to be its own. A
    published form consists of the items that most of its possible records have (*base*), the items on which they
    disagree (*distance*) and the largest number of items in which one of them differs from the base (*threshold*).

    >>> import nominym as nym
    >>> sets = nym.Itemsets.from_lists([[1, 2], [2, 3], [1, 2, 4], [2, 3, 4], [1, 2, 3], [1, 3, 4]])
    >>> rel = nym.recode(sets, k=3)
    >>> rel.summary["bound"], int(rel.compatible(sets).min()) >= 3
    (0.3333333333333333, True)

    With a taxonomy, items on which a group does not agree are published as what they have in common:

    >>> drinks = [("cola", "drinks"), ("tea", "drinks"), ("milk", "drinks"), ("drinks", "food"), ("rice", "food")]
    >>> tax = nym.Taxonomy.from_edges(drinks)
    >>> sets = nym.Itemsets.from_lists([["cola", "rice"], ["tea", "rice"], ["milk"]])
    >>> nym.recode(sets, k=3).base[0], nym.recode(sets, k=3, taxonomy=tax).base[0]
    (['rice'], ['drinks', 'rice'])

    Parameters
    ----------
    sets
        The records.
    k
        Number of published forms that are equally likely to be a record's, 2 or more.
    l
        Instead of k: every group shows at least l labels, each on at most a share 1/l of its rows. No label may be on
        more than a share 1/l of the records. Nothing is guaranteed about the probability of a row, or about what an
        adversary believes: groups depend on labels, so anyone who knows the rule can learn from who is grouped with
        whom (minimality). In a ring, labels move with the drawn records, so that some of the l labels published
        there may be the same.
    labels
        The sensitive label of each record, published with its form. Required for l, optional with k.
    person
        The person of each record, where a person has several: groups then hold k different persons. Not published.
    structure
        "groups": disjoint groups of k to 2k − 1 similar records, each of which matches all of its group. "ring": the
        published method; a record matches itself and the next k − 1 along the order, cyclically; with l, the nearest
        along the order with labels of their own. All draws from a ring depend on each other, so that insiders, members
        who know their own rows, learn more about others than in groups; nothing is guaranteed. "cahd": the baseline,
        groups of consecutive records.
    order
        "gray": records by their rank in Gray code; "gray-tsp": short paths inside segments of it; "best": an order
        found for this k from a graph of similar records; "tree": the preorder of a spanning tree of that graph, cluster
        by cluster; or the numbers of all records. By default "tree" for groups and "gray-tsp" for the others.
    method
        How to draw an assignment from a ring, for structure="ring" only: "split" (default) halves the graph along Euler
        circuits; "augment" extracts all k assignments by random walks, "closed-walk" as published, "wmc" with
        backtracking; then one is drawn. Each match is drawn with probability 1/k by all of them. With l, records find
        their matches by closed walks before that: each takes the next node of the order with another label.
    segment
        Least and largest number of records in the segments of "gray-tsp".
    effort, limit
        With groups: how hard to search for better ones ("none", "usual", "long"), and the time in seconds after which
        no further pass over the records begins. With a limit the result depends on the machine, not on the seed alone.
    insiders
        With a ring: "refused" warns of what insiders learn, and rejects rings of k = 2 (of 3 with "wmc"), in which one
        insider learns everything, and rings with labels, in which everybody whose label is known is an insider.
        "accepted" allows all of them.
    taxonomy
        What the items mean. Items then name concepts, by id, label or synonym, and every record is closed: it gets all
        concepts above its items, except the root, which all would have. Groups and votes use the closures, so that an
        item without a majority is published as the lowest concept above it that has one. A base is closed too;
        ``rel.lowest()`` returns its lowest concepts. The guarantee is the same.
    seed
        For studies: the same seed gives the same release. Whoever has it and the records knows the assignment, so a
        seeded release guarantees nothing.
    progress
        ``True`` for a bar, or a callable of (done, total).

    Returns
    -------
    Release
        Its rows are in random order. ``rel.secret`` is for the owner only.

    References
    ----------
    Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012.
    """
    chosen = Recode(k, l, structure, order, method, segment, effort, limit, insiders, taxonomy)
    return chosen.apply(sets, labels, seed, progress, person)


def _summary(graph: Graph, labels: Column | None, persons: Column | None, taxonomy: Taxonomy | None) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if taxonomy is not None:
        said["taxonomy"] = {"concepts": len(taxonomy), "links": taxonomy.links, "root": taxonomy.root}
    if isinstance(graph, Groups):
        sizes = np.bincount(graph.group_of)
        said["groups"] = {"count": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())}
        if persons is not None:
            # No person is in a group twice.
            said["groups"]["persons"] = int(sizes.min())
    if labels is not None:
        said["labels"] = {"number": len(labels.categories), "largest_share": float(labels.counts.max() / len(labels))}
    return said
