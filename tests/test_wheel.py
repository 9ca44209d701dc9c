"""The wheel that `make wheel` built works in a fresh environment, without Rust and without the sources."""

from __future__ import annotations

import json
import os
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Named by make wheel: a wheel that was left in the folder may be of other sources.
WHEEL = Path(os.environ.get("NOMINYM_WHEEL", ""))

pytestmark = pytest.mark.skipif(not WHEEL.name, reason="no wheel was built; make wheel builds one and runs this")


def test_what_is_in_it() -> None:
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        metadata = wheel.read(next(name for name in names if name.endswith("METADATA"))).decode()
        bills = [json.loads(wheel.read(name)) for name in names if "/sboms/" in name]
    assert "manylinux_2_28" in WHEEL.name
    assert {"nominym/py.typed", "nominym/_core.pyi", "nominym/__init__.py"} <= set(names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"nominym"}
    assert not [name for name in names if "__pycache__" in name]
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert "Project-URL: Repository" in metadata
    assert any(bill["bomFormat"] == "CycloneDX" and bill["components"] for bill in bills)


def test_it_runs_without_rust(tmp_path: Path) -> None:
    import venv

    venv.create(tmp_path / "env", with_pip=True)
    # No compiler, no cargo, nothing of this repository; its dependencies come from the package index.
    environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environ["PATH"] = f"{tmp_path / 'env' / 'bin'}:/usr/bin:/bin"
    python, nominym = (tmp_path / "env" / "bin" / name for name in ("python", "nominym"))

    def run(*command: str | Path) -> str:
        done = subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(python, "-m", "pip", "install", "--quiet", WHEEL)
    assert "env" in run(python, "-c", "import nominym; print(nominym.__file__)")
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", text, re.DOTALL)):
        (tmp_path / f"block{number}.txt").write_text(block, encoding="utf-8")
        told = "import doctest, sys; sys.exit(doctest.testfile(sys.argv[1], False, optionflags=doctest.ELLIPSIS,"
        told += " globs={'nym': __import__('nominym')}).failed)"
        run(python, "-W", "ignore", "-c", told, f"block{number}.txt")
    assert "nominym 0." in run(nominym, "--version")
    (tmp_path / "visits.csv").write_text("name,age\n" + "".join(f"n{i},{i}\n" for i in range(20)))
    line = "swap visits.csv -o r.csv --identifier name --quasi age=number --k 4"
    run(nominym, *line.split())
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 21
