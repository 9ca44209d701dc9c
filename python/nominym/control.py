"""Watching, stopping, seeding and sizing long calls.

Every long call takes ``progress=``: ``None`` for silence, ``True`` for a bar on standard error, or a callable that
receives the units done and the total, a few times a second. A callable that raises stops the call, and so does Ctrl-C.
A ``seed=`` is for studies, so that a result can be reproduced; without one, randomness comes from the operating system.
Work that would not fit into memory is refused before anything is allocated.
"""

from __future__ import annotations

import ctypes
import logging
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from numbers import Integral
from typing import TypeAlias

from nominym import _core
from nominym.error import ParameterError, SizeError

Progress: TypeAlias = bool | Callable[[int, int], object] | None
"""What ``progress=`` takes."""

_WIDTH = 30
_log = logging.getLogger("nominym")


def set_threads(threads: int | None) -> None:
    """Set the number of threads for all further calls; None for one per core. Results do not depend on it.

    >>> set_threads(1)
    >>> set_threads(None)
    """
    if threads is not None and not 1 <= threads <= 1024:
        raise ParameterError(
            "give a number from 1 to 1024, or None for one per core", parameter="threads", value=threads
        )
    _core.set_threads(threads or 0)


def check_progress(progress: object) -> None:
    """Raise unless ``progress`` is None, True or a callable."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ParameterError("give None, True or a callable of (done, total)", parameter="progress", value=progress)


@contextmanager
def reporter(progress: Progress, label: str) -> Iterator[Callable[[int, int], object] | None]:
    """Return the callable that the core reports to; the bar is finished at the end, even after an error."""
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
    """Return a callable to report how many of a few steps are done, even if nobody listens."""
    with reporter(progress, label) as report:
        yield lambda done: report(done, total) if report else None


def _draw(label: str, done: int, total: int) -> None:
    share = done / total if total else 1.0
    bar = "█" * round(share * _WIDTH)
    sys.stderr.write(f"\r{label} {bar:·<{_WIDTH}} {share:4.0%}")
    sys.stderr.flush()


# ---- seeds


def check_seed(seed: object) -> None:
    """Raise unless a seed is valid.

    >>> check_seed(-1)
    Traceback (most recent call last):
    nominym.error.ParameterError: seed=-1: give a whole number from 0 to 2^64 − 1, or None
    """
    if seed is not None and not (is_whole(seed) and 0 <= int(seed) < 2**64):  # type: ignore[call-overload]
        raise ParameterError("give a whole number from 0 to 2^64 − 1, or None", parameter="seed", value=seed)


def is_whole(value: object) -> bool:
    """Return whether something is a whole number, of Python or numpy; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


# ---- memory

LITTLE = 16 * 2**20
"""Bytes allocated without a check where free memory is only estimated."""

SPARE = 32 * 2**20
"""Bytes reserved for what is not counted: thread stacks, small objects, heap fragmentation."""

# What the system says is an estimate, now and then far too low for an instant: looks, and the time between them.
_LOOKS, _PAUSE = 3, 0.05

# Measured: what the address space of a process grows by until numpy, pandas, pyarrow and plotly are imported.
_PACKAGES = 272 * 2**20
# Libraries that take address space in advance, for threads or for a heap of their own, take none.
_FRUGAL = {"OMP_NUM_THREADS": "1", "ARROW_IO_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
_M_ARENA_MAX = -8  # of glibc's mallopt: heaps, of which every thread would reserve one of 64 MiB


def free_memory() -> int | None:
    """Return the bytes of memory still available, or None where the system does not report it.

    This is what the machine, all control groups of the process and its own limits leave.
    """
    return _core.free_memory()


def is_limited(*limits: int) -> bool:
    """Return whether the process has a limit of its own: on address space or data (``ulimit -v``, ``ulimit -d``)."""
    limits = limits or (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    return any(resource.getrlimit(limit)[0] != resource.RLIM_INFINITY for limit in limits)


def begin() -> None:
    """Prepare our own process for a memory limit, before anything large is imported.

    Libraries imported without enough memory fail in their own ways; some end the process.
    """
    if is_limited():
        for name, value in _FRUGAL.items():
            os.environ.setdefault(name, value)
        with suppress(OSError, AttributeError):  # no glibc
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
    # Less than a half of the address space is ever in memory.
    needed = _PACKAGES if is_limited(resource.RLIMIT_AS) else _PACKAGES // 2
    require(needed, "loading numpy, pandas and pyarrow", "end other programs, or raise the limit of the process")


def require(size: int, what: str, remedy: str) -> None:
    """Raise if work needs more bytes than are free.

    >>> require(2**60, "a table", "draw fewer records")
    Traceback (most recent call last):
    nominym.error.SizeError: a table needs 1,073,741,824.0 GiB, ... are free; draw fewer records
    """
    limited = is_limited()
    if size <= LITTLE and not limited:
        return
    size += SPARE if limited else 0
    for _ in range(_LOOKS):
        free = free_memory()
        if free is None or size <= free:
            return
        time.sleep(_PAUSE)
    raise SizeError(f"{what} needs {as_size(size)}, {as_size(free or 0)} are free", remedy=remedy)


def expect(size: int, what: str, remedy: str) -> None:
    """Log what some work needs before it begins, and raise if less memory is free."""
    free = free_memory()
    _log.info("%s needs %s, %s are free", what, as_size(size), "unknown" if free is None else as_size(free))
    require(size, what, remedy)


def as_size(size: float) -> str:
    """Return a number of bytes as text.

    >>> as_size(5 * 2**28), as_size(2**20)
    ('1.2 GiB', '1.0 MiB')
    """
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.1f} MiB"


def require_matrices(sizes: Mapping[object, int], remedy: str) -> None:
    """Raise if the matrices of some columns do not fit into memory together; ``{}`` in the remedy names the largest."""
    size = sum(sizes.values())
    if size:
        largest = max(sizes, key=lambda name: sizes[name])
        of = f" for each of {len(sizes):,} columns" if len(sizes) > 1 else ""
        require(size, f"a matrix of distances{of}", remedy.replace("{}", repr(largest)))


def require_matrix(size: int, itemsize: int, remedy: str) -> None:
    """Raise if a square matrix does not fit into memory."""
    require(size * size * itemsize, f"a matrix of {size:,} × {size:,} distances", remedy)
