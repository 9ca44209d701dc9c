"""All that the report asks of ``nominym.risk``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from nominym.report.words import listed

if TYPE_CHECKING:
    from nominym.control import Progress
    from nominym.taxonomy.measure import Measure

# The attack is run for every attribute alone where there are no more than this.
_ALONE = 8


def attack(
    before: Any,
    after: Any,
    taxonomies: Mapping[Any, Any],
    *,
    known: Sequence[Any] | None = None,
    k: int | None = None,
    truth: Any = None,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    progress: Progress = None,
) -> dict[str, Any]:
    """Run the attack of somebody who knows the original values of some attributes."""
    from nominym import risk

    names = list(taxonomies if known is None else known)
    found = risk.linkage(
        before,
        after,
        taxonomies,
        known=names,
        k=k,
        truth=truth,
        measure=measure,
        roots={name: root for name, root in (roots or {}).items() if root is not None and name in taxonomies},
        progress=progress,
    )
    share = float(found.share)
    # Where all records were attacked there is nothing to estimate.
    low, high = found.interval or (share, share)
    return {
        "known": listed(names),
        "share": share,
        "low": float(low),
        "high": float(high),
        "bound": math.nan if found.bound is None else float(found.bound),
        "holds": found.holds,
        "attacked": int(found.attacked),
        "records": int(found.records),
    }


def attacks(before: Any, after: Any, taxonomies: Mapping[Any, Any], **how: Any) -> pd.DataFrame:
    """Run the attack with all attributes known, and with each of them alone."""
    known = [list(taxonomies)]
    if 1 < len(taxonomies) <= _ALONE:
        known += [[name] for name in taxonomies]
    return pd.DataFrame([attack(before, after, taxonomies, known=names, **how) for names in known])


def unique(frame: Any, columns: Sequence[Any]) -> dict[str, Any]:
    """Count the records that nobody shares all values with."""
    from nominym import risk

    found = risk.classes(frame, list(columns))
    return {
        "classes": int(found.classes),
        "unique": int(found.unique),
        "share_unique": float(found.share_unique),
        "smallest": int(found.smallest),
    }


def worlds(rel: Any, sets: Any, *, k: int | None, progress: Progress = None) -> Any:
    """Count the published rows that each record could be."""
    from nominym import risk

    return risk.worlds(rel, sets, k=k, progress=progress)


def worst(found: Any) -> float:
    """Give the largest probability of a row, from what ``worlds`` found."""
    return 1 / max(int(found.smallest), 1)
