"""Peers on the same records: pycanon for classes, microagg1d for one column of numbers, ARX hierarchies as input, and
sdcMicro where R has it.

Peers live in an environment of their own, whose Python NOMINYM_PEERS names (``pip install pycanon microagg1d``); what
is absent is skipped with a reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import nominym as nym
from pages import DATA, markdown

QUASI = ("sex", "race", "workclass", "education", "age")
HIERARCHIES = ("workclass", "education", "race", "sex")

_PYCANON = """
import sys, pandas as pd
from pycanon import anonymity
frame = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
for names in sys.argv[2:]:
    print(anonymity.k_anonymity(frame, names.split(",")))
"""


_MICROAGG1D = """
import sys, numpy as np
from microagg1d import univariate_microaggregation
values = np.loadtxt(sys.argv[1])
for k in sys.argv[2:]:
    # Its default for few values, "simple", is not the best there is.
    groups = univariate_microaggregation(values, int(k), method="galil_park")
    print(sum(((values[groups == g] - values[groups == g].mean()) ** 2).sum() for g in np.unique(groups)))
"""


def answers(program: str, path: Path, questions: list[str]) -> list[str]:
    """Ask a peer, in its own environment, several things of one file; nothing where there is no peer."""
    python = os.environ.get("NOMINYM_PEERS")
    if python is None:
        return []
    line = [python, "-c", program, str(path), *questions]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.split()


def univariate() -> Iterator[list[str]]:
    """Compare the squared distances of one column of numbers with the smallest there are, by microagg1d."""
    values, ks = np.random.default_rng(1).exponential(size=2_000), (2, 3, 5, 10)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "values.txt")
        np.savetxt(path, values)
        asked = answers(_MICROAGG1D, path, [str(k) for k in ks])
    skipped = ["skipped: NOMINYM_PEERS names no Python with microagg1d"] * len(ks)
    for k, theirs in zip(ks, asked or skipped, strict=True):
        made = nym.microaggregate({"x": values}, {"x": nym.Order()}, k=k).data["x"]
        what = f"smallest SSE of 2,000 numbers, k = {k} (microagg1d)"
        yield [what, f"{((values - made) ** 2).sum():.9g}", f"{float(theirs):.9g}" if asked else theirs]


def classes() -> Iterator[list[str]]:
    """Compare the smallest classes of Adult with those of pycanon."""
    frame = nym.datasets.load_adult(DATA / "adult")[list(QUASI)].dropna()
    sets = [list(QUASI[:count]) for count in range(1, len(QUASI) + 1)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "adult.csv")
        frame.to_csv(path, index=False)
        asked = answers(_PYCANON, path, [",".join(names) for names in sets])
    skipped = ["skipped: NOMINYM_PEERS names no Python with pycanon"] * len(sets)
    for names, theirs in zip(sets, asked or skipped, strict=True):
        ours = nym.risk.classes(frame, names).smallest
        yield [f"smallest class of {', '.join(names)} (pycanon: k-anonymity)", str(ours), theirs]


def sdcmicro() -> Iterator[list[str]]:
    """Say whether R has sdcMicro."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        yield ["sdcMicro: rank swapping, recordSwap, microaggregation", "", "skipped: there is no R here"]
        return
    asked = subprocess.run([rscript, "-e", "library(sdcMicro)"], capture_output=True, check=False)
    why = "skipped: R has no sdcMicro" if asked.returncode else "R has it; no comparison is written"
    yield ["sdcMicro: rank swapping, recordSwap, microaggregation", "", why]


def hierarchies() -> Iterator[list[str]]:
    """Swap Adult by the hierarchies that ARX publishes for it."""
    folder = DATA / "adult" / "hierarchies"
    meanings = {name: nym.read_taxonomy(folder / f"adult_hierarchy_{name}.csv") for name in HIERARCHIES}
    frame = nym.datasets.load_adult(DATA / "adult")[list(HIERARCHIES)].dropna()
    found = nym.Study({"Adult": frame}, nym.RankSwap(k=10), meanings, "rmse", seeds=1).run()
    value = found.set_index("measure")["value"]["rmse"]
    yield ["ARX hierarchies as input: strict, k = 10", f"RMSE {value:.3f}", "input only"]


def table() -> str:
    """Write all of it."""
    return markdown(["what", "nominym", "peer"], [*classes(), *univariate(), *sdcmicro(), *hierarchies()])


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
