"""The structure: building, checking, restricting, looking."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import nominym as nym
from nominym import Taxonomy, error
from nominym.meaning import Concepts
from nominym.meaning.taxonomy import VIRTUAL_ROOT
from reference import Edges, both, edge_lists

DIAMOND = [("a", "top"), ("b", "top"), ("c", "a"), ("c", "b"), ("d", "c")]


@given(edge_lists())
def test_structure_is_that_of_the_definition(edges: Edges) -> None:
    tax, naive = both(edges)
    assert list(tax.ids) == naive.nodes == list(tax)
    assert len(tax) == len(naive.nodes)
    assert tax.root == naive.root
    assert tax.links == len(edges)
    assert tax.is_tree == all(len(p) <= 1 for p in naive.parents.values())
    for c in naive.nodes:
        assert tax.depth(c) == naive.depth(c)
        assert tax.parents(c) == naive.parents[c]
        assert tax.children(c) == sorted(x for x in naive.nodes if c in naive.parents[x])
        assert set(tax.subtree(c)) == naive.subtree(c)
        assert set(tax.subsumers(c)) == naive.subsumers(c)
        assert tax.subsumers(c)[0] == c


@given(edge_lists())
def test_lcs_of_sets(edges: Edges) -> None:
    tax, naive = both(edges)
    for size in (1, 2, 3):
        for start in range(len(naive.nodes)):
            values = naive.nodes[start : start + size]
            assert tax.lcs(values) == naive.lcs(values)


@given(edge_lists())
def test_restriction_measures_depth_from_its_own_root(edges: Edges) -> None:
    tax, naive = both(edges)
    for c in naive.nodes:
        part, expected = tax.restrict(c), naive.restrict(c)
        assert part.root == c
        assert list(part.ids) == expected.nodes
        assert [part.depth(x) for x in part] == [expected.depth(x) for x in expected.nodes]


def test_lcs_tie_goes_to_the_fewest_descendants() -> None:
    # a and b are both above x and y, at one depth; b has one descendant more.
    edges = [("a", "top"), ("b", "top"), ("x", "b"), ("x", "a"), ("y", "b"), ("y", "a"), ("z", "a")]
    assert Taxonomy.from_edges(edges).lcs(["x", "y"]) == "b"


def test_lcs_tie_goes_to_the_first_id_last() -> None:
    edges = [("b", "top"), ("a", "top"), ("x", "b"), ("x", "a"), ("y", "b"), ("y", "a")]
    assert Taxonomy.from_edges(edges).lcs(["x", "y"]) == "a"


def test_lcs_of_very_many_values() -> None:
    # More values than the search climbs from: the odd one out must count too.
    edges = [("a", "top"), ("b", "top"), *((f"a{i:04}", "a") for i in range(2000))]
    tax = Taxonomy.from_edges(edges)
    many = [f"a{i:04}" for i in range(2000)]
    assert tax.lcs(many) == "a"
    for odd in ("b", "top"):
        assert tax.lcs([*many, odd]) == "top"
    below = Taxonomy.from_edges([*edges, ("a0500x", "a0500")])
    assert below.lcs([m for m in many if m != "a0500"] + ["a0500x"]) == "a"


def test_first_parent_tree_follows_the_order_of_the_links() -> None:
    tax = Taxonomy.from_edges([("b", "top"), ("a", "top"), ("c", "b"), ("c", "a")])
    tree = tax.to_tree("first-parent")
    assert tree.is_tree
    assert tree.parents("c") == ["b"]
    assert not tax.is_tree


@pytest.mark.parametrize(
    "pairs",
    [
        DIAMOND,
        pd.DataFrame(DIAMOND, columns=["child", "parent"]),
        pl.DataFrame(DIAMOND, schema=["child", "parent"], orient="row"),
        pa.table({"child": [c for c, _ in DIAMOND], "parent": [p for _, p in DIAMOND]}),
        np.array(DIAMOND),
        iter(DIAMOND),
        [*DIAMOND, ("top", None), ("c", "a")],
    ],
    ids=["list", "pandas", "polars", "arrow", "numpy", "iterator", "declared root, repeated link"],
)
def test_edges_come_from_anywhere(pairs: object) -> None:
    tax = Taxonomy.from_edges(pairs)
    assert (len(tax), tax.links, tax.root, tax.depth("d")) == (5, 5, "top", 4)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_a_missing_parent_declares_a_root_in_any_frame(make) -> None:
    tax = Taxonomy.from_edges(make({"child": ["a", "b", "top"], "parent": ["top", "top", None]}))
    assert (tax.ids, tax.distance("a", "b")) == (("a", "b", "top"), 0.5)


def test_floats_are_no_ids() -> None:
    frame = pd.DataFrame({"child": [1, 2, 0], "parent": [0, 0, None]})
    with pytest.raises(error.ParameterError, match=r"row 0 names 0\.0; ids are text or whole numbers, not floats"):
        Taxonomy.from_edges(frame, virtual_root=True)
    assert Taxonomy.from_edges(frame.astype("Int64")).root == "0"
    with pytest.raises(error.ParameterError, match=r"row 0 names 1\.5"):
        Taxonomy.from_edges([(1.5, "top")])


def test_frames_that_hold_no_pairs() -> None:
    for frame, message in (
        (pd.DataFrame([["a", "top"]], columns=["x", "x"]), None),
        ({"child": ["a", "b"], "parent": ["top"]}, "2 children and 1 parents; give pairs"),
        ({"child": "a", "parent": "top"}, "columns of ids are needed, not 'a'"),
        ({"child": ["a"]}, "two columns .child, parent. is needed, not 1"),
        (pl.LazyFrame({"child": ["a"], "parent": ["top"]}), "this LazyFrame cannot be read as a table"),
        (pa.RecordBatch.from_pydict({"child": ["a"], "parent": ["top"]}), None),
        (pa.table({"child": ["a"], "parent": ["top"]}).to_reader(), None),
    ):
        if message is None:
            assert Taxonomy.from_edges(frame).ids == ("a", "top")
        else:
            with pytest.raises(error.ParameterError, match=message):
                Taxonomy.from_edges(frame)


def test_labels_and_synonyms_belong_to_concepts() -> None:
    with pytest.raises(error.ParameterError, match="labels: there is no concept 'b'"):
        Taxonomy.from_edges([("a", "top")], labels={"b": "Bee"})
    with pytest.raises(
        error.ParameterError, match="synonyms: a list of names is needed for 'a', not the one text 'Ay'"
    ):
        Taxonomy.from_edges([("a", "top")], synonyms={"a": "Ay"})


def test_numbers_are_ids_as_text() -> None:
    tax = Taxonomy.from_edges([(44054006, 73211009), (46635009, 73211009)])
    assert tax.ids == ("44054006", "46635009", "73211009")
    assert 44054006 in tax
    assert tax.distance(44054006, "46635009") == 0.5


def test_a_single_concept_is_a_taxonomy() -> None:
    tax = Taxonomy.from_edges([("only", None)])
    assert len(tax) == 1
    for measure in nym.MEASURES:
        assert tax.distance("only", "only", measure) == 0


def test_virtual_root() -> None:
    pairs = [("a", "one"), ("b", "two")]
    with pytest.raises(error.RootError, match=r"2 concepts have no parent: 'one', 'two'.*virtual_root=True"):
        Taxonomy.from_edges(pairs)
    tax = Taxonomy.from_edges(pairs, virtual_root=True)
    assert tax.root == VIRTUAL_ROOT
    assert tax.depth("a") == 3
    assert Taxonomy.from_edges(DIAMOND, virtual_root=True).root == "top"
    with pytest.raises(error.TaxonomyError, match="is taken"):
        Taxonomy.from_edges([("a", VIRTUAL_ROOT), ("b", "two")], virtual_root=True)


@pytest.mark.parametrize(
    ("pairs", "shown"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], "a → b → c → a"),
        ([("a", "a")], "a → a"),
        ([("x", "top"), ("a", "b"), ("b", "a"), ("a", "top")], "a → b → a"),
    ],
)
def test_cycles_are_printed(pairs: Edges, shown: str) -> None:
    with pytest.raises(error.CycleError) as caught:
        Taxonomy.from_edges(pairs)
    start = shown.split(" → ")[:-1]
    turns = [" → ".join([*start[i:], *start[:i], start[i]]) for i in range(len(start))]
    assert any(turn in str(caught.value) for turn in turns)
    assert isinstance(caught.value, ValueError)


def test_bad_concepts_are_named() -> None:
    with pytest.raises(error.TaxonomyError, match="at least one"):
        Taxonomy.from_edges([])
    with pytest.raises(error.TaxonomyError, match="my file: duplicate ids: 'a'; keep one"):
        Taxonomy.from_concepts(Concepts(["a", "b", "a"], ["b"], ["a"], source="my file"))
    with pytest.raises(error.TaxonomyError, match=r"parent is unknown: 'zz'"):
        Taxonomy.from_concepts(Concepts(["a", "b"], ["b"], ["zz"]))
    with pytest.raises(error.TaxonomyError, match=r"child is unknown: 'zz'"):
        Taxonomy.from_concepts(Concepts(["a", "b"], ["zz"], ["a"]))
    with pytest.raises(error.RootError, match=r"12 concepts .* and 2 more"):
        Taxonomy.from_edges([(f"c{i}", f"r{i:02}") for i in range(12)])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["ab"], "row 0 is 'ab'"),
        (None, "pairs or a two-column frame are needed, not None"),
        ([1, 2], "row 0 is 1"),
        ([("a", "b"), ("c",)], "row 1"),
        ([(None, "b")], "row 0 has no child"),
        (pd.DataFrame({"a": ["x"]}), "two columns"),
    ],
)
def test_bad_edges_are_named(pairs: object, message: str) -> None:
    with pytest.raises(error.ParameterError, match=message):
        Taxonomy.from_edges(pairs)


def test_unknown_concepts_are_named_with_the_closest() -> None:
    tax = Taxonomy.from_edges([("Hepatic coma", "Coma")])
    with pytest.raises(error.UnknownConceptError, match=r"'Hepatic coam'.*did you mean 'Hepatic coma'\?") as caught:
        tax.depth("Hepatic coam")
    assert isinstance(caught.value, KeyError)
    for call in (
        tax.parents,
        tax.children,
        tax.subtree,
        tax.subsumers,
        tax.label,
        tax.synonyms,
        tax.restrict,
    ):
        with pytest.raises(KeyError, match="nowhere"):
            call("nowhere")
    with pytest.raises(error.ParameterError, match="not the one text"):
        tax.lcs("Coma")
    with pytest.raises(error.ParameterError, match="no value"):
        tax.lcs([])


def test_pickle_and_repr() -> None:
    tax = Taxonomy.from_edges(DIAMOND, labels={"c": "See"}, synonyms={"d": ["Dee", "De"]})
    again = pickle.loads(pickle.dumps(tax))
    assert again.to_concepts() == tax.to_concepts()
    assert repr(tax) == "<Taxonomy: 5 concepts, 5 links, DAG, root 'top'>"
    assert again.label("c") == "See"
    assert again.label("a") == "a"
    assert again.synonyms("d") == ("Dee", "De")


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_save_and_read(tmp_path, suffix: str) -> None:
    tax = Taxonomy.from_edges(DIAMOND, labels={"c": "See"}, synonyms={"d": ["Dee", "De"]})
    tax.save(tmp_path / f"tax{suffix}")
    again = nym.read_taxonomy(tmp_path / f"tax{suffix}")
    assert again.to_concepts() == tax.to_concepts()
    with pytest.raises(error.ParameterError, match=r"\.json or \.parquet"):
        tax.save(tmp_path / "tax.txt")


def snomed_sized(concepts: int = 311_000, links: int = 500_000) -> tuple[list[tuple[str, str]], int]:
    """Draw a DAG of SNOMED's size and shape: about a dozen levels, several parents."""
    rng = np.random.default_rng(0)
    child = np.arange(1, concepts)
    first = (child * rng.random(concepts - 1)).astype(int)
    extra = rng.choice(child, links - concepts + 1)
    second = np.clip(first[extra - 1] + rng.integers(1, 40, len(extra)), 0, extra - 1)
    pairs = np.unique(np.column_stack([np.r_[child, extra], np.r_[first, second]]), axis=0)
    return [(str(c), str(p)) for c, p in pairs.tolist()], len(pairs)


def test_snomed_size() -> None:
    pairs, links = snomed_sized()
    tax = Taxonomy.from_edges(pairs)
    assert len(tax) == 311_000
    assert tax.links == links
    assert not tax.is_tree
    # One row by the kernel against one pair at a time by definition.
    some = [str(i) for i in range(310_000, 310_040)]
    matrix = tax.distance_matrix(some)
    assert tax.distance(some[3], some[30]) == pytest.approx(matrix[3, 30], rel=1e-6)
    up = {c: set(tax.subsumers(c)) for c in (some[3], some[30])}
    deepest = max(tax.depth(c) for c in up[some[3]] & up[some[30]])
    assert tax.depth(tax.lcs([some[3], some[30]])) == deepest


def test_doid(shared_data) -> None:
    tax = nym.read_taxonomy(shared_data("obo/doid.obo"))
    assert (len(tax), tax.links) == (6971, 8155)
    assert tax.label(tax.root) == "disease"
    assert tax.match(["hemangiosarcoma"])["how"].item() == "synonym"
    assert tax.distance("angiosarcoma", "HEMANGIOSARCOMA") == 0
