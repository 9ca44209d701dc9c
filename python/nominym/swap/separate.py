"""Noticing that attributes of one table are masked in separate calls.

Each strict call has groups of its own. A row that shows values from two partitions has fewer possible owners than a
group has members, down to one; so attributes that are released together must be masked together.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Collection
from typing import Any

from nominym.error import PrivacyWarning

_masked: dict[int, tuple[weakref.ref[Any], frozenset[Any]]] = {}


def warn(frame: Any, columns: Collection[Any]) -> list[str]:
    """Warn if other columns of this very table were masked before, and remember the call. Gives the warnings."""
    held = _masked.get(id(frame))
    before = held[1] if held and held[0]() is frame else frozenset()
    remember(frame, before | set(columns))
    apart = sorted(map(str, before - set(columns)))
    if not apart:
        return []
    message = (
        f"{', '.join(apart)} of this table was masked in an earlier call, {', '.join(map(str, columns))} now: separate "
        "calls have separate groups, and the promise does not hold for both together; mask all columns in one call"
    )
    warnings.warn(message, PrivacyWarning, stacklevel=3)
    return [message]


def remember(frame: Any, columns: Collection[Any]) -> None:
    """Note which columns of a table are masked, for as long as the table lives."""
    key = id(frame)
    try:
        held = weakref.ref(frame, lambda _: _masked.pop(key, None))
    except TypeError:
        return  # a plain dictionary cannot be watched
    _masked[key] = held, frozenset(columns)
