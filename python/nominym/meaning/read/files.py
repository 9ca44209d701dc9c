"""What all readers share: decoding with a place in the message."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from nominym.atomic import StrPath as StrPath
from nominym.error import FormatError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sized

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
