"""A release as one file: what the TOML file of ``--config`` says, checked before anything is read."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nominym.error import MissingExtraError, ParameterError

WORDS = ("number", "equal")
"""Meanings that are not in a file."""
SAY_MEANING = ("taxonomy", "meaning", "order")
"""Keys of a column that say what its values mean."""

_COLUMN: Mapping[str, type] = {
    "role": str, "taxonomy": str, "meaning": str, "order": list, "format": str, "virtual_root": bool, "root": str,
}  # fmt: skip
_KINDS = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", list: "a list of texts"}


@dataclass(frozen=True)
class Config:
    """What a file says; all of it may be missing."""

    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def get(self, place: str | None) -> Any:
        """Return what stands in a place, section and key."""
        section, _, key = (place or "").partition(".")
        return self.sections.get(section, {}).get(key)


def load(path: str, command: str, declared: Iterable[tuple[str, type]]) -> Config:
    """Read a file of which some places, section and key, are declared.

    Paths in it are relative to it. A file of another method is refused, unless the command has none.
    """
    place = Path(path)
    content = _parsed(place)
    kinds: dict[str, dict[str, type]] = {"input": {}, "output": {}, "method": {}}
    for where, kind in declared:
        section, _, key = where.partition(".")
        kinds[section][key] = kind
    _known(place, "", content, ["input", "output", "columns", "method"])
    sections = {name: _section(place, f"[{name}]", content.get(name, {})) for name in kinds}
    columns = _section(place, "[columns]", content.get("columns", {}))
    for name, column in columns.items():
        _check(place, f"[columns.{name}]", column, _COLUMN)
        several = [key for key in SAY_MEANING if key in column]
        if len(several) > 1:
            raise ParameterError(
                f"{path}, [columns.{name}]: {' and '.join(several)} both say what values mean; give one"
            )
        if "role" not in column:
            raise ParameterError(f'{path}: [columns.{name}] has no role; say for example role = "quasi-identifier"')
    for name in ("input", "output"):
        _check(place, f"[{name}]", sections[name], kinds[name])
    kinds["method"] |= _method_kinds(place, sections["method"], command)
    _check(place, "[method]", sections["method"], kinds["method"])
    sections["input"] = _placed(place, sections["input"], "path")
    sections["output"] = _placed(place, sections["output"], "path", "key")
    placed = {name: _placed(place, column, "taxonomy", "meaning") for name, column in columns.items()}
    return Config(sections, placed)


def _method_kinds(path: Path, section: Mapping[str, Any], command: str) -> dict[str, type]:
    """Return the kinds of what a section about a method may say; it has to be the method of the command, if any."""
    from nominym.release import METHODS

    wanted = section.get("command", command)
    if "command" in section and wanted not in METHODS:
        raise ParameterError(f"{path}, [method]: command = {wanted!r}; give {', '.join(METHODS)}")
    if command in METHODS and wanted != command:
        raise ParameterError(f"{path} is for the command {wanted!r}, not {command!r}")
    if wanted not in METHODS:
        if section:
            raise ParameterError(f'{path}, [method]: say which method this is, for example command = "swap"')
        return {}
    return {"command": str, **{name: option.kind for name, option in METHODS[wanted].options().items()}}


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
            hint = f"; did you mean {close[0]!r}?" if close else "."
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
    from nominym.meaning.read.icd import ICD9, ICD10

    placed = dict(section)
    for name in names:
        if name in placed and placed[name] not in (ICD9, ICD10, *WORDS):
            placed[name] = os.fspath(path.parent / placed[name])
    return placed
