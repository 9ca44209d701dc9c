"""What the pages of studies share: data, seeds, tables, words for how often something holds, and filling a page.

Cells are kept below ``out/study``, so that a run that was ended goes on. With NOMINYM_STUDY_SEEDS=2 every study takes
two seeds at most, to try it out; pages say how many seeds they are of.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd

import nominym as nym

DATA = Path(os.environ.get("NOMINYM_DATA", Path(__file__).parents[2] / "shared" / "data"))
CELLS = Path(__file__).parents[1] / "out" / "study"
COLOURS = ("#D55E00", "#56B4E9", "#009E73", "#0072B2", "#E69F00", "#999999", "#CC79A7")
BEGAN = time.perf_counter()


def seeds(count: int) -> range:
    """Return the seeds of a study: so many, or fewer where it is tried out."""
    return range(min(count, int(os.environ.get("NOMINYM_STUDY_SEEDS", count))))


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def run(data: Any, methods: Any, measures: Any, count: int, **more: Any) -> pd.DataFrame:
    """Run a study, and lay it out with a row for each cell and a column for each measure; no cell may fail."""
    found = nym.Study(data, methods, measures=measures, seeds=seeds(count), path=CELLS, **more).run(sys.stderr.isatty())
    assert not found["error"].any(), found.loc[found["error"] != "", "error"].iloc[0]
    told = [name for name in found if name not in ("measure", "value", "error")]
    # Parts of one measure are columns of their own: told[mean] is mean.
    names = found["measure"].str.replace(r"^told\[(.*)\]$", r"\1", regex=True)
    laid = found.assign(measure=names).set_index([*told, "measure"])["value"].unstack()
    return laid.reset_index()


def how_often(holds: pd.Series) -> str:
    """Say in how many runs something held.

    >>> how_often(pd.Series([True, True])), how_often(pd.Series([True, False, True]))
    ('in every run', 'in 2 of 3 runs')
    """
    count = int(holds.sum())
    return {0: "in no run", len(holds): "in every run"}.get(count, f"in {count} of {len(holds)} runs")


def half(values: pd.Series) -> float:
    """Return half the width of the 95 % confidence interval of a mean (Student's t)."""
    return float(nym.study.means(pd.DataFrame({"measure": "x", "value": values, "error": ""}), "measure")["half"][0])


def fill(page: str, parts: dict[str, str], folder: str) -> None:
    """Write a page from its template: every place is filled, and every part has a place."""
    template = Path(__file__).with_name(f"study_{page.replace('-', '_')}.md").read_text("utf-8")
    places = set(re.findall(r"\{([a-z_0-9]+)\}", template))
    parts = {"minutes": f"{(time.perf_counter() - BEGAN) / 60:.0f}", **parts}
    assert places <= set(parts), f"{places - set(parts)} are not filled"
    assert set(parts) - {"minutes"} <= places, f"{set(parts) - places} have no place"
    for name in places:
        template = template.replace(f"{{{name}}}", parts[name])
    Path(folder, {"itemsets": "item-sets", "rank_swap": "rank-swapping", "data_swap": "data-swapping"}.get(page, page)
         + "-study.md").write_text(template, "utf-8")  # fmt: skip
