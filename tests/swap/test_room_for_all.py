"""Matrices of several columns are asked for together, before the first of them is made."""

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym import control
from nominym.meaning.base import Space

SIZE = 1_100
MATRIX = 8 * SIZE**2


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    labels = [f"v{i}" for i in range(SIZE)]
    return pd.DataFrame({name: np.roll(labels, shift) for name, shift in (("a", 0), ("b", 5), ("c", 9))})


@pytest.fixture(scope="module")
def meanings(frame: pd.DataFrame) -> dict[str, nym.DistanceMatrix]:
    places = np.arange(SIZE, dtype=np.float32)
    return dict.fromkeys("abc", nym.DistanceMatrix(np.abs(places[:, None] - places), frame["a"].tolist()))


@pytest.mark.parametrize("how", [{}, {"method": "records"}, {"method": "dynamic"}], ids=str)
def test_columns_that_fit_one_by_one_and_not_together(how, frame, meanings, monkeypatch) -> None:
    free = int(2.5 * MATRIX)
    monkeypatch.setattr(control, "free_memory", lambda: free)
    monkeypatch.setattr(control, "_PAUSE", 0)

    def made(*_: object) -> None:
        raise AssertionError("a matrix was made before all were asked for")

    monkeypatch.setattr(Space, "matrix", made)
    with pytest.raises(nym.error.SizeError) as caught:
        nym.rank_swap(frame, meanings, k=5, seed=1, **how)
    said = str(caught.value)
    assert "a matrix of distances for each of 3 columns needs 27.7 MiB, 23.1 MiB are free; column 'a'" in said
    assert "coarser" in said


def test_missing_values_take_a_second_matrix(frame, meanings, monkeypatch) -> None:
    gaps = frame[["a", "b"]].copy()
    gaps.loc[3, "a"] = None
    free = int(2.5 * MATRIX)
    monkeypatch.setattr(control, "free_memory", lambda: free)
    monkeypatch.setattr(control, "_PAUSE", 0)
    with pytest.raises(nym.error.SizeError, match=r"for each of 2 columns needs 27\.\d MiB"):
        nym.rank_swap(gaps, {name: meanings[name] for name in "ab"}, k=5, seed=1)
    monkeypatch.setattr(control, "free_memory", lambda: 4 * MATRIX)
    assert len(nym.rank_swap(gaps, {name: meanings[name] for name in "ab"}, k=5, seed=1).data) == SIZE


def test_records_that_need_too_much_name_a_column_and_what_would_work(frame, meanings, monkeypatch) -> None:
    def swap(*_: object) -> None:
        raise nym.error.SizeError("distances between categories needs 31.5 GiB, 20.0 GiB are free")

    monkeypatch.setattr("nominym._core.swap_records", swap)
    with pytest.raises(nym.error.SizeError) as caught:
        nym.rank_swap(frame, meanings, k=5, method="records", seed=1)
    assert str(caught.value) == (
        "column 'a': distances between categories needs 31.5 GiB, 20.0 GiB are free; make its 1,100 categories "
        "coarser, or swap without a method, which takes any number"
    )
