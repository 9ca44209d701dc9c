"""What the figures show, against the definitions written down record by record."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym import error
from nominym.report import again, tables
from nominym.report.tables import Attribute

TAX = nym.Taxonomy.from_edges(
    [
        ("Coma", "Disorder"),
        ("Neuropathy", "Disorder"),
        ("Hepatic coma", "Coma"),
        ("Hypoglycemic coma", "Coma"),
    ]
)
BEFORE = ["Coma"] * 4 + ["Hepatic coma"] * 3 + ["Neuropathy", None]
AFTER = ["Coma", "Coma", "Hepatic coma", "Neuropathy", "Hepatic coma", "Coma", "Neuropathy", "Coma", "Coma"]


@pytest.fixture(scope="module")
def discharges():
    return nym.datasets.discharges(3_000, seed=1, diagnoses=40, procedures=30)


def naive_bins(before, after, tax):
    shares = dict.fromkeys(["unchanged", *range(1, 11)], 0)
    pairs = [(x, y) for x, y in zip(before, after, strict=True) if x is not None and y is not None]
    for x, y in pairs:
        if x == y:
            shares["unchanged"] += 1
        else:
            shares[next(i for i in range(1, 11) if tax.distance(x, y) <= i / 10 + 1e-9)] += 1
    return [count / len(pairs) for count in shares.values()]


def test_histogram_is_what_records_say() -> None:
    found = Attribute("diag", BEFORE, AFTER, TAX).histogram()
    assert found["share"].tolist() == pytest.approx(naive_bins(BEFORE, AFTER, TAX))
    assert found["share"].sum() == pytest.approx(1)
    assert found["distance"].tolist()[:3] == ["unchanged", "0 to 0.1", "0.1 to 0.2"]


def test_histogram_of_noise(discharges) -> None:
    frame, taxonomies = discharges
    tax = taxonomies["diagnosis"]
    res = nym.add_noise(frame, {"diagnosis": tax}, alpha=0.5, seed=1)
    column = Attribute("diagnosis", frame["diagnosis"], res.data["diagnosis"], tax)
    below = set(tax.subtree(tax.lcs([*frame["diagnosis"], *res.data["diagnosis"]])))
    cut = nym.Taxonomy.from_edges(
        [(child, parent) for child in below for parent in tax.parents(child) if parent in below]
    )
    expected = naive_bins(frame["diagnosis"].tolist(), res.data["diagnosis"].tolist(), cut)
    assert column.histogram()["share"].tolist() == pytest.approx(expected)


def test_rmse_and_unchanged_are_those_of_the_library(discharges) -> None:
    frame, taxonomies = discharges
    masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    res = nym.rank_swap(frame, masked, k=5, seed=1)
    for column in tables.attributes(frame, res.data, masked):
        told = res.summary["attributes"][column.name]
        assert column.rmse == pytest.approx(told["rmse"])
        assert column.unchanged == pytest.approx(told["unchanged"])
        same = nym.stats.rmse(frame[column.name], res.data[column.name], masked[column.name])
        assert column.rmse == pytest.approx(same)


def test_rows_in_another_order(discharges) -> None:
    frame, taxonomies = discharges
    masked = {"diagnosis": taxonomies["diagnosis"]}
    res = nym.add_noise(frame, masked, alpha=0.1, seed=1)
    order = np.random.default_rng(1).permutation(len(frame))
    shuffled = res.data.iloc[order].reset_index(drop=True)
    (same,) = tables.attributes(frame, res.data, masked)
    (other,) = tables.attributes(frame, shuffled, masked, truth=np.argsort(order))
    pd.testing.assert_frame_equal(same.histogram(), other.histogram())
    pd.testing.assert_frame_equal(same.changed(30)[0], other.changed(30)[0])
    (wrong,) = tables.attributes(frame, shuffled, masked)
    assert wrong.rmse > same.rmse


def test_truth_is_checked() -> None:
    table = {"x": ["Coma", "Neuropathy"]}
    with pytest.raises(error.ParameterError, match="truth: the row of the release for each of the 2"):
        tables.attributes(table, table, {"x": TAX}, truth=[0])
    with pytest.raises(error.ParameterError, match="truth: the release has 2 rows"):
        tables.attributes(table, table, {"x": TAX}, truth=[0, 2])


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(error.DataError, match="2 records before, 1 after"):
        tables.attributes({"x": ["Coma", "Coma"]}, {"x": ["Coma"]}, {"x": TAX})
    with pytest.raises(error.UnknownColumnError, match="no column 'y' in the table after"):
        tables.attributes({"y": ["Coma"]}, {"x": ["Coma"]}, {"y": TAX})
    with pytest.raises(error.DataError, match="no record has a value before and after"):
        tables.attributes({"x": ["Coma", None]}, {"x": [None, "Coma"]}, {"x": TAX})


def naive_changed(before, after, tax, least):
    found = {}
    for category in sorted({x for x in before if x is not None}):
        rows = [(x, y) for x, y in zip(before, after, strict=True) if x == category and y is not None]
        if len(rows) < least:
            continue
        moved = sum(x != y for x, y in rows) / len(rows)
        distance = sum(tax.distance(x, y) for x, y in rows) / len(rows)
        found[category] = (
            before.count(category),
            after.count(category),
            min(max(moved, 0.05), 0.95),
            distance,
        )
    return found


def test_changed_categories_are_what_records_say() -> None:
    found, hidden = Attribute("diag", BEFORE * 10, AFTER * 10, TAX).changed(30)
    told = {row.category: (row.before, row.after, row.moved, row.distance) for row in found.itertuples()}
    expected = naive_changed(BEFORE * 10, AFTER * 10, TAX, 30)
    assert told.keys() == expected.keys() == {"Coma", "Hepatic coma"}
    for category, figures in expected.items():
        assert told[category][:2] == figures[:2]
        for rounded, exact in zip(told[category][2:], figures[2:], strict=True):
            assert abs(rounded - exact) <= 0.025 + 1e-9
            assert rounded / 0.05 == pytest.approx(round(rounded / 0.05))
    assert hidden == {"categories": 1, "share": pytest.approx(1 / 8)}
    assert (found["before"] * found["distance"]).is_monotonic_decreasing


@pytest.mark.parametrize("moved", [False, True])
def test_the_extremes_of_a_category_are_not_told(moved) -> None:
    """That all of a category moved, or nobody, would tell of each row that shows it whose it cannot be."""
    before = ["Coma"] * 40 + ["Neuropathy"] * 40
    found, _ = Attribute("diag", before, before[::-1] if moved else before, TAX).changed(30)
    assert set(found["moved"]) == {0.95 if moved else 0.05}


def test_a_category_with_few_records_is_not_named() -> None:
    for count, named in ((29, False), (30, True)):
        values = ["Coma"] * 100 + ["Neuropathy"] * count
        found, hidden = Attribute("diag", values, values[::-1], TAX).changed(tables.threshold(5))
        assert ("Neuropathy" in set(found["category"])) == named
        assert hidden["categories"] == (not named)
    assert tables.threshold(20) == 60


def test_labels_are_shown_beside_ids(discharges) -> None:
    frame, taxonomies = discharges
    found, _ = Attribute("d", frame["diagnosis"], frame["diagnosis"], taxonomies["diagnosis"]).changed(30)
    label, _, id_ = found["category"][0].rpartition(" (")
    assert taxonomies["diagnosis"].label(id_[:-1]) == label


def test_spellings_of_one_concept_are_one_category() -> None:
    before, after = ["Coma"] * 20 + ["coma"] * 20, ["coma"] * 20 + ["Coma"] * 20
    column = Attribute("diag", before, after, TAX)
    assert column.unchanged == 1
    assert column.changed(30)[0]["before"].tolist() == [40]


def test_numbers_and_orders() -> None:
    column = Attribute("age", [30.5, 40.0, 50.0, None], [40.0, 30.5, 50.0, 50.0], None)
    assert column.unchanged == pytest.approx(1 / 3)
    assert column.rmse == pytest.approx(math.sqrt(2 * 9.5**2 / 3))
    assert column.scale == 10
    assert column.histogram()["share"].tolist() == pytest.approx([1 / 3, *[0] * 9, 2 / 3])
    grade = Attribute("grade", ["low", "high"], ["high", "high"], ["low", "middle", "high"])
    assert grade.rmse == pytest.approx(math.sqrt(2))
    plain = Attribute("sex", ["m", "f"], ["f", "f"], "equal")
    assert (plain.unchanged, plain.measured) == (0.5, False)


def test_correlations_are_those_of_the_library(discharges) -> None:
    frame, taxonomies = discharges
    res = nym.rank_swap(frame, taxonomies, k=10, seed=1, correlations=True)
    found = tables.correlations(tables.attributes(frame, res.data, taxonomies))
    pd.testing.assert_frame_equal(found, res.summary["correlations"])
    assert len(found) == 3


def test_utility(discharges) -> None:
    frame, taxonomies = discharges
    masked = {"diagnosis": taxonomies["diagnosis"]}
    res = nym.add_noise(frame, masked, alpha=0.5, seed=1)
    columns = tables.attributes(frame, res.data, masked, roots=res.params["domain"])
    row = tables.utility(columns, frame, res.data).iloc[0]
    told = res.summary["attributes"]["diagnosis"]
    assert row["variance_before"] == pytest.approx(told["variance_before"])
    assert row["variance_after"] == pytest.approx(told["variance_after"])
    assert told["mean_after"] in row["mean_after"]
    assert row["total_variation"] == nym.distortion.total_variation(frame, res.data, "diagnosis")


def test_effective_k(discharges) -> None:
    frame, taxonomies = discharges
    masked = {"diagnosis": taxonomies["diagnosis"]}
    strict = nym.rank_swap(frame, masked, k=5, guarantee="strict", seed=1)
    found, k = tables.effective_k(strict)
    assert k == 5
    assert found["share"].sum() == pytest.approx(1)
    assert set(found["group_size"]) <= {"5", "6", "7", "8", "9", "10+"}
    published = nym.rank_swap(frame, masked, k=5, seed=1)
    found, _ = tables.effective_k(published)
    assert found["median"][0] == published.summary["attributes"]["diagnosis"]["candidates"]["median"]
    with pytest.raises(error.DataError, match="rank swapping counts candidates"):
        tables.effective_k(nym.add_noise(frame, masked, alpha=0.1, seed=1))


def test_doubling() -> None:
    found = tables.doubling([8, 15, 16, 100, 3], 8)
    assert dict(zip(found["rows"], found["share"], strict=True)) == {
        "fewer than 8": 0.2,
        "8 to 15": 0.4,
        "16 to 31": 0.2,
        "32 to 63": 0,
        "64 to 127": 0.2,
    }
    assert tables.doubling([8], 8)["rows"].tolist() == ["8 to 15"]


def test_sweep_masks_again(discharges) -> None:
    frame, masked = discharges[0].head(400), {"diagnosis": discharges[1]["diagnosis"]}
    res = nym.rank_swap(frame, masked, k=5, guarantee="strict", seed=1)
    found = again.sweep(frame, res, masked, {"k": [10, 2, 5]})
    assert found["k"].tolist() == [2, 5, 10]
    assert found["current"].tolist() == [False, True, False]
    assert found["bound"].tolist() == [0.5, 0.2, 0.1]
    assert found["loss"].is_monotonic_increasing
    assert found["loss"][1] == pytest.approx(res.summary["attributes"]["diagnosis"]["rmse"])
    other = nym.rank_swap(frame, masked, k=10, guarantee="strict", seed=1)
    assert found["loss"][2] == pytest.approx(other.summary["attributes"]["diagnosis"]["rmse"])


def test_sweep_of_noise_swaps_and_matrices(discharges) -> None:
    frame, masked = discharges[0].head(300), {"diagnosis": discharges[1]["diagnosis"]}
    noise = nym.add_noise(frame, masked, alpha=0.3, seed=1)
    found = again.sweep(frame, noise, masked, {"alpha": [0.1, 1]})
    assert found["alpha"].tolist() == [0.1, 0.3, 1]
    assert found["bound"].isna().all()
    swap = nym.data_swap(frame, ["sex"], rate=0.1, seed=1)
    found = again.sweep(frame, swap, {"sex": "equal"}, {"rate": [0.5]})
    assert found["loss"].is_monotonic_increasing
    matrix = nym.DistanceMatrix([[0, 1], [1, 0]], ["female", "male"])
    given = nym.rank_swap(frame, {"sex": matrix}, k=5, method="fixed", seed=1)
    assert len(again.sweep(frame, given, {"sex": matrix}, {"k": [2]})) == 2


def test_sweep_refuses(discharges) -> None:
    frame, masked = discharges[0].head(100), {"diagnosis": discharges[1]["diagnosis"]}
    res = nym.rank_swap(frame, masked, k=5, seed=1)
    with pytest.raises(error.ParameterError, match="a DataFrame does not"):
        again.sweep(frame, res.data, masked, {"k": [2]})
    with pytest.raises(error.ParameterError, match="'alpha' is no parameter"):
        again.sweep(frame, res, masked, {"alpha": [2]})
    for wrong in ({}, {"k": [2], "p": [3]}, [2, 3]):
        with pytest.raises(error.ParameterError, match="one parameter and its values"):
            again.sweep(frame, res, masked, wrong)
    for wrong in ("25", [], ["a"], 5):
        with pytest.raises(error.ParameterError, match="'k' needs a list of numbers"):
            again.sweep(frame, res, masked, {"k": wrong})
