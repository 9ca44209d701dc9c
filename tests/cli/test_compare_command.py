"""``nominym compare``: methods and values of k on a table, from files to files."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import nominym as nym
from commands import TAXONOMY, Run, visits

LINE = ("compare", "visits.csv", "--quasi", "diagnosis=illness.csv", "--keep", "ward,cost", "--seeds", 1)


def test_a_comparison_from_a_file(run: Run, folder: Path) -> None:
    done = run(
        *LINE, "--k", "3,5", "--methods", "strict,microaggregation", "--methods", "records", "--na", "x", "--out", "out"
    )
    assert done.code == 0, done.err
    assert "records re-identified by attacks, and what is lost (60 records, 1 draw)" in done.out
    assert "strict swapping, k = 5          1/5" in done.out
    assert "\nSuggested: " in done.out
    assert "That is a measurement" in done.out
    assert "--identifier name --quasi diagnosis=illness.csv --keep ward --keep cost --na x --k 5\n" in done.out
    assert "notice: left out, as if dropped: name" in done.err
    assert "notice: 6 runs" in done.err
    assert "keep them confidential" in done.err
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o700
    files = ("results.csv", "results.parquet", "comparison.csv", "compare.html")
    assert {path.name for path in Path("out").iterdir()} == {*files, "cells"}
    assert {stat.S_IMODE(Path("out", name).stat().st_mode) for name in files} == {0o600}
    table = pd.read_csv("out/comparison.csv")
    assert table["name"].tolist()[:2] == ["strict swapping, k = 3", "strict swapping, k = 5"]
    frame = nym.release.read_table("visits.csv", ["diagnosis", "ward", "cost"])
    by_hand = nym.report.compare(frame, {"diagnosis": nym.read_taxonomy("illness.csv")}, [3, 5], seeds=1,
                                 methods=["strict", "microaggregation", "records"])  # fmt: skip
    assert table["loss"].round(9).tolist() == by_hand.table["loss"].round(9).tolist()
    assert by_hand.suggestion.headline in done.out
    # The same line again finds everything done; the line suggested makes a release.
    again = run(*LINE, "--k", "3,5", "--methods", "strict,microaggregation,records", "--out", "out")
    assert again.out.splitlines()[:8] == done.out.splitlines()[:8]
    line = next(text for text in done.out.splitlines() if "to make the release" in text).split("nominym ")[1].split()
    assert run(*(part.replace("RELEASE", "release.csv") for part in line)).code == 0


def test_a_config_file_of_a_release_is_enough(run: Run, folder: Path) -> None:
    Path("release.toml").write_text(
        '[input]\npath = "visits.csv"\n[output]\npath = "release.csv"\n[method]\ncommand = "swap"\nk = 5\n'
        '[columns.name]\nrole = "identifier"\n[columns.diagnosis]\nrole = "quasi-identifier"\n'
        'taxonomy = "illness.csv"\n[columns.ward]\nrole = "keep"\n[columns.cost]\nrole = "identifier"\n'
    )
    done = run("compare", "--config", "release.toml", "--k", 3, "--methods", "strict", "--seeds", 1, "--out", "out")
    assert done.code == 0, done.err
    assert "nominym swap --config release.toml --k 3" in done.out
    assert not Path("release.csv").exists()


def test_a_sample_is_told(run: Run, folder: Path) -> None:
    done = run(*LINE, "--k", 3, "--methods", "strict", "--sample", 40, "--out", "out")
    assert done.code == 0, done.err
    assert "notice: 40 of 60 records are drawn and masked" in done.err
    assert "40 drawn of 60 records" in done.out
    assert "the whole table" in done.out


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        (("--methods", "stric"), "--methods stric: name some of strict"),
        (("--k", "3", "--max-risk", "0.09"), "--k 3: 1/3 is more than 0.09; give --k 12 or more"),
        (("--by", "beauty"), "--by beauty: give 'loss'"),
        (("--seeds", "0"), "--seeds 0: give a whole number"),
        (("--sample", "0"), "--sample 0: give"),
        (("--quasi", "name=missing.csv"), "missing.csv"),
        (("--quasi", "name"), "it has no meaning"),
        (("--keep", "wards"), "'wards'"),
        (("--person", "patient"), "'patient'"),
    ],
)
def test_bad_input_writes_nothing(run: Run, folder: Path, more: tuple[str, ...], fault: str) -> None:
    done = run(*(LINE[:-2] if "--seeds" in more else LINE), *more, "--out", "out")
    assert done.code in (2, 3, 4)
    assert fault in done.err
    assert not Path("out").exists()


def test_a_folder_of_something_else_is_left_alone(run: Run, folder: Path) -> None:
    Path("out").mkdir()
    Path("out/results.csv").write_text("mine")
    done = run(*LINE, "--out", "out")
    assert done.code == 2
    assert Path("out/results.csv").read_text() == "mine"


def test_it_can_be_interrupted(folder: Path) -> None:
    Path("visits.csv").write_text(visits(4000))
    Path("illness.csv").write_text(TAXONOMY)
    program = [sys.executable, "-m", "nominym", *map(str, LINE[:-1]), "50", "--quasi", "cost=number", "--out", "out"]
    program[program.index("ward,cost")] = "ward"
    with subprocess.Popen(program, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as work:
        assert work.stderr is not None
        while "runs:" not in (work.stderr.readline() or "runs:"):
            pass
        os.kill(work.pid, signal.SIGINT)
        told = work.communicate(timeout=60)[1]
    assert work.returncode == 130, told
    assert "interrupted" in told
    assert "Traceback" not in told
