"""Groups of mixed tables with any number of categories: no matrix, and the same figures as with one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym import groups
from nominym.meaning import padded, taxonomy
from nominym.table import Attribute, Table, attributes

MEASURES = ["wu-palmer", "path", "leacock-chodorow", "taxonomic-feature", "resnik", "lin", "jiang-conrath"]


def tree(concepts: int, seed: int = 1) -> nym.Taxonomy:
    """Draw a tree: each concept below one of the first third before it."""
    rng = np.random.default_rng(seed)
    edges = [(f"c{i}", f"c{rng.integers(i // 5, i // 3 + 1)}") for i in range(1, concepts)]
    return nym.Taxonomy.from_edges(edges)


def mixed(n: int, tax: nym.Taxonomy, gaps: float = 0.1) -> tuple[pd.DataFrame, dict[str, nym.meaning.Meaning]]:
    """Draw a table with a column of each kind, some values missing."""
    rng = np.random.default_rng(2)
    near = rng.normal(size=n)
    leaves = np.array(tax.ids, dtype=object)
    place = np.clip((near + 4) / 8 * len(leaves) + rng.normal(size=n) * len(leaves) / 20, 0, len(leaves) - 1)
    grades = ["a", "b", "c", "d"]
    steps = np.abs(np.subtract.outer(range(4), range(4))) ** 0.5
    frame = pd.DataFrame(
        {
            "income": np.exp(10 + near + rng.normal(size=n)),
            "age": rng.integers(0, 90, n).astype(float),
            "sex": rng.choice(["f", "m"], n).astype(object),
            "grade": rng.choice(grades, n).astype(object),
            "concept": leaves[place.astype(int)],
        }
    )
    for name in frame.columns:
        frame.loc[rng.random(n) < gaps, name] = None
    meanings = {
        "income": nym.Order(),
        "age": nym.Order(),
        "sex": nym.Equality(),
        "grade": nym.DistanceMatrix(steps, grades),
        "concept": tax,
    }
    return frame, meanings


def matrix_of(attribute: Attribute) -> np.ndarray:
    return padded(attribute.distances, attribute.column.missing > 0)


@pytest.mark.parametrize("measure", MEASURES)
def test_expected_figures_are_those_of_the_definition(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taxonomy, "MANY", 0)
    frame, meanings = mixed(300, tree(60))
    before = attributes(Table(frame), meanings, measure)
    partition = groups.form(list(before.values()), 7, seed=1)
    assert partition.sizes.min() >= 7
    for attribute in before.values():
        codes, _, gap = attribute.with_missing
        matrix = matrix_of(attribute)
        if gap is not None:
            matrix[gap] = matrix[:, gap] = 0
        squares, pairs = 0.0, 0.0
        for group in range(len(partition.sizes)):
            own = codes[partition.group_of == group]
            squares += (matrix[np.ix_(own, own)] ** 2).sum() / len(own)
            pairs += (own != gap).sum() ** 2 / len(own) if gap is not None else len(own)
        found = partition.expected(attribute)
        assert found["expected_rmse"] == pytest.approx((squares / pairs) ** 0.5, rel=1e-9)


def test_groups_on_a_tree_are_as_good_as_by_its_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, meanings = mixed(6_000, tree(1_500))
    costs = {}
    for many in (0, 10_000):
        monkeypatch.setattr(taxonomy, "MANY", many)
        before = list(attributes(Table(frame), meanings).values())
        everybody = groups.Partition(np.zeros(6_000, np.uint32), np.arange(6_000, dtype=np.uint32))
        partitions = [groups.form(before, 10, seed=seed) for seed in range(3)]
        rmse = np.array([[p.expected(a)["expected_rmse"] for a in before] for p in [everybody, *partitions]])
        costs[many] = (rmse[1:] ** 2 / rmse[0] ** 2).sum() / 3
    # Two searches along other orders: the sums of costs of three seeds differed by 1.1 %.
    assert costs[0] == pytest.approx(costs[10_000], rel=0.04)


@pytest.mark.parametrize("measure", ["wu-palmer", "taxonomic-feature", "lin"])
def test_several_parents(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    more = [(f"c{i}", f"c{rng.integers(0, i // 2)}") for i in range(2, 400)]
    edges = {*more, *((f"c{i}", f"c{rng.integers(i // 5, i // 3 + 1)}") for i in range(1, 400))}
    tax = nym.Taxonomy.from_edges(sorted(edges))
    assert not tax.is_tree
    frame, meanings = mixed(1_500, tax)
    by_matrix = attributes(Table(frame), meanings, measure)
    assert isinstance(by_matrix["concept"].with_missing[1], np.ndarray)
    monkeypatch.setattr(taxonomy, "_VERY_MANY", 0)
    without = attributes(Table(frame), meanings, measure)
    assert not isinstance(without["concept"].with_missing[1], np.ndarray)
    partition = groups.form(list(without.values()), 5, seed=1)
    for name in meanings:
        assert partition.expected(without[name]) == pytest.approx(partition.expected(by_matrix[name]))


def test_any_number_of_categories() -> None:
    tax = tree(30_000)
    frame, meanings = mixed(20_000, tax, gaps=0.02)
    frame["code"] = [f"x{i}" for i in range(len(frame))]
    res = nym.rank_swap(frame, {**meanings, "code": nym.Equality()}, k=5, seed=1)
    assert res.summary["groups"]["smallest"] >= 5
    for name in frame.columns:
        old, new = frame[name], res.data[name]
        assert old.dtype == new.dtype
        assert sorted(old.dropna()) == sorted(new.dropna())
    assert res.summary["attributes"]["income"]["expected_rmse"] < 0.04
    # Every row may come from any of its group, so a group loses what its incomes differ by.
    assert res.summary["attributes"]["concept"]["expected_rmse"] < 0.75


def test_the_same_seed_gives_the_same_groups_on_any_number_of_threads() -> None:
    frame, meanings = mixed(3_000, tree(3_000))
    found = []
    for threads in (1, 2, 5):
        nym.set_threads(threads)
        try:
            before = list(attributes(Table(frame), meanings).values())
            found.append(groups.form(before, 5, seed=9).group_of)
        finally:
            nym.set_threads(None)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_numbers_in_arrays_and_in_texts_are_the_same_numbers() -> None:
    whole = [-(2**63), 2**63 - 1, 0, 5, 6]
    for values in (whole, [0, 1, 2**64 - 1, 2**64 - 2], [1.5, -0.0, 2.25, 1e300]):
        kind = np.float64 if isinstance(values[0], float) else np.int64 if min(values) < 0 else np.uint64
        plain, texts = (
            attributes(Table({"x": column}), {"x": nym.Order()})["x"]
            for column in (np.array(values, dtype=kind), [str(value) for value in values])
        )
        assert plain.column.numbers is not None
        assert texts.column.numbers is None
        assert np.array_equal(plain.distances, texts.distances) or kind is not np.float64
        expected = [sorted(values).index(value) for value in values]
        assert plain.column.codes.tolist() == expected
    # Neighbours among large whole numbers stay apart.
    large = attributes(Table({"x": np.array([2**62, 2**62 + 1, 2**62 + 5])}), {"x": nym.Order()})["x"]
    assert large.distances[0].tolist() == [0, 0.2, 1]
