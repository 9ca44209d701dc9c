"""Synthetic baskets have the shape that was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from nominym.datasets import baskets
from nominym.error import ParameterError, SizeError


def sizes(sets) -> np.ndarray:
    return np.diff(sets.core.starts().astype(int))


def test_shape() -> None:
    sets, labels = baskets(20_000, seed=1, items=300, size=8)
    assert (sets.n, sets.n_items, sets.items) == (20_000, 300, tuple(range(300)))
    assert labels is None
    assert sizes(sets).min() >= 1
    assert 4 < sizes(sets).mean() < 8
    assert sizes(sets).max() > 20


def test_a_seed_gives_the_same_baskets() -> None:
    first, second = baskets(2000, seed=3, labels=5), baskets(2000, seed=3, labels=5)
    assert first.sets == second.sets
    assert first.labels.tolist() == second.labels.tolist()
    assert first.sets != baskets(2000, seed=4).sets
    assert baskets(2000).sets != baskets(2000).sets


def test_the_tail_is_long() -> None:
    def frequencies(skew: float) -> np.ndarray:
        return np.sort(baskets(50_000, seed=1, skew=skew, loyalty=0.0).sets.core.frequencies())[::-1] / 50_000

    flat, skewed = frequencies(0.0), frequencies(1.0)
    assert flat[0] < 1.3 * flat[-1]
    assert skewed[0] > 20 * skewed[250]


def test_baskets_of_one_profile_are_alike() -> None:
    def shared(loyalty: float) -> float:
        frame = baskets(2000, seed=1, loyalty=loyalty, profiles=50).sets.to_frame().to_numpy().astype(np.float32)
        common = frame @ frame.T
        np.fill_diagonal(common, 0)
        # The nearest other basket, by the share of items in common.
        return float((common.max(axis=1) / frame.sum(axis=1)).mean())

    assert shared(0.9) > shared(0.0) + 0.05


def test_labels_have_the_frequencies_asked_for() -> None:
    _, labels = baskets(200_000, seed=2, labels=470)
    names, counts = np.unique(labels.astype(str), return_counts=True)
    assert (len(names), names[0]) == (470, "L000")
    expected = 1 / (np.arange(470) + 9.0)
    expected *= 200_000 / expected.sum()
    # Chi-square with 469 degrees of freedom is above 570 once in a thousand.
    assert ((counts - expected) ** 2 / expected).sum() < 570


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 0},
        {"items": 0},
        {"size": 0.5},
        {"profiles": 0},
        {"loyalty": 2},
        {"skew": -1},
        {"labels": -1},
        {"seed": -1},
    ],
)
def test_mistakes_are_named(wrong) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        baskets(**{"n": 10, **wrong})


def test_odd_sizes() -> None:
    assert baskets(5, seed=1, items=1, size=1, loyalty=1.0).sets.to_lists() == [[0]] * 5
    assert baskets(50, seed=1, items=3, size=500).sets.n_items == 3
    with pytest.raises(SizeError, match="draw fewer"):
        baskets(2**32 - 2)
