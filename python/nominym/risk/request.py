"""What a caller asked of an attack, checked before anything is done; and the sample of those who are attacked."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from nominym import _core
from nominym.error import DataError, ParameterError
from nominym.rng import check_seed, is_whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

Sample: TypeAlias = Literal["auto"] | int | None
"""What ``sample=`` takes: "auto", a number of records, or None for all."""


@dataclass(frozen=True)
class Request:
    """The arguments of an attack that do not depend on the data."""

    k: int | None
    sample: Sample
    seed: int | None

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.k is not None and not (is_whole(self.k) and self.k >= 1):
            raise ParameterError(f"k={self.k!r}: give a whole number, 1 or more, or None")
        sample = self.sample
        if not (sample is None or (isinstance(sample, str) and sample == "auto")) and not (
            is_whole(sample) and operator.index(sample) >= 1
        ):
            raise ParameterError(f"sample={sample!r}: give 'auto', a number of records, or None for all of them")
        check_seed(self.seed)

    @property
    def bound(self) -> float | None:
        """The largest share that k allows."""
        return None if self.k is None else 1 / operator.index(self.k)

    def draw(self, n: int, all_up_to: int, otherwise: int) -> NDArray[np.uint32] | None:
        """Draw who is attacked, ascending; None for everybody.

        "auto" takes all up to a number of records, and a sample of a fixed size of more.
        """
        if self.sample is None:
            return None
        automatic = n if n <= all_up_to else otherwise
        size = automatic if isinstance(self.sample, str) else operator.index(self.sample)
        return None if size >= n else _core.draw_sample(n, size, self.seed)


def check_truth(truth: Any, records: int, rows: int) -> NDArray[np.uint32]:
    """Check the row of each record, or take the row of the same number where no rows are given."""
    if truth is None:
        if records != rows:
            raise DataError(
                f"{records:,} records before and {rows:,} rows after; row i has to be the release of record i, or give "
                "truth=, the row of each record"
            )
        return np.arange(records, dtype=np.uint32)
    given = np.asarray(truth)
    if given.shape != (records,) or given.dtype.kind not in "iu":
        raise ParameterError(
            f"truth: one row number for each of the {records:,} records is needed, not {given.dtype} of shape "
            f"{given.shape}; leave out of before the records that are not in the release"
        )
    wrong = (given < 0) | (given >= rows)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ParameterError(f"truth: record {first} has row {given[first]}, but rows go from 0 to {rows - 1:,}")
    times = np.bincount(given, minlength=rows)
    if times.max() > 1:
        row = int(times.argmax())
        raise ParameterError(f"truth: row {row} belongs to {times[row]:,} records; each record has a row of its own")
    return given.astype(np.uint32)
