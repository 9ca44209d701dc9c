"""Data swapping: its law, what it keeps, what it tells, what it refuses."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import error
from reference_distortion import feasible_pairs, law

KINDS = [
    {},
    {"true_swaps": True},
    {"equal": ["sex"]},
    {"unequal": ["married"]},
    {"equal": ["sex"], "unequal": ["married"]},
    {"equal": ["sex"], "true_swaps": True},
    {"unequal": ["married"], "true_swaps": True},
    {"equal": ["sex"], "unequal": ["married"], "true_swaps": True},
    {"unequal": ["married", "sex"], "true_swaps": True},
]
every_kind = pytest.mark.parametrize("how", KINDS, ids=lambda how: " ".join(how) or "free")

# Table 1 of Gomatam and Karr (2003).
SIX = pd.DataFrame(
    {
        "hours": ["<40", "40", "<40", ">40", ">40", "40"],
        "employer": ["Gov", "SelfEmp", "Priv", "Priv", "SelfEmp", "Oth"],
        "sex": ["M", "F", "F", "M", "F", "F"],
        "married": ["M", "UM", "M", "M", "UM", "M"],
    }
)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    n = 900
    return pd.DataFrame(
        {
            "a": rng.choice(["x", "y", "z"], n, p=[0.6, 0.3, 0.1]),
            "b": rng.integers(0, 4, n),
            "sex": rng.choice(["f", "m"], n),
            "married": rng.choice(["yes", "no", "was"], n, p=[0.7, 0.2, 0.1]),
            "income": rng.normal(0, 1, n),
        },
        index=pd.Index(range(1_000, 1_000 + n), name="row"),
    )


def arguments(how) -> tuple[list[str], list[str], bool]:
    return how.get("equal", []), how.get("unequal", []), how.get("true_swaps", False)


def drawn(res: nym.Result) -> list[tuple[int, int]]:
    [pairs] = res.secret.pairs.values()
    return [(min(pair), max(pair)) for pair in pairs.tolist()]


@pytest.mark.parametrize(
    ("columns", "how"),
    [(["hours"], how) for how in KINDS] + [(["hours", "employer"], how) for how in KINDS if "true_swaps" in how][:2],
)
def test_every_set_of_pairs_has_its_chance(columns, how) -> None:
    expected = law(feasible_pairs(SIX, columns, *arguments(how)), 2)
    draws = 300
    found = Counter(frozenset(drawn(nym.data_swap(SIX, columns, 0.67, **how, seed=seed))) for seed in range(draws))
    assert set(found) <= set(expected)
    chi = sum((found[pairs] - draws * p) ** 2 / (draws * p) for pairs, p in expected.items())
    freedom = len(expected) - 1
    assert chi < freedom + 5 * np.sqrt(2 * freedom) + 1e-9


def test_feasible_pairs_of_the_paper() -> None:
    """Where sex must be the same, (2,3) is feasible and (1,3) not; where status must differ, (3,4) is not."""
    same, other = (
        {pair for seed in range(200) for pair in drawn(nym.data_swap(SIX, "hours", 0.34, **how, seed=seed))}
        for how in ({"equal": "sex"}, {"unequal": "married"})
    )
    assert (1, 2) in same
    assert (0, 2) not in same
    assert (1, 2) in other
    assert (2, 3) not in other


def test_true_false_and_compensating_swaps_of_the_paper() -> None:
    kinds = {}
    for seed in range(200):
        res = nym.data_swap(SIX, "hours", 0.34, seed=seed)
        [pair] = drawn(res)
        kinds[pair] = tuple(res.secret.summary[kind] for kind in ("true", "false", "compensating"))
    assert kinds[0, 1] == (1, 0, 0)
    assert kinds[0, 2] == (0, 1, 0)
    assert kinds[1, 4] == (1, 0, 1)
    assert sum(kind[2] for kind in kinds.values()) == 1
    assert len(kinds) == 15


@every_kind
@pytest.mark.parametrize("mode", ["simultaneous", "sequential"])
def test_what_is_told_is_what_happened(table, how, mode) -> None:
    before = table.copy()
    res = nym.data_swap(table, ["a", "b"], 0.3, **how, mode=mode, seed=1)
    pd.testing.assert_frame_equal(table, before)
    rest = ["sex", "married", "income"]
    pd.testing.assert_frame_equal(res.data[rest], table[rest])
    assert res.data.index.equals(table.index)
    assert (res.data.dtypes == table.dtypes).all()
    expected = table.copy()
    equal, unequal, true_swaps = arguments(how)
    assert list(res.secret.pairs) == ([("a", "b")] if mode == "simultaneous" else [("a",), ("b",)])
    for (columns, pairs), step in zip(res.secret.pairs.items(), res.secret.summary["steps"], strict=True):
        first, second = (table.iloc[rows].reset_index(drop=True) for rows in pairs.T)
        assert len(np.unique(pairs)) == pairs.size == 2 * step["pairs"] == 270
        assert all((first[name] == second[name]).all() for name in equal)
        assert all((first[name] != second[name]).all() for name in unequal)
        true = (first[list(columns)] != second[list(columns)]).any(axis=1)
        assert true.all() or not true_swaps
        assert (step["true"], step["false"]) == (true.sum(), (~true).sum())
        assert step["achieved_rate"] == 0.3
        for name in columns:
            values = table[name].to_numpy().copy()
            values[pairs[:, 0]], values[pairs[:, 1]] = table[name].iloc[pairs[:, 1]], table[name].iloc[pairs[:, 0]]
            expected[name] = pd.Series(values, index=table.index, dtype=table[name].dtype)
    pd.testing.assert_frame_equal(res.data, expected)
    for name in ("a", "b"):
        realised = res.secret.summary["attributes"][name]
        assert realised["unchanged"] == pytest.approx((table[name] == res.data[name]).mean())
        assert res.data[name].value_counts().to_dict() == table[name].value_counts().to_dict()
    if mode == "simultaneous":
        assert res.data.value_counts(["a", "b"]).to_dict() == table.value_counts(["a", "b"]).to_dict()
    assert res.secret.summary["pairs"] == 135 * len(res.secret.summary["steps"])
    assert res.secret.summary["compensating"] == 0  # no two incomes are the same


@pytest.mark.parametrize("mode", ["simultaneous", "sequential"])
def test_compensating_swaps_leave_the_records_as_they_were(table, mode) -> None:
    """Swaps are compensating, one by one, if the multiset of whole records stays."""
    small = table[["a", "b", "sex", "married"]].reset_index(drop=True)
    res = nym.data_swap(small, ["a", "b"], 0.5, mode=mode, seed=2)
    stand, count = small.copy(), 0
    for columns, pairs in res.secret.pairs.items():
        after = stand.copy()
        for i, j in pairs.tolist():
            was = Counter(map(tuple, stand.iloc[[i, j]].itertuples(index=False)))
            for name in columns:
                after.loc[i, name], after.loc[j, name] = stand.loc[j, name], stand.loc[i, name]
            now = Counter(map(tuple, after.iloc[[i, j]].itertuples(index=False)))
            true = any(stand.loc[i, name] != stand.loc[j, name] for name in columns)
            count += true and was == now
        stand = after
    assert res.secret.summary["compensating"] == count > 0


@given(data=st.data())
@settings(max_examples=40)
def test_constraints_hold_with_gaps(data) -> None:
    n = data.draw(st.integers(2, 30))
    column = st.lists(st.sampled_from(["p", "q", "r", None]), min_size=n, max_size=n)
    frame = pd.DataFrame({name: data.draw(column) for name in ("x", "y", "e", "u")}, dtype=object)
    equal = data.draw(st.sampled_from([[], ["e"]]))
    unequal = data.draw(st.sampled_from([[], ["u"]]))
    true_swaps = data.draw(st.booleans())
    res = nym.data_swap(frame, ["x", "y"], 1.0, equal=equal, unequal=unequal, true_swaps=true_swaps, seed=1)
    possible = feasible_pairs(frame, ["x", "y"], equal, unequal, true_swaps)
    pairs = drawn(res)
    assert set(pairs) <= set(possible)
    left = set(range(n)) - {row for pair in pairs for row in pair}
    assert len(pairs) == n // 2 or not any(set(pair) <= left for pair in possible)
    realised = res.secret.summary
    assert realised["steps"][0]["feasible_pairs"] == len(possible)
    assert realised["infeasible"] == n - len({row for pair in possible for row in pair})
    assert realised["achieved_rate"] == pytest.approx(2 * len(pairs) / n)
    for name in ("x", "y"):
        told = realised["attributes"][name]
        assert res.data[name].isna().sum() == frame[name].isna().sum() == told["missing"]
        assert told["missing_moved"] == (frame[name].isna() & res.data[name].notna()).sum()


@pytest.mark.parametrize(
    ("n", "rate", "pairs"), [(200, 0.29, 29), (10, 0.3, 1), (11, 1, 5), (48_842, 0.05, 1221), (2, 1.0, 1), (7, 0.99, 3)]
)
def test_rate_is_never_exceeded(n, rate, pairs) -> None:
    res = nym.data_swap({"x": [str(i) for i in range(n)]}, "x", rate, seed=1)
    assert res.secret.summary["pairs"] == res.summary["wanted"] == pairs
    assert res.secret.summary["attributes"]["x"]["unchanged"] == pytest.approx(1 - 2 * pairs / n)


@pytest.mark.parametrize("n", [2, 3, 6, 9, 11, 13, 48_842])
def test_the_rate_that_is_advised_makes_a_pair(n) -> None:
    frame = {"x": [str(i) for i in range(n)]}
    with pytest.raises(error.DataError, match="less than one pair") as told:
        nym.data_swap(frame, "x", 1e-9)
    advised = float(str(told.value).partition("give ")[2].split()[0])
    assert nym.data_swap(frame, "x", advised).secret.summary["pairs"] == 1


def test_rates_of_long_tables() -> None:
    method = nym.DataSwap(rate=0.29)
    assert [method._pairs(n) for n in (200, 2 * 10**8, 4 * 10**9)] == [29, 29 * 10**6, 58 * 10**7]


def test_too_few_pairs() -> None:
    frame = {"x": ["a"] * 97 + ["b"] * 3, "e": ["u", "v"] * 50}
    res = nym.data_swap(frame, "x", 0.5, true_swaps=True, seed=1)
    assert (res.secret.summary["pairs"], res.summary["wanted"]) == (3, 25)
    assert res.secret.summary["achieved_rate"] == 0.06
    assert res.secret.summary["notes"] == ["x: 3 of 25 pairs; no feasible pair was left. The rate is 0.06"]
    with pytest.raises(
        error.DataError, match=r"'x': 25 pairs are wanted for a rate of 0.5, but only 3 could be .* lower rate"
    ):
        nym.data_swap(frame, "x", 0.5, true_swaps=True, strict_rate=True)
    assert nym.data_swap(frame, "x", 0.06, true_swaps=True, strict_rate=True).secret.summary["pairs"] == 3
    none = nym.data_swap({"x": ["a"] * 4}, "x", 1, true_swaps=True)
    assert (none.secret.summary["pairs"], none.secret.summary["infeasible"], none.data) == (0, 4, {"x": ["a"] * 4})
    mostly = nym.data_swap(frame, "x", 1.0, seed=1)
    assert "swaps exchanged equal values" in mostly.secret.summary["notes"][0]
    assert not nym.data_swap({"x": list("abcd") * 25}, "x", 1.0, seed=1).secret.summary["notes"]  # a quarter of them


def test_sequential_columns_have_pairs_of_their_own() -> None:
    frame = {name: [str(i) for i in range(200)] for name in "xy"}
    res = nym.data_swap(frame, ["x", "y"], 0.5, mode="sequential", seed=1)
    x, y = ({frozenset(pair) for pair in pairs.tolist()} for pairs in res.secret.pairs.values())
    # Of 19,900 pairs, 50 each: a common one has a chance of an eighth.
    assert len(x & y) <= 2


def test_sequential_columns_are_summed_up() -> None:
    frame = {"x": ["a"] * 97 + ["b"] * 3, "y": ["p", "q"] * 50, "e": ["u"] * 98 + ["v", "v"]}
    for columns in (["x", "y"], ["y", "x"]):
        res = nym.data_swap(frame, columns, 0.5, equal="e", true_swaps=True, mode="sequential", seed=1)
        realised = res.secret.summary
        steps = {step["columns"][0]: step for step in realised["steps"]}
        assert (steps["x"]["pairs"], steps["y"]["pairs"]) == (1, 25)
        assert (steps["x"]["infeasible"], steps["y"]["infeasible"]) == (2, 0)
        assert {name: realised[name] for name in ("pairs", "true", "false", "infeasible", "achieved_rate")} == {
            "pairs": 26, "true": 26, "false": 0, "infeasible": 2, "achieved_rate": 0.02}  # fmt: skip
        assert realised["notes"] == ["x: 1 of 25 pairs; no feasible pair was left. The rate is 0.02"]


@every_kind
def test_seeds_and_threads(table, how) -> None:
    def run(seed: int | None) -> pd.DataFrame:
        return nym.data_swap(table, ["a", "b"], 0.4, **how, seed=seed, mode="sequential").data

    nym.set_threads(1)
    one = run(3)
    nym.set_threads(None)
    assert one.equals(run(3))
    assert not one.equals(run(4))
    assert not run(None).equals(run(None))
    assert nym.data_swap(table, "a").secret.seed is None
    assert nym.data_swap(table, "a", seed=3).secret.seed == 3


@every_kind
def test_tables_of_every_library(table, how) -> None:
    plain = table.reset_index(drop=True)
    expected = nym.data_swap(plain, ["a", "b"], 0.4, **how, seed=1)
    for frame, read in (
        (pl.from_pandas(plain), lambda t: t["a"].to_list()),
        (pa.Table.from_pandas(plain), lambda t: t["a"].to_pylist()),
        (plain.to_dict("list"), lambda t: t["a"]),
        ({name: plain[name].to_numpy() for name in plain}, lambda t: t["a"].tolist()),
        (plain.astype(dict.fromkeys(["a", "sex", "married"], "category")), lambda t: t["a"].tolist()),
    ):
        res = nym.data_swap(frame, ["a", "b"], 0.4, **how, seed=1)
        assert type(res.data) is type(frame)
        assert read(res.data) == expected.data["a"].tolist()
        assert res.summary == expected.summary
        assert res.secret.summary == expected.secret.summary


def test_result_holds_no_secret_where_it_is_shown(table) -> None:
    res = nym.data_swap(table, "a", seed=1)
    assert "array" not in repr(res)
    assert "pairs" not in repr(res.params)


def test_names_that_are_tuples() -> None:
    frame = pd.DataFrame({("x", 1): ["a", "b"], ("x", 2): ["c", "d"]})
    frame.columns = pd.Index([("x", 1), ("x", 2)], tupleize_cols=False)
    assert nym.data_swap(frame, ("x", 1), 1).data[("x", 1)].tolist() == ["b", "a"]


GOOD = {"a": ["x", "y", "x", "y"], "b": ["p", "q", "r", "s"], "c": ["k", "k", "l", "l"], "f": [1.5, 2.5, 0.5, 1.0]}


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"rate": 0}, error.ParameterError, "rate=0: give a number above 0"),
        ({"rate": 5}, error.ParameterError, r"rate=5: .* up to 1; for 5 % give 0.05"),
        ({"rate": float("nan")}, error.ParameterError, "rate=nan"),
        ({"rate": True}, error.ParameterError, "rate=True"),
        ({"rate": Fraction(5)}, error.ParameterError, "for 5 % give 0.05"),
        ({"rate": "0.1"}, error.ParameterError, "rate='0.1'"),
        ({"rate": 0.1}, error.DataError, r"rate=0.1: less than one pair of 4 records; give 0.5 or more"),
        ({"columns": []}, error.ParameterError, "columns=: name at least one column to swap"),
        ({"columns": {"a": None}}, error.ParameterError, "columns=: a list of column names is needed, not dict"),
        ({"columns": pd.DataFrame({"a": [1]})}, error.ParameterError, "columns=: a list of column names is needed"),
        ({"columns": ["a", "a"]}, error.ParameterError, "columns=: 'a' occurs 2 times; name each column once"),
        ({"columns": ["nope"]}, error.UnknownColumnError, "there is no column 'nope'; there are 'a', 'b', 'c', 'f'"),
        ({"equal": ["nope"]}, error.UnknownColumnError, "there is no column 'nope'"),
        ({"equal": ["a"]}, error.ParameterError, "column 'a' is in both columns and equal"),
        ({"equal": ["b"], "unequal": "b"}, error.ParameterError, "column 'b' is in both equal and unequal"),
        ({"mode": "both"}, error.ParameterError, "mode='both': give 'simultaneous', 'sequential'"),
        ({"true_swaps": 1}, error.ParameterError, "true_swaps=1: give True or False"),
        ({"strict_rate": "yes"}, error.ParameterError, "strict_rate='yes'"),
        ({"missing": "drop"}, error.ParameterError, "missing='drop'"),
        ({"seed": -1}, error.ParameterError, "seed=-1"),
        ({"progress": 3}, error.ParameterError, "progress=3"),
        ({"frame": {"a": [[1], [2], [3], [4]]}}, error.DataError, "column 'a': holds lists or the like"),
        ({"columns": {"a": nym.Order()}}, error.DataError, "column 'a': 'x' has no order of its own"),
        ({"frame": 3}, error.DataError, "not int"),
        ({"frame": {"a": ["x"]}}, error.DataError, "a swap needs two records, but the table has 1"),
        ({"frame": {"a": ["x", "y"], "b": ["p"]}}, error.DataError, "'a' has 2, 'b' has 1"),
        ({"frame": {"a": ["x", None] * 2}, "missing": "error"}, error.MissingValueError, "column 'a': 2 of 4"),
        (
            {"frame": {n: ["x", "y"] for n in "abcdefghi"}, "unequal": list("bcdefghi"), "true_swaps": True},
            error.ParameterError,
            "unequal=: 8 columns, but 7 is the most with true_swaps=True",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_any_work(change, kind, message, monkeypatch) -> None:
    monkeypatch.setattr("nominym._core.draw_pairs", lambda *_: pytest.fail("work was done"))
    given = {"frame": GOOD, "columns": ["a"], "rate": 0.5, **change}
    with pytest.raises(kind, match=message):
        nym.data_swap(given.pop("frame"), given.pop("columns"), given.pop("rate"), **given)


@pytest.mark.parametrize("meaning", [None, nym.Order(), nym.Equality()])
def test_columns_of_any_meaning(table, meaning) -> None:
    """Numbers are swapped as they are, and compared by their meaning afterwards."""
    columns = ["income"] if meaning is None else {"income": meaning}
    res = nym.data_swap(table, columns, 0.2, unequal=["sex"], true_swaps=True, seed=1)
    assert sorted(res.data["income"]) == sorted(table["income"])
    moved = res.data["income"] != table["income"]
    change = res.secret.comparison.changes["income"]
    assert moved.sum() == 180
    assert change.unchanged == 1 - moved.mean()
    apart = (res.data["income"] - table["income"]) / np.ptp(table["income"])
    expected = apart if meaning == nym.Order() else moved
    assert change.rmse == pytest.approx(np.sqrt((expected**2).mean()))


def test_progress_and_memory(table, monkeypatch) -> None:
    told = []
    nym.data_swap(table, "a", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (22, 22)
    monkeypatch.setattr("nominym.control.free_memory", lambda: 100)
    monkeypatch.setattr("nominym.control.LITTLE", 0)
    with pytest.raises(
        error.SizeError, match=r"counting what differs in 2 keys needs .* give fewer columns to unequal"
    ):
        nym.data_swap(table, "a", unequal=["sex", "married"])
    # What there is to count are tuples, not records.
    monkeypatch.setattr("nominym.control.free_memory", lambda: 1_000_000)
    frame = {name: ["x", "y"] * 2_000 for name in "abcdefgh"}
    assert nym.data_swap(frame, "a", unequal=list("bcdefgh"), seed=1).secret.summary["pairs"] == 100
