"""What adversaries find, method by method, and what constraints cost: ``study_guarantees.py folder`` fills the tables.

The page is guarantees.md; the tables stand in it between comments. Diabetes encounters and the ICD-9-CM table are read
from the folder that NOMINYM_DATA names; without them, synthetic discharges stand in, which the page says.
"""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import nominym as nym
from pages import listed, markdown, spread

DATA = Path(os.environ.get("NOMINYM_DATA", Path(__file__).parents[2] / "shared" / "data"))
K = 10
SEEDS = 3
RECORDS = 5_000
INSIDERS = 20
ROWS = ("nearest row", "equal rows", "one-to-one recoding", "best matching")

Columns = Mapping[Any, nym.Taxonomy]


def table() -> tuple[pd.DataFrame, Columns, list[str], str]:
    """Return records, what their masked columns mean, the kept columns, and where they come from."""
    if (DATA / "diabetes" / "diabetic_data.csv.gz").exists():
        icd = nym.datasets.load_icd9(DATA / "icd" / "icd9cm_hierarchy.csv")
        frame = nym.datasets.load_diabetes(DATA / "diabetes" / "diabetic_data.csv.gz")
        kept = ["age", "gender", "medical_specialty"]
        name = "diabetes encounters (UCI)"
        return frame, {"diag_1": icd, "diag_2": icd}, kept, name
    frame, taxonomies = nym.datasets.discharges(100_000, seed=1)
    masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    return frame, masked, ["age_group", "sex", "length_of_stay"], "synthetic discharges"


def methods(masked: Columns) -> dict[str, tuple[Callable[[pd.DataFrame, int], nym.Result], str]]:
    """Return what to apply to a frame and a seed, and what is guaranteed, by name."""

    def swap(**how: Any) -> Callable[[pd.DataFrame, int], nym.Result]:
        return lambda frame, seed: nym.rank_swap(frame, masked, seed=seed, **how)

    def noise(**how: Any) -> Callable[[pd.DataFrame, int], nym.Result]:
        return lambda frame, seed: nym.add_noise(frame, masked, seed=seed, **how)

    return {
        f"strict, k = {K}": (swap(k=K), f"1/{K}, kept columns unknown"),
        f"strict, joint, k = {K}": (swap(k=K, draw="joint"), f"1/{K}, kept columns unknown"),
        f"SRS-1, k = {K}": (swap(k=K, method="fixed"), "nothing"),
        f"SRS-2, k = {K}": (swap(k=K, method="dynamic"), "nothing"),
        f"SRS-3, k = {K}": (swap(k=K, method="records"), "nothing"),
        "noise, α = 0.3": (noise(alpha=0.3), "nothing"),
        "noise, α = 1": (noise(alpha=1.0), "nothing"),
        "exponential, ε = 5": (noise(method="exponential", epsilon=5.0), "ε for each value; no row"),
        "data swapping, 20 %": (
            lambda frame, seed: nym.data_swap(frame, list(masked), rate=0.2, seed=seed), "nothing"
        ),
    }  # fmt: skip


def share(values: list[float]) -> str:
    return f"{spread(100 * pd.Series(values), '{:.1f}')} %" if values and not np.isnan(values).all() else "–"


def tables_attacked(frame: pd.DataFrame, masked: Columns, kept: list[str]) -> str:
    """Attack every method with what the adversary knows growing from masked to all columns."""
    rows = []
    for name, (apply, guaranteed) in methods(masked).items():
        found: dict[str, list[float]] = {}
        for seed in range(SEEDS):
            sample = frame.sample(min(RECORDS, len(frame)), random_state=seed).reset_index(drop=True)[[*masked, *kept]]
            linkage = apply(sample, seed).linkage(k=K)
            alone = linkage.attacks[linkage.attacks["also_known"].map(len) == 0]
            for attack in ROWS:
                found.setdefault(attack, []).append(alone.loc[alone["attack"] == attack, "share"].max())
            informed = alone.loc[alone["attack"] == "informed adversary", "share"]
            found.setdefault("informed", []).append(informed.max() if len(informed) else np.nan)
            everything = linkage.attacks["also_known"].map(len) == len(kept)
            found.setdefault("all", []).append(linkage.attacks.loc[everything, "share"].max())
            found.setdefault("worst", []).append(alone["above_half"].astype(float).max())
        rows.append([name, *(share(values) for values in found.values()), guaranteed])
    head = [
        "method",
        *nym.risk.ATTACKS[:-2],
        "informed adversary",
        "kept columns known too",
        "people above ½",
        "guaranteed",
    ]
    return markdown(head, rows)


def sets_attacked() -> str:
    """Attack recoded item sets, with and without insiders."""
    sets, _ = nym.datasets.baskets(5_000, seed=1, items=200)
    how: dict[str, dict[str, Any]] = {f"groups, k = {k}": {"k": k} for k in (4, 8)}
    how |= {f"ring, k = {k}": {"k": k, "structure": "ring", "insiders": "accepted"} for k in (2, 4, 6, 8)}
    rows = []
    for name, options in how.items():
        means: dict[int, list[float]] = {0: [], 1: [], INSIDERS: []}
        for seed in range(SEEDS):
            rel = nym.recode(sets, seed=seed, order="gray", **options)
            for insiders, mean in means.items():
                mean.append(nym.risk.worlds(rel, sets, insiders=insiders, sample=2_000, seed=seed).posterior["mean"])
        k = options["k"]
        guaranteed = f"1/{k}, no row known" if "structure" not in options else "nothing against insiders"
        rows.append([name, f"{1 / k:.1%}", *(share(mean) for mean in means.values()), guaranteed])
    head = ["method", "1/k", "no insider", "one insider", f"{INSIDERS} insiders", "guaranteed"]
    return markdown(head, rows)


def labels_guessed() -> str:
    """Guess labels knowing the rule: twins with the same items are parted only if their labels are the same."""
    pairs, n_items, n_labels, same = 300, 60, 30, 0.3
    rows = []
    for least in (2, 3, 4):
        guessed = []
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            drawn = [sorted(rng.choice(n_items, 8, replace=False).tolist()) for _ in range(pairs)]
            first = rng.integers(n_labels, size=pairs)
            labels = np.append(first, np.where(rng.random(pairs) < same, first, rng.integers(n_labels, size=pairs)))
            sets = nym.Itemsets.from_lists(drawn * 2, items=range(n_items))
            rel = nym.recode(sets, l=least, labels=labels, order="gray", seed=seed)
            group_of = rel.secret.graph.group_of
            shown = [set(rel.labels[rel.secret.row_of[group_of == g]].tolist()) for g in range(group_of.max() + 1)]
            right = []
            for i in range(pairs):
                own, other = shown[group_of[i]], shown[group_of[i + pairs]]
                if group_of[i] != group_of[i + pairs]:
                    likely = own & other or own
                    right.append((labels[i] in likely) / len(likely))
            guessed.append(float(np.mean(right)))
        rows.append(
            [f"groups, l = {least}", f"{1 / least:.1%}", share(guessed), f"{least} labels in a group, no belief"]
        )
    return markdown(["method", "1/l", "label of parted twins guessed", "guaranteed"], rows)


def costs(frame: pd.DataFrame, masked: Columns) -> str:
    """Compare loss and processor time, the less of two runs, with and without persons and sensitive columns."""
    person = "patient_nbr" if "patient_nbr" in frame else "person"
    rng = np.random.default_rng(1)
    frame = frame[[*masked, *([person] if person in frame else [])]].assign(
        status=rng.choice(list("abcde"), len(frame), p=[0.3, 0.25, 0.2, 0.15, 0.1])
    )
    if person not in frame:
        frame[person] = rng.integers(0, len(frame) * 7 // 10, len(frame))
    variants: dict[str, dict[str, Any]] = {
        "none": {},
        "persons": {"person": person},
        "sensitive, l = 2": {"sensitive": {"status": 2}},
        "sensitive, l = 3": {"sensitive": {"status": 3}},
        "persons, and sensitive, l = 3": {"person": person, "sensitive": {"status": 3}},
    }
    rows = []
    for k in (5, 10):
        base: tuple[float, float] | None = None
        for name, options in variants.items():
            table = frame if "person" in options else frame.drop(columns=person)
            times = []
            for _ in range(2):
                begun = time.process_time()
                res = nym.rank_swap(table, masked, k=k, seed=1, **options)
                times.append(time.process_time() - begun)
            took = min(times)
            rmse = float(np.mean([each["expected_rmse"] for each in res.summary["attributes"].values()]))
            base = base or (rmse, took)
            sizes = res.summary["groups"]
            rows.append([str(k), name, f"{rmse:.4f}", f"{rmse / base[0]:.3f}", f"{took:.1f} s", f"{took / base[1]:.2f}",
                         f"{sizes['smallest']}–{sizes['largest']}"])  # fmt: skip
    return markdown(
        ["k", "constraint", "RMSE", "against none", "processor time", "against none", "sizes of groups"], rows
    )


def filled(page: str, name: str, text: str) -> str:
    """Put a table between its comments."""
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
    if not place.search(page):
        raise SystemExit(f"the page has no place for {name!r}")
    return place.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)


def main(folder: str) -> None:
    """Fill the tables of the page in a folder."""
    warnings.simplefilter("ignore", nym.PrivacyWarning)
    file = Path(folder, "guarantees.md")
    page = file.read_text(encoding="utf-8")
    frame, masked, kept, name = table()
    source = (
        f"{min(RECORDS, len(frame)):,} records drawn from {len(frame):,} {name}, {' and '.join(masked)} masked, "
        f"{', '.join(kept)} kept; means over {listed(SEEDS)}, ± half the width of the 95 % confidence interval "
        "(Student's t)."
    )
    page = filled(page, "attacks on tables", f"{source}\n\n{tables_attacked(frame, masked, kept)}")
    page = filled(page, "attacks on item sets", f"{sets_attacked()}\n\n{labels_guessed()}")
    page = filled(page, "cost of constraints", f"{len(frame):,} {name}.\n\n{costs(frame, masked)}")
    file.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
