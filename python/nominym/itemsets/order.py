"""Orders of set-valued records in which like ones follow each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nominym import _core
from nominym.control import Progress, check_seed, is_whole, reporter
from nominym.error import ParameterError
from nominym.itemsets.names import whole_numbers
from nominym.itemsets.sets import Itemsets, check_sets
from nominym.options import SEGMENT

if TYPE_CHECKING:
    from numpy.typing import NDArray


def gray_order(sets: Itemsets, *, progress: Progress = None) -> NDArray[np.uint32]:
    """Sort records by their rank in the Gray code of their bitmaps. Equal ones stay in their order.

    The first item is the highest bit. Nothing is unpacked: time grows with the items that records hold, times the
    logarithm of their number.

    >>> import nominym as nym
    >>> sets = nym.Itemsets.from_lists([[1, 2], [2, 3], [1, 2, 4], [2, 3, 4], [1, 2, 3], [1, 3, 4]])
    >>> nym.gray_order(sets)
    array([1, 3, 0, 2, 4, 5], dtype=uint32)

    References
    ----------
    Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012, section 4.1.
    """
    check_sets(sets=sets)
    with reporter(progress, "order") as report:
        return _core.order_gray(sets.core, None, report)


def gray_tsp_order(
    sets: Itemsets, segment: tuple[int, int] = SEGMENT, seed: int | None = None, *, progress: Progress = None
) -> NDArray[np.uint32]:
    """Cut the Gray order into segments where it costs least, and look for the shortest path in each.

    >>> import nominym as nym
    >>> sets = nym.Itemsets.from_lists([[1, 2], [2, 3], [1, 2, 4], [2, 3, 4], [1, 2, 3], [1, 3, 4]])
    >>> order = nym.gray_tsp_order(sets, seed=1)
    >>> nym.tour_length(sets, nym.gray_order(sets)), nym.tour_length(sets, order)
    (12, 10)

    Parameters
    ----------
    segment
        Least and largest number of records in a segment. Where the records cannot be cut so, the upper bound is raised
        to the next that allows it; fewer than the lower bound are one segment.
    seed
        For the tries that make paths shorter. The order tells nothing that records do not.

    References
    ----------
    Xue, Karras, Raïssi, Vaidya, Tan: "Anonymizing set-valued data by nonreciprocal recoding", KDD 2012, section 4.1.
    """
    check_sets(sets=sets)
    shortest, longest = check_segment(segment)
    check_seed(seed)
    with reporter(progress, "order") as report:
        return _core.order_gray_tsp(sets.core, shortest, longest, seed, report)


def best_order(sets: Itemsets, k: int, seed: int | None = None, *, progress: Progress = None) -> NDArray[np.uint32]:
    """Look for an order of all records whose rings of ``k`` have a small expected error.

    From a graph of records that are near each other come a short closed tour and the preorder of a spanning tree; the
    one with the smaller error at this k is given.

    >>> import nominym as nym
    >>> sets = nym.Itemsets.from_lists([[1, 2], [2, 3], [1, 2, 4], [2, 3, 4], [1, 2, 3], [1, 3, 4]])
    >>> sorted(nym.best_order(sets, 3, seed=1).tolist())
    [0, 1, 2, 3, 4, 5]
    """
    check_sets(sets=sets)
    if not is_whole(k) or not 1 <= k <= max(sets.n, 1):
        raise ParameterError(f"give a whole number from 1 to the {sets.n:,} records", parameter="k", value=k)
    check_seed(seed)
    with reporter(progress, "order") as report:
        return _core.order_best(sets.core, k, seed, report)


def tree_order(sets: Itemsets, seed: int | None = None, *, progress: Progress = None) -> NDArray[np.uint32]:
    """Return an order of all records in which like ones follow each other, cluster by cluster: a start for groups.

    It is the preorder of a spanning tree of the records that are near each other, small subtrees first.

    >>> import nominym as nym
    >>> sets = nym.Itemsets.from_lists([[1, 2], [7, 8, 9], [1, 2, 4], [7, 8], [1, 2, 3], [8, 9]])
    >>> order = nym.tree_order(sets, seed=1).tolist()
    >>> {*order[:3]} in ({0, 2, 4}, {1, 3, 5})
    True
    """
    check_sets(sets=sets)
    check_seed(seed)
    with reporter(progress, "order") as report:
        return _core.order_tree(sets.core, seed, report)


def tour_length(sets: Itemsets, order: Any, cyclic: bool = True) -> int:
    """Add up the distances (items that only one of two has) between consecutive records, and back to the first.

    >>> import nominym as nym
    >>> sets = nym.Itemsets.from_lists([[1, 2], [2, 3], [1, 2, 4], [2, 3, 4], [1, 2, 3], [1, 3, 4]])
    >>> nym.tour_length(sets, range(6)), nym.tour_length(sets, range(6), cyclic=False)
    (14, 11)
    """
    check_sets(sets=sets)
    return _core.tour_length(sets.core, check_order(order, sets.n), bool(cyclic))


def check_order(order: Any, n: int | None = None) -> NDArray[np.uint32]:
    """Refuse what is no order of ``n`` records, or of any number of them."""
    given = whole_numbers(order)
    if given is None:
        raise ParameterError("give a name, or the numbers of all records", parameter="order")
    n = len(given) if n is None else n
    if len(given) != n or not np.array_equal(np.sort(given), np.arange(n)):
        raise ParameterError(f"give each number from 0 to {n - 1:,} once", parameter="order")
    return np.ascontiguousarray(given, dtype=np.uint32)


def check_segment(segment: Any) -> tuple[int, int]:
    """Refuse what is no range of sizes."""
    sizes = whole_numbers(segment)
    if sizes is None or len(sizes) != 2 or not 2 <= sizes[0] <= sizes[1] < 2**32:
        what = "give the least and the largest number of records, 2 or more"
        raise ParameterError(what, parameter="segment", value=segment)
    return int(sizes[0]), int(sizes[1])
