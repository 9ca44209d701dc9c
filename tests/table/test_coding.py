"""Columns of any library as numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nominym import error
from nominym.table import MISSING, code

VALUES = ["flu", "coma", None, "flu", "gout"]

COLUMNS = {
    "list": VALUES,
    "tuple": tuple(VALUES),
    "numpy": np.array(VALUES, dtype=object),
    "pandas str": pd.Series(VALUES, dtype="str"),
    "pandas object": pd.Series(VALUES, dtype=object),
    "pandas string[python]": pd.Series(VALUES, dtype="string[python]"),
    "pandas category": pd.Series(VALUES, dtype="category"),
    "pandas arrow": pd.Series(VALUES, dtype=pd.ArrowDtype(pa.string())),
    "polars String": pl.Series(VALUES),
    "polars Categorical": pl.Series(VALUES, dtype=pl.Categorical),
    "polars Enum": pl.Series(VALUES, dtype=pl.Enum(["unused", "coma", "flu", "gout"])),
    "arrow": pa.array(VALUES),
    "arrow large": pa.array(VALUES, type=pa.large_string()),
    "arrow dictionary": pa.array(VALUES).dictionary_encode(),
    "arrow chunked": pa.chunked_array([VALUES[:2], VALUES[2:]]),
    "arrow chunked dictionary": pa.chunked_array(
        [pa.array(VALUES[:2]).dictionary_encode(), pa.array(VALUES[2:]).dictionary_encode()]
    ),
}


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_every_kind_of_column_is_coded(values) -> None:
    column = code(values)
    decoded = [None if c == MISSING else column.categories[c] for c in column.codes]
    assert decoded == VALUES
    assert column.codes.dtype == np.uint32
    assert column.missing == 1
    assert dict(zip(column.categories, column.counts.tolist(), strict=True)) == {
        "flu": 2,
        "coma": 1,
        "gout": 1,
    }


@given(st.lists(st.none() | st.text(max_size=3) | st.integers(-5, 5) | st.booleans(), max_size=30))
def test_mixed_columns_are_told_apart_by_their_text(values: list) -> None:
    column = code(np.array([*values, None], dtype=object)[:-1])
    decoded = [None if c == MISSING else column.categories[c] for c in column.codes]
    assert [str(v) for v in decoded] == [str(v) for v in values]
    assert all(type(v) in {type(w) for w in values} for v in decoded)


def test_arrow_dictionaries_may_repeat_values_and_hold_nulls() -> None:
    odd = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["flu", "flu", None]))
    column = code(odd)
    assert (column.categories, column.codes.tolist()) == (("flu",), [0, 0, int(MISSING), int(MISSING)])


def test_values_that_arrow_has_no_type_for() -> None:
    for values in ([2**70, 1], pd.Series(pd.period_range("2020", periods=2, freq="D")), [np.float32("nan"), "x"]):
        column = code(values)
        assert [str(column.categories[c]) for c in column.codes if c != MISSING] == [
            str(v) for v in values if str(v) != "nan"
        ]
    for wrong in (5, None):
        with pytest.raises(error.DataError, match="a column of values is needed"):
            code(wrong)


def test_long_columns_are_read_in_slices() -> None:
    n = (1 << 20) + 5
    for values in (np.array(["aa", "b"] * n, dtype=object)[:n], np.array(["aa", "b"] * n)[:n]):
        column = code(values)
        assert column.categories == ("aa", "b")
        assert column.counts.tolist() == [(n + 1) // 2, n // 2]
    mixed = np.full(n, None, dtype=object)
    mixed[-1] = "b"
    assert code(mixed).counts.tolist() == [1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("text", "not str"),
        (pd.DataFrame({"a": [1]}), "not DataFrame"),
        (np.zeros((2, 2), dtype=int), r"shape \(2, 2\)"),
    ],
)
def test_what_is_no_column_is_refused(values, message: str) -> None:
    with pytest.raises(error.DataError, match=message):
        code(values)


def test_all_missing_and_empty_columns_have_no_category() -> None:
    for values in (
        [None, None],
        [float("nan")] * 2,
        pd.Series([None, None]),
        pa.nulls(2),
        np.array([np.nan, np.nan]),
    ):
        column = code(values)
        assert (column.categories, column.missing) == ((), 2)
    for empty in (
        [],
        pd.Series([], dtype="category"),
        pl.Series([], dtype=pl.String),
        pa.chunked_array([], pa.string()),
    ):
        assert len(code(empty)) == 0


KINDS = {
    "text": ["a", None],
    "whole": [1, 2],
    "number": [1.5, None],
    "truth": [True, False],
    "time": pd.to_datetime(["2020-01-01", None]),
    "mixed": [1, "1"],
    "nested": [[1], [2]],
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_says_what_it_holds(kind: str) -> None:
    values = KINDS[kind]
    assert code(values).kind == kind
    assert code(pd.Series(values)).kind == kind
    assert code([]).kind in ("text", "mixed")


def test_policies_for_missing_values() -> None:
    with pytest.raises(error.ParameterError, match="missing='drop': give 'keep' or 'error'"):
        code(["a"], missing="drop")
    with pytest.raises(error.MissingValueError, match="column 'x': 1 of 2 values are missing, the first in row 1"):
        code(["a", None], "x", "error")


def test_categories_are_numbered_by_name_or_as_they_are_arranged() -> None:
    column = code(["b", "a", None, "c", "a"])
    assert (column.categories, column.codes.tolist()) == (("a", "b", "c"), [1, 0, int(MISSING), 2, 0])
    other = column.arranged([2, 0, 1])
    assert (other.categories, other.codes.tolist()) == (("c", "a", "b"), [2, 1, int(MISSING), 0, 1])
    few = column.with_codes(np.array([2, 2, MISSING], dtype=np.uint32)).occurring()
    assert (few.categories, few.codes.tolist()) == (("c",), [0, 0, int(MISSING)])
    assert column.first_rows().tolist() == [1, 0, 3]
    assert column.dense()[0].tolist() == [1, 0, 3, 2, 0]
