"""Releases by microaggregation: files, manifest, owner's record, verification and report."""

from __future__ import annotations

import random
from dataclasses import replace as replaced
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nominym as nym
from commands import DIAGNOSES, Run
from nominym import groups
from nominym.groups import Partition
from nominym.release import compare_files, read_manifest, verify
from nominym.release.aggregated import Remade

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

    def made(group_of: Any, method: nym.Microaggregate) -> Remade:
        parts = Partition(group_of, np.argsort(group_of, kind="stable").astype(np.uint32))
        return Remade(pair, masked, parts, method, None)

    def found(group_of: Any, method: nym.Microaggregate) -> str:
        return "; ".join(made(group_of, method).departures())

    assert not found(groups, nym.Microaggregate(k=4))
    assert "a value that is not theirs" in found(groups, nym.Microaggregate(k=4, replace="subsumer"))
    assert "several values" in found(groups // 2, nym.Microaggregate(k=4))
    honest = made(groups, nym.Microaggregate(k=4))
    assert honest.smallest_class() >= 4
    assert honest.formed(masked)
    assert honest.formed(masked[1:]) is None
    assert not made(groups, nym.Microaggregate(k=5)).formed(masked)


# ---- verification: what is honest passes, what is not does not

Files = tuple[Path, Path, Path]
RNG = random.Random(2)
AGES = {"age": [RNG.randint(20, 60) for _ in range(60)], "ward": [RNG.choice("abcd") for _ in range(60)]}


def release(
    folder: Path, data: Any, ext: str = "csv", *, k: int = 5, replace: Any = "mean", meaning: Any = None
) -> Files:
    """Publish a table of which the first column is masked and the others are kept."""
    source, target, key = folder / f"in.{ext}", folder / f"out.{ext}", folder / "key.parquet"
    first, *others = data if isinstance(data, dict) else data.column_names
    nym.release.write_table(data, source, overwrite=True)
    roles = {first: "quasi-identifier", **dict.fromkeys(others, "keep")}
    method = nym.Microaggregate(k=k, replace=replace, accept=others)
    nym.publish(source, target, roles, method, {first: meaning or nym.Order()}, key=key, overwrite=True)
    return source, target, key


def verified(files: Files) -> nym.release.Verification:
    """Compare the files of a release."""
    return verify(compare_files(*files[:2], key=files[2]))


def test_releases_with_many_equal_records_are_verified(folder: Path) -> None:
    # Rows of equal records that follow each other would share a group, were that not drawn.
    rng = np.random.default_rng(8)
    ages = np.clip(rng.normal(45, 15, 3000).round(), 18, 90).astype(int).tolist()
    for _ in range(4):
        found = verified(release(folder, {"age": sorted(ages)}))
        assert found.verified, found.broken


@pytest.mark.parametrize("ext", ["csv", "parquet"])
@pytest.mark.parametrize("replace", ["mean", "subsumer"])
def test_texts_are_compared_as_they_are_written(ext: str, replace: str, folder: Path) -> None:
    texts = {"z": [RNG.choice(["1", "1.0", "01", "x, y", '"q"', "[1, 2]", "{a}"]) for _ in range(60)]}
    found = verified(release(folder, texts, ext, k=4, replace=replace, meaning=nym.Equality()))
    assert found.verified, found.broken


@pytest.mark.parametrize(
    "column",
    [
        pa.array([RNG.random() for _ in range(40)], pa.float32()),
        pa.array(np.array([RNG.random() for _ in range(40)], dtype=np.float16)),
        pa.array([Decimal(RNG.randint(100, 999)) / 100 for _ in range(40)], pa.decimal128(6, 2)),
        pa.array([2**60 + RNG.randint(0, 900) for _ in range(40)], pa.int64()),
    ],
    ids=["float32", "float16", "decimal", "large"],
)
def test_values_are_compared_in_the_type_of_the_file(column: Any, folder: Path) -> None:
    found = verified(release(folder, pa.table({"z": column}), "parquet", k=3))
    assert found.verified, found.broken


def forged(folder: Path, monkeypatch: pytest.MonkeyPatch, forge: Any, data: Any, ext: str = "csv", **how: Any) -> str:
    """Publish while somebody has a hand in the file, and return what contradicts the manifest."""
    write = nym.release.files.write_draft

    def written(table: Any, draft: Path, path: Any, *more: Any) -> None:
        write(table, draft, path, *more)
        if Path(path).name.startswith("out"):
            forge(draft)

    monkeypatch.setattr(nym.release.files, "write_draft", written)
    found = verified(release(folder, data, ext, **how))
    assert not found.verified
    return "; ".join(found.broken)


def cells(change: Any, group: bool = False) -> Any:
    """Change the masked cell of the first row, or of all rows with the same value."""

    def forge(path: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        chosen = lines[1].rpartition(",")[0]
        for at, line in enumerate(lines[1:] if group else lines[1:2], 1):
            value, _, ward = line.rpartition(",")
            lines[at] = f"{change(value)},{ward}" if value == chosen else line
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    return forge


@pytest.mark.parametrize(
    ("change", "group", "told"),
    [
        (lambda x: x + "0" if "." in x else x + ".0", False, "one written in several ways"),
        (lambda x: f'"{x}"', False, "quotes that they do not need"),
        (lambda x: repr(float(x) * (1 + 1e-11)), True, "a value that is not theirs"),
        (lambda x: "99.5", True, "a value that is not theirs"),
    ],
    ids=["zero", "quotes", "digit", "other"],
)
def test_marked_cells_are_found(
    change: Any, group: bool, told: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told in forged(folder, monkeypatch, cells(change, group), AGES)


def test_marks_of_missing_values_and_notes_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"age": [float(x) for x in AGES["age"][:50]] + [None] * 10, "ward": AGES["ward"]}

    def forge(path: Path) -> None:
        table = pq.read_table(path)
        ages = table["age"].to_pylist()
        ages[ages.index(None)] = float("nan")
        marked = table.set_column(0, "age", pa.array(ages, from_pandas=False))
        pq.write_table(marked.replace_schema_metadata({"who": "row 3 is Ann's"}), path)

    told = forged(folder, monkeypatch, forge, data, "parquet")
    assert "one written in several ways" in told
    assert "metadata of another program, 'who'" in told


def test_values_of_a_group_in_quotes_are_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forge(path: Path) -> None:
        table = pq.read_table(path)
        values = ['"a"' if value == "a" else value for value in table["z"].to_pylist()]
        pq.write_table(table.set_column(0, "z", pa.array(values)), path)

    data = {"z": [RNG.choice("abc") for _ in range(60)]}
    assert "a value that is not theirs" in forged(folder, monkeypatch, forge, data, "parquet", meaning=nym.Equality())


def test_groups_that_follow_a_kept_column_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Any] = []
    kept = groups.forming._kept

    def spied(table: Any, *more: Any) -> Any:
        held[:] = [table.column("ward").codes]
        return kept(table, *more)

    def by_ward(attributes: Any, k: int, **_: Any) -> Partition:
        records = np.lexsort((attributes[0].place_codes, held[0])).astype(np.uint32)
        group_of = np.empty(len(records), dtype=np.uint32)
        group_of[records] = np.minimum(np.arange(len(records)) // k, len(records) // k - 1)
        return Partition(group_of, records)

    honest = release(folder, AGES)
    assert verified(honest).verified
    monkeypatch.setattr(groups.forming, "_kept", spied)
    with monkeypatch.context() as patch:
        patch.setattr(groups.forming, "form", by_ward)
        files = release(folder, AGES)
    assert any("something else decided" in text for text in verified(files).broken)
    # The right groups, but equal records in the order of the kept column.
    many = {"age": AGES["age"] * 20, "ward": RNG.sample(AGES["ward"] * 20, 1200)}
    with monkeypatch.context() as patch:
        patch.setattr(groups.partition, "_drawn_order", lambda *_: np.argsort(held[0]).astype(np.uint32))
        files = release(folder, many)
    assert any("which of equal records is in which group was not drawn" in text for text in verified(files).broken)


def test_figures_and_versions_of_others(folder: Path) -> None:
    source, target, key = release(folder, AGES)
    pair = compare_files(source, target, key=key)
    manifest = pair.manifest
    assert manifest is not None
    summary = {**manifest.summary, "leak": "row 3 is Ann's"}
    summary["attributes"] = {"age": {**summary["attributes"]["age"], "oldest": "row 3"}}
    found = verify(replaced(pair, manifest=replaced(manifest, summary=summary)))
    assert any("leak: in the manifest" in text and "attributes age oldest" in text for text in found.broken)
    found = verify(replaced(pair, manifest=replaced(manifest, version="0.0.1")))
    assert not found.verified
    assert any("cannot be formed again" in text for text in found.doubts)


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


@pytest.mark.parametrize("replace", ["mean", "subsumer"])
def test_dates_of_parquet_in_text(replace: str, folder: Path) -> None:
    days = pa.table({"day": [date(2020, 1, 1) + timedelta(days=RNG.randint(0, 40)) for _ in range(60)]})
    nym.release.write_table(days, folder / "in.parquet")
    target, key = folder / "out.csv", folder / "key.parquet"
    method = nym.Microaggregate(k=4, replace=replace)
    nym.publish(folder / "in.parquet", target, {"day": "quasi-identifier"}, method, {"day": nym.Order()}, key=key)
    found = verified((folder / "in.parquet", target, key))
    assert found.verified, found.broken
