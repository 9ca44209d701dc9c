"""Masking again: all else is as it was, and nothing is coded anew."""

from __future__ import annotations

from collections import Counter

import pytest

import nominym as nym
from nominym import error
from nominym.report import sweep
from nominym.table import frame as table_frame

# Small tables, of which much is kept.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(no other record has|can be read off them):nominym.error.PrivacyWarning"
)


@pytest.fixture(scope="module")
def discharges():
    frame, taxonomies = nym.datasets.discharges(400, seed=1, diagnoses=40, secondary=6, procedures=30)
    return frame, {"diagnosis": taxonomies["diagnosis"]}


def test_it_masks_again(discharges) -> None:
    res = nym.rank_swap(*discharges, k=5, seed=1)
    found = sweep(res, {"k": [40, 2, 5]})
    assert found["k"].tolist() == [2, 5, 40]
    assert found["current"].tolist() == [False, True, False]
    assert found["bound"].tolist() == [0.5, 0.2, 1 / 40]
    assert found["loss"].is_monotonic_increasing
    assert found["loss"][1] == pytest.approx(res.secret.summary["attributes"]["diagnosis"]["rmse"])
    # A release with k = 40 would be refused for the kept procedures; a sweep releases nothing.
    frame, meanings = discharges
    with pytest.raises(error.DataError, match="column 'procedure'"):
        nym.rank_swap(frame, meanings, k=40)
    other = nym.rank_swap(frame[["diagnosis"]], meanings, k=40).summary["attributes"]["diagnosis"]["expected_rmse"]
    assert found["loss"][2] == pytest.approx(other, rel=0.3)


def test_nothing_is_coded_again(discharges, tmp_path, monkeypatch) -> None:
    """One coding a column and table, however much is asked of a result: the attack, the sweep, the page."""
    frame, meanings = discharges
    coded = []
    real = table_frame.code
    monkeypatch.setattr(table_frame, "code", lambda values, name: coded.append(name) or real(values, name))
    res = nym.rank_swap(frame, meanings, k=5)
    res.linkage()
    sweep(res, {"k": [2, 10]})
    nym.report.write(tmp_path / "a.html", res, edition="owner", sweep={"k": [3]})
    nym.report.write(tmp_path / "b.html", res)
    times = Counter(coded)
    assert times.pop("diagnosis") == 1
    # The kept columns of the release are a table of their own.
    assert set(times.values()) <= {1, 2}


def test_noise_swaps_and_matrices(discharges) -> None:
    frame, meanings = discharges
    found = sweep(nym.add_noise(frame, meanings, alpha=0.3, seed=1), {"alpha": [0.1, 1]})
    assert found["alpha"].tolist() == [0.1, 0.3, 1]
    assert found["bound"].isna().all()
    found = sweep(nym.data_swap(frame, ["sex"], rate=0.1, seed=1), {"rate": [0.5]})
    assert found["loss"].is_monotonic_increasing
    assert found.attrs["loss"] == "share of values changed"
    matrix = nym.DistanceMatrix([[0, 1], [1, 0]], ["female", "male"])
    given = nym.rank_swap(frame, {"sex": matrix}, k=5, method="fixed", seed=1)
    assert len(sweep(given, {"k": [2]})) == 2


def test_item_sets(tmp_path) -> None:
    sets, _ = nym.datasets.baskets(300, seed=1, items=40)
    rel = nym.recode(sets, k=5)
    found = sweep(rel, {"k": [2, 8]})
    assert found["k"].tolist() == [2, 5, 8]
    assert (found["risk"] <= found["bound"]).all()
    assert found["loss"][1] == rel.error_rate()
    rel.to_parquet(tmp_path / "r.parquet")
    read = nym.itemsets.read_release(tmp_path / "r.parquet")
    assert sweep(read, {"k": [2, 5]}, sets=sets)["current"].tolist() == [False, False]
    with pytest.raises(error.ParameterError, match="not in the release; give them"):
        sweep(read, {"k": [2]})


def test_it_refuses(discharges) -> None:
    frame, meanings = discharges
    res = nym.rank_swap(frame, meanings, k=5)
    with pytest.raises(error.ParameterError, match="not about a DataFrame"):
        sweep(frame, {"k": [2]})
    with pytest.raises(error.ParameterError, match=r"'alpha' is not a number that RankSwap\(k=5\) has; there are k"):
        sweep(res, {"alpha": [2]})
    for wrong in ({}, {"k": [2], "p": [3]}, [2, 3]):
        with pytest.raises(error.ParameterError, match="one option and its values"):
            sweep(res, wrong)
    for wrong in ("25", [], ["a"], 5):
        with pytest.raises(error.ParameterError, match="'k' needs a list of numbers"):
            sweep(res, {"k": wrong})
