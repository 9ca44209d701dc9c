"""The guarantee of groups, attacked; and the published algorithms, to see that the attack can tell."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations

import numpy as np
import pytest

import attack
import nominym as nym
from nominym import _core


def line(d: int) -> np.ndarray:
    """Distances of categories on a line."""
    return np.abs(np.subtract.outer(np.arange(d), np.arange(d))).astype(np.float64)


def strict(columns: list[np.ndarray], k: int, seed: int, joint: bool = False) -> tuple[list[np.ndarray], np.ndarray]:
    columns = [c.astype(np.uint32) for c in columns]
    groups, records = _core.group_records(columns, [line(int(c.max()) + 1) for c in columns], k, False, seed)
    return _core.permute_groups(columns, groups, joint, seed, None, records), groups


def chi_square(counts: np.ndarray) -> float:
    """Standardised chi-square against equal frequencies along the last axis."""
    expected = counts.sum(axis=-1, keepdims=True) / counts.shape[-1]
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = counts.size - counts.shape[:-1][0]
    return float((statistic - freedom) / np.sqrt(2 * freedom))


@pytest.mark.parametrize(
    "people",
    [
        [[0, 1, 2], [0, 1, 2]],  # all different
        [[0, 1, 1], [0, 1, 2]],  # a value twice
        [[0, 1, 2], [0, 1, 1]],  # a gap is one value more: the last category stands for it
        [[0, 0, 1], [0, 1, 1]],
    ],
)
def test_who_is_who_stays_open(people: list[list[int]]) -> None:
    """Rows are given to people at random; knowing everybody's tuple and the release tells nothing about it.

    That all assignments are equally likely also says what an insider is worth: who knows their own row is left with
    equally likely assignments of the others, 1/(k−1) each.
    """
    tuples = np.array(people)
    orders = list(permutations(range(3)))
    rng = np.random.default_rng(0)
    seen: dict[tuple[int, ...], np.ndarray] = defaultdict(lambda: np.zeros(len(orders)))
    for seed in range(20_000):
        which = rng.integers(len(orders))
        rows = tuples[:, orders[which]]
        after, _ = strict(list(rows), 3, seed)
        seen[tuple(np.concatenate(after).tolist())][which] += 1
    table = np.array(list(seen.values()))
    assert len(table) > 3
    # Beyond 5 happens less than once in a hundred thousand; cyclic shifts instead of permutations give hundreds.
    assert chi_square(table) < 5


def test_gaps_that_stay_would_tell() -> None:
    """The test above can fail: with a gap that stays in its row, the release tells whose row it is."""
    tuples = np.array([[0, 1, 2], [0, 1, 1]])
    orders = list(permutations(range(3)))
    rng = np.random.default_rng(0)
    seen: dict[tuple[int, ...], np.ndarray] = defaultdict(lambda: np.zeros(len(orders)))
    for _ in range(5_000):
        which = rng.integers(len(orders))
        rows = tuples[:, orders[which]]
        first = rows[0].copy()
        known = np.flatnonzero(first != 2)  # 2 stands for the gap
        first[known] = rng.permutation(first[known])
        seen[(*first.tolist(), *rng.permutation(rows[1]).tolist())][which] += 1
    assert chi_square(np.array(list(seen.values()))) > 100


@pytest.mark.parametrize("k", [2, 3, 5])
def test_no_row_shows_an_origin_more_often_than_one_in_k(k: int) -> None:
    n, runs = 23, 3_000
    rng = np.random.default_rng(1)
    columns = [rng.permutation(n) for _ in range(3)]  # every value names its origin
    shown = np.zeros((3, n, n))
    for seed in range(runs):
        after, _ = strict(columns, k, seed)
        for a, codes in enumerate(after):
            shown[a, np.arange(n), codes] += 1 / runs
    error = np.sqrt(1 / k * (1 - 1 / k) / runs)
    # 1,587 pairs: five standard errors are passed once in a thousand such tests.
    assert shown.max() < 1 / k + 5 * error
    assert shown.max() > 1 / (2 * k)


@pytest.mark.parametrize(("m", "k"), [(2, 5), (3, 2), (3, 10)])
def test_the_attack_stays_at_one_in_k_and_tells_the_published(m: int, k: int) -> None:
    frame, taxonomies = nym.datasets.discharges(400, seed=7)
    names = ["diagnosis", "procedure", "secondary"][:m]
    masked = {name: taxonomies[name] for name in names}
    values = {name: sorted(set(frame[name])) for name in names}
    distances = [taxonomies[name].distance_matrix(values[name]).astype(np.float64) for name in names]
    sizes = [len(values[name]) for name in names]

    def codes(data) -> np.ndarray:
        return np.column_stack([np.searchsorted(values[name], data[name].astype(str)) for name in names])

    before = codes(frame)
    frame = frame[names]

    def rates(seeds: range, **how) -> tuple[float, float]:
        near, aware = [], []
        # The chances are known exactly for groups, and estimated from runs of the mechanism for the others.
        again = range(1_000, 1_200) if how else ()
        runs = [codes(nym.rank_swap(frame, masked, k=k, seed=s, **how).data) for s in again]
        for seed in seeds:
            res = nym.rank_swap(frame, masked, k=k, seed=seed, **how)
            after = codes(res.data)
            if how:
                chances = attack.shown_by_reruns(before, runs, sizes)
            else:
                chances = attack.shown_by_groups(before, res.secret.groups, sizes)
            near.append(attack.nearest_row(before, after, distances))
            aware.append(attack.knowing(before, after, chances))
        return float(np.mean(near)), float(np.mean(aware))

    kept = rates(range(5))
    # 2,000 guesses, each right with a chance of 1/k at most.
    error = np.sqrt(1 / k * (1 - 1 / k) / 2_000)
    assert max(kept) < 1 / k + 4 * error
    assert max(rates(range(3), method="records")) > 1.2 / k
    assert max(rates(range(3), method="dynamic")) > 1.4 / k


def test_joint_draw_keeps_tuples_and_separate_calls_are_noticed() -> None:
    frame, taxonomies = nym.datasets.discharges(800, seed=2)
    frame = frame.drop(columns=["age_group", "length_of_stay"])
    masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    res = nym.rank_swap(frame, masked, k=3, draw="joint", seed=1, correlations=True, accept="secondary")
    tuples = [sorted(zip(d["diagnosis"], d["procedure"], strict=True)) for d in (frame, res.data)]
    assert tuples[0] == tuples[1]
    assert res.secret.summary["correlations"]["difference"].abs().max() < 1e-12
    with pytest.warns(
        nym.PrivacyWarning, match="diagnosis, procedure of this table: already masked in an earlier call"
    ):
        again = nym.rank_swap(res, {"secondary": taxonomies["secondary"]}, k=5, accept=list(masked), seed=1)
    assert "no guarantee holds for both together" in again.summary["notes"][0]
    with pytest.warns(nym.PrivacyWarning, match="diagnosis, procedure of this table"):
        nym.rank_swap(res, masked, k=5, accept=["secondary"], seed=1)
    # Beside a guarantee, any further masking; without one there is none to lose.
    third = {"secondary": taxonomies["secondary"]}
    with pytest.warns(
        nym.PrivacyWarning, match="diagnosis, procedure of this table: already masked in an earlier call"
    ):
        nym.add_noise(res, third, alpha=0.3, seed=1)
    with pytest.warns(nym.PrivacyWarning, match="diagnosis, procedure of this table"):
        nym.data_swap(res, ["sex"], seed=1)
    published = nym.rank_swap(frame, masked, k=5, method="records", seed=1)
    nym.rank_swap(published, third, k=5, method="records", seed=1)
    with pytest.warns(
        nym.PrivacyWarning, match="diagnosis, procedure of this table: already masked in an earlier call"
    ):
        nym.rank_swap(published, third, k=5, accept=list(masked), seed=1)
