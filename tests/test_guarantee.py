"""The guarantee is stated once: the same words in code, documentation, manifest, report and on the command line."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import commands
import nominym as nym
from nominym import error
from nominym.guarantee import GROUPS, LABELS, LIMITS, REPEATS, SEEDED, SEEDS, Guarantee, of_groups, of_labels
from nominym.release import Manifest

ROOT = Path(__file__).parents[1]
TEXTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "docs" / "tutorial.ipynb",
         *sorted((ROOT / "examples").glob("*.py")), *sorted((ROOT / "python").rglob("*.py"))]  # fmt: skip


CLAIMS = (
    r"[Nn]obody (can )?(find|re-identif)",
    r"(?<!says that a )release is (safe|anonymous)",
    r"cannot be re-identified",
    r"equally likely identities",
    r"[Pp]romise",
)


def plain(text: str) -> str:
    """Return a text without line breaks and emphasis."""
    return " ".join(text.replace("*", "").split())


@pytest.mark.parametrize("page", ["README.md", "docs/guarantees.md", "docs/rank-swapping.md", "docs/item-sets.md",
                                  "docs/choosing.md"])  # fmt: skip
def test_pages_say_what_the_code_says(page) -> None:
    text = plain((ROOT / page).read_text(encoding="utf-8"))
    assert GROUPS in text
    if page in ("docs/guarantees.md", "docs/item-sets.md"):
        assert LABELS in text
    if page in ("docs/guarantees.md", "docs/rank-swapping.md"):
        assert LIMITS in text


def test_docstrings_say_it() -> None:
    assert GROUPS in plain(str(nym.rank_swap.__doc__))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_claims_more(path) -> None:
    """No sentence says that nobody is found, that a release is safe, or that an audit proves anything."""
    text = plain(path.read_text(encoding="utf-8"))
    for claim in CLAIMS:
        found = re.search(claim, text)
        assert not found, found


def test_a_seed_takes_every_guarantee_away() -> None:
    methods = [nym.RankSwap(k=5), nym.Noise(method="exponential", epsilon=1.0), nym.Recode(k=5), nym.Recode(l=3),
               nym.RankSwap(k=5, method="records"), nym.DataSwap(rate=0.1)]  # fmt: skip
    for method in methods:
        said = method.statement(["x"], seeded=True)
        assert said == SEEDED
        assert not said
        assert said.bound is None
        assert not method.statement(["x"]).headline.startswith(SEEDED.headline)


def test_all_statements_name_repeats_and_seeds() -> None:
    for method in (nym.RankSwap(k=5), nym.Noise(alpha=0.1), nym.DataSwap(rate=0.1), nym.Recode(k=5), nym.Recode(l=3)):
        said = method.statement(["x"], ["y"])
        assert {REPEATS, SEEDS} <= set(said.not_covered), method


def test_what_is_kept_sensitive_or_accepted_is_named() -> None:
    said = of_groups(5, ["icd"], ["age", "hiv"], person="patient", accepted=["age"])
    assert said.bound == 0.2
    assert "age and hiv are neither known of a person nor predictable from icd" in said.premise
    assert "although age could tell many rows apart, which the owner accepted" in said.premise
    assert said.unit.startswith("One person, by the column patient")
    assert not any("Kept columns" in text for text in of_groups(5, ["icd"]).not_covered)
    assert any("moved together" in text for text in of_groups(5, ["icd"], joint=True).not_covered)
    assert "at least 3 different labels, each on at most a share of 1/3" in of_labels(3).claim
    assert of_labels(3).bound is None


@pytest.mark.parametrize("person", [None, "patient"])
def test_sensitive_columns_take_the_bound_away(person) -> None:
    """Groups that depend on a kept column tell something about it: what holds is what they show."""
    method = nym.RankSwap(k=5, sensitive={"hiv": 3, "sex": 2}, accept=["age"], person=person)
    assert method.bound is None
    said = method.statement(["icd"], ["age", "hiv", "sex"])
    assert (said.kind, said.bound, said.premise) == ("labels", None, "")
    assert said
    unit = "records" if person is None else "persons"
    assert said.headline == (
        f"Groups of at least 5 {unit}, in which no value of hiv is on more than 1 in 3 or sex is on more than 1 in 2"
    )
    whose = "" if person is None else "no person has more than 1/5 of its rows, "
    assert said.claim == (
        f"Every group has at least 5 {unit}, and {whose}no value of hiv is on more than 1/3 of its rows and no value "
        f"of sex is on more than 1/2 of its rows. {LIMITS}."
    )
    belief, found, kept, *rest = said.not_covered
    assert belief.startswith("Belief: groups were formed with regard to hiv and sex, so an adversary who knows the al")
    assert found.endswith(
        "may find a person's row with a probability above 1/5, up to 1. No probability is guaranteed."
    )
    assert kept.endswith("The owner accepted age, which could tell many rows apart.")
    assert {REPEATS, SEEDS} <= set(rest)


def test_local_privacy_needs_a_domain_that_is_named() -> None:
    method = nym.Noise(method="exponential", epsilon=1.0, roots={"icd": "R"})
    assert method.statement(["icd"]).kind == "local"
    assert any(text.startswith("Missing values: ") for text in method.statement(["icd"]).not_covered)
    # A matrix has no root, and all its labels are the domain.
    assert method.statement(["icd", "ward"], roots={"icd": "R", "ward": None}).kind == "local"
    for roots in (None, {"icd": "R", "job": "J"}):
        said = method.statement(["icd", "job"], roots=roots)
        assert not said
        assert said.claim.startswith("Nothing is guaranteed: the domain of job was derived from the data")
        assert said.claim.endswith("name it by roots=.")


def test_a_statement_survives_json() -> None:
    said = of_groups(5, ["icd"], ["age"])
    assert Guarantee.from_dict(json.loads(json.dumps(said.to_dict()))) == said
    whole = said.to_dict()
    for wrong in ({}, {**whole, "kind": "perfect"}, {**whole, "claim": 5}, {**whole, "not_covered": "all"},
                  {**whole, "bound": "0.1"}, {**whole, "more": ""}):  # fmt: skip
        with pytest.raises(ValueError, match="not a statement of a guarantee"):
            Guarantee.from_dict(wrong)


def test_a_manifest_states_it() -> None:
    said = of_groups(5, ["icd"], ["age"])
    made = Manifest("swap", {"k": 5}, guarantee=said.to_dict(), output={"name": "release.csv"})
    assert made.statement == said
    assert replace(made, seeded=True).statement == SEEDED
    with pytest.raises(error.FormatError, match=r"release\.csv has no statement of the guarantee"):
        _ = replace(made, guarantee={}).statement


@pytest.mark.parametrize("seeded", [False, True])
def test_the_command_line_states_it(seeded, tmp_path, monkeypatch, capsys) -> None:
    from nominym.cli import main

    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text(commands.visits())
    Path("illness.csv").write_text(commands.TAXONOMY)
    roles = ("--identifier", "name", "--identifier", "cost", "--quasi", "diagnosis=illness.csv", "--keep", "ward")
    line = ["swap", "visits.csv", "-o", "release.csv", *roles, "--k", "5"]
    with pytest.raises(SystemExit) as ended:
        main([*line, *(["--seed", "1"] if seeded else [])])
    assert not ended.value.code
    told = capsys.readouterr()
    said = nym.release.read_manifest("release.csv").statement
    assert told.err.count("made with a seed") == seeded
    assert said.headline in told.out
    assert said.claim in told.out
    assert seeded or (f"unit: {said.unit}" in told.out and f"premise: {said.premise}" in told.out)
    assert (f"guarantee: {said.headline}" in told.out) != seeded
    assert "differencing and repeats" in told.out


def test_the_public_bound_is_gone_with_a_seed() -> None:
    sets, _ = nym.datasets.baskets(200, seed=1, items=30)
    assert nym.recode(sets, k=5).summary["bound"] == pytest.approx(0.2, abs=0.1)
    assert nym.recode(sets, k=5, seed=1).summary["bound"] is None
    table = {"x": list("abcdefghij") * 4}
    assert nym.rank_swap(table, {"x": nym.Equality()}, k=5, seed=1).summary["bound"] is None
    with pytest.warns(nym.SeedWarning, match="made with a seed, for studies"):
        nym.rank_swap(table, {"x": nym.Equality()}, k=5, seed=1)
