"""Kept columns that undo the protection: refused with a remedy, warned of, or accepted on purpose."""

from __future__ import annotations

import re
import time
import warnings
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nominym as nym
from commands import Run
from nominym import error
from nominym.groups import check_kept, kept
from nominym.groups.telling import agreement, coded, in_parts
from nominym.table import code

CODES = np.array([f"{i:03}" for i in range(200)])
TAX = nym.Taxonomy.from_edges([(f"{i:03}", f"{i // 3:03}") for i in range(1, 200)])


def table(n: int = 600, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    code, job = (CODES[rng.integers(20, 60, n)] for _ in range(2))
    return pd.DataFrame({"code": code, "job": job, "ward": rng.integers(0, 4, n)})


MASKED = {"code": TAX, "job": TAX}


def swap(frame: pd.DataFrame, **how: Any) -> nym.Result:
    return nym.rank_swap(frame, MASKED, k=5, **how)


def refused(frame: pd.DataFrame, **how: Any) -> str:
    with pytest.raises(error.DataError) as caught:
        swap(frame, **how)
    return str(caught.value)


def test_a_unique_column_is_refused() -> None:
    frame = table().assign(income=np.random.default_rng(2).permutation(600))
    assert refused(frame) == (
        "column 'income': 100% of the records have a value that fewer than k = 5 records have; anyone who knows it of "
        "a person finds the row; drop the column (in a release by roles={'income': 'identifier'}), mask it too, or, if "
        "nobody can know its values, give accept=['income']"
    )
    res = swap(frame, accept=["income"])
    assert res.params["accept"] == ("income",)
    told = "income: 100% of the records have a value that fewer than k = 5 records have, which the owner accepted"
    assert told in res.summary["notes"]
    assert "although income could tell many rows apart, which the owner accepted" in res.guarantee.premise
    swap(frame.drop(columns="income"))
    nym.rank_swap(frame, {**MASKED, "income": nym.Order()}, k=5)


@pytest.mark.parametrize(("rare", "outcome"), [(0.05, "nothing"), (0.11, "warned"), (0.5, "warned"), (0.52, "refused")])
def test_how_many_records_may_have_rare_values(rare: float, outcome: str) -> None:
    count = int(600 * rare) // 4 * 4
    values = np.concatenate([np.repeat(np.arange(count // 4), 4), np.full(600 - count, -1)])
    frame = table().assign(age=np.random.default_rng(2).permutation(values))
    if outcome == "refused":
        assert "column 'age'" in refused(frame)
    elif outcome == "warned":
        with pytest.warns(nym.PrivacyWarning, match="age: .* fewer than k = 5 records have") as caught:
            res = swap(frame)
        assert Path(caught[0].filename) == Path(__file__)
        assert res.summary["notes"][0] in str(caught[0].message)
    else:
        assert swap(frame).summary["notes"] == []


def test_a_description_beside_its_code_is_refused() -> None:
    frame = table()
    frame["text"] = "what " + frame["code"] + " means"
    assert refused(frame) == (
        "column 'text': the masked column 'code' can be read off it: two records with the same text have the same code "
        "in 100% of the cases, two of all records in 3%; drop the column (in a release by roles={'text': "
        "'identifier'}), mask it too, or, if nobody can know its values, give accept=['text']"
    )
    # A few wrong descriptions do not help.
    wrong = np.random.default_rng(3).random(600) < 0.03
    assert "column 'text'" in refused(frame.assign(text=frame["text"].where(~wrong, "other")))
    res = swap(frame, accept="text")
    assert res.summary["notes"] == []
    assert res.secret.summary["notes"][0].startswith("text: the masked column 'code' can be read off it: two records")
    assert res.secret.summary["notes"][0].endswith(", which the owner accepted")
    assert "although text could tell many rows apart, which the owner accepted" in res.guarantee.premise


def test_what_predicts_a_masked_column_is_warned_of_without_public_figures() -> None:
    frame = table()
    wrong = np.random.default_rng(3).random(600) < 0.15
    frame["text"] = frame["code"].where(~wrong, CODES[np.random.default_rng(4).integers(20, 60, 600)])
    with pytest.warns(nym.PrivacyWarning, match=r"text: the masked column 'code' can be read off it: .* in \d\d%"):
        res = swap(frame)
    # How kept and masked values went together helps to undo a draw: that they did is the owner's to know.
    assert res.summary["notes"] == []
    assert any(note.startswith("text: the masked column 'code'") for note in res.secret.summary["notes"])
    # Chance is no prediction, however frequent a value is.
    sex = pd.DataFrame({"sex": ["f"] * 580 + ["m"] * 20, "ward": np.arange(600) % 4})
    with pytest.warns(nym.PrivacyWarning, match="hardly anything changes"):
        res = nym.rank_swap(sex, {"sex": nym.Equality()}, k=5)
    assert not any(note.startswith("ward") for note in res.summary["notes"])


def naive(kept_values: list[Any], masked: list[Any]) -> tuple[float, float, int]:
    """Predict by the pair: the share of other records with the same kept value that have the same masked one."""
    n, shares = len(masked), []
    for i in range(n):
        others = [j for j in range(n) if j != i and kept_values[j] == kept_values[i]]
        if others:
            shares.append(sum(masked[j] == masked[i] for j in others) / len(others))
    chance = sum(x == y for x, y in permutations(masked, 2)) / (n * (n - 1))
    return (sum(shares) / len(shares) if shares else 0.0), chance, len(shares)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(["x", "y", "z", None])), min_size=2, max_size=12))
@settings(max_examples=300, deadline=None)
def test_predictions_are_those_of_a_naive_count(rows: list[tuple[str, str | None]]) -> None:
    first, second = map(list, zip(*rows, strict=True))
    right, chance, covered = naive(first, second)
    beyond = (right - chance) / (1 - chance) if chance < 1 else 0.0
    found = next(iter(kept._read_off(("a",), [coded(code(first))], [("b", coded(code(second)))], [])), None)
    judged = covered and covered >= 0.2 * len(rows) and chance < 1
    if abs(beyond - 0.5) > 1e-9 and abs(beyond - 0.9) > 1e-9:
        assert (found is not None) == bool(judged and beyond >= 0.5)
        assert found is None or found.refused == (beyond >= 0.9)
    if found is not None:
        assert f"in {right:.0%} of the cases, two of all records in {chance:.0%}" in found.figures


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from([*"pqrstuvw"])), min_size=1, max_size=14),
    st.integers(2, 4),
)
@settings(max_examples=300, deadline=None)
def test_links_are_those_of_a_naive_count(rows: list[tuple[str, str]], k: int) -> None:
    values, people = map(list, zip(*rows, strict=True))
    several = [p for p in set(people) if people.count(p) > 1]
    linked = [
        p
        for p in several
        if any(rows.count((v, p)) > 1 and len({q for w, q in rows if w == v}) < k for v in set(values))
    ]
    found = kept._linked(("a",), coded(code(values)), code(people), k)
    share = len(linked) / len(several) if several else 0.0
    assert (found is not None) == (share > 0.05)
    assert found is None or f": {share:.0%} of the persons" in found.figures


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 80) | st.none()), min_size=30, max_size=60))
@settings(max_examples=100, deadline=None)
def test_neighbouring_parts_are_those_of_a_naive_count(rows: list[tuple[str, int | None]]) -> None:
    first, second = map(list, zip(*rows, strict=True))
    column = code(second)
    numbers = np.array([int(value) for value in column.categories])
    parts = in_parts(column, np.argsort(np.argsort(numbers)))
    if parts is None:
        return
    shown = parts.codes.tolist()
    known = sorted(value for value in second if value is not None)
    for value, part in zip(second, shown, strict=True):
        if value is None:
            assert part == parts.parts + 1
            continue
        middle = sum(other < value for other in known) + known.count(value) / 2
        assert part == int(middle / len(known) * parts.parts)
    near = [[abs(x - y) <= 1 for y in shown] for x in shown]
    n, shares = len(rows), []
    for i in range(n):
        others = [j for j in range(n) if j != i and first[j] == first[i]]
        if others:
            shares.append(sum(near[i][j] for j in others) / len(others))
    chance = sum(near[i][j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    got = agreement(coded(code(first)), parts, 0.0)
    if chance < 1 and shares:
        assert got is not None
        assert got.right == pytest.approx(sum(shares) / len(shares))
        assert got.chance == pytest.approx(chance)


INCOME = np.round(np.random.default_rng(2).normal(50_000, 9_000, 2_000), 2)


@pytest.mark.parametrize(
    ("net", "outcome"),
    [
        (np.round(INCOME * 0.7), "refused"),
        (2020 - np.floor(INCOME / 500), "refused"),
        (np.round(INCOME * 0.7, -3), "warned"),
        (np.random.default_rng(3).permutation(np.round(INCOME * 0.7, -3)), "nothing"),
    ],
)
def test_numbers_that_tell_numbers(net: np.ndarray, outcome: str) -> None:
    """Equal values are rare among numbers; near ones are told by near ones."""
    frame = pd.DataFrame({"income": INCOME, "net": net})
    told = "the masked column 'income' can be read off it: two records with (nearly )?the same net have income in the"
    kept_columns, masked = {"net": code(frame["net"])}, {"income": code(frame["income"])}
    if outcome == "refused":
        # One that is nearly unique is refused for that already.
        with pytest.raises(error.DataError, match=f"{told}|no other record has"):
            check_kept(kept_columns, masked, 2, ordered=["income"])
        (note,) = check_kept(kept_columns, masked, 2, ["net"], ordered=["income"]).owners
        assert re.search(f"{told}.*, which the owner accepted$", note)
    elif outcome == "warned":
        with pytest.warns(nym.PrivacyWarning, match=told):
            res = nym.rank_swap(frame, {"income": nym.Order()}, k=2)
        assert not any("income" in note for note in res.summary["notes"])
    else:
        assert nym.rank_swap(frame, {"income": nym.Order()}, k=2).secret.summary["notes"] == []
    # Texts that are numbers are compared as numbers.
    if outcome == "refused":
        texts = {"net": code(frame["net"].astype(str))}
        assert check_kept(texts, masked, 2, ["net"], ordered=["income"]).owners == [note]


def test_two_columns_that_tell_a_masked_one_together() -> None:
    frame = table()
    number = frame["code"].astype(int)
    frame = frame.assign(tens=number // 10, ones=number % 10)
    assert refused(frame) == (
        "columns 'tens' and 'ones': the masked column 'code' can be read off them: two records with the same tens and "
        "ones have the same code in 100% of the cases, two of all records in 3%; drop one of them (in a release by "
        "roles={'ones': 'identifier'}), mask it too, or, if nobody can know their values, give accept=['tens', 'ones']"
    )
    assert "columns 'tens' and 'ones'" in refused(frame, accept=["ones"])
    res = swap(frame, accept=["tens", "ones"])
    assert not any("code" in note for note in res.summary["notes"])
    assert any(note.startswith("tens, ones: the masked column 'code'") for note in res.secret.summary["notes"])


def test_three_columns_that_tell_a_masked_one_are_said() -> None:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 4, (3, 4_000))
    masked = {"code": code((bits[0] ^ bits[1] ^ bits[2]).astype(str))}
    columns = {name: code(part.astype(str)) for name, part in zip("abc", bits, strict=True)}
    with pytest.warns(nym.PrivacyWarning, match="a, b, c: the masked column 'code' can be read off them") as caught:
        notes = check_kept(columns, masked, 2)
    assert len(caught) == len(notes.owners) == 1
    assert notes.public == []


def test_combinations_that_no_other_record_has() -> None:
    rng = np.random.default_rng(5)
    frame = table().assign(
        height=rng.integers(0, 40, 600), weight=rng.integers(0, 40, 600), born=rng.integers(0, 9, 600)
    )
    counts = frame.value_counts(["height", "weight"]).to_numpy()
    pair = f"height, weight: {(counts == 1).sum() / 600:.0%} of the records have a combination of values that no other "
    with pytest.warns(nym.PrivacyWarning) as caught:
        res = nym.rank_swap(frame, MASKED, k=3)
    told = [str(each.message) for each in caught]
    assert told[0].startswith(pair)
    assert told[-1].startswith("ward, height, weight, born: ")
    assert len(told) <= kept.FEW + 1
    # That can be counted in the release.
    assert len(res.summary["notes"]) == len(told)
    assert res.summary["notes"][0].startswith(pair)


def test_what_is_published_does_not_depend_on_who_has_which_row() -> None:
    """All ways of giving the same kept values to the records of one group: the public side is the same."""
    ward = ["A"] * 23 + ["B"] * 6
    public, owners = [], []
    for both in range(6):  # records with y whose ward is B
        dx = ["x"] * (17 + both) + ["y"] * (6 - both) + ["y"] * both + ["x"] * (6 - both)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nym.PrivacyWarning)
            res = nym.rank_swap({"dx": dx, "ward": ward}, {"dx": nym.Equality()}, k=15)
        assert res.summary["groups"]["count"] == 1
        public.append((res.summary, res.params, res.guarantee))
        owners.append(len(res.secret.summary["notes"]))
    assert all(each == public[0] for each in public)
    assert owners[-1] > owners[0]


def test_names_that_cannot_be_accepted() -> None:
    with pytest.raises(error.ParameterError, match=r"accept=\['code'\]: it is masked: there is nothing to accept"):
        swap(table(), accept=["code"])
    with pytest.raises(error.UnknownColumnError, match="there is no column 'wards'; there are 'ward'"):
        swap(table(), accept=["wards"])
    with pytest.raises(error.ParameterError, match="accept=3: give a list of column names"):
        nym.RankSwap(k=5, accept=3)


def test_hardly_anything_changes_is_said_first() -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"job": rng.choice(["clerk", "cook"], 400), "ward": rng.integers(0, 3, 400)})
    with pytest.warns(nym.PrivacyWarning) as caught:
        res = nym.rank_swap(frame, {"job": nym.Equality()}, k=10)
    told = (
        "hardly anything changes: 100.0% of the masked values are expected to be unchanged, because groups consist "
        "of equal values; masking protects little here, and the kept columns decide"
    )
    assert res.summary["notes"] == [told, "job: no value changes"]
    assert [str(each.message) for each in caught] == [told]
    assert swap(table()).summary["notes"] == []


def test_a_million_rows_take_seconds() -> None:
    rng = np.random.default_rng(1)
    n = 1_000_000
    masked = {f"m{i}": code(rng.integers(0, size, n)) for i, size in enumerate((50, 2_000, 20_000))}
    columns = {f"k{i}": code(rng.integers(0, size, n)) for i, size in enumerate((2, 5, 20, 90, 90, 1_000, 5_000))}
    person = code(rng.permutation(np.arange(n) % 700_000))
    start = time.process_time()
    with pytest.warns(nym.PrivacyWarning, match="no other record has"):
        notes = check_kept(columns, masked, 10, person=person, ordered=["m1", "m2"])
    assert time.process_time() - start < 30
    assert notes.owners == []


@pytest.fixture
def unique(folder: Path) -> None:
    """Make the cost of every visit another."""
    first, *lines = Path("visits.csv").read_text().splitlines()
    Path("visits.csv").write_text("\n".join([first, *(f"{line[:-3]}{i:03}" for i, line in enumerate(lines))]) + "\n")


ROLES = {"name": "identifier", "diagnosis": "quasi-identifier", "ward": "keep", "cost": "keep"}


@pytest.mark.parametrize(
    "method",
    [nym.RankSwap(k=5), nym.RankSwap(k=5, method="records"), nym.RankSwap(method="random"), nym.DataSwap(rate=0.2),
     nym.Noise(alpha=0.3)],
    ids=repr,
)  # fmt: skip
@pytest.mark.usefixtures("unique")
def test_publish_refuses_before_the_work(folder: Path, method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not getattr(method, "strict", False):
        monkeypatch.setattr(type(method), "apply", lambda *_: pytest.fail("too late"))
    with pytest.raises(error.DataError, match="column 'cost': 100% of the records have a value that"):
        nym.publish("visits.csv", "r.csv", ROLES, method, {"diagnosis": "illness.csv"})
    assert not Path("r.csv").exists()
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    accepting = type(method).from_options({**dict(method.params()), "accept": ["cost"]})
    said = nym.publish("visits.csv", "r.csv", ROLES, accepting, {"diagnosis": "illness.csv"}).manifest
    assert said.options["accept"] == ["cost"]
    assert said.method == accepting
    assert any(note.startswith("cost: ") and note.endswith("which the owner accepted") for note in said.notes)


@pytest.mark.parametrize("command", [("swap", "--k", 5), ("noise", "--alpha", 0.3), ("data-swap", "--rate", 0.2)])
@pytest.mark.usefixtures("unique")
def test_the_remedy_works_in_the_shell(run: Run, command: tuple[Any, ...]) -> None:
    name, *options = command
    line = (name, "visits.csv", "-o", "r.csv", "--identifier", "name", "--quasi", "diagnosis=illness.csv", "--keep",
            "ward", "--keep", "cost", *options)  # fmt: skip
    done = run(*line)
    assert done.code == 3
    assert "drop the column (in a release by --identifier cost), mask it too, or" in done.err
    assert done.err.endswith("give --accept cost\n")
    done = run(*line, "--accept", "cost")
    assert done.code == 0, done.err
    assert nym.release.read_manifest("r.csv").options["accept"] == ["cost"]


def test_of_two_values_neither_is_rare_however_large_k() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=1_000), "sex": rng.choice(["f", "m"], 1_000)})
    nym.rank_swap(frame, {"x": nym.Order()}, k=900)
    with pytest.raises(nym.error.DataError, match="column 'number'"):
        nym.rank_swap(frame.assign(number=range(1_000)), {"x": nym.Order()}, k=900)


def test_a_kept_column_of_repeated_values_may_tell_persons() -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=1_000), "patient": rng.integers(400, size=1_000)})
    with pytest.raises(nym.error.DataError, match=r"if it identifies persons, give person='patient'"):
        nym.rank_swap(frame, {"x": nym.Order()}, k=5)
    assert list(nym.rank_swap(frame, {"x": nym.Order()}, k=5, person="patient").data) == ["x"]
    # Unique values tell no persons with several records.
    with pytest.raises(nym.error.DataError) as found:
        nym.rank_swap(frame.assign(patient=range(1_000)), {"x": nym.Order()}, k=5)
    assert "person=" not in str(found.value)
