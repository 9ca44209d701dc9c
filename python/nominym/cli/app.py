"""The commands, put together."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from nominym._core import __version__
from nominym.cli import console, taxonomy
from nominym.cli.audit import audit
from nominym.cli.data_swap import data_swap
from nominym.cli.demo import demo
from nominym.cli.measure import measure
from nominym.cli.noise import noise
from nominym.cli.recode import recode
from nominym.cli.report import report
from nominym.cli.swap import swap

app = typer.Typer(
    name="nominym",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="Ends with 0: done, 1: a promise is not kept, 2: wrong options, 3: bad data, 4: files, 130: interrupted.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"nominym {__version__}")
        raise typer.Exit


@app.callback()
def nominym(
    verbose: Annotated[bool, typer.Option("--verbose", help="Show where an error comes from.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    """Anonymize nominal and set-valued records with what their values mean.

    Start with: nominym demo --out folder
    """
    console.verbose = verbose


app.command("swap")(swap)
app.command("noise")(noise)
app.command("recode")(recode)
app.command("data-swap")(data_swap)
app.command("measure")(measure)
app.command("audit")(audit)
app.command("report")(report)
app.add_typer(taxonomy.app, name="taxonomy")
app.command("demo")(demo)


def run(arguments: list[str] | None) -> None:
    """Run a command, and end the process with its code."""
    app(args=sys.argv[1:] if arguments is None else arguments, prog_name="nominym")
