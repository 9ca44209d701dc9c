"""``nominym swap``: semantic rank swapping."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import pyarrow as pa
import typer

from nominym.cli import console, job, options
from nominym.cli.errors import guarded
from nominym.cli.settings import Settings, check_request, settings
from nominym.error import DataError
from nominym.release.manifest import Manifest
from nominym.result import Result
from nominym.swap import rank_swap
from nominym.swap.request import Request

# ruff: noqa: UP045


@guarded
def swap(
    input: options.Input = None,  # noqa: A002
    out: options.Out = None,
    quasi: options.Quasi = None,
    keep: options.Keep = None,
    identifier: options.Identifier = None,
    k: Annotated[Optional[int], typer.Option("--k", help="Candidates that a value is to have; size of groups.")] = None,
    p: Annotated[Optional[float], typer.Option("--p", help="In place of k, percent of the records.")] = None,
    method: Annotated[
        Optional[str],
        typer.Option("--method", help="records (default), fixed, dynamic, distributional, random, numerical."),
    ] = None,
    guarantee: Annotated[
        Optional[str], typer.Option("--guarantee", help="published (default), or strict: 1/k is kept.")
    ] = None,
    draw: Annotated[Optional[str], typer.Option("--draw", help="With strict: independent (default) or joint.")] = None,
    anneal: Annotated[
        Optional[bool], typer.Option("--anneal", help="With strict: look longer for better groups.")
    ] = None,
    measure: options.Measure = None,
    correlations: options.Correlations = None,
    missing: options.Missing = None,
    seed: options.Seed = None,
    format: options.Format = None,  # noqa: A002
    virtual_root: options.VirtualRoot = None,
    key: options.Key = None,
    keep_order: options.KeepOrder = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    overwrite: options.Overwrite = None,
    config: options.Config = None,
) -> None:
    """Swap values with others that mean nearly the same.

    Every column needs a role: --quasi is masked, --keep is published as it is, --identifier is dropped.

    \b
    Examples:
      nominym swap visits.csv -o release.csv --quasi diagnosis=icd.csv --keep ward --k 10 --guarantee strict
      nominym swap visits.parquet -o release.parquet --quasi diagnosis=icd-9-cm --identifier name --k 10
      nominym swap --config release.toml
    """
    asked = settings(
        "swap",
        config_file=config,
        files={
            "input": input, "output": out, "key": key, "keep_order": keep_order, "delimiter": delimiter,
            "encoding": encoding, "na": na, "overwrite": overwrite,
        },
        identifier=identifier, quasi=quasi, keep=keep, format=format, virtual_root=virtual_root,
        method={
            "k": k, "p": p, "method": method, "guarantee": guarantee, "draw": draw, "anneal": anneal,
            "measure": measure, "correlations": correlations, "missing": missing, "seed": seed,
        },
    )  # fmt: skip
    job.report(run(asked), asked.files)


def run(asked: Settings) -> Manifest:
    """Make the release."""
    check_request(Request, rank_swap, asked.method)
    numerical = asked.method.get("method") == "numerical"

    def mask(table: Any, taxonomies: dict[str, Any]) -> Result:
        meaning = taxonomies
        roots = asked.columns.of_masked("root") or None
        if numerical:
            given = asked.columns.of_masked("order")
            meaning = {name: _order(name, table[name], given.get(name)) for name in asked.columns.roles.masked}
        return rank_swap(table, meaning, roots=roots, progress=console.progress(), **asked.method)

    return job.make("swap", asked, mask, taxonomies_needed=not numerical)


def _order(name: str, column: Any, given: list[str] | None) -> list[str] | None:
    """List the texts of a column as numbers are ordered; other types have an order of their own."""
    if given is not None or not pa.types.is_dictionary(column.type):
        return given
    texts = [text for text in column.unify_dictionaries().chunk(0).dictionary.to_pylist() if text is not None]
    try:
        return sorted(texts, key=float)
    except ValueError:
        wrong = next(text for text in texts if not _is_number(text))
        raise DataError(
            f"column {name!r}: {wrong!r} is no number; give the order of all values in a --config file "
            f'([columns.{name}], order = ["low", "high"])'
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
