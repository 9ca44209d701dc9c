"""What pyproject.toml says of the package."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def project() -> Any:
    toml: Any = import_module("tomllib" if find_spec("tomllib") else "tomli")
    return toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_extra_of_everything_names_every_other() -> None:
    extras = project()["optional-dependencies"]
    everything = extras.pop("all")
    others = [requirement for requirements in extras.values() for requirement in requirements]
    # The same bounds too, or an extra would have other versions by itself than together.
    assert sorted(everything) == sorted(set(others))


def test_messages_name_extras_that_exist() -> None:
    extras = set(project()["optional-dependencies"])
    named = {
        name
        for path in [*(ROOT / "python").rglob("*.py"), ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        for listed in re.findall(r"nominym\[([a-z,]+)\]", path.read_text(encoding="utf-8"))
        for name in listed.split(",")
    }
    assert named
    assert named <= extras
