"""Damaged taxonomy files of our own formats are refused when they are read, or are taxonomies."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nominym as nym
from damage import damaged_bytes, damaged_content, outcome
from nominym.error import SizeError, TaxonomyError
from nominym.meaning.read import native

TAX = nym.Taxonomy.from_edges(
    [(f"{i:02}", f"{i // 2:02}") for i in range(1, 12)] + [("07", "02")],
    labels={"03": "Three", "07": "Sieben, ö"},
    synonyms={"05": ["fünf", "five"]},
)


def check(path: Path) -> bool:
    """Read a taxonomy and use it: the file is refused, by its name, or nothing goes wrong."""
    tax, refusal = outcome(lambda: nym.read_taxonomy(path), TaxonomyError)
    if refusal is not None:
        assert str(path) in str(refusal)
        return False
    tax.distance_matrix(list(tax))
    result = nym.add_noise({"x": list(tax)[:1] * 3}, {"x": tax}, method="probabilistic", seed=1)
    assert len(result.data["x"]) == 3
    assert [tax.label(name) for name in tax]
    tax.save(path)
    assert nym.read_taxonomy(path).ids == tax.ids
    return True


@pytest.mark.parametrize("name", ["t.json", "t.parquet", "t.csv"])
def test_other_bytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "t.csv":
        held = TAX.to_concepts()
        rows = [f"{child},{parent}\n" for child, parent in zip(held.child, held.parent, strict=True)]
        path.write_text("child,parent\n" + "".join(rows))
    else:
        TAX.save(path)
    data = path.read_bytes()
    for other in damaged_bytes(data, Random(name), 500):
        path.write_bytes(other)
        if name == "t.csv":
            tax, refusal = outcome(lambda: nym.read_taxonomy(path), TaxonomyError)
            assert tax or str(path) in str(refusal)
        else:
            check(path)


def test_other_content(tmp_path: Path) -> None:
    path, loaded = tmp_path / "t.json", 0
    TAX.save(path)
    content = json.loads(path.read_text())
    for other in damaged_content(content, Random(1), 1000):
        path.write_text(json.dumps(other))
        loaded += check(path)
    assert 0 < loaded < 900


def test_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    TAX.save(path)
    table = pq.read_table(path)
    rows: list[dict[str, Any]] = table.to_pylist()
    ids = table["id"]
    for other in (
        table.drop_columns("label"),
        table.append_column("more", ids),
        table.slice(0, 0),
        table.slice(3),
        table.set_column(0, "id", pa.array(range(len(rows)))),
        table.set_column(0, "id", pa.array([None] * len(rows), pa.string())),
        table.set_column(0, "id", pa.array(["x"] * len(rows))),
        table.set_column(2, "parents", pa.array([["nobody"]] * len(rows))),
        table.set_column(2, "parents", pa.array([[None]] * len(rows), pa.list_(pa.string()))),
        table.set_column(2, "parents", ids),
        table.replace_schema_metadata({"format": native.NAME, "version": "7"}),
        table.replace_schema_metadata({"format": native.NAME, "version": "²"}),
        table.replace_schema_metadata({b"format": b"\xff", b"version": b"1"}),
        table.replace_schema_metadata(None),
    ):
        pq.write_table(other, path)
        assert not check(path)


def test_more_concepts_than_there_is_memory_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes can say that one concept is there any number of times."""
    path, column = tmp_path / "t.parquet", pa.DictionaryArray.from_arrays(pa.array([0] * 10**6, pa.int8()), ["x"])
    empty = pa.array([None] * 10**6, pa.list_(pa.string()))
    texts = column.cast(pa.string())
    table = pa.table([texts, pa.nulls(10**6, pa.string()), empty, empty], names=["id", "label", "parents", "synonyms"])
    pq.write_table(table.replace_schema_metadata({"format": native.NAME, "version": "1"}), path)
    assert path.stat().st_size < 10**5
    monkeypatch.setattr("nominym.control.free_memory", lambda *_: 10**8)
    monkeypatch.setattr("pyarrow.parquet.ParquetFile.read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(SizeError, match=r"t\.parquet with 1,000,000 concepts needs"):
        nym.read_taxonomy(path)
