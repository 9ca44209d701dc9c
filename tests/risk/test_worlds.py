"""Possible worlds against their definition, row by row."""

from __future__ import annotations

import itertools
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import error
from nominym.itemsets.graph import Groups, Ring
from nominym.itemsets.release import publish


def naive(rel, records: list[list[int]]) -> list[int]:
    rows = list(zip(rel.base.to_lists(), rel.distance.to_lists(), rel.threshold.tolist(), strict=True))
    return [
        sum({*record} ^ {*base} <= {*distance} and len({*record} ^ {*base}) <= most for base, distance, most in rows)
        for record in records
    ]


@given(st.lists(st.frozensets(st.integers(0, 8), max_size=5), min_size=6, max_size=30), st.integers(2, 4))
@settings(max_examples=50)
def test_every_count_is_that_of_the_definition(rows, k) -> None:
    records = [sorted(row) for row in rows]
    sets = nym.Itemsets.from_lists(records, items=range(9))
    rel = nym.recode(sets, k=k, order="gray", seed=1)
    counts = naive(rel, records)
    found = nym.risk.worlds(rel, sets, k=k)
    assert found.counts.tolist() == counts
    assert found.smallest == min(counts)
    assert found.quantiles["max"] == max(counts)
    assert found.by_rows == {"mean": pytest.approx(np.mean([1 / c for c in counts])), "largest": 1 / min(counts)}
    # Whoever does not know the groups has no more than that; whoever knows them has the size of the group.
    anybody = nym.risk.worlds(pickle.loads(pickle.dumps(rel)), sets, k=k)
    posteriors = np.array([1 / c for c in counts])
    above = {"above_2k": np.mean(posteriors > 2 / k), "above_half": np.mean(posteriors > 0.5)}
    assert anybody.posterior == pytest.approx({**found.by_rows, **above})
    sizes = np.bincount(rel.secret.graph.group_of)[rel.secret.graph.group_of]
    assert found.posterior["mean"] == pytest.approx((1 / sizes).mean())
    assert found.posterior["largest"] == 1 / sizes.min()
    assert (found.records, found.attacked) == (len(records), len(records))
    assert found.interval is None
    assert found.interval_below is None
    assert (found.holds, found.share_below, found.bound) == (True, 0.0, 1 / k)
    # What is guaranteed for k is not for more.
    above = nym.risk.worlds(rel, sets, k=max(counts) + 1)
    assert (above.holds, above.share_below) == (False, 1.0)


@pytest.fixture(scope="module")
def released():
    sets, _ = nym.datasets.baskets(1_500, seed=1, items=60)
    return sets, nym.recode(sets, k=4, structure="groups", order="gray", seed=1)


def test_samples(released) -> None:
    sets, rel = released
    whole = nym.risk.worlds(rel, sets, k=6)
    assert 0 < whole.share_below < 1
    covered = {"mean": 0, "below": 0}
    for seed in range(200):
        part = nym.risk.worlds(rel, sets, k=6, sample=200, seed=seed)
        assert (part.attacked, part.records, len(part.counts)) == (200, 1_500, 200)
        low, high = part.interval
        covered["mean"] += low <= whole.by_rows["mean"] <= high
        low, high = part.interval_below
        covered["below"] += low <= whole.share_below <= high
    # Of 200 intervals at 95 %, fewer than 178 cover once in some thousand.
    assert min(covered.values()) >= 178
    assert (
        nym.risk.worlds(rel, sets, sample=20, seed=1).to_dict()
        == nym.risk.worlds(rel, sets, sample=20, seed=1).to_dict()
    )


def test_what_is_shown(released) -> None:
    sets, rel = released
    found = nym.risk.worlds(rel, sets, k=4)
    assert repr(found).startswith("<Worlds of 1,500 records: ")
    assert "holds" in repr(found)
    told = json.loads(json.dumps(found.to_dict()))
    assert "counts" not in told
    assert told["posterior"]["largest"] <= 0.25
    with pytest.raises(ValueError, match="read-only"):
        found.counts[0] = 0
    plain = nym.risk.worlds(rel, sets, sample=10)
    assert (plain.bound, plain.holds, plain.share_below, plain.interval_below) == (None,) * 4
    assert "10 of 1,500" in repr(plain)
    seen = []
    nym.risk.worlds(rel, sets, progress=lambda done, total: seen.append((done, total)))
    done, total = zip(*seen, strict=True)
    assert done[-1] == total[0] == total[-1]  # distinct records, since equal ones are compared once


def test_refused(released) -> None:
    sets, rel = released
    how = {"l": 2, "labels": [i % 7 for i in range(1_500)], "structure": "ring", "insiders": "accepted"}
    labelled = nym.recode(sets, **how, order="gray", seed=1)
    assert nym.risk.worlds(labelled, sets, k=2).posterior["largest"] == 0.5
    few = nym.Itemsets.from_lists(sets.to_lists()[:700], items=sets.names.to_pylist())
    for call, message in (
        (lambda: nym.risk.worlds(sets, sets), "rel: a Release"),
        (lambda: nym.risk.worlds(rel, [[1]]), "sets: the original Itemsets"),
        (lambda: nym.risk.worlds(rel, nym.Itemsets.from_lists([])), "no records to look for"),
        (lambda: nym.risk.worlds(rel, sets, k=0), "k=0"),
        (lambda: nym.risk.worlds(rel, sets, sample=-1), "sample=-1"),
        (lambda: nym.risk.worlds(rel, sets, seed="x"), "seed='x'"),
        (lambda: nym.risk.worlds(rel, sets, progress=1), "progress=1"),
        *(
            (lambda x=x: nym.risk.worlds(rel, sets, insiders=x), f"insiders={x}: give a whole number from 0 to 1,499")
            for x in (-1, True, 1_500, 0.5)
        ),
        (lambda: nym.risk.worlds(pickle.loads(pickle.dumps(rel)), sets, insiders=1), "only the owner.s release"),
        (lambda: nym.risk.worlds(labelled, sets, insiders=1), "of a ring with l labels only .*; use groups"),
        (lambda: nym.risk.worlds(rel, few), "700 records, but the release was made from 1,500"),
    ):
        with pytest.raises(error.NominymError, match=message):
            call()
    others = nym.Itemsets.from_lists([list(range(59))], items=sets.names.to_pylist())
    with pytest.raises(error.DataError, match="1 of 1 records could be no row"):
        nym.risk.worlds(rel, others)


def test_insiders_of_groups_exactly() -> None:
    """Against every set of insiders, one by one."""
    sets = nym.Itemsets.from_lists([[i] for i in range(8)])
    group_of = np.array([0, 1, 1, 0, 1, 0, 1, 1], dtype=np.uint32)
    assignment = np.array([3, 2, 4, 5, 1, 0, 7, 6], dtype=np.uint32)
    rel = publish(sets, Groups(group_of), assignment, method=nym.Recode(k=3))
    for insiders in range(8):
        posteriors = []
        for known in itertools.combinations(range(8), insiders):
            left = np.bincount(np.delete(group_of, known), minlength=2)
            posteriors += [1 / left[group_of[i]] for i in range(8) if i not in known]
        found = nym.risk.worlds(rel, sets, k=3, insiders=insiders)
        assert found.insiders == insiders
        assert found.posterior == {
            "mean": pytest.approx(np.mean(posteriors)),
            "largest": pytest.approx(np.max(posteriors)),
            "above_2k": pytest.approx(np.mean(np.array(posteriors) > 2 / 3)),
            "above_half": pytest.approx(np.mean(np.array(posteriors) > 0.5)),
        }
        # 1/k is not guaranteed against insiders.
        assert found.holds == (insiders == 0)


def test_insiders_of_rings() -> None:
    """The figures that warnings and documentation give, and beside them those of groups."""
    sets, _ = nym.datasets.baskets(5_000, seed=1, items=60)
    for k, wanted in ((4, 0.389), (6, 0.225), (8, 0.154)):
        how = {"k": k, "order": "gray", "seed": 1}
        found = nym.risk.worlds(nym.recode(sets, structure="ring", insiders="accepted", **how), sets,
                                k=k, insiders=20, seed=1)  # fmt: skip
        assert found.posterior["mean"] == pytest.approx(wanted, abs=0.006)
        assert (found.holds, found.strange, found.share_below) == (False, None, 0)
        assert "BROKEN" in repr(found)
        assert "20 insiders: posterior 0." in repr(found)
        groups = nym.risk.worlds(nym.recode(sets, **how), sets, k=k, insiders=20)
        assert groups.posterior["mean"] < 1.02 / k
    rel = nym.recode(sets, k=2, structure="ring", insiders="accepted", order="gray", seed=1)
    found = nym.risk.worlds(rel, sets, k=2, insiders=1)
    assert found.posterior == {"mean": 1, "largest": 1, "above_2k": 0, "above_half": 1}
    nobody = nym.risk.worlds(rel, sets, k=2)
    assert (nobody.posterior["mean"], nobody.holds) == (0.5, True)


def test_seeds_of_the_attack() -> None:
    sets, _ = nym.datasets.baskets(400, seed=1, items=60)
    rel = nym.recode(sets, k=4, structure="ring", insiders="accepted", order="gray")
    one, same, other = (nym.risk.worlds(rel, sets, insiders=5, seed=seed).to_dict() for seed in (1, 1, 2))
    assert one == same != other


def test_assignments_that_were_not_drawn_are_found() -> None:
    """An owner who left everybody in place; the rows that records could be do not show it."""
    sets, _ = nym.datasets.baskets(400, seed=1, items=60)
    same, order = np.arange(400, dtype=np.uint32), nym.gray_order(sets)
    for graph, method in (
        (Ring(order, 4), nym.Recode(k=4, structure="ring", order="gray")),
        (Ring(order, 12), nym.Recode(k=12, structure="ring", order="gray")),
        (Groups(same // 4), nym.Recode(k=4, order="gray")),
    ):
        rel = publish(sets, graph, same, method=method)
        found = nym.risk.worlds(rel, sets, k=4)
        assert found.smallest >= 4
        assert found.holds is False
        wanted = "400 of 400 records are in place, where 100" if isinstance(graph, Groups) else "everybody is in place"
        assert found.strange.startswith(wanted)
    # Insiders of a ring who all find themselves in place suspect so of everybody.
    rel = publish(sets, Ring(order, 4), same, method=nym.Recode(k=4, structure="ring", order="gray"))
    assert nym.risk.worlds(rel, sets, insiders=20, seed=1).posterior["mean"] > 0.99
    # What may be by chance is not seen: one of two assignments, one of 24 permutations.
    rel = publish(sets, Ring(order, 2), same, method=nym.Recode(k=2, structure="ring", insiders="accepted"))
    assert nym.risk.worlds(rel, sets, k=2).holds is True
    assert nym.risk.worlds(rel, sets, k=2, insiders=1).holds is False
    few = nym.Itemsets.from_lists([[i] for i in range(4)])
    rel = publish(few, Groups(np.zeros(4, dtype=np.uint32)), np.arange(4), method=nym.Recode(k=4))
    assert nym.risk.worlds(rel, few, k=4).strange is None


def test_base_that_is_the_record_itself() -> None:
    sets = nym.Itemsets.from_lists([[i, i + 1] for i in range(50)])
    nothing = nym.Itemsets.from_lists([[]] * 50, items=sets.names.to_pylist())
    rel = nym.itemsets.Release(base=sets, distance=nothing, threshold=[0] * 50)
    found = nym.risk.worlds(rel, sets, k=4)
    assert (found.smallest, found.holds, found.share_below) == (1, False, 1)
    assert found.posterior == {"mean": 1, "largest": 1, "above_2k": 1, "above_half": 1}
    # Under another name: the owner's graph has groups of one.
    rel = publish(sets, Groups(np.arange(50, dtype=np.uint32)), np.arange(50), method=nym.Recode(k=4))
    assert nym.risk.worlds(rel, sets, k=4).holds is False
    assert nym.risk.worlds(rel, sets).posterior["mean"] == 1
