"""A release described in one TOML file (``--config``), checked before any data is read."""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nominym.error import MissingExtraError, ParameterError

WORDS = ("number", "equal", "sets")
"""Meanings that need no file."""
SETS_OF = "sets:"
"""Prefix of the taxonomy of the items, where values are lists."""
SAY_MEANING = ("taxonomy", "meaning", "order")
"""Keys of a column that give the meaning of its values."""

_COLUMN: Mapping[str, Any] = {
    "role": str, "taxonomy": str, "meaning": str, "order": list, "root": str, "format": str, "virtual_root": bool,
    "child": str, "parent": str, "levels": list, "prefix": list[int],
}  # fmt: skip


def load(
    path: str, command: str, declared: Iterable[tuple[str, Any]]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Read a configuration file with declared places (section and key); return its content by place, and by column.

    Its paths are relative to it. A file for another method is an error, unless the command has none.
    """
    content = _parsed(Path(path))
    _known(path, content, ("input", "output", "columns", "taxonomy", "method"))
    columns = _section(f"{path}, [columns]", content.pop("columns", {}))
    for name, column in columns.items():
        where = f"{path}, [columns.{name}]"
        _check(where, column, _COLUMN)
        several = [key for key in SAY_MEANING if key in column]
        if len(several) > 1:
            raise ParameterError(f"{where}: {' and '.join(several)} both give the meaning of the values; keep one")
        if "role" not in column:
            raise ParameterError(f'{path}: [columns.{name}] has no role; give one, such as role = "quasi-identifier"')
    method = _section(f"{path}, [method]", content.setdefault("method", {}))
    kinds = {**dict(declared), **_method_kinds(path, method, command)}
    for name, section in content.items():
        here = {place.removeprefix(f"{name}."): kind for place, kind in kinds.items() if place.startswith(f"{name}.")}
        _check(f"{path}, [{name}]", section, here)
    values = {f"{name}.{key}": value for name, section in content.items() for key, value in section.items()}
    placed = {name: _placed(path, column, "taxonomy", "meaning") for name, column in columns.items()}
    return _placed(path, values, "input.path", "input.taxonomy", "output.path", "output.key"), placed


_TEXT: Mapping[str, type] = {"delimiter": str, "encoding": str, "comment": str}
LAYOUT: Mapping[str, type] = {"column": str, "record": str, "item": str, "missing": str, **_TEXT}
"""Keys that describe how a file holds item sets."""
_TABLE: Mapping[str, type] = {"path": str, "keep": list, "na": list, **_TEXT}
_SETS: Mapping[str, type] = {"items": str, **LAYOUT}


def load_study(path: str) -> dict[str, Any]:
    """Read the file of a study; paths in it are relative to it.

    Options of methods may be lists of values; ``data`` names the file of each data set and the meaning of its columns.
    """
    content = _parsed(Path(path))
    _known(path, content, ("data", "methods", "measures", "seeds"))
    data = _section(f"{path}, [data]", content.get("data", {}))
    for name, given in data.items():
        where = f"{path}, [data.{name}]"
        columns = _section(f"{where}, columns", _section(where, given).pop("columns", {}))
        _check(where, given, _SETS if "items" in given and "path" not in given else {**_TABLE, "items": str})
        if ("path" in given) == ("items" in given):
            raise ParameterError(f"{where}: give the path of a table, or items, the file of item sets")
        for column, said in columns.items():
            _check(f"{where}, columns.{column}", said, {key: kind for key, kind in _COLUMN.items() if key != "role"})
        meant = {column: _placed(path, said, "taxonomy", "meaning") for column, said in columns.items()}
        data[name] = {**_placed(path, given, "path", "items"), "columns": meant}
    methods = content.get("methods", [])
    if not isinstance(methods, list) or not all(isinstance(each, dict) for each in methods):
        raise ParameterError(f'{path}: methods are sections of their own: [[methods]], command = "swap", k = [2, 5]')
    return {"seeds": 5, "measures": None, **content, "data": data, "methods": methods}


def _method_kinds(path: str, section: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return the kinds of values that a method's section may hold; it has to be the method of the command, if any."""
    from nominym.options import DECLARED

    wanted = section.get("command", command)
    if "command" in section and (not isinstance(wanted, str) or wanted not in DECLARED):
        raise ParameterError(f"{path}, [method]: command = {wanted!r}; give {', '.join(DECLARED)}")
    if command in DECLARED and wanted != command:
        raise ParameterError(f"{path} is for the command {wanted!r}, not {command!r}")
    if wanted not in DECLARED:
        if section:
            raise ParameterError(f'{path}, [method]: name the method, for example command = "swap"')
        return {}
    options = DECLARED[wanted].options()
    return {"method.command": str, **{f"method.{name}": option.kind for name, option in options.items()}}


def _parsed(path: Path) -> dict[str, Any]:
    from nominym.files import as_input

    name = next(filter(find_spec, ("tomllib", "tomli")), None)
    if name is None:
        raise MissingExtraError("reading TOML files needs the extra: pip install nominym[cli]")
    toml: Any = import_module(name)
    try:
        found: dict[str, Any] = toml.loads(as_input(path).read_text(encoding="utf-8"))
    except (toml.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: not TOML ({error})") from None
    return found


def _section(where: str, content: object) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ParameterError(f"{where}: expected a section, not {content!r}")
    return content


def _known(where: str, content: Mapping[str, Any], known: Collection[str]) -> None:
    for key in content:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            raise ParameterError(f"{where}: {key!r} is unknown{hint} Known: {', '.join(known)}")


def _check(where: str, content: object, known: Mapping[str, Any]) -> None:
    from nominym.options import KINDS, is_of

    section = _section(where, content)
    _known(where, section, known)
    for key, value in section.items():
        if known[key] == list[int]:
            if not isinstance(value, list) or not all(is_of(int, part) for part in value):
                raise ParameterError(f"{where}: {key} = {value!r}; a list of whole numbers is needed")
        elif not is_of(known[key], value):
            raise ParameterError(f"{where}: {key} = {value!r}; {KINDS[known[key]]} is needed")


def _placed(path: str, section: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Resolve paths relative to the file they stand in; vocabularies that packages provide are names, not paths."""
    from nominym.meaning.read import PACKAGED

    placed = dict(section)
    for name in names:
        file = placed.get(name, "").removeprefix(SETS_OF)
        if file and file not in (*PACKAGED, *WORDS):
            placed[name] = placed[name].removesuffix(file) + os.fspath(Path(path).parent / file)
    return placed
