"""What the figures show, against the definitions written down record by record."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym import error
from nominym.report import measured
from nominym.table import Change, Comparison

# Small tables: kept columns together are nearly unique.
pytestmark = pytest.mark.filterwarnings("ignore:.*that no other record has:nominym.error.PrivacyWarning")

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


def change(before, after, meaning=TAX, name="diag") -> Change:
    return Comparison.of({name: before}, {name: after}, {name: meaning}).changes[name]


@pytest.fixture(scope="module")
def discharges():
    return nym.datasets.discharges(3_000, seed=1, diagnoses=400, secondary=6, procedures=30)


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
    found = measured.histogram(change(BEFORE, AFTER))
    assert found["share"].tolist() == pytest.approx(naive_bins(BEFORE, AFTER, TAX))
    assert found["share"].sum() == pytest.approx(1)
    assert found["distance"].tolist()[:3] == ["unchanged", "0 to 0.1", "0.1 to 0.2"]
    with pytest.raises(error.DataError, match="column 'diag': no record has a value before and after"):
        measured.histogram(change(["Coma", None], [None, "Coma"]))


def test_histogram_of_noise(discharges) -> None:
    frame, taxonomies = discharges
    tax = taxonomies["diagnosis"]
    res = nym.add_noise(frame, {"diagnosis": tax}, alpha=0.5, seed=1)
    moved = change(frame["diagnosis"], res.data["diagnosis"], tax)
    below = set(tax.subtree(tax.lcs([*frame["diagnosis"], *res.data["diagnosis"]])))
    cut = nym.Taxonomy.from_edges(
        [(child, parent) for child in below for parent in tax.parents(child) if parent in below]
    )
    expected = naive_bins(frame["diagnosis"].tolist(), res.data["diagnosis"].tolist(), cut)
    assert measured.histogram(moved)["share"].tolist() == pytest.approx(expected)


def test_rows_in_another_order(discharges) -> None:
    frame, taxonomies = discharges
    masked = {"diagnosis": taxonomies["diagnosis"]}
    res = nym.add_noise(frame, masked, alpha=0.1, seed=1)
    order = np.random.default_rng(1).permutation(len(frame))
    shuffled = res.data.iloc[order].reset_index(drop=True)
    same = Comparison.of(frame, res.data, masked).changes["diagnosis"]
    other = Comparison.of(frame, shuffled, masked, truth=np.argsort(order)).changes["diagnosis"]
    pd.testing.assert_frame_equal(measured.histogram(same), measured.histogram(other))
    for x, y in zip(measured.changed_categories(same, 30)[0].items(), measured.changed_categories(other, 30)[0].items(),
                    strict=True):  # fmt: skip
        pd.testing.assert_series_equal(x[1], y[1])


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
    found, hidden = measured.changed_categories(change(BEFORE * 10, AFTER * 10), 30)
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
    found, _ = measured.changed_categories(change(before, before[::-1] if moved else before), 30)
    assert set(found["moved"]) == {0.95 if moved else 0.05}


def test_a_category_with_few_records_is_not_named() -> None:
    for count, named in ((29, False), (30, True)):
        values = ["Coma"] * 100 + ["Neuropathy"] * count
        found, hidden = measured.changed_categories(change(values, values[::-1]), measured.least_records(5))
        assert ("Neuropathy" in set(found["category"])) == named
        assert hidden["categories"] == (not named)
    assert measured.least_records(20) == 60


def test_labels_are_shown_beside_ids(discharges) -> None:
    frame, taxonomies = discharges
    found, _ = measured.changed_categories(change(frame["diagnosis"], frame["diagnosis"], taxonomies["diagnosis"]), 30)
    label, _, id_ = found["category"][0].rpartition(" (")
    assert taxonomies["diagnosis"].label(id_[:-1]) == label


def test_spellings_of_one_concept_are_one_category() -> None:
    moved = change(["Coma"] * 20 + ["coma"] * 20, ["coma"] * 20 + ["Coma"] * 20)
    assert moved.unchanged == 1
    assert measured.changed_categories(moved, 30)[0]["before"].tolist() == [40]


def test_numbers_orders_and_equality() -> None:
    age = change([30.5, 40.0, 50.0, None], [40.0, 30.5, 50.0, 50.0], nym.Order())
    # Differences are relative to the largest, 19.5.
    assert measured.histogram(age)["share"].tolist() == pytest.approx([1 / 3, 0, 0, 0, 0, 2 / 3, 0, 0, 0, 0, 0])
    sex = Comparison.of({"sex": ["m", "f"]}, {"sex": ["f", "f"]}, {"sex": nym.Equality()})
    assert measured.loss(sex) == 0.5
    assert math.isnan(measured.utility(sex)["rmse"][0])


def test_distances_beyond_one_have_a_scale_of_their_own() -> None:
    matrix = nym.DistanceMatrix([[0, 3, 4], [3, 0, 1], [4, 1, 0]], list("abc"))
    found = measured.histogram(change(list("abc"), list("bca"), matrix))
    assert found["up_to"].max() == 5
    assert found["share"].sum() == pytest.approx(1)


def test_utility(discharges) -> None:
    frame, taxonomies = discharges
    masked = {"diagnosis": taxonomies["diagnosis"]}
    res = nym.add_noise(frame, masked, alpha=0.5, seed=1)
    row = measured.utility(res.secret.comparison).iloc[0]
    told = res.secret.summary["attributes"]["diagnosis"]
    for name in ("rmse", "unchanged", "variance_before", "variance_after"):
        assert row[name] == pytest.approx(told[name]), name
    assert told["mean_after"] in row["mean_after"]
    assert row["total_variation"] == pytest.approx(nym.distortion.total_variation(frame, res.data, "diagnosis"))


def test_effective_k(discharges) -> None:
    frame, taxonomies = discharges
    masked = {"diagnosis": taxonomies["diagnosis"]}
    found = measured.group_sizes(nym.rank_swap(frame, masked, k=5, seed=1).summary, 5)
    assert found["share"].sum() == pytest.approx(1)
    assert set(found["group size"]) <= {"5", "6", "7", "8", "9", "10+"}
    published = nym.rank_swap(frame, masked, k=5, method="records", seed=1).secret.summary
    found = measured.candidates(published)
    assert found["median"][0] == published["attributes"]["diagnosis"]["candidates"]["median"]
    assert measured.candidates(nym.add_noise(frame, masked, alpha=0.1, seed=1).secret.summary) is None


def test_doubling() -> None:
    found = measured.doubling([8, 15, 16, 100, 3], 8)
    assert dict(zip(found["rows"], found["share"], strict=True)) == {
        "fewer than 8": 0.2,
        "8 to 15": 0.4,
        "16 to 31": 0.2,
        "32 to 63": 0,
        "64 to 127": 0.2,
    }
    assert measured.doubling([8], 8)["rows"].tolist() == ["8 to 15"]
