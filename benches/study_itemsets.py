"""Recoding of set-valued records beside the figures of its paper, on chess and pumsb: ``study_itemsets.py folder``.

The records are read from the folder that NOMINYM_DATA names.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nominym as nym
from nominym import _core
from nominym.itemsets import Itemsets
from nominym.study.measures import query_error
from pages import CELLS, COLOURS, DATA, fill, how_often, markdown, run, seeds

FILES = {"chess": "chess.dat", "pumsb": "pumsb_first4334.dat"}
# Sizes of the queries for present and absent items, as in section 5.2.
QUERIES = {"chess": (3, 4), "pumsb": (1, 5)}
KS, LS, SIZES = (2, 4, 8, 16, 32), (2, 4, 6, 8, 10), (1, 2, 4, 8, 16)
SEEDS = 2
LABELS = 470

RING: dict[str, Any] = {"structure": "ring", "insiders": "accepted"}
WITH_K = {
    "Gray (baseline)": nym.study.grid(nym.Recode, k=KS, order="gray", **RING),
    "Gray-TSP (published)": nym.study.grid(nym.Recode, k=KS, **RING),
    "best ring": nym.study.grid(nym.Recode, k=KS, order="best", **RING),
    "groups": nym.study.grid(nym.Recode, k=KS, order="best"),
}
WITH_L = {
    "CAHD on Gray (baseline)": nym.study.grid(nym.Recode, l=LS, order="gray", structure="cahd"),
    "greedy walk on Gray-TSP (published)": nym.study.grid(nym.Recode, l=LS, **RING),
    "groups on Gray-TSP": nym.study.grid(nym.Recode, l=LS),
}
BY = {"k": WITH_K, "l": WITH_L}
FIGURES = ("rate", "present", "absent")
EFFORTS: dict[str, dict[str, Any]] = {
    "Gray-TSP, none": {"order": "gray-tsp", "effort": "none"},
    "Gray-TSP, usual": {"order": "gray-tsp"},
    "tree, none": {"effort": "none"},
    **{f"tree, up to {limit:g} s": {"effort": "long", "limit": limit} for limit in (0.25, 0.5, 1, 2, 4, 8)},
    "tree, usual": {},
    "tree, long": {"effort": "long"},
}
METHODS = ("closed-walk", "wmc", "augment", "split")


def sensitive(n: int, seed: int) -> np.ndarray:
    """Draw labels with a histogram like that of occupations: a long tail."""
    weights = 1 / (np.arange(LABELS) + 8.0)
    return np.random.default_rng(seed).choice(LABELS, size=n, p=weights / weights.sum())


def losses(data: dict[str, Itemsets]) -> pd.DataFrame:
    """Measure every method at every k and l with every seed: error rate and both query errors, in percent."""
    parts = []
    for name, sets in data.items():
        present, absent = QUERIES[name]
        measures = {"rate": "error_rate", "present": query_error("present", present),
                    "absent": query_error("absent", absent)}  # fmt: skip
        parts.append(run({name: sets}, WITH_K, measures, SEEDS))
        labelled = {name: lambda seed, sets=sets: (sets, sensitive(sets.n, seed))}
        parts.append(run(labelled, WITH_L, measures, SEEDS))
    found = pd.concat(parts, ignore_index=True)
    found[list(FIGURES)] *= 100
    return found


def series(found: pd.DataFrame, name: str, method: str, letter: str) -> pd.DataFrame:
    """Return the means of a method over the seeds, by k or l."""
    part = found[(found["data"] == name) & (found["method"] == method)]
    return part.groupby(letter)[list(FIGURES)].mean()


def grown(sets: Itemsets, times: int, rng: np.random.Generator) -> Itemsets:
    """Duplicate records and exchange one item in twenty of each copy, as likely as it is frequent."""
    starts, held = sets.core.starts(), sets.core.items()
    rows = []
    for copy in range(times):
        for i in range(sets.n):
            items = set(held[starts[i] : starts[i + 1]].tolist())
            if copy:
                for item in list(items):
                    if rng.random() < 0.05:
                        items.discard(item)
                        items.add(int(held[rng.integers(len(held))]))
            rows.append(sorted(items))
    return Itemsets.from_lists(rows, items=range(sets.n_items))


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Give the shortest time of a few."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return float(best)


def times(chess: Itemsets, pumsb: Itemsets) -> tuple[dict[str, dict[int, float]], ...]:
    """Time extraction against k and size, and l-diversity against size."""
    order = nym.gray_order(pumsb)
    by_k = {m: {k: seconds(lambda k=k, m=m: _core.assign_ring(order, k, m, 1)) for k in KS} for m in METHODS}
    rng = np.random.default_rng(1)
    larger = {size: grown(chess, size, rng) for size in SIZES}
    orders = {size: nym.gray_order(sets) for size, sets in larger.items()}
    by_size = {
        m: {size: seconds(lambda size=size, m=m: _core.assign_ring(orders[size], 16, m, 1)) for size in SIZES}
        for m in METHODS
    }
    six = {label: next(each for each in methods if each.l == 6) for label, methods in WITH_L.items()}
    diverse = {
        label: {
            size: seconds(
                lambda size=size, how=how: how.apply(larger[size], sensitive(larger[size].n, 1), seed=1),
                1,
            )
            for size in SIZES
        }
        for label, how in six.items()
    }
    return by_k, by_size, diverse


def efforts(sets: Itemsets, k: int = 16) -> list[tuple[str, float, float]]:
    """Measure groups by how they are started and how long they are searched: processor seconds and error in percent."""
    found = []
    for label, how in EFFORTS.items():
        start = time.process_time()
        rel = nym.recode(sets, k=k, seed=1, **how)
        found.append((label, time.process_time() - start, 100 * rel.error_rate(expected=True)))
    return found


def picture_of_losses(found: pd.DataFrame, path: Path) -> None:
    """Draw error rates and query errors, as figure 6."""
    figure, panels = plt.subplots(2, 4, figsize=(16, 7.5), constrained_layout=True)
    for row, name in zip(panels, FILES, strict=True):
        for (letter, methods), (rate, query) in zip(BY.items(), (row[:2], row[2:]), strict=True):
            for label, colour in zip(methods, COLOURS, strict=False):
                line = series(found, name, label, letter)
                rate.plot(line.index, line["rate"], "o-", color=colour, label=label)
                query.plot(line.index, line["present"], "o-", color=colour, label=label)
                query.plot(line.index, line["absent"], "s--", color=colour, mfc="none")
            for panel in (rate, query):
                panel.set(xlabel=letter, xticks=line.index)
                panel.set_ylim(bottom=0)
                panel.grid(alpha=0.3)
            rate.set(title=f"{name}: error rate", ylabel="items flipped, % of a record's")
            query.set(title=f"{name}: query error", ylabel="% of records; — present, -- absent")
            rate.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def picture_of_times(found: tuple[dict[str, dict[int, float]], ...], n: int, path: Path) -> None:
    """Draw the times, as figure 7."""
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.5), constrained_layout=True)
    titles = ("extraction on pumsb", "extraction on chess × 1 to 16, k = 16", "l = 6 on chess × 1 to 16, all steps")
    for panel, series, title in zip(panels, found, titles, strict=True):
        for (label, line), colour in zip(series.items(), COLOURS[1:] if len(series) > 3 else COLOURS, strict=False):
            scale = 1 if "pumsb" in title else n
            panel.loglog([x * scale for x in line], list(line.values()), "o-", color=colour, label=label)
        panel.set(title=title, xlabel="k" if "pumsb" in title else "records", ylabel="seconds")
        panel.grid(alpha=0.3, which="both")
        panel.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def words(found: pd.DataFrame, timed: tuple[dict[str, dict[int, float]], ...]) -> dict[str, str]:
    """Compute what the text states."""

    def beats(better: str, worse: str, letter: str) -> pd.Series:
        index = ["data", letter, "seed"]
        laid = [found[found["method"] == name].set_index(index)[list(FIGURES)] for name in (better, worse)]
        return (laid[0] < laid[1]).all(axis=1)

    def chess(method: str, k: int) -> float:
        return float(series(found, "chess", method, "k").loc[k, "rate"])

    def falls(method: str, data: str) -> str:
        line = series(found, data, method, "k")
        return "falls" if (line.loc[4, ["present", "absent"]] < line.loc[2, ["present", "absent"]]).any() else "grows"

    gray, tsp, ring, groups = WITH_K
    by_k, by_size, diverse = timed
    walk, wmc = by_k["closed-walk"], by_k["wmc"]
    slower = [k for k in KS if walk[k] > wmc[k]]
    return {
        "runs": str(len(seeds(SEEDS))),
        "tsp": how_often(beats(tsp, gray, "k")),
        "cut_small": f"{1 - chess(tsp, 2) / chess(gray, 2):.0%}",
        "cut_large": f"{1 - chess(tsp, 32) / chess(gray, 32):.0%}",
        "walks": how_often(beats(*list(WITH_L)[1::-1], "l")),
        "least": how_often(pd.concat([found[found["method"] == groups].set_index(["data", "k", "seed"])["rate"]
                                      < found[found["method"] == other].set_index(["data", "k", "seed"])["rate"]
                                      for other in (gray, tsp, ring)], axis=1).all(axis=1)),
        "sixteen": f"{chess(ring, 16):.1f} and {chess(groups, 16):.1f} % against {chess(tsp, 16):.1f} %",
        "given_away": f"{1 - chess(groups, 16) / chess(tsp, 16):.0%}",
        "falls": "; ".join(f"{method} on {data} {falls(method, data)}" for method in (groups, gray) for data in FILES),
        "slower": ", ".join(map(str, slower)) or "no k",
        "faster": f"{walk[16] / by_k['augment'][16]:.0f} and {walk[16] / by_k['split'][16]:.0f}",
        "growth": f"{by_size['closed-walk'][16] / by_size['closed-walk'][1]:.0f}",
        "growth_diverse": f"{diverse[list(WITH_L)[1]][16] / diverse[list(WITH_L)[1]][1]:.0f}",
    }  # fmt: skip


def main(folder: str) -> None:
    """Write the page and its pictures."""
    data = {name: Itemsets.from_fimi(DATA / "fimi" / file) for name, file in FILES.items()}
    found = losses(data)
    timed = times(data["chess"], data["pumsb"])
    (CELLS / "times.json").write_text(json.dumps(timed))
    picture_of_losses(found, Path(folder, "item-sets-study.png"))
    picture_of_times(timed, data["chess"].n, Path(folder, "item-sets-study-time.png"))
    parts = words(found, timed)
    for name in data:
        for letter, methods in BY.items():
            laid = {label: series(found, name, label, letter) for label in methods}
            rows = [[label, *(" / ".join(f"{v:.3g}" for v in row) for row in line.to_numpy())]
                    for label, line in laid.items()]  # fmt: skip
            parts[f"{name}_{letter}"] = markdown(["", *(f"{letter} = {x}" for x in line_of(laid))], rows)
    for key, held, letter in zip(("by_k", "by_size", "diverse"), timed, ("k = {}", "× {}", "× {}"), strict=True):
        rows = [[label, *(f"{1000 * t:.3g}" for t in line.values())] for label, line in held.items()]
        parts[key] = markdown(["ms", *(letter.format(x) for x in next(iter(held.values())))], rows)
    larger = {"pumsb": data["pumsb"], "pumsb × 10": grown(data["pumsb"], 10, np.random.default_rng(1))}
    curves = [efforts(sets) for sets in larger.values()]
    rows = [
        [each[0][0], *(f"{spent:.3g} / {error:.2f}" for _, spent, error in each)] for each in zip(*curves, strict=True)
    ]
    parts["efforts"] = markdown(["start, effort", *larger], rows)
    fill("itemsets", parts, folder)


def line_of(laid: dict[str, pd.DataFrame]) -> list[int]:
    """Return what all lines are drawn against."""
    return [int(x) for x in next(iter(laid.values())).index]


if __name__ == "__main__":
    main(sys.argv[1])
