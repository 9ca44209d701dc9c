"""The figures: what they show is what was counted, and all say what they are."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

import nominym as nym
from nominym import chart, error
from nominym.report import figures

# Small tables: kept columns together are nearly unique.
pytestmark = pytest.mark.filterwarnings("ignore:.*that no other record has:nominym.error.PrivacyWarning")


@pytest.fixture(scope="module")
def masked():
    frame, taxonomies = nym.datasets.discharges(2_000, seed=1, diagnoses=60, secondary=6, procedures=40)
    meaning = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    return frame, nym.rank_swap(frame, meaning, k=5, seed=1), meaning


@pytest.fixture(scope="module")
def every(masked):
    frame, res, meaning = masked
    small = nym.rank_swap(frame.head(300), meaning, k=5, seed=1)
    sets, _ = nym.datasets.baskets(300, seed=1, items=40)
    rel = nym.recode(sets, k=5, order="gray", seed=1)
    return {
        "histogram": figures.distance_histogram(res, "diagnosis"),
        "correlations": figures.correlations(res),
        "changed": figures.changed_categories(res, "diagnosis"),
        "groups": figures.effective_k(res),
        "candidates": figures.effective_k(nym.rank_swap(frame, meaning, k=5, method="records", seed=1)),
        "linkage": figures.linkage(small),
        "map": figures.risk_utility(nym.report.sweep(small, {"k": [2, 10]})),
        "worlds": figures.worlds(rel, sets),
        "sets": figures.risk_utility(nym.report.sweep(rel, {"k": [2, 8]})),
    }


def test_every_figure_has_title_axes_and_words(every) -> None:
    for name, figure in every.items():
        assert figure.layout.title.text, name
        assert len(figure.layout.meta["alt"]) > 20, name
        labelled = [axis for axis in (figure.layout.xaxis, figure.layout.yaxis) if axis.title.text or axis.ticktext]
        assert len(labelled) == 2, name
        assert figure.to_json(), name


def test_every_figure_uses_the_safe_colours(every) -> None:
    safe = {getattr(chart, name).lower() for name in ("BLUE", "ORANGE", "VERMILLION", "GREEN", "STILL")}
    for name, figure in every.items():
        for trace in figure.data:
            marker = getattr(trace, "marker", None)
            colours = getattr(marker, "color", None)
            if isinstance(colours, str):
                colours = [colours]
            for colour in colours if colours is not None else []:
                assert not isinstance(colour, str) or colour.lower() in safe, name


def test_histogram_shows_the_shares(masked, every) -> None:
    frame, res, meaning = masked
    (bars,) = every["histogram"].data
    assert sum(bars.y) == pytest.approx(1)
    assert bars.y[0] == pytest.approx((frame["diagnosis"] == res.data["diagnosis"]).mean())
    assert bars.marker.color[0] == chart.STILL
    columns = figures.distance_histogram(frame["diagnosis"], res.data["diagnosis"], meaning["diagnosis"])
    assert columns.layout.title.text == every["histogram"].layout.title.text == "diagnosis: how far values moved"
    assert list(columns.data[0].y) == pytest.approx(list(bars.y))


def test_correlations_show_both(masked, every) -> None:
    frame, res, meaning = masked
    before, after = every["correlations"].data
    for heat, table in ((before, frame), (after, res.data)):
        expected = nym.stats.distance_correlation(
            table["diagnosis"], table["procedure"], meaning["diagnosis"], meaning["procedure"]
        )
        assert heat.z[0][1] == pytest.approx(expected)
        assert heat.z[0][0] == 1
    assert every["correlations"].layout.coloraxis.cmax == 1


def test_changed_categories_are_twenty_at_most(every) -> None:
    (bars,) = every["changed"].data
    assert 0 < len(bars.x) <= 20
    assert min(bars.x) >= 0.05
    assert max(bars.x) <= 0.95


def test_the_map_marks_this_release(every) -> None:
    names = [trace.name for trace in every["map"].data]
    assert names == ["bound", "measured", "this release"]
    assert list(every["map"].data[1].text) == ["k = 2", "", "k = 10"]
    assert list(every["map"].data[2].text) == ["k = 5"]


def test_worlds_add_up(every) -> None:
    assert sum(every["worlds"].data[0].y) == pytest.approx(1)


def test_what_cannot_be_drawn(masked) -> None:
    frame, res, meaning = masked
    with pytest.raises(error.DataError, match=r"the result of report\.sweep"):
        figures.risk_utility(pd.DataFrame({"k": [1]}))
    one = nym.add_noise(frame, {"diagnosis": meaning["diagnosis"]}, alpha=0.1)
    with pytest.raises(error.DataError, match="at least two columns"):
        figures.correlations(one)
    with pytest.raises(error.DataError, match="rank swapping counts candidates"):
        figures.effective_k(one)
    with pytest.raises(error.UnknownColumnError, match="there is no column 'sex'"):
        figures.distance_histogram(res, "sex")


def test_without_plotly(masked, monkeypatch) -> None:
    _, res, _ = masked
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(error.MissingExtraError, match=r"pip install nominym\[report\]"):
        figures.distance_histogram(res, "diagnosis")
    with pytest.raises(error.MissingExtraError, match=r"pip install nominym\[report\]"):
        nym.report.write("never.html", res)
