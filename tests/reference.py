"""The definitions, written down naively: what the library is compared with."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from hypothesis import strategies as st

from nominym import Measure, Taxonomy

Edges = list[tuple[str, str]]


class Naive:
    """A taxonomy by brute force: every answer follows the definition, path by path."""

    def __init__(self, edges: Edges, root: str) -> None:
        self.parents: dict[str, list[str]] = {root: []}
        for child, parent in edges:
            self.parents.setdefault(child, []).append(parent)
        self.nodes = sorted(self.parents)
        self.root = root
        self._up = {c: self._paths(c) for c in self.nodes}

    def _paths(self, c: str) -> dict[str, list[int]]:
        """Lengths (in links) of ALL upward paths from c, by where they end."""
        found: dict[str, list[int]] = {c: [0]}
        for p in dict.fromkeys(self.parents[c]):
            for above, lengths in self._paths(p).items():
                found.setdefault(above, []).extend(n + 1 for n in lengths)
        return found

    def subsumers(self, c: str) -> set[str]:
        return set(self._up[c])

    def path(self, c: str, above: str) -> int:
        return min(self._up[c][above])

    def depth(self, c: str) -> int:
        return max(self._up[c][self.root]) + 1

    @property
    def max_depth(self) -> int:
        return max(map(self.depth, self.nodes))

    def subtree(self, c: str) -> set[str]:
        return {x for x in self.nodes if c in self.subsumers(x)}

    def leaves(self, c: str) -> int:
        return sum(1 for x in self.subtree(c) if x != c and len(self.subtree(x)) == 1)

    def lcs(self, values: Sequence[str]) -> str:
        common = set.intersection(*(self.subsumers(v) for v in values))
        return min(common, key=lambda c: (-self.depth(c), len(self.subtree(c)), c))

    def lcs_of_pair(self, a: str, b: str) -> str:
        common = self.subsumers(a) & self.subsumers(b)
        return min(common, key=lambda c: (-self.depth(c), self.path(a, c) + self.path(b, c), c))

    def content(self, measure: Measure) -> Callable[[str], float]:
        n, deepest = len(self.nodes), self.max_depth

        def seco(c: str) -> float:
            return 1 - math.log(len(self.subtree(c))) / math.log(n) if n > 1 else 0.0

        def zhou(c: str) -> float:
            level = math.log(self.depth(c)) / math.log(deepest) if deepest > 1 else 0.0
            return measure.k * seco(c) + (1 - measure.k) * level

        def sanchez(c: str) -> float:
            return -math.log((self.leaves(c) / len(self.subsumers(c)) + 1) / (self.leaves(self.root) + 1))

        def corpus(c: str) -> float:
            assert not isinstance(measure.ic, str)
            used = {x: sum(measure.ic.get(y, 0) for y in self.subtree(x)) for x in (c, self.root)}
            return -math.log(used[c] / used[self.root])

        return {"seco": seco, "zhou": zhou, "sanchez": sanchez}[measure.ic] if isinstance(measure.ic, str) else corpus

    def distance(self, a: str, b: str, measure: Measure) -> float:
        if a == b:
            return 0.0
        top = self.lcs_of_pair(a, b)
        common = self.subsumers(a) & self.subsumers(b)
        shortest = min(self.path(a, c) + self.path(b, c) for c in common)
        if measure.name == "path":
            return shortest
        if measure.name == "leacock-chodorow":
            most = -math.log(1 / (2 * self.max_depth))
            return 1 - -math.log((shortest + 1) / (2 * self.max_depth)) / most
        if measure.name == "wu-palmer":
            double = 2 * self.depth(top)
            return 1 - double / (double + self.path(a, top) + self.path(b, top))
        if measure.name == "taxonomic-feature":
            union = len(self.subsumers(a) | self.subsumers(b))
            return math.log2(1 + (union - len(common)) / union)
        ic = self.content(measure)
        if measure.name == "resnik":
            most = max(map(ic, self.nodes))
            return 1 - ic(top) / most if most > 0 else 0.0
        if measure.name == "lin":
            both = ic(a) + ic(b)
            return 1 - 2 * ic(top) / both if both > 0 else 0.0
        assert measure.name == "jiang-conrath"
        return ic(a) + ic(b) - 2 * ic(top)

    def restrict(self, root: str) -> Naive:
        inside = self.subtree(root)
        edges = [(c, p) for c in inside if c != root for p in self.parents[c] if p in inside]
        return Naive(edges, root)


@st.composite
def edge_lists(draw: st.DrawFn, max_size: int = 12, tree: bool = False) -> Edges:
    """Random rooted DAGs (or trees): each concept takes parents among the earlier ones; ids in random order."""
    size = draw(st.integers(1, max_size))
    names = draw(st.permutations([f"c{i:02}" for i in range(size + 1)]))
    edges = []
    for i in range(1, size + 1):
        several = 1 if tree else 3
        parents = draw(st.lists(st.integers(0, i - 1), min_size=1, max_size=several, unique=True))
        edges += [(names[i], names[p]) for p in parents]
    return edges


def both(edges: Edges) -> tuple[Taxonomy, Naive]:
    """Build the library's taxonomy and the naive one from the same links."""
    tax = Taxonomy.from_edges(edges)
    return tax, Naive(edges, tax.root)


def all_measures(nodes: Sequence[str]) -> list[Measure]:
    """List every measure with every information content, counts of use included."""
    counts = {c: 1.0 + 3 * (i % 4) for i, c in enumerate(nodes)}
    edges = ["wu-palmer", "path", "leacock-chodorow", "taxonomic-feature"]
    contents: list[dict[str, object]] = [
        {"ic": "seco"},
        {"ic": "zhou", "k": 0.3},
        {"ic": "sanchez"},
        {"ic": counts},
    ]
    informed = product(["resnik", "lin", "jiang-conrath"], contents)
    return [Measure(name) for name in edges] + [Measure(name, **options) for name, options in informed]  # type: ignore[arg-type]


def naive_sd_cov(a: np.ndarray, b: np.ndarray) -> float:
    """Distance covariance from two n × n matrices, equation by equation (4.21–4.23)."""

    def centred(m: np.ndarray) -> np.ndarray:
        return m - m.mean(axis=0)[None, :] - m.mean(axis=1)[:, None] + m.mean()

    return math.sqrt(max(0.0, float((centred(a) * centred(b)).sum()))) / len(a)
