"""The public side of a result: a function of the groups and of the values, never of the draw."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym import groups
from nominym.content import plain
from nominym.table import single

TAX = nym.Taxonomy.from_edges([(f"{i:03}", f"{i // 3:03}") for i in range(1, 200)])
SEED = 8_912_345_678_901_234_567  # nothing else looks like it
MATRIX = nym.DistanceMatrix([[0, 1, 4], [1, 0, 2], [4, 2, 0]], ["low", "middle", "high"])


def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    names = np.array(TAX.ids, dtype=object)
    frame = pd.DataFrame(
        {
            "a": names[rng.integers(20, 200, 300)],
            "age": rng.integers(0, 90, 300),
            "sex": rng.choice(["f", "m"], 300),
            "note": rng.integers(0, 3, 300),
        }
    )
    frame.loc[::9, "a"] = None
    return frame


MEANINGS = {"a": TAX, "age": nym.Order(), "sex": nym.Equality()}


def public_bytes(res: nym.Result) -> bytes:
    """All that is public but the data."""
    return pickle.dumps(dataclasses.replace(res, data=None))


def leaves(held: Any) -> Iterator[Any]:
    if isinstance(held, dict):
        for key, value in held.items():
            yield key
            yield from leaves(value)
    elif isinstance(held, list | tuple):
        for value in held:
            yield from leaves(value)
    else:
        yield held


@pytest.mark.parametrize("draw", ["independent", "joint"])
def test_another_draw_on_the_same_groups_shows_the_same(draw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = table()
    first = nym.rank_swap(frame, MEANINGS, k=5, draw=draw, seed=SEED)
    kept = groups.Partition(first.secret.groups, np.argsort(first.secret.groups, kind="stable").astype(np.uint32))
    monkeypatch.setattr("nominym.groups.forming.form", lambda *_, **__: kept)
    made = [first, *(nym.rank_swap(frame, MEANINGS, k=5, draw=draw, seed=seed) for seed in (1, 2))]
    assert all(not made[0].data.equals(other.data) for other in made[1:])
    realised = {str(plain(res.secret.summary["attributes"])) for res in made}
    assert len(realised) == len(made)
    assert len({public_bytes(res) for res in made}) == 1
    assert len({repr(res) for res in made}) == 1
    assert len({json.dumps(plain([res.params, res.summary])) for res in made}) == 1
    # That there was a seed is public, and nothing more.
    free = nym.rank_swap(frame, MEANINGS, k=5, draw=draw)
    assert ({**free.summary, "bound": None}, repr(free)) == (first.summary, repr(first))
    assert free.summary["bound"] <= 1 / 5
    assert {**free.params, "seeded": True} == first.params
    assert free.params["seeded"] is False


@pytest.mark.parametrize(
    "make",
    [
        lambda frame, seed: nym.rank_swap(frame, MEANINGS, k=5, method="records", correlations=True, seed=seed),
        lambda frame, seed: nym.rank_swap(frame, MEANINGS, k=5, method="dynamic", seed=seed),
        lambda frame, seed: nym.add_noise(frame, {"a": TAX}, alpha=0.3, seed=seed),
        lambda frame, seed: nym.add_noise(frame, {"a": TAX}, method="exponential", epsilon=2, seed=seed),
        lambda frame, seed: nym.data_swap(frame, ["a", "sex"], 0.4, true_swaps=True, mode="sequential", seed=seed),
    ],
    ids=["records", "dynamic", "noise", "exponential", "data swap"],
)
def test_methods_without_a_guarantee_show_no_figure_of_the_draw(make) -> None:
    made = [make(table(), seed) for seed in (SEED, 1, 2)]
    assert len({public_bytes(res) for res in made}) == 1
    assert len({str(plain(res.secret.summary["attributes"])) for res in made}) == 3
    assert "guarantee" in made[0].summary["notes"][-1] or "privacy" in made[0].summary["notes"][-1]


@pytest.mark.parametrize("how", [{}, {"draw": "joint"}, {"method": "records"}, {"method": "fixed"}], ids=str)
def test_the_seed_is_the_owners(how) -> None:
    res = nym.rank_swap(table(), MEANINGS, k=5, seed=SEED, **how)
    assert res.secret.seed == SEED
    assert SEED not in [*leaves(res.params), *leaves(res.summary), *leaves(dataclasses.asdict(res.method))]
    for shown in (repr(res), str(res.params), str(res.summary), repr(res.secret)):
        assert str(SEED) not in shown
    for size, order in product((8, 9), ("little", "big")):
        assert SEED.to_bytes(size, order) not in pickle.dumps(res)


def test_the_public_side_has_expectations_only() -> None:
    res = nym.rank_swap(table(), MEANINGS, k=5, correlations=True, seed=1)
    assert set(res.summary) == {"records", "attributes", "groups", "bound", "notes"}
    expected = {"expected_rmse", "expected_unchanged", "expected_missing_moved"}
    realised = {"rmse", "unchanged", "missing_moved", "no_partner", "candidates", "fewer_than_k"}
    for name in MEANINGS:
        assert set(res.summary["attributes"][name]) == {"categories", "missing", "root", *expected}
        assert set(res.secret.summary["attributes"][name]) == {"categories", "missing", "root", *expected, *realised}
    assert set(res.secret.summary) == {*res.summary, "correlations"}


def test_the_owners_side_is_neither_pickled_nor_shown() -> None:
    res = nym.rank_swap(table(), MEANINGS, k=5, seed=SEED)
    for other in (pickle.loads(pickle.dumps(res)), copy.copy(res), copy.deepcopy(res)):
        assert other.secret is None
        assert (other.method, other.params, other.summary) == (res.method, res.params, res.summary)
        assert other.data.equals(res.data)
        with pytest.raises(nym.NominymError, match="only the owner's result has it"):
            other.linkage()
    assert copy.deepcopy(res.secret) is dataclasses.asdict(res)["secret"] is None
    for give in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="what only the owner may know is not pickled"):
            give(res.secret)
    assert repr(res.secret) == str(res.secret) == "<Secret: for the owner only>"
    assert repr(res) == "<Result of RankSwap(k=5): 300 records>"


CASES = {
    "taxonomy": (TAX, ["020", "021", "150", "022", "020", "199"]),
    "matrix": (MATRIX, ["low", "high", "middle", "low", "high", "high"]),
    "order": (nym.Order(), [3, 1, 4, 1, 5, 9]),
    "equality": (nym.Equality(), ["f", "m", "f", "m", "m", "m"]),
}
# One group of all, or two.
GROUPS = [[0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 0]]


def every_draw(group_of: np.ndarray) -> Iterator[np.ndarray]:
    """List from whom each record has its value, for all permutations inside groups."""
    members = [np.flatnonzero(group_of == group) for group in range(group_of.max() + 1)]
    for chosen in product(*(permutations(rows) for rows in members)):
        source = np.empty(len(group_of), dtype=np.intp)
        for rows, origin in zip(members, chosen, strict=True):
            source[rows] = origin
        yield source


@pytest.mark.parametrize("gaps", [[], [1], [0, 2], [0, 1, 2, 3]], ids=lambda gaps: f"{len(gaps)} missing")
@pytest.mark.parametrize("group_of", GROUPS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_expectations_are_those_of_all_permutations(case: str, group_of: list[int], gaps: list[int]) -> None:
    meaning, listed = CASES[case]
    values: list[Any] = [None if i in gaps else value for i, value in enumerate(listed[: len(group_of)])]
    if all(value is None for value in values):
        values[3] = listed[3]
    attribute = single(values, meaning)
    parts = np.array(group_of, dtype=np.uint32)
    found = groups.Partition(parts, np.argsort(parts, kind="stable").astype(np.uint32)).expected(attribute)
    of_value = dict(zip(map(str, attribute.column.categories), range(attribute.size), strict=True))
    squares = pairs = same = lost = draws = 0.0
    for source in every_draw(parts):
        draws += 1
        for value, other in zip(values, (values[i] for i in source), strict=True):
            if value is None:
                continue
            lost += other is None
            if other is not None:
                pairs += 1
                same += value == other
                squares += attribute.distances[of_value[str(value)], of_value[str(other)]] ** 2
    known = sum(value is not None for value in values)
    assert found["expected_rmse"] == pytest.approx(math.sqrt(squares / pairs), abs=1e-12)
    assert found["expected_unchanged"] == pytest.approx(same / draws / known)
    assert found["expected_missing_moved"] == pytest.approx(lost / draws, abs=1e-12)


def test_a_column_without_any_value_in_common() -> None:
    """Every draw gives the one value to a record that had none, or leaves it."""
    attribute = single(["020", None], TAX)
    parts = np.zeros(2, dtype=np.uint32)
    found = groups.Partition(parts, np.arange(2, dtype=np.uint32)).expected(attribute)
    assert found == {"expected_rmse": 0.0, "expected_unchanged": 0.5, "expected_missing_moved": 0.5}


@pytest.mark.parametrize("draw", ["independent", "joint"])
def test_figures_of_many_draws_have_the_expected_mean(draw: str, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = table().head(40)
    first = nym.rank_swap(frame, MEANINGS, k=5, draw=draw, seed=1)  # groups in which every column varies
    kept = groups.Partition(first.secret.groups, np.argsort(first.secret.groups, kind="stable").astype(np.uint32))
    monkeypatch.setattr("nominym.groups.forming.form", lambda *_, **__: kept)
    seeds, figures = 1_000, {name: [] for name in MEANINGS}
    for seed in range(seeds):
        res = nym.rank_swap(frame, MEANINGS, k=5, draw=draw, seed=seed)
        for name, realised in res.secret.summary["attributes"].items():
            records = 40 - realised["missing"] - realised["missing_moved"]
            figures[name].append([realised["rmse"] ** 2 * records, realised["unchanged"], realised["missing_moved"]])
    for name, told in first.summary["attributes"].items():
        records = 40 - told["missing"] - told["expected_missing_moved"]
        expected = [told["expected_rmse"] ** 2 * records, told["expected_unchanged"], told["expected_missing_moved"]]
        drawn = np.array(figures[name])
        error = drawn.std(axis=0, ddof=1) / math.sqrt(seeds)
        # Nine figures: 4.5 standard errors are passed once in ten thousand such tests.
        assert (np.abs(drawn.mean(axis=0) - expected) <= 4.5 * error + 1e-9).all(), name
        assert (error[:2] > 0).all()
