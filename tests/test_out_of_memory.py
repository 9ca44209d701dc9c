"""Without memory a command is done or refused: a whole result, or one message, code 4 and nothing written."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import nominym as nym
from commands import ROLES, Run
from nominym import _core, control
from nominym.release import sizing

MIB = 1 << 20
# Ends like the command, and tells how large the address space of the process became.
MEASURED = """
import atexit, re, sys
from nominym.cli import main
size = lambda: re.search(r"VmPeak:\\s*(\\d+)", open("/proc/self/status").read())[1]
atexit.register(lambda: sys.stderr.write(f"\\npeak {size()}"))
main()
"""
IMPORTS = """
import re
from nominym import control
control.begin()
import jinja2, plotly.graph_objects, nominym.report
print(re.search(r"VmSize:\\s*(\\d+)", open("/proc/self/status").read())[1])
"""


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str
    files: set[str]


def limited(program: list[str], folder: Path, limit: int, kind: int = resource.RLIMIT_AS) -> Ended:
    """Run Python in an empty folder, with a limit on the memory of the process."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, *program],
        cwd=folder,
        # A backtrace takes memory as well.
        env={**os.environ, "RUST_BACKTRACE": "1"},
        preexec_fn=lambda: resource.setrlimit(kind, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=300,
    )
    return Ended(done.returncode, done.stdout, done.stderr, {path.name for path in folder.iterdir()})


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make tables and item sets, so large that what is proportional to them counts, and a release."""
    folder, rng = tmp_path_factory.mktemp("data"), np.random.default_rng(1)
    leaves = [f"{upper:02}.{lower:02}" for upper in range(30) for lower in range(25)]
    edges = ["illness,", *(f"{upper:02},illness" for upper in range(30)), *(f"{leaf},{leaf[:2]}" for leaf in leaves)]
    (folder / "illness.csv").write_text("\n".join(["id,parent", *edges]) + "\n")
    n = 100_000
    diagnoses = [leaves[i] for i in (rng.random(n) ** 3 * len(leaves)).astype(int)]
    ages = rng.integers(0, 90, n).tolist()
    visits = [f"P{i:07},{diagnoses[i]},{ages[i]},{'AB'[i % 2]}" for i in range(n)]
    (folder / "visits.csv").write_text("\n".join(["name,diagnosis,age,ward", *visits]) + "\n")
    few = [f"P{i:07},{diagnoses[i]}" for i in range(60_000)]
    (folder / "few.csv").write_text("\n".join(["name,diagnosis", *few]) + "\n")
    sets = (np.sort(rng.random((15_000, 5)) ** 3 * 200, axis=1)).astype(int).tolist()
    (folder / "baskets.dat").write_text("\n".join(" ".join(map(str, sorted(set(items)))) for items in sets) + "\n")
    roles = {"name": "identifier", "diagnosis": "quasi-identifier"}
    made = folder / "release.csv"
    meanings = {"diagnosis": folder / "illness.csv"}
    nym.publish(folder / "few.csv", made, roles, nym.RankSwap(k=200), meanings, key=folder / "key.parquet")
    return folder


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> int:
    """Measure the address space that imports take."""
    return int(limited(["-c", IMPORTS], tmp_path_factory.mktemp("base"), 8 << 30).out) << 10


def arguments(command: str, data: Path) -> list[str]:
    masked = ["--identifier", "name", "--quasi", f"diagnosis={data / 'illness.csv'}", "--keep", "ward"]
    made = ["-o", "made.csv", "--key", "made.parquet"]
    judged = [data / "few.csv", data / "release.csv", "--key", data / "key.parquet"]
    judged += ["--quasi", f"diagnosis={data / 'illness.csv'}"]
    how: dict[str, list[object]] = {
        "swap": [data / "visits.csv", *made, *masked, "--quasi", "age=number", "--k", "5"],
        "noise": [data / "visits.csv", *made, *masked, "--keep", "age", "--alpha", "0.5"],
        "recode": [data / "baskets.dat", "-o", "made.txt", "--key", "made.parquet", "--k", "4", "--effort", "none"],
        "audit": judged,
        "report": [*judged, "--edition", "owner", "-o", "made.html"],
    }
    return [command, *map(str, how[command])]


def is_whole(command: str, ended: Ended, folder: Path) -> bool:
    """Tell whether a command that says so has done its work."""
    if command == "audit":
        return "guarantee verified" in ended.out and not ended.files
    if command == "report":
        return ended.files == {"made.html"} and (folder / "made.html").read_text().rstrip().endswith("</html>")
    made = folder / ("made.txt" if command == "recode" else "made.csv")
    if ended.files != {made.name, f"{made.name}.manifest.json", "made.parquet"}:
        return False
    manifest = nym.release.read_manifest(made)
    manifest.check(made)
    return len(nym.release.read_record(folder / "made.parquet", made, manifest.output["rows"]).rows) > 0


def refused(ended: Ended) -> bool:
    """Tell whether a command was refused in one line that says what it needs, and left nothing."""
    one = [line for line in ended.err.splitlines() if line.startswith("error: ")] == ended.err.splitlines()
    told = re.search(r"needs [0-9.,]+ [MG]iB, [0-9.,]+ [MG]iB are free|not enough memory", ended.err)
    return ended.code == 4 and one and told is not None and ended.err.count("\n") == 1 and not ended.files


@pytest.mark.parametrize("command", ["swap", "noise", "recode", "audit", "report"])
def test_many_sizes(command: str, data: Path, base: int, tmp_path: Path) -> None:
    free = limited(["-c", MEASURED, *arguments(command, data)], tmp_path / "free", 8 << 30)
    peak = int(free.err.rpartition("peak ")[2]) << 10
    assert free.code == 0
    # From hardly Python itself to more than enough; most where something is in memory, but not all.
    enough = peak + (peak - base) // 2 + 2 * control.SPARE
    sizes = [
        *np.linspace(32 * MIB, base, 2),
        *np.linspace(base + 8 * MIB, peak + control.SPARE, 4),
        enough,
    ]
    wrong, codes = {}, []
    for size in map(int, sizes):
        folder = tmp_path / f"{size // MIB} MiB"
        ended = limited(["-m", "nominym", *arguments(command, data)], folder, size)
        codes.append(ended.code)
        if not (is_whole(command, ended, folder) if ended.code == 0 else refused(ended)):
            wrong[folder.name] = ended.code, ended.err[-500:], ended.files
    assert not wrong
    assert codes[0] == 4
    assert codes[-1] == 0


def test_other_limits(data: Path, tmp_path: Path) -> None:
    """A limit on the data of a process (``ulimit -d``) counts as well."""
    for mebibytes, code in ((60, 4), (150, 4), (2000, 0)):
        folder = tmp_path / str(mebibytes)
        ended = limited(["-m", "nominym", *arguments("noise", data)], folder, mebibytes * MIB, resource.RLIMIT_DATA)
        assert ended.code == code
        assert is_whole("noise", ended, folder) if code == 0 else refused(ended)


NUMBERED = """
import resource, sys
import numpy as np
from nominym.risk.scene import _numbered
codes = np.random.default_rng(1).integers(0, 10**9, 1_000_000)
size = int(open("/proc/self/statm").read().split()[0]) * 4096 + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (size, size))
try:
    _numbered([(codes, 10**9)])
except MemoryError:
    print("refused")
"""


def test_combinations_are_numbered_or_refused(tmp_path: Path) -> None:
    """The hash table of pandas would end the process."""
    sizes = (1, 12, 24, 50)
    found = [limited(["-c", NUMBERED, str(more * MIB)], tmp_path / str(more), 8 << 30) for more in sizes]
    assert [(ended.code, ended.err) for ended in found] == [(0, "")] * len(sizes)
    assert found[0].out == "refused\n"


READING = """
import resource, sys
import nominym as nym
import nominym.release
size = int(open("/proc/self/statm").read().split()[0]) * 4096 + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (size, size))
try:
    nym.release.read_table(sys.argv[2])
except MemoryError:
    print("refused")
"""


def test_reading_neither_hangs_nor_ends_the_process(tmp_path: Path) -> None:
    """Arrow waits for ever for a thread that cannot be started."""
    table = tmp_path / "a.csv"
    table.write_text("a,b\n" + "one,two\n" * 1000)
    sizes = (1, 10, 18, 25, 47)
    found = [limited(["-c", READING, str(more * MIB), str(table)], tmp_path / str(more), 8 << 30) for more in sizes]
    assert [(ended.code, ended.err) for ended in found] == [(0, "")] * len(sizes)
    assert found[0].out == "refused\n"


SYSTEM = {
    "proc/meminfo": "MemTotal: 9999999 kB\nMemAvailable: 8192000 kB\n",
    "proc/self/cgroup": "0::/user/job\n",
    "proc/self/mountinfo": "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n",
    "sys/fs/cgroup/user/memory.max": f"{1000 * MIB}\n",
    "sys/fs/cgroup/user/memory.current": f"{700 * MIB}\n",
    "sys/fs/cgroup/user/memory.stat": f"anon 5\ninactive_file {100 * MIB}\n",
    "sys/fs/cgroup/user/job/memory.max": "max\n",
    "sys/fs/cgroup/user/job/memory.current": "5\n",
}


@pytest.mark.parametrize(("changes", "free"), [
    ({}, 400),
    ({"proc/meminfo": "MemAvailable: 204800 kB\n"}, 200),
    ({"sys/fs/cgroup/user/memory.max": "max\n"}, 8000),
    ({"sys/fs/cgroup/user/job/memory.max": f"{50 * MIB + 5}\n"}, 50),
    ({"proc/self/limits": f"Max address space  {900 * MIB}  unlimited  bytes\n",
      "proc/self/status": "VmSize:\t 614400 kB\n"}, 300),
])  # fmt: skip
def test_control_groups_count(changes: dict[str, str], free: int, tmp_path: Path) -> None:
    """The least of what the machine, each control group and the process have."""
    for name, text in {**SYSTEM, **changes}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert _core.free_memory(str(tmp_path)) == free * MIB


PANIC = """
import numpy as np
import nominym.release
from nominym import _core, cli
x = np.array([5, 0], dtype=np.uint32)  # a joint list that is not ordered
defect = lambda *_, **__: _core.covariance_squared(x, x, np.ones(2, np.uint64), np.eye(3), np.eye(3))
nominym.release.publish = defect
cli.main()
"""


def test_a_panic_is_a_defect(tmp_path: Path) -> None:
    """No backtrace, which takes memory, and a code that means nothing else."""
    ended = limited(["-c", PANIC, "swap", "visits.csv", "-o", "release.csv", *ROLES, "--k", "5"], tmp_path, 8 << 30)
    assert (ended.code, ended.out, ended.err.count("\n"), ended.files) == (70, "", 1, set())


# ---- what is told, and whether it is so


def test_what_is_needed_is_told_before(run: Run) -> None:
    done = run("--verbose", "swap", "visits.csv", "-o", "release.csv", "--key", "key.parquet", *ROLES, "--k", "5")
    told = r"notice: masking about 60 records of 3 columns needs [0-9.]+ MiB, [0-9.,]+ .iB are free\n"
    assert (done.code, len(re.findall(told, done.err))) == (0, 1)
    audit = ("audit", "visits.csv", "release.csv", "--key", "key.parquet")
    assert "are free" not in run(*audit).err
    assert "notice: comparing about 60 records of 3 columns needs" in run("--verbose", *audit).err


def test_errors_say_what_is_needed_and_free(run: Run, files: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "free_memory", lambda: 20 * MIB)
    monkeypatch.setattr(control, "LITTLE", 0)
    monkeypatch.setattr(sizing, "RELEASE", sizing.Bytes(MIB, 0))
    done = run("swap", "visits.csv", "-o", "release.csv", *ROLES, "--k", "5")
    told = "error: masking about 60 records of 3 columns needs 60.0 MiB, 20.0 MiB are free; end other programs"
    assert (done.code, done.err.startswith(told)) == (4, True)
    assert not files()


@pytest.mark.parametrize("where", ["ParquetFile", "ParquetFile.iter_batches"])
def test_running_out_is_no_damage(run: Run, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Arrow's error is one of memory and one of Arrow: what cannot be read for lack of memory is not damaged."""
    nym.release.write_table({"diagnosis": ["flu", "cold"] * 30}, "visits.parquet")

    def fail(*_: object, **__: object) -> None:
        raise pa.ArrowMemoryError("malloc of size 4096 failed")

    monkeypatch.setattr(f"pyarrow.parquet.{where}", fail)
    done = run("swap", "visits.parquet", "-o", "release.csv", "--quasi", "diagnosis=illness.csv", "--k", "5")
    assert (done.code, "not enough memory" in done.err) == (4, True)


BOUNDS = """
import json, re, sys
from pathlib import Path
from nominym import control
control.begin()
import nominym as nym
from nominym.release import sizing
vm = lambda name: int(re.search(name + r":\\s*(\\d+)", open("/proc/self/status").read())[1]) << 10
work, columns, asked = sys.argv[1], sys.argv[2].split(","), []

def noted(ask):
    def note(size, what, remedy):
        asked.append((what, size, vm("VmSize")))
        ask(size, what, remedy)
    return note

def do(name):
    source, made, key = f"{name}.csv", f"{name}.release.csv", f"{name}.parquet"
    if work == "release":
        roles = {**dict.fromkeys(columns, "keep"), **dict.fromkeys(columns[:2], "quasi-identifier")}
        method, meanings = nym.RankSwap(k=5, accept=columns[2:]), dict.fromkeys(columns[:2], nym.Equality())
        nym.publish(source, made, roles, method, meanings, key=key, overwrite=True)
    else:
        nym.release.verify(nym.release.compare_files(source, made, key=key))

do("small")  # what is loaded and started once is not counted
sizing.require, sizing.expect = noted(sizing.require), noted(sizing.expect)
do("large")
print(json.dumps([(what, size, vm("VmPeak") - at) for what, size, at in asked]))
"""


@pytest.mark.parametrize("columns", [3, 9])
def test_bounds(columns: int, tmp_path: Path) -> None:
    """What is asked for is enough, and not much more than enough."""
    n, rng, names = 250_000, np.random.default_rng(1), [f"c{i}" for i in range(columns)]
    for name, rows in (("small", n // 20), ("large", n)):
        nym.release.write_table({each: rng.integers(0, 50, rows) for each in names}, tmp_path / f"{name}.csv")
    for work in ("release", "comparison"):
        ended = limited(["-W", "ignore", "-c", BOUNDS, work, ",".join(names)], tmp_path, 8 << 30)
        assert ended.code == 0, ended.err
        first, last = [figures for what, *figures in json.loads(ended.out) if not what.startswith("reading")]
        for size, taken in (first, last):
            assert taken <= size + control.SPARE
        assert first[0] <= 3 * first[1] + control.SPARE
