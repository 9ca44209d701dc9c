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

from nominym.error import ParameterError

Progress: TypeAlias = bool | Callable[[int, int], object] | None
"""What ``progress=`` takes."""

_WIDTH = 30


@contextmanager
def reporter(progress: Progress, label: str) -> Iterator[Callable[[int, int], object] | None]:
    """Give the callable that the core reports to, and finish the bar at the end, also after an error."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    elif progress is True:
        try:
            yield lambda done, total: _draw(label, done, total)
        finally:
            sys.stderr.write("\n")
    else:
        raise ParameterError(f"progress={progress!r}: give None, True or a callable of (done, total)")


def _draw(label: str, done: int, total: int) -> None:
    share = done / total if total else 1.0
    bar = "█" * round(share * _WIDTH)
    sys.stderr.write(f"\r{label} {bar:·<{_WIDTH}} {share:4.0%}")
    sys.stderr.flush()
