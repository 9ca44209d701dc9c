"""Everything that the five papers print, ours beside theirs, with a verdict: ``reproduction.py folder``.

It takes the cells that the studies have stored, and runs what is missing.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import nominym as nym
import peers
import study_data_swap
import study_itemsets
import study_noise
import study_rank_swap
from nominym.itemsets import Itemsets
from nominym.study.summary import t_quantile
from pages import ALONE, DATA, how_often, listed, markdown, seeds, spread

KS = study_rank_swap.KS
SRS = dict(zip((1, 2, 3), list(study_rank_swap.HOW)[:3], strict=True))
# A figure is near the printed one if it is within a quarter of it, or apart by one unit of its last printed place.
NEAR, FOUR_PLACES, TWO_PLACES = 0.25, 0.0001, 0.01
# Table 6, what the study of rank swapping leaves out: the third column, and the two other pairs.
THIRD = {
    "rmse 2": (0.0011, 0.0579, 0.1649, 0.2948, 0.4174, 0.5035),
    "pair 1": (0, 0.0009, 0.0038, 0.0198, 0.1136, 0.1938),
    "pair 2": (0, 0.0059, 0.0126, 0.0271, 0.0875, 0.1585),
}
FEATURES = {"sna-1": "Table 7.6", "sna-2": "Table 7.11"}
TESTS = "a test repeats it"
VERDICTS = ("reproduced", "reproduced, calibrated", "shape only", "shape only, calibrated", "partly",
            "within the draws", "differs", "contradicted", "by construction", "not reproducible")  # fmt: skip

Row = tuple[str, str, str]
"""What is printed, what came out, and the verdict."""


Lines = Sequence[tuple[pd.DataFrame, Sequence[float]]]
"""Rows or columns of a printed table, along k, α or the variables: our figures (seed × place), and the printed ones."""


def judged(lines: Lines, unit: float, *, ordered: bool = True) -> tuple[str, str]:
    """Say how many figures are near the printed ones and how alike the lines rank, and the verdict that follows.

    A printed figure is one draw: beside our mean, it is held against the 95 % prediction interval of one more draw.
    Features of a data set, which are of different kinds, have no order.

    >>> judged([(pd.DataFrame([[0.1, 0.2], [0.2, 0.3], [0.1, 0.2]]), [0.2, 0.25])], 0.01)
    ('1 of 2 near, 2 of 2 within the draws, rank correlation 1.00', 'shape only')
    """
    near, within, ranks = [], [], []
    for draws, printed in lines:
        ours, theirs = draws.mean().to_numpy(), np.asarray(printed, float)
        off = np.abs(ours - theirs)
        near += list(off <= np.maximum(NEAR * theirs, unit + 1e-12))
        if len(draws) > 1:
            wide = t_quantile(0.95, len(draws) - 1) * draws.std().to_numpy() * math.sqrt(1 + 1 / len(draws))
            within += list(off <= wide + unit / 2)
        # A line that does not vary has no order.
        if ordered and len(set(theirs)) > 1:
            ranks.append(pd.Series(ours).rank().corr(pd.Series(theirs).rank()) if len(set(ours)) > 1 else 0.0)
    least = min(ranks) if ranks else math.nan
    said = f"{sum(near)} of {len(near)} near"
    said += f", {sum(within)} of {len(within)} within the draws" if within else ""
    said += f", rank correlation {least:.2f}" if ranks else ""
    if np.mean(near) >= 0.75:
        return said, "reproduced"
    if least >= 0.8:
        return said, "shape only"
    return said, "within the draws" if within and np.mean(within) >= 0.9 else "contradicted"


def claimed(
    text: str, holds: pd.Series, printed: Sequence[bool] | None = None, wide: pd.Series | None = None
) -> tuple[str, str]:
    """Say how often a statement held; curves without numbers can only be compared in shape.

    Where a paper prints the figures that it speaks of, its own tables are counted, too; and so are runs on records of a
    wide taxonomy, on which the verdict does not depend.

    >>> claimed("it grows", pd.Series([True, True, False]), [True, False])
    ('it grows: in 2 of 3 runs; in print, in 1 of 2 cases', 'partly')
    """
    said = f"{text}: {how_often(holds)}"
    if printed is not None:
        count, every = sum(map(bool, printed)), len(printed)
        cases = f"{count} of {every}" if count < every else "both" if every == 2 else f"all {every}"
        said += f"; in print, in {cases} cases"
    if wide is not None:
        said += f"; on discharges over a wide taxonomy, {how_often(wide)}"
    if holds.mean() >= 0.9:
        return said, "shape only"
    return said, "partly" if holds.mean() > 0.5 else "contradicted"


def elsewhere(verdict: str) -> str:
    """Weaken what was found on other records than those of the paper: that says nothing against it."""
    return "differs" if verdict == "contradicted" else verdict


# ---- rank swapping


def rank_swapping(found: pd.DataFrame) -> Iterator[str]:
    """Write the tables and figures of the paper on rank swapping, and of sections 7.4 of the thesis."""
    tests: list[Row] = [
        ("Figures 1 to 4 (thesis 4-1 to 4-3, 5-1): distances, two rankings, an interval",
         f"{TESTS} (`tests/test_papers.py`)", "reproduced"),
        ("Definitions of distance, mean, variances, correlation and order (thesis, chapter 4)",
         "as naive versions compute them (`tests/stats`, `tests/meaning`)", "reproduced"),
        ("Algorithms 1 to 3 (thesis: SRS-Algorithms 1 to 3)", "record by record as naive versions (`tests/swap`)",
         "reproduced"),
    ]  # fmt: skip
    rows: list[Row] = []
    details = []
    wanted = {"sdVar, diagnosis": 0.1148, "sdVar, procedure": 0.1240, "sdCor": 0.4595}
    features = pd.DataFrame([_features(seed) for seed in seeds(study_rank_swap.SEEDS)], columns=list(wanted))
    said, verdict = judged([(features, list(wanted.values()))], FOUR_PLACES, ordered=False)
    rows.append(("Table 1 (thesis 7.1): features of Dataset1", said, verdict))
    same = papers_kept(found)
    tests.append(("Tables 2 to 4 (thesis 7.2 to 7.4): differences of sμ and sdVar, 0 for both columns",
                  f"neither changes: {how_often(same)}", "reproduced" if same.all() else "contradicted"))  # fmt: skip
    cells = [[name, f"{spread(features[name], '{:.4f}')} ({theirs})"] for name, theirs in wanted.items()]
    details += ["#### Table 1: features of Dataset1", markdown(["feature", "ours (theirs)"], cells)]
    names = {"rmse 0": "RMSE diagnosis", "rmse 1": "RMSE procedure", "pair 0": "change of sdCor"}
    more = {"rmse 2": "RMSE secondary", "pair 1": "diagnosis, secondary", "pair 2": "procedure, secondary"}
    for number, ((data, method), printed) in enumerate(study_rank_swap.PUBLISHED.items(), 2):
        held = found[(found["data"] == data) & (found["method"] == method)]
        theirs = dict(zip(names, printed, strict=True)) | (THIRD if data == "Dataset3" else {})
        ours = {name: held.pivot_table(name, "seed", "k") for name in theirs}
        for what, kind in (("RMSE", "rmse"), ("change of sdCor", "pair")):
            lines = [(ours[name], theirs[name]) for name in theirs if name.startswith(kind)]
            thesis = f" (thesis 7.{number})" if number < 6 else ""
            rows.append((f"Table {number}{thesis}: {method}, {data}, {what}", *judged(lines, FOUR_PLACES)))
        table = [
            [str(k), *(f"{spread(ours[n][k], '{:.3f}')} ({theirs[n][i]:.3f})" for n in theirs)]
            for i, k in enumerate(KS)
        ]
        details += [
            f"#### {study_rank_swap.TABLES[data, method]}",
            markdown(["k", *({**names, **more}[n] for n in theirs)], table),
        ]
    rows += _statements(found)
    rows += _curves(found)
    yield from _section([*tests, *((what, said, _calibrated(verdict)) for what, said, verdict in rows)], details)


def _calibrated(verdict: str) -> str:
    """Mark what was found on records whose generator was adjusted with the printed figures in sight."""
    verdict = elsewhere(verdict)
    return f"{verdict}, calibrated" if verdict in ("reproduced", "shape only") else verdict


def papers_kept(found: pd.DataFrame) -> pd.Series:
    """Tell where means and variances of the columns stayed as they were, in the published methods on Dataset1."""
    published = found["method"].isin(list(SRS.values())) & (found["data"] == "Dataset1")
    return found.loc[published, "kept"] == 1


def off_by(found: pd.DataFrame) -> str:
    """Say by which factors our means are off the figures of tables 2 to 6 that are not 0, table by table."""
    said = []
    for number, ((data, method), printed) in enumerate(study_rank_swap.PUBLISHED.items(), 2):
        mean = found[(found["data"] == data) & (found["method"] == method)].groupby("k").mean(numeric_only=True)
        parts = []
        for what, lines in (("RMSE", {"rmse 0": printed[0], "rmse 1": printed[1]}), ("sdCor", {"pair 0": printed[2]})):
            off = [mean.loc[k, name] / theirs for name, line in lines.items()
                   for k, theirs in zip(KS, line, strict=True) if theirs]  # fmt: skip
            parts.append(f"{what} × {min(off):.2f} to {max(off):.2f}, median {np.median(off):.2f}")
        said.append(f"Table {number}: {'; '.join(parts)}")
    return f"Ours over theirs, for both columns and the change of sdCor. {'. '.join(said)}."


def _features(seed: int) -> list[float]:
    frame, tax = study_rank_swap.drawn("Dataset1", seed)
    variances = [nym.stats.distance_variance(frame[name], tax[name]) for name in frame]
    return [*variances, nym.stats.distance_correlation(frame["diagnosis"], frame["procedure"], *tax.values())]


def _laid(found: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Lay out a figure of Dataset1: a row for each seed and k, a column for each method."""
    return found[found["data"] == "Dataset1"].pivot_table(figure, ["seed", "k"], "method")


def _printed(method: str, figure: int) -> np.ndarray:
    """Return a line of tables 2 to 4 along k: the RMSE of either column, 0 and 1, or the change of sdCor, 2."""
    return np.array(study_rank_swap.PUBLISHED["Dataset1", method][figure])


def _statements(found: pd.DataFrame) -> Iterator[Row]:
    """Check what the text says on tables 2 to 6."""
    both = pd.concat([_laid(found, f"rmse {column}") for column in (0, 1)])
    fixed, dynamic, records = SRS.values()
    theirs = {method: np.concatenate([_printed(method, column) for column in (0, 1)]) for method in SRS.values()}
    lower = (both[dynamic] < both[fixed]) & (both[records] < both[fixed])
    in_print = (theirs[dynamic] < theirs[fixed]) & (theirs[records] < theirs[fixed])
    yield "Text on tables 2 to 4: Algorithms 2 and 3 against 1", *claimed("smaller RMSE than SRS-1", lower, in_print)
    yield (
        "Text on tables 3 and 4: Algorithm 2 against 3",
        *claimed("SRS-2 has the smaller RMSE", both[dynamic] < both[records], theirs[dynamic] < theirs[records]),
    )
    kept = _laid(found, "pair 0")
    better = kept[records] < kept[[fixed, dynamic]].min(axis=1)
    in_print = _printed(records, 2) < np.minimum(_printed(fixed, 2), _printed(dynamic, 2))
    said = "SRS-3 keeps more of it than SRS-1 and SRS-2"
    yield "Text on tables 2 to 4: correlation", *claimed(said, better, in_print)
    for number, method in SRS.items():
        grows = pd.concat([_laid(found, f"rmse {column}")[method].unstack("k") for column in (0, 1)]).diff(axis=1)
        up = (grows.iloc[:, 1:] > 0).all(axis=1)
        in_print = [bool((np.diff(_printed(method, column)) > 0).all()) for column in (0, 1)]
        said = "RMSE grows with every step of k"
        yield f"Text on tables 2 to 4: growth, Algorithm {number}", *claimed(said, up, in_print)
    third = found[found["method"] == records].set_index(["seed", "k"])
    still = third[(third["data"] == "Dataset2") & (third.index.get_level_values("k") == 2)]["rmse"] == 0
    yield "Text on table 5: k = 2 changes nothing where tuples repeat", *claimed("RMSE is 0", still)
    two, three = (third[(third["data"] == name) & (third.index.get_level_values("k") > 2)][["rmse 0", "rmse 1"]]
                  for name in ("Dataset2", "Dataset3"))  # fmt: skip
    printed = [np.array(study_rank_swap.PUBLISHED[name, records][:2])[:, 1:] for name in ("Dataset2", "Dataset3")]
    said = "first two columns, k above 2, have a larger RMSE"
    in_print = (printed[1] > printed[0]).ravel()
    yield "Text on table 6: a third column makes it slightly worse", *claimed(said, (three > two).stack(), in_print)


def _curves(found: pd.DataFrame) -> Iterator[Row]:
    """Check the statements on figures 5 to 7 (thesis 7-1 to 7-3), which have curves but no numbers."""
    fixed, *better = SRS.values()
    baselines = ["random", "distributional"]
    for number, column in ((5, 0), (6, 1)):
        at = _laid(found, f"rmse {column}")
        figure = f"Figure {number} (thesis 7-{column + 1})"
        low = at[better].max(axis=1) < at[baselines].min(axis=1)
        said = "SRS-2 and SRS-3 below data swapping and distributional rank swapping"
        yield f"{figure}: RMSE, SRS-2 and SRS-3", *claimed(said, low)
        yield f"{figure}: RMSE, SRS-1", *claimed("below data swapping", at[fixed] < at["random"])
        said = "distributional rank swapping below data swapping"
        yield f"{figure}: RMSE, the baselines", *claimed(said, at["distributional"] < at["random"])
        close = (at["distributional"] / at[fixed]).between(1 - NEAR, 1 + NEAR)
        yield f"{figure}: distributional rank swapping competes with SRS-1", *claimed("within a quarter", close)
    at = _laid(found, "pair 0")
    kept = at[better].max(axis=1) < at[baselines].min(axis=1)
    yield "Figure 7 (thesis 7-3): correlation, SRS-2 and SRS-3", *claimed("keep more of it than both baselines", kept)
    kept = at[fixed] < at[baselines].min(axis=1)
    yield "Figure 7 (thesis 7-3): correlation, SRS-1", *claimed("keeps more of it than both baselines", kept)


# ---- noise, data swapping, item sets, marginality


def noise(found: dict[str, study_noise.Runs], wide: dict[str, study_noise.Runs]) -> Iterator[str]:
    """Write the tables and figures of the thesis on noise."""
    rows: list[Row] = [
        ("Section 6.2: gingivitis and gastritis; figure 6-1: the domain of an attribute",
         f"{TESTS} (`tests/meaning`, `tests/test_papers.py`)", "reproduced"),
        ("Figures 6-3 and 6-4: candidates by the sign of an error; SNA-Algorithms 1 to 3",
         "every replacement is one of the definition (`tests/noise`)", "reproduced"),
        ("Tables 2.1, 2.2, 4.1, 6.1, figures 6-2 and 6-5: surveys, guides, diagrams", "no figures to repeat", "–"),
    ]  # fmt: skip
    details = []
    for shape, number in FEATURES.items():
        printed = study_noise.FEATURES[shape]
        drawn = pd.DataFrame([study_noise.features(shape, seed) for seed in seeds(study_noise.SEEDS)])
        said, _ = judged([(drawn, printed)], TWO_PLACES, ordered=False)
        means = ", ".join(f"{spread(drawn[i], '{:.2f}')} ({printed[i]:.2f})" for i in drawn)
        what = f"{number}: sVar of both columns, sdCor; and sdVar of both, by the targets at α = 1"
        rows.append((what, f"{means}: {said}", "by construction"))
    for (shape, method), published in study_noise.PUBLISHED.items():
        number = study_noise.TABLES[shape, method]

        def drawn_of(figure: str, shape: str = shape, method: str = method) -> pd.DataFrame:
            return pd.DataFrame({alpha: found[shape][method, alpha][figure] for alpha in study_noise.ALPHAS})

        for place, (what, key) in enumerate((("means", "mean"), ("variances", "variance"), ("RMSE", "rmse"),
                                             ("target", "target"))):  # fmt: skip
            lines = [(drawn_of(f"{key} {column}"), published[column][place]) for column in (0, 1)]  # type: ignore[index]
            said, verdict = judged(lines, TWO_PLACES)
            # The target is the root of alpha times a variance that the records were drawn to have.
            verdict = "by construction" if key == "target" else _calibrated(verdict)
            rows.append((f"{number}: {method}, {what}", said, verdict))
        said, verdict = judged([(drawn_of("change"), published[2])], TWO_PLACES)
        rows.append((f"{number}: {method}, change of sdCor", said, _calibrated(verdict)))
        details += [f"#### {number}: {method}", study_noise.table(found[shape], method, published)]
    lines = [
        (
            pd.DataFrame({name: found["sna-1"][name, 1.0][f"mean {i}"] for name in study_noise.MEANS}),
            [printed[i] for printed in study_noise.MEANS.values()],
        )
        for i in (0, 1)
    ]
    said, verdict = judged(lines, TWO_PLACES)
    rows.append(("Table 7.10: means of all methods", said, _calibrated(verdict)))
    stated = [(what, said, _calibrated(verdict)) for what, said, verdict in _noise_statements(found, wide)]
    yield from _section([*rows, *stated], details)


def _noise_statements(found: dict[str, study_noise.Runs], wide: dict[str, study_noise.Runs]) -> Iterator[Row]:
    """Check figures 7-4 to 7-6, which have no numbers, and what the text says on tables 7.7 to 7.13."""
    first = found["sna-1"]
    names = [name for name in study_noise.METHODS if (name, 0.1) in first]
    for number, figure, what in ((4, "rmse 0", "RMSE, first column"), (5, "rmse 1", "RMSE, second column"),
                                 (6, "change", "correlation")):  # fmt: skip
        least = pd.concat([first[name, 1.0][figure] for name in study_noise.BASELINES], axis=1).min(axis=1)
        low = pd.concat([first[name, alpha][figure] < least for name in names for alpha in study_noise.ALPHAS])
        said = "every semantic method changes less than both baselines"
        yield f"Figure 7-{number}: {what}", *claimed(said, low)
    checked, also = ({shape: study_noise.holds(runs[shape], guided) for shape, guided in study_noise.GUIDED.items()}
                     for runs in (found, wide))  # fmt: skip

    def of(statement: str, *shapes: str, on: Any = checked, alphas: Sequence[float] = study_noise.ALPHAS) -> pd.Series:
        return pd.concat([on[shape][statement][a] for shape in shapes for a in alphas])

    tables = study_noise.PUBLISHED
    text = "Text of section 7.5"
    in_print = [e >= target for table in tables.values() for i in (0, 1)
                for e, target in list(zip(table[i][2], table[i][3], strict=True))[:3]]  # type: ignore[index]  # fmt: skip
    yield (
        f"{text}: actual error",
        *claimed(
            "RMSE at least the target, α below 1",
            of("reached", *checked, alphas=(0.1, 0.3, 0.5)),
            in_print,
            of("reached", *also, on=also, alphas=(0.1, 0.3, 0.5)),
        ),
    )
    grows = pd.concat([pd.DataFrame({a: runs[name, a][f"rmse {i}"] for a in study_noise.ALPHAS}).diff(axis=1)
                       for runs in found.values() for name in study_noise.METHODS if (name, 0.1) in runs
                       for i in (0, 1)])  # fmt: skip
    in_print = [bool((np.diff(table[i][2]) > 0).all()) for table in tables.values() for i in (0, 1)]  # type: ignore[index]
    said = "RMSE grows with every step of α"
    yield f"{text}: growth", *claimed(said, (grows.iloc[:, 1:] > 0).all(axis=1), in_print)
    small = pd.concat([first[name, a][f"variance {i}"] < 0.25 * a for name in names for a in study_noise.ALPHAS
                       for i in (0, 1)])  # fmt: skip
    in_print = [off < 0.25 * a for (shape, _), table in tables.items() if shape == "sna-1" for i in (0, 1)
                for a, off in zip(study_noise.ALPHAS, table[i][1], strict=True)]  # type: ignore[index]  # fmt: skip
    yield f"{text}: variance", *claimed("off by less than a quarter of α (Dataset1)", small, in_print)
    change = {key: np.array(table[2]) for key, table in tables.items()}
    plain, paired = change["sna-1", "correlated SNA-1"], change["sna-1", "correlated SNA-2"]
    yield (
        f"{text}: correlated noise",
        *claimed("keeps more of the correlation than uncorrelated", of("correlated", "sna-1"),
                 plain < change["sna-1", "uncorrelated SNA-1"], of("correlated", "sna-1", on=also)),
    )  # fmt: skip
    said = "keeps more of the correlation than SNA-1"
    yield f"{text}: SNA-2", *claimed(said, of("guided", "sna-1"), paired < plain, of("guided", "sna-1", on=also))
    rooted = change["sna-2", "correlated SNA-3"] < change["sna-2", "correlated SNA-1"]
    yield f"{text}: SNA-3", *claimed(said, of("guided", "sna-2"), rooted, of("guided", "sna-2", on=also))
    in_print = [mine <= its for shape, guided in study_noise.GUIDED.items() for i in (0, 1)
                for mine, its in zip(tables[shape, "correlated SNA-1"][i][0], tables[shape, guided][i][0],
                                     strict=True)]  # type: ignore[index]  # fmt: skip
    said = "mean as near as with SNA-2 or SNA-3, or nearer"
    yield f"{text}: SNA-1", *claimed(said, of("mean", *checked), in_print, of("mean", *also, on=also))


def data_swapping(runs: pd.DataFrame, frame: pd.DataFrame) -> Iterator[str]:
    """Write the tables and the figure of the report on data swapping."""
    sizes = dict(zip(study_data_swap.NAMES, (3, 4, 5, 2, 2, 2, 3, 2), strict=True))
    same = len(frame) == 48_842 and {name: frame[name].nunique() for name in frame} == sizes
    what = f"{len(frame):,} records, {', '.join(str(frame[name].nunique()) for name in frame)} categories"
    rows: list[Row] = [
        ("Table 1: six records; feasible, true and compensating swaps", f"{TESTS} (`tests/swap/test_data_swap.py`)",
         "reproduced"),
        ("Table 2: variables and categories of 48,842 records", f"recoded from Adult: {what}",
         "reproduced" if same else "contradicted"),
    ]  # fmt: skip
    for measure, title in study_data_swap.TITLES.items():
        rows.append((title, *judged(_cells(runs, measure), FOUR_PLACES)))
        if measure == "hellinger":
            halved = runs.assign(hellinger=np.sqrt(runs["hellinger"] / 2))
            said, _ = judged(_cells(halved, measure), FOUR_PLACES)
            what = f"{said}; a conjecture made with the printed figures in sight, so it is no reproduction"
            rows.append(("Table 3, if it holds √(H/2) in place of H", what, "–"))
    rows.append(("Tables 3 and 4: the square of H is at most the total variation, for any two distributions",
                 *_bounded(runs)))  # fmt: skip
    for measure in study_data_swap.JOINT:
        by = runs[runs["x"].isna()].pivot_table(measure, ["swapped", "seed"], "rate")
        grows = (by.diff(axis=1).iloc[:, 1:] > 0).all(axis=1)
        said = "grows with the rate, by variable and seed"
        rows.append((f"Figure 1: 8-way {measure.replace('_', ' ')}", *claimed(said, grows)))
    stated = study_data_swap.statements(runs)
    for what, said, holds in stated:
        if holds == "no":
            if "adV ranges" in what and "5%" in what:
                cells = study_data_swap.PUBLISHED["cramers_v_change"].drop("mean")
                said += f"; table 6 itself prints {cells.min(axis=None):.4f}–{cells.max(axis=None):.4f}"
            rows.append((f"Text: {what}", said, "contradicted"))
    kept = sum(holds == "yes" for *_, holds in stated)
    rows.append(
        (f"Text: the other {kept} of {len(stated)} statements", "hold on the means over the seeds", "shape only")
    )
    text = "Cell by cell, with the statements of its text checked: [data swapping, a study](data-swapping-study.md)."
    yield from _section(rows, [text])


def _bounded(runs: pd.DataFrame) -> tuple[str, str]:
    """Tell in how many cells of tables 3 and 4 an inequality holds that holds between these measures."""
    at = {measure: study_data_swap.two_way(runs, measure, 0.05)[0].drop("mean") for measure in ("hellinger",
          "total_variation")}  # fmt: skip
    theirs = {measure: study_data_swap.PUBLISHED[measure].drop("mean") for measure in at}
    held = [int((each["hellinger"] ** 2 <= each["total_variation"]).to_numpy().sum()) for each in (at, theirs)]
    said = f"in {held[0]} of 56 cells of ours, in {held[1]} of 56 printed ones"
    return said, "shape only" if held[1] == 56 else "contradicted"


def _cells(runs: pd.DataFrame, measure: str) -> Lines:
    """Lay out the columns of a printed table of pairs, without their means, which say nothing new."""
    table = study_data_swap.PUBLISHED[measure].drop("mean")
    lines = []
    for name in study_data_swap.NAMES:
        draws = study_data_swap.pairs(runs, measure, 0.05)[name].T.drop(columns=name)
        lines.append((draws, table[name].drop(name).tolist()))
    return lines


def item_sets(found: pd.DataFrame, sets: dict[str, Itemsets]) -> Iterator[str]:
    """Write the examples and figures of the paper on item sets."""
    sizes = {name: (each.n, len(each.core.items()) / each.n, each.n_items) for name, each in sets.items()}
    told = {name: "{:,} records, {:.0f} items each, {:,} in all".format(*size) for name, size in sizes.items()}
    rows: list[Row] = [
        ("Tables 1 to 4, figures 1, 4 and 5: the example", "orders, lengths, bases, distances, thresholds and matches "
         "(`tests/itemsets/test_recode.py`)", "reproduced"),
        ("Table 5: Gray codes", f"{TESTS} (`tests/test_papers.py`)", "reproduced"),
        ("Algorithms 1 and 2: assignments by closed walks", "every assignment covers every record once "
         "(`tests/itemsets`)", "reproduced"),
        ("Figures 2 and 3: cycles and dead ends in small graphs", "drawings of steps; no figures to repeat", "–"),
        ("Table 6: chess, 3,196 records, 37 items each, 75 in all", told["chess"],
         "reproduced" if sizes["chess"][0] == 3_196 and sizes["chess"][2] == 75 else "contradicted"),
        ("Table 6: pumsb, 49,046 records, 75 items each, 7,117 in all",
         f"only its beginning was available: {told['pumsb']}",
         "not reproducible"),
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
    by_k, by_size, diverse = study_itemsets.stored_times()
    said = "closed walks faster than backtracking"
    what = f"Figure 7(a): time of extraction by k, {study_itemsets.PUMSB:,} records"
    rows.append((what, *claimed(said, study_itemsets.faster(by_k))))
    rows.append(("Figure 7(b) chess × 1 to 16: time of extraction", *claimed(said, study_itemsets.faster(by_size))))
    slow, fast = (pd.DataFrame(diverse[name]) for name in (walk, cahd))
    rows.append(("Figure 7(c) chess × 1 to 16: time of l-diversity",
                 *claimed(f"{walk} slower than {cahd}", (slow > fast).stack())))  # fmt: skip
    growth = [one[16] / one[1] for one in (slow, fast)]
    each = " and ".join(f"× {spread(one, '{:.0f}')}" for one in growth)
    said = f"{each} for 16 times the records; within a factor of 2"
    rows.append(("Figure 7(c): both grow alike", *claimed(said, (growth[0] / growth[1]).between(0.5, 2))))
    text = (
        "Panels and numbers: [set-valued records, a study](item-sets-study.md). Figure 7 is of processor time, on one "
        f"machine ({listed(study_itemsets.TIMED)})."
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
        ("Corollary 1, with lemma 5: of both kinds together", f"property tests {papers}", "reproduced"),
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
    shapes, wide = study_noise.on_shapes(), study_noise.on_discharges()
    frame = study_data_swap.recoded(nym.datasets.load_adult(DATA / "adult"))
    runs = study_data_swap.swapped(frame)
    sets = {name: Itemsets.from_fimi(DATA / "fimi" / file) for name, file in study_itemsets.FILES.items()}
    found = study_itemsets.losses(sets)
    sections: dict[str, tuple[int, Callable[[], Iterator[str]]]] = {
        "Semantic rank swapping (2019), and chapters 4, 5 and 7.4 of the thesis":
            (study_rank_swap.SEEDS, lambda: rank_swapping(papers)),
        "Semantic noise: chapters 6 and 7.5 of the thesis (2017)": (study_noise.SEEDS, lambda: noise(shapes, wide)),
        "Data swapping (2003)": (study_data_swap.SEEDS, lambda: data_swapping(runs, frame)),
        "Nonreciprocal recoding of item sets (2012)": (study_itemsets.SEEDS, lambda: item_sets(found, sets)),
        "Semantic marginality (2013)": (0, marginality),
    }  # fmt: skip
    written: list[str] = []
    for title, (count, section) in sections.items():
        seeded = f"{listed(count).capitalize()}." if count else "No draws."
        written += [f"## {title}", seeded, *section()]
    text = "\n\n".join(written)
    counts = {verdict: text.count(f"| {verdict} |") for verdict in VERDICTS}
    short = f"**{'; '.join(f'{count} {verdict}' for verdict, count in counts.items() if count)}.**"
    parts = {"short": short, "off": off_by(papers), "sections": text, "peers": peers.table(), "alone": ALONE}
    parts["minutes"] = f"{(time.perf_counter() - began) / 60:.1f}"
    page = Path(__file__).with_suffix(".md").read_text("utf-8")
    for name, part in parts.items():
        page = page.replace(f"{{{name}}}", part)
    Path(folder, "reproduction.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
