"""Tables in and out: nothing but the asked-for values changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from nominym import error
from nominym.table import MISSING, Column, Table, code

FRAMES = {
    "pandas": pd.DataFrame(
        {
            "id": [7, 8, 9],
            "plain": ["a", "b", "a"],
            "object": pd.Series(["a", None, "b"], dtype=object),
            "category": pd.Categorical(["x", "y", "x"], categories=["y", "x"], ordered=True),
            "int": pd.Series([1, 2, 1], dtype="int16"),
            "nullable": pd.Series([1, None, 2], dtype="Int64"),
        },
    ).set_index(pd.Index(["r3", "r1", "r2"], name="row")),
    "polars": pl.DataFrame(
        {
            "id": [7, 8, 9],
            "plain": ["a", "b", "a"],
            "category": pl.Series(["x", None, "x"], dtype=pl.Categorical),
            "enum": pl.Series(["x", "y", None], dtype=pl.Enum(["y", "x"])),
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
    same(table.replaced({name: table.column(name) for name in table.names if name != "id"}).data, frame)
    same(table.replaced({}).data, frame)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_only_the_asked_for_column_changes_and_the_caller_keeps_theirs(frame) -> None:
    table = Table(frame)
    before = {name: list(table.values(name)) for name in table.names}
    column = table.column("plain")
    swapped = Column(column.codes, column.categories[::-1])
    after = table.replaced({"plain": swapped})
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
        pd.Categorical(["x", "y", "x"], categories=["y", "x"], ordered=True),
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
    again = table.replaced({"x": table.column("x")}).values("x")
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
    assert table.replaced({"x": new}).values("x").tolist() == ["alpha", "beta"]
    many = Column(np.array([0, 199], dtype=np.uint32), tuple(f"c{i}" for i in range(200)))
    assert table.replaced({"y": many}).values("y").to_pylist() == ["c0", "c199"]


def test_categoricals_list_the_values_that_occur() -> None:
    new = Column(np.array([0, 1, MISSING], dtype=np.uint32), ("y", "new"))
    pandas = Table(FRAMES["pandas"]).replaced({"category": new}).values("category")
    assert pandas.cat.categories.tolist() == ["y", "new"]
    assert pandas.cat.ordered
    assert pandas.isna().tolist() == [False, False, True]
    polars = Table(FRAMES["polars"]).replaced({"enum": new}).values("enum")
    assert polars.dtype.categories.to_list() == ["y", "new"]
    assert polars.to_list() == ["y", "new", None]
    arrow = Table(FRAMES["arrow"]).replaced({"dictionary": new}).values("dictionary")
    assert arrow.to_pylist() == ["y", "new", None]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, lambda d: {"n": np.array(d["n"])}])
def test_a_type_that_cannot_hold_the_values_says_so(make) -> None:
    table = Table(make({"n": [1, 2]}))
    with pytest.raises(error.DataError, match=r"column 'n': its type .* cannot hold the new values, such as 'flu'"):
        table.replaced({"n": Column(np.array([0, 0], dtype=np.uint32), ("flu",))})


def test_bad_tables_and_policies_are_refused() -> None:
    with pytest.raises(error.DataError, match="not list"):
        Table([1, 2])
    with pytest.raises(error.UnknownColumnError, match="no column 'z'; there are 'a', 'b'") as caught:
        Table({"a": [1], "b": [2]}).column("z")
    assert isinstance(caught.value, KeyError)
    with pytest.raises(error.DataError, match="'a' occurs 2 times"):
        Table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(error.DataError, match="1 new values for 2 records"):
        Table({"a": ["x", "y"]}).replaced({"a": code(["x"])})


@pytest.mark.parametrize("masked", [True, False], ids=["masked", "kept"])
@pytest.mark.parametrize(
    ("values", "listed"),
    [
        (pd.Series(pd.Categorical(["x", None, "y"], ["z", "y", "x"])), lambda v: v.cat.categories.tolist()),
        (pd.Series(pd.Categorical(["x", None, "y"], ["z", "y", "x"], True)), lambda v: v.cat.categories.tolist()),
        (pl.Series(["x", None, "y"], dtype=pl.Enum(["z", "y", "x"])), lambda v: v.dtype.categories.to_list()),
        (pa.DictionaryArray.from_arrays(pa.array([2, None, 1]), ["z", "y", "x"]), lambda v: v.dictionary.to_pylist()),
    ],
    ids=["pandas", "pandas ordered", "polars", "arrow"],
)
def test_dictionaries_list_no_value_that_no_record_has(values, listed, masked: bool) -> None:
    table = Table({"v": values, "id": [1, 2, 3]})
    after = table.replaced({"v": table.column("v")} if masked else {}).values("v")
    assert sorted(listed(after)) == ["x", "y"]
    assert [str(value) for value in after] == [str(value) for value in values]
    assert len(listed(values)) == 3
