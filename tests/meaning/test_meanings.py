"""The four meanings: one protocol, and what has an order."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from nominym import error
from nominym.meaning import Meaning, Space, check_meanings
from nominym.table import Attribute, code, single
from reference import both, edge_lists

LABELS = ["low", "middle", "high", "none"]
TREE = nym.Taxonomy.from_edges([("flu", "lung"), ("asthma", "lung"), ("lung", "illness"), ("gout", "illness")])


@st.composite
def attributes(draw: st.DrawFn) -> Attribute:
    """Draw a column of any meaning."""
    kind = draw(st.sampled_from(["taxonomy", "matrix", "order", "listed", "equality"]))
    if kind == "taxonomy":
        tax, _ = both(draw(edge_lists(max_size=8)))
        values, meaning = st.sampled_from(tax.ids), tax
    elif kind == "matrix":
        upper = np.triu(np.reshape(draw(st.lists(st.integers(0, 9), min_size=16, max_size=16)), (4, 4)), 1)
        values, meaning = st.sampled_from(LABELS), nym.DistanceMatrix(upper + upper.T, LABELS)
    elif kind == "order":
        values, meaning = st.integers(-50, 50) | st.floats(-50, 50).map(lambda x: round(x, 2)), nym.Order()
    else:
        values = st.sampled_from(LABELS)
        meaning = nym.Order(LABELS) if kind == "listed" else nym.Equality()
    column = draw(st.lists(values, min_size=1, max_size=12)) + draw(st.lists(st.none(), max_size=2))
    measure = draw(st.sampled_from(["wu-palmer", "path", "lin"]))
    return single(column, meaning, measure)


@given(attributes())
@settings(max_examples=200)
def test_one_protocol(attribute: Attribute) -> None:
    space, places = attribute.space, attribute.places
    every = np.arange(len(space), dtype=np.uint32)
    cells = space.matrix(every)
    assert cells.shape == (len(space), len(space))
    assert cells == pytest.approx(cells.T)
    assert not np.diag(cells).any()
    assert np.isfinite(cells).all()
    assert (cells >= 0).all()
    # Pairs, blocks and matrices are cells of one matrix.
    assert space.block(every, places) == pytest.approx(cells[:, places])
    a, b = (grid.ravel() for grid in np.meshgrid(every, every, indexing="ij"))
    assert space.pairs(a, b) == pytest.approx(cells.ravel())
    assert space.matrix(places) == pytest.approx(cells[np.ix_(places, places)])
    assert attribute.distances == pytest.approx(space.matrix(places))
    # The mean has the smallest sum of distances of all places.
    sums = cells[:, places] @ attribute.column.counts
    assert sums[attribute.mean] == pytest.approx(sums.min(), abs=1e-9)
    variance = (cells[attribute.mean, places] ** 2 @ attribute.column.counts) / attribute.column.counts.sum()
    assert attribute.variance == pytest.approx(variance)
    assert len({space.name(place) for place in every.tolist()}) == len(space)
    assert all(space.label(place) for place in every.tolist())


@given(attributes(), st.data())
@settings(max_examples=100)
def test_what_values_have_in_common_contains_them(attribute: Attribute, data: st.DataObject) -> None:
    space = attribute.space
    places = np.array(data.draw(st.lists(st.sampled_from(attribute.places.tolist()), min_size=1)), dtype=np.uint32)
    names = {space.name(place) for place in places.tolist()}
    common = space.common(places)
    if len(names) == 1:
        assert common in names
    elif isinstance(attribute.meaning, nym.Taxonomy):
        assert common == attribute.meaning.lcs(sorted(names))
        assert names <= set(attribute.meaning.subtree(common))
    elif isinstance(attribute.meaning, nym.Order):
        low, high = int(places.min()), int(places.max())
        assert common == f"[{space.name(low)}, {space.name(high)}]"
        inside = space.pairs(places, np.full_like(places, low)) + space.pairs(places, np.full_like(places, high))
        assert inside == pytest.approx(np.full(len(places), space.matrix(places).max()))
    else:
        assert common == f"{{{', '.join(sorted(names))}}}"


@pytest.mark.parametrize(
    "meaning", [TREE, nym.DistanceMatrix(np.eye(1) - 1, ["flu"]), nym.Order(["flu"]), nym.Equality()]
)
def test_several_columns_share_a_space(meaning: Meaning) -> None:
    columns = [code(["flu", None]), code([None, "flu", "flu"])]
    space = meaning.space(columns)
    assert isinstance(space, Space)
    assert [part.tolist() for part in space.places] == [[int(space.places[0][0])]] * 2
    with pytest.raises(error.DataError, match="column 'x': no value at all"):
        meaning.space([code([None, None], "x")])
    with pytest.raises(error.DataError, match=r"column 'x': holds lists|'x'.*has no place"):
        meaning.space([code([["flu"], ["flu"]], "x")])


def test_a_root_belongs_to_a_taxonomy() -> None:
    for meaning in (nym.DistanceMatrix([[0]], ["flu"]), nym.Order(["flu"]), nym.Equality()):
        with pytest.raises(
            error.ParameterError, match=f"root='illness': .*only a taxonomy has a root, not {meaning.noun}"
        ):
            meaning.space([code(["flu"])], root="illness")
    assert TREE.space([code(["flu"])], root="illness").root == "illness"


def test_meanings_are_objects() -> None:
    assert nym.Equality() == nym.Equality()
    assert nym.Order() == nym.Order() != nym.Order(["a", "b"])
    assert nym.Order(["a", "b"]) == nym.Order(("a", "b")) == nym.Order(pd.Series(["a", "b"])) != nym.Order(["b", "a"])
    assert len({nym.Equality(), nym.Equality(), nym.Order(), nym.Order(["a"]), nym.Order(["a"])}) == 3
    for meaning in (nym.Equality(), nym.Order(), nym.Order(["a", 1, 2.5])):
        assert eval(repr(meaning), vars(nym).copy()) == meaning
        assert isinstance(meaning, Meaning)
    for wrong in (None, [], {}, "a", {"x": None}, {"x": "equal"}, {"x": ["a", "b"]}, {"x": nym.Order}):
        with pytest.raises(error.ParameterError, match="is needed"):
            check_meanings(wrong)


def day(number: int) -> dt.date:
    return dt.date(2020, 1, 1) + dt.timedelta(days=number)


# Every column holds three values, the second twice as far from the first as the third is from the second.
ORDERED: dict[str, Any] = {
    "whole numbers": [0, 20, 30],
    "large whole numbers": [2**60, 2**60 + 2, 2**60 + 3],
    "whole numbers beyond 64 bits": [0, 2**71, 3 * 2**70],
    "unsigned": np.array([2**64 - 4, 2**64 - 2, 2**64 - 1], dtype=np.uint64),
    "floats": [-0.5, 0.5, 1.0],
    "decimals": [Decimal("0.10"), Decimal("0.30"), Decimal("0.40")],
    "fractions": [Fraction(0), Fraction(2, 3), Fraction(1)],
    "dates": [day(0), day(2), day(3)],
    "dates far apart": [dt.date(1, 1, 1), dt.date(1, 1, 3), dt.date(1, 1, 4)],
    "times": [dt.datetime(2020, 1, 1, hour) for hour in (0, 2, 3)],
    "times with a zone": pd.to_datetime(["2020-03-28", "2020-03-30", "2020-03-31"]).tz_localize("UTC"),
    "times of day": [dt.time(hour) for hour in (1, 3, 4)],
    "durations": [dt.timedelta(hours=hour) for hour in (1, 3, 4)],
    "periods": pd.PeriodIndex(["2020-01", "2020-03", "2020-04"], freq="M"),
    "numpy dates": np.array(["2020-01-01", "2020-01-03", "2020-01-04"], dtype="datetime64[D]"),
    "arrow decimals": pa.array([Decimal(0), Decimal(2), Decimal(3)]),
    "arrow times": pa.array([0, 2, 3], pa.timestamp("s")),
    "polars dates": pl.Series([day(0), day(2), day(3)]),
    "polars durations": pl.Series([dt.timedelta(days=days) for days in (0, 2, 3)]),
    "numbers as text": ["8", "10", "11"],
    "numbers as text, odd ones": [" -1 ", "1e0", "2.0"],
    "numbers of two types": [0, "2", 3],
    "categories of numbers": pd.Categorical([0, 20, 30]),
}


@pytest.mark.parametrize("name", ORDERED)
def test_what_has_an_order(name: str) -> None:
    attribute = single(ORDERED[name], nym.Order())
    assert attribute.column.codes.tolist() == [0, 1, 2]
    expected = np.abs(np.subtract.outer([0, 2, 3], [0, 2, 3])) / 3
    assert attribute.distances == pytest.approx(expected, abs=1e-9)
    assert attribute.mean == 1


RANKED: dict[str, tuple[Any, nym.Order]] = {
    "listed": (["low", "middle", "high"], nym.Order(LABELS)),
    "listed in numbers": ([3, 1, 2], nym.Order([3, 1, 2, 0])),
    "pandas": (pd.Categorical(LABELS[:3], LABELS, ordered=True), nym.Order()),
    "pandas series": (pd.Series(pd.Categorical(LABELS[:3], LABELS, ordered=True)), nym.Order()),
    "arrow": (pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), LABELS, ordered=True), nym.Order()),
    "a list goes before the type": (pd.Categorical(LABELS[:3], LABELS[::-1], ordered=True), nym.Order(LABELS)),
}


@pytest.mark.parametrize("name", RANKED)
def test_ranked_values(name: str) -> None:
    values, order = RANKED[name]
    attribute = single(values, order)
    assert attribute.column.codes.tolist() == [0, 1, 2]
    # Relative to the largest difference at hand, whatever else is listed.
    assert attribute.distances == pytest.approx(np.abs(np.subtract.outer(range(3), range(3))) / 2)
    assert attribute.space.unit is None
    assert attribute.space.common(attribute.places) == f"[{attribute.space.name(0)}, {attribute.space.name(2)}]"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["²", "1"], "column 'x': '²' has no order of its own; list all values, lowest first"),
        (["low", "high"], "column 'x': 'high' has no order of its own"),
        (["1_000", "2"], "'1_000' has no order of its own"),
        (["nan", "1"], "'nan' has no order of its own"),
        ([1.0, math.inf], "column 'x': holds inf, which is infinitely far from everything; replace it"),
        ([Decimal("Infinity")], "holds Decimal..Infinity.., which is infinitely far from everything"),
        ([10**400, 1], r"column 'x': 1000.*\.\.\. is too large for a number of 64 bits"),
        ([1e308, -1e308], "column 'x': values are too far apart"),
        ([10**308, -(10**308)], "column 'x': values are too far apart"),
        ([1j], "1j has no order of its own"),
        ([[1], [2]], "column 'x': holds lists or the like, which have no order"),
        (pd.Categorical(["b", "a"]), "'a' has no order of its own"),
        (pd.interval_range(0, 2), "has no order of its own"),
        ([dt.date(2020, 1, 1), "gout"], "has no order of its own"),
        ([None, None], "column 'x': no value at all"),
    ],
)
def test_what_has_none(values: Any, message: str) -> None:
    with pytest.raises(error.DataError, match=message):
        nym.Order().space([code(values, "x")])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("low", "values='low': list all values from lowest to highest"),
        (5, "values=5: list all values"),
        ({"a": 1}, "list all values"),
        ([], "list at least one value, and no missing ones"),
        (["a", None], "no missing ones"),
        ([1.0, math.nan], "no missing ones"),
        (["a", "b", "a"], "'a' is listed twice"),
        ([1, "1"], "'1' is listed twice"),
    ],
)
def test_lists_that_are_no_order(values: Any, message: str) -> None:
    with pytest.raises(error.ParameterError, match=message):
        nym.Order(values)


def test_values_of_two_columns_are_compared_or_not() -> None:
    with pytest.raises(error.DataError, match="'before', 'after': dates or times cannot be compared with other values"):
        nym.Order().space([code([1, 2], "before"), code([day(0)], "after")])
    with pytest.raises(error.DataError, match="column 'after': 'gout' has no place in the given order"):
        nym.Order().space([code(pd.Categorical(LABELS, LABELS, ordered=True)), code(["gout"], "after")])
    space = nym.Order().space([code(pd.Categorical(["low"], LABELS, ordered=True)), code(["high", "low"])])
    assert [part.tolist() for part in space.places] == [[0], [1, 0]]


def test_dates_as_texts_are_dates() -> None:
    """As a text file holds them: masked, averaged and compared like dates, and written as they were."""
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=3_701 * i % 9_000) for i in range(200)]
    texts, dates = ({"born": each} for each in (list(map(str, days)), days))
    order = {"born": nym.Order()}
    swapped = [nym.rank_swap(each, order, k=5, seed=1) for each in (texts, dates)]
    assert swapped[0].data["born"] == list(map(str, swapped[1].data["born"]))
    assert swapped[0].summary["attributes"] == swapped[1].summary["attributes"]
    for replace in ("mean", "subsumer"):
        means = [nym.microaggregate(each, order, k=5, seed=1, replace=replace) for each in (texts, dates)]
        assert means[0].data["born"] == list(map(str, means[1].data["born"]))
        assert means[0].summary["attributes"] == means[1].summary["attributes"]
    with pytest.raises(nym.error.DataError, match="column 'born': '1950' is not a date"):
        nym.rank_swap({"born": ["1900-01-31", "1950"] * 3}, order, k=2)


@pytest.mark.filterwarnings("ignore:hardly anything changes:nominym.error.PrivacyWarning")
def test_whole_numbers_beside_a_gap_have_their_place_in_a_list() -> None:
    made = nym.rank_swap({"grade": [1.0, 2.0, None] * 4}, {"grade": nym.Order([1, 2])}, k=2, seed=1).data["grade"]
    assert sorted(x for x in made if x is not None) == [1.0] * 4 + [2.0] * 4
