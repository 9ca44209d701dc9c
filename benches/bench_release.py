"""The command line on large files: time and memory of a whole release, from a file to a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nominym as nym
from nominym.release import write_table

PROGRAM = """
import re, sys
import nominym.cli
# Not getrusage: its peak is that of the parent, if that was higher when it started the process.
peak = lambda: int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
before = peak()
try:
    nominym.cli.main(sys.argv[1:])
finally:
    print("peak", before, peak())
"""


@pytest.fixture(scope="session")
def discharges(tmp_path_factory: pytest.TempPathFactory):
    """Write discharges to files, 5 columns and an identifier."""
    folder = tmp_path_factory.mktemp("release")
    made: dict[tuple[int, str], Path] = {}

    def write(n: int, suffix: str) -> Path:
        if (n, suffix) not in made:
            frame, taxonomies = nym.datasets.discharges(n, seed=1)
            frame = frame.drop(columns="secondary")
            frame.insert(0, "patient", range(len(frame)))
            made[n, suffix] = folder / f"discharges-{n}{suffix}"
            write_table(frame, made[n, suffix])
            for name in ("diagnosis", "procedure"):
                taxonomies[name].save(folder / f"{name}.json")
        return made[n, suffix]

    return write


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("n", [2_000_000, 10_000_000])
@pytest.mark.parametrize("method", ["dynamic", "strict"])
@pytest.mark.benchmark(group="nominym swap, file to file: 6 columns of which 2 are masked, k = 10")
def test_swap(benchmark, discharges, n: int, suffix: str, method: str) -> None:
    path = discharges(n, suffix)
    folder, out = path.parent, path.with_name(f"release{suffix}")
    arguments = ["swap", path, "-o", out, "--identifier", "patient", "--overwrite", "--k", "10"]
    arguments += [] if method == "strict" else ["--method", method]
    for name in ("diagnosis", "procedure"):
        arguments += ["--quasi", f"{name}={folder / name}.json"]
    for name in ("age_group", "sex", "length_of_stay"):
        arguments += ["--keep", name]
    peaks = []

    def run() -> None:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=True
        )
        peaks.append(list(map(int, done.stdout.split("peak")[1].split())))

    benchmark.pedantic(run, rounds=1)
    before, peak = peaks[-1]
    on = (
        f"{method}, {n:,} records, {suffix}: file {path.stat().st_size / 2**20:,.0f} MB, peak {peak // 1024:,} MB, "
        f"of which {before // 1024:,} MB is the program"
    )
    benchmark.extra_info |= {"work": n, "unit": "records", "on": on, "threads": "all", "x": n}
