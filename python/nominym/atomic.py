"""Files that appear whole or not at all.

A file is a draft until it is complete, and gets its name in one step. Where the system supports it, a draft has no
name, so that nothing is left behind however the process ends. ``journal`` publishes several drafts together.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
import uuid
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from nominym.error import Advice, CutShortError, NominymError, ParameterError
from nominym.files import StrPath, as_path

try:
    import fcntl
except ImportError:  # Windows; its files are locked as long as they are open
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Systems of files that cannot hold a file without a name say one of these.
_NAMELESS_UNKNOWN = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)

HIDDEN = ".nominym-"
"""Prefix of the names of files that are being written."""

JOURNAL = ".nym"
"""Suffix of the name of a journal: ``journal``."""


_DRAFT = ".draft"


class TargetExistsError(NominymError, FileExistsError):
    """A file that already exists and was not to be replaced."""


# ---- what may be written


def same_file(one: StrPath, other: StrPath) -> bool:
    """Return whether two paths are, or would be, the same file: through ``..``, links or folders mounted twice.

    >>> same_file("out/visits.csv", "out/../out/visits.csv")
    True
    """
    if os.path.realpath(one) == os.path.realpath(other):
        return True
    first, second = Path(one), Path(other)
    for a, b in ((first, second), (first.parent, second.parent)):
        with suppress(OSError):
            if a.samefile(b) and (a is first or first.name == second.name):
                return True
    return False


def check_new(path: StrPath, overwrite: bool, inputs: Iterable[StrPath] = ()) -> None:
    """Raise if a file would be replaced without permission; one of the ``inputs`` is never replaced."""
    target = as_path(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; name a file", os.fspath(path))
    if target.exists() and not target.is_file():
        raise ParameterError(f"{os.fspath(path)} is a pipe or a device, which cannot be replaced; name a file")
    if target.name.startswith(HIDDEN) or (target.name.startswith(".") and target.name.endswith(JOURNAL)):
        raise ParameterError(f"{os.fspath(path)} is a name that nominym uses while it writes; choose another")
    for given in inputs:
        if same_file(target, given):
            alias = "" if os.fspath(given) == os.fspath(path) else f" ({os.fspath(given)})"
            raise ParameterError(f"{os.fspath(path)} is an input{alias}, which is never replaced; choose another name")
    if not overwrite and os.path.lexists(path):
        raise TargetExistsError(
            f"{os.fspath(path)} already exists", remedy=Advice("give {} to replace it", overwrite=True)
        )


# ---- one file


class Draft:
    """A file in the making, in the folder of its target.

    Where the system supports it, the draft has no name. Elsewhere it is a hidden file, which only a signal that cannot
    be caught leaves behind, until the next draft in that folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     draft = Draft(Path(folder, "a.txt"))
    ...     _ = draft.path.write_text("all of it")
    ...     before = os.listdir(folder)
    ...     draft.publish()
    ...     before, os.listdir(folder)
    ([], ['a.txt'])
    """

    def __init__(self, path: StrPath, mode: int = 0o666) -> None:
        """Create an empty draft; the umask restricts ``mode``, as for any file."""
        self._file, self._name, self._synced = -1, None, False  # type: int, Path | None, bool
        self._process = os.getpid()
        self.target = as_path(path)
        folder = self.target.parent
        if not folder.is_dir():
            raise FileNotFoundError(f"no folder {folder} to write {self.target.name} into")
        _sweep(folder)
        try:
            with undisturbed():
                self._open(folder, mode)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(self.target)) from None
        # Any library that writes to a path can write to this one.
        self.path = self._name or Path(f"/proc/self/fd/{self._file}")

    def __del__(self) -> None:
        """Discard a draft that is no longer referenced, for example after an interrupt."""
        self.discard()

    def _open(self, folder: Path, mode: int) -> None:
        if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").is_dir():
            try:
                self._file = os.open(folder, os.O_TMPFILE | os.O_RDWR, mode)
            except OSError as error:
                if error.errno not in _NAMELESS_UNKNOWN:
                    raise
        if self._file < 0:
            # Not tempfile: it makes files that only their owner may read, and the mode would stay.
            name = _draft_name(folder)
            self._file = os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode)
            self._name = name
        with suppress(OSError):  # without locks nobody sweeps either
            lock(self._file)
        if self._name is not None and not os.fstat(self._file).st_nlink:  # swept before it was locked
            os.close(self._file)
            self._file = -1
            self._open(folder, mode)

    def finish(self) -> None:
        """Flush everything to the disk, once; a full disk is reported here at the latest."""
        if not self._synced:
            os.fsync(self._file)
            self._synced = True

    def publish(self) -> None:
        """Move the draft to its target, replacing what is there."""
        self.finish()
        with undisturbed():
            try:
                if self._name is None:
                    self._link(self.target)
            except FileExistsError:
                name = _draft_name(self.target.parent)
                self._link(name)
                self._name = name
            if self._name is not None:
                self._name.replace(self.target)
                self._name = None
            note(self.target)
            sync(self.target.parent)
            self.discard()

    def hand_over(self, path: Path) -> None:
        """Give the draft an unused name in its folder; the caller becomes responsible for it."""
        if self._name is None:
            self._link(path)
        else:
            self._name.rename(path)
            self._name = None

    def _link(self, path: Path) -> None:
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            # With a folder given, and only then, Python follows the link from /proc to the file itself.
            os.link(self.path, path.name, dst_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)

    def discard(self) -> None:
        """Discard the draft unless it was published. A second call does nothing."""
        name, self._name = self._name, None
        # A process that was forked meanwhile has the same drafts, which are not its own.
        if name is not None and self._process == os.getpid():
            name.unlink(missing_ok=True)
        file, self._file = self._file, -1
        if file >= 0:
            with suppress(OSError):  # what matters was brought to the disk before
                os.close(file)


@contextmanager
def draft_of(path: StrPath, mode: int = 0o666) -> Iterator[Path]:
    """Return the path of a draft that becomes the file `path` if the block succeeds, and vanishes otherwise."""
    draft = Draft(path, mode)
    try:
        yield draft.path
        draft.publish()
    finally:
        draft.discard()


@contextmanager
def write_atomic(path: StrPath, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` if the block succeeds, and vanishes otherwise."""
    with draft_of(path, mode) as draft, draft.open("wb") as file:
        yield file


# ---- the system


def lock(file: int) -> None:
    """Lock a file or folder unless another process has; the system releases it when the process ends."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def unlock(file: int) -> None:
    """Release the lock of a file, even if processes forked in the meantime still have it open."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)


def sync(folder: Path) -> None:
    """Flush a folder's file names to the disk."""
    if os.name == "nt":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some systems of files know no such thing
            raise
    finally:
        os.close(file)


def _draft_name(folder: Path) -> Path:
    return folder / f"{HIDDEN}{uuid.uuid4().hex}{_DRAFT}"


def _sweep(folder: Path) -> None:
    """Remove drafts that killed processes left behind; those of running ones are locked."""
    with os.scandir(folder) as entries:
        left = [Path(entry) for entry in entries if entry.name.startswith(HIDDEN) and entry.name.endswith(_DRAFT)]
    for path in left:
        with suppress(OSError):
            file = os.open(path, os.O_RDWR)
            try:
                lock(file)
                path.unlink()
            finally:
                os.close(file)


SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a process and can be held back."""


@contextmanager
def undisturbed() -> Iterator[None]:
    """Delay signals that would end the process until the few system calls of the block are done.

    Only the main thread can do this, and only it needs to: Python's handlers do not interrupt other threads.
    """
    kept = {}
    if threading.current_thread() is threading.main_thread():
        held = {each: signal.getsignal(each) for each in SIGNALS}
        # None is a handler that Python did not set and could not set again.
        kept = {each: handler for each, handler in held.items() if handler not in (None, signal.SIG_IGN)}
    came: list[int] = []
    error: BaseException | None = None
    try:
        for each in kept:
            signal.signal(each, lambda number, _: came.append(number))
        yield
    except BaseException as raised:
        error = raised
        raise
    finally:
        raised_here: BaseException | None = None
        for each, handler in reversed(kept.items()):
            while signal.getsignal(each) is not handler:
                try:
                    signal.signal(each, handler)
                except BaseException as raised:  # noqa: PERF203 (by a handler that was set already)
                    raised_here = raised
        # What says what became of the files wins.
        if not isinstance(error, CutShortError):
            if raised_here is not None:
                raise raised_here
            for number in dict.fromkeys(came):
                signal.raise_signal(number)


# ---- what was written

_NOTED: ContextVar[list[Path] | None] = ContextVar("noted", default=None)


@contextmanager
def noted() -> Iterator[list[Path]]:
    """Return a live list of the files published inside the block.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, noted() as written:
    ...     with write_atomic(Path(folder, "a.txt")) as file:
    ...         _ = file.write(b"all of it")
    ...     [path.name for path in written]
    ['a.txt']
    """
    written: list[Path] = []
    token = _NOTED.set(written)
    try:
        yield written
    finally:
        _NOTED.reset(token)


def note(path: Path) -> None:
    """Add a file to the list of published files."""
    written = _NOTED.get()
    if written is not None:
        written.append(path)
