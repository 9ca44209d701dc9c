"""The k-marginal score and propensity: definitions, golden values, tables of every kind, what is refused."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
import reference_measures as reference
from nominym import distortion, error

NAMES = ["x", "y", "z"]


@st.composite
def tables(draw):
    def table(n: int) -> pd.DataFrame:
        column = st.lists(st.sampled_from(["p", "q", "r", None]), min_size=n, max_size=n)
        return pd.DataFrame({name: draw(column) for name in NAMES}, dtype=object)

    return table(draw(st.integers(1, 15))), table(draw(st.integers(1, 15)))


@given(tables())
@settings(max_examples=20, deadline=None)
def test_k_marginal_is_its_definition(pair) -> None:
    before, after = pair
    for k in (1, 2, 3):
        value = reference.k_marginal(before, after, NAMES, k)
        assert distortion.k_marginal(before, after, k=k) == pytest.approx(value, abs=1e-9)
        assert distortion.k_marginal(after, before, NAMES, k) == pytest.approx(value, abs=1e-9)
        assert distortion.k_marginal(before, before.sample(frac=1, random_state=1), k=k) == 1000
        table = distortion.marginals(before, after, k=k)
        assert table["score"].mean() == pytest.approx(value, abs=1e-9)
        assert set(table["columns"]) == set(itertools.combinations(NAMES, k))
        for row in table.itertuples():
            pmse, cells = reference.propensity_of_cells(before, after, list(row.columns))
            assert row.pmse == pytest.approx(pmse, abs=1e-12)
            assert row.cells == cells


def test_golden_score() -> None:
    """By hand: 4 of 10 records change cell in (x, y), none in x, y or any other pair: d = (0.8 + 0 + 0) / 3."""
    before = {"x": list("aaaaabbbbb"), "y": list("ppppqqqqqp"), "z": ["c"] * 10}
    after = {"x": list("aaaaabbbbb"), "y": list("ppqqqppqqp"), "z": ["c"] * 10}
    assert distortion.total_variation(before, after, ["x", "y"]) == pytest.approx(0.4)
    assert distortion.k_marginal(before, after, k=1) == 1000
    assert distortion.k_marginal(before, after) == pytest.approx((2 - 0.8 / 3) * 500)
    assert distortion.k_marginal(before, {"x": ["c"], "y": ["r"], "z": ["d"]}, k=3) == 0


def test_classes_of_numbers() -> None:
    before = pd.DataFrame({"age": [17, 18, 40, 64, 65, 90], "sex": list("ffmmff")})
    after = pd.DataFrame({"age": [10.5, 20, 30, 50, 70, 99], "sex": list("ffmmff")})
    assert distortion.k_marginal(before, after, k=1) == pytest.approx(500)  # no age is the same
    assert distortion.k_marginal(before, after, k=1, bins={"age": [18, 65]}) == 1000
    assert distortion.k_marginal(before, after, k=2, bins={"age": [18, 65]}) == 1000
    # Two classes of three each before: up to 40, and from 64; after, 50 is below 64.
    assert distortion.k_marginal(before, after, "age", 1, bins={"age": 2}) == pytest.approx(1000 - 1000 / 6)
    gaps = before.assign(age=before["age"].where(before["age"] < 60))
    assert distortion.k_marginal(gaps, after, "age", 1, bins={"age": [18, 65]}) == pytest.approx(500)
    exact = before.assign(age=[Decimal(value) for value in before["age"]])
    assert distortion.k_marginal(exact, after, k=1, bins={"age": [18, 65]}) == 1000


def test_equally_filled_classes_are_those_of_the_ranks() -> None:
    """As SDNist: the mean rank of equal values as a share, times the classes, cut off."""
    rng = np.random.default_rng(1)
    income = pd.Series(np.floor(rng.lognormal(3, 1, 400)))
    ranks = (20 * income.rank(pct=True)).astype(int).clip(upper=19)
    counted = distortion.marginals({"x": income}, {"x": income}, k=1, bins={"x": 20})
    assert counted["cells"][0] == ranks.nunique()
    classes = {"x": income, "c": ranks}
    assert distortion.marginals(classes, classes, k=2, bins={"x": 20})["cells"][0] == ranks.nunique()


def test_samples_of_marginals() -> None:
    rng = np.random.default_rng(1)
    before, after = (pd.DataFrame(rng.integers(0, 3, (60, 8)), columns=list("abcdefgh")) for _ in range(2))
    everything = distortion.marginals(before, after, k=3).set_index("columns")["score"]
    some = distortion.marginals(before, after, k=3, sample=20, seed=3)
    assert len(some) == 20 == some["columns"].nunique()
    assert all(everything[row.columns] == row.score for row in some.itertuples())
    assert distortion.k_marginal(before, after, k=3, sample=20, seed=3) == pytest.approx(some["score"].mean())
    assert distortion.k_marginal(before, after, k=3, sample=56) == distortion.k_marginal(before, after, k=3)
    drawn = {
        row for seed in range(25) for row in distortion.marginals(before, after, k=3, sample=12, seed=seed)["columns"]
    }
    assert drawn == set(itertools.combinations("abcdefgh", 3))


@given(tables())
@settings(max_examples=6, deadline=None)
def test_propensity_is_its_definition(pair) -> None:
    before, after = pair
    c = len(after) / (len(before) + len(after))
    for model in ("saturated", "main", "pairs"):
        found = distortion.propensity(before, after, model=model)
        if model == "saturated":
            pmse, parameters = reference.propensity_of_cells(before, after, NAMES)
        else:
            pmse, parameters = reference.propensity(before, after, NAMES, model)
        assert found.pmse == pytest.approx(pmse, abs=1e-6)
        assert found.parameters == parameters
        assert -1e-12 <= found.pmse <= c * (1 - c) + 1e-12
        total = len(before) + len(after)
        assert found.expected == pytest.approx((parameters - 1) * (1 - c) ** 2 * c / total)
        if parameters > 1:
            assert found.s_pmse == pytest.approx(found.pmse / found.expected)
        else:
            assert math.isnan(found.s_pmse)
        assert distortion.propensity(before, before, model=model).pmse == pytest.approx(0, abs=1e-18)


def test_golden_propensity() -> None:
    """Scores 1/3 of three records, and 3/5 of five: (3·(1/6)² + 5·(1/10)²) / 8 = 1/60; expected 1/8 · 1/8 = 1/64."""
    found = distortion.propensity({"x": list("aabb")}, {"x": list("abbb")}, model="main")
    assert found.pmse == pytest.approx(1 / 60)
    assert found.expected == 1 / 64
    assert found.s_pmse == pytest.approx(64 / 60)
    apart = distortion.propensity({"x": ["a", "b"]}, {"x": ["c", "d"]}, model="main")
    assert apart.pmse == pytest.approx(0.25, abs=1e-8)


def test_models_see_different_things() -> None:
    """Swapping leaves single columns as they were; what it does to pairs and triples, larger models see."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 2, 4_000), rng.integers(0, 2, 4_000)
    before = pd.DataFrame({"x": x, "y": y, "z": x ^ y})  # every pair is independent, the three are not
    after = before.assign(z=rng.permutation(before["z"]))
    main, pairs, saturated = (
        distortion.propensity(before, after, model=model) for model in ("main", "pairs", "saturated")
    )
    assert main.pmse == pytest.approx(0, abs=1e-18)
    assert pairs.s_pmse < 5 < 500 < saturated.s_pmse
    assert (main.parameters, pairs.parameters, saturated.parameters) == (4, 7, 8)


def test_expectation_under_the_null() -> None:
    """A table drawn from the distribution of the original has a ratio of 1; two draws of one law have twice that.

    A mean of 150 χ² with 11 degrees of freedom, relative to 11, has a standard error of 3.5 %.
    """
    rng = np.random.default_rng(1)
    drawn, apart = [], []
    for _ in range(150):
        first, second = (pd.DataFrame({"x": rng.integers(0, 4, 600), "y": rng.integers(0, 3, 600)}) for _ in range(2))
        drawn.append(distortion.propensity(first, first.iloc[rng.integers(0, 600, 600)]).s_pmse)
        apart.append(distortion.propensity(first, second).s_pmse)
    assert np.mean(drawn) == pytest.approx(1, abs=0.15)
    assert np.mean(apart) == pytest.approx(2, abs=0.3)


def test_every_kind_of_table() -> None:
    before = pd.DataFrame({"x": ["a", "b", None, "b"], "y": [1, 2, 2, 1]})
    after = pd.DataFrame({"x": ["a", "b", "b", None], "y": [1, 2, 1, 1]})
    score, found = distortion.k_marginal(before, after), distortion.propensity(before, after, model="main")
    tuples = {"x": before["x"].tolist(), "y": before["y"].tolist()}
    for kind in (before, pl.from_pandas(before), pa.Table.from_pandas(before), tuples, before.astype("category")):
        for other in (after, pl.from_pandas(after), pa.Table.from_pandas(after)):
            assert distortion.k_marginal(kind, other) == score
            assert distortion.propensity(kind, other, model="main").pmse == pytest.approx(found.pmse)


def test_numbers_and_results_are_not_coded_again() -> None:
    frame, taxonomies = nym.datasets.discharges(500, seed=1)
    frame = frame[["diagnosis", "age_group", "sex"]]
    res = nym.rank_swap(frame, {"diagnosis": taxonomies["diagnosis"]}, k=5, seed=1)
    sides = res.secret.comparison.before, res.secret.comparison.after
    assert distortion.k_marginal(*sides) == distortion.k_marginal(frame, res) == distortion.k_marginal(frame, res.data)
    assert 0 < distortion.k_marginal(*sides, k=2) < 1000 == distortion.k_marginal(*sides, k=1)
    decimals = {"x": [0.1, 0.2, -0.0]}
    assert distortion.k_marginal(decimals, {"x": [0.2, 0.1, 0.0]}, k=1) == 1000
    assert distortion.k_marginal({"x": [1, 2]}, {"x": [1.0, 2.0]}, k=1) == 1000


GOOD = {"x": ["a", "b"], "y": [1, 2]}


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: distortion.k_marginal(GOOD, GOOD, k=3), error.ParameterError, "k=3: give a whole number from 1 to 2"),
        (lambda: distortion.k_marginal(GOOD, GOOD, k=0), error.ParameterError, "from 1 to 2"),
        (lambda: distortion.k_marginal(GOOD, GOOD, k=True), error.ParameterError, "from 1 to 2"),
        (lambda: distortion.k_marginal(GOOD, GOOD, "w"), error.UnknownColumnError, "there is no column 'w'"),
        (lambda: distortion.k_marginal(GOOD, {"x": ["a"]}), error.DataError, "'y' is not in the table after"),
        (lambda: distortion.k_marginal(GOOD, {"x": ["a"]}, "y"), error.UnknownColumnError, "in the table after"),
        (lambda: distortion.k_marginal(GOOD, {"x": [], "y": []}), error.DataError, "the table after has no records"),
        (lambda: distortion.k_marginal(GOOD, GOOD, []), error.ParameterError, "at least one column"),
        (lambda: distortion.k_marginal(GOOD, GOOD, sample=0), error.ParameterError, "sample=0"),
        (lambda: distortion.k_marginal(GOOD, GOOD, seed=-1), error.ParameterError, "seed=-1"),
        (lambda: distortion.k_marginal(GOOD, GOOD, progress=1), error.ParameterError, "progress=1"),
        (lambda: distortion.k_marginal(GOOD, GOOD, bins=3), error.ParameterError, "bins=: a mapping"),
        (lambda: distortion.k_marginal(GOOD, GOOD, bins={"z": 3}), error.UnknownColumnError, "'z'"),
        (lambda: distortion.k_marginal(GOOD, GOOD, bins={"y": 1}), error.ParameterError, "'y': give two bins"),
        (lambda: distortion.k_marginal(GOOD, GOOD, bins={"y": [2, 1]}), error.ParameterError, "ascending edges"),
        (lambda: distortion.k_marginal(GOOD, GOOD, bins={"y": "ab"}), error.ParameterError, "ascending edges"),
        (lambda: distortion.k_marginal(GOOD, GOOD, bins={"y": [math.nan]}), error.ParameterError, "ascending edges"),
        (lambda: distortion.k_marginal(GOOD, GOOD, bins={"x": 2}), error.DataError, "'x': holds no numbers"),
        (
            lambda: distortion.propensity(GOOD, GOOD, model="cart"),
            error.ParameterError,
            "model='cart': give 'saturated'",
        ),
        (lambda: distortion.propensity(GOOD, {"x": ["a"]}, "y"), error.UnknownColumnError, "in the table after"),
        (lambda: distortion.propensity(3, GOOD), error.DataError, "not int"),
    ],
)
def test_refused(call, kind, message: str) -> None:
    with pytest.raises(kind, match=message.replace("(", r"\(")):
        call()


def test_too_much_is_refused() -> None:
    wide = {f"c{i}": [0, 1] for i in range(60)}
    with pytest.raises(
        error.ParameterError, match=r"k=8: there are 2,558,620,845 marginals of 8 columns; give sample="
    ):
        distortion.k_marginal(wide, wide, k=8)
    assert distortion.k_marginal(wide, wide, k=8, sample=5) == 1000
    many = {"x": list(range(3_000))}
    with pytest.raises(error.SizeError, match=r"3,000 values .* give model='saturated'"):
        distortion.propensity(many, many, model="main")
    assert distortion.propensity(many, many).pmse == 0
