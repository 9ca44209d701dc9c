"""Noticing that attributes of one table are masked in separate calls.

Each strict call has groups of its own. A row that shows values from two partitions has fewer possible owners than a
group has members, down to one; so attributes that are released together must be masked together.
"""

from __future__ import annotations

import weakref
from collections.abc import Collection
from typing import Any

_masked: dict[int, tuple[weakref.ref[Any], frozenset[Any], bool]] = {}


def warn(frame: Any, columns: Collection[Any]) -> list[str]:
    """Warn if columns of this very table were masked before, and remember the call. Gives the warnings.

    The same columns of an original may be masked anew; a table that is itself a result must not be.
    """
    held = _masked.get(id(frame))
    alive = held is not None and held[0]() is frame
    before, released = held[1:] if held is not None and alive else (frozenset(), False)
    if not released:
        remember(frame, before | set(columns), released=False)
    apart = sorted(map(str, before if released else before - set(columns)))
    if not apart:
        return []
    message = (
        f"{', '.join(apart)} of this table was masked in an earlier call, {', '.join(map(str, columns))} now: separate "
        "calls have separate groups, and the promise does not hold for both together; mask all columns in one call"
    )
    return [message]


def remember(frame: Any, columns: Collection[Any], *, released: bool) -> None:
    """Note which columns of a table were masked, for as long as it lives, and whether it is the result."""
    key = id(frame)
    try:
        held = weakref.ref(frame, lambda _: _masked.pop(key, None))
    except TypeError:
        return  # a plain dictionary cannot be watched
    _masked[key] = held, frozenset(columns), released
