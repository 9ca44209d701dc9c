"""What the pages of studies share: data, seeds, tables, words for how often something holds, and filling a page.

Cells are kept below ``out/study``, so that a run that was ended goes on. With NOMINYM_STUDY_SEEDS=2 every study takes
two seeds at most, to try it out; pages say how many seeds they are of. NOMINYM_STUDY_WORKERS sets how many cells run
at a time.
"""

from __future__ import annotations

import math
import os
import re
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

import nominym as nym
from nominym.study.summary import t_quantile

DATA = Path(os.environ.get("NOMINYM_DATA", Path(__file__).parents[2] / "shared" / "data"))
CELLS = Path(__file__).parents[1] / "out" / "study"
WORKERS = int(os.environ["NOMINYM_STUDY_WORKERS"]) if "NOMINYM_STUDY_WORKERS" in os.environ else None
COLOURS = ("#D55E00", "#56B4E9", "#009E73", "#0072B2", "#E69F00", "#999999", "#CC79A7")
BEGAN = time.perf_counter()
# Nothing of this is released.
warnings.simplefilter("ignore", nym.SeedWarning)
FAILED = "(not in this run:)"
ALONE = "This page was written by itself, so the time of the whole study is not known."


def seeds(count: int) -> range:
    """Return the seeds of a study: so many, or fewer where it is tried out."""
    return range(min(count, int(os.environ.get("NOMINYM_STUDY_SEEDS", count))))


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Write a table."""
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *rows))


def run(data: Any, methods: Any, measures: Any, count: int, **more: Any) -> pd.DataFrame:
    """Run a study, and lay it out with a row for each cell and a column for each measure; no cell may fail."""
    study = nym.Study(data, methods, measures=measures, seeds=seeds(count), path=CELLS, **more)
    found = study.run(sys.stderr.isatty(), workers=WORKERS)
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


def listed(count: int) -> str:
    """List the seeds of a study.

    >>> listed(1), listed(10)
    ('seed 0', 'seeds 0 to 9')
    """
    last = len(seeds(count)) - 1
    return f"seeds 0 to {last}" if last else "seed 0"


def interval(count: int) -> float:
    """Return what a standard deviation of so many figures is multiplied with for half the width of an interval."""
    return t_quantile(0.95, count - 1) / math.sqrt(count)


def half(values: pd.Series) -> float:
    """Return half the width of the 95 % confidence interval of a mean (Student's t)."""
    return float(nym.study.means(pd.DataFrame({"measure": "x", "value": values, "error": ""}), "measure")["half"][0])


def spread(values: pd.Series, form: str) -> str:
    """Write a mean ± half the width of its confidence interval, which one figure does not have.

    >>> spread(pd.Series([1.0, 2.0, 3.0]), "{:.1f}"), spread(pd.Series([1.0]), "{:.1f}")
    ('2.0 ± 2.5', '1.0')
    """
    wide = half(values)
    return form.format(values.mean()) + ("" if math.isnan(wide) else f" ± {form.format(wide)}")


def checked(text: str, claims: Mapping[str, bool]) -> str:
    """Write the claims of a template, ``[[name: sentence]]``; one that does not hold in this run is marked.

    >>> checked("It [[cold: is cold]] and [[wet: wet]].", {"cold": True, "wet": False})
    'It is cold and (not in this run:) wet.'
    """
    assert set(re.findall(r"\[\[([a-z_]+): ", text)) == set(claims), "claims of the template and of the study differ"

    def written(found: re.Match[str]) -> str:
        return found[2] if claims[found[1]] else f"{FAILED} {found[2]}"

    return re.sub(r"\[\[([a-z_]+): (.*?)\]\]", written, text, flags=re.DOTALL)


def fill(page: str, parts: dict[str, str], folder: str, claims: Mapping[str, bool] | None = None) -> None:
    """Write a page from its template: every place is filled, every part has a place, and every claim is checked."""
    template = Path(__file__).with_name(f"study_{page.replace('-', '_')}.md").read_text("utf-8")
    template = checked(template, claims or {})
    places = set(re.findall(r"\{([a-z_0-9]+)\}", template))
    parts = {"minutes": f"{(time.perf_counter() - BEGAN) / 60:.0f}", **parts}
    assert places <= set(parts), f"{places - set(parts)} are not filled"
    assert set(parts) - {"minutes"} <= places, f"{set(parts) - places} have no place"
    for name in places:
        template = template.replace(f"{{{name}}}", parts[name])
    Path(folder, {"itemsets": "item-sets", "rank_swap": "rank-swapping", "data_swap": "data-swapping"}.get(page, page)
         + "-study.md").write_text(template, "utf-8")  # fmt: skip
