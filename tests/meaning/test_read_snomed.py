from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nominym.error import FormatError, ParameterError
from nominym.meaning.read import read_concepts
from nominym.meaning.read.snomed import read_snomed

if TYPE_CHECKING:
    from pathlib import Path

IS_A, PART_OF = "116680003", "123005000"
NAME, SYNONYM = "900000000000003001", "900000000000013009"

CONCEPT = ("id", "effectiveTime", "active", "moduleId", "definitionStatusId")
DESCRIPTION = (
    *("id", "effectiveTime", "active", "moduleId", "conceptId"),
    *("languageCode", "typeId", "term", "caseSignificanceId"),
)
RELATIONSHIP = (
    *("id", "effectiveTime", "active", "moduleId", "sourceId", "destinationId"),
    *("relationshipGroup", "typeId", "characteristicTypeId", "modifierId"),
)


def write(path: Path, columns: tuple[str, ...], *rows: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["\t".join(columns), *("\t".join(row.get(name, "0") for name in columns) for row in rows)]
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode())


def concept(code: str, active: str = "1") -> dict[str, str]:
    return {"id": code, "active": active}


def text(of: str, kind: str, term: str, language: str = "en", active: str = "1") -> dict[str, str]:
    return {"conceptId": of, "typeId": kind, "term": term, "languageCode": language, "active": active}


def link(child: str, parent: str, kind: str = IS_A, active: str = "1") -> dict[str, str]:
    return {"sourceId": child, "destinationId": parent, "typeId": kind, "active": active}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    files = tmp_path / "SnomedCT" / "Snapshot" / "Terminology"
    write(files / "sct2_Concept_Snapshot_INT_20240101.txt", CONCEPT, *map(concept, "123"), concept("9", "0"))
    write(
        files / "sct2_Description_Snapshot-en_INT_20240101.txt",
        DESCRIPTION,
        text("1", NAME, "SNOMED CT Concept (SNOMED RT+CTV3)"),
        text("2", NAME, "Asthma (finding) (disorder)"),
        text("2", SYNONYM, '"Wheeze'),
        text("2", SYNONYM, "Asthma (finding)"),
        text("2", SYNONYM, "Old name", active="0"),
        text("2", "900000000000550004", "A definition"),
        text("3", NAME, "NA"),
        text("9", SYNONYM, "Retired"),
    )
    write(
        files / "sct2_Description_Snapshot-es_INT_20240101.txt",
        DESCRIPTION,
        text("2", NAME, "asma (trastorno)", "es"),
        text("2", SYNONYM, "ASMA", "es"),
    )
    write(
        files / "sct2_Relationship_Snapshot_INT_20240101.txt",
        RELATIONSHIP,
        link("3", "2"),
        link("2", "1"),
        link("3", "1", PART_OF),
        link("3", "1", active="0"),
        link("3", "7"),
    )
    # Neither of these is the inferred hierarchy.
    write(files / "sct2_StatedRelationship_Snapshot_INT_20240101.txt", RELATIONSHIP, link("3", "8"))
    write(tmp_path / "Full" / "sct2_Relationship_Full_INT_20240101.txt", RELATIONSHIP, link("3", "8"))
    return tmp_path


def only(release: Path, pattern: str) -> Path:
    (file,) = release.rglob(pattern)
    return file


def test_active_rows(release: Path) -> None:
    concepts = read_concepts(release)
    assert concepts.ids == ["1", "2", "3"]
    assert list(zip(concepts.child, concepts.parent, strict=True)) == [("3", "2"), ("2", "1"), ("3", "7")]
    assert concepts.labels == {
        "1": "SNOMED CT Concept (SNOMED RT+CTV3)",
        "2": "Asthma (finding) (disorder)",
        "3": "NA",
    }
    assert concepts.synonyms == {"1": ["SNOMED CT Concept"], "2": ["Asthma (finding)", '"Wheeze']}


def test_language(release: Path) -> None:
    concepts = read_snomed(release, language="es")
    assert concepts.labels == {"2": "asma (trastorno)"}
    assert concepts.synonyms == {"2": ["asma", "ASMA"]}
    with pytest.raises(ParameterError, match="no descriptions in language='sv'; it has 'en', 'es'"):
        read_snomed(release, language="sv")


def test_an_extension_adds_its_files(release: Path) -> None:
    write(release / "sct2_Concept_UKCLSnapshot_GB_20240101.txt", CONCEPT, concept("4"), concept("1"))
    write(release / "sct2_Relationship_UKCLSnapshot_GB_20240101.txt", RELATIONSHIP, link("4", "2"))
    concepts = read_snomed(release)
    assert sorted(concepts.ids) == ["1", "1", "2", "3", "4"]
    assert ("4", "2") in set(zip(concepts.child, concepts.parent, strict=True))


@pytest.mark.parametrize("component", ["Concept", "Description", "Relationship"])
def test_missing_files(release: Path, component: str) -> None:
    for file in release.rglob(f"sct2_{component}_*"):
        file.unlink()
    with pytest.raises(FormatError, match=rf"no file sct2_{component}_\*Snapshot\*\.txt, .*release \(RF2\)"):
        read_snomed(release)


def test_missing_columns(release: Path) -> None:
    file = only(release, "sct2_Relationship_Snapshot*")
    write(file, tuple(name for name in RELATIONSHIP if name != "destinationId"))
    with pytest.raises(FormatError, match=rf"{file.name}, line 1: no column 'destinationId' among \['id', "):
        read_snomed(release)


def test_ragged_row(release: Path) -> None:
    file = only(release, "sct2_Concept_Snapshot*")
    file.write_bytes(file.read_bytes() + b"\r\n5\t20240101\t1\r\n")
    with pytest.raises(FormatError, match=rf"{file.name}, line 7: 3 cells, but 5 in the header; fetch"):
        read_snomed(release)


def test_wrong_encoding(release: Path) -> None:
    file = only(release, "sct2_Description_Snapshot-es*")
    file.write_bytes(file.read_bytes().replace(b"ASMA", "ASMÁ".encode("latin-1")))
    with pytest.raises(FormatError, match=rf"{file.name}, line 3: .*\(0xc1\) is not utf-8 .*convert the file"):
        read_snomed(release)


def test_no_concept(release: Path) -> None:
    file = only(release, "sct2_Concept_Snapshot*")
    write(file, CONCEPT, concept("1", "0"))
    with pytest.raises(FormatError, match="holds no concept: expected rows with active = 1"):
        read_snomed(release)
    file.write_bytes(b"")
    with pytest.raises(FormatError, match=rf"{file.name} holds no concept: expected a header"):
        read_snomed(release)
