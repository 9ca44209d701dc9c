"""Distortion: golden values, formulas, bounds, tables of every kind, what is refused."""

from __future__ import annotations

import math
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import distortion, error
from reference_distortion import joint, measures

SINGLE = {name: getattr(distortion, name) for name in distortion.MEASURES}
OF_ANY = distortion.MEASURES[:3]


def test_golden_values() -> None:
    """By hand: the cells (a,p), (a,q), (b,p), (b,q) hold 3, 1, 0, 4 of 8 records before and 2, 2, 1, 3 after."""
    before = {"x": list("aaaabbbb"), "y": list("pppqqqqq")}
    after = {"x": list("aaaabbbb"), "y": list("ppqqpqqq")}
    assert distortion.total_variation(before, after) == 0.25
    roots = (math.sqrt(3) - math.sqrt(2)) ** 2 + (1 - math.sqrt(2)) ** 2 + 1 + (2 - math.sqrt(3)) ** 2
    assert distortion.hellinger(before, after) == pytest.approx(math.sqrt(roots / 16))
    # n·H = n ln n − Σ c ln c
    entropies = (3 * math.log(3) + 4 * math.log(4)) - (2 * math.log(2) * 2 + 3 * math.log(3))
    assert distortion.entropy_change(before, after) == pytest.approx(entropies / 8)
    # phi = (3·4 − 1·0) / √(4·4·3·5) before, (2·3 − 2·1) / √(4·4·3·5) after.
    phi = 12 / math.sqrt(240), 4 / math.sqrt(240)
    assert distortion.cramers_v_change(before, after) == pytest.approx(phi[0] - phi[1])
    c = [math.sqrt(p * p / (1 + p * p)) for p in phi]
    assert distortion.contingency_change(before, after) == pytest.approx(c[0] - c[1])
    for name in OF_ANY:
        assert SINGLE[name](before, after, "y") == SINGLE[name](before, after, ["y"]) == 0
        assert SINGLE[name](before, after, ["y", "x"]) == pytest.approx(SINGLE[name](before, after))


def test_distributions_without_a_common_value() -> None:
    assert distortion.hellinger({"x": ["a"] * 3}, {"x": ["b"] * 3}) == pytest.approx(1)
    assert distortion.total_variation({"x": ["a"] * 3}, {"x": ["b"] * 3}) == 1


@st.composite
def tables(draw):
    n = draw(st.integers(1, 40))
    column = st.lists(st.sampled_from(["p", "q", "r", None]), min_size=n, max_size=n)
    return tuple(pd.DataFrame({name: draw(column) for name in "xyz"}, dtype=object) for _ in range(2))


@given(tables())
@settings(max_examples=30)
def test_formulas_symmetry_and_bounds(pair) -> None:
    before, after = pair
    for columns in (["x"], ["x", "y"], ["z", "x"], ["x", "y", "z"]):
        for name, value in measures(before, after, columns).items():
            assert SINGLE[name](before, after, columns) == pytest.approx(value, abs=1e-7)
            back = SINGLE[name](after, before, columns)
            assert back == pytest.approx(value if name in ("hellinger", "total_variation") else -value, abs=1e-7)
            assert SINGLE[name](before, before, columns) == 0
        h, tv = distortion.hellinger(before, after, columns), distortion.total_variation(before, after, columns)
        assert 0 <= h <= 1 + 1e-12
        assert h * h - 1e-12 <= tv <= math.sqrt(2) * h + 1e-12
        assert abs(distortion.entropy_change(before, after, columns)) <= math.log(len(before)) + 1e-12
    # Fewer columns tell less.
    assert distortion.total_variation(before, after, ["x"]) <= distortion.total_variation(before, after) + 1e-12
    shuffled = before.sample(frac=1, random_state=1)
    assert distortion.hellinger(before, shuffled) == 0


@given(tables())
@settings(max_examples=20)
def test_table_has_every_pair_and_the_whole(pair) -> None:
    before, after = pair
    table = distortion.table(before, after)
    assert list(zip(table["x"], table["y"], strict=True))[:3] == [("x", "y"), ("x", "z"), ("y", "z")]
    assert table["columns"].tolist() == [2, 2, 2, 3]
    assert table.loc[3, ["x", "y", "cramers_v_change", "contingency_change"]].isna().all()
    for row in table.to_dict("records")[:3]:
        for name in distortion.MEASURES:
            assert row[name] == SINGLE[name](before, after, [row["x"], row["y"]])
    for name in OF_ANY:
        assert table[name][3] == SINGLE[name](before, after)


def test_table_of_one_column_and_of_some() -> None:
    before, after = ({"x": list("ab"), "y": list(text), "z": list("cd")} for text in ("pq", "pp"))
    assert len(distortion.table(before, after, "y")) == 1
    assert distortion.table(before, after, "y")["total_variation"].tolist() == [0.5]
    assert distortion.table(before, after, ["z", "y"])["x"].tolist()[:1] == ["z"]


def test_names_that_are_no_text() -> None:
    before, after = (pd.DataFrame([["a", "p", "k"], ["b", last, "k"]]) for last in "qp")
    table = distortion.table(before, after)
    assert [type(name) for name in table["x"][:3]] == [int] * 3
    assert list(zip(table["x"], table["y"], strict=True)) == [(0, 1), (0, 2), (1, 2), (None, None)]
    assert distortion.heat_map(table).layout.xaxis.ticktext == ("0", "1", "2")
    for frame in (before, after):
        frame.columns = pd.Index([("x", 1), ("x", 2), "y"], tupleize_cols=False)
    assert distortion.total_variation(before, after, ("x", 2)) == 0.5
    assert distortion.total_variation(before, after, (("x", 1), "y")) == 0


def test_many_categories_are_counted_sparsely() -> None:
    rng = np.random.default_rng(1)
    before = pd.DataFrame({name: rng.integers(0, 3_000, 5_000) for name in "xyzuvw"})
    after = before.assign(x=rng.permutation(before["x"]))
    table = distortion.table(before, after)
    for row, columns in ((0, ["x", "y"]), (14, ["v", "w"]), (15, list("xyzuvw"))):
        expected = joint(before, after, columns)
        assert {name: table[name][row] for name in expected} == pytest.approx(expected)


def test_threads_do_not_matter() -> None:
    rng = np.random.default_rng(2)
    before, after = (pd.DataFrame(rng.integers(0, 30, (40_000, 5)), columns=list("abcde")) for _ in range(2))
    nym.set_threads(1)
    one = distortion.table(before, after)
    nym.set_threads(None)
    assert one.equals(distortion.table(before, after))


def test_tables_of_every_library_and_of_two() -> None:
    rng = np.random.default_rng(3)
    before, after = (pd.DataFrame({n: rng.choice(["p", "q", None], 50) for n in "xy"}, dtype=object) for _ in range(2))
    expected = distortion.table(before, after)
    assert expected["hellinger"][0] > 0
    kinds = (pl.from_pandas, pa.Table.from_pandas, lambda f: f.to_dict("list"), lambda f: f.astype("category"))
    for kind in kinds:
        pd.testing.assert_frame_equal(distortion.table(kind(before), kind(after)), expected)
        pd.testing.assert_frame_equal(distortion.table(before, kind(after)), expected)
    numbers = pd.DataFrame({"x": [1, 2, 2]})
    assert distortion.hellinger(numbers, numbers.astype(str)) == 0


def test_any_masked_table() -> None:
    frame, taxonomies = nym.datasets.discharges(500, seed=1, diagnoses=30, procedures=20)
    masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    columns = ["diagnosis", "procedure", "sex"]
    for data in (
        nym.rank_swap(frame, masked, k=5, seed=1).data,
        nym.rank_swap(frame, masked, k=5, method="records", seed=1).data,
        nym.add_noise(frame, masked, alpha=0.5, seed=1, moments=False).data,
        nym.data_swap(frame, ["diagnosis"], 0.4, seed=1).data,
        frame.assign(diagnosis="*"),
    ):
        table = distortion.table(frame, data, columns)
        for row in table.to_dict("records")[:-1]:
            expected = measures(frame, data, [row["x"], row["y"]])
            assert {name: row[name] for name in expected} == pytest.approx(expected, abs=1e-7)
        assert table["total_variation"].iloc[-1] > 0
    # A column of one value goes with nothing: all its association is gone.
    lost = distortion.cramers_v_change(frame, data, ["diagnosis", "procedure"])
    assert lost == pytest.approx(distortion.cramers_v_change(frame, data, ["procedure", "diagnosis"]))
    assert lost > 0.1


def test_tables_that_are_coded_already() -> None:
    """The same figures, of columns with a meaning and without."""
    frame, taxonomies = nym.datasets.discharges(500, seed=1, diagnoses=30, procedures=20)
    masked = {"diagnosis": taxonomies["diagnosis"], "length_of_stay": nym.Order()}
    columns = ["diagnosis", "length_of_stay", "sex"]
    frame = frame[columns]
    for res in (
        nym.rank_swap(frame, masked, k=5, seed=1),
        nym.add_noise(frame, {"diagnosis": taxonomies["diagnosis"]}, alpha=0.5, seed=1),
        nym.data_swap(frame, ["diagnosis", "sex"], 0.4, seed=1),
    ):
        found = distortion.compare(res.secret.comparison, columns)
        pd.testing.assert_frame_equal(found, distortion.table(frame, res.data, columns))
        assert found["total_variation"].iloc[-1] > 0


GOOD = {"x": ["a", "b"], "y": ["p", "q"], "z": ["k", "l"]}


@pytest.mark.parametrize(
    ("before", "after", "columns", "kind", "message"),
    [
        (GOOD, {"x": ["a", "b"]}, None, error.DataError, "column 'y' is not in the table after; name the columns"),
        ({"x": ["a", "b"]}, GOOD, None, error.DataError, "column 'y' is not in the table before"),
        (GOOD, GOOD, ["x", "w"], error.UnknownColumnError, "there is no column 'w'; there are 'x', 'y', 'z'"),
        (GOOD, {"x": ["a", "b"]}, ["y"], error.UnknownColumnError, "no column 'y' in the table after"),
        (GOOD, {"x": ["a"]}, ["x"], error.DataError, "2 records before and 1 after; .* same records"),
        (GOOD, {"x": ["a", "b"], "y": ["a"]}, ["x", "y"], error.DataError, "'x' has 2, 'y' has 1"),
        (GOOD, GOOD, ["x", "x"], error.ParameterError, "'x' occurs 2 times"),
        (GOOD, GOOD, [], error.ParameterError, "name at least one column"),
        (GOOD, GOOD, pd.DataFrame(GOOD), error.ParameterError, "a list of column names is needed, not DataFrame"),
        (GOOD, GOOD, {"x": 1}, error.ParameterError, "a list of column names is needed"),
        ({"x": []}, {"x": []}, None, error.DataError, "no records"),
        ({"x": [0.5]}, {"x": [0.5]}, None, error.DataError, "column 'x': holds numbers with decimal places"),
        ({"x": [[1]]}, {"x": [[1]]}, None, error.DataError, "column 'x': .* lists, which have no categories"),
        ([1], GOOD, None, error.DataError, "not list"),
        (GOOD, None, None, error.DataError, "not NoneType"),
    ],
)
def test_bad_input_is_refused_before_any_work(before, after, columns, kind, message, monkeypatch) -> None:
    monkeypatch.setattr("nominym._core.distortions", lambda *_: pytest.fail("work was done"))
    for function in (*(SINGLE[name] for name in OF_ANY), distortion.table):
        with pytest.raises(kind, match=message):
            function(before, after, columns)


@pytest.mark.parametrize("name", ["cramers_v_change", "contingency_change"])
@pytest.mark.parametrize("columns", [None, ["x"]])
def test_association_is_of_two_columns(name, columns) -> None:
    with pytest.raises(error.ParameterError, match=r"V and C are measures of two columns, not of [31]; name two"):
        SINGLE[name](GOOD, GOOD, columns)


def test_progress() -> None:
    told = []
    distortion.table(GOOD, GOOD, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (16, 16)
    with pytest.raises(error.ParameterError, match="progress=3"):
        distortion.hellinger(GOOD, GOOD, progress=3)


@pytest.mark.parametrize("measure", distortion.MEASURES)
def test_heat_map(measure) -> None:
    before = {"x": list("aaaabbbb"), "y": list("pppqqqqq"), "z": list("kklkkllk")}
    after = {**before, "y": list("ppqqpqqq")}
    table = distortion.table(before, after)
    figure = distortion.heat_map(table, measure)
    (cells,) = figure.data
    assert figure.layout.xaxis.ticktext == figure.layout.yaxis.ticktext == ("x", "y", "z")
    assert cells.z[0][1] == cells.z[1][0] == table[measure][0]
    assert [cells.z[i][i] for i in range(3)] == [None] * 3
    assert ("all 3 columns" in figure.layout.title.subtitle.text) == (measure in OF_ANY)
    assert (cells.zmin < 0) == measure.endswith("change")
    assert figure.to_json()


def test_heat_map_of_a_table_that_was_sorted_or_cut() -> None:
    before = {"x": list("aaaabbbb"), "y": list("pppqqqqq"), "z": list("kklkkllk")}
    table = distortion.table(before, {**before, "y": list("ppqqpqqq")})
    one = distortion.heat_map(table)
    other = distortion.heat_map(table.sort_values("hellinger", ascending=False))
    assert "all 3 columns" in one.layout.title.subtitle.text
    assert one.layout.title == other.layout.title
    place = {name: i for i, name in enumerate(other.layout.xaxis.ticktext)}
    assert other.data[0].z[place["x"]][place["y"]] == table["hellinger"][0]
    cut = distortion.heat_map(table[table["x"] == "x"])
    assert (cut.layout.title.text, cut.layout.title.subtitle.text) == ("Hellinger distance of pairs", "")
    assert cut.layout.xaxis.ticktext == ("x", "y", "z")


def test_heat_map_of_names_with_markup() -> None:
    before = {"<b>x</b>": list("ab"), "y": list("pq")}
    figure = distortion.heat_map(distortion.table(before, before))
    assert figure.layout.xaxis.ticktext[0] == "&lt;b&gt;x&lt;/b&gt;"


def test_heat_map_refuses(monkeypatch) -> None:
    table = distortion.table(GOOD, GOOD)
    cells = distortion.heat_map(table).data[0]
    assert (cells.zmin, cells.zmax) == (0, 1)
    with pytest.raises(error.ParameterError, match="measure='other': give 'hellinger', "):
        distortion.heat_map(table, "other")
    with pytest.raises(error.DataError, match=r"the result of distortion\.table"):
        distortion.heat_map(pd.DataFrame({"x": [1]}))
    with pytest.raises(error.DataError, match="only one column"):
        distortion.heat_map(distortion.table(GOOD, GOOD, "x"))
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(error.MissingExtraError, match=r"pip install nominym\[report\]"):
        distortion.heat_map(table)
