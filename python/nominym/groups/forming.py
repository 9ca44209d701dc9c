"""Groups of the records of a table: checks of persons, sensitive and kept columns, and the order of rows.

What all methods with groups do before anything happens inside a group.
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
    "groups were formed with regard to {}: an adversary who knows that may be more certain of its values, and of "
    "rows, than the shares of a group suggest; no probability is guaranteed"
)
"""Note on groups that depend on sensitive columns."""


class Formed(NamedTuple):
    """Groups and what they were formed from."""

    partition: Partition
    kept: dict[Any, Column]
    person: Column | None
    told: Notes


def check_columns(person: Any, sensitive: Any) -> dict[Any, int] | None:
    """Check the column of persons and the sensitive columns as far as possible without a table."""
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
            "it identifies persons and is not published", column=person, parameter="sensitive",
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
    """Form groups of the records of a table, after checking that no column would undo what groups protect."""
    check_size(len(table), k)
    if not table.shuffled:
        _warn_of_order(before)
    if table.has_ids:
        warn(
            "the index of the table stays with its rows and tells them apart, as a column of ids would; drop it with "
            "reset_index(drop=True) or, if it identifies persons, make it a column with reset_index() and name that "
            "in person="
        )
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
    """Raise if there are fewer records than a group needs."""
    if records < k:
        group = as_argument("k", k)
        raise DataError(f"{records:,} records cannot make a group of {group}; give a smaller k or more records")


def _kept(
    table: Table, before: Mapping[Any, Attribute], person: Any, sensitive: Mapping[Any, int]
) -> dict[Any, Column]:
    """Return the kept columns, after checking that each column has one role."""
    # A column may have the name None.
    persons = () if person is None else (person,)
    for name, said in (("person", persons), ("sensitive", sensitive)):
        for column in said:
            if column not in table.names:
                raise no_column(column, table.names)
            if column in before:
                what = "persons are identified by a column that is dropped"
                raise ParameterError(
                    f"it is masked; {what if name == 'person' else 'a sensitive column stays unchanged'}",
                    column=column, parameter=name,
                    remedy=Advice("take it from {}, or leave it out here", masked=MASKED),
                )  # fmt: skip
    return {name: table.column(name) for name in table.names if name not in before and name not in persons}


# Fewer rows than this may well be in order by chance.
_CHANCE = 30


def _warn_of_order(columns: Mapping[Any, Attribute]) -> None:
    """Warn the owner, and nobody else, of rows sorted by a masked column: there, the position reveals the value."""
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
        f"the rows are in order of {', '.join(found)}, and stay so: an adversary who knows that can tell a row by "
        f"its position; shuffle the rows of the table first"
    )
    warn(message)
