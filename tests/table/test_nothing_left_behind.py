"""What a result holds is what it shows: no buffer, dictionary, note or marker tells more of the original."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nominym as nym
from nominym.table import Table

TEXTS = [f"diagnosis number {i:04}" for i in np.random.default_rng(1).permutation(300)]
BYTES = [text.encode() for text in TEXTS]
COLUMNS: dict[str, Any] = {
    **{f"arrow {kind}": pa.array(TEXTS, kind) for kind in (pa.string(), pa.large_string(), pa.string_view())},
    "arrow binary_view": pa.array(BYTES, pa.binary_view()),
    "arrow dictionary": pa.array(TEXTS).dictionary_encode(),
    "arrow dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array(range(300)), pa.array(TEXTS, pa.string_view())
    ),
    "polars String": pl.Series("v", TEXTS),
    "polars Binary": pl.Series("v", BYTES),
    "polars Categorical": pl.Series("v", TEXTS, dtype=pl.Categorical),
    "pandas object": pd.Series(TEXTS, dtype=object),
    "pandas string[python]": pd.Series(TEXTS, dtype="string[python]"),
    "pandas string[pyarrow]": pd.Series(TEXTS, dtype="string[pyarrow]"),
    "pandas string_view": pd.Series(pd.arrays.ArrowExtensionArray(pa.array(TEXTS, pa.string_view()))),
    "pandas category": pd.Series(pd.Categorical(TEXTS, TEXTS)),
}


def frame_of(values: Any) -> Any:
    if isinstance(values, pl.Series):
        return pl.DataFrame({"v": values, "id": range(len(values))})
    return (pa.table if isinstance(values, pa.Array) else pd.DataFrame)({"v": values, "id": range(len(values))})


def texts_in(data: Any) -> list[bytes]:
    return re.findall(rb"diagnosis number \d{4}", pickle.dumps(data))


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("k", [2, 300])
def test_no_buffer_has_the_original_order(values: Any, k: int) -> None:
    res = nym.rank_swap(frame_of(values), {"v": nym.Equality()}, k=k, accept=["id"], seed=1)
    assert texts_in(res) != BYTES
    assert texts_in(res.data) != BYTES
    assert sorted(set(texts_in(res.data))) == sorted(BYTES)


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_rows_that_were_cut_away_are_in_no_buffer(values: Any) -> None:
    frame = frame_of(values)
    part = frame[5:20] if not isinstance(frame, pa.Table) else frame.slice(5, 15)
    assert set(texts_in(Table(part).replaced({}).data)) <= set(BYTES[5:20])


def test_numbers_that_were_cut_away_are_in_no_buffer() -> None:
    table = pa.table({"n": range(1000), "l": [[i] for i in range(1000)]}).slice(3, 2)
    after = Table(table).replaced({}).data
    assert after.equals(table)
    assert len(pickle.dumps(after)) < 2000


def test_notes_of_other_programs_are_dropped() -> None:
    inner = pa.field("item", pa.int64(), metadata={"who": "SECRET"})
    fields = [pa.field("d", pa.string(), metadata={"path": "SECRET"}), pa.field("l", pa.list_(inner))]
    table = pa.table([["a", "b"], [[1], [2]]], schema=pa.schema(fields, {"source": "SECRET", "pandas": "{}"}))
    after = Table(table).replaced({}).data
    assert after.equals(table)
    assert "SECRET" not in after.schema.to_string(show_field_metadata=True, show_schema_metadata=True)
    assert after.schema.metadata == {b"pandas": b"{}"}
    frame = pd.DataFrame({"d": ["a", "b"]})
    frame.attrs["source"] = "SECRET"
    assert Table(frame).replaced({}).data.attrs == {}
    assert frame.attrs == {"source": "SECRET"}


@pytest.mark.filterwarnings("ignore:the index of the table:nominym.PrivacyWarning")
def test_levels_of_an_index_list_what_occurs() -> None:
    level = pd.Categorical(["a", "b"] * 10, categories=["SECRET", "b", "a"])
    frame = pd.DataFrame({"d": ["x", "y"] * 10}, index=pd.MultiIndex.from_arrays([level, range(20)], names=["l", None]))
    with pytest.warns(nym.PrivacyWarning, match="hardly anything changes"):
        after = nym.rank_swap(frame, {"d": nym.Equality()}, k=4).data
    assert after.index.levels[0].categories.tolist() == ["a", "b"]
    assert after.index.tolist() == frame.index.tolist()
    assert after.index.names == frame.index.names


@pytest.mark.parametrize("of", [pl.List, lambda inner: pl.Struct({"f": inner})], ids=["list", "struct"])
def test_no_file_lists_values_that_no_record_has(of: Any, tmp_path: Path) -> None:
    dtype = of(pl.Enum(["SECRET", "a", "b"]))
    inside = [["a"], ["b"]] if isinstance(dtype, pl.List) else [{"f": "a"}, {"f": "b"}]
    frame = pl.DataFrame({"d": [*"xyzxyzuvwwyxxuvzuvwy"], "v": pl.Series(inside * 10, dtype=dtype)})
    frame.write_parquet(tmp_path / "in.parquet")
    for source in (frame, tmp_path / "in.parquet"):
        path = tmp_path / "out.parquet"
        roles = {"d": "quasi-identifier", "v": "keep"}
        nym.publish(source, path, roles, nym.RankSwap(k=4), {"d": nym.Equality()}, overwrite=True)
        shown = pq.read_schema(path).to_string(show_field_metadata=True, show_schema_metadata=True)
        assert "SECRET" not in shown
        assert b"SECRET" not in path.read_bytes()
        assert sorted(map(str, pq.read_table(path)["v"].to_pylist())) == sorted(map(str, inside * 10))


@pytest.mark.parametrize("first", [None, float("nan"), pd.NA], ids=str)
@pytest.mark.parametrize("make", [list, tuple, lambda v: pd.Series(v, dtype=object), lambda v: np.array(v, object)])
def test_missing_values_that_moved_are_all_none(first: Any, make: Any) -> None:
    table = {"v": make(["a", first, "b", None, float("nan"), pd.NA, "a", "b"])}
    after = nym.data_swap(table, ["v"], rate=1.0, seed=1).data["v"]
    assert sum(value is None for value in after) == 4


@pytest.mark.parametrize("hidden", [5, 77])
def test_missing_values_that_moved_hide_nothing(hidden: int) -> None:
    numbers, gaps = np.array([1, hidden, 2, hidden, 3, 4]), np.array([0, 1, 0, 1, 0, 0], dtype=bool)
    columns = {
        "pandas": pd.arrays.IntegerArray(numbers, gaps),
        "arrow": pa.Array.from_buffers(pa.int64(), 6, [pa.array(~gaps).buffers()[1], pa.py_buffer(numbers)]),
        "masked": np.ma.array(numbers, mask=gaps),
    }
    after = nym.data_swap(columns, list(columns), rate=1.0, seed=1).data
    assert hidden not in after["pandas"]._data
    assert hidden not in np.frombuffer(after["arrow"].buffers()[1], np.int64)
    assert hidden not in after["masked"].data
