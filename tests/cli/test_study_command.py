"""``nominym study``: a study in a file."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import nominym as nym
from commands import Run

STUDY = """
seeds = [1, 2]
measures = ["rmse", "nearest_row"]

[data.visits]
path = "visits.csv"
keep = ["ward"]
columns.diagnosis = { taxonomy = "illness.csv" }

[[methods]]
name = "strict"
command = "swap"
k = [2, 5]
accept = ["ward"]

[[methods]]
command = "noise"
alpha = 0.3
"""


def test_a_study_in_a_file(run: Run) -> None:
    Path("study.toml").write_text(STUDY)
    done = run("study", "study.toml", "--out", "out", "--workers", 1)
    assert done.code == 0, done.err
    assert done.out.startswith("| method | k | alpha | rmse | nearest_row |\n")
    assert "| strict | 2 |  | " in done.out
    found = pd.read_csv("out/results.csv")
    assert len(list(Path("out/cells").iterdir())) == 6
    assert set(found["method"]) == {"strict", "Noise"}
    frame = nym.release.read_table("visits.csv", ["diagnosis", "ward"])
    meanings = {"diagnosis": nym.read_taxonomy("illness.csv")}
    by_hand = nym.rank_swap(frame, meanings, k=5, seed=2, accept=["ward"]).secret.summary["attributes"]["diagnosis"]
    cell = found[(found["k"] == 5) & (found["seed"] == 2) & (found["measure"] == "rmse")]
    assert cell["value"].round(12).tolist() == [round(by_hand["rmse"], 12)]
    assert pd.read_parquet("out/results.parquet")["value"].round(12).tolist() == found["value"].round(12).tolist()
    # The same line again finds everything done.
    again = run("study", "study.toml", "--out", "out")
    assert (again.code, again.out) == (0, done.out)
    assert pd.read_csv("out/results.csv")["seconds"].tolist() == found["seconds"].tolist()


def test_hierarchies_and_tables_in_every_layout(run: Run) -> None:
    rows = [f"{job},{city}" for job, city in zip(["2211", "2212", "7126"] * 10, ["Ulm", "Bonn"] * 15, strict=True)]
    Path("people.csv").write_text("# 2024\njob,city\n" + "\n".join([*rows, "?,Ulm"]) + "\n")
    Path("isco.csv").write_text("code,label\n2211,doctor\n2212,specialist\n7126,plumber\n")
    Path("places.csv").write_text("city,state\nUlm,south\nBonn,west\n")
    Path("study.toml").write_text(
        'seeds = 1\nmeasures = "rmse"\n[data.people]\npath = "people.csv"\nna = ["?"]\ncomment = "#"\n'
        'columns.job = { taxonomy = "isco.csv", prefix = [1, 2, 3] }\n'
        'columns.city = { taxonomy = "places.csv", levels = ["city", "state"] }\n[[methods]]\ncommand = "swap"\nk = 7\n'
    )
    done = run("study", "study.toml", "--out", "out")
    assert done.code == 0, done.err
    meanings = {"job": nym.read_taxonomy("isco.csv", prefix=[1, 2, 3]),
                "city": nym.read_taxonomy("places.csv", levels=["city", "state"])}  # fmt: skip
    table = nym.release.read_table("people.csv", na=["?"], comment="#")
    by_hand = nym.rank_swap(table, meanings, k=7, seed=0).secret.summary["attributes"]
    found = pd.read_csv("out/results.csv").set_index("measure")["value"]
    assert found["rmse[job]"] == pytest.approx(by_hand["job"]["rmse"])
    assert found["rmse[city]"] == pytest.approx(by_hand["city"]["rmse"])
    Path("sales.csv").write_text("receipt,article\n" + "".join(f"{i // 2},{i % 7}\n" for i in range(40)))
    Path("sets.toml").write_text(
        'seeds = 1\n[data.sales]\nitems = "sales.csv"\nrecord = "receipt"\nitem = "article"\n[[methods]]\n'
        'command = "recode"\nk = 3\n'
    )
    assert run("study", "sets.toml", "--out", "sets").code == 0


def test_item_sets_and_failures(run: Run) -> None:
    nym.datasets.baskets(60, seed=1, items=20)[0].to_fimi("baskets.dat")
    Path("study.toml").write_text(
        'seeds = 1\n[data.baskets]\nitems = "baskets.dat"\n[[methods]]\ncommand = "recode"\nk = [2, 100]\n'
    )
    done = run("study", "study.toml", "--out", "out")
    assert done.code == 0
    assert "(1 of 1 failed)" in done.out
    assert "warning: Recode on baskets: DataError: k=100: 60 records" in done.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k = [2, 5]", "k = [1, 5]", "a group of one record"),
        ("k = [2, 5]", 'k = ["two"]', "a whole number is needed"),
        ("alpha = 0.3", "alhpa = 0.3", "did you mean 'alpha'"),
        ('command = "noise"', 'command = "nose"', "[[methods]] 2: command = 'nose'; give swap"),
        ("[[methods]]", "[methods]", "not TOML"),
        ('measures = ["rmse", "nearest_row"]', 'measures = ["rsme"]', "no measure 'rsme'"),
        ("seeds = [1, 2]", "seed = [1, 2]", "did you mean 'seeds'"),
        ('path = "visits.csv"', "", "give the path of a table"),
        ('{ taxonomy = "illness.csv" }', "{}", "columns.diagnosis: give the meaning of its values"),
        ('{ taxonomy = "illness.csv" }', '{ role = "keep" }', "'role' is unknown"),
        ("columns.diagnosis", "columns.dignosis", "dignosis"),
        ("seeds = [1, 2]", 'seeds = ["a"]', "give a whole number"),
    ],
)
def test_bad_files_are_refused(run: Run, old: str, new: str, message: str) -> None:
    assert old in STUDY
    Path("study.toml").write_text(STUDY.replace(old, new))
    done = run("study", "study.toml", "--out", "out")
    assert done.code in (2, 3), done.err
    assert message in done.err
    assert not Path("out/results.csv").exists()


def test_files_of_others_stay(run: Run) -> None:
    Path("study.toml").write_text(STUDY)
    Path("out").mkdir()
    Path("out/results.csv").write_text("mine")
    assert run("study", "study.toml", "--out", "out").code == 2
    assert Path("out/results.csv").read_text() == "mine"
