"""A release as one file: what the TOML file of ``--config`` may say, checked before anything is read."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nominym.error import MissingExtraError, ParameterError
from nominym.taxonomy.read.icd import ICD9, ICD10

_SEED = {"seed": int, "missing": str}
_MEANING = {"measure": str, "correlations": bool}

METHODS: Mapping[str, Mapping[str, type]] = {
    "swap": {
        "k": int, "p": float, "method": str, "guarantee": str, "draw": str, "anneal": bool, **_MEANING, **_SEED,
    },
    "noise": {
        "alpha": float, "epsilon": float, "method": str, "reference": str, "correlated": bool, "law": str,
        "moments": bool, **_MEANING, **_SEED,
    },
    "data-swap": {
        "rate": float, "equal": list, "unequal": list, "true_swaps": bool, "mode": str, "strict_rate": bool, **_SEED,
    },
    "recode": {
        "k": int, "l": int, "structure": str, "order": str, "method": str, "effort": str, "limit": float, "seed": int,
    },
}  # fmt: skip
"""By command, what its method takes; names and meanings are those of the functions."""

_SECTIONS: Mapping[str, Mapping[str, type]] = {
    "input": {"path": str, "delimiter": str, "encoding": str, "na": list, "column": str, "label": str},
    "output": {"path": str, "key": str, "keep_order": bool, "overwrite": bool},
}
_COLUMN: Mapping[str, type] = {
    "role": str,
    "taxonomy": str,
    "format": str,
    "virtual_root": bool,
    "root": str,
    "order": list,
}
_KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", list: "a list of texts"}


@dataclass(frozen=True)
class Config:
    """What a file says; all of it may be missing."""

    input: dict[str, Any] = field(default_factory=dict)
    output: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    method: dict[str, Any] = field(default_factory=dict)


def load(path: Path | None, command: str) -> Config:
    """Read a file. Paths in it are relative to it; a file of another method is refused, unless none is asked for."""
    if path is None:
        return Config()
    content = _parsed(path)
    _known(path, "", content, [*_SECTIONS, "columns", "method"])
    for section, known in _SECTIONS.items():
        _check(path, f"[{section}]", content.get(section, {}), known)
    columns = _section(path, "[columns]", content.get("columns", {}))
    for name, column in columns.items():
        _check(path, f"[columns.{name}]", column, _COLUMN)
    method = dict(_section(path, "[method]", content.get("method", {})))
    wanted = method.pop("command", command)
    if wanted not in METHODS and "command" in content.get("method", {}):
        raise ParameterError(f"{path}, [method]: command = {wanted!r}; give {', '.join(METHODS)}")
    if command in METHODS and wanted != command:
        raise ParameterError(f"{path} is for the command {wanted!r}, not {command!r}")
    if wanted in METHODS:
        _check(path, "[method]", method, METHODS[wanted])
    elif method:
        raise ParameterError(f'{path}, [method]: say which method this is, for example command = "swap"')
    return Config(
        _placed(path, content.get("input", {}), "path"),
        _placed(path, content.get("output", {}), "path", "key"),
        {name: _placed(path, column, "taxonomy") for name, column in columns.items()},
        method,
    )


def _parsed(path: Path) -> dict[str, Any]:
    try:
        import tomllib
    except ImportError:
        try:
            import tomli as tomllib  # type: ignore[import-not-found, no-redef, unused-ignore]
        except ImportError:
            raise MissingExtraError("reading TOML files needs the extra: pip install nominym[cli]") from None
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: not TOML ({error})") from None
    return found


def _section(path: Path, name: str, content: object) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise ParameterError(f"{path}, {name}: a section is needed, not {content!r}")
    return content


def _known(path: Path, section: str, content: Mapping[str, Any], known: list[str]) -> None:
    for key in content:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            where = f"{path}, {section}" if section else str(path)
            raise ParameterError(f"{where}: {key!r} is unknown{hint} There are {', '.join(known)}")


def _check(path: Path, section: str, content: object, known: Mapping[str, type]) -> None:
    found = _section(path, section, content)
    _known(path, section, found, list(known))
    for key, value in found.items():
        kind = known[key]
        right = isinstance(value, kind) or (kind is float and isinstance(value, int))
        if isinstance(value, bool) and kind is not bool:
            right = False
        if kind is list and right:
            right = all(isinstance(part, str) for part in value)
        if not right:
            raise ParameterError(f"{path}, {section}: {key} = {value!r}; {_KINDS[kind]} is needed")


def _placed(path: Path, section: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Make paths relative to the file that has them; vocabularies that packages bring are names, not paths."""
    placed = dict(section)
    for name in names:
        if name in placed and placed[name] not in (ICD9, ICD10):
            placed[name] = os.fspath(path.parent / placed[name])
    return placed
