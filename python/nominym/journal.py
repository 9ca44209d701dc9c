"""Publish several files together, such as a release with its manifest and the owner's record.

A journal beside the release records which draft gets which name. It goes through these states:

``begun``
    Folders other than that of the release get a marker, so that they can be recognised later. There is nothing to undo.
``marked``
    Drafts, and what they will replace, get hidden names. Whoever finds the journal in this state removes them.
``ready``
    This one step publishes the files. Whoever finds it gives all drafts their names; if that is not possible, because a
    target cannot be replaced or was changed by somebody else, everything is undone.
``undoing``
    What was replaced is restored. Whoever finds it continues with that.
``done``
    Hidden names are removed.
``cleared``
    Markers are removed, then the journal.

However a process ends, the files are all old or all new as soon as nominym looks at them again. Nothing is replaced or
removed unless a hidden name of this journal is beside it. Only its owner's processes follow a journal, and never a
copy, as in a backup or a folder from elsewhere. Folders are locked while files in them are published.
"""

from __future__ import annotations

import errno
import filecmp
import json
import os
import shutil
import stat
import time
import uuid
import warnings
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nominym import atomic
from nominym.atomic import Draft, check_new
from nominym.error import CutShortError, FormatError, RecoveryWarning
from nominym.files import StrPath, as_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# What the system says if it cannot give a file a second name, and if it cannot lock a folder.
_NO_LINK = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_NO_LOCK = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)

_NAME, _VERSION = "nominym-journal", 1
_STATES = ("begun", "marked", "ready", "undoing", "done", "cleared")
# A release, its manifest and the owner's record.
_MOST = 3
# Neither a link nor a pipe is a journal or a folder.
_AS_JOURNAL = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_AS_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_PATIENCE = 30.0
"""Seconds to wait for another process, which needs a few milliseconds."""


def publish(drafts: Sequence[Draft], overwrite: bool) -> None:
    """Publish all drafts or none; the last of them is the release, beside which the journal is kept."""
    release = drafts[-1].target
    for draft in drafts:
        draft.finish()
    recover(release)
    locks = _locked(draft.target.parent for draft in drafts)
    with atomic.undisturbed(), locks:
        for draft in drafts:
            check_new(draft.target, overwrite)
        journal = _Journal.begin(drafts)
        try:
            journal.mark()
            for draft, each in zip(drafts, journal.files, strict=True):
                draft.hand_over(each.new)
                if each.before is not None:
                    _twin(each.target, each.old)
            journal.enter("ready")
            journal.place()
        except BaseException as error:
            journal.undo(error)
            raise
        for draft in drafts:
            atomic.note(draft.target)
        journal.end(release)


def recover(release: StrPath) -> None:
    """Finish or undo an interrupted publication of a release; wait for one in progress."""
    for path in _names_of(as_path(release)):
        journal = _path_of(path)
        if os.path.lexists(journal):
            with _locked([journal.parent]):  # as long as its process is at work
                found = _Journal.read(journal)
            if found is not None:
                _follow(found, release)


def _names_of(release: Path) -> list[Path]:
    """Return a path, and the paths it leads to if it is a symbolic link."""
    found: list[Path] = []
    with suppress(OSError):
        while release.name and release not in found:
            found.append(release)
            if release.is_symlink():
                release = release.parent / release.readlink()
    return found


def _follow(found: _Journal, release: StrPath) -> None:
    locks = _locked([found.path.parent, *found.folders])
    with atomic.undisturbed(), locks:
        journal = _Journal.read(found.path)
        if journal is None:  # somebody else was faster
            return
        journal.check_folders()
        try:
            if journal.state == "ready":
                journal.place()
        except OSError as error:
            if all(each.is_new for each in journal.files):  # it was only the disk
                raise
            journal.undo(error)
        else:
            if journal.state == "ready" or journal.finished:
                journal.end(release)
            else:
                journal.undo()
        done = "finished: the files are the new ones"
        if not journal.finished:
            others = f", except {', '.join(journal.others)}, which somebody else changed" if journal.others else ""
            done = f"undone: the files are as they were before{others}"
        warnings.warn(
            f"the publication of {release} was interrupted; it has been {done}", RecoveryWarning, stacklevel=3
        )


class _File(NamedTuple):
    """A file of a publication, and its hidden names: of the draft, of what it replaces, and on the way."""

    target: Path
    before: list[int] | None
    """Size and time of what it replaces, if that was there."""
    new: Path
    old: Path
    way: Path

    @property
    def is_new(self) -> bool:
        """Return whether the target is the draft."""
        return _is(self.target, self.new)

    @property
    def is_old(self) -> bool:
        """Return whether the target is unchanged."""
        if self.before is None:
            return not _there(self.target)
        return _is(self.target, self.old) and _changed(self.target) == self.before

    @property
    def is_ours(self) -> bool:
        """Return whether the target is the draft itself, not just equal to it, as far as this can be determined."""
        if not (_there(self.new) and _there(self.target)):
            return False
        new = os.lstat(self.new)
        return os.path.samestat(os.lstat(self.target), new) if new.st_nlink > 1 else self.is_new

    def put(self, source: Path, replaces: bool) -> None:
        """Give the target's name to a file with a hidden name, in one step."""
        self.way.unlink(missing_ok=True)
        if not replaces:
            try:
                os.link(source, self.target)  # which fails where there is one now
                return
            except OSError as error:
                if error.errno not in _NO_LINK:
                    raise
        _twin(source, self.way)
        if not replaces and _there(self.target):
            raise FileExistsError(errno.EEXIST, "is there now", str(self.target))
        self.way.replace(self.target)


class _Journal:
    """Which file gets which name, and how far the publication has got."""

    def __init__(self, path: Path, content: dict[str, Any], state: str) -> None:
        self.path, self.state = path, state
        self.finished = False
        """Whether the files are the new ones, so that nothing is undone any more."""
        self.others: list[str] = []
        """Files that somebody else changed."""
        self._stem = f"{atomic.HIDDEN}{uuid.UUID(content['token']).hex}"
        # Not made from the name of the target: it can be of any length.
        self.files = []
        for i, each in enumerate(content["files"]):
            # The names of folders need not be text.
            target = path.parent / each["name"]
            if "\0" in each["name"]:
                raise ValueError
            hidden = (target.with_name(f"{self._stem}-{i}.{end}") for end in ("new", "old", "way"))
            self.files.append(_File(target, each["before"], *hidden))
        others = (each.target.parent for each in self.files)
        self.folders = list(dict.fromkeys(folder for folder in others if folder != path.parent))
        self._markers = [folder / f"{self._stem}.here" for folder in self.folders]

    @classmethod
    def begin(cls, drafts: Sequence[Draft]) -> _Journal:
        """Write a journal, complete from the start."""
        path = _path_of(drafts[-1].target)
        files = [
            {
                # The folder may be moved before the journal is found.
                "name": draft.target.name if draft.target.parent == path.parent else str(draft.target.absolute()),
                "before": _changed(draft.target) if _there(draft.target) else None,
            }
            for draft in drafts
        ]
        draft = Draft(path, 0o600)
        content = {
            "format": _NAME,
            "version": _VERSION,
            "token": uuid.uuid4().hex,
            "inodes": [draft.path.stat().st_ino, path.parent.stat().st_ino],
            "files": files,
        }
        draft.path.write_text(f"{json.dumps(content)}\nbegun\n", encoding="utf-8")
        draft.finish()
        if _there(path):
            raise _busy(path)
        draft.hand_over(path)
        draft.discard()
        return cls(path, content, "begun")

    @classmethod
    def read(cls, path: Path) -> _Journal | None:
        """Return the existing journal, if any."""
        try:
            file = os.open(path, _AS_JOURNAL)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            told = f"{path}: a publication was interrupted, and its journal cannot be opened ({error.strerror})"
            raise CutShortError(told, remedy="run the command as its owner") from None
        try:
            status = os.fstat(file)
            text = os.read(file, 1 << 16) if stat.S_ISREG(status.st_mode) else b""
        finally:
            os.close(file)
        if status.st_uid != os.geteuid():
            told = f"{path}: a publication by another user was interrupted"
            raise CutShortError(told, remedy="run the command as the owner of this journal")
        try:
            head, *states = text.decode().split("\n")
            content = json.loads(head)
            if (content["format"], content["version"]) != (_NAME, _VERSION) or not 1 <= len(content["files"]) <= _MOST:
                raise ValueError
            # A state that was not written to its end was not entered.
            entered = [each for each in states[:-1] if each in _STATES]
            journal = cls(path, content, entered[-1])
            journal.finished = "done" in entered
            copied = (status.st_nlink, status.st_ino, path.parent.stat().st_ino) != (1, *content["inodes"])
            order = ", ".join(each.target.name for each in journal.files)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise FormatError(
                f"{path} is not a journal of a publication, or a damaged one; look at the files .nominym-… beside "
                f"it, which hold what was to be published and what it replaces, and delete it"
            ) from None
        if copied:
            raise CutShortError(
                f"{path} is a copy of the journal of an interrupted publication: the files next to it may be of two "
                f"releases",
                remedy="copy them again from where it was finished; or choose: of the .nominym-… files next to it, "
                f".new are the new and .old the old ones, by number {order}",
            )
        return journal

    def enter(self, state: str) -> None:
        """Enter a state, after everything before it is on the disk."""
        self.sync()
        # If the writing fails, nobody knows which of the two is on the disk.
        self.state = state
        self.finished = self.finished or state == "done"
        # A state before, if it was not written to its end, stays in a line of its own.
        with self.path.open("ab") as file:
            file.write(f"\n{state}\n".encode())
            file.flush()
            os.fsync(file.fileno())

    def mark(self) -> None:
        """Leave a marker in every folder but that of the journal."""
        for marker in self._markers:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        self.enter("marked")

    def check_folders(self) -> None:
        """Raise if a folder is no longer the same one, for example because nothing is mounted there now."""
        for folder, marker in zip(self.folders, self._markers, strict=True):
            try:
                known = folder.is_dir() if self.state in ("begun", "cleared") else _there(marker)
            except OSError:
                known = False
            if not known:
                release = self.files[-1].target
                told = f"{release}: its publication was interrupted, and {folder} is no longer the same folder"
                remedy = (
                    f"should something be mounted there? If it is lost, delete {self.path} and {self._stem}* beside it"
                )
                raise CutShortError(told, remedy=remedy)

    def place(self) -> None:
        """Give every draft its name; a target that is neither old nor new was changed by somebody else."""
        self._check(lambda each: each.is_new or (each.is_old and _there(each.new)))
        for each in self.files:
            if not each.is_new:
                each.put(each.new, each.before is not None)
        self._check(lambda each: each.is_new)
        self.sync()

    def _check(self, fits: Callable[[_File], bool]) -> None:
        for each in self.files:
            if not fits(each):
                raise FileExistsError(errno.EEXIST, "was changed in the meantime", str(each.target))

    def undo(self, why: BaseException | None = None) -> None:
        """Restore what was replaced, if anything, and remove hidden files."""
        try:
            if self.state in ("ready", "undoing"):
                if self.state == "ready":
                    self.enter("undoing")
                for each in self.files:
                    if each.is_ours and not _is(each.new, each.old):
                        if each.before is None:
                            each.target.unlink()
                        elif _there(each.old):
                            each.put(each.old, replaces=True)
                    elif (each.before is None or _there(each.old)) and not each.is_old:
                        self.others.append(each.target.name)
            self._clear()
        except OSError as error:
            reason = error if why is None else why
            release = self.files[-1].target
            told = f"{release}: its publication was interrupted ({reason}), and cannot be undone now ({error})"
            remedy = "fix this; the next command that looks at the release continues"
            raise CutShortError(told, remedy=remedy) from None

    def end(self, release: StrPath) -> None:
        """Remove hidden files once all files are in place; a failure here does not affect them."""
        try:
            if self.state == "ready":
                self.enter("done")
        except OSError as error:
            told = f"{release}: all files are in their places, but that cannot be recorded ({error})"
            raise CutShortError(told, remedy="fix this, and run any command on the release") from None
        try:
            self._clear()
        except OSError as error:
            told = f"{release} is published; hidden files of its publication could not be removed ({error})"
            warnings.warn(f"{told}; the next command that looks at it will try again", RecoveryWarning, stacklevel=4)

    def _clear(self) -> None:
        """Remove hidden names, markers, and finally the journal."""
        for each in self.files if self.state != "cleared" else ():
            for path in (each.new, each.old, each.way):
                path.unlink(missing_ok=True)
        if self.folders and self.state not in ("begun", "cleared"):
            self.enter("cleared")
        for paths in (self._markers, [self.path]):
            for path in paths:
                path.unlink(missing_ok=True)
            self.sync()

    def sync(self) -> None:
        """Flush file names to the disk."""
        for folder in (*self.folders, self.path.parent):
            atomic.sync(folder)


def _path_of(release: Path) -> Path:
    return release.with_name(f".{release.name}{atomic.JOURNAL}")


def _busy(path: Path) -> OSError:
    return BlockingIOError(
        errno.EAGAIN, "another command is publishing here; wait until it has finished", str(path.parent)
    )


def _twin(path: Path, other: Path) -> None:
    """Give a file or symbolic link a second name; copy it where that is impossible or others own it."""
    # Nobody can remove a second name of another's file from a folder such as /tmp.
    if os.lstat(path).st_uid == os.geteuid():
        try:
            os.link(path, other, follow_symlinks=False)
            return
        except OSError as error:
            if error.errno not in _NO_LINK:
                raise
    if path.is_symlink():
        other.symlink_to(path.readlink())
        return
    status = os.lstat(path)
    file = os.open(other, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with path.open("rb") as source, os.fdopen(file, "wb") as copy:
        shutil.copyfileobj(source, copy, 1 << 20)
        copy.flush()
        with suppress(OSError):  # some systems of files have no modes
            os.fchmod(copy.fileno(), stat.S_IMODE(status.st_mode))
        os.utime(copy.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
        os.fsync(copy.fileno())


def _there(path: Path) -> bool:
    """Return whether a file exists; raise if that cannot be determined."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _is(path: Path, other: Path) -> bool:
    """Return whether two names refer to one file, or to two equal ones."""
    if not (_there(path) and _there(other)):
        return False
    first, second = os.lstat(path), os.lstat(other)
    if os.path.samestat(first, second):
        return True
    if stat.S_ISLNK(first.st_mode) and stat.S_ISLNK(second.st_mode):
        return path.readlink() == other.readlink()
    regular = stat.S_ISREG(first.st_mode) and first.st_mode == second.st_mode
    return regular and first.st_size == second.st_size and filecmp.cmp(path, other, shallow=False)


def _changed(path: Path) -> list[int]:
    status = os.lstat(path)
    return [status.st_size, status.st_mtime_ns]


def _quietly(call: Callable[[int], object], file: int) -> None:
    """Ignore errors while releasing something that is no longer needed."""
    with suppress(OSError):
        call(file)


def _locked(folders: Iterable[Path]) -> ExitStack:
    """Lock folders that exist; everyone locks them in the same order."""
    found: dict[tuple[int, int], tuple[int, Path]] = {}
    with ExitStack() as stack:
        for folder in folders:
            with suppress(FileNotFoundError, NotADirectoryError):
                file = os.open(folder, _AS_FOLDER)
                stack.callback(_quietly, os.close, file)
                status = os.fstat(file)
                found.setdefault((status.st_dev, status.st_ino), (file, folder))
        until = time.monotonic() + _PATIENCE
        for _, (file, folder) in sorted(found.items()):
            while True:
                try:
                    atomic.lock(file)
                    stack.callback(_quietly, atomic.unlock, file)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        raise _busy(folder / "a") from None
                    time.sleep(0.02)
                except OSError as error:
                    if error.errno not in _NO_LOCK:
                        raise
                    break
        return stack.pop_all()
