"""Semantic statistics: growth with the number of records, beside the general package for distance correlation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from conftest import random_dag, sample
from nominym import stats

CORRELATION = "distance correlation, 1,000 categories each"
CATEGORIES = 1_000


def columns(n: int) -> tuple[pd.Series, pd.Series, nym.Taxonomy]:
    """Draw two associated columns of 1,000 concepts each."""
    tax = random_dag(5_000, 8_000)
    names = [tax.ids[i] for i in sample(CATEGORIES, len(tax))]
    rng = np.random.default_rng(1)
    x = rng.integers(0, CATEGORIES, n)
    y = np.where(rng.random(n) < 0.5, x, rng.integers(0, CATEGORIES, n))
    # Every category occurs, so that both sides measure over the same root.
    x[:CATEGORIES] = y[:CATEGORIES] = np.arange(CATEGORIES)
    return *(pd.Series(pd.Categorical.from_codes(codes, names)) for codes in (x, y)), tax


@pytest.mark.parametrize("n", [10_000, 100_000, 1_000_000, 10_000_000])
@pytest.mark.benchmark(group=CORRELATION)
def test_nominym(benchmark, n: int) -> None:
    x, y, tax = columns(n)
    benchmark.extra_info |= {"work": n, "unit": "records", "on": f"n = {n:,}", "threads": "all", "x": n}
    benchmark.pedantic(stats.distance_correlation, (x, y, tax, tax), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("n", [1_250, 2_500, 5_000, 10_000])
@pytest.mark.benchmark(group=CORRELATION)
def test_dcor(benchmark, n: int) -> None:
    dcor = pytest.importorskip("dcor")
    x, y, tax = columns(n)
    root = tax.restrict(tax.lcs(x.cat.categories))
    matrix = root.distance_matrix(x.cat.categories).astype(float)

    def by_definition() -> float:
        a, b = (dcor.double_centered(matrix[np.ix_(codes, codes)]) for codes in (x.cat.codes, y.cat.codes))
        product = dcor.mean_product
        return float(np.sqrt(max(product(a, b), 0) / np.sqrt(product(a, a) * product(b, b))))

    benchmark.extra_info |= {"work": n, "unit": "records", "on": f"n = {n:,}", "threads": 1, "x": n}
    found = benchmark.pedantic(by_definition, rounds=2)
    assert found == pytest.approx(stats.distance_correlation(x, y, tax, tax), abs=1e-6)


PEAK = """
import re, sys
sys.path.insert(0, {folder!r})
from bench_stats import columns
from nominym import stats
# Not getrusage: its peak counts the process that started this one, up to the moment of starting it.
peak = lambda: re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
x, y, tax = columns({n})
before = peak()
stats.distance_correlation(x, y, tax, tax)
print(before, peak())
"""


@pytest.mark.benchmark(group="peak memory of a process that correlates 10 million records")
def test_peak_memory(benchmark) -> None:
    program = PEAK.format(folder=str(Path(__file__).parent), n=10_000_000)

    def run() -> list[int]:
        out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        return [int(x) for x in out.split()]

    before, after = benchmark.pedantic(run, rounds=1)
    benchmark.extra_info |= {"on": f"data {before // 1024:,} MB, peak {after // 1024:,} MB", "threads": "all"}
    assert after < 2 * 2**20


@pytest.mark.parametrize("v", [10_000, 100_000, 311_000])
@pytest.mark.benchmark(group="semantic mean, 2,000 categories")
def test_mean(benchmark, v: int) -> None:
    tax = random_dag(v, int(v * 1.6))
    values = pd.Series([tax.ids[i] for i in sample(2_000, v)] * 500)
    benchmark.extra_info |= {"work": len(values), "unit": "records", "on": f"V = {v:,}", "threads": "all", "x": v}
    benchmark.pedantic(stats.semantic_mean, (values, tax), rounds=3)


@pytest.mark.parametrize("n", [100_000, 1_000_000, 10_000_000])
@pytest.mark.benchmark(group="synthetic discharges")
def test_discharges(benchmark, n: int) -> None:
    benchmark.extra_info |= {"work": n, "unit": "records", "on": f"n = {n:,}", "threads": "all", "x": n}
    benchmark.pedantic(nym.datasets.discharges, (n,), {"seed": 1}, rounds=1)
