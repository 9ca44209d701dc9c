"""A small table with its taxonomy, and a way to run commands."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("typer")

from commands import TAXONOMY, Done, Run, visits
from nominym.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with visits.csv and illness.csv."""
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text(visits())
    Path("illness.csv").write_text(TAXONOMY)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in the folder."""

    def run(*arguments: object) -> Done:
        with pytest.raises(SystemExit) as ended:
            main([os.fspath(a) if isinstance(a, os.PathLike) else str(a) for a in arguments])
        told = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0 if code is None else -1, told.out, told.err)

    return run


@pytest.fixture
def files(folder: Path) -> Callable[[], set[str]]:
    """List what is in the folder besides the inputs, hidden files too."""
    return lambda: {path.name for path in folder.iterdir()} - {"visits.csv", "illness.csv"}
