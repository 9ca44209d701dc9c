"""Possible worlds against their definition, row by row."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import error


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
    assert found.posterior == {"mean": pytest.approx(np.mean([1 / c for c in counts])), "largest": 1 / min(counts)}
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
        covered["mean"] += low <= whole.posterior["mean"] <= high
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
    assert seen[-1] == (1_500, 1_500)


def test_refused(released) -> None:
    sets, rel = released
    for call, message in (
        (lambda: nym.risk.worlds(sets, sets), "rel: a Release"),
        (lambda: nym.risk.worlds(rel, [[1]]), "sets: the original Itemsets"),
        (lambda: nym.risk.worlds(rel, nym.Itemsets.from_lists([])), "no records to look for"),
        (lambda: nym.risk.worlds(rel, sets, k=0), "k=0"),
        (lambda: nym.risk.worlds(rel, sets, sample=-1), "sample=-1"),
        (lambda: nym.risk.worlds(rel, sets, seed="x"), "seed='x'"),
        (lambda: nym.risk.worlds(rel, sets, progress=1), "progress=1"),
    ):
        with pytest.raises(error.NominymError, match=message):
            call()
    others = nym.Itemsets.from_lists([list(range(59))], items=sets.names.to_pylist())
    with pytest.raises(error.DataError, match="1 of 1 records could be no row"):
        nym.risk.worlds(rel, others)
