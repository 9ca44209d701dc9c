"""Methods compared on a table: what is measured, what is suggested, and what is said of it."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import nominym as nym
from nominym.error import ParameterError
from nominym.report.choosing import Choice, compare
from nominym.report.suggestion import suggest

TAX = nym.Taxonomy.from_edges(
    [("infection", "illness"), ("injury", "illness")]
    + [(name, "infection") for name in ("flu", "cold", "measles")]
    + [(name, "injury") for name in ("fracture", "burn", "sprain")]
)
NAMES = ("flu", "cold", "measles", "fracture", "burn", "sprain")
FRAME = pd.DataFrame(
    {
        "diagnosis": [NAMES[i * i % 6] for i in range(120)],
        "age": [20 + (i * 7) % 41 for i in range(120)],
        "sex": ["fm"[i % 2] for i in range(120)],
    }
)
MEANINGS = {"diagnosis": TAX, "age": nym.Order()}


@pytest.fixture(scope="module")
def found() -> Choice:
    return compare(FRAME, MEANINGS, [3, 6], methods=["strict", "microaggregation", "records"], seeds=2)


def test_every_method_has_a_row(found: Choice) -> None:
    assert found.table["name"].tolist() == [
        f"{name}, k = {k}" for name in ("strict swapping", "microaggregation", "SRS-3, as published") for k in (3, 6)
    ]
    assert found.table["bound"].fillna(0).round(6).tolist() == [0.333333, 0.166667] * 2 + [0, 0]
    assert (found.table["error"] == "").all()
    assert set(found.results["seed"]) == {0, 1}


def test_figures_are_those_of_the_methods(found: Choice) -> None:
    row = found.table.set_index("name").loc["strict swapping, k = 6"]
    shares, losses = [], []
    for seed in (0, 1):
        with pytest.warns(nym.SeedWarning):
            res = nym.rank_swap(FRAME, MEANINGS, k=6, accept=["sex"], seed=seed)
        shares.append(res.linkage(kept=[], seed=seed).share)
        changes = res.secret.comparison.changes
        lost = [nym.aggregate.squares(each) / nym.aggregate.total_squares(each.before) for each in changes.values()]
        losses.append(sum(lost) / 2)
    assert row["risk"] == pytest.approx(sum(shares) / 2)
    assert (row["smallest"], row["largest"]) == pytest.approx((min(shares), max(shares)))
    assert row["loss"] == pytest.approx(sum(losses) / 2)
    # Swapping keeps the counts of all values; of numbers, counts do not tell.
    assert row["counts"] == 0
    assert found.table.set_index("name").loc["microaggregation, k = 6", "class"] >= 6


def test_the_suggestion_has_the_bound_and_the_smallest_loss(found: Choice) -> None:
    assert found.max_risk == 1 / 6
    table = found.table.set_index("name")
    fit = table[table["bound"] <= 1 / 6]
    assert found.suggestion.name == fit["loss"].idxmin()
    assert found.suggestion.guaranteed
    assert found.method == nym.Microaggregate(k=6)
    text = str(found.suggestion)
    assert "That is a measurement" in text
    assert "Premise of the bound: Nothing else tells" in text
    by_counts = suggest(found.table, 1 / 3, "counts")
    assert table.loc[by_counts.name, "counts"] == table.loc[table["bound"].notna(), "counts"].min()


def rows(*given: dict[str, Any]) -> pd.DataFrame:
    usual = {"bound": float("nan"), "risk": 0.1, "largest": 0.1, "attacked": 1000.0, "holds": None, "kept": 0.2,
             "loss": 0.5, "counts": 0.1, "correlations": 0.1, "error": ""}  # fmt: skip
    return pd.DataFrame([{**usual, **each} for each in given])


def test_without_a_bound_only_where_none_has_one() -> None:
    noise, strict = {"name": "noise", "loss": 0.1}, {"name": "strict", "bound": 0.2, "holds": True}
    assert suggest(rows(noise, strict), 0.2).name == "strict"
    # A bound that does not suffice is no reason to take a method that has none.
    assert suggest(rows(noise, strict), 0.1).name == ""
    assert suggest(rows(noise, strict), 0.1).headline.startswith("No suggestion: none of them has a stated bound")
    alone = suggest(rows(noise), 0.2)
    assert (alone.name, alone.guaranteed) == ("noise", False)
    assert alone.headline == "Suggested: noise, without a guarantee"
    assert alone.reasons[0].startswith("None of these methods has a stated bound")
    assert suggest(rows(noise), 0.05).name == ""


def test_a_broken_bound_is_never_suggested() -> None:
    broken = {"name": "broken", "bound": 0.1, "holds": False, "loss": 0.01}
    kept = {"name": "kept", "bound": 0.1, "holds": True, "risk": 0.11, "largest": 0.12}
    said = suggest(rows(broken, kept), 0.1)
    assert said.name == "kept"
    assert said.reasons[0] == "Left out, because an attack exceeded the bound by more than chance: broken."
    assert any("within chance" in reason and "1,000 attacked" in reason for reason in said.reasons)
    failed = {"name": "failed", "bound": 0.1, "holds": True, "loss": 0.0, "error": "DataError: …"}
    assert suggest(rows(failed, kept), 0.1).name == "kept"


def test_of_equal_ones_the_values_that_moved_least() -> None:
    far = {"name": "far", "bound": 0.05, "holds": True, "counts": 0.0, "loss": 0.4, "largest": 0.01}
    near = {"name": "near", "bound": 0.08, "holds": True, "counts": 0.0, "loss": 0.2, "largest": 0.08}
    said = suggest(rows(far, near), 0.09, "counts")
    assert said.name == "near"
    assert "Others do as well, but with a larger information loss" in said.reasons[0]


def test_the_values_of_k_that_a_risk_needs() -> None:
    found = compare(FRAME, {"age": nym.Order()}, max_risk=0.09, methods="microaggregation", seeds=1)
    assert found.table["k"].tolist() == [3, 5, 10, 12, 20]
    assert found.suggestion.name == "microaggregation, k = 12"


def test_a_kept_column_that_would_be_refused_is_told() -> None:
    frame = FRAME.assign(name=[f"P{i}" for i in range(120)])
    found = compare(frame, MEANINGS, 3, methods="strict", seeds=1)
    assert "'name'" in found.refusal
    accepted = compare(frame, MEANINGS, 3, methods="strict", seeds=1, accept="name")
    assert (accepted.refusal, accepted.method) == ("", nym.RankSwap(k=3, accept=("name",)))


def test_samples_of_records_and_of_persons() -> None:
    some = compare(FRAME, MEANINGS, 3, methods="strict", seeds=1, sample=50)
    assert (some.records, some.rows) == (50, 120)
    assert "50 records drawn from 120" in some.suggestion.not_covered[-1]
    frame = FRAME.assign(patient=[i // 3 for i in range(120)])
    whose = compare(frame, MEANINGS, 2, methods="microaggregation", seeds=1, sample=50, person="patient")
    assert (whose.records, whose.unit) == (48, "persons")


def test_the_page_is_the_owners(found: Choice, tmp_path: Path) -> None:
    path = found.write(tmp_path / "compare.html")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert "For the owner, not for publication" in text
    assert "Suggested: microaggregation, k = 6: re-identification probability at most 16.7 %" in text
    assert [line.name for line in found.figure().data if line.name] == [
        "strict swapping", "microaggregation", "SRS-3, as published", "suggested"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"methods": ["stric"]}, "name some of strict"),
        ({"methods": []}, "name some of strict"),
        ({"methods": [lambda data, meanings, seed: data]}, "without a name"),
        ({"k": [1, 3]}, "whole numbers, 2 or more"),
        ({"k": []}, "whole numbers, 2 or more"),
        ({"k": "3"}, "whole numbers, 2 or more"),
        ({"k": 3, "max_risk": 0.09}, r"1/3 is more than 0.09; give k=12 or more"),
        ({"max_risk": 1.5}, "between 0 and 1"),
        ({"by": "beauty"}, "'loss', 'counts', 'correlations'"),
        ({"seeds": 0}, "whole number, 1 or more"),
        ({"sample": -1}, "number of records"),
        ({"accept": "ward"}, "ward"),
        ({"person": "patient"}, "patient"),
        ({"sensitive": {"hiv": 3}}, "hiv"),
    ],
)
def test_bad_input(options: dict[str, Any], fault: str) -> None:
    with pytest.raises((ParameterError, KeyError), match=fault):
        compare(FRAME, MEANINGS, **options)


def test_correlations_need_two_columns() -> None:
    with pytest.raises(ParameterError, match="pairs"):
        compare(FRAME, {"age": nym.Order()}, by="correlations")
