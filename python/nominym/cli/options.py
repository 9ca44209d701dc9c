"""Options: each declared once, for the command line and for the file of ``--config``.

Methods declare their own options (``Method.options``); options of files and columns are declared here. A ``Request``
merges the command line and the file; the command line wins.
"""

from __future__ import annotations

import argparse
import csv
import difflib
import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from nominym.cli.config import SAY_MEANING, SETS_OF, WORDS, load
from nominym.error import ParameterError

if TYPE_CHECKING:
    from nominym.method import Method
    from nominym.options import Option


@dataclass(frozen=True)
class Shared:
    """An option of files and columns."""

    flags: str
    """Flags as on the command line, separated by blanks; in capitals for an argument without a flag."""
    help: str
    kind: Any = str
    metavar: str | None = None
    place: str | None = None
    """Section and key in the file, if it may stand there."""
    needed: str = ""
    """What is missing where neither the command line nor a file has it; empty where nothing is."""

    @property
    def name(self) -> str:
        """Return the name among the parsed arguments."""
        return self.flags.split()[0].lstrip("-").replace("-", "_").lower()


SHARED: Mapping[str, Shared] = {
    "input": Shared("INPUT", "Table to mask: .csv, .tsv, .txt (also .gz), .parquet, .xlsx, .dta or .sav.",
                    place="input.path", needed="the input file"),
    "items": Shared("INPUT", "Set-valued records: .dat or .fimi (also .gz) with the item numbers of one record per "
                             "line; .csv, .tsv, .txt with the item names of one record per line; .parquet with a "
                             "column of lists; or a table with --record, "
                             "--item.", place="input.path", needed="the input file"),
    "out": Shared("--out -o", "Release to write: .csv, .tsv, .txt (also .gz), .parquet; for item sets .parquet, .csv "
                              "or .txt.",
                  metavar="FILE", place="output.path", needed="--out, the file to write"),
    "original": Shared("ORIGINAL", "Original records.", place="input.path", needed="the original"),
    "release": Shared("RELEASE", "Release made from them.", place="output.path", needed="the release"),
    "page": Shared("--out -o", "Page to write; RELEASE.report.html by default; required for the owner's edition.",
                   metavar="FILE"),
    "quasi": Shared("--quasi", "Masked column and the meaning of its values: diagnosis=icd.csv (a taxonomy), "
                    "age=number, sex=equal, drugs=sets (lists), illnesses=sets:icd.csv (lists of concepts), "
                    "grade=grades.order (one value per line, lowest first).", list, "COLUMN=MEANING"),
    "keep": Shared("--keep", "Columns to publish unchanged: ward,age.", list),
    "identifier": Shared("--identifier", "Columns that identify a person; dropped.", list),
    "seed": Shared("--seed", "For studies: the same seed gives the same release, which guarantees nothing.", int,
                   place="method.seed"),
    "key": Shared("--key", "Write the owner's record to this file: the row of each record, the seed, the figures of "
                  "this draw. Keep it secret.", metavar="FILE", place="output.key"),
    "owners": Shared("--key", "Owner's record written with the release.", metavar="FILE", place="output.key"),
    "keep_order": Shared("--keep-order", "Keep the rows in the order of the input, which may reveal whose they "
                                         "are.", bool,
                         place="output.keep_order"),
    "same_order": Shared("--keep-order", "Assert that the rows of both files are in the same order.", bool,
                         place="output.keep_order"),
    "overwrite": Shared("--overwrite", "Replace existing files.", bool, place="output.overwrite"),
    "delimiter": Shared("--delimiter", "Delimiter of text files; by default a comma, or a tab for .tsv.",
                        metavar="CHARACTER", place="input.delimiter"),
    "encoding": Shared("--encoding", "Encoding of text files; utf-8 by default.", place="input.encoding"),
    "na": Shared("--na", "Text that marks a missing value in masked columns, as an empty cell "
                         "does.", list, "TEXT", "input.na"),
    "comment": Shared("--comment", "Prefix of comment lines in text files, such as #; these lines are skipped.",
                      metavar="PREFIX", place="input.comment"),
    "engine": Shared("--engine", "spark: mask a Parquet folder on Apache Spark and write "
                                 "another.", place="input.engine"),
    "plan": Shared("--plan", "On Spark: driver (exact) or blocks; by default chosen by size.", place="input.plan"),
    "master": Shared("--master", "On Spark: spark://HOST:PORT or local[4]; by default all cores of this machine.",
                     metavar="URL", place="input.master"),
    "column": Shared("--column", "Column with the lists of items, in a Parquet file.", metavar="COLUMN",
                     place="input.column"),
    "record": Shared("--record", "Column that identifies the record, in a table with one row per item.",
                     metavar="COLUMN", place="input.record"),
    "item": Shared("--item", "Column with the items, in a table with one row per item.", metavar="COLUMN",
                   place="input.item"),
    "missing": Shared("--missing", "How to treat missing items and lists: error (default), or empty to ignore them.",
                      place="input.missing"),
    "label": Shared("--label", "Column of sensitive labels; for text files with one record per line, a file with one "
                               "label per line.",
                    metavar="COLUMN", place="input.label"),
    "person": Shared("--person", "Column that identifies the person of each record, so that k counts persons; for "
                                 "text files with one record per line, a file with one person per line. Not "
                                 "published.", metavar="COLUMN", place="input.person"),
    "concepts": Shared("--taxonomy", "Taxonomy of the items, by which they are recoded: a file, or icd-9-cm, "
                                     "icd-9-cm-procedures, icd-10-cm.", metavar="FILE", place="input.taxonomy"),
    "config": Shared("--config -c", "TOML file that describes the whole release.", metavar="FILE"),
    "format": Shared("--format", "Format of the taxonomies: edges, levels, prefixes, arx, obo, owl, skos, claml, "
                                 "fhir, snomed, wordnet, json, …; detected automatically by "
                                 "default.", place="taxonomy.format"),
    "virtual_root": Shared("--virtual-root", "Add one concept above the roots of a taxonomy that has several.", bool,
                           place="taxonomy.virtual_root"),
    "child": Shared("--child", "Column of children, or of codes, for taxonomies in text files.",
                    metavar="COLUMN", place="taxonomy.child"),
    "parent": Shared("--parent", "Column of parents, for taxonomies in text files.", metavar="COLUMN",
                     place="taxonomy.parent"),
    "levels": Shared("--levels", "Columns that are levels, most specific first, for taxonomies in text files: "
                                 "city,county,state.", list, "COLUMNS", "taxonomy.levels"),
    "prefix": Shared("--prefix", "Lengths of the prefixes that group codes, for files with one code per line or a "
                                 "column of codes: 1,2,3,4.", list[int], "NUMBERS", "taxonomy.prefix"),
    "measure": Shared("--measure", "Semantic distance; by default as in the manifest, else wu-palmer."),
    "distance": Shared("--measure", "Semantic distance; wu-palmer by default."),
    "k": Shared("--k", "Compare with 1/k; by default the k of the manifest.", int),
    "whose": Shared("--person", "Column of the original that identifies the person of each record, so that persons "
                                "are counted; by default as in the manifest.", metavar="COLUMN"),
    "unknown": Shared("--unknown", "Kept columns that, as you assert, no adversary can know: attacks that use them "
                                   "are shown but do not count.", list),
    "columns": Shared("--columns", "Columns whose distributions to compare; by default all in both files.", list),
    "edition": Shared("--edition", "publication (default): figures that may be published; owner: all figures, for "
                                   "you only."),
    "sweep": Shared("--sweep", "For the owner: mask again with other values of an option, such as k=2,5,10 or "
                               "alpha=0.1,0.5.", metavar="OPTION=VALUES"),
    "methods": Shared("--methods", "For the owner: mask again with other methods at the same k, and compare.", bool),
    "json": Shared("--json", "Print JSON.", bool),
    "taxonomy": Shared("TAXONOMY", "File or folder, or icd-9-cm, icd-9-cm-procedures, icd-10-cm."),
    "a": Shared("A", "Concept, by id, label or synonym."),
    "b": Shared("B", "Concept to compare it with."),
    "table": Shared("TABLE", "Table whose values should be concepts."),
    "checked": Shared("--column", "Columns of the table.", list),
    "converted": Shared("--out -o", "File to write: .json or .parquet.", metavar="FILE"),
    "folder": Shared("--out -o", "Folder for all files; created if it does not exist.", metavar="FOLDER"),
    "study": Shared("STUDY", "TOML file of the study: data, methods, measures, seeds."),
    "workers": Shared("--workers", "Number of runs in parallel; by default one per core. Give 1 to compare times.",
                      int),
    "ks": Shared("--k", "Values of k to compare; by default 3,5,10,20, and what --max-risk needs.", list[int],
                 "NUMBERS"),
    "compared": Shared("--methods", "Methods to compare: strict, microaggregation, generalization, fixed, dynamic, "
                       "records, noise, data-swap; by default strict, microaggregation, generalization, records, and "
                       "noise where every --quasi has a taxonomy.", list, "NAMES"),
    "max_risk": Shared("--max-risk", "Largest re-identification probability that you accept, such as 0.09; by default "
                       "1/k of the largest k.", float),
    "by": Shared("--by", "What decides: loss (default; how far values moved), counts or correlations."),
    "seeds": Shared("--seeds", "Number of times that each method is run; 3 by default.", int),
    "sample": Shared("--sample", "Number of records to draw from a larger table; 20,000 by default.", int),
    "records": Shared("--records", "Number of hospital discharges to generate; 30,000 by default.", int),
}  # fmt: skip

TEXT = ("delimiter", "encoding", "na", "comment")
_TABLE = ("input", "out", "quasi", "keep", "identifier")
HIERARCHY = ("format", "virtual_root", "child", "parent", "levels", "prefix")
_SPARK = ("engine", "plan", "master")
_MADE = ("seed", *HIERARCHY, "key", "keep_order", *TEXT, *_SPARK, "overwrite", "config")
_PAIR = (
    "original",
    "release",
    "quasi",
    "owners",
    "same_order",
    "column",
    "record",
    "item",
    "missing",
    "concepts",
    *HIERARCHY,
    *TEXT,
    "config",
)
_ROLES = (
    "Every column needs a role: --quasi columns are masked, --keep columns are published unchanged, --identifier "
    "columns are dropped."
)
_PERSONS = "A --person column is dropped too, and a --sensitive column is kept."


@dataclass(frozen=True)
class Command:
    """A command: what it does, its options, and where it is."""

    about: str
    options: tuple[str, ...]
    module: str
    """Empty for commands that make a release, which also have the options of their method."""
    more: str = ""
    examples: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    of_methods: tuple[str, ...] = ()
    """Options that it has in common with methods; those that make a release have all of theirs."""


COMMANDS: Mapping[str, Command] = {
    "swap": Command(
        "Swap values with others of similar meaning.", (*_TABLE, *_MADE), "",
        f"{_ROLES} {_PERSONS} By default, values are swapped in groups of at least k records: the re-identification "
        "probability of a row is at most 1/k.", (
            "swap visits.csv -o release.csv --quasi diagnosis=icd.csv --quasi age=number --keep ward --k 10",
            "swap visits.parquet -o release.parquet --quasi diagnosis=icd-9-cm --identifier name --k 10",
            "swap visits.csv -o release.csv --quasi diagnosis=icd.csv --person patient --sensitive hiv=3 --k 10",
            "swap people.csv -o release.csv --quasi job=isco.csv --prefix 1,2,3,4 --keep ward,year --k 10",
            "swap visits.parquet -o release.parquet --quasi diagnosis=icd.csv --k 10 --engine spark --master local[8]",
            "swap --config release.toml",
        )),
    "aggregate": Command(
        "Replace the values of similar records with one common value per group: k-anonymity.", (*_TABLE, *_MADE), "",
        f"{_ROLES} {_PERSONS} Every combination of masked values is shared by at least k records.", (
            "aggregate visits.csv -o release.csv --quasi diagnosis=icd.csv --quasi age=number --keep ward --k 5",
            "aggregate visits.csv -o release.csv --quasi diagnosis=icd.csv --quasi age=number --replace subsumer --k 5",
            "aggregate --config release.toml",
        ),
    ),
    "noise": Command(
        "Replace values with concepts at a randomly drawn semantic distance.", (*_TABLE, *_MADE), "", _ROLES, (
            "noise visits.csv -o release.csv --quasi diagnosis=icd.csv --keep ward --alpha 0.3",
            "noise visits.csv -o release.csv --quasi diagnosis=icd.csv --keep ward --method exponential --epsilon 2",
            "noise --config release.toml --alpha 0.5",
        )),
    "data-swap": Command(
        "Exchange the masked values of random pairs of records.", (*_TABLE, *_MADE), "",
        f"{_ROLES} --quasi needs no meaning here. Columns of --equal and --unequal need a role too.", (
            "data-swap visits.csv -o release.csv --quasi diagnosis --keep sex --rate 0.1",
            "data-swap visits.csv -o release.csv --quasi diagnosis --keep sex --equal sex --true-swaps",
            "data-swap --config release.toml",
        )),
    "recode": Command(
        "Publish set-valued records so that each may be any of at least k rows.",
        ("items", "out", "concepts", "label", "person", "column", "record", "item", "missing", "seed", *HIERARCHY,
         "key", "delimiter", "encoding", "comment", *_SPARK, "overwrite", "config"), "",
        "Rows are always shuffled. From a table, only the items and the label are used.", (
            "recode baskets.dat -o release.parquet --k 8",
            "recode sales.csv --record receipt --item article -o release.csv --k 8",
            "recode baskets.parquet --column items --label illness -o release.parquet --l 6",
            "recode visits.parquet --column diagnoses --taxonomy icd-9-cm -o release.parquet --k 8",
            "recode baskets.parquet --column items --person customer -o release.parquet --k 8",
            "recode baskets.parquet --column items -o release.parquet --k 8 --engine spark --master local[8]",
            "recode --config release.toml",
        )),
    "measure": Command(
        "Compare a release with its original: distances, means, variances, correlations, distortion, marginals, exact "
        "matches, disclosure.",
        (*_PAIR, "columns", "measure", "json"), "judging",
        "RMSE needs to know which row is whose (--key, or --keep-order); the rest does not. For the owner only.", (
            "measure visits.csv release.csv --quasi diagnosis=icd.csv --key owner.parquet",
            "measure visits.csv release.csv --quasi diagnosis=icd.csv --json",
            "measure --config release.toml",
        )),
    "audit": Command(
        "Attack a release as an adversary who knows the original values, and verify its guarantee.",
        (*_PAIR, "k", "whose", "unknown", "measure", "json"), "judging",
        "Kept columns are assumed to be known, one by one and all together. Exits with 1 if an attack finds more "
        "than 1/k, if the files contradict the manifest, or if nothing can be concluded: no k, a seed, another "
        "original, an order that is only asserted, or a meaning of the release that was not given. Item sets need no "
        "key. For the owner only.", (
            "audit visits.csv release.csv --quasi diagnosis=icd.csv --key owner.parquet",
            "audit visits.csv release.csv --key owner.parquet --unknown ward --person patient",
            "audit baskets.dat release.parquet --key owner.parquet",
            "audit --config release.toml --json",
        )),
    "report": Command(
        "Write a page about a release: what was done, what is and is not guaranteed, and what it cost.",
        (*_PAIR, "page", "edition", "k", "sweep", "methods", "overwrite"), "judging",
        "The edition for publication has only figures that do not depend on the draw; the owner's edition has all "
        "figures.", (
            "report visits.csv release.csv --quasi diagnosis=icd.csv",
            "report visits.csv release.csv --quasi diagnosis=icd.csv --key owner.parquet --edition owner -o mine.html",
            "report --config release.toml --edition owner -o mine.html --sweep k=2,5,10,20,50",
        )),
    "taxonomy info": Command(
        "Show a summary of a taxonomy.", ("taxonomy", *HIERARCHY, "json"), "taxonomy", "",
        ("taxonomy info doid.obo", "taxonomy info places.csv --levels city,county,state"), required=("taxonomy",)),
    "taxonomy distance": Command(
        "Measure the distance between two concepts.", ("taxonomy", "a", "b", "distance", *HIERARCHY),
        "taxonomy", "", ("taxonomy distance doid.obo influenza pneumonia",), required=("taxonomy", "a", "b")),
    "taxonomy check": Command(
        "Check a taxonomy, and whether the values of a table are concepts of it.",
        ("taxonomy", "table", "checked", *HIERARCHY, *TEXT), "taxonomy",
        "Exits with 3 if not; the message lists the values, how often they occur, and what was probably meant.",
        ("taxonomy check icd.csv", "taxonomy check icd.csv visits.csv --column diagnosis"), required=("taxonomy",)),
    "taxonomy convert": Command(
        "Write a taxonomy in nominym's own format, which loads fast.",
        ("taxonomy", "converted", *HIERARCHY, "overwrite"), "taxonomy", "",
        ("taxonomy convert doid.obo -o doid.parquet",), required=("taxonomy", "converted")),
    "study": Command(
        "Compare methods on data sets over seeds, and measure what they achieve.",
        ("study", "folder", "workers"), "study",
        "Every cell is stored when it is done; the same command continues a run that was interrupted. The figures are "
        "for choosing a method: a release is made by the command of the method, without a seed.",
        ("study study.toml --out study",), required=("study", "folder")),
    "compare": Command(
        "Compare methods and values of k on a table, risk against loss, and suggest one.",
        ("input", "quasi", "keep", "identifier", "ks", "compared", "max_risk", "by", "seeds", "sample", "workers",
         "folder", *HIERARCHY, *TEXT, "config"), "compare",
        "Suggests the method with the smallest loss among those whose stated bound is at most --max-risk. Columns that "
        "are not named are left out. Nothing is released; the figures depend on the data and are for the owner only. "
        "Every run is stored when it is done; the same command continues a comparison that was interrupted.", (
            "compare visits.csv --quasi diagnosis=icd.csv --quasi age=number --keep sex --k 3,5,10 --out compare",
            "compare visits.csv --quasi diagnosis=icd.csv --max-risk 0.09 --by counts --sample 5000 --out compare",
            "compare --config release.toml --methods strict,microaggregation --out compare",
        ), required=("folder",), of_methods=("person", "sensitive", "measure", "accept")),
    "demo": Command(
        "Mask synthetic hospital discharges and baskets, attack the releases, and write both editions of the report.",
        ("folder", "records", "overwrite"), "demo",
        "Look at any of the files; release.toml describes the whole release in one file.",
        ("demo --out demo",), required=("folder",)),
}  # fmt: skip

_CODES = (
    "Exit codes: 0 done, 1 a guarantee or threshold is not met, 2 wrong options, 3 bad data, 4 files or memory,\n"
    "70 a defect in nominym, 129, 130, 143 interrupted."
)


class _Parser(argparse.ArgumentParser):
    """A parser whose errors look like those of the library."""

    def __init__(self, **how: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **how)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.format_usage()}error: {message}\n")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the command line; ``run`` of the result is the command."""
    top = parser(arguments)
    given, unknown = top.parse_known_args(arguments)
    if unknown:
        top.exit(2, f"error: {_not_understood(unknown[0], getattr(given, 'command', ''), arguments)}\n")
    if not hasattr(given, "command"):
        parser(()).print_help(sys.stderr)
        raise SystemExit(2)
    return given


def _not_understood(text: str, command: str, arguments: Sequence[str]) -> str:
    """Return what is wrong with an argument that a command does not have, and which it probably is."""
    named = " ".join(["nominym", *command.split()])
    if not text.startswith("-"):
        return f"unexpected argument {text!r}; see {named} --help"
    made: Any = parser(arguments)
    for name in command.split():
        made = next(each.choices[name] for each in made._actions if name in (each.choices or ()))
    known = [flag for action in made._actions for flag in action.option_strings]
    close = difflib.get_close_matches(text.partition("=")[0], [*known, "--verbose"], n=1, cutoff=0.75)
    hint = f"; did you mean {close[0]}?" if close else "."
    return f"{named} has no option {text.partition('=')[0]}{hint} See {named} --help"


def parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser; only commands named in the arguments get their options."""
    from nominym._core import __version__

    top = _Parser(
        prog="nominym",
        description="Anonymize nominal, mixed and set-valued records using what their values mean.\n\n"
        "Start with: nominym demo --out folder",
        epilog=_CODES,
    )
    top.add_argument("--verbose", action="store_true", help="Show the memory that is needed, and tracebacks of errors.")
    top.add_argument("--version", action="version", version=f"nominym {__version__}", help="Show the version and exit.")
    subs = top.add_subparsers(metavar="COMMAND", title="commands")
    folders: dict[str, Any] = {}
    for name, command in COMMANDS.items():
        first, _, second = name.partition(" ")
        if second and first not in folders:
            about = "Show, check, measure and convert taxonomies."
            group = subs.add_parser(first, help=about, description=about)
            folders[first] = group.add_subparsers(metavar="COMMAND", title="commands", required=True)
        place = folders[first] if second else subs
        about = f"{command.about}\n\n{textwrap.fill(command.more, 100)}".rstrip()
        examples = "\n".join(["examples:", *(f"  nominym {example}" for example in command.examples), "", _CODES])
        made = place.add_parser(second or first, help=command.about, description=about, epilog=examples)
        if all(part in arguments for part in name.split()):
            _fill(made, name, command)
    return top


def _fill(made: argparse.ArgumentParser, name: str, command: Command) -> None:
    def run(given: argparse.Namespace) -> Any:
        """Import the command when it runs, not to show its help, nor to refuse what the declarations refuse."""
        if getattr(given, "config", None) is None:
            for shared in map(SHARED.__getitem__, command.options):
                if shared.needed and getattr(given, shared.name) is None:
                    raise _missing(shared)
        for option, of_method in of_methods.items():
            if getattr(given, option) is not None:
                of_method.checked(option, getattr(given, option))
        module = import_module(f"nominym.cli.{command.module}".rstrip("."))
        return getattr(module, name.split()[-1].replace("-", "_"))(given)

    of_methods: dict[str, Option] = {}
    made.set_defaults(command=name, run=run)
    for shared in command.options:
        declared = SHARED[shared]
        needed = shared in command.required
        if declared.flags.isupper():
            made.add_argument(declared.name, help=declared.help, metavar=declared.flags, nargs=None if needed else "?")
        else:
            how = _how(declared.kind, declared.metavar)
            about = f"{declared.help} May be repeated." if declared.kind is list else declared.help
            made.add_argument(*declared.flags.split(), dest=declared.name, help=about, required=needed, **how)
    if not command.module or command.of_methods:
        from nominym.options import DECLARED

        options = made.add_argument_group("options of the method" if not command.module else "options of the methods")
        # Microaggregation has every option that others share, in words that fit all of them.
        chosen = DECLARED[name if not command.module else "aggregate"]
        for option, of_method in chosen.options().items():
            if command.of_methods and option not in command.of_methods:
                continue
            of_methods[option] = of_method
            options.add_argument(
                f"--{option.replace('_', '-')}", dest=option, help=_help(of_method, chosen.default(option)),
                **_how(of_method.kind, _METAVARS.get(option), chosen.default(option) is True),
            )  # fmt: skip


# What the value of an option is, where its kind does not tell.
_METAVARS = {"person": "COLUMN"}


def _how(kind: Any, metavar: str | None, switched_on: bool = False) -> dict[str, Any]:
    if kind is bool:
        return {"action": argparse.BooleanOptionalAction if switched_on else "store_true", "default": None}
    if kind is list and metavar in (None, "COLUMNS", "NAMES"):
        return {"action": "extend", "type": listed, "metavar": metavar or "COLUMNS"}
    if kind == list[int]:
        return {"type": sizes, "metavar": metavar}
    if kind in (list, dict):
        return {"action": "append", "metavar": metavar or "COLUMN=NUMBER"}
    return {"type": kind, "metavar": metavar or ("NAME" if kind is str else "NUMBER")}


def _help(option: Option, default: Any) -> str:
    text = option.help
    if not all(choice in text for choice in option.choices):
        text += f" One of {', '.join(f'{each} (default)' if each == default else each for each in option.choices)}."
    elif default not in (None, (), False) and "(default)" not in text:
        text += f" Default: {'yes' if default is True else default}."
    return text.replace("%", "%%")


def listed(text: str) -> list[str]:
    """Split a list at commas; a name with a comma is quoted, as in CSV.

    >>> listed('ward,"age, in years"')
    ['ward', 'age, in years']
    """
    return [name for name in next(csv.reader([text], skipinitialspace=True), []) if name] or [text]


def sizes(text: str) -> list[int]:
    """Parse whole numbers: 1,2,3,4."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give whole numbers, such as 1,2,3,4") from None


def _numbers(option: str, given: Sequence[str]) -> dict[str, int]:
    """Parse numbers by column: hiv=3."""
    found: dict[str, int] = {}
    for text in given:
        # A name may hold the sign, a number cannot.
        column, _, number = text.rpartition("=")
        if not column or not number.isdecimal():
            raise ParameterError("give a column and a whole number, hiv=3", parameter=option, value=text)
        if column in found:
            raise ParameterError(f"column {column!r} is given twice", parameter=option, value=text)
        found[column] = int(number)
    return found


# ---- the command line and the file of --config, put together


def _missing(shared: Shared) -> ParameterError:
    return ParameterError(f"give {shared.needed}, or a --config file that names it")


class Request:
    """What a command was asked to do: the command line, and the file for what it leaves open."""

    def __init__(self, given: argparse.Namespace) -> None:
        """Read the file, if there is one."""
        self.given = given
        self.file: dict[str, Any] = {}
        columns: dict[str, dict[str, Any]] = {}
        if given.config is not None:
            declared = [(shared.place, shared.kind) for shared in SHARED.values() if shared.place is not None]
            self.file, columns = load(given.config, given.command, declared)
        used = [SHARED[name] for name in COMMANDS[given.command].options]
        self.values = {shared.name: self._said(shared.name, shared.place) for shared in used if shared.place}
        self.columns = self._columns(columns)

    def in_file(self, place: str) -> Any:
        """Return the value at a place of the file: section and key."""
        return self.file.get(place)

    def _said(self, name: str, place: str) -> Any:
        said = getattr(self.given, name)
        return said if said is not None else self.in_file(place)

    def files(self, *names: str) -> dict[str, Any]:
        """Return the given options of files by name."""
        return {name: self.values[name] for name in names if self.values.get(name) is not None}

    def inputs(self, *names: str) -> list[Any]:
        """Return the paths of all input files: the file of ``--config``, files of meanings, files of options."""
        meant = [meaning for meaning in self.meanings().values() if isinstance(meaning, os.PathLike)]
        return [path for path in (self.given.config, *map(self.values.get, names), *meant) if path is not None]

    def required(self, name: str) -> Path:
        """Return a path that has to be given, on the command line or in the file."""
        if self.values[name] is None:
            raise _missing(SHARED[name])
        return Path(self.values[name])

    def method(self) -> Method:
        """Make the method, before anything is read."""
        from nominym.release import METHODS

        chosen = METHODS[self.given.command]
        said = self.of_methods(*chosen.options())
        roots = {name: column["root"] for name, column in self.columns.items() if "root" in column}
        return chosen.from_options({**said, **({"roots": roots} if roots else {})})

    def of_methods(self, *names: str) -> dict[str, Any]:
        """Return options of methods by name, those that were given."""
        said = {name: self._said(name, f"method.{name}") for name in names}
        for name, value in said.items():
            # Of all options of methods, those that are numbers by column are lists on the command line.
            if name == "sensitive" and isinstance(value, list):
                said[name] = _numbers(name, value)
        return {name: value for name, value in said.items() if value is not None}

    def meanings(self, otherwise: Any = None) -> dict[str, Any]:
        """Return meanings by column; ``otherwise`` for masked columns without one."""
        found = {
            name: self._meaning(column, otherwise if column["role"] == "quasi-identifier" else None)
            for name, column in self.columns.items()
        }
        self._check_used([*found.values(), *self.items().values()])
        return {name: meaning for name, meaning in found.items() if meaning is not None}

    def _check_used(self, meanings: Sequence[Any]) -> None:
        """Raise if options for taxonomies in text files are given and there is no such file."""
        from nominym.meaning.read import OF_TABLES

        used = any(getattr(meaning, "options", None) for meaning in meanings)
        for name in OF_TABLES:
            if getattr(self.given, name, None) is not None and not used:
                raise ParameterError("no taxonomy is in delimited text (.csv, .tsv, .txt)", parameter=name)

    def items(self) -> dict[str, Any]:
        """Return the taxonomy of the items under their name, if one was given."""
        path = self.values.get("taxonomy")
        return {} if path is None else {"items": self._hierarchy(path, {})}

    def _hierarchy(self, path: str, column: Mapping[str, Any]) -> Any:
        """Return the file of a taxonomy and how to read it: by the command line, else the column, else the file."""
        from nominym.meaning.read import OF_TABLES, TABLES
        from nominym.release import MeaningFile

        # What is said of all taxonomies is said of those in delimited text.
        delimited = Path(path).suffix.lower() in TABLES
        said = {}
        for name in HIERARCHY:
            in_column = column.get(name) if getattr(self.given, name, None) is None else None
            general = self.values.get(name) if delimited or name not in OF_TABLES else None
            said[name] = general if in_column is None else in_column
        given = {name: said[name] for name in OF_TABLES if said[name] is not None}
        return MeaningFile(path, said["format"], bool(said["virtual_root"]), given)

    def _meaning(self, column: Mapping[str, Any], otherwise: Any) -> Any:
        from nominym.meaning import Equality, Order, Sets

        if "order" in column:
            return Order(column["order"])
        text = column.get("meaning", column.get("taxonomy"))
        if text is None:
            return otherwise
        if text in WORDS:
            return {"number": Order, "equal": Equality, "sets": Sets}[text]()
        file = text.removeprefix(SETS_OF)
        of_sets = file != text
        if of_sets and (not file or file in WORDS):
            raise ParameterError(
                f"{text!r} names no taxonomy of the items",
                remedy=f"give {SETS_OF}FILE with the file of a taxonomy, or sets where items are equal or not",
            )
        return replace(self._hierarchy(file, column), sets=of_sets)

    def _columns(self, columns: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        seen: dict[str, str] = {}
        for option, role in (("identifier", "identifier"), ("quasi", "quasi-identifier"), ("keep", "keep")):
            for text in getattr(self.given, option, None) or ():
                name, _, meaning = text.partition("=") if option == "quasi" else (text, "", "")
                if name in seen:
                    raise ParameterError(f"column {name!r} is given twice: --{seen[name]} and --{option}")
                seen[name] = option
                old = columns.get(name, {})
                if option != "quasi" or old.get("role") != role:
                    old = {}
                if meaning:
                    old = {key: value for key, value in old.items() if key not in SAY_MEANING} | {"meaning": meaning}
                columns[name] = {**old, "role": role}
        return columns
