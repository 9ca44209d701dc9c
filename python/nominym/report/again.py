"""Masking again with other parameters: what the risk–utility map is drawn from."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import pandas as pd

from nominym.control import Progress, steps
from nominym.error import ParameterError, PrivacyWarning
from nominym.itemsets.recode import recode
from nominym.noise import add_noise
from nominym.report import risks, tables
from nominym.result import Result
from nominym.swap import data_swap, rank_swap
from nominym.taxonomy.measure import Measure

if TYPE_CHECKING:
    from nominym.itemsets import Itemsets, Release

RISK, LOSS = "share of records found by an intruder", "root mean square distance"
CHANGED = "share of values changed"
POSTERIOR, ERROR = "largest probability of a row", "items flipped, relative to the items of a record"


def sweep(
    before: Any,
    result: Result,
    taxonomies: Mapping[Any, Any],
    values: Mapping[str, Iterable[float]],
    *,
    truth: Any = None,
    progress: Progress = None,
) -> pd.DataFrame:
    """Mask a table with other values of one parameter, all else as in a result, and measure risk and loss.

    Nothing of the further releases is kept but the figures.

    Parameters
    ----------
    before
        The table as it was.
    result
        What ``rank_swap``, ``add_noise`` or ``data_swap`` gave.
    taxonomies
        What the values mean, by column.
    values
        The parameter and its values: ``{"k": [2, 5, 10]}``, ``{"alpha": [0.1, 0.5]}``, ``{"rate": …}``.
    truth
        The row of the release that is each record, where ``result.data`` was put into another order.

    Returns
    -------
    pandas.DataFrame
        A row for each value, and one for the result itself: the parameter, ``risk`` with its interval ``low`` and
        ``high``, ``bound``, ``loss``, ``unchanged`` and ``current``. ``figures.risk_utility`` draws it.
    """
    if not isinstance(result, Result):
        raise ParameterError(
            f"sweep= masks again as a Result says, but a {type(result).__name__} does not; give what rank_swap, "
            "add_noise or data_swap returned"
        )
    name, numbers = _asked(values)
    mask = method_of(result.params)
    if mask is None or name not in inspect.signature(mask).parameters:
        known = ", ".join(str(key) for key in ("k", "p", "alpha", "epsilon", "rate") if key in result.params)
        raise ParameterError(
            f"sweep: {name!r} is no parameter of the method that was used; there are: {known or 'none'}"
        )
    here = result.params.get(name)
    others = [value for value in numbers if value != here]
    rows = []
    if here is not None:
        rows.append(_measured(before, result.data, taxonomies, result, name, here, truth, current=True))
    with steps(progress, "sweep", len(others)) as report:
        for done, value in enumerate(others):
            report(done)
            again = _masked(mask, before, taxonomies, {**result.params, name: value})
            rows.append(_measured(before, again.data, taxonomies, again, name, value, None, current=False))
        report(len(others))
    found = pd.DataFrame(rows).sort_values(name).reset_index(drop=True)
    found.attrs |= {"risk": RISK, "loss": LOSS if _has_meaning(taxonomies) else CHANGED}
    return found


def method_of(params: Mapping[str, Any]) -> Callable[..., Result] | None:
    """Tell by its parameters which function made a result."""
    if "guarantee" in params:
        return rank_swap
    if "rate" in params:
        return data_swap
    return add_noise if "domain" in params else None


def _masked(
    mask: Callable[..., Result], before: Any, taxonomies: Mapping[Any, Any], params: Mapping[str, Any]
) -> Result:
    columns = params["columns"]
    given = {key: value for key, value in params.items() if key in inspect.signature(mask).parameters}
    given = {key: value for key, value in given.items() if key not in ("columns", "measure", "taxonomies", "frame")}
    for key in ("roots", "domain"):
        # None is the root of a given matrix.
        if key in given:
            given[key] = {name: root for name, root in given[key].items() if root is not None}
    if mask is not data_swap and params.get("method") != "numerical" and "measure" in params:
        given["measure"] = measure_of(params)
    if given.get("method") == "numerical":
        del given["roots"]
    with warnings.catch_warnings():
        # Nothing of these tables is released.
        warnings.simplefilter("ignore", PrivacyWarning)
        if mask is data_swap:
            return mask(before, columns, **given)
        if mask is add_noise:
            given["moments"] = False
        return mask(before, {name: taxonomies[name] for name in columns}, **given)


def measure_of(params: Mapping[str, Any]) -> str | Measure:
    """Give the measure that a result was made with."""
    name = params.get("measure", "wu-palmer")
    if "ic" not in params:
        return str(name)
    if params["ic"] == "counts":
        raise ParameterError(
            f"measure {name!r} was used with counts of a corpus, which a result does not keep; there is no report of it"
        )
    return Measure(str(name), ic=params["ic"], **({"k": params["ic_k"]} if "ic_k" in params else {}))


def _measured(
    before: Any,
    after: Any,
    taxonomies: Mapping[Any, Any],
    result: Result,
    name: str,
    value: float,
    truth: Any,
    *,
    current: bool,
) -> dict[str, Any]:
    params = result.params
    k = params.get("k")
    how: dict[str, Any] = {
        "measure": measure_of(params),
        "roots": params.get("roots") or params.get("domain"),
        "truth": truth,
    }
    found = risks.attack(before, after, taxonomies, k=k, **how)
    columns = tables.attributes(before, after, taxonomies, **how)
    unchanged = [column.unchanged for column in columns]
    loss = [column.rmse if column.measured else 1 - column.unchanged for column in columns]
    bound = 1 / k if k is not None and params.get("guarantee") == "strict" else math.nan
    return {
        name: value,
        "risk": found["share"],
        "low": found["low"],
        "high": found["high"],
        "bound": bound,
        "loss": math.fsum(loss) / len(loss),
        "unchanged": math.fsum(unchanged) / len(unchanged),
        "current": current,
    }


def sweep_itemsets(
    sets: Itemsets, rel: Release, values: Mapping[str, Iterable[int]], *, labels: Any = None, progress: Progress = None
) -> pd.DataFrame:
    """Recode item sets with other values of k, all else as in a release, and measure risk and loss.

    Returns
    -------
    pandas.DataFrame
        As from ``sweep``: ``risk`` is the largest probability that a record is a certain row, ``loss`` the error rate.
    """
    name, numbers = _asked(values)
    if name not in ("k", "l") or name not in rel.params:
        raise ParameterError(f"sweep: {name!r} is not what the release was made with; give k or l")
    if rel.params.get("order") == "given":
        raise ParameterError("sweep: the order of the records was given and is not kept; recode with a named order")
    given = {key: value for key, value in rel.params.items() if key in inspect.signature(recode).parameters}
    here, rows = rel.params[name], []
    if rel.secret is not None:
        rows.append(_of_release(sets, rel, name, here, current=True))
    others = [value for value in numbers if value != here or rel.secret is None]
    with steps(progress, "sweep", len(others)) as report:
        for done, value in enumerate(others):
            report(done)
            again = recode(sets, **{**given, name: value}, labels=labels if name == "l" else None)
            rows.append(_of_release(sets, again, name, value, current=False))
        report(len(others))
    found = pd.DataFrame(rows).sort_values(name).reset_index(drop=True)
    found.attrs |= {"risk": POSTERIOR, "loss": ERROR}
    return found


def _of_release(sets: Itemsets, rel: Release, name: str, value: float, *, current: bool) -> dict[str, Any]:
    worst = risks.worst(risks.worlds(rel, sets, k=int(value)))
    return {
        name: value,
        "risk": worst,
        "low": worst,
        "high": worst,
        "bound": 1 / value,
        "loss": rel.error_rate(),
        "query_error": rel.query_error(),
        "current": current,
    }


def _asked(values: object) -> tuple[str, list[float]]:
    if not isinstance(values, Mapping) or len(values) != 1:
        raise ParameterError(f"sweep={values!r}: give one parameter and its values, such as {{'k': [2, 5, 10]}}")
    ((name, numbers),) = values.items()
    listed = list(numbers) if isinstance(numbers, Iterable) and not isinstance(numbers, str | bytes) else []
    if not listed or not all(isinstance(value, Real) and not isinstance(value, bool) for value in listed):
        raise ParameterError(f"sweep: {name!r} needs a list of numbers, not {numbers!r}")
    return str(name), sorted(set(listed))


def _has_meaning(taxonomies: Mapping[Any, Any]) -> bool:
    return any(not tables.is_equal(semantics) for semantics in taxonomies.values())
