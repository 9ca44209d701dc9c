"""What messages advise exists: every option that one names is an option of a command, or an argument in Python."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import nominym as nym
from nominym.cli import _PHRASES, options, spelled

PACKAGE = Path(nym.__file__).parent

# Arguments that only Python has: what the commands call either checks them first or never gives them.
IN_PYTHON = {
    "attacks", "codes", "groups", "items", "kept", "kind", "known", "lengths", "library", "lists", "pairs", "progress",
    "queries", "root", "roots", "rows", "sample", "segment", "size", "threads", "truth", "values",
}  # fmt: skip
# Rooms whose messages commands show as they are.
REACHED = {"aggregate", "cli", "control", "files", "groups", "itemsets", "meaning", "method", "noise", "release"}
REACHED |= {"report", "swap", "table"}
# Written on the command line as other options.
SPELLED = {"labels", "roles"}


def flags() -> dict[str, set[str]]:
    """Return the options of each command, as they are named among what was given."""
    found = {}
    for command in options.COMMANDS:
        parser: Any = options.parser(command.split())
        for name in command.split():
            parser = next(each.choices[name] for each in parser._actions if name in (each.choices or ()))
        found[command] = {action.dest for action in parser._actions}
    return found


FLAGS = flags()
ANY = set().union(*FLAGS.values()) | {"config", "verbose"}


def named() -> dict[str, set[str]]:
    """Return the options that advice and errors name, and the rooms that do."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            for keyword in node.keywords:
                if called == "Advice" and keyword.arg is not None:
                    found.setdefault(keyword.arg, set()).add(path.relative_to(PACKAGE).parts[0].removesuffix(".py"))
                if called.endswith("Error") and keyword.arg == "parameter" and isinstance(keyword.value, ast.Constant):
                    found.setdefault(str(keyword.value.value), set()).add(
                        path.relative_to(PACKAGE).parts[0].removesuffix(".py")
                    )
    return found


def arguments() -> set[str]:
    """Return the arguments of all public functions and methods."""
    found: set[str] = set()
    rooms = [nym, nym.risk, nym.stats, nym.report, nym.release, nym.itemsets, nym.datasets, nym.distortion]
    for room in rooms:
        # Spark is an extra.
        for each in (getattr(room, name) for name in room.__all__ if name != "spark"):
            calls = [each] + (
                [getattr(each, name) for name in dir(each) if not name.startswith("_")] if inspect.isclass(each) else []
            )
            for call in calls:
                if callable(call):
                    try:
                        found |= set(inspect.signature(call).parameters)
                    except (TypeError, ValueError):
                        continue
    return found


def test_options_that_messages_name() -> None:
    known = arguments()
    for name, where in named().items():
        if name not in _PHRASES and where & REACHED:
            assert name in ANY or name in known, f"{name}, named in {where}"


def test_what_python_alone_has_is_listed() -> None:
    """A command whose message names one of these would name no option: such a message needs a phrase, or an option."""
    said = {name for name, rooms in named().items() if name not in _PHRASES and name not in ANY and rooms & REACHED}
    assert said <= IN_PYTHON | SPELLED


def test_flags_in_texts_are_options() -> None:
    known = {f"--{name.replace('_', '-')}" for name in ANY} | {"--help", "--version"}
    known |= {flag.replace("--", "--no-", 1) for flag in known}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z](?!-)", node.value):
                    assert flag in known, f"{path.name}: {flag}"


def test_messages_do_not_spell_options_themselves() -> None:
    """An option written as in Python would be no option of a command: ``Advice`` and ``parameter`` spell both."""
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        calls = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call))
        for node in calls if room in REACHED | {"distortion", "risk"} else ():
            called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if called.endswith("Error") or called in ("Advice", "at_line", "require_matrices"):
                for each in ast.walk(ast.Tuple([*node.args[:3]])):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        for name in re.findall(r"(?<![\w-])([a-z_]+)=(?=['\";,) ]|$)", each.value):
                            assert name not in ANY, f"{path.name}, line {node.lineno}: {name}="


def test_flags_in_texts_of_commands_are_their_own() -> None:
    """What measure, audit and report say names options that one of them has."""
    own = set().union(*(FLAGS[name] for name in ("measure", "audit", "report")))
    of_release = {"person"}  # advice to make the release anew
    text = (PACKAGE / "cli" / "judging.py").read_text(encoding="utf-8")
    for flag in set(re.findall(r"(?<![\w-])--([a-z][a-z-]+)", text)):
        assert flag.replace("-", "_") in own | of_release, flag


def test_values_without_a_taxonomy_are_told_what_to_do() -> None:
    tax = nym.Taxonomy.from_edges([("a", "top"), ("b", "top")])
    with pytest.raises(nym.NominymError) as caught:
        tax.concepts(["north"], column="region")
    in_python, in_line = str(caught.value), caught.value.worded(spelled({}))
    assert "nym.Equality()" in in_python
    assert "nym.data_swap" in in_python
    assert "--quasi COLUMN=equal" in in_line
    assert "nominym data-swap" in in_line
