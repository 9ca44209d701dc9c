"""Recoding: releases of set-valued records in which each has k equally likely forms."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from nominym import _core
from nominym.control import Progress, check_seed, reporter
from nominym.error import NO_VALUE, Advice, DataError, ParameterError, PrivacyWarning
from nominym.itemsets import order as orders
from nominym.itemsets.graph import Assignments, Graph, Groups, Ring
from nominym.itemsets.release import Release, code_labels, publish
from nominym.itemsets.sets import Itemsets, check_sets
from nominym.method import Method, option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.table import Column

Structure = Literal["groups", "ring", "cahd"]
OrderName = Literal["gray", "gray-tsp", "best"]
RingMethod = Literal["split", "augment", "closed-walk", "wmc"]
Effort = Literal["none", "usual", "long"]

_GIVEN = "given"
"""The name of an order that was given by number: a release does not keep it."""


class _Numbers:
    """The numbers of all records in an order, as a value: it can be compared and hashed, and is not shown."""

    def __init__(self, order: Any) -> None:
        self.order = orders.check_order(order).copy()
        self.order.setflags(write=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Numbers) and np.array_equal(self.order, other.order)

    def __hash__(self) -> int:
        return hash(self.order.tobytes())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.order, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        return f"<{len(self.order):,} numbers>"


@dataclass(frozen=True, repr=False)
class Recode(Method):
    """Recoding of set-valued records with its options; ``recode`` explains them.

    >>> import nominym as nym
    >>> nym.itemsets.Recode(k=8)
    Recode(k=8)
    >>> nym.itemsets.Recode(k=8, structure="ring", order=[1, 0, 2])
    Recode(k=8, structure='ring', order=<3 numbers>, method='split')
    >>> nym.itemsets.Recode(k=8).bound
    0.125
    """

    command: ClassVar[str] = "recode"

    k: int | None = option(int, None, "Equally likely identities of a record.", least=2,
                           shown="k, equally likely identities")  # fmt: skip
    l: int | None = option(int, None, "In place of k: sensitive labels that a record may have.", least=1,  # noqa: E741
                           shown="l, sensitive labels")  # fmt: skip
    structure: Structure = option(str, "groups", "Who may be whom: groups, ring (as published), cahd (baseline).",
                                  choices=get_args(Structure), shown="Structure")  # fmt: skip
    order: Any = option(str, "gray-tsp", "Order of the records: gray-tsp, gray, best.", shown="Order of the records")
    method: RingMethod | None = option(str, None, "Draw from a ring by split (default), augment, closed-walk, wmc.",
                                       choices=get_args(RingMethod), only={"structure": ("ring",)},
                                       shown="Draw of the assignment")  # fmt: skip
    segment: tuple[int, int] = field(default=orders.SEGMENT)
    effort: Effort = option(str, "usual", "How long to search for better groups.", choices=get_args(Effort),
                            only={"structure": ("groups",)}, shown="Search for groups")  # fmt: skip
    limit: float | None = option(float, None, "Seconds after which the search for better groups ends.", least=0,
                                 only={"structure": ("groups",)}, shown="Limit of the search, seconds")  # fmt: skip

    def __post_init__(self) -> None:
        """Refuse what has no meaning, or two meanings."""
        if not isinstance(self.order, str | _Numbers):
            self._set("order", _Numbers(self.order))
        self._set("segment", orders.check_segment(self.segment))
        if self.method is None and isinstance(self.structure, str) and self.structure == "ring":
            self._set("method", "split")
        self.check_options()
        if self.limit is not None and self.limit >= 1e9:
            raise ParameterError("give less than 10^9 seconds", parameter="limit", value=self.limit)
        if (self.k is None) == (self.l is None):
            remedy = Advice("give {} (equally likely identities) or {} (sensitive labels)", k=NO_VALUE, l=NO_VALUE)
            raise ParameterError("one of two numbers is needed, not both", remedy=remedy)
        if self.least >= 2**32:
            raise ParameterError("there are never so many records", parameter=self._said)
        names = (*get_args(OrderName), _GIVEN)
        if isinstance(self.order, str) and self.order not in names:
            what = f"give {', '.join(map(repr, names[:-1]))}, or the numbers of all records"
            raise ParameterError(what, parameter="order", value=self.order)
        if self.order != "gray-tsp" and self.segment != orders.SEGMENT:
            what = "it plays a part only where order is 'gray-tsp'"
            raise ParameterError(what, parameter="segment", value=self.segment)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def _said(self) -> str:
        return "k" if self.l is None else "l"

    @property
    def least(self) -> int:
        """The number of forms that a record has to have: k, or l."""
        return int(getattr(self, self._said))

    @property
    def bound(self) -> float:
        """The probability that a certain row is a certain record's, at most: 1/k, or 1/l."""
        return 1 / self.least

    @property
    def public(self) -> Recode:
        """The method without the numbers of records, if the order was given by number."""
        return self if isinstance(self.order, str) else replace(self, order=_GIVEN)

    def params(self) -> dict[str, Any]:
        """List the options that play a part, for the record of a release."""
        segment = {"segment": self.segment} if self.order == "gray-tsp" else {}
        return {**super().params(), "order": self.public.order, **segment}

    def apply(self, sets: Itemsets, labels: Any = None, seed: int | None = None, progress: Progress = None) -> Release:
        """Publish the records so that each has k equally likely identities, or l among different labels."""
        check_sets(sets=sets)
        check_seed(seed)
        if sets.n < self.least:
            what = f"{sets.n:,} records, but each is to have {self.least:,} forms"
            remedy = "give a smaller number, or more records"
            raise DataError(what, parameter=self._said, value=self.least, remedy=remedy)
        sensitive = self._labels(sets, labels)
        along = self._order(sets, seed, progress)
        codes = None
        if sensitive is not None and self.l is not None:
            # Numbered by appearance, for what seeds draw to stay what it was.
            codes = sensitive.arranged(np.argsort(sensitive.first_rows()).tolist()).codes
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
            summary=_summary(graph, sensitive),
            seed=seed,
            progress=progress,
        )

    def _labels(self, sets: Itemsets, labels: Any) -> Column | None:
        """Code the labels, once, and refuse those that are too frequent for l."""
        if labels is None:
            if self.l is not None:
                remedy = Advice("give {}", labels=NO_VALUE)
                raise ParameterError("each record needs a sensitive label", parameter="l", value=self.l, remedy=remedy)
            return None
        column = code_labels(labels, sets.n)
        if self.l == 1:
            warnings.warn("l=1 publishes every record as it is", PrivacyWarning, stacklevel=4)
        frequent = int(np.argmax(column.counts))
        count = int(column.counts[frequent])
        if self.l is not None and count * self.l > sets.n:
            raise DataError(
                f"label {column.categories[frequent]!r} is on {count:,} of {sets.n:,} records, more than 1/{self.l} "
                "of them",
                remedy=Advice("give {} or less, or divide the label", l=sets.n // count),
            )
        return column

    def _order(self, sets: Itemsets, seed: int | None, progress: Progress) -> NDArray[np.uint32]:
        if self.order == "gray":
            return orders.gray_order(sets, progress=progress)
        if self.order == "gray-tsp":
            return orders.gray_tsp_order(sets, self.segment, seed, progress=progress)
        if self.order == "best":
            return orders.best_order(sets, self.least, seed, progress=progress)
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
        """Say who may be whom, and draw an assignment; all assignments, where there are such."""
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
    structure: Structure = "groups",
    order: Any = "gray-tsp",
    method: RingMethod | None = None,
    segment: tuple[int, int] = orders.SEGMENT,
    effort: Effort = "usual",
    limit: float | None = None,
    seed: int | None = None,
    progress: Progress = None,
) -> Release:
    """Publish set-valued records so that each has k equally likely identities, or l among different labels.

    Every record is matched with the published forms of k records like it, one of which is drawn to be its own. A
    published form is what most of the records say that may be it (*base*), the items on which they disagree
    (*distance*) and the number of items in which one of them differs from the base at most (*threshold*).

    >>> import nominym as nym
    >>> sets = nym.Itemsets.from_lists([[1, 2], [2, 3], [1, 2, 4], [2, 3, 4], [1, 2, 3], [1, 3, 4]])
    >>> rel = nym.recode(sets, k=3, order=[1, 3, 2, 0, 4, 5], structure="ring", seed=7)
    >>> rel.summary["matches"], int(rel.compatible(sets).min()) >= 3
    (3, True)

    Parameters
    ----------
    sets
        The records.
    k
        Number of published forms that are equally likely to be a record's, 2 or more.
    l
        Instead of k: the number of published forms that a record may have, those of records with l different labels. No
        label may be on more than a share 1/l of the records. In groups the l labels published there differ, which is
        all that is guaranteed about labels. In a ring, labels move along with the records that are drawn, so that some
        of the l labels published there may be the same.
    labels
        The sensitive label of each record, which is published beside its form. Needed for l; goes along with k.
    structure
        "groups": disjoint groups of k to 2k − 1 alike records, each of which matches all of its group. "ring": the
        published method; a record matches itself and the next k − 1 along the order, cyclically; with l, the nearest
        along the order with labels of their own. All draws from a ring are bound together, so that members who know
        their own rows learn more about others than in groups. "cahd": the baseline, groups of consecutive records.
    order
        "gray": records by their rank in Gray code; "gray-tsp": short paths inside segments of it; "best": an order
        found for this k from a graph of near records; or the numbers of all records.
    method
        How to draw an assignment from a ring, for structure="ring" only: "split" (default) halves the graph along Euler
        circuits; "augment" extracts all k assignments by random walks, "closed-walk" as published, "wmc" with
        backtracking; then one is drawn. Each match is drawn with probability 1/k by all of them. With l, records find
        their matches by closed walks before that: each takes the next node of the order with another label.
    segment
        Least and largest number of records in the segments of "gray-tsp".
    effort, limit
        With groups: how much to search for better ones ("none", "usual", "long"), and seconds after which no further
        pass over the records begins. With a limit the result depends on the machine, not on the seed alone.
    seed
        For studies: the same seed gives the same release. Whoever has it and the records knows the assignment, so a
        seeded release guarantees nothing.
    progress
        ``True`` for a bar, or a callable of (done, total).

    Returns
    -------
    Release
        Its rows are in random order. ``rel.secret`` is for the owner alone.

    References
    ----------
    Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012.
    """
    return Recode(k, l, structure, order, method, segment, effort, limit).apply(sets, labels, seed, progress)


def _summary(graph: Graph, labels: Column | None) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if isinstance(graph, Groups):
        sizes = np.bincount(graph.group_of)
        said["groups"] = {"count": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())}
    if labels is not None:
        said["labels"] = {"number": len(labels.categories), "largest_share": float(labels.counts.max() / len(labels))}
    return said
