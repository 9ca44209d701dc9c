"""Methods side by side: the same table masked by each at the same k, and what each risks and loses."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from nominym import risk
from nominym.aggregate import Microaggregate, squares, total_squares
from nominym.control import Progress, steps
from nominym.error import ParameterError, PrivacyWarning
from nominym.meaning import DistanceMatrix, Meaning, Taxonomy
from nominym.method import Method, Result
from nominym.noise import Noise
from nominym.report import measured
from nominym.report.subject import MaskedTable
from nominym.swap import DataSwap, RankSwap
from nominym.table import Comparison

if TYPE_CHECKING:
    from nominym.release import FilePair

TITLES = {
    "strict": "strict swapping",
    "microaggregation": "microaggregation",
    "generalization": "generalization",
    "fixed": "SRS-1, as published",
    "dynamic": "SRS-2, as published",
    "records": "SRS-3, as published",
    "noise": "noise",
    "data-swap": "data swapping",
}
"""Methods that can be compared by name, and what tables call them."""

AMOUNTS: Mapping[str, Sequence[float]] = {"noise": (0.1, 0.3, 1.0), "data-swap": (0.05, 0.2)}
"""Of methods without a k, the values of alpha or of the rate that are compared."""

ALPHA = 0.3
"""How much noise there is beside the other methods, which have a k."""


def by_name(name: str, amount: Any, measure: Any = "wu-palmer", **limits: Any) -> Method:
    """Make a method with a k, an alpha or a rate; ``limits`` are a person and sensitive columns, where it has them."""
    how: dict[str, Any] = {"measure": measure}
    if name == "strict":
        return RankSwap(amount, **limits, **how)
    if name in ("microaggregation", "generalization"):
        return Microaggregate(amount, replace="mean" if name == "microaggregation" else "subsumer", **limits, **how)
    if name == "noise":
        return Noise(alpha=amount, moments=False, **how)
    published: Any = name
    return DataSwap(rate=amount) if name == "data-swap" else RankSwap(amount, method=published, **how)


def usual(meanings: Iterable[Meaning]) -> list[str]:
    """Return the names of the methods that are compared where none is named, for columns with such meanings."""
    names = ["strict", "microaggregation", "generalization", "records"]
    return [*names, *(["noise"] if all(isinstance(each, Taxonomy | DistanceMatrix) for each in meanings) else [])]


def compare_methods(
    subject: Result | FilePair, methods: Sequence[Method] | None = None, *, progress: Progress = None
) -> pd.DataFrame:
    """Mask the data of a release by several methods, and measure the risk and the loss of each; owner only.

    Nothing of the further releases is kept but the figures.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(300, seed=1)
    >>> res = nym.microaggregate(frame[["diagnosis", "sex"]], {"diagnosis": taxonomies["diagnosis"]}, k=5)
    >>> found = nym.report.compare_methods(res)
    >>> found["method"].tolist()[:3], found["smallest"].tolist()[1] >= 5
    (['strict swapping', 'microaggregation', 'generalization'], True)

    Parameters
    ----------
    subject
        What a method with a k returned, or the files of a release beside their original.
    methods
        The methods; by default, at the k of the release: strict swapping, microaggregation, generalization and swapping
        of records as published (SRS-3), and noise where every masked column has a taxonomy or a matrix.

    Returns
    -------
    pandas.DataFrame
        A row for each: the ``bound`` that it guarantees, if any; ``risk``, the share that an adversary finds who knows
        all masked values and takes the nearest row, with its interval ``low`` and ``high``; ``smallest``, the size of
        the smallest class of equal rows; ``rmse``, the mean over the columns; ``loss``, squared distances relative to
        one mean for all records, the mean over the columns; and ``correlations``, the largest change of a distance
        correlation.
    """
    table = MaskedTable.of(subject)
    before = table.comparison
    named = _usual(table) if methods is None else {repr(method): method for method in methods}
    meanings = {name: change.before.meaning for name, change in before.changes.items()}
    totals = {name: total_squares(change.before) for name, change in before.changes.items()}
    rows = []
    with steps(progress, "methods", len(named)) as report, warnings.catch_warnings():
        # Nothing of these is released.
        warnings.simplefilter("ignore", PrivacyWarning)
        for done, (name, method) in enumerate(named.items()):
            report(done)
            made: Any = method
            if "accept" in made.options():
                made = replace(made, accept=tuple(before.kept))
            comparison = made.apply(before.before, meanings).secret.comparison
            rows.append({"method": name, **_judged(comparison, made, table.person, totals)})
        report(len(named))
    return pd.DataFrame(rows)


def _usual(table: MaskedTable) -> dict[str, Method]:
    method: Any = table.method
    k = getattr(method, "k", None)
    if k is None or k < 2:
        raise ParameterError("methods are compared at the k of a release, and this one has none", parameter="methods")
    limits: dict[str, Any] = {name: getattr(method, name, None) for name in ("person", "sensitive")}
    names = usual(change.before.meaning for change in table.comparison.changes.values())
    return {
        f"noise, alpha = {ALPHA:g}" if name == "noise" else TITLES[name]: by_name(
            name, ALPHA if name == "noise" else k, method.measure, **limits
        )
        for name in names
    }


def information_loss(comparison: Comparison, totals: Mapping[Any, float]) -> float:
    """Return squared distances relative to ``totals``, those to one mean for all records: the mean over the columns."""
    changes = comparison.changes.items()
    return math.fsum(squares(change) / totals[name] if totals[name] else 0.0 for name, change in changes) / len(changes)


def _judged(comparison: Comparison, method: Method, person: Any, totals: dict[Any, float]) -> dict[str, Any]:
    # One attack, so that a comparison stays fast.
    found = risk.link(comparison, kept=[], attacks="nearest row", person=person).worst
    changes = comparison.changes
    together = measured.correlations(comparison)
    return {
        "bound": math.nan if method.bound is None else method.bound,
        "risk": found["share"],
        "low": found["low"],
        "high": found["high"],
        "smallest": risk.classes(comparison.after, list(changes)).smallest,
        "rmse": math.fsum(change.rmse for change in changes.values()) / len(changes),
        "loss": information_loss(comparison, totals),
        "correlations": math.nan if together is None else float(together["difference"].abs().max()),
    }
