"""Microaggregation beside its peers: ``study_aggregate.py folder`` writes the page.

Adult with its hierarchies is read from the folder that NOMINYM_DATA names.
"""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

import nominym as nym
from mdav import of_concepts, of_points
from nominym.aggregate import aggregated, squares
from nominym.groups import Partition
from nominym.meaning import Meaning
from nominym.table import Table, attributes
from pages import markdown

DATA = Path(os.environ.get("NOMINYM_DATA", Path(__file__).parents[2] / "shared" / "data"))
KS = (3, 5, 10)
FEATURE = "taxonomic-feature"
SEMANTIC = ("workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")
# Published: Sánchez, Martínez, Domingo-Ferrer, Soria-Comas, Batet: µ-ANT, Bioinformatics 36 (2020).
MU_ANT = {3: "1.141", 10: "1.440"}
SIZES = (10_000, 100_000, 1_000_000)

Meanings = Mapping[str, Meaning]


def adult() -> tuple[pd.DataFrame, Meanings]:
    """Return the complete records of Adult's training file, and the taxonomies of seven columns."""
    frame = nym.datasets.load_adult(DATA / "adult").head(32_561).dropna().reset_index(drop=True)
    folder = DATA / "adult" / "hierarchies"
    return frame, {name: nym.read_taxonomy(folder / f"adult_hierarchy_{name}.csv") for name in SEMANTIC}


def lost(frame: pd.DataFrame, meanings: Meanings, groups: np.ndarray, **how: str) -> float:
    """Return the sum of squared distances that the means of some groups give, by the number of records."""
    numbers = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.uint32)
    parts = Partition(numbers, np.argsort(numbers, kind="stable").astype(np.uint32))
    columns = attributes(Table(frame[list(meanings)]), meanings, **how)
    return sum(squares(aggregated(each, parts, common=False)) for each in columns.values()) / len(frame)


def timed(work: object, *given: object) -> tuple[object, float]:
    """Return a result, and the CPU seconds that it took."""
    begun = time.process_time()
    found = work(*given)
    return found, time.process_time() - begun


def on_adult(frame: pd.DataFrame, meanings: Meanings) -> list[list[str]]:
    """Mask the seven semantic columns of all records."""
    rows, table = [], frame[list(meanings)]
    for k in KS:
        means, took = timed(lambda k=k: nym.microaggregate(table, meanings, k, measure=FEATURE))
        common = nym.microaggregate(table, meanings, k, measure=FEATURE, replace="subsumer")
        smallest = nym.risk.classes(means.data, list(meanings)).smallest
        figures = [f"{res.secret.summary[name]:{form}}" for res in (means, common) for name, form in (("sse", ".3f"),
                   ("loss", ".1%"))]  # fmt: skip
        rows.append([str(k), *figures, str(smallest), MU_ANT.get(k, "–"), f"{took:.1f} s"])
    return rows


def beside_semantic_mdav(frame: pd.DataFrame, meanings: Meanings) -> list[list[str]]:
    """Compare with semantic MDAV, by the same distances and means, on samples that it can bear."""
    rows = []
    for n in (1_000, 5_000):
        sample = frame.sample(n, random_state=0).reset_index(drop=True)[list(meanings)]
        parts, codes = [], []
        for each in attributes(Table(sample), meanings, FEATURE).values():
            rest = np.setdiff1d(np.arange(len(each.space), dtype=np.uint32), each.places)
            every = np.concatenate([each.places, rest])
            parts.append(each.space.matrix(every)[: each.size] ** 2)
            codes.append(each.column.codes)
        for k in KS:
            groups, theirs = timed(of_concepts, parts, codes, k)
            res, ours = timed(lambda k=k, sample=sample: nym.microaggregate(sample, meanings, k, measure=FEATURE))
            found = res.secret.summary["sse"]
            mdav = lost(sample, meanings, groups, measure=FEATURE)
            rows.append([f"{n:,}", str(k), f"{mdav:.4f}", f"{found:.4f}", f"{found / mdav:.2f}", f"{theirs:.1f} s",
                         f"{ours:.1f} s"])  # fmt: skip
    return rows


def beside_mdav() -> list[list[str]]:
    """Compare with MDAV on standardized normal numbers."""
    rows = []
    for n, columns in ((1_000, 2), (1_000, 8), (10_000, 2), (10_000, 8)):
        points = np.random.default_rng(0).normal(size=(n, columns))
        points = (points - points.mean(axis=0)) / points.std(axis=0)
        frame = pd.DataFrame(points, columns=[f"x{i}" for i in range(columns)])
        for k in KS:
            groups, theirs = timed(of_points, points, k)
            res, ours = timed(lambda k=k, frame=frame: nym.microaggregate(frame, dict.fromkeys(frame, nym.Order()), k))
            peer = frame - frame.groupby(groups).transform("mean")
            loss = [float((each**2).to_numpy().sum()) / points.size for each in (peer, frame - res.data)]
            rows.append([f"{n:,}", str(columns), str(k), *(f"{each:.2%}" for each in loss), f"{loss[1] / loss[0]:.2f}",
                         f"{theirs:.1f} s", f"{ours:.1f} s"])  # fmt: skip
    return rows


def best_squares(values: np.ndarray, k: int) -> float:
    """Return the smallest sum of squares of groups of at least k numbers, as in Hansen and Mukherjee (2003)."""
    values = np.sort(values)
    least = [0.0] + [math.inf] * len(values)
    for end in range(k, len(values) + 1):
        for start in range(max(0, end - 2 * k + 1), end - k + 1):
            if least[start] < math.inf:
                group = values[start:end]
                least[end] = min(least[end], least[start] + float(((group - group.mean()) ** 2).sum()))
    return least[-1]


def of_one_number() -> list[list[str]]:
    """Compare groups of one column with the best there are."""
    rows = []
    for n in (1_000, 5_000):
        values = np.random.default_rng(1).exponential(size=n)
        for k in KS:
            best, theirs = timed(best_squares, values, k)
            res, ours = timed(lambda k=k, values=values: nym.microaggregate({"x": values}, {"x": nym.Order()}, k))
            found = float(((values - res.data["x"]) ** 2).sum())
            rows.append([f"{n:,}", str(k), f"{found / best:.9f}", f"{theirs:.2f} s", f"{ours:.2f} s"])
    return rows


def growth() -> list[list[str]]:
    """Time tables of a growing size: three diagnoses of a taxonomy, and a number."""
    rows = []
    for n in SIZES:
        frame, taxonomies = nym.datasets.discharges(n, seed=1)
        table = frame[[*taxonomies, "length_of_stay"]]
        meanings = {**taxonomies, "length_of_stay": nym.Order()}
        methods = [nym.Microaggregate(5), nym.Microaggregate(5, "subsumer"), nym.RankSwap(5)]
        seconds = [timed(method.apply, table, meanings)[1] for method in methods]
        rows.append([f"{n:,}", *(f"{each:.1f} s" for each in seconds)])
    return rows


HEADS = {
    "adult": "k; SSE, means; loss; SSE, subsumers; loss; smallest class; µ-ANT, published SSE; CPU time, means",
    "semantic": "records; k; semantic MDAV, SSE; nominym, SSE; ratio; CPU time, MDAV; CPU time, nominym",
    "numbers": "records; columns; k; MDAV, loss; nominym, loss; ratio; CPU time, MDAV; CPU time, nominym",
    "one": "records; k; SSE by the smallest; CPU time, naive; CPU time, nominym",
    "growth": "records; CPU time, means; subsumers; strict swapping",
}


def main(folder: str) -> None:
    """Write ``aggregation-study.md``."""
    warnings.simplefilter("ignore", nym.PrivacyWarning)
    frame, meanings = adult()
    tables = {
        "adult": on_adult(frame, meanings),
        "semantic": beside_semantic_mdav(frame, meanings),
        "numbers": beside_mdav(),
        "one": of_one_number(),
        "growth": growth(),
    }
    text = Path(__file__).with_name("study_aggregate.md").read_text(encoding="utf-8")
    for name, rows in tables.items():
        text = text.replace(f"{{{name}}}", markdown(HEADS[name].split("; "), rows))
    Path(folder, "aggregation-study.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
