"""Nonreciprocal recoding: releases of set-valued records in which each has k equally likely forms."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import DataError, ParameterError, PrivacyWarning
from nominym.frame import code
from nominym.itemsets import order as orders
from nominym.itemsets.graph import Assignments, Graph, Groups, Ring
from nominym.itemsets.release import Release, publish
from nominym.itemsets.sets import Itemsets
from nominym.rng import check_seed, is_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.frame import Column

Structure = Literal["ring", "groups", "cahd"]
OrderName = Literal["gray", "gray-tsp", "best"]
Method = Literal["split", "augment", "closed-walk", "wmc"]
Effort = Literal["none", "usual", "long"]


@dataclass(frozen=True)
class Request:
    """The arguments of a call, checked before anything is done."""

    k: int | None
    l: int | None  # noqa: E741
    structure: Structure
    order: Any
    method: Method
    segment: tuple[int, int]
    effort: Effort
    limit: float | None
    seed: int | None

    def __post_init__(self) -> None:
        """Refuse what has no meaning, or two meanings."""
        for name, kind in (("structure", Structure), ("method", Method), ("effort", Effort)):
            if getattr(self, name) not in get_args(kind):
                raise ParameterError(f"{name}={getattr(self, name)!r}: give {', '.join(map(repr, get_args(kind)))}")
        if isinstance(self.order, str) and self.order not in get_args(OrderName):
            names = ", ".join(map(repr, get_args(OrderName)))
            raise ParameterError(f"order={self.order!r}: give {names}, or the numbers of all records")
        orders.check_segment(self.segment)
        check_seed(self.seed)
        if (self.k is None) == (self.l is None):
            raise ParameterError("give k (equally likely identities) or l (sensitive labels), not both")
        if self.k is not None and (not is_whole(self.k) or self.k < 2):
            raise ParameterError(f"k={self.k!r}: give a whole number, 2 or more")
        if self.l is not None and (not is_whole(self.l) or self.l < 1):
            raise ParameterError(f"l={self.l!r}: give a whole number, 1 or more")
        self._check_combination()

    def _check_combination(self) -> None:
        if self.structure != "ring" and self.method != "split":
            raise ParameterError(f"method={self.method!r}: it extracts assignments from a ring; groups need none")
        if self.structure != "groups" and (self.effort != "usual" or self.limit is not None):
            raise ParameterError("effort= and limit= have a meaning with structure='groups' only")
        if self.limit is not None and (
            isinstance(self.limit, bool) or not isinstance(self.limit, Real) or not 0 < self.limit < 1e9
        ):
            raise ParameterError(f"limit={self.limit!r}: give seconds above 0, or None")

    @property
    def least(self) -> int:
        """The number of forms that a record has to have."""
        least = self.l if self.k is None else self.k
        assert least is not None
        return int(least)

    @property
    def params(self) -> dict[str, Any]:
        """What to say about the release."""
        said: dict[str, Any] = {"k" if self.l is None else "l": self.least}
        said["structure"] = self.structure
        said["order"] = self.order if isinstance(self.order, str) else "given"
        if said["order"] == "gray-tsp":
            said["segment"] = tuple(self.segment)
        if self.structure == "ring":
            said["method"] = self.method
        elif self.structure == "groups":
            said["effort"] = self.effort
            if self.limit is not None:
                said["limit"] = float(self.limit)
        return said


def recode(
    sets: Itemsets,
    k: int | None = None,
    *,
    l: int | None = None,  # noqa: E741
    labels: Any = None,
    structure: Structure = "ring",
    order: Any = "gray-tsp",
    method: Method = "split",
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
    >>> rel = nym.recode(sets, k=3, order=[1, 3, 2, 0, 4, 5], seed=7)
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
        label may be on more than a share 1/l of the records. In a ring, labels move along with the records that are
        drawn, so that some of the l labels published there may be the same; in groups all differ.
    labels
        The sensitive label of each record, which is published beside its form. Needed for l; goes along with k.
    structure
        "ring": a record matches itself and the next k − 1 along the order, cyclically; with l, the nearest along the
        order with labels of their own. This is the published method. "groups": disjoint groups of k to 2k − 1 alike
        records, each of which matches all of its group; less is lost, but groups are reciprocal. "cahd": the baseline,
        groups of consecutive records.
    order
        "gray": records by their rank in Gray code; "gray-tsp": short paths inside segments of it; "best": an order
        found for this k from a graph of near records; or the numbers of all records.
    method
        How to draw an assignment from a ring: "split" halves the graph along Euler circuits; "augment" extracts all
        k assignments by random walks, "closed-walk" as published, "wmc" with backtracking; then one is drawn. Each
        match is drawn with probability 1/k by all of them. With l, records find their matches by closed walks before
        that: each takes the next node of the order with another label.
    segment
        Sizes of the segments of "gray-tsp".
    effort, limit
        With groups: how much to search for better ones ("none", "usual", "long"), and seconds after which no further
        pass over the records begins. With a limit the result depends on the machine, not on the seed alone.
    seed
        For studies: the same seed gives the same release. Whoever has it and the records knows the assignment.

    Returns
    -------
    Release
        Its rows are in random order. ``rel.secret`` is for the owner alone.

    References
    ----------
    Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012.
    """
    if not isinstance(sets, Itemsets):
        raise ParameterError(f"records: give an Itemsets, not {type(sets).__name__}; see Itemsets.from_lists")
    request = Request(k, l, structure, order, method, segment, effort, limit, seed)
    check_progress(progress)
    if sets.n < request.least:
        raise DataError(f"{sets.n:,} records, but each is to have {request.least:,} forms; give fewer, or more records")
    sensitive = _labels(sets, labels, request)
    along = _order(sets, request, progress)
    codes = None if sensitive is None or request.l is None else sensitive.codes
    graph, drawn, everything = _match(sets, along, codes, request, progress)
    return publish(
        sets,
        graph,
        drawn,
        labels=sensitive,
        assignments=None if everything is None else everything[0],
        chosen=None if everything is None else everything[1],
        params=request.params,
        summary=_summary(sets, along, graph, sensitive),
        seed=seed,
        progress=progress,
    )


def _labels(sets: Itemsets, labels: Any, request: Request) -> Column | None:
    if labels is None:
        if request.l is not None:
            raise ParameterError(f"l={request.l}: give labels=, the sensitive label of each record")
        return None
    column = code(labels, "labels", missing="error")
    if len(column) != sets.n:
        raise DataError(f"{len(column):,} labels for {sets.n:,} records; give one for each")
    if request.l == 1:
        warnings.warn("l=1 publishes every record as it is", PrivacyWarning, stacklevel=3)
    if request.l is not None:
        frequent = int(np.argmax(column.counts))
        count = int(column.counts[frequent])
        if count * request.l > sets.n:
            raise DataError(
                f"label {column.categories[frequent]!r} is on {count:,} of {sets.n:,} records, more than 1/{request.l} "
                f"of them; give l up to {sets.n // count}, or divide the label"
            )
    return column


def _order(sets: Itemsets, request: Request, progress: Progress) -> NDArray[np.uint32]:
    if not isinstance(request.order, str):
        return orders.check_order(request.order, sets.n)
    if request.order == "gray":
        return orders.gray_order(sets, progress=progress)
    if request.order == "gray-tsp":
        return orders.gray_tsp_order(sets, request.segment, request.seed, progress=progress)
    return orders.best_order(sets, request.least, request.seed, progress=progress)


def _match(
    sets: Itemsets,
    order: NDArray[np.uint32],
    labels: NDArray[np.uint32] | None,
    request: Request,
    progress: Progress,
) -> tuple[Graph, NDArray[np.uint32], tuple[NDArray[np.uint32], int] | None]:
    """Say who may be whom, and draw an assignment; all assignments, where there are such."""
    least, seed = request.least, request.seed
    if request.structure == "ring":
        with reporter(progress, "assignment") as report:
            if labels is None:
                everything, drawn = _core.assign_ring(order, least, request.method, seed, report)
                return Ring(order, least), drawn, everything
            table = _core.match_diverse(sets.core, order, labels, least, seed, report)
            # The walks left most records in place in their first round, so an assignment is drawn from all matches.
            everything, drawn = _core.assign_matches(table, order, request.method, seed, report)
            return Assignments(table), drawn, everything
    with reporter(progress, "groups") as report:
        if request.structure == "groups":
            effort, limit = request.effort, request.limit
            group_of = _core.group_alike(sets.core, order, least, labels, effort, limit, seed, report)
        else:
            group_of = _core.group_along(sets.core, order, least, labels, report)
    return Groups(group_of), _core.assign_groups(group_of, seed), None


def _summary(sets: Itemsets, order: NDArray[np.uint32], graph: Graph, labels: Column | None) -> dict[str, Any]:
    said: dict[str, Any] = {"neighbour_distance": orders.tour_length(sets, order) / sets.n}
    if isinstance(graph, Groups):
        sizes = np.bincount(graph.group_of)
        said["groups"] = {"number": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())}
    if labels is not None:
        said["labels"] = {"number": len(labels.categories), "largest_share": float(labels.counts.max() / sets.n)}
    return said
