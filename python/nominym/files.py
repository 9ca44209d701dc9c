"""Files: paths, reading with the place in the message."""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import stat
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nominym.error import Advice, Code, FormatError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sized

StrPath: TypeAlias = str | os.PathLike[str]

# Codecs of Python that turn text into bytes, but are no encodings of files.
_NO_ENCODINGS = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape")

_ZERO = b"\0"
# Encodings of either byte order, and how their files have to begin; the longer marks begin like the shorter ones.
_MARKS = {
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}


def as_path(path: StrPath) -> Path:
    """Return a path; raise if it is none, or its name cannot be encoded."""
    try:
        if b"\0" in os.fspath(path).encode():
            raise ValueError
    except (AttributeError, TypeError, ValueError):
        name = os.fspath(path) if isinstance(path, os.PathLike) else path
        raise ParameterError(f"{name!r} is not a file name: give UTF-8 text without a zero byte") from None
    return Path(path)


# ---- reading

# The command line has an encoding for tables, not for what gives them a meaning.
GIVE_ENCODING = Advice("{}", utf8=Code("pass the encoding of the file, for example encoding='latin-1'"))
SAVE_AS_UTF8 = "the format is always UTF-8: convert the file to UTF-8"


def at_line(path: StrPath, line: int, problem: str, remedy: str | Advice | None = None) -> FormatError:
    """Return the error for one place of a file, in the same form for all readers."""
    return FormatError(f"{os.fspath(path)}, line {line}: {problem}", remedy=remedy)


def missing_extra(what: str, extra: str) -> MissingExtraError:
    """Return the error for an optional package that is not installed."""
    return MissingExtraError(f"reading {what} needs the extra: pip install nominym[{extra}]")


def require_concepts(concepts: Sized, path: StrPath, expected: str) -> None:
    """Raise if nothing was read from a file; `expected` says what the format holds."""
    if not concepts:
        raise FormatError(f"{os.fspath(path)} holds no concept: expected {expected}")


def add_synonym(synonyms: dict[str, list[str]], concept: str, name: str) -> None:
    """Add a name of a concept, once and in order."""
    names = synonyms.setdefault(concept, [])
    if name not in names:
        names.append(name)


def check_encoding(encoding: str) -> None:
    """Raise unless an encoding of text files exists."""
    try:
        if codecs.lookup(encoding).name in _NO_ENCODINGS:
            raise LookupError
        "a".encode(encoding).decode(encoding)
    except (LookupError, TypeError, ValueError):
        told = "there is no such text encoding; use for example 'utf-8', 'latin-1' or 'cp1252'"
        raise ParameterError(told, parameter="encoding", value=encoding) from None


def check_comment(prefix: str | None) -> None:
    """Raise unless comment lines may begin so; None if there are none."""
    if prefix is not None and (not isinstance(prefix, str) or not prefix or set(prefix) & {'"', "\r", "\n"}):
        raise ParameterError("give the prefix of comment lines, such as '#'", parameter="comment", value=prefix)


def check_mark(encoding: str, start: bytes, path: StrPath) -> None:
    """Raise if a file lacks a byte order mark and its encoding is one of two that only the mark distinguishes."""
    name = codecs.lookup(encoding).name
    if name in _MARKS and not start.startswith(_MARKS[name]):
        fault = f"{os.fspath(path)}: not {encoding} text, which begins with a byte order mark"
        either = f"{name}-{'be' if start[:1] == _ZERO else 'le'}"
        raise FormatError(fault, remedy=Advice("pass the encoding of the file, for example {}", encoding=either))


def likely_encoding(start: bytes) -> str:
    """Guess, for a remedy, the encoding of a text that is not in the given one.

    >>> likely_encoding("naïve".encode("latin-1")), likely_encoding("naïve".encode("utf-16-be"))
    ('latin-1', 'utf-16-be')
    """
    marked = [name for name, marks in _MARKS.items() if start.startswith(marks)]
    by_zeros = {(True, False): "utf-16-be", (False, True): "utf-16-le"}
    return marked[0] if marked else by_zeros.get((start[:1] == _ZERO, start[1:2] == _ZERO), "latin-1")


def as_input(path: StrPath) -> Path:
    """Return the path of a file to read; raise a ``FormatError`` for a folder, a pipe or a device."""
    found = as_path(path)
    mode = found.stat().st_mode
    if stat.S_ISDIR(mode):
        raise FormatError(f"{os.fspath(path)} is a folder; this format is a single file", remedy="give the file itself")
    if not stat.S_ISREG(mode):
        kind = "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
        raise FormatError(f"{os.fspath(path)} is a {kind}, not a file", remedy="save what it holds to a file first")
    return found


def read_bytes(path: StrPath) -> bytes:
    """Read a whole file."""
    return as_input(path).read_bytes()


def read_text(path: StrPath, encoding: str = "utf-8", remedy: str | Advice = GIVE_ENCODING) -> str:
    """Decode a whole file without its byte order mark; the error names the line that does not decode."""
    check_encoding(encoding)
    data = read_bytes(path)
    check_mark(encoding, data[:4], path)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = f"byte {error.start} (0x{data[error.start]:02x}) is not {encoding} text"
        raise at_line(path, line, fault, remedy) from None
    return text.removeprefix("\ufeff")


# ---- fingerprints


class Watched(io.FileIO):
    """The bytes of a file, each read once, counted and hashed on the way."""

    def __init__(self, path: StrPath) -> None:
        """Open the file."""
        super().__init__(as_input(path))
        self._digest, self.done, self.size = hashlib.sha256(), 0, os.fstat(self.fileno()).st_size

    def read(self, size: int | None = -1, /) -> bytes:
        """Read the next bytes."""
        data = super().read(size) or b""
        self.done += len(data)
        self._digest.update(data)
        return data

    def fingerprint(self) -> dict[str, Any]:
        """Return name, size and SHA-256 of the file; not its folder, which may reveal too much."""
        while self.read(1 << 20):
            pass
        return {"name": Path(self.name).name, "bytes": self.done, "sha256": self._digest.hexdigest()}


def fingerprint(path: StrPath) -> dict[str, Any]:
    """Return name, size and SHA-256 of a file; not its folder, which may reveal too much."""
    with closing(Watched(path)) as file:
        return file.fingerprint()
