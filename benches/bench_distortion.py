"""Data swapping and distortion: growth with records, constraints and columns, beside naive versions in pandas."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nominym as nym

CATEGORIES = {"a": 2, "b": 3, "c": 5, "d": 8, "e": 16, "f": 40, "g": 100, "h": 700}
CONSTRAINTS = {
    "free": {},
    "true swaps": {"true_swaps": True},
    "equal in two columns": {"equal": ["c", "h"]},
    "equal in one, unequal in one, true swaps": {"equal": ["h"], "unequal": ["b"], "true_swaps": True},
    "unequal in two, true swaps": {"unequal": ["b", "c"], "true_swaps": True},
}
SCORE = "distortion.k_marginal, all marginals of 8 columns"
WHOLE = "distortion.table, 8 columns: 28 pairs and the whole"


def table(n: int) -> pd.DataFrame:
    """Draw eight columns with frequencies like 1/rank, each half made of the one before it."""
    rng = np.random.default_rng(1)
    columns, before = {}, np.zeros(n, dtype=np.int64)
    for name, d in CATEGORIES.items():
        chances = 1 / np.arange(1, d + 1)
        drawn = np.searchsorted(np.cumsum(chances) / chances.sum(), rng.random(n))
        before = np.where(rng.random(n) < 0.5, np.minimum(before, d - 1), drawn)
        columns[name] = pd.Categorical.from_codes(before, [f"{name}{i}" for i in range(d)])
    return pd.DataFrame(columns)


@pytest.mark.parametrize("kind", CONSTRAINTS)
@pytest.mark.parametrize("n", [100_000, 1_000_000, 10_000_000])
@pytest.mark.benchmark(group="data_swap of one column, rate 5 %, frames of 8 columns")
def test_data_swap(benchmark, n: int, kind: str) -> None:
    frame = table(n)
    benchmark.extra_info |= {"work": n, "unit": "records", "on": f"{kind}, n = {n:,}", "threads": "all", "x": n}
    benchmark.pedantic(nym.data_swap, (frame, "a"), {**CONSTRAINTS[kind], "seed": 1}, rounds=3)


@pytest.mark.parametrize("kind", ["free", "equal in one, unequal in one, true swaps", "unequal in two, true swaps"])
@pytest.mark.parametrize("rate", [0.5, 1.0])
@pytest.mark.benchmark(group="data_swap of one column, 1,000,000 records, high rates")
def test_high_rates(benchmark, rate: float, kind: str) -> None:
    frame = table(1_000_000)
    benchmark.extra_info |= {"work": 10**6, "unit": "records", "on": f"{kind}, rate {rate:.0%}", "threads": "all"}
    res = benchmark.pedantic(nym.data_swap, (frame, "a", rate), {**CONSTRAINTS[kind], "seed": 1}, rounds=1)
    benchmark.extra_info["on"] += f" ({res.secret.summary['achieved_rate']:.1%} achieved)"


def naive_swap(frame: pd.DataFrame, pairs: int, equal: list[str], unequal: list[str], rng: np.random.Generator) -> None:
    """List the partners of a random record, take one; this draws pairs that are not uniform, but costs as little."""
    left = frame.copy()
    for _ in range(pairs):
        one = left.iloc[rng.integers(len(left))]
        fits = np.logical_and.reduce(
            [*(left[name] == one[name] for name in equal), *(left[name] != one[name] for name in unequal)]
        )
        other = left.index[rng.choice(np.flatnonzero(fits))]
        frame.loc[[one.name, other], "a"] = frame.loc[[other, one.name], "a"].to_numpy()
        left = left.drop([one.name, other])


@pytest.mark.parametrize("n", [1_000, 3_000, 10_000])
@pytest.mark.parametrize("who", ["pandas", "nominym"])
@pytest.mark.benchmark(group="data_swap, rate 5 %, equal in one column, true swaps, beside pandas")
def test_beside_pandas(benchmark, who: str, n: int) -> None:
    frame = table(n)
    threads = 1 if who == "pandas" else "all"
    benchmark.extra_info |= {"work": n, "unit": "records", "on": f"{who}, n = {n:,}", "threads": threads, "x": n}
    if who == "pandas":
        plain, rng = frame.astype(str), np.random.default_rng(1)
        benchmark.pedantic(naive_swap, (plain, n // 40, ["c"], ["a"], rng), rounds=1)
    else:
        benchmark.pedantic(nym.data_swap, (frame, "a"), {"equal": "c", "true_swaps": True, "seed": 1}, rounds=3)


@pytest.mark.parametrize("n", [100_000, 1_000_000, 10_000_000])
@pytest.mark.benchmark(group=WHOLE)
def test_distortion(benchmark, n: int) -> None:
    before = table(n)
    after = nym.data_swap(before, ["a", "h"], 0.1, seed=1).data
    on = f"nominym, n = {n:,}"
    benchmark.extra_info |= {"work": 29 * n, "unit": "tuples", "on": on, "threads": "all", "x": n}
    benchmark.pedantic(nym.distortion.table, (before, after), rounds=3)


@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.benchmark(group=WHOLE)
def test_distortion_pandas(benchmark, n: int) -> None:
    """Count pairs and the whole with group-by, and take three of the five measures."""
    before = table(n)
    after = nym.data_swap(before, ["a", "h"], 0.1, seed=1).data

    def run() -> None:
        for names in (*map(list, combinations(CATEGORIES, 2)), list(CATEGORIES)):
            # Without observed=True, pandas makes room for every possible tuple: ten thousand million of them.
            f, g = (frame.groupby(names, observed=True).size() / n for frame in (before, after))
            f, g = f.align(g, fill_value=0.0)
            p, q = f.to_numpy(), g.to_numpy()
            np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum())
            0.5 * np.abs(p - q).sum()
            (p[p > 0] * np.log(p[p > 0])).sum() - (q[q > 0] * np.log(q[q > 0])).sum()

    benchmark.extra_info |= {"work": 29 * n, "unit": "tuples", "on": f"pandas, n = {n:,}", "threads": 1, "x": n}
    benchmark.pedantic(run, rounds=1)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.benchmark(group=SCORE)
def test_k_marginal(benchmark, n: int, k: int) -> None:
    before = table(n)
    after = nym.data_swap(before, ["a", "h"], 0.1, seed=1).data
    work, on = comb(8, k) * n, f"nominym, k = {k}, n = {n:,}"
    benchmark.extra_info |= {"work": work, "unit": "tuples", "on": on, "threads": "all", "x": n}
    benchmark.pedantic(nym.distortion.k_marginal, (before, after), {"k": k}, rounds=3)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.benchmark(group=SCORE)
def test_k_marginal_pandas(benchmark, k: int) -> None:
    """Group, divide, subtract, add up: as SDNist does, for every set of columns."""
    n = 1_000_000
    before = table(n)
    after = nym.data_swap(before, ["a", "h"], 0.1, seed=1).data

    def run() -> float:
        apart = []
        for names in map(list, combinations(CATEGORIES, k)):
            p, q = (frame.groupby(names, observed=True).size() / n for frame in (before, after))
            apart.append(p.subtract(q, fill_value=0).abs().sum())
        return (2 - np.mean(apart)) * 500

    work, on = comb(8, k) * n, f"pandas, k = {k}, n = {n:,}"
    benchmark.extra_info |= {"work": work, "unit": "tuples", "on": on, "threads": 1, "x": n}
    found = benchmark.pedantic(run, rounds=1)
    assert found == pytest.approx(nym.distortion.k_marginal(before, after, k=k))


@pytest.mark.parametrize("model", ["saturated", "main", "pairs"])
@pytest.mark.benchmark(group="distortion.propensity, 1,000,000 records before and after")
def test_propensity(benchmark, model: str) -> None:
    before = table(1_000_000)
    after = nym.data_swap(before, ["a", "f"], 0.1, seed=1).data
    columns = list("abcde") if model == "pairs" else list(CATEGORIES)
    on = f"{model}, {len(columns)} columns"
    benchmark.extra_info |= {"work": 2 * 10**6, "unit": "records", "on": on, "threads": "all"}
    benchmark.pedantic(nym.distortion.propensity, (before, after, columns), {"model": model}, rounds=1)


@pytest.mark.parametrize("d", [100, 2_000, 50_000])
@pytest.mark.benchmark(group="distortion.table, 3 columns of d categories, 1,000,000 records")
def test_categories(benchmark, d: int) -> None:
    rng = np.random.default_rng(1)
    names = [str(i) for i in range(d)]
    before, after = (
        pd.DataFrame({c: pd.Categorical.from_codes(rng.integers(0, d, 10**6), names) for c in "xyz"}) for _ in range(2)
    )
    benchmark.extra_info |= {"work": 4 * 10**6, "unit": "tuples", "on": f"d = {d:,}", "threads": "all", "x": d}
    benchmark.pedantic(nym.distortion.table, (before, after), rounds=3)


PEAK = """
import re, sys
sys.path[:0] = [{here!r}]
import nominym as nym
from bench_distortion import table
def status(name):
    return re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1]
frame = table({n})
after = nym.data_swap(frame, ["a", "h"], 0.1, seed=1).data
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak of drawing the data does not count
{call}
print(before, status("VmHWM"))
"""
CALLS = {
    "data_swap, free": "nym.data_swap(frame, 'a', seed=1)",
    "data_swap, unequal in two, true swaps": "nym.data_swap(frame, 'a', unequal=['b', 'c'], true_swaps=True, seed=1)",
    "distortion.table": "nym.distortion.table(frame, after)",
    "distortion.k_marginal, k = 3": "nym.distortion.k_marginal(frame, after, k=3)",
    "distortion.propensity, saturated": "nym.distortion.propensity(frame, after)",
    "risk.unique_exact_matches": "nym.risk.unique_exact_matches(frame, after)",
    "risk.disclosure": "nym.risk.disclosure(frame, after, list('abcdef'), 'h')",
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.benchmark(group="data_swap and distortion.table, 10,000,000 × 8: memory")
def test_memory(benchmark, name: str) -> None:
    program = PEAK.format(here=str(Path(__file__).parent), n=10**7, call=CALLS[name])

    def run() -> list[int]:
        out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        return [int(x) for x in out.split()]

    before, peak = benchmark.pedantic(run, rounds=1)
    on = f"{name}: two tables {before // 1024:,} MB, peak {peak // 1024:,} MB"
    benchmark.extra_info |= {"on": on, "threads": "all"}
