"""The front door of rank swapping: what it keeps, what it tells, what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import control, error
from nominym.meaning import Space
from reference import both, edge_lists

METHODS = [
    {"method": "fixed", "k": 5},
    {"method": "fixed", "p": 5},
    {"method": "dynamic", "k": 5},
    {"method": "records", "k": 5},
    {"method": "random"},
    {"method": "distributional", "k": 5},
    {"guarantee": "strict", "k": 5},
    {"k": 5, "draw": "joint"},
    {"k": 5, "anneal": True},
]
every_method = pytest.mark.parametrize("how", METHODS, ids=lambda how: " ".join(map(str, how.values())))

TAX = nym.Taxonomy.from_edges([(f"{i:03}", f"{i // 3:03}") for i in range(1, 200)])


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    first = rng.integers(20, 200, 600)
    second = np.clip(first + rng.integers(-9, 9, 600), 0, 199)
    names = np.array(TAX.ids)
    frame = pd.DataFrame({"a": names[first], "b": names[second], "note": rng.integers(0, 3, 600)})
    return frame.set_index(pd.Index(range(1_000, 1_600)))


BOTH = {"a": TAX, "b": TAX}


@every_method
def test_values_are_kept_and_only_given_to_others(table, how) -> None:
    before = table.copy()
    res = nym.rank_swap(table, BOTH, **how, seed=1, correlations=True)
    pd.testing.assert_frame_equal(table, before)
    pd.testing.assert_series_equal(res.data["note"], table["note"])
    assert res.data.index.equals(table.index)
    assert (res.data.dtypes == table.dtypes).all()
    for name in BOTH:
        assert not res.data[name].equals(table[name])
        assert res.data[name].value_counts().to_dict() == table[name].value_counts().to_dict()
        for figure in (nym.stats.semantic_mean, nym.stats.semantic_variance):
            assert figure(res.data[name], TAX) == figure(table[name], TAX)
        told = res.secret.summary["attributes"][name]
        assert told["rmse"] == pytest.approx(nym.stats.rmse(table[name], res.data[name], TAX))
        assert told["unchanged"] == pytest.approx((table[name] == res.data[name]).mean())
        assert told["root"] == TAX.lcs(table[name].unique())
        assert told["missing"] == told["missing_moved"] == 0
        assert list(told["candidates"].values()) == sorted(told["candidates"].values())
    correlation = nym.stats.distance_correlation(res.data["a"], res.data["b"], TAX, TAX)
    row = res.secret.summary["correlations"].iloc[0]
    assert row["after"] == pytest.approx(correlation)
    assert row["difference"] == pytest.approx(row["after"] - row["before"])


@every_method
def test_seeds_and_threads(table, how) -> None:
    def run(seed: int | None) -> pd.DataFrame:
        return nym.rank_swap(table, BOTH, **how, seed=seed).data

    nym.set_threads(1)
    one = run(3)
    nym.set_threads(None)
    assert one.equals(run(3))
    assert not one.equals(run(4))
    assert not run(None).equals(run(None))
    assert nym.rank_swap(table, BOTH, **how).secret.seed is None
    assert nym.rank_swap(table, BOTH, **how, seed=3).secret.seed == 3


@every_method
def test_tables_of_every_library(table, how) -> None:
    expected = nym.rank_swap(table, BOTH, **how, seed=1).data
    plain = table.reset_index(drop=True)
    for given_, read in (
        (pl.from_pandas(plain), lambda t: t["a"].to_list()),
        (pa.Table.from_pandas(plain), lambda t: t["a"].to_pylist()),
        (plain.to_dict("list"), lambda t: t["a"]),
        (plain.astype({"a": "category", "b": "category"}), lambda t: t["a"].tolist()),
    ):
        res = nym.rank_swap(given_, BOTH, **how, seed=1)
        assert type(res.data) is type(given_)
        assert read(res.data) == expected["a"].tolist()


@every_method
def test_missing_values(table, how) -> None:
    gaps = table.copy()
    gaps.loc[gaps.index[::7], "a"] = None
    gaps.loc[gaps.index[::200], "b"] = None
    res = nym.rank_swap(gaps, BOTH, **how, seed=1)
    for name in BOTH:
        told = res.secret.summary["attributes"][name]
        assert told["missing"] == gaps[name].isna().sum() == res.data[name].isna().sum()
        assert res.data[name].value_counts().to_dict() == gaps[name].value_counts().to_dict()
        moved = (res.data[name].isna() & gaps[name].notna()).sum()
        assert told["missing_moved"] == moved
        if "method" in how:
            assert moved == 0
        elif name == "b":
            # Three gaps cannot fill a group, and one that stayed would tell whose row it is.
            assert moved > 0
        assert told["rmse"] == pytest.approx(nym.stats.rmse(gaps[name], res.data[name], TAX), rel=1e-9)
    with pytest.raises(error.MissingValueError, match="column 'a': 86 of 600 values are missing, the first in row 0"):
        nym.rank_swap(gaps, BOTH, **how, missing="error")


def test_strict_groups(table) -> None:
    res = nym.rank_swap(table, BOTH, k=7, seed=1)
    groups = res.secret.groups
    sizes = np.bincount(groups)
    told = res.summary["groups"]
    assert told["count"] == len(sizes)
    assert (told["smallest"], told["largest"]) == (sizes.min(), sizes.max())
    assert sum(size * times for size, times in told["sizes"].items()) == 600
    assert sizes.min() >= 7
    assert nym.rank_swap(table, BOTH, k=7).summary["bound"] <= 1 / 7
    same = table["note"].groupby(groups).nunique() == 1
    assert told["constant"] == {"note": {"groups": same.sum(), "records": sizes[same].sum()}}
    for name in BOTH:
        alike = table[name].groupby(groups).nunique() == 1
        assert told["read_off"][name] == {"groups": alike.sum(), "records": sizes[alike].sum()}
        for before, after in zip(table[name].groupby(groups), res.data[name].groupby(groups), strict=True):
            assert sorted(before[1]) == sorted(after[1])
        realised = res.secret.summary["attributes"][name]
        assert realised["no_partner"] == 0
        assert realised["fewer_than_k"] == 0
        assert realised["candidates"]["min"] == sizes.min()
    assert "groups" not in repr(res)
    assert nym.rank_swap(table, BOTH, k=7, method="records", seed=1).secret.groups is None


def test_groups_do_not_depend_on_the_order_of_rows(table) -> None:
    """Categories, tuples and groups are found from the values alone."""
    other = table.sample(frac=1, random_state=1)
    found = []
    for frame in (table, other):
        groups = nym.rank_swap(frame, BOTH, k=5, seed=1).secret.groups
        rows = frame.assign(group=groups).groupby("group")[["a", "b"]]
        found.append(sorted(sorted(zip(part["a"], part["b"], strict=True)) for _, part in rows))
    assert found[0] == found[1]


def test_a_release_has_no_trace_of_who_had_what() -> None:
    """Neither markers of gaps nor the order of categories stay with the row that had them."""
    gaps = [None, "020", np.nan, "030", "040", "050"]
    for column in (gaps, pd.Series(gaps, dtype=object), np.array(gaps, dtype=object)):
        for seed in range(10):
            after = nym.rank_swap({"a": column}, {"a": TAX}, k=6, seed=seed).data["a"]
            assert sum(value is None for value in list(after)) == 2
    first = pd.DataFrame({"a": pd.Categorical(["050", "020", "041", "033"] * 3, ["050", "020", "041", "033", "190"])})
    for how in ({"k": 5}, {"k": 3, "method": "dynamic"}):
        after = nym.rank_swap(first, {"a": TAX}, seed=1, **how).data["a"]
        assert after.dtype == pd.CategoricalDtype(["020", "033", "041", "050"])
        assert after.cat.categories.tolist() == ["020", "033", "041", "050"]


def test_rows_in_order_are_noticed(table) -> None:
    for frame in (table.sort_values("a"), table.sort_values("b", ascending=False)):
        with pytest.warns(nym.PrivacyWarning, match="the rows are in order of [ab], and stay so"):
            res = nym.rank_swap(frame, BOTH, k=5, seed=1)
        # The order of the original is nobody else's business.
        assert not res.summary["notes"]
    assert not nym.rank_swap(table, BOTH, k=5, seed=1).summary["notes"]


def test_an_index_of_ids_is_noticed(table) -> None:
    ids = [f"P{i}" for i in range(len(table))]
    for index in (pd.Index(ids), table.index.rename("patient"), pd.MultiIndex.from_arrays([ids, table["note"]])):
        with pytest.warns(nym.PrivacyWarning, match=r"the index .* tells them apart.*reset_index\(drop=True\)"):
            res = nym.rank_swap(table.set_index(index), BOTH, k=5, seed=1)
        assert res.data.index.equals(index)
    # Labels that many rows share, and numbers, are no ids.
    for index in (pd.Index(["A", "B"] * 300, name="ward"), pd.RangeIndex(600), table.index):
        nym.rank_swap(table.set_index(index), BOTH, k=5, seed=1)


@pytest.mark.parametrize("rare", [1, 3])
def test_rare_values_do_not_keep_the_search_busy(rare: int) -> None:
    """A value that few records have weighs much, and its rounding errors with it."""
    rng = np.random.default_rng(23)
    for seed in range(30):
        frame = {
            "a": np.where(np.arange(500) < rare, "150", "020"),
            "b": np.array(TAX.ids)[rng.integers(20, 200, 500)],
        }
        res = nym.rank_swap(frame, BOTH, k=3, seed=seed)
        assert res.summary["groups"]["smallest"] >= 3


def test_values_of_two_types_stay_what_they_are() -> None:
    tax = nym.Taxonomy.from_edges([(str(i), str(i // 2)) for i in range(1, 20)])
    mixed = [5, "5", 6, "6"] * 5
    for how in ({}, {"method": "records"}):
        res = nym.rank_swap({"a": mixed}, {"a": tax}, k=15, seed=1, **how)
        assert sorted(map(repr, res.data["a"])) == sorted(map(repr, mixed))


def test_untouched_columns_of_lists() -> None:
    values = [TAX.ids[i] for i in range(20, 60)]
    lists = [[1, 2], [3]] * 20
    for frame in (
        {"a": values, "l": lists},
        pd.DataFrame({"a": values, "l": lists}),
        pl.DataFrame({"a": values, "l": lists}),
        pa.table({"a": values, "l": lists}),
    ):
        with pytest.warns(nym.PrivacyWarning, match="in order"):
            res = nym.rank_swap(frame, {"a": TAX}, k=3, seed=1)
        assert set(res.summary["groups"]["constant"]) == {"l"}


def test_arguments_of_numpy_and_far_too_large(table) -> None:
    res = nym.rank_swap(table, BOTH, k=np.int64(5), seed=np.uint32(3))
    assert res.data.equals(nym.rank_swap(table, BOTH, k=5, seed=3).data)
    assert "k=5" in repr(res)
    assert type(res.method.k) is type(res.secret.seed) is int
    for how in ({"method": "fixed"}, {"method": "dynamic"}, {"method": "records"}):
        all_of_them = nym.rank_swap(table, BOTH, k=2**70, seed=1, **how)
        assert all_of_them.data.equals(nym.rank_swap(table, BOTH, k=600, seed=1, **how).data)


def test_params_name_the_measure(table) -> None:
    measure = nym.Measure("lin", ic="sanchez")
    params = nym.rank_swap(table, BOTH, k=5, measure=measure, seed=1).params
    assert (params["measure"], params["ic"]) == ("lin", "sanchez")


def test_whole_numbers_beside_gaps_stay_whole() -> None:
    big = [2**60 + 1, 2**60 + 3, None, 2**60 + 5]
    after = nym.rank_swap({"x": big}, {"x": nym.Order()}, method="numerical", k=1, seed=1).data["x"]
    assert sorted(map(repr, after)) == sorted(map(repr, big))
    with pytest.raises(error.DataError, match="column 'x': holds inf, which is infinitely far from everything"):
        nym.rank_swap({"x": [1.0, np.inf, np.inf]}, {"x": nym.Order()}, method="numerical", k=1)


def test_correlations_of_columns_that_never_meet() -> None:
    frame = {"a": ["020", "030", None, None], "b": [None, None, "040", "050"]}
    res = nym.rank_swap(frame, BOTH, k=1, method="records", seed=1, correlations=True)
    assert np.isnan(res.secret.summary["correlations"]["before"][0])


def test_dynamic_says_when_it_does_nothing() -> None:
    frame = {"a": ["001", "005", "009"] * 20}
    res = nym.rank_swap(frame, {"a": TAX}, k=5, method="dynamic", seed=1)
    assert res.data == frame
    assert res.secret.summary["attributes"]["a"]["unchanged"] == 1
    said = next(note for note in res.secret.summary["notes"] if "no value changed" in note)
    assert "groups with a guarantee" in said
    assert "no value changed" not in str(res.summary)


@pytest.mark.parametrize("how", [{"method": "fixed"}, {"method": "dynamic"}, {"method": "records"}, {}])
@pytest.mark.filterwarnings("ignore:hardly anything changes")
def test_small_and_dull_tables(how) -> None:
    one = nym.rank_swap({"a": ["001"] * 4}, {"a": TAX}, k=2, seed=1, **how)
    assert one.data == {"a": ["001"] * 4}
    assert one.secret.summary["attributes"]["a"]["unchanged"] == 1
    distinct = nym.rank_swap({"a": ["001", "005", "009", "020"]}, {"a": TAX}, k=4, seed=1, **how)
    assert sorted(distinct.data["a"]) == ["001", "005", "009", "020"]
    if how:
        alone = nym.rank_swap({"a": ["001"]}, {"a": TAX}, k=3, seed=1, **how)
        assert alone.data == {"a": ["001"]}
        assert alone.secret.summary["attributes"]["a"]["no_partner"] == 1
    with pytest.raises(error.DataError, match="column 'a': no value at all"):
        nym.rank_swap({"a": [None, None]}, {"a": TAX}, k=2, **how)


def test_matrices_measures_and_roots(table) -> None:
    matrix = nym.DistanceMatrix(TAX.distance_matrix(), TAX.ids)
    by_tax = nym.rank_swap(table, BOTH, k=5, method="records", seed=1, roots={"a": "000", "b": "000"})
    by_matrix = nym.rank_swap(table, {"a": matrix, "b": matrix}, k=5, method="records", seed=1)
    assert by_tax.params["roots"] == {"a": "000", "b": "000"}
    assert by_matrix.params["roots"] == {"a": None, "b": None}
    for name in BOTH:
        # Single precision rounds ties apart, so the law is only near.
        told = [res.secret.summary["attributes"][name]["rmse"] for res in (by_tax, by_matrix)]
        assert told[0] == pytest.approx(told[1], rel=0.2)
    for measure in nym.MEASURES:
        for how in ({"method": "records"}, {"method": "dynamic"}, {}):
            res = nym.rank_swap(table, BOTH, k=5, seed=1, measure=measure, **how)
            told = res.secret.summary["attributes"]["a"]["rmse"]
            assert told == pytest.approx(nym.stats.rmse(table["a"], res.data["a"], TAX, measure=measure))


@pytest.mark.filterwarnings("ignore:hardly anything changes")
@settings(max_examples=60)
@given(edge_lists(max_size=9), st.data())
def test_any_taxonomy_any_table(edges, data) -> None:
    tax, _ = both(edges)
    n = data.draw(st.integers(2, 25))
    column = st.lists(st.one_of(st.none(), st.sampled_from(tax.ids)), min_size=n, max_size=n)
    frame = {"x": data.draw(column), "y": data.draw(column)}
    for name in frame:
        if all(value is None for value in frame[name]):
            frame[name][0] = tax.ids[0]
    k = data.draw(st.integers(2, n))
    for how in ({"method": "records"}, {"method": "dynamic"}, {"method": "fixed"}, {}):
        res = nym.rank_swap(frame, {"x": tax, "y": tax}, k=k, seed=n, **how)
        for name in frame:
            assert sorted(map(str, res.data[name])) == sorted(map(str, frame[name]))
        if not how:
            sizes = np.bincount(res.secret.groups)
            assert sizes.min() >= k
            tuples = list(zip(frame["x"], frame["y"], strict=True))
            for group, size in enumerate(sizes):
                members = {tuples[i] for i in np.flatnonzero(res.secret.groups == group)}
                assert size < 2 * k or len(members) == 1


ORDERED = {
    "numbers": (pd.Series([5.5, 1, 3, 2, 4]), nym.Order()),
    "dates": (pd.Series(pd.to_datetime(["2020-05-01", "2020-01-01", "2020-03-01"])), nym.Order()),
    "categorical": (pd.Series(pd.Categorical(["b", "c", "a"], ["c", "b", "a"], ordered=True)), nym.Order()),
    "listed": (["low", "high", "middle"], nym.Order(["low", "middle", "high"])),
    "polars": (pl.Series([3, 1, None, 2]), nym.Order()),
    "arrow": (pa.array([3.5, None, 1.5]), nym.Order()),
}


@pytest.mark.parametrize("name", ORDERED)
def test_ordered_columns(name) -> None:
    values, order = ORDERED[name]
    res = nym.rank_swap({"x": values}, {"x": order}, k=1, method="numerical", seed=1)
    assert type(res.data["x"]) is type(values)
    assert sorted(map(str, res.data["x"])) == sorted(map(str, values))
    assert res.secret.summary["attributes"]["x"]["candidates"]["max"] == 1


BAD = {
    "no method": ({"method": "swap", "k": 2}, "method='swap': give 'fixed', 'dynamic'"),
    "no guarantee": ({"guarantee": "full", "k": 2}, "guarantee='full': give 'strict', 'published'"),
    "no draw": ({"draw": "both", "k": 2}, "draw='both'"),
    "no k": ({}, "k=None: give the smallest size of a group"),
    "no k as published": ({"method": "records"}, "k=None: give the number of candidates"),
    "k and p": (
        {"method": "fixed", "k": 2, "p": 5},
        "k=2: p is given as well; give k .records. or p .percent., not both",
    ),
    "p for clusters": ({"method": "records", "p": 5}, "p=5: it applies only where method is 'fixed' or"),
    "p for groups": ({"p": 5}, "p=5: it applies only where method is 'fixed' or"),
    "p too large": ({"method": "fixed", "p": 101}, "p=101: give a percentage"),
    "p is True": ({"method": "fixed", "p": True}, "p=True"),
    "k is 0": ({"k": 0}, "k=0: give a whole number, 1 or more"),
    "k is a fraction": ({"k": 2.5}, "k=2.5: give a whole number"),
    "k is True": ({"k": True}, "k=True"),
    "strict k is 1": ({"k": 1}, "protects nobody"),
    "strict k too large": ({"k": 9}, "4 records cannot make a group of k=9"),
    "strict method": (
        {"guarantee": "strict", "method": "dynamic", "k": 2},
        "method='dynamic': a published method guarantees nothing; leave out method='dynamic' for",
    ),
    "draw without strict": (
        {"method": "records", "draw": "joint", "k": 2},
        "draw='joint': it applies only where guarantee is 'strict'",
    ),
    "anneal without strict": ({"method": "fixed", "anneal": True, "k": 2}, "anneal=True: it applies only where"),
    "anneal is 1": ({"anneal": 1, "k": 2}, "anneal=1: give True or False"),
    "negative seed": ({"k": 2, "seed": -1}, "seed=-1: give a whole number"),
    "float seed": ({"k": 2, "seed": 1.5}, "seed=1.5"),
    "missing": ({"k": 2, "missing": "drop"}, "missing='drop': give 'keep', 'error'"),
    "progress": ({"k": 2, "progress": "yes"}, "progress='yes': give None, True or a callable"),
    "measure": ({"k": 2, "measure": "wupalmer"}, "there is no measure 'wupalmer'"),
    "root": ({"k": 2, "roots": {"b": "000"}}, "roots=: 'b' is not among the columns with a meaning: a"),
    "order for a concept": (
        {"k": 2, "method": "numerical"},
        "method='numerical': column 'a': values are swapped by size, but their meaning is a taxonomy",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_requests(name) -> None:
    how, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        nym.rank_swap({"a": ["001", "002", "003", "004"]}, {"a": TAX}, **how)


def test_bad_data(table) -> None:
    with pytest.raises(error.ParameterError, match="with at least one column"):
        nym.rank_swap(table, {}, k=2)
    with pytest.raises(error.ParameterError, match="a mapping from column names"):
        nym.rank_swap(table, [("a", TAX)], k=2)
    with pytest.raises(error.UnknownColumnError, match="there is no column 'c'"):
        nym.rank_swap(table, {"c": TAX}, k=2)
    for old, said in ((None, "NoneType"), (["001"], "list"), ("equal", "str")):
        with pytest.raises(error.ParameterError, match=f"column 'a': a Taxonomy, .* is needed, not {said}; .*Order"):
            nym.rank_swap(table, {"a": old}, k=2)
    with pytest.raises(error.UnknownConceptError, match="'abc'"):
        nym.rank_swap({"a": ["001", "abc"]}, {"a": TAX}, k=2)
    with pytest.raises(error.DataError, match="a pandas or polars DataFrame"):
        nym.rank_swap(["001"], {"a": TAX}, k=2)
    with pytest.raises(error.DataError, match="same number of records"):
        nym.rank_swap({"a": ["001", "002"], "b": ["001"]}, BOTH, k=2)
    for values in (["x", "y"], pd.Categorical(["x", "y"])):
        with pytest.raises(error.DataError, match="column 'a': 'x' has no order of its own; list all values"):
            nym.rank_swap({"a": values}, {"a": nym.Order()}, k=1, method="numerical")
    with pytest.raises(error.DataError, match="'z' has no place in the given order"):
        nym.rank_swap({"a": ["x", "z"]}, {"a": nym.Order(["x", "y"])}, k=1, method="numerical")
    with pytest.raises(error.ParameterError, match="only a taxonomy has a root, not an order"):
        nym.rank_swap({"a": [1, 2]}, {"a": nym.Order()}, k=1, method="numerical", roots={"a": "x"})
    with pytest.raises(error.DataError, match="column 'note': a list of values is needed, not str"):
        nym.rank_swap({"a": ["001", "002"], "note": "text"}, {"a": TAX}, k=2)
    with pytest.raises(error.DataError, match="'a' has 2, 'note' has 1"):
        nym.rank_swap({"a": ["001", "002"], "note": [1]}, {"a": TAX}, k=2)


def test_a_table_with_a_fault_in_its_last_column_is_not_touched(table, monkeypatch) -> None:
    from nominym import _core

    monkeypatch.setattr(_core, "swap_dynamic", lambda *_: pytest.fail("work was done"))
    with pytest.raises(error.UnknownConceptError):
        nym.rank_swap(table.assign(b="nothing"), BOTH, k=2, method="dynamic")


@pytest.mark.parametrize("k", [2, 10, 100])
def test_strict_treats_columns_evenly(shared_data, k: int) -> None:
    """After scaling by its own spread, no column moves much farther than another."""
    icd = nym.datasets.load_icd9(shared_data("icd/icd9cm_hierarchy.csv"))
    columns = ["diag_1", "diag_2", "diag_3"]
    table = nym.datasets.load_diabetes(shared_data("diabetes/diabetic_data.csv.gz"))[columns].dropna()
    table = table.sample(10_000, random_state=0)
    taxonomies = dict.fromkeys(columns, icd)
    # Random pairs are as far apart as values of the column are.
    spread = nym.rank_swap(table, taxonomies, method="random", seed=1).secret.summary["attributes"]
    moved = nym.rank_swap(table, taxonomies, k=k, seed=1).secret.summary["attributes"]
    scaled = [moved[name]["rmse"] / spread[name]["rmse"] for name in columns]
    assert max(scaled) <= 1.3 * min(scaled), scaled


@pytest.mark.parametrize("method", ["fixed", "dynamic"])
def test_many_numbers_need_no_matrix(monkeypatch, method: str) -> None:
    values = np.random.default_rng(5).normal(size=20_000)
    monkeypatch.setattr(Space, "matrix", lambda *_: pytest.fail("a matrix"))
    result = nym.rank_swap({"x": values}, {"x": nym.Order()}, k=5, method=method, seed=1)
    assert sorted(result.data["x"]) == sorted(values)
    assert result.secret.summary["attributes"]["x"]["rmse"] < 0.01


def test_many_concepts_of_a_tree(monkeypatch) -> None:
    """SRS-1 takes them as they are; SRS-2 says what would."""
    tax = nym.Taxonomy.from_edges([(f"v{i:04}", f"v{(i - 1) // 4:04}") for i in range(1, 3_000)])
    values = np.random.default_rng(6).choice(tax.ids, 6_000).tolist() + list(tax.ids)
    with monkeypatch.context() as patch:
        patch.setattr(Space, "matrix", lambda *_: pytest.fail("a matrix"))
        result = nym.rank_swap({"x": values}, {"x": tax}, k=5, method="fixed", seed=1)
    assert sorted(result.data["x"]) == sorted(values)
    monkeypatch.setattr(control, "free_memory", lambda: 2**25)
    with pytest.raises(
        nym.error.SizeError, match=r"'x' has too many categories for the method 'dynamic'; swap without"
    ):
        nym.rank_swap({"x": values}, {"x": tax}, k=5, method="dynamic", seed=1)
