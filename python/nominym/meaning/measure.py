"""The semantic distances, their formulas and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import NamedTuple

from nominym.error import ParameterError


class MeasureInfo(NamedTuple):
    """What is to be known about a measure."""

    formula: str
    """The distance of two concepts (notation: ``MEASURES``)."""
    range: str
    normalized: bool
    """Whether every distance lies in [0, 1]."""
    origin: str
    """How the published measure becomes a distance, with its equation in the thesis and its source."""


MEASURES: dict[str, MeasureInfo] = {
    "wu-palmer": MeasureInfo("s / (2·depth(L) + s)", "[0, 1)", True, "1 − similarity (4.6, 6.1); Wu and Palmer 1994"),
    "path": MeasureInfo("p", "0 … 2(D−1)", False, "a distance as published (4.3); Rada et al. 1989"),
    "leacock-chodorow": MeasureInfo(
        "ln(p+1) / ln(2D)", "[0, 1)", True, "1 − sim/sim(a,a) (4.4, 4.5); Leacock and Chodorow 1998"
    ),
    "taxonomic-feature": MeasureInfo(
        "log2(1 + (u−i)/u)", "[0, 1)", True, "a distance as published (4.10); Sánchez et al. 2012"
    ),
    "resnik": MeasureInfo(
        "1 − IC(L)/max IC, 0 for a = b",
        "[0, 1]",
        True,
        "1 − sim/max IC, identity imposed (4.12); Resnik 1995",
    ),
    "lin": MeasureInfo("1 − 2·IC(L)/(IC(a)+IC(b))", "[0, 1]", True, "1 − similarity (4.13); Lin 1998"),
    "jiang-conrath": MeasureInfo(
        "IC(a) + IC(b) − 2·IC(L)",
        "0 … 2·max IC",
        False,
        "a distance as published (4.14); Jiang and Conrath 1997",
    ),
}
"""All measures by name.

``L`` is the common subsumer of ``a`` and ``b`` with the greatest depth (ties: smallest path sum, then id), ``s`` the
links from both up to ``L``, ``p`` the links on the shortest path over any common subsumer, ``D`` the greatest depth
in the taxonomy, ``u`` and ``i`` the number of subsumers of either and of both (each concept subsumes itself).
"""

CONTENTS: dict[str, str] = {
    "seco": "1 − ln(hyponyms+1)/ln(concepts) (4.15); Seco, Veale and Hayes 2004",
    "zhou": "k·seco + (1−k)·ln(depth)/ln(D) (4.16); Zhou, Wang and Gu 2008",
    "sanchez": "−ln((leaves/subsumers + 1)/(all leaves + 1)) (4.17); Sánchez, Batet and Isern 2011",
}
"""Information content from the structure of a taxonomy, by name; counts of use give equation 4.11."""

_CONTENT_MEASURES = ("resnik", "lin", "jiang-conrath")


@dataclass(frozen=True)
class Measure:
    """A semantic distance. A plain name stands for the measure with its defaults.

    Measures of information content take ``ic``: one of ``CONTENTS``, or how often each concept is used (by id; a use
    counts for all subsumers too). ``k`` weighs hyponyms against depth in Zhou's content.

    >>> Measure("lin", ic="sanchez").name
    'lin'
    >>> Measure("wupalmer")
    Traceback (most recent call last):
    nominym.error.ParameterError: there is no measure 'wupalmer'; there are wu-palmer, path, leacock-chodorow, \
taxonomic-feature, resnik, lin, jiang-conrath
    """

    name: str = "wu-palmer"
    ic: str | Mapping[str, float] = field(default="seco", hash=False)
    k: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if not isinstance(self.name, str) or self.name not in MEASURES:
            raise ParameterError(f"there is no measure {self.name!r}; there are {', '.join(MEASURES)}")
        if isinstance(self.ic, str) and self.ic not in CONTENTS:
            raise ParameterError(
                f"there is no information content {self.ic!r}; there are {', '.join(CONTENTS)}, or give counts by id"
            )
        if not isinstance(self.ic, str | Mapping):
            raise ParameterError(f"ic={self.ic!r}: give {', '.join(CONTENTS)}, or counts by id")
        for name, count in self.ic.items() if isinstance(self.ic, Mapping) else ():
            if not isinstance(count, Real) or not 0 <= count < float("inf"):
                raise ParameterError(f"ic: the count of {name!r} is {count!r}; counts are numbers ≥ 0")
        if not isinstance(self.k, Real) or not 0 <= self.k <= 1:
            raise ParameterError(f"k={self.k}: the weight in Zhou's information content lies in [0, 1]")
        if not self.needs_content and (self.ic != "seco" or self.k != 0.5):
            raise ParameterError(f"measure {self.name!r} does not use information content: leave ic and k out")

    def params(self) -> dict[str, object]:
        """List what defines the measure, for the record of a result; counts of use are not repeated."""
        if not self.needs_content:
            return {"measure": self.name}
        ic = self.ic if isinstance(self.ic, str) else "counts"
        return {"measure": self.name, "ic": ic} | ({"ic_k": self.k} if ic == "zhou" else {})

    @property
    def info(self) -> MeasureInfo:
        """Formula, range and source."""
        return MEASURES[self.name]

    @property
    def needs_content(self) -> bool:
        """Whether the measure is built on information content."""
        return self.name in _CONTENT_MEASURES


def as_measure(measure: str | Measure) -> Measure:
    """Turn a name into a measure."""
    return measure if isinstance(measure, Measure) else Measure(measure)


def shortest(measure: str | Measure) -> str | Measure:
    """Return the name of a measure where it says all, so that measures which are the same compare so.

    >>> shortest(Measure("lin")), shortest(Measure("lin", ic="sanchez"))
    ('lin', Measure(name='lin', ic='sanchez', k=0.5))
    """
    given = as_measure(measure)
    return given.name if given == Measure(given.name) else given
