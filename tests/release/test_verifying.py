"""Verification: a guarantee is verified by the files that bear it out, and by nothing less."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import nominym as nym
from nominym.error import DataError, FormatError
from nominym.release.comparing import tuples_of
from nominym.release.manifest import OwnersRecord, write_record

N, K = 400, 5
ROLES = {
    "name": "identifier",
    "age": "quasi-identifier",
    "diagnosis": "quasi-identifier",
    "ward": "keep",
    "sex": "keep",
}
DIAGNOSES = ["flu", "cold", "measles", "fracture", "burn", "sprain"]


def original(records: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "name": [f"P{i:04}" for i in range(records)],
            "age": rng.integers(18, 90, records),
            "diagnosis": rng.choice(DIAGNOSES, records),
            "ward": rng.choice(list("ABCD"), records),
            "sex": rng.choice(["f", "m"], records),
        }
    )


@pytest.fixture
def meanings(folder: Path) -> dict[str, Any]:
    return {"age": nym.Order(), "diagnosis": nym.read_taxonomy(folder / "illness.csv")}


@pytest.fixture
def released(folder: Path, meanings: dict[str, Any]) -> dict[str, Any]:
    """A release that is as it should be."""
    original().to_csv("o.csv", index=False)
    nym.publish("o.csv", "r.csv", ROLES, nym.RankSwap(k=K), meanings, key="key.parquet")
    return meanings


def judged(meanings: Any, key: str | None = "key.parquet", **how: Any) -> nym.release.Verification:
    return nym.release.verify(nym.release.compare_files("o.csv", "r.csv", meanings, key=key, **how))


def forge(
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame,
    said: Callable[[dict[str, Any]], Any] = lambda content: None,
    record: Callable[[OwnersRecord], dict[str, Any]] = lambda record: {},
) -> None:
    """Write another release, another manifest and another record, all of which are about each other."""
    held = nym.release.read_record("key.parquet", "r.csv", N)
    manifest = nym.release.read_manifest("r.csv")
    change(pd.read_csv("r.csv", dtype=str)).to_csv("r.csv", index=False)
    sha256 = hashlib.sha256(Path("r.csv").read_bytes()).hexdigest()
    content = {name: value for name, value in json.loads(manifest.to_json()).items() if name in vars(manifest)}
    content["output"]["sha256"] = sha256
    said(content)
    Path("r.csv.manifest.json").write_text(replace(manifest, **content).to_json())
    write_record(replace(held, **record(held)), Path("key.parquet"), sha256)


# ---- what is verified


@pytest.mark.parametrize("draw", ["independent", "joint"])
def test_a_release_as_it_should_be(folder: Path, meanings: dict[str, Any], draw: Any) -> None:
    original().to_csv("o.csv", index=False)
    nym.publish("o.csv", "r.csv", ROLES, nym.RankSwap(k=K, draw=draw), meanings, key="key.parquet")
    found = judged(meanings)
    assert found.verified, found
    assert found.doubts == found.broken == ()
    assert len(found.checks) == (12 if draw == "joint" else 11)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_all_types_of_columns(folder: Path, kind: str) -> None:
    """Missing values, dates, truth, numbers with a decimal point: from Parquet to text, and to Parquet."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "born": pd.to_datetime(rng.integers(0, 15_000, N), unit="D"),
            "weight": rng.normal(70, 9, N).round(1),
            "kind": pd.array(rng.choice(["a", "b", "c"], N)),
            "seen": pd.to_datetime(rng.integers(15_000, 15_010, N), unit="D"),
            "insured": rng.random(N) < 0.5,
            "stay": rng.integers(1, 9, N) / 2,
        }
    )
    frame.loc[rng.random(N) < 0.1, ["weight"]] = None
    frame.loc[rng.random(N) < 0.1, ["kind"]] = None
    frame.to_parquet("o.parquet")
    roles = {name: "quasi-identifier" if i < 3 else "keep" for i, name in enumerate(frame)}
    meanings = {"born": nym.Order(), "weight": nym.Order(), "kind": nym.Equality()}
    nym.publish("o.parquet", f"r.{kind}", roles, nym.RankSwap(k=K), meanings, key="key.parquet")
    given = {"born": nym.Equality()} if kind == "csv" else {}  # dates in text have no order
    pair = nym.release.compare_files("o.parquet", f"r.{kind}", given, key="key.parquet", na=["nan"])
    found = nym.release.verify(pair)
    assert not found.broken, found
    assert found.verified is (kind == "parquet"), found


def test_draws_are_not_suspected(folder: Path) -> None:
    """Whatever was drawn, uniform permutations do not look like values left where they were."""
    frame = original(60).drop(columns=["name", "diagnosis", "sex"])
    frame.to_csv("o.csv", index=False)
    roles = {"age": "quasi-identifier", "ward": "keep"}
    for _ in range(40):
        nym.publish("o.csv", "r.csv", roles, nym.RankSwap(k=2), {"age": nym.Order()}, key="key.parquet", overwrite=True)
        assert judged(None).verified


def test_tuples() -> None:
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, size, 500).astype(np.uint32) for size in (3, 7, 2)]
    numbers = tuples_of(columns)
    tuples = list(zip(*(column.tolist() for column in columns), strict=True))
    assert len(set(zip(numbers.tolist(), tuples, strict=True))) == len(set(tuples)) == len(set(numbers.tolist()))


# ---- what is missing


def test_without_a_manifest(released: Any) -> None:
    Path("r.csv.manifest.json").unlink()
    assert judged(released).doubts == ("there is no manifest next to the release, so there is no guarantee to verify",)


def test_without_the_record(released: Any) -> None:
    found = judged(released, key=None)
    assert found.doubts == ("the owner's record was not given, so groups and rows cannot be checked",)
    assert not found.broken


def test_without_a_meaning(released: Any) -> None:
    """Without the taxonomy its figures cannot be computed; all else can."""
    found = judged(None)
    assert len(found.doubts) == 1
    assert "compared as labels, because a taxonomy" in found.doubts[0]
    assert not found.broken


def test_of_another_original(released: Any) -> None:
    original().assign(name="x").to_csv("o.csv", index=False)
    with pytest.warns(nym.PrivacyWarning, match=r"was not made from o\.csv"):
        found = judged(released)
    assert "by the owner's record, the release was made from another original" in found.doubts


def test_of_a_frame(folder: Path, meanings: Any) -> None:
    """What was in memory has no fingerprint."""
    original().to_csv("o.csv", index=False)
    nym.publish(original(), "r.csv", ROLES, nym.RankSwap(k=K), meanings, key="key.parquet")
    found = judged(meanings)
    assert len(found.doubts) == 1
    assert "was not made from a file" in found.doubts[0]
    assert not found.broken


def test_with_a_seed(folder: Path, meanings: Any) -> None:
    original().to_csv("o.csv", index=False)
    nym.publish("o.csv", "r.csv", ROLES, nym.RankSwap(k=K), meanings, key="key.parquet", seed=1)
    found = judged(meanings)
    assert found.doubts == ("the release was made with a seed: anyone who has or guesses it can repeat the draw",)
    forge(said=lambda content: content.update(seeded=False))
    assert "by the owner's record a seed was given, which the manifest denies" in judged(meanings).broken


def test_in_the_order_of_the_original(folder: Path, meanings: Any) -> None:
    original().to_csv("o.csv", index=False)
    nym.publish("o.csv", "r.csv", ROLES, nym.RankSwap(k=K), meanings, key="key.parquet", keep_order=True)
    found = judged(meanings)
    assert "the rows are in the order of the original, which may reveal whose they are" in found.doubts
    # Saying otherwise does not help.
    forge(said=lambda content: content.update(order="shuffled"))
    assert any(
        "the rows are not in a random order" in why and "neighbours of the original stay neighbours" in why
        for why in judged(meanings).broken
    )


@pytest.mark.parametrize(
    "method",
    [nym.RankSwap(k=K, method="records"), nym.Noise(alpha=0.3), nym.DataSwap(rate=0.5)],
)
def test_of_methods_without_a_guarantee(folder: Path, meanings: Any, method: Any) -> None:
    original().to_csv("o.csv", index=False)
    meanings = {"diagnosis": meanings["diagnosis"]}
    roles = ROLES | {"age": "identifier"}
    nym.publish("o.csv", "r.csv", roles, method, meanings, key="key.parquet")
    found = judged(meanings)
    assert any("this method guarantees nothing" in why for why in found.doubts)
    assert not found.broken


def test_with_an_older_record(released: Any) -> None:
    """Version 1 says which row is whose, and nothing of groups."""
    held = pq.read_table("key.parquet")
    about = json.loads(held.schema.metadata[b"nominym-record"])
    assert about["version"] == 2
    about = {name: value for name, value in about.items() if name not in ("columns", "checksum")} | {"version": 1}
    about["checksum"] = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
    older = held.select(["row"]).replace_schema_metadata({"nominym-record": json.dumps(about)})
    pq.write_table(older, "key.parquet")
    record = nym.release.read_record("key.parquet", "r.csv", N)
    assert record.groups is None
    assert any("the owner's record has no groups" in why for why in judged(released).doubts)
    about["version"] = 3
    about["checksum"] = hashlib.sha256(
        json.dumps({name: value for name, value in about.items() if name != "checksum"}, sort_keys=True).encode()
    ).hexdigest()
    pq.write_table(older.replace_schema_metadata({"nominym-record": json.dumps(about)}), "key.parquet")
    with pytest.raises(FormatError, match="version 3, newer than 2"):
        nym.release.read_record("key.parquet", "r.csv", N)


def test_a_record_that_was_changed(released: Any) -> None:
    """Its columns are covered by the checksum too."""
    held = pq.read_table("key.parquet")
    assert held.column_names == ["row", "group"]
    groups = held["group"].to_numpy().copy()
    groups[0] += 1
    pq.write_table(held.set_column(1, "group", [groups]), "key.parquet")
    with pytest.raises(FormatError, match="was damaged, or changed"):
        nym.release.read_record("key.parquet", "r.csv", N)


def test_the_record_has_the_groups_of_the_input(released: Any) -> None:
    """In the order of the input: every group has the values before that it has after."""
    record = nym.release.read_record("key.parquet", "r.csv", N)
    assert record.groups is not None
    before, after = pd.read_csv("o.csv"), pd.read_csv("r.csv").iloc[record.rows].reset_index(drop=True)
    assert (before[["ward", "sex"]] == after[["ward", "sex"]]).all(axis=None)
    for group in np.unique(record.groups):
        for name in ("age", "diagnosis"):
            assert sorted(before[name][record.groups == group]) == sorted(after[name][record.groups == group])


# ---- what contradicts


def test_another_value(released: Any) -> None:
    """One value that the group did not have."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame.loc[7, "age"] = "17"
        return frame

    forge(change)
    assert judged(released).broken[0] == "column 'age': in 1 groups the values after masking are not those before"


def test_values_that_went_to_another_group(released: Any) -> None:
    forge(lambda frame: frame.assign(diagnosis=frame["diagnosis"].sample(frac=1, random_state=1).to_numpy()))
    found = judged(released).broken
    assert found[0].startswith("column 'diagnosis': in ")
    assert len(found) == 1


def test_another_value_of_a_kept_column(released: Any) -> None:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame.loc[:2, "ward"] = "X"
        return frame

    forge(change)
    assert "column 'ward' is kept, but differs in 3 records" in judged(released).broken


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_values_left_where_they_were(released: Any, share: float) -> None:
    """Whole groups with the identity for a permutation: their values are right, and nobody was moved."""
    record = nym.release.read_record("key.parquet", "r.csv", N)
    assert record.groups is not None
    some = np.isin(record.groups, np.unique(record.groups)[: int(share * (record.groups.max() + 1))])

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        before = pd.read_csv("o.csv", dtype=str)
        for name in ("age", "diagnosis"):
            frame.loc[record.rows[some], name] = before.loc[some, name].to_numpy()
        return frame

    forge(change)
    found = judged(released).broken
    assert len(found) == 1
    assert "values were left in place" in found[0]


def test_a_column_without_a_role(released: Any) -> None:
    """Of the original or not: nobody said what it is."""
    forge(lambda frame: frame.assign(note="x"))
    assert judged(released).broken[0] == "column 'note' of the release has no role in the manifest"
    forge(lambda frame: frame.drop(columns="note").assign(name=[f"P{i:04}" for i in range(N)]))
    found = judged(released).broken[0]
    assert "column 'name' of the release has no role" in found
    assert "column 'name' identifies persons and is in the release" in found


def test_a_column_that_is_gone(released: Any) -> None:
    forge(lambda frame: frame.drop(columns="sex"))
    assert "column 'sex' of the manifest is not in the release" in judged(released).broken[0]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda said: said["groups"].update(smallest=50), "groups smallest: 50 in the manifest"),
        (lambda said: said["groups"]["sizes"].update({"5": 1}), "groups sizes 5: 1 in the manifest"),
        (lambda said: said["groups"]["constant"]["ward"].update(groups=77, records=0), "groups constant ward"),
        (lambda said: said["groups"]["read_off"].pop("age"), "groups read_off age: nothing in the manifest"),
        (lambda said: said["attributes"]["age"].update(expected_rmse=0.5), "attributes age expected_rmse: 0.5"),
        (lambda said: said["attributes"]["age"].update(expected_unchanged=0.0), "attributes age expected_unchanged"),
        (lambda said: said.update(records=3), "records: 3 in the manifest"),
        (lambda said: said.update(bound=0.0001), "bound: 0.0001 in the manifest"),
        (lambda said: said["attributes"]["age"].update(categories=2), "attributes age categories: 2"),
    ],
)
def test_figures_that_do_not_follow(released: Any, change: Any, told: str) -> None:
    forge(said=lambda content: change(content["summary"]))
    found = judged(released).broken
    assert len(found) == 1
    assert found[0].startswith("figures of the manifest do not follow from the files: ")
    assert told in found[0]


def test_another_guarantee(released: Any) -> None:
    forge(said=lambda content: content["guarantee"].update(bound=0.01))
    assert judged(released).broken == ("the guarantee that the manifest states is not that of its method",)
    forge(said=lambda content: content["options"].update(k=50))
    assert any(f"a group has {K} records, fewer than 50" in why for why in judged(released).broken)


def test_groups_that_are_too_small(released: Any) -> None:
    """Other groups than those that the values were moved in."""

    def split(record: OwnersRecord) -> dict[str, Any]:
        assert record.groups is not None
        groups = record.groups.copy()
        groups[np.flatnonzero(groups == 0)[0]] = groups.max() + 1
        return {"groups": groups}

    forge(record=split)
    assert f"a group has 1 records, fewer than {K}" in judged(released).broken


def test_persons_and_sensitive_values(released: Any) -> None:
    """A manifest that limits persons and values which the groups do not limit."""

    def limit(content: dict[str, Any]) -> None:
        content["roles"] |= {"person": ["name"], "identifier": []}
        content["options"] |= {"person": "name", "sensitive": {"sex": 4}}
        content["params"] |= {"person": "name", "sensitive": {"sex": 4}}

    forge(said=limit)
    found = judged(released)
    assert any("one value of 'sex' is on more than 1/4 of a group" in why for why in found.broken)
    assert f"no value of 'name' is on more than 1/{K} of a group" in found.checks


def test_rows_in_blocks_of_the_original(released: Any) -> None:
    """The order is local only: no correlation to speak of, but neighbours stay neighbours."""
    blocks = np.random.default_rng(1).permutation(N // 8)
    rows = np.argsort((blocks[:, None] * 8 + np.arange(8)).reshape(-1)).astype(np.uint32)

    held = nym.release.read_record("key.parquet", "r.csv", N)
    order = np.argsort(rows)
    forge(lambda frame: frame.iloc[held.rows[order]], record=lambda record: {"rows": rows})
    assert any("neighbours of the original stay neighbours" in why for why in judged(released).broken)


@pytest.mark.parametrize("by", ["age", "ward", "groups", "inside groups"])
def test_rows_in_the_order_of_true_values(released: Any, by: str) -> None:
    held, before = nym.release.read_record("key.parquet", "r.csv", N), pd.read_csv("o.csv")
    assert held.groups is not None
    chance = np.random.default_rng(1).random(N)
    inside = np.lexsort((before["age"], held.groups))[np.argsort(np.repeat(chance[: N // 5], 5), kind="stable")]
    order = inside if by == "inside groups" else np.lexsort((chance, held.groups if by == "groups" else before[by]))
    rows = np.argsort(order).astype(np.uint32)
    forge(lambda frame: frame.iloc[held.rows[order]], record=lambda record: {"rows": rows})
    assert any("the rows are not in a random order: " in why for why in judged(released).broken)


def test_rows_by_equal_steps(released: Any) -> None:
    held = nym.release.read_record("key.parquet", "r.csv", N)
    rows = ((np.arange(N) * 37 + 5) % N).astype(np.uint32)
    forge(lambda frame: frame.iloc[held.rows[np.argsort(rows)]], record=lambda record: {"rows": rows})
    assert any("records follow each other by the same step" in why for why in judged(released).broken)


# ---- the draw


def redrawn(draw: Callable[[NDArray[np.int64], int], NDArray[np.int64]], columns: tuple[str, ...]) -> None:
    """Give values to the records of each group by another rule: the records of a group by age, and the column."""
    record, before = nym.release.read_record("key.parquet", "r.csv", N), pd.read_csv("o.csv", dtype=str)
    assert record.groups is not None
    groups = record.groups

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            members = members[np.argsort(before["age"].to_numpy()[members], kind="stable")]
            for at, name in enumerate(columns):
                frame.loc[record.rows[members], name] = before[name].to_numpy()[draw(members, at)]
        return frame

    forge(change)


RULES: dict[str, Callable[[NDArray[np.int64], int], NDArray[np.int64]]] = {
    "shifted by one": lambda members, at: np.roll(members, 1),
    "shifted, each column by its own": lambda members, at: np.roll(members, at + 1),
    "reversed": lambda members, at: members[::-1],
    "one column as it was": lambda members, at: members if at else np.random.default_rng(1).permutation(members),
    "together": lambda members, at: np.random.default_rng(int(members[0])).permutation(members),
}


@pytest.fixture
def numbers(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.permutation(N), "income": rng.permutation(N), "ward": rng.choice(list("AB"), N)})
    frame.to_csv("o.csv", index=False)
    meanings = {"age": nym.Order(), "income": nym.Order()}
    roles = {"age": "quasi-identifier", "income": "quasi-identifier", "ward": "keep"}
    nym.publish("o.csv", "r.csv", roles, nym.RankSwap(k=K), meanings, key="key.parquet")
    return meanings


@pytest.mark.parametrize("rule", RULES)
def test_draws_by_a_rule(numbers: Any, rule: str) -> None:
    """The groups hold their values, every figure is right, and whoever knows the rule knows all rows."""
    assert judged(numbers).verified
    redrawn(RULES[rule], ("age", "income"))
    found = judged(numbers)
    assert len(found.broken) == 1
    assert found.broken[0].startswith("the draw was not random: ")


def test_a_joint_draw_that_was_none(folder: Path) -> None:
    rng = np.random.default_rng(1)
    pd.DataFrame({"age": rng.permutation(N), "income": rng.permutation(N)}).to_csv("o.csv", index=False)
    meanings = {"age": nym.Order(), "income": nym.Order()}
    method = nym.RankSwap(k=K, draw="joint")
    nym.publish("o.csv", "r.csv", dict.fromkeys(meanings, "quasi-identifier"), method, meanings, key="key.parquet")
    assert judged(meanings).verified
    redrawn(RULES["shifted, each column by its own"], ("age", "income"))
    assert "masked values of a row were not moved together, as the manifest says" in judged(meanings).broken
    redrawn(RULES["shifted by one"], ("age", "income"))
    assert any("0 records kept their value of column 'all masked columns'" in why for why in judged(meanings).broken)


def test_how_much_could_have_been_left(numbers: Any) -> None:
    """Of many records little could have stayed without showing; of few it is said that nobody can tell."""
    (said,) = [check for check in judged(numbers).checks if "without detection" in check]
    assert said.startswith("what records got looks randomly drawn; up to ")
    assert not judged(numbers).caveats
    pd.read_csv("o.csv")[:30].to_csv("o.csv", index=False)
    roles = {"age": "quasi-identifier", "income": "identifier", "ward": "keep"}
    nym.publish("o.csv", "r.csv", roles, nym.RankSwap(k=K), {"age": nym.Order()}, key="key.parquet", overwrite=True)
    found = judged({"age": nym.Order()})
    assert found.verified
    assert found.caveats[0].startswith("too few records, or too many equal values, to tell a random draw from another")


# ---- persons, other columns, other words


def test_persons_that_the_manifest_does_not_count(released: Any) -> None:
    found = judged(released, person="name")
    assert found.doubts == ("for persons: groups were not formed of persons by column 'name'",)
    assert not found.broken
    frame = original().assign(name=lambda frame: "P" + (frame.index // 200).astype(str))
    frame.to_csv("o.csv", index=False)
    nym.publish("o.csv", "r.csv", ROLES, nym.RankSwap(k=K), released, key="key.parquet", overwrite=True)
    assert judged(released).verified
    found = judged(released, person="name")
    assert any(why.startswith("for persons: in ") for why in found.broken)
    assert found.doubts


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda said: said["params"].update(k=10_000), "params k"),
        (lambda said: said["params"].update(draw="joint"), "params draw"),
        (lambda said: said["params"].update(checked="by many"), "params checked"),
        (lambda said: said["params"]["roots"].update(age="0"), "params roots"),
        (lambda said: said["options"].update(person="name"), "params person, roles person"),
        (lambda said: said["roles"].update(person=["name"], identifier=[]), "roles person"),
        (lambda said: said["options"].update(sensitive={"sex": 2}), "params sensitive"),
    ],
)
def test_a_manifest_of_two_minds(released: Any, change: Any, told: str) -> None:
    forge(said=change)
    (found,) = [why for why in judged(released).broken if "contradicts its own method" in why]
    assert set(told.split(", ")) <= set(found.rsplit(": ", 1)[1].split(", "))


def test_notes_that_do_not_follow(released: Any) -> None:
    forge(said=lambda content: content["notes"].append("checked by the authority"))
    assert any("that does not follow from the files: checked by the auth" in why for why in judged(released).broken)
    frame = original().assign(ward=np.arange(N) // 2)
    frame.to_csv("o.csv", index=False)
    method = nym.RankSwap(k=K, accept=["ward"])
    nym.publish("o.csv", "r.csv", ROLES, method, released, key="key.parquet", overwrite=True)
    assert not judged(released).broken
    forge(said=lambda content: content["notes"].clear())
    assert any(why.startswith("the manifest lacks the note: ward: ") for why in judged(released).broken)


def test_a_kept_column_that_the_original_does_not_have(released: Any) -> None:
    """It has a role, and nobody can compare it with anything."""
    record, before = nym.release.read_record("key.parquet", "r.csv", N), pd.read_csv("o.csv", dtype=str)
    true = before["age"].to_numpy()[np.argsort(record.rows)]
    forge(lambda frame: frame.assign(note=true), said=lambda content: content["roles"]["keep"].append("note"))
    assert "column 'note' of the manifest is not in the original" in judged(released).broken
    assert nym.release.compare_files("o.csv", "r.csv", released, key="key.parquet").strange == {"note": "age"}


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said["summary"]["attributes"]["age"].pop("expected_rmse"),
        lambda said: said["summary"].pop("attributes"),
        lambda said: said["summary"].pop("groups"),
        lambda said: said["summary"].pop("records"),
        lambda said: said["summary"].pop("bound"),
        lambda said: said["summary"]["groups"].pop("sizes"),
        lambda said: said["summary"].update(groups=3),
        lambda said: said["params"].pop("k"),
        lambda said: said.update(roles=[]),
        lambda said: said.update(notes=[1]),
    ],
)
def test_a_manifest_without_its_figures(released: Any, change: Any) -> None:
    """It is refused when it is read, by whatever reads it."""
    forge(said=change)
    with pytest.raises(FormatError, match=r"r\.csv\.manifest\.json is not a manifest that nominym wrote: "):
        judged(released)


# ---- item sets


@pytest.fixture
def baskets(folder: Path) -> Path:
    nym.datasets.baskets(300, seed=1, items=40)[0].to_fimi("b.dat")
    return Path("b.dat")


@pytest.mark.parametrize("name", ["r.parquet", "r.txt"])
@pytest.mark.parametrize("structure", ["groups", "cahd"])
def test_item_sets(baskets: Path, name: str, structure: Any) -> None:
    nym.publish(baskets, name, None, nym.Recode(k=4, structure=structure), key="key.parquet")
    pair = nym.release.compare_sets(baskets, name, key="key.parquet")
    assert pair.groups is not None
    found = nym.release.verify(pair)
    assert found.verified, found
    alone = nym.release.verify(nym.release.compare_sets(baskets, name))
    assert alone.doubts == ("the owner's record was not given, so groups and rows cannot be checked",)
    assert alone.checks == ("every published form is on 4 rows or more",)


def test_item_sets_with_labels(baskets: Path) -> None:
    labels = [str(i % 9) for i in range(300)]
    Path("labels.txt").write_text("\n".join(labels) + "\n")
    nym.publish(baskets, "r.parquet", None, nym.Recode(l=3), label="labels.txt", key="key.parquet")
    found = nym.release.verify(nym.release.compare_sets(baskets, "r.parquet", key="key.parquet"))
    assert found.verified, found
    assert "no label is on more than 1/3 of a group" in found.checks
    pair = nym.release.compare_sets(baskets, "r.parquet", key="key.parquet")
    other = replace(pair, release=replace(pair.release, labels=["1"] * 300))
    assert any("one label is on more than 1/3" in why for why in nym.release.verify(other).broken)
    assert "labels are not those of the records, by the owner's record" in nym.release.verify(other).broken
    other = replace(pair, release=replace(pair.release, labels=None))
    assert "there are no labels, although every group should show several" in nym.release.verify(other).broken


def test_item_sets_of_a_ring(baskets: Path) -> None:
    with pytest.warns(nym.PrivacyWarning, match="insiders"):
        nym.publish(baskets, "r.parquet", None, nym.Recode(k=4, structure="ring"), key="key.parquet")
    found = nym.release.verify(nym.release.compare_sets(baskets, "r.parquet", key="key.parquet"))
    assert any("this method guarantees nothing" in why for why in found.doubts)
    assert not found.broken


def test_a_base_that_is_the_record(baskets: Path) -> None:
    nym.publish(baskets, "r.parquet", None, nym.Recode(k=4), key="key.parquet")
    pair = nym.release.compare_sets(baskets, "r.parquet", key="key.parquet")
    assert pair.record is not None
    base = pair.sets[np.argsort(pair.record.rows)]
    own = replace(pair, release=replace(pair.release, base=base))
    assert "base: not what the groups vote for" in nym.release.verify(own).broken
    # Even without the record: rows of a group look alike.
    own = replace(own, record=None)
    assert any("it is not that of a group" in why for why in nym.release.verify(own).broken)


def test_another_threshold(baskets: Path) -> None:
    nym.publish(baskets, "r.parquet", None, nym.Recode(k=4), key="key.parquet")
    pair = nym.release.compare_sets(baskets, "r.parquet", key="key.parquet")
    lower = replace(pair, release=replace(pair.release, threshold=pair.release.threshold // 2))
    assert "threshold: not what the groups vote for" in nym.release.verify(lower).broken


def test_item_sets_of_persons(baskets: Path) -> None:
    Path("persons.txt").write_text("\n".join(f"p{i // 2}" for i in range(300)) + "\n")
    nym.publish(baskets, "r.parquet", None, nym.Recode(k=4), person="persons.txt", key="key.parquet")
    found = nym.release.verify(nym.release.compare_sets(baskets, "r.parquet", key="key.parquet"))
    assert found.doubts == ("for persons: groups were formed of persons, but the person of each record was not given",)
    with_persons = nym.release.compare_sets(baskets, "r.parquet", key="key.parquet", person="persons.txt")
    found = nym.release.verify(with_persons)
    assert found.verified, found
    Path("persons.txt").write_text("\n".join(f"q{i}" for i in range(300)) + "\n")
    found = nym.release.verify(nym.release.compare_sets(baskets, "r.parquet", key="key.parquet", person="persons.txt"))
    assert found.doubts == ("for persons: by the owner's record, groups were formed of other persons",)
    Path("persons.txt").write_text("p\n" * 300)
    found = nym.release.verify(nym.release.compare_sets(baskets, "r.parquet", key="key.parquet", person="persons.txt"))
    assert any("one person is on more than 1/4 of a group" in why for why in found.broken)
    Path("persons.txt").write_text("p\n")
    with pytest.raises(DataError, match="1 persons for 300 records"):
        nym.release.compare_sets(baskets, "r.parquet", key="key.parquet", person="persons.txt")
