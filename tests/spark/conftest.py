"""One Spark session for all tests that need one; they are skipped where there is no Java or no PySpark."""

from __future__ import annotations

import inspect
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


# Before xdist reads the marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            # One process runs all that need a session, since one is expensive; a cluster runs beside it.
            if "session" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.xdist_group("spark"))
            item.add_marker(pytest.mark.filterwarnings("default"))


@pytest.fixture(scope="session")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of Spark's event log."""
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def session(events: Path) -> Iterator[Any]:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17, which is not installed")
    sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed: pip install 'nominym[spark]'")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # One of another test would stay as it is, and repeat nothing.
    if (other := sql.SparkSession.getActiveSession()) is not None:
        other.stop()
    made = (
        sql.SparkSession.builder.master("local[2,2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.driver.memory", "1g")
        # Workers that die are many, and each would import all that tasks need.
        .config("spark.python.daemon.module", "preloaded")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)]))
        # Plans are adapted as they are by default; several tasks remain, however small they are.
        .config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        # Short jobs on small tables: code made for them, and what the best compiler of Java would gain, cost many times
        # what they save. The cluster of the other test has all of Spark's defaults, and the results here that killed
        # tasks are compared with are made by generated code.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", events.as_uri())
        .config("spark.eventLog.compress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture(scope="session")
def by_generated_code(session: Any) -> Any:
    """Give a context in which Spark generates code, as it does by default."""
    usual = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}

    @contextmanager
    def generated() -> Iterator[None]:
        before = {name: session.conf.get(name) for name in usual}
        try:
            for name, value in usual.items():
                session.conf.set(name, value)
            yield
        finally:
            for name, value in before.items():
                session.conf.set(name, value)

    return generated


@pytest.fixture
def kill_first_attempts() -> Any:
    """Give what makes a task that dies the first time, in half of the partitions."""

    def dying_once(run: Any) -> Any:
        def die() -> None:
            from pyspark import TaskContext

            task = TaskContext.get()
            if task.attemptNumber() == 0 and task.partitionId() % 2 == 0:
                os._exit(1)

        def dying_alone(rows: Any) -> Any:
            die()
            return run(rows)

        def dying(left: Any, right: Any) -> Any:
            die()
            return run(left, right)

        return dying if len(inspect.signature(run).parameters) == 2 else dying_alone

    return dying_once
