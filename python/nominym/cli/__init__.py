"""The command line: ``nominym swap | noise | recode | data-swap | measure | audit | report | taxonomy | demo``.

One small module for each command. The others hold what they share: ``options``, the file of ``--config`` (``config``),
both together (``settings``), the way from a table to its release (``job``), an original beside its release (``pair``),
item sets (``sets``), what is said (``console``) and how errors end (``errors``).
"""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run a command; ends the process with 0, or with a code that says what was wrong."""
    try:
        import typer  # noqa: F401
    except ImportError:
        sys.stderr.write("error: the command line needs the extra: pip install nominym[cli]\n")
        raise SystemExit(2) from None
    try:
        from nominym.cli.app import run

        run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted; nothing was written\n")
        raise SystemExit(130) from None
