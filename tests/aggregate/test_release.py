"""Releases by microaggregation: files, manifest, owner's record, verification and report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from commands import DIAGNOSES, Run
from nominym.groups import Partition
from nominym.release import compare_files, read_manifest, verify
from nominym.release.aggregated import departures, smallest_class

ROLES = ("--identifier", "name", "--quasi", "diagnosis=illness.csv", "--quasi", "cost=number", "--quasi", "sex=equal")
TOML = """
[input]
path = "stays.csv"

[output]
path = "release.csv"
key = "key.parquet"

[method]
command = "aggregate"
k = 4
replace = "subsumer"

[columns.name]
role = "identifier"

[columns.diagnosis]
role = "quasi-identifier"
taxonomy = "illness.csv"

[columns.cost]
role = "quasi-identifier"
meaning = "number"

[columns.sex]
role = "quasi-identifier"
meaning = "equal"
"""


@pytest.fixture
def stays(run: Run, folder: Path) -> Run:
    """Write a table beside the taxonomy, and run commands there."""
    lines = [
        f"P{i // 2:03},{DIAGNOSES[i * i % 6]},{'' if i % 11 == 0 else 100 + 7 * i % 60},{'fm'[i % 3 == 0]}"
        for i in range(90)
    ]
    (folder / "stays.csv").write_text("\n".join(["name,diagnosis,cost,sex", *lines]) + "\n")
    return run


@pytest.mark.parametrize("replace", ["mean", "subsumer"])
def test_a_release_and_its_audit(replace: str, stays: Run, folder: Path) -> None:
    how = ("--k", "4", "--replace", replace, "--key", "key.parquet")
    made = stays("aggregate", "stays.csv", "-o", "release.csv", *ROLES[2:], "--person", "name", *how)
    assert made.code == 0
    assert "k-anonymity" in made.out
    assert "at least 4 persons in each" in made.out
    release = pd.read_csv(folder / "release.csv", dtype=str, keep_default_na=False)
    assert release.groupby(["diagnosis", "cost", "sex"]).size().min() >= 4
    manifest = read_manifest(folder / "release.csv")
    assert manifest.method == nym.Microaggregate(k=4, replace=replace, person="name")
    assert manifest.statement.bound == 0.25
    assert set(manifest.summary["attributes"]) == {"diagnosis", "cost", "sex"}
    pair = ("stays.csv", "release.csv", "--key", "key.parquet", "--quasi", "diagnosis=illness.csv")
    audit = stays("audit", *pair)
    assert audit.code == 0, audit.out
    assert "verified" in audit.out
    assert stays("measure", *pair).code == 0
    assert stays("report", *pair).code == 0
    assert stays("report", *pair, "--edition", "owner", "--methods", "-o", "owner.html").code == 0
    assert "Methods side by side" in (folder / "owner.html").read_text(encoding="utf-8")


def test_a_config_holds_it_all(stays: Run, folder: Path) -> None:
    (folder / "release.toml").write_text(TOML)
    assert stays("aggregate", "--config", "release.toml").code == 0
    meanings: Any = {"diagnosis": folder / "illness.csv"}
    files = folder / "stays.csv", folder / "release.csv"
    found = verify(compare_files(*files, meanings, key=folder / "key.parquet"))
    assert found.verified, (found.doubts, found.broken)
    assert any("4 rows or more" in check for check in found.checks)


def test_other_values_than_those_of_the_groups_are_found(stays: Run, folder: Path) -> None:
    how = ("--k", "4", "--key", "key.parquet")
    assert stays("aggregate", "stays.csv", "-o", "release.csv", *ROLES, *how).code == 0
    files: Any = folder / "stays.csv", folder / "release.csv", {"diagnosis": folder / "illness.csv"}
    pair = compare_files(*files, key=folder / "key.parquet")
    masked, groups = ["diagnosis", "cost", "sex"], np.unique(pair.groups, return_inverse=True)[1].astype(np.uint32)

    def found(group_of: Any, method: nym.Microaggregate) -> str:
        parts = Partition(group_of, np.argsort(group_of, kind="stable").astype(np.uint32))
        return "; ".join(departures(pair, masked, parts, method))

    assert not found(groups, nym.Microaggregate(k=4))
    assert "another value than theirs" in found(groups, nym.Microaggregate(k=4, replace="subsumer"))
    assert "several values" in found(groups // 2, nym.Microaggregate(k=4))
    assert smallest_class(pair, masked) >= 4


def test_bad_commands(stays: Run) -> None:
    told = stays("aggregate", "stays.csv", "-o", "release.csv", *ROLES)
    assert told.code != 0
    assert "--k" in told.err
    told = stays("aggregate", "stays.csv", "-o", "release.csv", *ROLES, "--k", "4", "--replace", "median")
    assert told.code != 0
    assert "subsumer" in told.err
    told = stays("aggregate", "stays.csv", "-o", "release.csv", *ROLES, "--k", "91")
    assert told.code != 0
    assert "cannot make a group" in told.err
