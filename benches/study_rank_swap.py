"""Rank swapping on real diagnoses and beside the published tables: ``study_rank_swap.py folder`` writes the page.

The diabetes encounters and the ICD-9-CM table are read from the folder that NOMINYM_DATA names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from ortools.graph.python import min_cost_flow

import nominym as nym
from pages import COLOURS, DATA, fill, how_often, listed, markdown, run, seeds

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import attack

KS = (2, 5, 10, 20, 50, 100)
SEEDS = 10
REAL = 2  # seeds of all encounters, where draws hardly differ
RERUNS = 100  # of a mechanism, from which an attack learns how likely each row is to show each value
DIAGNOSES = ("diag_1", "diag_2", "diag_3")
HOW: dict[str, dict[str, Any]] = {
    "fixed (SRS-1)": {"method": "fixed"},
    "dynamic (SRS-2)": {"method": "dynamic"},
    "records (SRS-3)": {"method": "records"},
    "strict": {},
    "distributional": {"method": "distributional"},
    "random": {"method": "random"},
}
METHODS = {name: nym.study.grid(nym.RankSwap, k=KS, **how) for name, how in HOW.items()}

# RMSE of both columns and the absolute difference of their correlation, for k = 2, 5, 10, 20, 50, 100, from tables 2
# to 6 of Rodriguez-Garcia, Batet and Sánchez (2019).
PUBLISHED = {
    ("Dataset1", "fixed (SRS-1)"): (
        (0.4558, 0.5423, 0.5560, 0.5823, 0.6018, 0.6083),
        (0.3562, 0.3712, 0.4118, 0.4166, 0.4650, 0.5016),
        (0.1890, 0.1906, 0.1946, 0.1948, 0.1967, 0.2075),
    ),
    ("Dataset1", "dynamic (SRS-2)"): (
        (0.1439, 0.1887, 0.2300, 0.2782, 0.3513, 0.4062),
        (0.0544, 0.0776, 0.1014, 0.1413, 0.2153, 0.2941),
        (0.0404, 0.0503, 0.0556, 0.0947, 0.1360, 0.1795),
    ),
    ("Dataset1", "records (SRS-3)"): (
        (0.1966, 0.2707, 0.3130, 0.3659, 0.4145, 0.4656),
        (0.0920, 0.1433, 0.1613, 0.2083, 0.2697, 0.3745),
        (0.0028, 0.0185, 0.0232, 0.0435, 0.0769, 0.1450),
    ),
    ("Dataset2", "records (SRS-3)"): (
        (0, 0.0129, 0.0336, 0.0749, 0.1965, 0.3750),
        (0, 0.0288, 0.0810, 0.1486, 0.2300, 0.3218),
        (0, 0.0009, 0.0021, 0.0154, 0.0627, 0.1734),
    ),
    ("Dataset3", "records (SRS-3)"): (
        (0, 0.0106, 0.0322, 0.0866, 0.2412, 0.3951),
        (0, 0.0309, 0.0890, 0.1653, 0.2409, 0.3640),
        (0, 0.0019, 0.0073, 0.0207, 0.1116, 0.2639),
    ),
}
TABLES = {
    ("Dataset1", "fixed (SRS-1)"): "Table 2: algorithm 1 (`fixed`), 1,172 records, 783 and 430 categories",
    ("Dataset1", "dynamic (SRS-2)"): "Table 3: algorithm 2 (`dynamic`), the same data",
    ("Dataset1", "records (SRS-3)"): "Table 4: algorithm 3 (`records`), the same data",
    ("Dataset2", "records (SRS-3)"): "Table 5: algorithm 3, 1,012 records, 55 and 94 categories",
    ("Dataset3", "records (SRS-3)"): "Table 6: algorithm 3, the same with a third column",
}


def told(outcome: nym.study.Outcome) -> dict[str, float]:
    """Gather what swapping achieves."""
    summary = outcome.returned.secret.summary
    each = list(summary["attributes"].values())
    changed = nym.stats.correlation_changes(outcome.comparison.changes, outcome.progress)
    return {
        **{f"rmse {i}": one["rmse"] for i, one in enumerate(each)},
        "rmse": float(np.sqrt(np.mean([one["rmse"] ** 2 for one in each]))),
        "difference": changed["difference"].abs().mean(),
        **{f"pair {i}": abs(one) for i, one in enumerate(changed["difference"])},
        "lost": -(changed["difference"] / changed["before"]).mean(),
        "unchanged": float(np.mean([one["unchanged"] for one in each])),
        "no partner": float(np.mean([one["no_partner"] for one in each]) / summary["records"]),
        "candidates": float(np.mean([one["candidates"]["median"] for one in each])),
        "fewer": float(np.mean([one["fewer_than_k"] for one in each])),
    }


def drawn(name: str, seed: int) -> Any:
    """Draw records like those of the paper; with other seeds than those that the generator was adjusted with."""
    return nym.datasets.shaped(**nym.datasets.LIKE[name], seed=3_000 + seed)


def kept(outcome: nym.study.Outcome) -> float:
    """Tell whether every value is as frequent as before, so that means and variances are what they were: 1 or 0."""
    changes = outcome.comparison.changes.values()
    return float(all(np.array_equal(*(np.sort(side.place_codes) for side in (change.before, change.after)))
                     for change in changes))  # fmt: skip


def like_the_papers() -> pd.DataFrame:
    """Swap synthetic records like those of the paper, drawn for each seed: with what the paper swaps each of them."""
    parts = []
    for name in dict.fromkeys(shape for shape, _ in PUBLISHED):
        methods = {how: METHODS[how] for how in METHODS if (how != "strict" and name == "Dataset1")
                   or (name, how) in PUBLISHED}  # fmt: skip
        parts.append(run({name: partial(drawn, name)}, methods, [told, kept], SEEDS))
    return pd.concat(parts, ignore_index=True)


def beside_the_papers_tables(found: pd.DataFrame) -> Iterator[str]:
    """Write the published tables beside ours."""
    for (shape, method), published in PUBLISHED.items():
        mean = found[(found["data"] == shape) & (found["method"] == method)].groupby("k").mean(numeric_only=True)
        rows = []
        for i, k in enumerate(KS):
            names = ("rmse 0", "rmse 1", "pair 0")
            cells = [f"{mean.loc[k, name]:.3f} ({published[j][i]:.3f})" for j, name in enumerate(names)]
            rows.append([str(k), *cells, f"{mean.loc[k, 'candidates']:.1f}", f"{mean.loc[k, 'fewer']:.0%}"])
        head = ["k", "RMSE diagnosis", "RMSE procedure", "change of sdCor", "candidates, median", "fewer than k"]
        yield f"### {TABLES[shape, method]}"
        yield markdown(head, rows)


def on_real_diagnoses(found: pd.DataFrame) -> str:
    """Write what every method does to all encounters."""
    mean = found.groupby(["method", "k"], sort=False).mean(numeric_only=True).reset_index()
    rows = [
        [
            str(r["method"]),
            str(int(r["k"])),
            *(f"{r[f'rmse {i}']:.3f}" for i in range(3)),
            f"{r['difference']:.4f}",
            f"{r['lost']:.1%}",
            f"{r['unchanged']:.1%}",
            f"{r['candidates']:,.0f}",
            f"{r['fewer']:.0%}",
            f"{r['no partner']:.1%}",
        ]
        for _, r in mean.iterrows()
    ]
    head = ["method", "k", *(f"RMSE {name}" for name in DIAGNOSES), "change of sdCor", "sdCor lost"]
    return markdown([*head, "unchanged", "candidates, median", "fewer than k", "no partner"], rows)


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
    samples = {n: complete.sample(n, random_state=0) for n in (1_172, 2_500)}
    data = {f"{n}": sample for n, sample in samples.items()}
    found = run(data, METHODS["records (SRS-3)"], ["rmse"], 10, meanings=taxonomies)
    srs = {(int(n), k): part["rmse"].mean() for (n, k), part in found.groupby(["data", "k"])}
    for n, sample in samples.items():
        costs = squared_distances(sample, taxonomies["diag_1"])
        for k in KS:
            nearest = np.sqrt(np.partition(costs, k - 1, axis=1)[:, :k].mean())
            flow = flow_bound(costs, k)
            kept, annealed = (expected(sample, taxonomies, k, costs, anneal) for anneal in (False, True))
            records = srs[n, k]
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
                        codes(nym.rank_swap(sample[names], masked, k, **HOW[name], seed=1_000 + s).data)
                        for s in range(RERUNS)
                    ]
                for seed in range(3):
                    res = nym.rank_swap(sample[names], masked, k, **HOW[name], seed=seed)
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


def picture(found: pd.DataFrame, file: Path) -> None:
    """Draw error and loss of correlation against k."""
    fig, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    mean = found.groupby(["method", "k"], sort=False).mean(numeric_only=True).reset_index()
    for axis, figure, title, label in (
        (axes[0], "rmse", "What swapping moves", "RMSE, three columns together"),
        (axes[1], "lost", "What it costs", "share of the distance correlation lost"),
    ):
        for (name, part), colour in zip(mean.groupby("method", sort=False), COLOURS, strict=False):
            axis.plot(part["k"], part[figure], "o-", color=colour, label=name)
        axis.set(xscale="log", xlabel="k", ylabel=label, title=title)
        axis.set_xticks(KS, [str(k) for k in KS])
        axis.minorticks_off()
        axis.grid(alpha=0.3)
    axes[1].legend(loc="center right")
    fig.savefig(file, dpi=110)


def words(papers: pd.DataFrame, real: pd.DataFrame) -> dict[str, str]:
    """Compute what the text states."""

    def by(found: pd.DataFrame, figure: str) -> pd.DataFrame:
        return found.pivot_table(figure, ["data", "seed", "k"], "method")

    one, two, three = list(HOW)[:3]
    moved = pd.concat([by(papers[papers["data"] == "Dataset1"], "rmse"), by(real, "rmse")])
    lost = by(papers[papers["data"] == "Dataset1"], "difference")
    few = lost[lost.index.get_level_values("k") <= 10]
    real_moved, real_lost = by(real, "rmse"), by(real, "lost")
    small = real_moved[real_moved.index.get_level_values("k") <= 20]
    grows = (
        papers[papers["method"].isin([two, three])].pivot_table("rmse", ["data", "method", "seed"], "k").diff(axis=1)
    )
    apart = [abs(np.log(papers[(papers["data"] == d) & (papers["method"] == m) & (papers["k"] == k)][f"rmse {c}"].mean()
                        / PUBLISHED[d, m][c][i]))
             for d, m in PUBLISHED for i, k in enumerate(KS) for c in (0, 1) if PUBLISHED[d, m][c][i]]  # fmt: skip
    still = papers[(papers["data"] == "Dataset2") & (papers["k"] == 2) & (papers["method"] == three)]["rmse"] == 0
    fewer = papers[papers["method"].isin([one, two, three])].groupby(["method", "k"])["fewer"].mean()
    like = by(papers[papers["data"] == "Dataset1"], "rmse")
    fixed = (like[one] / like["random"]).groupby("k").mean()
    return {
        "fixed_low": f"{fixed.min():.0%}",
        "fixed_high": f"{fixed.max():.0%}",
        "keeps_all": how_often((lost[three] < lost[two]) & (lost[three] < lost[one])),
        "dynamic_keeps": how_often(real_lost[two] < real_lost[three]),
        "real_seeds": listed(REAL),
        "reruns": str(RERUNS),
        "draws": str(len(seeds(SEEDS))),
        "order": how_often((moved[two] < moved[three]) & (moved[three] < moved[one])),
        "grow": how_often((grows.iloc[:, 1:] >= 0).all(axis=1)),
        "keeps": how_often((few[three] < few[two]) & (few[three] < few[one])),
        "strict_moves": how_often(small["strict"] < small[three]),
        "strict_keeps": how_often(real_lost["strict"] < real_lost[three]),
        "still": how_often(still),
        "median_apart": f"{np.exp(np.median(apart)) - 1:.0%}",
        "most_apart": f"{np.exp(np.max(apart)):.1f}",
        "fewer_low": f"{fewer.min():.0%}",
        "fewer_high": f"{fewer.max():.0%}",
    }


def main(folder: str) -> None:
    """Write ``rank-swapping-study.md`` and its picture."""
    data = nym.datasets.load_diabetes(DATA / "diabetes" / "diabetic_data.csv.gz")
    icd = nym.datasets.load_icd9(DATA / "icd" / "icd9cm_hierarchy.csv")
    frame = data[list(DIAGNOSES)]
    taxonomies = dict.fromkeys(DIAGNOSES, icd)
    papers = like_the_papers()
    real = run({"diabetes": frame}, METHODS, [told], REAL, meanings=taxonomies)
    picture(real, Path(folder, "rank-swapping-study.png"))
    parts = {
        "real": on_real_diagnoses(real),
        "bounds": against_bounds(frame.dropna(), taxonomies),
        "attack": attacked(frame.dropna(), icd),
        "published": "\n\n".join(beside_the_papers_tables(papers)),
        **words(papers, real),
    }
    fill("rank_swap", parts, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
