"""What a caller asked of semantic noise, checked before anything is done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

from nominym.error import ParameterError
from nominym.taxonomy.measure import Measure

Method = Literal["semantic", "exponential", "naive", "probabilistic"]
Reference = Literal["mean", "pair", "root"]
Law = Literal["normal", "laplace"]


@dataclass(frozen=True)
class Request:
    """The arguments of a call that do not depend on the data."""

    method: Method
    alpha: float | None
    epsilon: float | None
    correlated: bool
    reference: Reference
    law: Law
    measure: Measure

    def __post_init__(self) -> None:
        """Refuse what has no meaning, or two meanings."""
        for name, kind in (("method", Method), ("reference", Reference), ("law", Law)):
            if getattr(self, name) not in get_args(kind):
                raise ParameterError(f"{name}={getattr(self, name)!r}: give {', '.join(map(repr, get_args(kind)))}")
        if not isinstance(self.correlated, bool):
            raise ParameterError(f"correlated={self.correlated!r}: give True or False")
        for name, method in (("alpha", "semantic"), ("epsilon", "exponential")):
            value = getattr(self, name)
            if self.method == method:
                if value is None:
                    raise ParameterError(f"method={method!r} needs {name}, the amount of noise")
                if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
                    raise ParameterError(f"{name}={value!r}: give a number above 0")
                object.__setattr__(self, name, float(value))
            elif value is not None:
                raise ParameterError(f"{name}={value!r} has a meaning with method={method!r} only")
        if self.method != "semantic" and (self.reference, self.law, self.correlated) != ("mean", "normal", True):
            raise ParameterError("reference=, law= and correlated= have a meaning with method='semantic' only")
        if self.reference == "pair" and not self.correlated:
            raise ParameterError("reference='pair' is correlated by nature: leave correlated out")
        if self.by_distance and not self.measure.info.normalized:
            raise ParameterError(
                f"measure={self.measure.name!r} ranges over {self.measure.info.range}; errors are shares of the "
                "largest distance, so a measure within [0, 1] is needed"
            )

    def params(self) -> dict[str, Any]:
        """List what was asked, leaving out what plays no part."""
        given: dict[str, Any] = {"method": self.method}
        if self.method == "semantic":
            given |= {
                "alpha": self.alpha,
                "correlated": self.correlated,
                "reference": self.reference,
                "law": self.law,
            }
        if self.method == "exponential":
            given["epsilon"] = self.epsilon
        return given | self.measure.params()

    @property
    def by_distance(self) -> bool:
        """Whether distances say how far a value moves; the baselines do not look at them."""
        return self.method in ("semantic", "exponential")
