"""Options: those of a command are what its method declares and what files and columns need, and nothing else."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

import nominym as nym
from commands import Run
from nominym.cli import options
from nominym.release import METHODS

FILES = {"input", "out", "seed", "key", "overwrite", "config"}
HIERARCHY = {"format", "virtual_root", "child", "parent", "levels", "prefix"}
TABLES = FILES | HIERARCHY | {"quasi", "keep", "identifier", "keep_order", "delimiter", "encoding", "na", "comment"}
TABLES |= {"engine", "plan", "master"}


def parser_of(command: str) -> argparse.ArgumentParser:
    found: argparse.ArgumentParser = options.parser(command.split())
    for name in command.split():
        subs = next(each for each in found._actions if isinstance(each, argparse._SubParsersAction))
        found = subs.choices[name]
    return found


def actions(command: str) -> dict[str, argparse.Action]:
    return {each.dest: each for each in parser_of(command)._actions if each.dest != "help"}


@pytest.mark.parametrize("command", METHODS)
def test_options_of_a_command_are_the_declared_ones(command: str) -> None:
    method, found = METHODS[command], actions(command)
    declared = method.options()
    of_sets = {"label", "person", "column", "record", "item", "taxonomy", *HIERARCHY}
    of_sets |= {"delimiter", "encoding", "comment", "missing", "engine", "plan", "master"}
    others = (FILES | of_sets) if command == "recode" else TABLES
    assert set(found) == set(declared) | others
    assert not set(declared) & others
    for name, option in declared.items():
        action = found[name]
        assert action.option_strings[0] == f"--{name.replace('_', '-')}"
        assert option.help in str(action.help).replace("%%", "%")
        assert all(choice in str(action.help) for choice in option.choices)
        # Nothing is decided here: what was not given is left to the method.
        assert action.default is None
        if option.kind is bool:
            switches = isinstance(action, argparse.BooleanOptionalAction)
            assert switches == (method.default(name) is True)
            assert (f"--no-{name}" in action.option_strings) == switches
        elif option.kind in (list, dict):
            assert isinstance(action, argparse._ExtendAction if option.kind is list else argparse._AppendAction)
        else:
            assert action.type is option.kind


@pytest.mark.parametrize("command", METHODS)
def test_every_option_can_stand_in_a_file(command: str, tmp_path: Path) -> None:
    written = {int: "3", float: "0.5", str: '"x"', bool: "true", list: '["x"]', dict: "{ x = 3 }"}
    lines = [f"{name} = {written[option.kind]}" for name, option in METHODS[command].options().items()]
    path = tmp_path / "release.toml"
    path.write_text("\n".join(["[method]", f'command = "{command}"', "seed = 1", *lines]))
    asked = options.Request(options.parse([command, "--config", str(path)]))
    assert asked.values["seed"] == 1
    for name in METHODS[command].options():
        assert asked.in_file(f"method.{name}") is not None


@pytest.mark.parametrize("command", options.COMMANDS)
def test_commands_are_complete(command: str) -> None:
    found = actions(command)
    wanted = {options.SHARED[name].name for name in options.COMMANDS[command].options}
    assert wanted <= set(found)
    assert callable(parser_of(command)._defaults["run"])
    # One name, one meaning: nothing is declared that no command has.
    everything = {name for each in options.COMMANDS.values() for name in each.options}
    assert everything == set(options.SHARED)


def test_abbreviations_are_refused(run: Run) -> None:
    assert run("swap", "visits.csv", "--quas", "diagnosis=illness.csv").code == 2
    done = run()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("usage: nominym")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_nothing_heavy_is_imported_before_a_command_runs(argument: str) -> None:
    program = f"""
import sys, types
# What the package itself imports is not the matter here.
package = types.ModuleType("nominym")
package.__path__ = [{str(Path(nym.__file__).parent)!r}]
sys.modules["nominym"] = package
from nominym.cli import main
try:
    main([{argument!r}])
except SystemExit as ended:
    assert ended.code in (0, None), ended.code
assert not {{"numpy", "pandas", "pyarrow", "plotly"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


GROUPS = {"infection": ("flu", "cold", "measles"), "injury": ("fracture", "burn", "sprain")}
LEVELS = "diagnosis,group,all\n" + "".join(f"{each},{group},x\n" for group in GROUPS for each in GROUPS[group])


def test_taxonomies_of_any_shape_on_every_command(run: Run, folder: Path) -> None:
    (folder / "levels.csv").write_text(LEVELS)
    (folder / "links.csv").write_text(
        "a,b\n" + "".join(f"{line.split(',')[0]},z\n" for line in LEVELS.splitlines()[1:])
    )
    roles = ("--identifier", "name", "--keep", "ward,cost", "--k", "5")
    levels = ("--levels", "diagnosis,group")
    done = run(
        "swap", "visits.csv", "-o", "r.csv", "--quasi", "diagnosis=levels.csv", *levels, *roles, "--key", "key.parquet"
    )
    assert done.code == 0, done.err
    assert run("measure", "visits.csv", "r.csv", "--quasi", "diagnosis=levels.csv", *levels).code == 0
    done = run(
        "audit", "visits.csv", "r.csv", "--quasi", "diagnosis=levels.csv", *levels, "--key", "key.parquet", "--json"
    )
    assert "was made with" not in done.out
    links = ("--child", "a", "--parent", "b")
    done = run("swap", "visits.csv", "-o", "s.csv", "--quasi", "diagnosis=links.csv", *links, *roles)
    assert done.code == 0, done.err
    assert run("taxonomy", "check", "links.csv", "visits.csv", "--column", "diagnosis", *links).code == 0
    done = run("taxonomy", "info", "levels.csv", "--prefix", "1,2", "--child", "diagnosis")
    assert done.code == 0, done.err
    done = run("swap", "visits.csv", "-o", "t.csv", "--quasi", "diagnosis=equal", *links, *roles)
    assert done.code == 2
    assert "--child: no taxonomy is in delimited text" in done.err
    assert "give whole numbers, such as 1,2,3,4" in run("taxonomy", "info", "levels.csv", "--prefix", "a").err


def test_a_column_of_a_file_says_how_its_taxonomy_is_read(run: Run, folder: Path) -> None:
    (folder / "levels.csv").write_text(LEVELS)
    text = """
[input]
path = "visits.csv"
[output]
path = "r.csv"
[columns]
name.role = "identifier"
ward.role = "keep"
cost = { role = "quasi-identifier", taxonomy = "costs.txt", prefix = [1, 2] }
diagnosis = { role = "quasi-identifier", taxonomy = "levels.csv", levels = ["diagnosis", "group"] }
[method]
command = "swap"
k = 5
"""
    (folder / "costs.txt").write_text("".join(f"{cost:03}\n" for cost in range(6)))
    (folder / "release.toml").write_text(text)
    done = run("swap", "--config", "release.toml")
    assert done.code == 0, done.err
    (folder / "release.toml").write_text(text.replace("[1, 2]", '["1"]'))
    assert "prefix = ['1']; a list of whole numbers is needed" in run("swap", "--config", "release.toml").err
    for_all = text.replace(', levels = ["diagnosis", "group"]', "").replace(
        "[method]", '[taxonomy]\nlevels = ["diagnosis", "all"]\n[method]'
    )
    for_all = for_all.replace('"quasi-identifier", taxonomy = "costs.txt", prefix = [1, 2]', '"keep"')
    (folder / "release.toml").write_text(for_all)
    done = run("swap", "--config", "release.toml", "--overwrite")
    assert done.code == 0, done.err


def test_names_with_commas_are_quoted() -> None:
    assert options.listed('a,"b,c", d') == ["a", "b,c", "d"]
    assert options.listed(",") == [","]


def test_unknown_options_are_answered_with_the_likely_one(run: Run) -> None:
    done = run("swap", "visits.csv", "--identifer", "name")
    assert done.code == 2
    assert (
        done.err
        == "error: nominym swap has no option --identifer; did you mean --identifier? See nominym swap --help\n"
    )
    done = run("taxonomy", "info", "illness.csv", "--nonsense=3")
    assert "nominym taxonomy info has no option --nonsense. See nominym taxonomy info --help" in done.err
    assert "unexpected argument 'more.csv'" in run("swap", "visits.csv", "more.csv").err
