"""``nominym taxonomy``: show, check, measure and convert taxonomies."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from nominym.atomic import check_new
from nominym.cli import counted, progress, say, say_json
from nominym.error import NO_VALUE, Advice, MeaningWarning, ParameterError, UnknownConceptError
from nominym.meaning import Taxonomy, read_taxonomy
from nominym.meaning.read import OF_TABLES

if TYPE_CHECKING:
    from argparse import Namespace


def _read(given: Namespace) -> Taxonomy:
    said = {name: getattr(given, name) for name in OF_TABLES if getattr(given, name) is not None}
    how = {"virtual_root": bool(given.virtual_root), "progress": progress(), **said}
    return read_taxonomy(given.taxonomy, given.format, **how)


def info(given: Namespace) -> None:
    """Show a summary of a taxonomy."""
    from nominym.release import describe

    tax = _read(given)
    depth = int(max(tax.depth(concept) for concept in tax.ids))
    found = {**describe(tax, given.taxonomy), "tree": tax.is_tree, "depth": depth}
    if given.json:
        say_json(found)
        return
    shape = "a tree" if tax.is_tree else "concepts may have several parents"
    say(f"{found['name']}: {counted(len(tax), 'concept')}, {counted(tax.links, 'link')}; {shape}")
    label = tax.label(tax.root)
    say(f"  root {tax.root!r}{f' ({label})' if label != tax.root else ''}, {depth} levels")
    say(f"  sha256 {found['sha256']}")


def distance(given: Namespace) -> None:
    """Measure the distance between two concepts."""
    say(f"{_read(given).distance(given.a, given.b, given.measure or 'wu-palmer'):.6g}")


def check(given: Namespace) -> None:
    """Check a taxonomy, and whether the values of a table are concepts of it."""
    from nominym.release import read_table

    tax = _read(given)
    say(f"{given.taxonomy}: {counted(len(tax), 'concept')}, one root, no cycle")
    if given.table is None:
        return
    if not given.column:
        raise ParameterError("name the column whose values are concepts", remedy=Advice("give {}", column=NO_VALUE))
    held = read_table(given.table, given.column, delimiter=given.delimiter, encoding=given.encoding or "utf-8",
                      na=tuple(given.na or ()), comment=given.comment)  # fmt: skip
    for name in held.column_names:
        with warnings.catch_warnings():
            # Doubts about a code system are told below, with the column.
            warnings.simplefilter("ignore", MeaningWarning)
            found = tax.match(held[name])
        try:
            tax.concepts(found["value"], found["count"].tolist(), name)
        except UnknownConceptError as error:
            # What else such values could mean is for the commands that mask them; marks of missing values are not.
            if not isinstance(error.remedy, Advice) or "blank" not in error.remedy.options:
                error.remedy = Advice("{}", matched=NO_VALUE)
            raise
        say(f"{name}: all {len(found):,} values are concepts")


def convert(given: Namespace) -> None:
    """Write a taxonomy in nominym's own format."""
    check_new(given.out, bool(given.overwrite), [given.taxonomy])
    tax = _read(given)
    tax.save(given.out)
    say(f"{given.out}: {counted(len(tax), 'concept')}")
