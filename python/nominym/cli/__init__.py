"""The command line: parse, call, print.

``options`` declares every option once and merges the command line with the file of ``--config``; ``ending`` handles how
commands end; ``judging``, ``taxonomy`` and ``demo`` hold commands. Here are the commands that make a release, and what
all share: how results are printed and options spelled. Nothing heavy is imported before a command runs.
"""

from __future__ import annotations

import json
import logging
import shlex
import sys
import traceback
import warnings
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from nominym.cli.ending import Exit, Stopped, code_of, message, printed, stoppable, streams, tell
from nominym.cli.options import Request, parse
from nominym.control import begin
from nominym.error import NO_VALUE, Code, MeaningWarning, PrivacyWarning, RecoveryWarning, Spelling, as_argument

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

    from nominym.release import Manifest, Publication


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with 0, or with a code that says what went wrong."""
    spelling: Spelling = as_argument
    verbose = False
    written: list[Path] = []
    came: list[int] = []
    with streams() as out:
        try:
            with stoppable(came, last=arguments is None):
                if arguments is None:
                    begin()
                given = parse(sys.argv[1:] if arguments is None else arguments)
                verbose, spelling = given.verbose, spelled(vars(given))
                from nominym.atomic import noted

                with noted() as written, _listening(verbose), warnings.catch_warnings():
                    warnings.simplefilter("always", PrivacyWarning)
                    warnings.simplefilter("always", RecoveryWarning)
                    warnings.simplefilter("once", MeaningWarning)
                    given.warned = []
                    warnings.showwarning = partial(_show, given.warned)
                    code = given.run(given) or Exit.DONE
        except SystemExit as ended:  # the help was shown, or how a command is used
            code = ended.code
        except BaseException as error:  # a panic of the core is no Exception
            if verbose:
                traceback.print_exc()
            why = Stopped(came[-1]) if came else error
            tell("error", message(why, spelling, written))
            code = code_of(why)
        code = printed(out, code, written)
    raise SystemExit(int(code))


# ---- swap, aggregate, noise, data-swap and recode: make a release, and say what may be known of it


def mask(given: Namespace) -> None:
    """Make the requested release and print a summary of it."""
    from nominym.atomic import check_new
    from nominym.release import publish

    asked = Request(given)
    source, target = asked.required("input"), asked.required("out")
    method = asked.method()
    options = asked.files("key", "keep_order", "overwrite", "seed", "delimiter", "encoding", "na", "comment",
                          "label", "person", "column", "record", "item", "missing", "engine", "plan",
                          "master")  # fmt: skip
    roles = {name: column["role"] for name, column in asked.columns.items()}
    if given.config is not None:
        for path in filter(None, (target, options.get("key"))):
            check_new(path, bool(options.get("overwrite")), [given.config])
    meanings = {**asked.meanings(), **asked.items()}
    made = publish(source, target, roles, method, meanings, **options, progress=progress())
    show(made, getattr(given, "warned", ()))


swap = aggregate = noise = data_swap = recode = mask


def show(made: Publication, warned: Collection[str] = ()) -> None:
    """Print a summary of a release in a few lines; notes that were already ``warned`` of are not repeated."""
    from nominym.release.pipeline import IDENTIFIER, PERSON

    said = made.manifest
    identifiers, persons = (list(said.roles.get(role) or ()) for role in (IDENTIFIER, PERSON))
    dropped = identifiers + persons
    if identifiers:
        tell("notice", f"identifiers are dropped: {', '.join(identifiers)}")
    if persons:
        tell("notice", f"persons are identified by {', '.join(persons)}, which is dropped")
    for note in said.notes:
        if note not in warned:
            tell("notice", note)
    if said.order == "kept":
        tell(
            "warning", "the rows are in the order of the input, which may reveal whose they are; leave out --keep-order"
        )
    if made.paths.key is not None:
        tell("warning", f"{made.paths.key} records which row is whose: keep it secret, apart from the release")
    columns = f", {counted(said.output['columns'], 'column')}" if "columns" in said.output else ""
    without = f", without {', '.join(map(repr, dropped))}" if dropped else ""
    order = {"kept": "in the order of the input", "sorted": "sorted by their content"}.get(said.order, said.order)
    say(f"{made.paths.release}: {said.output['rows']:,} records{columns}{without}; rows {order}")
    for name, figures in said.summary.get("attributes", {}).items():
        if "expected_rmse" in figures:
            stay = f"{figures['expected_unchanged']:.1%} of the values expected to be unchanged"
            say(f"  {name}: expected RMSE {figures['expected_rmse']:.4f}, {stay}")
        elif "sse" in figures:
            same = f"{figures['unchanged']:.1%} of the values unchanged, {counted(figures['values'], 'distinct value')}"
            say(f"  {name}: SSE {figures['sse']:.4f} per record, {figures['loss']:.1%} of the total; {same}")
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
        say(f"  items wrong in the base: {said.summary['expected_error']:.1%} of a record's items, expected")
    for line in guarantee(said):
        say(f"  {line}")
    record = f"; owner's record: {made.paths.key}" if made.paths.key is not None else ""
    say(f"  manifest: {made.paths.manifest.name}{record}")


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

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
        lines.append(f"not covered, see the manifest: {'; '.join(topics(stated.not_covered))}")
    first, *rest = lines
    return [f"guarantee: {first}" if stated else first, *(f"  {line}" for line in rest)]


def topics(not_covered: Iterable[str]) -> list[str]:
    """Return what sentences are about, each topic once: the words before the colon.

    >>> topics(["Insiders: some know all but one.", "Seeds: they repeat the draw.", "Insiders: some know their rows."])
    ['insiders', 'seeds']
    """
    return list(dict.fromkeys(text.partition(":")[0].lower() for text in not_covered))


# ---- what is said: results on standard output, everything else on standard error


def say(text: str = "") -> None:
    """Print a line of a result."""
    sys.stdout.write(f"{text}\n")


def say_json(content: Any) -> None:
    """Print a result as JSON."""
    from nominym.content import plain

    say(json.dumps(plain(content), ensure_ascii=False, indent=2))


def say_table(frame: Any, title: str) -> None:
    """Print a table under its title."""
    shown = frame.to_string(index=False, float_format=lambda x: f"{x:.4f}", na_rep="")
    say(f"{title}\n" + "\n".join(f"  {line}" for line in shown.splitlines()))


def _show(warned: list[str], message: Warning | str, category: type[Warning], *where: Any, **_: Any) -> None:
    if issubclass(category, PrivacyWarning | RecoveryWarning | MeaningWarning):
        warned.append(str(message))
        tell("warning", str(message))
    else:
        sys.stderr.write(warnings.formatwarning(message, category, *where[:2]))


class _Told(logging.Handler):
    """Prints what the library logs."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a log message as a notice."""
        tell("notice", record.getMessage())


@contextmanager
def _listening(verbose: bool) -> Iterator[None]:
    """Print what work needs inside the block, if ``verbose``."""
    log, listener = logging.getLogger("nominym"), _Told()
    level = log.level
    if verbose:
        log.addHandler(listener)
        log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(listener)
        log.setLevel(level)


def progress() -> bool | None:
    """Return True on a terminal, for a progress bar, and None otherwise."""
    return True if sys.stderr.isatty() else None


# ---- how options are spelled


_PHRASES = {
    "meanings": "--quasi COLUMN=MEANING (a taxonomy, number, equal, sets, sets:TAXONOMY, or a file of values in order, "
    ".order)",
    "masked": "--quasi",
    "listed": "--quasi COLUMN=FILE.order",
    "numbers": "--quasi COLUMN=number",
    "equality": "--quasi COLUMN=equal",
    "sets": "--quasi COLUMN=sets",
    "links": "name them child and parent in the first line",
    "blank": "give it with --na",
    "layouts": "--prefix holds for all taxonomies: where layouts differ, give each column its own in a --config file",
    "utf8": "convert the file to UTF-8",
    "matched": "values are ids, labels or synonyms of its concepts",
    "recode": "nominym recode",
    "data_swap": "nominym data-swap",
    "rank_swap": "nominym swap",
}


def spelled(options: Any) -> Spelling:
    """Return a function that spells options as on the command line, and anything else as in Python.

    >>> spelling = spelled(["k", "true_swaps", "equal", "identifier"])
    >>> spelling("k", 3), spelling("true_swaps", True), spelling("equal", ["sex"]), spelling("sample", 5)
    ('--k 3', '--true-swaps', '--equal sex', 'sample=5')
    >>> spelling("roles", {"ward": "identifier"}), spelled(["prefix"])("prefix", [1, 2])
    ('--identifier ward', '--prefix 1,2')
    """

    def write(name: str, value: Any = NO_VALUE) -> str:
        if name == "roles" and isinstance(value, dict):
            if isinstance(options, dict) and options.get("config") is not None:
                if len(value) == 1:
                    column, role = next(iter(value.items()))
                    return f"role = {json.dumps(role)} in [columns.{_key(column)}]"
                return "".join(
                    f"\n  [columns.{_key(name)}]\n  role = {json.dumps(role)}" for name, role in value.items()
                )
            return " ".join(write(role, column) for column, role in value.items())
        if name == "links" and "levels" in options:
            return "name the columns in the first line, and give --child and --parent, or --levels"
        if name == "blank" and "na" not in options:
            return "leave it out"
        if name == "layouts" and "config" not in options:
            return "--prefix is for lists of codes"
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
        if all(isinstance(each, int) for each in values):
            values = [",".join(map(str, values))]
        return " ".join(f"{flag} {shlex.quote(str(each))}" for each in values)

    return write


def _key(name: str) -> str:
    """Return a name as a TOML key."""
    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else json.dumps(name, ensure_ascii=False)
