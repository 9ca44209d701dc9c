"""Releases by microaggregation of columns of every type, from file to file."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nominym as nym
from nominym.error import DataError
from nominym.release import read_table, write_table

N = 60
WHOLE = [i * i % 97 for i in range(N)]
MOMENTS = [datetime(2020, 3, 1) + timedelta(hours=13 * x) for x in WHOLE]
NUMBERS: dict[str, Any] = {
    **{str(kind): pa.array(WHOLE, kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())},
    **{str(kind): pa.array(WHOLE, kind) for kind in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())},
    "half": pa.array(np.array(WHOLE, dtype=np.float16) / 8),
    "float": pa.array(np.array(WHOLE) / 7, pa.float32()),
    "double": pa.array(np.array(WHOLE) / 7),
    "decimal": pa.array([Decimal(x) / 100 for x in WHOLE], pa.decimal128(6, 2)),
    "string": pa.array(list(map(str, WHOLE))),
    "large_string": pa.array(list(map(str, WHOLE)), pa.large_string()),
    "dictionary": pa.array(list(map(str, WHOLE))).dictionary_encode(),
}
OTHERS: dict[str, Any] = {
    "date32": pa.array([date(2020, 1, 1) + timedelta(days=x) for x in WHOLE]),
    "timestamp": pa.array(MOMENTS, pa.timestamp("ms")),
    "timestamp_ns": pa.array(MOMENTS, pa.timestamp("ns")),
    "zone": pa.array(MOMENTS, pa.timestamp("us", "Europe/Berlin")),
    "time": pa.array([time(x // 5, x % 60) for x in WHOLE], pa.time64("us")),
    "bool": pa.array([x % 3 == 0 for x in WHOLE]),
    "ordered": pa.DictionaryArray.from_arrays(
        pa.array([x % 4 for x in WHOLE], pa.int8()), pa.array(["low", "middle", "high", "top"]), ordered=True
    ),
}
KEEP_THEIRS = {"half", "float", "double", "string", "large_string", "dictionary", "date32", "time", "ordered"}
KEEP_THEIRS |= {"timestamp", "timestamp_ns", "zone"}


@pytest.mark.parametrize("replace", ["mean", "subsumer"])
@pytest.mark.parametrize("meaning", [nym.Order(), nym.Equality()], ids=["order", "equality"])
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_every_type_is_written(replace: Any, meaning: nym.Meaning, suffix: str, tmp_path: Path) -> None:
    # A CSV file has no types: dates and truths are texts without an order.
    columns = NUMBERS if suffix == "csv" and meaning == nym.Order() else {**NUMBERS, **OTHERS}
    source, target = tmp_path / f"source.{suffix}", tmp_path / f"release.{suffix}"
    if suffix == "parquet":
        pq.write_table(pa.table(columns), source)
    else:
        write_table(columns, source)
    roles, meanings = dict.fromkeys(columns, "quasi-identifier"), dict.fromkeys(columns, meaning)
    made = nym.publish(source, target, roles, nym.Microaggregate(k=4, replace=replace), meanings)
    back = pq.read_table(target) if suffix == "parquet" else read_table(target)
    assert nym.risk.classes(back, list(columns)).smallest >= 4
    for name in columns:
        written, held = (texts_of(table, name) for table in (back, made.result.data))
        assert len(set(written)) == len(set(held)) == made.manifest.summary["attributes"][name]["values"]
    if suffix == "parquet":
        for name, column in columns.items():
            kind = back.schema.field(name).type
            text = name in ("string", "large_string", "dictionary")
            if text or (replace == "mean" and (meaning == nym.Equality() or name in KEEP_THEIRS)):
                both = pa.types.is_dictionary(kind) and pa.types.is_dictionary(column.type)
                assert both or kind == column.type, name
            else:
                assert kind == (pa.float64() if replace == "mean" else pa.string()), name


def texts_of(table: Any, name: str) -> list[str]:
    """Return a column as texts."""
    values = table[name]
    return [str(value) for value in (values.to_pylist() if hasattr(values, "to_pylist") else values)]


def test_an_error_does_not_quote_a_value(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="column 'x': its values do not fit the type int64") as caught:
        write_table({"x": [1.2345, 2.0]}, tmp_path / "x.parquet", types={"x": pa.int64()})
    assert "1.2345" not in str(caught.value)
    assert caught.value.__suppress_context__
