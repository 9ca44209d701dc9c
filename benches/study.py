"""All studies, timed: ``study.py folder`` writes their pages, and the time of the whole into the last of them.

Two scripts run side by side, with one thread each, so that both cores are in use throughout; the last one, which needs
the cells of the others, runs by itself. It begins anew; ``study.py folder --resume`` goes on from the cells that a run
before it stored.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pages import ALONE, CELLS, markdown

# Those that take longest come first, so that none is left over at the end.
SCRIPTS = ("study_itemsets", "study_rank_swap", "study_mixed", "study_guarantees", "study_aggregate", "study_data_swap",
           "study_noise", "reproduction")  # fmt: skip
LIMIT = 30  # minutes on two cores, idle
SIDE_BY_SIDE = 2
ONE = dict.fromkeys(("RAYON_NUM_THREADS", "NOMINYM_STUDY_WORKERS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

Times = dict[str, tuple[float, float]]
"""Seconds of each script: on the clock, and of processor time."""


def spent(script: str, folder: str, environment: dict[str, str]) -> tuple[float, float]:
    """Run a script, and return its seconds: on the clock, and of processor time with all that it started."""
    began = time.perf_counter()
    line = [sys.executable, str(Path(__file__).with_name(f"{script}.py")), folder]
    started = subprocess.Popen(line, env=environment)
    _, status, used = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise subprocess.CalledProcessError(started.returncode, line)
    took = time.perf_counter() - began, used.ru_utime + used.ru_stime
    sys.stderr.write("{}: {:.0f} s, {:.0f} s of processor time\n".format(script, *took))
    return took


def stated(times: Times, whole: float, resumed: bool) -> str:
    """Write the times of the scripts and of the whole.

    >>> print(stated({"study_noise": (60.0, 60.0), "reproduction": (30.0, 30.0)}, 90.0, False).splitlines()[0])
    The whole study took 1.5 minutes (1.5 minutes of processor time; 30 on two idle cores are the limit).
    """
    used = sum(each for _, each in times.values()) / 60
    said = (
        f"The whole study took {whole / 60:.1f} minutes ({used:.1f} minutes of processor time; {LIMIT} on two idle "
        "cores are the limit)."
    )
    if resumed:
        said += " It went on from stored cells, so this is too little."
    rows = [[f"`{name}`", f"{wall:.0f}", f"{processor:.0f}"] for name, (wall, processor) in times.items()]
    how = "Two scripts ran side by side, with one thread each; the last one ran by itself."
    return f"{said}\n{how}\n\n{markdown(['script', 'seconds', 'of processor time'], rows)}"


def main(folder: str, *more: str) -> None:
    """Run everything."""
    resumed = "--resume" in more
    if not resumed:
        shutil.rmtree(CELLS, ignore_errors=True)
    began = time.perf_counter()
    *first, last = SCRIPTS
    with ThreadPoolExecutor(SIDE_BY_SIDE) as lanes:
        running = {script: lanes.submit(spent, script, folder, {**os.environ, **ONE}) for script in first}
        times = {script: each.result() for script, each in running.items()}
    times[last] = spent(last, folder, dict(os.environ))
    text = stated(times, time.perf_counter() - began, resumed)
    page = Path(folder, "reproduction.md")
    page.write_text(page.read_text("utf-8").replace(ALONE, text), "utf-8")
    sys.stderr.write(text.splitlines()[0] + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
