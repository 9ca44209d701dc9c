"""Mixed tables on real data, beside bounds and microaggregation: ``study_mixed.py folder`` writes the page.

Adult with its hierarchies, the diabetes encounters and the ICD-9-CM table are read from the folder that NOMINYM_DATA
names.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nominym as nym
from bounds import flow, semidefinite
from mdav import by_costs, of_points
from nominym.meaning import Meaning
from nominym.table import Table, attributes
from pages import DATA, fill, markdown, seeds

KS = (3, 5, 10)
SAMPLES = (1_000, 2_000)
PERCENT = (1.0, 5.0, 15.0)
ATTACKED = 5_000
FEW_VALUES = ("sex", "gender", "race")
SEEDS = seeds(3)
LIMIT = 1.12  # what strict groups are to stay within of the flow bound

Meanings = Mapping[str, Meaning]


def adult() -> tuple[pd.DataFrame, Meanings]:
    """Return the complete records of Adult's training file, and what seven of their columns mean."""
    frame = nym.datasets.load_adult(DATA / "adult").head(32_561).dropna().reset_index(drop=True)
    ranked = frame.groupby("education")["education-num"].first().sort_values().index.tolist()
    hierarchies = {
        name: nym.read_taxonomy(DATA / "adult" / "hierarchies" / f"adult_hierarchy_{name}.csv")
        for name in ("occupation", "native-country")
    }
    meanings = {"age": nym.Order(), "hours-per-week": nym.Order(), "education": nym.Order(ranked)}
    return frame, {**meanings, "sex": nym.Equality(), "race": nym.Equality(), **hierarchies}


def diabetes() -> tuple[pd.DataFrame, Meanings]:
    """Return the complete diabetes encounters, and what eight of their columns mean."""
    frame = nym.datasets.load_diabetes(DATA / "diabetes" / "diabetic_data.csv.gz")
    icd = nym.datasets.load_icd9(DATA / "icd" / "icd9cm_hierarchy.csv")
    bands = sorted(frame["age"].unique(), key=lambda band: int(band[1:].partition("-")[0]))
    meanings = {"age": nym.Order(bands), "time_in_hospital": nym.Order(), "num_medications": nym.Order()}
    meanings |= {"gender": nym.Equality(), "race": nym.Equality()} | dict.fromkeys(("diag_1", "diag_2", "diag_3"), icd)
    return frame.dropna(subset=list(meanings)).reset_index(drop=True), meanings


SOURCES: dict[str, Callable[[], tuple[pd.DataFrame, Meanings]]] = {"Adult": adult, "diabetes": diabetes}


# ---- losses, and what they cannot be below


def relative(frame: pd.DataFrame, meanings: Meanings) -> np.ndarray:
    """Measure squared distances of all pairs, in each column relative to their mean: columns × records × records."""
    parts = []
    for each in attributes(Table(frame[list(meanings)]), meanings).values():
        squares = each.distances[np.ix_(each.column.codes, each.column.codes)] ** 2
        parts.append(squares / squares.mean())
    return np.stack(parts)


def of_groups(parts: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Work out the loss of each column that groups give on average over their permutations."""
    total = np.zeros(len(parts))
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.cumsum(np.bincount(groups))[:-1]):
        total += parts[:, members][:, :, members].sum(axis=(1, 2)) / len(members)
    return np.sqrt(total / len(groups))


def pooled(losses: np.ndarray) -> float:
    return float(np.sqrt(np.mean(losses**2)))


def uneven(losses: np.ndarray) -> float:
    return float(losses.max() / losses.min())


def against_bounds(frame: pd.DataFrame, meanings: Meanings, name: str) -> tuple[list[list[str]], list[list[str]]]:
    """Compare the strict mode with lower bounds on samples: together, and column by column for the larger sample."""
    rows, each = [], []
    for n in SAMPLES:
        sample = frame.sample(n, random_state=0).reset_index(drop=True)[list(meanings)]
        parts = relative(sample, meanings)
        costs = parts.mean(axis=0)
        for k in KS:
            chosen = flow(costs, k)
            bound = np.sqrt(parts[:, chosen].mean(axis=1))
            strict, annealed = (
                of_groups(parts, nym.rank_swap(sample, meanings, k, anneal=longer, seed=0).secret.groups)
                for longer in (False, True)
            )
            mdav = of_groups(parts, by_costs(costs, k))
            lowest = float(np.sqrt(semidefinite(costs, k, chosen)))
            found = [pooled(losses) for losses in (strict, annealed, mdav)]
            assert pooled(bound) < lowest + 1e-6
            assert lowest < min(found)
            rows.append([name, f"{n:,}", str(k), *(f"{loss:.3f}" for loss in (pooled(bound), lowest, *found)),
                         f"{found[0] / pooled(bound):.3f}", f"{lowest / pooled(bound):.3f}",
                         *(f"{loss / lowest:.3f}" for loss in found), f"{uneven(bound):.1f}",
                         f"{uneven(strict):.1f}"])  # fmt: skip
            if n == SAMPLES[-1]:
                each += [
                    [name, str(k), column, f"{b:.3f}", f"{s:.3f}", f"{s / b:.2f}"]
                    for column, b, s in zip(meanings, bound, strict, strict=True)
                ]
    return rows, each


# ---- all records


def by_position(frame: pd.DataFrame, meanings: Meanings, name: str) -> pd.DataFrame:
    """Compare the mean losses of each column over all rotations of the columns: the largest over the smallest."""
    sample = frame.sample(SAMPLES[-1], random_state=0).reset_index(drop=True)
    names = list(meanings)

    def losses(k: int, first: int, seed: int) -> list[float]:
        rotated = {column: meanings[column] for column in names[first:] + names[:first]}
        figures = nym.rank_swap(sample[list(rotated)], rotated, k, seed=seed).summary["attributes"]
        return [figures[column]["expected_rmse"] for column in names]

    found = {}
    for k in KS:
        runs = np.array([[losses(k, first, seed) for seed in SEEDS] for first in range(len(names))])
        means = runs.mean(axis=1)
        # What chance alone does to such a ratio: the same, of means over as many runs dealt out anew.
        mixed = np.random.default_rng(0).permutation(runs.reshape(-1, len(names))).reshape(runs.shape).mean(axis=1)
        found[f"k = {k}, places"] = means.max(axis=0) / means.min(axis=0)
        found[f"k = {k}, chance"] = mixed.max(axis=0) / mixed.min(axis=0)
    return pd.DataFrame({"data": name, "column": names, **found})


def on_all_records(frame: pd.DataFrame, meanings: Meanings, name: str) -> tuple[list[list[str]], pd.DataFrame]:
    """Mask all records, and tell loss and change of correlations."""
    rows, losses = [], []
    spread = nym.rank_swap(frame[list(meanings)], meanings, method="random", seed=1).secret.summary["attributes"]
    for k in KS:
        begun = time.process_time()
        res = nym.rank_swap(frame[list(meanings)], meanings, k, seed=1, correlations=True)
        took = time.process_time() - begun
        told = res.summary["attributes"]
        lost = {column: told[column]["expected_rmse"] / spread[column]["rmse"] for column in meanings}
        losses += [{"data": name, "k": k, "column": column, "loss": loss} for column, loss in lost.items()]
        every = np.array(list(lost.values()))
        stay = np.mean([told[column]["expected_unchanged"] for column in meanings])
        change = res.secret.summary["correlations"]["difference"].abs()
        rows.append([name, f"{len(frame):,}", str(k), f"{pooled(every):.3f}", f"{every.min():.3f}–{every.max():.3f}",
                     f"{stay:.0%}", f"{change.mean():.4f}", f"{change.max():.4f}", f"{took:.1f} s"])  # fmt: skip
    return rows, pd.DataFrame(losses)


# ---- numbers alone, beside microaggregation and rank swapping

NUMBERS = {
    "Adult": ["age", "education-num", "hours-per-week"],
    "diabetes": ["time_in_hospital", "num_medications", "num_lab_procedures"],
}


def beside_microaggregation(frame: pd.DataFrame, name: str) -> list[list[str]]:
    """Compare groups of numbers by the variance inside them, relative to that of all (the SSE/SST of the field)."""
    columns = NUMBERS[name]
    frame = frame[columns].sample(min(len(frame), 30_162), random_state=0).reset_index(drop=True)
    points = frame.to_numpy(dtype=np.float64)
    points = (points - points.mean(axis=0)) / points.std(axis=0)

    def inside(groups: np.ndarray) -> float:
        table = pd.DataFrame(points)
        return float(((table - table.groupby(groups).transform("mean")) ** 2).to_numpy().sum() / points.size)

    rows = []
    for k in KS:
        begun = time.process_time()
        ours = inside(nym.rank_swap(frame, dict.fromkeys(columns, nym.Order()), k, seed=0).secret.groups)
        between = time.process_time()
        theirs = inside(of_points(points, k))
        took = (between - begun, time.process_time() - between)
        rows.append([name, f"{len(frame):,}", str(k), f"{theirs:.2%}", f"{ours:.2%}", f"{ours / theirs:.2f}",
                     *(f"{seconds:.1f} s" for seconds in reversed(took))])  # fmt: skip
    return rows


def beside_rank_swapping(frame: pd.DataFrame, name: str) -> list[list[str]]:
    """Compare strict groups with rank swapping of numbers: what is lost, and what attacks find."""
    columns = NUMBERS[name]
    frame = frame[columns].sample(ATTACKED, random_state=0).reset_index(drop=True)
    meanings = dict.fromkeys(columns, nym.Order())
    spread = nym.rank_swap(frame, meanings, method="random", seed=1).secret.summary["attributes"]
    made = {f"strict, k = {k}": nym.rank_swap(frame, meanings, k, seed=1, correlations=True) for k in KS}
    made |= {
        f"rank swapping, p = {p:g} %": nym.rank_swap(frame, meanings, p=p, method="numerical", seed=1,
                                                     correlations=True)
        for p in PERCENT
    }  # fmt: skip
    rows = []
    for how, res in made.items():
        summary = res.secret.summary
        lost = np.array([summary["attributes"][column]["rmse"] / spread[column]["rmse"] for column in columns])
        change = summary["correlations"]["difference"].abs()
        found = res.linkage().attacks
        bound = "nothing" if res.params["guarantee"] == "published" else f"{1 / res.params['k']:.1%}"
        rows.append([name, how, f"{pooled(lost):.3f}", f"{change.mean():.4f}", f"{found['share'].max():.1%}", bound])
    return rows


def of_rank_swapping(rows: list[list[str]]) -> dict[str, bool]:
    """Check what the text states on strict groups and rank swapping: loss, change of correlations, people found."""
    laid = pd.DataFrame(rows).set_index([0, 1])
    found = laid[[2, 3]].astype(float).assign(people=laid[4].str.rstrip("%").astype(float))
    same, larger = [], []
    for name in found.index.unique(level=0):
        strict = found.loc[name, f"strict, k = {KS[0]}"]
        swapped = [found.loc[name, f"rank swapping, p = {p:g} %"] for p in PERCENT]
        same.append(abs(swapped[0][2] / strict[2] - 1) < 0.1 and swapped[0][3] > strict[3]
                    and swapped[0]["people"] > strict["people"])  # fmt: skip
        larger += [b[2] > a[2] and b[3] > a[3] and b["people"] < a["people"] for a, b in pairwise(swapped)]
    return {"same_loss": all(same), "larger": all(larger)}


def picture(losses: pd.DataFrame, file: Path) -> None:
    """Draw the loss of each column by k."""
    fig, axes = plt.subplots(1, 2, figsize=(13, 4), layout="constrained", sharey=True)
    for axis, (name, part) in zip(axes, losses.groupby("data", sort=False), strict=True):
        for column, points in part.groupby("column", sort=False):
            axis.plot(points["k"], points["loss"], "o-", label=column)
        axis.set_xscale("log")
        axis.set_xticks(KS, [str(k) for k in KS])
        axis.minorticks_off()
        axis.set_xlabel("k")
        axis.set_title(f"{name}, all records")
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    axes[0].set_ylabel("loss, relative to a random permutation")
    fig.savefig(file, dpi=110)


def main(folder: str) -> None:
    """Write ``mixed-study.md`` and its picture."""
    warnings.simplefilter("ignore", nym.PrivacyWarning)
    bounds, each, places, whole, numbers, ranks, losses = [], [], [], [], [], [], []
    for name, load in SOURCES.items():
        frame, meanings = load()
        together, apart = against_bounds(frame, meanings, name)
        bounds += together
        each += apart
        places.append(by_position(frame, meanings, name))
        rows, lost = on_all_records(frame, meanings, name)
        whole += rows
        losses.append(lost)
        numbers += beside_microaggregation(frame, name)
        ranks += beside_rank_swapping(frame, name)
    picture(pd.concat(losses), Path(folder, "mixed-study.png"))
    standing = pd.concat(places)
    figures = standing.select_dtypes("number")
    by_place = [[*row[:2], *(f"{ratio:.2f}" for ratio in row[2:])] for row in standing.itertuples(index=False)]
    heads = {
        "bounds": "data; records; k; flow; semidefinite; strict; annealed; MDAV; strict / flow; semidefinite / flow; "
        "strict / semidefinite; annealed / semidefinite; MDAV / semidefinite; flow, uneven; strict, uneven",
        "columns": "data; k; column; flow; strict; strict / flow",
        "places": "; ".join(standing),
        "whole": "data; records; k; loss; of the columns; unchanged; change of correlations, mean; largest; CPU time",
        "numbers": "data; records; k; MDAV; strict; strict / MDAV; CPU time, MDAV; CPU time, strict",
        "ranks": "data; method; loss; change of correlations; found by the best attack; guaranteed",
    }
    tables = dict(zip(heads, (bounds, each, by_place, whole, numbers, ranks), strict=True))
    laid = pd.DataFrame(bounds, columns=heads["bounds"].split("; "))
    ratios = laid.filter(like=" / ").astype(float).assign(data=laid["data"])
    within = {name: f"{int((part <= LIMIT).sum())} of {len(part)} cases (at most {part.max():.3f})"
              for name, part in ratios.groupby("data")["strict / flow"]}  # fmt: skip
    parts = {name: markdown(heads[name].split("; "), rows) for name, rows in tables.items()}
    parts |= {"limit": f"{LIMIT}", "adult": within["Adult"], "diabetes": within["diabetes"], "seeds": f"{len(SEEDS)}",
              "most": f"{figures.filter(like='places').max().max():.2f}",
              "chance": f"{figures.filter(like='chance').max().max():.2f}"}  # fmt: skip
    wide = pd.DataFrame(each, columns=heads["columns"].split("; "))
    most = wide.assign(ratio=wide["strict / flow"].astype(float)).sort_values("ratio").groupby(["data", "k"]).last()
    apart = laid["flow, uneven"].astype(float) - laid["strict, uneven"].astype(float)
    parts |= {what: f"{100 * (ratios[column].max() - 1):.1f} %" for what, column in
              (("gap", "strict / semidefinite"), ("annealed_gap", "annealed / semidefinite"),
               ("slack", "semidefinite / flow"))}  # fmt: skip
    parts |= {"few": str(int(most["column"].isin(FEW_VALUES).sum())), "cases": str(len(most)),
              "uneven": str((apart > 0).sum()), "even": str((apart < 0).sum()),
              "all": str(len(apart))}  # fmt: skip
    fill("mixed", parts, folder, of_rank_swapping(ranks))


if __name__ == "__main__":
    main(*sys.argv[1:])
