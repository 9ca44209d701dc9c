"""Means, intervals, tables and figures of studies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import nominym as nym
from nominym.study.summary import t_quantile


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_quantiles_are_those_of_student(level: float) -> None:
    for degrees in (1, 2, 3, 4, 5, 9, 30, 101, 1_000):
        assert math.isclose(t_quantile(level, degrees), stats.t.ppf((1 + level) / 2, degrees), rel_tol=1e-9)


def results() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        {"data": "d", "method": method, "k": k, "seed": seed, "measure": measure, "value": rng.random(), "error": ""}
        for method in ("a|b", "c_d")
        for k in (2, 5)
        for measure in ("rmse", "risk")
        for seed in range(4)
    ]
    return pd.DataFrame(rows).assign(seconds=0.1)


def test_intervals_are_those_of_student() -> None:
    found = nym.study.means(results(), ["method", "k", "measure"], level=0.9)
    for row in found.itertuples():
        part = results().query("method == @row.method and k == @row.k and measure == @row.measure")["value"]
        low, high = stats.t.interval(0.9, len(part) - 1, part.mean(), stats.sem(part))
        assert np.allclose([row.mean - row.half, row.mean + row.half], [low, high])
    assert set(found["count"]) == {4}


def test_intervals_hold_what_they_say() -> None:
    """Of 500 studies of five normal figures, 95 % hold the mean; so far off by chance one time in 10^5."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(500, 5))
    frame = pd.DataFrame({"data": np.repeat(np.arange(500), 5), "seed": np.tile(range(5), 500), "measure": "x",
                          "value": values.ravel(), "error": ""})  # fmt: skip
    found = nym.study.means(frame, ["data", "measure"])
    share = (found["mean"].abs() <= found["half"]).mean()
    assert abs(share - 0.95) < 4.4 * math.sqrt(0.95 * 0.05 / 500)


def test_means_over_methods_are_refused() -> None:
    with pytest.raises(nym.NominymError, match="'method' differs within a cell"):
        nym.study.means(results(), ["k", "measure"])
    with pytest.raises(nym.NominymError, match="'measure' differs"):
        nym.study.table(results(), "method", "k")


def test_tables() -> None:
    text = nym.study.table(results(), ["method", "k"], "measure", ["risk", "rmse"], digits=2)
    head, line, first, *rest = text.splitlines()
    assert (head, line) == ("| method | k | risk | rmse |", "| --- | --- | --- | --- |")
    assert first.startswith("| a\\|b | 2 | 0.")
    assert first.count("±") == 2
    assert rest[-1] == "Means over 4 seeds (0 to 3), ± half the width of the 95 % confidence interval (Student's t)."
    tex = nym.study.table(results(), "method", "k", "rmse", format="latex", note=False)
    assert tex.startswith("\\begin{tabular}{lrr}\n\\toprule\nmethod & k = 2 & k = 5 \\\\\n\\midrule\na|b & 0.")
    assert "c\\_d & " in tex
    assert " $\\pm$ " in tex
    alone = nym.study.table(results().query("seed == 2"), "method", "k", "rmse")
    assert "±" not in alone
    assert alone.endswith("One seed (2).")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"rows": "x"}, "no column 'x'"), ({"rows": "seed"}, "averaged"), ({"values": "rsme"}, "no measure 'rsme'"),
     ({"format": "html"}, "markdown"), ({"level": 2}, "between 0 and 1")],
)  # fmt: skip
def test_bad_tables_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(nym.NominymError, match=message):
        nym.study.table(results(), **{"rows": "method", "columns": "k", "values": "rmse", **wrong})


def test_figures() -> None:
    drawn = nym.study.figure(results(), "k", "rmse")
    assert [(line.name, tuple(line.x)) for line in drawn.data] == [("a|b", (2, 5)), ("c_d", (2, 5))]
    assert all(bar > 0 for line in drawn.data for bar in line.error_y.array)
    plane = nym.study.figure(results(), "rmse", "risk", log=True)
    found = nym.study.means(results(), ["method", "k", "measure"]).set_index(["method", "k", "measure"])["mean"]
    points = {(line.name, x, y) for line in plane.data for x, y in zip(line.x, line.y, strict=True)}
    assert points == {(m, found[m, k, "rmse"], found[m, k, "risk"]) for m in ("a|b", "c_d") for k in (2, 5)}
    with pytest.raises(nym.NominymError, match="several points at one k: method"):
        nym.study.figure(results(), "k", "rmse", by="data")
    with pytest.raises(nym.NominymError, match="'rsme' is no measure"):
        nym.study.figure(results(), "k", "rsme")
