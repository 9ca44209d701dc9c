from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from nominym.datasets import SHAPES, Discharges, discharges, vocabulary
from nominym.error import ParameterError, SizeError
from nominym.stats import distance_correlation

NOMINAL = ["diagnosis", "secondary", "procedure"]
COLUMNS = [*NOMINAL, "age_group", "sex", "length_of_stay"]

# Rodríguez-García (2017), chapter 7.
CORRELATIONS = {
    "srs-1": ("procedure", 0.46),
    "srs-2": ("procedure", 0.64),
    "sna-1": ("secondary", 0.94),
    "sna-2": ("procedure", 0.88),
}


def correlation(sample: Discharges, other: str) -> float:
    data, taxonomies = sample
    return distance_correlation(data["diagnosis"], data[other], taxonomies["diagnosis"], taxonomies[other])


def sites(sample: Discharges, column: str) -> np.ndarray:
    words = vocabulary.procedures() if column == "procedure" else vocabulary.diagnoses()
    by_id = dict(zip(words.concepts.ids, words.site.tolist(), strict=True))
    return sample.data[column].map(by_id).to_numpy(dtype=int)


def test_unpacks_into_data_and_taxonomies():
    frame, taxonomies = discharges(1000, seed=1)
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 1000
    assert not frame.isna().any(axis=None)
    assert list(taxonomies) == NOMINAL
    assert taxonomies["diagnosis"] is taxonomies["secondary"]
    for name in NOMINAL:
        assert set(frame[name]) <= set(taxonomies[name].ids)


def test_columns_are_categories_that_occur():
    frame, _ = discharges(500, seed=2, diagnoses=400, secondary=300, procedures=200)
    for name in [*NOMINAL, "sex"]:
        assert isinstance(frame[name].dtype, pd.CategoricalDtype)
        assert not frame[name].cat.ordered
    for name in NOMINAL:
        assert set(frame[name].cat.categories) == set(frame[name])
        assert frame[name].cat.categories.is_monotonic_increasing
    assert frame["age_group"].cat.ordered
    assert frame["age_group"].cat.categories.tolist() == [
        "0-17", "18-34", "35-49", "50-64", "65-74", "75-84", "85+",
    ]  # fmt: skip
    assert frame["length_of_stay"].dtype == np.int32


@pytest.mark.parametrize("skew", [0.0, 1.0, 3.0, 50.0])
@pytest.mark.parametrize("association", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(
    ("n", "diagnoses", "secondary", "procedures"),
    [(783, 783, 783, 430), (2000, 783, None, 430), (300, 20, 300, 1), (50, 1, 2, 50), (1, 1, 1, 1)],
)
def test_numbers_of_categories_are_exact(n, diagnoses, secondary, procedures, association, skew):
    frame, _ = discharges(
        n,
        seed=5,
        diagnoses=diagnoses,
        secondary=secondary,
        procedures=procedures,
        association=association,
        skew=skew,
    )
    assert [frame[name].nunique() for name in NOMINAL] == [diagnoses, secondary or diagnoses, procedures]


@pytest.mark.parametrize("spread", [1e-9, 0.1, 1.0])
def test_every_concept_at_or_below_a_site_can_be_a_category(spread):
    most, steps = vocabulary.diagnoses().size, vocabulary.procedures().size
    frame, _ = discharges(most, seed=1, diagnoses=most, procedures=steps, spread=spread)
    assert [frame[name].nunique() for name in NOMINAL] == [most, most, steps]


@pytest.mark.parametrize("n", [1, 2, 10, 429])
def test_fewer_records_than_categories(n):
    frame, _ = discharges(n, seed=3)
    assert len(frame) == n
    assert all(1 <= frame[name].nunique() <= n for name in NOMINAL)


def test_a_seed_gives_the_same_records():
    pd.testing.assert_frame_equal(discharges(3000, seed=7).data, discharges(3000, seed=np.uint64(7)).data)


def test_seeds_differ_in_records_and_in_categories():
    first, second = discharges(3000, seed=7).data, discharges(3000, seed=8).data
    for name in COLUMNS:
        assert first[name].astype("str").ne(second[name].astype("str")).any()
    for name in NOMINAL:
        assert set(first[name]) != set(second[name])


def test_without_a_seed_records_are_new():
    assert not discharges(3000).data.equals(discharges(3000).data)


def test_without_a_seed_columns_belong_together():
    sample = discharges(2000, association=1.0, diagnoses=40, procedures=40)
    assert (sites(sample, "diagnosis") == sites(sample, "procedure")).mean() > 0.9


def test_taxonomies_do_not_depend_on_the_seed():
    assert discharges(10, seed=1).taxonomies["procedure"] is discharges(10, seed=2).taxonomies["procedure"]


def test_changing_the_mapping_leaves_later_results_alone():
    discharges(10, seed=1).taxonomies.clear()
    assert list(discharges(10, seed=1).taxonomies) == NOMINAL


@pytest.mark.parametrize("skew", [0.0, 0.5, 1.0, 1.5])
def test_frequencies_follow_zipf(skew):
    frame, _ = discharges(400_000, seed=4, diagnoses=50, procedures=50, skew=skew, association=0.0)
    for name in NOMINAL:
        counts = frame[name].value_counts().to_numpy()
        slope = np.polyfit(np.log(np.arange(1, 51)), np.log(counts), 1)[0]
        assert slope == pytest.approx(-skew, abs=0.05)


@pytest.mark.parametrize("other", ["secondary", "procedure"])
def test_association_is_the_share_of_the_same_site(other):
    shares = []
    for association in (0.0, 0.3, 0.8, 1.0):
        sample = discharges(50_000, seed=6, diagnoses=100, procedures=100, association=association)
        shares.append((sites(sample, "diagnosis") == sites(sample, other)).mean())
    by_chance = shares[0]
    assert by_chance < 0.1
    assert shares[1] == pytest.approx(0.3 + 0.7 * by_chance, abs=0.02)
    assert shares[2] == pytest.approx(0.8 + 0.2 * by_chance, abs=0.02)
    assert shares[3] == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("other", ["secondary", "procedure"])
def test_distance_correlation_grows_with_association(other):
    found = [
        correlation(discharges(2000, seed=1, diagnoses=60, procedures=60, association=association), other)
        for association in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    assert np.diff(found).min() > 0.05
    assert found[0] < 0.15
    assert found[-1] > 0.85


def test_spread_is_the_share_of_the_sites():
    for spread, expected in ((0.1, 6), (0.5, 30), (1.0, 60)):
        sample = discharges(1000, seed=9, diagnoses=60, procedures=60, spread=spread)
        assert len(set(sites(sample, "diagnosis"))) == expected
        assert len(set(sites(sample, "procedure"))) == expected


def test_categories_are_leaves_and_inner_concepts():
    frame, taxonomies = discharges(1000, seed=1)
    for name in NOMINAL:
        leaves = [not taxonomies[name].children(concept) for concept in frame[name].cat.categories]
        assert 0.2 < np.mean(leaves) < 0.9


def test_secondary_diagnoses_are_others_than_the_principal_ones():
    frame, _ = discharges(5000, seed=1, association=1.0)
    assert (frame["diagnosis"].astype("str") == frame["secondary"].astype("str")).mean() < 0.1


def test_patients_fit_their_diagnosis():
    sample = discharges(100_000, seed=1, diagnoses=2000, spread=1.0)
    frame = sample.data
    words = vocabulary.diagnoses()
    names = dict(zip(words.concepts.ids, [list(vocabulary.BODY)[system] for system in words.system], strict=True))
    system = frame["diagnosis"].map(names).astype("str")
    assert set(frame.loc[system.isin(["childbearing", "female reproductive system"]), "sex"]) == {"female"}
    assert set(frame.loc[system == "male reproductive system", "sex"]) == {"male"}
    assert set(frame.loc[system == "childbearing", "age_group"]) == {"0-17", "18-34", "35-49"}
    stay = frame["length_of_stay"]
    assert stay.min() == 1
    assert stay.mean() > stay.median()
    by_age = stay.groupby(frame["age_group"], observed=True).mean()
    assert by_age["85+"] > by_age["18-34"] + 1
    by_system = stay.groupby(system).mean()
    assert by_system["mental functions"] > by_system["eye"] + 1


@pytest.mark.parametrize("seed", [0, 4, 11])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_have_the_published_correlation(shape, seed):
    sample = discharges(**SHAPES[shape], seed=seed)
    other, expected = CORRELATIONS[shape]
    assert correlation(sample, other) == pytest.approx(expected, abs=0.05)


def test_shapes_have_the_published_sizes():
    found = {}
    for shape, (other, _) in CORRELATIONS.items():
        frame = discharges(**SHAPES[shape], seed=2).data
        found[shape] = (len(frame), frame["diagnosis"].nunique(), frame[other].nunique())
    assert found == {
        "srs-1": (1172, 783, 430),
        "srs-2": (1012, 55, 94),
        "sna-1": (1350, 17, 19),
        "sna-2": (1316, 18, 21),
    }


def test_more_records_than_memory_holds_are_refused():
    with pytest.raises(SizeError, match="a table of 4,294,967,294 records needs 320"):
        discharges(2**32 - 2)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("n", 0, "from 1 to 4294967294"),
        ("n", -5, "from 1 to 4294967294"),
        ("n", 10.0, "whole number from 1 to 4294967294"),
        ("n", "10", "whole number from 1 to 4294967294"),
        ("seed", -1, "from 0 to 18446744073709551615"),
        ("seed", 2**64, "from 0 to 18446744073709551615"),
        ("seed", 1.5, "whole number from 0 to 18446744073709551615"),
        ("diagnoses", 0, f"from 1 to {vocabulary.diagnoses().size}"),
        ("diagnoses", vocabulary.diagnoses().size + 1, f"from 1 to {vocabulary.diagnoses().size}"),
        ("secondary", 0, f"from 1 to {vocabulary.diagnoses().size}"),
        ("procedures", 10**6, f"from 1 to {vocabulary.procedures().size}"),
        ("procedures", None, f"whole number from 1 to {vocabulary.procedures().size}"),
        ("skew", -0.1, "at least 0"),
        ("skew", math.inf, "at least 0"),
        ("skew", math.nan, "at least 0"),
        ("skew", "much", "number at least 0"),
        ("association", -0.01, "from 0 to 1"),
        ("association", 1.01, "from 0 to 1"),
        ("association", None, "number from 0 to 1"),
        ("spread", 0, "above 0, at most 1"),
        ("spread", 1.5, "above 0, at most 1"),
    ],
)
def test_parameter_errors_name_parameter_value_and_range(name, value, allowed):
    with pytest.raises(ParameterError) as caught:
        discharges(**{"n": 10, name: value})
    message = str(caught.value)
    assert message.startswith(f"{name} must be ")
    assert f"{allowed}, not " in message
    assert str(value) in message


def test_progress_is_told():
    seen = []
    discharges(10, seed=1, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
