"""What commands say: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer

from nominym.plain import plain

verbose = False
"""Whether errors show where they come from."""


def progress() -> bool | None:
    """Show a bar on a terminal, and nothing where nobody looks."""
    return True if sys.stderr.isatty() else None


def say(text: str = "") -> None:
    """Print a line of a result."""
    typer.echo(text)


def say_json(content: Any) -> None:
    """Print a result as JSON."""
    typer.echo(json.dumps(plain(content), ensure_ascii=False, indent=2))


def say_table(frame: Any, title: str) -> None:
    """Print a table under its title."""
    shown = frame.to_string(index=False, float_format=lambda x: f"{x:.4f}", na_rep="")
    typer.echo(f"{title}\n" + "\n".join(f"  {line}" for line in shown.splitlines()))


def notice(text: str) -> None:
    """Tell what is good to know."""
    typer.echo(f"notice: {text}", err=True)


def warn(text: str) -> None:
    """Tell what takes away from protection."""
    typer.echo(f"warning: {text}", err=True)


def error(text: str) -> None:
    """Tell what went wrong."""
    typer.echo(f"error: {text}", err=True)
