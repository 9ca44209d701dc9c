"""Trials of draws: exact by all permutations of small groups, and silent about draws that are random."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from nominym.groups import Partition
from nominym.release import randomness

GROUPS = np.array([0, 0, 0, 0, 1, 1, 1], dtype=np.uint32)
FIRST = np.array([0, 0, 1, 2, 3, 3, 4], dtype=np.uint32)
SECOND = np.array([5, 6, 6, 6, 1, 2, 1], dtype=np.uint32)
PARTITION = Partition(GROUPS, np.arange(7, dtype=np.uint32))


def permutations() -> list[NDArray[np.int64]]:
    inside = [list(itertools.permutations(np.flatnonzero(group == GROUPS))) for group in range(2)]
    return [np.array([*a, *b]) for a, b in itertools.product(*inside)]


def moments(found: list[float]) -> tuple[float, float]:
    return float(np.mean(found)), float(np.var(found))


def test_the_law_of_what_stays_is_exact() -> None:
    trials = [randomness._unchanged("x", FIRST, FIRST[order], PARTITION) for order in permutations()]
    assert (trials[0].mean, trials[0].variance) == pytest.approx(moments([trial.found for trial in trials]))


def test_the_law_of_a_common_source_is_exact() -> None:
    """Fixing one of the two permutations changes nothing: the other is uniform relative to it."""
    records = set(zip(GROUPS, FIRST, SECOND, strict=True))
    found = []
    for order in permutations():
        second = randomness._Values.of(SECOND, SECOND[order], PARTITION)
        trial = randomness._same_source("", randomness._Values.of(FIRST, FIRST, PARTITION), second, PARTITION)
        rows = zip(GROUPS, FIRST, SECOND[order], strict=True)
        assert trial.found == sum(row in records for row in rows)
        found.append(trial.found)
    assert (trial.mean, trial.variance) == pytest.approx(moments(found))


def test_the_law_of_ranks_is_exact() -> None:
    ranks = randomness._ranks(FIRST, PARTITION)
    trials = [
        randomness._alike("", ranks, randomness._ranks(SECOND[order], PARTITION), PARTITION) for order in permutations()
    ]
    assert (0.0, trials[0].variance) == pytest.approx(moments([trial.found for trial in trials]), abs=1e-12)


def test_the_law_of_neighbours_is_exact() -> None:
    codes = np.array([0, 0, 0, 1, 1, 2], dtype=np.uint32)
    trials = [randomness._runs("", np.array(order)) for order in itertools.permutations(codes)]
    assert (trials[0].mean, trials[0].variance) == pytest.approx(moments([trial.found for trial in trials]))


def test_the_variance_of_records_that_keep_all_is_exact() -> None:
    """By all pairs of permutations."""
    means, variances = [], []
    for group in range(2):
        rows = np.flatnonzero(group == GROUPS)
        counts = [
            sum(
                FIRST[row] == FIRST[a] and SECOND[row] == SECOND[b]
                for row, a, b in zip(rows, first, second, strict=True)
            )
            for first in itertools.permutations(rows)
            for second in itertools.permutations(rows)
        ]
        means.append(np.mean(counts))
        variances.append(np.var(counts))
    found = randomness.spread([FIRST, SECOND], PARTITION, np.ones(7, dtype=bool))
    assert found == pytest.approx(max(1.0, sum(variances) / sum(means)))


@pytest.mark.parametrize(("records", "k", "kinds"), [(600, 5, (60, 40, 6)), (60, 2, (70,)), (300, 40, (300, 4))])
def test_random_draws_are_not_suspected(records: int, k: int, kinds: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    groups = (np.arange(records) // k).astype(np.uint32)
    partition = Partition(groups, np.arange(records, dtype=np.uint32))
    before = {str(at): np.sort(rng.integers(0, kind, records).astype(np.uint32)) for at, kind in enumerate(kinds)}
    for _ in range(100):
        after = {name: codes[np.lexsort((rng.random(records), groups))] for name, codes in before.items()}
        trials, staying = randomness.draw_trials(before, after, {}, partition)
        rows = rng.permutation(records).astype(np.uint32)
        assert not randomness.improbable([*trials, *staying], 1e-4)
        assert not randomness.improbable(randomness.row_trials(rows, before, partition), 1e-4)


def test_what_is_said_not_to_show_does_not_show() -> None:
    """A little less than the share that could have stayed is not suspected on average, and twice as much is."""
    rng = np.random.default_rng(1)
    n, k = 2_000, 10
    groups = (np.arange(n) // k).astype(np.uint32)
    partition = Partition(groups, np.arange(n, dtype=np.uint32))
    before = {name: rng.permutation(n).astype(np.uint32) for name in "xy"}

    def drawn(left: float) -> bool:
        stay = rng.random(n) < left
        moved = np.flatnonzero(~stay)
        after = {name: codes.copy() for name, codes in before.items()}
        for name in "xy":
            after[name][moved] = before[name][moved[np.lexsort((rng.random(len(moved)), groups[moved]))]]
        trials, staying = randomness.draw_trials(before, after, {}, partition)
        share.append(randomness.unseen(staying, len(trials), 1e-6))
        return bool(randomness.improbable([*trials, *staying], 1e-6))

    share: list[float] = []
    assert not drawn(0.0)
    assert 0.001 < share[0] < 0.05
    assert sum(drawn(share[0] / 2) for _ in range(10)) <= 2
    assert sum(drawn(2 * share[0]) for _ in range(10)) >= 8
