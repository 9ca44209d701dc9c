"""Inference of a sensitive column by the nearest row, compared with people who are not in the original."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import DataError, ParameterError, no_column
from nominym.meaning import Meaning, Measure, as_measure, check_meanings
from nominym.risk.linkage import Attacked, Sample
from nominym.stats import interval
from nominym.table import Missing, Table, as_table, check_policy, check_roots, coded_alike, column_names, unite

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Success:
    """How often an attack is right."""

    share: float
    """Mean probability that the guess is right."""
    low: float
    """Lower 95 % bound, by Wilson."""
    high: float
    """Upper 95 % bound."""
    attacked: int
    """People attacked."""


@dataclass(frozen=True)
class Inference:
    """What an attack learns about people that it does not learn about others."""

    sensitive: Any
    """The column that is inferred."""
    known: tuple[Any, ...]
    """The columns that the adversary knows."""
    attack: Success
    """Success against people of the original."""
    control: Success | None
    """Success against people who are not in it; None without a control set."""
    baseline: float
    """Share of the people of the original who have the value that is most frequent in the release."""
    risk: float | None
    """R = (attack − control) / (1 − control): the share of what could be learnt beyond the control that is learnt.
    Negative if the control set was easier; None without one, NaN if all of it is guessed."""
    low: float | None
    """Lower 95 % bound of the risk."""
    high: float | None
    """Upper 95 % bound of the risk."""

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return {**asdict(self), "known": list(self.known)}


def inference(
    before: Any,
    after: Any,
    meanings: Mapping[Any, Meaning],
    sensitive: Any,
    *,
    control: Any = None,
    known: Any = None,
    sample: Sample = "auto",
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    missing: Missing = "keep",
    seed: int | None = None,
    progress: Progress = None,
) -> Inference:
    """Infer a sensitive value of people by the nearest row of the release, and compare with people who are not in it.

    What is inferred about people who are not in the original cannot have leaked from it: it follows from the
    association of columns, which a release should show. Only what is inferred beyond that is a risk of participation.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(3_000, seed=1)
    >>> frame = frame[["diagnosis", "procedure", "sex"]]
    >>> people, others = frame[:2_000], frame[2_000:]
    >>> meanings = {"diagnosis": taxonomies["diagnosis"], "procedure": taxonomies["procedure"]}
    >>> nym.risk.inference(people, people, meanings, "sex", control=others).risk > 0.3
    True
    >>> strict = nym.rank_swap(people, meanings, k=10, seed=1)
    >>> nym.risk.inference(people, strict.data, meanings, "sex", control=others).low < 0.05
    True

    Parameters
    ----------
    before, after
        The original table and its release: frames of any kind, with rows in any order and any number.
    meanings
        The meanings of the columns that an adversary may know; for a kept column, for example, ``nym.Equality()``.
    sensitive
        The column to infer: any column of all tables. A missing value is a value of its own.
    control
        People of the same population who are not in the original, with the same columns; 500 or more are advisable.
    known
        The columns that the adversary knows; by default all of ``meanings`` but the sensitive one.
    sample
        Number of people of each table to attack: "auto" for all of up to 100,000, else 20,000 drawn at random; a
        number; or None for all.
    measure, roots
        The distance, and roots for depths by column; by default the least common subsumer of the column.
    missing
        "keep" or "error", for the known columns: as in ``linkage``.
    seed
        For the sample; without it, it is drawn from the operating system's randomness.
    progress
        ``True`` for a bar, or a callable of (done, total).

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2023), A unified framework for quantifying privacy risk in synthetic data,
    PoPETs 2023(2), arXiv 2211.10459; Wilson (1927), Probable inference, the law of succession, and statistical
    inference, JASA 22.
    """
    check_progress(progress)
    check_policy(missing)
    who = Attacked(None, sample, seed)
    given = check_meanings(meanings)
    tops, how = check_roots(roots, given), as_measure(measure)
    sides = {"before": as_table(before), "after": as_table(after)}
    if control is not None:
        sides["control"] = as_table(control)
    names = _known(known, given, sensitive)
    for when, table in sides.items():
        for name in (*names, sensitive):
            if name not in table.names:
                raise no_column(name, table.names, when)
        if not len(table):
            raise DataError(f"the table {when} has no records")
    secrets, values = coded_alike(sensitive, *sides.values())
    secrets = [np.minimum(codes, np.uint32(values)) for codes in secrets]
    columns = [_united(name, sides, given[name], how, tops.get(name), missing, progress) for name in names]

    def attack(side: int) -> Success:
        chosen = who.rows(len(secrets[side]))
        some = slice(None) if chosen is None else chosen
        targets = [np.ascontiguousarray(codes[side][some]) for codes, _ in columns]
        cells = np.ascontiguousarray(secrets[side][some]), secrets[1]
        # No row belongs to anybody here: it is values that are found, not rows.
        owners = np.ones(len(cells[0]), dtype=np.uint32), np.zeros(len(cells[1]), dtype=np.uint32)
        rows, distances = [codes[1] for codes, _ in columns], [far for _, far in columns]
        with reporter(progress, "inference") as report:
            far, ties, _ = _core.link_records(targets, rows, distances, *owners, report)
            # Distances are exact, so the nearest of the rows with the right value are among the nearest, or are not.
            own, right, _ = _core.link_records(targets, rows, distances, *owners, report, cells)
        return _success(np.where(own == far, right, 0) / ties)

    frequent = np.bincount(secrets[1]).argmax()
    against = attack(0)
    others = attack(2) if control is not None else None
    risk = (None, None, None) if others is None else _residual(against, others)
    return Inference(sensitive, tuple(names), against, others, float((secrets[0] == frequent).mean()), *risk)


def _known(known: Any, given: Mapping[Any, Meaning], sensitive: Any) -> list[Any]:
    meant = [name for name in given if name != sensitive]
    names = meant if known is None else column_names(known, list(given), "known")
    if sensitive in names:
        fault = "it is the sensitive column, so there is nothing to infer"
        raise ParameterError(fault, parameter="known", value=sensitive)
    if not names:
        raise ParameterError("name at least one column that the adversary knows", parameter="known")
    return names


def _united(
    name: Any,
    sides: Mapping[str, Table],
    meaning: Meaning,
    measure: str | Measure,
    root: object,
    missing: Missing,
    progress: Progress,
) -> tuple[list[NDArray[np.uint32]], Any]:
    """Return a column of all tables with one meaning: codes over the same categories, and their distances."""
    columns = [
        replace(table.column(name), name=f"{name} ({when})", released=when == "after") for when, table in sides.items()
    ]
    for column in columns:
        column.check_missing(missing)
    space = meaning.space(columns, measure, root)
    return unite(space, columns, space.places, lambda places: space.matrix(places, progress))


def _success(chance: NDArray[np.float64]) -> Success:
    size = len(chance)
    share = math.fsum(chance) / size
    return Success(share, *interval(share, math.fsum(chance**2) / size, size), size)


def _residual(attack: Success, control: Success) -> tuple[float, float, float]:
    """Return R and its bounds: the errors of both shares, half of their intervals, propagated to R.

    >>> attack, control = (Success(share, *interval(share, share, 500), 500) for share in (0.4, 0.25))
    >>> [round(figure, 4) for figure in _residual(attack, control)]
    [0.2, 0.1289, 0.2691]
    """
    if control.share >= 1:
        return math.nan, math.nan, math.nan
    (a, da), (c, dc) = (((each.low + each.high) / 2, (each.high - each.low) / 2) for each in (attack, control))
    middle = (a - c) / (1 - c)
    error = math.hypot(da / (1 - c), dc * (1 - a) / (1 - c) ** 2)
    return (attack.share - control.share) / (1 - control.share), middle - error, middle + error
