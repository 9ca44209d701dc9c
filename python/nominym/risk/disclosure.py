"""Disclosure of identities by quasi-identifiers, and of a sensitive column given them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nominym.control import Progress, check_progress
from nominym.error import ParameterError
from nominym.table import as_table, column_names, distinct, shared_columns


@dataclass(frozen=True)
class Disclosure:
    """What quasi-identifiers disclose: shares of the records of the original, unless stated otherwise.

    The names are those of synthpop, in lower case; its percentages are shares here.
    """

    keys: tuple[Any, ...]
    """The quasi-identifiers."""
    target: Any
    """The sensitive column."""
    uio: float
    """Unique in the original."""
    uis: float
    """Unique in the release; a share of its rows."""
    uiois: float
    """Unique in the original, and present in the release."""
    repu: float
    """Replicated uniques: unique in the original, and in the release too."""
    dorig: float
    """Disclosive in the original: all records with the same quasi-identifiers have one target value."""
    dsyn: float
    """Disclosive in the release; a share of its rows."""
    found: float
    """iS: the release has a row with the same quasi-identifiers."""
    dis: float
    """DiS: and all of these rows have one target value."""
    disco: float
    """DiSCO, disclosive in the release and correct in the original: and it is that of the record."""
    disdio: float
    """DiSDiO: and the record is disclosive in the original, too."""
    base_cap: float
    """Probability that a guess by the frequencies of target values is right."""
    cap_original: float
    """CAPd: that a guess among the records of the original with the same quasi-identifiers is right."""
    cap_release: float
    """CAPs: the same for the rows of the release, taken as if they were the original."""
    dcap: float
    """DCAP: that a guess of a record's target value among the rows with its quasi-identifiers is right, which it is not
    where there are none."""
    tcap: float
    """TCAP: ``disco`` relative to ``found``; NaN where nothing is found."""
    records: int
    """Records of the original."""
    rows: int
    """Rows of the release."""

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {**asdict(self), "keys": list(self.keys)}


def disclosure(before: Any, after: Any, keys: Any, target: Any, *, progress: Progress = None) -> Disclosure:
    """Measure what the release discloses to an intruder who looks up quasi-identifiers in it and believes it.

    >>> before = {"age": [30, 30, 40, 50], "sex": ["f", "f", "m", "m"], "hiv": ["no", "yes", "no", "yes"]}
    >>> after = {"age": [30, 30, 40, 40], "sex": ["f", "f", "m", "m"], "hiv": ["no", "no", "no", "no"]}
    >>> found = disclosure(before, after, ["age", "sex"], "hiv")
    >>> found.uio, found.repu, found.dorig, found.found, found.dis, found.disco
    (0.5, 0.0, 0.5, 0.75, 0.75, 0.5)

    These measures were made for synthetic data, where no row belongs to anybody. They count what an intruder who takes
    the release for the original would get right; compare them with those of the original, and with ``base_cap``. An
    intruder who knows how the release was made believes less. A value that nearly everybody has is disclosed by any
    release.

    Every value is a category, and a missing value is one of its own. Numbers match if they are equal, other values if
    their texts are.

    Parameters
    ----------
    before, after
        Two tables, each of any kind, with rows in any order and any number of records.
    keys
        The quasi-identifiers: columns whose values an intruder knows.
    target
        The sensitive column: what the intruder wants to learn.
    progress
        ``True`` for a bar, or a callable of (done, total).

    References
    ----------
    Raab, Nowok and Dibben (2024), Practical privacy metrics for synthetic data, arXiv 2406.16826; TCAP after Little,
    Elliot and Allmendinger (2022), Comparing the utility and disclosure risk of synthetic data with samples of
    microdata, with the denominator that Raab, Nowok and Dibben give.
    """
    check_progress(progress)
    first, second = as_table(before), as_table(after)
    if keys is None:
        raise ParameterError("name the quasi-identifiers", parameter="keys")
    names = shared_columns(first, second, keys, "keys")
    targets = column_names([target], first.names, "target")
    shared_columns(first, second, targets, "target")
    if targets[0] in names:
        fault = "it is among the quasi-identifiers, so there is nothing to find out"
        raise ParameterError(fault, parameter="target", value=target, remedy="leave it out of keys=")
    found = distinct(first, second, [*names, *targets], progress, "disclosure")
    return _measured(tuple(names), targets[0], found.codes, found.before, found.after)


_SUMMARY = ("uio", "repu", "dorig", "disco", "base_cap", "dcap", "tcap")


def disclosures(
    before: Any, after: Any, keys: Any, targets: Sequence[Any], *, progress: Progress = None
) -> pd.DataFrame:
    """Return the main figures of ``disclosure`` for several sensitive columns, a row for each.

    >>> before = {"age": [30, 30, 40, 50], "hiv": ["no", "yes", "no", "yes"], "sex": ["f", "f", "m", "m"]}
    >>> disclosures(before, before, "age", ["hiv", "sex"])[["target", "uio", "dorig", "disco"]]
      target  uio  dorig  disco
    0    hiv  0.5    0.5    0.5
    1    sex  0.5    1.0    1.0
    """
    first, second = as_table(before), as_table(after)
    found = [disclosure(first, second, keys, target, progress=progress) for target in targets]
    rows = [(each.target, *(getattr(each, name) for name in _SUMMARY)) for each in found]
    return pd.DataFrame(rows, columns=["target", *_SUMMARY])


def _measured(
    keys: tuple[Any, ...],
    target: Any,
    codes: list[NDArray[np.uint32]],
    before: NDArray[np.int64],
    after: NDArray[np.int64],
) -> Disclosure:
    """Compute all figures from the counts of tuples, of which those with the same keys are next to each other."""
    new = np.logical_or.reduce([np.diff(each, prepend=~each[:1]) != 0 for each in codes[:-1]])
    group = np.cumsum(new) - 1
    first = np.flatnonzero(new)
    old, now = np.add.reduceat(before, first), np.add.reduceat(after, first)
    n, m = int(before.sum()), int(after.sum())
    all_old, all_now = old[group], now[group]
    # A group with one target value has a tuple that holds all of its records.
    one_old, one_now = (before == all_old) & (before > 0), (after == all_now) & (after > 0)
    disclosing = np.logical_or.reduceat(one_now, first)
    share = after / np.maximum(all_now, 1)
    unique = old == 1
    found = int(old[now > 0].sum())
    right = int(before[one_now].sum())
    by_target = np.bincount(codes[-1], before)
    return Disclosure(
        keys,
        target,
        uio=int(unique.sum()) / n,
        uis=int((now == 1).sum()) / m,
        uiois=int((unique & (now > 0)).sum()) / n,
        repu=int((unique & (now == 1)).sum()) / n,
        dorig=int(before[one_old].sum()) / n,
        dsyn=int(after[one_now].sum()) / m,
        found=found / n,
        dis=int(old[disclosing].sum()) / n,
        disco=right / n,
        disdio=int(before[one_now & one_old].sum()) / n,
        base_cap=float(((by_target / n) ** 2).sum()),
        cap_original=float((before * (before / np.maximum(all_old, 1))).sum()) / n,
        cap_release=float((after * share).sum()) / m,
        dcap=float((before * share).sum()) / n,
        tcap=right / found if found else float("nan"),
        records=n,
        rows=m,
    )
