"""Commands start at once: what does not read or write a table imports no library for tables."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import nominym as nym

WATCH = """
import json, sys
before = len(sys.modules)
from nominym.cli import main
try:
    main(json.loads(sys.argv[1]))
except SystemExit:
    pass
sys.stderr.write("\\n" + json.dumps([len(sys.modules) - before, sorted(sys.modules)]))
"""


def imported(line: str) -> tuple[int, set[str]]:
    done = subprocess.run([sys.executable, "-c", WATCH, json.dumps(line.split())], capture_output=True, text=True)
    number, names = json.loads(done.stderr.splitlines()[-1])
    return number, set(names)


@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "--version",
        "swap --help",
        "recode --help",
        "audit --help",
        "taxonomy info --help",
        "compare --help",  # shown
        "demo",
        "report --bogus",
        "noise visits.csv --alpha much",
        "swap",
        "swap visits.csv",
        "swap visits.csv -o release.csv --k 0",
        "noise visits.csv -o release.csv --law flat",
        "compare --out there",
        "audit",  # refused
    ],
)
def test_no_library_for_tables_is_imported(line: str) -> None:
    number, names = imported(line)
    assert not names & {
        "numpy",
        "pandas",
        "pyarrow",
        "polars",
        "matplotlib",
        "plotly",
        "jinja2",
        "nominym.release",
        "nominym.meaning",
    }
    # 90 in Python 3.11, most of argparse, logging and their like; pandas alone is 400.
    assert number < 150


def test_all_names_are_there_before_they_are_used() -> None:
    code = "import nominym, sys; print('pandas' in sys.modules, *dir(nominym))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, *names = done.stdout.split()
    assert first == "False"
    assert set(names) == set(nym.__all__)
    assert all(getattr(nym, name) is not None for name in names if name != "spark")  # an extra
