"""Distance matrices: cells per second on a tree and on DAGs, beside peers and the speed of memory."""

from __future__ import annotations

import random
import shutil
import warnings

import numpy as np
import pytest

import nominym as nym
from conftest import WORDNET, dag_links, random_dag, sample

WU_PALMER = "distance matrix, Wu-Palmer"


def fill(
    benchmark, tax: nym.Taxonomy, concepts: np.ndarray, measure: str, threads: int | None, rounds: int = 5
) -> None:
    """Time the filling of a matrix whose memory is there already: the kernel alone, not the system's first touch."""
    nym.set_threads(threads)
    content = tax.content(nym.Measure(measure))
    out = np.zeros((len(concepts), len(concepts)), dtype=np.float32)
    benchmark.extra_info |= {"work": out.size, "unit": "cells", "threads": threads or "all"}
    benchmark.pedantic(tax.graph.matrix, (concepts, measure, out, content), rounds=rounds, warmup_rounds=1)
    nym.set_threads(None)


@pytest.mark.parametrize("threads", [1, None], ids=["1 thread", "all threads"])
@pytest.mark.parametrize("name", ["icd9", "wordnet", "hpo"])
@pytest.mark.benchmark(group=WU_PALMER)
def test_nominym(benchmark, request, name: str, threads: int | None) -> None:
    tax = request.getfixturevalue(name)
    concepts = np.arange(len(tax), dtype=np.uint32) if name == "icd9" else sample(10_000, len(tax))
    benchmark.extra_info["on"] = {
        "icd9": "ICD-9-CM, all 17,727 (tree)",
        "wordnet": "WordNet nouns, 10,000 of 82,115 (DAG)",
        "hpo": "HPO, 10,000 of 19,393 (DAG)",
    }[name]
    fill(benchmark, tax, concepts, "wu-palmer", threads)


@pytest.mark.benchmark(group=WU_PALMER)
def test_memory_copy(benchmark) -> None:
    cells = np.ones((10_000, 10_000), dtype=np.float32)
    out = np.zeros_like(cells)
    benchmark.extra_info |= {"work": cells.size, "unit": "cells", "on": "copy of a matrix", "threads": 1}
    benchmark.pedantic(np.copyto, (out, cells), rounds=5, warmup_rounds=1)


FRESH = "distance matrix into fresh memory, ICD-9-CM, all 17,727, beside a copy into fresh memory"


@pytest.mark.parametrize("where", ["fresh memory", "out="])
@pytest.mark.benchmark(group=FRESH)
def test_whole_matrix(benchmark, icd9, where: str) -> None:
    """Time the front door. What the system takes to hand out fresh memory, a copy takes too."""
    out = None if where == "fresh memory" else icd9.distance_matrix()
    benchmark.extra_info |= {"work": len(icd9) ** 2, "unit": "cells", "on": f"nominym, {where}", "threads": "all"}
    benchmark.pedantic(icd9.distance_matrix, kwargs={"out": out}, rounds=3)


@pytest.mark.parametrize("where", ["fresh memory", "out="])
@pytest.mark.benchmark(group=FRESH)
def test_whole_copy(benchmark, icd9, where: str) -> None:
    cells = icd9.distance_matrix()
    benchmark.extra_info |= {"work": cells.size, "unit": "cells", "on": f"copy, {where}", "threads": 1}
    if where == "out=":
        benchmark.pedantic(np.copyto, (cells.copy(), cells), rounds=3)
    else:
        benchmark.pedantic(cells.copy, rounds=3)


@pytest.mark.benchmark(group=WU_PALMER)
def test_nltk(benchmark, tmp_path_factory) -> None:
    nltk = pytest.importorskip("nltk")
    if not WORDNET.exists():
        pytest.skip("WordNet not found; Debian's package wordnet-base has it")
    top = tmp_path_factory.mktemp("nltk")
    folder = top / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for file in WORDNET.glob("*.*"):
        shutil.copy(file, folder)
    # Debian leaves out two files, which play no part in similarity.
    (folder / "index.sense").touch()
    (folder / "lexnames").write_text("".join(f"{i:02}\tfile{i}\t1\n" for i in range(45)))
    nltk.data.path.insert(0, str(top))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        synsets = list(nltk.corpus.wordnet.all_synsets("n"))
    random.seed(0)
    pairs = [random.sample(synsets, 2) for _ in range(1_000)]
    benchmark.extra_info |= {"work": len(pairs), "unit": "cells", "on": "WordNet nouns, pairs (DAG)", "threads": 1}
    benchmark.pedantic(lambda: [a.wup_similarity(b) for a, b in pairs], rounds=3)


@pytest.mark.parametrize("method", ["lin", "dist"])
@pytest.mark.benchmark(group=WU_PALMER)
def test_hpo3(benchmark, hpo, method: str) -> None:
    # hpo3 has no Wu-Palmer: Lin is its measure over the same subsumers, "dist" the one over paths.
    from pyhpo import Ontology, helper

    terms = list(Ontology)
    random.seed(0)
    pairs = [(random.choice(terms), random.choice(terms)) for _ in range(300_000)]
    benchmark.extra_info |= {"work": len(pairs), "unit": "cells", "on": f"HPO, pairs, {method} (DAG)", "threads": "all"}
    benchmark.pedantic(helper.batch_similarity, (pairs, "omim", method), rounds=3)


@pytest.mark.parametrize("measure", list(nym.MEASURES))
@pytest.mark.benchmark(group="distance matrix, every measure, HPO 10,000, 1 thread")
def test_measures(benchmark, hpo, measure: str) -> None:
    benchmark.extra_info["on"] = measure
    fill(benchmark, hpo, sample(10_000, len(hpo)), measure, 1, rounds=3)


@pytest.mark.parametrize("d", [1_250, 2_500, 5_000, 10_000])
@pytest.mark.benchmark(group="distance matrix, growth in d (WordNet nouns), 1 thread")
def test_growth_in_d(benchmark, wordnet, d: int) -> None:
    benchmark.extra_info |= {"on": f"d = {d:,}", "x": d}
    fill(benchmark, wordnet, sample(d, len(wordnet)), "wu-palmer", 1)


@pytest.mark.parametrize("v", [10_000, 40_000, 160_000, 311_000])
@pytest.mark.benchmark(group="distance matrix, growth in V (random DAGs, d = 2,000), 1 thread")
def test_growth_in_v(benchmark, v: int) -> None:
    tax = random_dag(v, int(v * 1.6))
    benchmark.extra_info |= {"on": f"V = {v:,}", "x": v}
    fill(benchmark, tax, sample(2_000, v), "wu-palmer", 1, rounds=3)


@pytest.mark.benchmark(group="SNOMED size: 311,000 concepts, 500,000 links")
def test_load(benchmark) -> None:
    pairs = dag_links(311_000, 500_000)
    benchmark.extra_info |= {"work": len(pairs), "unit": "links", "on": "Taxonomy.from_edges", "threads": 1}
    benchmark.pedantic(nym.Taxonomy.from_edges, (pairs,), rounds=3)


@pytest.mark.benchmark(group="SNOMED size: 311,000 concepts, 500,000 links")
def test_one_distance(benchmark) -> None:
    tax = random_dag(311_000, 500_000)
    benchmark.extra_info |= {"work": 1, "unit": "pairs", "on": "Taxonomy.distance", "threads": "all"}
    benchmark.pedantic(tax.distance, ("310000", "300000"), rounds=20)
