"""Kept columns that would undo what masking does: refused where they do so for most records, else said.

Groups protect against an adversary who knows nothing that tells the rows of a group apart. A kept column breaks that if
it is nearly unique, if masked values can be read off it, or if it links the records of a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nominym.error import Advice, DataError, ParameterError, no_column, warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.table import Column

UNIQUE_REFUSED, UNIQUE_WARNED = 0.5, 0.1
"""Share of the records with a rare value, above which a kept column is refused, and from which it is warned of."""
READ_REFUSED, READ_WARNED = 0.9, 0.5
"""How well a kept column predicts a masked one, from 0 (as by chance) to 1: from where it is refused, and warned of."""
READ_COVERED = 0.2
"""Share of the records that have to share their kept value with another for predictions to be judged."""
LINKED = 0.05
"""Share of the persons with several records above which a kept column must not link these."""


class Finding(NamedTuple):
    """What is wrong with a kept column."""

    columns: tuple[Any, ...]
    figures: str
    """For the owner: how masked and kept values, or the records of a person, went together helps to undo a draw."""
    public: str
    """The same without such figures."""
    refused: bool


def check_kept(
    kept: Mapping[Any, Column],
    masked: Mapping[Any, Column],
    k: int,
    accept: Sequence[Any] = (),
    person: Column | None = None,
) -> list[str]:
    """Refuse kept columns that undo the protection, unless they are accepted; return what readers should not miss.

    A value is rare if fewer than ``k`` records have it. Columns that are nearly refused raise a ``PrivacyWarning``.

    >>> from nominym.table import code
    >>> ward, diagnosis = code(["A", "A", "B", "B"]), code(["flu", "flu", "burn", "burn"])
    >>> check_kept({"ward": ward}, {"diagnosis": diagnosis}, 2)
    Traceback (most recent call last):
    nominym.error.DataError: column 'ward': the masked column 'diagnosis' can be read off it: ...
    """
    for name in accept:
        if name in masked:
            raise ParameterError("it is masked: there is nothing to accept", parameter="accept", value=[name])
        if name not in kept:
            raise no_column(name, list(kept))
    findings = _findings(kept, masked, k, person)
    for found in findings:
        name = found.columns[0]
        if found.refused and name not in accept:
            raise DataError(
                found.figures,
                column=name,
                remedy=Advice("drop the column (in a release by {}), mask it too, or, if nobody can know its values, "
                              "give {}", roles={name: "identifier"}, accept=[name]),
            )  # fmt: skip
    notes = []
    for found in findings:
        listed = ", ".join(map(str, found.columns))
        if not any(name in accept for name in found.columns):
            warn(f"{listed}: {found.figures}")
        notes.append(f"{listed}: {found.public}{', which the owner accepted' if found.refused else ''}")
    return notes


def _findings(kept: Mapping[Any, Column], masked: Mapping[Any, Column], k: int, person: Column | None) -> list[Finding]:
    found = []
    for name, column in kept.items():
        codes, size = column.dense()
        counts = np.bincount(codes, minlength=size)
        found.append(_nearly_unique(name, counts, k))
        found += [_read_off(name, codes, counts, other, with_) for other, with_ in masked.items()]
        if person is not None:
            found.append(_linked((name,), codes, person, k))
    if person is not None and len(kept) > 1:
        found.append(_linked(tuple(kept), _together(list(kept.values())), person, k))
    return [each for each in found if each is not None]


def _nearly_unique(name: Any, counts: NDArray[np.int64], k: int) -> Finding | None:
    share = float(counts[counts < k].sum() / counts.sum())
    if share < UNIQUE_WARNED:
        return None
    others = "no other record has" if k == 2 else f"fewer than k = {k:,} records have"
    what = f"{share:.0%} of the records have a value that {others}"
    # That can be counted in the release, too.
    return Finding((name,), f"{what}; whoever knows it of a person finds the row", what, share > UNIQUE_REFUSED)


def _read_off(
    name: Any, codes: NDArray[np.uint32], counts: NDArray[np.int64], other: Any, masked: Column
) -> Finding | None:
    """Predict the masked value of each record from others with the same kept value, and compare with chance."""
    values, size = masked.dense()
    of_value = np.bincount(values, minlength=size).astype(np.float64)
    n = len(values)
    chance = float((of_value * (of_value - 1)).sum() / (n * (n - 1))) if n > 1 else 1.0
    covered = int(counts[counts > 1].sum())
    if chance == 1 or covered < READ_COVERED * n or not covered:
        return None
    cells = codes.astype(np.int64) * size + values
    if len(counts) * size <= 4 * n:
        both = np.bincount(cells, minlength=len(counts) * size)
        at = np.flatnonzero(both)
        both = both[at]
    else:
        at, both = np.unique(cells, return_counts=True)
    of_kept = counts[at // size]
    right = float((both * (both - 1) / np.maximum(of_kept - 1, 1)).sum() / covered)
    beyond = (right - chance) / (1 - chance)
    if beyond < READ_WARNED:
        return None
    return Finding(
        (name,),
        f"the masked column {other!r} can be read off it: two records with the same {name} have the same {other} in "
        f"{right:.0%} of the cases, two of all records in {chance:.0%}",
        f"the masked column {other} can {'' if beyond >= READ_REFUSED else 'often '}be read off it",
        beyond >= READ_REFUSED,
    )


def _linked(names: tuple[Any, ...], codes: NDArray[np.uint32], person: Column, k: int) -> Finding | None:
    """Count the persons with several records of which two share a value that fewer than k persons have."""
    several = int((person.counts > 1).sum())
    if not several:
        return None
    cells, records = np.unique(codes.astype(np.int64) * person.size + person.codes, return_counts=True)
    values, persons = np.divmod(cells, person.size)
    telling = (records > 1) & (np.bincount(values)[values] < k)
    share = len(np.unique(persons[telling])) / several
    if share <= LINKED:
        return None
    what = "they link" if len(names) > 1 else "it links"
    of_whom = f"of the persons with several records have two that agree in what fewer than k = {k:,} persons have"
    # All columns together link most records where there are many of them: that is said, and not refused.
    level = max(step for step in (5, 10, 25, 50, 75, 90) if share * 100 > step)
    return Finding(
        names,
        f"{what} the records of a person: {share:.0%} {of_whom}",
        f"{what} the records of a person: more than {level} % {of_whom}",
        len(names) == 1,
    )


def _together(columns: Sequence[Column]) -> NDArray[np.uint32]:
    """Number the combinations of values that occur."""
    codes = columns[0].dense()[0]
    for column in columns[1:]:
        more, size = column.dense()
        codes = np.unique(codes.astype(np.int64) * size + more, return_inverse=True)[1].reshape(-1)
    return codes.astype(np.uint32)
