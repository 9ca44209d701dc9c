"""Semantic noise beside the published tables, and on real diagnoses: ``study_noise.py folder`` writes the page.

The diabetes encounters and the ICD-9-CM table are read from the folder that NOMINYM_DATA names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

import nominym as nym
from pages import DATA, fill, how_often, markdown, run, seeds, spread

ALPHAS = (0.1, 0.3, 0.5, 1.0)
SEEDS = 20
LEAVES, BRANCH = 4000, 1.9
METHODS = {
    "uncorrelated SNA-1": nym.study.grid(nym.Noise, alpha=ALPHAS, correlated=False),
    "correlated SNA-1": nym.study.grid(nym.Noise, alpha=ALPHAS),
    "correlated SNA-2": nym.study.grid(nym.Noise, alpha=ALPHAS, reference="pair"),
    "correlated SNA-3": nym.study.grid(nym.Noise, alpha=ALPHAS, reference="root"),
}
BASELINES = {"naive": nym.Noise(method="naive"), "probabilistic": nym.Noise(method="probabilistic")}
Runs = dict[tuple[str, float], pd.DataFrame]

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
# Semantic variances of both columns, their distance correlation (tables 7.6 and 7.11), and their distance variances,
# which are not printed: the target of correlated noise at alpha = 1 is their root.
FEATURES = {"sna-1": (0.22, 0.24, 0.94, 0.52**2, 0.52**2), "sna-2": (0.15, 0.07, 0.88, 0.52**2, 0.40**2)}
# Distance of means for both columns at alpha = 1: table 7.10.
MEANS = {
    "naive": (0.20, 0.27),
    "probabilistic": (0.04, 0.0),
    "uncorrelated SNA-1": (0.20, 0.18),
    "correlated SNA-1": (0.20, 0.45),
    "correlated SNA-2": (0.20, 0.45),
}


def told(outcome: nym.study.Outcome) -> dict[str, float]:
    """Gather the figures of the tables."""
    found: dict[str, float] = {}
    for i, one in enumerate(outcome.returned.secret.summary["attributes"].values()):
        found |= {f"mean {i}": one["mean_distance"], f"rmse {i}": one["rmse"]}
        found[f"target {i}"] = one.get("target_rmse", 0.0)
        if "variance_expected" in one:
            found[f"variance {i}"] = abs(one["variance_after"] - one["variance_expected"])
            found[f"truncated {i}"] = one["truncated"]
    return found


def runs(data: Any, methods: list[str], count: int) -> Runs:
    """Run methods on data that are drawn for each seed; return the runs by method and alpha, 1 for the baselines."""
    found = run(data, {name: {**METHODS, **BASELINES}[name] for name in methods}, [told, "correlation_change"], count)
    found = found.rename(columns={"correlation_change": "change"}).fillna({"alpha": 1.0})
    return {(str(name), float(alpha)): part.reset_index() for (name, alpha), part in found.groupby(["method", "alpha"])}


def table(found: Runs, method: str, published: tuple[Column, Column, tuple[float, ...]] | None) -> str:
    """Write the figures of one method, with the published ones in brackets."""
    rows = []
    for i, alpha in enumerate(ALPHAS):
        runs = found[method, alpha]
        cells = [f"{alpha:g}"]
        for column in (0, 1):
            for j, figure in enumerate(("mean", "variance", "rmse", "target")):
                beside = f" ({published[column][j][i]:.2f})" if published else ""  # type: ignore[index]
                cells.append(spread(runs[f"{figure} {column}"], "{:.2f}") + beside)
        cells.append(spread(runs["change"], "{:.2f}") + (f" ({published[2][i]:.2f})" if published else ""))
        cells.append(f"{(runs['truncated 0'] + runs['truncated 1']).mean() / 2:.1%}")
        rows.append(cells)
    each = ["means apart", "variance off", "RMSE", "target"]
    head = ["α", *(f"{name}, {c}" for c in ("first", "second") for name in each), "change of sdCor", "truncated"]
    return markdown(head, rows)


def holds(found: Runs, guided: str) -> dict[str, dict[float, pd.Series]]:
    """Check what the thesis states, run by run: by statement and alpha."""
    names = [name for name in METHODS if (name, 0.1) in found]
    plain, first = "uncorrelated SNA-1", "correlated SNA-1"

    def at(alpha: float, name: str, figure: str) -> pd.Series:
        return found[name, alpha][figure]

    def reached(alpha: float, name: str) -> pd.Series:
        return pd.concat([at(alpha, name, f"rmse {i}") >= at(alpha, name, f"target {i}") for i in (0, 1)])

    every: dict[str, dict[float, pd.Series]] = {
        "reached": {a: pd.concat([reached(a, name) for name in names]) for a in ALPHAS},
        "reached by the guided": {a: reached(a, guided) for a in ALPHAS},
        "correlated": {a: at(a, first, "change") < at(a, plain, "change") for a in ALPHAS},
        "guided": {a: at(a, guided, "change") < at(a, first, "change") for a in ALPHAS},
        "mean": {
            a: pd.concat([at(a, first, f"mean {i}") <= at(a, guided, f"mean {i}") for i in (0, 1)]) for a in ALPHAS
        },
    }
    return every


def orderings(found: Runs, guided: str) -> str:
    """Write what the thesis states beside what was found."""
    checked = holds(found, guided)
    names = [name for name in METHODS if (name, 0.1) in found]
    least = min(found[name, 1.0][f"rmse {i}"].mean() for name in BASELINES for i in (0, 1))
    rows = []
    for alpha in ALPHAS:
        worst = pd.concat([found[name, alpha][f"rmse {i}"] for name in names for i in (0, 1)]).mean()
        shares = [checked[what][alpha] for what in ("reached", "correlated", "guided", "mean")]
        rows.append(
            [f"{alpha:g}", *(f"{int(s.sum())} of {len(s)}" for s in shares), f"{worst:.2f} against {least:.2f}"]
        )
    head = ["α", "RMSE ≥ target", "correlated keeps sdCor better", f"{guided} keeps sdCor better than SNA-1"]
    return markdown([*head, "SNA-1's mean as near or nearer", "mean RMSE against the lowest of the baselines"], rows)


def pages(found: dict[str, Runs]) -> Iterator[str]:
    """Write the tables part by part."""
    for shape, guided in GUIDED.items():
        for (of, method), figures in PUBLISHED.items():
            if of == shape:
                yield f"### {TABLES[of, method]}: {method}, shape `{shape}`"
                yield table(found[shape], method, figures)
        if shape == "sna-1":
            yield "### Table 7.10: distance between the means before and after, α = 1"
            rows = [
                [n, *(f"{spread(found[shape][n, 1.0][f'mean {i}'], '{:.2f}')} ({MEANS[n][i]:.2f})" for i in (0, 1))]
                for n in MEANS
            ]
            yield markdown(["method", "first column", "second column"], rows)
        yield f"### What the thesis states, checked on {len(seeds(SEEDS))} draws of `{shape}`"
        yield orderings(found[shape], guided)
    yield "## Real diagnoses"
    yield (
        "Two diagnoses of 5,000 diabetes encounters (ICD-9-CM, the whole of it as domain where the values span it), "
        f"means over {len(seeds(5))} samples."
    )
    for method in METHODS:
        yield f"### {method}"
        yield table(found["real"], method, None)
    yield "### The statements of the thesis on these samples (SNA-2 as the guided method)"
    yield orderings(found["real"], "correlated SNA-2")


GUIDED = {"sna-1": "correlated SNA-2", "sna-2": "correlated SNA-3"}


@dataclass(frozen=True)
class Clustered:
    """A column of evenly frequent concepts of a random tree, in two clusters near each other."""

    sizes: tuple[int, int]
    """Categories of either cluster."""
    level: int
    """Depth of the values, the root being at 1; there is one more level below them."""
    top: int
    """Depth of the concept above a cluster."""
    stem: int
    """Depth of the lowest concept above both. One record has a value directly below the root, the top of the domain."""

    def tree(self, name: str, rng: np.random.Generator) -> tuple[nym.Taxonomy, list[str]]:
        """Draw a taxonomy, and list its leaves."""
        return nym.datasets.Shape(LEAVES, self.level + 1, 1, 4, BRANCH, 1.0).drawn(name, rng)

    def values(self, tax: nym.Taxonomy, leaves: list[str], rng: np.random.Generator) -> list[str]:
        """Draw the categories, cluster by cluster; none where the tree has no place for them."""
        clusters: dict[str, dict[str, dict[str, dict[str, None]]]] = {}
        for leaf in leaves[1:]:
            path = {self.level + 1: leaf}
            for depth in range(self.level, self.stem - 1, -1):
                path[depth] = tax.parents(path[depth + 1])[0]
            parts = clusters.setdefault(path[self.stem], {})
            parts.setdefault(path[self.stem + 1], {}).setdefault(path[self.top], {})[path[self.level]] = None
        pairs = [
            (list(one), list(other))
            for parts in clusters.values()
            for part, apart in permutations(parts, 2)
            for one in parts[part].values()
            for other in parts[apart].values()
            if len(one) >= self.sizes[0] and len(other) >= self.sizes[1]
        ]
        if not pairs:
            return []
        chosen = pairs[rng.integers(len(pairs))]
        return [below[i] for below, size in zip(chosen, self.sizes, strict=True)
                for i in np.sort(rng.choice(len(below), size, replace=False))]  # fmt: skip


# Records of the shapes of the data of the thesis: numbers of records and of categories (those of the second are not
# printed), features of ``FEATURES``. The share of the records whose values go together comes last.
SHAPES: dict[str, tuple[int, dict[str, Clustered], float]] = {
    "sna-1": (1350, {"diagnosis": Clustered((8, 8), 13, 10, 4), "secondary": Clustered((9, 9), 13, 10, 4)}, 0.945),
    "sna-2": (1316, {"diagnosis": Clustered((12, 5), 14, 11, 4), "procedure": Clustered((12, 5), 12, 9, 6)}, 0.9),
}


def drawn(shape: str) -> Any:
    """Return what draws records of a shape and their taxonomies, which diagnoses share."""

    n, columns, together = SHAPES[shape]
    domains = {name: "procedure" if name == "procedure" else "disease" for name in columns}

    def placed(rng: np.random.Generator) -> tuple[dict[str, tuple[nym.Taxonomy, list[str]]], dict[str, list[str]]]:
        """Draw trees until all columns have a place in them."""
        while True:
            trees = {domains[name]: column.tree(domains[name], rng) for name, column in reversed(columns.items())}
            values = {name: column.values(*trees[domains[name]], rng) for name, column in columns.items()}
            if all(values.values()):
                return trees, values

    def draw(seed: int) -> Any:
        rng = np.random.default_rng(seed)
        trees, values = placed(rng)
        data: dict[str, Any] = {}
        for place, name in enumerate(columns):
            codes = np.arange(n) * len(values[name]) // n
            if place:
                others = rng.choice(n, round((1 - together) * n), replace=False)
                codes[others] = rng.permutation(codes[others])
            data[name] = np.array(values[name], dtype=object)[codes]
            data[name][rng.integers(n)] = trees[domains[name]][1][0]
        taxonomies = {name: trees[domains[name]][0] for name in columns}
        return pd.DataFrame(data).iloc[rng.permutation(n)].reset_index(drop=True), taxonomies

    return draw


def features(shape: str, seed: int) -> list[float]:
    """Measure what ``FEATURES`` lists."""
    frame, tax = drawn(shape)(seed)
    semantic, distance = ([measure(frame[name], tax[name]) for name in frame]
                          for measure in (nym.stats.semantic_variance, nym.stats.distance_variance))  # fmt: skip
    return [*semantic, nym.stats.distance_correlation(*(frame[name] for name in frame), *tax.values()), *distance]


def discharged(shape: str) -> Any:
    """Return what draws synthetic discharges over a wide taxonomy, with the numbers and the correlation of a shape."""

    def draw(seed: int) -> Any:
        frame, taxonomies = nym.datasets.discharges(**nym.datasets.SHAPES[shape], seed=seed)
        names = list(SHAPES[shape][1])
        return frame[names], {name: taxonomies[name] for name in names}

    return draw


def on_shapes(draws: Callable[[str], Any] = drawn, count: int = SEEDS) -> dict[str, Runs]:
    """Run the methods of the thesis on records of the shapes of its data."""
    ours = ["uncorrelated SNA-1", "correlated SNA-1"]
    return {s: runs({s: draws(s)}, [*ours, guided, *BASELINES], count) for s, guided in GUIDED.items()}


def on_discharges() -> dict[str, Runs]:
    """Run them on synthetic discharges, whose variances are larger."""
    return on_shapes(discharged, 10)


def on_real_diagnoses() -> Runs:
    """Run all methods on samples of the diabetes encounters."""
    data = nym.datasets.load_diabetes(DATA / "diabetes" / "diabetic_data.csv.gz")
    icd = nym.datasets.load_icd9(DATA / "icd" / "icd9cm_hierarchy.csv")
    names = ["diag_1", "diag_2"]
    complete = data[names].dropna()
    sampled = {"real": lambda seed: (complete.sample(5_000, random_state=seed), dict.fromkeys(names, icd))}
    return runs(sampled, [*METHODS, *BASELINES], 5)


def words(found: dict[str, Runs], wide: dict[str, Runs]) -> dict[str, str]:
    """Compute what the text states."""
    also = {shape: holds(wide[shape], guided) for shape, guided in GUIDED.items()}

    def on_wide(statement: str, *shapes: str, alphas: tuple[float, ...] = ALPHAS) -> str:
        return how_often(pd.concat([also[shape][statement][a] for shape in shapes for a in alphas]))

    checked = {shape: holds(found[shape], GUIDED.get(shape, "correlated SNA-2")) for shape in found}

    def often(statement: str, *shapes: str, alphas: tuple[float, ...] = ALPHAS) -> str:
        return how_often(pd.concat([checked[shape][statement][a] for shape in shapes for a in alphas]))

    real = found["real"]
    root = [real["correlated SNA-3", a]["change"] < real["correlated SNA-1", a]["change"] for a in ALPHAS]
    truncated = pd.concat([found["sna-1"]["correlated SNA-2", a][f"truncated {i}"] for a in ALPHAS for i in (0, 1)])
    baselines = [(b, 1.0) for b in BASELINES]
    highest = max(part[f"rmse {i}"].max() for runs in found.values() for key, part in runs.items()
                  for i in (0, 1) if key not in baselines)  # fmt: skip
    lowest = min(runs[key][f"rmse {i}"].min() for runs in found.values() for key in baselines for i in (0, 1))
    moved = [found[s][m, a][f"mean {i}"].mean() for s, m in PUBLISHED for a in ALPHAS for i in (0, 1)]
    return {
        "draws": str(len(seeds(SEEDS))),
        "reached_small": often("reached", "sna-2", alphas=ALPHAS[:3]),
        "reached_large": often("reached", "sna-2", alphas=ALPHAS[3:]),
        "pair_small": often("reached by the guided", "sna-1", alphas=ALPHAS[:1]),
        "pair_large": often("reached by the guided", "sna-1", alphas=ALPHAS[1:]),
        "pair_real": often("reached by the guided", "real", alphas=ALPHAS[:3]),
        "truncated": f"{truncated.mean():.0%}",
        "correlated": often("correlated", *checked),
        "pair": often("guided", "sna-1"),
        "reached_wide": on_wide("reached", *also, alphas=ALPHAS[:3]),
        "correlated_wide": on_wide("correlated", *also),
        "pair_wide": on_wide("guided", "sna-1"),
        "root_wide": on_wide("guided", "sna-2"),
        "mean_wide": on_wide("mean", *also),
        "root_small": often("guided", "sna-2", alphas=ALPHAS[:1]),
        "root_large": often("guided", "sna-2", alphas=ALPHAS[3:]),
        "root_real": how_often(pd.concat(root)),
        "mean_pair_small": often("mean", "sna-1", alphas=ALPHAS[:1]),
        "mean_pair": often("mean", "sna-1", alphas=ALPHAS[1:]),
        "mean_root": often("mean", "sna-2"),
        "highest": f"{highest:.2f}",
        "lowest": f"{lowest:.2f}",
        "broken": f"{np.mean([found['sna-1'][key]['change'].mean() for key in baselines]):.2f}",
        "variance": f"{np.mean([found[s][m, 1.0][f'variance {i}'].mean() for s, m in PUBLISHED for i in (0, 1)]):.2f}",
        "their_variance": f"{np.mean([printed[i][1][-1] for printed in PUBLISHED.values() for i in (0, 1)]):.2f}",  # type: ignore[index]
        "means": f"{np.mean(moved):.2f}",
        "their_means": f"{np.mean([printed[i][0] for printed in PUBLISHED.values() for i in (0, 1)]):.2f}",  # type: ignore[index]
        "below": "below" if highest < lowest else "not always below",
    }


def main(folder: str) -> None:
    """Write ``noise-study.md``."""
    found = {**on_shapes(), "real": on_real_diagnoses()}
    fill("noise", {"study": "\n\n".join(pages(found)), **words(found, on_discharges())}, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
