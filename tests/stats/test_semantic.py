"""Semantic statistics against their n × n definitions."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import DistanceMatrix, Measure, Taxonomy, error, stats
from reference import Edges, Naive, both, edge_lists, naive_sd_cov

WP = Measure()


def restricted(naive: Naive, values: list[str]) -> Naive:
    return naive.restrict(naive.lcs(sorted(set(values))))


def distances(naive: Naive, values: list[str], measure: Measure = WP) -> np.ndarray:
    part = restricted(naive, values)
    table = {(a, b): part.distance(a, b, measure) for a in set(values) for b in set(values)}
    return np.array([[table[a, b] for b in values] for a in values])


@st.composite
def samples(draw: st.DrawFn, tree: bool = False) -> tuple[Edges, list[str], list[str]]:
    edges = draw(edge_lists(max_size=9, tree=tree))
    names = sorted({name for edge in edges for name in edge})
    n = draw(st.integers(1, 25))
    column = st.lists(st.sampled_from(names), min_size=n, max_size=n)
    return edges, draw(column), draw(column)


@settings(max_examples=80)
@given(samples())
def test_mean_and_variance(sample: tuple[Edges, list[str], list[str]]) -> None:
    edges, values, _ = sample
    tax, naive = both(edges)
    part = restricted(naive, values)
    sums = {c: math.fsum(part.distance(c, v, WP) for v in values) for c in part.nodes}
    least = min(sums.values())
    mean = stats.semantic_mean(values, tax)
    assert mean == min(c for c, s in sums.items() if s - least < 1e-9)
    variance = math.fsum(part.distance(mean, v, WP) ** 2 for v in values) / len(values)
    assert stats.semantic_variance(values, tax) == pytest.approx(variance, abs=1e-12)


@settings(max_examples=80)
@given(samples(), samples(tree=True))
def test_distance_covariance_is_the_n_by_n_definition(one, two) -> None:
    n = min(len(one[1]), len(two[1]))
    (tax_x, naive_x), (tax_y, naive_y) = both(one[0]), both(two[0])
    x, y = one[1][:n], two[1][:n]
    for measure in (WP, Measure("jiang-conrath", ic="sanchez")):
        a, b = distances(naive_x, x, measure), distances(naive_y, y, measure)
        found = stats.distance_covariance(x, y, tax_x, tax_y, measure=measure)
        # Square roots of sums near zero magnify rounding: compare what is under the root.
        assert found**2 == pytest.approx(naive_sd_cov(a, b) ** 2, abs=1e-9)
        assert stats.distance_variance(x, tax_x, measure=measure) == pytest.approx(naive_sd_cov(a, a), abs=1e-9)
    spread = naive_sd_cov(a, a) * naive_sd_cov(b, b)
    if spread > 1e-9:
        correlation = stats.distance_correlation(x, y, tax_x, tax_y, measure=measure)
        assert correlation**2 == pytest.approx((naive_sd_cov(a, b) / math.sqrt(spread)) ** 2, abs=1e-9)


@settings(max_examples=80)
@given(samples())
def test_rmse_measures_in_the_tree_of_both(sample: tuple[Edges, list[str], list[str]]) -> None:
    edges, before, after = sample
    tax, naive = both(edges)
    part = restricted(naive, before + after)
    squares = [part.distance(a, b, WP) ** 2 for a, b in zip(before, after, strict=True)]
    assert stats.rmse(before, after, tax) == pytest.approx(math.sqrt(math.fsum(squares) / len(squares)), abs=1e-12)


def test_many_categories_agree_with_the_definition() -> None:
    # More categories than a block of the kernel works on side by side.
    rng = np.random.default_rng(1)
    edges = [(f"{i:05}", f"{int(i * rng.power(2)):05}") for i in range(1, 4000)]
    tax = Taxonomy.from_edges(edges)
    x = [f"{i:05}" for i in rng.integers(0, 4000, 500)]
    y = [f"{i:05}" for i in rng.integers(0, 4000, 500)]
    tax_x, tax_y = (tax.restrict(tax.lcs(v)) for v in (x, y))
    a, b = (t.distance_matrix(v).astype(float) for t, v in ((tax_x, x), (tax_y, y)))
    assert stats.distance_covariance(x, y, tax, tax) == pytest.approx(naive_sd_cov(a, b), abs=1e-6)
    both_ways = stats.distance_covariance(y, x, tax, tax)
    assert both_ways == pytest.approx(stats.distance_covariance(x, y, tax, tax), rel=1e-12)
    big_x, big_y = np.tile(x, 40), np.repeat(y, 40)
    frame = pd.DataFrame({"x": big_x, "y": big_y})
    cells = stats.covariance_matrix(frame, {"x": tax, "y": tax})
    assert cells.loc["x", "y"] == pytest.approx(stats.distance_covariance(big_x, big_y, tax, tax), rel=1e-12)
    assert cells.loc["x", "x"] == pytest.approx(stats.distance_variance(x, tax), rel=1e-9)
    assert list(cells.columns) == ["x", "y"]


def test_missing_values_are_left_out_pairwise() -> None:
    tax = Taxonomy.from_edges([("a", "top"), ("b", "top"), ("c", "b"), ("d", "b")])
    x, y = ["a", None, "c", "b", "d"], ["c", "d", None, "a", "b"]
    kept = ["a", "b", "d"], ["c", "a", "b"]
    assert stats.distance_correlation(x, y, tax, tax) == stats.distance_correlation(*kept, tax, tax)
    assert stats.rmse(x, y, tax) == stats.rmse(*kept, tax)
    # A record that is not used has no say in the root either.
    assert stats.rmse(["c", "a"], ["d", None], tax) == stats.rmse(["c"], ["d"], tax) == 0.5
    assert stats.semantic_mean(["c", None, float("nan"), pd.NA], tax) == "c"
    with pytest.raises(error.MissingValueError, match=r"column 'x': 1 of 5 values are missing, the first in row 1"):
        stats.distance_correlation(x, y, tax, tax, missing="error")
    with pytest.raises(error.DataError, match="no record has a value in all of 'x', 'y'"):
        stats.distance_correlation(["a", None], [None, "b"], tax, tax)
    with pytest.raises(error.MissingValueError, match="column 'before'"):
        stats.rmse(x, y, tax, missing="error")
    with pytest.raises(error.DataError, match="no record has a value in all of 'before', 'after'"):
        stats.rmse(["a", None], [None, "b"], tax)
    for empty in ([], [None], pd.Series([], dtype=str)):
        with pytest.raises(error.DataError, match="no value at all"):
            stats.semantic_mean(empty, tax)


def test_root_overrides_the_least_common_subsumer() -> None:
    tax = Taxonomy.from_edges([("b", "top"), ("c", "b"), ("d", "b"), ("e", "top")])
    assert stats.rmse(["c"], ["d"], tax) == 0.5
    assert stats.rmse(["c"], ["d"], tax, root="top") == pytest.approx(1 / 3)
    with pytest.raises(error.ParameterError, match="'c' is not below the root 'e'"):
        stats.rmse(["c"], ["d"], tax, root="e")


def test_messages_name_the_column_and_the_argument() -> None:
    tax = Taxonomy.from_edges([("a", "top"), ("b", "top")])
    column = pd.Series(["a", "zz"], name="diag")
    with pytest.raises(error.UnknownConceptError, match="column 'diag': 1 value"):
        stats.distance_covariance(column, column, tax, tax)
    with pytest.raises(error.UnknownConceptError, match="root='zz': "):
        stats.semantic_mean(["a"], tax, root="zz")
    with pytest.raises(error.ParameterError, match="meanings='Taxonomy': a mapping from column names to meanings"):
        stats.covariance_matrix({"x": ["a"]}, tax)  # type: ignore[arg-type]


def test_roots_of_a_covariance_matrix() -> None:
    tax = Taxonomy.from_edges([("b", "top"), ("c", "b"), ("d", "b"), ("e", "top")])
    frame = {"x": ["c", "d", "c"], "y": ["c", "e", "d"]}
    cells = stats.covariance_matrix(frame, {"x": tax, "y": tax}, roots={"x": "top"})
    assert cells.loc["x", "x"] == stats.distance_variance(frame["x"], tax, root="top")
    assert cells.loc["x", "x"] < stats.distance_variance(frame["x"], tax)


def test_a_constant_column_has_no_correlation() -> None:
    tax = Taxonomy.from_edges([("a", "top"), ("b", "top")])
    assert stats.distance_correlation(["a", "a"], ["a", "b"], tax, tax) == 0
    assert stats.distance_variance(["a", "a"], tax) == 0


def test_columns_of_different_length_are_refused() -> None:
    tax = Taxonomy.from_edges([("a", "top"), ("b", "top")])
    with pytest.raises(error.DataError, match="'x' has 1, 'y' has 2"):
        stats.distance_covariance(["a"], ["a", "b"], tax, tax)
    with pytest.raises(error.DataError, match="'before' has 1, 'after' has 2"):
        stats.rmse(["a"], ["a", "b"], tax)


def test_a_given_matrix_stands_for_a_taxonomy() -> None:
    tax = Taxonomy.from_edges([("a", "top"), ("b", "top"), ("c", "b"), ("d", "b")])
    given_one = DistanceMatrix(tax.distance_matrix(), tax.ids)
    x, y = ["a", "c", "d", "b", "c"], ["c", "d", "a", "top", "b"]
    for function in (stats.semantic_mean, stats.semantic_variance, stats.distance_variance):
        by_tax, by_matrix = function(x, tax, root="top"), function(x, given_one)
        assert by_tax == (by_matrix if isinstance(by_tax, str) else pytest.approx(by_matrix, abs=1e-6))
    assert stats.rmse(x, y, given_one) == pytest.approx(stats.rmse(x, y, tax), abs=1e-6)
    mixed = stats.distance_correlation(x, y, given_one, tax)
    assert mixed == pytest.approx(stats.distance_correlation(x, y, tax, tax), abs=1e-6)
    with pytest.raises(error.ParameterError, match="root="):
        stats.semantic_mean(x, given_one, root="top")
    with pytest.raises(error.UnknownConceptError, match="'zz'"):
        stats.semantic_mean(["zz"], given_one)
    with pytest.raises(
        error.ParameterError, match="a Taxonomy, a DistanceMatrix, an Order, an Equality or Sets is needed"
    ):
        stats.semantic_mean(x, {"a": 1})  # type: ignore[arg-type]


def test_ties_in_a_given_matrix_go_to_the_first_label() -> None:
    given_one = DistanceMatrix([[0, 0.1, 0.2], [0.1, 0, 0.1], [0.2, 0.1, 0]], ["z", "m", "a"])
    assert stats.semantic_mean(["z", "a"], given_one) == "a"
    # 0.1 + 0.2 is not quite 0.3: equal but for rounding.
    near = DistanceMatrix([[0, 0.3, 0.1], [0.3, 0, 0.2], [0.1, 0.2, 0]], ["b", "c", "a"])
    assert stats.semantic_mean(["b", "c"], near) == "a"


def test_a_negative_sum_counts_as_zero() -> None:
    # What is near in one is far in the other, as in no Euclidean space: the centred products add up to less than 0.
    near, far = np.full((4, 4), 1.0), np.full((4, 4), 0.01)
    for i, j in ((0, 1), (1, 0), (2, 3), (3, 2)):
        near[i, j], far[i, j] = far[i, j], near[i, j]
    np.fill_diagonal(near, 0)
    np.fill_diagonal(far, 0)
    labels = list("abcd")
    one, two = DistanceMatrix(near, labels), DistanceMatrix(far, labels)
    assert stats.distance_covariance(labels, labels, one, two) == 0
    assert stats.distance_correlation(labels, labels, one, two) == 0
    assert stats.distance_variance(labels, one) > 0


def test_progress_of_statistics() -> None:
    tax = Taxonomy.from_edges([(f"{i:03}", f"{i // 3:03}") for i in range(1, 200)])
    for call in (
        lambda report: stats.semantic_mean(tax.ids, tax, progress=report),
        lambda report: stats.distance_correlation(tax.ids, tax.ids[::-1], tax, tax, progress=report),
        lambda report: stats.rmse(tax.ids, tax.ids[::-1], tax, progress=report),
    ):
        seen: list[tuple[int, int]] = []
        call(lambda done, total, seen=seen: seen.append((done, total)))
        assert seen[-1][0] == seen[-1][1] > 0


def test_several_names_of_one_concept_are_one_value() -> None:
    tax = Taxonomy.from_edges([("D1", "D0"), ("D2", "D0")], labels={"D1": "Coma"})
    assert stats.semantic_variance(["D1", "coma", "D2"], tax) == stats.semantic_variance(["D1", "D1", "D2"], tax)
    assert stats.distance_variance(["D1", "Coma"], tax) == 0


PROGRAM = """
import numpy as np
from nominym import Taxonomy, stats, _core
edges = [(f"{i:05}", f"{i // 3:05}") for i in range(1, 2000)]
tax = Taxonomy.from_edges(edges)
draws = [(2000 * _core.draw_uniform(200_000, 5, s)).astype(int) for s in (0, 1)]
x, y = ([f"{i:05}" for i in d] for d in draws)
print(stats.semantic_mean(x, tax), stats.distance_covariance(x, y, tax, tax).hex(), stats.rmse(x, y, tax).hex())
print(tax.distance_matrix().tobytes().__hash__(), _core.draw_uniform(3, 9, 2).tolist())
"""


def test_threads_change_nothing() -> None:
    def run(threads: int) -> str:
        command = [sys.executable, "-c", PROGRAM]
        environment = os.environ | {"RAYON_NUM_THREADS": str(threads), "PYTHONHASHSEED": "0"}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    outputs = {run(threads) for threads in (1, 2, 5)}
    assert len(outputs) == 1
    assert "0x" in outputs.pop()


def test_diabetes(shared_data) -> None:
    data = nym.datasets.load_diabetes(shared_data("diabetes/diabetic_data.csv.gz"))
    icd = nym.datasets.load_icd9(shared_data("icd/icd9cm_hierarchy.csv"))
    correlation = stats.distance_correlation(data["diag_1"], data["diag_2"], icd, icd)
    sample = data[["diag_1", "diag_2"]].dropna().sample(800, random_state=0)
    x, y = (sample[c] for c in sample)
    a, b = (icd.restrict(icd.lcs(v)).distance_matrix(v).astype(float) for v in (x, y))
    naive = naive_sd_cov(a, b) / math.sqrt(naive_sd_cov(a, a) * naive_sd_cov(b, b))
    assert stats.distance_correlation(x, y, icd, icd) == pytest.approx(naive, abs=1e-6)
    assert 0 < correlation < naive
