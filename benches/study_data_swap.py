"""Data swapping beside the published tables, on the census records they were made from: ``study_data_swap.py folder``.

The Adult records and the hierarchies of their values are read from the folder that NOMINYM_DATA names.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import nominym as nym
from nominym import distortion
from pages import DATA, fill, half, interval, markdown, run, seeds

RATES = (0.01, 0.05, 0.1)
SEEDS = 20
NAMES = ("Age", "EmpTyp", "Edu", "MS", "Race", "Sex", "AvgHrs", "AnnSal")
JOINT = distortion.MEASURES[:3]
TITLES = {
    "hellinger": "Table 3: Hellinger distance",
    "total_variation": "Table 4: total variation distance",
    "entropy_change": "Table 5: change of entropy",
    "cramers_v_change": "Table 6: adV, Cramér's V before − after",
    "contingency_change": "Table 7: adC, contingency coefficient before − after",
}
COLOURS, MARKS = ("#009E73", "#D55E00", "#0072B2"), "o^+"

# Gomatam and Karr (2003), tables 3 to 7: the column's variable is swapped at 5 %, the row's is the other of the pair;
# the last row is the mean.
PUBLISHED_TEXT = {
    "hellinger": """
        -      0.0763 0.0730 0.0900 0.0440 0.0511 0.0649 0.1193
        0.0740 -      0.0476 0.0583 0.0652 0.0595 0.0592 0.0548
        0.0882 0.0613 -      0.0450 0.0468 0.0386 0.0518 0.0934
        0.0912 0.0585 0.0405 -      0.0566 0.0990 0.0550 0.1167
        0.0357 0.0468 0.0173 0.0440 -      0.0471 0.0266 0.0472
        0.0435 0.0532 0.0364 0.0939 0.0557 -      0.0631 0.0800
        0.0810 0.0649 0.0508 0.0635 0.0592 0.0787 -      0.0819
        0.1061 0.0524 0.0638 0.0982 0.0547 0.0711 0.0591 -
        0.0742 0.0591 0.0471 0.0704 0.0546 0.0636 0.0542 0.0848""",
    "total_variation": """
        -      0.0070 0.0067 0.0112 0.0028 0.0054 0.0086 0.0100
        0.0071 -      0.0036 0.0062 0.0041 0.0045 0.0060 0.0057
        0.0103 0.0066 -      0.0049 0.0038 0.0030 0.0060 0.0160
        0.0116 0.0067 0.0037 -      0.0062 0.0218 0.0060 0.0257
        0.0023 0.0021 0.0003 0.0037 -      0.0043 0.0011 0.0033
        0.0040 0.0037 0.0027 0.0195 0.0061 -      0.0074 0.0120
        0.0132 0.0073 0.0060 0.0078 0.0055 0.0115 -      0.0117
        0.0074 0.0046 0.0075 0.0179 0.0045 0.0095 0.0061 -
        0.0080 0.0054 0.0043 0.0102 0.0047 0.0086 0.0059 0.0121""",
    "entropy_change": """
        -      0.0074 0.0059 0.0133 0.0003 0.0016 0.0073 0.0138
        0.0072 -      0.0024 0.0030 0.0018 0.0027 0.0044 0.0023
        0.0086 0.0042 -      0.0013 0.0005 0.0005 0.0030 0.0145
        0.0136 0.0030 0.0011 -      0.0016 0.0208 0.0039 0.0282
        0.0002 0.0010 0.0000 0.0010 -      0.0012 0.0004 0.0010
        0.0012 0.0022 0.0005 0.0188 0.0016 -      0.0056 0.0070
        0.0110 0.0052 0.0029 0.0051 0.0019 0.0084 -      0.0089
        0.0108 0.0021 0.0068 0.0203 0.0013 0.0056 0.0048 -
        0.0075 0.0036 0.0028 0.0090 0.0013 0.0058 0.0042 0.0108""",
    "cramers_v_change": """
        -      0.0190 0.0129 0.0305 0.0103 0.0150 0.0166 0.0308
        0.0190 -      0.0067 0.0180 0.0183 0.0167 0.0141 0.0164
        0.0196 0.0121 -      0.0106 0.0111 0.0077 0.0108 0.0445
        0.0313 0.0180 0.0086 -      0.0176 0.0463 0.0160 0.0603
        0.0053 0.0095 0.0001 0.0106 -      0.0131 0.0034 0.0110
        0.0112 0.0130 0.0074 0.0416 0.0183 -      0.0212 0.0300
        0.0250 0.0174 0.0101 0.0214 0.0172 0.0325 -      0.0336
        0.0228 0.0145 0.0197 0.0420 0.0149 0.0235 0.0174 -
        0.0192 0.0148 0.0094 0.0250 0.0154 0.0221 0.0142 0.0324""",
    "contingency_change": """
        -      0.0245 0.0166 0.0259 0.0103 0.0148 0.0202 0.0286
        0.0244 -      0.0109 0.0173 0.0181 0.0163 0.0184 0.0159
        0.0253 0.0196 -      0.0104 0.0110 0.0076 0.0143 0.0382
        0.0266 0.0173 0.0085 -      0.0174 0.0372 0.0148 0.0479
        0.0053 0.0094 0.0001 0.0105 -      0.0129 0.0034 0.0109
        0.0110 0.0126 0.0074 0.0333 0.0181 -      0.0192 0.0283
        0.0306 0.0227 0.0134 0.0199 0.0169 0.0297 -      0.0307
        0.0211 0.0141 0.0167 0.0331 0.0147 0.0222 0.0158 -
        0.0206 0.0172 0.0105 0.0215 0.0152 0.0201 0.0152 0.0286""",
}
PUBLISHED = {
    measure: pd.DataFrame(
        [[np.nan if cell == "-" else float(cell) for cell in line.split()] for line in text.strip().splitlines()],
        index=[*NAMES, "mean"],
        columns=NAMES,
    )
    for measure, text in PUBLISHED_TEXT.items()
}


def recoded(adult: pd.DataFrame) -> pd.DataFrame:
    """Recode the census records into the eight variables of the report."""
    work = adult["workclass"].fillna("?").str.partition("-")[0]
    school = {"Bachelors": "Bach", "HS-grad": "HS", "Some-college": "Coll", "Assoc-acdm": "Coll", "Assoc-voc": "Coll"}
    school |= dict.fromkeys(("Masters", "Doctorate", "Prof-school"), "Bach+")
    age, hours = adult["age"], adult["hours-per-week"]
    frame = pd.DataFrame(
        {
            "Age": np.select([age < 25, age <= 55], ["<25", "25–55"], ">55"),
            "EmpTyp": work.map(
                {"State": "Govt", "Federal": "Govt", "Local": "Govt", "Private": "Priv", "Self": "Self"}
            ),
            "Edu": adult["education"].map(school).fillna("<HS"),
            "MS": np.where(adult["marital-status"].str.startswith("Married"), "Married", "Other"),
            "Race": np.where(adult["race"] == "White", "White", "Non-White"),
            "Sex": adult["sex"],
            "AvgHrs": np.select([hours < 40, hours == 40], ["<40", "40"], ">40"),
            "AnnSal": adult["income"],
        }
    )
    return frame.fillna({"EmpTyp": "Other"}).astype("category")


def told(outcome: nym.study.Outcome) -> dict[str, float]:
    """Measure every pair and all eight variables together."""
    found = distortion.compare(outcome.comparison)
    pairs = (found["x"] + "/" + found["y"]).fillna("all")
    return {f"{measure}/{pair}": value for measure in TITLES for pair, value in zip(pairs, found[measure], strict=True)
            if not np.isnan(value)}  # fmt: skip


def swapped(frame: pd.DataFrame) -> pd.DataFrame:
    """Swap each variable at each rate with each seed; a row for each pair, and for all eight."""
    data = {name: (frame, {name: nym.Equality()}) for name in NAMES}
    methods = {"swap": nym.study.grid(nym.DataSwap, rate=RATES, true_swaps=True, strict_rate=True)}
    found = run(data, methods, [told], SEEDS).set_index(["data", "rate", "seed"]).drop(columns=["method", "seconds"])
    found.columns = pd.MultiIndex.from_tuples([tuple(name.split("/", 1)) for name in found], names=["measure", "pair"])
    laid = found.stack("pair", future_stack=True).reset_index().rename(columns={"data": "swapped"})
    pairs = laid["pair"].str.partition("/").where(laid["pair"] != "all")
    return laid.assign(x=pairs[0], y=pairs[2])


def pairs(runs: pd.DataFrame, measure: str, rate: float) -> pd.DataFrame:
    """Lay one measure out as the report does, with a column for each swapped variable and seed."""
    held = runs[(runs["rate"] == rate) & runs["x"].notna()]
    held = held[(held["x"] == held["swapped"]) | (held["y"] == held["swapped"])]
    other = held["x"].where(held["y"] == held["swapped"], held["y"]).astype(str)
    return held.assign(other=other).pivot_table(measure, "other", ["swapped", "seed"]).reindex(NAMES)


def two_way(runs: pd.DataFrame, measure: str, rate: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return means over the seeds, and standard deviations, with a row for the mean of a column."""
    cells = pairs(runs, measure, rate)
    cells.loc["mean"] = cells.mean()
    by = cells.T.groupby(level="swapped")
    return by.mean().T.reindex(columns=NAMES), by.std().T.reindex(columns=NAMES)


def eight_way(runs: pd.DataFrame, measure: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give one measure of all variables together by swapped variable and rate: means, and halves of their intervals."""
    by = runs[runs["x"].isna()].groupby(["swapped", "rate"])[measure]
    return by.mean().unstack().reindex(NAMES), by.agg(half).unstack().reindex(NAMES)


def tables(runs: pd.DataFrame) -> Iterator[str]:
    """Write tables 3 to 7, ours beside the published figures."""
    for measure, title in TITLES.items():
        mean, deviation = two_way(runs, measure, 0.05)
        wide = deviation * interval(len(seeds(SEEDS)))
        published = PUBLISHED[measure]
        rows = []
        for row in mean.index:
            cells = [str(row)]
            for name in NAMES:
                ours = f"{mean.loc[row, name]:.4f} ± {wide.loc[row, name]:.4f} ({published.loc[row, name]:.4f})"
                cells.append("–" if row == name else ours)
            rows.append(cells)
        yield f"### {title}"
        yield markdown(["", *NAMES], rows)


def agreement(runs: pd.DataFrame) -> str:
    """Tell how far the mean rows and the cells lie from the published ones."""
    rows = []
    printed = {measure: (runs, measure) for measure in TITLES}
    # What the printed table of Hellinger distances seems to hold.
    printed["√(hellinger / 2)"] = (runs.assign(hellinger=np.sqrt(runs["hellinger"] / 2)), "hellinger")
    for name, (of, measure) in printed.items():
        mean, deviation = two_way(of, measure, 0.05)
        table = PUBLISHED[measure]
        off = ((mean - table).abs() / table).loc["mean"]
        # A published figure is one draw, rounded to four places.
        apart = ((mean - table).abs() - 0.00005) / np.sqrt(deviation**2 * (1 + 1 / len(seeds(SEEDS))))
        inside = (apart.drop("mean") <= 2).to_numpy()[~np.eye(len(NAMES), dtype=bool)]
        rows.append([name, f"{off.median():.1%}", f"{off.max():.1%} ({off.idxmax()})", f"{inside.sum()} of 56"])
    head = ["measure", "mean row: median relative difference", "largest", "cells within two standard deviations"]
    return markdown(head, rows)


def extremes(values: pd.Series, count: int = 1) -> tuple[set[str], set[str]]:
    """Name the variables with the largest and with the smallest figures."""
    return set(values.nlargest(count).index), set(values.nsmallest(count).index)


def statements(runs: pd.DataFrame) -> list[list[str]]:
    """Check what the text of the report states: the statement, what was found, and whether it holds."""
    joint = {measure: eight_way(runs, measure)[0] for measure in JOINT}
    rows: list[list[str]] = []

    def state(what: str, found: str, holds: bool) -> None:
        rows.append([what, found, "yes" if holds else "no"])

    for measure in JOINT:
        grows = bool((joint[measure].diff(axis=1).iloc[:, 1:] > 0).all(axis=None))
        state(f"8-way {measure} grows with the rate", "for every variable" if grows else "not for all", grows)
    ratio = (joint["hellinger"][0.1] / joint["hellinger"][0.01]).median()
    state("8-way Hellinger grows about in proportion to the rate", f"1 % to 10 %: × {ratio:.1f}", 8 < ratio < 12)

    def at_all_rates(measure: str, top: set[str], bottom: set[str], count: int) -> None:
        for word, wanted, which in (("largest", top, 0), ("smallest", bottom, 1)):
            found = [extremes(joint[measure][rate], count)[which] for rate in RATES]
            text = "; ".join(f"{rate:.0%}: {', '.join(sorted(f))}" for rate, f in zip(RATES, found, strict=True))
            fits = all(f <= wanted for f in found)
            state(f"8-way {measure} is {word} for {' or '.join(sorted(wanted))}", text, fits)

    at_all_rates("hellinger", {"AnnSal"}, {"Edu", "AvgHrs"}, 1)
    at_all_rates("total_variation", {"AnnSal", "MS"}, {"Race", "Edu"}, 1)
    at_all_rates("entropy_change", {"AnnSal", "MS"}, {"Race", "Edu"}, 2)
    orders = {tuple(joint["entropy_change"][rate].sort_values().index) for rate in RATES}
    state("8-way entropy_change orders the variables alike at all rates", f"{len(orders)} order(s)", len(orders) == 1)
    for measure in TITLES:
        mean = two_way(runs, measure, 0.05)[0]
        top, bottom = (next(iter(s)) for s in extremes(mean.loc["mean"]))
        least = "Race" if measure == "entropy_change" else "Edu"
        state(f"2-way {measure}: AnnSal has the largest mean", top, top == "AnnSal")
        state(f"2-way {measure}: {least} has the smallest mean", bottom, bottom == least)
    for measure in ("cramers_v_change", "contingency_change"):
        cells = two_way(runs, measure, 0.05)[0].drop("mean")
        for word, name, which in (
            ("row maxima", "AnnSal", cells.idxmax(axis=1)),
            ("row minima", "Edu", cells.idxmin(axis=1)),
        ):
            count = which.value_counts()
            state(
                f"2-way {measure}: {name} has most {word}",
                f"{count[count.index[0]]}: {count.index[0]}",
                count.index[0] == name,
            )
    for rate, low, high in zip(RATES, (0.001, 0.005, 0.008), (0.012, 0.046, 0.120), strict=True):
        cells = two_way(runs, "cramers_v_change", rate)[0].drop("mean")
        least, most = float(cells.min(axis=None)), float(cells.max(axis=None))
        what = f"adV ranges over about {low}–{high} at {rate:.0%} (largest within a fifth)"
        state(what, f"{least:.4f}–{most:.4f}", abs(most - high) < high / 5)
    return rows


def figure(runs: pd.DataFrame, path: Path) -> None:
    """Draw the three panels of figure 1."""
    drawn, panels = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    for axes, measure in zip(panels, JOINT, strict=True):
        mean, wide = eight_way(runs, measure)
        for rate, colour, mark in zip(RATES, COLOURS, MARKS, strict=True):
            axes.errorbar(range(8), mean[rate], wide[rate], fmt=mark, color=colour, label=f"{rate:.0%}", capsize=2)
        axes.set_xticks(range(8), NAMES, rotation=45)
        axes.set_ylim(bottom=0)
        axes.set_title(f"8-way {measure.replace('_', ' ')}")
        axes.set_xlabel("swapped variable")
    drawn.legend(*panels[0].get_legend_handles_labels(), title="swap rate", loc="outside right center")
    drawn.savefig(path, dpi=110)


def panels(runs: pd.DataFrame) -> Iterator[str]:
    """Write the figures behind the picture."""
    for measure in JOINT:
        mean, wide = eight_way(runs, measure)
        rows = [
            [f"{rate:.0%}", *(f"{mean.loc[n, rate]:.4f} ± {wide.loc[n, rate]:.4f}" for n in NAMES)] for rate in RATES
        ]
        yield f"**8-way {measure.replace('_', ' ')}**"
        yield markdown(["rate", *NAMES], rows)


SEMANTIC = ("workclass", "education", "marital-status", "race")
METHODS = {"records (SRS-3)": {"method": "records"}, "strict": {}}
KS = (2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000)


WHY_SEEDS = 3


def by_chance(frame: pd.DataFrame, shares: dict[str, float], seed: int) -> pd.DataFrame:
    """Swap each column on its own, so that this share of its values changes."""
    for stream, (name, share) in enumerate(shares.items()):
        if share * len(frame) >= 2:
            frame = nym.data_swap(frame, name, share, true_swaps=True, seed=10 * seed + stream).data
    return frame


def whole(frame: pd.DataFrame) -> pd.Series:
    """Give each record as one text."""
    return frame.astype(str).agg("|".join, axis=1)


def reasons(
    frame: pd.DataFrame, taxonomies: dict[str, nym.Taxonomy], k: int, how: dict[str, str]
) -> tuple[str, dict[str, bool]]:
    """Tell which records change, and whether random swaps of the same records distort as much; and check the text."""
    before = whole(frame)
    alike = before.map(before.value_counts())
    found: dict[str, list[list[float]]] = {}

    def tell(who: str, data: pd.DataFrame) -> float:
        after = whole(data)
        rows = after != before
        values = np.mean([(frame[n].astype(str) != data[n].astype(str)).mean() for n in SEMANTIC])
        joint = distortion.table(frame, data).iloc[-1]
        net = joint["total_variation"] / rows.mean()
        rare = [(alike[rows] == 1).mean(), (alike[rows] <= 5).mean()]
        figures = [values, rows.mean(), *rare, net, joint["hellinger"], joint["total_variation"]]
        found.setdefault(who, []).append(figures)
        return float(rows.mean())

    for seed in range(WHY_SEEDS):
        ranked = nym.rank_swap(frame, taxonomies, k=k, **how, seed=seed).data
        moved = {n: np.flatnonzero(frame[n].astype(str) != ranked[n].astype(str)) for n in SEMANTIC}
        shares = {n: len(rows) / len(frame) for n, rows in moved.items()}
        changed = tell("rank swapping", ranked)
        more = tell("data swapping, as many values", by_chance(frame, shares, seed))
        fewer = {n: share * changed / more for n, share in shares.items()}
        tell("data swapping, as many records", by_chance(frame, fewer, seed))
        inside = frame.astype(str)
        for name, rows in moved.items():
            part = nym.data_swap(frame.iloc[rows], name, 1.0, true_swaps=True, seed=seed).data[name]
            inside.iloc[rows, inside.columns.get_loc(name)] = part.astype(str).to_numpy()
        tell("data swapping among the values that rank swapping changed", inside)
    rows = []
    for who, runs in found.items():
        mean, wide = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1) * interval(len(runs))
        cells = [f"{m:.1%} ± {d:.1%}" for m, d in zip(mean[:5], wide[:5], strict=True)]
        cells += [f"{m:.4f} ± {d:.4f}" for m, d in zip(mean[5:], wide[5:], strict=True)]
        rows.append([who, *cells])
    rows.append(["all records", "", "", f"{(alike == 1).mean():.1%}", f"{(alike <= 5).mean():.1%}", "", "", ""])
    head = ["", "changed values", "changed records", "of these unique before", "with up to 5 alike before",
            "8-way total variation by changed records", "8-way hellinger", "8-way total_variation"]  # fmt: skip
    ranked, values, records, inside = (np.mean(runs, axis=0) for runs in found.values())
    few = float((alike <= 5).mean())
    rare, common = ranked[3] * ranked[1] / few, (1 - ranked[3]) * ranked[1] / (1 - few)
    claims = {
        "fewer_records": ranked[1] < values[1],
        "as_many_records": bool((records[5:] < ranked[5:]).all()),
        "mostly_rare": ranked[3] > 0.5 and ranked[2] >= 0.25,
        "rare_change": rare >= 0.5 and common < 0.1,
        "chance": few < values[3] < 1.5 * few,
        "compensated": values[4] < ranked[4],
        "inside": bool((inside[5:] > ranked[5:]).all()),
    }
    return markdown(head, rows), {name: bool(holds) for name, holds in claims.items()}


def semantic(adult: pd.DataFrame, claims: dict[str, bool]) -> Iterator[str]:
    """Compare semantic rank swapping with data swapping that changes as many values; claims are to hold for both."""
    folder = DATA / "adult" / "hierarchies"
    taxonomies = {name: nym.read_taxonomy(folder / f"adult_hierarchy_{name}.csv") for name in SEMANTIC}
    small = recoded(adult)[["Age", "Sex", "AvgHrs", "AnnSal"]]
    frame = pd.concat([adult[list(SEMANTIC)], small], axis=1).dropna().reset_index(drop=True).astype("category")
    yield f"{len(frame):,} records without a gap; {', '.join(SEMANTIC)} are swapped, in all their values."
    summaries: list[list[str]] = []
    why: list[str] = []
    for method, how in METHODS.items():
        tried = {k: nym.rank_swap(frame, taxonomies, k=k, **how, seed=0) for k in KS}
        changed = {
            k: {n: 1 - told["unchanged"] for n, told in res.secret.summary["attributes"].items()}
            for k, res in tried.items()
        }
        k = min(KS, key=lambda k: abs(np.mean(list(changed[k].values())) - 0.05))
        masked = {f"{method}, k = {k}": tried[k].data}
        masked["data swapping"] = by_chance(frame, changed[k], 0)
        text, holds = reasons(frame, taxonomies, k, how)
        why += [f"**{method}, k = {k}**", text]
        found = {who: distortion.table(frame, data) for who, data in masked.items()}
        moved = []
        for who, data in masked.items():
            errors = [nym.stats.rmse(frame[n], data[n], taxonomies[n]) for n in SEMANTIC]
            shares = ", ".join(f"{(frame[n].astype(str) != data[n].astype(str)).mean():.1%}" for n in SEMANTIC)
            moved.append(np.mean(errors))
            pairs, joint = found[who].iloc[:-1], found[who].iloc[-1]
            summaries.append([who, shares, f"{np.mean(errors):.3f}", *(f"{pairs[m].mean():.4f}" for m in TITLES),
                              *(f"{joint[m]:.4f}" for m in JOINT)])  # fmt: skip
        yield f"### {method}, k = {k}, and in brackets data swapping that changes as many values of each column"
        ours, others = found.values()
        less = ours.iloc[:-1][list(TITLES)].mean() < others.iloc[:-1][list(TITLES)].mean()
        whole = ours.iloc[-1][list(JOINT)] < others.iloc[-1][list(JOINT)]
        holds |= {"pairs_less": bool(less.all()), "nearer": bool(moved[0] < moved[1]),
                  "entropy_less": bool(whole["entropy_change"]),
                  "whole_more": not whole[["hellinger", "total_variation"]].any()}  # fmt: skip
        for name, held in holds.items():
            claims[name] = claims.get(name, True) and held
        rows = []
        for mine, its in zip(ours.itertuples(), others.itertuples(), strict=True):
            what = f"{mine.x} × {mine.y}" if isinstance(mine.x, str) else "all eight"
            values = ((getattr(mine, m), getattr(its, m)) for m in TITLES)
            rows.append([what, *("" if np.isnan(a) else f"{a:.4f} ({b:.4f})" for a, b in values)])
        yield markdown(["columns", *TITLES], rows)
    head = ["method", "changed, by column", "mean RMSE", *(f"mean {m} of pairs" for m in TITLES)]
    yield "### In short"
    yield markdown([*head, *(f"8-way {m}" for m in JOINT)], summaries)
    yield "### Which records change"
    yield from why


def words(runs: pd.DataFrame) -> tuple[dict[str, str], dict[str, bool]]:
    """Compute what the text states on the published tables."""
    rest = [measure for measure in TITLES if measure != "hellinger"]
    off = {measure: ((two_way(runs, measure, 0.05)[0] - PUBLISHED[measure]).abs() / PUBLISHED[measure]).loc["mean"]
           for measure in rest}  # fmt: skip
    ratio = (two_way(runs, "hellinger", 0.05)[0] / PUBLISHED["hellinger"]).drop("mean").stack()
    violated = (PUBLISHED["hellinger"] ** 2 > PUBLISHED["total_variation"]).drop("mean").sum().sum()
    joint = eight_way(runs, "hellinger")[0]
    parts = {
        "median_off": f"{max(each.median() for each in off.values()):.1%}",
        "fraction": f"between {ratio.min():.2f} and {ratio.max():.2f} of the printed one",
        "violated": str(violated),
        "power": f"{np.log10((joint[0.1] / joint[0.01]).median()):.1f}",
        "largest": f"{two_way(runs, 'cramers_v_change', 0.05)[0].drop('mean').max(axis=None):.4f}",
    }
    return parts, {"hours": all(each.idxmax() == "AvgHrs" for each in off.values())}


def main(folder: str) -> None:
    """Write ``data-swapping-study.md`` and its picture."""
    warnings.simplefilter("ignore", nym.PrivacyWarning)
    adult = nym.datasets.load_adult(DATA / "adult")
    frame = recoded(adult)
    runs = swapped(frame)
    figure(runs, Path(folder, "data-swapping-study.png"))
    parts, claims = words(runs)
    parts |= {
        "runs": str(len(seeds(SEEDS))),
        "agreement": agreement(runs),
        "tables": "\n\n".join(tables(runs)),
        "panels": "\n\n".join(panels(runs)),
        "findings": markdown(["the report states", "found", "holds"], statements(runs)),
        "semantic": "\n\n".join(semantic(adult, claims)),
    }
    fill("data_swap", parts, folder, claims)


if __name__ == "__main__":
    main(*sys.argv[1:])
