"""What a command was asked for: by options, and by a file where options say nothing."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nominym.cli import config
from nominym.error import ParameterError
from nominym.release.roles import Roles
from nominym.taxonomy import Taxonomy, read_taxonomy

Given = Sequence[str] | None


@dataclass(frozen=True)
class Files:
    """Files in and out, and how they are read."""

    input: Path
    output: Path
    key: Path | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    na: tuple[str, ...] = ()
    keep_order: bool = False
    overwrite: bool = False
    column: str | None = None
    label: str | None = None


@dataclass(frozen=True)
class Columns:
    """What columns are, and what their values mean."""

    given: Mapping[str, Mapping[str, Any]]
    """By name: role, taxonomy, format and so on, as in a file."""

    @property
    def roles(self) -> Roles:
        """The columns by role."""
        return Roles.of({name: column["role"] for name, column in self.given.items()})

    def of_masked(self, option: str) -> dict[str, Any]:
        """Give what is said about masked columns under one heading, where something is."""
        return {name: self.given[name][option] for name in self.roles.masked if option in self.given[name]}

    def sources(self) -> dict[str, str]:
        """Give the name of the taxonomy of each column that has one."""
        return {name: column["taxonomy"] for name, column in self.given.items() if "taxonomy" in column}

    def taxonomies(self, progress: bool | None) -> dict[str, Taxonomy]:
        """Read the taxonomies; a file that serves several columns is read once."""
        read: dict[tuple[Any, ...], Taxonomy] = {}
        found = {}
        for name, source in self.sources().items():
            column = self.given[name]
            how = (source, column.get("format"), column.get("virtual_root", False))
            if how not in read:
                read[how] = read_taxonomy(how[0], how[1], virtual_root=how[2], progress=progress)
            found[name] = read[how]
        return found


@dataclass(frozen=True)
class Settings:
    """All that a command was asked for."""

    files: Files
    columns: Columns
    method: dict[str, Any]
    from_file: bool
    """Whether there is a file, in which columns can be added."""


def settings(
    command: str,
    *,
    config_file: Path | None,
    files: Mapping[str, Any],
    identifier: Given = None,
    quasi: Given = None,
    keep: Given = None,
    format: str | None = None,  # noqa: A002
    virtual_root: bool | None = None,
    method: Mapping[str, Any] | None = None,
) -> Settings:
    """Put together what options and file say; options win."""
    read = config.load(config_file, command)
    asked = {name: value for name, value in files.items() if value is not None and value != []}
    known: dict[str, Any] = {"input": read.input.get("path"), "output": read.output.get("path")}
    known |= {name: value for name, value in (*read.input.items(), *read.output.items()) if name != "path"}
    known = {name: value for name, value in {**known, **asked}.items() if value is not None}
    for name, option in (("input", "the input file"), ("output", "--out, the file to write")):
        if name not in known:
            raise ParameterError(f"give {option}, or a --config file that names it")
    for name in ("input", "output", "key"):
        if name in known:
            known[name] = Path(known[name])
    if "na" in known:
        known["na"] = tuple(known["na"])
    columns = _columns(read.columns, identifier, quasi, keep)
    for column in columns.values():
        if "taxonomy" in column:
            column |= {"format": format} if format is not None else {}
            column |= {"virtual_root": virtual_root} if virtual_root is not None else {}
    chosen = {**read.method, **{name: value for name, value in (method or {}).items() if value not in (None, [])}}
    return Settings(Files(**known), Columns(columns), chosen, config_file is not None)


def _columns(
    read: Mapping[str, Mapping[str, Any]], identifier: Given, quasi: Given, keep: Given
) -> dict[str, dict[str, Any]]:
    columns = {name: dict(column) for name, column in read.items()}
    for name, column in columns.items():
        if "role" not in column:
            raise ParameterError(f'[columns.{name}] has no role; say for example role = "quasi-identifier"')
    seen: dict[str, str] = {}
    for option, given in (("identifier", identifier), ("quasi", quasi), ("keep", keep)):
        for text in given or ():
            name, _, source = text.partition("=") if option == "quasi" else (text, "", "")
            if name in seen:
                raise ParameterError(f"column {name!r} is given twice: --{seen[name]} and --{option}")
            seen[name] = option
            if option == "quasi":
                old = columns.get(name, {}) if columns.get(name, {}).get("role") == "quasi-identifier" else {}
                columns[name] = {**old, "role": "quasi-identifier"} | ({"taxonomy": source} if source else {})
            else:
                columns[name] = {"role": option}
    for name, column in columns.items():
        if "taxonomy" in column and column["role"] != "quasi-identifier":
            raise ParameterError(f"column {name!r} has a taxonomy, but is not masked: its role is {column['role']!r}")
    return columns


def check_request(request: Any, function: Any, given: Mapping[str, Any], **more: Any) -> None:
    """Let a method check what was asked of it, before a large file is read in vain; defaults are its own."""
    known = inspect.signature(function).parameters
    values = {name: given.get(name, known[name].default) for name in known} | more
    request(**{field.name: values[field.name] for field in fields(request)})


def lines_to_add(columns: Sequence[str], from_file: bool) -> str:
    """Show how a role is given, for a message."""
    if from_file:
        return "\n".join(f'  [columns.{_bare(name)}]\n  role = "identifier"' for name in columns)
    return "  " + " ".join(f"--identifier {shlex.quote(name)}" for name in columns)


def _bare(name: str) -> str:
    plain = name.replace("-", "").replace("_", "")
    return name if plain.isascii() and plain.isalnum() else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
