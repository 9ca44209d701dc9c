"""The guarantee on tables so small that everything can be enumerated: n = 4 to 8 records, all draws, all owners.

The adversary knows every masked tuple, the groups and the algorithm. For every release that can be drawn, the chance of
it is counted for each way of giving rows to people; the posterior follows by Bayes, exactly, in fractions.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest

import nominym as nym

Tuple = tuple[object, ...]
Release = tuple[Tuple, ...]


def draws(tuples: list[Tuple], owners: tuple[int, ...], joint: bool) -> Counter[Release]:
    """Count the ways to each release of a group in which row r belongs to person ``owners[r]``."""
    columns = [[tuples[person][a] for person in owners] for a in range(len(tuples[0]))]
    orders = list(permutations(range(len(tuples))))
    chosen = ([order] * len(columns) for order in orders) if joint else product(orders, repeat=len(columns))
    shown = (
        tuple(zip(*([column[r] for r in order] for column, order in zip(columns, each, strict=True)), strict=True))
        for each in chosen
    )
    return Counter(shown)


def posteriors(tuples: list[Tuple], joint: bool) -> dict[Release, dict[tuple[int, int], Fraction]]:
    """Return, for each release of a group, the posterior that row r belongs to person p."""
    found: dict[Release, dict[tuple[int, int], Fraction]] = {}
    totals: Counter[Release] = Counter()
    for owners in permutations(range(len(tuples))):
        for release, ways in draws(tuples, owners, joint).items():
            totals[release] += ways
            cells = found.setdefault(release, {})
            for row, person in enumerate(owners):
                cells[row, person] = cells.get((row, person), Fraction(0)) + ways
    return {release: {at: ways / totals[release] for at, ways in cells.items()} for release, cells in found.items()}


def tables() -> list[tuple[pd.DataFrame, int]]:
    rng = np.random.default_rng(1)
    made = []
    for n, k in [(4, 2), (5, 2), (6, 2), (6, 3), (7, 3), (8, 2), (8, 4)]:
        made += [(pd.DataFrame({"x": rng.integers(0, d, n), "y": rng.integers(0, d, n)}), k) for d in (2, 4)]
    return made


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize(("frame", "k"), tables())
def test_every_row_of_a_group_is_equally_likely(frame: pd.DataFrame, k: int, joint: bool) -> None:
    meanings = {"x": nym.Order(), "y": nym.Equality()}
    draw = "joint" if joint else "independent"
    groups = nym.rank_swap(frame, meanings, k=k, draw=draw, seed=1).secret.groups
    for group in np.unique(groups):
        tuples = [tuple(row) for row in frame[groups == group].itertuples(index=False)]
        assert len(tuples) >= k
        if len(tuples) > (4 if not joint else 6):
            continue  # (6!)² draws for each of 6! owners; those of 4 show all that there is
        for cells in posteriors(tuples, joint).values():
            assert set(cells.values()) == {Fraction(1, len(tuples))}


@pytest.mark.parametrize("seed", range(6))
def test_no_row_is_a_persons_with_more_than_one_in_k(seed: int) -> None:
    """With two rows for some people: the probability that a row is one of theirs, exactly, for every release."""
    rng = np.random.default_rng(seed)
    k, n = 2, 8
    frame = pd.DataFrame({"x": rng.integers(0, 4, n), "y": rng.integers(0, 3, n), "who": [0, 0, 1, 1, 2, 3, 4, 5]})
    res = nym.rank_swap(frame, {"x": nym.Order(), "y": nym.Equality()}, k=k, person="who", seed=seed)
    groups = res.secret.groups
    for group in np.unique(groups):
        inside = frame[groups == group]
        tuples = [tuple(row) for row in inside[["x", "y"]].itertuples(index=False)]
        who = inside["who"].tolist()
        assert max(Counter(who).values()) * k <= len(tuples)
        if len(tuples) > 4:
            continue
        for cells in posteriors(tuples, joint=False).values():
            for row in range(len(tuples)):
                for person in set(who):
                    mine = sum(cells[row, record] for record, each in enumerate(who) if each == person)
                    assert mine <= Fraction(1, k)


def test_a_known_kept_column_breaks_the_premise() -> None:
    """The enumeration can tell: a kept value that is known of a person leaves one row only."""
    tuples: list[Tuple] = [(0, 0), (1, 1), (2, 0)]
    ages = (31, 47, 62)
    for owners in permutations(range(3)):
        # The adversary knows everybody's age, and the rows show it: owners are read off, whatever was drawn.
        shown = [ages[person] for person in owners]
        assert tuple(ages.index(age) for age in shown) == owners
    assert all(set(cells.values()) == {Fraction(1, 3)} for cells in posteriors(tuples, joint=False).values())


def test_groups_that_depend_on_a_kept_column_leak() -> None:
    """Why there is no bound with sensitive columns: of six records, four rows are known for certain.

    The adversary knows everybody's x, the algorithm and the groups {0, 2}, {1, 3}, {4, 5}, whose rows show p and q, p
    and r, q and r. The two records with x = 0 would be one group, were their values of s not the same: both are p.
    """
    x, seen = [0, 0, 10, 12, 14, 16], Counter()
    for first, second, third in product(permutations("pq"), permutations("pr"), permutations("qr")):
        kept = [first[0], second[0], first[1], second[1], *third]
        for _ in range(30):
            res = nym.rank_swap({"x": x, "s": kept}, {"x": nym.Order()}, k=2, sensitive={"s": 2}, accept=["s"])
            groups = res.secret.groups
            pairs = {frozenset(np.flatnonzero(groups == group).tolist()) for group in range(3)}
            seen["".join(kept)] += pairs == {frozenset({0, 2}), frozenset({1, 3}), frozenset({4, 5})}
    assert {kept for kept, times in seen.items() if times} == {"ppqrqr", "ppqrrq"}
    assert res.summary["bound"] is None
    assert res.guarantee.bound is None
    assert res.guarantee.kind == "labels"


def test_partitions_apart_leak() -> None:
    """Two columns in groups of their own: some rows have fewer owners than either group has members."""
    people: list[Tuple] = [(0, 0), (0, 1), (1, 0), (1, 1)]
    by_column = [[(0, 1), (2, 3)], [(0, 2), (1, 3)]]

    def releases(owners: tuple[int, ...]) -> Counter[Release]:
        """Rows of ``owners``; each column is permuted inside its own groups of people."""
        shown = Counter()
        for flips in product([False, True], repeat=4):
            columns = []
            for a, pairs in enumerate(by_column):
                value = {person: people[person][a] for person in range(4)}
                for flip, (p, q) in zip(flips[2 * a : 2 * a + 2], pairs, strict=True):
                    if flip:
                        value[p], value[q] = value[q], value[p]
                columns.append([value[person] for person in owners])
            shown[tuple(zip(*columns, strict=True))] += 1
        return shown

    # Inside these groups values are equal, so that every row keeps its tuple: everybody is found.
    assert all(len(releases(owners)) == 1 for owners in permutations(range(4)))
