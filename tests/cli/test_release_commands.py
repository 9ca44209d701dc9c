"""Commands that make releases: what they publish, what they say, what they keep to themselves."""

from __future__ import annotations

import hashlib
import json
import stat
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import nominym as nym
from commands import ROLES, Run

SWAP = ("swap", "visits.csv", "-o", "release.csv", *ROLES, "--k", "5")
GUARANTEE = "guarantee: Re-identification probability of a row: at most 1 in 5"


def read(path: str) -> pd.DataFrame:
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_identifiers_are_dropped_values_masked_and_the_rest_kept(run: Run) -> None:
    done = run(*SWAP)
    assert done.code == 0, done.err
    before, after = read("visits.csv"), read("release.csv")
    assert list(after.columns) == ["diagnosis", "ward", "cost"]
    assert Counter(after["diagnosis"]) == Counter(before["diagnosis"])
    # Kept cells come out as they were, each with its record: 007 stays 007.
    assert sorted(zip(after["ward"], after["cost"], strict=True)) == sorted(
        zip(before["ward"], before["cost"], strict=True)
    )
    assert "identifiers are dropped: name" in done.err
    assert GUARANTEE in done.out
    assert "diagnosis: expected RMSE 0." in done.out


def test_rows_are_shuffled_unless_told_otherwise(run: Run) -> None:
    run(*SWAP)
    assert list(read("release.csv")["cost"]) != list(read("visits.csv")["cost"])
    assert nym.release.read_manifest("release.csv").order == "shuffled"
    run(*SWAP, "--keep-order", "--overwrite")
    assert list(read("release.csv")["cost"]) == list(read("visits.csv")["cost"])
    assert nym.release.read_manifest("release.csv").order == "kept"


def test_the_key_gives_the_rows_back(run: Run) -> None:
    done = run(*SWAP, "--key", "owner.parquet")
    assert "keep it secret" in done.err
    record = nym.release.read_record("owner.parquet", "release.csv", 60)
    rows = record.rows
    before, after = read("visits.csv"), read("release.csv")
    assert list(after["cost"].to_numpy()[rows]) == list(before["cost"])
    assert stat.S_IMODE(Path("owner.parquet").stat().st_mode) == 0o600
    content = Path("visits.csv").read_bytes()
    assert record.input == {
        "name": "visits.csv", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(), "rows": 60,
        "columns": 4,
    }  # fmt: skip
    assert record.seed is None
    assert record.summary["attributes"]["diagnosis"]["rmse"] > 0
    assert repr(record) == "<OwnersRecord: for the owner only>"


def test_a_key_of_another_release_is_refused(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    run(*SWAP, "--overwrite")
    done = run("measure", "visits.csv", "release.csv", "--quasi", "diagnosis=illness.csv", "--key", "owner.parquet")
    assert done.code == 3
    assert "the record of a release other than" in done.err


def test_the_manifest_says_how_and_holds_no_record(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    text = Path("release.csv.manifest.json").read_text()
    said = json.loads(text)
    assert said["format"] == "nominym-manifest"
    assert said["command"] == "swap"
    assert said["version"] == nym.__version__
    assert said["options"] == {"k": 5, "guarantee": "strict"}
    assert said["params"]["k"] == 5
    assert said["seeded"] is False
    assert said["roles"] == {"identifier": ["name"], "quasi-identifier": ["diagnosis"], "keep": ["ward", "cost"],
                             "person": []}  # fmt: skip
    assert (said["output"]["name"], said["output"]["rows"], said["output"]["columns"]) == ("release.csv", 60, 3)
    assert said["meanings"]["diagnosis"]["concepts"] == 9
    assert said["meanings"]["diagnosis"]["name"] == "illness.csv"
    assert said["summary"]["bound"] == 0.2
    # No value of a kept or dropped column, no path, no trace of the input.
    content = Path("visits.csv").read_bytes()
    for secret in ("P001", "P059", "measles", str(Path.cwd()), "owner", "visits", str(len(content)),
                   hashlib.sha256(content).hexdigest()):  # fmt: skip
        assert secret not in text
    # No figure that this one draw realised.
    record = nym.release.read_record("owner.parquet", "release.csv", 60)
    realised = set(record.summary["attributes"]["diagnosis"]) - set(said["summary"]["attributes"]["diagnosis"])
    assert {"rmse", "unchanged", "candidates"} <= realised
    assert not realised & {name for name in _names(said) if name not in ("missing", "notes")}
    assert nym.release.read_manifest("release.csv").method == nym.RankSwap(k=5)
    nym.release.read_manifest("release.csv").check("release.csv")


def _names(content: object) -> set[str]:
    """List all keys of a JSON text."""
    if isinstance(content, dict):
        return set(content) | {name for part in content.values() for name in _names(part)}
    return {name for part in content for name in _names(part)} if isinstance(content, list) else set()


def test_the_manifest_is_no_function_of_the_draw(run: Run) -> None:
    """Groups that cannot be others: whatever is drawn, all that is public but the data is the same."""
    rows = [f"P{i},{'flu' if i < 30 else 'burn'},A,0" for i in range(60)]
    Path("visits.csv").write_text("\n".join(["name,diagnosis,ward,cost", *rows]) + "\n")
    said, data = [], set()
    for _ in range(4):
        done = run(*SWAP[:-1], "60", "--key", "owner.parquet", "--overwrite")
        assert done.code == 0, done.err
        manifest = json.loads(Path("release.csv.manifest.json").read_text())
        assert manifest["summary"]["groups"]["count"] == 1
        data.add(manifest["output"].pop("sha256"))
        del manifest["made"], manifest["checksum"]
        said.append((manifest, done.out, done.err))
    assert len(data) == 4
    assert all(each == said[0] for each in said)


def test_a_changed_release_is_not_the_one_of_its_manifest(run: Run) -> None:
    run(*SWAP, "--keep-order")
    with Path("release.csv").open("a") as file:
        file.write("flu,A,999\n")
    done = run("measure", "visits.csv", "release.csv", "--quasi", "diagnosis=illness.csv")
    assert done.code == 3
    assert "does not describe release.csv in its current state" in done.err


def test_a_seed_gives_the_same_again_and_only_the_owner_has_it(run: Run) -> None:
    done = run(*SWAP, "--seed", "7918", "--key", "owner.parquet")
    first = Path("release.csv").read_bytes()
    assert "warning: made with a seed" in done.err
    assert "No guarantee: made with a seed, for studies" in done.out
    said = nym.release.read_manifest("release.csv")
    assert said.seeded
    assert said.guarantee["kind"] == "none"
    assert "7918" not in Path("release.csv.manifest.json").read_text() + done.out + done.err
    assert nym.release.read_record("owner.parquet", "release.csv", 60).seed == 7918
    run(*SWAP, "--seed", "7918", "--overwrite")
    assert Path("release.csv").read_bytes() == first
    run(*SWAP, "--overwrite")
    assert Path("release.csv").read_bytes() != first


def test_release_files_hold_no_secret(run: Run) -> None:
    frame = pd.read_csv("visits.csv", dtype={"cost": str, "ward": "category"})
    frame.set_index("name").to_parquet("visits.parquet")  # with notes of pandas in its metadata
    args = ("swap", "visits.parquet", "-o", "release.parquet", *ROLES, "--k", "5", "--seed", 3)
    done = run(*args)
    assert done.code == 0, done.err
    file = pq.ParquetFile("release.parquet")
    assert set(file.schema_arrow.metadata or {}) == set()
    assert set(file.metadata.metadata or {}) <= {b"ARROW:schema"}
    assert b"P001" not in Path("release.parquet").read_bytes()
    assert file.read()["ward"].combine_chunks().dictionary.to_pylist() == ["A", "B"]


def test_parquet_keeps_types_and_csv_takes_them(run: Run) -> None:
    frame = pd.DataFrame(
        {
            "diagnosis": ["flu", "cold", "burn", "sprain"] * 5,
            "cost": np.arange(20) // 4 % 2 / 2,
            "day": pd.to_datetime(["2024-01-01", "2024-01-02"] * 10).sort_values(),
            "tags": [["a"], [], [], ["a"], ["a"]] * 4,
        }
    )
    frame.to_parquet("visits.parquet")
    roles = ("--quasi", "diagnosis=illness.csv", "--keep", "cost", "--keep", "day", "--keep", "tags", "--k", 6)
    assert run("swap", "visits.parquet", "-o", "release.parquet", *roles).code == 0
    before, after = pq.read_table("visits.parquet"), pq.read_table("release.parquet")
    assert after.schema.types == before.schema.types
    done = run("swap", "visits.parquet", "-o", "release.csv", *roles)
    assert done.code == 3
    assert "column 'tags': holds list" in done.err
    assert not Path("release.csv").exists()
    frame.drop(columns="tags").to_parquet("visits.parquet")
    assert run("swap", "visits.parquet", "-o", "release.csv", *roles[:-4], "--k", 6).code == 0
    assert sorted(read("release.csv")["cost"].astype(float)) == sorted(frame["cost"])


def test_noise(run: Run) -> None:
    done = run("noise", "visits.csv", "-o", "release.csv", *ROLES, "--alpha", "0.5", "--correlations", "--no-moments",
               "--key", "owner.parquet")  # fmt: skip
    assert done.code == 0, done.err
    assert "No guarantee\n" in done.out
    assert "rmse" not in nym.release.read_manifest("release.csv").summary["attributes"]["diagnosis"]
    record = nym.release.read_record("owner.parquet", "release.csv", 60)
    assert record.summary["attributes"]["diagnosis"]["rmse"] > 0
    assert nym.release.read_manifest("release.csv").method == nym.Noise(alpha=0.5, correlations=True, moments=False)
    done = run("noise", "visits.csv", "-o", "release.csv", *ROLES, "--alpha", "-1", "--overwrite")
    assert done.code == 2
    assert "error: --alpha -1.0: give a number above 0" in done.err


def test_data_swap(run: Run) -> None:
    roles = ("--quasi", "diagnosis", "--keep", "ward", "--keep", "cost", "--identifier", "name")
    done = run("data-swap", "visits.csv", "-o", "r.csv", *roles, "--rate", 0.2, "--equal", "ward", "--true-swaps",
               "--key", "owner.parquet")  # fmt: skip
    assert done.code == 0, done.err
    assert "pairs" not in done.out
    assert nym.release.read_record("owner.parquet", "r.csv", 60).summary["pairs"] == 6
    said = nym.release.read_manifest("r.csv")
    assert said.params["equal"] == ["ward"]
    assert said.meanings == {}
    assert said.method == nym.DataSwap(rate=0.2, equal=["ward"], true_swaps=True)


def test_numbers_in_text_are_swapped_by_their_size(run: Run) -> None:
    roles = ("--quasi", "cost=number", "--keep", "ward", "--keep", "diagnosis", "--identifier", "name")
    done = run("swap", "visits.csv", "-o", "r.csv", *roles, "--method", "numerical", "--p", 10, "--keep-order")
    assert done.code == 0, done.err
    before, after = read("visits.csv")["cost"], read("r.csv")["cost"]
    assert sorted(before) == sorted(after)
    # Six places along the ranking, and ten records of each cost.
    assert max(abs(before.astype(int) - after.astype(int))) == 1
    done = run("swap", "visits.csv", "-o", "q.csv", *roles[2:], "--quasi", "cost=number", "--method", "numerical",
               "--p", 10, "--delimiter", ",", "--na", "000")  # fmt: skip
    assert done.code == 0, done.err
    roles = ("--quasi", "ward=number", "--keep", "cost", "--keep", "diagnosis", "--identifier", "name")
    done = run("swap", "visits.csv", "-o", "s.csv", *roles, "--method", "numerical", "--p", 10)
    assert done.code == 3
    assert "column 'ward': 'A' has no order of its own" in done.err


def test_meanings_of_all_kinds(run: Run) -> None:
    Path("wards.order").write_text("B\nA\n")
    roles = (
        "--identifier",
        "name",
        "--quasi",
        "diagnosis=equal",
        "--quasi",
        "cost=number",
        "--quasi",
        "ward=wards.order",
    )
    done = run("swap", "visits.csv", "-o", "r.csv", *roles, "--k", 5)
    assert done.code == 0, done.err
    said = nym.release.read_manifest("r.csv")
    assert said.meanings == {
        "diagnosis": {"meaning": "Equality"},
        "cost": {"meaning": "Order"},
        "ward": {"meaning": "Order", "name": "wards.order", "values": ["B", "A"]},
    }
    assert "kept columns" not in done.out
    Path("wards.order").write_text("B\n")
    done = run("swap", "visits.csv", "-o", "s.csv", *roles, "--k", 5)
    assert done.code == 3
    assert "column 'ward': 'A' has no place in the given order" in done.err


def test_missing_markers_go_for_masked_columns_only(run: Run) -> None:
    text = Path("visits.csv").read_text().replace(",flu,A", ",NA,NA")
    Path("visits.csv").write_text(text)
    done = run(*SWAP, "--na", "NA")
    assert done.code == 0, done.err
    after = read("release.csv")
    assert "NA" not in set(after["diagnosis"])
    assert (after["diagnosis"] == "").sum() == text.count(",NA,NA")
    assert (after["ward"] == "NA").sum() == text.count(",NA,NA")


def test_delimiter_and_encoding_are_those_of_the_input(run: Run) -> None:
    text = Path("visits.csv").read_text().replace(",", ";").replace("name", "näme")
    Path("visits.csv").write_text(text, encoding="latin-1")
    roles = [role.replace("name", "näme") for role in ROLES]
    done = run("swap", "visits.csv", "-o", "release.csv", *roles, "--k", 5, "--delimiter", ";", "--encoding", "latin-1")
    assert done.code == 0, done.err
    assert Path("release.csv").read_bytes().startswith(b"diagnosis;ward;cost\n")


@pytest.mark.parametrize("out", ["release.parquet", "release.txt"])
def test_recode(run: Run, out: str) -> None:
    sets, labels = nym.datasets.baskets(300, seed=1, items=40, labels=12)
    sets.to_fimi("baskets.dat")
    Path("labels.txt").write_text("\n".join(map(str, labels)) + "\n")
    done = run("recode", "baskets.dat", "-o", out, "--k", 4, "--order", "gray", "--key", "owner.parquet")
    assert done.code == 0, done.err
    rel = nym.itemsets.read_release(out)
    record = nym.release.read_record("owner.parquet", out, 300)
    rows = record.rows
    assert record.input["name"] == "baskets.dat"
    assert 0 < record.summary["error_rate"] < 2
    assert int(rel.compatible(sets).min()) >= 4
    # Every record could be the row that the key names.
    for record in range(20):
        row = int(rows[record])
        wrong = set(sets[record]) ^ set(rel.base[row])
        assert wrong <= set(rel.distance[row])
    done = run("recode", "baskets.dat", "-o", out, "--l", 3, "--label", "labels.txt", "--overwrite", "--order", "gray")
    assert done.code == 0, done.err
    assert sorted(map(str, nym.itemsets.read_release(out).labels)) == sorted(map(str, labels))


def test_recode_of_a_column_of_lists(run: Run) -> None:
    sets, labels = nym.datasets.baskets(200, seed=1, items=40, labels=12)
    frame = pd.DataFrame({"items": sets.to_lists(), "illness": labels, "name": [f"P{i}" for i in range(200)]})
    frame.to_parquet("baskets.parquet")
    done = run("recode", "baskets.parquet", "-o", "r.parquet", "--l", 3, "--label", "illness", "--order", "gray")
    assert done.code == 0, done.err
    assert "not part of the release: name" in done.err
    assert pq.read_schema("r.parquet").names == ["base", "distance", "threshold", "label"]
    assert nym.release.read_manifest("r.parquet").method == nym.Recode(l=3, order="gray")


def test_files_that_are_there_stay(run: Run) -> None:
    Path("release.csv").write_text("mine")
    done = run(*SWAP)
    assert done.code == 4
    assert "release.csv already exists; give --overwrite to replace it" in done.err
    assert Path("release.csv").read_text() == "mine"


def test_lines_of_comments(run: Run, folder: Path) -> None:
    (folder / "noted.csv").write_text("# of the ward, 2024\n" + (folder / "visits.csv").read_text())
    done = run("swap", "noted.csv", "-o", "r.csv", *ROLES, "--k", "5")
    assert done.code == 2
    assert "skip comment lines with --comment '#'" in done.err
    assert run("swap", "noted.csv", "-o", "r.csv", *ROLES, "--k", "5", "--comment", "#").code == 0
    done = run("taxonomy", "check", "illness.csv", "noted.csv", "--column", "diagnosis")
    assert "skip comment lines with --comment '#'" in done.err


def test_texts_that_stand_for_missing_values(run: Run, folder: Path) -> None:
    text = (folder / "visits.csv").read_text().replace("flu", "N/A", 1)
    (folder / "gaps.csv").write_text(text)
    done = run("swap", "gaps.csv", "-o", "r.csv", *ROLES, "--k", "5")
    assert done.code == 3
    assert "if 'N/A' stands for a missing value, give it with --na" in done.err
    done = run("taxonomy", "check", "illness.csv", "gaps.csv", "--column", "diagnosis")
    assert "if 'N/A' stands for a missing value, give it with --na" in done.err
    assert run("swap", "gaps.csv", "-o", "r.csv", *ROLES, "--k", "5", "--na", "N/A").code == 0
    (folder / "ages.csv").write_text("age\n" + "".join(f"{i}\n" for i in range(20)) + "NA\n")
    done = run("swap", "ages.csv", "-o", "s.csv", "--quasi", "age=number", "--k", "5")
    assert "column 'age': 'NA' has no order of its own; if it stands for a missing value, give it with --na" in done.err
    assert run("swap", "ages.csv", "-o", "s.csv", "--quasi", "age=number", "--k", "5", "--na", "NA").code == 0


def test_layouts_that_differ(run: Run, folder: Path) -> None:
    (folder / "jobs.csv").write_text("job,place\n" + "2211,Ulm\n" * 10)
    (folder / "isco.txt").write_text("2211\n2212\n")
    (folder / "places.csv").write_text("place,state\nUlm,south\n")
    done = run("swap", "jobs.csv", "-o", "r.csv", "--quasi", "job=isco.txt", "--quasi", "place=places.csv", "--k", "5",
               "--prefix", "1,2")  # fmt: skip
    assert "where layouts differ, give each column its own in a --config file" in done.err
    done = run("taxonomy", "info", "isco.txt", "--prefix", "5,6")
    assert "error: --prefix 5,6: no code has more than 4 characters" in done.err


def test_a_doubt_about_a_code_system_is_told_once(run: Run, folder: Path) -> None:
    (folder / "codes.csv").write_text("code\n9671\n9604\n")
    done = run("taxonomy", "check", "icd-9-cm-procedures", "codes.csv", "--column", "code")
    assert done.code == 0
    assert done.err.count("warning: ") == 1
    assert "column 'code': '9671' is read as a procedure" in done.err
