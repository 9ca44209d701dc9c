"""Watching and stopping long calls.

Every long call takes ``progress=``: ``None`` for silence, ``True`` for a bar on standard error, or a callable that is
given the units done and the units in all, a few times a second. A callable that raises stops the call, and so does
Ctrl-C.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from nominym import _core
from nominym.error import ParameterError

Progress: TypeAlias = bool | Callable[[int, int], object] | None
"""What ``progress=`` takes."""

_WIDTH = 30


def set_threads(threads: int | None) -> None:
    """Set how many threads all further calls use; None for one per core. Results do not depend on it.

    >>> set_threads(1)
    >>> set_threads(None)
    """
    if threads is not None and not 1 <= threads <= 1024:
        raise ParameterError("give a number from 1 to 1024, or None for one per core", parameter="threads", value=threads)
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
