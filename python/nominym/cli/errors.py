"""Errors on the command line: one clear message, no traceback, and an exit code that scripts can use."""

from __future__ import annotations

import errno
import functools
import inspect
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable
from enum import IntEnum
from typing import Any, TextIO, TypeVar

import typer

from nominym.cli import console
from nominym.error import (
    DataError,
    InternalError,
    NominymError,
    PrivacyWarning,
    TaxonomyError,
    UnknownConceptError,
)

Command = TypeVar("Command", bound=Callable[..., Any])


class Exit(IntEnum):
    """What a command says when it ends."""

    DONE = 0
    NOT_KEPT = 1
    """A promise or a threshold is not kept."""
    USAGE = 2
    """Options that have no meaning."""
    DATA = 3
    """A table or a taxonomy that cannot be used as it is."""
    FILES = 4
    """Files that are not there or cannot be written; no room."""
    DEFECT = 70
    """A defect of nominym."""
    INTERRUPTED = 130
    """Ctrl-C."""


def guarded(command: Command) -> Command:
    """Turn the errors of a command into messages and exit codes."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", PrivacyWarning)
                warnings.showwarning = _show
                command(*args, **options)
        except (NominymError, OSError, MemoryError, KeyboardInterrupt) as error:
            if console.verbose:
                traceback.print_exc()
            console.error(message(error, inspect.signature(command).parameters))
            raise typer.Exit(code(error)) from None
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if console.verbose:
                traceback.print_exc()
            console.error(f"a defect in nominym ({type(error).__name__}: {error}); nominym --verbose shows where")
            raise typer.Exit(Exit.DEFECT) from None

    return run  # type: ignore[return-value]


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, PrivacyWarning):
        console.warn(str(message))
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def code(error: BaseException) -> Exit:
    """Give the exit code of an error."""
    if isinstance(error, KeyboardInterrupt):
        return Exit.INTERRUPTED
    if isinstance(error, InternalError):
        return Exit.DEFECT
    if isinstance(error, DataError | TaxonomyError | UnknownConceptError):
        return Exit.DATA
    return Exit.USAGE if isinstance(error, NominymError) else Exit.FILES


def message(error: BaseException, options: Any = ()) -> str:
    """Say what is wrong, naming options as they stand on the command line.

    >>> from nominym.error import ParameterError
    >>> message(ParameterError("k=0: give a whole number; true_swaps=True draws none"), ["k", "true_swaps"])
    '--k=0: give a whole number; --true-swaps draws none'
    """
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing was written"
    if isinstance(error, MemoryError):
        return "not enough memory"
    text = str(error)
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        text = f"{where}{error.strerror}"
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            text = f"{where}no space left on the disk; nothing was written. Choose another place for --out"
    aliases = {"labels": "label"}
    known = {name for name in (*options, *aliases) if aliases.get(name, name) in options}
    if known:
        text = re.sub(
            # Not inside quotes, where it is what the caller wrote.
            rf"(?<!['\"])\b({'|'.join(sorted(known))})=(True\b)?",
            lambda found: f"--{aliases.get(found[1], found[1]).replace('_', '-')}{'' if found[2] else '='}",
            text,
        )
    return text
