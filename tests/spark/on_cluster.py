"""A driver of its own, for a test: a standalone cluster of two workers that have no nominym, one of which dies.

``python on_cluster.py FOLDER`` reads FOLDER/visits.parquet, starts master and workers on this machine, masks with and
without an executor being killed, and prints what came out as JSON.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyspark

import nominym as nym
from nominym.spark import methods, tasks

NEEDED = ("numpy*", "pandas*", "pyarrow*", "pyspark*", "py4j*", "dateutil*", "six*", "pytz*", "tzdata*")
HOME = Path(pyspark.__file__).parent
JARS = HOME / "jars"
# Short jobs: what the best compiler of Java would gain, it costs many times over.
FAST = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
# As the scripts of Spark have it.
ENVIRONMENT = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_SCALA_VERSION": "2.13"}


def main(folder: Path) -> None:
    shipped = shutil.make_archive(str(folder / "nominym"), "zip", Path(nym.__file__).parents[1], "nominym")
    packages = folder / "packages"
    packages.mkdir()
    for pattern in NEEDED:
        for path in Path(sysconfig.get_path("purelib")).glob(pattern):
            (packages / path.name).symlink_to(path)
    python = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    started: list[subprocess.Popen[str]] = []
    try:
        begin(folder, started, "master", "org.apache.spark.deploy.master.Master", "--port", "0")
        url = address(folder, "master")
        for number in range(2):
            options = ["--cores", "1", "--memory", "700m", "--work-dir", str(folder / f"work{number}"), url]
            begin(folder, started, f"worker{number}", "org.apache.spark.deploy.worker.Worker", *options)
        for number in range(2):
            address(folder, f"worker{number}")
        os.environ["PYSPARK_PYTHON"] = str(python)
        os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        session = (
            pyspark.sql.SparkSession.builder.master(url)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.memory", "600m")
            .config("spark.executor.memory", "600m")
            .config("spark.driver.extraJavaOptions", " ".join(FAST))
            .config("spark.executor.extraJavaOptions", " ".join(FAST))
            .config("spark.sql.shuffle.partitions", "3")
            .config("spark.archives", f"{shipped}#shipped")
            .config("spark.executorEnv.PYTHONPATH", f"shipped:{packages}")
            .config("spark.network.crypto.enabled", "true")
            .config("spark.authenticate", "true")
            .config("spark.authenticate.secret", "secret-of-a-test")
            .config("spark.io.encryption.enabled", "true")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        print(json.dumps(compare(session, folder)))
        session.stop()
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()


def begin(folder: Path, started: list[subprocess.Popen[str]], name: str, main_class: str, *options: str) -> None:
    """Start a part of the cluster."""
    secure = [
        "-Dspark.authenticate=true",
        "-Dspark.authenticate.secret=secret-of-a-test",
        "-Dspark.network.crypto.enabled=true",
    ]
    java = ["java", "-Xmx200m", *FAST, *secure, "-cp", f"{JARS}/*"]
    line = [*java, main_class, "--host", "127.0.0.1", "--webui-port", "0"]
    with (folder / f"{name}.log").open("w") as out:
        started.append(
            subprocess.Popen([*line, *options], stdout=out, stderr=out, text=True, cwd=folder, env=ENVIRONMENT)
        )


def address(folder: Path, name: str) -> str:
    """Wait for a part of the cluster, and return the address of the master that it says."""
    log = folder / f"{name}.log"
    said = r"Starting Spark master at (\S+)" if name == "master" else r"registered with master (\S+)"
    for _ in range(600):
        found = re.search(said, log.read_text())
        if found:
            return found[1]
        time.sleep(0.1)
    raise SystemExit(f"{name} did not start:\n{log.read_text()[-2000:]}")


def compare(session: Any, folder: Path) -> dict[str, Any]:
    def where(rows: Any) -> Any:
        """Say where a worker has nominym from."""
        import pyarrow as pa

        import nominym

        for _ in rows:
            yield pa.record_batch([pa.array([nominym.__file__])], names=["at"])

    data = session.read.parquet((folder / "visits.parquet").as_uri())
    at = {row[0] for row in data.limit(1).mapInArrow(where, "at string").collect()}
    methods.BLOCK_RECORDS = 200
    meanings = {"diagnosis": nym.Equality(), "stay": nym.Order()}
    calm = nym.spark.rank_swap(data, meanings, method="random", seed=1)
    expected = [tuple(row) for row in calm.data.collect()]
    marker, real = str(folder / "killed"), tasks.placing

    def killing(*given: Any) -> Any:
        place = real(*given)

        def die(left: Any, right: Any) -> Any:
            if not os.path.exists(marker):  # noqa: PTH110
                # Of two tasks that run at once, one is the first.
                with suppress(FileExistsError):
                    open(marker, "x").close()  # noqa: PTH123
                    # Above the worker is a daemon, and above that the executor.
                    stat = open(f"/proc/{os.getppid()}/stat").read()  # noqa: PTH123, SIM115
                    os.kill(int(stat.rpartition(")")[2].split()[1]), signal.SIGKILL)
                    time.sleep(60)
            return place(left, right)

        return die

    tasks.placing = killing
    stormy = nym.spark.rank_swap(data, meanings, method="random", seed=1)
    rows = [tuple(row) for row in stormy.data.collect()]
    return {
        "nominym": sorted(at), "killed": os.path.exists(marker), "rows": len(rows), "same": rows == expected,  # noqa: PTH110
        "summary": stormy.summary == calm.summary,
    }  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
