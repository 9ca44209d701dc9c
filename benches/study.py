"""All studies in turn, timed: ``study.py folder`` writes their pages, and the time of the whole into the last of them.

It begins anew; ``study.py folder --resume`` goes on from the cells that a run before it stored.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from pages import ALONE, CELLS, markdown

SCRIPTS = ("study_rank_swap", "study_noise", "study_data_swap", "study_itemsets", "study_guarantees", "study_mixed",
           "study_aggregate", "reproduction")  # fmt: skip
LIMIT = 30  # minutes on two cores, idle


def spent(script: str, folder: str) -> tuple[float, float]:
    """Run a script, and return its seconds: on the clock, and of all processors together."""
    began, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, str(Path(__file__).with_name(f"{script}.py")), folder], check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, used


def stated(times: dict[str, tuple[float, float]], resumed: bool) -> str:
    """Write the times of the scripts and of the whole.

    >>> print(stated({"study_noise": (60.0, 90.0), "reproduction": (30.0, 30.0)}, False).splitlines()[0])
    The whole study took 1.5 minutes (2.0 minutes of processor time; 30 on two idle cores are the limit).
    """
    whole = [sum(each) / 60 for each in zip(*times.values(), strict=True)]
    said = (
        f"The whole study took {whole[0]:.1f} minutes ({whole[1]:.1f} minutes of processor time; {LIMIT} on two idle "
        "cores are the limit)."
    )
    if resumed:
        said += " It went on from stored cells, so this is too little."
    rows = [[f"`{name}`", f"{wall:.0f}", f"{used:.0f}"] for name, (wall, used) in times.items()]
    return f"{said}\n\n{markdown(['script', 'seconds', 'of processor time'], rows)}"


def main(folder: str, *more: str) -> None:
    """Run everything."""
    resumed = "--resume" in more
    if not resumed:
        shutil.rmtree(CELLS, ignore_errors=True)
    times = {}
    for script in SCRIPTS:
        times[script] = spent(script, folder)
        sys.stderr.write("{}: {:.0f} s, {:.0f} s of processor time\n".format(script, *times[script]))
    text = stated(times, resumed)
    page = Path(folder, "reproduction.md")
    page.write_text(page.read_text("utf-8").replace(ALONE, text), "utf-8")
    sys.stderr.write(text.splitlines()[0] + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
