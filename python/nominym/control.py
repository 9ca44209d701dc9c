"""Watching, stopping, seeding and sizing long calls.

Every long call takes ``progress=``: ``None`` for silence, ``True`` for a bar on standard error, or a callable that is
given the units done and the units in all, a few times a second. A callable that raises stops the call, and so does
Ctrl-C. A ``seed=`` is for studies, so that a result can be had again; without one, randomness comes from the operating
system. What would not fit into memory is refused before anything is allocated.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import TypeAlias

from nominym import _core
from nominym.error import ParameterError, SizeError

Progress: TypeAlias = bool | Callable[[int, int], object] | None
"""What ``progress=`` takes."""

_WIDTH = 30


def set_threads(threads: int | None) -> None:
    """Set how many threads all further calls use; None for one per core. Results do not depend on it.

    >>> set_threads(1)
    >>> set_threads(None)
    """
    if threads is not None and not 1 <= threads <= 1024:
        raise ParameterError(
            "give a number from 1 to 1024, or None for one per core", parameter="threads", value=threads
        )
    _core.set_threads(threads or 0)


def check_progress(progress: object) -> None:
    """Refuse what nobody can report to."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ParameterError("give None, True or a callable of (done, total)", parameter="progress", value=progress)


@contextmanager
def reporter(progress: Progress, label: str) -> Iterator[Callable[[int, int], object] | None]:
    """Give the callable that the core reports to, and finish the bar at the end, also after an error."""
    check_progress(progress)
    if progress is True:
        try:
            yield lambda done, total: _draw(label, done, total)
        finally:
            sys.stderr.write("\n")
    else:
        yield progress or None


@contextmanager
def steps(progress: Progress, label: str, total: int) -> Iterator[Callable[[int], object]]:
    """Give a callable that is told how many of a few steps are done; it is there also when nobody listens."""
    with reporter(progress, label) as report:
        yield lambda done: report(done, total) if report else None


def _draw(label: str, done: int, total: int) -> None:
    share = done / total if total else 1.0
    bar = "█" * round(share * _WIDTH)
    sys.stderr.write(f"\r{label} {bar:·<{_WIDTH}} {share:4.0%}")
    sys.stderr.flush()


# ---- seeds


def check_seed(seed: object) -> None:
    """Refuse what is no seed.

    >>> check_seed(-1)
    Traceback (most recent call last):
    nominym.error.ParameterError: seed=-1: give a whole number from 0 to 2^64 − 1, or None
    """
    if seed is not None and not (is_whole(seed) and 0 <= int(seed) < 2**64):  # type: ignore[call-overload]
        raise ParameterError("give a whole number from 0 to 2^64 − 1, or None", parameter="seed", value=seed)


def is_whole(value: object) -> bool:
    """Tell whether something is a whole number, of Python or numpy; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


# ---- memory


def free_memory() -> int | None:
    """Tell how many bytes of memory can be had without swapping, or None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        sizes = {name: int(size.split()[0]) * 1024 for name, _, size in (line.partition(":") for line in lines)}
        return sizes["MemAvailable"]
    except (OSError, KeyError, ValueError, IndexError):
        return None


LITTLE = 16 * 2**20
"""Bytes that are taken without asking."""


def require(size: int, what: str, remedy: str) -> None:
    """Refuse work that needs more bytes than there are free.

    >>> require(2**60, "a table", "draw fewer records")
    Traceback (most recent call last):
    nominym.error.SizeError: a table needs 1,073,741,824.0 GiB, ... GiB are free; draw fewer records
    """
    # What the system says is an estimate, now and then far too low: little is tried without asking.
    if size <= LITTLE:
        return
    free = free_memory()
    if free is not None and size > free:
        raise SizeError(f"{what} needs {size / 2**30:,.1f} GiB, {free / 2**30:,.1f} GiB are free; {remedy}")


def require_matrix(size: int, itemsize: int, remedy: str) -> None:
    """Refuse a square matrix that does not fit."""
    require(size * size * itemsize, f"a matrix of {size:,} × {size:,} distances", remedy)
