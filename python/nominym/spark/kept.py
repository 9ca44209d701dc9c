"""Kept columns that would undo what masking does, looked for on Spark.

Up to a million records all of them are looked at, as on one machine. Of more, values and combinations that are nearly
unique are counted exactly on Spark, and how well kept columns predict masked ones is estimated: from a random sample of
records, and for columns whose values are rare in it, from all records of some of their values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from nominym import groups
from nominym.groups.kept import READ_COVERED
from nominym.groups.telling import coded, together
from nominym.meaning import Order
from nominym.spark.source import Source, sizes
from nominym.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from nominym.method import Method
    from nominym.table import Column

SAMPLE = 1_000_000
"""Records of which all are looked at, and about how many of more are."""
_SEEN = 20
"""Records that a value has on average in a sample that tells what it predicts."""


def check(source: Source, method: Method, masked: Sequence[str], kept: Sequence[str], meanings: Any) -> groups.Notes:
    """Refuse kept columns that undo the protection, unless they are accepted; return what has to be said."""
    given = meanings if isinstance(meanings, Mapping) else {}
    k = min(getattr(method, "k", None) or 2, max(source.records, 1))
    options = {
        "accept": getattr(method, "accept", ()),
        "ordered": [name for name in masked if isinstance(given.get(name), Order)],
        "counts_persons": hasattr(method, "person"),
    }
    person = getattr(method, "person", None)
    named = [*masked, *kept, *([] if person is None else [person])]
    if source.records <= SAMPLE or person is not None or not kept:
        columns = Table(source.table(named))
        who = None if person is None else columns.column(person).merged()
        if who is not None:
            groups.check_persons(who)
        return groups.check_kept(_of(columns, kept), _of(columns, masked), k, person=who, **options)  # type: ignore[arg-type]
    counts = {name: _counts(source, [name]) for name in kept}

    def alone(names: Sequence[str]) -> float:
        if len(names) < 2:
            return 0.0
        every = _counts(source, names)
        return float(every.times[every.records == 1].sum() / source.records)

    share = SAMPLE / source.records
    sample = Table(source.table(named, source.data.sample(False, share, 1)))
    found = groups.check_kept(
        _of(sample, kept), _of(sample, masked), k, counts=counts, alone=alone, **options  # type: ignore[arg-type]
    )  # fmt: skip
    for name in kept:
        if source.records / counts[name].times.sum() * share < _SEEN:
            closed = Table(source.table([*masked, name], _some_values(source, name, share)))
            if len(closed) > 1:
                options["accept"] = [each for each in getattr(method, "accept", ()) if each == name]
                more = groups.check_kept(_of(closed, [name]), _of(closed, masked), k, counts=counts, **options)  # type: ignore[arg-type]
                found.public.extend(note for note in more.public if note not in found.public)
                found.owners.extend(note for note in more.owners if note not in found.owners)
    unjudged = _too_rare(_of(sample, [name for name in kept if _agreeing(counts[name].records, counts[name].times)]))
    if unjudged:
        found.public.append(
            "what these pairs of kept columns predict together was not judged, since too few records of the sample "
            f"agree in them: {'; '.join(unjudged)}"
        )
    found.public.append(
        f"how well kept columns predict masked ones was estimated from about {SAMPLE:,} of {source.records:,} records"
    )
    return found


def _of(table: Table, names: Sequence[str]) -> dict[str, Any]:
    return {name: table.column(name) for name in names}


def _counts(source: Source, names: Sequence[str]) -> groups.Sizes:
    """Return how many values, or combinations of values, have how many records; no value leaves Spark."""
    return groups.Sizes(*sizes(source.data, [F.col(source.at(name)) for name in names]))


def _some_values(source: Source, name: str, share: float) -> DataFrame:
    """Choose all records of some values; where these have very many, no more than come to the driver otherwise."""
    parts = math.ceil(1 / share)
    here = F.col(source.at(name))
    return source.data.filter(here.isNotNull() & (F.pmod(F.xxhash64(here), F.lit(parts)) == 0)).limit(2 * SAMPLE)


def _too_rare(kept: Mapping[str, Column]) -> list[str]:
    """Name the pairs of columns in which too few records of a sample agree to tell what these predict."""
    columns = {name: coded(column) for name, column in kept.items()}
    found = []
    for one, other in combinations(columns, 2):
        if not _agreeing(together([columns[one], columns[other]]).counts()):
            found.append(f"{one} and {other}")
    return found


def _agreeing(records: NDArray[np.int64], times: Any = 1) -> bool:
    """Return whether enough records share their value with others, given how many values have how many records."""
    every = records * times
    return bool(every[records > 1].sum() >= READ_COVERED * every.sum())
