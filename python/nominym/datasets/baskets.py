"""Synthetic baskets of any number: clustered, with a long tail of rare items and an optional sensitive label."""

from __future__ import annotations

import secrets
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from nominym._core import Sets, draw_synthetic
from nominym.control import require
from nominym.datasets.discharges import _real, _whole
from nominym.itemsets import Itemsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Memory for each item drawn at the peak, measured: random numbers, and keys that are sorted.
_BYTES = 48


class _Stream(IntEnum):
    """The independent streams of random numbers; the numbers are part of what a seed means."""

    SIZES = 665
    PROFILES = 666
    FOLLOWS = 667
    ITEMS = 668
    LABELS = 669
    SHELVES = 670


class Baskets(NamedTuple):
    """Records, and the label of each, or None."""

    sets: Itemsets
    labels: NDArray[np.object_] | None


def baskets(
    n: int,
    seed: int | None = None,
    *,
    items: int = 500,
    size: float = 10.0,
    profiles: int | None = None,
    loyalty: float = 0.8,
    skew: float = 1.0,
    labels: int = 0,
) -> Baskets:
    """Return ``n`` synthetic baskets, with labels on request.

    Every basket has a profile, like a type of household; profiles and items have frequencies 1/rank^skew. Most items of
    a basket come from the short list of its profile, the others from all items. A few items are in many baskets, most
    in few, and baskets of one profile are similar.

    >>> import nominym as nym
    >>> sets, labels = nym.datasets.baskets(1000, seed=1, labels=20)
    >>> sets
    <Itemsets: 1,000 records of 500 items>
    >>> len(labels), len(set(labels))
    (1000, 20)

    :param n: number of baskets.
    :param seed: for reproducible baskets.
    :param items: number of items, named 0, 1, 2, …
    :param size: mean number of draws for a basket, at least one each; an item drawn twice is in it once, so baskets are
        somewhat smaller.
    :param profiles: number of profiles; by default one for every ten items.
    :param loyalty: share of draws from the list of the profile: 0 for no clusters, 1 for nothing but the list.
    :param skew: 0 for equal frequencies; the larger, the longer the tail.
    :param labels: number of different labels, "L000", "L001", …, with frequencies 1/(rank + 8) whatever the basket;
        0 for no labels.
    """
    n = _whole("n", n, 1, 2**32 - 2)
    items = _whole("items", items, 1, 2**31 - 1)
    size = _real("size", size, "at least 1", lambda value: 1 <= value < 2**31)
    profiles = max(items // 10, 1) if profiles is None else _whole("profiles", profiles, 1, 2**31 - 1)
    loyalty = _real("loyalty", loyalty, "from 0 to 1", lambda value: 0 <= value <= 1)
    skew = _real("skew", skew, "at least 0", lambda value: 0 <= value < np.inf)
    labels = _whole("labels", labels, 0, 10**6)
    require(int(n * size * _BYTES), f"{n:,} baskets of {size:g} items", "draw fewer")
    # One number for all streams, or the parts would not belong together.
    seed = secrets.randbits(64) if seed is None else _whole("seed", seed, 0, 2**64 - 1)
    # Geometric sizes: many small baskets, a few large ones.
    lots = draw_synthetic(n, seed, _Stream.SIZES)
    draws = 1 + (np.log1p(-lots) / np.log1p(-1 / size)).astype(np.int64) if size > 1 else np.ones(n, dtype=np.int64)
    draws = np.minimum(draws, 4 * items)
    profile = _pick(draw_synthetic(n, seed, _Stream.PROFILES), _zipf(profiles, skew))
    basket = np.repeat(np.arange(n), draws)
    total = len(basket)
    popular = _zipf(items, skew)
    item = _pick(draw_synthetic(total, seed, _Stream.ITEMS), popular)
    # The list of a profile: items by their popularity too, so that lists overlap in what everybody buys.
    shelf = min(max(round(2 * size), 1), items)
    shelves = _pick(draw_synthetic(profiles * shelf, seed, _Stream.SHELVES), popular**0.5).reshape(profiles, shelf)
    loyal = np.flatnonzero(draw_synthetic(total, seed, _Stream.FOLLOWS) < loyalty)
    # The item's place among all, brought down to a place on the list.
    item[loyal] = shelves[profile[basket[loyal]], (item[loyal] * shelf) // items]
    key = basket * np.int64(items) + item
    key.sort()
    key = key[np.concatenate(([True], key[1:] != key[:-1]))]
    held, codes = np.divmod(key, items)
    starts = np.concatenate(([0], np.cumsum(np.bincount(held, minlength=n))))
    core = Sets.make(items, starts.astype(np.uint64), codes.astype(np.uint32))
    assert isinstance(core, Sets)  # each item once
    sets = Itemsets(core, pa.array(np.arange(items)))
    if not labels:
        return Baskets(sets, None)
    weights = 1 / (np.arange(labels) + 9.0)
    names = np.array([f"L{i:03}" for i in range(labels)], dtype=object)
    return Baskets(sets, names[_pick(draw_synthetic(n, seed, _Stream.LABELS), weights)])


def _zipf(count: int, skew: float) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.arange(1, count + 1, dtype=np.float64) ** -skew
    return weights


def _pick(lots: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Turn uniform numbers into list positions, by weight."""
    ends = np.cumsum(weights)
    places: NDArray[np.int64] = np.minimum(np.searchsorted(ends, lots * ends[-1], side="right"), len(weights) - 1)
    return places
