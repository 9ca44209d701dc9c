"""Categorical data swapping: pairs of records exchange the values of some columns, whatever these mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import DataError
from nominym.frame import MISSING, Column, Missing, Table, by_name
from nominym.memory import require
from nominym.result import Result
from nominym.swap.data_request import Mode, Request, names

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SwapPairs:
    """What only the owner of the data may know."""

    pairs: dict[tuple[Any, ...], NDArray[np.uint32]]
    """By the columns that were swapped together, the row numbers of the pairs, one pair a row."""


def data_swap(
    frame: Any,
    columns: Any,
    rate: float = 0.05,
    *,
    equal: Any = (),
    unequal: Any = (),
    true_swaps: bool = False,
    mode: Mode = "simultaneous",
    strict_rate: bool = False,
    seed: int | None = None,
    missing: Missing = "keep",
    progress: Progress = None,
) -> Result:
    """Let random pairs of records exchange their values of some columns.

    >>> import nominym as nym
    >>> frame, _ = nym.datasets.discharges(1_000, seed=1)
    >>> res = nym.data_swap(frame, ["diagnosis"], rate=0.1, equal=["sex"], true_swaps=True, seed=1)
    >>> res.summary["pairs"], res.summary["true"], res.summary["achieved_rate"]
    (50, 50, 0.1)
    >>> sorted(res.data["diagnosis"]) == sorted(frame["diagnosis"])
    True

    Parameters
    ----------
    frame
        A pandas or polars frame, an Arrow table or a mapping of columns. It is not changed.
    columns
        The columns to swap: a list of names, or one name.
    rate
        Share of the records that are in a pair: 2 · pairs / records. No record is in two pairs.
    equal, unequal
        Columns in which the two records of a pair must agree, and columns in each of which they must differ.
    true_swaps
        Draw only pairs whose values differ in the swapped columns, so that every swap changes both records.
    mode
        "simultaneous": a pair exchanges all columns together, and what holds among them is kept. "sequential": column
        after column, each with pairs of its own.
    strict_rate
        Raise if there are too few feasible pairs for the rate, instead of swapping as many as there are.
    seed
        For studies: the same seed gives the same result. Without it, randomness is cryptographic.
    missing
        "keep" or "error". A missing value is a value of its own: it moves like any other, agrees with missing values
        only, and differs from all others.
    progress
        ``True`` for a bar, or a callable of (done, total).

    Returns
    -------
    Result
        ``data``, ``params`` and ``summary``: numbers of ``pairs``, of ``true`` swaps (the values differed), ``false``
        ones, and ``compensating`` ones (true, but both records agree in all other columns of the table, so that the
        frequencies of whole records stay), of ``infeasible`` records that no record could be paired with, the
        ``achieved_rate``; by column the share ``unchanged``. ``steps`` has the same for each drawing of pairs.
        ``secret.pairs`` is for the owner only.

    Each pair is drawn uniformly among all feasible pairs of the records that are left.

    Gomatam and Karr (2003), Distortion measures for categorical data swapping, NISS technical report 131; Dalenius and
    Reiss (1982), Data-swapping: a technique for disclosure control, Journal of Statistical Planning and Inference 6.
    """
    check_progress(progress)
    table = Table(frame)
    asked = (names(given, argument, table) for given, argument in
             ((columns, "columns"), (equal, "equal"), (unequal, "unequal")))  # fmt: skip
    swap, same, other = asked
    request = Request(swap, rate, same, other, true_swaps, mode, strict_rate, missing, seed)
    table.check_lengths()
    records = len(table.values(swap[0]))
    wanted = request.pairs(records)
    coded = {name: by_name(table.code(name, missing)) for name in (*swap, *same, *other)}
    keys = len(other) + true_swaps
    if keys > 1:
        told_apart = [coded[name] for name in (*same, *other, *(swap if true_swaps else ()))]
        tuples = min(records, math.prod(len(column.categories) + bool(column.missing) for column in told_apart))
        size = 8 * tuples * 2**keys + (16 * keys + 20) * records
        require(size, f"counting what differs in {keys} keys", "give fewer columns to unequal")
    after = {name: coded[name].codes for name in swap}
    steps, pairs = [], {}
    for stream, together in enumerate(request.steps):
        with reporter(progress, "data swapping") as report:
            drawn = _draw(coded, request, together, wanted, stream, report)
        if strict_rate and len(drawn.first) < wanted:
            raise DataError(
                f"column {', '.join(map(repr, together))}: {wanted:,} pairs are wanted for rate={rate!r}, but only "
                f"{len(drawn.first):,} could be made ({drawn.alone:,} records have no feasible partner); give a lower "
                "rate or fewer constraints, or leave strict_rate out to swap what can be"
            )
        steps.append(_achieved(table, after, together, drawn, records))
        for name in together:
            after[name] = _exchanged(after[name], drawn.first, drawn.second)
        pairs[together] = np.column_stack([drawn.first, drawn.second])
    changes = {name: Column(codes, coded[name].categories) for name, codes in after.items()}
    data = table.replace(changes, moved=True)
    summary = {
        "records": records,
        "wanted": wanted,
        **{figure: sum(step[figure] for step in steps) for figure in ("pairs", "true", "false", "compensating")},
        "infeasible": max(step["infeasible"] for step in steps),
        "achieved_rate": min(step["achieved_rate"] for step in steps),
        "attributes": {name: _of_column(coded[name], after[name]) for name in swap},
        "steps": steps,
        "notes": _notes(steps, wanted, true_swaps),
    }
    return Result(data, {**request.params(), "version": _core.__version__}, summary, SwapPairs(pairs))


class _Drawn(NamedTuple):
    """First and second record of each pair, and what they were drawn from."""

    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    feasible: int
    alone: int


def _draw(
    coded: dict[Any, Column], request: Request, together: tuple[Any, ...], wanted: int, stream: int, report: Any
) -> _Drawn:
    def given(names: tuple[Any, ...]) -> list[tuple[NDArray[np.uint32], int]]:
        return [(coded[name].codes, len(coded[name].categories)) for name in names]

    different = [[column] for column in given(request.unequal)]
    if request.true_swaps:
        different.append(given(together))
    records = len(coded[together[0]])
    return _Drawn(*_core.draw_pairs(records, given(request.equal), different, wanted, request.seed, stream, report))


def _exchanged(codes: NDArray[np.uint32], first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.uint32]:
    after = codes.copy()
    after[first], after[second] = codes[second], codes[first]
    return after


def _achieved(
    table: Table, now: dict[Any, NDArray[np.uint32]], together: tuple[Any, ...], drawn: _Drawn, records: int
) -> dict[str, Any]:
    """Tell what a drawing of pairs comes to. ``now`` has the swapped columns as they stand before it."""
    first, second, pairs = drawn.first, drawn.second, len(drawn.first)
    true = np.zeros(pairs, dtype=bool)
    for name in together:
        true |= now[name][first] != now[name][second]
    compensating = true.copy()
    rows = np.concatenate([first, second])
    for name in table.names:
        if name in now and name not in together:
            compensating &= now[name][first] == now[name][second]
        elif name not in now and compensating.any():
            codes = table.distinct(name, rows)
            compensating &= codes[:pairs] == codes[pairs:]
    return {
        "columns": list(together),
        "pairs": pairs,
        "true": int(true.sum()),
        "false": int(pairs - true.sum()),
        "compensating": int(compensating.sum()),
        "infeasible": drawn.alone,
        "feasible_pairs": drawn.feasible,
        "achieved_rate": 2 * pairs / records,
    }


def _of_column(before: Column, after: NDArray[np.uint32]) -> dict[str, Any]:
    same = before.codes == after
    return {
        "unchanged": float(same.mean()),
        "categories": len(before.categories),
        "missing": before.missing,
        "missing_moved": int(((before.codes == MISSING) & ~same).sum()),
    }


def _notes(steps: list[dict[str, Any]], wanted: int, true_swaps: bool) -> list[str]:
    """Say in words what a reader of the figures should not miss."""
    found = []
    for step in steps:
        of = ", ".join(map(str, step["columns"]))
        if step["pairs"] < wanted:
            found.append(
                f"{of}: {step['pairs']:,} of {wanted:,} pairs; no feasible pair was left. The rate is "
                f"{step['achieved_rate']:.3g}"
            )
        if not true_swaps and step["false"] > step["pairs"] / 2:
            found.append(
                f"{of}: {step['false']:,} of {step['pairs']:,} swaps exchanged equal values and changed nothing; "
                "true_swaps=True draws none of these"
            )
    return found
