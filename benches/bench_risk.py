"""The attack: growth with records and columns, beside brute force in numpy."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from bench_swap import COLUMNS, diagnoses

LINKAGE = "risk.linkage of strict rank swapping, 700 ICD-9-CM diagnoses a column, k = 10"
NEAREST = {"k": 10, "attacks": ["nearest row"]}


def told(benchmark, n: int, on: str, x: int, threads: int | str = "all") -> None:
    benchmark.extra_info |= {"work": n, "unit": "targets", "on": on, "threads": threads, "x": x}


@lru_cache(maxsize=1)
def released(n: int, m: int, how: str = "strict") -> tuple[pd.DataFrame, pd.DataFrame, dict[str, nym.Taxonomy]]:
    """Draw a table, and swap it: strictly, or by SRS-2, which leaves most values where they are."""
    frame, taxonomies = diagnoses(n)
    given = {name: taxonomies[name] for name in COLUMNS[:m]}
    frame = frame[list(given)]
    return frame, nym.rank_swap(frame, given, 10, method=None if how == "strict" else how, seed=1).data, given


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("n", [10_000, 100_000, 1_000_000])
@pytest.mark.benchmark(group=LINKAGE)
def test_linkage(benchmark, n: int, m: int) -> None:
    told(benchmark, n, f"all targets, {n:,} × {m}", n)
    benchmark.pedantic(nym.risk.linkage, released(n, m), {**NEAREST, "sample": None}, rounds=1)


@pytest.mark.parametrize("how", ["records", "dynamic"])
@pytest.mark.benchmark(group=LINKAGE)
def test_published(benchmark, how: str) -> None:
    n = 1_000_000
    told(benchmark, n, f"{'SRS-3' if how == 'records' else 'SRS-2'} instead, {n:,} × 3", n)
    benchmark.pedantic(nym.risk.linkage, released(n, 3, how), {**NEAREST, "sample": None}, rounds=1)


@pytest.mark.benchmark(group=LINKAGE)
def test_sample(benchmark) -> None:
    n = 1_000_000
    told(benchmark, 20_000, f"a sample of 20,000, {n:,} × 3", n)
    benchmark.pedantic(nym.risk.linkage, released(n, 3), {**NEAREST, "seed": 1}, rounds=1)


@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.benchmark(group="risk.linkage, all attacks, 3 masked and 3 kept columns")
def test_all_attacks(benchmark, n: int) -> None:
    before, after, given = released(n, 3)
    rng = np.random.default_rng(1)
    kept = {"sex": rng.integers(0, 2, n), "age": rng.integers(0, 90, n), "ward": rng.integers(0, 500, n)}
    told(benchmark, min(n, 20_000), f"{n:,} records", n)
    benchmark.pedantic(nym.risk.linkage, (before.assign(**kept), after.assign(**kept), given), {"k": 10}, rounds=1)


@pytest.mark.parametrize(("n", "m"), [(10_000, 1), (10_000, 3), (20_000, 3)])
@pytest.mark.benchmark(group=LINKAGE)
def test_naive(benchmark, n: int, m: int) -> None:
    """Compare every target with every row, block by block: gather, add, take the smallest, count."""
    before, after, given = released(n, m)
    known = []
    for name, tax in given.items():
        values = sorted(set(before[name]))
        codes = [np.searchsorted(values, frame[name].astype(str)) for frame in (before, after)]
        known.append((*codes, tax.distance_matrix(values)))

    def run() -> float:
        found = 0.0
        for start in range(0, n, 500):
            far = sum(d[b[start : start + 500]][:, a] for b, a, d in known)
            best = far <= far.min(axis=1, keepdims=True) + 1e-6
            own = np.arange(len(best))
            found += (best[own, start + own] / best.sum(axis=1)).sum()
        return found / n

    told(benchmark, n, f"naive in numpy, {n:,} × {m}", n, 1)
    benchmark.pedantic(run, rounds=1)


@pytest.mark.parametrize("n", [1_000_000, 10_000_000])
@pytest.mark.benchmark(group="risk.linkage and risk.classes of one column of 700 diagnoses")
def test_one_column(benchmark, n: int) -> None:
    before, after, given = released(n, 1)
    told(benchmark, n, f"linkage, {n:,}", n)
    benchmark.pedantic(nym.risk.linkage, (before, after, given), NEAREST, rounds=2)


@pytest.mark.parametrize("n", [1_000_000, 10_000_000])
@pytest.mark.benchmark(group="risk.linkage and risk.classes of one column of 700 diagnoses")
def test_classes(benchmark, n: int) -> None:
    frame, _ = diagnoses(n)
    told(benchmark, n, f"classes of three columns, {n:,}", n)
    benchmark.pedantic(nym.risk.classes, (frame, list(COLUMNS)), rounds=2)


@pytest.mark.parametrize("what", ["unique_exact_matches", "disclosure", "inference"])
@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.benchmark(group="measures that others publish, 3 columns of 700 diagnoses")
def test_measures_of_others(benchmark, n: int, what: str) -> None:
    before, after, given = released(n, 3)
    ill = np.random.default_rng(1).integers(0, 5, n)
    before, after = before.assign(ill=ill), after.assign(ill=ill)
    told(benchmark, n, f"{what}, {n:,} records", n)
    if what == "inference":
        run, given = nym.risk.inference, (before, after, given, "ill")
        benchmark.pedantic(run, given, {"control": before[: n // 10], "seed": 1}, rounds=1)
    elif what == "disclosure":
        benchmark.pedantic(nym.risk.disclosure, (before, after, list(given), "ill"), rounds=2)
    else:
        benchmark.pedantic(nym.risk.unique_exact_matches, (before, after), rounds=2)


@pytest.mark.parametrize(
    ("structure", "n", "sample"),
    [("ring", 100_000, None), ("groups", 100_000, None), ("ring", 1_000_000, 20_000), ("groups", 1_000_000, None)],
)
@pytest.mark.benchmark(group="risk.worlds of baskets, k = 16")
def test_worlds(benchmark, structure: str, n: int, sample: int | None) -> None:
    """Count the rows of all records of groups, whose rows are n/k different ones; of a ring every row is its own."""
    sets, _ = nym.datasets.baskets(n, seed=1)
    how = {"insiders": "accepted"} if structure == "ring" else {"effort": "none"}
    rel = nym.recode(sets, 16, structure=structure, order="gray", seed=1, **how)
    told(benchmark, sample or n, f"{structure}, {sample or n:,} of {n:,} records", n)
    benchmark.pedantic(nym.risk.worlds, (rel, sets), {"sample": sample, "k": 16, "seed": 1}, rounds=1)


PEAK = """
import re, sys
sys.path[:0] = [{here!r}]
import nominym as nym
from bench_risk import released
def status(name):
    return re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1]
given = released(1_000_000, 3)
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak of masking does not count
nym.risk.linkage(*given, k=10)
print(before, status("VmHWM"))
"""


@pytest.mark.benchmark(group="risk.linkage, 1,000,000 × 3: memory")
def test_memory(benchmark) -> None:
    def run() -> list[int]:
        program = PEAK.format(here=str(Path(__file__).parent))
        out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        return [int(x) for x in out.split()]

    before, peak = benchmark.pedantic(run, rounds=1)
    on = f"two tables {before // 1024:,} MB, peak {peak // 1024:,} MB"
    benchmark.extra_info |= {"on": on, "threads": "all"}
