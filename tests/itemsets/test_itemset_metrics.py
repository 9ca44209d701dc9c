"""Error rates and counting queries, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nominym import Itemsets, _core, error
from nominym.itemsets import error_rate, query_error

ITEMS = range(7)


@st.composite
def pairs(draw) -> tuple[Itemsets, Itemsets]:
    n = draw(st.integers(1, 40))
    rows = st.lists(st.sets(st.sampled_from(ITEMS)), min_size=n, max_size=n)
    return Itemsets.from_lists(draw(rows), items=ITEMS), Itemsets.from_lists(draw(rows), items=ITEMS)


def count(sets: Itemsets, query: set, kind: str) -> int:
    return sum(query <= {*row} if kind == "present" else not query & {*row} for row in sets)


@given(pairs())
def test_error_rates(pair) -> None:
    before, after = pair
    errors = [len({*a} ^ {*b}) / max(1, len(a)) for a, b in zip(before, after, strict=True)]
    assert error_rate(before, after) == pytest.approx(np.mean(errors))
    backwards = np.arange(before.n)[::-1]
    assert error_rate(before, after[::-1], backwards) == pytest.approx(np.mean(errors))
    assert error_rate(before, before) == 0


@given(pairs(), st.sampled_from(["present", "absent"]), st.integers(1, 7), st.integers(1, 9), st.integers(0, 99))
def test_query_errors(pair, kind: str, size: int, queries: int, seed: int) -> None:
    before, after = pair
    drawn = _core.draw_queries(7, size, queries, seed)
    asked = [{*drawn.row(i).tolist()} for i in range(queries)]
    assert {len(query) for query in asked} == {size}
    errors = [abs(count(before, query, kind) - count(after, query, kind)) / before.n for query in asked]
    assert query_error(before, after, kind, size, queries, seed) == pytest.approx(np.mean(errors), abs=1e-12)


def test_defaults_are_those_of_the_source() -> None:
    rng = np.random.default_rng(1)
    sets = [Itemsets.from_lists([rng.choice(9, 5, replace=False) for _ in range(50)], items=range(9)) for _ in "ab"]
    assert query_error(*sets) == query_error(*sets, "present", 3, 500, 0) > 0
    assert query_error(*sets, kind="absent") == query_error(*sets, "absent", 4, 500, 0) > 0
    assert query_error(*sets) != query_error(*sets, seed=1)
    few = Itemsets.from_lists([[1], [2]])
    assert query_error(few, few) == 0
    assert 0 <= query_error(*sets, seed=None) < 1


def test_items_are_matched_by_name() -> None:
    before = Itemsets.from_lists([["a", "b"], ["c"]])
    after = Itemsets.from_lists([["b"], ["d"]], items=["d", "b"])
    assert error_rate(before, after) == (1 / 2 + 2) / 2
    assert query_error(before, after, size=1, queries=3000) == pytest.approx((0.5 + 0 + 0.5) / 3, abs=0.02)
    empty = Itemsets.from_lists([[], []])
    assert error_rate(before, empty) == 1
    assert error_rate(empty, before) == 1.5


def test_mistakes_are_named() -> None:
    sets, none = Itemsets.from_lists([[1], [2]]), Itemsets.from_lists([])
    for call, message in (
        (lambda: error_rate(none, none), "no records to compare"),
        (lambda: error_rate(sets, sets[:1]), "2 records before, 1 after; give rows="),
        (lambda: error_rate(sets, sets, [0]), "one row number for each of the 2"),
        (lambda: error_rate(sets, sets, [0.0, 1.0]), "one row number for each of the 2"),
        (lambda: error_rate(sets, sets, [[0], [1, 2]]), "one row number for each of the 2"),
        (lambda: error_rate(sets, sets, "ab"), "one row number for each of the 2"),
        (lambda: error_rate(sets, sets, [0, 10**30]), "one row number for each of the 2"),
        (lambda: error_rate([[1]], sets), "before=: give an Itemsets, not list"),
        (lambda: query_error(sets, None), "after=: give an Itemsets, not NoneType"),
        (lambda: query_error(sets, sets, ["present"]), "give 'present' or 'absent'"),
        (lambda: query_error(sets, sets, np.array(["present"] * 2)), "give 'present' or 'absent'"),
        (lambda: error_rate(sets, sets, [0, 2]), "published rows are numbered from 0 to 1"),
        (lambda: error_rate(sets, sets, [0, -1]), "published rows are numbered from 0 to 1"),
        (lambda: error_rate(sets, Itemsets.from_lists([["a"], []])), "whole numbers on one side"),
        (lambda: query_error(none, none), "size=0"),
        (lambda: query_error(sets, sets[:1]), "2 records before, 1 after"),
        (lambda: query_error(sets, sets, "all"), "kind='all': give 'present' or 'absent'"),
        (lambda: query_error(sets, sets, size=3), "size=3: give a whole number from 1 to 2"),
        (lambda: query_error(sets, sets, size=0), "size=0"),
        (lambda: query_error(sets, sets, size=1.5), "size=1.5"),
        (lambda: query_error(sets, sets, queries=0), "queries=0"),
        (lambda: query_error(sets, sets, seed=-1), "seed=-1"),
    ):
        with pytest.raises(error.NominymError, match=message):
            call()
