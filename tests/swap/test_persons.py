"""Persons with several records, and sensitive columns: what groups keep, what is refused, what is published."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nominym as nym
from commands import TAXONOMY, Run
from nominym import error
from nominym.release import read_manifest, read_record

TAX = nym.Taxonomy.from_edges([(f"{i:03}", f"{i // 3:03}") for i in range(1, 200)])
CODES = np.array([f"{i:03}" for i in range(200)])


def stays(patients: int = 150, seed: int = 1) -> pd.DataFrame:
    """Draw diagnoses of patients, some of whom come often and with the same disease."""
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(patients), rng.geometric(0.4, patients))
    own = rng.integers(20, 200, patients)[patient]
    code = np.where(rng.random(len(patient)) < 0.6, own, rng.integers(20, 200, len(patient)))
    order = rng.permutation(len(patient))
    return pd.DataFrame(
        {
            "patient": np.array([f"P{i:04}" for i in patient])[order],
            "code": CODES[code][order],
            "age": rng.integers(0, 90, len(patient))[order],
            "hiv": rng.choice(["no", "yes", "unknown"], len(patient), p=[0.3, 0.35, 0.35])[order],
        }
    )


MASKED = {"code": TAX, "age": nym.Order()}


def largest(values: Any, group_of: np.ndarray) -> float:
    """Return the largest share of a value in a group, counted one by one."""
    values = [repr(value) for value in values]
    found = 0.0
    for group in range(group_of.max() + 1):
        members = [values[i] for i in np.flatnonzero(group_of == group)]
        found = max(found, *(members.count(value) / len(members) for value in set(members)))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_limits_hold_in_every_group_of_random_tables(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = stays(int(rng.integers(20, 200)), seed)
    frame.loc[rng.random(len(frame)) < 0.05, "hiv"] = None
    k, share = int(rng.integers(2, 8)), int(rng.integers(2, 3))
    most = frame["patient"].value_counts().iloc[0]
    if most * k > len(frame):
        with pytest.raises(error.DataError, match="more than 1/"):
            nym.rank_swap(frame, MASKED, k=k, person="patient", sensitive={"hiv": share})
        return
    res = nym.rank_swap(frame, MASKED, k=k, person="patient", sensitive={"hiv": share})
    group_of = res.secret.groups
    said = res.summary["groups"]
    assert res.summary["bound"] is None
    assert said["largest_share"] == pytest.approx(largest(frame["patient"], group_of))
    assert said["largest_share"] <= 1 / k
    assert said["sensitive"] == {"hiv": pytest.approx(largest(frame["hiv"], group_of))}
    assert said["sensitive"]["hiv"] <= 1 / share
    persons = [frame["patient"][group_of == group].nunique() for group in range(group_of.max() + 1)]
    assert said["persons"] == min(persons) >= k
    assert sorted(res.data["code"]) == sorted(frame["code"])
    assert any("groups were formed with regard to hiv" in note for note in res.summary["notes"])


def test_without_persons_a_group_may_hold_one() -> None:
    """The diagnoses of a patient who comes often make a group of their own, unless persons are counted."""
    frame = pd.DataFrame({"patient": ["often"] * 5 + list("abcdefghijklmnopqrst"), "code": ["050"] * 5 + ["100"] * 20})
    with pytest.warns(nym.PrivacyWarning, match="hardly anything changes"):
        res = nym.rank_swap(frame.drop(columns="patient"), {"code": TAX}, k=5)
    assert set(frame["patient"][res.secret.groups == res.secret.groups[0]]) == {"often"}
    res = nym.rank_swap(frame, {"code": TAX}, k=5, person="patient")
    assert res.summary["groups"]["persons"] >= 5
    assert res.summary["bound"] <= 0.2


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, pa.Table.from_pandas, lambda f: f.to_dict("list")],
                         ids=["pandas", "polars", "arrow", "mapping"])  # fmt: skip
def test_the_column_of_persons_is_dropped(make: Any) -> None:
    frame = make(stays())
    res = nym.rank_swap(frame, MASKED, k=3, person="patient")
    assert type(res.data) is type(frame)
    names = list(res.data) if isinstance(res.data, dict) else [*getattr(res.data, "column_names", res.data.columns)]
    assert names == ["code", "age", "hiv"]
    assert res.secret.comparison.before.names == ["patient", "code", "age", "hiv"]
    assert res.secret.comparison.kept == ["hiv"]
    assert res.params["person"] == "patient"
    assert "patient" in res.guarantee.unit
    assert res.guarantee.headline == "Probability that a row belongs to a given person: at most 1 in 3"


def test_another_draw_shows_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from nominym import groups

    frame = stays()
    how = {"k": 3, "person": "patient", "sensitive": {"hiv": 2}}
    first = nym.rank_swap(frame, MASKED, **how)
    order = np.argsort(first.secret.groups, kind="stable").astype(np.uint32)
    monkeypatch.setattr("nominym.groups.forming.form", lambda *_, **__: groups.Partition(first.secret.groups, order))
    second = nym.rank_swap(frame, MASKED, **how)
    assert not first.data.equals(second.data)
    assert first.summary == second.summary
    assert "P00" not in json.dumps([str(first.summary), str(first.params), str(dataclasses.asdict(first.method))])


@pytest.mark.parametrize(
    ("how", "kind", "told"),
    [
        ({"person": "patients"}, error.UnknownColumnError, "no column 'patients'; there are 'patient', 'code', 'age'"),
        ({"sensitive": {"aids": 2}}, error.UnknownColumnError, "no column 'aids'; there are 'patient', 'code'"),
        ({"person": "code"}, error.ParameterError, "person=: column 'code': it is masked; persons are identified by"),
        ({"sensitive": {"age": 2}}, error.ParameterError, "sensitive=: column 'age': it is masked"),
        ({"person": "hiv", "sensitive": {"hiv": 2}}, error.ParameterError, "'hiv': it identifies persons and is"),
        ({"sensitive": {"hiv": 1}}, error.ParameterError, r"sensitive=\{'hiv': 1\}: column 'hiv': give a whole number"),
        ({"sensitive": {"hiv": 2.0}}, error.ParameterError, "column 'hiv': give a whole number, 2 or more"),
        ({"sensitive": ["hiv"]}, error.ParameterError, "give a mapping from column names to numbers"),
        ({"person": ""}, error.ParameterError, "person='': give the name of a column"),
        ({"person": "patient", "method": "records"}, error.ParameterError, "leave out method='records', or person="),
        ({"sensitive": {"hiv": 2}, "method": "records"}, error.ParameterError, "only where guarantee is 'strict'"),
    ],
)  # fmt: skip
def test_columns_that_have_no_such_part(how: dict[str, Any], kind: type[Exception], told: str) -> None:
    with pytest.raises(kind, match=told):
        nym.rank_swap(stays(), MASKED, k=3, **how)


def test_what_is_infeasible_names_value_and_limit() -> None:
    frame = pd.DataFrame(
        {
            "code": np.random.default_rng(1).permutation(CODES[20:120]),
            "patient": ["often"] * 30 + [f"P{i}" for i in range(70)],
            "hiv": ["yes"] * 10 + ["no"] * 45 + ["unknown"] * 45,
        }
    )
    for how, told in (
        (
            {"k": 5, "person": "patient"},
            "column 'patient': person 'often' has 30 of 100 records, more than 1/5 of them; give k=3 or less",
        ),
        (
            {"k": 5, "sensitive": {"hiv": 3}},
            "column 'hiv': 'no' is on 45 of 100 records, more than 1/3 of them; give sensitive={'hiv': 2} or less",
        ),
        (
            {"k": 80, "person": "patient"},
            "column 'patient': 71 persons cannot make a group of k=80; give a smaller k or more records",
        ),
    ):
        with pytest.raises(error.DataError) as caught:
            nym.rank_swap(frame[["code", *how.get("sensitive", [how.get("person")])]], {"code": TAX}, **how)
        assert str(caught.value) == told
    half = frame.assign(hiv=["no"] * 60 + [None] * 40)[["code", "hiv"]]
    with pytest.raises(
        error.DataError, match=r"60 of 100 .*; no limit is possible: leave out 20 of these 60 records and give"
    ):
        nym.rank_swap(half, {"code": TAX}, k=2, sensitive={"hiv": 2})
    with pytest.raises(error.DataError, match="a missing value is on 60 of 100 records"):
        nym.rank_swap(half.assign(hiv=[None] * 60 + ["no"] * 40), {"code": TAX}, k=2, sensitive={"hiv": 2})


def test_a_missing_person_is_named_by_its_row(tmp_path: Path) -> None:
    frame = stays()
    frame.loc[[17, 30], "patient"] = None
    told = f"column 'patient': 2 of {len(frame)} records have no person, the first in row 17; fill the column, with a"
    with pytest.raises(error.MissingValueError, match=told):
        nym.rank_swap(frame, MASKED, k=3, person="patient")
    roles = {"patient": "person", "code": "quasi-identifier", "age": "quasi-identifier", "hiv": "keep"}
    for source in (frame, tmp_path / "stays.csv"):
        frame.to_csv(tmp_path / "stays.csv", index=False)
        with pytest.raises(error.MissingValueError, match=told):
            nym.publish(source, tmp_path / "r.csv", roles, nym.RankSwap(k=3), MASKED)


def test_baskets_as_rows() -> None:
    """Rows of (tid, item): the number of a basket is no kept column; as a person it makes groups of k baskets."""
    rng = np.random.default_rng(1)
    tid = np.repeat(np.arange(400), rng.integers(1, 7, 400))
    frame = pd.DataFrame({"tid": tid, "item": CODES[rng.integers(20, 200, len(tid))]})
    frame = frame.sample(frac=1, random_state=1, ignore_index=True)
    with pytest.raises(error.DataError, match=r"column 'tid': .* fewer than k = 10 records have"):
        nym.rank_swap(frame, {"item": TAX}, k=10)
    res = nym.rank_swap(frame, {"item": TAX}, k=10, person="tid")
    for group in range(res.secret.groups.max() + 1):
        members = frame["tid"][res.secret.groups == group]
        assert members.nunique() >= 10
        assert members.value_counts().iloc[0] * 10 <= len(members)
    assert list(res.data) == ["item"]


def test_a_kept_column_that_links_the_records_of_a_person_is_refused() -> None:
    frame = stays(400).drop(columns="hiv")
    # Shared by few persons, but on many records of each: no value is rare among the records.
    frame["family"] = frame["patient"].str[:4]
    with pytest.raises(error.DataError) as caught:
        nym.rank_swap(frame, MASKED, k=12, person="patient")
    told = str(caught.value)
    assert told.startswith("column 'family': it links the records of a person: 100% of the persons with several")
    assert "roles={'family': 'identifier'}" in told
    assert told.endswith("give accept=['family']")
    res = nym.rank_swap(frame, MASKED, k=12, person="patient", accept=["family"])
    assert not any("links" in note for note in res.summary["notes"])
    assert any(
        note.startswith("family: it links the records of a person: 100%") and note.endswith("accepted")
        for note in res.secret.summary["notes"]
    )


def test_kept_columns_that_link_together() -> None:
    frame = stays(400)
    number = frame["patient"].str[1:].astype(int)
    frame = frame.assign(a=number % 7, b=number // 7 % 7)
    with pytest.raises(error.DataError) as caught:
        nym.rank_swap(frame, MASKED, k=12, person="patient")
    # hiv varies from record to record: what the others link is not hidden by it.
    assert str(caught.value).startswith("columns 'a' and 'b': they link the records of a person: 100% of the persons")
    assert str(caught.value).endswith("if nobody can know their values, give accept=['a', 'b']")
    res = nym.rank_swap(frame, MASKED, k=12, person="patient", accept=["a", "b"])
    assert not any("link" in note for note in res.summary["notes"])
    assert any(note.startswith("a, b: they link the records") for note in res.secret.summary["notes"])
    with pytest.warns(nym.PrivacyWarning, match="they link the records of a person: ") as warned:
        res = nym.rank_swap(frame.assign(b=frame["b"] // 3), MASKED, k=12, person="patient")
    assert len(warned) == 1
    assert not any("link" in note for note in res.summary["notes"])


ROLES = {"patient": "person", "code": "quasi-identifier", "age": "quasi-identifier", "hiv": "keep"}


def test_roles_and_method_say_the_same(folder: Path) -> None:
    frame, method = stays(), nym.RankSwap(k=3)
    made = nym.publish(frame, "a.csv", ROLES, method, MASKED, key="a.key")
    assert made.result.method == nym.RankSwap(k=3, person="patient") == read_manifest("a.csv").method
    assert list(pd.read_csv("a.csv")) == ["code", "age", "hiv"]
    said = read_manifest("a.csv")
    assert said.roles == {
        "identifier": [], "quasi-identifier": ["code", "age"], "keep": ["hiv"], "person": ["patient"],
    }  # fmt: skip
    assert said.output["columns"] == 3
    assert said.params["person"] == "patient"
    assert said.guarantee["unit"].startswith("One person, by the column patient")
    assert len(read_record("a.key", "a.csv", len(frame)).rows) == len(frame)
    assert b"P00" not in Path("a.csv").read_bytes() + Path("a.csv.manifest.json").read_bytes()
    # What the method says is a role as well, where roles do not say it.
    limited = nym.RankSwap(k=3, person="patient", sensitive={"hiv": 2})
    quasi = {"code": "quasi-identifier", "age": "quasi-identifier"}
    for roles in (quasi, {**quasi, "patient": "identifier"}, {**quasi, "hiv": "keep"}, ROLES):
        made = nym.publish(frame, "b.csv", roles, limited, MASKED, overwrite=True)
        assert made.manifest.roles == said.roles
        assert made.manifest.options["sensitive"] == {"hiv": 2}
        assert read_manifest("b.csv").method == limited


def test_roles_that_contradict(folder: Path) -> None:
    limited = nym.RankSwap(k=3, person="patient", sensitive={"hiv": 2})
    for roles, method, told in (
        ({**ROLES, "hiv": "person"}, nym.RankSwap(k=3), "2 columns have the role person: 'patient', 'hiv'; only one"),
        ({**ROLES, "hiv": "identifier"}, limited, "column 'hiv': it is sensitive, but its role is identifier; give ro"),
        (
            {**ROLES, "hiv": "quasi-identifier"},
            limited,
            "column 'hiv': it is masked; a sensitive column stays unchanged; ",
        ),
        (
            {**ROLES, "patient": "keep"},
            limited,
            "column 'patient': it identifies persons, but its role is keep; give roles",
        ),
        ({**ROLES, "patient": "keep", "hiv": "person"}, limited, "person='patient': the role of 'hiv' is person"),
        (ROLES, nym.DataSwap(), "column 'patient': its role is person, but DataSwap does not count persons; drop it"),
        (ROLES, nym.RankSwap(k=3, method="records"), "person='patient': published methods do not count persons"),
    ):
        with pytest.raises(error.ParameterError) as caught:
            nym.publish(stays(), "r.csv", roles, method, MASKED)
        assert str(caught.value).startswith(told)
    with pytest.raises(error.UnknownColumnError, match="no column 'patint'; did you mean 'patient'"):
        nym.publish(stays(), "r.csv", ROLES, nym.RankSwap(k=3, sensitive={"patint": 2}), MASKED)


@pytest.fixture
def shell(run: Run) -> Run:
    frame = stays(200)
    diagnoses = ["flu", "cold", "measles", "fracture", "burn", "sprain"]
    frame["code"] = np.array(diagnoses)[frame["code"].astype(int) % 6]
    frame.to_csv("stays.csv", index=False)
    Path("illness.csv").write_text(TAXONOMY)
    return run


LINE = ("swap", "stays.csv", "-o", "r.csv", "--quasi", "code=illness.csv", "--quasi", "age=number", "--k", 4)


def test_persons_in_the_shell(shell: Run) -> None:
    done = shell(*LINE, "--person", "patient", "--sensitive", "hiv=2")
    assert done.code == 0, done.err
    assert "notice: persons are identified by patient, which is dropped" in done.err
    assert "records, at least 4 persons in each" in done.out
    assert "hiv: one value on at most " in done.out
    assert "guarantee: Groups of at least 4 persons, in which no value of hiv is on more than 1 in 2" in done.out
    assert "no probability is guaranteed" in done.err
    method = nym.RankSwap(k=4, person="patient", sensitive={"hiv": 2})
    assert read_manifest("r.csv").method == method
    Path("r.toml").write_text(
        '[input]\npath = "stays.csv"\n[output]\npath = "t.csv"\n'
        '[columns.code]\nrole = "quasi-identifier"\ntaxonomy = "illness.csv"\n'
        '[columns.age]\nrole = "quasi-identifier"\nmeaning = "number"\n'
        '[columns.patient]\nrole = "person"\n'
        '[method]\ncommand = "swap"\nk = 4\n[method.sensitive]\nhiv = 2\n'
    )
    done = shell("swap", "-c", "r.toml")
    assert done.code == 0, done.err
    assert read_manifest("t.csv").method == method
    Path("r.toml").write_text(
        Path("r.toml").read_text().replace('[columns.patient]\nrole = "person"\n', "")
        .replace("k = 4\n", 'k = 4\nperson = "patient"\naccept = ["hiv"]\n')
    )  # fmt: skip
    done = shell("swap", "-c", "r.toml", "--overwrite", "--sensitive", "hiv=2")
    assert done.code == 0, done.err
    assert read_manifest("t.csv").method == dataclasses.replace(method, accept=["hiv"])


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (("--sensitive", "hiv"), 2, "error: --sensitive hiv: give a column and a whole number, hiv=3"),
        (("--sensitive", "hiv=x"), 2, "error: --sensitive hiv=x: give a column and a whole number, hiv=3"),
        (("--sensitive", "hiv=1"), 2, "error: --sensitive hiv=1: column 'hiv': give a whole number, 2 or more"),
        (("--sensitive", "hiv=2", "--sensitive", "hiv=3"), 2, "error: --sensitive hiv=3: column 'hiv' is given twice"),
        (("--sensitive", "hiv=9"), 3, "more than 1/9 of them; give --sensitive hiv=2 or less"),
        (("--keep", "hiv", "--k", 90), 3, "give --k "),
        (("--keep", "hiv", "--method", "records"), 2, "leave out --method records, or --person"),
    ],
)
def test_mistakes_in_the_shell(shell: Run, options: tuple[Any, ...], code: int, told: str) -> None:
    done = shell(*LINE, "--person", "patient", *options)
    assert told in done.err
    assert done.code == code


def test_item_sets_of_persons(run: Run) -> None:
    sets, _ = nym.datasets.baskets(300, seed=1, items=40)
    people = np.random.default_rng(2).permutation(np.arange(300) % 90)
    rel = nym.recode(sets, k=4, person=people)
    group_of = rel.secret.graph.group_of
    for group in range(group_of.max() + 1):
        members = people[group_of == group]
        assert len(set(members)) == len(members) >= 4
    assert rel.summary["groups"]["persons"] == rel.summary["groups"]["smallest"] >= 4
    assert rel.guarantee.headline == "Probability that a row belongs to a given person: at most 1 in 4"
    frame = pd.DataFrame({"items": sets.to_lists(), "customer": people})
    frame.to_parquet("baskets.parquet")
    done = run("recode", "baskets.parquet", "-o", "r.parquet", "--k", 4, "--person", "customer")
    assert done.code == 0, done.err
    assert "at least 4 persons in each" in done.out
    assert "not part of the release: customer" in done.err
    Path("people.txt").write_text("\n".join(map(str, people)))
    sets.to_fimi("baskets.dat")
    Path("r.toml").write_text('[input]\npath = "baskets.dat"\nperson = "people.txt"\n[output]\npath = "f.parquet"\n'
                              '[method]\ncommand = "recode"\nk = 4\n')  # fmt: skip
    done = run("recode", "--config", "r.toml")
    assert done.code == 0, done.err
    assert "at least 4 persons in each" in done.out
    made = nym.publish(sets, "p.parquet", None, nym.Recode(k=4), person=people)
    assert made.manifest.summary["groups"]["persons"] >= 4


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"person": [0] * 100 + list(range(200))}, "column 'person': person 0 has 101 of 300 records, more than 1/4 of "
         "them; give k=2 or less"),
        ({"person": [1, 2] * 150}, "column 'person': 2 persons cannot make a group of k=4"),
        ({"person": [None] * 3 + list(range(297))}, "column 'person': 3 of 300 records have no person, the first in "),
        ({"person": [1]}, "1 persons for 300 records; give one for each"),
        ({"person": range(300), "structure": "ring", "insiders": "accepted"}, "person=: only groups of k can be formed "
         "of persons; leave out structure='ring'"),
        ({"person": range(300), "structure": "cahd"}, "person=: only groups of k can be formed of persons"),
    ],
)  # fmt: skip
def test_item_sets_that_no_persons_go_with(how: dict[str, Any], told: str) -> None:
    sets, _ = nym.datasets.baskets(300, seed=1, items=40)
    with pytest.raises(error.NominymError) as caught:
        nym.recode(sets, k=4, **how)
    assert str(caught.value).startswith(told)


def test_identifiers_that_several_records_share_may_tell_persons(folder: Path) -> None:
    frame = stays().assign(name=[f"N{i}" for i in range(len(stays()))])
    roles = {**ROLES, "patient": "identifier", "name": "identifier"}
    with pytest.warns(nym.PrivacyWarning, match=r"the same 'patient', and k counts records; .*--person patient"):
        nym.publish(frame, "r.csv", roles, nym.RankSwap(k=3), MASKED)
