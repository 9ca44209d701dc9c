"""What all readers share: decoding with a place in the message, and writing all or nothing."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from nominym.error import FormatError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized

StrPath: TypeAlias = str | os.PathLike[str]

GIVE_ENCODING = "pass the encoding of the file, for example encoding='latin-1'"
SAVE_AS_UTF8 = "the format is always UTF-8: convert the file to UTF-8"


def at_line(path: StrPath, line: int, problem: str) -> FormatError:
    """Make the error for one place of a file: every message of every reader names it alike.

    >>> raise at_line("sex.csv", 3, "no parent")
    Traceback (most recent call last):
    nominym.error.FormatError: sex.csv, line 3: no parent
    """
    return FormatError(f"{os.fspath(path)}, line {line}: {problem}")


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


def read_bytes(path: StrPath) -> bytes:
    """Read a whole file; a folder in its place is a ``FormatError``."""
    if Path(path).is_dir():
        raise FormatError(f"{os.fspath(path)} is a folder; this format is a single file")
    return Path(path).read_bytes()


def read_text(path: StrPath, encoding: str = "utf-8", remedy: str = GIVE_ENCODING) -> str:
    """Decode a whole file without its byte order mark; the error names the line that does not decode."""
    data = read_bytes(path)
    try:
        text = data.decode(encoding)
    except LookupError:
        raise ParameterError(
            f"encoding={encoding!r} is no text encoding; use for example 'utf-8', 'latin-1' or 'cp1252'"
        ) from None
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise at_line(
            path, line, f"byte {error.start} (0x{data[error.start]:02x}) is not {encoding} text; {remedy}"
        ) from None
    return text.removeprefix("\ufeff")


@contextmanager
def write_atomic(path: StrPath) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when the block ends well, and vanishes when it does not.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with write_atomic(Path(folder, "a.json")) as file:
    ...         _ = file.write(b"{}")
    ...     os.listdir(folder)
    ['a.json']
    """
    with draft_of(path) as draft, draft.open("xb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def draft_of(path: StrPath) -> Iterator[Path]:
    """Give the name of a file beside `path` that takes its place when the block ends well, and vanishes if not."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no folder {target.parent} to write {target.name} into")
    # Not tempfile: it makes files that only their owner may read, and the mode would stay.
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}.tmp")
    try:
        yield draft
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
