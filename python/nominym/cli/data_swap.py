"""``nominym data-swap``: categorical data swapping."""

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

from nominym.cli import console, job, options
from nominym.cli.errors import guarded
from nominym.cli.settings import check_request, settings
from nominym.result import Result
from nominym.swap import data_swap as swap_values
from nominym.swap.data_request import Request

# ruff: noqa: UP045


@guarded
def data_swap(
    input: options.Input = None,  # noqa: A002
    out: options.Out = None,
    quasi: options.QuasiPlain = None,
    keep: options.Keep = None,
    identifier: options.Identifier = None,
    rate: Annotated[
        Optional[float], typer.Option("--rate", help="Share of the records in a pair; 0.05 by default.")
    ] = None,
    equal: Annotated[
        Optional[list[str]],
        typer.Option("--equal", metavar="COLUMN", help="A column in which pairs agree. May be repeated."),
    ] = None,
    unequal: Annotated[
        Optional[list[str]],
        typer.Option("--unequal", metavar="COLUMN", help="A column in which pairs differ. May be repeated."),
    ] = None,
    true_swaps: Annotated[Optional[bool], typer.Option("--true-swaps", help="Only pairs whose values differ.")] = None,
    mode: Annotated[Optional[str], typer.Option("--mode", help="simultaneous (default) or sequential.")] = None,
    strict_rate: Annotated[
        Optional[bool], typer.Option("--strict-rate", help="Stop if there are too few feasible pairs.")
    ] = None,
    missing: options.Missing = None,
    seed: options.Seed = None,
    key: options.Key = None,
    keep_order: options.KeepOrder = None,
    delimiter: options.Delimiter = None,
    encoding: options.Encoding = None,
    na: options.Na = None,
    overwrite: options.Overwrite = None,
    config: options.Config = None,
) -> None:
    """Let random pairs of records exchange their values of the masked columns.

    Columns of --equal and --unequal need a role of their own, as a rule --keep.

    \b
    Examples:
      nominym data-swap visits.csv -o release.csv --quasi diagnosis --keep sex --rate 0.1
      nominym data-swap visits.csv -o release.csv --quasi diagnosis --keep sex --equal sex --true-swaps
      nominym data-swap --config release.toml
    """
    asked = settings(
        "data-swap",
        config_file=config,
        files={
            "input": input, "output": out, "key": key, "keep_order": keep_order, "delimiter": delimiter,
            "encoding": encoding, "na": na, "overwrite": overwrite,
        },
        identifier=identifier, quasi=quasi, keep=keep,
        method={
            "rate": rate, "equal": equal, "unequal": unequal, "true_swaps": true_swaps, "mode": mode,
            "strict_rate": strict_rate, "missing": missing, "seed": seed,
        },
    )  # fmt: skip
    check_request(Request, swap_values, asked.method, columns=asked.columns.roles.masked)

    def mask(table: Any, taxonomies: dict[str, Any]) -> Result:
        return swap_values(table, list(asked.columns.roles.masked), progress=console.progress(), **asked.method)

    job.report(job.make("data-swap", asked, mask, taxonomies_needed=False), asked.files)
