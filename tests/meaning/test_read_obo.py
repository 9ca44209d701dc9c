from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from nominym.error import FormatError, MissingExtraError
from nominym.meaning.read.obo import read_obo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nominym.meaning import Concepts

pytest.importorskip("fastobo", reason="needs the extra obo")

SMALL = r"""format-version: 1.2
subsetdef: slim "a slim"

[Term]
id: X:1
name: thing

! a comment line
[Term]
id: X:2
name: \"Ménière\" disease {source="x"} ! and a comment
alt_id: X:20
def: "Broken reference." [JA:Epilepsy Genetics Kiel, url:http\://x.org]
synonym: "an \"old\" name " EXACT [JA:Epilepsy Genetics Kiel]
synonym: "no scope" []
exact_synonym: "as in OBO 1.0" []
synonym: "no scope" RELATED []
xref: Y:1
is_a: X:1 ! thing
is_a: X:9 {source="x"} ! gone

[Term]
id: X:9
name: gone
is_obsolete: true

[Typedef]
id: part_of
name: part of
is_a: overlaps

[Instance]
id: X:i
name: an instance
instance_of: X:1
"""


def read(tmp_path: Path, text: str, **options: str) -> Concepts:
    path = tmp_path / "small.obo"
    path.write_bytes(text.encode(options.get("encoding", "utf-8")))
    return read_obo(path, **options)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_live_terms(tmp_path: Path, end: str) -> None:
    concepts = read(tmp_path, SMALL.replace("\n", end))
    assert concepts.ids == ["X:1", "X:2"]
    assert list(zip(concepts.child, concepts.parent, strict=True)) == [("X:2", "X:1"), ("X:2", "X:9")]
    assert concepts.labels == {"X:1": "thing", "X:2": '"Ménière" disease'}
    assert concepts.synonyms == {"X:2": ["X:20", 'an "old" name', "no scope", "as in OBO 1.0"]}


def test_last_line_without_an_end(tmp_path: Path) -> None:
    assert read(tmp_path, "[Term]\nid: X:1\nname: thing").labels == {"X:1": "thing"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_clauses_that_run_over_lines(tmp_path: Path, end: str) -> None:
    text = '[Term]\nid: X:1\ndef: "a \\\nid: X:2" []\nname: thing\n'
    concepts = read(tmp_path, text.replace("\n", end))
    assert (concepts.ids, concepts.labels) == (["X:1"], {"X:1": "thing"})


def test_a_term_defined_twice_is_seen_twice(tmp_path: Path) -> None:
    assert read(tmp_path, "[Term]\nid: X:1\n\n[Term]\nid: X:1\n").ids == ["X:1", "X:1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[Term]\nid: X:1\n\n[Term]\nid: X:2\nname two\n",
            r"small\.obo, line 6: .*'name two'; correct the line",
        ),
        ("! x\n[Term]\nid: X:1\nxref: Y:1\nis_a:\n", r"small\.obo, line 5: expected"),
        ('[Term]\nid: X:1\nsynonym: "open\n', r"small\.obo, line 3: expected QuotedString"),
        ('[Term]\nid: X:1\ndef: "a \\\nb" []\nis_obsolete: maybe\n', r"small\.obo, line 5: expected Boolean"),
        ("[Term]\nid: X:1\n[Term\n", r"small\.obo, line 3: expected"),
        ("", r"small\.obo holds no concept"),
        ("format-version: 1.2\n\n[Term]\nid: X:1\nis_obsolete: true\n", r"small\.obo holds no concept"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(tmp_path, text)


def test_encoding(tmp_path: Path) -> None:
    text = "[Term]\nid: X:1\nname: Ménière\n"
    assert read(tmp_path, text, encoding="latin-1").labels == {"X:1": "Ménière"}
    with pytest.raises(FormatError, match=r"small\.obo, line 3: byte 22 \(0xe9\) is not utf-8 .*encoding="):
        read_obo(tmp_path / "small.obo")


def test_missing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastobo", None)
    with pytest.raises(MissingExtraError, match=r"^reading OBO needs the extra: pip install nominym\[obo\]$"):
        read(tmp_path, SMALL)


def test_disease_ontology(shared_data: Callable[[str], Path]) -> None:
    concepts = read_obo(shared_data("obo/doid.obo"))
    assert len(concepts.ids) == len(set(concepts.ids)) == len(concepts.labels) == 6_971
    assert len(concepts.child) == len(concepts.parent) == 8_155
    assert set(concepts.ids) - set(concepts.child) == {"DOID:4"}
    assert set(concepts.parent) <= set(concepts.ids)
    assert concepts.labels["DOID:0001816"] == "angiosarcoma"
    assert {"hemangiosarcoma", "DOID:267"} <= set(concepts.synonyms["DOID:0001816"])
