from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nominym.error import FormatError, ParameterError
from nominym.meaning.read.tables import read_edges

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nominym.meaning import Concepts


def read(tmp_path: Path, text: str | bytes, **options: str) -> Concepts:
    path = tmp_path / "links.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_edges(path, **options)


def links(concepts: Concepts) -> list[tuple[str, str]]:
    return list(zip(concepts.child, concepts.parent, strict=True))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_are_sniffed(tmp_path: Path, delimiter: str, end: str) -> None:
    text = end.join(delimiter.join(row) for row in [("dog", "animal"), ("cat", "animal"), ("animal", "thing")])
    concepts = read(tmp_path, text + end)
    assert concepts.ids == ["dog", "animal", "cat", "thing"]
    assert links(concepts) == [("dog", "animal"), ("cat", "animal"), ("animal", "thing")]
    assert concepts.labels == concepts.synonyms == {}


@pytest.mark.parametrize(
    "header",
    ["child,parent", "ID,Parent", "code,parent_id", "concept,parent", "source,target", " id , parent "],
)
def test_headers_are_recognised(tmp_path: Path, header: str) -> None:
    assert links(read(tmp_path, f"{header}\ndog,animal\n")) == [("dog", "animal")]


def test_header_gives_the_order_of_columns(tmp_path: Path) -> None:
    concepts = read(tmp_path, "parent,label,child\nanimal,Dog,dog\n,Animal,animal\n")
    assert links(concepts) == [("dog", "animal")]
    assert concepts.ids == ["dog", "animal"]
    assert concepts.labels == {"dog": "Dog", "animal": "Animal"}


def test_named_columns(tmp_path: Path) -> None:
    text = "id,Kind,Above,Text,Other\n1,dog,animal,Dog,hound\n2,dog,pet,Dog,doggy\n3,pet,,,\n"
    concepts = read(tmp_path, text, child="Kind", parent="Above", label="Text", synonym="Other")
    assert links(concepts) == [("dog", "animal"), ("dog", "pet")]
    assert concepts.ids == ["dog", "animal", "pet"]
    assert concepts.labels == {"dog": "Dog"}
    assert concepts.synonyms == {"dog": ["hound", "doggy"]}


def test_empty_parent_is_a_root_and_repeats_pass(tmp_path: Path) -> None:
    concepts = read(tmp_path, "top,\nx,top\nx,top\nalone, \n")
    assert concepts.ids == ["top", "x", "alone"]
    assert links(concepts) == [("x", "top"), ("x", "top")]


def test_quotes_and_blank_lines(tmp_path: Path) -> None:
    concepts = read(tmp_path, 'id,parent\n\n"Smith, ""J""","a\nb"\n\n x,y\n')
    assert links(concepts) == [('Smith, "J"', "a\nb"), ("x", "y")]


def test_commas_within_values_do_not_mislead(tmp_path: Path) -> None:
    assert links(read(tmp_path, "a, b;c, d\n")) == [("a, b", "c, d")]


def test_delimiter_option(tmp_path: Path) -> None:
    assert links(read(tmp_path, "a;b,c;d\n", delimiter=",")) == [("a;b", "c;d")]
    assert links(read(tmp_path, "a:b\n", delimiter=":")) == [("a", "b")]
    for bad in ("", ",,", '"', "\n"):
        with pytest.raises(ParameterError, match=r"delimiter=.* is not one character"):
            read(tmp_path, "a,b\n", delimiter=bad)


def test_encodings(tmp_path: Path) -> None:
    assert read(tmp_path, b"\xef\xbb\xbfid,parent\na,b\n").ids == ["a", "b"]
    latin = "café,food\nthé,food\n".encode("latin-1")
    assert read(tmp_path, latin, encoding="latin-1").ids[0] == "café"
    assert read(tmp_path, "id,parent\ncafé,b\n".encode("utf-16"), encoding="utf-16").ids == ["café", "b"]
    with pytest.raises(FormatError, match=r"links\.csv, line 2: byte 7 \(0xe9\) is not utf-8 .* encoding='latin-1'"):
        read(tmp_path, "a,b\ncaf\xe9,b\n".encode("latin-1"))
    with pytest.raises(ParameterError, match="encoding='klingon': there is no such text encoding"):
        read(tmp_path, "a,b\n", encoding="klingon")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\nc,d,e\n", r"links\.csv, line 2: 3 cells, but 2 in line 1; quote cells that contain ','"),
        ("id,parent\n\na,b\nc\n", r"links\.csv, line 4: 1 cells, but 2 in line 1"),
        ('"a\nb",c\nd,e,f\n', r"links\.csv, line 3: 3 cells, but 2 in line 1"),
        ("a,b\n,c\n", r"links\.csv, line 2: the child cell is empty"),
        ("a,b\n \t,c\n", r"links\.csv, line 2: the child cell is empty"),
        ('a,b\n"c,d\ne,f\n', r'links\.csv, line 2: unexpected end of data; write " inside .* as ""'),
        ('a,b\n"c"x,d\n', r"links\.csv, line 2: .* expected after"),
        ("a\nb\n", r"links\.csv, line 1: only one column; separate child and parent by"),
        ("a,b,c\nd,e,f\n", r"links\.csv, line 1: 3 columns, .* pass child= and parent="),
        ("", r"links\.csv holds no concept"),
        ("\n \n", r"links\.csv holds no concept"),
        ("child,parent\n", r"links\.csv holds no concept: expected rows below the header"),
        (
            "id,parent,label\na,b,A\na,c,Other\n",
            r"links\.csv, line 3: 'a' has the label 'Other' here and 'A' in line 2; give one label",
        ),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(tmp_path, text)


def test_bad_columns(tmp_path: Path) -> None:
    text = "id,parent,label\na,b,A\n"
    with pytest.raises(
        ParameterError, match=r"label='text': .* has no such column; its first line is 'id', 'parent', 'label'"
    ):
        read(tmp_path, text, label="text")
    with pytest.raises(ParameterError, match="no column with a common name for parent; give parent="):
        read(tmp_path, "a,b\nc,d\n", child="a")
    with pytest.raises(ParameterError, match="children and parents are both in the column 'id'"):
        read(tmp_path, text, parent="id")


@pytest.mark.parametrize(("label", "labels"), [("long_desc", 14_430), ("short_desc", 17_726)])
def test_icd9_table(shared_data: Callable[[str], Path], label: str, labels: int) -> None:
    path = shared_data("icd/icd9cm_hierarchy.csv")
    concepts = read_edges(path, child="code", parent="parent", label=label)
    assert len(concepts.ids) == 17_727
    assert len(concepts.child) == 17_726
    assert len(concepts.labels) == labels
    assert set(concepts.parent) - set(concepts.child) == {"ROOT"}


def test_blanks_around_cells_are_no_part_of_ids(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("child, parent\nnurse, health\nhealth , job\n")
    concepts = read_edges(path)
    assert (concepts.child, concepts.parent) == (["nurse", "health"], ["health", "job"])
