"""Groups of the records of a table: what is said of persons and sensitive columns, kept columns, the order of rows.

All that methods with groups have in common before anything is done inside a group.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nominym.control import Progress, is_whole
from nominym.error import MASKED, Advice, DataError, ParameterError, as_argument, no_column, warn
from nominym.groups.kept import Notes, check_kept
from nominym.groups.partition import Partition, check_persons, form
from nominym.meaning import Order

if TYPE_CHECKING:
    from nominym.table import Attribute, Column, Table

MINIMALITY = (
    "groups were formed with regard to {}: an adversary who knows that may be surer of its values, and of rows, than "
    "the shares of a group say; no probability is guaranteed"
)
"""What is noted of groups that depend on sensitive columns."""


class Formed(NamedTuple):
    """Groups, and what they were formed with."""

    partition: Partition
    kept: dict[Any, Column]
    person: Column | None
    told: Notes


def check_columns(person: Any, sensitive: Any) -> dict[Any, int] | None:
    """Check what is said of a person's column and of sensitive ones, as far as no table is needed."""
    if not isinstance(person, Hashable) or (isinstance(person, str) and not person):
        raise ParameterError("give the name of a column", parameter="person", value=person)
    if sensitive is None:
        return None
    if not isinstance(sensitive, Mapping) or not sensitive:
        raise ParameterError("give a mapping from column names to numbers", parameter="sensitive", value=sensitive)
    for name, share in sensitive.items():
        if not is_whole(share) or share < 2:
            raise ParameterError(
                "give a whole number, 2 or more", column=name, parameter="sensitive", value={name: share}
            )
    if person is not None and person in sensitive:
        raise ParameterError(
            "it tells persons, and is not published", column=person, parameter="sensitive",
            remedy="leave it out there",
        )  # fmt: skip
    return {name: operator.index(share) for name, share in sensitive.items()}


def form_of_table(
    table: Table,
    before: Mapping[Any, Attribute],
    k: int,
    *,
    person: Any = None,
    sensitive: Mapping[Any, int] | None = None,
    accept: Sequence[Any] = (),
    longer: bool = False,
    settled: bool = False,
    seed: int | None = None,
    notes: Sequence[str] = (),
    progress: Progress = None,
) -> Formed:
    """Form groups of the records of a table, once nothing about its columns would undo what groups protect."""
    check_size(len(table), k)
    if not table.shuffled:
        _warn_of_order(before)
    kept = _kept(table, before, person, sensitive or {})
    whose = None if person is None else table.column(person).merged()
    if whose is not None:
        check_persons(whose)
    masked = {name: old.column for name, old in before.items()}
    ordered = [name for name, old in before.items() if isinstance(old.meaning, Order)]
    told = check_kept(kept, masked, k, accept, whose, ordered, counts_persons=True)
    told.public[:0] = notes
    if sensitive:
        told.public.append(MINIMALITY.format(", ".join(map(str, sensitive))))
    limits = {name: (kept[name].merged(), share) for name, share in (sensitive or {}).items()}
    partition = form(list(before.values()), k, person=whose, sensitive=limits, longer=longer, settled=settled,
                     seed=seed, progress=progress)  # fmt: skip
    return Formed(partition, kept, whose, told)


def check_size(records: int, k: int) -> None:
    """Refuse fewer records than a group has."""
    if records < k:
        group = as_argument("k", k)
        raise DataError(f"{records:,} records cannot make a group of {group}; give a smaller k or more records")


def _kept(
    table: Table, before: Mapping[Any, Attribute], person: Any, sensitive: Mapping[Any, int]
) -> dict[Any, Column]:
    """Return the kept columns, once each column has one part to play."""
    # A column may have the name None.
    persons = () if person is None else (person,)
    for name, said in (("person", persons), ("sensitive", sensitive)):
        for column in said:
            if column not in table.names:
                raise no_column(column, table.names)
            if column in before:
                what = "persons are told by a column that is dropped"
                raise ParameterError(
                    f"it is masked; {what if name == 'person' else 'a sensitive column stays as it is'}",
                    column=column, parameter=name,
                    remedy=Advice("take it from {}, or leave it out here", masked=MASKED),
                )  # fmt: skip
    return {name: table.column(name) for name in table.names if name not in before and name not in persons}


# Below so many rows they may well be in order by chance.
_CHANCE = 30


def _warn_of_order(columns: Mapping[Any, Attribute]) -> None:
    """Warn the owner, and nobody else, of rows that are sorted by a masked column: there, the place tells the value."""
    found = []
    for name, attribute in columns.items():
        codes = attribute.column.codes
        if len(codes) < _CHANCE:
            continue
        changes = int((codes[1:] != codes[:-1]).sum())
        distinct = attribute.size + (attribute.column.missing > 0)
        together = changes == distinct - 1 and 2 < distinct <= len(codes) // 2
        steps = np.sign(np.diff(codes.astype(np.int64)))
        if together or (distinct > 2 and bool((steps >= 0).all() or (steps <= 0).all())):
            found.append(str(name))
    if not found:
        return
    message = (
        f"the rows are in order of {', '.join(found)}, and stay so: an adversary who knows that can tell a row by its "
        "place; shuffle the rows of the table first"
    )
    warn(message)
