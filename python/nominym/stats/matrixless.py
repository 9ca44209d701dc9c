"""Distance covariance without a matrix of distances, where values are on a line, or are equal or not.

Squared, it is Σ a·b / n² − 2 Σ a̅·b̅ / n + the product of the overall means: over pairs of records, and over records with
the mean distance of each. With ``P`` distinct pairs of values this takes O(P log P), or O(P·d) where the other column
has a matrix of ``d`` categories.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from nominym.meaning import MANY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.table import Attribute

    Numbers = NDArray[np.float64]
    Codes = NDArray[np.uint32]

_ROWS = (128, 1_024)
"""Records that are compared with each other at once, at least and at most."""


def is_matrixless(attribute: Attribute) -> bool:
    """Tell whether an attribute has many categories, and distances that need no matrix."""
    return attribute.size > MANY and (attribute.space.positions is not None or not attribute.space.measured)


def covariance_squared(
    pairs: tuple[Codes, Codes, NDArray[np.uint64]],
    x: Attribute,
    y: Attribute,
    report: Callable[[int, int], object] | None = None,
) -> float:
    """Return the squared distance covariance of two attributes, one of which is matrixless.

    ``pairs`` are categories of both that records have, and the number of these.
    """
    sides = [(pairs[0], x), (pairs[1], y)]
    # Values that are equal or not first, then lines, then what has a matrix.
    sides.sort(key=lambda side: 0 if not side[1].space.measured else 1 if _line(side[1]) is not None else 2)
    (a, first), (b, second) = sides
    line, other = _line(first), _line(second)
    count: Numbers = pairs[2].astype(np.float64)
    n = float(count.sum())
    from_a = _sums(first, _by_category(a, count, first))[a] / n
    from_b = _sums(second, _by_category(b, count, second))[b] / n
    if line is None:
        # All pairs, but those that are equal in the first.
        products = n * math.fsum(count * from_b) - _within(first.places[a], b, count, second)
    elif other is not None:
        products = _of_lines(line[a], other[b], count)
    else:
        products = _along(line[a], b, count, second.distances, report)
    overall = math.fsum(count * from_a) * math.fsum(count * from_b) / n**2
    return products / n**2 - 2 * math.fsum(count * from_a * from_b) / n + overall


def _line(attribute: Attribute) -> Numbers | None:
    """Return the positions of the categories on a line, from 0."""
    if attribute.space.positions is None:
        return None
    at: Numbers = attribute.space.positions[attribute.places]
    found: Numbers = at - at.min(initial=math.inf)
    return found


def _by_category(codes: Codes, count: Numbers, attribute: Attribute) -> Numbers:
    found: Numbers = np.bincount(codes, count, attribute.size).astype(np.float64)
    return found


def _sums(attribute: Attribute, weights: Numbers) -> Numbers:
    """Return for each category the weighted sum of distances to all."""
    places, line = attribute.places, _line(attribute)
    if not attribute.space.measured:
        found: Numbers = weights.sum() - np.bincount(places, weights)[places]
        return found
    if line is None:
        return attribute.distances @ weights
    order = np.argsort(line)
    at, some = line[order], weights[order]
    below, moment = np.cumsum(some), np.cumsum(some * at)
    found = np.empty_like(line)
    found[order] = at * (2 * below - below[-1]) - 2 * moment + moment[-1]
    return found


def _within(group: Codes, b: Codes, count: Numbers, second: Attribute) -> float:
    """Sum the distances in the second column over all pairs of records of one group."""
    line = _line(second)
    if not second.space.measured:
        cells = group.astype(np.int64) * len(second.space) + second.places[b]
        same = np.bincount(np.unique(cells, return_inverse=True)[1].reshape(-1), count)
        return math.fsum(np.bincount(group, count) ** 2) - math.fsum(same**2)
    order = np.argsort(group, kind="stable") if line is None else np.lexsort((line[b], group))
    group, b, count = group[order], b[order], count[order]
    starts = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
    if line is not None:
        at = line[b]
        weight, moment = (_before(each, starts) for each in (count, count * at))
        return 2 * math.fsum(count * (at * weight - moment))
    total = 0.0
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(b)], strict=True):
        if end - start > 1:
            part, some = b[start:end], count[start:end]
            total += float(some @ second.distances[np.ix_(part, part)] @ some)
    return total


def _before(values: Numbers, starts: NDArray[np.int64]) -> Numbers:
    """Sum what stands before each place in its run; runs begin at ``starts``."""
    sums = np.cumsum(values) - values
    return sums - np.repeat(sums[starts], np.diff(np.append(starts, len(values))))


def _of_lines(x: Numbers, y: Numbers, count: Numbers) -> float:
    """Sum |x − x'|·|y − y'| over all pairs of records.

    That is (x − x')·(y − y'), a matter of moments, less twice the same of the pairs that x and y order differently.
    These are found as in counting inversions, bit by bit of the rank of y.
    """
    order = np.argsort(x, kind="stable")
    x, y, count = x[order], y[order], count[order]
    n = count.sum()
    # Around the mean, moments lose fewer digits; from the smallest, a constant is exactly 0.
    x, y = (each - count @ each / n for each in (x - x.min(), y - y.min()))
    ranks = np.unique(y, return_inverse=True)[1].reshape(-1)
    moments = np.stack([count, count * x, count * y, count * x * y])
    crossed = 0.0
    at = np.arange(len(x))
    for bit in reversed(range(int(ranks.max()).bit_length())):
        # Records that agree in the higher bits, each run of them in the order of x.
        rank = ranks[at]
        high = (rank >> bit) & 1 == 1
        runs = rank >> (bit + 1)
        starts = np.flatnonzero(np.concatenate(([True], runs[1:] != runs[:-1])))
        weight, of_x, of_y, of_both = (_before(each[at] * high, starts)[~high] for each in moments)
        low = at[~high]
        crossed += float(count[low] @ (x[low] * y[low] * weight - x[low] * of_y - y[low] * of_x + of_both))
        at = at[np.argsort(rank >> bit, kind="stable")]
    return float(2 * (n * moments[3].sum() - moments[1].sum() * moments[2].sum()) - 4 * crossed)


def _along(
    x: Numbers, b: Codes, count: Numbers, distances: Numbers, report: Callable[[int, int], object] | None
) -> float:
    """Sum |x − x'| times a distance of a matrix over all pairs of records, in the order of x.

    Block by block: all that comes before a block is summed by category.
    """
    order = np.argsort(x, kind="stable")
    x, b, count = x[order], b[order], count[order]
    # Picking cells of a matrix takes some times as long as a product with all of it.
    size = int(np.clip(len(distances) // 3, *_ROWS))
    earlier, total = np.zeros((len(distances), 2)), 0.0
    for start in range(0, len(x), size):
        part = slice(start, start + size)
        some, at, weights = b[part], x[part], np.stack([count[part], count[part] * x[part]], axis=1)
        sums = (distances @ earlier)[some] + np.tril(distances[np.ix_(some, some)], -1) @ weights
        total += float(count[part] @ (at * sums[:, 0] - sums[:, 1]))
        np.add.at(earlier, some, weights)
        if report is not None:
            report(min(start + size, len(x)), len(x))
    return 2 * total
