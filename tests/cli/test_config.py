"""The file of --config: the whole release in one place, options win, mistakes are named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nominym as nym
from commands import Run
from nominym.cli import config, options

TOML = """
[input]
path = "visits.csv"
encoding = "utf-8"
na = ["NA"]

[output]
path = "out/release.csv"
key = "out/owner.parquet"

[columns.name]
role = "identifier"

[columns.diagnosis]
role = "quasi-identifier"
taxonomy = "illness.csv"

[columns.ward]
role = "keep"

[columns.cost]
role = "keep"

[method]
command = "swap"
k = 5
"""


@pytest.fixture
def toml(folder: Path) -> Path:
    (folder / "out").mkdir()
    path = folder / "release.toml"
    path.write_text(TOML)
    return path


def test_a_file_holds_the_whole_release(run: Run, toml: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Paths are relative to the file, wherever the command is run.
    monkeypatch.chdir(toml.parent / "out")
    done = run("swap", "--config", toml)
    assert done.code == 0, done.err
    said = nym.release.read_manifest(toml.parent / "out" / "release.csv")
    assert said.params["k"] == 5
    assert 1 / 9 <= said.summary["bound"] <= 1 / 5
    assert (toml.parent / "out" / "owner.parquet").exists()


def test_options_win(run: Run, toml: Path) -> None:
    done = run("swap", "-c", toml, "--k", 7, "-o", "other.csv", "--identifier", "ward")
    assert done.code == 0, done.err
    said = nym.release.read_manifest("other.csv")
    assert said.params["k"] == 7
    assert said.roles["identifier"] == ["name", "ward"]


def test_the_same_file_serves_to_compare(run: Run, toml: Path) -> None:
    run("swap", "-c", toml)
    done = run("measure", "-c", toml)
    assert done.code == 0, done.err
    assert "rmse" in done.out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "[input]",
            "[inputs]",
            "'inputs' is unknown; did you mean 'input'? Known: input, output, columns, taxonomy, method",
        ),
        ("encoding =", "encodng =", "[input]: 'encodng' is unknown; did you mean 'encoding'?"),
        ("taxonomy =", "taxonmy =", "[columns.diagnosis]: 'taxonmy' is unknown; did you mean 'taxonomy'?"),
        ('"illness.csv"', "3", "[columns.diagnosis]: taxonomy = 3; a text is needed"),
        ("k = 5", 'k = "ten"', "[method]: k = 'ten'; a whole number is needed"),
        ("k = 5", "k = true", "[method]: k = True; a whole number is needed"),
        ("k = 5", "alpha = 5", "[method]: 'alpha' is unknown"),
        ('na = ["NA"]', "na = [1]", "[input]: na = [1]; a list of texts is needed"),
        ('command = "swap"', 'command = "noise"', "is for the command 'noise', not 'swap'"),
        ('command = "swap"', 'command = "swp"', "command = 'swp'; give swap, aggregate, noise, data-swap, recode"),
        ('role = "identifier"', 'role = "id"', "column 'name': role 'id' is unknown; give identifier"),
        ('[columns.ward]\nrole = "keep"', "[columns.ward]", "[columns.ward] has no role"),
        ('[columns.ward]\nrole = "keep"', "", 'the safe choice: role = "identifier" in [columns.ward]'),
        (
            '[columns.ward]\nrole = "keep"\n\n[columns.cost]\nrole = "keep"',
            "",
            'the safe choice: \n  [columns.ward]\n  role = "identifier"\n  [columns.cost]\n  role = "identifier"',
        ),
        (
            "[columns.ward]",
            '[columns.ward]\ntaxonomy = "illness.csv"',
            "column 'ward': it has a meaning, but is not masked",
        ),
        (
            '= "illness.csv"',
            '= "illness.csv"\nmeaning = "equal"',
            "taxonomy and meaning both give the meaning of the values",
        ),
        ("[method]", "[method", "not TOML"),
        ("[columns.name]", "[[columns.name]]", "[columns.name]: expected a section"),
    ],
)
def test_mistakes_are_named(run: Run, toml: Path, old: str, new: str, told: str) -> None:
    assert old in TOML
    toml.write_text(TOML.replace(old, new))
    done = run("swap", "--config", toml)
    assert done.code == 2
    assert told in done.err
    assert not list((toml.parent / "out").iterdir())


def test_advice_inside_a_sentence_names_keys_of_the_file(run: Run, toml: Path) -> None:
    toml.write_text(TOML.replace('role = "identifier"', 'role = "keep"'))
    done = run("swap", "--config", toml)
    assert done.code == 3
    assert 'drop the column (in a release by role = "identifier" in [columns.name]), mask it too' in done.err


def test_a_file_that_is_not_there(run: Run) -> None:
    done = run("swap", "--config", "absent.toml")
    assert done.code == 4
    assert "absent.toml: No such file or directory" in done.err


def test_an_order_of_values(run: Run, toml: Path) -> None:
    text = TOML.replace("k = 5", 'method = "numerical"\np = 20.0')
    text = text.replace(
        '[columns.ward]\nrole = "keep"', '[columns.ward]\nrole = "quasi-identifier"\norder = ["A", "B"]'
    )
    toml.write_text(text.replace('role = "quasi-identifier"\ntaxonomy = "illness.csv"', 'role = "keep"'))
    done = run("swap", "--config", toml)
    assert done.code == 0, done.err


def test_meanings_that_are_no_taxonomy(run: Run, toml: Path) -> None:
    text = TOML.replace('[columns.ward]\nrole = "keep"', '[columns.ward]\nrole = "quasi-identifier"\nmeaning = "equal"')
    toml.write_text(text.replace('[columns.cost]\nrole = "keep"', '[columns.cost]\nrole = "quasi-identifier"'))
    done = run("swap", "-c", toml, "--quasi", "cost=number")
    assert done.code == 0, done.err
    said = nym.release.read_manifest("out/release.csv")
    assert {name: each["meaning"] for name, each in said.meanings.items()} == {
        "diagnosis": "Taxonomy", "ward": "Equality", "cost": "Order",
    }  # fmt: skip
    # The file says nothing of the costs; the release is compared as it is.
    done = run("audit", "-c", toml)
    assert done.code == 0, done.err


def test_recode_from_a_file(run: Run) -> None:
    nym.datasets.baskets(100, seed=1, items=30)[0].to_fimi("baskets.dat")
    text = '[input]\npath = "baskets.dat"\n[output]\npath = "r.parquet"\n[method]\nk = 4\norder = "gray"\n'
    Path("sets.toml").write_text(text)
    done = run("recode", "--config", "sets.toml")
    assert done.code == 0, done.err
    Path("sets.toml").write_text(text + '[columns.x]\nrole = "keep"\n')
    done = run("recode", "--config", "sets.toml", "--overwrite")
    assert done.code == 2
    assert "item sets have no roles" in done.err


def test_the_guide_names_every_key() -> None:
    page = Path(__file__).parents[2] / "docs" / "command-line.md"
    rows = dict(
        re.findall(r"^\| `\[([a-z]+)(?:\.NAME)?\]` \| (.*) \|$", page.read_text(encoding="utf-8"), re.MULTILINE)
    )
    for shared in options.SHARED.values():
        section, _, key = (shared.place or "method.seed").partition(".")
        assert f"`{key}`" in rows[section], shared.place
    for key in set(config._COLUMN) - set(options.HIERARCHY):
        assert f"`{key}`" in rows["columns"], key
