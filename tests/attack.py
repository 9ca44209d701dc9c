"""The attack on swapped tables: an intruder knows the original tuples and looks for the row of each."""

from __future__ import annotations

import numpy as np


def joint_distance(before: np.ndarray, after: np.ndarray, distances: list[np.ndarray]) -> np.ndarray:
    """Measure every original tuple against every row of the release; columns of codes."""
    return sum(d[np.ix_(before[:, a], after[:, a])] for a, d in enumerate(distances))


def hits(score: np.ndarray) -> float:
    """Share of targets whose own row is guessed: the best row, any of equally good ones; row i belongs to target i."""
    best = score >= score.max(axis=1, keepdims=True) - 1e-12
    return float((np.diag(best) / best.sum(axis=1)).mean())


def nearest_row(before: np.ndarray, after: np.ndarray, distances: list[np.ndarray]) -> float:
    """Guess the row that is semantically nearest."""
    return hits(-joint_distance(before, after, distances))


def knowing(before: np.ndarray, after: np.ndarray, shown: list[np.ndarray]) -> float:
    """Guess knowing the mechanism: ``shown[a][i, v]`` is how likely the row of target i shows value v of attribute a.

    Likelihoods of all (target, row) become beliefs in which every row has one owner (Sinkhorn scaling).
    """
    belief = np.ones((len(before), len(after)))
    for a, chance in enumerate(shown):
        belief *= chance[:, after[:, a]] + 1e-9
    for _ in range(200):
        belief /= belief.sum(axis=1, keepdims=True)
        belief /= belief.sum(axis=0, keepdims=True)
    # Beliefs that scaling has not told apart are one belief.
    return hits(np.round(np.log(belief), 6))


def shown_by_groups(before: np.ndarray, groups: np.ndarray, categories: list[int]) -> list[np.ndarray]:
    """Give the exact chances where columns are permuted inside groups."""
    same = groups[:, None] == groups[None, :]
    chances = []
    for a, d in enumerate(categories):
        has = np.eye(d)[before[:, a]]
        chances.append((same @ has) / same.sum(axis=1, keepdims=True))
    return chances


def shown_by_reruns(before: np.ndarray, runs: list[np.ndarray], categories: list[int]) -> list[np.ndarray]:
    """Estimate the chances from runs of the mechanism on the same data."""
    chances = [np.zeros((len(before), d)) for d in categories]
    for after in runs:
        for a, chance in enumerate(chances):
            chance[np.arange(len(after)), after[:, a]] += 1 / len(runs)
    return chances
