"""What all tests share: the way to real data, where there are any."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from commands import TAXONOMY, Done, Run, visits

# Every run tries the same examples: a failure is a failure for everyone.
settings.register_profile("nominym", deadline=None, derandomize=True)
settings.load_profile("nominym")

# A suite that is started in the background ignores these, and so would all commands that it runs.
for name, handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    if signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, name), handler)


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Give the path of a real data file, or skip the test where it is absent."""
    folder = Path(os.environ.get("NOMINYM_DATA", Path(__file__).parents[2] / "shared" / "data"))

    def path(name: str) -> Path:
        file = folder / name
        if not file.exists():
            pytest.skip(f"real data {name!r} not found; set NOMINYM_DATA to the folder that has it")
        return file

    return path


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
    from nominym.cli import main

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
