"""The command line: parse, call, print.

``options`` declares every option once and puts together what the command line and the file of ``--config`` say;
``judging``, ``taxonomy`` and ``demo`` hold commands. Here are those that make a release, and what all share: how
results are printed, how errors are worded and how they end. Nothing heavy is imported before a command runs.
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
from typing import TYPE_CHECKING, Any, TextIO

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

if TYPE_CHECKING:
    from argparse import Namespace

    from nominym.cli.options import Request
    from nominym.release import Manifest, Publication


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


# ---- swap, noise, data-swap and recode: make a release, and say what may be known of it


def mask(given: Namespace) -> None:
    """Make the release that was asked for."""
    from nominym.cli.options import Request

    show(release(Request(given)))


swap = noise = data_swap = recode = mask


def release(asked: Request) -> Publication:
    """Make a release."""
    from nominym.release import publish

    source, target = asked.required("input", "the input file"), asked.required("out", "--out, the file to write")
    method = asked.method()
    options = asked.files("key", "keep_order", "overwrite", "seed", "delimiter", "encoding", "na", "label", "column")
    return publish(source, target, asked.roles, method, asked.meanings(), **options, progress=progress())


def show(made: Publication) -> None:
    """Say in a few lines what a release is."""
    from nominym.release.pipeline import IDENTIFIER, SCOPE_NOTE, SEED_NOTE

    said, dropped = made.manifest, made.manifest.roles.get(IDENTIFIER) or []
    if dropped:
        notice(f"identifiers are dropped: {', '.join(dropped)}")
    for note in said.notes:
        if note != SCOPE_NOTE:
            (warn if note == SEED_NOTE else notice)(note)
    if made.paths.key is not None:
        warn(f"{made.paths.key} tells which row is whose: keep it secret, apart from the release")
    columns = f", {said.output['columns']} columns" if "columns" in said.output else ""
    without = f", without {', '.join(map(repr, dropped))}" if dropped else ""
    say(f"{made.paths.release}: {said.output['rows']:,} records{columns}{without}; rows {said.order}")
    for name, figures in said.summary.get("attributes", {}).items():
        if "expected_rmse" in figures:
            say(f"  {name}: {_expected(figures)}")
    if "groups" in said.summary:
        groups = said.summary["groups"]
        count = groups.get("count", groups.get("number"))
        say(f"  groups: {count:,}, of {groups['smallest']:,} to {groups['largest']:,} records")
    if "expected_error" in said.summary:
        say(f"  items wrong in the base: {said.summary['expected_error']:.1%} of a record's own, expected")
    say(f"  guarantee: {guarantee(said)}")
    record = f"; owner's record: {made.paths.key}" if made.paths.key is not None else ""
    say(f"  manifest: {made.paths.manifest.name}{record}")


def _expected(figures: dict[str, Any]) -> str:
    return (
        f"expected RMSE {figures['expected_rmse']:.4f}, {figures['expected_unchanged']:.1%} of the values expected to "
        "stay as they are"
    )


def guarantee(said: Manifest) -> str:
    """State what a release guarantees, with its premise."""
    from nominym.release.pipeline import KEEP

    if said.seeded:
        return "none, since a seed was given"
    if "bound" not in said.summary:
        return "none"
    known = "items" if said.command == "recode" else "masked values"
    kept = "; not covered: kept columns" if said.roles.get(KEEP) else ""
    return (
        f"re-identification probability of a row at most {said.summary['bound']:.3g} (adversary: knows all {known}, "
        f"the groups and the algorithm{kept})"
    )


# ---- what is said: results on standard output, everything else on standard error


def say(text: str = "") -> None:
    """Print a line of a result."""
    sys.stdout.write(f"{text}\n")


def say_json(content: Any) -> None:
    """Print a result as JSON."""
    from nominym.values import plain

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
