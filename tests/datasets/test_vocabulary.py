from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from nominym import Taxonomy
from nominym.datasets import vocabulary

BOTH = pytest.mark.parametrize(
    "words", [vocabulary.diagnoses(), vocabulary.procedures()], ids=["diagnoses", "procedures"]
)


def parents_of(words: vocabulary.Vocabulary) -> dict[str, list[str]]:
    parents = defaultdict(list)
    for child, parent in zip(words.concepts.child, words.concepts.parent, strict=True):
        parents[child].append(parent)
    return parents


@BOTH
def test_is_a_taxonomy_with_one_root(words):
    taxonomy = Taxonomy.from_concepts(words.concepts)
    assert len(taxonomy) == len(words.concepts.ids)
    assert [name for name in words.concepts.ids if not taxonomy.parents(name)] == [words.concepts.ids[0]]


@BOTH
def test_ids_are_in_order_and_labels_are_distinct(words):
    ids, labels = words.concepts.ids, words.concepts.labels
    assert list(ids) == sorted(set(ids))
    assert list(labels) == list(ids)
    assert len(set(labels.values())) == len(ids)


@BOTH
def test_codes_count_depth_first(words):
    # The first parent of a concept is the concept before it, or one above that.
    parents = parents_of(words)
    above = [words.concepts.ids[0]]
    for name in words.concepts.ids[1:]:
        while above[-1] != parents[name][0]:
            above.pop()
        above.append(name)


def test_diagnoses_have_several_parents_in_one_case_of_five():
    words = vocabulary.diagnoses()
    several = sum(len(names) > 1 for names in parents_of(words).values())
    assert 8_000 <= len(words.concepts.ids) <= 12_000
    assert 0.10 <= several / len(words.concepts.ids) <= 0.20
    assert words.concepts.labels[words.concepts.ids[0]] == "Disorder"


def test_procedures_are_a_tree():
    words = vocabulary.procedures()
    assert 3_000 <= len(words.concepts.ids) <= 5_000
    assert all(len(names) == 1 for names in parents_of(words).values())
    assert words.concepts.labels[words.concepts.ids[0]] == "Procedure"


@BOTH
def test_leaves_are_at_levels_5_to_8(words):
    taxonomy = Taxonomy.from_concepts(words.concepts)
    upper = set(words.concepts.parent)
    levels = Counter(taxonomy.depth(name) for name in words.concepts.ids if name not in upper)
    assert set(levels) == {5, 6, 7, 8}


def test_a_disorder_of_a_part_is_one_of_the_whole():
    words = vocabulary.diagnoses()
    ids = {label: name for name, label in words.concepts.labels.items()}
    parents = parents_of(words)
    assert parents[ids["Ulcer of antrum of stomach"]] == [
        ids["Disorder of antrum of stomach"],
        ids["Ulcer of stomach"],
    ]
    assert parents[ids["Ulcer of stomach"]] == [ids["Disorder of stomach"], ids["Ulcer"]]
    assert parents[ids["Acute ulcer of stomach with bleeding"]] == [ids["Acute ulcer of stomach"]]


def test_both_vocabularies_have_the_same_sites():
    def names(words: vocabulary.Vocabulary, start: str) -> dict[int, str]:
        labels = list(words.concepts.labels.values())
        # The first concept of a site is the site itself.
        first = {site: number for number, site in reversed(list(enumerate(words.site.tolist()))) if site >= 0}
        return {site: labels[number].removeprefix(start) for site, number in first.items()}

    assert names(vocabulary.diagnoses(), "Disorder of ") == names(vocabulary.procedures(), "Procedure for ")


@BOTH
def test_sites_lie_in_systems(words):
    systems = defaultdict(set)
    for site, system in zip(words.site.tolist(), words.system.tolist(), strict=True):
        systems[site].add(system)
    systems.pop(-1)
    assert all(len(of_site) == 1 for of_site in systems.values())
    assert set().union(*systems.values()) == set(range(len(vocabulary.BODY)))
    assert words.size == sum(site >= 0 for site in words.site.tolist())
