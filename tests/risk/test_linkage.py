"""Nearest rows against brute force, the table of attacks, what samples tell, and what is refused."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import attack
import nominym as nym
from nominym import error
from nominym.table import Comparison
from reference import both, edge_lists

TAX = nym.Taxonomy.from_edges([(f"{i:03}", f"{i // 3:03}") for i in range(1, 200)])
COLUMNS = ["diagnosis", "procedure", "secondary"]


def naive(far: np.ndarray, truth: np.ndarray) -> float:
    """Share of the targets found, from the distance of every target to every row; who is nowhere is not found."""
    best = (far <= far.min(axis=1, keepdims=True) + 1e-9) & np.isfinite(far)
    return float((best[np.arange(len(far)), truth] / np.maximum(best.sum(axis=1), 1)).mean())


def by_attack(found: nym.risk.Linkage, attack: str, *also: str) -> dict:
    """Return the row of an attack by all masked columns, and some kept ones."""
    rows = found.attacks.to_dict("records")
    most = max(len(row["known"]) for row in rows)
    (row,) = (row for row in rows if (row["attack"], row["also_known"]) == (attack, also) and len(row["known"]) == most)
    return row


def nearest(*tables, **options) -> nym.risk.Linkage:
    """Attack by nearest rows only, masked columns only."""
    return nym.risk.linkage(*tables, attacks="nearest row", kept=[], **options)


def matrix_of(draw, d: int) -> np.ndarray:
    cells = draw(st.lists(st.integers(0, 6), min_size=d * d, max_size=d * d))
    upper = np.triu(np.reshape(cells, (d, d)), 1)
    return (upper + upper.T) / 7


@st.composite
def cases(draw):
    d, m = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    n, rows = draw(st.integers(1, 25)), draw(st.integers(25, 30))
    column = lambda size: st.lists(st.integers(-1, d - 1), min_size=size, max_size=size)  # noqa: E731
    before = [draw(column(n)) for _ in range(m)]
    after = [draw(column(rows)) for _ in range(m)]
    truth = draw(st.permutations(range(rows)))[:n]
    return [matrix_of(draw, d) for _ in range(m)], before, after, np.array(truth)


@given(cases())
@settings(max_examples=100)
def test_brute_force(case) -> None:
    matrices, before, after, truth = case
    labels = [f"v{i}" for i in range(len(matrices[0]))]
    names = [f"c{i}" for i in range(len(matrices))]
    table = lambda columns: {  # noqa: E731
        name: [None if v < 0 else labels[v] for v in values] for name, values in zip(names, columns, strict=True)
    }
    given = {name: nym.DistanceMatrix(m, labels) for name, m in zip(names, matrices, strict=True)}
    far = np.zeros((len(before[0]), len(after[0])))
    for m, b, a in zip(matrices, before, after, strict=True):
        present = sorted({v for v in (*b, *a) if v >= 0})
        if not present:
            with pytest.raises(error.DataError, match="no value at all"):
                nym.risk.linkage(table(before), table(after), given, truth=truth)
            return
        # A gap is equal to gaps, and as far from values as the farthest values that occur.
        largest = m[np.ix_(present, present)].max() or 1.0
        extended = np.full((len(m) + 1, len(m) + 1), largest)
        extended[:-1, :-1], extended[-1, -1] = m, 0
        far += extended[np.ix_(b, a)]
    found = nym.risk.linkage(table(before), table(after), given, truth=truth, k=2)
    near, equal = (by_attack(found, name) for name in ("nearest row", "equal rows"))
    assert near["share"] == pytest.approx(naive(far, truth))
    assert equal["share"] == pytest.approx(naive(np.where(far < 1e-9, far, np.inf), truth))
    assert (near["known"], near["attacked"], found.records) == (tuple(names), len(truth), len(truth))
    assert near["low"] == near["share"] == near["high"]
    assert found.bound == near["bound"] == 0.5


@given(edge_lists(), st.data())
@settings(max_examples=40)
def test_brute_force_on_taxonomies(edges, data) -> None:
    tax, ref = both(edges)
    values = st.lists(st.sampled_from(ref.nodes), min_size=12, max_size=12)
    before, after = data.draw(values), data.draw(values)
    found = nearest({"x": before}, {"x": after}, {"x": tax}, roots={"x": ref.root})
    far = np.array([[tax.distance(a, b) for b in after] for a in before])
    assert found.share == pytest.approx(naive(far, np.arange(12)))


def test_ties_count_by_their_number() -> None:
    before = {"x": ["013", "013", "014", "180"]}
    # The nearest of "013": three rows with the same value, one of them its own for two of the targets.
    after = {"x": ["013", "013", "013", "181"]}
    found = nearest(before, after, {"x": TAX}, k=4)
    # "014" is nearest to the three, "180" to the last alone.
    assert found.share == pytest.approx((1 / 3 + 1 / 3 + 1 / 3 + 1) / 4)


def test_orders_and_equality() -> None:
    before = {"age": [30, 40, 80], "grade": ["low", "high", "low"], "sex": ["f", "m", "f"]}
    after = {"age": [35.0, 40.0, 80.0], "grade": ["low", "low", "low"], "sex": ["f", "m", "m"]}
    grades = ["low", "middle", "high"]
    given = {"age": nym.Order(), "grade": nym.Order(grades), "sex": nym.Equality()}
    far = np.abs(np.subtract.outer(before["age"], after["age"])) / 50
    far = far + (np.array(before["grade"]) == "high")[:, None]
    far = far + np.not_equal.outer(before["sex"], after["sex"])
    found = by_attack(nearest(before, after, given), "nearest row")
    assert found["share"] == pytest.approx(naive(far, np.arange(3)))
    # An ordered categorical brings its order along; dates have ranks.
    grade = pd.Series(pd.Categorical(before["grade"], grades, ordered=True))
    by_type = nearest({"grade": grade}, after, {"grade": nym.Order()})
    assert by_type == nearest(before, after, {"grade": nym.Order(grades)})
    assert by_type == nearest(before, {"grade": pd.Series(after["grade"]).astype(grade.dtype)}, {"grade": nym.Order()})
    days = pd.to_datetime(["2020-01-01", "2020-01-02", "2021-01-01"])
    assert nearest({"day": days}, {"day": days}, {"day": nym.Order()}).share == 1
    assert nearest({"x": [1, 1]}, {"x": [1, 1]}, {"x": nym.Order()}).share == 0.5


def test_frames_of_any_kind_and_the_key() -> None:
    frame, taxonomies = nym.datasets.discharges(300, seed=3)
    frame = frame[COLUMNS].astype(str)
    res = nym.rank_swap(frame, {name: taxonomies[name] for name in COLUMNS}, k=5, method="records", seed=1)
    given = {name: taxonomies[name] for name in COLUMNS}
    expected = nym.risk.linkage(frame, res.data, given, k=5, seed=1)
    plain = {name: res.data[name].tolist() for name in COLUMNS}
    for other in (pl.from_pandas(res.data), pa.Table.from_pandas(res.data), plain):
        assert nym.risk.linkage(frame, other, given, k=5, seed=1) == expected
    order = np.random.default_rng(1).permutation(300)
    shuffled = res.data.iloc[order]
    with pytest.raises(error.DataError, match=r"truth=after\.index\.get_indexer"):
        nym.risk.linkage(frame, shuffled, given, k=5)
    truth = shuffled.index.get_indexer(frame.index)
    assert nym.risk.linkage(frame, shuffled, given, k=5, seed=1, truth=truth) == expected
    more = pd.concat([shuffled, frame.iloc[:7]])
    assert nym.risk.linkage(frame, more, given, truth=truth).records == 300
    assert json.loads(json.dumps(expected.to_dict()))["share"] == expected.share


def test_rows_that_belong_to_nobody_are_searched_too() -> None:
    before, after = {"x": ["013", "180"]}, {"x": ["013", "180", "013", None, "014"]}
    found = nearest(before, after, {"x": TAX}, truth=[2, 1])
    assert found.share == pytest.approx((1 / 2 + 1) / 2)
    # They have kept values too: those of another sex are no candidates.
    before, after = {**before, "sex": ["f", "m"]}, {**after, "sex": ["m", "m", "f", "f", "f"]}
    found = nym.risk.linkage(before, after, {"x": TAX}, truth=[2, 1])
    assert by_attack(found, "nearest row", "sex")["share"] == 1
    after["sex"][0] = "f"
    found = nym.risk.linkage(before, after, {"x": TAX}, truth=[2, 1])
    assert by_attack(found, "nearest row", "sex")["share"] == 3 / 4
    # They are no part of what became of the records.
    change = Comparison.of(before, after, {"x": TAX}, truth=[2, 1]).changes["x"]
    assert (change.records, change.rmse, change.unchanged) == (2, 0, 1)


def test_a_result_is_attacked_as_its_tables_are() -> None:
    frame, taxonomies = nym.datasets.discharges(300, seed=3)
    given = {"diagnosis": taxonomies["diagnosis"], "length_of_stay": nym.Order(), "sex": nym.Equality()}
    frame = frame[[*given, "age_group"]]
    res = nym.rank_swap(frame, given, k=5, seed=1, accept=["age_group"])
    groups = res.secret.groups
    assert res.linkage(seed=1) == nym.risk.linkage(frame, res.data, given, k=5, groups=groups, seed=1)
    assert res.linkage(["length_of_stay", "sex"], k=2, groups=None, seed=1) == nym.risk.linkage(
        frame, res.data, given, known=["length_of_stay", "sex"], k=2, seed=1
    )
    assert nym.risk.link(res.secret.comparison, k=5, seed=1) == res.linkage(groups=None, seed=1)
    assert nym.risk.classes(res.secret.comparison.after, ["length_of_stay"]) == nym.risk.classes(
        res.data, ["length_of_stay"]
    )
    with pytest.raises(error.ParameterError, match="only the owner's result has it"):
        copy.copy(res).linkage()


def test_missing_values() -> None:
    before = {"x": ["013", None, "014", "180"]}
    after = {"x": [None, None, "014", "180"]}
    # The gap finds the two gaps; "013" and "014" find "014", which is nearer than a gap.
    assert nearest(before, after, {"x": TAX}).share == pytest.approx((0 + 1 / 2 + 1 + 1) / 4)
    with pytest.raises(error.MissingValueError, match="'x \\(before\\)': 1 of 4"):
        nym.risk.linkage(before, after, {"x": TAX}, missing="error")
    # Everything suppressed: all rows are equally far.
    assert nearest(before, {"x": [None] * 4}, {"x": TAX}).share == pytest.approx(1 / 4)
    # The same on a line.
    before, after = {"x": [1, None, 2, 9]}, {"x": [None, None, 2, 9]}
    assert nearest(before, after, {"x": nym.Order()}).share == pytest.approx((0 + 1 / 2 + 1 + 1) / 4)


# SRS-3 with two columns and a small k moves values so far that the nearest row is rarely the own one.
@pytest.mark.parametrize(("m", "k", "methods"), [(2, 5, ["dynamic"]), (3, 10, ["records", "dynamic"])])
def test_strict_stays_within_its_bound_and_the_published_do_not(m: int, k: int, methods: list[str]) -> None:
    frame, taxonomies = nym.datasets.discharges(1_000, seed=7)
    given = {name: taxonomies[name] for name in COLUMNS[:m]}
    frame = frame[list(given)]
    for seed in range(2):
        for draw in ("independent", "joint"):
            kept = nym.rank_swap(frame, given, k=k, draw=draw, seed=seed)
            found = nym.risk.linkage(frame, kept.data, given, k=k, seed=1)
            assert found.holds, found.attacks
            # 1,000 guesses, each right with a chance of 1/k at most.
            assert found.share < 1 / k + 4 * np.sqrt(1 / k * (1 - 1 / k) / 1_000)
        for method in methods:
            found = nearest(frame, nym.rank_swap(frame, given, k=k, method=method, seed=seed).data, given, k=k)
            assert found.share > 1.2 / k
            assert found.holds is False


def test_the_naive_attack_agrees() -> None:
    frame, taxonomies = nym.datasets.discharges(400, seed=7)
    given = {name: taxonomies[name] for name in COLUMNS}
    after = nym.rank_swap(frame, given, k=5, method="records", seed=1).data
    values = {name: sorted(set(frame[name])) for name in COLUMNS}
    codes = [
        np.column_stack([np.searchsorted(values[name], data[name].astype(str)) for name in COLUMNS])
        for data in (frame, after)
    ]
    matrices = [taxonomies[name].distance_matrix(values[name]).astype(np.float64) for name in COLUMNS]
    # Single precision tells ties apart that are none, by less than any two distances differ.
    far = np.round(attack.joint_distance(*codes, matrices), 6)
    roots = {name: taxonomies[name].root for name in COLUMNS}
    assert nearest(frame, after, given, roots=roots).worst["known"] == tuple(COLUMNS)
    assert nearest(frame, after, given, roots=roots).share == pytest.approx(attack.hits(-far))


def test_samples_cover_the_truth() -> None:
    rng = np.random.default_rng(2)
    names = np.array(TAX.ids)
    frame = pd.DataFrame({name: names[rng.integers(20, 200, 3_000)] for name in "xy"})
    given = {"x": TAX, "y": TAX}
    after = nym.rank_swap(frame, given, k=40, method="dynamic", seed=1).data
    whole = nearest(frame, after, given, k=5)
    assert whole.worst["attacked"] == 3_000
    assert whole.worst["low"] == whole.worst["high"] == whole.share
    covered, widths = 0, []
    for seed in range(300):
        part = nearest(frame, after, given, k=5, sample=400, seed=seed)
        low, high = part.worst["low"], part.worst["high"]
        assert part.worst["attacked"] == 400
        assert low <= part.share <= high
        covered += low <= whole.share <= high
        widths.append(high - low)
    # Of 300 intervals at 95 %, 270 to 297 cover but for once in some thousand.
    assert 270 <= covered <= 297
    assert np.mean(widths) < 0.1
    same = [nym.risk.linkage(frame, after, given, sample=50, seed=9) for _ in range(2)]
    assert same[0] == same[1]
    assert len({nearest(frame, after, given, sample=50).share for _ in range(9)}) > 1
    assert nearest(frame, after, given, k=5, sample=3_000) == whole


def test_auto_takes_a_sample_of_many_people() -> None:
    n = 210_000
    rng = np.random.default_rng(1)
    values = pd.Categorical.from_codes(rng.integers(0, 200, n), TAX.ids)
    table = pd.DataFrame({"a": values, "b": values[::-1], "of": np.arange(n) // 2})
    found = nym.risk.linkage(table, table, {"a": TAX, "b": TAX}, kept=[], seed=1)
    attacked = found.attacks.set_index("attack")["attacked"].to_dict()
    assert attacked == {
        "nearest row": 20_000,
        "equal rows": 20_000,
        "one-to-one recoding": 20_000,
        "best matching": 1_000,
    }
    found = nearest(table, table, {"a": TAX, "b": TAX}, person="of", seed=1)
    assert (found.worst["attacked"], found.records, found.persons) == (20_000, n, n // 2)


def test_the_table_lists_who_knows_what() -> None:
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 9, 60) for name in "abcde"}
    found = nym.risk.linkage(table, table, dict.fromkeys("abc", nym.Order()), k=3, groups=np.arange(60) // 3, seed=1)
    listed = found.attacks.groupby("attack", sort=False)[["known", "also_known"]].agg(list)
    assert tuple(listed.index) == nym.risk.ATTACKS[:-1]
    every = ("a", "b", "c")
    usual = [(), ("d",), ("e",), ("d", "e")]
    for name, (known, also) in listed.iterrows():
        if name == "nearest row":
            assert known == [every] * 4 + [("a",), ("b",), ("c",)]
            assert also == [*usual, (), (), ()]
        else:
            assert known == [every] * len(also)
            assert also == (usual if name != "informed adversary" else [()])
    assert found.share == found.attacks["share"].max() == found.worst["share"]
    # Masked columns alone: no attack that uses kept ones in any way.
    alone = nym.risk.linkage(table, table, dict.fromkeys("abc", nym.Order()), k=3, kept=[], groups=np.arange(60) // 3)
    assert found.share_masked == pytest.approx(alone.share)
    assert found.holds_masked is alone.holds is False
    only = nym.risk.linkage(table, table, {"a": nym.Order()}, attacks="informed adversary", groups=np.arange(60) // 3)
    assert (only.share_masked, only.holds, only.holds_masked) == (None, None, None)
    # A kept column that differs is not what is known: nobody has candidates of another value.
    other = {**table, "d": [9] * 60}
    found = nym.risk.linkage(table, other, {"a": nym.Order()}, kept="d", attacks=["equal rows", "nearest row"])
    assert by_attack(found, "nearest row", "d")["share"] == by_attack(found, "equal rows", "d")["share"] == 0
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


def test_many_kept_columns_by_themselves_are_known_in_brief() -> None:
    """Time grows with kept columns: attacks that take long are made with none and with all of more than 8."""
    n = 6_000
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 9, n) for name in "abcdefghij"}
    long, quick = ("one-to-one recoding", "best matching"), ("nearest row", "equal rows")
    options = {"attacks": [*quick, *long], "k": 3, "groups": np.arange(n) // 3, "seed": 1}

    def attacked(kept: str, **other: object) -> dict[str, dict[int, set[int]]]:
        """Return how many were attacked, by the attack and the number of kept columns known."""
        found = nym.risk.linkage(table, table, {"a": nym.Order()}, kept=list(kept), **options | other).attacks
        numbers = found.groupby(["attack", found["also_known"].map(len)])["attacked"].agg(set)
        return {name: numbers[name].to_dict() for name in (*quick, *long)}

    assert attacked("bcdefghi") == {name: {0: {n}, 1: {n}, 8: {n}} for name in (*quick, *long)}
    brief, ends = {0: {n}, 1: {5_000}, 9: {n}}, {0: {n}, 9: {n}}
    assert attacked("bcdefghij") == {name: brief if name in quick else ends for name in (*quick, *long)}
    # Who asks for all, or for so many, gets them.
    for sample, size in ((None, n), (5_500, 5_500)):
        assert attacked("bcdefghij", sample=sample)["nearest row"] == {0: {size}, 1: {size}, 9: {size}}


def test_what_is_said() -> None:
    table = {"x": [f"{i:03}" for i in range(200)], "y": [i % 7 for i in range(200)]}
    shown = repr(nym.risk.linkage(table, table, {"x": TAX}, k=3))
    assert shown == (
        "<Linkage of 200 records: found by masked columns 1.0000 (nearest row), with kept columns 1.0000 (nearest row, "
        "y), bound 0.3333 EXCEEDED>"
    )
    assert repr(nearest(table, table, {"x": TAX}, person="y")) == (
        "<Linkage of 200 records of 7 persons: found by masked columns 1.0000 (nearest row)>"
    )
    constant = {"x": ["013"] * 200}
    found = nym.risk.linkage(constant, constant, {"x": TAX}, k=3, seed=1)
    assert "bound 0.3333 not exceeded" in repr(found)
    named = {**constant, "y": range(200)}
    found = nym.risk.linkage(named, named, {"x": TAX}, k=3, seed=1)
    assert "bound 0.3333 EXCEEDED with kept columns" in repr(found)
    assert "safe" not in repr(found)
    assert by_attack(found, "nearest row", "y")["why"] == "100 % of the 200 people are found"


def test_threads_make_no_difference() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({name: np.array(TAX.ids)[rng.integers(0, 200, 5_000)] for name in "xyz"})
    given = dict.fromkeys("xyz", TAX)
    after = nym.rank_swap(frame, given, k=5, method="dynamic", seed=1).data
    found = []
    try:
        for threads in (1, 2, 5):
            nym.set_threads(threads)
            found.append(nym.risk.linkage(frame, after, given, k=5, sample=2_000, seed=1))
    finally:
        nym.set_threads(None)
    assert found[0] == found[1] == found[2]


GOOD = {"x": ["013", "014"], "y": ["1", "2"]}


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"before": 3}, error.DataError, "DataFrame"),
        ({"before": {"x": [], "y": []}}, error.DataError, "before has no records"),
        ({"after": {"x": ["013"], "y": ["1"]}}, error.DataError, "2 records before and 1 rows after.*truth="),
        ({"after": {"y": ["1", "2"]}}, error.UnknownColumnError, "no column 'x' in the table after"),
        ({"after": {"x": ["013", "013x"], "y": ["1", "2"]}}, error.UnknownConceptError, "'x \\(after\\)'.*'013x'"),
        ({"after": {"x": [0.5, 1.5], "y": ["1", "2"]}}, error.DataError, "'x \\(after\\)'.*nominal values"),
        (
            {"after": {"x": ["013", None], "y": ["1", "2"]}, "missing": "error"},
            error.DataError,
            "'x \\(after\\)': 1 of 2",
        ),
        ({"meanings": {}}, error.ParameterError, "meanings='dict': a mapping"),
        ({"meanings": {"x": 7}}, error.ParameterError, "'x': a Taxonomy.*not int"),
        ({"meanings": {"x": np.eye(2)}}, error.ParameterError, "a DistanceMatrix.*not ndarray"),
        ({"meanings": {"x": "same"}}, error.ParameterError, r"not str.*nym\.Equality\(\)"),
        ({"meanings": {"x": nym.Order(["013"])}}, error.DataError, "'x \\(before\\)': '014' has no place"),
        ({"before": {"x": ["a", "b"]}, "meanings": {"x": nym.Order()}}, error.DataError, "'a' has no order of its own"),
        ({"known": "y"}, error.UnknownColumnError, "known: there is no column 'y'; there are 'x'; give it a meaning"),
        ({"known": ["x", "x"]}, error.ParameterError, "'x' occurs 2 times"),
        ({"known": []}, error.ParameterError, "at least one column"),
        ({"kept": "x"}, error.UnknownColumnError, r"kept: there is no column 'x'; there are 'y'; .*kept=\[\]"),
        ({"kept": ["y", "y"]}, error.ParameterError, "'y' occurs 2 times"),
        ({"attacks": "guessing"}, error.ParameterError, "attacks='guessing': name some of 'nearest row', 'equal"),
        ({"attacks": []}, error.ParameterError, "name some of"),
        ({"attacks": "linked rows"}, error.ParameterError, "none of these applies here"),
        ({"attacks": "informed adversary"}, error.ParameterError, "adversary kept columns and groups"),
        ({"person": "z"}, error.UnknownColumnError, "no column 'z' in the table before"),
        ({"person": "z", "before": {**GOOD, "z": [1, None]}}, error.DataError, "'z': 1 of 2 records belong to no"),
        ({"groups": [0]}, error.ParameterError, "each of the 2 records"),
        ({"groups": [0, -1]}, error.ParameterError, "0 or more"),
        ({"groups": [0.5, 1]}, error.ParameterError, "float64"),
        ({"k": 0}, error.ParameterError, "k=0"),
        ({"k": 2.5}, error.ParameterError, "k=2.5"),
        ({"sample": 0}, error.ParameterError, "sample=0"),
        ({"sample": "all"}, error.ParameterError, "sample='all'"),
        ({"sample": True}, error.ParameterError, "sample=True"),
        ({"seed": -1}, error.ParameterError, "seed=-1"),
        ({"missing": "drop"}, error.ParameterError, "missing='drop'"),
        ({"measure": "near"}, error.ParameterError, "near"),
        ({"progress": 3}, error.ParameterError, "progress=3"),
        ({"roots": {"z": "000"}}, error.ParameterError, "roots=: 'z'"),
        (
            {"meanings": {"x": nym.Equality()}, "roots": {"x": "000"}},
            error.ParameterError,
            "only a taxonomy has a root",
        ),
        ({"truth": [0]}, error.ParameterError, "one row number for each of the 2 records"),
        ({"truth": [0.0, 1.0]}, error.ParameterError, "float64"),
        ({"truth": [0, 2]}, error.ParameterError, "record 1 has row 2, but rows go from 0 to 1"),
        ({"truth": [-1, 0]}, error.ParameterError, "record 0 has row -1"),
        ({"truth": [1, 1]}, error.ParameterError, "row 1 belongs to 2 records"),
    ],
)
def test_refused(change, kind, message) -> None:
    call = {"before": GOOD, "after": GOOD, "meanings": {"x": TAX}} | change
    with pytest.raises(kind, match=message):
        nym.risk.linkage(**call)


def test_numbers_that_cannot_be_compared() -> None:
    with pytest.raises(
        error.DataError, match=r"'x .before.': holds inf, which is infinitely far from everything; replace it"
    ):
        nym.risk.linkage({"x": [1.0, np.inf]}, {"x": [1.0, 2.0]}, {"x": nym.Order()})
    days = pd.to_datetime(["2020-01-01", "2020-01-02"])
    with pytest.raises(error.DataError, match="bring them to one type"):
        nym.risk.linkage({"x": [1, 2]}, {"x": days}, {"x": nym.Order()})
    # What is missing has no type.
    assert nearest({"x": days}, {"x": [None, None]}, {"x": nym.Order()}).share == 0.5
    n = 300_000
    # Neither numbers nor values that are equal or not need a matrix.
    for meaning in (nym.Order(), nym.Equality()):
        assert nearest({"x": np.arange(n)}, {"x": np.arange(n)}, {"x": meaning}, sample=1_000).share == 1


def test_many_concepts_of_a_tree_need_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same attacks by matrices find the same."""
    n = 4_000
    rng = np.random.default_rng(1)
    large = nym.Taxonomy.from_edges([(str(i), str(rng.integers(i // 9, i // 5 + 1))) for i in range(1, 2 * n)])
    pick = lambda low: [None if i < 5 else str(i) for i in rng.integers(low, 2 * n, n)]  # noqa: E731
    before = pd.DataFrame({"x": pick(0), "y": pick(n), "z": rng.integers(0, 5, n)})
    after = before.copy()
    for name in ("x", "y"):
        after.loc[::2, name] = rng.permutation(after.loc[::2, name].to_numpy())
    told = []
    for many in (2_000, 10**9):
        monkeypatch.setattr("nominym.meaning.taxonomy.MANY", many)
        meanings = {"x": large, "y": large, "z": nym.Equality()}
        found = nym.risk.linkage(before, after, meanings, seed=1, attacks=["nearest row", "best matching"], kept=[])
        told.append(found.attacks)
    pd.testing.assert_frame_equal(*told)


def test_nobody_is_named() -> None:
    """A result holds numbers, and no list as long as the table."""
    table = {"x": [f"{i:03}" for i in range(200)]}
    told = nym.risk.linkage(table, table, {"x": TAX}, k=3).to_dict()
    assert all(np.size(list(v) if isinstance(v, dict | tuple) else v) < 10 for v in told.values())
    assert all(np.size(value) < 10 for row in told["attacks"] for value in row.values())
