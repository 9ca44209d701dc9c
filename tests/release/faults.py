"""Publishes three files together, in processes that are stopped at every call of the system; run as a program.

The folders are compared with what they were and what they should become: all old or all new, and nothing else.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from nominym import atomic, journal
from nominym.error import RecoveryWarning

CALLS = ("open", "close", "link", "rename", "replace", "unlink", "fsync", "write", "read", "lstat", "fstat", "scandir")
NAMES = ("secret/key", "out/release.csv.manifest.json", "out/release.csv")


class Fault:
    """Does something at one of the calls, before or after it."""

    def __init__(self, number: int, after: bool, what: Callable[[Fault], object]) -> None:
        self.left, self.after, self.what = number, after, what
        for module, names in ((os, CALLS), (fcntl, ("flock",))):
            for name in names:
                setattr(module, name, self._faulty(getattr(module, name)))

    def _faulty(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def faulty(*given: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.after:
                self.what(self)
            result = call(*given, **options)
            if self.left == 0 and self.after:
                self.what(self)
            return result

        return faulty


def publish(overwrite: bool) -> None:
    with ExitStack() as stack:
        drafts = [atomic.Draft(name, 0o600 if name == NAMES[0] else 0o666) for name in NAMES]
        for draft in drafts:
            stack.callback(draft.discard)
            draft.path.write_text("new")
        journal.publish(drafts, overwrite)


def recover() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecoveryWarning)
        journal.recover(NAMES[-1])
    for name in NAMES:  # on a system without unnamed files, the next draft in a folder removes what was left there
        atomic.Draft(name).discard()


def in_child(work: Callable[[], object], fault: tuple[int, bool, Callable[[Fault], object]] | None) -> tuple[int, bool]:
    """Return how the process ended, and whether it came to the fault."""
    child = os.fork()
    if not child:
        for number in (signal.SIGTERM, signal.SIGHUP):  # as the command line does
            signal.signal(number, signal.default_int_handler)
        code = 0
        faulty = None if fault is None else Fault(*fault)
        try:
            work()
        except OSError:
            code = 4
        except KeyboardInterrupt:
            code = 130
        finally:
            os._exit(100 if faulty is not None and faulty.left > 0 else code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code, code != 100


def state(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


def main(kind: str, old: bool, nameless: bool) -> dict[str, int]:
    """Stop at every call; return how often the result was old, new, or in need of the next command."""
    if not nameless:
        del os.O_TMPFILE
    before = dict.fromkeys(sorted(NAMES), "old") if old else {}
    after = dict.fromkeys(sorted(NAMES), "new")
    found = {"points": 0, "old": 0, "new": 0, "recovered": 0}
    sends = {name: getattr(signal, name, None) for name in ("SIGKILL", "SIGTERM", "SIGHUP", "SIGINT")}

    def what(fault: Fault) -> None:
        if kind.startswith("error"):
            if later[0]:
                fault.left, fault.what = later[0], kill
            raise OSError(errno.EIO, "injected")
        kill(fault)

    def kill(_: Fault) -> None:
        os.kill(os.getpid(), sends[kind.removeprefix("error+").partition("+")[0]])

    later = [0]  # calls between an error and a signal

    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        os.chdir(folder)
        root = Path(folder)
        for name in NAMES:
            Path(name).parent.mkdir(exist_ok=True)

        def at(*points: tuple[int, bool]) -> bool:
            """Publish with a fault at the first point, recover with faults at the others; tell whether all were met."""
            for path in root.rglob("*"):
                if path.is_file():
                    path.unlink()
            for name in before:
                Path(name).write_text("old")
            code, met = in_child(lambda: publish(old), (*points[0], what))
            stopped = state(root)
            for point in points[1:]:
                _, again = in_child(recover, (*point, what))
                met = met and again
            left = state(root)
            recover()
            ended = state(root)
            assert ended in (before, after), (points, code, stopped, left, ended)
            if kind in ("SIGTERM", "SIGHUP", "SIGINT"):
                # What can be caught leaves nothing for others to do.
                assert stopped == ended, (points, stopped)
            if code == 0 and kind != "error+SIGKILL":
                assert ended == after, (points, ended)
            if kind == "error" and code == 4 and stopped == before:
                assert ended == before, (points, ended)
            if met:
                found["points"] += 1
                found["new" if ended == after else "old"] += 1
                found["recovered"] += stopped != ended
            return met

        for late in (False, True):
            number = 1
            while at((number, late)):
                if kind == "error+SIGKILL":
                    for later[0] in range(1, 60, 3):
                        at((number, late))
                    later[0] = 0
                    number += 10
                if kind == "SIGKILL+SIGKILL":
                    again = 1
                    while at((number, late), (again, late)):
                        again += 3
                    number += 12
                number += 1
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore", RecoveryWarning)
    kind, old, nameless = sys.argv[1:]
    print(json.dumps(main(kind, old == "old", nameless == "nameless")))
