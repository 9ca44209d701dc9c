"""Groups and public figures depend on the values as a multiset: never on the order of the records, nor on spellings."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import nominym as nym


def objects(values: list) -> pd.Series:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return pd.Series(found)


def _zoned(rng: np.random.Generator) -> list:
    zones = [ZoneInfo(name) for name in ("Europe/Berlin", "Europe/Paris", "Europe/Rome")]
    return [dt.datetime(2020, 1, 1 + int(rng.integers(20)), tzinfo=zones[rng.integers(3)]) for _ in range(200)]


SPELLED = {
    "numbers and texts": lambda rng: [
        [int, str, Decimal, np.int64][rng.integers(4)](int(rng.integers(30))) for _ in range(200)
    ],
    "zones": _zoned,
}
SETS = {
    "lists, tuples, arrays": lambda rng: [
        [list, tuple, np.array][rng.integers(3)](list(rng.choice(9, 2, replace=False).tolist())) for _ in range(200)
    ],
    "long arrays": lambda rng: [np.append(np.arange(1_200), [2_000 + int(rng.integers(40))]) for _ in range(200)],
    "types of numbers": lambda rng: [
        np.array([int(rng.integers(9)), 10], dtype=[np.int32, np.int64][rng.integers(2)]) for _ in range(200)
    ],
}


def tuples_of_groups(frame: pd.DataFrame, res: nym.method.Result) -> Counter:
    """Write the tuples of each group, and count the groups that are alike."""
    rows = [
        repr([(type(v).__name__, repr(v.tolist()) if isinstance(v, np.ndarray) else repr(v)) for v in row])
        for row in frame.itertuples(index=False)
    ]
    groups = pd.Series(rows).groupby(res.secret.groups).agg(lambda part: tuple(sorted(part)))
    return Counter(groups)


CASES = {(name, "Equality"): draw for name, draw in SPELLED.items()}
CASES |= {(name, "Order"): draw for name, draw in SPELLED.items()}
CASES |= {(name, "Sets"): draw for name, draw in SETS.items()}


@pytest.mark.parametrize(("name", "meaning"), CASES)
def test_the_order_of_records_does_not_matter(name: str, meaning: str) -> None:
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"x": objects(CASES[name, meaning](rng)), "age": rng.integers(0, 40, 200)})
    meanings = {"x": getattr(nym, meaning)(), "age": nym.Order()}
    first = nym.rank_swap(frame, meanings, k=5, seed=3)
    for _ in range(3):
        other = frame.iloc[rng.permutation(200)].reset_index(drop=True)
        res = nym.rank_swap(other, meanings, k=5, seed=3)
        assert tuples_of_groups(frame, first) == tuples_of_groups(other, res)
        assert res.summary == first.summary


def test_what_means_the_same_is_read_off() -> None:
    lists = [list(np.roll(["a", "b", "c"], i)) for i in range(20)]
    frame = pd.DataFrame({"dx": objects(lists), "age": range(20)})
    res = nym.rank_swap(frame, {"dx": nym.Sets(), "age": nym.Order()}, k=5, seed=1)
    assert res.summary["groups"]["read_off"]["dx"] == {"groups": res.summary["groups"]["count"], "records": 20}
    assert res.summary["attributes"]["dx"]["expected_unchanged"] == 1.0
    tax = nym.Taxonomy.from_edges([("D1", "D0"), ("D2", "D0")], labels={"D1": "Coma"})
    spelled = ["D1", "coma", "Coma", "d1", "COMA"] * 4
    res = nym.rank_swap({"dx": spelled, "age": list(range(20))}, {"dx": tax, "age": nym.Order()}, k=5, seed=1)
    assert res.summary["groups"]["read_off"]["dx"]["records"] == 20
    assert res.summary["attributes"]["dx"]["expected_unchanged"] == 1.0


@pytest.mark.parametrize(
    "spellings", [[["hiv", "tb"], ["tb", "hiv"]], [1, "1", 1.0], [0.0, -0.0], [Decimal("2.50"), 2.5]], ids=str
)
def test_limits_count_values_not_spellings(spellings: list) -> None:
    values = [spellings[i % len(spellings)] for i in range(30)] + [f"other {i % 3}" for i in range(30)]
    if all(isinstance(value, float) for value in spellings):
        values = [value if isinstance(value, float) else float(value[-1]) + 1 for value in values]
    frame = pd.DataFrame({"age": np.arange(60) % 9, "hiv": objects(values)})
    if all(isinstance(value, float) for value in values):
        frame["hiv"] = frame["hiv"].astype(float)
    res = nym.rank_swap(frame, {"age": nym.Order()}, k=4, sensitive={"hiv": 2}, accept=["hiv"], seed=1)
    same = np.arange(60) < 30
    shares = pd.Series(same).groupby(res.secret.groups).mean()
    assert shares.max() <= 0.5
    assert res.summary["groups"]["sensitive"]["hiv"] <= 0.5


def test_persons_are_told_by_value() -> None:
    person = objects([[int, str][i % 2](i // 4) for i in range(80)])
    frame = pd.DataFrame({"age": np.arange(80) * 37 % 80, "who": person})
    res = nym.rank_swap(frame, {"age": nym.Order()}, k=5, person="who", seed=1)
    counts = pd.crosstab(res.secret.groups, [int(value) for value in person])
    assert (counts.max(axis=1) <= counts.sum(axis=1) / 5).all()


def test_attacks_on_many_sets() -> None:
    rng = np.random.default_rng(1)
    lists = [[f"i{x}" for x in rng.choice(900, 4, replace=False)] for _ in range(2_300)]
    res = nym.rank_swap(pd.DataFrame({"l": objects(lists)}), {"l": nym.Sets()}, k=5)
    found = res.linkage(k=5)
    assert found.bound == pytest.approx(0.2)
