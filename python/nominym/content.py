"""Content of JSON files: plain values to write, and a check of everything a reader relies on."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Set
from typing import Any, NamedTuple

import numpy as np
import pandas as pd


def plain(value: Any) -> Any:
    """Turn figures of any kind into JSON values; a table becomes a list of rows, and NaN becomes null.

    >>> plain({"k": np.int64(3), 5: (0.5, float("nan")), "of": pd.DataFrame({"x": ["a"], "y": [1]})})
    {'k': 3, '5': [0.5, None], 'of': [{'x': 'a', 'y': 1}]}
    """
    if isinstance(value, pd.DataFrame):
        return [plain(row) for row in value.to_dict("records")]
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray | pd.Series):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON as this library writes it; anything else raises a ``ValueError``.

    Keys are unique, numbers are finite and of ordinary size, and no escape is half a surrogate pair.

    >>> parse_json('{"k": [1, 2.5]}')
    {'k': [1, 2.5]}
    >>> parse_json('{"k": NaN}')
    Traceback (most recent call last):
    ValueError: NaN is not a number
    """
    try:
        text = text if isinstance(text, str) else text.decode()
        found = json.loads(
            text, object_pairs_hook=_once, parse_constant=_number, parse_float=_number, parse_int=_number
        )
        if "\\u" in text:
            json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key is given twice among {[key for key, _ in pairs]}")
    return found


def _number(text: str) -> float:
    # Seeds are the largest whole numbers there are.
    if not abs(float(text)) < math.inf or (text.lstrip("-").isdigit() and abs(int(text)) >= 2**64):
        raise ValueError(f"{text if len(text) < 30 else text[:30] + '…'} is not a number")
    return int(text) if text.lstrip("-").isdigit() else float(text)


class Numbers(NamedTuple):
    """The numbers allowed in one place of a file."""

    least: float = -math.inf
    most: float = math.inf
    whole: bool = False

    def __contains__(self, value: object) -> bool:
        """Return whether a value is one of them."""
        kind = int if self.whole else int | float
        return isinstance(value, kind) and not isinstance(value, bool) and self.least <= value <= self.most

    def __str__(self) -> str:
        """Return a description."""
        least = "" if self.least == -math.inf else f" from {self.least:g}"
        most = "" if self.most == math.inf else f" up to {self.most:g}"
        return f"a {'whole ' if self.whole else ''}number{least}{most}"


COUNT, AMOUNT, SHARE = Numbers(0, 2**53, whole=True), Numbers(0.0), Numbers(0.0, 1.0 + 1e-9)
"""A count, an amount, and a share up to rounding."""

_KINDS = {str: "a text", bool: "true or false", list: "a list", dict: "an object", object: "anything"}


def misfits(value: Any, shape: Any, where: str = "") -> Iterator[str]:
    """Iterate over the faults of content read from JSON.

    A shape is a type; ``Numbers``; a set of texts; None; a tuple of alternatives; ``[shape]``, a list of such;
    ``{str: shape}``, an object with any names, or with names of a pattern in place of ``str``; or ``{"name": shape,
    "other?": shape}``, one with these names, those with a question mark being optional. Other names are ignored.

    >>> shape = {"k": COUNT, "columns": [str], "root?": (None, str)}
    >>> list(misfits({"k": -1, "columns": ["age", 3], "more": {}}, shape))
    ['k is not a whole number from 0 up to 9.0072e+15', 'columns 1 is not a text']
    """
    if isinstance(shape, tuple) and not isinstance(shape, Numbers):
        if all(any(misfits(value, each)) for each in shape):
            yield f"{where} is not {' or '.join(map(_worded, shape))}".strip()
    elif isinstance(shape, Mapping) and isinstance(value, dict):
        for name, each in shape.items():
            if name is str or isinstance(name, re.Pattern):
                for key, part in value.items():
                    if isinstance(name, re.Pattern) and not name.fullmatch(key):
                        yield f"{where} has the name {key!r}".strip()
                    yield from misfits(part, each, f"{where} {key}".strip())
            elif name.removesuffix("?") in value:
                yield from misfits(value[name.removesuffix("?")], each, f"{where} {name.removesuffix('?')}".strip())
            elif not name.endswith("?"):
                yield f"{where} {name} is missing".strip()
    elif isinstance(shape, list) and isinstance(value, list):
        for i, part in enumerate(value):
            yield from misfits(part, shape[0], f"{where} {i}".strip())
    elif not _fits(value, shape):
        yield f"{where} is not {_worded(shape)}".strip()


def brief(text: str, most: int = 300) -> str:
    """Shorten a message about a damaged file, which may quote it.

    >>> brief("a" * 9, 3)
    'aaa …'
    """
    return text if len(text) <= most else f"{text[:most]} …"


def _fits(value: Any, shape: Any) -> bool:
    if isinstance(shape, Numbers):
        return value in shape
    if isinstance(shape, Set):
        return isinstance(value, str) and value in shape
    return isinstance(value, shape) if isinstance(shape, type) else shape is None and value is None


def _worded(shape: Any) -> str:
    if isinstance(shape, Set):
        return f"one of {', '.join(sorted(shape))}"
    if isinstance(shape, Mapping | list):
        return _KINDS[type(shape)]
    return "null" if shape is None else _KINDS.get(shape, str(shape))
