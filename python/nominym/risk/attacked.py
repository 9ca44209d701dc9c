"""Who is attacked, and what the attack is compared with."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from nominym import _core
from nominym.control import check_seed, is_whole
from nominym.error import ParameterError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Sample: TypeAlias = Literal["auto"] | int | None
"""What ``sample=`` takes: "auto", a number of records, or None for all."""

# "auto" attacks all of so many records, and a sample of so many of more.
_ALL, _SAMPLE = 100_000, 20_000


@dataclass(frozen=True)
class Attacked:
    """The options of an attack that do not depend on the data."""

    k: int | None
    sample: Sample
    seed: int | None

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.k is not None and not (is_whole(self.k) and self.k >= 1):
            raise ParameterError("give a whole number, 1 or more, or None", parameter="k", value=self.k)
        sample = self.sample
        if not (sample is None or (isinstance(sample, str) and sample == "auto")) and not (
            is_whole(sample) and operator.index(sample) >= 1
        ):
            raise ParameterError(
                "give 'auto', a number of records, or None for all of them", parameter="sample", value=sample
            )
        check_seed(self.seed)

    @property
    def bound(self) -> float | None:
        """The largest share that k allows."""
        return None if self.k is None else 1 / operator.index(self.k)

    def rows(self, n: int) -> NDArray[np.uint32] | None:
        """Draw who is attacked, ascending; None for everybody."""
        if self.sample is None:
            return None
        automatic = n if n <= _ALL else _SAMPLE
        size = automatic if isinstance(self.sample, str) else operator.index(self.sample)
        return None if size >= n else _core.draw_sample(n, size, self.seed)
