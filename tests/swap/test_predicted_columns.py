"""Kept columns that follow from masked ones: whoever knows the masked values knows these too."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym.groups.telling import aspects
from nominym.table import code

N = 600
RNG = np.random.default_rng(5)
BORN = [datetime.date(1950, 1, 1) + datetime.timedelta(days=int(day)) for day in RNG.integers(0, 9_000, N)]
ITEMS = [sorted(RNG.choice([f"i{i:02}" for i in range(40)], 6, replace=False).tolist()) for _ in range(N)]


def told(frame: pd.DataFrame, meanings: dict[str, nym.meaning.Meaning], k: int = 5) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        res = nym.rank_swap(frame, meanings, k)
    # What masked and kept values have to do with each other is the owner's to know.
    assert not any("can be predicted" in note for note in res.summary["notes"])
    said = [str(each.message) for each in found if "can be predicted" in str(each.message)]
    notes = [note for note in res.secret.summary["notes"] if "can be predicted" in note]
    assert said == notes
    return said


@pytest.mark.parametrize(("masked", "meaning", "kept", "how"), [
    (BORN, nym.Order(), [day.weekday() for day in BORN], "the same weekday of masked"),
    (BORN, nym.Order(), [day.month for day in BORN], "the same month of masked"),
    (list(map(str, BORN)), nym.Order(), [day.year // 10 for day in BORN], "the same first 3 letters of masked"),
    (list(range(N)), nym.Order(), [i % 7 for i in range(N)], "the same remainder by 7 of masked"),
    ([i % 60 for i in range(N)], nym.Order(), [i % 60 // 10 for i in range(N)], "the same masked agree in it in 100%"),
    (ITEMS, nym.Sets(), [items[i % 6] for i, items in enumerate(ITEMS)], "an item of masked in 100% of the records"),
])  # fmt: skip
def test_warned_of(masked: list, meaning: nym.meaning.Meaning, kept: list, how: str) -> None:
    (said,) = told(pd.DataFrame({"masked": masked, "kept": kept}), {"masked": meaning})
    assert said.startswith("kept: it can be predicted from the masked column 'masked': ")
    assert how in said


@pytest.mark.parametrize(("masked", "meaning"), [
    (BORN, nym.Order()), (list(range(N)), nym.Order()), (ITEMS, nym.Sets()), (list(map(str, BORN)), nym.Equality()),
])  # fmt: skip
def test_chance_is_no_prediction(masked: list, meaning: nym.meaning.Meaning) -> None:
    kept = np.random.default_rng(6).choice(["i01", "i02", "i03"], N, p=[0.7, 0.2, 0.1])
    assert told(pd.DataFrame({"masked": masked, "kept": kept}), {"masked": meaning}) == []


def test_aspects_of_missing_values_and_of_numbers_with_decimals() -> None:
    assert aspects(code([1.5, 2.0])) == {}
    (weekdays, span, _) = aspects(code([datetime.date(2024, 2, 5), None, datetime.date(2024, 2, 6)]))["weekday"]
    assert (weekdays.tolist(), span) == ([0, 2, 1], 3)


def test_such_a_release_is_not_verified(tmp_path) -> None:
    """Even if the owner says that nobody knows the column: it follows from what an adversary does know."""
    source, made, key = tmp_path / "a.parquet", tmp_path / "b.parquet", tmp_path / "key.parquet"
    pd.DataFrame({"born": BORN, "weekday": [str(day.weekday()) for day in BORN]}).to_parquet(source)
    roles = {"born": "quasi-identifier", "weekday": "keep"}
    nym.publish(source, made, roles, nym.RankSwap(k=5), {"born": nym.Order()}, key=key)
    checked = nym.release.verify(nym.release.compare_files(source, made, key=key))
    assert not checked.broken
    assert [doubt for doubt in checked.doubts if doubt.startswith("weekday: it can be predicted from")]
