"""Releases: what is published, what stays with the owner, and files."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nominym as nym
from nominym import Itemsets, _core, error
from nominym.itemsets import Recode, Release, read_release
from nominym.itemsets.graph import Assignments, Groups, Ring
from nominym.itemsets.release import publish

# The example of the source: tables 1 to 4.
BITS = ["1100", "0110", "1101", "0111", "1110", "1011"]
LABELS = ["Christian", "Christian", "Muslim", "Buddhist", "Buddhist", "Muslim"]
ORDER = np.array([1, 3, 2, 0, 4, 5], dtype=np.uint32)


def bits(rows: list[str]) -> list[list[int]]:
    return [[i for i, bit in enumerate(row) if bit == "1"] for row in rows]


EXAMPLE = Itemsets.from_lists(bits(BITS), items=range(4))
RING = Ring(ORDER, 3)
METHOD = Recode(k=3, structure="ring", order="gray")


def shift(order, by: int) -> np.ndarray:
    assignment = np.empty(len(order), dtype=np.uint32)
    assignment[order] = np.roll(order, -by)
    return assignment


def example(seed: int | None = 1, by: int = 1, **more) -> Release:
    return publish(EXAMPLE, RING, shift(ORDER, by), method=METHOD, labels=LABELS, seed=seed, **more)


def could_be(record: set, base: set, distance: set, threshold: int) -> bool:
    return record ^ base <= distance and len(record ^ base) <= threshold


@st.composite
def releases(draw) -> Release:
    rows = draw(st.lists(st.sets(st.integers(0, 8), max_size=8), min_size=1, max_size=20))
    n = len(rows)
    order = np.array(draw(st.permutations(range(n))), dtype=np.uint32)
    k = draw(st.integers(1, n))
    labels = draw(st.none() | st.lists(st.sampled_from(["a", "b | c", "ü"]), min_size=n, max_size=n))
    text = draw(st.booleans())
    sets = Itemsets.from_lists([{f"i{x}" for x in row} if text else row for row in rows])
    by = draw(st.integers(0, k - 1))
    return publish(sets, Ring(order, k), shift(order, by), labels=labels, seed=draw(st.integers(0, 99)))


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_the_published_example(seed) -> None:
    rel = example(seed)
    rows = rel.secret.row_of
    assert rel.base[rows].to_lists() == bits(["1101", "1110", "0111", "0111", "1100", "1110"])
    assert rel.distance[rows].to_lists() == bits(["1011", "1101", "1011", "1101", "0011", "0111"])
    assert rel.threshold[rows].tolist() == [2, 2, 2, 2, 1, 2]
    # Table 4: the nodes that each record matches.
    matches = [{0, 4, 5}, {1, 2, 3}, {0, 2, 4}, {0, 2, 3}, {1, 4, 5}, {1, 3, 5}]
    assert [set(rel.secret.matches(i).tolist()) for i in range(6)] == matches
    assert rel.labels[rows[rel.secret.assignment]].tolist() == LABELS
    assert rel.compatible(EXAMPLE).min() >= 3
    assert rel.summary["matches"] == 3
    assert rel.summary["bound"] is None


def test_every_form_of_the_graph_gives_the_same_votes() -> None:
    shifts = np.array([shift(ORDER, by) for by in range(3)])
    union = publish(EXAMPLE, Assignments(shifts), shifts[1], seed=1, assignments=shifts, chosen=1)
    assert union == publish(EXAMPLE, RING, shifts[1], seed=1)
    assert union.secret.assignments.tolist() == shifts.tolist()
    assert union.secret.chosen == 1
    assert set(union.secret.matches(0).tolist()) == set(RING.matches(0).tolist())
    pair = Groups(np.array([0, 0, 1, 1, 1, 1], dtype=np.uint32))
    rel = publish(EXAMPLE, pair, [1, 0, 3, 4, 5, 2], seed=1)
    assert pair.smallest == rel.summary["matches"] == 2
    assert rel.secret.matches(3).tolist() == [2, 3, 4, 5]
    assert rel.base[rel.secret.row_of[0]] == rel.base[rel.secret.row_of[1]]
    assert rel.secret.expected_error == pytest.approx(
        np.mean([np.mean([rel_error(i, v, rel) for v in pair.matches(i)]) for i in range(6)])
    )


def rel_error(i: int, v: int, rel: Release) -> float:
    return len({*EXAMPLE[i]} ^ {*rel.base[rel.secret.row_of[v]]}) / max(1, len(EXAMPLE[i]))


def test_error_rates() -> None:
    rates = [example(by=by).error_rate() for by in range(3)]
    rel = example()
    assert rel.error_rate() == pytest.approx(np.mean([rel_error(i, rel.secret.assignment[i], rel) for i in range(6)]))
    assert rel.error_rate(expected=True) == pytest.approx(np.mean(rates)) == rel.summary["expected_error"]
    assert rel.query_error(size=1) == nym.itemsets.query_error(EXAMPLE, rel.base, size=1)


@given(releases())
def test_possible_worlds(rel: Release) -> None:
    original = rel.secret.original
    rows = list(zip(rel.base, rel.distance, rel.threshold.tolist(), strict=True))
    expected = [sum(could_be({*record}, {*b}, {*d}, t) for b, d, t in rows) for record in original]
    assert rel.compatible(original).tolist() == expected
    assert min(expected) >= rel.summary["matches"]
    assert rel.compatible(original[0]) == expected[0]
    assert rel.compatible([]) == sum(could_be(set(), {*b}, {*d}, t) for b, d, t in rows)


def test_strangers_are_nobody() -> None:
    rel = example()
    assert rel.compatible([0, 1, 99]) == 0
    assert rel.compatible(Itemsets.from_lists([[0, 99], [0, 1]])).tolist() == [0, rel.compatible([0, 1])]
    assert type(rel.compatible([0, 1])) is int
    assert rel.compatible(Itemsets.from_lists([[]])).tolist() == [rel.compatible([])]
    with pytest.raises(error.DataError, match="whole numbers on one side and texts on the other"):
        rel.compatible(["a"])


def test_rows_are_in_random_order_whatever_the_assignment() -> None:
    orders = [tuple(example(seed).secret.row_of.tolist()) for seed in range(200)]
    assert len(set(orders)) > 100
    assert [example(5, by).secret.row_of.tolist() for by in range(3)] == [list(orders[5])] * 3
    # Ties are decided without a look at the assignment.
    assert example(5, 0).base == example(5, 2).base


def test_a_seed_gives_the_same_release() -> None:
    assert example(3) == example(3)
    assert example(3) != example(4)
    assert example(3) != "release"
    unlabelled = publish(EXAMPLE, RING, shift(ORDER, 1), seed=3)
    assert unlabelled.labels is None
    assert unlabelled != example(3)


def test_nothing_is_shown_and_nothing_changes() -> None:
    rel = example(7)
    method = "Recode(k=3, structure='ring', order='gray', method='split')"
    assert repr(rel) == f"<Release of {method}: 6 records of 4 items>"
    assert repr(rel.secret) == "<Secret: for the owner only>"
    for graph in (RING, Groups(ORDER), Assignments(ORDER[None])):
        assert "array" not in repr(graph)
    assert rel.secret.seed == 7
    assert "seed" not in rel.params
    with pytest.raises(AttributeError):
        rel.base = None  # type: ignore[misc]
    for array in (rel.threshold, rel.labels):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(TypeError, match="unhashable"):
        hash(rel)


def test_pickles_and_copies_have_no_secret() -> None:
    rel = example(7)
    for other in (pickle.loads(pickle.dumps(rel)), copy.copy(rel), copy.deepcopy(rel)):
        assert other == rel
        assert other.secret is None
        assert (other.method, other.params, other.summary) == (rel.method, rel.params, rel.summary)
        with pytest.raises(error.ParameterError, match="only their owner's release"):
            other.error_rate()
        with pytest.raises(error.ParameterError, match="only their owner's release"):
            other.query_error()
        assert other.compatible(EXAMPLE).tolist() == rel.compatible(EXAMPLE).tolist()
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(rel.secret)


@given(releases())
def test_files_come_back(tmp_path_factory, rel: Release) -> None:
    folder = tmp_path_factory.mktemp("release")
    rel.to_parquet(folder / "a.parquet")
    rel.to_text(folder / "a.txt")
    occurring = sorted({item for sets in (rel.base, rel.distance) for row in sets for item in row})
    for name in ("a.parquet", "a.txt"):
        back = read_release(folder / name)
        assert back.secret is None
        assert back.base.items == tuple(occurring)
        assert back == Release(rel.base.over(occurring), rel.distance.over(occurring), rel.threshold, rel.labels)


def test_files_have_no_secret(tmp_path) -> None:
    rel = example(123456789, summary={"order": "gray"})
    rel.to_parquet(tmp_path / "a.parquet")
    rel.to_text(tmp_path / "a.txt")
    schema = pq.read_schema(tmp_path / "a.parquet")
    assert schema.names == ["base", "distance", "threshold", "label"]
    about = json.loads(schema.metadata[b"nominym-release"])
    how = {"k": 3, "structure": "ring", "order": "gray", "method": "split", "insiders": "refused"}
    assert about["params"] == {**how, "seeded": True, "version": _core.__version__}
    assert about["summary"]["order"] == "gray"
    assert list(schema.metadata) == [b"nominym-release"]
    for file in tmp_path.iterdir():
        assert b"123456789" not in file.read_bytes()
    back = read_release(tmp_path / "a.parquet")
    assert (back.params, back.summary) == (about["params"], about["summary"])
    assert (back.summary, back.method) == (rel.summary, rel.method)
    assert read_release(tmp_path / "a.txt").method is None


def test_the_lines_of_a_text(tmp_path) -> None:
    base, distance = Itemsets.from_lists([[1, 2], []], items=[1, 2]), Itemsets.from_lists([[], [1]], items=[1, 2])
    path = tmp_path / "a.txt"
    Release(base, distance, [0, 1], ["x y", "z"]).to_text(path)
    assert path.read_text() == "1 2 |  | 0 | x y\n | 1 | 1 | z\n"
    Release(base, distance, [0, 1]).to_text(path, overwrite=True)
    assert path.read_text() == "1 2 |  | 0\n | 1 | 1\n"
    path.write_text("")
    assert len(read_release(path)) == 0
    for text, message in (
        ("1 | 2\n", "line 1: 2 fields"),
        ("1 | 2 | 1\n1 | 2 | 1 | a\n", "line 2: 4 fields"),
        ("1 | 2 | x\n", "line 1: threshold 'x'"),
        ("1 | 2 | 1\n2 | 2 2 | 1\n", "line 2: item 2 occurs twice"),
        ("1 | 2 | 2\n", "the threshold is above the 1 items"),
        ("a a | a | 0\n", "item 'a' occurs twice"),
        ("1 | 2 | ²\n", "line 1: threshold '²'"),
        ("1 | 2 | ٣\n", "line 1: threshold '٣'"),
        ("1 | 2 | 9999999999\n", "line 1: threshold '9999999999'"),
    ):
        path.write_text(text)
        with pytest.raises(error.FormatError, match=message):
            read_release(path)
    path.write_text("² 2 | 2 | 1\n")
    assert read_release(path).base.to_lists() == [["2", "²"]]
    for raw in (b"1 | 2 | 1 | \xff\n", b"\xff | 2 | 1\n"):
        path.write_bytes(raw)
        with pytest.raises(error.FormatError, match="not UTF-8"):
            read_release(path)
    for other in (pa.table({"a": [1]}), pa.table({"a": [1]}).replace_schema_metadata({"nominym-release": "{}"})):
        pq.write_table(other, path)
        with pytest.raises(error.FormatError, match="not a release"):
            read_release(path)


def test_damaged_files_are_refused(tmp_path) -> None:
    """Cut anywhere or with any byte changed, a release is read or refused, by an error of ours."""
    path = tmp_path / "a.parquet"
    example().to_parquet(path)
    data, rng = path.read_bytes(), np.random.default_rng(1)
    cut = [data[:length] for length in (*range(1, 12), *rng.integers(12, len(data), 60))]
    changed = []
    for place, byte in zip(rng.integers(0, len(data), 400), rng.integers(0, 256, 400), strict=True):
        changed.append(data[:place] + bytes([byte]) + data[place + 1 :])
    for damaged in (*cut, *changed):
        path.write_bytes(damaged)
        try:
            back = read_release(path)
        except error.FormatError:
            continue
        assert len(damaged) == len(data)
        assert len(back.base.to_lists()) == len(back)
    for about in ("[]", "7", "null", '"x"', '{"format": "nominym-release", "version": 1, "params": 7, "summary": {}}',
                  "[" * 100_000):  # fmt: skip
        pq.write_table(pq.read_table(pa.BufferReader(data)).replace_schema_metadata({"nominym-release": about}), path)
        with pytest.raises(error.FormatError, match="not a release"):
            read_release(path)


def test_methods_of_files_are_restored_where_they_are_known(tmp_path) -> None:
    path = tmp_path / "a.parquet"
    for method in (Recode(k=2), Recode(l=2, order="best", effort="long"),
                   Recode(k=3, structure="ring", order=ORDER, insiders="accepted"),
                   Recode(k=2, segment=(2, 4), limit=1.5)):  # fmt: skip
        rel = method.apply(EXAMPLE, LABELS, seed=1)
        rel.to_parquet(path, overwrite=True)
        assert read_release(path).method == rel.method == method.public
    for params in ({}, {"k": 3}, {"k": "3", "structure": "ring"}, {"k": 3, "structure": "star"}):
        Release(rel.base, rel.distance, rel.threshold, params=params).to_parquet(path, overwrite=True)
        back = read_release(path)
        assert (back.method, back.params) == (None, params)


@pytest.mark.parametrize(
    "items",
    [["007", "7"], ["4006381333931", "5"], ["2147483648", "5"], ["0", "00"], [0, 10, 10**9, 2**31 - 1]],
    ids=str,
)
def test_texts_that_look_like_numbers_stay_texts(tmp_path, items) -> None:
    base = Itemsets.from_lists([[items[0]], items[1:]])
    rel = Release(base, base[[1, 0]], [1, 1])
    rel.to_text(tmp_path / "a.txt")
    assert read_release(tmp_path / "a.txt") == rel


def test_what_text_cannot_hold_goes_to_parquet(tmp_path) -> None:
    empty = Itemsets.from_lists([[]])
    for item in ("a b", "a|b", "", -1, 2**31):
        rel = Release(Itemsets.from_lists([[item]]), empty.over([item]), [0])
        with pytest.raises(error.DataError, match="use a Parquet file"):
            rel.to_text(tmp_path / "a.txt")
        rel.to_parquet(tmp_path / "a.parquet", overwrite=True)
        assert read_release(tmp_path / "a.parquet") == rel
    with pytest.raises(error.DataError, match="breaks the line"):
        Release(empty, empty, [0], ["a\nb"]).to_text(tmp_path / "a.txt")
    for labels in (["a", 1], ["a", "\ud800"], [1, 2**70]):
        rel_of = Release(empty[[0, 0]], empty[[0, 0]], [0, 0], labels)
        with pytest.raises(error.DataError, match="turn the labels into texts"):
            rel_of.to_parquet(tmp_path / "b.parquet")
    with pytest.raises(error.DataError, match="is not Unicode text"):
        Release(empty, empty, [0], ["\ud800"]).to_text(tmp_path / "a.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["a.parquet"]
    with pytest.raises(FileExistsError, match="overwrite=True"):
        rel.to_parquet(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (LABELS, object),
        (np.array([1, 2, 3, 1, 2, 3]), np.int64),
        (pd.Series(LABELS, index=range(10, 16)), object),
        (pd.Categorical(LABELS), object),
        (pa.array([1, 2, 3, 1, 2, 3], pa.uint8()), np.int64),
        ([True, False] * 3, object),
    ],
)
def test_labels_of_any_kind(tmp_path, labels, kind) -> None:
    rel = publish(EXAMPLE, RING, shift(ORDER, 2), labels=labels, seed=1)
    assert rel.labels.dtype == kind
    plain = [getattr(label, "as_py", lambda label=label: label)() for label in labels]
    assert rel.labels[rel.secret.row_of[rel.secret.assignment]].tolist() == plain
    rel.to_parquet(tmp_path / "a.parquet")
    assert read_release(tmp_path / "a.parquet").labels.tolist() == rel.labels.tolist()


def test_what_does_not_fit_is_refused() -> None:
    four = EXAMPLE[:4]
    for call, message in (
        (lambda: Release(EXAMPLE, four, [0] * 6), "of the same rows"),
        (lambda: Release(EXAMPLE, EXAMPLE, [0] * 5), "of the same rows"),
        (lambda: Release(EXAMPLE, EXAMPLE.over(range(5)), [0] * 6), "of the same rows"),
        (lambda: Release(EXAMPLE, EXAMPLE, [0, 0, 9, 0, 0, 0]), "row 2: the threshold is above the 3 items"),
        (lambda: Release(EXAMPLE, EXAMPLE, [0, 0.5, 0, 0, 0, 0]), "a whole number, 0 or more"),
        (lambda: Release(EXAMPLE, EXAMPLE, [[0], [0, 1]]), "a whole number, 0 or more"),
        (lambda: Release(EXAMPLE, EXAMPLE, None), "a whole number, 0 or more"),
        (lambda: Release(EXAMPLE, [[1]], [0] * 6), "distance=: give an Itemsets, not list"),
        (lambda: Release(EXAMPLE, EXAMPLE, [0] * 6, [["a"]] * 6), "labels are single values"),
        (lambda: publish(EXAMPLE, RING, [[0], [1, 2]]), "each of the 6 records once"),
        (lambda: publish(EXAMPLE, RING, "abcdef"), "each of the 6 records once"),
        (lambda: Release(EXAMPLE, EXAMPLE, [0, -1, 0, 0, 0, 0]), "a whole number, 0 or more"),
        (lambda: Release(EXAMPLE, EXAMPLE, [0] * 6, ["a"]), "1 labels for 6 records"),
        (lambda: publish(EXAMPLE, RING, [0, 1]), "each of the 6 records once"),
        (lambda: publish(EXAMPLE, RING, [0] * 6), "each of the 6 records once"),
        (lambda: publish(EXAMPLE, RING, shift(ORDER, 3)), "does not match"),
        (lambda: publish(EXAMPLE, Groups(np.zeros(6, np.uint32) + 9), range(6)), "group 9, but there are 6"),
        (lambda: publish(EXAMPLE, RING, range(6), labels=["a"]), "1 labels for 6 records"),
        (lambda: publish(EXAMPLE, RING, range(6), labels=[None] * 6), "6 of 6 labels are missing"),
        (lambda: publish(EXAMPLE, RING, range(6), seed=-1), "seed=-1"),
        (lambda: publish(EXAMPLE[:0], Ring(ORDER[:0], 1), []), "no records to publish"),
        (lambda: example().secret.matches(6), "no record 6"),
    ):
        with pytest.raises(error.NominymError, match=message):
            call()


def test_the_core_checks_graphs() -> None:
    sets, numbers = EXAMPLE.core, lambda *x: np.array(x, dtype=np.uint32)
    for call in (
        lambda: _core.vote_ring(sets, ORDER, 0, ORDER),
        lambda: _core.vote_ring(sets, ORDER, 7, ORDER),
        lambda: _core.vote_ring(sets, ORDER, 3, numbers(0, 1)),
        lambda: _core.vote_ring(sets, numbers(0, 1), 1, ORDER),
        lambda: _core.vote_ring(sets, numbers(0, 1, 2, 3, 4, 9), 1, ORDER),
        lambda: _core.vote_groups(sets, numbers(0, 0), ORDER),
        lambda: _core.vote_assignments(sets, np.zeros((0, 6), np.uint32), ORDER),
        lambda: _core.vote_assignments(sets, np.array([ORDER, ORDER]), ORDER),
        lambda: _core.error_rate(sets, sets, numbers(0)),
        lambda: _core.draw_queries(3, 4, 1, 1),
        lambda: _core.count_queries(sets, _core.draw_queries(9, 4, 1, 1), False),
        lambda: _core.count_compatible(sets, sets, numbers(0), sets),
    ):
        with pytest.raises(error.ParameterError):
            call()


def test_real_data_keep_the_guarantee(shared_data) -> None:
    sets = Itemsets.from_fimi(shared_data("fimi/chess.dat"))
    order = np.lexsort(sets.to_frame().to_numpy().T).astype(np.uint32)
    rel = publish(sets, Ring(order, 16), shift(order, 5), seed=1)
    assert rel.compatible(sets).min() >= 16
    assert 0 < rel.error_rate(expected=True) < 0.5
    assert rel.error_rate() == pytest.approx(rel.error_rate(expected=True), rel=0.2)
