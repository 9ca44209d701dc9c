"""What a caller asked of data swapping, checked before anything is done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

from nominym.error import DataError, ParameterError
from nominym.frame import Missing, Table, check_missing, column_names, is_frame
from nominym.rng import check_seed

Mode = Literal["simultaneous", "sequential"]

MOST_KEYS = 8
"""Keys in which the records of a pair can be told to differ; the work doubles with each."""


@dataclass(frozen=True)
class Request:
    """The arguments of a call."""

    columns: tuple[Any, ...]
    rate: float
    equal: tuple[Any, ...]
    unequal: tuple[Any, ...]
    true_swaps: bool
    mode: Mode
    strict_rate: bool
    missing: Missing
    seed: int | None

    def __post_init__(self) -> None:
        """Refuse what has no meaning, or two meanings."""
        if self.mode not in get_args(Mode):
            raise ParameterError(f"mode={self.mode!r}: give {', '.join(map(repr, get_args(Mode)))}")
        for name in ("true_swaps", "strict_rate"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name}={getattr(self, name)!r}: give True or False")
        check_missing(self.missing)
        check_seed(self.seed)
        rate = self.rate
        if not isinstance(rate, Real) or isinstance(rate, bool) or not 0 < rate <= 1:
            percent = ""
            if isinstance(rate, Real) and not isinstance(rate, bool) and 1 < rate <= 100:
                percent = f"; for {float(rate):g} % give {float(rate) / 100:g}"
            raise ParameterError(
                f"rate={rate!r}: give the share of records to swap, a number above 0 and up to 1{percent}"
            )
        if not self.columns:
            raise ParameterError("columns: name one column to swap at least")
        self._check_roles()
        if len(self.unequal) + self.true_swaps > MOST_KEYS:
            most = MOST_KEYS - self.true_swaps
            raise ParameterError(
                f"unequal: {len(self.unequal)} columns, but {most} is the most"
                f"{' with true_swaps=True' if self.true_swaps else ''}; leave out those that differ anyway"
            )

    def _check_roles(self) -> None:
        role: dict[Any, str] = {}
        for name in ("columns", "equal", "unequal"):
            for column in getattr(self, name):
                if column in role:
                    where = f"twice in {name}" if role[column] == name else f"in {role[column]} and in {name}"
                    raise ParameterError(f"column {column!r} stands {where}; a column has one part to play")
                role[column] = name

    @property
    def steps(self) -> list[tuple[Any, ...]]:
        """The columns that are swapped together, one drawing of pairs after another."""
        return [self.columns] if self.mode == "simultaneous" else [(column,) for column in self.columns]

    def pairs(self, records: int) -> int:
        """Give the number of pairs wanted of so many records: the most that do not exceed the rate."""
        if records < 2:
            raise DataError(f"a swap takes two records, but the table has {records}")
        # A rate such as 0.29 of 200 records is 57.99999… in floating point.
        pairs = min(int(float(self.rate) * records / 2 * (1 + 1e-12)), records // 2)
        if pairs == 0:
            # Two digits, rounded up: a little less would still be no pair.
            digits = 10 ** (1 - math.floor(math.log10(2 / records)))
            least = math.ceil(2 / records * digits) / digits
            raise DataError(
                f"rate={self.rate!r} of {records:,} records is less than one pair; give {least:.2g} or more"
            )
        return pairs

    def params(self) -> dict[str, Any]:
        """List what was asked, leaving out what plays no part."""
        given = {
            "columns": list(self.columns),
            "rate": float(self.rate),
            "equal": list(self.equal),
            "unequal": list(self.unequal),
            "true_swaps": self.true_swaps,
            "mode": self.mode,
            "strict_rate": self.strict_rate,
            "missing": self.missing,
        }
        return given if self.seed is None else {**given, "seed": self.seed}


def names(given: Any, argument: str, table: Table) -> tuple[Any, ...]:
    """Read names of columns: a list of them, or a single one; all must be there."""
    if is_frame(given):
        raise ParameterError(f"{argument}: a list of column names is needed; data swapping takes no taxonomies")
    listed = tuple(column_names(given, table.names))
    for name in listed:
        table.values(name)
    return listed
