"""Unique exact matches, disclosure, inference with a control set: definitions, published figures, what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
import reference_measures as reference
from nominym import error, risk
from nominym.stats import interval

NAMES = ["x", "y", "z"]


@st.composite
def tables(draw):
    def table(n: int) -> pd.DataFrame:
        column = st.lists(st.sampled_from(["p", "q", "r", None]), min_size=n, max_size=n)
        return pd.DataFrame({name: draw(column) for name in NAMES}, dtype=object)

    return table(draw(st.integers(1, 20))), table(draw(st.integers(1, 20)))


# ---- unique exact matches


@given(tables())
@settings(max_examples=25, deadline=None)
def test_unique_exact_matches_are_their_definition(pair) -> None:
    before, after = pair
    for columns in (["x"], ["x", "z"], NAMES):
        found = risk.unique_exact_matches(before, after, columns)
        assert (found.unique, found.matches) == reference.unique_exact_matches(before, after, columns)
        assert found.share == (found.matches / found.unique if found.unique else 0)
        assert found.unique == risk.classes(before, columns).unique
        same = risk.unique_exact_matches(before, before.sample(frac=1, random_state=1), columns)
        assert same.matches == same.unique


def test_a_unique_exact_match_is_found_with_one_over_k() -> None:
    """All draws of a strict release, enumerated: a row that is verbatim that of a unique person is theirs with 1/k.

    One group of k = 3 with three different tuples: rows are put in random order, then each column is permuted.
    For every release in which somebody's values are verbatim, the posterior of the row that has them is counted.
    """
    frame = pd.DataFrame({"x": [1, 2, 3], "y": ["a", "b", "c"]})
    res = nym.rank_swap(frame, {"x": nym.Order(), "y": nym.Equality()}, k=3)
    assert len(set(res.secret.groups.tolist())) == 1
    people = list(frame.itertuples(index=False, name=None))
    ways: dict[tuple[tuple[int, str], ...], dict[tuple[int, int], int]] = {}
    orders = list(permutations(range(3)))
    for owners, first, second in product(orders, repeat=3):
        release = tuple((people[owners[first[r]]][0], people[owners[second[r]]][1]) for r in range(3))
        cells = ways.setdefault(release, {})
        for row, person in enumerate(owners):
            cells[row, person] = cells.get((row, person), 0) + 1
    matched = []
    for release, cells in ways.items():
        after = pd.DataFrame(release, columns=["x", "y"])
        found = risk.unique_exact_matches(frame, after)
        assert found.unique == 3
        verbatim = [(row, people.index(values)) for row, values in enumerate(release) if values in people]
        assert found.matches == len(verbatim)
        matched.append(found.share)
        total = sum(ways for (row, _), ways in cells.items() if row == 0)
        assert all(Fraction(cells.get(at, 0), total) == Fraction(1, 3) for at in verbatim)
    # A third of the unique records are matched on average, in some releases all: that says nothing about whose rows.
    assert np.mean(matched) == pytest.approx(1 / 3)
    assert max(matched) == 1
    assert len(matched) == 36


# ---- disclosure


@given(tables())
@settings(max_examples=25, deadline=None)
def test_disclosure_is_its_definition(pair) -> None:
    before, after = pair
    for keys in (["x"], ["x", "y"]):
        found = risk.disclosure(before, after, keys, "z")
        for name, value in reference.disclosure(before, after, keys, "z").items():
            assert getattr(found, name) == pytest.approx(value, nan_ok=True), name
        assert found.repu <= found.uiois <= found.uio
        assert found.disdio <= found.disco <= found.dis <= found.found
        same = risk.disclosure(before, before, keys, "z")
        assert (same.repu, same.disco, same.dcap, same.found) == (same.uio, same.dorig, same.cap_original, 1)


ADULT = [
    "age", "workclass", "fnlwgt", "education", "education-num", "marital", "occupation", "relationship", "race", "sex",
    "capital-gain", "capital-loss", "hours", "country", "income",
]  # fmt: skip

PUBLISHED = {
    "capital-gain": 22.55, "capital-loss": 30.61, "education": 3.71, "fnlwgt": 2.70, "hours": 4.36, "marital": 8.23,
    "country": 17.09, "relationship": 5.17, "workclass": 14.27, "income": 4.97,
}  # fmt: skip


def test_published_figures_of_adult(shared_data) -> None:
    """Table 1 of Raab, Nowok and Dibben: % disclosive in the original, by age, occupation, race and sex.

    In their copy of the data, that of the R package arules, the income of the test part is missing. With a
    denominator of 1 they print 2.68 for every column: the records that are unique.
    """
    how = {"header": None, "names": ADULT, "skipinitialspace": True, "na_values": "?"}
    train = pd.read_csv(shared_data("adult/adult.data"), **how)
    test = pd.read_csv(shared_data("adult/adult.test"), skiprows=1, **how).assign(income=None)
    frame = pd.concat([train, test], ignore_index=True)
    assert len(frame) == 48_842
    for target, percent in PUBLISHED.items():
        found = risk.disclosure(frame, frame, ["age", "occupation", "race", "sex"], target)
        assert round(100 * found.dorig, 2) == percent, target
        assert round(100 * found.uio, 2) == 2.68
        assert found.disco == found.dorig


# ---- inference


def test_inference_by_the_nearest_row() -> None:
    """By hand: 31 is nearest to the row of 30, 40 equally near to 35 and 45, one of which is right."""
    after = {"age": [30, 35, 45], "hiv": ["no", "yes", "no"]}
    before = {"age": [31, 40], "hiv": ["no", "yes"]}
    control = {"age": [44, 36, 29], "hiv": ["no", "yes", "yes"]}
    found = risk.inference(before, after, {"age": nym.Order()}, "hiv", control=control)
    assert (found.attack.share, found.attack.attacked, found.control.share) == (0.75, 2, pytest.approx(2 / 3))
    assert found.risk == pytest.approx((0.75 - 2 / 3) / (1 / 3))
    assert found.baseline == 0.5
    assert risk.inference(before, after, {"age": nym.Order()}, "hiv").risk is None
    certain = {"age": [30], "hiv": ["no"]}
    assert math.isnan(risk.inference(before, after, {"age": nym.Order()}, "hiv", control=certain).risk)


def test_inference_against_all_pairs() -> None:
    rng = np.random.default_rng(1)
    frame, taxonomies = nym.datasets.discharges(400, seed=1)
    frame = frame[["diagnosis", "sex"]].assign(age=rng.integers(0, 90, 400))
    frame.loc[::37, "age"] = None
    people, others = frame[:250], frame[250:]
    after = people.assign(age=rng.permutation(people["age"]))
    values = sorted(set(frame["diagnosis"]))
    matrix = taxonomies["diagnosis"].distance_matrix(values)
    meanings = {"diagnosis": nym.DistanceMatrix(matrix, values), "age": nym.Order()}
    found = risk.inference(people, after, meanings, "sex", control=others)
    span = frame["age"].max() - frame["age"].min()
    for targets, success in ((people, found.attack), (others, found.control)):
        right = []
        for row in targets.itertuples():
            far = matrix[values.index(row.diagnosis)][[values.index(value) for value in after["diagnosis"]]]
            gap = np.abs(after["age"].to_numpy() - row.age) / span
            both = after["age"].isna().to_numpy() & math.isnan(row.age)
            total = far + np.where(both, 0.0, np.where(np.isnan(gap), 1.0, gap))
            near = total <= total.min() + 1e-9
            right.append((after["sex"].to_numpy()[near] == row.sex).mean())
        assert success.share == pytest.approx(np.mean(right))


def test_what_is_learnt_beyond_the_control() -> None:
    """A copy tells everything about its people; a fresh draw of the same law nothing beyond what it tells of others."""
    rng = np.random.default_rng(1)

    def draw(n: int) -> pd.DataFrame:
        age = rng.integers(0, 1_000, n)
        return pd.DataFrame({"age": age, "ill": rng.random(n) < age / 1_000})

    people, others, fresh = draw(800), draw(800), draw(800)
    meanings = {"age": nym.Order()}
    copied = risk.inference(people, people, meanings, "ill", control=others)
    drawn = risk.inference(people, fresh, meanings, "ill", control=others)
    assert copied.low > 0.3
    assert drawn.low < 0 < drawn.high < 0.3
    assert 0.4 < drawn.baseline < 0.6


@given(st.integers(0, 50), st.integers(0, 49), st.integers(50, 80), st.integers(50, 80))
@settings(max_examples=40, deadline=None)
def test_wilson_intervals_and_their_residual(hits: int, by_chance: int, number: int, others: int) -> None:
    low, high = interval(hits / number, hits / number, number)
    assert (low, high) == pytest.approx(reference.wilson(hits / number, number), abs=1e-9)
    assert interval(hits / number, hits / number, number, z=3.29) == pytest.approx(
        reference.wilson(hits / number, number, 3.29), abs=1e-9
    )
    before = {"x": ["a"] * number, "y": ["1"] * hits + ["2"] * (number - hits)}
    control = {"x": ["a"] * others, "y": ["1"] * by_chance + ["2"] * (others - by_chance)}
    found = risk.inference(before, {"x": ["a"], "y": ["1"]}, {"x": nym.Equality()}, "y", control=control)
    wanted = reference.residual(hits, by_chance, number, others)
    assert (found.risk, found.low, found.high) == pytest.approx(wanted, abs=1e-6)


# ---- any table, bad input


def test_every_kind_of_table() -> None:
    before = pd.DataFrame({"x": ["a", "b", None, "b"], "y": [1, 2, 2, 1], "z": [True, False, True, True]})
    after = pd.DataFrame({"x": ["a", "b", "b", None], "y": [1, 2, 1, 1], "z": [True, False, False, True]})
    meanings = {"x": nym.Equality(), "y": nym.Order()}

    def figures(one, other) -> list[object]:
        return [
            risk.unique_exact_matches(one, other),
            risk.disclosure(one, other, ["x", "y"], "z"),
            risk.inference(one, other, meanings, "z", control=other),
        ]

    wanted = figures(before, after)
    for one in (pl.from_pandas(before), pa.Table.from_pandas(before), before.to_dict("list")):
        for other in (after, pl.from_pandas(after), pa.Table.from_pandas(after)):
            assert figures(one, other) == wanted
    frame, taxonomies = nym.datasets.discharges(300, seed=1)
    frame = frame[["diagnosis", "age_group", "sex"]]
    res = nym.rank_swap(frame, {"diagnosis": taxonomies["diagnosis"]}, k=5, seed=1)
    sides = res.secret.comparison.before, res.secret.comparison.after
    assert risk.unique_exact_matches(*sides) == risk.unique_exact_matches(frame, res.data)
    assert risk.disclosure(*sides, "diagnosis", "sex") == risk.disclosure(frame, res.data, "diagnosis", "sex")


GOOD = {"x": ["a", "b"], "y": [1, 2], "z": [1, 1]}
NONE: dict[str, list[object]] = {"x": [], "y": [], "z": []}
EQUAL = {"x": nym.Equality()}


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: risk.unique_exact_matches(GOOD, GOOD, "w"), error.UnknownColumnError, "there is no column 'w'"),
        (lambda: risk.unique_exact_matches(GOOD, {"x": ["a"]}), error.DataError, "'y' is not in the table after; name"),
        (lambda: risk.unique_exact_matches(NONE, GOOD), error.DataError, "the table before has no records"),
        (lambda: risk.unique_exact_matches(GOOD, NONE), error.DataError, "the table after has no records"),
        (lambda: risk.unique_exact_matches(GOOD, GOOD, []), error.ParameterError, "at least one column"),
        (lambda: risk.unique_exact_matches(GOOD, GOOD, progress=3), error.ParameterError, "progress=3"),
        (lambda: risk.disclosure(GOOD, GOOD, "w", "z"), error.UnknownColumnError, "'w'"),
        (lambda: risk.disclosure(GOOD, GOOD, "x", "w"), error.UnknownColumnError, "'w'"),
        (lambda: risk.disclosure(GOOD, {"x": ["a"]}, "x", "z"), error.UnknownColumnError, "in the table after"),
        (lambda: risk.disclosure(GOOD, GOOD, ["x", "z"], "z"), error.ParameterError, "target='z': it is among"),
        (lambda: risk.disclosure(GOOD, GOOD, None, "z"), error.ParameterError, "keys=: name the quasi"),
        (lambda: risk.disclosure(GOOD, GOOD, [], "z"), error.ParameterError, "keys=: name at least one column"),
        (lambda: risk.disclosure(GOOD, NONE, "x", "z"), error.DataError, "the table after has no records"),
        (lambda: risk.inference(GOOD, GOOD, {}, "z"), error.ParameterError, "a mapping from column names"),
        (lambda: risk.inference(GOOD, GOOD, EQUAL, "w"), error.UnknownColumnError, "'w' in the table before"),
        (lambda: risk.inference(GOOD, GOOD, EQUAL, "x"), error.ParameterError, "known=: name at least one column"),
        (lambda: risk.inference(GOOD, GOOD, EQUAL, "x", known="x"), error.ParameterError, "it is the sensitive column"),
        (lambda: risk.inference(GOOD, GOOD, EQUAL, "z", known="y"), error.UnknownColumnError, "'y'"),
        (
            lambda: risk.inference(GOOD, GOOD, EQUAL, "z", control={"x": ["a"]}),
            error.UnknownColumnError,
            "table control",
        ),
        (lambda: risk.inference(GOOD, GOOD, EQUAL, "z", control=NONE), error.DataError, "table control has no records"),
        (lambda: risk.inference(GOOD, GOOD, EQUAL, "z", sample=0), error.ParameterError, "sample=0"),
        (lambda: risk.inference(GOOD, GOOD, EQUAL, "z", missing="drop"), error.ParameterError, "missing='drop'"),
        (
            lambda: risk.inference({**GOOD, "x": ["a", None]}, GOOD, EQUAL, "z", missing="error"),
            error.MissingValueError,
            "are missing",
        ),
    ],
)
def test_refused(call, kind, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
