from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nominym.error import FormatError
from nominym.meaning.read import read_concepts
from nominym.meaning.read.tables import read_arx

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "levels.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("delimiter", [";", ","])
def test_levels_become_links(tmp_path: Path, delimiter: str) -> None:
    rows = ["x;low;*", "y;low;*", "z;z;*", "*;*;*"]
    concepts = read_arx(write(tmp_path, "\n".join(rows).replace(";", delimiter)))
    assert concepts.ids == ["x", "low", "*", "y", "z"]
    assert list(zip(concepts.child, concepts.parent, strict=True)) == [
        ("x", "low"),
        ("low", "*"),
        ("y", "low"),
        ("z", "*"),
    ]


def test_a_label_below_several_parents_keeps_them(tmp_path: Path) -> None:
    concepts = read_arx(write(tmp_path, "x;other;north;*\ny;other;south;*\n"))
    assert [up for low, up in zip(concepts.child, concepts.parent, strict=True) if low == "other"] == [
        "north",
        "south",
    ]


def test_conflicting_levels_pass_through(tmp_path: Path) -> None:
    concepts = read_arx(write(tmp_path, "a;b;c\nb;a;c\n"))
    assert {("a", "b"), ("b", "a")} <= set(zip(concepts.child, concepts.parent, strict=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b;*\nc;*\n", r"levels\.csv, line 2: 2 cells, but 3 in line 1; quote cells"),
        (
            "a;b;*\n\nd;b;*\na;c;*\n",
            r"levels\.csv, line 4: 'a' was generalized in line 1 already; keep one row",
        ),
        ("a;b;*\nc;;*\n", r"levels\.csv, line 2: an empty cell; give every level a label"),
        ("", r"levels\.csv holds no concept"),
        ("a\nb\n", r"levels\.csv, line 1: only one column"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_arx(write(tmp_path, text))


def test_wrong_encoding(tmp_path: Path) -> None:
    path = tmp_path / "levels.csv"
    path.write_bytes(b"x;low;*\nCura\xe7ao;low;*\n")
    with pytest.raises(FormatError, match=r"levels\.csv, line 2: .* pass the encoding"):
        read_arx(path)
    assert "Curaçao" in read_arx(path, encoding="cp1252").ids


@pytest.mark.parametrize(
    ("name", "concepts", "links"),
    [("age", 136, 135), ("education", 25, 24), ("native-country", 47, 46), ("sex", 3, 2)],
)
def test_adult_hierarchies(shared_data: Callable[[str], Path], name: str, concepts: int, links: int) -> None:
    found = read_concepts(shared_data(f"adult/hierarchies/adult_hierarchy_{name}.csv"))
    assert (len(found.ids), len(found.child)) == (concepts, links)
    assert set(found.parent) - set(found.child) == {"*"}
