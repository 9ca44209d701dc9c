from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nominym.atomic import write_atomic
from nominym.error import FormatError
from nominym.meaning import Concepts
from nominym.meaning.read import read_concepts
from nominym.meaning.read.native import read_json, read_parquet, write_json, write_parquet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRITERS = {".json": write_json, ".parquet": write_parquet}

FULL = Concepts(
    ids=["b", "*", 'a "q"\n', "é😀", "lone"],
    child=["b", 'a "q"\n', 'a "q"\n', "é😀"],
    parent=["*", "é😀", "b", "*"],
    labels={"b": "B", "lone": "", "é😀": "\u2028 label"},
    synonyms={"b": ["second", "first", ""], "é😀": ["\\u0041"]},
    source="elsewhere",
)


@pytest.mark.parametrize("suffix", WRITERS)
def test_everything_comes_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    WRITERS[suffix](FULL, path)
    back = read_concepts(path)
    assert back == Concepts(FULL.ids, FULL.child, FULL.parent, FULL.labels, FULL.synonyms, source=str(path))


@pytest.mark.parametrize("suffix", WRITERS)
def test_links_come_back_by_concept(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    mixed = Concepts(ids=["*", "a", "b"], child=["b", "a", "b"], parent=["a", "*", "*"], synonyms={"a": []})
    WRITERS[suffix](mixed, path)
    back = read_concepts(path)
    assert list(zip(back.child, back.parent, strict=True)) == [("a", "*"), ("b", "a"), ("b", "*")]
    assert back.synonyms == {}


@pytest.mark.parametrize("suffix", WRITERS)
def test_failed_writing_leaves_the_old_file_alone(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text("old")
    with pytest.raises(ValueError, match="shorter"):
        WRITERS[suffix](Concepts(ids=["a"], child=["a"], parent=[]), path)

    def full(descriptor: int) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        WRITERS[suffix](FULL, path)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["old"]


def test_written_files_have_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    write_json(FULL, tmp_path / "a.json")
    modes = {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    assert len(modes) == 1


def test_writing_into_no_folder_names_it(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match=r"no folder .*absent to write a\.json into"),
        write_atomic(tmp_path / "absent" / "a.json"),
    ):
        pass


def document(**changes: Any) -> str:
    return json.dumps({"format": "nominym-taxonomy", "version": 1, "concepts": [{"id": "a"}]} | changes)


def concepts(*entries: Any) -> str:
    return document(concepts=list(entries))


def test_json_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("\ufeff" + concepts({"id": "a", "label": None}, {"id": "a", "parents": ["x", "x"]}))
    back = read_json(path)
    assert back == Concepts(["a", "a"], ["a", "a"], ["x", "x"], source=str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"a\.json holds no concept: expected an object"),
        (concepts(), r"a\.json holds no concept"),
        ('{"format":\n"nominym-taxonomy",}', r"a\.json, line 2: .*\(column \d+\); correct the JSON"),
        ("[" * 200_000, r"a\.json: nested too deeply; correct the JSON"),
        ("[]", r"a\.json is not a nominym taxonomy: its format is None, not 'nominym-taxonomy'"),
        (document(format="obographs"), r"a\.json is not a nominym taxonomy: its format is 'obographs'"),
        (document(version=2), r"a\.json is of version 2 and this nominym reads version 1; upgrade nominym"),
        (document(concepts={"a": 1}), r'a\.json: "concepts" is not a list'),
        (concepts({"id": "a"}, "b"), r"a\.json, concept 2: 'b' is not an object; expected keys: \['id', "),
        (concepts({"id": 1}), r"a\.json, concept 1: the id 1 is not a string"),
        (concepts({"label": "x"}), r"a\.json, concept 1: the id None is not a string"),
        (concepts({"id": "a", "parent": "b"}), r"a\.json, concept 1: unknown key 'parent'"),
        (concepts({"id": "a", "label": 1}), r"a\.json, concept 1: the label of 'a' is not a string"),
        (
            concepts({"id": "a", "parents": "b"}),
            r"a\.json, concept 1: parents of 'a' is not a list of strings",
        ),
        (
            concepts({"id": "a", "synonyms": [1]}),
            r"a\.json, concept 1: synonyms of 'a' is not a list of strings",
        ),
        (
            concepts({"id": "a"}).replace('"a"', '"a", "id": "b"'),
            r"a\.json: a key is given twice among \['id', 'id'\]",
        ),
        (concepts({"id": "\ud800"}), r"a\.json: .*surrogates not allowed; correct the JSON"),
    ],
)
def test_bad_json(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_json(path)


def test_json_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes('{"format":\n"é"}'.encode("latin-1"))
    with pytest.raises(FormatError, match=r"a\.json, line 2: byte 12 \(0xe9\) .* convert the file to UTF-8"):
        read_json(path)


def test_parquet_layout(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(FULL, path)
    table = pq.read_table(path)
    assert table.schema.metadata == {b"format": b"nominym-taxonomy", b"version": b"1"}
    assert table.to_pylist()[1] == {"id": "*", "label": None, "parents": [], "synonyms": []}


def change(metadata: dict[str, str] | None = None, **columns: pa.Array) -> Callable[[pa.Table], pa.Table]:
    def apply(table: pa.Table) -> pa.Table:
        for name, column in columns.items():
            table = table.set_column(table.schema.get_field_index(name), name, column)
        return table if metadata is None else table.replace_schema_metadata(metadata)

    return apply


@pytest.mark.parametrize(
    ("apply", "message"),
    [
        (change({}), r"a\.parquet is not a nominym taxonomy: its format is ''"),
        (change({"format": "x"}), r"a\.parquet is not a nominym taxonomy: its format is 'x'"),
        (change({"format": "nominym-taxonomy", "version": "2"}), "is of version 2 .* upgrade nominym"),
        (change({"format": "nominym-taxonomy"}), "is of version '' .* upgrade nominym"),
        (change(label=pa.array([1])), "has columns other than id, label, parents, synonyms; write it again"),
        (lambda table: table.drop_columns(["synonyms"]), "has columns other than id, label"),
        (lambda table: table.slice(0, 0), r"a\.parquet holds no concept"),
        (change(parents=pa.array([[None]], pa.list_(pa.string()))), "a null within parents; write it again"),
    ],
)
def test_bad_parquet(tmp_path: Path, apply: Callable[[pa.Table], pa.Table], message: str) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(Concepts(ids=["a"], child=[], parent=[]), path)
    pq.write_table(apply(pq.read_table(path)), path)
    with pytest.raises(FormatError, match=message):
        read_parquet(path)


def test_broken_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_parquet(FULL, path)
    whole = path.read_bytes()
    for content in (b"", b"id,parent\na,b\n", whole[:-20], whole[:4] + b"\xff" * 60 + whole[64:]):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"a\.parquet is not a readable Parquet file: .*"):
            read_parquet(path)
