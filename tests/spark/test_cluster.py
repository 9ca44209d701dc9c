"""A standalone cluster of two workers on this machine, one of whose executors is killed in the middle."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'nominym[spark]'")


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17, which is not installed")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="executors are found by /proc")
def test_a_killed_executor_changes_nothing_and_workers_need_no_nominym(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    visits = {
        "diagnosis": rng.choice(list("abcdefgh"), 900),
        "stay": rng.integers(1, 30, 900),
        "sex": rng.choice(["m", "f"], 900),
    }
    pq.write_table(pa.table(visits), tmp_path / "visits.parquet")
    script = Path(__file__).with_name("on_cluster.py")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYTHONPATH"))}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, tmp_path], env={**environment, "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["killed"]
    assert told["same"]
    assert told["summary"]
    assert told["rows"] == 900
    # Shipped with the job, not installed.
    assert all(at.startswith(str(tmp_path)) for at in told["nominym"])
