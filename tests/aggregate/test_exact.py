"""Nothing false is said, and figures are those of the groups: whatever the values look like as text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

import nominym as nym
from nominym.aggregate import Interval, parse
from nominym.error import DataError, UnknownConceptError
from nominym.report.figures import effective_k

BANDS = ["[20, 29]", "[30, 39]", "[40, 49]"]


def masked(values: Any, meaning: nym.Meaning, k: int, replace: str = "subsumer") -> tuple[list[Any], dict[str, Any]]:
    """Microaggregate one column, and return its new values and figures."""
    res = nym.microaggregate(pd.DataFrame({"x": values}), {"x": meaning}, k=k, replace=replace)
    return res.data["x"].tolist(), res.secret.summary["attributes"]["x"]


@pytest.mark.filterwarnings("ignore:hardly anything changes")
@pytest.mark.parametrize("listed", [BANDS, ['"x"', "y", "z"], ["a", "[a, c]", "b", "c"], ["{a, b}", "a", "b"]])
def test_listed_values_may_look_like_generalized_ones(listed: list[str]) -> None:
    values = listed * 6
    own = pd.Categorical(values, listed, ordered=True)
    for column, meaning in ((values, nym.Order(listed)), (own, nym.Order())):
        swapped = nym.rank_swap(pd.DataFrame({"x": column}), {"x": meaning}, k=3)
        assert sorted(swapped.data["x"]) == sorted(column)
        for replace in ("mean", "subsumer"):
            made, figures = masked(column, meaning, 3, replace)
            assert figures["unchanged"] == 1.0
            assert figures["sse"] == 0.0
            assert [parse(new) if replace == "subsumer" else new for new in made] == values
    assert nym.stats.rmse(values, values, nym.Order(listed)) == 0.0


def test_originals_are_never_read_as_intervals() -> None:
    for values in (["[0, 100]", "49", "51", "[1, 2]", "1", "2"], ['"1"', "2", "3"]):
        for method in (nym.microaggregate, nym.rank_swap):
            with pytest.raises(DataError, match=r"column 'x': .* has no order of its own; list all values"):
                method({"x": values}, {"x": nym.Order()}, k=3)
    labels = nym.DistanceMatrix([[0, 1], [1, 0]], ["a", "b"])
    with pytest.raises(UnknownConceptError, match=r"'\{a, b\}'"):
        nym.microaggregate({"x": ["{a, b}", "a", "b"]}, {"x": labels}, k=3)


@pytest.mark.parametrize(
    "values",
    [
        [2**60, 2**60 + 1, 0, 1],
        [-(2**60), -(2**60) - 1, 0, 2**62],
        [2**63 + 1, 2**63 + 2, 2**64 - 1, 5],
        [10**30, 10**30 + 1, 0, 1],
        [str(2**60), str(2**60 + 1), "0", "1"],
        [Decimal("1.00000000000000000001"), Decimal("1.00000000000000000002"), Decimal(7), Decimal(8)],
        list(pd.to_datetime([0, 1, 10**18, 10**18 + 1], unit="ns")),
        list(pd.to_datetime([10**18, 10**18 + 1, 5, 6], unit="ns", utc=True).tz_convert("Europe/Berlin")),
        list(pd.to_timedelta([10**17, 10**17 + 1, 0, 10**18], unit="ns")),
    ],
    ids=str,
)
def test_ends_are_exact(values: list[Any]) -> None:
    made, figures = masked(pd.Series(values, dtype="object" if isinstance(values[0], int) else None), nym.Order(), 2)
    numbers = [int(value) if isinstance(value, str) else value for value in values]
    place = {str(value): number for value, number in zip(values, numbers, strict=True)}
    for number, new in zip(numbers, made, strict=True):
        ends = parse(new)
        assert isinstance(ends, Interval)
        assert place[ends.low] <= number <= place[ends.high]
        assert place[ends.low] < place[ends.high]
    assert figures["unchanged"] == 0.0


def test_values_that_are_equal_have_one_place() -> None:
    values = [1, "1", "1.0", Decimal("1.00"), 1.0, Decimal("0.33"), 0.33, "0.330000000000000000"]
    made = nym.microaggregate({"x": values}, {"x": nym.Order()}, k=3, replace="subsumer").data["x"]
    assert [float(new) for new in made] == [1.0] * 5 + [0.33] * 3


@pytest.mark.parametrize("seed", range(4))
def test_figures_are_those_of_the_groups(seed: int) -> None:
    draw = np.random.default_rng(seed)
    numbers = draw.integers(0, 25, 60).tolist()
    labels = ["a", "b", "{a, b}", '"a"', "[a, b]"]
    distances = draw.integers(1, 9, (5, 5))
    distances = (distances + distances.T) * (1 - np.eye(5))
    names = draw.choice(labels, 60).tolist()
    frame = {"x": numbers, "y": names, "z": names}
    meanings = {"x": nym.Order(), "y": nym.DistanceMatrix(distances, labels), "z": nym.Equality()}
    res = nym.microaggregate(frame, meanings, k=3, replace="subsumer")
    assert res.secret is not None
    groups = pd.Series(range(60)).groupby(res.secret.groups).apply(list)
    squares, same = dict.fromkeys("xyz", 0.0), dict.fromkeys("xyz", 0)
    for group in groups:
        own = [numbers[i] for i in group]
        middle, held = (min(own) + max(own)) / 2, sorted({names[i] for i in group})
        for i in group:
            squares["x"] += ((numbers[i] - middle) / (max(numbers) - min(numbers))) ** 2
            squares["y"] += np.mean([distances[labels.index(names[i]), labels.index(other)] for other in held]) ** 2
            squares["z"] += len(held) > 1
        same["x"] += len(group) * (len(set(own)) == 1)
        same["y"] += len(group) * (len(held) == 1)
        same["z"] += len(group) * (len(held) == 1)
    for name, found in res.secret.summary["attributes"].items():
        assert found["sse"] == pytest.approx(squares[name] / 60)
        assert found["unchanged"] == pytest.approx(same[name] / 60)


def test_the_middle_of_an_interval_is_another_value() -> None:
    made, figures = masked([30, 35, 40], nym.Order(), 3)
    assert made == ["[30, 40]"] * 3
    assert figures["unchanged"] == 0.0
    assert masked([30, 35, 40], nym.Order(), 3, "mean")[1]["unchanged"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("label", ["zz", "{a, b}"])
def test_labels_of_a_matrix_may_look_like_several(label: str) -> None:
    given = nym.DistanceMatrix([[0, 1, 5], [1, 0, 4], [5, 4, 0]], ["a", "b", label])
    _, figures = masked(["a"] * 3 + ["b"] + [label] * 4, given, 4)
    assert (figures["sse"], figures["unchanged"]) == (0.125, 0.5)
    # As files have it: a value is looked up first, and quotes say that it is one.
    assert nym.stats.rmse([label], [f'"{label}"'], given) == 0.0
    assert nym.stats.rmse(["a", "b"], ["{b, a}"] * 2, given) == 0.5
    assert nym.stats.rmse([label, '"x"'], [f'"{label}"', '"x"'], nym.Equality()) == 0.0


def test_truths_and_periods() -> None:
    truths, figures = masked([True, False, True, False, True], nym.Order(), 5)
    assert truths == ["[False, True]"] * 5
    assert figures["sse"] == 0.25
    years = pd.period_range("2020", periods=4, freq="Y")
    made, _ = masked(years, nym.Order(), 2)
    assert made == ["[2020, 2021]"] * 2 + ["[2022, 2023]"] * 2
    assert nym.stats.rmse(pd.Series(years), made, nym.Order()) == pytest.approx(0.5 / 3)
    assert nym.stats.rmse([True, False], ["[False, True]", "False"], nym.Order()) == pytest.approx(0.5**1.5)


def test_means_that_are_rounded_to_the_same_day_are_one_value() -> None:
    days = pd.Series(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-01"]))
    res = nym.microaggregate({"x": days, "y": [0, 0, 9, 9]}, {"x": nym.Order(), "y": nym.Order()}, k=2)
    assert res.summary["attributes"]["x"]["values"] == len(set(res.data["x"]))


@pytest.mark.parametrize(
    ("method", "said"),
    [
        (nym.Microaggregate(k=3), "all records of a group have the same masked values"),
        (nym.RankSwap(k=3, guarantee="strict"), "values were swapped inside groups, and nowhere else"),
    ],
    ids=["microaggregation", "swapping"],
)
def test_the_figure_of_group_sizes_says_what_was_done(method: Any, said: str) -> None:
    figure = effective_k(method.apply({"x": list(range(12))}, {"x": nym.Order()}))
    assert said in str(figure.layout)
