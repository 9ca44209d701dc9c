from __future__ import annotations

from pathlib import Path

import pytest

from nominym.error import FormatError, ParameterError
from nominym.meaning.read import read_concepts
from nominym.meaning.read.wordnet import read_wordnet

DEBIAN = Path("/usr/share/wordnet")

LICENCE = "  1 This software and database is being provided to you  \n"
DATA_NOUN = (
    "00000001 03 n 01 entity 0 001 ~ 00000002 n 0000 | what is; a | bar  \n"
    "00000002 05 n 03 Dog 0 domestic_dog 0 Canis_familiaris 0 003 @ 00000001 n 0000 "
    "#m 00000009 n 0000 + 00000001 v 0101 | a pet  \n"
    "00000003 18 n 01 dog 0 002 @i 00000002 n 0000 @ 00000001 n 0000 | Lassie  \n"
)
INDEX_NOUN = (
    "canis_familiaris n 1 1 @ 1 0 00000002  \n"
    "dog n 2 3 @ @i #m 2 1 00000003 00000002  \n"
    "domestic_dog n 1 1 @ 1 0 00000002  \n"
    "entity n 1 1 ~ 1 1 00000001  \n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.noun").write_text(LICENCE + DATA_NOUN)
    (tmp_path / "index.noun").write_text(LICENCE + INDEX_NOUN)
    (tmp_path / "data.verb").write_text(
        LICENCE + "00000001 29 v 01 move 0 001 + 00000002 n 0101 02 + 02 00 + 08 00 | go  \n"
    )
    (tmp_path / "index.verb").write_text(LICENCE + "move v 1 1 + 1 1 00000001  \n")
    return tmp_path


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_nouns(folder: Path) -> None:
    concepts = read_concepts(folder)
    assert concepts.ids == ["entity.n.01", "dog.n.02", "dog.n.01"]
    assert list(zip(concepts.child, concepts.parent, strict=True)) == [
        ("dog.n.02", "entity.n.01"),
        ("dog.n.01", "dog.n.02"),
        ("dog.n.01", "entity.n.01"),
    ]
    assert concepts.labels == {"entity.n.01": "entity", "dog.n.02": "Dog", "dog.n.01": "dog"}
    assert concepts.synonyms == {"dog.n.02": ["domestic dog", "Canis familiaris"]}


def test_parts_of_speech(folder: Path) -> None:
    assert read_wordnet(folder, pos="verb").ids == ["move.v.01"]
    assert read_wordnet(folder, pos="noun+verb").ids == ["entity.n.01", "dog.n.02", "dog.n.01", "move.v.01"]
    with pytest.raises(ParameterError, match=r"pos='adj' .* use one of \('noun', 'verb', 'noun\+verb'\)"):
        read_wordnet(folder, pos="adj")


@pytest.mark.parametrize("name", ["data.noun", "index.noun", "index.verb"])
def test_missing_files(folder: Path, name: str) -> None:
    (folder / name).unlink()
    part = name.partition(".")[2]
    with pytest.raises(FormatError, match=rf"no file {name}; pos='{part}' needs data\.{part} and index\.{part}"):
        read_wordnet(folder, pos="noun+verb")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "data.noun",
            " 03 Dog",
            " 30 Dog",
            r"data\.noun, line 3: no synset of wndb\(5WN\): '00000002 05 n 30 Dog",
        ),
        ("data.noun", "002 @i 00000002", "002 @i", r"data\.noun, line 4: no synset of wndb"),
        ("data.noun", "01 entity 0 001", "00 001", r"data\.noun, line 2: no synset"),
        (
            "data.noun",
            "@i 00000002",
            "@i 00000007",
            r"data\.noun, line 4: hypernym 00000007 is not a synset of data\.n",
        ),
        (
            "index.noun",
            "00000003 00000002",
            "00000003 00000004",
            r"data\.noun, line 3: .*no sense 00000002 of 'dog'",
        ),
        ("index.noun", "entity n", "entities n", r"line 2: .*of 'entity'; take both files from one release"),
        ("index.noun", "dog n 2 3", "dog n 2 4", r"index\.noun, line 3: no index entry of wndb"),
        ("index.noun", "dog n 2 3", "dog n two 3", r"index\.noun, line 3: no index entry of wndb"),
    ],
)
def test_bad_records(folder: Path, name: str, old: str, new: str, message: str) -> None:
    replace(folder / name, old, new)
    with pytest.raises(FormatError, match=message):
        read_wordnet(folder)


def test_no_concept(folder: Path) -> None:
    (folder / "data.noun").write_text(LICENCE)
    with pytest.raises(FormatError, match=r"data\.noun holds no concept"):
        read_wordnet(folder)


def test_encoding(folder: Path) -> None:
    file = folder / "data.noun"
    file.write_bytes(file.read_bytes().replace(b"domestic_dog", b"dom\xe9stique"))
    with pytest.raises(FormatError, match=r"data\.noun, line 3: .*\(0xe9\) is not utf-8 .*encoding="):
        read_wordnet(folder)
    assert read_wordnet(folder, encoding="latin-1").synonyms["dog.n.02"][0] == "doméstique"


def test_wordnet_3_nouns() -> None:
    if not (DEBIAN / "data.noun").exists():
        pytest.skip(f"WordNet is not installed in {DEBIAN} (Debian: wordnet-base)")
    concepts = read_wordnet(DEBIAN)
    assert len(concepts.ids) == len(set(concepts.ids)) == 82_115
    assert set(concepts.ids) - set(concepts.child) == {"entity.n.01"}
    assert len(concepts.child) == 84_427
    assert concepts.labels["dog.n.01"] == "dog"
    assert concepts.synonyms["dog.n.01"] == ["domestic dog", "Canis familiaris"]
    parents = [up for low, up in zip(concepts.child, concepts.parent, strict=True) if low == "dog.n.01"]
    assert parents == ["canine.n.02", "domestic_animal.n.01"]
