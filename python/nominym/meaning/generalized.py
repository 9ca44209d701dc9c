"""Generalized values as text: an interval, one of several values, or a value as it is.

    value    = text | string | "[" part ", " part "]" | "{" part { ", " part } "}"
    part     = text | string
    string   = a string of JSON

A text stands for itself. What would otherwise be ambiguous is written as a JSON string, in double quotes: a value that
begins with ``[``, ``{`` or ``"``, and a part that contains one of ``, [ ] { } "``, begins or ends with a blank, or is
empty. Intervals include both ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

from nominym.error import DataError

_PART = r'(?:"(?:[^"\\]|\\.)*"|[^,\[\]{}"]+)'
_INTERVAL = re.compile(rf"\[({_PART}), ({_PART})\]")
_SEVERAL = re.compile(rf"\{{({_PART}(?:, {_PART})*)\}}")
_PARTS = re.compile(_PART)
_PLAIN = re.compile(r'[^,\[\]{}"\s](?:[^,\[\]{}"]*[^,\[\]{}"\s])?')


class Interval(NamedTuple):
    """All values from one to another, both included."""

    low: str
    high: str


def between(low: str, high: str) -> str:
    """Return the text of the interval from one value to another.

    >>> between("30", "40"), between("low, or none", "high")
    ('[30, 40]', '["low, or none", high]')
    """
    return single(low) if low == high else f"[{_part(low)}, {_part(high)}]"


def one_of(values: Iterable[str]) -> str:
    """Return the text for one of several values, by name.

    >>> one_of(["b", "a"]), one_of(["a"]), one_of(["{a"])
    ('{a, b}', 'a', '"{a"')
    """
    names = sorted(values)
    return single(names[0]) if len(names) == 1 else f"{{{', '.join(map(_part, names))}}}"


def single(value: str) -> str:
    """Return the text of a value that is not generalized."""
    return _quoted(value) if value[:1] in ("[", "{", '"') else value


def parse(text: str) -> str | Interval | frozenset[str]:
    """Parse a generalized value: return the ends of an interval, several values, or one.

    >>> parse("[30, 40]"), sorted(parse('{"a, b", c}')), parse("flu")
    (Interval(low='30', high='40'), ['a, b', 'c'], 'flu')
    """
    if not isinstance(text, str):
        raise DataError(f"a text is needed, not {text!r}")
    if found := _INTERVAL.fullmatch(text):
        return Interval(_unquoted(found[1]), _unquoted(found[2]))
    if found := _SEVERAL.fullmatch(text):
        return frozenset(_members(found[1]))
    return _unquoted(text) if text.startswith('"') else text


def _members(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        part = _PARTS.match(text, at)
        assert part is not None  # the whole has matched
        found.append(_unquoted(part[0]))
        at = part.end() + 2
    return found


def _part(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else _quoted(value)


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text
