"""The same release on one machine and on Spark: time, processor time and peak memory of each process.

``python benches/study_spark.py 1000000 10`` draws so many records, publishes them with k = 10 in three ways, and prints
a table. Ways may be named, for tables that do not fit in the memory of one machine: ``python benches/study_spark.py
100000000 10 blocks``. Records are drawn a million at a time, each million with categories of its own, of the same
taxonomies. Spark runs on this machine (``local[2]``), driver, executor and Python workers being processes of their own.

``python benches/study_spark.py sets 40000 8`` measures what blocks cost set-valued records: the error rate of one block
and of several along the Gray order, on one machine.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import nominym as nym

MASKED = ("diagnosis", "secondary", "procedure")
TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
WAYS = {"one": "one machine", "driver": "Spark, plan of the driver", "blocks": "Spark, blocks"}


def main(records: int, k: int, ways: Sequence[str]) -> None:
    with TemporaryDirectory(prefix="nominym-spark-") as name:
        folder = Path(name)
        draw(records, folder / "visits.parquet")
        print("| | seconds | CPU seconds | driver, Python | JVM | Python workers | expected RMSE |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for way in ways or WAYS:
            line = [sys.executable, "-W", "ignore", __file__, "--run", name, str(k), way]
            before = time.monotonic()
            process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
            peaks, used = watched(process)
            took = time.monotonic() - before
            told = json.loads((process.stdout.read() if process.stdout else "").splitlines()[-1])
            sizes = " | ".join(f"{peaks[role] / 2**20:,.0f} MiB" if peaks[role] else "–" for role in peaks)
            print(f"| {WAYS[way]} | {took:,.0f} | {used:,.0f} | {sizes} | {told:.4f} |", flush=True)
            shutil.rmtree(folder / "release", ignore_errors=True)
            (folder / "one.parquet").unlink(missing_ok=True)


def draw(records: int, target: Path) -> None:
    target.mkdir()
    for part, first in enumerate(range(0, records, 1_000_000)):
        frame, _ = nym.datasets.discharges(min(1_000_000, records - first), seed=part)
        table = pa.Table.from_pandas(frame, preserve_index=False)
        texts = [
            pa.field(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in table.schema
        ]
        pq.write_table(table.cast(pa.schema(texts)), target / f"{part:03}.parquet")


def watched(process: subprocess.Popen[str]) -> tuple[dict[str, int], float]:
    """Return the peak memory of a process and of those below it, by their part, and the processor time of all."""
    peaks, used = dict.fromkeys(("driver", "jvm", "workers"), 0), {}
    while process.poll() is None:
        now = dict.fromkeys(peaks, 0)
        parents, own = {}, {}
        for path in Path("/proc").iterdir():
            if path.name.isdecimal():
                try:
                    fields = (path / "stat").read_text().rpartition(")")[2].split()
                    parents[int(path.name)] = int(fields[1])
                    own[int(path.name)] = (int(fields[21]) * PAGE, (int(fields[11]) + int(fields[12])) / TICK,
                                           (path / "comm").read_text().strip())  # fmt: skip
                except (OSError, IndexError):
                    continue
        for pid, (size, seconds, name) in own.items():
            above = pid
            while above and above != process.pid:
                above = parents.get(above, 0)
            if above == process.pid:
                role = "driver" if pid == process.pid else "jvm" if name == "java" else "workers"
                now[role] += size
                used[pid] = seconds
        peaks = {role: max(peaks[role], now[role]) for role in peaks}
        time.sleep(0.3)
    return peaks, sum(used.values())


def run(folder: Path, k: int, plan: str) -> None:
    _, meanings = nym.datasets.discharges(100, seed=0)
    roles = {
        **dict.fromkeys(MASKED, "quasi-identifier"),
        "age_group": "keep",
        "sex": "keep",
        "length_of_stay": "identifier",
    }
    meant = {name: meanings[name] for name in MASKED}
    if plan == "one":
        table = pq.read_table(folder / "visits.parquet", read_dictionary=list(MASKED))
        made = nym.publish(table, folder / "one.parquet", roles, nym.RankSwap(k=k), meant)
    else:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.memory", "3g")
            .config("spark.driver.maxResultSize", "0")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.local.dir", str(folder / "local"))
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        made = nym.publish(
            folder / "visits.parquet", folder / "release", roles, nym.RankSwap(k=k), meant, engine="spark", plan=plan
        )
    figures = made.manifest.summary["attributes"].values()
    print(json.dumps((sum(each["expected_rmse"] ** 2 for each in figures) / len(MASKED)) ** 0.5))


def recode_in_blocks(records: int, k: int) -> None:
    sets = nym.datasets.baskets(records, seed=1).sets
    order = nym.gray_order(sets)
    print("| blocks | error rate, expected |\n|---|---|")
    for blocks in (1, 4, 16):
        parts = np.array_split(order, blocks)
        error = sum(nym.recode(sets[part], k).summary["expected_error"] * len(part) for part in parts) / records
        print(f"| {blocks} | {error:.4f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        run(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    elif sys.argv[1] == "sets":
        recode_in_blocks(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
