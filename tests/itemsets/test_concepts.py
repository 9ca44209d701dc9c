"""Recoding by what items mean: closures, votes on them, and semantic errors, each beside its naive form."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nominym as nym
from nominym import _core
from nominym.error import NominymError, ParameterError, UnknownConceptError
from nominym.itemsets import Itemsets, closed, lowest, semantic_error

FOOD = nym.Taxonomy.from_edges(
    [("cola", "drinks"), ("tea", "drinks"), ("green tea", "tea"), ("drinks", "food"), ("rice", "food")],
    labels={"cola": "Cola with sugar"},
    synonyms={"tea": ["Tee"]},
)


@st.composite
def taxonomies(draw) -> nym.Taxonomy:
    """Draw a rooted DAG; the root is c0."""
    size = draw(st.integers(1, 14))
    parents = [draw(st.sets(st.integers(0, i - 1), min_size=1, max_size=3)) for i in range(1, size)]
    pairs = [(f"c{i}", f"c{p}") for i, above in enumerate(parents, 1) for p in above]
    return nym.Taxonomy.from_edges([("c0", None), *pairs])


@st.composite
def records(draw, least: int = 1) -> tuple[nym.Taxonomy, list[list[str]]]:
    tax = draw(taxonomies())
    rows = st.lists(st.sets(st.sampled_from(tax.ids), max_size=5), min_size=least, max_size=12)
    return tax, [sorted(row) for row in draw(rows)]


def above(tax: nym.Taxonomy, row) -> set[str]:
    return {concept for item in row for concept in tax.subsumers(item)} - {tax.root}


def lowest_of(tax: nym.Taxonomy, row) -> set[str]:
    ids = set(row) - {tax.root}
    return {c for c in ids if not any(c != other and c in tax.subsumers(other) for other in ids)}


def naive_error(tax: nym.Taxonomy, before, after, measure: str) -> float:
    """Average both best matches, as the definition says."""
    errors = []
    for old, new in zip(before, after, strict=True):
        a, b = (sorted(lowest_of(tax, row)) or [tax.root] for row in (old, new))
        there = np.mean([min(tax.distance(x, y, measure) for y in b) for x in a])
        back = np.mean([min(tax.distance(x, y, measure) for x in a) for y in b])
        errors.append((there + back) / 2)
    return float(np.mean(errors))


@given(records())
def test_closures_and_lowest_concepts(drawn) -> None:
    tax, rows = drawn
    sets = Itemsets.from_lists(rows, items=tax.ids)
    up = closed(sets, tax)
    assert [set(row) for row in up] == [above(tax, row) for row in rows]
    assert closed(up, tax) == up
    assert [set(row) for row in lowest(sets, tax)] == [lowest_of(tax, row) for row in rows]
    assert lowest(up, tax) == lowest(sets, tax)


@given(records(least=4), st.integers(2, 4), st.sampled_from(["groups", "ring", "cahd"]), st.integers(0, 9))
def test_the_majority_of_closed_sets_is_closed(drawn, k, structure, seed) -> None:
    """For any ties: a parent has at least the votes of its children, and is at least as frequent."""
    tax, rows = drawn
    sets = Itemsets.from_lists(rows, items=tax.ids)
    how = {"insiders": "accepted"} if structure == "ring" else {}
    rel = nym.recode(sets, k, structure=structure, taxonomy=tax, seed=seed, **how)
    for row in rel.base:
        assert set(row) == above(tax, row)
    assert rel.compatible(sets).min() >= k
    assert [set(row) for row in rel.lowest()] == [lowest_of(tax, row) for row in rel.base]
    assert rel.base == nym.recode(closed(sets, tax), k, structure=structure, seed=seed, **how).base


@given(records(), st.sampled_from(["wu-palmer", "path", "lin"]), st.data())
def test_semantic_error_is_the_definition(drawn, measure, data) -> None:
    tax, rows = drawn
    if len(tax) < 3:
        return
    other = [data.draw(st.sets(st.sampled_from(tax.ids), max_size=4)) for _ in rows]
    before, after = Itemsets.from_lists(rows, items=tax.ids), Itemsets.from_lists(map(sorted, other), items=tax.ids)
    expected = naive_error(tax, rows, other, measure)
    assert semantic_error(before, after, tax, measure=measure) == pytest.approx(expected, abs=1e-12)
    assert semantic_error(closed(before, tax), after, tax, measure=measure) == pytest.approx(expected, abs=1e-12)
    turned = np.arange(len(rows))[::-1]
    backwards = semantic_error(before, after[turned], tax, turned, measure=measure)
    assert backwards == pytest.approx(expected, abs=1e-12)


def test_concepts_by_id_label_and_synonym() -> None:
    sets = Itemsets.from_lists([["COLA WITH SUGAR", "tee"], ["green tea"]])
    assert closed(sets, FOOD).to_lists() == [["cola", "drinks", "tea"], ["drinks", "green tea", "tea"]]
    assert lowest(sets, FOOD, labels=True).to_lists() == [["Cola with sugar (cola)", "tea"], ["green tea"]]
    # Two names of one concept are one concept.
    assert lowest(Itemsets.from_lists([["tea", "tee"]]), FOOD).to_lists() == [["tea"]]
    # Items that nobody has need no meaning; numbers are read as text.
    assert closed(Itemsets.from_lists([["rice"]], items=["rice", "nothing"]), FOOD).to_lists() == [["rice"]]
    numbered = nym.Taxonomy.from_edges([("1", "0"), ("2", "1")])
    assert closed(Itemsets.from_lists([[2], []]), numbered).to_lists() == [["1", "2"], []]


def test_the_root_says_nothing() -> None:
    assert closed(Itemsets.from_lists([["food"], ["rice", "food"], []]), FOOD).to_lists() == [[], ["rice"], []]
    alone = nym.Taxonomy.from_edges([("food", None)])
    assert closed(Itemsets.from_lists([["food"], []]), alone).to_lists() == [[], []]


def test_strange_items_are_one_error() -> None:
    sets = Itemsets.from_lists([["cola", "beer"], ["beer", "gren tea"]])
    with pytest.raises(UnknownConceptError, match=r"2 items \(3 times\).*'beer' \(2×\).*did you mean 'green tea'"):
        nym.recode(sets, 2, taxonomy=FOOD)


@pytest.mark.parametrize("wrong", ["icd.csv", "given it", 3, nym.Order()])
def test_what_is_no_taxonomy_is_refused(wrong) -> None:
    with pytest.raises(ParameterError, match="taxonomy"):
        nym.Recode(k=2, taxonomy=wrong)


def test_methods_and_releases_do_not_keep_the_taxonomy_in_files(tmp_path) -> None:
    sets = Itemsets.from_lists([["cola"], ["green tea"], ["tea", "rice"], ["rice"]])
    method = nym.Recode(k=2, taxonomy=FOOD)
    rel = method.apply(sets)
    assert rel.taxonomy is FOOD
    assert rel.method == nym.Recode(k=2, taxonomy="given")
    assert rel.summary["taxonomy"] == {"concepts": 6, "links": 5, "root": "food"}
    assert rel.guarantee.bound == rel.summary["bound"] == 0.5
    rel.to_parquet(tmp_path / "release.parquet")
    back = nym.itemsets.read_release(tmp_path / "release.parquet")
    assert back == rel
    assert (back.method, back.taxonomy) == (rel.method, None)
    assert back.guarantee == rel.guarantee
    with pytest.raises(ParameterError, match="give it"):
        back.lowest()
    again = nym.itemsets.read_release(tmp_path / "release.parquet", FOOD)
    assert again.lowest() == rel.lowest() == back.lowest(FOOD)
    assert again.compatible(["green tea"]) == rel.compatible(["green tea"]) >= 2
    assert pickle.loads(pickle.dumps(rel)).lowest() == rel.lowest()
    with pytest.raises(ParameterError, match="not kept"):
        rel.method.apply(sets)


def test_labels_and_persons_go_along() -> None:
    rows, labels = [["cola"], ["tea"], ["green tea"], ["rice"], ["rice", "tea"], ["cola", "rice"]], list("abcabc")
    sets = Itemsets.from_lists(rows)
    rel = nym.recode(sets, l=3, labels=labels, taxonomy=FOOD)
    assert sorted(rel.labels) == sorted(labels)
    of_persons = nym.recode(sets, 2, person=[1, 1, 2, 2, 3, 3], taxonomy=FOOD)
    assert of_persons.guarantee.headline.startswith("Probability that a row belongs to a given person")


def shop(n_items: int, branching: int) -> nym.Taxonomy:
    """Put goods on shelves: items of near numbers in one family, families in departments."""
    pairs, names = [], [str(i) for i in range(n_items)]
    level = 0
    while len(names) > 1:
        level += 1
        groups = [f"L{level}-{i // branching}" for i in range(len(names))]
        pairs += zip(names, groups, strict=True)
        names = list(dict.fromkeys(groups))
    return nym.Taxonomy.from_edges(pairs)


def coded(tax: nym.Taxonomy, n: int, size: int = 8, seed: int = 1) -> Itemsets:
    """Draw sets of leaves: most of a record below the few concepts of its profile, where leaves differ."""
    rng = np.random.default_rng(seed)
    child, parent = tax.graph.edges()
    leaves = np.setdiff1d(np.arange(len(tax)), parent)
    family = dict(zip(child.tolist(), parent.tolist(), strict=True))
    mates: dict[int, list[int]] = {}
    for leaf in leaves.tolist():
        mates.setdefault(family[leaf], []).append(leaf)
    families = sorted(mates)
    profiles = rng.choice(len(families), (30, 5))
    rows = []
    for profile in rng.integers(30, size=n):
        chosen = rng.choice(profiles[profile], size)
        near = [mates[families[f]][rng.integers(len(mates[families[f]]))] for f in chosen]
        far = rng.choice(leaves, size)
        rows.append(sorted({tax.ids[a if rng.random() < 0.8 else b] for a, b in zip(near, far, strict=True)}))
    return Itemsets.from_lists(rows)


@pytest.mark.parametrize("k", [3, 8, 20])
def test_semantic_votes_beat_plain_ones_on_baskets(k) -> None:
    """Goods that are drawn together need not be kin: the gain is that of the taxonomy alone."""
    sets = nym.datasets.baskets(1_500, seed=1, items=200, size=6).sets
    tax = shop(200, 6)
    plain = nym.recode(sets, k, seed=1).semantic_error(tax)
    assert nym.recode(sets, k, taxonomy=tax, seed=1).semantic_error() < 0.9 * plain


@pytest.mark.parametrize("k", [3, 8, 20])
def test_semantic_votes_beat_plain_ones_on_codes(k) -> None:
    tax = shop(1_000, 5)
    sets = coded(tax, 1_000)
    plain = nym.recode(sets, k, seed=1).semantic_error(tax)
    assert nym.recode(sets, k, taxonomy=tax, seed=1).semantic_error() < 0.85 * plain


@pytest.mark.parametrize(("name", "k"), [("icd/icd9cm_hierarchy.csv", 8), ("obo/doid.obo", 4), ("obo/doid.obo", 16)])
def test_semantic_votes_beat_plain_ones_on_real_vocabularies(shared_data, name, k) -> None:
    tax = nym.read_taxonomy(shared_data(name))
    sets = coded(tax, 1_000)
    plain = nym.recode(sets, k, seed=1).semantic_error(tax)
    assert nym.recode(sets, k, taxonomy=tax, seed=1).semantic_error() < 0.9 * plain


def test_the_core_checks_what_it_is_given() -> None:
    sets = Itemsets.from_lists([[0], [1]])
    with pytest.raises(NominymError):
        sets.core.over_concepts(FOOD.graph, np.array([0], dtype=np.uint32))
    with pytest.raises(NominymError):
        sets.core.over_concepts(FOOD.graph, np.array([0, 99], dtype=np.uint32))
    few = np.array([0, 1], dtype=np.uint32)
    with pytest.raises(NominymError):
        _core.semantic_error(FOOD.graph, sets.core, few, sets.core, few[:1], few, "wu-palmer")
    with pytest.raises(NominymError):
        _core.semantic_error(FOOD.graph, sets.core, few, sets.core, few, few + 1, "wu-palmer")


def test_nothing_to_compare() -> None:
    nobody = Itemsets.from_lists([], items=["rice"])
    with pytest.raises(NominymError, match="no records"):
        semantic_error(nobody, nobody, FOOD)
    one = Itemsets(
        _core.Sets.make(1, np.array([0, 1], dtype=np.uint64), np.zeros(1, dtype=np.uint32)),
        pa.array(["rice"]).cast(pa.large_string()),
    )
    assert semantic_error(one, one, FOOD) == 0
