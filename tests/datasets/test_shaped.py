"""Tables of a given shape: what was asked for is met, and the published ones are what their papers say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nominym as nym
from nominym.datasets import LIKE, Shape, shaped


@pytest.mark.parametrize(
    ("name", "correlations", "variances"),
    [
        ("Dataset1", {("diagnosis", "procedure"): 0.4595}, {"diagnosis": 0.1148, "procedure": 0.1240}),
        ("Dataset2", {("diagnosis", "procedure"): 0.6392}, {}),
        (
            "Dataset3",
            {
                ("diagnosis", "procedure"): 0.6392,
                ("diagnosis", "secondary"): 0.4229,
                ("procedure", "secondary"): 0.3703,
            },
            {},
        ),
    ],
)
def test_tables_like_the_published_ones(
    name: str, correlations: dict[tuple[str, str], float], variances: dict[str, float]
) -> None:
    drawn = [shaped(**LIKE[name], seed=seed) for seed in range(5)]
    for frame, taxonomies in drawn:
        assert len(frame) == LIKE[name]["n"]
        assert frame.nunique().to_dict() == {c: shape.categories for c, shape in LIKE[name]["columns"].items()}
        assert frame.astype(str).value_counts().min() >= LIKE[name].get("least", 1)
        assert all(tax.lcs(frame[c].unique()) == tax.root for c, tax in taxonomies.items())
    for (x, y), published in correlations.items():
        found = [nym.stats.distance_correlation(f[x], f[y], t[x], t[y]) for f, t in drawn]
        assert abs(np.mean(found) - published) < 0.1, (x, y, np.mean(found))
    for x, published in variances.items():
        found = [nym.stats.distance_variance(f[x], t[x]) for f, t in drawn]
        assert abs(np.mean(found) - published) < 0.015, (x, np.mean(found))


def test_repeated_tuples_need_no_swap() -> None:
    """Every tuple has three records, so that pairs are of equal ones: the RMSE of 0 that the paper prints."""
    frame, taxonomies = shaped(**LIKE["Dataset2"], seed=7)
    assert nym.rank_swap(frame, taxonomies, k=2, method="records", seed=1).data.equals(frame)


def test_small_moves_cost_correlation_as_printed() -> None:
    """Tables 3 and 4, k = 5: columns lose 0.05 of their correlation, records 0.02. In trees they lose next to none."""
    like = LIKE["Dataset1"]
    trees = {**like, "columns": {c: replace(shape, spread=0, parents=0) for c, shape in like["columns"].items()}}
    lost: dict[str, list[float]] = {"dynamic": [], "records": [], "dynamic in trees": []}
    for seed in range(5):
        for name in lost:
            frame, tax = shaped(**(trees if "trees" in name else like), seed=seed)
            swapped = nym.rank_swap(frame, tax, k=5, method=name.split()[0], seed=seed).data
            before, after = (nym.stats.distance_correlation(f["diagnosis"], f["procedure"], *tax.values())
                             for f in (frame, swapped))  # fmt: skip
            lost[name].append(before - after)
    mean = {name: np.mean(each) for name, each in lost.items()}
    assert 0.03 < mean["dynamic"] < 0.1, mean
    assert 0.005 < mean["records"] < 0.03, mean
    assert mean["dynamic in trees"] < 0.02, mean


def test_unequal_depths_and_second_parents() -> None:
    plain = Shape(400, 12, 3, 6, 2.0)
    rng = np.random.default_rng
    tax, leaves = plain.drawn("x", rng(0))
    assert tax.is_tree
    assert {tax.depth(c) for c in leaves[1:]} == {12}
    tax, leaves = replace(plain, spread=4).drawn("x", rng(0))
    assert tax.is_tree
    assert len(set(leaves)) == 400
    assert {tax.depth(c) for c in leaves[1:]} <= set(range(8, 13))
    assert len({tax.depth(c) for c in leaves[1:]}) > 1
    tax, leaves = replace(plain, parents=0.3).drawn("x", rng(0))
    below = [c for c in tax if tax.depth(c) > 4]
    counts = [len(tax.parents(c)) for c in below]
    assert set(counts) == {1, 2}
    assert 1.25 < np.mean(counts) < 1.35
    assert all(tax.depth(parent) == tax.depth(c) - 1 for c in below for parent in tax.parents(c))
    assert leaves == plain.drawn("x", rng(0))[1]


def test_seeds() -> None:
    first, again, other = (shaped(**LIKE["Dataset2"], seed=seed).data for seed in (3, 3, 4))
    assert first.equals(again)
    assert not first.equals(other)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"columns": {}}, "one column"),
        ({"tuples": 50}, "94 or more"),
        ({"least": 10}, "give from 1 to 9"),
        ({"association": 1.5}, "from 0 to 1"),
        ({"association": {"secondary": 0.5}}, "for each column but the first"),
        ({"blocks": 0}, "give from 1 to 104"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_bad_requests(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(nym.NominymError, match=message):
        shaped(**{**LIKE["Dataset2"], **wrong})


@pytest.mark.parametrize(
    "wrong",
    [
        {"stem": 11},
        {"categories": 1},
        {"branch": 0.5},
        {"depth": float("nan")},
        {"spread": -1},
        {"spread": 7},
        {"parents": 1.5},
        {"parents": float("nan")},
    ],
)
def test_bad_shapes(wrong: dict[str, Any]) -> None:
    with pytest.raises(nym.NominymError):
        Shape(**{"categories": 10, "depth": 12, "stem": 4, "fan": 3, "branch": 2.0, **wrong})
