"""What a masking method gives back: the masked table, how it was made, and what was achieved."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Number
from typing import Any


@dataclass(frozen=True, repr=False)
class Result:
    """A masked table. The table is a new one, of the type that the caller gave; the caller's own is untouched."""

    data: Any
    """The masked table: same type, columns, index and row order as the one given."""
    params: dict[str, Any]
    """How it was made: the arguments, and the version; the seed only if one was given."""
    summary: dict[str, Any]
    """What was achieved; holds nothing that undoes the protection."""
    secret: Any = field(default=None, compare=False)
    """What only the owner may know, where the method has such a thing. Never publish it."""

    def __repr__(self) -> str:
        """Say what was done; data and secrets are not shown."""
        plain = {name: value for name, value in self.params.items() if isinstance(value, str | Number)}
        return f"<Result: {', '.join(f'{name}={value!r}' for name, value in plain.items())}>"
