"""Tables and columns in and out: nothing but the asked-for values changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from nominym import error
from nominym.frame import MISSING, Column, Table, code

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


FRAMES = {
    "pandas": pd.DataFrame(
        {
            "id": [7, 8, 9],
            "plain": ["a", "b", "a"],
            "object": pd.Series(["a", None, "b"], dtype=object),
            "category": pd.Categorical(["x", "y", "x"], categories=["z", "y", "x"], ordered=True),
            "int": pd.Series([1, 2, 1], dtype="int16"),
            "nullable": pd.Series([1, None, 2], dtype="Int64"),
        },
    ).set_index(pd.Index(["r3", "r1", "r2"], name="row")),
    "polars": pl.DataFrame(
        {
            "id": [7, 8, 9],
            "plain": ["a", "b", "a"],
            "category": pl.Series(["x", None, "x"], dtype=pl.Categorical),
            "enum": pl.Series(["x", "y", None], dtype=pl.Enum(["z", "y", "x"])),
            "int": pl.Series([1, 2, 1], dtype=pl.Int8),
        }
    ),
    "arrow": pa.table(
        {
            "id": [7, 8, 9],
            "plain": ["a", None, "a"],
            "dictionary": pa.array(["x", "y", "x"]).dictionary_encode(),
            "ordered": pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), ["x", "y"], ordered=True),
            "int": pa.array([1, 2, 1], type=pa.int8()),
        }
    ),
    "mapping": {
        "id": [7, 8, 9],
        "plain": ["a", None, "b"],
        "array": np.array([1, 2, 1]),
        "tuple": ("a", "b", "a"),
    },
}


def same(a, b) -> None:
    assert type(a) is type(b)
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b)
        assert [type(x) for x in a.get("object", [])] == [type(x) for x in b.get("object", [])]
    elif isinstance(a, pl.DataFrame):
        assert_frame_equal(a, b)
        assert a.schema == b.schema
    elif isinstance(a, pa.Table):
        assert a.schema == b.schema
        assert a.to_pylist() == b.to_pylist()
    else:
        assert {k: (type(v), list(v)) for k, v in a.items()} == {k: (type(v), list(v)) for k, v in b.items()}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_replacing_columns_by_themselves_changes_nothing(frame) -> None:
    table = Table(frame)
    same(table.replace({name: table.code(name) for name in table.names if name != "id"}), frame)
    same(table.replace({}), frame)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_only_the_asked_for_column_changes_and_the_caller_keeps_theirs(frame) -> None:
    table = Table(frame)
    before = {name: list(table.values(name)) for name in table.names}
    column = table.code("plain")
    swapped = Column(column.codes, column.categories[::-1])
    after = Table(table.replace({"plain": swapped}))
    plain = [None if c == MISSING else swapped.categories[c] for c in swapped.codes]
    found = [
        None if v is None or v is pd.NA or v != v else getattr(v, "as_py", lambda v=v: v)()
        for v in after.values("plain")
    ]
    assert found == plain
    assert found != before["plain"]
    assert after.names == table.names
    for name in table.names:
        assert str(list(table.values(name))) == str(before[name])
        if name != "plain":
            assert str(list(after.values(name))) == str(before[name])


@pytest.mark.parametrize(
    "values",
    [
        np.array(["a", "b", "a"]),
        pd.Categorical(["x", "y", "x"], categories=["z", "y", "x"], ordered=True),
        pa.array(["a", None, "b"]),
        pa.array(["a", None, "b"]).cast(pa.string_view()),
        pd.Series(["a", None, "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        pd.Series(["a", 1, None, "b"], dtype=object),
        [1, "a", None],
        range(3),
    ],
    ids=lambda values: f"{type(values).__name__} {getattr(values, 'dtype', getattr(values, 'type', ''))}",
)
def test_odd_columns_survive(values) -> None:
    table = Table({"x": values} if not isinstance(values, pd.Series) else pd.DataFrame({"x": values}))
    again = Table(table.replace({"x": table.code("x")})).values("x")
    assert [str(v) for v in again] == [str(v) for v in values]
    assert [type(v) for v in again] == [type(v) for v in values]
    assert getattr(again, "dtype", None) == getattr(values, "dtype", None)


def test_longer_values_get_the_room_they_need() -> None:
    table = Table(
        {
            "x": np.array(["a", "b"]),
            "y": pa.array(["a", "b"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
        }
    )
    new = Column(np.array([0, 1], dtype=np.uint32), ("alpha", "beta"))
    assert table.replace({"x": new})["x"].tolist() == ["alpha", "beta"]
    many = Column(np.array([0, 199], dtype=np.uint32), tuple(f"c{i}" for i in range(200)))
    assert table.replace({"y": many})["y"].to_pylist() == ["c0", "c199"]


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


def test_categoricals_grow_only_by_new_values() -> None:
    new = Column(np.array([0, 1, MISSING], dtype=np.uint32), ("y", "new"))
    pandas = Table(FRAMES["pandas"]).replace({"category": new})["category"]
    assert pandas.cat.categories.tolist() == ["z", "y", "x", "new"]
    assert pandas.cat.ordered
    assert pandas.isna().tolist() == [False, False, True]
    polars = Table(FRAMES["polars"]).replace({"enum": new})["enum"]
    assert polars.dtype.categories.to_list() == ["z", "y", "x", "new"]
    assert polars.to_list() == ["y", "new", None]
    arrow = Table(FRAMES["arrow"]).replace({"dictionary": new})["dictionary"]
    assert arrow.to_pylist() == ["y", "new", None]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.Series([1.5, 2.5], name="x"), r"column 'x': holds double numbers"),
        (pd.Series([1.5, 2.5], dtype="category"), "holds double numbers"),
        (["a", 1.5], r"row 1 holds 1\.5 of type float"),
        ([[1], [2]], "one nominal value per record"),
        ("text", "not str"),
        (pd.DataFrame({"a": [1]}), "not DataFrame"),
        (np.zeros((2, 2), dtype=int), r"shape \(2, 2\)"),
    ],
)
def test_columns_that_are_not_nominal_are_refused(values, message: str) -> None:
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


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda d: {"n": np.array(d["n"])}])
def test_a_type_that_cannot_hold_the_values_says_so(make) -> None:
    table = Table(make({"n": [1, 2]}))
    with pytest.raises(error.DataError, match=r"column 'n' of type .* cannot hold the new values, such as 'flu'"):
        table.replace({"n": Column(np.array([0, 0], dtype=np.uint32), ("flu",))})


def test_bad_tables_and_policies_are_refused() -> None:
    with pytest.raises(error.DataError, match="not list"):
        Table([1, 2])
    with pytest.raises(error.UnknownColumnError, match="no column 'z'; there are 'a', 'b'") as caught:
        Table({"a": [1], "b": [2]}).code("z")
    assert isinstance(caught.value, KeyError)
    with pytest.raises(error.DataError, match="'a' stands 2 times"):
        Table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(error.ParameterError, match="missing='drop': give 'keep' or 'error'"):
        code(["a"], missing="drop")
    with pytest.raises(error.DataError, match="1 new values for 2 records"):
        Table({"a": ["x", "y"]}).replace({"a": code(["x"])})
