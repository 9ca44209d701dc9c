"""What a caller asked of rank swapping, checked before anything is done."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

from nominym.error import DataError, ParameterError
from nominym.frame import Missing, check_missing
from nominym.rng import check_seed, is_whole

Method = Literal["fixed", "dynamic", "records", "random", "distributional", "numerical"]
Guarantee = Literal["published", "strict"]
Draw = Literal["independent", "joint"]

_ALONG_A_RANKING = ("fixed", "distributional", "numerical")


@dataclass(frozen=True)
class Request:
    """The arguments of a call that do not depend on the data."""

    method: Method
    guarantee: Guarantee
    k: int | None
    p: float | None
    draw: Draw
    anneal: bool
    missing: Missing
    seed: int | None

    def __post_init__(self) -> None:
        """Refuse what has no meaning, or two meanings."""
        for name, kind in (("method", Method), ("guarantee", Guarantee), ("draw", Draw)):
            if getattr(self, name) not in get_args(kind):
                raise ParameterError(f"{name}={getattr(self, name)!r}: give {', '.join(map(repr, get_args(kind)))}")
        check_missing(self.missing)
        check_seed(self.seed)
        if self.strict and self.method != "records":
            raise ParameterError(f"method={self.method!r}: guarantee='strict' groups whole records; leave method out")
        if not self.strict and (self.draw != "independent" or self.anneal):
            raise ParameterError("draw= and anneal= have a meaning with guarantee='strict' only")
        self._check_reach()

    def _check_reach(self) -> None:
        if self.k is not None and self.p is not None:
            raise ParameterError(f"k={self.k!r} and p={self.p!r}: give k (records) or p (percent), not both")
        if self.p is not None:
            if self.method not in _ALONG_A_RANKING:
                allowed = ", ".join(_ALONG_A_RANKING)
                raise ParameterError(f"p={self.p!r}: method={self.method!r} takes k; p goes with {allowed}")
            if not isinstance(self.p, Real) or isinstance(self.p, bool) or not 0 < self.p <= 100:
                raise ParameterError(f"p={self.p!r}: give a percentage above 0 and up to 100")
        elif self.k is None:
            if self.method != "random":
                raise ParameterError(f"method={self.method!r} needs k, the number of candidates a value is to have")
        elif not is_whole(self.k) or self.k < 1:
            raise ParameterError(f"k={self.k!r}: give a whole number, 1 or more")
        if self.strict and self.k == 1:
            raise ParameterError("k=1: a group of one record protects nobody; give 2 or more")

    @property
    def strict(self) -> bool:
        """Whether the promise is to be kept."""
        return self.guarantee == "strict"

    def reach(self, records: int) -> int:
        """Give the number of candidates wanted, for a table of so many records."""
        if self.strict and self.k is not None and records < self.k:
            raise DataError(
                f"{records:,} records cannot make a group of k={self.k:,}; give a smaller k or more records"
            )
        if self.p is not None:
            return max(1, int(records * self.p / 100))
        # More candidates than records are not to be had.
        return min(operator.index(self.k), max(records, 1)) if self.k is not None else 1

    def params(self) -> dict[str, Any]:
        """List what was asked, leaving out what plays no part."""
        k, seed = (None if x is None else operator.index(x) for x in (self.k, self.seed))
        given: dict[str, Any] = {"method": self.method, "guarantee": self.guarantee, "k": k, "p": self.p}
        if self.strict:
            given |= {"draw": self.draw, "anneal": self.anneal}
        given |= {"missing": self.missing, "seed": seed}
        return {name: value for name, value in given.items() if value is not None}
