"""How a command ends: on streams that cannot be written, signals and errors, with an exit code for each."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from nominym.atomic import SIGNALS
from nominym.error import (
    DataError,
    InternalError,
    NominymError,
    Spelling,
    TaxonomyError,
    UnknownConceptError,
    as_argument,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path


class Exit(IntEnum):
    """Exit codes of commands."""

    DONE = 0
    NOT_KEPT = 1  # a guarantee or a threshold
    USAGE = 2  # options that have no meaning
    DATA = 3  # a table or a taxonomy that cannot be used as it is
    FILES = 4  # files that are not there or cannot be written; no room, also in memory
    DEFECT = 70  # of nominym
    HUNG_UP = 129  # by the end of the terminal
    INTERRUPTED = 130  # by Ctrl-C
    TERMINATED = 143  # by kill


# ---- standard output and standard error


def tell(kind: str, text: str) -> None:
    """Print a notice (for information), a warning (protection is weaker) or an error."""
    sys.stdout.flush()
    sys.stderr.write(f"{kind}: {text}\n")


class Stream(io.TextIOBase):
    """A stream that never fails: what cannot be printed must not stop a command or change its exit code."""

    def __init__(self, stream: Any) -> None:
        """Wrap a stream, or None, which Python has in place of a closed one."""
        super().__init__()
        self._stream = stream
        self.failure: OSError | None = None
        if isinstance(stream, io.TextIOWrapper):  # names of files and columns may be what no terminal shows
            stream.reconfigure(errors="backslashreplace")

    def write(self, text: str, /) -> int:
        """Write a text if possible."""
        self._try(lambda stream: stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Write buffered text if possible."""
        self._try(lambda stream: stream.flush())

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def _try(self, act: Callable[[Any], object]) -> None:
        if self.failure is not None:
            return
        try:
            if self._stream is None or self._stream.closed:
                raise OSError(errno.EBADF, "the stream is closed")
            act(self._stream)
        except OSError as error:
            self.failure = error
            # Python tries once more when it ends, and would end with a code of its own.
            with suppress(AttributeError, OSError):
                number, null = self._stream.fileno(), os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, number)
                os.close(null)


@contextmanager
def streams() -> Iterator[Stream]:
    """Protect standard output and standard error from failing inside the block; return the former."""
    # A file of ours must not get the number of a closed stream: somebody may still write there.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    out: Any = Stream(sys.stdout)
    err: Any = Stream(sys.stderr)
    with redirect_stdout(out), redirect_stderr(err):
        yield out
        err.flush()


def printed(out: Stream, code: int, written: Sequence[Path]) -> int:
    """Return the exit code of a command that did its work but whose output may be lost."""
    out.flush()
    # A reader that closed its end has seen enough.
    if out.failure is None or out.failure.errno == errno.EPIPE or code not in (Exit.DONE, Exit.NOT_KEPT):
        return code
    if written:
        are = "is" if len(written) == 1 else "are"
        tell("warning", f"{_listed(written)} {are} complete; the summary could not be printed ({out.failure.strerror})")
        return code
    tell("error", f"the result could not be printed ({out.failure.strerror})")
    return Exit.FILES


def _listed(written: Sequence[Path]) -> str:
    return ", ".join(map(str, written))


# ---- signals


class Stopped(KeyboardInterrupt):
    """Raised when a signal arrives that ends the process."""

    def __init__(self, number: int) -> None:
        """Store the signal number."""
        super().__init__(number)
        self.number = number


_UNHANDLED = (signal.SIG_DFL, signal.default_int_handler)


@contextmanager
def stoppable(came: list[int], last: bool) -> Iterator[None]:
    """Raise ``Stopped`` on a signal that would end the process, so that nothing is left behind.

    Ignored signals, as under ``nohup``, stay ignored. All are recorded in ``came``, because libraries may replace the
    exception that interrupts them. After the ``last`` block the process ends, and signals are ignored.
    """

    def stop(number: int, _: object) -> None:
        came.append(number)
        raise Stopped(number)

    def again(lost: Any) -> None:
        # In the callback of a weak reference, or in __del__, exceptions end nothing.
        if isinstance(lost.exc_value, Stopped):
            number = lost.exc_value.number
            threading.Timer(0.01, lambda: os.kill(os.getpid(), number)).start()
        else:
            tell_lost(lost)

    handled = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {each: signal.getsignal(each) for each in SIGNALS}
        handled = {each: handler for each, handler in handlers.items() if handler in _UNHANDLED}
    tell_lost = sys.unraisablehook
    try:
        sys.unraisablehook = again
        for each in handled:
            signal.signal(each, stop)
        yield
    finally:
        sys.unraisablehook = tell_lost
        for each, handler in handled.items():
            signal.signal(each, signal.SIG_IGN if last else handler)


# ---- errors


def code_of(error: BaseException) -> int:
    """Return the exit code of an error."""
    if isinstance(error, KeyboardInterrupt):
        return 128 + error.number if isinstance(error, Stopped) else Exit.INTERRUPTED
    if isinstance(error, InternalError):
        return Exit.DEFECT
    if isinstance(error, OSError | MemoryError):
        return Exit.FILES
    if isinstance(error, DataError | TaxonomyError | UnknownConceptError):
        return Exit.DATA
    return Exit.USAGE if isinstance(error, NominymError) else Exit.DEFECT


def message(error: BaseException, spelling: Spelling = as_argument, written: Sequence[Path] = ()) -> str:
    """Return what is wrong, with options spelled as on the command line, and what was written before.

    >>> from nominym.cli import spelled
    >>> from nominym.error import ParameterError
    >>> message(ParameterError("give a whole number, 1 or more", parameter="k", value=0), spelled(["k"]))
    '--k 0: give a whole number, 1 or more'
    """
    if isinstance(error, KeyboardInterrupt):
        return f"interrupted after {_left(written)}" if written else "interrupted; nothing was written"
    if isinstance(error, NominymError):
        return error.worded(spelling)
    if isinstance(error, MemoryError):
        return f"not enough memory; {_left(written)}"
    if not isinstance(error, OSError):
        return f"a defect in nominym ({type(error).__name__}: {error}); nominym --verbose shows where"
    if error.errno is None:
        return str(error)
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{where}no space left on the disk; {_left(written)}. Choose another location for --out"
    return f"{where}{error.strerror}"


def _left(written: Sequence[Path]) -> str:
    return f"{_listed(written)} had been written" if written else "nothing was written"
