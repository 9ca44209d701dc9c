"""Rank swapping on real diagnoses and beside the published tables: ``study_rank_swap.py folder`` writes the page.

The diabetes encounters and the ICD-9-CM table are read from the folder that NOMINYM_DATA names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from ortools.graph.python import min_cost_flow

import nominym as nym
from tables import markdown

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import attack

KS = (2, 5, 10, 20, 50, 100)
SEEDS = 5
DATA = Path(os.environ.get("NOMINYM_DATA", Path(__file__).parents[2] / "shared" / "data"))
DIAGNOSES = ("diag_1", "diag_2", "diag_3")
METHODS: dict[str, dict[str, Any]] = {
    "fixed (SRS-1)": {"method": "fixed"},
    "dynamic (SRS-2)": {"method": "dynamic"},
    "records (SRS-3)": {"method": "records"},
    "strict": {},
    "distributional": {"method": "distributional"},
    "random": {"method": "random"},
}
COLOURS = dict(zip(METHODS, ("#D55E00", "#56B4E9", "#009E73", "#0072B2", "#E69F00", "#999999"), strict=True))

# RMSE of both columns and the absolute difference of their correlation, for k = 2, 5, 10, 20, 50, 100, from tables 2
# to 6 of Rodriguez-Garcia, Batet and Sánchez (2019).
PUBLISHED = {
    ("srs-1", "fixed"): (
        (0.4558, 0.5423, 0.5560, 0.5823, 0.6018, 0.6083),
        (0.3562, 0.3712, 0.4118, 0.4166, 0.4650, 0.5016),
        (0.1890, 0.1906, 0.1946, 0.1948, 0.1967, 0.2075),
    ),
    ("srs-1", "dynamic"): (
        (0.1439, 0.1887, 0.2300, 0.2782, 0.3513, 0.4062),
        (0.0544, 0.0776, 0.1014, 0.1413, 0.2153, 0.2941),
        (0.0404, 0.0503, 0.0556, 0.0947, 0.1360, 0.1795),
    ),
    ("srs-1", "records"): (
        (0.1966, 0.2707, 0.3130, 0.3659, 0.4145, 0.4656),
        (0.0920, 0.1433, 0.1613, 0.2083, 0.2697, 0.3745),
        (0.0028, 0.0185, 0.0232, 0.0435, 0.0769, 0.1450),
    ),
    ("srs-2", "records"): (
        (0, 0.0129, 0.0336, 0.0749, 0.1965, 0.3750),
        (0, 0.0288, 0.0810, 0.1486, 0.2300, 0.3218),
        (0, 0.0009, 0.0021, 0.0154, 0.0627, 0.1734),
    ),
    ("srs-2, three columns", "records"): (
        (0, 0.0106, 0.0322, 0.0866, 0.2412, 0.3951),
        (0, 0.0309, 0.0890, 0.1653, 0.2409, 0.3640),
        (0, 0.0019, 0.0073, 0.0207, 0.1116, 0.2639),
    ),
}
TABLES = {
    ("srs-1", "fixed"): "Table 2: algorithm 1 (`fixed`), 1,172 records, 783 and 430 categories",
    ("srs-1", "dynamic"): "Table 3: algorithm 2 (`dynamic`), the same data",
    ("srs-1", "records"): "Table 4: algorithm 3 (`records`), the same data",
    ("srs-2", "records"): "Table 5: algorithm 3, 1,012 records, 55 and 94 categories",
    ("srs-2, three columns", "records"): "Table 6: algorithm 3, the same with a third column",
}


def figures(frame: pd.DataFrame, taxonomies: dict[str, Any], k: int, how: dict[str, Any], seeds: int) -> dict[str, Any]:
    """Average what swapping achieves over seeds."""
    rows = []
    for seed in range(seeds):
        summary = nym.rank_swap(frame, taxonomies, k, **how, seed=seed, correlations=True).secret.summary
        told = list(summary["attributes"].values())
        rows.append(
            {
                **{f"rmse {i}": a["rmse"] for i, a in enumerate(told)},
                "rmse": np.sqrt(np.mean([a["rmse"] ** 2 for a in told])),
                "difference": summary["correlations"]["difference"].abs().mean(),
                "first pair": summary["correlations"]["difference"].abs().iloc[0],
                "lost": -(summary["correlations"]["difference"] / summary["correlations"]["before"]).mean(),
                "unchanged": np.mean([a["unchanged"] for a in told]),
                "no partner": np.mean([a["no_partner"] for a in told]) / summary["records"],
                "candidates": np.mean([a["candidates"]["median"] for a in told]),
                "fewer": np.mean([a["fewer_than_k"] for a in told]),
            }
        )
    return pd.DataFrame(rows).mean().to_dict()


def beside_the_papers_tables() -> Iterator[str]:
    """Repeat the published tables on synthetic data of the same shape."""
    for (shape, method), published in PUBLISHED.items():
        frames = [nym.datasets.discharges(**nym.datasets.SHAPES[shape[:5]], seed=seed) for seed in range(SEEDS)]
        columns = ["diagnosis", "procedure"] + ["secondary"] * ("three" in shape)
        rows = []
        for i, k in enumerate(KS):
            each = [figures(f, {c: t[c] for c in columns}, k, {"method": method}, 2) for f, t in frames]
            mean = pd.DataFrame(each).mean()
            cells = [f"{mean[name]:.3f} ({published[j][i]:.3f})" for j, name in enumerate(("rmse 0", "rmse 1"))]
            rest = f"{mean['first pair']:.3f} ({published[2][i]:.3f})"
            rows.append([str(k), *cells, rest, f"{mean['candidates']:.1f}", f"{mean['fewer']:.0%}"])
        head = ["k", "RMSE diagnosis", "RMSE procedure", "change of sdCor", "candidates, median", "fewer than k"]
        yield f"### {TABLES[shape, method]}"
        yield markdown(head, rows)


def on_real_diagnoses(frame: pd.DataFrame, taxonomies: dict[str, Any]) -> tuple[str, pd.DataFrame]:
    """Mask all encounters with every method."""
    found = [
        {"method": name, "k": k, **figures(frame, taxonomies, k, how, 2)} for name, how in METHODS.items() for k in KS
    ]
    table = pd.DataFrame(found)
    rows = [
        [
            r["method"],
            str(r["k"]),
            *(f"{r[f'rmse {i}']:.3f}" for i in range(3)),
            f"{r['difference']:.4f}",
            f"{r['lost']:.1%}",
            f"{r['unchanged']:.1%}",
            f"{r['candidates']:,.0f}",
            f"{r['fewer']:.0%}",
            f"{r['no partner']:.1%}",
        ]
        for r in found
    ]
    head = ["method", "k", *(f"RMSE {name}" for name in DIAGNOSES), "change of sdCor", "sdCor lost"]
    head += ["unchanged", "candidates, median", "fewer than k", "no partner"]
    return markdown(head, rows), table


def squared_distances(frame: pd.DataFrame, icd: nym.Taxonomy) -> np.ndarray:
    """Average the squared distances of all pairs of records over the columns."""
    total = np.zeros((len(frame), len(frame)))
    for name in DIAGNOSES:
        part = icd.restrict(icd.lcs(frame[name].unique()))
        names, codes = np.unique(frame[name].to_numpy(dtype=str), return_inverse=True)
        total += part.distance_matrix(names.tolist()).astype(np.float64)[np.ix_(codes, codes)] ** 2
    return total / len(DIAGNOSES)


def flow_bound(costs: np.ndarray, k: int) -> float:
    """Find the cheapest way to give each record k possible origins, each record being one k times (minimum-cost flow).

    Whatever keeps the guarantee of 1/k gives every value at least k equally likely origins, so no RMSE is below this.
    """
    n = len(costs)
    source, target = np.divmod(np.arange(n * n), n)
    solver = min_cost_flow.SimpleMinCostFlow()
    whole = np.rint(costs.ravel() * 1e6).astype(np.int64)
    solver.add_arcs_with_capacity_and_unit_cost(source, target + n, np.ones(n * n, dtype=np.int64), whole)
    solver.set_nodes_supplies(np.arange(2 * n), np.repeat([k, -k], n))
    assert solver.solve() == solver.OPTIMAL
    return float(np.sqrt(solver.optimal_cost() / 1e6 / (n * k)))


def against_bounds(complete: pd.DataFrame, taxonomies: dict[str, Any]) -> str:
    """Compare the strict mode with bounds that no method can pass, on samples."""
    rows = []
    for n in (1_172, 5_000):
        sample = complete.sample(n, random_state=0)
        costs = squared_distances(sample, taxonomies["diag_1"])
        for k in KS:
            nearest = np.sqrt(np.partition(costs, k - 1, axis=1)[:, :k].mean())
            flow = flow_bound(costs, k)
            kept, annealed = (expected(sample, taxonomies, k, costs, anneal) for anneal in (False, True))
            records = figures(sample, taxonomies, k, METHODS["records (SRS-3)"], 10)["rmse"]
            row = [f"{n:,}", str(k), *(f"{x:.3f}" for x in (nearest, flow, kept, annealed, records))]
            rows.append([*row, f"{kept / flow:.3f}", f"{annealed / flow:.3f}"])
    head = ["records", "k", "k nearest", "flow", "strict", "annealed", "SRS-3 (no guarantee)", "strict / flow"]
    return markdown([*head, "annealed / flow"], rows)


def expected(frame: pd.DataFrame, taxonomies: dict[str, Any], k: int, costs: np.ndarray, anneal: bool) -> float:
    """Work out the RMSE that groups give on average over their permutations."""
    groups = nym.rank_swap(frame, taxonomies, k, anneal=anneal, seed=0).secret.groups
    order = np.argsort(groups, kind="stable")
    total = 0.0
    for members in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        total += costs[np.ix_(members, members)].sum() / len(members)
    return float(np.sqrt(total / len(frame)))


def attacked(complete: pd.DataFrame, icd: nym.Taxonomy) -> str:
    """Attack releases of a sample: by the nearest row, and knowing the mechanism."""
    sample = complete.sample(1_172, random_state=0).reset_index(drop=True)
    rows = []
    for m in (2, 3):
        names = list(DIAGNOSES[:m])
        values = {name: sorted(set(sample[name])) for name in names}
        parts = [icd.restrict(icd.lcs(values[name])) for name in names]
        distances = [
            part.distance_matrix(values[name]).astype(np.float64) for part, name in zip(parts, names, strict=True)
        ]
        sizes = [len(values[name]) for name in names]
        masked = dict.fromkeys(names, icd)

        def codes(data: pd.DataFrame, names: list[str] = names, values: dict[str, list[str]] = values) -> np.ndarray:
            return np.column_stack([np.searchsorted(values[name], data[name].to_numpy(dtype=str)) for name in names])

        before = codes(sample)
        for name in ("strict", "records (SRS-3)", "dynamic (SRS-2)"):
            cells = [str(m), name]
            for k in KS[:5]:
                runs, found = [], []
                if name != "strict":
                    runs = [
                        codes(nym.rank_swap(sample, masked, k, **METHODS[name], seed=1_000 + s).data)
                        for s in range(200)
                    ]
                for seed in range(3):
                    res = nym.rank_swap(sample, masked, k, **METHODS[name], seed=seed)
                    after = codes(res.data)
                    if name == "strict":
                        chances = attack.shown_by_groups(before, res.secret.groups, sizes)
                    else:
                        chances = attack.shown_by_reruns(before, runs, sizes)
                    near = attack.nearest_row(before, after, distances)
                    found.append((near * k, attack.knowing(before, after, chances) * k))
                cells.append("{:.2f} / {:.2f}".format(*np.mean(found, axis=0)))
            rows.append(cells)
    return markdown(["columns", "method", *(f"k = {k}" for k in KS[:5])], rows)


def picture(table: pd.DataFrame, file: Path) -> None:
    """Draw error and loss of correlation against k."""
    fig, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for axis, figure, label in (
        (axes[0], "rmse", "RMSE, three columns together"),
        (axes[1], "lost", "share of the distance correlation lost"),
    ):
        for name, part in table.groupby("method", sort=False):
            axis.plot(part["k"], part[figure], "o-", color=COLOURS[str(name)], label=name)
        axis.set_xscale("log")
        axis.set_xticks(KS, [str(k) for k in KS])
        axis.minorticks_off()
        axis.set_xlabel("k")
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[0].set_title("What swapping moves")
    axes[1].set_title("What it costs")
    axes[1].legend(loc="center right")
    fig.savefig(file, dpi=110)


def main(folder: str) -> None:
    """Write ``rank-swapping-study.md`` and its picture."""
    data = nym.datasets.load_diabetes(DATA / "diabetes" / "diabetic_data.csv.gz")
    icd = nym.datasets.load_icd9(DATA / "icd" / "icd9cm_hierarchy.csv")
    frame = data[list(DIAGNOSES)]
    taxonomies = dict.fromkeys(DIAGNOSES, icd)
    real, table = on_real_diagnoses(frame, taxonomies)
    picture(table, Path(folder, "rank-swapping-study.png"))
    bounds = against_bounds(frame.dropna(), taxonomies)
    text = Path(__file__).with_name("study_rank_swap.md").read_text()
    text = text.replace("{real}", real).replace("{bounds}", bounds).replace("{attack}", attacked(frame.dropna(), icd))
    text = text.replace("{published}", "\n\n".join(beside_the_papers_tables()))
    Path(folder, "rank-swapping-study.md").write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
