"""The command line: parse, call, print.

``options`` declares every option once and puts together what the command line and the file of ``--config`` say;
``judging``, ``taxonomy`` and ``demo`` hold commands. Here are those that make a release, and what all share: how
results are printed, how errors are worded and how they end. Nothing heavy is imported before a command runs.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shlex
import sys
import traceback
import warnings
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from nominym.cli.options import Request, parse
from nominym.error import (
    NO_VALUE,
    Code,
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
    from collections.abc import Collection

    from nominym.release import Manifest, Publication


class Exit(IntEnum):
    """What a command says when it ends."""

    DONE = 0
    NOT_KEPT = 1  # a guarantee or a threshold
    USAGE = 2  # options that have no meaning
    DATA = 3  # a table or a taxonomy that cannot be used as it is
    FILES = 4  # files that are not there or cannot be written; no room
    DEFECT = 70  # of nominym
    INTERRUPTED = 130  # by Ctrl-C


def main(arguments: list[str] | None = None) -> None:
    """Run a command; ends the process with 0, or with a code that says what was wrong."""
    spelling: Spelling = as_argument
    verbose = False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files and columns may be what no terminal shows
            stream.reconfigure(errors="backslashreplace")
    try:
        given = parse(sys.argv[1:] if arguments is None else arguments)
        verbose, spelling = given.verbose, spelled(vars(given))
        with warnings.catch_warnings():
            warnings.simplefilter("always", PrivacyWarning)
            given.warned = []
            warnings.showwarning = partial(_show, given.warned)
            code = given.run(given)
    except (Exception, KeyboardInterrupt) as error:
        if verbose:
            traceback.print_exc()
        tell("error", message(error, spelling))
        code = code_of(error)
    raise SystemExit(int(code or Exit.DONE))


# ---- swap, noise, data-swap and recode: make a release, and say what may be known of it


def mask(given: Namespace) -> None:
    """Make the release that was asked for, and say what it is."""
    from nominym.release import publish

    asked = Request(given)
    source, target = asked.required("input", "the input file"), asked.required("out", "--out, the file to write")
    method = asked.method()
    options = asked.files("key", "keep_order", "overwrite", "seed", "delimiter", "encoding", "na", "label", "person",
                          "column")  # fmt: skip
    roles = {name: column["role"] for name, column in asked.columns.items()}
    made = publish(source, target, roles, method, asked.meanings(), **options, progress=progress())
    show(made, getattr(given, "warned", ()))


swap = noise = data_swap = recode = mask


def show(made: Publication, warned: Collection[str] = ()) -> None:
    """Say in a few lines what a release is; what was ``warned`` of is not said again."""
    from nominym.release.pipeline import IDENTIFIER, PERSON

    said = made.manifest
    identifiers, persons = (list(said.roles.get(role) or ()) for role in (IDENTIFIER, PERSON))
    dropped = identifiers + persons
    if identifiers:
        tell("notice", f"identifiers are dropped: {', '.join(identifiers)}")
    if persons:
        tell("notice", f"persons are told by {', '.join(persons)}, which is dropped")
    for note in said.notes:
        if note not in warned:
            tell("notice", note)
    if said.order == "kept":
        tell("warning", "the rows are in the order of the input, which may tell whose they are; leave out --keep-order")
    if made.paths.key is not None:
        tell("warning", f"{made.paths.key} tells which row is whose: keep it secret, apart from the release")
    columns = f", {counted(said.output['columns'], 'column')}" if "columns" in said.output else ""
    without = f", without {', '.join(map(repr, dropped))}" if dropped else ""
    order = "in the order of the input" if said.order == "kept" else said.order
    say(f"{made.paths.release}: {said.output['rows']:,} records{columns}{without}; rows {order}")
    for name, figures in said.summary.get("attributes", {}).items():
        if "expected_rmse" in figures:
            stay = f"{figures['expected_unchanged']:.1%} of the values expected to stay as they are"
            say(f"  {name}: expected RMSE {figures['expected_rmse']:.4f}, {stay}")
    if "groups" in said.summary:
        groups = said.summary["groups"]
        least = f", at least {groups['persons']:,} persons in each" if "persons" in groups else ""
        say(f"  groups: {groups['count']:,}, of {groups['smallest']:,} to {groups['largest']:,} records{least}")
        if "read_off" in groups:
            alone = [
                f"{name} ({what}) {found['groups']:,}"
                for what, of in (("kept", "constant"), ("masked", "read_off"))
                for name, found in groups[of].items()
                if found["groups"]
            ]
            say(f"  groups in which all records share the value: {', '.join(alone) or 'none'}")
        for name, share in groups.get("sensitive", {}).items():
            say(f"  {name}: one value on at most {share:.1%} of the records of a group")
    if "expected_error" in said.summary:
        say(f"  items wrong in the base: {said.summary['expected_error']:.1%} of a record's own, expected")
    for line in guarantee(said):
        say(f"  {line}")
    record = f"; owner's record: {made.paths.key}" if made.paths.key is not None else ""
    say(f"  manifest: {made.paths.manifest.name}{record}")


def counted(count: int, noun: str) -> str:
    """Write a count with its noun.

    >>> counted(1, "column"), counted(1_200, "column")
    ('1 column', '1,200 columns')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def guarantee(said: Manifest) -> list[str]:
    """Return the lines that state what a release guarantees, or that it guarantees nothing."""
    stated = said.statement
    terms = {"unit": stated.unit, "premise": stated.premise}
    lines = [stated.headline, stated.claim, *(f"{name}: {text}" for name, text in terms.items() if text)]
    if stated.not_covered:
        # Each begins with what it is about.
        about = "; ".join(text.partition(":")[0].lower() for text in stated.not_covered)
        lines.append(f"not covered, see the manifest: {about}")
    first, *rest = lines
    return [f"guarantee: {first}" if stated else first, *(f"  {line}" for line in rest)]


# ---- what is said: results on standard output, everything else on standard error


def say(text: str = "") -> None:
    """Print a line of a result."""
    sys.stdout.write(f"{text}\n")


def say_json(content: Any) -> None:
    """Print a result as JSON."""
    from nominym.files import plain

    say(json.dumps(plain(content), ensure_ascii=False, indent=2))


def say_table(frame: Any, title: str) -> None:
    """Print a table under its title."""
    shown = frame.to_string(index=False, float_format=lambda x: f"{x:.4f}", na_rep="")
    say(f"{title}\n" + "\n".join(f"  {line}" for line in shown.splitlines()))


def tell(kind: str, text: str) -> None:
    """Tell a notice, which is good to know, a warning, of what takes away from protection, or an error."""
    sys.stdout.flush()
    sys.stderr.write(f"{kind}: {text}\n")


def _show(warned: list[str], message: Warning | str, category: type[Warning], *where: Any, **_: Any) -> None:
    if issubclass(category, PrivacyWarning):
        warned.append(str(message))
        tell("warning", str(message))
    else:
        sys.stderr.write(warnings.formatwarning(message, category, *where[:2]))


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
    if isinstance(error, DataError | TaxonomyError | UnknownConceptError):
        return Exit.DATA
    return Exit.USAGE if isinstance(error, NominymError) else Exit.DEFECT


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
    if not isinstance(error, OSError):
        return f"a defect in nominym ({type(error).__name__}: {error}); nominym --verbose shows where"
    if error.errno is None:
        return str(error)
    where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{where}no space left on the disk; nothing was written. Choose another place for --out"
    return f"{where}{error.strerror}"


_PHRASES = {
    "meanings": "--quasi COLUMN=MEANING (a taxonomy, number, equal, or a file of values in order, .order)",
    "masked": "--quasi",
    "listed": "--quasi COLUMN=FILE.order",
    "numbers": "--quasi COLUMN=number",
    "equality": "--quasi COLUMN=equal",
    "links": "name them child and parent in the first line",
    "utf8": "convert the file to UTF-8",
}


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
        if name in _PHRASES and (value is NO_VALUE or isinstance(value, Code)):
            return _PHRASES[name]
        name = {"labels": "label"}.get(name, name)
        if name not in options:
            return as_argument(name, value)
        flag = f"--{name.replace('_', '-')}"
        if value is NO_VALUE or value is None or value is True:
            return flag
        if value is False:
            return f"--no-{flag[2:]}"
        if isinstance(value, dict):
            value = [f"{column}={number}" for column, number in value.items()]
        values = value if isinstance(value, list | tuple) else [value]
        return " ".join(f"{flag} {shlex.quote(str(each))}" for each in values)

    return write


def _key(name: str) -> str:
    """Write a name as TOML has it."""
    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else json.dumps(name, ensure_ascii=False)
