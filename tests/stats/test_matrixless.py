"""Distance covariance without matrices against the n × n definition."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import control, stats
from nominym.meaning import Space
from nominym.stats import matrixless
from reference import naive_sd_cov

TAX = nym.Taxonomy.from_edges(
    [("flu", "illness"), ("coma", "illness"), ("deep coma", "coma"), ("burn", "injury"), ("injury", "illness")]
)
KINDS = {
    "line": (nym.Order(), st.integers(-3, 40) | st.floats(-1, 1, allow_subnormal=False)),
    "equal": (nym.Equality(), st.sampled_from("abcdefgh")),
    "taxonomy": (TAX, st.sampled_from(["flu", "coma", "deep coma", "burn", "illness"])),
}


def naive(values: list, meaning: nym.Order | nym.Equality | nym.Taxonomy) -> np.ndarray:
    if isinstance(meaning, nym.Order):
        numbers = np.array(values, dtype=float)
        return np.abs(np.subtract.outer(numbers, numbers)) / (np.ptp(numbers) or 1)
    if isinstance(meaning, nym.Equality):
        return np.array([[float(a != b) for b in values] for a in values])
    (attribute,) = stats.semantic._attributes({"x": (values, meaning, None)})
    return attribute.distances[np.ix_(attribute.column.codes, attribute.column.codes)]


@pytest.mark.parametrize(
    "kinds", [pair for pair in itertools.product(KINDS, KINDS) if pair != ("taxonomy", "taxonomy")], ids="-".join
)
@given(data=st.data())
@settings(max_examples=60)
def test_as_defined(kinds, data) -> None:
    n = data.draw(st.integers(1, 30))
    (x, one), (y, other) = KINDS[kinds[0]], KINDS[kinds[1]]
    first = data.draw(st.lists(one, min_size=n, max_size=n))
    second = data.draw(st.lists(other, min_size=n, max_size=n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matrixless, "MANY", 0)
        found = stats.distance_covariance(first, second, x, y)
        one_column = stats.distance_variance(first, x)
    a, b = naive(first, x), naive(second, y)
    # Squares, of which the difference of sums loses the last digits.
    assert found**2 == pytest.approx(naive_sd_cov(a, b) ** 2, abs=1e-13)
    assert one_column**2 == pytest.approx(naive_sd_cov(a, a) ** 2, abs=1e-13)


def test_constants_have_no_covariance(monkeypatch) -> None:
    monkeypatch.setattr(matrixless, "MANY", 0)
    values = np.random.default_rng(1).normal(size=500).tolist()
    assert stats.distance_covariance([0.1] * 500, values, nym.Order(), nym.Order()) == 0
    assert stats.distance_correlation([0.1] * 500, values, nym.Order(), nym.Order()) == 0


@pytest.mark.parametrize("other", ["line", "equal", "taxonomy"])
def test_blocks_of_many_records(monkeypatch, other) -> None:
    rng = np.random.default_rng(2)
    numbers = rng.normal(size=3_000).round(4)
    labels = np.where(numbers + rng.normal(size=3_000) > 0, "flu", rng.choice(["coma", "burn"], 3_000))
    values = (numbers + rng.normal(size=3_000)).tolist() if other == "line" else labels.tolist()
    meaning = KINDS[other][0]
    monkeypatch.setattr(matrixless, "MANY", 10**6)
    wanted = stats.distance_correlation(numbers.tolist(), values, nym.Order(), meaning)
    monkeypatch.setattr(matrixless, "MANY", 100)
    if other == "line":
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


def test_matrices_are_counted_together(monkeypatch) -> None:
    """Two that fit each by itself are refused before the first is made."""
    edges = [(f"v{i}", "top") for i in range(2_000)]
    tax = nym.Taxonomy.from_edges(edges)
    values = [f"v{i}" for i in range(2_000)]
    monkeypatch.setattr(control, "free_memory", lambda: 5 * 2_000**2 * 2)
    monkeypatch.setattr(Space, "matrix", lambda *_: pytest.fail("a matrix"))
    with pytest.raises(nym.error.SizeError, match=r"measuring the distances of x, y needs .*make their values coarser"):
        stats.distance_covariance(values, values[::-1], tax, tax)
