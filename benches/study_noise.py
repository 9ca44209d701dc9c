"""Semantic noise beside the published tables, and on real diagnoses: ``study_noise.py folder`` writes the page.

The diabetes encounters and the ICD-9-CM table are read from the folder that NOMINYM_DATA names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

import nominym as nym
from tables import markdown

ALPHAS = (0.1, 0.3, 0.5, 1.0)
SEEDS = 20
DATA = Path(os.environ.get("NOMINYM_DATA", Path(__file__).parents[2] / "shared" / "data"))

METHODS: dict[str, dict[str, Any]] = {
    "uncorrelated SNA-1": {"correlated": False},
    "correlated SNA-1": {},
    "correlated SNA-2": {"reference": "pair"},
    "correlated SNA-3": {"reference": "root"},
}
BASELINES: dict[str, dict[str, Any]] = {"naive": {"method": "naive"}, "probabilistic": {"method": "probabilistic"}}

# By column: distance of means, difference of variance, actual and target RMSE; and the change of the correlation; for
# alpha = 0.1, 0.3, 0.5, 1: Rodríguez-García (2017), tables 7.7, 7.8, 7.9, 7.12 and 7.13.
Column = tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...], tuple[float, ...]]
PUBLISHED: dict[tuple[str, str], tuple[Column, Column, tuple[float, ...]]] = {
    ("sna-1", "uncorrelated SNA-1"): (
        ((0.20, 0.20, 0.20, 0.20), (0, 0.05, 0.08, 0.17), (0.23, 0.31, 0.38, 0.49), (0.15, 0.25, 0.34, 0.48)),
        ((0, 0, 0, 0.18), (0.03, 0.07, 0.10, 0.18), (0.19, 0.30, 0.37, 0.50), (0.15, 0.27, 0.35, 0.51)),
        (0.16, 0.29, 0.37, 0.56),
    ),
    ("sna-1", "correlated SNA-1"): (
        ((0.20, 0.20, 0.20, 0.20), (0, 0.05, 0.07, 0.15), (0.24, 0.33, 0.40, 0.51), (0.17, 0.28, 0.37, 0.52)),
        ((0, 0.18, 0.45, 0.45), (0.04, 0.08, 0.12, 0.20), (0.20, 0.30, 0.38, 0.49), (0.17, 0.28, 0.37, 0.52)),
        (0.12, 0.21, 0.25, 0.35),
    ),
    ("sna-1", "correlated SNA-2"): (
        ((0.20, 0.20, 0.20, 0.20), (0, 0.03, 0.05, 0.12), (0.25, 0.35, 0.41, 0.52), (0.17, 0.28, 0.37, 0.52)),
        ((0.18, 0.18, 0.18, 0.45), (0.03, 0.06, 0.09, 0.17), (0.22, 0.32, 0.40, 0.51), (0.17, 0.28, 0.37, 0.52)),
        (0.10, 0.18, 0.23, 0.35),
    ),
    ("sna-2", "correlated SNA-1"): (
        ((0.33, 0, 0, 0), (0.02, 0.01, 0.03, 0.07), (0.23, 0.32, 0.40, 0.50), (0.16, 0.28, 0.37, 0.52)),
        ((0, 0, 0, 0), (0, 0, 0.01, 0), (0.15, 0.24, 0.30, 0.41), (0.13, 0.23, 0.29, 0.40)),
        (0.20, 0.32, 0.40, 0.46),
    ),
    ("sna-2", "correlated SNA-3"): (
        ((0.23, 0.23, 0.23, 0.23), (0.04, 0.03, 0.01, 0.04), (0.27, 0.34, 0.41, 0.51), (0.16, 0.28, 0.37, 0.52)),
        ((0, 0, 0, 0), (0, 0.02, 0.03, 0.06), (0.16, 0.25, 0.30, 0.41), (0.13, 0.23, 0.29, 0.40)),
        (0.18, 0.28, 0.34, 0.41),
    ),
}
TABLES = {
    ("sna-1", "uncorrelated SNA-1"): "Table 7.7",
    ("sna-1", "correlated SNA-1"): "Table 7.8",
    ("sna-1", "correlated SNA-2"): "Table 7.9",
    ("sna-2", "correlated SNA-1"): "Table 7.12",
    ("sna-2", "correlated SNA-3"): "Table 7.13",
}
COLUMNS = {"sna-1": ("diagnosis", "secondary"), "sna-2": ("diagnosis", "procedure")}
# Distance of means for both columns at alpha = 1: table 7.10.
MEANS = {
    "naive": (0.20, 0.27),
    "probabilistic": (0.04, 0.0),
    "uncorrelated SNA-1": (0.20, 0.18),
    "correlated SNA-1": (0.20, 0.45),
    "correlated SNA-2": (0.20, 0.45),
}


def run(frame: pd.DataFrame, taxonomies: dict[str, Any], how: dict[str, Any], seed: int) -> dict[str, float]:
    """Add noise once and gather the figures of the tables."""
    summary = nym.add_noise(frame, taxonomies, **how, seed=seed, correlations=True).secret.summary
    row = {"change": abs(summary["correlations"]["difference"][0])}
    for i, told in enumerate(summary["attributes"].values()):
        row |= {f"mean {i}": told["mean_distance"], f"rmse {i}": told["rmse"]}
        row[f"target {i}"] = told.get("target_rmse", 0.0)
        if "variance_expected" in told:
            row[f"variance {i}"] = abs(told["variance_after"] - told["variance_expected"])
            row[f"truncated {i}"] = told["truncated"]
    return row


class Study:
    """All runs on one family of data, once each."""

    def __init__(self, samples: list[tuple[pd.DataFrame, dict[str, Any]]], methods: list[str]) -> None:
        """Run every method for every alpha on every sample."""
        self.runs: dict[tuple[str, float], pd.DataFrame] = {}
        for name in methods:
            for alpha in ALPHAS if name in METHODS else (1.0,):
                how = {**METHODS[name], "alpha": alpha} if name in METHODS else BASELINES[name]
                rows = [run(frame, tax, how, seed) for seed, (frame, tax) in enumerate(samples)]
                self.runs[name, alpha] = pd.DataFrame(rows)

    def table(self, method: str, published: tuple[Column, Column, tuple[float, ...]] | None) -> str:
        """Write the figures of one method, with the published ones in brackets."""
        rows = []
        for i, alpha in enumerate(ALPHAS):
            found = self.runs[method, alpha].mean()
            cells = [f"{alpha:g}"]
            for column in (0, 1):
                for j, figure in enumerate(("mean", "variance", "rmse", "target")):
                    beside = f" ({published[column][j][i]:.2f})" if published else ""  # type: ignore[index]
                    cells.append(f"{found[f'{figure} {column}']:.2f}{beside}")
            cells.append(f"{found['change']:.2f}" + (f" ({published[2][i]:.2f})" if published else ""))
            cells.append(f"{(found['truncated 0'] + found['truncated 1']) / 2:.1%}")
            rows.append(cells)
        each = ["means apart", "variance off", "RMSE", "target"]
        head = ["α", *(f"{name}, {c}" for c in ("first", "second") for name in each), "change of sdCor", "truncated"]
        return markdown(head, rows)

    def share(self, condition: pd.Series) -> str:
        """Write in how many runs a condition held."""
        return f"{int(condition.sum())} of {len(condition)}"


def orderings(study: Study, guided: str) -> list[list[str]]:
    """Check what the thesis states, run by run."""
    rows = []
    names = [name for name in METHODS if (name, 0.1) in study.runs]
    for alpha in ALPHAS:
        cells = [f"{alpha:g}"]
        runs = [study.runs[name, alpha] for name in names]
        reached = [run[f"rmse {i}"] >= run[f"target {i}"] for run in runs for i in (0, 1)]
        cells.append(study.share(pd.concat(reached)))
        first = study.runs["correlated SNA-1", alpha]
        if ("uncorrelated SNA-1", alpha) in study.runs:
            cells.append(study.share(first["change"] < study.runs["uncorrelated SNA-1", alpha]["change"]))
        else:
            cells.append("")
        other = study.runs[guided, alpha]
        cells.append(study.share(other["change"] < first["change"]))
        means = [first[f"mean {i}"] <= other[f"mean {i}"] for i in (0, 1)]
        cells.append(study.share(pd.concat(means)))
        worst = pd.concat([run[f"rmse {i}"] for run in runs for i in (0, 1)])
        least = min(study.runs[b, 1.0][f"rmse {i}"].mean() for b in BASELINES for i in (0, 1))
        cells.append(f"{worst.mean():.2f} against {least:.2f}")
        rows.append(cells)
    return rows


def pages() -> Iterator[str]:
    """Write the study part by part."""
    head = ["α", "RMSE ≥ target", "correlated keeps sdCor better", "{} keeps sdCor better than SNA-1"]
    head += ["SNA-1's mean as near or nearer", "mean RMSE against the lowest of the baselines"]
    for shape, guided in (("sna-1", "correlated SNA-2"), ("sna-2", "correlated SNA-3")):
        drawn = [nym.datasets.discharges(**nym.datasets.SHAPES[shape], seed=seed) for seed in range(SEEDS)]
        samples = [(frame, {name: tax[name] for name in COLUMNS[shape]}) for frame, tax in drawn]
        study = Study(samples, ["uncorrelated SNA-1", "correlated SNA-1", guided, *BASELINES])
        for (of, method), figures in PUBLISHED.items():
            if of == shape:
                yield f"### {TABLES[of, method]}: {method}, shape `{shape}`"
                yield study.table(method, figures)
        if shape == "sna-1":
            yield "### Table 7.10: distance between the means before and after, α = 1"
            rows = []
            for name, (a, b) in MEANS.items():
                found = study.runs[name, 1.0].mean()
                rows.append([name, f"{found['mean 0']:.2f} ({a:.2f})", f"{found['mean 1']:.2f} ({b:.2f})"])
            yield markdown(["method", "first column", "second column"], rows)
        yield f"### What the thesis states, checked on {SEEDS} draws of `{shape}`"
        yield markdown([h.format(guided) for h in head], orderings(study, guided))
    data = nym.datasets.load_diabetes(DATA / "diabetes" / "diabetic_data.csv.gz")
    icd = nym.datasets.load_icd9(DATA / "icd" / "icd9cm_hierarchy.csv")
    names = ["diag_1", "diag_2"]
    complete = data[names].dropna()
    samples = [(complete.sample(5_000, random_state=seed), dict.fromkeys(names, icd)) for seed in range(5)]
    study = Study(samples, [*METHODS, *BASELINES])
    yield "## Real diagnoses"
    yield (
        "Two diagnoses of 5,000 diabetes encounters (ICD-9-CM, the whole of it as domain where the values span it), "
        "means over five samples."
    )
    for method in METHODS:
        yield f"### {method}"
        yield study.table(method, None)
    yield "### The statements of the thesis on these samples (SNA-2 as the guided method)"
    yield markdown([h.format("SNA-2") for h in head], orderings(study, "correlated SNA-2"))


def main(folder: str) -> None:
    """Write ``noise-study.md``."""
    text = Path(__file__).with_name("study_noise.md").read_text()
    Path(folder, "noise-study.md").write_text(text.replace("{study}", "\n\n".join(pages())))


if __name__ == "__main__":
    main(*sys.argv[1:])
