"""Kept columns that would undo masking: an error where they do so for most records, otherwise a warning.

Groups protect against an adversary who knows nothing that tells the rows of a group apart. A kept column breaks that if
it is nearly unique, if masked values can be read off it, if it can be predicted from masked values, or if it links the
records of a person; several kept columns together can do the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nominym.error import Advice, DataError, ParameterError, no_column, warn
from nominym.groups.telling import (
    Agreement,
    Coded,
    agreement,
    aspects,
    coded,
    in_parts,
    membership,
    ranks_of,
    tally,
    together,
)
from nominym.guarantee import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.table import Column

UNIQUE_REFUSED, UNIQUE_WARNED = 0.5, 0.1
"""Share of records with a rare value above which a kept column is an error, and from which it is a warning."""
READ_REFUSED, READ_WARNED = 0.9, 0.5
"""How well a kept column predicts a masked one, from 0 (chance) to 1: from where it is an error, and a warning."""
READ_COVERED = 0.2
"""Share of records that must share their kept value with another for predictions to be judged."""
PREDICTED = 20_000
"""Records, about, from which it is judged what masked columns predict."""
LINKED, LINKED_TOGETHER = 0.05, 0.5
"""Share of the persons with several records above which a kept column, or several together, must not link these."""
REPEATED = 0.1
"""Share of records that must share their value for a nearly unique column to be a possible identifier of persons."""
COMMON = 10
"""A value of this many records, and of one in this many, is not rare, whatever k."""
STABLE = 0.95
"""Share of the persons with several records who have a single value of a column that belongs to persons."""
PAIRED = 10
"""Number of kept columns whose pairs are checked: those with the most values."""
FEW = 3
"""Number of findings of one kind about pairs that are reported, the worst."""


class Notes(NamedTuple):
    """Notes on kept columns."""

    public: list[str]
    """Notes that anyone can count in the release."""
    owners: list[str]
    """Notes for the owner: they depend on which masked and kept values, or records of a person, belong together."""
    foregone: Sequence[str] = ()
    """Those of the owner's notes on columns that masked ones predict nearly always: nobody can say they are unknown."""


class Sizes(NamedTuple):
    """How often values occur: frequencies, and how many values have each of them."""

    records: NDArray[np.int64]
    times: NDArray[np.int64]


class Finding(NamedTuple):
    """What is wrong with a kept column, or with several together."""

    columns: tuple[Any, ...]
    figures: str
    refused: bool
    weight: float
    public: str | None = None
    """The part that may be published, if any."""
    masked: Any = None
    """The masked column that can be read off."""
    repeated: bool = False
    """Whether many records of a nearly unique column share their value with others, as the records of a person do."""
    predicted: bool = False
    """Whether masked values predict it."""


def check_kept(
    kept: Mapping[Any, Column],
    masked: Mapping[Any, Column],
    k: int,
    accept: Sequence[Any] = (),
    person: Column | None = None,
    ordered: Collection[Any] = (),
    *,
    counts_persons: bool = False,
    counts: Mapping[Any, Sizes] | None = None,
    alone: Callable[[Sequence[Any]], float] | None = None,
) -> Notes:
    """Raise on kept columns that undo the protection, unless they are accepted; return notes on the others.

    A value is rare if fewer than ``k`` records, and fewer than a tenth of all or ten, have it. Columns near that limit
    raise a ``PrivacyWarning``. Of the masked columns, ``ordered`` ones are numbered by rank, so that near values can be
    told from distant ones. If the method ``counts_persons``, and no column identifies them yet, a column of repeated
    values may be the one that does.

    Where the columns are a sample, in which values are rarer than in all records, ``counts`` has the frequencies of a
    kept column in all records, and ``alone`` returns the share of the records that differ from all others in some kept
    columns: only predictions are searched in the sample.

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
    findings = _findings(kept, masked, k, person, ordered, counts, alone)
    for found in findings:
        if found.refused and not set(found.columns) <= set(accept):
            raise _refusal(found, counts_persons and person is None and found.repeated)
    notes = Notes([], [])
    for found in findings:
        named = ", ".join(map(str, found.columns))
        if not set(found.columns) <= set(accept):
            warn(f"{named}: {found.figures}")
        accepted = ", which the owner accepted" if found.refused else ""
        if found.public is None:
            notes.owners.append(f"{named}: {found.figures}{accepted}")
        else:
            notes.public.append(f"{named}: {found.public}{accepted}")
    foregone = [each for each in findings if each.predicted and each.weight >= READ_REFUSED]
    return notes._replace(foregone=[f"{each.columns[0]}: {each.figures}" for each in foregone])


def _refusal(found: Finding, person: bool) -> DataError:
    names = list(found.columns)
    if person:
        return DataError(
            found.figures,
            column=names[0],
            remedy=Advice("if it identifies persons, give {}, which drops it; else drop it (in a release by {}), "
                          "mask it "
                          "too, or, if nobody can know its values, give {}",
                          person=names[0], roles={names[0]: "identifier"}, accept=names),
        )  # fmt: skip
    if len(names) == 1:
        return DataError(
            found.figures,
            column=names[0],
            remedy=Advice("drop the column (in a release by {}), mask it too, or, if nobody can know its values, "
                          "give {}", roles={names[0]: "identifier"}, accept=names),
        )  # fmt: skip
    return DataError(
        f"columns {listed([repr(name) for name in names])}: {found.figures}",
        remedy=Advice("drop one of them (in a release by {}), mask it too, or, if nobody can know their values, give "
                      "{}", roles={names[-1]: "identifier"}, accept=names),
    )  # fmt: skip


def _findings(
    kept: Mapping[Any, Column],
    masked: Mapping[Any, Column],
    k: int,
    person: Column | None,
    ordered: Collection[Any],
    counts: Mapping[Any, Sizes] | None,
    different: Callable[[Sequence[Any]], float] | None,
) -> list[Finding]:
    columns = {name: coded(column) for name, column in kept.items()}
    targets = [(name, coded(column)) for name, column in masked.items()]
    parts = [(name, in_parts(masked[name], np.arange(masked[name].size))) for name in masked if name in ordered]
    near = [(name, each) for name, each in parts if each is not None]
    # Numbers as such need no parts where a masked column is compared for equality.
    coarse = {name: in_parts(column, ranks_of(column)) for name, column in kept.items()} if near else {}
    found: list[Finding | None] = []
    for name, column in columns.items():
        found.append(_nearly_unique(name, _sizes(column) if counts is None else counts[name], k))
        sides = [column] if coarse.get(name) is None else [column, coarse[name]]
        found += _read_off((name,), sides, targets, near)
        if person is not None:
            found.append(_linked((name,), column, person, k))
    found += _predicted(kept, masked)
    alone = [each for each in found if each is not None]
    if len(kept) < 2:
        return alone
    unique = {each.columns[0] for each in alone if each.public is not None}
    several = {name: column for name, column in columns.items() if name not in unique}
    return [
        *alone,
        *(_unique_together(several) if different is None else _told_apart(tuple(several), different(list(several)))),
        *_read_off_together(several, coarse, targets, near, alone),
        *(_linked_together(columns, person, k, alone) if person is not None else []),
    ]


# ---- nearly unique


def _sizes(column: Coded) -> Sizes:
    counts = column.counts()
    return Sizes(counts, np.ones_like(counts))


def _nearly_unique(name: Any, counts: Sizes, k: int) -> Finding | None:
    records = counts.records * counts.times
    everybody = int(records.sum())
    share = float(records[_rare(counts.records, k, everybody)].sum() / everybody)
    if share < UNIQUE_WARNED:
        return None
    others = "no other record has" if k == 2 else f"fewer than k = {k:,} records have"
    what = f"{share:.0%} of the records have a value that {others}"
    figures = f"{what}; anyone who knows it of a person finds the row"
    repeated = records[counts.records > 1].sum() >= REPEATED * everybody
    return Finding((name,), figures, share > UNIQUE_REFUSED, share, what, repeated=bool(repeated))


def _rare(counts: NDArray[np.int64], k: int, everybody: int) -> NDArray[np.bool_]:
    """Return which values are rare: of fewer than k records, and of fewer than a tenth or ten.

    Where k is near the number of records, even one of two values may have fewer than k records and reveal nobody.
    """
    rare: NDArray[np.bool_] = counts < min(k, max(COMMON, everybody / COMMON))
    return rare


def _unique_together(columns: Mapping[Any, Coded]) -> list[Finding]:
    """Count combinations that no other record has: of pairs, of which the worst are reported, and of all columns."""
    if len(columns) < 2:
        return []

    def found(names: tuple[Any, ...]) -> list[Finding]:
        counts = together([columns[name] for name in names]).counts()
        return _told_apart(names, float((counts == 1).sum() / counts.sum()))

    # No pair tells more records apart than all columns do.
    every = found(tuple(columns))
    if not every or len(columns) == 2:
        return every
    return [*_worst([each for names in _pairs(columns) for each in found(names)]), *every]


def _told_apart(names: tuple[Any, ...], share: float) -> list[Finding]:
    if len(names) < 2 or share < UNIQUE_WARNED:
        return []
    what = f"{share:.0%} of the records have a combination of values that no other record has"
    return [Finding(names, f"{what}; anyone who knows them of a person finds the row", False, share, what)]


# ---- what can be read off


def _read_off(
    names: tuple[Any, ...],
    sides: Sequence[Coded | None],
    targets: Sequence[tuple[Any, Coded]],
    near: Sequence[tuple[Any, Coded]],
    worth: float = 0.0,
) -> list[Finding]:
    """Look for masked columns that kept ones predict; of the ``sides`` of these, the first is compared for equality."""
    best: dict[Any, tuple[Agreement, bool]] = {}
    for i, side in enumerate(sides):
        for other, values in (*targets, *near) if i == 0 else near:
            got = None if side is None else agreement(side, values, READ_COVERED, worth)
            if got is not None and (other not in best or got.beyond > best[other][0].beyond):
                best[other] = got, i > 0
    return [_told(names, other, got, nearly) for other, (got, nearly) in best.items() if got.beyond >= READ_WARNED]


def _told(names: tuple[Any, ...], other: Any, got: Agreement, nearly: bool) -> Finding:
    it = "it" if len(names) == 1 else "them"
    same = f"the same {other}"
    if got.parts:
        same = f"{other} in the same or neighbouring parts of {got.parts} equal ones"
    figures = (
        f"the masked column {other!r} can be read off {it}: two records with {'nearly ' if nearly else ''}the same "
        f"{listed(names)} have {same} in {got.right:.0%} of the cases, two of all records in {got.chance:.0%}"
    )
    return Finding(names, figures, got.beyond >= READ_REFUSED, got.beyond, masked=other)


def _read_off_together(
    columns: Mapping[Any, Coded],
    coarse: Mapping[Any, Coded | None],
    targets: Sequence[tuple[Any, Coded]],
    near: Sequence[tuple[Any, Coded]],
    alone: Sequence[Finding],
) -> list[Finding]:
    """Look for what two columns predict and neither does alone, and for what all predict and no two do."""
    known = {(found.columns[0], found.masked): found.refused for found in alone if found.masked is not None}

    def look(names: tuple[Any, ...]) -> list[Finding]:
        sides: list[Coded | None] = [together([columns[name] for name in names])]
        if any(coarse.get(name) is not None for name in names):
            sides.append(together([coarse.get(name) or columns[name] for name in names]))
        made = _read_off(names, sides, targets, near, READ_WARNED)
        # More than one of them tells already.
        return [
            each
            for each in made
            if not any(
                (name, each.masked) in known and known[name, each.masked] >= each.refused for name in names
            )
        ]  # fmt: skip

    pairs = [each for names in _pairs(columns) for each in look(names)] if len(columns) > 1 else []
    told = {each.masked for each in (*alone, *pairs)}
    every = look(tuple(columns)) if len(columns) > 2 else []
    # Many columns tell much: that is said, and not refused.
    return [*_worst(pairs), *(each._replace(refused=False) for each in every if each.masked not in told)]


# ---- what masked values give away of kept ones


def _predicted(kept: Mapping[Any, Column], masked: Mapping[Any, Column]) -> list[Finding]:
    """Look for kept columns that masked ones predict, as they are or by something computed from them.

    An adversary who knows masked values would know these kept ones too, and which rows of a group have them.
    """
    n = max(map(len, masked.values()), default=0)
    some = np.arange(0, n, max(n // PREDICTED, 1))
    columns = {name: column.with_codes(column.codes[some]) for name, column in kept.items()}
    beside = {name: coded(column) for name, column in columns.items()}
    found: dict[Any, Finding] = {}
    for other, column in masked.items():
        part = column.with_codes(column.codes[some])
        sides = {"": coded(part), **aspects(part)}
        for name, values_of in beside.items():
            got = {side: agreement(values, values_of, READ_COVERED) for side, values in sides.items()}
            if part.kind == "nested":
                got["one of its items"] = membership(columns[name], part)
            told = [(side, each) for side, each in got.items() if each is not None]
            # Of equally good ones the first: the values themselves.
            side, best = max(told, key=lambda each: each[1].beyond, default=("", Agreement(0, 0)))
            if best.beyond >= READ_WARNED and (name not in found or best.beyond > found[name].weight):
                found[name] = _foreseen(name, other, side, best)
    return list(found.values())


def _foreseen(name: Any, other: Any, side: str, got: Agreement) -> Finding:
    if side == "one of its items":
        how = f"it is an item of {other} in {got.right:.0%} of the records, and of another record's in {got.chance:.0%}"
    else:
        same = f"the same {side} of {other}" if side else f"the same {other}"
        how = f"two records with {same} agree in it in {got.right:.0%} of the cases, two of all in {got.chance:.0%}"
    figures = (
        f"it can be predicted from the masked column {other!r}: {how}. Whoever knows {other} of a person then knows "
        "which rows of a group to look at; mask it too, or drop it"
    )
    return Finding((name,), figures, False, got.beyond, predicted=True)


# ---- what links the records of a person


def _linked(names: tuple[Any, ...], column: Coded, person: Column, k: int) -> Finding | None:
    """Count the persons with several records, two of which share a value that fewer than k persons have."""
    several = int((person.counts > 1).sum())
    if not several:
        return None
    cells, records = tally(column.codes * person.size + person.codes, column.span * person.size)
    values, persons = np.divmod(cells, person.size)
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    sharing = np.diff(np.append(starts, len(values)))
    telling = (records > 1) & np.repeat(_rare(sharing, k, person.size), sharing)
    share = int(np.count_nonzero(np.bincount(persons[telling]))) / several
    if share <= LINKED:
        return None
    what = "they link" if len(names) > 1 else "it links"
    of_whom = f"of the persons with several records have two that agree in what fewer than k = {k:,} persons have"
    figures = f"{what} the records of a person: {share:.0%} {of_whom}"
    return Finding(names, figures, len(names) == 1 or share > LINKED_TOGETHER, share)


def _linked_together(columns: Mapping[Any, Coded], person: Column, k: int, alone: Sequence[Finding]) -> list[Finding]:
    """Check the columns that belong to persons, those with the most values first, and all columns.

    Columns that vary from record to record would hide what the others link.
    """
    if any(found.weight > LINKED_TOGETHER for found in alone if found.public is None and found.masked is None):
        return []
    stable = [name for name in _by_values(columns) if _goes_with(columns[name], person)]
    sets = [tuple(stable[:size]) for size in range(2, len(stable) + 1)]
    if len(stable) < len(columns):
        sets.append(tuple(columns))
    best: Finding | None = None
    for names in sets:
        found = _linked(names, together([columns[name] for name in names]), person, k)
        if found is not None and (best is None or found.weight > best.weight):
            best = found
        if best is not None and best.refused:
            break
    return [] if best is None else [best]


def _goes_with(column: Coded, person: Column) -> bool:
    """Return whether nearly all persons with several records have one value in all of these."""
    several = person.counts > 1
    cells, _ = tally(person.codes.astype(np.int64) * column.span + column.codes, person.size * column.span)
    values = np.bincount(cells // column.span, minlength=person.size)
    return bool(several.any()) and float((values[several] == 1).mean()) >= STABLE


# ---- several columns


def _by_values(columns: Mapping[Any, Coded]) -> list[Any]:
    return sorted(columns, key=lambda name: -columns[name].span)


def _pairs(columns: Mapping[Any, Coded]) -> list[tuple[Any, Any]]:
    chosen = set(_by_values(columns)[:PAIRED])
    return list(combinations([name for name in columns if name in chosen], 2))


def _worst(found: Sequence[Finding | None]) -> list[Finding]:
    """Return the worst few."""
    return sorted((each for each in found if each is not None), key=lambda each: -each.weight)[:FEW]
