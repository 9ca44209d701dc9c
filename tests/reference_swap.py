"""The published swapping algorithms record by record, O(n² log n): what the library is compared with."""

from __future__ import annotations

import numpy as np

Swapped = tuple[np.ndarray, list[int]]
"""Whose value each record has afterwards, and how many candidates each swap had."""


def most_distant(distances: np.ndarray, rng: np.random.Generator) -> int:
    """Draw a record with the largest sum of distances to all."""
    sums = distances.sum(axis=1)
    return int(rng.choice(np.flatnonzero(sums > sums.max() - 1e-9)))


def by_distance(row: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Order records by distance, equal ones at random."""
    return np.lexsort((rng.random(len(row)), np.round(row, 9)))


def farthest(row: np.ndarray, among: np.ndarray, rng: np.random.Generator) -> int:
    """Draw one of the farthest records among some."""
    reach = row[among]
    return int(rng.choice(among[reach > reach.max() - 1e-9]))


def ranked(order: np.ndarray, k: int, rng: np.random.Generator) -> Swapped:
    """Swap along a ranking, each with one of the next k that is unswapped."""
    n = len(order)
    origin, swapped, candidates = np.arange(n), np.zeros(n, dtype=bool), []
    for i in range(n):
        if swapped[i]:
            continue
        open_ = [j for j in range(i + 1, min(i + k + 1, n)) if not swapped[j]]
        candidates.append(len(open_))
        swapped[i] = True
        if open_:
            j = rng.choice(open_)
            swapped[j] = True
            origin[[order[i], order[j]]] = order[j], order[i]
    return origin, candidates


def fixed(distances: np.ndarray, k: int, rng: np.random.Generator) -> Swapped:
    """SRS-1: the ranking is by distance from the most distant value."""
    return ranked(by_distance(distances[most_distant(distances, rng)], rng), k, rng)


def dynamic(distances: np.ndarray, k: int, rng: np.random.Generator) -> Swapped:
    """SRS-2: a cluster of the k nearest around each reference; the next reference is the farthest unswapped."""
    (origin,), (candidates,) = records([distances], k, rng)
    return origin, candidates


def records(distances: list[np.ndarray], k: int, rng: np.random.Generator) -> tuple[list[np.ndarray], list[list[int]]]:
    """SRS-3: clusters of whole records; each attribute finds a partner of its own in them."""
    n, m = len(distances[0]), len(distances)
    mean = sum(distances) / m
    origin, swapped = [np.arange(n) for _ in range(m)], np.zeros((m, n), dtype=bool)
    candidates: list[list[int]] = [[] for _ in range(m)]
    reference = most_distant(mean, rng)
    while True:
        near = by_distance(mean[reference], rng)
        cluster = near[near != reference][:k]
        for a in range(m):
            if swapped[a, reference]:
                continue
            swapped[a, reference] = True
            open_ = cluster[~swapped[a, cluster]]
            candidates[a].append(len(open_))
            if len(open_):
                partner = rng.choice(open_)
                swapped[a, partner] = True
                origin[a][[reference, partner]] = partner, reference
        left = np.flatnonzero(~swapped.all(axis=0))
        if not len(left):
            return origin, candidates
        reference = farthest(mean[reference], left, rng)
