"""Commands that look at releases and taxonomies: measure, audit, report, taxonomy, demo."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pandas as pd
import pytest

import nominym as nym
from commands import ROLES, Run

SWAP = ("swap", "visits.csv", "-o", "release.csv", *ROLES, "--k", "5")
MEANING = ("--quasi", "diagnosis=illness.csv")


def test_measure(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    done = run("measure", "visits.csv", "release.csv", *MEANING, "--key", "owner.parquet", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    record = nym.release.read_record("owner.parquet", "release.csv", 60)
    figures = found["attributes"][0]
    assert figures["column"] == "diagnosis"
    assert figures["rmse"] == pytest.approx(record.summary["attributes"]["diagnosis"]["rmse"])
    assert figures["variance before"] == pytest.approx(figures["variance after"])
    assert {(row["x"], row["y"]) for row in found["distortion"]} >= {("diagnosis", "ward")}
    done = run("measure", "visits.csv", "release.csv", *MEANING, "--columns", "ward", "--columns", "diagnosis")
    assert done.code == 0, done.err
    assert "no RMSE: it needs to know which row is whose" in done.err
    assert done.out.startswith("attributes\n")


def test_measure_without_a_manifest(run: Run) -> None:
    run(*SWAP, "--keep-order")
    Path("release.csv.manifest.json").unlink()
    done = run("measure", "visits.csv", "release.csv", *MEANING, "--keep-order", "--json")
    assert "rmse" in json.loads(done.out)["attributes"][0]


def test_another_original_is_noticed(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    done = run("measure", "visits.csv", "release.csv", *MEANING, "--key", "owner.parquet")
    assert done.err == ""
    Path("visits.csv").write_text(Path("visits.csv").read_text().replace("P001", "P100"))
    done = run("measure", "visits.csv", "release.csv", *MEANING, "--key", "owner.parquet")
    assert "release.csv was not made of visits.csv as it is now" in done.err
    # The manifest knows nothing of the input.
    assert "not made of" not in run("measure", "visits.csv", "release.csv", *MEANING).err
    lines = Path("visits.csv").read_text().splitlines(keepends=True)
    Path("visits.csv").write_text("".join(lines[:-1]))
    done = run("measure", "visits.csv", "release.csv", *MEANING)
    assert done.code == 3
    assert "visits.csv has 59 records, release.csv has 60" in done.err


def test_measure_item_sets(run: Run) -> None:
    nym.datasets.baskets(200, seed=1, items=40)[0].to_fimi("baskets.dat")
    run("recode", "baskets.dat", "-o", "r.parquet", "--k", 4, "--order", "gray", "--key", "owner.parquet")
    done = run("measure", "baskets.dat", "r.parquet", "--key", "owner.parquet", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert 0 < found["error rate"] < 2
    assert 0 <= found["query error, items present"] < 1
    assert "no error rate" in run("measure", "baskets.dat", "r.parquet").err


def test_audit(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    done = run("audit", "visits.csv", "release.csv", *MEANING, "--key", "owner.parquet")
    assert done.code == 0, done.err
    assert "not more than 1/5" in done.out
    assert "the attacks re-identify at most" in done.out
    done = run("audit", "visits.csv", "release.csv", *MEANING, "--key", "owner.parquet", "--json")
    assert json.loads(done.out)["holds"] is True
    done = run("audit", "visits.csv", "release.csv", *MEANING)
    assert done.code == 2
    assert "an audit needs to know which row is whose" in done.err
    assert "give --key" in done.err


def test_a_shuffled_release_is_not_taken_to_be_in_order(run: Run) -> None:
    run(*SWAP)
    done = run("audit", "visits.csv", "release.csv", *MEANING, "--keep-order")
    assert done.code == 2
    assert "--keep-order: by its manifest, the rows of release.csv are shuffled; give --key" in done.err


def test_audit_of_a_seeded_release(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet", "--seed", 1)
    done = run("audit", "visits.csv", "release.csv", *MEANING, "--key", "owner.parquet")
    assert done.code == 1
    assert "not more than 1/5\nthis shows nothing: the release was made with a seed" in done.out


def test_audit_of_a_guarantee_that_does_not_hold(run: Run) -> None:
    frame = pd.read_csv("visits.csv")
    frame["diagnosis"] = ["flu", "cold", "burn", "sprain", "fracture"] * 12
    frame.head(5).to_csv("few.csv", index=False)
    done = run("audit", "few.csv", "few.csv", *MEANING, "--keep-order", "--k", 5)
    assert done.code == 1
    assert "MORE THAN 1/5" in done.out
    done = run("audit", "few.csv", "few.csv", *MEANING, "--keep-order")
    assert done.code == 1
    assert "this shows nothing: there is no k to compare with: give --k" in done.out


def test_audit_of_another_original(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    Path("visits.csv").write_text(Path("visits.csv").read_text().replace("P001", "P100"))
    done = run("audit", "visits.csv", "release.csv", *MEANING, "--key", "owner.parquet", "--json")
    assert done.code == 1
    assert json.loads(done.out)["doubts"] == ["by the owner's record, the release was made of another original"]


def test_audit_of_item_sets(run: Run) -> None:
    nym.datasets.baskets(200, seed=1, items=40)[0].to_fimi("baskets.dat")
    run("recode", "baskets.dat", "-o", "r.txt", "--k", 4, "--order", "gray")
    done = run("audit", "baskets.dat", "r.txt")
    assert done.code == 0, done.err
    assert "not more than 1/4" in done.out
    assert run("audit", "baskets.dat", "r.txt", "--k", 200).code == 1
    for name in ("s.txt", "s.parquet"):
        run("recode", "baskets.dat", "-o", name, "--k", 4, "--order", "gray", "--seed", 1)
        done = run("audit", "baskets.dat", name)
        assert done.code == 1
        assert "not more than 1/4\nthis shows nothing: the release was made with a seed" in done.out


def test_report(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    owners = (*MEANING, "--key", "owner.parquet", "--edition", "owner")
    done = run("report", "visits.csv", "release.csv", *owners, "--sweep", "k=2,5", "-o", "mine.html")
    assert done.code == 0, done.err
    assert done.out == "report, edition for the owner alone: mine.html\n"
    assert "P001" not in Path("mine.html").read_text()
    assert stat.S_IMODE(Path("mine.html").stat().st_mode) == 0o600
    done = run("report", "visits.csv", "release.csv", *owners)
    assert done.code == 2
    assert "--edition owner: this edition must not lie beside the release; choose a place" in done.err
    assert done.err.endswith("give --out\n")
    done = run("report", "visits.csv", "release.csv", *owners, "-o", "mine.html")
    assert done.code == 4
    assert "already there; give --overwrite" in done.err
    done = run("report", "visits.csv", "release.csv", *owners, "--sweep", "k=many", "-o", "x.html")
    assert done.code == 2
    assert "--sweep k=many: give a parameter and numbers" in done.err
    done = run("report", "visits.csv", "release.csv", *MEANING, "--edition", "owner", "-o", "x.html")
    assert done.code == 2
    assert "needs to know which row is whose" in done.err
    assert "--edition all: give 'publication' or 'owner'" in run("report", *SWAP[1:2], "release.csv", *MEANING,
                                                                 "--edition", "all").err  # fmt: skip


def test_report_for_publication(run: Run) -> None:
    """It is made without the key, and does not change with the draw."""
    run(*SWAP, "--key", "owner.parquet")
    done = run("report", "visits.csv", "release.csv", *MEANING)
    assert done.code == 0, done.err
    assert done.out == "report, edition for publication: release.csv.report.html\n"
    assert "P001" not in Path("release.csv.report.html").read_text()


def test_taxonomy_info_and_distance(run: Run) -> None:
    done = run("taxonomy", "info", "illness.csv")
    assert done.code == 0, done.err
    assert done.out.startswith("illness.csv: 9 concepts, 8 links; a tree\n  root 'illness', 3 levels\n")
    assert json.loads(run("taxonomy", "info", "illness.csv", "--json").out)["depth"] == 3
    assert run("taxonomy", "distance", "illness.csv", "flu", "cold").out == "0.333333\n"
    assert run("taxonomy", "distance", "illness.csv", "flu", "cold", "--measure", "path").out == "2\n"
    done = run("taxonomy", "distance", "illness.csv", "flu", "colt")
    assert done.code == 3
    assert "did you mean 'cold'?" in done.err


def test_taxonomy_check(run: Run) -> None:
    assert run("taxonomy", "check", "illness.csv").code == 0
    done = run("taxonomy", "check", "illness.csv", "visits.csv", "--column", "diagnosis")
    assert done.out.endswith("diagnosis: all 6 values are concepts\n")
    done = run("taxonomy", "check", "illness.csv", "visits.csv", "--column", "ward")
    assert done.code == 3
    assert "column 'ward': 2 values (60 records) not in the taxonomy: 'A' (30×)" in done.err


def test_taxonomy_convert(run: Run) -> None:
    assert run("taxonomy", "convert", "illness.csv", "-o", "illness.parquet").code == 0
    assert len(nym.read_taxonomy("illness.parquet")) == 9
    first = run("taxonomy", "info", "illness.csv", "--json").out
    second = run("taxonomy", "info", "illness.parquet", "--json").out
    # The fingerprint is of what a taxonomy says, not of the file that says it.
    assert json.loads(first)["sha256"] == json.loads(second)["sha256"]
    assert run("taxonomy", "convert", "illness.csv", "-o", "illness.parquet").code == 4
    assert run("taxonomy", "convert", "illness.csv", "-o", "illness.xyz").code == 2


def test_demo(run: Run) -> None:
    done = run("demo", "--out", "demo", "--records", 2_000)
    assert done.code == 0, done.err
    assert done.out.count("stayed within the bound") == 2
    made = {path.name for path in Path("demo").iterdir()}
    assert made >= {"discharges.csv", "release.csv", "release.csv.manifest.json", "release.toml", "report.html",
                    "report-owner.html", "baskets-report.html", "baskets-report-owner.html"}  # fmt: skip
    assert "report, may be published with the release: demo/report.html" in done.out
    assert "report, for the owner alone: demo/report-owner.html" in done.out
    modes = {name: stat.S_IMODE(Path("demo", name).stat().st_mode) for name in ("report.html", "report-owner.html")}
    assert modes["report-owner.html"] == 0o600 != modes["report.html"]
    assert run("demo", "--out", "demo").code == 2
    # The file that it leaves is a release of its own.
    assert run("swap", "-c", "demo/release.toml", "-o", "again.csv", "--key", "again.parquet").code == 0


@pytest.mark.parametrize(
    "command",
    ["", "swap", "noise", "recode", "data-swap", "measure", "audit", "report", "demo", "taxonomy", "taxonomy info",
     "taxonomy distance", "taxonomy check", "taxonomy convert"],
)  # fmt: skip
def test_help_has_examples(run: Run, command: str) -> None:
    done = run(*command.split(), "--help")
    assert done.code == 0
    assert done.out.startswith("usage: nominym")
    if command not in ("", "taxonomy"):
        assert f"examples:\n  nominym {command}" in done.out


def test_version(run: Run) -> None:
    assert run("--version").out == f"nominym {nym.__version__}\n"
