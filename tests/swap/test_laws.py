"""Swapping through the front door against the algorithms as published, over many seeds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import nominym as nym
import reference_swap as naive

SEEDS = 200
FRAME, TAXONOMIES = nym.datasets.discharges(150, seed=3)
COLUMNS = ["diagnosis", "secondary", "procedure"]


def matrices(columns: list[str]) -> list[np.ndarray]:
    """Measure all pairs of records, restricted as masking does."""
    found = []
    for name in columns:
        values = FRAME[name].tolist()
        tax = TAXONOMIES[name]
        part = tax.restrict_to(tax.graph.lcs(tax.concepts(sorted(set(values)))))[0]
        found.append(part.distance_matrix(values).astype(np.float64))
    return found


def figures_of(origins: list[np.ndarray], candidates: list[list[int]], distances: list[np.ndarray]) -> list[float]:
    """Gather RMSE, share without partner and the median of candidates, column by column."""
    rows = np.arange(len(FRAME))
    return [
        figure
        for origin, numbers, d in zip(origins, candidates, distances, strict=True)
        for figure in (
            np.sqrt((d[rows, origin] ** 2).mean()),
            numbers.count(0) / len(FRAME),
            sorted(numbers)[(len(numbers) - 1) // 2],
        )
    ]


def figures_found(result: nym.Result) -> list[float]:
    return [
        figure
        for told in result.secret.summary["attributes"].values()
        for figure in (told["rmse"], told["no_partner"] / len(FRAME), told["candidates"]["median"])
    ]


@pytest.mark.parametrize("k", [2, 7, 30])
@pytest.mark.parametrize(
    ("method", "columns"),
    [("fixed", COLUMNS[:1]), ("dynamic", COLUMNS[:1]), ("records", COLUMNS[:2]), ("records", COLUMNS)],
)
def test_same_law_as_published(method: str, columns: list[str], k: int) -> None:
    distances = matrices(columns)
    published, ours = [], []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        if method == "records":
            origins, numbers = naive.records(distances, k, rng)
        else:
            origin, number = getattr(naive, method)(distances[0], k, rng)
            origins, numbers = [origin], [number]
        published.append(figures_of(origins, numbers, distances))
        taxonomies = {name: TAXONOMIES[name] for name in columns}
        ours.append(figures_found(nym.rank_swap(FRAME, taxonomies, k=k, method=method, seed=seed)))
    a, b = np.array(published), np.array(ours)
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / SEEDS) + 1e-9
    # Nine figures at most; beyond 4.5 standard errors happens once in ten thousand such tests. Medians of small
    # numbers may not vary at all.
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4.5 * error + 1e-6).all(), (a.mean(axis=0), b.mean(axis=0), error)


@pytest.mark.parametrize("k", [2, 7])
def test_same_law_for_mixed_columns(k: int) -> None:
    """Positions are eighths, so that sums of distances, and ties, are exact on both sides."""
    rng = np.random.default_rng(5)
    numbers, values = rng.integers(0, 9, 60), rng.integers(0, 12, 60)
    numbers[:2] = 0, 8
    frame = pd.DataFrame({"number": numbers, "value": [f"v{i}" for i in values]})
    distances = [np.abs(np.subtract.outer(numbers, numbers)) / 8, np.not_equal.outer(values, values).astype(float)]
    published, ours = [], []
    for seed in range(SEEDS):
        origins, _ = naive.records(distances, k, np.random.default_rng(seed))
        published.append([d[np.arange(60), o].mean() for o, d in zip(origins, distances, strict=True)])
        found = nym.rank_swap(frame, {"number": nym.Order(), "value": nym.Equality()}, k=k, method="records", seed=seed)
        moved = np.abs(found.data["number"].to_numpy() - numbers).mean() / 8
        ours.append([moved, float((found.data["value"] != frame["value"]).mean())])
    a, b = np.array(published), np.array(ours)
    error = np.sqrt((a.var(axis=0) + b.var(axis=0)) / SEEDS) + 1e-9
    assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4.5 * error).all(), (a.mean(axis=0), b.mean(axis=0), error)


def test_numerical_swapping_stays_in_its_window() -> None:
    values = pd.Series(np.random.default_rng(0).permutation(1_000).astype(float))
    for given, window in ({"k": 20}, 20), ({"p": 3}, 30):
        res = nym.rank_swap({"x": values}, {"x": nym.Order()}, **given, method="numerical", seed=1)
        moved = np.abs(res.data["x"] - values)
        assert 0 < moved.max() <= window
        assert sorted(res.data["x"]) == sorted(values)
        unit = res.secret.comparison.changes["x"].space.unit
        assert unit == 999
        assert res.secret.summary["attributes"]["x"]["rmse"] * unit == pytest.approx(np.sqrt((moved**2).mean()))
