"""Categorical data swapping: pairs of records exchange the values of some columns, whatever their meaning."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, check_seed, reporter, require
from nominym.error import Advice, DataError, ParameterError
from nominym.meaning import Equality, Meaning, is_sequence, to_list
from nominym.method import Method, Result, described, finish, source_of
from nominym.options import DataSwapOptions, Mode
from nominym.table import MISSING, Attribute, Change, Column, Missing, Table, attributes, column_names

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_KEYS = 8
"""Largest number of keys in which the records of a pair must differ; the work doubles with each."""


@dataclass(frozen=True, repr=False)
class DataSwap(DataSwapOptions, Method):
    """Data swapping and its options, which ``data_swap`` explains.

    >>> import nominym as nym
    >>> nym.DataSwap(rate=0.1, equal=["sex"])
    DataSwap(rate=0.1, equal=('sex',))
    """

    def __post_init__(self) -> None:
        """Check the options and their combination."""
        for name in ("equal", "unequal"):
            given = getattr(self, name)
            # A single name may be a tuple, so it is told from several only beside the columns of a table.
            several = (given,) if isinstance(given, str) else tuple(to_list(given)) if is_sequence(given) else given
            object.__setattr__(self, name, several)
        self.check_accept()
        self.check_options()
        if self.rate > 1:
            percent = f"; for {float(self.rate):g} % give {float(self.rate) / 100:g}" if self.rate <= 100 else ""
            raise ParameterError(
                f"give the share of records to swap, a number above 0 and up to 1{percent}",
                parameter="rate",
                value=self.rate,
            )

    def params(self) -> dict[str, Any]:
        """Return the options, for the record of a result."""
        return {**super().params(), "rate": float(self.rate)}

    def apply(self, frame: Any, meanings: Any, seed: int | None = None, progress: Progress = None) -> Result:
        """Mask some columns: a list of names, or a mapping from names to meanings; the input frame is not changed."""
        check_progress(progress)
        check_seed(seed)
        table, warned = source_of(frame, strict=False)
        columns = self._columns(table, meanings)
        before = attributes(table, columns, missing=self.missing, progress=progress)
        same, other = (tuple(column_names(getattr(self, name), table.names, name)) for name in ("equal", "unequal"))
        self._check_parts(before, same, other)
        wanted = self._pairs(len(table))
        _require_memory(table, before, same, other, self.true_swaps)
        now = {name: attribute.column.codes for name, attribute in before.items()}
        steps, pairs = [], {}
        for step, together in enumerate([tuple(before)] if self.mode == "simultaneous" else [(n,) for n in before]):
            different = [[_coded(table.column(name))] for name in other]
            if self.true_swaps:
                different.append([_coded(before[name].column) for name in together])
            with reporter(progress, "data swapping") as report:
                drawn = _Drawn(*_core.draw_pairs(
                    len(table), [_coded(table.column(name)) for name in same], different, wanted, seed, step, report
                ))  # fmt: skip
            if self.strict_rate and len(drawn.first) < wanted:
                raise DataError(
                    f"{wanted:,} pairs are wanted for a rate of {self.rate!r}, but only {len(drawn.first):,} could be "
                    f"made ({drawn.alone:,} records have no feasible partner)",
                    column=together[0] if len(together) == 1 else ", ".join(map(str, together)),
                    remedy=Advice("give a lower rate or fewer constraints, or leave out {} to swap as many as possible",
                                  strict_rate=True),
                )  # fmt: skip
            steps.append(_achieved(table, now, together, drawn))
            for name in together:
                now[name] = _exchanged(now[name], drawn.first, drawn.second)
            pairs[together] = np.column_stack([drawn.first, drawn.second])
        return self._result(table, before, now, wanted, steps, pairs, warned, seed)

    def _columns(self, table: Table, given: Any) -> dict[Any, Meaning]:
        if isinstance(given, Mapping) and all(isinstance(meaning, Meaning) for meaning in given.values()):
            columns: dict[Any, Meaning] = dict(given)
        else:
            columns = dict.fromkeys(column_names(given, table.names), Equality())
        if not columns:
            raise ParameterError("name at least one column to swap", parameter="columns")
        return columns

    def _check_parts(self, columns: Mapping[Any, Any], same: tuple[Any, ...], other: tuple[Any, ...]) -> None:
        part: dict[Any, str] = {}
        for name, listed in (("columns", columns), ("equal", same), ("unequal", other)):
            for column in listed:
                if column in part:
                    raise ParameterError(
                        f"column {column!r} is in both {part[column]} and {name}; a column has one role"
                    )
                part[column] = name
        if len(other) + self.true_swaps > MOST_KEYS:
            most = MOST_KEYS - self.true_swaps
            raise ParameterError(
                f"{len(other)} columns, but {most} is the most{' with true_swaps=True' if self.true_swaps else ''}",
                parameter="unequal",
                remedy="leave out those that differ anyway",
            )

    def _pairs(self, records: int) -> int:
        """Return the number of pairs for a number of records: the most that do not exceed the rate."""
        if records < 2:
            raise DataError(f"a swap needs two records, but the table has {records}")
        # A rate such as 0.29 of 200 records is 57.99999… in floating point.
        pairs = min(int(float(self.rate) * records / 2 * (1 + 1e-12)), records // 2)
        if pairs == 0:
            # Two digits, rounded up: a little less would still be no pair.
            digits = 10 ** (1 - math.floor(math.log10(2 / records)))
            least = math.ceil(2 / records * digits) / digits
            fault = f"less than one pair of {records:,} records; give {least:.2g} or more"
            raise DataError(fault, parameter="rate", value=self.rate)
        return pairs

    def _result(
        self,
        table: Table,
        before: Mapping[Any, Attribute],
        after: Mapping[Any, NDArray[np.uint32]],
        wanted: int,
        steps: list[dict[str, Any]],
        pairs: dict[tuple[Any, ...], NDArray[np.uint32]],
        notes: list[str],
        seed: int | None,
    ) -> Result:
        changes = {name: Change(old, old.with_codes(after[name])) for name, old in before.items()}
        public = described(changes)
        summary = {"records": len(table), "wanted": wanted, "attributes": public, "notes": [*notes, _NO_GUARANTEE]}

        def measure() -> dict[str, Any]:
            return {
                **{name: sum(step[name] for step in steps) for name in ("pairs", "true", "false", "compensating")},
                "infeasible": max(step["infeasible"] for step in steps),
                "achieved_rate": min(step["achieved_rate"] for step in steps),
                "attributes": {
                    name: {**public[name], **_realised(old.column, after[name])} for name, old in before.items()
                },
                "steps": steps,
                "notes": [*notes, *_seen(steps, wanted, self.true_swaps)],
            }

        return finish(self, table, changes, summary, measure, seed, moved=True, pairs=pairs)


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
    missing: Missing = "keep",
    accept: Any = (),
    seed: int | None = None,
    progress: Progress = None,
) -> Result:
    """Exchange the values of some columns between random pairs of records.

    >>> import nominym as nym
    >>> frame, _ = nym.datasets.discharges(1_000, seed=1)
    >>> res = nym.data_swap(frame, ["diagnosis"], rate=0.1, equal=["sex"], true_swaps=True, seed=1)
    >>> realised = res.secret.summary
    >>> realised["pairs"], realised["true"], realised["achieved_rate"]
    (50, 50, 0.1)
    >>> sorted(res.data["diagnosis"]) == sorted(frame["diagnosis"])
    True

    Parameters
    ----------
    frame
        A pandas or polars frame, an Arrow table or stream, or a mapping of columns. It is not changed.
    columns
        The columns to swap: a list of names, one name, or a mapping from names to meanings, by which distances are
        measured afterwards.
    rate
        Share of the records in a pair: 2 · pairs / records. No record is in two pairs.
    equal, unequal
        Columns in which the two records of a pair must agree, and columns in each of which they must differ.
    true_swaps
        Draw only pairs whose values differ in the swapped columns, so that every swap changes both records.
    mode
        "simultaneous": a pair exchanges all columns together, which preserves the associations among them.
        "sequential": column after column, each with its own pairs.
    strict_rate
        Raise if there are too few feasible pairs for the rate, instead of swapping as many as possible.
    missing
        "keep" or "error". A missing value is a value of its own: it moves like any other, agrees with missing values
        only, and differs from all others.
    accept
        Kept columns that ``publish`` accepts although they are nearly unique or predict a masked column.
    seed, progress
        A seed is for studies; without it, randomness is cryptographic. ``True`` for a bar, or a callable (done, total).

    Returns
    -------
    Result
        The owner's ``secret.summary`` has the numbers of ``pairs``, of ``true`` swaps (the values differed), ``false``
        ones, and ``compensating`` ones (true, but both records agree in all other columns of the table, so that the
        frequencies of whole records stay), of ``infeasible`` records without a possible partner, the ``achieved_rate``;
        and by column the share ``unchanged``. ``steps`` has the same for each drawing of pairs. ``secret.pairs`` has
        the pairs.

    Each pair is drawn uniformly among all feasible pairs of the remaining records.

    Gomatam and Karr (2003), Distortion measures for categorical data swapping, NISS technical report 131; Dalenius and
    Reiss (1982), Data-swapping: a technique for disclosure control, Journal of Statistical Planning and Inference 6.
    """
    chosen = DataSwap(rate, equal, unequal, true_swaps, mode, strict_rate, missing, accept)
    return chosen.apply(frame, columns, seed, progress)


_NO_GUARANTEE = "data swapping gives no guarantee; the measured risk of this release is for its owner"


class _Drawn(NamedTuple):
    """First and second record of each pair, and what they were drawn from."""

    first: NDArray[np.uint32]
    second: NDArray[np.uint32]
    feasible: int
    alone: int


def _coded(column: Column) -> tuple[NDArray[np.uint32], int]:
    return column.codes, len(column.categories)


def _require_memory(
    table: Table, before: Mapping[Any, Attribute], same: tuple[Any, ...], other: tuple[Any, ...], true_swaps: bool
) -> None:
    keys, records = len(other) + true_swaps, len(table)
    if keys > 1:
        told_apart = [table.column(name) for name in (*same, *other, *(before if true_swaps else ()))]
        tuples = min(records, math.prod(len(column.categories) + bool(column.missing) for column in told_apart))
        size = 8 * tuples * 2**keys + (16 * keys + 20) * records
        require(size, f"counting what differs in {keys} keys", "give fewer columns to unequal")


def _exchanged(codes: NDArray[np.uint32], first: NDArray[np.uint32], second: NDArray[np.uint32]) -> NDArray[np.uint32]:
    after = codes.copy()
    after[first], after[second] = codes[second], codes[first]
    return after


def _achieved(
    table: Table, now: Mapping[Any, NDArray[np.uint32]], together: tuple[Any, ...], drawn: _Drawn
) -> dict[str, Any]:
    """Return the outcome of a drawing of pairs. ``now`` has the swapped columns before it."""
    first, second, pairs = drawn.first, drawn.second, len(drawn.first)
    true = np.zeros(pairs, dtype=bool)
    for name in together:
        true |= now[name][first] != now[name][second]
    compensating = true.copy()
    for name in table.names:
        if name not in together and compensating.any():
            codes = now[name] if name in now else table.column(name).codes
            compensating &= codes[first] == codes[second]
    return {
        "columns": list(together),
        "pairs": pairs,
        "true": int(true.sum()),
        "false": int(pairs - true.sum()),
        "compensating": int(compensating.sum()),
        "infeasible": drawn.alone,
        "feasible_pairs": drawn.feasible,
        "achieved_rate": 2 * pairs / len(table),
    }


def _realised(before: Column, after: NDArray[np.uint32]) -> dict[str, Any]:
    same = before.codes == after
    return {"unchanged": float(same.mean()), "missing_moved": int(((before.codes == MISSING) & ~same).sum())}


def _seen(steps: list[dict[str, Any]], wanted: int, true_swaps: bool) -> list[str]:
    """Return notes that an owner who reads the figures should not miss."""
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
                f"true_swaps=True avoids these"
            )
    return found
