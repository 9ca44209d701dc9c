"""The rooms of the house are as docs/architecture.md draws them, and commands take the way that it describes."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import commands

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "nominym"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

# Results and releases open these doors when they are asked to: what they lead to stands above them.
DOORS = {("method", "risk"), ("method", "report"), ("release", "spark")}


def room_of(module: str) -> str:
    """Give the room of a dotted name below nominym: a folder, or a module on its own."""
    return module.split(".")[1] if "." in module else "__init__"


def modules() -> dict[str, Path]:
    names = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


MODULES = modules()


def imports(path: Path) -> list[tuple[str, str]]:
    """List what a module imports from nominym, wherever in it: module and name."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "nominym":
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                found.append((below, "") if below in MODULES else (str(node.module), alias.name))
        elif isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names if alias.name.split(".")[0] == "nominym"]
    return found


def edges() -> set[tuple[str, str]]:
    found = set()
    for name, path in MODULES.items():
        for module, _ in imports(path):
            pair = room_of(name), room_of(module)
            if pair[0] != pair[1] and "__init__" not in pair and "__main__" not in pair:
                found.add(pair)
    return {(a, b) for a, b in found if b != "_core"} - DOORS


def drawn() -> tuple[dict[str, int], dict[str, set[str]]]:
    """Read levels and uses from the table of rooms."""
    level, uses = {}, {}
    for number, rooms, used in re.findall(r"^\| (\d+) \| (.+?) \| .+? \| (.+?) \|$", PAGE, re.MULTILINE):
        for room in re.findall(r"`(\w+)`", rooms):
            level[room] = int(number)
            uses[room] = set(re.findall(r"`(\w+)`", used))
    return level, uses


def test_rooms_are_as_drawn() -> None:
    level, uses = drawn()
    assert set(level) == {room_of(name) for name in MODULES} - {"__init__", "__main__"}
    foundation = {room for room, number in level.items() if number == 0}
    real: dict[str, set[str]] = {room: set() for room in level}
    for user, used in edges():
        # Every room may use the foundation; the drawing leaves that out.
        if used not in foundation:
            real[user].add(used)
    assert real == {room: used - foundation for room, used in uses.items()}


def test_imports_go_down_only() -> None:
    level, _ = drawn()
    foundation = {room for room, number in level.items() if number == 0}
    upward = {(a, b) for a, b in edges() if level[b] >= level[a] and not {a, b} <= foundation}
    assert not upward


def test_the_foundation_has_no_circle() -> None:
    left = {(a, b) for a, b in edges() if drawn()[0][a] == drawn()[0][b] == 0}
    while left:
        ends = {b for _, b in left} - {a for a, _ in left}
        assert ends, f"a circle among {left}"
        left = {(a, b) for a, b in left if b not in ends}


def test_no_private_name_crosses_a_border() -> None:
    for name, path in MODULES.items():
        for module, imported in imports(path):
            if room_of(module) != room_of(name) and imported != "__version__":
                private = imported.startswith("_") or any(part.startswith("_") for part in module.split(".")[1:])
                assert not private or module == "nominym._core" or imported == "_core", f"{name}: {module} {imported}"


def test_every_function_outside_takes_no_private_attribute() -> None:
    """An attribute with an underscore belongs to its room."""
    home: dict[str, set[str]] = {}
    trees = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}
    for name, tree in trees.items():
        for node in ast.walk(tree):
            defined = None
            if isinstance(node, ast.FunctionDef):
                defined = node.name
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                defined = node.attr
            if defined is not None and defined.startswith("_") and not defined.startswith("__"):
                home.setdefault(defined, set()).add(room_of(name))
    for name, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in home:
                assert room_of(name) in home[node.attr], f"{name}: {ast.unparse(node)}"


def walk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Run a strict release from the shell, and list the files whose functions it calls."""
    import nominym.release  # noqa: F401  # what runs when a room is imported is no step of the walk
    from nominym.cli import main

    monkeypatch.chdir(folder)
    Path("visits.csv").write_text(commands.visits())
    Path("illness.csv").write_text(commands.TAXONOMY)
    files: set[str] = set()

    def watch(frame: object, event: str, _: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        # Bodies of modules and classes run when they are imported, whoever calls what.
        if event == "call" and code.co_name != "<module>" and code.co_flags & 0x2:
            path = Path(code.co_filename)
            if PACKAGE in path.parents:
                files.add(path.relative_to(PACKAGE).as_posix())

    line = ["swap", "visits.csv", "-o", "release.csv", *commands.ROLES, "--k", "5", "--guarantee", "strict"]
    sys.setprofile(watch)
    try:
        with pytest.raises(SystemExit) as ended:
            main(line)
    finally:
        sys.setprofile(None)
    assert not ended.value.code
    return files


def test_the_walk_is_as_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = PAGE[PAGE.index("## The walk") :]
    described = set(re.findall(r"`((?:\w+/)*\w+\.py)`", part[: part.index("\n## ", 5)]))
    assert walk(tmp_path, monkeypatch) == described
