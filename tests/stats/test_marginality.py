"""Marginality and its relatives, against the algorithms as printed."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import variance

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nominym import DistanceMatrix, Equality, Order, Sets, Taxonomy, error, stats
from reference import Edges, Naive, both, edge_lists

TREE = Taxonomy.from_edges([("flu", "illness"), ("coma", "illness"), ("deep coma", "coma")])


@st.composite
def samples(draw: st.DrawFn) -> tuple[Edges, list[str]]:
    edges = draw(edge_lists(max_size=10, tree=True))
    names = sorted({name for edge in edges for name in edge})
    return edges, draw(st.lists(st.sampled_from(names), min_size=1, max_size=20))


def chain(naive: Naive, c: str) -> list[str]:
    """From the root down to c."""
    return [c] if c == naive.root else [*chain(naive, naive.parents[c][0]), c]


def naive_distance(naive: Naive, values: list[str], a: str, b: str) -> int:
    """Sum the link weights on the path, one by one (algorithm 2, steps 2 and 3)."""
    height = max(len(chain(naive, v)) - 1 for v in values)
    up = [set(enumerate(chain(naive, x))) for x in (a, b)]
    return sum(2 ** (height - depth) for depth, _ in up[0] ^ up[1])


@settings(max_examples=150)
@given(samples())
def test_marginality_is_algorithm_2(sample: tuple[Edges, list[str]]) -> None:
    edges, values = sample
    tax, naive = both(edges)
    expected = [sum(naive_distance(naive, values, a, b) for b in values) for a in values]
    assert stats.marginality(values, tax).tolist() == expected
    least = min(expected)
    mean = min(v for v, m in zip(values, expected, strict=True) if m == least)
    assert stats.marginality_mean(values, tax) == (mean, least)
    assert stats.marginality_variance(values, tax) == pytest.approx(sum(expected) / len(values), rel=1e-15)


def naive_var_h(naive: Naive, values: list[str]) -> Fraction:
    """Label every value with digits and take the variance of each position (algorithm 1)."""
    children = {c: [x for x in naive.nodes if c in naive.parents[x]] for c in naive.nodes}
    base = max(1, *(len(x) for x in children.values()))
    below = {c: sum(1 for v in values if c in chain(naive, v)) for c in naive.nodes}
    if base % 2:
        labels = [(base - 1) // 2]
        for step in range(1, base):
            labels += [(base - 1) // 2 - step, (base - 1) // 2 + step]
    else:
        labels = [(base - 2) // 2]
        for step in range(1, base):
            labels += [(base - 2) // 2 + step, (base - 2) // 2 - step]
    digit = {}
    for c in naive.nodes:
        ranked = sorted((x for x in children[c] if below[x]), key=lambda x: (-below[x], x))
        digit |= dict(zip(ranked, labels, strict=False))
    height = max(len(chain(naive, v)) - 1 for v in values)
    rows = [[digit[x] for x in chain(naive, v)[1:]] for v in values]
    rows = [row + [labels[0]] * (height - len(row)) for row in rows]
    if len(rows) < 2:
        return Fraction(0)
    positions = [[Fraction(row[i]) for row in rows] for i in range(height)]
    return sum((variance(p) * base ** (2 * (height - 1 - i)) for i, p in enumerate(positions)), Fraction(0))


@settings(max_examples=150)
@given(samples())
def test_var_h_is_algorithm_1(sample: tuple[Edges, list[str]]) -> None:
    edges, values = sample
    tax, naive = both(edges)
    assert stats.var_h(values, tax) == naive_var_h(naive, values)


def test_covariance() -> None:
    x, y = ["flu", "coma", "deep coma", "flu", None], ["coma", "coma", "flu", "deep coma", "flu"]
    kept = pd.DataFrame({"x": x, "y": y}).dropna()
    m = [stats.marginality(kept[c].tolist(), TREE) for c in kept]
    expected = np.sqrt(m[0] * m[1]).mean()
    assert stats.marginality_covariance(x, y, TREE, TREE) == pytest.approx(expected, rel=1e-14)
    cells = stats.marginality_covariance_matrix({"x": x, "y": y}, {"x": TREE, "y": TREE})
    assert cells.loc["x", "y"] == cells.loc["y", "x"] == pytest.approx(expected, rel=1e-14)
    assert cells.loc["y", "y"] == pytest.approx(m[1].mean(), rel=1e-14)
    assert stats.marginality_covariance(x[:4], x[:4], TREE, TREE) == pytest.approx(
        stats.marginality_variance(x[:4], TREE)
    )


@settings(max_examples=60)
@given(samples(), st.data())
def test_sse_distance_is_a_distance(sample: tuple[Edges, list[str]], data: st.DataObject) -> None:
    edges, values = sample
    tax, naive = both(edges)
    n = len(values)
    ages = data.draw(st.lists(st.integers(0, 100), min_size=n, max_size=n))
    frame = {"diag": values, "age": ages}
    first, second = np.divmod(np.arange(n * n), n)
    cells = stats.sse_distance(frame, first, second, {"diag": tax}).reshape(n, n)
    nominal = stats.marginality_variance(values, tax)
    numerical = variance(ages) if n > 1 else 0
    for i in range(n):
        for j in range(n):
            part = naive_distance(naive, values, values[i], values[j]) / nominal if nominal else 0
            part += (ages[i] - ages[j]) ** 2 / 2 / numerical if numerical else 0
            assert cells[i, j] == pytest.approx(math.sqrt(part), rel=1e-12)
    assert (cells[:, :, None] <= cells[:, None, :] + cells.T[None, :, :] + 1e-9).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, dict])
def test_sse_distance_takes_any_table(make) -> None:
    frame = make({"diag": ["flu", "coma", "deep coma"], "age": [30, 60, 90]})
    found = stats.sse_distance(frame, 0, 1, {"diag": TREE})
    assert found == pytest.approx([math.sqrt(0.6 + 0.5)])


def test_sse_distance_ranks_ordered_categories() -> None:
    grade = pd.Categorical(["low", "high", "middle"], ["low", "middle", "high"], ordered=True)
    frame = pd.DataFrame({"diag": ["flu", "coma", "coma"], "grade": grade})
    found = stats.sse_distance(frame, 0, 1, {"diag": TREE}, columns=["grade", "diag"])
    alone = stats.sse_distance(frame.assign(grade=[0, 2, 1]), 0, 1, {"diag": TREE})
    assert found == alone


@pytest.mark.parametrize(
    ("frame", "first", "message"),
    [
        ({"diag": ["flu", "coma"], "sex": ["m", "f"]}, 0, "column 'sex': it is nominal: give it a taxonomy"),
        ({"diag": ["flu", "coma"], "sex": pd.Categorical(["m", "f"])}, 0, "column 'sex': it is nominal"),
        ({"diag": ["flu", "coma"], "age": [1, None]}, 0, "column 'age': row 1 is missing"),
        ({"diag": ["flu", None], "age": [1, 2]}, 0, "column 'diag': 1 of 2 values are missing"),
        ({"diag": ["flu", "coma"], "age": [1, 2]}, 2, "there is no row 2; the rows are 0 … 1"),
        ({"diag": ["flu", "coma"], "age": [1, 2]}, "a", "row numbers are needed"),
        ({"diag": ["flu", "coma"], "age": [1, 2]}, [0, 1], "give pairs"),
        ({"age": [1, 2]}, 0, "names 'diag', which is not among"),
        ({"diag": ["flu", "coma"], "age": [1, float("inf")]}, 0, "column 'age': holds inf, which is infinitely far"),
        ({"diag": ["flu", "coma"], "age": [1, 2, 3]}, 0, "'diag' has 2, 'age' has 3"),
        ({"diag": ["flu", "coma"], "age": [1j, 2j]}, 0, "column 'age': 1j has no order of its own"),
    ],
)
def test_sse_distance_refuses(frame: dict, first: object, message: str) -> None:
    with pytest.raises(error.NominymError, match=message):
        stats.sse_distance(frame, first, 1, {"diag": TREE})


def test_sse_distance_of_no_pair_and_of_named_columns() -> None:
    frame = {"diag": ["flu", "coma"], "age": [1, 2]}
    assert len(stats.sse_distance(frame, [], [], {"diag": TREE})) == 0
    twice = stats.sse_distance(frame, 0, 1, {"diag": TREE}, columns=["diag", "diag"])
    assert twice == stats.sse_distance(frame, 0, 1, {"diag": TREE}, columns=["diag"])
    with pytest.raises(error.ParameterError, match="not the one text 'diag'"):
        stats.sse_distance(frame, 0, 1, {"diag": TREE}, columns="diag")


def test_a_tree_is_never_chosen_silently() -> None:
    dag = Taxonomy.from_edges([("a", "top"), ("b", "top"), ("c", "b"), ("c", "a")])
    for function in (stats.marginality, stats.marginality_mean, stats.marginality_variance, stats.var_h):
        with pytest.raises(error.TaxonomyError, match="'c' has the parents 'b', 'a'; give tree='first-parent'"):
            function(["a", "c"], dag)
        assert function(["a", "c"], dag, tree="first-parent") is not None
    chosen = stats.marginality(["a", "c"], dag, tree="first-parent")
    assert chosen.tolist() == stats.marginality(["a", "c"], dag.to_tree()).tolist()
    with pytest.raises(error.ParameterError, match="first-parent"):
        stats.marginality(["a"], dag, tree="shortest")  # type: ignore[arg-type]
    with pytest.raises(error.ParameterError, match="needs a Taxonomy"):
        stats.marginality(["a"], DistanceMatrix([[0]], ["a"]))  # type: ignore[arg-type]


def test_two_names_of_one_concept_are_one_value() -> None:
    tax = Taxonomy.from_edges([("D1", "D0"), ("D2", "D0"), ("D3", "D2")], labels={"D1": "Coma"})
    assert (stats.marginality(["D1", "coma", "D3"], tax) == stats.marginality(["D1", "D1", "D3"], tax)).all()


def test_the_base_of_var_h_is_that_of_the_whole_taxonomy() -> None:
    wide = [(f"w{i}", "wide") for i in range(7)]
    tax = Taxonomy.from_edges([("wide", "top"), ("a", "top"), ("b", "a"), ("c", "a"), *wide])
    # The label of top's child a is the same for both; below, the middle digit of base 7 is 3, the next one 2.
    assert stats.var_h(["b", "c"], tax) == Fraction(1, 2)
    assert stats.var_h(["b", "c", "top"], tax) == naive_var_h(Naive(edges_of(tax), "top"), ["b", "c", "top"])


def edges_of(tax: Taxonomy) -> Edges:
    return [(c, p) for c in tax for p in tax.parents(c)]


def test_missing_values_have_no_marginality() -> None:
    found = stats.marginality(["flu", None, "coma"], TREE)
    assert np.isnan(found[1])
    assert found[[0, 2]].tolist() == stats.marginality(["flu", "coma"], TREE).tolist()


def test_sse_distance_of_ranks_and_plain_categories() -> None:
    """Half the mean squared distance of different records is the variance, whatever the distance is."""
    rng = np.random.default_rng(8)
    frame = {"grade": rng.choice(["low", "mid", "high"], 30), "sex": rng.choice(["f", "m", "x"], 30)}
    first, second = rng.integers(0, 30, (2, 50))
    rank = np.array([["low", "mid", "high"].index(grade) for grade in frame["grade"]])
    squares = [np.subtract.outer(rank, rank) ** 2, (frame["sex"][:, None] != frame["sex"][None]).astype(float)]
    expected = np.sqrt(sum((d[first, second] / 2) / (d.sum() / (2 * 30 * 29)) for d in squares))
    meanings = {"grade": Order(["low", "mid", "high"]), "sex": Equality()}
    assert np.allclose(stats.sse_distance(frame, first, second, meanings), expected)
    with pytest.raises(error.ParameterError, match="Sets has no variance"):
        stats.sse_distance(frame, 0, 1, {"sex": Sets()}, columns=["sex"])
    with pytest.raises(error.DataError, match="no place in the given order"):
        stats.sse_distance(frame, 0, 1, {"grade": Order(["low", "mid"])}, columns=["grade"])
