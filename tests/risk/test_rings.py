"""What insiders learn from rings, against all assignments of small ones and against fresh draws of large ones."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest

import nominym as nym
from nominym import _core
from nominym.itemsets.graph import Ring
from nominym.risk import rings

METHODS = ("split", "augment", "closed-walk", "wmc")


@cache
def assignments(n: int, k: int) -> list[tuple[int, ...]]:
    """List the shifts of all assignments of a ring, by definition."""
    if n <= 8:
        every = (tuple((node - p) % n for p, node in enumerate(nodes)) for nodes in permutations(range(n)))
        return [shifts for shifts in every if max(shifts) < k]
    found: list[tuple[int, ...]] = []

    def extend(shifts: tuple[int, ...], taken: frozenset[int]) -> None:
        if len(shifts) == n:
            found.append(shifts)
            return
        for s in range(k):
            node = (len(shifts) + s) % n
            if node not in taken:
                extend((*shifts, s), taken | {node})

    extend((), frozenset())
    return found


@cache
def drawn(n: int, k: int, method: str, number: int, first: int) -> np.ndarray:
    order = np.arange(n, dtype=np.uint32)
    draws = [_core.assign_ring(order, k, method, seed)[1] for seed in range(first, first + number)]
    return (np.array(draws, dtype=np.int64) - order) % n


@pytest.fixture
def _quick(monkeypatch) -> None:
    """Draw from every small ring once."""
    usual = rings.draw_shifts
    kept: dict[tuple, np.ndarray] = {}

    def draw(n, k, method, seeds, progress=None) -> np.ndarray:
        key = n, k, method, seeds[0], len(seeds)
        if key not in kept:
            kept[key] = usual(n, k, method, seeds, progress)
        return kept[key]

    monkeypatch.setattr(rings, "draw_shifts", draw)


def test_every_assignment_has_a_constant_winding_number() -> None:
    for n, k in product(range(4, 9), (2, 3, 4)):
        for shifts in assignments(n, k):
            crossing = {sum((place - p) % n < shifts[p] for p in range(n)) for place in range(n)}
            assert crossing == {sum(shifts) // n}
            assert sum(shifts) % n == 0
    assert {len(assignments(n, 2)) for n in range(4, 9)} == {2}


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize(
    ("k", "method", "sizes"),
    [*((k, "split", range(4, 9)) for k in (2, 3, 4)), *((4, method, [7]) for method in METHODS[1:])],
)
def test_posteriors_are_those_of_all_assignments(k, method, sizes) -> None:
    """The law is that of 20,000 other draws; the mean posterior is then within 0.02 of the true one."""
    for n in sizes:
        draws = drawn(n, k, method, 20_000, 10**6)
        shifts, times = np.unique(draws, axis=0, return_counts=True)
        assert {*map(tuple, shifts.tolist())} <= {*assignments(n, k)}
        own = draws[0]
        order = np.random.default_rng(n).permutation(n).astype(np.uint32)
        assignment = np.empty(n, dtype=np.uint32)
        assignment[order] = order[(np.arange(n) + own) % n]
        for insiders in range(4):
            best = []
            for known in combinations(range(n), insiders):
                agree = (shifts[:, known] == own[list(known)]).all(axis=1)
                weights = times[agree] / times[agree].sum()
                others = {*range(n)} - {*known}
                best += [np.bincount(shifts[agree][:, target], weights, minlength=k).max() for target in others]
            found = rings.learn(Ring(order, k), assignment, method, insiders, 1, None)
            assert found.strange is None
            assert found.guesses @ found.times / found.times.sum() == pytest.approx(np.mean(best), abs=0.02), (
                n,
                insiders,
            )
            if k == 2 and insiders:
                assert found.guesses.min() == 1


@pytest.mark.parametrize(("n", "k"), [(14, 3), (12, 4), (11, 5)])
def test_walks_are_exact_where_all_assignments_are_equally_likely(n, k) -> None:
    every = np.array(assignments(n, k))
    windings = every.sum(axis=1) // n
    # Often enough for the half of a time that is added not to count.
    law = rings.Walked({w: np.tile(every[windings == w], (50, 1)) for w in range(k)}, k)
    rng = np.random.default_rng(1)
    for insiders in (1, 2, 4):
        known = np.array([rng.choice(n, insiders, replace=False) for _ in range(40)])
        own = every[rng.integers(len(every), size=40)]
        seen = np.take_along_axis(own, known, axis=1)
        for at, shifts, belief in zip(known, seen, law.beliefs(n, known, seen), strict=True):
            agree = every[(every[:, at] == shifts).all(axis=1)]
            assert sorted([*belief.positions, *at]) == list(range(n))
            for position, shares in zip(belief.positions, belief.near, strict=True):
                wanted = np.bincount(agree[:, position], minlength=k) / len(agree)
                assert shares == pytest.approx(wanted, abs=0.03)


@pytest.mark.parametrize(
    ("n", "k", "insiders", "method"),
    [
        *((300, k, 20, "split") for k in (3, 4, 6, 8, 12)),
        (300, 4, 80, "split"),
        (40, 5, 3, "split"),
        *((300, 4, 20, method) for method in METHODS[1:]),
    ],
)
def test_guesses_are_right_as_often_as_they_say(n, k, insiders, method) -> None:
    """In 300 fresh draws; four standard errors, of the draws and not of the records, which depend on each other."""
    draws = drawn(n, k, method, 1_500, 0)
    windings = draws.sum(axis=1) // n
    law = rings.Walked({w: draws[windings == w] for w in np.unique(windings).tolist()}, k)
    fresh = drawn(n, k, method, 300, 10**7)
    rng = np.random.default_rng(0)
    known = np.array([rng.choice(n, insiders, replace=False) for _ in fresh])
    over = []
    for own, at, belief in zip(fresh, known, law.beliefs(n, known, np.take_along_axis(fresh, known, 1)), strict=True):
        rest = np.setdiff1d(np.arange(n), np.concatenate([at, belief.positions]))
        assert len(rest) == belief.others
        said = belief.near.max(axis=1).sum() + belief.others * belief.far.max()
        right = (own[belief.positions] == belief.near.argmax(axis=1)).sum() + (own[rest] == belief.far.argmax()).sum()
        over.append((said - right) / (n - insiders))
    assert abs(np.mean(over)) < 4 * np.std(over) / len(over) ** 0.5 + 0.002


def test_all_walks_of_three_by_backtracking_move_everybody_alike() -> None:
    """So one insider learns everything of such a ring as well."""
    assert {len({*shifts}) for shifts in drawn(300, 3, "wmc", 200, 0).tolist()} == {1}


@pytest.mark.parametrize("method", METHODS)
def test_draws_of_the_method_are_not_strange(method) -> None:
    for k in (3, 4, 7):
        ring = Ring(np.arange(200, dtype=np.uint32), k)
        for seed in range(2):
            assignment = _core.assign_ring(ring.order, k, method, 50 + seed)[1]
            assert rings.learn(ring, assignment, method, 0, seed, None).strange is None


def test_a_ring_that_is_longer_than_those_that_are_drawn() -> None:
    ring = Ring(np.random.default_rng(1).permutation(50_000).astype(np.uint32), 4)
    assignment = _core.assign_ring(ring.order, 4, "split", 1)[1]
    found = rings.learn(ring, assignment, "split", 20, 1, None)
    assert found.means.mean() == pytest.approx(0.388, abs=0.01)
    assert found.times.sum() == len(found.means) * (50_000 - 20)
    with pytest.raises(nym.error.ParameterError, match="progress=1"):
        rings.learn(ring, assignment, "split", 20, 1, 1)
