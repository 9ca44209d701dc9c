"""Values and arguments that once ended in an error of another library, or in silence."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nominym as nym
from nominym.error import DataError, NominymError, ParameterError, UnknownColumnError
from nominym.table import MISSING, code

FRAME = {"a": ["x", "y", "x", "z"] * 5, "b": [1, 2, 3, 4] * 5}
TAXONOMY = nym.Taxonomy.from_edges([("x", "r"), ("y", "r"), ("z", "r")])


def swapped(values: Any) -> Any:
    frame = pd.DataFrame({"x": values}) if isinstance(values, pd.Series) else {"x": values}
    return nym.data_swap(frame, ["x"], rate=1.0, seed=1).data["x"]


def test_objects_of_polars_are_not_the_bytes_of_pointers() -> None:
    things = [object(), "5", 5, (1,).__class__, Decimal("1.5"), None]
    frame = pl.DataFrame({"x": pl.Series(things * 3, dtype=pl.Object), "y": range(18)})
    for masked in ("x", "y"):
        new = nym.data_swap(frame, [masked], rate=1.0, seed=1).data
        assert new.schema == frame.schema
        assert Counter(map(id, new["x"].to_list())) == Counter(map(id, things * 3))
    assert new["x"].to_list() == things * 3


def test_wide_numbers_of_polars() -> None:
    for dtype in (pl.Int128, pl.UInt128):
        frame = pl.DataFrame({"x": pl.Series([2**100, 1, None, 2**100 + 1] * 3, dtype=dtype)})
        for meaning in (nym.Equality(), nym.Order()):
            new = nym.rank_swap(frame, {"x": meaning}, k=4, seed=1).data
            assert new.schema == frame.schema
            assert Counter(new["x"]) == Counter(frame["x"])


def test_dictionaries_that_repeat_values_and_hold_nulls() -> None:
    odd = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3]), pa.array(["flu", "flu", None, "gout"]))
    column = code(odd)
    assert column.categories == ("flu", "gout")
    assert column.codes.tolist() == [0, 0, MISSING, MISSING, 1]
    assert Counter(swapped(odd).to_pylist()) == Counter(odd.to_pylist())
    floats = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array([1.5, float("nan")]))
    assert code(floats).codes.tolist() == [0, MISSING, MISSING, 0]


def test_dictionaries_whose_chunks_number_more_values_than_their_type_can() -> None:
    parts = [pa.array([f"{i}{letter}" for i in range(100)]).dictionary_encode() for letter in "uv"]
    wide = pa.chunked_array(parts).cast(pa.dictionary(pa.int8(), pa.string()))
    assert len(code(wide).categories) == 200
    table = pa.table({"x": wide, "y": [1, 2] * 100})
    assert nym.data_swap(table, ["y"], rate=1.0, seed=1).data["x"].to_pylist() == wide.to_pylist()
    with pytest.raises(DataError, match=r"column 'x': its type dictionary<.*int8.* cannot hold the new values"):
        nym.data_swap(table, ["x"], rate=1.0, seed=1)


def test_views_and_runs() -> None:
    texts = pa.array(["flu", None, "a text of more than twelve bytes", "flu"])
    for odd in (texts.cast(pa.string_view()), pa.compute.run_end_encode(texts), texts.cast(pa.binary_view())):
        new = swapped(odd)
        assert new.type == odd.type
        assert Counter(new.to_pylist()) == Counter(odd.to_pylist())


def test_lone_surrogates() -> None:
    values = ["\ud800", "x", "\udfff", None] * 2
    for column in (
        values,
        pd.Series(values, dtype=object),
        pd.Series(values, dtype="string[python]"),
        np.array(values[:3] * 2),
    ):
        assert Counter(map(repr, swapped(column))) == Counter(map(repr, column))
    frame = {"\ud800": ["x", "y", "z"]}
    assert sorted(nym.data_swap(frame, ["\ud800"], rate=1.0, seed=1).data["\ud800"]) == ["x", "y", "z"]
    with pytest.raises(DataError, match=r"column '\\ud800': 'x' has no order of its own") as caught:
        nym.rank_swap(frame, {"\ud800": nym.Order()}, k=2)
    str(caught.value).encode()
    with pytest.raises(UnknownColumnError, match=r"no column 'y'; there are '\\ud800'"):
        nym.data_swap(frame, ["y"])


def test_numbers_too_large_for_a_float() -> None:
    assert sorted(swapped([10**400, 1, 2])) == [1, 2, 10**400]
    with pytest.raises(DataError, match=r"column 'x': 1000.* is too large"):
        nym.rank_swap({"x": [10**400, 1, 2]}, {"x": nym.Order()}, k=2)
    with pytest.raises(DataError, match="column 'x': values are too far apart"):
        nym.rank_swap({"x": [1e308, -1e308, 0.0]}, {"x": nym.Order()}, k=2)
    with pytest.raises(DataError, match=r"column 'x': .*inity.* far from everything"):
        nym.rank_swap({"x": [Decimal("Infinity"), Decimal(1)]}, {"x": nym.Order()}, k=2)
    with pytest.raises(DataError, match="column 'x': list cannot be read"):
        swapped([10**5000, 1, 2])  # Python itself does not write it


@pytest.mark.parametrize(
    "values",
    [
        [dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 1, 1)],
        ["a", b"a"],
        [1, 1.0, True, np.int8(1)],
        [Decimal("1.0"), Decimal("1.00"), 1],
        [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-01 00:00:00.000000001")],
        [dt.datetime(2020, 1, 1, 12, tzinfo=dt.timezone.utc), dt.datetime(2020, 1, 1, 12)],
        [np.datetime64("2020-01-01"), np.int8(1), np.float32(0.5)],  # on which Arrow ends the process
    ],
    ids=str,
)
def test_values_that_arrow_makes_one_are_told_apart(values: list[Any]) -> None:
    for column in (values * 3, pd.Series(values * 3, dtype=object)):
        assert len(code(column).categories) == len(values)
        assert Counter(map(repr, swapped(column))) == Counter(map(repr, column))


def test_times_that_python_has_no_object_for() -> None:
    far = pa.array([2**55, 0, None, 2**55 + 1] * 2, pa.timestamp("s"))
    table = pa.table({"x": far})
    for meaning in (nym.Equality(), nym.Order()):
        new = nym.rank_swap(table, {"x": meaning}, k=3, seed=1).data["x"]
        assert new.type == far.type
        assert Counter(new.cast("int64").to_pylist()) == Counter(far.cast("int64").to_pylist())


def test_names_that_arrow_cannot_write() -> None:
    frame = pl.DataFrame({"a\0b": ["x", "y", "z"]})
    assert sorted(nym.data_swap(frame, ["a\0b"], rate=1.0, seed=1).data["a\0b"]) == ["x", "y", "z"]


@pytest.mark.parametrize("name", [0, 1.5, None, ("a", 1), pd.NaT, "", frozenset("x"), len], ids=repr)
def test_names_of_any_kind(name: Any) -> None:
    frame = pd.DataFrame([[1, 4], [2, 5], [3, 6]])
    frame.columns = pd.Index([name, "kept"], dtype=object, tupleize_cols=False)
    new = nym.data_swap(frame, [name], rate=1.0, seed=1).data
    pd.testing.assert_index_equal(new.columns, frame.columns)
    assert sorted(new.iloc[:, 0]) == [1, 2, 3]


class Wild:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


def test_objects_that_cannot_be_read_are_refused_by_name() -> None:
    for columns in ({"x": [Wild(), Wild()]}, {"y": ["a", "b"], "x": [Wild(), Wild()]}):
        with pytest.raises(DataError, match=r"column 'x': list cannot be read \(no text\); turn the column into"):
            nym.data_swap(columns, list(columns)[:1], rate=1.0)


ODD: list[Any] = [
    ["a"],
    [["a"]],
    np.array(["a", "b"]),
    {"a"},
    {"a": 1},
    pd.Series(["a"]),
    pd.NA,
    ("a", ["b"]),
    b"a",
    1,
    1.5,
    object(),
    "\ud800",
]


@pytest.mark.filterwarnings("ignore:hardly anything changes")
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_lists_and_other_things_where_a_name_or_a_word_is_expected(odd: Any) -> None:
    """Whatever is no name of a column, and no value of an option, is an error of ours."""
    res = nym.rank_swap(FRAME, {"a": nym.Equality(), "b": nym.Equality()}, k=2, seed=1)
    for call in (
        lambda: nym.data_swap(FRAME, [odd], rate=0.5),
        lambda: nym.data_swap(FRAME, ["a"], rate=0.5, equal=[odd]),
        lambda: nym.data_swap(FRAME, ["a"], rate=0.5, unequal=[odd]),
        lambda: res.linkage(known=[odd]),
        lambda: nym.risk.classes(FRAME, [odd]),
        lambda: nym.rank_swap(FRAME, {"a": odd}, k=2),
        lambda: nym.rank_swap(FRAME, odd, k=2),
        lambda: nym.rank_swap(odd, {"a": nym.Equality()}, k=2),
        lambda: nym.rank_swap(FRAME, {"a": TAXONOMY}, k=2, roots={"a": odd}),
        lambda: nym.rank_swap(FRAME, {"a": TAXONOMY}, k=2, roots=odd),
        *(
            lambda name=name: nym.rank_swap(FRAME, {"a": TAXONOMY}, **{"k": 2, name: odd})
            for name in ("measure", "missing", "method", "guarantee", "draw", "anneal", "correlations")
        ),
        *(
            lambda name=name: nym.data_swap(FRAME, ["a"], **{name: odd})
            for name in ("mode", "true_swaps", "strict_rate", "missing")
        ),
    ):
        with pytest.raises(NominymError):
            call()


def test_numbers_are_no_truth() -> None:
    with pytest.raises(ParameterError, match="anneal=1: give True or False"):
        nym.rank_swap(FRAME, {"a": nym.Equality()}, k=2, anneal=1)
