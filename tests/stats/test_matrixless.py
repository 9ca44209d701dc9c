"""Distance covariance without matrices against the n × n definition."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import control, stats
from nominym.meaning import Space, taxonomy
from nominym.stats import semantic
from reference import naive_sd_cov

EDGES = [("flu", "illness"), ("coma", "illness"), ("deep coma", "coma"), ("burn", "injury"), ("injury", "illness")]
TAX = nym.Taxonomy.from_edges(EDGES)
# The same with a second parent.
DAG = nym.Taxonomy.from_edges([*EDGES, ("deep coma", "injury")])
MATRIX = nym.DistanceMatrix(np.abs(np.subtract.outer([0, 1, 4], [0, 1, 4])) / 4, ["low", "mid", "high"])
KINDS = {
    "line": (nym.Order(), st.integers(-3, 40) | st.floats(-1, 1, allow_subnormal=False)),
    "equal": (nym.Equality(), st.sampled_from("abcdefgh")),
    "taxonomy": (TAX, st.sampled_from(["flu", "coma", "deep coma", "burn", "illness"])),
    "graph": (DAG, st.sampled_from(["flu", "coma", "deep coma", "burn", "illness"])),
    "matrix": (MATRIX, st.sampled_from(["low", "mid", "high"])),
}


def without_matrices(patch: pytest.MonkeyPatch) -> None:
    for room in (taxonomy, semantic):
        patch.setattr(room, "MANY", 0)
    patch.setattr(semantic, "free_memory", lambda: 0)
    patch.setattr(semantic, "LITTLE", 0)


def naive(values: list, meaning: nym.Order | nym.Equality | nym.Taxonomy) -> np.ndarray:
    if isinstance(meaning, nym.Order):
        numbers = np.array(values, dtype=float)
        return np.abs(np.subtract.outer(numbers, numbers)) / (np.ptp(numbers) or 1)
    if isinstance(meaning, nym.Equality):
        return np.array([[float(a != b) for b in values] for a in values])
    (attribute,) = stats.semantic._attributes({"x": (values, meaning, None)})
    return attribute.distances[np.ix_(attribute.column.codes, attribute.column.codes)]


@pytest.mark.parametrize("kinds", list(itertools.product(KINDS, KINDS)), ids="-".join)
@given(data=st.data())
@settings(max_examples=40)
def test_as_defined(kinds, data) -> None:
    n = data.draw(st.integers(1, 30))
    (x, one), (y, other) = KINDS[kinds[0]], KINDS[kinds[1]]
    first = data.draw(st.lists(one | st.none(), min_size=n, max_size=n))
    second = data.draw(st.lists(other | st.none(), min_size=n, max_size=n))
    both = [pair for pair in zip(first, second, strict=True) if None not in pair]
    assume(both)
    with pytest.MonkeyPatch.context() as patch:
        without_matrices(patch)
        found = stats.distance_covariance(first, second, x, y)
        one_column = stats.distance_variance([x for x, _ in both], x)
    a, b = naive([x for x, _ in both], x), naive([y for _, y in both], y)
    # Squares, of which the difference of sums loses the last digits.
    assert found**2 == pytest.approx(naive_sd_cov(a, b) ** 2, abs=1e-13)
    assert one_column**2 == pytest.approx(naive_sd_cov(a, a) ** 2, abs=1e-13)


def test_constants_have_no_covariance(monkeypatch) -> None:
    without_matrices(monkeypatch)
    values = np.random.default_rng(1).normal(size=500).tolist()
    assert stats.distance_covariance([0.1] * 500, values, nym.Order(), nym.Order()) == 0
    assert stats.distance_correlation([0.1] * 500, values, nym.Order(), nym.Order()) == 0


@pytest.mark.parametrize("other", ["line", "equal", "taxonomy", "graph"])
def test_blocks_of_many_records(monkeypatch, other) -> None:
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=3_000).round(4)
    labels = np.where(numbers + rng.normal(size=3_000) > 0, "flu", rng.choice(["coma", "burn"], 3_000))
    values = (numbers + rng.normal(size=3_000)).tolist() if other == "line" else labels.tolist()
    meaning = KINDS[other][0]
    monkeypatch.setattr(semantic, "MANY", 10**6)
    wanted = stats.distance_correlation(numbers.tolist(), values, nym.Order(), meaning)
    without_matrices(monkeypatch)
    monkeypatch.setattr(Space, "matrix", lambda *_: pytest.fail("a matrix"))
    found = stats.distance_correlation(numbers.tolist(), values, nym.Order(), meaning)
    assert found == pytest.approx(wanted, abs=1e-9)
    assert found > 0.1


def test_numbers_of_many_values_need_little_memory(monkeypatch) -> None:
    """As many as would take 10 GB as a matrix: all of it fits into a few."""
    rng = np.random.default_rng(3)
    before = rng.lognormal(size=(2, 40_000)).round(4)
    meanings = {"x": nym.Order(), "y": nym.Order()}
    columns = dict(zip("xy", before, strict=True))
    after = {name: rng.permutation(values) for name, values in columns.items()}
    monkeypatch.setattr(control, "free_memory", lambda: 2**28)
    comparison = nym.table.Comparison.of(columns, after, meanings)
    found = stats.correlation_changes(comparison.changes)
    assert found["before"][0] < 0.05
    assert math.isfinite(found["after"][0])


@pytest.mark.parametrize("measure", ["wu-palmer", "resnik", "lin", "jiang-conrath", "taxonomic-feature"])
def test_many_concepts_need_no_matrix(monkeypatch, measure) -> None:
    """Of a tree by its groups, of another taxonomy by rows: the same as from matrices."""
    rng = np.random.default_rng(4)
    edges = [(f"v{i}", f"v{(i - 1) // 3}") for i in range(1, 400)]
    shapes = {
        "tree": nym.Taxonomy.from_edges(edges),
        "dag": nym.Taxonomy.from_edges([*edges, ("v9", "v3"), ("v80", "v5")]),
    }
    x = rng.integers(0, 400, 5_000)
    y = np.where(rng.random(5_000) < 0.5, (x + 1) % 400, rng.integers(0, 400, 5_000))
    first, second = ([f"v{i}" for i in codes] for codes in (x, y))
    pairs = list(itertools.product(shapes.values(), repeat=2))
    wanted = [stats.distance_correlation(first, second, a, b, measure=measure) for a, b in pairs]
    without_matrices(monkeypatch)
    monkeypatch.setattr(Space, "matrix", lambda *_: pytest.fail("a matrix"))
    found = [stats.distance_correlation(first, second, a, b, measure=measure) for a, b in pairs]
    assert found == pytest.approx(wanted, abs=1e-9)
    assert min(found) > 0.05
