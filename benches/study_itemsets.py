"""Recoding of set-valued records beside the figures of its paper, on chess and pumsb: ``study_itemsets.py folder``.

The records are read from the folder that NOMINYM_DATA names.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import nominym as nym
from nominym import _core
from nominym.itemsets import Itemsets, Release
from tables import markdown

DATA = Path(os.environ.get("NOMINYM_DATA", Path(__file__).parents[2] / "shared" / "data"))
FILES = {"chess": "chess.dat", "pumsb": "pumsb_first4334.dat"}
# Sizes of the queries for present and absent items, as in section 5.2.
QUERIES = {"chess": (3, 4), "pumsb": (1, 5)}
KS, LS, SIZES = (2, 4, 8, 16, 32), (2, 4, 6, 8, 10), (1, 2, 4, 8, 16)
SEEDS = 2
LABELS = 470
COLOURS = ("#999999", "#0072B2", "#009E73", "#D55E00", "#CC79A7")

WITH_K: dict[str, dict[str, Any]] = {
    "Gray (baseline)": {"order": "gray", "structure": "ring", "insiders": "accepted"},
    "Gray-TSP (published)": {"order": "gray-tsp", "structure": "ring", "insiders": "accepted"},
    "best ring": {"order": "best", "structure": "ring", "insiders": "accepted"},
    "groups": {"order": "best", "structure": "groups"},
}
WITH_L: dict[str, dict[str, Any]] = {
    "CAHD on Gray (baseline)": {"order": "gray", "structure": "cahd"},
    "greedy walk on Gray-TSP (published)": {"order": "gray-tsp", "structure": "ring", "insiders": "accepted"},
    "groups on Gray-TSP": {"order": "gray-tsp", "structure": "groups"},
}
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


def measured(rel: Release, sizes: tuple[int, int], seed: int) -> tuple[float, float, float]:
    """Give error rate and both query errors, in percent."""
    present = rel.query_error("present", sizes[0], seed=seed)
    absent = rel.query_error("absent", sizes[1], seed=seed)
    return 100 * rel.error_rate(expected=True), 100 * present, 100 * absent


def losses(name: str, sets: Itemsets) -> dict[str, dict[int, tuple[float, float, float]]]:
    """Measure every method at every k and l, as means over seeds."""
    found: dict[str, dict[int, tuple[float, float, float]]] = {}
    for label, how in WITH_K.items():
        found[label] = {}
        for k in KS:
            each = [measured(nym.recode(sets, k=k, seed=s, **how), QUERIES[name], s) for s in range(SEEDS)]
            found[label][k] = tuple(np.mean(each, axis=0))
    for label, how in WITH_L.items():
        found[label] = {}
        for l in LS:  # noqa: E741
            each = []
            for s in range(SEEDS):
                rel = nym.recode(sets, l=l, labels=sensitive(sets.n, s), seed=s, **how)
                each.append(measured(rel, QUERIES[name], s))
            found[label][l] = tuple(np.mean(each, axis=0))
    return found


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
    diverse = {
        label: {
            size: seconds(
                lambda size=size, how=how: nym.recode(
                    larger[size], l=6, labels=sensitive(larger[size].n, 1), seed=1, **how
                ),
                1,
            )
            for size in SIZES
        }
        for label, how in WITH_L.items()
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


def picture_of_losses(found: dict[str, dict], path: Path) -> None:
    """Draw error rates and query errors, as figure 6."""
    figure, panels = plt.subplots(2, 4, figsize=(16, 7.5), constrained_layout=True)
    for row, name in zip(panels, found, strict=True):
        for methods, (rate, query), letter in ((WITH_K, row[:2], "k"), (WITH_L, row[2:], "l")):
            for (label, series), colour in zip(((m, found[name][m]) for m in methods), COLOURS, strict=False):
                x = list(series)
                rate.plot(x, [v[0] for v in series.values()], "o-", color=colour, label=label)
                query.plot(x, [v[1] for v in series.values()], "o-", color=colour, label=label)
                query.plot(x, [v[2] for v in series.values()], "s--", color=colour, mfc="none")
            for panel in (rate, query):
                panel.set(xlabel=letter, xticks=x)
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


def main(folder: Path) -> None:
    """Write the page and its pictures."""
    data = {name: Itemsets.from_fimi(DATA / "fimi" / file) for name, file in FILES.items()}
    found = {name: losses(name, sets) for name, sets in data.items()}
    timed = times(data["chess"], data["pumsb"])
    picture_of_losses(found, folder / "item-sets-study.png")
    picture_of_times(timed, data["chess"].n, folder / "item-sets-study-time.png")
    parts: dict[str, str] = {}
    for name in data:
        for letter, methods, values in (("k", WITH_K, KS), ("l", WITH_L, LS)):
            rows = [
                [label, *(" / ".join(f"{v:.3g}" for v in found[name][label][x]) for x in values)] for label in methods
            ]
            parts[f"{name}_{letter}"] = markdown(["", *(f"{letter} = {x}" for x in values)], rows)
    for key, series, letter in zip(("by_k", "by_size", "diverse"), timed, ("k = {}", "× {}", "× {}"), strict=True):
        rows = [[label, *(f"{1000 * t:.3g}" for t in line.values())] for label, line in series.items()]
        parts[key] = markdown(["ms", *(letter.format(x) for x in next(iter(series.values())))], rows)
    larger = {"pumsb": data["pumsb"], "pumsb × 10": grown(data["pumsb"], 10, np.random.default_rng(1))}
    curves = [efforts(sets) for sets in larger.values()]
    rows = [
        [each[0][0], *(f"{spent:.3g} / {error:.2f}" for _, spent, error in each)] for each in zip(*curves, strict=True)
    ]
    parts["efforts"] = markdown(["start, effort", *larger], rows)
    page = (Path(__file__).parent / "study_itemsets.md").read_text("utf-8")
    for key, text in parts.items():
        page = page.replace("{" + key + "}", text)
    (folder / "item-sets-study.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
