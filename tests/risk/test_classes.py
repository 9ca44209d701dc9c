"""Classes of equal records, and the bounds of samples."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nominym as nym
from nominym import error
from nominym.stats import interval

CELLS = st.sampled_from(["a", "b", "c", None])


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=40))
def test_counts(rows) -> None:
    sizes = Counter(rows).values()
    found = nym.risk.classes(pd.DataFrame(rows, columns=["x", "y"]), ["x", "y"])
    assert (found.n, found.classes, found.smallest) == (len(rows), len(sizes), min(sizes))
    assert found.unique == sum(size == 1 for size in sizes)
    assert found.share_unique == found.unique / found.n
    assert found.mean == pytest.approx(np.mean(list(sizes)))
    assert (found.sizes["min"], found.sizes["max"]) == (min(sizes), max(sizes))
    assert found.sizes["median"] == sorted(sizes)[(len(sizes) + 1) // 2 - 1]
    assert json.loads(json.dumps(found.to_dict()))["classes"] == found.classes


def test_columns_of_any_type() -> None:
    days = pd.to_datetime(["2020-01-01", "2020-01-01", "2021-01-01"])
    frame = pd.DataFrame({"x": [1.5, 1.5, np.nan], "when": days, "list": [[1], [1], 2]})
    assert nym.risk.classes(frame).unique == 1
    assert nym.risk.classes(frame, "x").classes == 2
    assert nym.risk.classes({"x": [5]}, "x").share_unique == 1


def test_swapping_keeps_uniqueness_where_it_says_so() -> None:
    frame, taxonomies = nym.datasets.discharges(1_000, seed=1)
    names = ["diagnosis", "procedure"]
    joint = nym.rank_swap(frame[names], {n: taxonomies[n] for n in names}, 5, draw="joint", seed=1)
    assert nym.risk.classes(joint.data, names) == nym.risk.classes(frame, names)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nym.risk.classes([1]), "DataFrame"),
        (lambda: nym.risk.classes({"x": [1]}, "y"), "no column 'y'"),
        (lambda: nym.risk.classes({"x": [1]}, []), "at least one column"),
        (lambda: nym.risk.classes({"x": [1]}, ["x", "x"]), "'x' occurs 2 times"),
        (lambda: nym.risk.classes({"x": [1]}, {"x": [1]}), "a list of column names"),
        (lambda: nym.risk.classes({"x": []}), "no records"),
        (lambda: nym.risk.classes({"x": [1], "y": [1, 2]}), "same number of records"),
        (lambda: nym.risk.classes({"x": [1]}, progress=2), "progress=2"),
    ],
)
def test_refused(call, message) -> None:
    with pytest.raises(error.NominymError, match=message):
        call()


@given(st.floats(0, 1), st.integers(1, 10**6), st.integers(0, 10**6), st.floats(0, 1))
def test_bounds_are_around_the_mean(mean, size, more, low) -> None:
    squares = mean * mean + low * (mean - mean * mean)
    whole, part = interval(mean, squares, size), interval(mean, squares, size, size + more)
    for found in (whole, part):
        assert 0 <= found[0] <= mean <= found[1] <= 1
    # Who has seen a part of the population knows more than who has seen as many of infinitely many.
    assert part[1] - part[0] <= whole[1] - whole[0] + 1e-12


def test_bounds_of_shares_are_those_of_wilson() -> None:
    # Newcombe (1998), Two-sided confidence intervals for the single proportion, table I, method 3.
    for hits, size, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)):
        assert interval(hits / size, hits / size, size) == pytest.approx((low, high), abs=5e-5)
