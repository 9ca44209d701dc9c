"""Commands that look at releases and taxonomies: measure, audit, report, taxonomy, demo."""

from __future__ import annotations

import hashlib
import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from commands import Done, Run
from nominym.cli import judging
from nominym.release.manifest import write_record

ROLES = ("--identifier", "name", "--identifier", "cost", "--quasi", "diagnosis=illness.csv", "--keep", "ward")
SWAP = ("swap", "visits.csv", "-o", "release.csv", *ROLES, "--k", "5")
MEANING = ("--quasi", "diagnosis=illness.csv")
PAIR = ("visits.csv", "release.csv")
OWNED = (*PAIR, *MEANING, "--key", "owner.parquet")


def numbers(records: int = 400) -> pd.DataFrame:
    """Three columns of numbers that a rank swap of 1 % hardly moves, and a ward."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.uniform(1_000, 9_000, (records, 3)).round(2), columns=["income", "debt", "rent"])
    return frame.assign(ward=rng.choice(list("ABC"), records))


def write(frame: pd.DataFrame, path: str) -> None:
    frame.to_csv(path, index=False)


# ---- measure


def test_measure(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    done = run("measure", *OWNED, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    record = nym.release.read_record("owner.parquet", "release.csv", 60)
    figures = found["attributes"][0]
    assert figures["column"] == "diagnosis"
    assert figures["rmse"] == pytest.approx(record.summary["attributes"]["diagnosis"]["rmse"])
    assert "rmse in units of the column" not in figures
    assert figures["variance before"] == pytest.approx(figures["variance after"])
    assert {(row["x"], row["y"]) for row in found["distortion"]} >= {("diagnosis", "ward")}
    before, after = pd.read_csv("visits.csv"), pd.read_csv("release.csv")
    for row in found["marginals"]:
        columns = [name for name in after if name in before and before[name].dtype.kind != "f"]
        assert row["k_marginal"] == pytest.approx(nym.distortion.k_marginal(before, after, columns, row["k"]))
    matches = nym.risk.unique_exact_matches(before, after, "diagnosis")
    assert found["unique exact matches"][0] == {"columns": "masked", **matches.to_dict()}
    (ward,) = (row for row in found["disclosure of kept columns, given masked ones"] if row["target"] == "ward")
    assert ward["disco"] == pytest.approx(nym.risk.disclosure(before, after, "diagnosis", "ward").disco)
    done = run("measure", *PAIR, *MEANING, "--columns", "ward", "--columns", "diagnosis")
    assert done.code == 0, done.err
    assert "no RMSE: which row is whose is not known" in done.err
    assert done.out.startswith("attributes\n")
    assert all(title in done.out for title in ("\nmarginals\n", "\nunique exact matches\n", "\ndisclosure of kept"))


def test_measure_without_a_manifest(run: Run) -> None:
    run(*SWAP, "--keep-order")
    Path("release.csv.manifest.json").unlink()
    done = run("measure", *PAIR, *MEANING, "--keep-order", "--json")
    assert "rmse" in json.loads(done.out)["attributes"][0]


def test_measure_has_the_unit_of_numbers(run: Run) -> None:
    """An RMSE of years is in years, of dates in days, and relative beside it."""
    before = pd.DataFrame({"age": [20, 30, 40, 60], "born": pd.to_datetime(["2001-01-01"] * 3 + ["2001-01-11"])})
    after = before.assign(age=[30, 20, 40, 60], born=before["born"][::-1].to_numpy())
    before.to_parquet("o.parquet")
    after.to_parquet("r.parquet")
    done = run("measure", "o.parquet", "r.parquet", "--quasi", "age", "--quasi", "born", "--keep-order", "--json")
    assert done.code == 0, done.err
    age, born = json.loads(done.out)["attributes"]
    assert age["rmse in units of the column"] == pytest.approx(50**0.5)
    assert age["rmse"] == pytest.approx(50**0.5 / 40)
    assert born["rmse in units of the column"] == pytest.approx(50**0.5)
    shown = run("measure", "o.parquet", "r.parquet", "--quasi", "age", "--quasi", "born", "--keep-order").out
    assert "rmse in units of the column" in shown


def test_another_original_is_noticed(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    done = run("measure", *OWNED)
    assert done.err == ""
    Path("visits.csv").write_text(Path("visits.csv").read_text().replace("P001", "P100"))
    done = run("measure", *OWNED)
    assert "release.csv was not made from visits.csv in its current state" in done.err
    # The manifest knows nothing of the input.
    assert "not made of" not in run("measure", *PAIR, *MEANING).err
    lines = Path("visits.csv").read_text().splitlines(keepends=True)
    Path("visits.csv").write_text("".join(lines[:-1]))
    done = run("measure", *PAIR, *MEANING)
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


# ---- what values mean


def by_masked(done: Done, attack: str = "nearest row") -> float:
    """The share found by an attack with all masked columns and no kept one."""
    rows = [row for row in json.loads(done.out)["attacks"] if row["attack"] == attack and not row["also_known"]]
    return float(max(rows, key=lambda row: len(row["known"]))["share"])


def test_numbers_in_text_are_numbers(run: Run) -> None:
    """Numerical rank swapping within 1 %: compared as labels nobody is found, as numbers nearly everybody."""
    write(numbers(), "o.csv")
    masked = ("--quasi", "income=number", "--quasi", "debt=number", "--quasi", "rent=number")
    made = run("swap", "o.csv", "-o", "r.csv", *masked, "--keep", "ward", "--method", "numerical", "--p", 1,
               "--key", "k.parquet")  # fmt: skip
    assert made.code == 0, made.err
    files = ("o.csv", "r.csv", "--key", "k.parquet", "--k", 10, "--json")
    labels = [part for name in ("income", "debt", "rent") for part in ("--quasi", f"{name}=equal")]
    assert by_masked(run("audit", *files, *labels)) < 0.01
    for said in ([], ["--quasi", "income"], masked):  # by the manifest, by both, by the caller
        done = run("audit", *files, *said)
        assert by_masked(done) > 0.9
        assert done.code == 1
        assert json.loads(done.out)["verdict"].startswith("broken: ")
    # Without a manifest, as the values look.
    Path("r.csv.manifest.json").unlink()
    done = run("audit", *files, "--quasi", "income", "--quasi", "debt", "--quasi", "rent")
    assert by_masked(done) > 0.9
    assert json.loads(run("measure", *files[:4], "--quasi", "income", "--json").out)["attributes"][0]["rmse"] < 0.1


def test_codes_are_no_numbers(run: Run) -> None:
    """Leading zeros are those of codes; a text among numbers is named."""
    frame = pd.DataFrame({"code": [f"{i % 30:03}" for i in range(60)], "age": [str(i % 9) for i in range(60)]})
    write(frame, "o.csv")
    write(frame.assign(code=frame["code"][::-1].to_numpy(), age=["?", *frame["age"][1:]]), "r.csv")
    pair = nym.release.compare_files("o.csv", "r.csv", {"code": None, "age": None})
    assert {name: change.before.meaning for name, change in pair.comparison.changes.items()} == {
        "code": nym.Equality(),
        "age": nym.Equality(),
    }
    assert list(pair.weaker) == ["age"]
    assert "'?' is not a number" in pair.weaker["age"]
    done = run("measure", "o.csv", "r.csv", "--quasi", "code", "--quasi", "age")
    assert "notice: column 'age': compared as labels, because '?' is not a number" in done.err
    pair = nym.release.compare_files("o.csv", "r.csv", {"code": None, "age": None}, na=["?"])
    assert pair.comparison.changes["age"].before.meaning == nym.Order()
    assert not pair.weaker


def test_a_taxonomy_that_is_not_given(run: Run) -> None:
    """Without the file, values are labels, and the audit says which file is needed."""
    run(*SWAP, "--key", "owner.parquet")
    done = run("audit", *PAIR, "--key", "owner.parquet", "--unknown", "ward", "--json")
    assert done.code == 1
    found = json.loads(done.out)
    said = nym.release.read_manifest("release.csv").meanings["diagnosis"]["sha256"]
    assert f"the taxonomy illness.csv (SHA-256 of its content: {said})" in found["doubts"][0]
    assert not found["verified"]
    assert "because the taxonomy illness.csv" in run("measure", *PAIR).err
    assert "because the taxonomy illness.csv" in run("report", *PAIR).err
    # Another one is another meaning; so is equality.
    Path("other.csv").write_text(Path("illness.csv").read_text().replace("burn,injury", "burn,infection"))
    for other in ("other.csv", "equal"):
        done = run("audit", *PAIR, "--quasi", f"diagnosis={other}", "--key", "owner.parquet", "--json")
        assert done.code == 1
        assert "not with what is given" in json.loads(done.out)["doubts"][0]


# ---- audit


def test_audit(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    done = run("audit", *OWNED, "--unknown", "ward")
    assert done.code == 0, done.err
    assert done.out.startswith("records re-identified: what if they also know …\n")
    verdict = done.out.splitlines()[-1]
    assert verdict.startswith("guarantee verified: To an adversary who knows")
    assert "; the attacks run found at most " in verdict
    assert "if ward is neither known of a person nor predictable, as asserted" in verdict
    found = json.loads(run("audit", *OWNED, "--unknown", "ward", "--json").out)
    assert found["holds"] is True
    assert found["verified"] is True
    assert found["doubts"] == found["not verified"] == found["contradictions"] == []
    assert found["unknown"] == ["ward"]
    assert {row["counted"] for row in found["attacks"] if "ward" not in row["also_known"]} == {True}
    assert "nearest row" in found["verdict"]
    done = run("audit", *PAIR, *MEANING)
    assert done.code == 2
    assert "an audit needs to know which row is whose" in done.err
    assert "give --key" in done.err


def test_kept_columns_are_attacked(run: Run) -> None:
    """Who knows a kept column as well finds more; the remedy is to mask it, or to assert that nobody does."""
    write(numbers(300).assign(age=np.arange(300) % 15), "o.csv")
    roles = ("--quasi", "income=number", "--quasi", "debt=number", "--identifier", "rent", "--keep", "ward",
             "--keep", "age")  # fmt: skip
    made = run("swap", "o.csv", "-o", "r.csv", *roles, "--k", 10, "--accept", "age", "--key", "k.parquet")
    assert made.code == 0, made.err
    done = run("audit", "o.csv", "r.csv", "--key", "k.parquet")
    assert done.code == 1
    assert done.out.splitlines()[-1].startswith("broken: ")
    assert "with age" in done.out.splitlines()[-1]
    assert "mask them, or, if nobody can know them, give --unknown" in done.err
    done = run("audit", "o.csv", "r.csv", "--key", "k.parquet", "--unknown", "age", "--unknown", "ward")
    assert done.code == 0, done.out
    assert "yes, not counted" in done.out
    assert "if age, ward are neither known of a person nor predictable, as asserted" in done.out.splitlines()[-1]
    # With one of two asserted, the other is still known, alone and without it.
    found = json.loads(run("audit", "o.csv", "r.csv", "--key", "k.parquet", "--unknown", "age", "--json").out)
    counted = [row for row in found["attacks"] if row["counted"] and row["attack"] == "nearest row"]
    assert {tuple(row["also_known"]) for row in counted} == {(), ("ward",)}
    done = run("audit", "o.csv", "r.csv", "--key", "k.parquet", "--unknown", "income")
    assert done.code == 2
    assert "--unknown income: it is not one of the kept columns, 'ward', 'age'" in done.err


def test_a_kept_column_may_have_a_meaning(run: Run) -> None:
    """For measures; an audit attacks it as what it is."""
    write(numbers(200), "o.csv")
    run("swap", "o.csv", "-o", "r.csv", "--quasi", "income=number", "--keep", "ward", "--identifier", "debt",
        "--identifier", "rent", "--k", 5, "--key", "k.parquet")  # fmt: skip
    meant = ("--quasi", "ward=equal", "--key", "k.parquet", "--json")
    assert len(json.loads(run("measure", "o.csv", "r.csv", *meant).out)["correlations"]) == 1
    done = run("audit", "o.csv", "r.csv", *meant)
    assert "notice: column 'ward': kept, by the manifest, and attacked as such" in done.err
    assert {tuple(row["known"]) for row in json.loads(done.out)["attacks"]} == {("income",)}


def test_a_column_that_was_not_kept_is_named(run: Run) -> None:
    """Without a manifest, what is not named as masked has to be as it was."""
    frame = numbers(100)
    write(frame, "o.csv")
    write(frame.assign(income=frame["income"][::-1].to_numpy(), debt=frame["debt"][::-1].to_numpy()), "r.csv")
    done = run("audit", "o.csv", "r.csv", "--quasi", "income", "--keep-order", "--k", 5)
    assert done.code == 3
    assert "column 'debt': it differs in 100 of 100 rows" in done.err


def test_a_masked_column_that_is_not_named(run: Run) -> None:
    """With the record alone, columns that differ record by record were not kept."""
    write(numbers(100), "o.csv")
    masked = ("--quasi", "income=number", "--quasi", "debt=number", "--keep", "ward", "--identifier", "rent")
    run("swap", "o.csv", "-o", "r.csv", *masked, "--k", 5, "--key", "k.parquet")
    Path("r.csv.manifest.json").unlink()
    done = run("audit", "o.csv", "r.csv", "--quasi", "income", "--key", "k.parquet", "--k", 5)
    assert done.code == 2
    assert "column 'debt': it differs in " in done.err
    assert "so it was not kept; give --quasi" in done.err
    done = run("audit", "o.csv", "r.csv", "--key", "k.parquet", "--k", 5)
    assert done.code == 2
    assert "name the columns that an adversary knows; give --quasi" in done.err
    done = run("audit", "o.csv", "r.csv", "--quasi", "income", "--quasi", "debt", "--key", "k.parquet", "--k", 5,
               "--unknown", "ward")  # fmt: skip
    assert done.code == 0, done.out
    assert "not verified: there is no manifest next to the release" in done.out.splitlines()[-1]


def test_audit_of_files_that_contradict_the_manifest(run: Run) -> None:
    """A release that was changed together with its manifest and its record."""
    run(*SWAP, "--key", "owner.parquet")
    said, record = nym.release.read_manifest("release.csv"), nym.release.read_record("owner.parquet", "release.csv", 60)
    write(pd.read_csv("release.csv", dtype=str).assign(note="x", ward="A"), "release.csv")
    write_record(record, Path("owner.parquet"), forge(said))
    done = run("audit", *OWNED, "--unknown", "ward", "--json")
    assert done.code == 1
    found = json.loads(done.out)
    assert found["contradictions"] == [
        "column 'note' of the release has no role in the manifest",
        "column 'ward' is kept, but differs in 30 records",
    ]
    assert found["holds"] is False
    assert found["verdict"].startswith("broken: column 'note' of the release has no role in the manifest; ")


def test_a_shuffled_release_is_not_taken_to_be_in_order(run: Run) -> None:
    run(*SWAP)
    done = run("audit", *PAIR, *MEANING, "--keep-order")
    assert done.code == 2
    assert "--keep-order: by its manifest, the rows of release.csv are shuffled; give --key" in done.err


def test_an_order_that_kept_columns_contradict(run: Run) -> None:
    """A shuffled copy looks safe if it is judged in order: a column that was kept tells."""
    frame = pd.read_csv("visits.csv", dtype=str)
    write(frame.sample(frac=1, random_state=1), "r.csv")
    for command in (("audit", "--k", 5), ("measure",), ("report", "--edition", "owner", "-o", "x.html")):
        done = run(command[0], "visits.csv", "r.csv", *MEANING, "--keep-order", *command[1:])
        assert done.code == 3, done.err
        assert "column 'name': it differs in " in done.err
        assert "first in row 1: the files are not in the same order; give --key with the owner's record" in done.err
    # So does a manifest that says so wrongly: the file was put in another order before the manifest was written.
    run(*SWAP, "--keep-order")
    said = nym.release.read_manifest("release.csv")
    released = pd.read_csv("release.csv", dtype=str)
    write(released[::-1], "release.csv")
    forge(said)
    done = run("audit", *PAIR, *MEANING)
    assert done.code == 3
    assert "column 'ward': it differs in 60 of 60 rows" in done.err


def forge(said: nym.release.Manifest) -> str:
    """Write a manifest that is about the release as it is now, and return its SHA-256."""
    sha256 = hashlib.sha256(Path("release.csv").read_bytes()).hexdigest()
    made = replace(said, output={**said.output, "sha256": sha256})
    nym.release.manifest_path("release.csv").write_text(made.to_json())
    return sha256


@pytest.mark.parametrize(
    ("kept", "asserted"),
    [
        ({}, True),
        ({"ward": ["A"] * 60}, True),  # says nothing
        ({"ward": ["A"] * 30 + ["B"] * 30}, True),  # both files may have been sorted by it
        ({"ward": ["A", "B"] * 30}, False),
        ({"number": list(range(60))}, False),
    ],
)
def test_an_order_that_is_only_asserted(run: Run, kept: dict[str, list[Any]], asserted: bool) -> None:
    """What no kept column shows is a doubt."""
    frame = pd.DataFrame({"diagnosis": ["flu", "cold", "burn", "sprain", "fracture", "measles"] * 10, **kept})
    write(frame, "o.csv")
    write(frame.assign(diagnosis=frame["diagnosis"].sample(frac=1, random_state=1).to_numpy()), "r.csv")
    done = run("audit", "o.csv", "r.csv", *MEANING, "--keep-order", "--k", 5, "--json")
    doubts = json.loads(done.out)["doubts"]
    assert [why for why in doubts if "the same order" in why] == doubts
    assert bool(doubts) is asserted
    assert done.code == 1 or not asserted


def test_rows_in_the_order_of_the_input_are_a_doubt(run: Run) -> None:
    run(*SWAP, "--keep-order")
    done = run("audit", "visits.csv", "release.csv", *MEANING, "--keep-order", "--unknown", "ward", "--json")
    assert done.code == 1
    assert any("in the order of the original" in doubt for doubt in json.loads(done.out)["doubts"])


def test_audit_of_a_seeded_release(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet", "--seed", 1)
    done = run("audit", *OWNED, "--unknown", "ward")
    assert done.code == 1
    verdict = done.out.splitlines()[-1]
    assert verdict.startswith("attacks found at most ")
    assert "; not verified: the release was made with a seed" in verdict


def test_audit_of_a_guarantee_that_does_not_hold(run: Run) -> None:
    frame = pd.read_csv("visits.csv").assign(diagnosis=["flu", "cold", "burn", "sprain", "fracture"] * 12)
    write(frame[["diagnosis", "ward"]].assign(ward=range(60)), "few.csv")
    done = run("audit", "few.csv", "few.csv", *MEANING, "--keep-order", "--k", 5)
    assert done.code == 1
    assert done.out.splitlines()[-1].startswith("broken: ")
    done = run("audit", "few.csv", "few.csv", *MEANING, "--keep-order")
    assert done.code == 1
    assert "there is no k to compare with: give --k" in done.out.splitlines()[-1]
    assert "exceeded" not in done.out


def test_audit_of_another_original(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    Path("visits.csv").write_text(Path("visits.csv").read_text().replace("P001", "P100"))
    done = run("audit", *OWNED, "--unknown", "ward", "--json")
    assert done.code == 1
    assert json.loads(done.out)["doubts"] == ["by the owner's record, the release was made from another original"]


def test_audit_with_another_k(run: Run) -> None:
    """A release of 1/5 is not verified for 1/20."""
    run(*SWAP, "--key", "owner.parquet")
    done = run("audit", *OWNED, "--unknown", "ward", "--k", 20)
    assert done.code == 1
    assert "guarantee verified" not in done.out
    assert run("audit", *OWNED, "--unknown", "ward", "--k", 3).code == 0


def test_audit_of_what_has_no_guarantee(run: Run) -> None:
    """Attacks that stay below the bound are not more than that."""
    write(pd.DataFrame({"x": ["a", "b"] * 50, "y": ["c"] * 100}), "o.csv")
    made = run("data-swap", "o.csv", "-o", "r.csv", "--quasi", "x", "--keep", "y", "--rate", 1.0, "--key", "k.parquet")
    assert made.code == 0, made.err
    done = run("audit", "o.csv", "r.csv", "--key", "k.parquet", "--k", 5)
    assert done.code == 0, done.out
    verdict = done.out.splitlines()[-1]
    assert verdict.startswith("attacks found at most ")
    assert "this method guarantees nothing, so there is nothing to verify" in verdict


def test_audit_counts_persons(run: Run) -> None:
    """The column that tells persons is read from the original alone."""
    frame = numbers(400)
    write(frame.assign(patient=[f"p{i % 150}" for i in range(400)]), "o.csv")
    masked = ("--quasi", "income=number", "--quasi", "debt=number", "--quasi", "rent=number", "--identifier", "ward")
    for persons, told in ((("--identifier", "patient"), ("--person", "patient")), (("--person", "patient"), ())):
        made = run("swap", "o.csv", "-o", "r.csv", *masked, *persons, "--k", 5, "--key", "k.parquet", "--overwrite")
        assert made.code == 0, made.err
        found = json.loads(run("audit", "o.csv", "r.csv", "--key", "k.parquet", *told, "--json").out)
        assert found["persons"] == 150
    done = run("audit", "o.csv", "r.csv", "--key", "k.parquet")
    assert done.out.startswith("persons re-identified: ")
    assert "guarantee verified: " in done.out
    done = run("audit", "o.csv", "r.csv", "--key", "k.parquet", "--person", "nobody")
    assert done.code == 2
    assert "no column 'nobody'" in done.err


def test_audit_for_persons_that_nobody_counted(run: Run) -> None:
    """Groups of records guarantee nothing for persons: broken where one has too much of a group, else not verified."""
    frame = numbers(400).drop(columns="ward")
    masked = ("--quasi", "income=number", "--quasi", "debt=number", "--quasi", "rent=number")
    uncounted = "not verified for persons: groups were not formed of persons by column 'who'"
    for persons, verdict in ((range(400), uncounted), (np.arange(400) // 100, "broken for persons: in ")):
        write(frame.assign(who=persons), "o.csv")
        made = run("swap", "o.csv", "-o", "r.csv", *masked, "--identifier", "who", "--k", 5, "--key", "k.parquet",
                   "--overwrite")  # fmt: skip
        assert made.code == 0, made.err
        done = run("audit", "o.csv", "r.csv", "--key", "k.parquet", "--person", "who")
        assert done.code == 1
        assert verdict in done.out.splitlines()[-1]


def test_audit_of_item_sets_of_persons(run: Run) -> None:
    nym.datasets.baskets(200, seed=1, items=40)[0].to_fimi("baskets.dat")
    for name, persons in (("persons.txt", np.arange(200) // 2), ("few.txt", np.arange(200) // 50)):
        Path(name).write_text("\n".join(map(str, persons)) + "\n")
    made = run("recode", "baskets.dat", "-o", "r.parquet", "--k", 4, "--person", "persons.txt", "--key", "k.parquet")
    assert made.code == 0, made.err
    done = run("audit", "baskets.dat", "r.parquet", "--key", "k.parquet", "--person", "persons.txt")
    assert done.code == 0, done.out
    assert "records are counted, not persons" in done.out
    done = run("audit", "baskets.dat", "r.parquet", "--key", "k.parquet")
    assert done.code == 1
    assert "not verified for persons: groups were formed of persons, but the person of each record" in done.out
    done = run("audit", "baskets.dat", "r.parquet", "--key", "k.parquet", "--person", "few.txt")
    assert done.code == 1
    assert done.out.splitlines()[-1].startswith("broken for persons: in ")
    # A release of records, for persons.
    run("recode", "baskets.dat", "-o", "r.parquet", "--k", 4, "--key", "k.parquet", "--overwrite")
    done = run("audit", "baskets.dat", "r.parquet", "--key", "k.parquet", "--person", "few.txt")
    assert done.code == 1
    assert done.out.splitlines()[-1].startswith("broken for persons: in ")
    assert run("audit", "baskets.dat", "r.parquet", "--key", "k.parquet").code == 0


def test_a_column_that_the_original_does_not_have(run: Run) -> None:
    """Nobody attacked it: a doubt by name, whatever it is; and more, if it is a column under another name."""
    frame = numbers(300).drop(columns="rent")
    write(frame, "o.csv")
    run("swap", "o.csv", "-o", "r.csv", "--quasi", "income=number", "--quasi", "debt=number", "--keep", "ward", "--k",
        5, "--keep-order", "--key", "k.parquet")  # fmt: skip
    Path("r.csv.manifest.json").unlink()
    released = pd.read_csv("r.csv")
    write(released.assign(salary=frame["income"] * 2 + 1, note="x"), "r.csv")
    done = run("audit", "o.csv", "r.csv", "--quasi", "income", "--quasi", "debt", "--keep-order", "--k", 5, "--unknown",
               "ward", "--json")  # fmt: skip
    assert done.code == 1
    unknown = "of the release is not in the original, so it was neither attacked nor compared"
    assert json.loads(done.out)["doubts"] == [
        f"column 'salary' {unknown}: it is column 'income' under another name",
        f"column 'note' {unknown}",
    ]


def test_a_share_above_the_bound_by_chance() -> None:
    """It is no contradiction, and does not read like one."""
    row = {"attack": "nearest row", "share": 0.225, "low": 0.225, "high": 0.225, "attacked": 40, "counted": True}
    told = judging._most({"k": 5, "attacks": pd.DataFrame([row])})
    assert told == "22.50%, 99.9 % interval 8.2% to 48.5%, within chance of 1/5 (nearest row)"
    sampled = {**row, "share": 0.1, "low": 0.08, "high": 0.12}
    assert judging._most({"k": 5, "attacks": pd.DataFrame([sampled])}) == (
        "10.00%, 95 % interval 8.0% to 12.0% (nearest row)"
    )


def test_report_of_a_manifest_without_its_figures(run: Run) -> None:
    run(*SWAP)
    said = nym.release.read_manifest("release.csv")
    del said.summary["attributes"]["diagnosis"]["expected_rmse"]
    nym.release.manifest_path("release.csv").write_text(said.to_json())
    done = run("report", *PAIR, *MEANING)
    assert done.code == 3
    assert "is not a manifest that nominym wrote: summary attributes diagnosis expected_rmse is missing" in done.err


def test_audit_of_item_sets(run: Run) -> None:
    nym.datasets.baskets(200, seed=1, items=40)[0].to_fimi("baskets.dat")
    run("recode", "baskets.dat", "-o", "r.txt", "--k", 4, "--order", "gray", "--key", "k.parquet")
    done = run("audit", "baskets.dat", "r.txt")
    assert done.code == 0, done.err
    assert "not verified: the owner's record was not given" in done.out.splitlines()[-1]
    done = run("audit", "baskets.dat", "r.txt", "--key", "k.parquet")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1].startswith("guarantee verified: ")
    done = run("audit", "baskets.dat", "r.txt", "--k", 200)
    assert done.code == 1
    assert "broken: a record could be " in done.out
    done = run("audit", "baskets.dat", "r.txt", "--unknown", "items")
    assert done.code == 2
    assert "item sets have no kept columns" in done.err
    for name in ("s.txt", "s.parquet"):
        run("recode", "baskets.dat", "-o", name, "--k", 4, "--order", "gray", "--seed", 1)
        done = run("audit", "baskets.dat", name)
        assert done.code == 1
        assert "not verified: the release was made with a seed" in done.out


# ---- report, taxonomy, demo


def test_report(run: Run) -> None:
    run(*SWAP, "--key", "owner.parquet")
    owners = (*MEANING, "--key", "owner.parquet", "--edition", "owner")
    done = run("report", "visits.csv", "release.csv", *owners, "--sweep", "k=2,5", "-o", "mine.html")
    assert done.code == 0, done.err
    assert done.out == "report, edition for the owner only: mine.html\n"
    assert "P001" not in Path("mine.html").read_text()
    assert stat.S_IMODE(Path("mine.html").stat().st_mode) == 0o600
    done = run("report", "visits.csv", "release.csv", *owners)
    assert done.code == 2
    assert "--edition owner: this edition must not be kept next to the release; choose a place" in done.err
    assert done.err.endswith("give --out\n")
    done = run("report", "visits.csv", "release.csv", *owners, "-o", "mine.html")
    assert done.code == 4
    assert "already exists; give --overwrite" in done.err
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
    assert done.out.count("guarantee verified: ") == 2
    made = {path.name for path in Path("demo").iterdir()}
    assert made >= {"discharges.csv", "release.csv", "release.csv.manifest.json", "release.toml", "report.html",
                    "report-owner.html", "baskets-report.html", "baskets-report-owner.html"}  # fmt: skip
    assert "report, may be published with the release: demo/report.html" in done.out
    assert "report, for the owner only: demo/report-owner.html" in done.out
    modes = {name: stat.S_IMODE(Path("demo", name).stat().st_mode) for name in ("report.html", "report-owner.html")}
    assert modes["report-owner.html"] == 0o600 != modes["report.html"]
    assert run("demo", "--out", "demo").code == 2
    # The file that it leaves is a release of its own.
    assert run("swap", "-c", "demo/release.toml", "-o", "again.csv", "--key", "again.parquet").code == 0


@pytest.mark.parametrize(
    "command",
    ["", "swap", "noise", "recode", "data-swap", "measure", "audit", "report", "study", "demo", "taxonomy",
     "taxonomy info", "taxonomy distance", "taxonomy check", "taxonomy convert"],
)  # fmt: skip
def test_help_has_examples(run: Run, command: str) -> None:
    done = run(*command.split(), "--help")
    assert done.code == 0
    assert done.out.startswith("usage: nominym")
    if command not in ("", "taxonomy"):
        assert f"examples:\n  nominym {command}" in done.out


def test_version(run: Run) -> None:
    assert run("--version").out == f"nominym {nym.__version__}\n"
