"""Recoding of set-valued records: growth with records, k and items; each step beside its naive or published form."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import nominym as nym
from nominym import _core
from nominym.itemsets import Itemsets

FAMILIES, CODES, CONCEPTS = 74, 96, 7_117
WAYS = [*({"structure": "ring", "order": order} for order in ("gray", "gray-tsp", "best")), {"structure": "groups"}]


@lru_cache(maxsize=2)
def census(n: int, size: int = FAMILIES) -> Itemsets:
    """Draw records like those of a census file: one code of each of 74 questions, out of 7,117.

    Records copy a template of one of n/40 households question by question, with a fifth drawn anew; codes have
    frequencies 1/rank².
    """
    rng = np.random.default_rng(1)
    width = CONCEPTS // size
    chances = 1 / np.arange(1, width + 1) ** 2
    steps = np.cumsum(chances / chances.sum())
    templates = np.searchsorted(steps, rng.random((max(n // 40, 20), size)))
    codes = templates[rng.integers(len(templates), size=n)]
    anew = rng.random((n, size)) < 0.2
    codes[anew] = np.searchsorted(steps, rng.random(int(anew.sum())))
    items = (codes + width * np.arange(size)).astype(np.uint32)
    starts = np.arange(0, n * size + 1, size, dtype=np.uint64)
    made = _core.Sets.make(CONCEPTS, starts, items.ravel())
    return Itemsets(made, nym.Itemsets.from_lists([], items=range(CONCEPTS)).names)


@lru_cache(maxsize=1)
def baskets(n: int) -> Itemsets:
    return nym.datasets.baskets(n, seed=1, items=500).sets


@lru_cache(maxsize=2)
def gray(n: int) -> np.ndarray:
    return nym.gray_order(census(n))


def accepted(structure: str) -> dict[str, str]:
    """Accept what insiders learn from a ring."""
    return {"insiders": "accepted"} if structure == "ring" else {}


def told(benchmark, n: int, on: str, x: int, threads: int | str = "all") -> None:
    benchmark.extra_info |= {"work": n, "unit": "records", "on": on, "threads": threads, "x": x}


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("n", [1_000, 10_000, 100_000])
@pytest.mark.benchmark(group="recode, 500 items, k = 16, whole")
def test_recode_baskets(benchmark, how: dict, n: int) -> None:
    told(benchmark, n, f"{', '.join(how.values())}, {n:,} records", n)
    benchmark.pedantic(nym.recode, (baskets(n), 16), {**how, **accepted(how["structure"]), "seed": 1}, rounds=1)


@pytest.mark.parametrize("how", WAYS, ids=str)
@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.benchmark(group="recode, 7,117 items, 74 a record, k = 16, whole")
def test_recode_census(benchmark, how: dict, n: int) -> None:
    told(benchmark, n, f"{', '.join(how.values())}, {n:,} records", n)
    benchmark.pedantic(nym.recode, (census(n), 16), {**how, **accepted(how["structure"]), "seed": 1}, rounds=1)


@lru_cache(maxsize=1)
def diagnoses(n: int, tax: nym.Taxonomy, size: int = 10) -> Itemsets:
    """Draw sets of leaves: most of the short list of one of 2,000 profiles, the others by frequencies 1/rank."""
    rng = np.random.default_rng(1)
    leaves = np.setdiff1d(np.arange(len(tax)), tax.graph.edges()[1])
    rng.shuffle(leaves)
    steps = np.cumsum(1 / np.arange(1, len(leaves) + 1))

    def drawn(*shape: int) -> np.ndarray:
        return leaves[np.searchsorted(steps, rng.random(shape) * steps[-1])]

    lists = drawn(2_000, 2 * size)
    items = lists[rng.integers(len(lists), size=n)[:, None], rng.integers(2 * size, size=(n, size))]
    items = np.sort(np.where(rng.random((n, size)) < 0.7, items, drawn(n, size)), axis=1)
    new = np.ones(items.shape, dtype=bool)
    new[:, 1:] = items[:, 1:] != items[:, :-1]
    starts = np.concatenate(([0], np.cumsum(new.sum(axis=1)))).astype(np.uint64)
    made = _core.Sets.make(len(tax), starts, items[new].astype(np.uint32))
    return Itemsets(made, nym.Itemsets.from_lists([], items=tax.ids).names)


@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.benchmark(group="recode by a taxonomy, ten concepts of ICD-9-CM a record, k = 8, whole")
def test_recode_diagnoses(benchmark, icd9: nym.Taxonomy, n: int) -> None:
    told(benchmark, n, f"groups, {n:,} records", n)
    benchmark.pedantic(nym.recode, (diagnoses(n, icd9), 8), {"taxonomy": icd9, "seed": 1}, rounds=1)


@pytest.mark.parametrize("n", [100_000, 1_000_000])
@pytest.mark.benchmark(group="semantic error, ten concepts of ICD-9-CM a record")
def test_semantic_error(benchmark, icd9: nym.Taxonomy, n: int) -> None:
    """Of every record against the one before it."""
    told(benchmark, n, f"{n:,} records", n)
    sets, rows = diagnoses(n, icd9), np.roll(np.arange(n), 1)
    benchmark.pedantic(nym.itemsets.semantic_error, (sets, sets, icd9, rows), rounds=1)


@pytest.mark.parametrize("structure", ["ring", "groups", "cahd"])
@pytest.mark.benchmark(group="recode, 7,117 items, 74 a record, l = 6, whole")
def test_labels(benchmark, structure: str) -> None:
    n = 100_000
    chances = 1 / (np.arange(470) + 8.0)
    labels = np.random.default_rng(1).choice(470, size=n, p=chances / chances.sum())
    told(benchmark, n, f"{structure}, {n:,} records", n)
    how = {"l": 6, "labels": labels, "structure": structure, "seed": 1, **accepted(structure)}
    benchmark.pedantic(nym.recode, (census(n),), how, rounds=1)


@pytest.mark.parametrize("k", [4, 16, 64])
@pytest.mark.parametrize("method", ["split", "augment", "closed-walk", "wmc"])
@pytest.mark.benchmark(group="extraction of assignments from a ring, 1,000,000 records")
def test_extraction(benchmark, method: str, k: int) -> None:
    n = 1_000_000 if method != "wmc" else 20_000
    if k == 64 and method in ("closed-walk", "wmc"):
        pytest.skip("minutes, and nothing new: see the growth from 4 to 16")
    told(benchmark, n, f"{method}, k = {k}, {n:,} records", k, 1)
    order = np.random.default_rng(1).permutation(n).astype(np.uint32)
    benchmark.pedantic(_core.assign_ring, (order, k, method, 1), rounds=1)


@pytest.mark.parametrize("k", [4, 16, 64])
@pytest.mark.benchmark(group="votes over a ring, 1,000,000 × 7,117 items")
def test_votes(benchmark, k: int) -> None:
    n = 1_000_000
    told(benchmark, n, f"k = {k}, {n:,} records", k)
    rows = np.arange(n, dtype=np.uint32)
    benchmark.pedantic(_core.vote_ring, (census(n).core, gray(n), k, rows), rounds=1)


@pytest.mark.benchmark(group="votes over a ring, 1,000,000 × 7,117 items")
def test_naive_votes(benchmark) -> None:
    """Add up the k bitmaps of every node, as the definition says; on as many nodes as a minute allows."""
    n, k, nodes = 1_000_000, 16, 20_000
    sets = census(n)
    order = gray(n)[: nodes + k]
    starts, items = sets.core.starts(), sets.core.items()
    rows = np.zeros((len(order), CONCEPTS), dtype=np.uint8)
    for i, record in enumerate(order):
        rows[i, items[starts[record] : starts[record + 1]]] = 1

    def votes() -> None:
        for node in range(nodes):
            counts = rows[node : node + k].sum(axis=0)
            base = counts * 2 > k
            distance = (counts > 0) & (counts < k)
            (rows[node : node + k] != base).sum(axis=1).max()
            distance.any()

    told(benchmark, nodes, f"naive, k = {k}, {nodes:,} nodes", k, 1)
    benchmark.pedantic(votes, rounds=1)


MEASURE = """
import re, sys
sys.path[:0] = [{bench!r}]
import bench_itemsets as b, nominym as nym
def status(name):
    return re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1]
sets = b.census(1_000_000)
b.census.cache_clear()
before = status("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # the peak of drawing the records does not count
nym.recode(sets, 16, seed=1, **{how!r})
print(before, status("VmHWM"))
"""


@pytest.mark.parametrize("how", WAYS[1:], ids=str)
@pytest.mark.benchmark(group="memory of recode, 1,000,000 × 7,117 items, k = 16")
def test_memory(benchmark, how: dict) -> None:
    script = MEASURE.format(bench=str(Path(__file__).parent), how=how)

    def run() -> str:
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    before, peak = (int(x) / 1024 for x in benchmark.pedantic(run, rounds=1).split())
    on = f"{', '.join(how.values())}: records and Python {before:,.0f} MB, peak {peak:,.0f} MB"
    benchmark.extra_info |= {"on": on, "threads": "all"}
