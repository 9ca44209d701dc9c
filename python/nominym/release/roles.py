"""What each column of a table is: dropped, masked or kept. No column has a role by default."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nominym.error import ParameterError, UnknownColumnError
from nominym.release.delimited import some

ROLES = ("identifier", "quasi-identifier", "keep")
"""The roles: dropped, masked, as it is."""


@dataclass(frozen=True)
class Roles:
    """The role of every column of a table.

    >>> roles = Roles.of({"name": "identifier", "diagnosis": "quasi-identifier", "ward": "keep"})
    >>> roles.identifiers, roles.masked, roles.kept
    (('name',), ('diagnosis',), ('ward',))
    >>> roles.check(["name", "diagnosis", "ward", "age"])
    Traceback (most recent call last):
    nominym.error.ParameterError: 1 column has no role: 'age'. Say of each whether it identifies a person ...
    """

    identifiers: tuple[str, ...]
    """Columns that name a person, or a record: dropped."""
    masked: tuple[str, ...]
    """Quasi-identifiers: masked."""
    kept: tuple[str, ...]
    """Columns that are published as they are."""

    @staticmethod
    def of(given: Mapping[str, str]) -> Roles:
        """Sort columns by their roles."""
        for column, role in given.items():
            if role not in ROLES:
                raise ParameterError(f"column {column!r}: role {role!r} is unknown; give {', '.join(ROLES)}")
        return Roles(*(tuple(column for column, has in given.items() if has == role) for role in ROLES))

    def check(self, names: Sequence[str]) -> None:
        """Refuse a table with a column that has no role, and roles of columns that are not there."""
        given = [*self.identifiers, *self.masked, *self.kept]
        for name in given:
            if name not in names:
                close = difflib.get_close_matches(name, names, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise UnknownColumnError(f"there is no column {name!r}{hint} There are {some(names, 50)}")
        without = [name for name in names if name not in given]
        if without:
            have = "columns have" if len(without) > 1 else "column has"
            raise ParameterError(
                f"{len(without)} {have} no role: {some(without, 50)}. Say of each whether it identifies a person "
                "(identifier: dropped), helps to recognise one (quasi-identifier: masked), or is published as it is "
                "(keep)"
            )

    def published(self, names: Sequence[str]) -> list[str]:
        """List the columns of the release, in the order of the table."""
        return [name for name in names if name not in self.identifiers]
