"""``nominym taxonomy``: look at taxonomies, check them, measure, convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from nominym.atomic import check_new
from nominym.cli import console, options
from nominym.cli.errors import guarded
from nominym.error import ParameterError
from nominym.release.manifest import of_taxonomy
from nominym.release.table import read_table
from nominym.taxonomy import Taxonomy, read_taxonomy

# ruff: noqa: UP045

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Look at a taxonomy, check it, measure, convert.")

_File = Annotated[str, typer.Argument(help="A file or folder, or icd-9-cm, icd-10-cm.", metavar="TAXONOMY")]


def _read(path: str, format: str | None, virtual_root: bool | None) -> Taxonomy:  # noqa: A002
    return read_taxonomy(path, format, virtual_root=bool(virtual_root), progress=console.progress())


@app.command()
@guarded
def info(
    path: _File,
    format: options.Format = None,  # noqa: A002
    virtual_root: options.VirtualRoot = None,
    json: options.Json = False,
) -> None:
    """Say what a taxonomy holds.

    \b
    Example:
      nominym taxonomy info doid.obo
    """
    tax = _read(path, format, virtual_root)
    depth = int(max(tax.depth(concept) for concept in tax.ids))
    found = {**of_taxonomy(tax, path), "tree": tax.is_tree, "depth": depth}
    if json:
        console.say_json(found)
        return
    shape = "a tree" if tax.is_tree else "concepts may have several parents"
    console.say(f"{found['name']}: {len(tax):,} concepts, {tax.links:,} links; {shape}")
    label = tax.label(tax.root)
    console.say(f"  root {tax.root!r}{f' ({label})' if label != tax.root else ''}, {depth} levels")
    console.say(f"  sha256 {found['sha256']}")


@app.command()
@guarded
def distance(
    path: _File,
    a: Annotated[str, typer.Argument(help="A concept, by id, label or synonym.")],
    b: Annotated[str, typer.Argument(help="Another one.")],
    measure: options.Measure = None,
    format: options.Format = None,  # noqa: A002
    virtual_root: options.VirtualRoot = None,
) -> None:
    """Measure the distance of two concepts.

    \b
    Example:
      nominym taxonomy distance doid.obo influenza pneumonia
    """
    console.say(f"{_read(path, format, virtual_root).distance(a, b, measure or 'wu-palmer'):.6g}")


@app.command()
@guarded
def check(
    path: _File,
    table: Annotated[Optional[Path], typer.Argument(help="A table whose values are to be concepts.")] = None,
    column: Annotated[
        Optional[list[str]], typer.Option("--column", metavar="COLUMN", help="A column of it. May be repeated.")
    ] = None,
    format: options.Format = None,  # noqa: A002
    virtual_root: options.VirtualRoot = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
) -> None:
    """Check a taxonomy, and whether the values of a table are concepts of it.

    Ends with 3 if not; the message lists the values, how often they occur, and what was probably meant.

    \b
    Examples:
      nominym taxonomy check icd.csv
      nominym taxonomy check icd.csv visits.csv --column diagnosis
    """
    tax = _read(path, format, virtual_root)
    console.say(f"{path}: {len(tax):,} concepts, one root, no circle")
    if table is None:
        return
    if not column:
        raise ParameterError("column=: name the column of the table whose values are concepts")
    held = read_table(table, column, delimiter=delimiter, encoding=encoding or "utf-8", na=tuple(na or ()))
    for name in held.column_names:
        found = tax.match(held[name])
        tax.concepts(found["value"], found["count"].tolist(), name)
        console.say(f"{name}: all {len(found):,} values are concepts")


@app.command()
@guarded
def convert(
    path: _File,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .json or .parquet.")],
    format: options.Format = None,  # noqa: A002
    virtual_root: options.VirtualRoot = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is already there.")] = False,
) -> None:
    """Write a taxonomy in nominym's own format, which loads fast.

    \b
    Example:
      nominym taxonomy convert doid.obo -o doid.parquet
    """
    check_new(out, overwrite)
    tax = _read(path, format, virtual_root)
    tax.save(out)
    console.say(f"{out}: {len(tax):,} concepts")
