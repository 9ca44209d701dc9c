"""Unique exact matches: records that are unique in the original and appear unchanged in the release."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from nominym.control import Progress, check_progress
from nominym.table import as_table, distinct, shared_columns


@dataclass(frozen=True)
class UniqueMatches:
    """How many of the records that are unique in the original are in the release verbatim."""

    records: int
    """Records before."""
    unique: int
    """Records whose values no other record has."""
    matches: int
    """Those of them whose values a row of the release has."""
    share: float
    """Their share of the unique records; 0 if there are none."""

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return asdict(self)


def unique_exact_matches(before: Any, after: Any, columns: Any = None, *, progress: Progress = None) -> UniqueMatches:
    """Count the records that are unique in the original and whose values are in the release verbatim.

    >>> before = {"sex": ["f", "f", "m", "m"], "age": [30, 40, 40, 40]}
    >>> unique_exact_matches(before, {"sex": ["f", "f", "m", "m"], "age": [30, 30, 40, 40]})
    UniqueMatches(records=4, unique=2, matches=1, share=0.5)

    A match does not say whose row it is. Where values are swapped in groups of k, a row with the masked values of a
    person is a mixture of values of the group that happens to match, and as likely that of anybody else in it: the
    re-identification probability is 1/k all the same. Where the values of a row are those of its own person, a match is
    a re-identification: under suppression, and as far as ``columns`` includes kept columns, whose values were not
    swapped.

    Parameters
    ----------
    before, after
        Two tables, each of any kind, with rows in any order and any number of records.
    columns
        Columns of both tables; by default all. Numbers match if they are equal, other values if their texts are. A
        missing value is a value of its own.
    progress
        ``True`` for a bar, or a callable of (done, total).

    References
    ----------
    Task, Bhagat and Howarth (2023), SDNist v2: deidentified data report tool, NIST.
    """
    check_progress(progress)
    first, second = as_table(before), as_table(after)
    found = distinct(first, second, shared_columns(first, second, columns), progress, "unique exact matches")
    alone = found.before == 1
    unique, matches = int(alone.sum()), int((found.after[alone] > 0).sum())
    return UniqueMatches(len(first), unique, matches, matches / unique if unique else 0.0)
