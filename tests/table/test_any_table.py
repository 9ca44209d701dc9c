"""Whatever has named columns is a table: frames of known libraries come back in kind, others as Arrow tables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nominym as nym
from nominym.error import DataError

ILLNESS = ["flu", "coma", None, "gout", "flu", "gout", "flu", "coma"] * 4
AGE = [30, 60, 41, 52, 30, 60, 41, 52] * 4
TABLE = pa.table({"illness": ILLNESS, "age": AGE})
MEANINGS = {"illness": nym.Equality(), "age": nym.Order()}


def duckdb() -> Any:
    engine = pytest.importorskip("duckdb")
    connection = engine.connect()
    connection.register("visits", TABLE)
    return connection.sql("select * from visits")


def narwhals(native: Any) -> Any:
    return pytest.importorskip("narwhals").from_native(native)


KNOWN = {
    "pandas": lambda: pd.DataFrame({"illness": ILLNESS, "age": AGE}, index=range(100, 132)),
    "pandas of Arrow": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": lambda: pd.DataFrame({"illness": pd.Categorical(ILLNESS), "age": pd.array(AGE, "Int8")}),
    "pandas string": lambda: pd.DataFrame({"illness": pd.array(ILLNESS, "string[python]"), "age": AGE}),
    "polars": lambda: pl.DataFrame({"illness": ILLNESS, "age": AGE}),
    "polars subclass": lambda: type("Mine", (pl.DataFrame,), {})({"illness": ILLNESS, "age": AGE}),
    "arrow": lambda: TABLE,
    "lists": lambda: {"illness": list(ILLNESS), "age": tuple(AGE)},
    "arrays": lambda: {"illness": np.array(ILLNESS, dtype=object), "age": np.array(AGE, "i2")},
    "columns": lambda: {"illness": pl.Series(ILLNESS), "age": pd.Series(AGE, index=range(0, 64, 2))},
    "Arrow columns": lambda: {"illness": pa.array(ILLNESS), "age": pa.chunked_array([AGE[:5], AGE[5:]])},
}
OTHERS = {
    "duckdb": duckdb,
    "record batch": lambda: TABLE.to_batches()[0],
    "reader": lambda: TABLE.to_reader(max_chunksize=5),
    "narwhals over polars": lambda: narwhals(pl.DataFrame({"illness": ILLNESS, "age": AGE})),
    "narwhals over pandas": lambda: narwhals(pd.DataFrame({"illness": ILLNESS, "age": AGE})),
}


def values(frame: Any, name: str) -> list[Any]:
    found = list(frame[name].to_pylist() if hasattr(frame[name], "to_pylist") else frame[name])
    return [None if pd.isna(value) else getattr(value, "as_py", lambda value=value: value)() for value in found]


def kind(column: Any) -> str:
    return f"{type(column)} {getattr(column, 'dtype', getattr(column, 'type', ''))}"


@pytest.mark.parametrize("make", KNOWN.values(), ids=KNOWN)
def test_known_libraries_come_back_in_kind(make: Any) -> None:
    frame = make()
    res = nym.rank_swap(frame, MEANINGS, k=10, seed=1)
    expected = pl.DataFrame if isinstance(frame, pl.DataFrame) else type(frame)
    assert isinstance(res.data, expected)
    for name, given in (("illness", ILLNESS), ("age", AGE)):
        assert Counter(values(res.data, name)) == Counter(given)
        assert values(res.data, name) != given
        assert values(frame, name) == given
        assert kind(res.data[name]) == kind(frame[name])
        if isinstance(frame[name], pd.Series):
            pd.testing.assert_index_equal(res.data[name].index, frame[name].index)


@pytest.mark.filterwarnings("ignore:hardly anything changes")
@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_whatever_gives_an_arrow_stream_comes_back_as_an_arrow_table(make: Any) -> None:
    how = {"k": 4, "accept": ["age"], "seed": 1}
    res = nym.rank_swap(make(), {"illness": nym.Equality()}, **how)
    assert type(res.data) is pa.Table
    assert res.data.column_names == ["illness", "age"]
    assert Counter(values(res.data, "illness")) == Counter(ILLNESS)
    assert values(res.data, "age") == AGE
    assert res.data.equals(nym.rank_swap(TABLE, {"illness": nym.Equality()}, **how).data.cast(res.data.schema))


@pytest.mark.filterwarnings("ignore:hardly anything changes")
def test_tables_of_two_libraries_are_compared() -> None:
    res = nym.rank_swap(TABLE, MEANINGS, k=4, seed=1)
    assert nym.risk.linkage(duckdb(), pl.from_arrow(res.data), MEANINGS, k=4, seed=1) == res.linkage(seed=1)


@pytest.mark.parametrize("wrap", [lambda query: query, narwhals], ids=["polars", "narwhals"])
def test_queries_that_have_not_run_are_refused_with_the_remedy(wrap: Any) -> None:
    query = wrap(pl.LazyFrame({"illness": ILLNESS}))
    with pytest.raises(DataError, match=r"a LazyFrame has no records yet; give frame\.collect\(\)"):
        nym.data_swap(query, ["illness"], rate=0.5)


class Broken:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise RuntimeError("the connection is closed")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (Broken(), r"the Arrow stream of this Broken cannot be read \(the connection is closed\)"),
        (pa.table([[1], [2]], names=["a", "a"]), "column name 'a' occurs 2 times"),
        (pd.Series([1, 2], name="a"), "not Series"),
        (pl.Series("a", [1, 2]), "not Series"),
        (pa.array([1, 2]), "not Int64Array"),
        ([1, 2], "not list"),
        ({"a": np.array(5)}, "column 'a': a list of values is needed, not ndarray"),
        ({"a": np.zeros((2, 2))}, r"column 'a': a column of values is needed, not array of shape \(2, 2\)"),
        ({"a": {1, 2}}, "column 'a': a list of values is needed, not set"),
        ({"a": iter([1, 2])}, "column 'a': a list of values is needed, not list_iterator"),
        ({"a": pd.DataFrame({"b": [1]})}, "column 'a': a list of values is needed, not DataFrame"),
        ({"a": [1, 2], "b": [1]}, "columns of one table must have the same number of records: 'a' has 2, 'b' has 1"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_what_is_no_table_is_refused(frame: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        nym.data_swap(frame, ["a"], rate=1.0)
