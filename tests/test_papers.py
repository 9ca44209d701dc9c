"""Worked examples, lemmas and theorems of the papers, as they are printed; docs/reproduction.md lists them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from reference import Edges, both, edge_lists

# Rodriguez-Garcia, Batet and Sánchez (2019), figures 1 and 4; the thesis, figure 5-1.
SYSTEM, COMA, NEUROPATHY, VARICELLA = "Disorder of nervous system", "Coma", "Neuropathy", "Neurological varicella"
LINKS = [
    (COMA, SYSTEM), (NEUROPATHY, SYSTEM), (VARICELLA, SYSTEM), ("Hepatic coma", COMA), ("Hypoglycemic coma", COMA),
    ("Herpes zoster auricularis", VARICELLA), ("Herpes zoster ophthalmicus", VARICELLA),
]  # fmt: skip
DISEASES = nym.Taxonomy.from_edges(LINKS)


@pytest.mark.parametrize(
    ("reference", "printed"),
    [
        (COMA, {"Hepatic coma": 0.20, "Hypoglycemic coma": 0.20, SYSTEM: 0.33, NEUROPATHY: 0.50}),
        (NEUROPATHY, {SYSTEM: 0.33, COMA: 0.50, "Hepatic coma": 0.60, "Hypoglycemic coma": 0.60}),
    ],
)
def test_ranks_by_distance_from_a_value(reference: str, printed: dict[str, float]) -> None:
    """Figures 2 and 3: distances, and the order that they give."""
    found = {value: DISEASES.distance(reference, value) for value in printed}
    assert {value: round(distance, 2) for value, distance in found.items()} == printed
    assert sorted(found, key=lambda value: found[value]) == list(printed)


def test_intervals_of_a_fixed_ranking() -> None:
    """Figure 4: along a ranking by distance from Neuropathy, a value far from Hepatic coma comes near it."""
    values = [SYSTEM, VARICELLA, COMA, NEUROPATHY, *(child for child, _ in LINKS[3:])]
    ranked = sorted(values, key=lambda value: DISEASES.distance(NEUROPATHY, value))
    assert ranked[:2] == [NEUROPATHY, SYSTEM]
    assert set(ranked[2:4]) == {COMA, VARICELLA}
    assert round(DISEASES.distance("Hepatic coma", "Herpes zoster ophthalmicus"), 2) == 0.67
    # From Neuropathy, all of the last four are as far away, whatever they mean.
    assert len({DISEASES.distance(NEUROPATHY, value) for value in ranked[4:]}) == 1


def test_the_domain_of_an_attribute() -> None:
    """Thesis, figure 6-1: replacements come from below the least common subsumer of the values."""
    links = [("gastritis", "inflammation"), ("gingivitis", "inflammation"), ("inflammation", "disorder"),
             ("hematoma", "disorder"), ("bruise", "hematoma"), ("disorder", "state"), ("ache", "state")]  # fmt: skip
    tax = nym.Taxonomy.from_edges(links)
    assert tax.lcs(["gastritis", "hematoma", "gingivitis"]) == "disorder"
    values = ["gastritis", "hematoma", "gingivitis"] * 200
    drawn = nym.add_noise({"disease": values}, {"disease": tax}, alpha=1.0, seed=1).data["disease"]
    assert set(values) < set(drawn) <= set(tax.subtree("disorder"))


# Domingo-Ferrer, Sánchez and Rufian-Torrell (2013): lemmas 1 to 3; theorem 1 is in tests/stats.


def distances(tax: nym.Taxonomy, nodes: list[str]) -> dict[tuple[str, str], float]:
    """Return the distances of all nodes: one more value in the sample adds its distance to the marginality of each."""
    alone = np.asarray(nym.stats.marginality(nodes, tax))[: len(nodes)]
    more = {b: np.asarray(nym.stats.marginality([*nodes, b], tax))[: len(nodes)] - alone for b in nodes}
    return {(a, b): float(more[b][i]) for i, a in enumerate(nodes) for b in nodes}


@settings(max_examples=40)
@given(edge_lists(max_size=9, tree=True))
def test_lemmas_of_marginality(edges: Edges) -> None:
    tax, naive = both(edges)
    nodes = naive.nodes
    far = distances(tax, nodes)
    below = {a: set(tax.subtree(a)) for a in nodes}
    for a, b in combinations(nodes, 2):
        assert far[a, b] == far[b, a] > 0  # lemma 1
        for c in nodes:
            assert far[a, b] <= far[a, c] + far[c, b]
        if tax.depth(a) == tax.depth(b):  # lemma 3
            longest = max(far[x, y] for top in (a, b) for x in below[top] for y in below[top])
            assert far[a, b] > longest
    for a in nodes:  # lemma 2
        for parent in tax.parents(a):
            assert far[a, parent] > max(far[a, x] for x in below[a])


def test_the_two_variances_may_disagree() -> None:
    """Lemma 4 has VarM and VarH order samples of one size alike; here, with leaves alone, they do not."""
    tax = nym.Taxonomy.from_edges([("c1", "c0"), ("c2", "c0"), ("c3", "c2"), ("c4", "c2"), ("c5", "c0")])
    samples = [["c5", "c3", "c1", "c5", "c1", "c3", "c4", "c5"], ["c3", "c4", "c1", "c5", "c1", "c3", "c4", "c5"]]
    assert [nym.stats.marginality_variance(sample, tax) for sample in samples] == [25.75, 26.0]
    assert [nym.stats.var_h(sample, tax) for sample in samples] == [Fraction(179, 28), Fraction(75, 14)]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-50, 50), st.floats(-5, 5)), min_size=3, max_size=12))
def test_sse_distance_of_numbers_is_a_distance(rows: list[tuple[int, float]]) -> None:
    """Theorem 2: for numerical attributes."""
    n = len(rows)
    frame = {"x": [x for x, _ in rows], "y": [y for _, y in rows]}
    first, second = np.divmod(np.arange(n * n), n)
    far = nym.stats.sse_distance(frame, first, second, {}).reshape(n, n)
    assert (far >= 0).all()
    assert np.allclose(far, far.T)
    assert (far.diagonal() == 0).all()
    assert (far[:, :, None] <= far[:, None, :] + far.T[None, :, :] + 1e-9).all()


@settings(max_examples=40)
@given(edge_lists(max_size=8, tree=True), st.data())
def test_sse_distance_of_both_kinds_is_a_distance(edges: Edges, data: st.DataObject) -> None:
    """Corollary 1: for nominal and numerical attributes together."""
    tax, naive = both(edges)
    rows = data.draw(st.lists(st.tuples(st.sampled_from(naive.nodes), st.integers(-9, 9)), min_size=3, max_size=9))
    n = len(rows)
    frame = {"x": [x for x, _ in rows], "y": [y for _, y in rows]}
    first, second = np.divmod(np.arange(n * n), n)
    far = nym.stats.sse_distance(frame, first, second, {"x": tax}).reshape(n, n)
    assert (far >= 0).all()
    assert np.allclose(far, far.T)
    assert (far.diagonal() == 0).all()
    assert (far[:, :, None] <= far[:, None, :] + far.T[None, :, :] + 1e-9).all()


@given(*[st.floats(0, 100)] * 4, *[st.floats(0, 1)] * 2)
def test_roots_of_sums(a: float, more_a: float, b: float, more_b: float, part: float, other: float) -> None:
    """Lemma 5, on which theorem 1 and the corollary rest: √A ≤ √A' + √A'' and the same of B hold for A + B."""
    whole_a, whole_b = ((part * (x**0.5 + y**0.5)) ** 2 for x, y in ((a, more_a), (b, more_b)))
    whole_b *= other
    assert (whole_a + whole_b) ** 0.5 <= (a + b) ** 0.5 + (more_a + more_b) ** 0.5 + 1e-9


def test_gray_codes() -> None:
    """Xue and others (2012), table 5: from one row to the next one bit changes."""
    rows = ["000", "001", "011", "010", "110", "111", "101", "100"]
    sets = nym.Itemsets.from_lists([[i for i, bit in enumerate(row) if bit == "1"] for row in rows], items=range(3))
    order = nym.gray_order(sets[np.random.default_rng(1).permutation(8)])
    assert nym.tour_length(sets[np.random.default_rng(1).permutation(8)], order) == 8
