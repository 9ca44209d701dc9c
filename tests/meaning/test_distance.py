"""Distances: golden values, every measure against brute force, matrices of all kinds."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import nominym as nym
from nominym import DistanceMatrix, Measure, Taxonomy, control, error
from reference import Edges, all_measures, both, edge_lists

NERVOUS = [
    ("Coma", "Disorder of nervous system"),
    ("Neuropathy", "Disorder of nervous system"),
    ("Hepatic coma", "Coma"),
    ("Hypoglycemic coma", "Coma"),
]


def test_the_worked_example() -> None:
    tax = Taxonomy.from_edges(NERVOUS)
    golden = {
        "Coma": [0.2, 0.2, 1 / 3, 0.5],
        "Neuropathy": [0.6, 0.6, 1 / 3, 0],
    }
    targets = ["Hepatic coma", "Hypoglycemic coma", "Disorder of nervous system", "Neuropathy"]
    for source, expected in golden.items():
        assert [tax.distance(source, t) for t in targets] == pytest.approx(expected, abs=1e-15)
    assert tax.distance("Neuropathy", "Coma") == 0.5


def test_gingivitis_and_gastritis() -> None:
    # Thesis section 6.2: subsumer at depth 6, one link each.
    chain = [(f"level {i + 1}", f"level {i}") for i in range(1, 6)]
    tax = Taxonomy.from_edges([*chain, ("gingivitis", "level 6"), ("gastritis", "level 6")])
    assert tax.distance("gingivitis", "gastritis") == pytest.approx(2 / 14, abs=1e-15)
    assert tax.distance("gastritis", "gastritis") == 0


@settings(max_examples=40)
@given(edge_lists())
def test_every_measure_follows_its_definition(edges: Edges) -> None:
    tax, naive = both(edges)
    for measure in all_measures(naive.nodes):
        matrix = tax.distance_matrix(measure=measure)
        expected = np.array([[naive.distance(a, b, measure) for b in naive.nodes] for a in naive.nodes])
        np.testing.assert_allclose(matrix, expected, atol=2e-6, err_msg=str(measure))
        assert (matrix == matrix.T).all()
        assert (np.diag(matrix) == 0).all()
        assert (matrix >= 0).all()
        if measure.info.normalized:
            assert (matrix <= 1).all()
        pair = tax.distance(naive.nodes[0], naive.nodes[-1], measure)
        assert pair == pytest.approx(expected[0, -1], abs=1e-12)


@given(edge_lists())
def test_equal_fractions_are_equal_floats(edges: Edges) -> None:
    tax, naive = both(edges)
    matrix = tax.distance_matrix()
    by_fraction: dict[tuple[int, int], set[float]] = {}
    for i, a in enumerate(naive.nodes):
        for j, b in enumerate(naive.nodes):
            top = naive.lcs_of_pair(a, b)
            path = naive.path(a, top) + naive.path(b, top)
            whole = 2 * naive.depth(top) + path
            divisor = int(np.gcd(path, whole))
            by_fraction.setdefault((path // divisor, whole // divisor), set()).add(float(matrix[i, j]))
    assert all(len(floats) == 1 for floats in by_fraction.values())


@pytest.mark.parametrize("depth", [127, 128, 129, 700])
def test_deep_taxonomies(depth: int) -> None:
    # Past depth 128 the keys of the kernel no longer fit into 16 bits.
    chain = [(f"{i + 1:04}", f"{i:04}") for i in range(1, depth)]
    tax = Taxonomy.from_edges([*chain, ("side", "0002")])
    last = f"{depth:04}"
    assert tax.depth(last) == depth
    assert tax.distance("side", last) == pytest.approx((depth - 1) / (4 + depth - 1), abs=1e-15)
    assert tax.distance("side", last, "path") == depth - 1
    assert tax.distance_matrix(["side", last])[0, 1] == pytest.approx((depth - 1) / (depth + 3), rel=1e-6)
    near = tax.distance_matrix([last, f"{depth - 1:04}"])
    assert near[0, 0] == 0
    assert near[0, 1] == pytest.approx(1 / (2 * depth - 1), rel=1e-6)
    shared, union = 2, depth + 1
    assert tax.distance("side", last, "taxonomic-feature") == pytest.approx(np.log2(1 + (union - shared) / union))
    above = 1 - np.log(2) / np.log(depth + 1)
    assert tax.distance(last, f"{depth - 1:04}", Measure("lin")) == pytest.approx(1 - 2 * above / (1 + above))


def test_matrix_of_values_in_any_order_with_repeats() -> None:
    tax = Taxonomy.from_edges(NERVOUS)
    values = ["Neuropathy", "hepatic COMA", "Neuropathy", "Coma"] * 30  # more than one block of 32
    matrix = tax.distance_matrix(values)
    assert matrix.dtype == np.float32
    expected = [[tax.distance(a, b) for b in values] for a in values]
    np.testing.assert_allclose(matrix, expected, rtol=1e-6)
    assert tax.distance_matrix([]).shape == (0, 0)


def test_out_takes_an_array_or_a_file(tmp_path) -> None:
    tax = Taxonomy.from_edges(NERVOUS)
    expected = tax.distance_matrix()
    out = np.full((5, 5), 7, dtype=np.float32)
    assert tax.distance_matrix(out=out) is out
    np.testing.assert_array_equal(out, expected)
    mapped = tax.distance_matrix(out=tmp_path / "distances.npy")
    assert isinstance(mapped, np.memmap)
    np.testing.assert_array_equal(np.load(tmp_path / "distances.npy"), expected)
    for wrong in (np.empty((4, 5), np.float32), np.empty((5, 5)), np.empty((5, 10), np.float32)[:, ::2]):
        with pytest.raises(error.ParameterError, match=r"shape \(5, 5\) is needed"):
            tax.distance_matrix(out=wrong)
    with pytest.raises(error.ParameterError, match="not list"):
        tax.distance_matrix(out=[1])  # type: ignore[arg-type]
    with pytest.raises(error.ParameterError, match=r"\.npy"):
        tax.distance_matrix(out=str(tmp_path / "distances.bin"))


def test_a_file_that_is_not_finished_leaves_nothing(tmp_path) -> None:
    tax = Taxonomy.from_edges(NERVOUS)
    (tmp_path / "distances.npy").write_bytes(b"old")

    def stop(done: int, total: int) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tax.distance_matrix(out=tmp_path / "distances.npy", progress=stop)
    assert [f.name for f in tmp_path.iterdir()] == ["distances.npy"]
    assert (tmp_path / "distances.npy").read_bytes() == b"old"


def test_a_full_disk_is_found_before_writing(tmp_path, monkeypatch) -> None:
    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    tax = Taxonomy.from_edges(NERVOUS)
    with pytest.raises(error.SizeError, match=r"distances\.npy: .* GiB are needed on disk \(No space left"):
        tax.distance_matrix(out=tmp_path / "distances.npy")
    assert list(tmp_path.iterdir()) == []


def test_counts_outside_a_restricted_taxonomy_play_no_part() -> None:
    tax = Taxonomy.from_edges(NERVOUS)
    used = {"Hepatic coma": 3, "Hypoglycemic coma": 1, "Neuropathy": 9}
    within = nym.stats.rmse(["Hepatic coma"], ["Hypoglycemic coma"], tax, measure=Measure("jiang-conrath", ic=used))
    assert within == pytest.approx(np.log(4 / 3) + np.log(4))


def test_a_matrix_beyond_memory_is_refused_with_its_size(monkeypatch) -> None:
    monkeypatch.setattr(control, "free_memory", lambda: 2**30)
    tax = Taxonomy.from_edges([(str(i), "top") for i in range(20_000)])
    with pytest.raises(error.SizeError, match=r"20,001 × 20,001 distances needs 1\.5 GiB, 1\.0 GiB are free.*out="):
        tax.distance_matrix()
    monkeypatch.undo()
    assert (control.free_memory() or 1) > 0


def test_measures_are_refused_before_any_work() -> None:
    tax = Taxonomy.from_edges(NERVOUS)
    with pytest.raises(error.ParameterError, match="no measure 'wupalmer'; there are wu-palmer, path"):
        tax.distance("Coma", "Neuropathy", "wupalmer")
    for wrong in (
        {"ic": "secco"},
        {"ic": "zhou", "k": 2},
        {"ic": "zhou", "k": "a"},
        {"ic": None},
        {"ic": {"Coma": "3"}},
    ):
        with pytest.raises(error.ParameterError):
            Measure("lin", **wrong)
    with pytest.raises(error.ParameterError, match="leave ic"):
        Measure("wu-palmer", ic="zhou")
    with pytest.raises(error.ParameterError, match="'Neuropathy' is never used"):
        tax.distance("Coma", "Neuropathy", Measure("lin", ic={"Hepatic coma": 1, "Hypoglycemic coma": 2}))
    with pytest.raises(error.ParameterError, match=r"count of 'Coma' is -1"):
        Measure("lin", ic={"Coma": -1})
    with pytest.raises(error.UnknownConceptError, match=r"'Comma'.*did you mean 'Coma'"):
        tax.distance("Coma", "Neuropathy", Measure("lin", ic={"Comma": 1}))
    with pytest.raises(error.ParameterError, match="not the one text 'Coma'"):
        tax.distance_matrix("Coma")
    with pytest.raises(error.UnknownConceptError, match="'Flu'"):
        tax.distance_matrix(["Coma", "Flu"])


def test_contents_with_different_weights_are_kept_apart() -> None:
    tax = Taxonomy.from_edges(NERVOUS)
    found = {k: tax.distance("Coma", "Neuropathy", Measure("lin", ic="zhou", k=k)) for k in (0.2, 0.9)}
    again = {k: tax.distance("Coma", "Neuropathy", Measure("lin", ic="zhou", k=k)) for k in (0.2, 0.9)}
    assert found == again
    fresh = Taxonomy.from_edges(NERVOUS).distance("Coma", "Hepatic coma", Measure("resnik", ic="zhou", k=0.9))
    assert tax.distance("Coma", "Hepatic coma", Measure("resnik", ic="zhou", k=0.9)) == fresh
    assert fresh != tax.distance("Coma", "Hepatic coma", Measure("resnik", ic="zhou", k=0.2))


def test_the_guide_shows_the_table_of_measures() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "taxonomies.md").read_text(encoding="utf-8")
    for name, info in nym.MEASURES.items():
        assert f"| `{name}` | {info.formula} | {info.range} | {info.origin} |" in guide


def test_the_table_of_measures_is_complete() -> None:
    assert all(info.formula and info.range and info.origin for info in nym.MEASURES.values())
    assert {name for name, info in nym.MEASURES.items() if not info.normalized} == {"path", "jiang-conrath"}


@pytest.mark.parametrize(
    ("matrix", "labels", "message"),
    [
        ([[0, 1]], ["a"], "square"),
        ([[0, 1], [1, 0]], ["a"], "1 labels"),
        ([[0, 1], [1, 0]], ["a", "a"], "'a' occurs twice"),
        ([[0, 1], [2, 0]], ["a", "b"], "from 'a' to 'b' is 1.0: not the same both ways"),
        ([[0, -1], [-1, 0]], ["a", "b"], "negative"),
        ([[0, np.nan], [np.nan, 0]], ["a", "b"], "finite"),
        ([[1, 1], [1, 0]], ["a", "b"], "to itself"),
        (np.empty((0, 0)), [], "at least one"),
        ([[0, 1], [1]], ["a", "b"], "square of numbers"),
        ([["x"]], ["a"], "square of numbers"),
        ([[10**400]], ["a"], "square of numbers"),
        ([[0]], 5, "a label for each row is needed, not 5"),
    ],
)
def test_bad_matrices_are_refused(matrix: object, labels: list[str], message: str) -> None:
    with pytest.raises(error.DataError, match=message):
        DistanceMatrix(matrix, labels)
