"""How commands end: the code says what became of the work, whatever happens to the streams, by whichever signal."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import nominym as nym
from commands import ROLES, Run

SWAP = ("swap", "visits.csv", "-o", "release.csv", *ROLES, "--k", "5")
AUDIT = ("audit", "visits.csv", "release.csv", "--quasi", "diagnosis=illness.csv", "--unknown", "ward", "--unknown",
         "cost", "--key", "owner.parquet")  # fmt: skip
RELEASE = {"release.csv", "release.csv.manifest.json"}

Files = Callable[[], set[str]]


def shell(arguments: tuple[str, ...], ending: str) -> subprocess.CompletedProcess[str]:
    """Run a command with its streams redirected by a shell."""
    line = f'"{sys.executable}" -m nominym "$@" {ending}'
    return subprocess.run(
        ["bash", "-c", line, "bash", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


# ---- streams

UNREADABLE = [">/dev/full", ">&-", "2>/dev/full", "2>&-", ">/dev/full 2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"]


@pytest.mark.parametrize("ending", UNREADABLE)
def test_a_release_is_complete_whoever_can_read_about_it(folder: Path, files: Files, ending: str) -> None:
    done = shell(SWAP, ending)
    assert (done.returncode, files()) == (0, RELEASE), done.stderr
    assert nym.release.read_manifest("release.csv").output["rows"] == 60
    assert "Traceback" not in done.stderr
    if ending in (">/dev/full", ">&-"):
        why = "No space left on device" if "full" in ending else "the stream is closed"
        told = f"release.csv are complete; the summary could not be printed ({why})"
        assert done.stderr.splitlines()[-1].startswith("warning: release.csv.manifest.json, ")
        assert told in done.stderr


def test_other_files_are_complete_as_well(folder: Path, files: Files) -> None:
    done = shell(("taxonomy", "convert", "illness.csv", "-o", "t.json"), ">/dev/full")
    assert (done.returncode, files()) == (0, {"t.json"})
    assert "warning: t.json is complete; the summary could not be printed (No space left on device)" in done.stderr


@pytest.fixture
def audited(run: Run) -> None:
    """Make a release that an audit verifies."""
    assert run(*SWAP, "--key", "owner.parquet").code == 0


@pytest.mark.usefixtures("audited")
@pytest.mark.parametrize(
    ("ending", "code"),
    [(">/dev/full", 4), ("2>/dev/full", 0), ("2>&-", 0), (">&- 2>&-", 4)],
)
def test_an_audit_ends_with_its_verdict_or_says_that_it_could_not_be_printed(ending: str, code: int) -> None:
    done = shell((*AUDIT, "--k", "5"), ending)
    assert done.returncode == code, done.stderr
    assert ("guarantee verified" in done.stdout) == (code == 0)
    if "2>" not in ending:
        assert "error: the result could not be printed (" in done.stderr
    # Broken because of the files, not of the streams: 1 if somebody can read it.
    done = shell((*AUDIT, "--k", "6"), ending)
    assert done.returncode == (code or 1)


@pytest.mark.usefixtures("audited")
@pytest.mark.parametrize(("k", "code"), [("5", 0), ("6", 1)])
def test_a_reader_that_has_seen_enough(k: str, code: int) -> None:
    line = f'"{sys.executable}" -m nominym "$@" | true; exit ${{PIPESTATUS[0]}}'
    for json in ((), ("--json",)):
        done = subprocess.run(
            ["bash", "-c", line, "bash", *AUDIT, "--k", k, *json], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (code, "")
        assert "rror" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "ending", "code"),
    [
        (("--help",), ">/dev/full", 4),
        (("swap", "--help"), ">/dev/full", 4),
        (("--version",), ">&-", 4),
        (("--version",), "2>&-", 0),
        (("swap", "--nonsense"), "2>/dev/full", 2),
        (("swap", "--nonsense"), "2>&-", 2),
        ((), "2>/dev/full", 2),
        (("swap", "absent.csv", *SWAP[2:]), "2>/dev/full", 4),
        (("audit", "absent.csv", "visits.csv", "--keep-order"), "2>/dev/full", 4),
        (("taxonomy", "distance", "illness.csv", "flu", "colt"), "2>&-", 3),
        (("taxonomy", "distance", "illness.csv", "flu", "colt"), ">&- 2>&-", 3),
        (("taxonomy", "distance", "illness.csv", "flu", "cold"), ">/dev/full 2>&-", 4),
    ],
)
@pytest.mark.usefixtures("folder")
def test_codes_do_not_depend_on_who_can_read_the_message(arguments: tuple[str, ...], ending: str, code: int) -> None:
    assert shell(arguments, ending).returncode == code


def test_no_file_takes_the_number_of_a_closed_stream(folder: Path) -> None:
    """What some library writes to standard error must not end up in a release."""
    program = """
    import os, sys
    from nominym import atomic
    from nominym.cli import main
    opened = os.open
    def watched(*args, **how):
        number = opened(*args, **how)
        if args[0] != os.devnull:
            notes = opened("numbers", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
            os.write(notes, b"%d " % number)
            os.close(notes)
        return number
    atomic.os.open = watched
    main(sys.argv[1:])
    """
    command = [sys.executable, "-c", textwrap.dedent(program), *SWAP]
    done = subprocess.run(["bash", "-c", '"$@" <&- >&- 2>&-', "bash", *command], timeout=60, check=False)
    assert done.returncode == 0
    assert min(map(int, Path("numbers").read_text().split())) > 2


# ---- signals

HELD = """
import os, sys, time
from nominym.{module} import {name} as held
import nominym.{module} as module
def hold(*args, **how):
    {before}
    os.write(1, b"held\\n")
    time.sleep(60)
module.{name} = hold
from nominym.cli import main
sys.argv = ["nominym", *sys.argv[1:]]
main()
"""


def held(module: str, name: str, before: str = "") -> subprocess.Popen[str]:
    """Start a release that is held back before or after a function is called."""
    program = HELD.format(module=module, name=name, before=before)
    process = subprocess.Popen(
        [sys.executable, "-c", program, *SWAP, "--key", "owner.parquet"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_leaves_nothing_behind(folder: Path, files: Files, number: signal.Signals, code: int) -> None:
    with held("journal", "publish") as process:
        process.send_signal(number)
        _, told = process.communicate(timeout=30)
    assert (process.returncode, files()) == (code, set())
    assert told == "error: interrupted; nothing was written\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_after_the_release(folder: Path, files: Files, number: signal.Signals, code: int) -> None:
    with held("journal", "publish", "held(*args, **how)") as process:
        process.send_signal(number)
        _, told = process.communicate(timeout=30)
    assert (process.returncode, files()) == (code, {*RELEASE, "owner.parquet"})
    assert told == "error: interrupted after owner.parquet, release.csv.manifest.json, release.csv had been written\n"


def test_a_signal_that_python_loses_comes_again(folder: Path, files: Files) -> None:
    """What is raised in the callback of a weak reference is lost, as during imports."""
    program = """
    import os, signal, sys, time, weakref
    from nominym import journal
    class Thing: pass
    thing = Thing()
    reference = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))
    publish = journal.publish
    def late(*args, **how):
        global thing
        del thing
        time.sleep(1)
        return publish(*args, **how)
    journal.publish = late
    from nominym.cli import main
    main(sys.argv[1:])
    """
    command = [sys.executable, "-c", textwrap.dedent(program), *SWAP]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, files()) == (130, set())
    assert done.stderr == "error: interrupted; nothing was written\n"


def test_an_ignored_signal_stays_ignored(folder: Path, files: Files) -> None:
    """``nohup`` is what makes a release outlive its terminal."""
    program = """
    import os, signal, sys
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from nominym import release
    publish = release.publish
    def hung_up(*args, **how):
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGINT)
        return publish(*args, **how)
    release.publish = hung_up
    from nominym.cli import main
    main(sys.argv[1:])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program), *SWAP], timeout=60, check=False)
    assert (done.returncode, files()) == (0, RELEASE)


IMPORTS = """
import os, signal, sys
from nominym.cli import main
left = [int(sys.argv.pop(1))]
def count(event, args):
    if event == "import":
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(count)
try:
    main()
finally:
    os.write(1, b"%d" % left[0])
"""


def test_ctrl_c_during_imports(folder: Path, files: Files) -> None:
    """Compiled modules that are interrupted while they are imported may raise anything."""

    def start(at: int) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-c", IMPORTS, str(at), *SWAP, "--overwrite"]
        return subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)

    imports = 10**6 - int(start(10**6).stdout.splitlines()[-1])
    assert imports > 300
    for path in files():
        Path(path).unlink()
    for at in range(1, imports // 2, imports // 18):
        done = start(at)
        # Some libraries go on as if nothing had happened.
        assert done.returncode in (130, 0), (at, done.stderr)
        assert "Traceback" not in done.stderr, at
        if done.returncode:
            assert done.stderr == "error: interrupted; nothing was written\n", at
            assert files() == set(), at
        for path in files():
            Path(path).unlink()


def test_nothing_heavy_is_imported_before_a_command_runs(folder: Path) -> None:
    program = """
    import sys
    import nominym, nominym.cli
    heavy = {"numpy", "pandas", "pyarrow"} & set(sys.modules)
    assert not heavy, heavy
    assert sorted(nominym.__all__) == dir(nominym)
    try:
        nominym.nonsense
    except AttributeError as error:
        assert str(error) == "module 'nominym' has no attribute 'nonsense'"
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_every_public_name_is_there() -> None:
    for name in nym.__all__:
        getattr(nym, name)
    rooms = importlib.import_module("nominym.meaning"), importlib.import_module("nominym.swap")
    assert (nym.Taxonomy, nym.RankSwap) == (rooms[0].Taxonomy, rooms[1].RankSwap)
    assert {*nym._ROOMS, *nym._ROOM_OF} < set(nym.__all__)


# ---- errors


class Panic(BaseException):
    """As the core has it: not an Exception."""


@pytest.mark.parametrize("error", [Panic("index out of bounds"), GeneratorExit(), ZeroDivisionError("oops")])
def test_whatever_is_raised_is_a_defect(
    run: Run, files: Files, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("nominym.release.pipeline.in_order", broken)
    done = run(*SWAP)
    assert (done.code, files()) == (70, set())
    assert done.err == f"error: a defect in nominym ({type(error).__name__}: {error}); nominym --verbose shows where\n"


def test_a_result_that_does_not_fit_says_what_it_needs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def large(*_: object, **__: object) -> None:
        raise nym.error.SizeError("a table needs 8.0 GiB, 1.0 GiB are free")

    def no_memory(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("nominym.release.pipeline.in_order", large)
    assert run(*SWAP).err == "error: a table needs 8.0 GiB, 1.0 GiB are free\n"
    monkeypatch.setattr("nominym.release.pipeline.in_order", no_memory)
    done = run(*SWAP)
    assert (done.code, done.err) == (4, "error: not enough memory; nothing was written\n")


def test_a_name_that_is_no_text_is_told_before_anything_is_made(run: Run, files: Files) -> None:
    name = os.fsdecode(b"caf\xe9")
    done = run("demo", "-o", name)
    assert (done.code, files(), done.out) == (2, set(), "")
    assert r"error: 'caf\udce9' is not a file name: give UTF-8 text" in done.err
    done = run(*SWAP, "--config", f"{name}.toml")
    assert r"error: 'caf\udce9.toml' is not a file name: give UTF-8 text" in done.err
    done = run("measure", f"{name}.csv", "release.csv")
    assert r"error: 'caf\udce9.csv' is not a file name: give UTF-8 text" in done.err


def test_in_a_folder_whose_name_is_no_text(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9"))
    (odd / "safe").mkdir(parents=True)
    for name in ("visits.csv", "illness.csv"):
        (odd / name).write_bytes(Path(name).read_bytes())
    monkeypatch.chdir(odd)
    key = Path("safe", "owner.parquet")
    assert run(*SWAP, "--key", key).code == 0
    assert run(*SWAP, "--key", key, "--overwrite").code == 0
    assert "guarantee verified" in run(*AUDIT[:-1], key).out
    assert run("report", "visits.csv", "release.csv", "--quasi", "diagnosis=illness.csv").code == 0
