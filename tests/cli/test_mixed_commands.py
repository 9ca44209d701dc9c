"""Numbers, ranked values, plain categories and concepts in one release, by the command line and from a file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from commands import DIAGNOSES, TAXONOMY, Run

RANKS = ["none", "school", "college", "doctorate"]
MEANINGS = {"age": "number", "education": "education.order", "sex": "equal", "diagnosis": "illness.csv"}
TOML = """
[input]
path = "people.csv"

[output]
path = "release.csv"
key = "owner.parquet"

[columns]
name.role = "identifier"
ward.role = "keep"

[columns.age]
role = "quasi-identifier"
meaning = "number"

[columns.education]
role = "quasi-identifier"
order = ["none", "school", "college", "doctorate"]

[columns.sex]
role = "quasi-identifier"
meaning = "equal"

[columns.diagnosis]
role = "quasi-identifier"
taxonomy = "illness.csv"

[method]
command = "swap"
k = 5
"""


@pytest.fixture
def people(folder: Path) -> pd.DataFrame:
    """Write a table of people, and what its columns mean."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "name": [f"P{i:03}" for i in range(120)],
            "age": rng.integers(20, 60, 120),
            "education": rng.choice(RANKS, 120),
            "sex": rng.choice(["f", "m"], 120),
            "diagnosis": rng.choice(DIAGNOSES, 120),
            "ward": rng.choice(["A", "B"], 120),
        }
    )
    frame.to_csv("people.csv", index=False)
    Path("education.order").write_text("\n".join(RANKS) + "\n")
    return frame


def swap(source: str = "people.csv", **changed: str) -> list[object]:
    """Return the command for a release; a meaning of None leaves only the name."""
    said = {**MEANINGS, **changed}
    quasi = [part for name, meaning in said.items() for part in ("--quasi", f"{name}={meaning}" if meaning else name)]
    roles = ["--identifier", "name", "--keep", "ward", "--k", 5]
    return ["swap", source, "-o", "release.csv", "--key", "owner.parquet", *quasi, *roles]


def check(people: pd.DataFrame) -> None:
    """The release has the values of every column, and the manifest says what they mean."""
    release = pd.read_csv("release.csv")
    assert list(release) == ["age", "education", "sex", "diagnosis", "ward"]
    for name in release:
        assert release[name].dtype == people[name].dtype
        assert sorted(release[name]) == sorted(people[name])
    said = nym.release.read_manifest("release.csv")
    assert {name: each["meaning"] for name, each in said.meanings.items()} == {
        "age": "Order", "education": "Order", "sex": "Equality", "diagnosis": "Taxonomy",
    }  # fmt: skip
    assert said.meanings["education"]["values"] == RANKS
    assert said.guarantee["bound"] == 0.2


def test_from_files_to_report(run: Run, people: pd.DataFrame) -> None:
    done = run(*swap())
    assert done.code == 0, done.err
    assert all(f"  {name}: expected RMSE 0." in done.out for name in MEANINGS)
    check(people)
    # All but the taxonomy is in the manifest.
    pair = ["people.csv", "release.csv", "--quasi", "diagnosis=illness.csv", "--key", "owner.parquet"]
    done = run("audit", *pair, "--unknown", "ward", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["verdict"].startswith("guarantee verified")
    done = run("measure", *pair, "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert {row["column"] for row in told["attributes"]} == set(MEANINGS)
    assert len(told["correlations"]) == 6
    for edition in ("publication", "owner"):
        done = run("report", *pair, "--edition", edition, "-o", f"{edition}.html")
        assert done.code == 0, done.err
        assert all(name in Path(f"{edition}.html").read_text() for name in MEANINGS)


def test_without_the_taxonomy_an_audit_is_in_doubt(run: Run, people: pd.DataFrame) -> None:
    run(*swap())
    done = run("audit", "people.csv", "release.csv", "--key", "owner.parquet", "--unknown", "ward")
    assert done.code == 1
    assert "column 'diagnosis': compared as labels, because the taxonomy illness.csv" in done.out + done.err
    assert "give --quasi diagnosis=illness.csv" in done.out + done.err


def test_from_one_file(run: Run, people: pd.DataFrame) -> None:
    Path("release.toml").write_text(TOML)
    done = run("swap", "-c", "release.toml")
    assert done.code == 0, done.err
    check(people)
    for command in (["audit", "--unknown", "ward"], ["measure"], ["report", "-o", "page.html"]):
        done = run(command[0], "-c", "release.toml", *command[1:])
        assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('meaning = "number"', 'meaning = "numbr"', "column 'age': numbr: no such file or folder"),
        ('"college", ', "", "column 'education': 'college' has no place in the given order"),
        ('"college", ', '"school", ', "'school' is listed twice; list each value once"),
        ('["none", "school", "college", "doctorate"]', "[]", "list at least one value"),
        ('meaning = "equal"', 'meaning = "number"', "column 'sex': 'f' has no order of its own; list all values"),
    ],
)
def test_mistakes_of_a_file_are_named(run: Run, people: pd.DataFrame, old: str, new: str, told: str) -> None:
    assert old in TOML
    Path("release.toml").write_text(TOML.replace(old, new))
    done = run("swap", "-c", "release.toml")
    assert done.code in (2, 3, 4)
    assert told in done.err
    assert not list(Path().glob("release.csv*"))
    assert not Path("owner.parquet").exists()


_OR = "give the path of an existing file, or --quasi COLUMN=number or --quasi COLUMN=equal"
WRONG = {
    "text as numbers": (
        {"education": "number"}, 3,
        "column 'education': 'college' has no order of its own; list all values, lowest first, with --quasi "
        "COLUMN=FILE.order, or turn the column into numbers",
    ),
    "numbers as concepts": (
        {"age": "illness.csv"}, 3,
        "values (120 records) not in the taxonomy: '20'",
        "or use --quasi COLUMN=number as the meaning of numbers",
    ),
    "an order that lacks a value": (
        {"education": "lacks.order"}, 3,
        "column 'education': 'doctorate' has no place in the given order; list all values, lowest first: --quasi",
    ),
    "a value twice": (
        {"education": "twice.order"}, 3,
        "column 'education': twice.order, line 3: 'school' is already in line 2; list each value once",
    ),
    "an empty order": (
        {"education": "empty.order"}, 3,
        "column 'education': empty.order holds no value; list all values, one per line, lowest first",
    ),
    "a folder as an order": (
        {"education": "folder.order"}, 3, "column 'education': folder.order is a folder", "give the file itself",
    ),
    "an order that is not there": (
        {"education": "absent.order"}, 4, f"column 'education': absent.order: No such file or directory; {_OR}",
    ),
    "a taxonomy that is not there": (
        {"diagnosis": "absent.csv"}, 4, "column 'diagnosis': absent.csv: no such file or folder", _OR,
    ),
    "a word that is none": ({"age": "numbr"}, 4, "column 'age': numbr: no such file or folder", _OR),
    "an order of another column": (
        {"diagnosis": "education.order"}, 3, "column 'diagnosis': 'burn' has no place in the given order",
    ),
    "a taxonomy that lacks values": (
        {"diagnosis": "short.csv"}, 3,
        "column 'diagnosis': 1 value", "not in the taxonomy: 'burn'",
        "Correct the values or complete the taxonomy; values are ids, labels or synonyms of its concepts",
    ),
    "a table as a taxonomy": (
        {"education": "people.csv"}, 3, "column 'education': people.csv, line 1: 6 columns",
        "name the columns in the first line, and give --child and --parent, or --levels",
    ),
    "no meaning": (
        {"sex": ""}, 2, "column 'sex': it has no meaning; give --quasi COLUMN=MEANING (a taxonomy, ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_meanings_name_column_value_and_remedy(run: Run, people: pd.DataFrame, name: str) -> None:
    changed, code, *told = WRONG[name]
    Path("lacks.order").write_text("none\nschool\ncollege\n")
    Path("twice.order").write_text("none\nschool\nschool\ncollege\ndoctorate\n")
    Path("empty.order").write_text("\n \n")
    Path("folder.order").mkdir()
    Path("short.csv").write_text(TAXONOMY.replace("burn,injury\n", ""))
    there = set(Path().iterdir())
    done = run(*swap(**changed))
    assert done.code == code, done.err
    for text in told:
        assert text in done.err
    assert done.err.startswith("error: column ")
    assert set(Path().iterdir()) == there


@pytest.mark.parametrize("meaning", ["equal", "number", "education.order", "illness.csv"])
def test_lists_have_no_meaning_here(run: Run, people: pd.DataFrame, meaning: str) -> None:
    people.assign(tags=[["a", "b"]] * len(people)).to_parquet("people.parquet")
    there = set(Path().iterdir())
    done = run(*swap("people.parquet", tags=meaning))
    assert done.code == 3
    assert "column 'tags': holds lists or the like, " in done.err
    assert "drop the column, or publish it by itself with nominym recode" in done.err
    assert set(Path().iterdir()) == there


def test_numbers_dates_and_ranked_values_of_parquet(run: Run, people: pd.DataFrame) -> None:
    """What a Parquet file says of types is said of the release."""
    frame = people.assign(
        age=people["age"].astype("int16"),
        seen=pd.to_datetime("2020-01-01") + pd.to_timedelta(people["age"], unit="D"),
        education=pd.Categorical(people["education"], RANKS, ordered=True),
    )
    frame.to_parquet("people.parquet")
    command = [*swap("people.parquet", education="number", seen="number"), "--overwrite"]
    done = run(*(part if part != "release.csv" else "release.parquet" for part in command))
    assert done.code == 0, done.err
    release = pd.read_parquet("release.parquet")
    for name in release:
        assert release[name].dtype == frame[name].dtype
        assert sorted(release[name].astype(str)) == sorted(frame[name].astype(str))
