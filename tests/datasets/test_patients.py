"""Synthetic patients: columns of every kind, which go together as they should, and files for the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym.datasets.patients import EDUCATION, RESULTS
from nominym.error import ParameterError


@pytest.fixture(scope="module")
def made() -> nym.datasets.Patients:
    return nym.datasets.patients(3_000, seed=1)


def test_columns_and_their_values(made) -> None:
    frame, meanings = made
    assert frame.shape == (3_000, 8)
    assert list(meanings) == ["age", "sex", "education", "occupation", "diagnosis", "days"]
    assert frame["age"].between(0, 99).all()
    assert frame["days"].min() == 1
    assert set(frame["education"]) == set(EDUCATION)
    assert set(frame["result"]) == set(RESULTS)
    for name in ("occupation", "diagnosis"):
        assert all(value in meanings[name] for value in frame[name].unique())
    assert not frame.isna().any(axis=None)


def test_what_goes_together(made) -> None:
    frame, meanings = made
    assert set(frame.loc[frame["age"] < 18, "occupation"]) == {"pupil"}
    assert set(frame.loc[frame["age"] >= 67, "occupation"]) == {"retired"}
    work = frame[frame["age"].between(20, 66) & (frame["occupation"] != "homemaker")]
    pair = (work["education"], work["occupation"], meanings["education"], meanings["occupation"])
    assert nym.stats.distance_correlation(*pair) > 0.5
    assert nym.stats.distance_correlation(frame["age"], frame["diagnosis"], nym.Order(), meanings["diagnosis"]) > 0.1


def test_a_patient_stays_the_same(made) -> None:
    frame, _ = made
    assert frame["patient"].nunique() == 2_400
    same = frame.groupby("patient")[["age", "sex", "education", "occupation"]].nunique()
    assert (same == 1).all(axis=None)
    assert nym.datasets.patients(500, seed=1, repeats=0.0).data["patient"].is_unique


def test_seeds() -> None:
    one, again, other = (nym.datasets.patients(200, seed=seed).data for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, again)
    assert not one.equals(other)
    assert not nym.datasets.patients(200).data.equals(nym.datasets.patients(200).data)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_small_ones(n: int) -> None:
    assert len(nym.datasets.patients(n, seed=1).data) == n


@pytest.mark.parametrize("bad", [{"n": 0}, {"n": 5, "seed": -1}, {"n": 5, "repeats": 1.0}, {"n": 5, "repeats": "x"}])
def test_bad_arguments(bad) -> None:
    with pytest.raises(ParameterError):
        nym.datasets.patients(**bad)


def test_files_say_the_same(made, tmp_path: Path) -> None:
    frame, meanings = made
    table, order, occupations, diagnoses = made.write(tmp_path)
    pd.testing.assert_frame_equal(pd.read_csv(table, keep_default_na=False), frame)
    assert nym.Order(order.read_text().split()) == meanings["education"]
    for path, name in ((occupations, "occupation"), (diagnoses, "diagnosis")):
        values = sorted(frame[name].unique())[:50]
        assert np.array_equal(nym.read_taxonomy(path).distance_matrix(values), meanings[name].distance_matrix(values))
