"""Semantic rank swapping, its baselines, and the mode that keeps its promise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import ParameterError, PrivacyWarning
from nominym.frame import MISSING, Column, Missing, Table
from nominym.result import Result
from nominym.swap import achieved, separate
from nominym.swap.columns import Nominal, Ordered
from nominym.swap.request import Draw, Guarantee, Method, Request
from nominym.taxonomy.measure import Measure, as_measure

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Secret:
    """What only the owner of the data may know."""

    groups: NDArray[np.uint32]
    """Number of the group that each record belongs to."""


def rank_swap(
    frame: Any,
    taxonomies: Mapping[Any, Any],
    k: int | None = None,
    *,
    p: float | None = None,
    method: Method = "records",
    guarantee: Guarantee = "published",
    draw: Draw = "independent",
    anneal: bool = False,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    correlations: bool = False,
    seed: int | None = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> Result:
    """Swap the values of some columns, each with one that means nearly the same.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> res = nym.rank_swap(frame, masked, k=5, guarantee="strict", seed=1)
    >>> sorted(res.data["diagnosis"]) == sorted(frame["diagnosis"])
    True
    >>> res.summary["groups"]["smallest"], res.summary["bound"]
    (5, 0.2)

    Parameters
    ----------
    frame
        A pandas or polars frame, an Arrow table or a mapping of columns. It is not changed.
    taxonomies
        Which columns to mask, and what their values mean: a ``Taxonomy`` or a ``DistanceMatrix`` by column name. For
        ``method="numerical"``: ``None`` for numbers, dates and ordered categoricals, or the list of all values, lowest
        first.
    k
        How many candidates a value is to have: the size of clusters, or the length of an interval in records. With
        ``guarantee="strict"``, the smallest size of a group.
    p
        Length of the interval in percent of the records, in place of ``k``, for methods that go along a ranking.
    method
        "fixed" (SRS-1), "dynamic" (SRS-2), "records" (SRS-3: all columns at once), "distributional" (ranked by
        frequency), "random" (no restriction; ``k`` is only compared with), "numerical" (ranked by value).
    guarantee
        "published": the algorithm as it was published, which promises less than it claims; the summary measures it.
        "strict": groups of at least ``k`` records over all columns, inside which every column is permuted on its own;
        nobody tells the row of a record with a probability above 1/k (docs/rank-swapping.md has the proof).
    draw
        With "strict", "joint" permutes whole tuples instead: correlations stay as they are and 1/k holds, but who
        knows one masked value of a row can read the others.
    anneal
        With "strict", look longer for better groups: worth it below some ten thousand records.
    measure, roots
        The distance, and roots for depths by column; by default the least common subsumer of the column.
    correlations
        Also compare the distance correlations of all pairs of columns before and after.
    seed
        For studies: the same seed gives the same result. Without it, randomness is cryptographic.
    missing
        "keep" or "error". With "published" a missing cell stays where it is; with "strict" it moves like any value,
        because a gap that stays would tell whose row it is.
    progress
        ``True`` for a bar, or a callable of (done, total).

    Returns
    -------
    Result
        ``data``, ``params`` and ``summary``. For each column, ``summary["attributes"]`` has ``rmse``, the share
        ``unchanged``, the number of swaps with ``no_partner``, quantiles of the ``candidates`` that swaps really had,
        and the share with ``fewer_than_k``. With "strict" there are ``bound`` and ``groups``: sizes, and in how many
        an untouched column is ``constant``. ``secret.groups`` is for the owner only.

    Rodriguez-Garcia, Batet and Sánchez (2019), Utility-preserving privacy protection of nominal data sets via semantic
    rank swapping, Information Fusion 45; Rodríguez-García (2017), doctoral thesis, chapter 5.
    """
    request = Request(method, guarantee, k, p, draw, anneal, missing, seed)
    check_progress(progress)
    if method == "numerical" and (correlations or roots or as_measure(measure) != Measure()):
        raise ParameterError("correlations=, measure= and roots= are about meaning, which numerical columns have not")
    table = Table(frame)
    columns = _columns(table, taxonomies, request, as_measure(measure), dict(roots or {}), progress)
    records = len(next(iter(columns.values())).column)
    reach = request.reach(records)
    warned = _warnings(frame, columns) if request.strict else []
    with reporter(progress, "rank swapping") as report:
        swapped = _swap(list(columns.values()), request, reach, report)
    data = table.replace(
        {
            name: Column(codes, column.column.categories)
            for (name, column), codes in zip(columns.items(), swapped.codes, strict=True)
        },
        moved=request.strict,
    )
    summary: dict[str, Any] = {
        "records": records,
        "attributes": {
            name: achieved.of_column(column, codes, candidates, reach)
            for (name, column), codes, candidates in zip(
                columns.items(), swapped.codes, swapped.candidates, strict=True
            )
        },
    }
    notes = achieved.notes(summary["attributes"], request.method, reach)
    if swapped.groups is not None:
        summary["groups"] = achieved.of_groups(swapped.groups, table, columns)
        summary["bound"] = 1 / summary["groups"]["smallest"]
        separate.remember(data, columns, released=True)
    summary["notes"] = notes + warned
    if correlations:
        summary["correlations"] = achieved.of_correlations(columns, swapped.codes, progress)
    params = {
        "columns": list(columns),
        **request.params(),
        **({} if method == "numerical" else as_measure(measure).params()),
        "roots": {name: column.root for name, column in columns.items()},
        "version": _core.__version__,
    }
    return Result(data, params, summary, None if swapped.groups is None else Secret(swapped.groups))


def _columns(
    table: Table,
    given: Mapping[Any, Any],
    request: Request,
    measure: Measure,
    roots: dict[Any, object],
    progress: Progress,
) -> dict[Any, Any]:
    """Make the columns ready; any fault in any of them is told before the first is swapped."""
    if not isinstance(given, Mapping) or not given:
        raise ParameterError(
            "taxonomies: a mapping from column names to taxonomies is needed, with one column at least"
        )
    unknown = [name for name in roots if name not in given]
    if unknown:
        raise ParameterError(f"roots: {unknown[0]!r} is not among the columns to mask: {', '.join(map(str, given))}")
    table.check_lengths()
    if request.method == "numerical":
        return {name: Ordered(table, name, order, request.missing) for name, order in given.items()}
    return {
        name: Nominal(table, name, semantics, measure, roots.get(name), request.missing, progress)
        for name, semantics in given.items()
    }


def _warnings(frame: Any, columns: Mapping[Any, Nominal]) -> list[str]:
    """Warn of what would take away from the promise, before anything is done."""
    found = separate.warn(frame, columns)
    sorted_by = achieved.in_order(columns)
    if sorted_by:
        found.append(
            f"the rows are in order of {', '.join(sorted_by)}, and stay so: who knows that can tell a row by its "
            "place; shuffle the rows of the table first"
        )
    for message in found:
        warnings.warn(message, PrivacyWarning, stacklevel=3)
    return found


class _Swapped(NamedTuple):
    """Codes after swapping and numbers of candidates, column by column; groups where there are any."""

    codes: list[NDArray[np.uint32]]
    candidates: list[NDArray[np.uint64]]
    groups: NDArray[np.uint32] | None = None


def _swap(columns: list[Any], request: Request, k: int, report: Callable[[int, int], object] | None) -> _Swapped:
    seed = request.seed
    if request.method != "records":
        found = [_swap_alone(column, request.method, k, seed, i, report) for i, column in enumerate(columns)]
        return _Swapped([codes for codes, _ in found], [candidates for _, candidates in found])
    codes, distances, missing = map(list, zip(*(column.extended for column in columns), strict=True))
    if request.strict:
        after, groups = _core.swap_strict(codes, distances, k, request.draw == "joint", request.anneal, seed, report)
        sizes = np.bincount(groups)
        candidates = [np.bincount(sizes, sizes).astype(np.uint64)] * len(after)
        return _Swapped([_restored(*pair) for pair in zip(after, missing, strict=True)], candidates, groups)
    found = _core.swap_records(codes, distances, missing, k, seed, report)
    after = [_restored(new, gap) for (new, _), gap in zip(found, missing, strict=True)]
    return _Swapped(after, [candidates for _, candidates in found])


def _restored(codes: NDArray[np.uint32], missing: int | None) -> NDArray[np.uint32]:
    """Turn the category of missing values back into what is missing."""
    return codes if missing is None else np.where(codes == missing, MISSING, codes)


def _swap_alone(
    column: Any, method: Method, k: int, seed: int | None, stream: int, report: Callable[[int, int], object] | None
) -> tuple[NDArray[np.uint32], NDArray[np.uint64]]:
    codes, counts = column.column.codes, column.column.counts
    if method == "fixed":
        return _core.swap_fixed(codes, counts, column.distances, k, seed, stream, report)
    if method == "dynamic":
        return _core.swap_dynamic(codes, counts, column.distances, k, seed, stream, report)
    if method == "random":
        return _core.swap_random(codes, seed, stream, report)
    if method == "distributional":
        ranks = _core.ranks_by_frequency(counts)
    else:
        ranks = np.arange(column.categories, dtype=np.uint32)
    return _core.swap_ranked(codes, ranks, k, seed, stream, report)
