"""From the values of a table to the concepts of a taxonomy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from nominym.error import AmbiguousConceptError, UnknownConceptError

if TYPE_CHECKING:
    from numpy.typing import NDArray

How = Literal["id", "label", "synonym", "ambiguous", "none"]

_SHOWN = 10
# Enough to find a misspelling, few enough to answer at once in the largest ontologies.
_COMPARED = 5000


def folded(value: object) -> str:
    """Bring a name into the form in which names are compared: no case, no outer blanks.

    >>> folded("  Hepatic COMA ")
    'hepatic coma'
    """
    return str(value).strip().casefold()


class Names:
    """All names of the concepts of one taxonomy: ids, then labels, then synonyms."""

    def __init__(self, ids: Sequence[str], labels: Sequence[str | None], synonyms: Mapping[int, Sequence[str]]) -> None:
        """Keep the names; the look-up tables are made when they are first needed."""
        self._ids = ids
        self._labels = labels
        self._synonyms = synonyms
        self._exact = {name: index for index, name in enumerate(ids)}
        self._folded: list[tuple[How, dict[str, list[int]]]] | None = None

    def _tables(self) -> list[tuple[How, dict[str, list[int]]]]:
        if self._folded is None:
            labels = ((i, label) for i, label in enumerate(self._labels) if label is not None)
            synonyms = ((i, name) for i, names in self._synonyms.items() for name in names)
            self._folded = [
                ("id", _table(enumerate(self._ids))),
                ("label", _table(labels)),
                ("synonym", _table(synonyms)),
            ]
        return self._folded

    def find(self, value: object) -> tuple[How, list[int]]:
        """Look a value up: how it was found, and the concepts it names."""
        exact = self._exact.get(str(value))
        if exact is not None:
            return "id", [exact]
        name = folded(value)
        for how, table in self._tables():
            found = table.get(name)
            if found is not None:
                return (how if len(found) == 1 else "ambiguous"), found
        return "none", []

    def close(self, value: object) -> list[str]:
        """Names spelled much like a value, the closest first, as they stand in the taxonomy."""
        name = folded(value)
        # Names that begin or end alike, the more letters the better; few enough to compare in full.
        for letters in (4, 3, 2):
            begin, end = name[:letters], name[-letters:]
            near: dict[str, int] = {}
            for _, table in self._tables():
                for other, concepts in table.items():
                    if abs(len(other) - len(name)) <= 3 and (other.startswith(begin) or other.endswith(end)):
                        near.setdefault(other, concepts[0])
            compared = list(near)[:_COMPARED]
            found = difflib.get_close_matches(name, compared, n=2, cutoff=0.75)
            if found:
                return [self._written(other, near[other]) for other in found]
        return []

    def _written(self, name: str, concept: int) -> str:
        written = (self._ids[concept], self._labels[concept], *self._synonyms.get(concept, ()))
        return next(spelling for spelling in written if spelling is not None and folded(spelling) == name)

    def resolve(
        self, values: Sequence[object], counts: Sequence[int] | None = None, column: str | None = None
    ) -> NDArray[np.uint32]:
        """Find the one concept of each value; one error lists all values that name none or several.

        ``counts`` (how often each value occurs) and ``column`` only serve the message.
        """
        found = [self.find(value) for value in values]
        missed = [i for i, (_, concepts) in enumerate(found) if len(concepts) != 1]
        if missed:
            times = counts if counts is not None else [1] * len(values)
            raise self._unmatched([(values[i], int(times[i])) for i in missed], column)
        return np.array([concepts[0] for _, concepts in found], dtype=np.uint32)

    def _unmatched(self, missed: Sequence[tuple[object, int]], column: str | None) -> UnknownConceptError:
        where = f"column {column!r}: " if column is not None else ""
        parts, ambiguous = [], False
        for value, count in missed[:_SHOWN]:
            concepts = self.find(value)[1]
            times = f" ({count:,}×)" if count > 1 else ""
            if concepts:
                ambiguous = True
                parts.append(f"{value!r}{times} names {', '.join(repr(self._ids[c]) for c in concepts[:4])}")
            else:
                close = self.close(value)
                hint = f", did you mean {' or '.join(map(repr, close))}?" if close else ""
                parts.append(f"{value!r}{times}{hint}")
        more = f"; and {len(missed) - _SHOWN:,} more values" if len(missed) > _SHOWN else ""
        records = sum(count for _, count in missed)
        many = f"{len(missed):,} value{'s' * (len(missed) > 1)} ({records:,} record{'s' * (records > 1)})"
        listed = f"{'; '.join(parts)}{more}"
        listed += "" if listed.endswith("?") else "."
        seen = "Taxonomy.match shows how each value is read."
        if ambiguous:
            return AmbiguousConceptError(
                f"{where}{many} that do not name one concept: {listed} Name these concepts by id; {seen}"
            )
        return UnknownConceptError(
            f"{where}{many} not in the taxonomy: {listed} Correct the values or complete the taxonomy; {seen}"
        )


def _table(names: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    table: dict[str, list[int]] = {}
    for concept, name in names:
        holders = table.setdefault(folded(name), [])
        if concept not in holders:
            holders.append(concept)
    return table
