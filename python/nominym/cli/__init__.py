"""The command line: parse, call, print.

``options`` declares every option once and puts together what the command line and the file of ``--config`` say;
``masking``, ``judging``, ``taxonomy`` and ``demo`` hold the commands. Here is what they share: how results are printed,
how errors are worded and how they end. Nothing heavy is imported before a command runs.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
import traceback
import warnings
from enum import IntEnum
from typing import Any, TextIO

from nominym.error import (
    NO_VALUE,
    DataError,
    InternalError,
    NominymError,
    PrivacyWarning,
    Spelling,
    TaxonomyError,
    UnknownConceptError,
    as_argument,
)


class Exit(IntEnum):
    """What a command says when it ends."""

    DONE = 0
    NOT_KEPT = 1
    """A guarantee or a threshold is not kept."""
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


def main(arguments: list[str] | None = None) -> None:
    """Run a command; ends the process with 0, or with a code that says what was wrong."""
    spelling: Spelling = as_argument
    verbose = False
    try:
        from nominym.cli.options import parse

        given = parse(sys.argv[1:] if arguments is None else arguments)
        verbose, spelling = given.verbose, spelled(vars(given))
        with warnings.catch_warnings():
            warnings.simplefilter("always", PrivacyWarning)
            warnings.showwarning = _show
            code = given.run(given)
    except (NominymError, OSError, MemoryError, KeyboardInterrupt) as error:
        if verbose:
            traceback.print_exc()
        _tell("error", message(error, spelling))
        code = code_of(error)
    except Exception as error:
        if verbose:
            traceback.print_exc()
        _tell("error", f"a defect in nominym ({type(error).__name__}: {error}); nominym --verbose shows where")
        code = Exit.DEFECT
    raise SystemExit(int(code or Exit.DONE))


# ---- what is said: results on standard output, everything else on standard error


def say(text: str = "") -> None:
    """Print a line of a result."""
    sys.stdout.write(f"{text}\n")


def say_json(content: Any) -> None:
    """Print a result as JSON."""
    from nominym.plain import plain

    say(json.dumps(plain(content), ensure_ascii=False, indent=2))


def say_table(frame: Any, title: str) -> None:
    """Print a table under its title."""
    shown = frame.to_string(index=False, float_format=lambda x: f"{x:.4f}", na_rep="")
    say(f"{title}\n" + "\n".join(f"  {line}" for line in shown.splitlines()))


def notice(text: str) -> None:
    """Tell what is good to know."""
    _tell("notice", text)


def warn(text: str) -> None:
    """Tell what takes away from protection."""
    _tell("warning", text)


def _tell(kind: str, text: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(f"{kind}: {text}\n")


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, PrivacyWarning):
        warn(str(message))
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def progress() -> bool | None:
    """Show a bar on a terminal, and nothing where nobody looks."""
    return True if sys.stderr.isatty() else None


# ---- errors


def code_of(error: BaseException) -> Exit:
    """Return the exit code of an error."""
    if isinstance(error, KeyboardInterrupt):
        return Exit.INTERRUPTED
    if isinstance(error, InternalError):
        return Exit.DEFECT
    if isinstance(error, OSError | MemoryError):
        return Exit.FILES
    return Exit.DATA if isinstance(error, DataError | TaxonomyError | UnknownConceptError) else Exit.USAGE


def message(error: BaseException, spelling: Spelling = as_argument) -> str:
    """Say what is wrong, with options spelled as they stand on the command line.

    >>> from nominym.error import ParameterError
    >>> message(ParameterError("give a whole number, 1 or more", parameter="k", value=0), spelled(["k"]))
    '--k 0: give a whole number, 1 or more'
    """
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing was written"
    if isinstance(error, MemoryError):
        return "not enough memory"
    if isinstance(error, NominymError):
        return error.worded(spelling)
    if isinstance(error, OSError) and error.errno is not None:
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return f"{where}no space left on the disk; nothing was written. Choose another place for --out"
        return f"{where}{error.strerror}"
    return str(error)


def spelled(options: Any) -> Spelling:
    """Return what writes options as they stand on the command line; what is no option there is written as in Python.

    >>> spelling = spelled(["k", "true_swaps", "equal", "identifier"])
    >>> spelling("k", 3), spelling("true_swaps", True), spelling("equal", ["sex"]), spelling("sample", 5)
    ('--k 3', '--true-swaps', '--equal sex', 'sample=5')
    >>> spelling("roles", {"ward": "identifier"})
    '--identifier ward'
    """

    def write(name: str, value: Any = NO_VALUE) -> str:
        if name == "roles" and isinstance(value, dict):
            if isinstance(options, dict) and options.get("config") is not None:
                return "".join(
                    f"\n  [columns.{_key(name)}]\n  role = {json.dumps(role)}" for name, role in value.items()
                )
            return " ".join(write(role, column) for column, role in value.items())
        if name == "meanings" and value is NO_VALUE:
            return "--quasi COLUMN=MEANING (a taxonomy, number, equal, or a file of values in order, .order)"
        name = {"labels": "label"}.get(name, name)
        if name not in options:
            return as_argument(name, value)
        flag = f"--{name.replace('_', '-')}"
        if value is NO_VALUE or value is None or value is True:
            return flag
        if value is False:
            return f"--no-{flag[2:]}"
        values = value if isinstance(value, list | tuple) else [value]
        return " ".join(f"{flag} {shlex.quote(str(each))}" for each in values)

    return write


def _key(name: str) -> str:
    """Write a name as TOML has it."""
    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else json.dumps(name, ensure_ascii=False)
