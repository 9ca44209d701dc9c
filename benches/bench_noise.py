"""Semantic noise: growth with records, categories and concepts, beside the rule carried out record by record."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from conftest import layered_links, random_dag, sample
from nominym import _core


def column(tax: nym.Taxonomy, n: int, d: int) -> pd.DataFrame:
    """Draw a column of ``d`` concepts with frequencies like 1/rank, and another that goes with it."""
    rng = np.random.default_rng(1)
    chances = 1 / np.arange(1, d + 1)
    first = np.searchsorted(np.cumsum(chances) / chances.sum(), rng.random(n))
    second = np.where(rng.random(n) < 0.5, first, rng.permutation(first))
    names = [tax.ids[i] for i in sample(d, len(tax))]
    return pd.DataFrame({"x": pd.Categorical.from_codes(first, names), "y": pd.Categorical.from_codes(second, names)})


@pytest.mark.parametrize("reference", ["mean", "pair"])
@pytest.mark.parametrize("n", [10_000, 100_000, 1_000_000, 10_000_000])
@pytest.mark.benchmark(group="add_noise, two columns of 700 categories, ICD-9-CM (17,727 concepts)")
def test_noise(benchmark, icd9, n: int, reference: str) -> None:
    frame = column(icd9, n, 700)
    benchmark.extra_info |= {"work": 2 * n, "unit": "values", "on": f"{reference}, n = {n:,}", "threads": "all", "x": n}
    how = {"alpha": 0.3, "reference": reference, "roots": dict.fromkeys("xy", icd9.root), "moments": False, "seed": 1}
    benchmark.pedantic(nym.add_noise, (frame, dict.fromkeys("xy", icd9)), how, rounds=1)


@pytest.mark.parametrize("d", [700, 98_000])
@pytest.mark.benchmark(group="add_noise, one column of 1,000,000 records, ICD-10-CM (98,467 concepts)")
def test_many_categories(benchmark, d: int) -> None:
    tax = nym.read_taxonomy("icd-10-cm", extended=True)
    rng = np.random.default_rng(1)
    names = np.sort(rng.choice(np.array(tax.ids)[1:], d, replace=False))
    frame = pd.DataFrame({"x": pd.Categorical.from_codes(rng.integers(0, d, 1_000_000), names)})
    benchmark.extra_info |= {"work": 10**6, "unit": "values", "on": f"{d:,} categories", "threads": "all", "x": d}
    how = {"alpha": 0.3, "reference": "mean", "roots": {"x": tax.root}, "moments": False, "seed": 1}
    benchmark.pedantic(nym.add_noise, (frame, {"x": tax}), how, rounds=1)


@pytest.mark.parametrize("n", [1_000, 3_000])
@pytest.mark.benchmark(group="the rule alone, one column of 700 categories, ICD-9-CM")
def test_naive_rule(benchmark, icd9, n: int) -> None:
    """Look at every concept for every record, as published: O(n·V)."""
    frame = column(icd9, n, 700)
    places = icd9.concepts(frame["x"].cat.categories)
    errors = np.random.default_rng(1).normal(0, 0.3, n)
    codes = frame["x"].cat.codes.to_numpy()
    every = np.arange(len(icd9), dtype=np.uint32)
    from_root = icd9.graph.pairs(np.full_like(every, icd9.graph.root), every, "wu-palmer")
    rows = {c: icd9.graph.pairs(np.full_like(every, places[c]), every, "wu-palmer") for c in np.unique(codes)}
    rng = np.random.default_rng(2)

    def run() -> None:
        for code, error in zip(codes, errors, strict=True):
            row, own = rows[code], places[code]
            side = from_root > from_root[own] if error > 0 else from_root < from_root[own]
            side[own] = False
            reach = side & (row >= abs(error))
            pool = reach if reach.any() else side
            if pool.any():
                wanted = row[pool].min() if reach.any() else row[pool].max()
                rng.choice(np.flatnonzero(pool & (row == wanted)))

    benchmark.extra_info |= {"work": n, "unit": "values", "on": f"numpy, as published, n = {n:,}", "threads": 1, "x": n}
    benchmark.pedantic(run, rounds=1)


@pytest.mark.parametrize("n", [1_000, 3_000, 10_000, 1_000_000])
@pytest.mark.benchmark(group="the rule alone, one column of 700 categories, ICD-9-CM")
def test_rule(benchmark, icd9, n: int) -> None:
    frame = column(icd9, n, 700)
    places = icd9.concepts(frame["x"].cat.categories)
    errors = np.random.default_rng(1).normal(0, 0.3, n)
    codes = frame["x"].cat.codes.to_numpy().astype(np.uint32)
    arguments = (icd9.graph, places, codes, errors, icd9.graph.root, "wu-palmer", None, 1, 0)
    benchmark.extra_info |= {"work": n, "unit": "values", "on": f"nominym, n = {n:,}", "threads": "all", "x": n}
    benchmark.pedantic(_core.shift_values, arguments, rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("d", [100, 500, 2_000])
@pytest.mark.parametrize("v", [10_000, 100_000, 311_000])
@pytest.mark.benchmark(group="the rule alone, growth in d and V, 1,000,000 records (random DAGs)")
def test_growth(benchmark, d: int, v: int) -> None:
    tax = random_dag(v, int(v * 1.6))
    rng = np.random.default_rng(1)
    arguments = (
        tax.graph,
        sample(d, v),
        rng.integers(0, d, 1_000_000).astype(np.uint32),
        rng.normal(0, 0.3, 1_000_000),
        tax.graph.root,
        "wu-palmer",
        None,
        1,
        0,
    )
    benchmark.extra_info |= {"work": 10**6, "unit": "values", "on": f"d = {d:,}, V = {v:,}", "threads": "all", "x": v}
    benchmark.pedantic(_core.shift_values, arguments, rounds=1)


@pytest.fixture(scope="module", params=["deep", "flat"])
def snomed_size(request) -> tuple[str, nym.Taxonomy, pd.DataFrame]:
    """Two shapes of DAGs with as many concepts as SNOMED CT, and two columns of 2,000 of these."""
    if request.param == "deep":
        tax = random_dag(311_000, 500_000)
        return request.param, tax, column(tax, 1_000_000, 2_000)
    tax = nym.Taxonomy.from_edges(layered_links(311_000, 190_000))
    frame = column(tax, 1_000_000, 2_000)
    lower = np.random.default_rng(1).choice(np.arange(len(tax) // 2, len(tax)), 2_000, replace=False)
    names = [tax.ids[i] for i in lower]
    return request.param, tax, frame.apply(lambda values: values.cat.rename_categories(names))


SNOMED = "add_noise, two columns, 1,000,000 records, 2,000 of 311,000 concepts, beside one semantic mean of them"


@pytest.mark.benchmark(group=SNOMED)
def test_mean_at_snomed_size(benchmark, snomed_size) -> None:
    """Measure the pass that noise takes twice at least: all distances from 2,000 concepts, added up."""
    shape, tax, frame = snomed_size
    places, counts = tax.concepts(frame["x"].cat.categories), frame["x"].value_counts(sort=False).to_numpy(np.uint64)
    benchmark.extra_info |= {"work": 2_000 * len(tax), "unit": "cells", "on": f"{shape}: mean", "threads": "all"}
    benchmark.pedantic(tax.graph.mean, (places, counts, "wu-palmer"), rounds=3)


@pytest.mark.parametrize(("reference", "correlated"), [("mean", True), ("mean", False), ("pair", True)])
@pytest.mark.benchmark(group=SNOMED)
def test_noise_at_snomed_size(benchmark, snomed_size, reference: str, correlated: bool) -> None:
    shape, tax, frame = snomed_size
    on = f"{shape}: {reference}, {'correlated' if correlated else 'uncorrelated'}"
    benchmark.extra_info |= {"work": 2_000_000, "unit": "values", "on": on, "threads": "all"}
    how = {"alpha": 0.3, "reference": reference, "correlated": correlated, "moments": False, "seed": 1}
    how["roots"] = dict.fromkeys("xy", tax.root)
    benchmark.pedantic(nym.add_noise, (frame, dict.fromkeys("xy", tax)), how, rounds=1)


PEAK = """
import re, sys
sys.path.insert(0, {folder!r})
import nominym as nym
from bench_noise import column
from conftest import random_dag
def status(name):
    return re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1]
tax = random_dag(311_000, 500_000)
frame = column(tax, 1_000_000, 2_000)
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
how = dict(alpha=0.3, reference={reference!r}, roots=dict.fromkeys("xy", tax.root), moments=False, seed=1)
nym.add_noise(frame, dict.fromkeys("xy", tax), **how)
print(before, status("VmHWM"))
"""


@pytest.mark.parametrize("reference", ["mean", "pair"])
@pytest.mark.benchmark(group="add_noise, two columns, 1,000,000 records, 2,000 of 311,000 concepts: memory")
def test_memory(benchmark, reference: str) -> None:
    program = PEAK.format(folder=str(Path(__file__).parent), reference=reference)

    def run() -> list[int]:
        out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        return [int(x) for x in out.split()]

    before, peak = benchmark.pedantic(run, rounds=1)
    on = f"{reference}: taxonomy and data {before // 1024:,} MB, peak {peak // 1024:,} MB"
    benchmark.extra_info |= {"on": on, "threads": "all"}
    assert peak < 4 * 2**20
