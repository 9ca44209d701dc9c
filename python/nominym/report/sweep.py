"""Masking again with other values of an option: the table behind the risk–utility map."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import pandas as pd

from nominym import risk
from nominym.control import Progress, steps
from nominym.error import ParameterError, PrivacyWarning
from nominym.itemsets import Itemsets, Release
from nominym.method import Method, Result
from nominym.report import measured
from nominym.report.subject import ItemsetRelease, MaskedTable, are_sets
from nominym.table import Comparison

if TYPE_CHECKING:
    from nominym.release import FilePair, SetsPair


def sweep(
    subject: Result | FilePair | Release | SetsPair,
    values: Mapping[str, Iterable[float]],
    *,
    sets: Itemsets | None = None,
    labels: Any = None,
    progress: Progress = None,
) -> pd.DataFrame:
    """Mask the data of a release with other values of one option, and measure risk and loss; owner only.

    Only the figures of the further releases are kept.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(500, seed=1)
    >>> res = nym.rank_swap(frame, taxonomies, k=5)
    >>> found = nym.report.sweep(res, {"k": [2, 10]})
    >>> found["k"].tolist(), found["bound"].tolist(), found["current"].tolist()
    ([2, 5, 10], [0.5, 0.2, 0.1], [False, True, False])

    Parameters
    ----------
    subject
        The result of a method, the files of a release and their original, or a release of item sets.
    values
        The option and its values: ``{"k": [2, 5, 10]}``, ``{"alpha": [0.1, 0.5]}``, ``{"rate": …}``.
    sets, labels
        The original item sets, for a release read from a file; their labels, for a sweep of l.

    Returns
    -------
    pandas.DataFrame
        A row for each value, and one for the release itself: the option, ``risk`` with its interval ``low`` and
        ``high``, ``bound``, ``loss`` and ``current``. For item sets, ``risk`` is the largest probability that a record
        is a given row, ``loss`` the error rate. ``figures.risk_utility`` draws it.
    """
    option, numbers = _asked(values)
    if are_sets(subject):
        release = ItemsetRelease.of(subject, sets)
        method = _method(release.release.method, option)
        here = None if release.release.secret is None else _of_release(release.release, release.sets, progress)

        def masked_again(other: Any) -> dict[str, Any]:
            if other.taxonomy is not None:
                other = replace(other, taxonomy=release.release.taxonomy)
            return _of_release(other.apply(release.sets, labels), release.sets)

        words = ("largest probability of a row", "items flipped, relative to the items of a record")
    else:
        table = MaskedTable.of(subject)
        method = _method(table.method, option)
        before = table.comparison
        here = _of_table(before, method, table.person)
        meanings = {name: change.before.meaning for name, change in before.changes.items()}
        # Figures that are not asked of the further releases; and kept columns that a larger k would refuse.
        changed: dict[str, Any] = {"correlations": False, "moments": False, "accept": tuple(before.kept)}
        method = replace(method, **{name: value for name, value in changed.items() if name in method.options()})

        def masked_again(other: Any) -> dict[str, Any]:
            return _of_table(other.apply(before.before, meanings).secret.comparison, other, table.person)

        distances = any(change.space.measured for change in before.changes.values())
        moved = "root mean square distance" if distances else "share of values changed"
        words = ("share of records re-identified", moved)
    now = getattr(method, option)
    rows = [] if here is None else [{option: now, **here, "current": True}]
    others = [value for value in numbers if here is None or value != now]
    with steps(progress, "sweep", len(others)) as report, warnings.catch_warnings():
        # Nothing of these is released.
        warnings.simplefilter("ignore", PrivacyWarning)
        for done, value in enumerate(others):
            report(done)
            rows.append({option: value, **masked_again(replace(method, **{option: value})), "current": False})
        report(len(others))
    found = pd.DataFrame(rows).sort_values(option).reset_index(drop=True)
    found.attrs["risk"], found.attrs["loss"] = words
    return found


def _of_table(comparison: Comparison, method: Method, person: Any) -> dict[str, Any]:
    # One attack, so that a sweep stays fast.
    found = risk.link(comparison, kept=[], attacks="nearest row", person=person).worst
    figures = {name: found[name] for name in ("low", "high")}
    return {"risk": found["share"], **figures, "bound": _bound(method), "loss": measured.loss(comparison)}


def _of_release(release: Any, sets: Itemsets, progress: Progress = None) -> dict[str, Any]:
    worst = risk.worlds(release, sets, progress=progress).posterior["largest"]
    errors = {"loss": release.error_rate(), "query_error": release.query_error()}
    return {"risk": worst, "low": worst, "high": worst, "bound": _bound(release.method), **errors}


def _bound(method: Method) -> float:
    return math.nan if method.bound is None else method.bound


def _asked(values: object) -> tuple[str, list[Any]]:
    if not isinstance(values, Mapping) or len(values) != 1:
        what = "give one option and its values, such as {'k': [2, 5, 10]}"
        raise ParameterError(what, parameter="sweep", value=values)
    ((name, numbers),) = values.items()
    listed = list(numbers) if isinstance(numbers, Iterable) and not isinstance(numbers, str | bytes) else []
    if not listed or not all(isinstance(value, Real) and not isinstance(value, bool) for value in listed):
        raise ParameterError(f"{name!r} needs a list of numbers, not {numbers!r}", parameter="sweep", value=values)
    return str(name), sorted(set(listed))


def _method(method: Any, option: str) -> Any:
    """Return the method to mask with again, if the option is one of its numbers."""
    if method is None:
        raise ParameterError("the method is not recorded, so nothing can be masked again", parameter="sweep")
    numbers = [name for name, declared in method.options().items() if declared.kind in (int, float)]
    known = [name for name in numbers if getattr(method, name) is not None]
    if option not in known:
        what = f"{option!r} is not a number that {method!r} has; there are {', '.join(known) or 'none'}"
        raise ParameterError(what, parameter="sweep")
    return method
