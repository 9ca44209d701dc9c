"""Files: read with the place in the message, written all or nothing."""

from __future__ import annotations

import codecs
import errno
import math
import os
import uuid
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

import numpy as np
import pandas as pd

from nominym.error import Advice, Code, FormatError, MissingExtraError, NominymError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized

StrPath: TypeAlias = str | os.PathLike[str]

# Systems of files that cannot hold a file without a name say one of these.
_NAMELESS_UNKNOWN = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)

# Codecs of Python that turn text into bytes, but are no encodings of files.
_NO_ENCODINGS = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")


class TargetExistsError(NominymError, FileExistsError):
    """A file that is already there and was not to be replaced."""


def as_path(path: StrPath) -> Path:
    """Return a path; what is none, or has a name that cannot be written down, is refused."""
    try:
        if b"\0" in os.fspath(path).encode():
            raise ValueError
    except (AttributeError, TypeError, ValueError):
        raise ParameterError(f"{path!r} names no file: give UTF-8 text without a zero byte") from None
    return Path(path)


def check_new(path: StrPath, overwrite: bool) -> None:
    """Refuse to replace a file, unless told to."""
    if as_path(path).is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; name a file", os.fspath(path))
    if not overwrite and os.path.lexists(path):
        raise TargetExistsError(
            f"{os.fspath(path)} is already there", remedy=Advice("give {} to replace it", overwrite=True)
        )


class Draft:
    """A file in the making, in the folder of its target.

    Where the system can, the draft has no name: whatever ends the process, also SIGKILL, leaves nothing behind.
    Elsewhere it is a hidden file, which only SIGKILL leaves behind.

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
        """Make an empty draft; ``mode`` is cut by the umask, as for any file."""
        self.target = as_path(path)
        folder = self.target.parent
        if not folder.is_dir():
            raise FileNotFoundError(f"no folder {folder} to write {self.target.name} into")
        # Not tempfile: it makes files that only their owner may read, and the mode would stay.
        self._name: Path | None = self.target.with_name(f".{self.target.name[:100]}.{uuid.uuid4().hex}.tmp")
        self._file, self._synced = -1, False
        try:
            self._file = self._open(folder, mode)
        except OSError as error:
            raise type(error)(error.errno, error.strerror, str(self.target)) from None
        # Any library that writes to a path can write to this one.
        self.path = self._name or Path(f"/proc/self/fd/{self._file}")

    def _open(self, folder: Path, mode: int) -> int:
        if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").is_dir():
            try:
                file = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, mode)
            except OSError as error:
                if error.errno not in _NAMELESS_UNKNOWN:
                    raise
            else:
                self._name = None
                return file
        assert self._name is not None
        return os.open(self._name, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, mode)

    def finish(self) -> None:
        """Bring all that was written to the disk, once; a full disk is told here at the latest."""
        if not self._synced:
            os.fsync(self._file)
            self._synced = True

    def publish(self) -> None:
        """Give the draft its name, in place of what has it now."""
        self.finish()
        name = self._name
        if name is None:
            name = self.target.with_name(f".{self.target.name[:100]}.{uuid.uuid4().hex}.tmp")
            folder = os.open(self.target.parent, os.O_RDONLY)
            try:
                # With a folder given, and only then, Python follows the link from /proc to the file itself.
                os.link(self.path, name.name, dst_dir_fd=folder, follow_symlinks=True)
            finally:
                os.close(folder)
            self._name = name
        name.replace(self.target)
        self._name = None
        self.discard()

    def discard(self) -> None:
        """Let go of the draft; what was not published vanishes. Does nothing the second time."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        if self._name is not None:
            with suppress(FileNotFoundError):
                self._name.unlink()
            self._name = None


@contextmanager
def draft_of(path: StrPath, mode: int = 0o666) -> Iterator[Path]:
    """Return the path of a draft that becomes the file `path` when the block ends well, and vanishes if not."""
    draft = Draft(path, mode)
    try:
        yield draft.path
        draft.publish()
    finally:
        draft.discard()


@contextmanager
def write_atomic(path: StrPath, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when the block ends well, and vanishes when it does not."""
    with draft_of(path, mode) as draft, draft.open("wb") as file:
        yield file


# ---- reading

# The command line has an encoding for tables, not for what gives them a meaning.
GIVE_ENCODING = Advice("{}", utf8=Code("pass the encoding of the file, for example encoding='latin-1'"))
SAVE_AS_UTF8 = "the format is always UTF-8: convert the file to UTF-8"


def at_line(path: StrPath, line: int, problem: str, remedy: str | Advice | None = None) -> FormatError:
    """Make the error for one place of a file: every message of every reader names it alike."""
    return FormatError(f"{os.fspath(path)}, line {line}: {problem}", remedy=remedy)


def missing_extra(what: str, extra: str) -> MissingExtraError:
    """Make the error for an optional package that is not installed."""
    return MissingExtraError(f"reading {what} needs the extra: pip install nominym[{extra}]")


def require_concepts(concepts: Sized, path: StrPath, expected: str) -> None:
    """Refuse a file from which nothing was read; `expected` says what the format would hold."""
    if not concepts:
        raise FormatError(f"{os.fspath(path)} holds no concept: expected {expected}")


def add_synonym(synonyms: dict[str, list[str]], concept: str, name: str) -> None:
    """Note one more name of a concept, once and in order."""
    names = synonyms.setdefault(concept, [])
    if name not in names:
        names.append(name)


def check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of texts in files."""
    try:
        if codecs.lookup(encoding).name in _NO_ENCODINGS:
            raise LookupError
        "a".encode(encoding).decode(encoding)
    except (LookupError, TypeError, ValueError):
        told = "there is no such text encoding; use for example 'utf-8', 'latin-1' or 'cp1252'"
        raise ParameterError(told, parameter="encoding", value=encoding) from None


def read_bytes(path: StrPath) -> bytes:
    """Read a whole file; a folder in its place is a ``FormatError``."""
    if Path(path).is_dir():
        raise FormatError(f"{os.fspath(path)} is a folder; this format is a single file")
    return Path(path).read_bytes()


def read_text(path: StrPath, encoding: str = "utf-8", remedy: str | Advice = GIVE_ENCODING) -> str:
    """Decode a whole file without its byte order mark; the error names the line that does not decode."""
    check_encoding(encoding)
    data = read_bytes(path)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = f"byte {error.start} (0x{data[error.start]:02x}) is not {encoding} text"
        raise at_line(path, line, fault, remedy) from None
    return text.removeprefix("\ufeff")


# ---- JSON


def plain(value: Any) -> Any:
    """Turn figures of any kind into what JSON has words for; a table becomes a list of rows, what is no number null.

    >>> plain({"k": np.int64(3), 5: (0.5, float("nan")), "of": pd.DataFrame({"x": ["a"], "y": [1]})})
    {'k': 3, '5': [0.5, None], 'of': [{'x': 'a', 'y': 1}]}
    """
    if isinstance(value, pd.DataFrame):
        return [plain(row) for row in value.to_dict("records")]
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray | pd.Series):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)
