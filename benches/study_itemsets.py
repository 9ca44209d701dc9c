"""Recoding of set-valued records beside the figures of its paper, on chess and pumsb: ``study_itemsets.py folder``.

The records are read from the folder that NOMINYM_DATA names.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
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
from pages import CELLS, COLOURS, DATA, fill, half, how_often, listed, markdown, run, seeds, spread

FILES = {"chess": "chess.dat", "pumsb": "pumsb_first4334.dat"}
# Sizes of the queries for present and absent items, as in section 5.2.
QUERIES = {"chess": (3, 4), "pumsb": (1, 5)}
KS, LS, SIZES = (2, 4, 8, 16, 32), (2, 4, 6, 8, 10), (1, 2, 4, 8, 16)
SEEDS = 5
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
    **{f"tree, stopped after {limit:g} s": {"effort": "long", "limit": limit} for limit in (0.25, 1, 4)},
    "tree, usual": {},
}
COPIES = 3  # how many times pumsb, in the larger records for efforts
METHODS = ("closed-walk", "wmc", "augment", "split")
TIMED = 3  # seeds of what is timed
EXTRACTED = 10  # seeds of extraction by k, where single runs of backtracking take much longer than others
PUMSB = 49_046  # records of pumsb in the paper: a ring depends on their number and on k alone


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


def series(found: pd.DataFrame, name: str, method: str, letter: str, how: Any = "mean") -> pd.DataFrame:
    """Return the means of a method over the seeds, or another figure of them, by k or l."""
    part = found[(found["data"] == name) & (found["method"] == method)]
    return part.groupby(letter)[list(FIGURES)].agg(how)


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


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work, which other programs change less than the time on the clock."""
    start = time.process_time()
    work()
    return time.process_time() - start


Times = dict[str, dict[int, list[float]]]
"""Seconds by method, and by k or size: one for each seed."""


def times(chess: Itemsets) -> tuple[Times, Times, Times]:
    """Time extraction against k and size, and l-diversity against size, with every seed."""

    def every(
        names: Iterable[str], along: Iterable[int], work: Callable[[str, int, int], object], count: int = TIMED
    ) -> Times:
        return {name: {x: [seconds(lambda s=s, x=x, name=name: work(name, x, s)) for s in seeds(count)] for x in along}
                for name in names}  # fmt: skip

    order = np.arange(PUMSB, dtype=np.uint32)
    by_k = every(METHODS, KS, lambda method, k, seed: _core.assign_ring(order, k, method, seed), EXTRACTED)
    rng = np.random.default_rng(1)
    larger = {size: grown(chess, size, rng) for size in SIZES}
    orders = {size: nym.gray_order(sets) for size, sets in larger.items()}
    by_size = every(METHODS, SIZES, lambda method, size, seed: _core.assign_ring(orders[size], 16, method, seed))
    labels = {(size, seed): sensitive(sets.n, seed) for size, sets in larger.items() for seed in seeds(TIMED)}
    six = {label: next(each for each in WITH_L[label] if each.l == 6) for label in list(WITH_L)[:2]}
    diverse = every(six, SIZES, lambda how, size, seed: six[how].apply(larger[size], labels[size, seed], seed=seed))
    return by_k, by_size, diverse


def stored_times() -> tuple[Times, ...]:
    """Return the times that the study measured last."""
    kept = json.loads((CELLS / "times.json").read_text())
    return tuple({name: {int(x): t for x, t in line.items()} for name, line in part.items()} for part in kept)


def efforts(data: dict[str, Itemsets], k: int = 16) -> pd.DataFrame:
    """Measure groups by how they are started and how long they are searched: processor seconds and error in percent."""
    found = []
    for name, sets in data.items():
        for label, how in EFFORTS.items():
            for seed in seeds(TIMED):
                start = time.process_time()
                rel = nym.recode(sets, k=k, seed=seed, **how)
                spent = time.process_time() - start
                found.append((name, label, seed, spent, 100 * rel.error_rate(expected=True)))
    return pd.DataFrame(found, columns=["data", "effort", "seed", "seconds", "error"])


def picture_of_efforts(found: pd.DataFrame, path: Path) -> None:
    """Draw error against processor time, run by run: how far a search came until it was stopped is in its time."""
    marks = {
        "none": ("s", "start alone"),
        "usual": ("o", "usual search"),
        "stopped": ("x", "search stopped by a limit"),
    }
    figure, panels = plt.subplots(1, 2, figsize=(12, 4.5), constrained_layout=True)
    for panel, (name, part) in zip(panels, found.groupby("data", sort=False), strict=True):
        for start, colour in zip(("Gray-TSP", "tree"), COLOURS, strict=False):
            for kind, (mark, what) in marks.items():
                runs = part[part["effort"].str.startswith(f"{start}, {kind}")]
                if len(runs):
                    panel.plot(runs["seconds"], runs["error"], mark, color=colour, label=f"{start}: {what}")
        panel.set(title=f"{name}, k = 16", xlabel="seconds of processor time", ylabel="error rate, %", xscale="log")
        ticks = [t for t in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if t <= 1.5 * part["seconds"].max()
                 and t >= part["seconds"].min() / 1.5]  # fmt: skip
        panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[1].legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def picture_of_losses(found: pd.DataFrame, path: Path) -> None:
    """Draw error rates and query errors, as figure 6."""
    figure, panels = plt.subplots(2, 4, figsize=(16, 7.5), constrained_layout=True)
    for row, name in zip(panels, FILES, strict=True):
        for (letter, methods), (rate, query) in zip(BY.items(), (row[:2], row[2:]), strict=True):
            for label, colour in zip(methods, COLOURS, strict=False):
                line, bars = series(found, name, label, letter), series(found, name, label, letter, half)
                look = {"color": colour, "capsize": 2}
                rate.errorbar(line.index, line["rate"], bars["rate"], fmt="o-", label=label, **look)
                query.errorbar(line.index, line["present"], bars["present"], fmt="o-", label=label, **look)
                query.errorbar(line.index, line["absent"], bars["absent"], fmt="s--", mfc="none", **look)
            for panel in (rate, query):
                panel.set(xlabel=letter, xticks=line.index)
                panel.set_ylim(bottom=0)
                panel.grid(alpha=0.3)
            rate.set(title=f"{name}: error rate", ylabel="items flipped, % of a record's")
            query.set(title=f"{name}: query error", ylabel="% of records; — present, -- absent")
            rate.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def picture_of_times(found: tuple[Times, ...], n: int, path: Path) -> None:
    """Draw the times, as figure 7; bars are confidence intervals."""
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.5), constrained_layout=True)
    titles = (f"extraction from {PUMSB:,} records, as many as pumsb", "extraction on chess × 1 to 16, k = 16",
              "l = 6 on chess × 1 to 16, all steps")  # fmt: skip
    for panel, series, title in zip(panels, found, titles, strict=True):
        for (label, line), colour in zip(series.items(), COLOURS[1:] if len(series) > 3 else COLOURS, strict=False):
            scale = 1 if "pumsb" in title else n
            mean, bars = [np.mean(t) for t in line.values()], [half(pd.Series(t)) for t in line.values()]
            panel.errorbar([x * scale for x in line], mean, bars, fmt="o-", color=colour, capsize=2, label=label)
        panel.loglog()
        panel.set(title=title, xlabel="k" if "pumsb" in title else "records", ylabel="seconds of processor time")
        panel.grid(alpha=0.3, which="both")
        panel.legend(fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def words(found: pd.DataFrame, timed: tuple[Times, ...], curve: pd.DataFrame) -> dict[str, str]:
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
    by_k, by_size, diverse = ({name: {x: float(np.mean(t)) for x, t in line.items()} for name, line in each.items()}
                              for each in timed)  # fmt: skip
    walk, (cahd, published, _) = by_k["closed-walk"], WITH_L
    spent = curve.groupby(["data", "effort"])[["seconds", "error"]].mean()
    start, usual = (spent.xs(effort, level="effort") for effort in ("tree, none", "tree, usual"))
    stopped = spent.xs("tree, stopped after 1 s", level="effort")
    early = {data: ((start.loc[data, "error"] - at["error"]) / (start - usual).loc[data, "error"],
                    at["seconds"] - start.loc[data, "seconds"]) for data, at in stopped.iterrows()}  # fmt: skip
    tsp_start, tsp_usual = (spent.xs(effort, level="effort") for effort in ("Gray-TSP, none", "Gray-TSP, usual"))
    return {
        "seeds": listed(SEEDS),
        "timed": listed(TIMED),
        "extracted": listed(EXTRACTED),
        "slowest": f"{max(max(t) / np.median(t) for t in timed[0]['wmc'].values()):.1f}",
        "slowest_walk": f"{max(max(t) / np.median(t) for t in timed[0]['closed-walk'].values()):.1f}",
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
        "extraction": how_often(faster(timed[0])) + " by k and " + how_often(faster(timed[1])) + " by size",
        "against": f"{_ratio(timed[0], 16)} on {PUMSB:,} records and {_ratio(timed[1], 16)} on chess × 16",
        "faster": f"{walk[16] / by_k['augment'][16]:.0f} and {walk[16] / by_k['split'][16]:.0f}",
        "growth": f"{by_size['closed-walk'][16] / by_size['closed-walk'][1]:.0f}",
        "growth_diverse": f"{diverse[published][16] / diverse[published][1]:.0f}",
        "growth_cahd": f"{diverse[cahd][16] / diverse[cahd][1]:.0f}",
        "diverse_factor": f"{diverse[published][16] / diverse[cahd][16]:.0f}",
        "searched": " and ".join(f"{gain['error']:.1f} points in {-gain['seconds']:.0f} s on {data}"
                                 for data, gain in (start - usual).iterrows()),
        "early": " and ".join(f"{share:.0%} of that in {took:.1f} s on {data}"
                              for data, (share, took) in early.items()),
        "copies": str(COPIES),
        "more_copies": {2: "one", 3: "two", 4: "three", 5: "four"}[COPIES],
        "started": " and ".join(f"{tsp_usual.loc[d, 'error'] - usual.loc[d, 'error']:.2f} points ({d})"
                                for d in start.index),
        "started_time": " and ".join(f"{tsp_start.loc[d, 'seconds']:.1f} against {start.loc[d, 'seconds']:.1f} s"
                                     for d in start.index),
    }  # fmt: skip


def faster(timed: Times) -> pd.Series:
    """Tell whether closed walks took less time than backtracking, for every point and seed."""
    walk, wmc = (np.array(list(timed[name].values())) for name in ("closed-walk", "wmc"))
    return pd.Series((walk < wmc).ravel())


def _ratio(timed: Times, x: int) -> str:
    """Write how many times as long closed walks took as backtracking, with the same seeds."""
    return spread(pd.Series(timed["closed-walk"][x]) / pd.Series(timed["wmc"][x]), "{:.1f}")


def main(folder: str) -> None:
    """Write the page and its pictures."""
    data = {name: Itemsets.from_fimi(DATA / "fimi" / file) for name, file in FILES.items()}
    found = losses(data)
    timed = times(data["chess"])
    (CELLS / "times.json").write_text(json.dumps(timed))
    picture_of_losses(found, Path(folder, "item-sets-study.png"))
    picture_of_times(timed, data["chess"].n, Path(folder, "item-sets-study-time.png"))
    copied = grown(data["pumsb"], COPIES, np.random.default_rng(1))
    curve = efforts({"pumsb": data["pumsb"], f"pumsb × {COPIES}": copied})
    picture_of_efforts(curve, Path(folder, "item-sets-study-effort.png"))
    parts = words(found, timed, curve)
    for name in data:
        for letter, methods in BY.items():
            rows = []
            for label in methods:
                part = found[(found["data"] == name) & (found["method"] == label)].groupby(letter)
                cells = [" / ".join(spread(each[figure], "{:.2f}") for figure in FIGURES) for _, each in part]
                rows.append([label, *cells])
            parts[f"{name}_{letter}"] = markdown(["", *(f"{letter} = {x}" for x in (KS, LS)[letter == "l"])], rows)
    for key, held, letter in zip(("by_k", "by_size", "diverse"), timed, ("k = {}", "× {}", "× {}"), strict=True):
        rows = [
            [label, *(spread(1000 * pd.Series(t), "{:.3g}") for t in line.values())] for label, line in held.items()
        ]
        parts[key] = markdown(["ms", *(letter.format(x) for x in next(iter(held.values())))], rows)
    by = curve.groupby(["data", "effort"], sort=False)
    cells = by.apply(lambda each: f"{spread(each['seconds'], '{:.2g}')} s / {spread(each['error'], '{:.2f}')} %")
    laid = cells.unstack("data").reindex(columns=curve["data"].unique(), index=list(EFFORTS))
    parts["efforts"] = markdown(["start, effort", *laid], [[label, *row] for label, row in laid.iterrows()])
    fill("itemsets", parts, folder)


if __name__ == "__main__":
    main(sys.argv[1])
