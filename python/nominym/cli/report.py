"""``nominym report``: one page about a release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from nominym.atomic import check_new
from nominym.cli import console, options, pair
from nominym.cli.errors import guarded
from nominym.cli.settings import Settings
from nominym.error import ParameterError
from nominym.release.manifest import Manifest
from nominym.result import Result

# ruff: noqa: UP045


@guarded
def report(
    original: options.Original = None,
    release: options.Released = None,
    out: Annotated[
        Optional[Path], typer.Option("--out", "-o", help="The page to write; RELEASE.report.html by default.")
    ] = None,
    quasi: options.Quasi = None,
    k: options.ComparedK = None,
    sweep: Annotated[
        Optional[str], typer.Option("--sweep", help="Mask again with other parameters: k=2,5,10 or alpha=0.1,0.5.")
    ] = None,
    key: options.OwnersKey = None,
    keep_order: options.SameOrder = None,
    column: options.ListColumn = None,
    format: options.Format = None,  # noqa: A002
    virtual_root: options.VirtualRoot = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a page that is already there.")] = False,
    config: options.Config = None,
) -> None:
    """Write a page about a release: what was done, whether the promise holds, what it cost.

    \b
    Examples:
      nominym report visits.csv release.csv --quasi diagnosis=icd.csv --key owner.parquet -o report.html
      nominym report --config release.toml --sweep k=2,5,10,20,50
    """
    asked = pair.asked_for(
        "report", config, original, release, key, keep_order, quasi=quasi, format=format, virtual_root=virtual_root,
        delimiter=delimiter, encoding=encoding, na=na, column=column,
    )  # fmt: skip
    target = out if out is not None else Path(f"{asked.files.output}.report.html")
    values = None if sweep is None else _values(sweep)
    check_new(target, overwrite)
    if pair.are_sets(asked.files.input, asked.files.output):
        of_sets(asked, target, k, values, overwrite)
    else:
        of_tables(asked, target, k, values, overwrite)
    console.say(f"report: {target}")


def of_tables(asked: Settings, target: Path, k: int | None, sweep: dict[str, Any] | None, overwrite: bool) -> None:
    """Write the report of a masked table."""
    from nominym import report as reports

    given = pair.read_pair(asked, order_needed="a report")
    after = _result(given.after, given.manifest)
    meaning: dict[str, Any] = dict(given.taxonomies) or dict.fromkeys(asked.columns.roles.masked, "equal")
    reports.write(
        target,
        given.before,
        after,
        meaning,
        k=k,
        sweep=sweep,
        overwrite=overwrite,
        progress=console.progress(),
    )


def _result(after: Any, manifest: Manifest | None) -> Any:
    """Give a release with what its manifest says about it."""
    if manifest is None:
        return after
    achieved = dict(manifest.achieved)
    if "sizes" in achieved.get("groups", {}):
        # JSON has texts for keys only.
        sizes = {int(size): times for size, times in achieved["groups"]["sizes"].items()}
        achieved["groups"] = {**achieved["groups"], "sizes": sizes}
    return Result(after, manifest.params, {**achieved, "notes": manifest.notes})


def of_sets(asked: Settings, target: Path, k: int | None, sweep: dict[str, Any] | None, overwrite: bool) -> None:
    """Write the report of a release of item sets."""
    from nominym import report as reports

    records, published, _ = pair.read_sets(asked)
    if k is not None:
        published = replace(published, params={**published.params, "k": k})
    reports.write_itemsets(target, records, published, sweep=sweep, overwrite=overwrite, progress=console.progress())


def _values(text: str) -> dict[str, Any]:
    """Read a parameter and its values.

    >>> _values("k=2,5"), _values("alpha=0.1,0.5")
    ({'k': [2, 5]}, {'alpha': [0.1, 0.5]})
    """
    name, _, listed = text.partition("=")
    try:
        numbers = [float(value) for value in listed.split(",")]
    except ValueError:
        raise ParameterError(f"sweep={text!r}: give a parameter and numbers, such as 'k=2,5,10'") from None
    return {name: [int(number) if number.is_integer() else number for number in numbers]}
