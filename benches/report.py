"""Turn the benchmarks' results into a page with tables and a picture: ``report.py results.json folder``."""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#999999"  # told apart by every eye

SWAPPING = (
    "rank swapping of one column, 1,000 categories, k = 10",
    "rank_swap, method records (SRS-3)",
    "rank_swap, guarantee strict",
    "rank_swap, guarantee strict, mixed columns, k = 10",
    "rank_swap, guarantee strict, one of eight columns, 100,000 records, k = 10",
    "rank_swap, guarantee strict, under constraints, 3 columns, k = 10",
)


SWAPPED = "data_swap of one column, rate 5 %, frames of 8 columns"
BESIDE = "data_swap, rate 5 %, equal in one column, true swaps, beside pandas"
DISTORTED = "distortion.table, 8 columns: 28 pairs and the whole"


ITEMSETS = (
    "extraction of assignments from a ring, 1,000,000 records",
    "votes over a ring, 1,000,000 × 7,117 items",
)


LINKAGE = "risk.linkage of strict rank swapping, 700 ICD-9-CM diagnoses a column, k = 10"


def seconds(value: float) -> str:
    """Write a time with three digits."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def rate(work: float, unit: str, time: float) -> str:
    """Write a speed in millions."""
    per_second = work / time
    return f"{per_second / 1e6:,.4g} million {unit}/s" if per_second >= 1e5 else f"{per_second:,.4g} {unit}/s"


def rows(results: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Gather what the tables need, by group."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for result in results:
        row = {**result["extra_info"], "name": result["name"], "time": result["stats"]["min"]}
        groups.setdefault(result["group"], []).append(row)
    return groups


def table(group: list[dict[str, Any]]) -> str:
    """Write one group as a table."""
    lines = ["| what | threads | best time | speed |", "|---|---|---|---|"]
    for row in group:
        who = row["name"].partition("[")[0].removeprefix("test_")
        what = f"{who}: {row['on']}" if who in ("nominym", "nltk", "hpo3", "dcor") else row["on"]
        speed = rate(row["work"], row["unit"], row["time"]) if "work" in row else ""
        lines.append(f"| {what} | {row['threads']} | {seconds(row['time'])} | {speed} |")
    return "\n".join(lines)


def ratios(groups: dict[str, list[dict[str, Any]]]) -> str:
    """State the claims: each a ratio of two figures of this run."""
    speeds = {
        f"{row['name']}": row["work"] / row["time"] for row in groups["distance matrix, Wu-Palmer"] if "work" in row
    }
    times = {row["name"]: row["time"] for row in groups["distance correlation, 1,000 categories each"]}
    lines = []

    def claim(text: str, over: str, under: str, of: dict[str, float]) -> None:
        if over in of and under in of:
            ratio = of[over] / of[under]
            lines.append(f"- {text}: **{f'{ratio:,.0f}' if ratio >= 100 else f'{ratio:.3g}'} ×**")

    one = "test_nominym[{}-1 thread]".format
    claim("WordNet, one thread, against nltk's `wup_similarity`", one("wordnet"), "test_nltk", speeds)
    claim("HPO, one thread, against hpo3 (Lin)", one("hpo"), "test_hpo3[lin]", speeds)
    claim("HPO, one thread, against hpo3 (path)", one("hpo"), "test_hpo3[dist]", speeds)
    claim("ICD-9-CM, all threads against one", "test_nominym[icd9-all threads]", one("icd9"), speeds)
    claim("WordNet, all threads against one", "test_nominym[wordnet-all threads]", one("wordnet"), speeds)
    claim("a memory copy against ICD-9-CM, all threads", "test_memory_copy", "test_nominym[icd9-all threads]", speeds)
    claim("distance correlation at n = 10,000 against dcor", "test_dcor[10000]", "test_nominym[10000]", times)
    claim("time at n = 10,000,000 against n = 1,000,000", "test_nominym[10000000]", "test_nominym[1000000]", times)
    swaps = {row["name"]: row["time"] for name, rows_ in groups.items() if name in SWAPPING for row in rows_}
    claim(
        "SRS-2 at n = 10,000 against numpy, as published",
        "test_naive[10000-dynamic]",
        "test_swap[10000-dynamic]",
        swaps,
    )
    claim(
        "SRS-3 at 10,000 × 3 against numpy, as published",
        "test_naive_records[10000]",
        "test_records[10000-3-20]",
        swaps,
    )
    claim("SRS-2: 10,000,000 against 1,000,000", "test_swap[10000000-dynamic]", "test_swap[1000000-dynamic]", swaps)
    claim(
        "SRS-3: 10,000,000 × 2 against 1,000,000 × 2",
        "test_records[10000000-2-20]",
        "test_records[1000000-2-20]",
        swaps,
    )
    claim("strict: 1,000,000 × 3 against 100,000 × 3", "test_strict[1000000-3-10]", "test_strict[100000-3-10]", swaps)
    for over, under in (("100000-8", "100000-2"), ("1000000-8", "100000-8")):
        sizes = " against ".join(f"{int(size[:-2]):,} × {size[-1]}" for size in (over, under))
        claim(f"strict, mixed columns: {sizes}", f"test_mixed[{over}]", f"test_mixed[{under}]", swaps)
    for hundred in ("ranks", "labels", "concepts"):
        claim(f"strict, 100,000 × 8: a column of distinct numbers against one of 100 {hundred}",
              "test_distinct[all distinct]", f"test_distinct[100 {hundred}]", swaps)  # fmt: skip
    for constraint in ("persons", "sensitive, l = 2", "sensitive, l = 3"):
        claim(f"{constraint} against no constraint, 100,000 × 3", f"test_constraints[100000-{constraint}]",
              "test_constraints[100000-none]", swaps)  # fmt: skip
    pairs = {row["name"]: row["time"] for name in (SWAPPED, BESIDE, DISTORTED) for row in groups.get(name, [])}
    claim(
        "data swapping at n = 10,000, equal in one column, against a loop in pandas",
        "test_beside_pandas[pandas-10000]",
        "test_beside_pandas[nominym-10000]",
        pairs,
    )
    claim(
        "data swapping, true swaps: 10,000,000 against 1,000,000",
        "test_data_swap[10000000-true swaps]",
        "test_data_swap[1000000-true swaps]",
        pairs,
    )
    claim(
        "distortion at 1,000,000 × 8, all five measures, against pandas' group-by, three of them",
        "test_distortion_pandas[1000000]",
        "test_distortion[1000000]",
        pairs,
    )
    claim(
        "distortion: 10,000,000 × 8 against 1,000,000 × 8",
        "test_distortion[10000000]",
        "test_distortion[1000000]",
        pairs,
    )
    sets = {row["name"]: row["time"] / row.get("work", 1) for name in ITEMSETS for row in groups.get(name, [])}
    claim(
        "one assignment of a ring of 16, 1,000,000 records: closed walk (all 16) against split",
        "test_extraction[closed-walk-16]",
        "test_extraction[split-16]",
        sets,
    )
    claim("augmentation (all 16) against split", "test_extraction[augment-16]", "test_extraction[split-16]", sets)
    claim(
        "votes over a ring of 16, a node: added up anew, in numpy, against one in, one out",
        "test_naive_votes",
        "test_votes[16]",
        sets,
    )
    claim("votes, k = 64 against k = 4", "test_votes[64]", "test_votes[4]", sets)
    attacks = {row["name"]: row["time"] for row in groups.get(LINKAGE, [])}
    claim("linkage at 10,000 × 3 against brute force in numpy", "test_naive[10000-3]", "test_linkage[10000-3]", attacks)
    claim("linkage: 1,000,000 × 3 against 100,000 × 3", "test_linkage[1000000-3]", "test_linkage[100000-3]", attacks)
    return "\n".join(lines)


def picture(groups: dict[str, list[dict[str, Any]]], file: Path) -> None:
    """Draw speed beside the peers, and growth with the number of records."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    wanted = {
        "test_nltk": "nltk (WordNet)",
        "test_hpo3[lin]": "hpo3 (HPO)",
        "test_nominym[wordnet-1 thread]": "nominym (WordNet), 1 thread",
        "test_nominym[hpo-1 thread]": "nominym (HPO), 1 thread",
        "test_nominym[icd9-1 thread]": "nominym (ICD-9), 1 thread",
        "test_nominym[icd9-all threads]": "nominym (ICD-9), all threads",
        "test_memory_copy": "memory copy",
    }
    found = {row["name"]: row["work"] / row["time"] for row in groups["distance matrix, Wu-Palmer"]}
    bars = [(label, found[name]) for name, label in wanted.items() if name in found]
    colours = [BLUE if "nominym" in label else ORANGE if label != "memory copy" else GREY for label, _ in bars]
    left.barh([label for label, _ in bars], [speed for _, speed in bars], color=colours)
    left.set_xscale("log")
    left.invert_yaxis()
    left.set_xlabel("distances per second")
    left.set_title("Distance matrices")
    for name, colour in (("nominym", BLUE), ("dcor", ORANGE)):
        rows_ = groups["distance correlation, 1,000 categories each"]
        line = [(row["x"], row["time"]) for row in rows_ if row["name"].startswith(f"test_{name}")]
        right.loglog(*zip(*line, strict=True), "o-", color=colour, label=name)
    right.set_xlabel("records")
    right.set_ylabel("seconds")
    right.set_title("Distance correlation, 1,000 categories each")
    right.grid(alpha=0.3)
    right.legend()
    fig.savefig(file, dpi=110)


def picture_of_swapping(groups: dict[str, list[dict[str, Any]]], file: Path) -> None:
    """Draw how the time of swapping grows with the number of records."""
    lines = (
        ("SRS-2 as published (numpy)", "test_naive[", "-dynamic]", None, GREY, "s--"),
        ("SRS-3 as published (numpy), 3 columns", "test_naive_records[", "]", None, GREY, "^--"),
        ("fixed (SRS-1), one column", "test_swap[", "-fixed]", None, ORANGE, "o-"),
        ("dynamic (SRS-2), one column", "test_swap[", "-dynamic]", None, BLUE, "o-"),
        ("records (SRS-3), 2 columns", "test_records[", "-20]", 2, GREEN, "o:"),
        ("records (SRS-3), 3 columns", "test_records[", "-20]", 3, GREEN, "o-"),
        ("strict, k = 10, 3 columns", "test_strict[", "-10]", 3, "#CC79A7", "o-"),
    )
    every = [row for name in SWAPPING for row in groups.get(name, [])]
    fig, axis = plt.subplots(figsize=(10, 5), layout="constrained")
    for label, start, end, m, colour, style in lines:
        found = [
            (row["x"], row["time"])
            for row in every
            if row["name"].startswith(start) and row["name"].endswith(end) and m in (None, row.get("m"))
        ]
        if found:
            axis.loglog(*zip(*sorted(found), strict=True), style, color=colour, label=label)
    axis.set_xlabel("records")
    axis.set_ylabel("seconds")
    axis.set_title("Time of rank swapping by number of records")
    axis.grid(alpha=0.3)
    fig.legend(loc="outside right upper")
    fig.savefig(file, dpi=110)


def main(source: str, folder: str) -> None:
    """Write ``benchmarks.md`` and its pictures."""
    data = json.loads(Path(source).read_text())
    groups = rows(data["benchmarks"])
    cpu = data["machine_info"].get("cpu", {}).get("brand_raw", platform.processor())
    parts = [
        "# Benchmarks",
        f"Written by `make bench` on {data['datetime'][:10]}: {cpu}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}. Every time is the best of several rounds in one run; matrices are "
        "filled into memory that is there already.",
        "![Speed of distance matrices beside peers, and time of the distance correlation by number of records]"
        "(benchmarks.png)",
        "![Time of rank swapping by number of records, beside the algorithms as published](benchmarks-swapping.png)",
        "## Ratios",
        ratios(groups),
        Path(__file__).with_name("growth.md").read_text().strip(),
    ]
    for name, group in groups.items():
        parts += [f"## {name[0].upper()}{name[1:]}", table(group)]
    Path(folder, "benchmarks.md").write_text("\n\n".join(parts) + "\n")
    picture(groups, Path(folder, "benchmarks.png"))
    picture_of_swapping(groups, Path(folder, "benchmarks-swapping.png"))


if __name__ == "__main__":
    main(*sys.argv[1:])
