"""Tables in files: what is read is what is written, in batches of any size."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nominym as nym
from nominym.error import DataError, FormatError, ParameterError, UnknownColumnError
from nominym.release import files, meanings, parquet, text
from nominym.release.columns import in_order, inverse

CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x00"), max_size=6)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything takes several batches."""
    monkeypatch.setattr(text, "_LINES", 3)
    monkeypatch.setattr(parquet, "_ROWS", 3)


@given(
    rows=st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=8),
    delimiter=st.sampled_from(",;\t|"),
)
def test_text_goes_out_and_in(tmp_path_factory: pytest.TempPathFactory, rows: list, delimiter: str) -> None:
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    columns = {"x": [x or None for x, _ in rows], 'y, "of" x': [y or None for _, y in rows]}
    nym.release.write_table(columns, path, delimiter=delimiter)
    # The standard library reads the same.
    read = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""), delimiter=delimiter))
    assert read[0] == list(columns)
    assert [tuple(row) for row in read[1:]] == [(x, y) for x, y in rows]
    back = nym.release.read_table(path, delimiter=delimiter)
    assert {name: back[name].to_pylist() for name in columns} == columns


def test_text_is_not_interpreted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    text = "id,n,when\n007,1.50,NaN\n 08 ,1e3,NULL\n-0,true,2024-01-01\n"
    path.write_text(text)
    back = nym.release.read_table(path)
    assert back["id"].to_pylist() == ["007", " 08 ", "-0"]
    nym.release.write_table(back, tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == text


def test_many_batches_make_one_dictionary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_BLOCK", 64)
    path = tmp_path / "a.csv"
    values = [f"v{i % 7}" for i in range(500)]
    path.write_text("x,y\n" + "".join(f"{value},{i}\n" for i, value in enumerate(values)))
    seen: list[tuple[int, int]] = []
    back = nym.release.read_table(path, ["x"], progress=lambda done, total: seen.append((done, total)))
    assert back["x"].to_pylist() == values
    assert back["x"].num_chunks == 1
    assert len(back["x"].chunk(0).dictionary) == 7
    assert seen[-1][0] == seen[-1][1] == path.stat().st_size


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.parquet", "a.TXT"])
def test_by_name(tmp_path: Path, name: str) -> None:
    columns = {"x": ["flu", None, "a,b", "a\tb"]}
    nym.release.write_table(columns, tmp_path / name)
    assert nym.release.read_table(tmp_path / name)["x"].to_pylist() == columns["x"]


def test_one_column_with_gaps_keeps_its_records(tmp_path: Path) -> None:
    nym.release.write_table({"x": [None, "a", None]}, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == 'x\n""\na\n""\n'
    assert nym.release.read_table(tmp_path / "a.csv")["x"].to_pylist() == [None, "a", None]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    columns = {"é": ["ä", "b", None, "ö", "ü"], "y": ["1", "2", "3", "4", "5"]}
    nym.release.write_table(columns, path, encoding=encoding)
    assert path.read_text(encoding=encoding).splitlines()[:2] == ["é,y", "ä,1"]
    back = nym.release.read_table(path, encoding=encoding)
    assert {name: back[name].to_pylist() for name in back.column_names} == columns
    if encoding == "latin-1":
        with pytest.raises(DataError, match="cannot be written as latin-1"):
            nym.release.write_table({"x": ["€"]}, tmp_path / "b.csv", encoding=encoding)
        assert not (tmp_path / "b.csv").exists()


def test_parquet_types_and_dictionaries(tmp_path: Path) -> None:
    given = pa.table(
        {
            "text": pa.array(["b", "a", None, "b"]),
            "large": pa.array(["b", "a", None, "b"], pa.large_string()),
            "kind": pa.array(["b", "a", None, "b"]).dictionary_encode(),
            "level": pa.DictionaryArray.from_arrays(pa.array([1, 0, 0, 1], pa.int8()), ["low", "high"], ordered=True),
            "number": pa.array([1, None, 3, 4], pa.int16()),
            "list": pa.array([[1], [], None, [2, 3]]),
        }
    ).replace_schema_metadata({"pandas": '{"index_columns": ["who"]}'})
    pq.write_table(given, tmp_path / "a.parquet")
    back = nym.release.read_table(tmp_path / "a.parquet")
    assert pa.types.is_dictionary(back["text"].type)
    types = {field.name: field.type for field in pq.read_schema(tmp_path / "a.parquet")}
    nym.release.write_table(back, tmp_path / "b.parquet", types=types)
    after = pq.read_table(tmp_path / "b.parquet")
    assert after.schema.metadata is None
    assert after.to_pylist() == given.to_pylist()
    for name in ("text", "large", "number", "list"):
        assert after[name].type == given[name].type
    # By name, not by who came first; but an order is kept.
    assert after["kind"].unify_dictionaries().chunk(0).dictionary.to_pylist() == ["a", "b"]
    assert after["level"].type.ordered
    nym.release.write_table(back, tmp_path / "c.parquet")
    assert pq.read_schema(tmp_path / "c.parquet").field("kind").type == pa.string()


def test_tables_of_other_libraries(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    columns = {"x": ["a", "b"], "y": [1, 2]}
    expected = "x,y\na,1\nb,2\n"
    frames = [columns, pd.DataFrame(columns, index=["P1", "P2"]), pl.DataFrame(columns), pa.table(columns)]
    frames += [pa.table(columns).to_reader(), pa.table(columns).to_batches()[0]]
    for i, frame in enumerate(frames):
        nym.release.write_table(frame, tmp_path / f"{i}.csv")
        assert (tmp_path / f"{i}.csv").read_text() == expected
    with pytest.raises(FileExistsError, match="overwrite=True"):
        nym.release.write_table(columns, tmp_path / "0.csv")


def test_missing_texts(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\nNA,NA\nb,-\n?,b\n")
    assert nym.release.read_table(path, na=["NA", "?"]).to_pydict() == {"x": [None, "b", None], "y": [None, "-", "b"]}
    assert nym.release.read_table(path, na={"x": ["?"]}).to_pydict() == {"x": ["NA", "b", None], "y": ["NA", "-", "b"]}


def test_what_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n")
    with pytest.raises(UnknownColumnError, match=r"no column 'z' in the table .*a\.csv; there are 'x', 'y'"):
        nym.release.read_table(path, ["z"])
    for delimiter in ("ab", "", "§", '"', ["x"], 3):
        with pytest.raises(ParameterError, match="delimiter="):
            nym.release.read_table(path, delimiter=delimiter)
    for encoding in ("klingon", "base64", ["utf-8"], None, "\0"):
        with pytest.raises(ParameterError, match="no such text encoding"):
            nym.release.read_table(path, encoding=encoding)
    path.write_bytes("é\nä\n".encode("latin-1"))
    for encoding in ("utf-8", "utf-16", "utf-32", "ascii"):
        with pytest.raises(FormatError, match=f"not {encoding} text"):
            nym.release.read_table(path, encoding=encoding)
    with pytest.raises(FormatError, match="is a folder"):
        nym.release.read_table(tmp_path)
    packed = tmp_path / "a.csv.gz"
    packed.write_text("not packed")
    with pytest.raises(FormatError, match=r"a\.csv\.gz.*expected a gzip file"):
        nym.release.read_table(packed)
    packed.write_bytes(gzip.compress(b"x,y\n" + b"1,2\n" * 9)[:-9])
    with pytest.raises(FormatError, match=r"a\.csv\.gz.*expected a gzip file"):
        nym.release.read_table(packed)


def test_parquet_that_was_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    nym.release.write_table({"x": ["a", "b"] * 5000, "y": list(range(10000))}, path)
    content = path.read_bytes()
    for kept in (0, 3, 100, len(content) // 2, len(content) - 4):
        path.write_bytes(content[:kept])
        with pytest.raises(FormatError, match=r"a\.parquet"):
            nym.release.read_table(path)
    path.write_bytes(content[:200] + bytes(len(content) // 2) + content[200 + len(content) // 2 :])
    with pytest.raises(FormatError, match=r"a\.parquet"):
        nym.release.read_table(path)


def test_fingerprints(tmp_path: Path) -> None:
    for name in ("a.csv", "a.csv.gz", "a.parquet"):
        path = tmp_path / name
        nym.release.write_table({"x": ["a", "b"] * 5_000, "y": ["c"] * 10_000}, path)
        with files.open_table(path) as table:
            files.read_columns(table, ["x"])
            found = table.fingerprint()
        content = path.read_bytes()
        assert found == {"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def test_rows_in_another_order() -> None:
    rows = np.array([2, 0, 1], dtype=np.uint32)
    given = pa.table({"x": pa.chunked_array([["a"], ["b", "c"]])})
    shuffled = in_order(given, inverse(rows))
    # Record i is in row rows[i].
    assert shuffled["x"].to_pylist() == ["b", "c", "a"]
    assert in_order(shuffled, rows)["x"].to_pylist() == ["a", "b", "c"]


# ---- what values mean by themselves


@pytest.mark.parametrize(
    "texts",
    [["7", "-12.5", None, "0", "+3", " 39", "1e-05", "2.5e+10", ".5", "5."], ["0", "1"], ["999999999999999999"]],
)
def test_texts_that_are_numbers(texts: list[str | None]) -> None:
    for made in (pa.array(texts), pa.array(texts).dictionary_encode(), pa.chunked_array([texts, texts])):
        assert meanings.natural_meaning(made) == (nym.Order(), None)
    table = pa.table({"x": pa.array(texts).dictionary_encode()})
    numbers, again = meanings.with_numbers(table, table, ["x"])
    assert numbers == again
    found = [None if number is None else float(number) for number in numbers["x"].to_pylist()]
    assert found == [None if text is None else float(text) for text in texts]


@pytest.mark.parametrize(
    ("texts", "other"),
    [
        (["007", "12"], None),  # a code
        (["1", "2", "3", "012"], None),
        (["1", "2", "3", "?"], "?"),
        (["1", "2", "3", "1,000"], "1,000"),
        (["1", "?", "!"], None),  # numbers by chance
        (["1E5"], None),
        (["e+5"], None),
        (["."], None),
        (["nan"], None),
        (["inf"], None),
        (["1_000"], None),
        (["1e+999"], None),
        (["9" * 30], None),
        (["2024-01-31"], None),
        (["flu"], None),
        ([None], None),
        ([], None),
    ],
)
def test_texts_that_are_no_numbers(texts: list[str | None], other: str | None) -> None:
    column = pa.array(texts, pa.string())
    assert meanings.natural_meaning(column) == (nym.Equality(), other)
    table = pa.table({"x": column})
    assert meanings.with_numbers(table, table, ["x"]) == (table, table)


def test_types_that_go_by_size() -> None:
    days = pd.to_datetime(["2024-01-01", None])
    for ordered in ([1, None], [1.5, float("nan")], days, days.date, days - days[0], [Decimal("1.5")]):
        assert meanings.natural_meaning(pa.array(ordered, from_pandas=True)) == (nym.Order(), None)
    grades = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["low", "high"]), ordered=True)
    assert meanings.natural_meaning(grades) == (nym.Order(), None)
    for others in ([True, False], [1.5, float("inf")], [[1]], [b"1"]):
        assert meanings.natural_meaning(pa.array(others)) == (nym.Equality(), None)
    # Both files have a say.
    assert meanings.natural_meaning(pa.array(["1"]), pa.array(["a"])) == (nym.Equality(), None)
    assert meanings.natural_meaning(pa.array([1]), pa.array(["1"])) == (nym.Equality(), None)


def test_a_type_and_its_text_are_alike(tmp_path: Path) -> None:
    """What was Parquet and became text is compared as text; equal values are equal."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "whole": rng.integers(0, 9, 50),
            "number": rng.normal(size=50),
            "truth": rng.random(50) < 0.5,
            "day": pd.to_datetime(rng.integers(0, 9, 50), unit="D"),
            "kind": pd.Categorical(rng.choice(["a", "b"], 50)),
        }
    )
    frame.loc[3, "number"] = None
    frame.to_parquet(tmp_path / "a.parquet")
    original = nym.release.read_table(tmp_path / "a.parquet")
    nym.release.write_table(original, tmp_path / "a.csv")
    both = meanings.alike(original, nym.release.read_table(tmp_path / "a.csv"))
    comparison = nym.table.Comparison.of(*both, {})
    for name in frame:
        before, after, _ = comparison.coded(name)
        assert np.array_equal(before, after), name
