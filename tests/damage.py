"""Damage to files: bytes that are others, and content that says something else."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

ODD: list[Any] = [
    None, True, False, -1, 0, 1, 2, 3, 0.5, -0.5, 1e-320, 1e300, -1e300, math.nan, math.inf, 2**31, 2**32, 2**63, 2**64,
    10**400, "", "x", "0", "9" * 5000, "\udc80", "../x", "swap", "strict", "mean", "pair", [], [None], ["x"], [[]], {},
    {"x": 1}, {"": None},
]  # fmt: skip
"""What may stand in any place."""


def outcome(call: Callable[[], Any], *expected: type[Exception]) -> tuple[Any, Exception | None]:
    """Return what a call gives, or the error that it ends with; any other than the expected ones is raised."""
    try:
        return call(), None
    except expected as error:
        return None, error


def damaged_bytes(data: bytes, random: Random, times: int) -> Iterator[bytes]:
    """Go through copies of a file of which something was changed, lost, doubled or cut off."""
    for _ in range(times):
        found = bytearray(data)
        for _ in range(random.choice((1, 1, 1, 2, 5))):
            at = random.randrange(len(found) + 1)
            size = random.choice((1, 1, 2, 4, 8, 100))
            match random.randrange(6):
                case 0 if at < len(found):
                    found[at] ^= 1 << random.randrange(8)
                case 1:
                    found[at : at + size] = random.randbytes(size)
                case 2:
                    found[at : at + size] = bytes([random.choice((0, 0x7F, 0xFF))]) * size
                case 3:
                    del found[at : at + size]
                case 4:
                    found[at:at] = found[at : at + size]
                case _:
                    del found[max(at, 1) :]
        yield bytes(found)


def places_of(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Go through all places of what was read from JSON, the outermost left out."""
    for name, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, name)
        yield from places_of(part, (*path, name))


def damaged_content(content: Any, random: Random, times: int) -> Iterator[Any]:
    """Go through copies of which something was removed, renamed, doubled, or replaced by something else."""
    places = list(places_of(content))
    for _ in range(times):
        found = copy.deepcopy(content)
        for _ in range(random.choice((1, 1, 1, 2))):
            path = random.choice(places)
            try:
                inside = inner(found, path[:-1])
                held = inside[path[-1]]
            except (LookupError, TypeError):
                continue  # what was there has been changed already
            if isinstance(inside, str):
                continue
            match random.randrange(8):
                case 0:
                    del inside[path[-1]]
                case 1 if isinstance(inside, dict):
                    inside[random.choice(("y", "", str(path[-1]).upper()))] = inside.pop(path[-1])
                case 1:
                    inside.append(held)
                case 2 if isinstance(held, list):
                    del held[random.randrange(len(held) + 1) :]
                case 2 if isinstance(held, dict):
                    held[random.choice(("y", "0"))] = copy.deepcopy(random.choice(ODD))
                case 3:
                    inside[path[-1]] = copy.deepcopy(inner(content, random.choice(places)))
                case 4:
                    inside[path[-1]] = [held] if random.random() < 0.5 else {"x": held}
                case 5 if isinstance(held, int | float):
                    inside[path[-1]] = random.choice((-held, held + 1, held * 1000, str(held), float(held)))
                case _:
                    inside[path[-1]] = copy.deepcopy(random.choice(ODD))
        yield found


def inner(content: Any, path: tuple[Any, ...]) -> Any:
    """Return what stands at a place."""
    for name in path:
        content = content[name]
    return content
