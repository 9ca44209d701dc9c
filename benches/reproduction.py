"""Everything that the five papers print, ours beside theirs, with a verdict: ``reproduction.py folder``.

It takes the cells that the studies have stored, and runs what is missing.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

import nominym as nym
import study_data_swap
import study_itemsets
import study_noise
import study_rank_swap
from nominym.itemsets import Itemsets
from pages import CELLS, DATA, half, how_often, markdown, seeds

KS = study_rank_swap.KS
SRS = dict(zip((1, 2, 3), list(study_rank_swap.HOW)[:3], strict=True))
# A figure is near the printed one if it is within a quarter of it, or apart by no more than this; those of data
# swapping are smaller.
NEAR, ABSOLUTE, SMALL = 0.25, 0.01, 0.0005
# Table 6, what the study of rank swapping leaves out: the third column, and the two other pairs.
THIRD = {
    "rmse 2": (0.0011, 0.0579, 0.1649, 0.2948, 0.4174, 0.5035),
    "pair 1": (0, 0.0009, 0.0038, 0.0198, 0.1136, 0.1938),
    "pair 2": (0, 0.0059, 0.0126, 0.0271, 0.0875, 0.1585),
}

Row = tuple[str, str, str]
"""What is printed, what came out, and the verdict."""


Series = Sequence[Sequence[float]]
"""Rows or columns of a printed table, which go along k, α or the variables."""


def judged(ours: Series, theirs: Series, apart: float = ABSOLUTE) -> tuple[str, str]:
    """Say how many figures are near the printed ones, how alike rows rank on average, and the verdict that follows."""
    pairs = [(np.asarray(a, float), np.asarray(b, float)) for a, b in zip(ours, theirs, strict=True)]
    near = np.concatenate([np.abs(a - b) <= np.maximum(NEAR * b, apart) for a, b in pairs])
    # A printed row that does not vary has no order.
    ranks = [pd.Series(a).rank().corr(pd.Series(b).rank()) for a, b in pairs if len(set(a)) > 1 and len(set(b)) > 1]
    rank = float(np.mean(ranks)) if ranks else math.nan
    said = f"{near.sum()} of {len(near)} figures near, rank correlation {rank:.2f}"
    if near.mean() >= 0.75:
        return said, "reproduced"
    return said, "shape only" if rank >= 0.8 else "contradicted"


def claimed(text: str, holds: pd.Series, verdict: str = "shape only") -> tuple[str, str]:
    """Say how often a statement held; curves without numbers can only be compared in shape."""
    return f"{text}: {how_often(holds)}", verdict if holds.mean() >= 0.9 else "contradicted"


# ---- rank swapping


def rank_swapping(found: pd.DataFrame) -> Iterator[str]:
    """Write the tables and figures of the paper on rank swapping, and of sections 7.4 of the thesis."""
    rows: list[Row] = [
        ("Figures 1 to 4: distances, two rankings, an interval", "distances and orders (`tests/test_papers.py`)",
         "reproduced"),
    ]  # fmt: skip
    details = []
    wanted = {"sdVar, diagnosis": 0.1148, "sdVar, procedure": 0.1240, "sdCor": 0.4595}
    features = pd.DataFrame([_features(seed) for seed in seeds(study_rank_swap.SEEDS)], columns=list(wanted))
    said, verdict = judged([features.mean().tolist()], [list(wanted.values())])
    rows.append(("Table 1 (thesis 7.1): features of Dataset1", said, _calibrated(verdict)))
    cells = [
        [name, f"{features[name].mean():.4f} ± {half(features[name]):.4f} ({theirs})"]
        for name, theirs in wanted.items()
    ]
    details += ["#### Table 1: features of Dataset1", markdown(["feature", "ours (theirs)"], cells)]
    names = {"rmse 0": "RMSE diagnosis", "rmse 1": "RMSE procedure", "pair 0": "change of sdCor"}
    more = {"rmse 2": "RMSE secondary", "pair 1": "diagnosis, secondary", "pair 2": "procedure, secondary"}
    for number, ((data, method), printed) in enumerate(study_rank_swap.PUBLISHED.items(), 2):
        held = found[(found["data"] == data) & (found["method"] == method)].groupby("k")
        theirs = dict(zip(names, printed, strict=True)) | (THIRD if data == "Dataset3" else {})
        ours = {name: held[name].mean() for name in theirs}
        errors = [name for name in theirs if name.startswith("rmse")]
        rest = [name for name in theirs if name.startswith("pair")]
        for what, part in (("RMSE", errors), ("change of sdCor", rest)):
            said, verdict = judged([list(ours[n]) for n in part], [theirs[n] for n in part])
            thesis = f" (thesis 7.{number})" if number < 6 else ""
            rows.append((f"Table {number}{thesis}: {method}, {data}, {what}", said, _calibrated(verdict)))
        table = [
            [str(k), *(f"{ours[n].loc[k]:.3f} ± {half(held.get_group(k)[n]):.3f} ({theirs[n][i]:.3f})" for n in theirs)]
            for i, k in enumerate(KS)
        ]
        details += [
            f"#### {study_rank_swap.TABLES[data, method]}",
            markdown(["k", *({**names, **more}[n] for n in theirs)], table),
        ]
    rows += _curves(found)
    yield from _section(rows, details)


def _calibrated(verdict: str) -> str:
    """Mark what was found on records whose generator was adjusted with the printed figures in sight."""
    return f"{verdict}, calibrated" if verdict == "reproduced" else verdict


def _features(seed: int) -> list[float]:
    frame, tax = study_rank_swap.drawn("Dataset1", seed)
    variances = [nym.stats.distance_variance(frame[name], tax[name]) for name in frame]
    return [*variances, nym.stats.distance_correlation(frame["diagnosis"], frame["procedure"], *tax.values())]


def _curves(found: pd.DataFrame) -> Iterator[Row]:
    """Check the statements on figures 5 to 7 (thesis 7-1 to 7-3), which have curves but no numbers."""
    one = found[found["data"] == "Dataset1"]

    def laid(figure: str) -> pd.DataFrame:
        return one.pivot_table(figure, ["seed", "k"], "method")

    for number, column in ((5, 0), (6, 1)):
        at = laid(f"rmse {column}")
        low = (at[SRS[2]] < at["distributional"]) & (at[SRS[3]] < at["distributional"])
        low &= (at[SRS[2]] < at["random"]) & (at[SRS[3]] < at["random"])
        said, verdict = claimed("SRS-2 and SRS-3 below data swapping and distributional rank swapping", low)
        yield f"Figure {number} (thesis 7-{column + 1}): RMSE of all methods", said, verdict
    at = laid("pair 0")
    worst = at[[SRS[2], SRS[3]]].max(axis=1) < at[["random", "distributional"]].min(axis=1)
    said, verdict = claimed("SRS-2 and SRS-3 keep more of the correlation than both", worst)
    yield "Figure 7 (thesis 7-3): correlation of all methods", said, verdict
    worst = at[SRS[1]] < at[["random", "distributional"]].min(axis=1)
    said, verdict = claimed("SRS-1 keeps more than data swapping and distributional rank swapping", worst)
    yield "Figure 7: SRS-1 beside the baselines", said, verdict


# ---- noise, data swapping, item sets, marginality


def noise(found: dict[str, study_noise.Runs]) -> Iterator[str]:
    """Write the tables of the thesis on noise."""
    rows: list[Row] = [
        ("Section 6.2: gingivitis and gastritis; figure 6-1: the domain of an attribute",
         "the printed distance; the domain (`tests/meaning`, `tests/test_papers.py`)", "reproduced"),
        ("Figures 6-3 and 6-4: candidates by the sign of an error", "every replacement is one of the definition "
         "(`tests/noise/test_rule.py`)", "reproduced"),
        ("Tables 2.1, 2.2, 4.1, 6.1: surveys and guides", "no figures", "–"),
    ]  # fmt: skip
    details = []
    for (shape, method), printed in study_noise.PUBLISHED.items():
        runs = {alpha: found[shape][method, alpha].mean(numeric_only=True) for alpha in study_noise.ALPHAS}
        number = study_noise.TABLES[shape, method]
        for what, place in (("RMSE and target", (2, 3)), ("means and variances", (0, 1))):
            keys = [("mean", "variance", "rmse", "target")[i] for i in place]
            ours = [[runs[a][f"{key} {c}"] for a in study_noise.ALPHAS] for c in (0, 1) for key in keys]
            theirs = [printed[c][i] for c in (0, 1) for i in place]  # type: ignore[index]
            rows.append((f"{number}: {method}, {what}", *judged(ours, theirs)))
        rows.append(
            (f"{number}: {method}, change of sdCor", *judged([[runs[a]["change"] for a in runs]], [printed[2]]))
        )
        details += [f"#### {number}: {method}", study_noise.table(found[shape], method, printed)]
    ours = [[found["sna-1"][name, 1.0][f"mean {i}"].mean() for name in study_noise.MEANS] for i in (0, 1)]
    theirs = list(zip(*study_noise.MEANS.values(), strict=True))
    rows.append(("Table 7.10: means of all methods", *judged(ours, theirs)))
    what = "records, categories and correlation as printed (`SHAPES`), variances larger"
    rows.append(("Tables 7.6 and 7.11: features of the data", what, "shape only"))
    yield from _section(rows, details)


def data_swapping(runs: pd.DataFrame) -> Iterator[str]:
    """Write the tables and the figure of the report on data swapping."""
    rows: list[Row] = [
        ("Table 1: six records; feasible, true and compensating swaps", "as printed (`tests/swap/test_data_swap.py`)",
         "reproduced"),
        ("Table 2: variables and categories", "the same, recoded from Adult", "reproduced"),
    ]  # fmt: skip
    halved = runs.assign(hellinger=np.sqrt(runs["hellinger"] / 2))
    printed = {title: (measure, runs) for measure, title in study_data_swap.TITLES.items()}
    printed["Table 3, if it holds √(H/2) in place of H, as it seems"] = ("hellinger", halved)
    for title, (measure, of) in printed.items():
        mean, table = study_data_swap.two_way(of, measure, 0.05)[0], study_data_swap.PUBLISHED[measure]
        columns = [(mean[name].drop(name), table[name].drop(name)) for name in study_data_swap.NAMES]
        rows.append((title, *judged([list(a) for a, _ in columns], [list(b) for _, b in columns], SMALL)))
    for measure in study_data_swap.JOINT:
        mean = study_data_swap.eight_way(runs, measure)[0]
        grows = (mean.diff(axis=1).iloc[:, 1:] > 0).all(axis=1)
        rows.append(
            (f"Figure 1: 8-way {measure.replace('_', ' ')}", *claimed("grows with the rate, by variable", grows))
        )
    text = "Cell by cell, with the statements of its text checked: [data swapping, a study](data-swapping-study.md)."
    yield from _section(rows, [text])


def item_sets(found: pd.DataFrame) -> Iterator[str]:
    """Write the examples and figures of the paper on item sets."""
    rows: list[Row] = [
        ("Tables 1 to 4, figures 1, 4 and 5: the example", "orders, lengths, bases, distances, thresholds and matches "
         "(`tests/itemsets/test_recode.py`)", "reproduced"),
        ("Table 5: Gray codes", "one bit a step (`tests/test_papers.py`)", "reproduced"),
        ("Figures 2 and 3: cycles, dead ends", "illustrations; every extraction is tested (`tests/itemsets`)", "–"),
        ("Table 6: data sets", "chess the same; of pumsb the first 4,334 of 49,046 records", "shape only"),
    ]  # fmt: skip
    gray, tsp = list(study_itemsets.WITH_K)[:2]
    cahd, walk = list(study_itemsets.WITH_L)[:2]
    panels = {"chess": "abcd", "pumsb": "efgh"}
    for data, letters in panels.items():
        for letter, better, worse, figures in (
            ("k", tsp, gray, (("rate", 0), ("present", 2), ("absent", 2))),
            ("l", walk, cahd, (("rate", 1), ("present", 3), ("absent", 3))),
        ):
            for figure, panel in figures:
                index = [letter, "seed"]
                parts = [found[(found["data"] == data) & (found["method"] == name)].set_index(index)[figure]
                         for name in (better, worse)]  # fmt: skip
                what = "error rate" if figure == "rate" else f"query error, {figure} items"
                said = claimed(f"{better} below {worse}", parts[0] < parts[1])
                rows.append((f"Figure 6({letters[panel]}) {data}, {what}", *said))
    kept = CELLS / "times.json"
    if kept.exists():
        by_k, by_size, diverse = (
            {name: {int(x): t for x, t in line.items()} for name, line in part.items()}
            for part in json.loads(kept.read_text())
        )
        for panel, part in (("a", by_k), ("b", by_size)):
            faster = pd.Series(part["closed-walk"]) < pd.Series(part["wmc"])
            rows.append(
                (
                    f"Figure 7({panel}): time of extraction",
                    *claimed("closed walks faster than backtracking, by point", faster),
                )
            )
        slower = pd.Series(diverse[walk]) > pd.Series(diverse[cahd])
        rows.append(("Figure 7(c): time of l-diversity", *claimed("more time than CAHD, by size", slower)))
    else:
        rows.append(("Figure 7: times", "not measured in this run", "–"))
    text = (
        "Panels and numbers: [set-valued records, a study](item-sets-study.md). Figure 7 compares times of one machine."
    )
    yield from _section(rows, [text])


def _variances(trees: int = 60, samples: int = 6) -> tuple[str, str]:
    """Compare the orders that two variances give to samples of one size, over small random trees."""
    rng, otherwise, pairs = np.random.default_rng(0), 0, 0
    for _ in range(trees):
        size = int(rng.integers(5, 10))
        tax = nym.Taxonomy.from_edges([(f"c{i}", f"c{int(rng.integers(0, i))}") for i in range(1, size)])
        leaves = [concept for concept in tax if not tax.children(concept)]
        drawn = [[*(leaves[i] for i in rng.integers(0, len(leaves), 4)), *leaves] for _ in range(samples)]
        both = [(nym.stats.marginality_variance(each, tax), float(nym.stats.var_h(each, tax))) for each in drawn]
        for first, second in combinations(both, 2):
            signs = [np.sign(round(a - b, 9)) for a, b in zip(first, second, strict=True)]
            otherwise, pairs = otherwise + int(signs[0] * signs[1] < 0), pairs + 1
    said = f"{otherwise} of {pairs} pairs of random samples of leaves are ordered otherwise (`tests/test_papers.py`)"
    return said, "contradicted" if otherwise else "reproduced"


def marginality() -> Iterator[str]:
    """List the lemmas and theorems on marginality."""
    papers, stats = "(`tests/test_papers.py`)", "(`tests/stats`)"
    rows = [
        (
            "Lemmas 1 to 3: a distance; nearer below than above, within than across",
            f"property test {papers}",
            "reproduced",
        ),
        ("Algorithm 2, definitions 1 to 3: marginality and moments", f"against what is printed {stats}", "reproduced"),
        ("Algorithm 1, VarH", f"against what is printed {stats}", "reproduced"),
        ("Definition 4, theorem 1: SSE-distance of nominal attributes", f"property test {stats}", "reproduced"),
        ("Theorem 2: of numerical attributes", f"property test {papers}", "reproduced"),
        ("Lemma 4: VarM and VarH order samples of one size alike", *_variances()),
    ]
    yield from _section(rows, [])


# ---- the page


def _section(rows: Sequence[Row], details: list[str]) -> Iterator[str]:
    yield markdown(["printed", "found", "verdict"], [list(row) for row in rows])
    yield from details


def main(folder: str) -> None:
    """Write ``reproduction.md``."""
    began = time.perf_counter()
    papers = study_rank_swap.like_the_papers()
    shapes = study_noise.on_shapes()
    runs = study_data_swap.swapped(study_data_swap.recoded(nym.datasets.load_adult(DATA / "adult")))
    sets = {name: Itemsets.from_fimi(DATA / "fimi" / file) for name, file in study_itemsets.FILES.items()}
    found = study_itemsets.losses(sets)
    sections: dict[str, tuple[int, Callable[[], Iterator[str]]]] = {
        "Semantic rank swapping (2019), and chapters 4, 5 and 7.4 of the thesis":
            (len(seeds(study_rank_swap.SEEDS)), lambda: rank_swapping(papers)),
        "Semantic noise: chapters 6 and 7.5 of the thesis (2017)":
            (len(seeds(study_noise.SEEDS)), lambda: noise(shapes)),
        "Data swapping (2003)": (len(seeds(study_data_swap.SEEDS)), lambda: data_swapping(runs)),
        "Nonreciprocal recoding of item sets (2012)": (len(seeds(study_itemsets.SEEDS)), lambda: item_sets(found)),
        "Semantic marginality (2013)": (0, marginality),
    }  # fmt: skip
    written: list[str] = []
    for title, (count, section) in sections.items():
        seeded = f"Seeds 0 to {count - 1}." if count > 1 else "Seed 0." if count else "No draws."
        written += [f"## {title}", seeded, *section()]
    text = "\n\n".join(written)
    names = ("reproduced", "reproduced, calibrated", "shape only", "contradicted")
    counts = {verdict: text.count(f"| {verdict} |") for verdict in names}
    short = f"**{', '.join(f'{count} {verdict}' for verdict, count in counts.items() if count)}.**".replace(
        "reproduced, calibrated", "reproduced on calibrated data"
    )
    minutes = (time.perf_counter() - began) / 60
    page = Path(__file__).with_suffix(".md").read_text("utf-8")
    for name, part in {"short": short, "minutes": f"{minutes:.1f}", "sections": text}.items():
        page = page.replace(f"{{{name}}}", part)
    Path(folder, "reproduction.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
