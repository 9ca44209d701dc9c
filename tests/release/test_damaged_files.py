"""Damaged manifests and owner's records are refused when they are read, or work like any other."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nominym as nym
from damage import damaged_bytes, damaged_content, outcome
from nominym.error import FormatError, NominymError
from nominym.release import manifest as kept

N = 60
ROLES = {"name": "identifier", "age": "quasi-identifier", "diagnosis": "quasi-identifier", "ward": "keep"}
TAX = nym.Taxonomy.from_edges(
    [(value, "infection") for value in ("flu", "cold", "measles")]
    + [(value, "injury") for value in ("burn", "sprain", "fracture")]
    + [("infection", "illness"), ("injury", "illness")]
)
MEANINGS = {"age": nym.Order(), "diagnosis": TAX}
METHODS: dict[str, Any] = {
    "strict": nym.RankSwap(k=3, person="name"),
    "published": nym.RankSwap(k=3, guarantee="published", measure=nym.Measure("lin", ic="sanchez")),
    "noise": nym.Noise(alpha=0.3),
    "data-swap": nym.DataSwap(0.2),
    "recode": nym.Recode(k=3),
}

pytestmark = pytest.mark.filterwarnings("ignore::nominym.error.PrivacyWarning")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of each method, with its manifest and the owner's record."""
    folder, random = tmp_path_factory.mktemp("made"), np.random.default_rng(1)
    table = {
        "name": [f"P{i // 2:03}" for i in range(N)],
        "age": random.integers(18, 90, N),
        "diagnosis": random.choice(["flu", "cold", "measles", "fracture", "burn", "sprain"], N),
        "ward": random.choice(list("ABC"), N),
    }
    pd.DataFrame(table).to_csv(folder / "o.csv", index=False)
    sets = nym.datasets.baskets(N, seed=1, items=15)[0]
    sets.to_fimi(folder / "o.dat")
    for name, method in METHODS.items():
        key = folder / f"{name}.key"
        if name == "recode":
            nym.publish(folder / "o.dat", folder / "recode.parquet", None, method, key=key)
            continue
        roles = {**ROLES, "name": "person"} if name == "strict" else ROLES
        meanings = None if name == "data-swap" else MEANINGS
        if name == "noise":
            roles, meanings = {**ROLES, "age": "keep"}, {"diagnosis": TAX}
        nym.publish(folder / "o.csv", folder / f"{name}.csv", roles, method, meanings, key=key)
    return folder


def release_of(folder: Path, name: str) -> Path:
    return folder / (f"{name}.parquet" if name == "recode" else f"{name}.csv")


def signed(content: Any) -> Any:
    """Make the checksum right again."""
    if isinstance(content, dict):
        content["checksum"] = kept._checksum(content)
    return content


def judge(folder: Path, name: str, key: Path | None) -> None:
    """Compare and verify; what contradicts the files may be refused, in words of this library."""
    if name == "recode":
        pair, _ = outcome(
            lambda: nym.release.compare_sets(folder / "o.dat", release_of(folder, name), key=key), NominymError
        )
    else:
        pair, _ = outcome(
            lambda: nym.release.compare_files(folder / "o.csv", release_of(folder, name), {"diagnosis": TAX}, key=key),
            NominymError,
        )
    if pair is not None:
        outcome(lambda: nym.release.verify(pair), NominymError)


def check_manifest(folder: Path, name: str, data: bytes, often: bool) -> bool:
    path = kept.manifest_path(release_of(folder, name))
    before = path.read_bytes()
    path.write_bytes(data)
    try:
        read, refusal = outcome(lambda: nym.release.read_manifest(path), FormatError)
        if refusal is not None:
            assert str(path) in str(refusal)
            assert len(str(refusal)) < 1000
            return False
        assert read.method
        assert str(read.statement)
        assert kept.Manifest.from_json(read.to_json()) == read
        if often:
            judge(folder, name, folder / f"{name}.key")
    finally:
        path.write_bytes(before)
    return True


@pytest.mark.parametrize("name", METHODS)
def test_manifests_of_other_bytes(made: Path, name: str) -> None:
    data = kept.manifest_path(release_of(made, name)).read_bytes()
    loaded = [check_manifest(made, name, other, False) for other in damaged_bytes(data, Random(name), 300)]
    assert sum(loaded) < 30


@pytest.mark.parametrize("name", METHODS)
def test_manifests_of_other_content(made: Path, name: str) -> None:
    content, loaded = json.loads(kept.manifest_path(release_of(made, name)).read_text()), 0
    for other in damaged_content(content, Random(name), 600):
        loaded += check_manifest(made, name, json.dumps(signed(other)).encode(), loaded % 8 == 0)
    assert 0 < loaded < 500


def test_reports_of_manifests_of_other_content(made: Path, tmp_path: Path) -> None:
    """What is shown to readers is made of a manifest that was refused, or is shown."""
    release, written = release_of(made, "strict"), 0
    path = kept.manifest_path(release)
    text = path.read_text()
    content = json.loads(text)
    try:
        for other in damaged_content({"summary": content["summary"], "params": content["params"]}, Random(5), 150):
            path.write_text(json.dumps(signed({**content, **other})))
            pair, refusal = outcome(
                lambda: nym.release.compare_files(made / "o.csv", release, {"diagnosis": TAX}, key=made / "strict.key"),
                NominymError,
            )
            if refusal is None and written < 12:
                edition = ("publication", "owner")[written % 6 == 0]
                nym.report.write(tmp_path / "r.html", pair, edition=edition, overwrite=True)
                written += 1
    finally:
        path.write_text(text)
    assert written


def check_record(folder: Path, name: str, path: Path, often: bool) -> bool:
    read, refusal = outcome(lambda: nym.release.read_record(path, release_of(folder, name), N), NominymError)
    if refusal is not None:
        assert str(path) in str(refusal)
        assert len(str(refusal)) < 1000
        return False
    assert sorted(read.rows) == list(range(N))
    if often:
        judge(folder, name, path)
    return True


@pytest.mark.parametrize("name", ["strict", "data-swap", "recode"])
def test_records_of_other_bytes(made: Path, tmp_path: Path, name: str) -> None:
    data, path = (made / f"{name}.key").read_bytes(), tmp_path / "key.parquet"
    for other in damaged_bytes(data, Random(name), 300):
        path.write_bytes(other)
        check_record(made, name, path, False)


@pytest.mark.parametrize("name", ["strict", "published", "noise", "recode"])
def test_records_of_other_content(made: Path, tmp_path: Path, name: str) -> None:
    table, path, loaded = pq.read_table(made / f"{name}.key"), tmp_path / "key.parquet", 0
    about = json.loads(table.schema.metadata[b"nominym-record"])
    for other in damaged_content(about, Random(name), 300):
        pq.write_table(table.replace_schema_metadata({"nominym-record": json.dumps(signed(other))}), path)
        loaded += check_record(made, name, path, loaded % 8 == 0)
    assert 0 < loaded < 250


def test_records_of_other_columns(made: Path, tmp_path: Path) -> None:
    table, path = pq.read_table(made / "strict.key"), tmp_path / "key.parquet"
    about = json.loads(table.schema.metadata[b"nominym-record"])
    rows, groups = table["row"].to_numpy(), table["group"].to_numpy()
    half = rows.astype(float)
    half[3] = np.nan
    for columns in (
        {"row": rows.astype(np.int64), "group": groups},
        {"row": half, "group": groups},
        {"row": pa.array([*rows[:-1], None], pa.uint32()), "group": groups},
        {"row": rows.astype(str), "group": groups},
        {"row": [[int(row)] for row in rows], "group": groups},
        {"row": rows[::-1], "group": groups},
        {"row": rows[:5], "group": groups[:5]},
        {"row": rows},
        {"group": groups},
        {"row": rows, "group": groups.astype(float)},
    ):
        other = pa.table(columns).replace_schema_metadata({"nominym-record": json.dumps(about)})
        pq.write_table(other, path)
        assert not check_record(made, "strict", path, False)
