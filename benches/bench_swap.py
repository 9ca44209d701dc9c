"""Rank swapping: growth with records, categories, columns and k, of mixed tables too, beside the published methods."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nominym as nym
import reference_swap as naive
from conftest import random_dag, sample
from nominym import _core
from nominym.meaning import Meaning

COLUMNS = ("diagnosis", "procedure", "secondary")


@lru_cache(maxsize=4)
def coded(n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a column of ``d`` categories with frequencies like 1/rank: codes, counts, distances."""
    tax = random_dag(2 * d, 3 * d)
    distances = np.empty((d, d))
    tax.graph.matrix(np.sort(sample(d, len(tax))), "wu-palmer", distances)
    rng = np.random.default_rng(1)
    chances = 1 / (1 + rng.permutation(d))
    codes = np.searchsorted(np.cumsum(chances) / chances.sum(), rng.random(n)).astype(np.uint32)
    return codes, np.bincount(codes, minlength=d).astype(np.uint64), distances


def told(benchmark, n: int, on: str, x: int, threads: int | str = 1) -> None:
    benchmark.extra_info |= {"work": n, "unit": "records", "on": on, "threads": threads, "x": x}


@pytest.mark.parametrize("method", ["fixed", "dynamic"])
@pytest.mark.parametrize("n", [1_000, 10_000, 100_000, 1_000_000, 10_000_000])
@pytest.mark.benchmark(group="rank swapping of one column, 1,000 categories, k = 10")
def test_swap(benchmark, method: str, n: int) -> None:
    told(benchmark, n, f"{method}, n = {n:,}", n)
    swap = getattr(_core, f"swap_{method}")
    benchmark.pedantic(swap, (*coded(n, 1_000), 10, 1, 0), rounds=3, warmup_rounds=n < 10**6)


@pytest.mark.parametrize("method", ["fixed", "dynamic"])
@pytest.mark.parametrize("n", [1_000, 3_000, 10_000])
@pytest.mark.benchmark(group="rank swapping of one column, 1,000 categories, k = 10")
def test_naive(benchmark, method: str, n: int) -> None:
    codes, _, distances = coded(n, 1_000)
    every = distances[np.ix_(codes, codes)]
    told(benchmark, n, f"{method} as published, n = {n:,}", n)
    benchmark.pedantic(getattr(naive, method), (every, 10, np.random.default_rng(1)), rounds=1)


@pytest.mark.parametrize("k", [5, 100])
@pytest.mark.parametrize("d", [100, 1_000, 10_000])
@pytest.mark.benchmark(group="dynamic, growth in d and k, 10,000,000 records")
def test_growth_of_dynamic(benchmark, d: int, k: int) -> None:
    n = 10_000_000
    told(benchmark, n, f"d = {d:,}, k = {k}", d)
    benchmark.pedantic(_core.swap_dynamic, (*coded(n, d), k, 1, 0), rounds=2)


@lru_cache(maxsize=1)
def discharges(n: int) -> tuple:
    return nym.datasets.discharges(n, seed=1)


@lru_cache(maxsize=1)
def diagnoses(n: int) -> tuple[pd.DataFrame, dict[str, nym.Taxonomy]]:
    """Draw three columns of 700 diagnoses of ICD-9-CM, frequencies like 1/rank, the later near the first or free."""
    icd = nym.read_taxonomy("icd-9-cm")
    rng = np.random.default_rng(1)
    names = np.sort(rng.choice([name for name in icd.ids if len(name) == 3], 700, replace=False))
    chances = 1 / (1 + rng.permutation(700))
    free = [np.searchsorted(np.cumsum(chances) / chances.sum(), rng.random(n)) for _ in COLUMNS]
    columns = [free[0]]
    for other in free[1:]:
        near = np.clip(free[0] + np.rint(8 * rng.standard_cauchy(n)).clip(-700, 700).astype(int), 0, 699)
        columns.append(np.where(rng.random(n) < 0.5, near, other))
    frame = {name: pd.Categorical.from_codes(codes, names) for name, codes in zip(COLUMNS, columns, strict=True)}
    return pd.DataFrame(frame), dict.fromkeys(COLUMNS, icd)


def whole(benchmark, n: int, m: int, k: int, method: str | None, rounds: int, data=diagnoses) -> None:
    """Time the front door: coding, distances, swapping, summary."""
    frame, taxonomies = data(n)
    masked = {name: taxonomies[name] for name in COLUMNS[:m]}
    what = "ICD-9-CM" if data is diagnoses else "discharges (a DAG)"
    told(benchmark, n, f"{what}, {n:,} × {m}, k = {k}", n, "all")
    benchmark.extra_info["m"] = m
    benchmark.pedantic(nym.rank_swap, (frame[list(masked)], masked, k), {"method": method, "seed": 1}, rounds=rounds)


SIZES = [
    (1_000, 3, 20),
    (10_000, 3, 20),
    (100_000, 3, 5),
    (100_000, 3, 20),
    (100_000, 3, 100),
    (1_000_000, 2, 20),
    (1_000_000, 3, 20),
    (10_000_000, 2, 20),
]


@pytest.mark.parametrize(("n", "m", "k"), SIZES)
@pytest.mark.benchmark(group="rank_swap, method records (SRS-3)")
def test_records(benchmark, n: int, m: int, k: int) -> None:
    whole(benchmark, n, m, k, "records", 1 if n > 10**5 else 3)


@pytest.mark.parametrize(("n", "m"), [(100_000, 3), (1_000_000, 2)])
@pytest.mark.benchmark(group="rank_swap, method records (SRS-3)")
def test_records_of_a_dag(benchmark, n: int, m: int) -> None:
    whole(benchmark, n, m, 20, "records", 1, discharges)


@pytest.mark.parametrize("n", [1_000, 3_000, 10_000])
@pytest.mark.benchmark(group="rank_swap, method records (SRS-3)")
def test_naive_records(benchmark, n: int) -> None:
    frame, taxonomies = diagnoses(n)
    every = [taxonomies[name].distance_matrix(frame[name].tolist()).astype(np.float64) for name in COLUMNS]
    told(benchmark, n, f"as published, {n:,} × 3, k = 20", n)
    benchmark.extra_info["m"] = 3
    benchmark.pedantic(naive.records, (every, 20, np.random.default_rng(1)), rounds=1)


@pytest.mark.parametrize("n", [1_000, 10_000])
@pytest.mark.benchmark(group="rank_swap, method records (SRS-3), few records beside numpy with ready distances")
def test_few_records(benchmark, n: int) -> None:
    """Time the front door, distances included, as a ratio of CPU seconds to the method as published in the same run."""
    frame, taxonomies = diagnoses(n)
    frame, masked = frame[list(COLUMNS)], {name: taxonomies[name] for name in COLUMNS}
    every = [taxonomies[name].distance_matrix(frame[name].tolist()).astype(np.float64) for name in COLUMNS]

    def seconds(work, rounds: int) -> float:
        def once() -> float:
            begin = time.process_time()
            work()
            return time.process_time() - begin

        return min(once() for _ in range(rounds))

    def whole() -> object:
        return nym.rank_swap(frame, masked, 10, method="records", seed=1)

    published = seconds(lambda: naive.records(every, 10, np.random.default_rng(1)), 1)
    ratio = published / seconds(whole, 7)
    told(benchmark, n, f"ICD-9-CM, {n:,} × 3, k = 10: {ratio:.0f} times as fast as numpy", n, "all")
    benchmark.extra_info |= {"m": 3, "ratio": round(ratio, 1)}
    benchmark.pedantic(whole, rounds=5, warmup_rounds=1)


STRICT = [
    (1_000, 3, 10),
    (10_000, 3, 10),
    (100_000, 3, 10),
    (1_000_000, 3, 10),
    (1_000_000, 3, 50),
    (10_000_000, 2, 10),
    (10_000_000, 3, 10),
]


@pytest.mark.parametrize(("n", "m", "k"), STRICT)
@pytest.mark.benchmark(group="rank_swap, guarantee strict")
def test_strict(benchmark, n: int, m: int, k: int) -> None:
    whole(benchmark, n, m, k, None, 1 if n > 10**5 else 3)


EDUCATION = ["none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate"]


@lru_cache(maxsize=1)
def mixed(n: int) -> tuple[pd.DataFrame, dict[str, Meaning]]:
    """Draw eight columns of every kind, which follow one hidden size: concepts, numbers, ranked values, categories."""
    frame, taxonomies = diagnoses(n)
    rng = np.random.default_rng(2)
    size = rng.standard_normal(n)

    def near(length: int, noise: float) -> np.ndarray:
        drawn = (size + noise * rng.standard_normal(n)) / (3 * (1 + noise)) + 0.5
        return np.clip(drawn * length, 0, length - 1).astype(np.int64)

    columns = {
        "diagnosis": (frame["diagnosis"], taxonomies["diagnosis"]),
        "age": (near(100, 0.5), nym.Order()),
        "education": (pd.Categorical.from_codes(near(7, 1.0), EDUCATION, ordered=True), nym.Order()),
        "sex": (pd.Categorical.from_codes(near(2, 2.0), ["female", "male"]), nym.Equality()),
        "secondary": (frame["secondary"], taxonomies["secondary"]),
        "hours": (near(80, 1.0), nym.Order()),
        "income": (near(2_000, 0.3), nym.Order()),
        "region": (pd.Categorical.from_codes(near(16, 3.0), [f"R{i:02}" for i in range(16)]), nym.Equality()),
    }
    return pd.DataFrame({name: values for name, (values, _) in columns.items()}, copy=False), {
        name: meaning for name, (_, meaning) in columns.items()
    }


@pytest.mark.parametrize(("n", "m"), [(10_000, 8), (100_000, 2), (100_000, 4), (100_000, 8), (1_000_000, 8)])
@pytest.mark.benchmark(group="rank_swap, guarantee strict, mixed columns, k = 10")
def test_mixed(benchmark, n: int, m: int) -> None:
    """Growth in the number of columns, and a million records of eight."""
    frame, meanings = mixed(n)
    masked = dict(list(meanings.items())[:m])
    told(benchmark, n, f"concepts, numbers, ranks, categories, {n:,} × {m}", n, "all")
    benchmark.extra_info["m"] = m
    benchmark.pedantic(nym.rank_swap, (frame[list(masked)], masked, 10), {"seed": 1}, rounds=1 if n > 10**5 else 3)


@pytest.mark.parametrize("income", ["all distinct", "100 ranks", "100 concepts", "100 labels"])
@pytest.mark.benchmark(group="rank_swap, guarantee strict, one of eight columns, 100,000 records, k = 10")
def test_distinct(benchmark, income: str) -> None:
    """A number that no two records share costs no more than a column of 100 categories."""
    n = 100_000
    frame, meanings = mixed(n)
    distinct = frame["income"] + np.random.default_rng(3).random(n)
    classes = (distinct.rank(method="first").to_numpy(np.int64) - 1) * 100 // n
    labels = pd.Categorical.from_codes(classes, [f"l{i:02}" for i in range(100)])
    levels = [(f"l{i:02}", f"m{i // 10}") for i in range(100)] + [(f"m{i}", "any") for i in range(10)]
    values, meaning = {
        "all distinct": (distinct, nym.Order()),
        "100 ranks": (classes, nym.Order()),
        "100 concepts": (labels, nym.Taxonomy.from_edges(levels)),
        "100 labels": (labels, nym.Equality()),
    }[income]
    told(benchmark, n, income, n, "all")
    benchmark.pedantic(nym.rank_swap, (frame.assign(income=values), {**meanings, "income": meaning}, 10), {"seed": 1},
                       rounds=3)  # fmt: skip


CONSTRAINTS = {"none": {}, "persons": {"person": "person"}, "sensitive, l = 2": {"sensitive": {"status": 2}},
               "sensitive, l = 3": {"sensitive": {"status": 3}}}  # fmt: skip


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.benchmark(group="rank_swap, guarantee strict, under constraints, 3 columns, k = 10")
def test_constraints(benchmark, constraint: str, n: int) -> None:
    """Seven persons for ten records, and five sensitive values, of which one is on 30 % of them."""
    frame, taxonomies = diagnoses(n)
    rng = np.random.default_rng(1)
    how = CONSTRAINTS[constraint]
    frame = frame[list(COLUMNS)].assign(status=rng.choice(list("abcde"), n, p=[0.3, 0.25, 0.2, 0.15, 0.1]))
    if "person" in how:
        frame["person"] = rng.integers(0, n * 7 // 10, n)
    masked = {name: taxonomies[name] for name in COLUMNS}
    told(benchmark, n, f"{constraint}, {n:,}", n)
    benchmark.pedantic(nym.rank_swap, (frame, masked, 10), {"seed": 1, **how}, rounds=1)


PEAK = """
import re, sys
sys.path[:0] = {paths!r}
import nominym as nym
from bench_swap import diagnoses
def status(name):
    return re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1]
frame, taxonomies = diagnoses({n})
masked = {{name: taxonomies[name] for name in {columns}}}
frame = frame[list(masked)]
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak of drawing the data does not count
nym.rank_swap(frame, masked, {k}, method={method!r}, seed=1)
print(before, status("VmHWM"))
"""


@pytest.mark.parametrize(
    ("method", "n", "m"),
    [
        ("dynamic", 10_000_000, 2),
        ("records", 1_000_000, 3),
        ("records", 10_000_000, 2),
        (None, 1_000_000, 3),
        (None, 10_000_000, 2),
    ],
)
@pytest.mark.benchmark(group="rank_swap, memory")
def test_memory(benchmark, method: str | None, n: int, m: int) -> None:
    here = Path(__file__).parent
    paths = [str(here), str(here.parent / "tests")]
    program = PEAK.format(paths=paths, n=n, columns=COLUMNS[:m], k=10, method=method)

    def run() -> list[int]:
        out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        return [int(x) for x in out.split()]

    before, peak = benchmark.pedantic(run, rounds=1)
    on = f"{method or 'strict'}, {n:,} × {m}: data {before // 1024:,} MB, peak {peak // 1024:,} MB"
    benchmark.extra_info |= {"on": on, "threads": "all"}
