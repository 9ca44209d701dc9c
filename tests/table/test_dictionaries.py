"""No column of a release carries dictionary values that no record has, whether it was masked or kept."""

from __future__ import annotations

import io
import pickle
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nominym as nym
from nominym.error import DataError
from table.columns import Own

OCCUR = ["north", "west", None, "east", "west", "north"]
LISTED = ["west", "secret", "north", "hidden", "east"]
"""Values as a dictionary lists them: in an order of their own, with two that no record has."""
IN_ORDER, BY_NAME = ["west", "north", "east"], ["east", "north", "west"]


def arrow(ordered: bool = False) -> pa.DictionaryArray:
    places = pa.array([None if value is None else LISTED.index(value) for value in OCCUR], pa.int8())
    return pa.DictionaryArray.from_arrays(places, pa.array(LISTED), ordered=ordered)


def released(column: Any, masked: bool) -> Any:
    """Mask a column, or keep it beside one that is masked."""
    frame = {"x": list("aabbcc"), "y": column}
    if isinstance(column, pd.Series):
        frame = pd.DataFrame(frame)
    res = nym.data_swap(frame, ["y" if masked else "x"], rate=1.0, seed=1)
    assert b"secret" not in pickle.dumps(res.data)
    return res.data["y"]


@pytest.mark.parametrize("masked", [True, False], ids=["masked", "kept"])
@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "unordered"])
def test_dictionaries_list_what_occurs_in_their_order_or_by_name(masked: bool, ordered: bool) -> None:
    expected = IN_ORDER if ordered else BY_NAME
    categorical = pd.Categorical(OCCUR, LISTED, ordered=ordered)
    for column in (pd.Series(categorical), categorical, pd.CategoricalIndex(categorical)):
        new = released(column, masked)
        assert type(new) is type(column)
        assert list(new.dtype.categories) == expected
        assert new.dtype.ordered == ordered
        assert masked or [None if pd.isna(value) else value for value in new] == OCCUR
    for part in (arrow(ordered), pd.Series(pd.arrays.ArrowExtensionArray(arrow(ordered)))):
        new = released(part, masked)
        assert type(new) is type(part)
        array = pa.array(new) if isinstance(new, pd.Series) else new
        assert (array.dictionary.to_pylist(), array.type) == (expected, arrow(ordered).type)
        assert masked or array.to_pylist() == OCCUR


@pytest.mark.parametrize("masked", [True, False], ids=["masked", "kept"])
def test_types_of_polars_list_what_occurs(masked: bool) -> None:
    frame = pl.DataFrame({"x": list("aabbcc"), "y": pl.Series(OCCUR, dtype=pl.Enum(LISTED))})
    new = nym.data_swap(frame, ["y" if masked else "x"], rate=1.0, seed=1).data["y"]
    assert new.dtype == pl.Enum(IN_ORDER)  # an Enum always has an order
    assert masked or new.to_list() == OCCUR
    file = io.BytesIO()
    some = pl.DataFrame({"x": list("aabbcc"), "y": pl.Series(["secret", *OCCUR], dtype=pl.Categorical)[1:]})
    nym.data_swap(some, ["y" if masked else "x"], rate=1.0, seed=1).data.write_ipc(file)
    assert b"secret" not in file.getvalue()


def test_dictionaries_of_chunks_are_tidied_each() -> None:
    frame = pa.table({"x": list("aabbcc"), "y": pa.chunked_array([arrow().slice(0, 3), arrow().slice(3)])})
    kept = nym.data_swap(frame, ["x"], rate=1.0, seed=1).data["y"]
    assert [part.dictionary.to_pylist() for part in kept.chunks] == [["north", "west"], BY_NAME]
    assert kept.to_pylist() == OCCUR


NESTED: dict[str, Any] = {
    "struct": pa.StructArray.from_arrays([arrow()], ["a"]),
    "struct with nulls": pa.StructArray.from_arrays(
        [pa.array(["secret", *OCCUR[1:]]).dictionary_encode()], ["a"], mask=pa.array([True] + [False] * 5)
    ),
    "list": pa.ListArray.from_arrays(pa.array([0, 1, 3, 3, 4, 5, 6]), arrow()),
    "large list": pa.LargeListArray.from_arrays(pa.array([0, 1, None, 3, 4, 5, 6]), arrow()),
    "slice": pa.ListArray.from_arrays(pa.array(range(8)), pa.array(["secret", *OCCUR]).dictionary_encode())[1:],
    "fixed list": pa.FixedSizeListArray.from_arrays(arrow(), 1),
    "map": pa.MapArray.from_arrays(pa.array(range(7)), pa.array(list("uvwxyz")), arrow()),
    "dictionary": pa.DictionaryArray.from_arrays(pa.array(range(6)), arrow()),
    "extension": pa.ExtensionArray.from_storage(Own(), arrow()),
    "struct of lists": pa.StructArray.from_arrays([pa.ListArray.from_arrays(pa.array(range(7)), arrow())], ["a"]),
}


@pytest.mark.parametrize("column", NESTED.values(), ids=NESTED)
@pytest.mark.parametrize("pandas", [False, True], ids=["arrow", "pandas"])
def test_dictionaries_inside_other_types_are_tidied(column: Any, pandas: bool) -> None:
    given = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([column]))) if pandas else column
    kept = released(given, masked=False)
    array = pa.array(kept) if pandas else kept
    array.validate(full=True)
    assert (array.type, array.to_pylist()) == (column.type, column.to_pylist())


def test_enums_inside_other_types_of_polars_are_tidied() -> None:
    enum, narrow = pl.Enum(LISTED), pl.Enum(["west", "north"])
    frame = pl.DataFrame(
        {
            "x": ["a", "b", "a"],
            "list": pl.Series([["north"], [], ["west", None]], dtype=pl.List(enum)),
            "array": pl.Series([["north"], None, ["west"]], dtype=pl.Array(enum, 1)),
            "struct": pl.Series([{"a": "north"}, {"a": None}, {"a": "west"}], dtype=pl.Struct({"a": enum})),
        }
    )
    kept = nym.data_swap(frame, ["x"], rate=1.0, seed=1).data
    assert kept.drop("x").to_dict(as_series=False) == frame.drop("x").to_dict(as_series=False)
    assert kept.schema["list"] == pl.List(narrow)
    assert kept.schema["array"] == pl.Array(narrow, 1)
    assert kept.schema["struct"] == pl.Struct({"a": narrow})


@pytest.mark.parametrize(
    "column",
    [
        pa.RunEndEncodedArray.from_arrays(pa.array([6]), arrow()[:1]),
        pa.UnionArray.from_sparse(pa.array([0] * 6, pa.int8()), [arrow()]),
        pa.ListViewArray.from_arrays(pa.array([0] * 6, pa.int32()), pa.array([1] * 6, pa.int32()), arrow()),
    ],
    ids=["runs", "union", "list view"],
)
def test_what_cannot_be_tidied_is_refused_by_name(column: Any) -> None:
    with pytest.raises(DataError, match=r"column 'y': its type .* cannot be cleared of values that no record has"):
        released(column, masked=False)


def test_columns_without_anything_to_tidy_are_not_copied() -> None:
    tidy = pd.Categorical(["a", "b", "a"])
    frame = {"x": ["a", "b", "a"], "y": tidy, "z": [1, 2, 3]}
    kept = nym.data_swap(frame, ["x"], rate=1.0, seed=1).data
    assert kept["y"] is tidy
    assert kept["z"] is frame["z"]


def test_the_index_of_a_frame_lists_what_occurs() -> None:
    frame = pd.DataFrame({"x": list("abc")}, index=pd.CategoricalIndex(["u", "v", "u"], ["secret", "v", "u"], name="i"))
    index = nym.data_swap(frame, ["x"], rate=1.0, seed=1).data.index
    assert index.categories.tolist() == ["u", "v"]
    assert index.tolist() == ["u", "v", "u"]
    assert frame.index.categories.tolist() == ["secret", "v", "u"]
    several = pd.DataFrame(
        {"x": list("abcd")}, index=pd.MultiIndex.from_tuples([("secret", 1), ("u", 1), ("v", 2), ("u", 3)])
    )
    index = nym.data_swap(several[1:], ["x"], rate=1.0, seed=1).data.index
    assert [level.tolist() for level in index.levels] == [["u", "v"], [1, 2, 3]]
    assert index.equals(several.index[1:])


def test_the_order_of_an_enum_and_of_an_ordered_dictionary_is_its_own() -> None:
    frame = {"y": pl.Series(["west", "north", "east"] * 10, dtype=pl.Enum(LISTED))}
    res = nym.rank_swap(frame, {"y": nym.Order()}, k=2, method="numerical", seed=1)
    assert res.secret.comparison.before.column("y").categories == tuple(IN_ORDER)
    table = pa.table({"y": pa.chunked_array([arrow(ordered=True)] * 5)})
    res = nym.rank_swap(table, {"y": nym.Order()}, k=2, method="numerical", seed=1)
    assert res.secret.comparison.before.column("y").categories == tuple(IN_ORDER)
