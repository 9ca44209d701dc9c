from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from nominym.error import FormatError, ParameterError
from nominym.meaning.read import FORMATS, read_concepts

if TYPE_CHECKING:
    from pathlib import Path


def test_edges_and_arx_are_told_by_content(tmp_path: Path) -> None:
    arx = tmp_path / "a.csv"
    arx.write_text("x;low;*\ny;low;*\n")
    assert read_concepts(arx).ids == ["x", "low", "*", "y"]

    edges = tmp_path / "b.txt"
    edges.write_text("code,other,parent\nx,1,low\nlow,1,\n")
    assert read_concepts(edges).ids == ["x", "low"]

    neither = tmp_path / "c.tsv"
    neither.write_text("x,1,y\nz,2,x\n")
    with pytest.raises(FormatError, match=r"c\.tsv, line 1: 3 columns, and no column names"):
        read_concepts(neither)


def test_a_named_column_means_edges(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("kind,above,end\nx,y,*\nz,y,*\n")
    assert read_concepts(path, child="kind", parent="above").child == ["x", "z"]


def test_two_columns_read_equal_either_way(tmp_path: Path) -> None:
    path = tmp_path / "sex.csv"
    path.write_text("Male;*\nFemale;*\n")
    edges, arx = read_concepts(path), read_concepts(path, format="arx")
    assert (edges.ids, edges.child, edges.parent) == (arx.ids, arx.child, arx.parent)


def test_a_ragged_hierarchy_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x;low;*\ny;*\n")
    with pytest.raises(FormatError, match=r"a\.csv, line 2: 2 cells, but 3 in line 1"):
        read_concepts(path)


@pytest.mark.parametrize("suffix", [".obo", ".OBO", ".json", ".parquet"])
def test_suffix_chooses_the_reader(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"")
    expected = {
        ".obo": r"holds no concept: expected \[Term\]",
        ".json": "holds no concept: expected an object",
        ".parquet": "not a readable Parquet file",
    }
    with pytest.raises(FormatError, match=expected[suffix.lower()]):
        read_concepts(path)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("data.noun", "no file index.noun"),
        ("data.verb", "no file index.noun"),
        ("Snapshot/Terminology/sct2_Concept_Snapshot_INT_20240101.txt", "holds no concept"),
        ("deep/er/sct2_Concept_UKCLSnapshot_GB_20240101.txt", "holds no concept"),
    ],
)
def test_folders_are_told_by_their_files(tmp_path: Path, file: str, message: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    with pytest.raises(FormatError, match=message):
        read_concepts(tmp_path)


@pytest.mark.parametrize("name", ["taxonomy.doc", "taxonomy", "folder/"])
def test_unknown_kinds_list_the_formats(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("/"):
        path.mkdir()
    else:
        path.write_text("x")
    with pytest.raises(FormatError, match=re.escape(str(path))) as caught:
        read_concepts(path)
    assert all(name in str(caught.value) for name in FORMATS)


def test_unknown_format_lists_the_formats(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="format='ofn': unknown; use one of edges, levels"):
        read_concepts(tmp_path, format="ofn")
    path = tmp_path / "sex.csv"
    path.write_text("F,*\nM,*\n")
    for wrong in ({"format": ["arx"]}, {"encoding": ["utf-8"]}, {"encoding": "punycode"}, {"delimiter": [","]}):
        with pytest.raises(ParameterError, match=f"{next(iter(wrong))}="):
            read_concepts(path, **wrong)
    with pytest.raises(ParameterError, match="is not a file name"):
        read_concepts("sex\0.csv")


@pytest.mark.parametrize("kind", [None, "edges", "snomed"])
def test_absent_paths_are_named(tmp_path: Path, kind: str | None) -> None:
    with pytest.raises(FileNotFoundError, match=r"not one of icd-9-cm, icd-9-cm-procedures, icd-10-cm: '.*icd9\.csv'"):
        read_concepts(tmp_path / "icd9.csv", format=kind)


def test_options_of_another_format_name_those_it_takes(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{}")
    with pytest.raises(ParameterError, match=r"label=.*the format 'json' has no such option; it takes none"):
        read_concepts(path, label="x")
    with pytest.raises(ParameterError, match=r"child=.*'arx' has no such option; it takes delimiter, encoding"):
        read_concepts(path, format="arx", child="x")
    with pytest.raises(ParameterError, match=r"pos=.*'icd-10-cm' has no such option; it takes extended"):
        read_concepts("icd-10-cm", pos="noun")


@pytest.mark.parametrize("kind", ["edges", "levels", "arx", "obo", "owl", "skos", "claml", "fhir", "json", "parquet"])
def test_a_folder_is_no_file(tmp_path: Path, kind: str) -> None:
    with pytest.raises(FormatError, match="is a folder; this format is a single file"):
        read_concepts(tmp_path, format=kind)


@pytest.mark.parametrize("kind", ["snomed", "wordnet"])
def test_a_file_is_no_folder(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    with pytest.raises(FormatError, match=r"a\.txt is not a folder; pass the"):
        read_concepts(path, format=kind)


def test_text_paths_and_source(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n")
    assert read_concepts(str(path)).source == str(path)
