"""What stands for a group: against definitions that are written down naively."""

from __future__ import annotations

import itertools
from collections import Counter
from datetime import date, datetime, time, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym.aggregate import Interval, aggregated, parse
from nominym.groups import Partition
from nominym.meaning.generalized import between, one_of, single
from nominym.table import single as attribute_of


def parts(groups: list[int]) -> Partition:
    """Return a partition, given the group of each record."""
    numbers = np.unique(groups, return_inverse=True)[1].astype(np.uint32)
    return Partition(numbers, np.argsort(numbers, kind="stable").astype(np.uint32))


def values_of(values: Any, meaning: Any, groups: list[int], *, common: bool = False, **how: Any) -> list[Any]:
    """Return the value of each record after aggregation."""
    change = aggregated(attribute_of(values, meaning, **how), parts(groups), common=common)
    column = change.after.column
    return [None if code == 2**32 - 1 else column.categories[code] for code in column.codes.tolist()]


@st.composite
def taxonomies(draw: Any, several: bool) -> nym.Taxonomy:
    """Draw a small taxonomy, a tree or one with several parents."""
    n = draw(st.integers(2, 14))
    pairs = []
    for child in range(1, n):
        most = 3 if several else 1
        parents = draw(st.sets(st.integers(max(0, child - 5), child - 1), min_size=1, max_size=most))
        pairs += [(f"c{child:02}", f"c{parent:02}") for parent in parents]
    return nym.Taxonomy.from_edges(pairs)


def naive_mean(tax: nym.Taxonomy, values: list[str], group: list[str], measure: str) -> str:
    """Find the mean by looking at every concept below the root of all values."""
    below, _ = tax.restrict_to(tax.concept(tax.lcs(values)))
    sums = {c: sum(below.distance(c, v, measure) ** 2 for v in group) for c in below.ids}
    least = min(sums.values())
    near = [c for c in below.ids if sums[c] <= least * (1 + 1e-9) + 1e-14]
    above = {c for v in group for c in below.subsumers(v)}
    return min(near, key=lambda c: (c not in above, -below.depth(c), c))


MEASURES = ["wu-palmer", "path", "leacock-chodorow", "taxonomic-feature", "resnik", "lin", "jiang-conrath"]


@pytest.mark.parametrize("several", [False, True], ids=["tree", "several parents"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_semantic_mean_is_that_of_all_concepts(several: bool, data: Any) -> None:
    tax = data.draw(taxonomies(several))
    measure = data.draw(st.sampled_from(MEASURES))
    values = data.draw(st.lists(st.sampled_from(list(tax.ids)), min_size=1, max_size=9))
    groups = [i % (1 + len(values) // 4) for i in range(len(values))]
    found = values_of(values, tax, groups, measure=measure)
    for number in set(groups):
        members = [i for i, group in enumerate(groups) if group == number]
        group = [values[i] for i in members]
        expected = group[0] if len(set(group)) == 1 else naive_mean(tax, values, group, measure)
        assert {found[i] for i in members} == {expected}


@pytest.mark.parametrize("several", [False, True], ids=["tree", "several parents"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_subsumers_are_those_of_the_taxonomy(several: bool, data: Any) -> None:
    tax = data.draw(taxonomies(several))
    values = data.draw(st.lists(st.sampled_from(list(tax.ids)), min_size=1, max_size=9))
    groups = [i % (1 + len(values) // 4) for i in range(len(values))]
    found = values_of(values, tax, groups, common=True)
    below, _ = tax.restrict_to(tax.concept(tax.lcs(values)))
    for number in set(groups):
        members = [i for i, group in enumerate(groups) if group == number]
        assert {found[i] for i in members} == {below.lcs([values[i] for i in members])}
        assert all(found[i] in below.subsumers(values[i]) for i in members)  # nothing false is said


def test_a_concept_below_two_branches_may_be_the_mean() -> None:
    # By links: 2 to each of the values, where each of their parents has 1 and 3.
    tax = nym.Taxonomy.from_edges([("p", "top"), ("q", "top"), ("v", "p"), ("w", "q"), ("both", "p"), ("both", "q")])
    assert values_of(["v", "w"], tax, [0, 0], measure="path") in (["both"] * 2, ["top"] * 2)
    sums = {c: tax.distance(c, "v", "path") ** 2 + tax.distance(c, "w", "path") ** 2 for c in tax.ids}
    assert sums["both"] == sums["top"] == 8
    assert values_of(["v", "w"], tax, [0, 0], measure="path") == ["top"] * 2  # it subsumes a value
    deep = nym.Taxonomy.from_edges(
        [("a", "top"), ("b", "top"), ("p", "a"), ("q", "b"), ("v", "p"), ("w", "q"), ("both", "p"), ("both", "q")]
    )
    assert values_of(["v", "w"], deep, [0, 0], measure="path") == ["both"] * 2


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_labels_are_the_nearest_of_the_matrix(data: Any) -> None:
    size = data.draw(st.integers(1, 6))
    cells = np.zeros((size, size))
    for i, j in itertools.combinations(range(size), 2):
        cells[i, j] = cells[j, i] = data.draw(st.integers(0, 4))
    labels = data.draw(st.permutations([f"l{i}" for i in range(size)]))
    values = data.draw(st.lists(st.sampled_from(labels), min_size=1, max_size=8))
    found = values_of(values, nym.DistanceMatrix(cells, labels), [0] * len(values))
    at = {label: i for i, label in enumerate(labels)}
    sums = {label: sum(cells[at[label], at[v]] ** 2 for v in values) for label in labels}
    nearest = min(labels, key=lambda label: (sums[label], label))
    assert set(found) == {values[0] if len(set(values)) == 1 else nearest}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=8))
def test_numbers_get_their_mean(values: list[int]) -> None:
    (mean,) = set(values_of(values, nym.Order(), [0] * len(values)))
    exact = sum(map(Fraction, values)) / len(values)
    assert abs(Fraction(mean) - exact) <= Fraction(2) ** -10 * max(1, max(map(abs, values)) / 2**40)


@pytest.mark.parametrize(
    ("values", "mean"),
    [
        ([date(2020, 1, 1), date(2020, 1, 4)], date(2020, 1, 2)),
        ([datetime(2020, 1, 1, 10), datetime(2020, 1, 1, 11)], datetime(2020, 1, 1, 10, 30)),
        ([time(10), time(10, 0, 1)], time(10, 0, 0)),
        ([timedelta(seconds=1), timedelta(seconds=3)], timedelta(seconds=2)),
        (["1", "4"], "2.5"),
        (["1", "3"], "2"),
        ([True, False, True, False], 0.5),
    ],
)
def test_times_and_texts_get_their_mean(values: list[Any], mean: Any) -> None:
    assert set(values_of(values, nym.Order(), [0] * len(values))) == {mean}


def test_ranked_values_get_the_lower_median() -> None:
    order = nym.Order(["low", "middle", "high"])
    assert values_of(["low", "high"], order, [0, 0]) == ["low"] * 2
    assert values_of(["low", "high", "high"], order, [0, 0, 0]) == ["high"] * 3
    assert values_of(["low", "middle", "high", "high"], order, [0] * 4) == ["middle"] * 4


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=7))
def test_the_most_frequent_value_wins(values: list[str]) -> None:
    counts = Counter(values)
    assert set(values_of(values, nym.Equality(), [0] * len(values))) == {min(counts, key=lambda v: (-counts[v], v))}


def test_sets_vote() -> None:
    values = [["a", "b"], ["a"], ["a", "c"], ["b"]]
    # Of all records more than half have a, half have b.
    assert values_of(values, nym.Sets(), [0, 0, 0, 0]) == [["a"]] * 4
    assert values_of(values, nym.Sets(), [0, 0, 0, 1], common=True) == [["a"]] * 3 + [["b"]]
    tax = nym.Taxonomy.from_edges([("flu", "lung"), ("cold", "lung"), ("lung", "ill"), ("coma", "ill")])
    sick = [["flu"], ["cold", "coma"], ["cold"], ["flu", "coma"]]
    assert values_of(sick, nym.Sets(tax), [0] * 4) == [["lung"]] * 4
    assert values_of(sick, nym.Sets(tax), [0] * 4, common=True) == [["lung"]] * 4
    assert values_of([["flu"], ["coma"]], nym.Sets(tax), [0, 0], common=True) == [[], []]
    assert values_of([[1, 2], [2]], nym.Sets(), [0, 0], common=True) == [[2], [2]]


def test_missing_values_follow_the_majority_or_make_all_missing() -> None:
    values = [1.0, None, 3.0, None, None, 5.0, None, None]
    groups = [0, 0, 0, 1, 1, 1, 2, 2]
    assert values_of(values, nym.Order(), groups) == [2.0] * 3 + [None] * 5
    assert values_of(values, nym.Order(), groups, common=True) == [None] * 8
    assert values_of([1.0, None], nym.Order(), [0, 0]) == [1.0, 1.0]  # half is not more than half
    assert values_of(["a", "b", None], nym.Equality(), [0, 0, 1], common=True) == ["{a, b}", "{a, b}", None]


def test_generalized_values_say_what_is_true() -> None:
    assert values_of([30, 40, 35], nym.Order(), [0, 0, 0], common=True) == ["[30, 40]"] * 3
    assert values_of([30, 30], nym.Order(), [0, 0], common=True) == ["30"] * 2
    days = [date(2020, 1, 5), date(2020, 1, 1)]
    assert values_of(days, nym.Order(), [0, 0], common=True) == ["[2020-01-01, 2020-01-05]"] * 2
    order = nym.Order(["low, or none", "middle", "high"])
    assert values_of(["low, or none", "high"], order, [0, 0], common=True) == ['["low, or none", high]'] * 2
    matrix = nym.DistanceMatrix([[0, 1], [1, 0]], ["x", "y"])
    assert values_of(["y", "x", "x"], matrix, [0, 0, 1], common=True) == ["{x, y}", "{x, y}", "x"]


@settings(max_examples=200, deadline=None)
@given(st.sets(st.text(max_size=6), min_size=1, max_size=4))
def test_what_is_written_can_be_read(values: set[str]) -> None:
    if len(values) > 1:
        assert parse(one_of(values)) == frozenset(values)
        low, high = sorted(values)[:2]
        assert parse(between(low, high)) == Interval(low, high)
    for value in values:
        assert parse(single(value)) == parse(one_of([value])) == value


def test_orders_read_intervals_as_their_middle() -> None:
    near = nym.stats.rmse([30, 40], ["[30, 40]", "[30, 40]"], nym.Order())
    assert near == pytest.approx(0.5)
    assert nym.stats.rmse(["low", "high"], ["[low, high]"] * 2, nym.Order(["low", "high"])) == pytest.approx(0.5)
    days = [date(2020, 1, 1), date(2020, 1, 11)]
    assert nym.stats.rmse(days, ["[2020-01-01, 2020-01-11]"] * 2, nym.Order()) == pytest.approx(0.5)
    with pytest.raises(nym.NominymError, match="not a date or time"):
        nym.stats.rmse(days, ["soon", "later"], nym.Order())
    matrix = nym.DistanceMatrix([[0, 4], [4, 0]], ["x", "y"])
    assert nym.stats.rmse(["x", "y"], ["{x, y}", "{x, y}"], matrix) == pytest.approx(2.0)
