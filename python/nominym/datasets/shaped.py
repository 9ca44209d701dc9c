"""Synthetic tables of a given shape: distances between values, association of columns, repetition of records."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from nominym.control import check_seed, require
from nominym.datasets.discharges import Discharges
from nominym.error import ParameterError
from nominym.meaning import Taxonomy

# Memory for each record at the peak, measured.
_BYTES = 100


@dataclass(frozen=True)
class Shape:
    """The values of a column: the leaves of a random tree, or of one whose concepts may have a second parent.

    Most values lie below one concept, at depth ``stem``, which has ``fan`` concepts below it; from there on concepts
    have ``branch`` concepts below them on average, down to the leaves at ``depth``. The deeper the stem, the nearer any
    two values are; the wider the fan, the less distances vary; the fewer the branches, the nearer the nearest values
    are. One value stands apart, directly below the root, so that the root is what all values have in common.

    In a tree with all leaves at one depth, what is near a value is equally far from everything else: to exchange near
    values costs next to no correlation. Large ontologies such as SNOMED CT are not like that. With ``parents``, a value
    is near some values by one parent and near others by another; with ``spread``, branches are unequally deep.
    """

    categories: int
    """Number of values."""
    depth: int
    """Depth of the leaves; the root is at depth 1."""
    stem: int
    """Depth of the concept that is above all values but one."""
    fan: int
    """Concepts directly below that one."""
    branch: float
    """Concepts directly below each further one, on average."""
    tilt: float = 1.0
    """How unequal the numbers of values below concepts of one parent are: the exponent of Zipf's law."""
    spread: int = 0
    """By how many levels, at most, the leaves below each concept of the fan are higher than ``depth``; drawn evenly."""
    parents: float = 0.0
    """Chance that a concept below those of the fan has a second parent: any concept of the level above its own, values
    among them."""

    def __post_init__(self) -> None:
        """Raise unless the numbers describe a tree."""
        for name, least in (("categories", 2), ("depth", 3), ("stem", 1), ("fan", 1), ("branch", 1), ("tilt", 0),
                            ("spread", 0), ("parents", 0)):  # fmt: skip
            if not getattr(self, name) >= least:
                raise ParameterError(f"give {least} or more", parameter=name, value=getattr(self, name))
        if self.parents > 1:
            raise ParameterError("give a chance, from 0 to 1", parameter="parents", value=self.parents)
        if self.stem > self.depth - 2:
            raise ParameterError("give a depth between that of the root and that of the leaves' parents",
                                 parameter="stem", value=self.stem)  # fmt: skip
        if self.spread > self.depth - 2 - self.stem:
            raise ParameterError("leave two levels between the stem and the highest leaves", parameter="spread",
                                 value=self.spread)  # fmt: skip

    def drawn(self, name: str, rng: np.random.Generator) -> tuple[Taxonomy, list[str]]:
        """Draw a taxonomy, and list the values, which are the leaves of its tree, from left to right."""
        leaves, links = [f"{name} apart"], [(f"{name} apart", name)]
        stem = [name, *(f"{name} {level}" for level in range(2, self.stem + 1))]
        links += list(zip(stem[1:], stem, strict=False))
        depths = np.full(self.fan, self.depth)
        if self.spread:
            depths -= rng.integers(0, self.spread + 1, self.fan)
        levels: list[list[str]] = [[] for _ in range(self.depth + 1)]
        open_: list[tuple[str, int, int, int]] = [(stem[-1], self.categories - 1, self.stem, self.depth)]
        while open_:
            above, size, level, depth = open_.pop()
            last, first = level == depth - 1, level == self.stem
            count = size if last else min(size, self.fan if first else 1 + rng.poisson(self.branch - 1))
            below = [f"{above}.{i}" for i in range(count)]
            links += [(child, above) for child in below]
            levels[level + 1] += below
            if last:
                leaves += below
                continue
            sizes = 1 + rng.multinomial(size - count, _zipf(count, self.tilt, rng))
            ends = depths.tolist() if first else [depth] * count
            open_ += reversed([(child, int(held), level + 1, end)
                               for child, held, end in zip(below, sizes, ends, strict=False)])  # fmt: skip
        if self.parents:
            links += _second(levels[self.stem + 1 :], self.parents, set(links), rng)
        return Taxonomy.from_edges(links), leaves


def _second(
    levels: list[list[str]], chance: float, links: set[tuple[str, str]], rng: np.random.Generator
) -> list[tuple[str, str]]:
    """Draw second parents, each from the level above; where that is the first parent, there is no second."""
    drawn = []
    for above, level in pairwise(levels):
        chosen = np.flatnonzero(rng.random(len(level)) < chance)
        drawn += [(level[i], above[j]) for i, j in zip(chosen, rng.integers(0, len(above), len(chosen)), strict=True)]
    return [link for link in drawn if link not in links]


_DIAGNOSES = Shape(55, 12, 3, 8, 1.6, 0.6, spread=5, parents=0.15)
_PROCEDURES = Shape(94, 14, 4, 2, 1.9, 0.8, spread=5, parents=0.15)

LIKE: dict[str, dict[str, Any]] = {
    "Dataset1": {
        "n": 1172,
        "columns": {
            "diagnosis": Shape(783, 12, 2, 8, 2.4, 0.6, spread=5, parents=0.15),
            "procedure": replace(_PROCEDURES, categories=430),
        },
        "tuples": 1104,
        "skew": 0.5,
        "association": 0.78,
        "blocks": 4,
    },
    "Dataset2": {
        "n": 1012,
        "columns": {"diagnosis": _DIAGNOSES, "procedure": _PROCEDURES},
        "tuples": 104,
        "least": 3,
        "skew": 0.3,
        "association": 1.0,
        "blocks": 2,
    },
    "Dataset3": {
        "n": 1012,
        "columns": {"diagnosis": _DIAGNOSES, "procedure": _PROCEDURES, "secondary": replace(_DIAGNOSES, categories=60)},
        "tuples": 115,
        "least": 3,
        "skew": 0.3,
        "association": {"procedure": 0.97, "secondary": 0.4},
        "blocks": 2,
    },
}
"""Arguments of ``shaped`` that give tables like those of Rodriguez-Garcia, Batet and Sánchez (2019), section 4.

Records, categories and, in the second and third, at least three records of every tuple are as there. That branches are
unequally deep and concepts have second parents is as in SNOMED CT, which it uses. All else was adjusted by search and
by hand with the published figures in sight: distance variances and correlations, and errors of methods. So agreement
with tables of that paper is in part by construction; docs/reproduction.md says what was used. The paper says no more
about the taxonomies, nor how many secondary diagnoses there are.
"""


def shaped(
    n: int,
    seed: int | None = None,
    *,
    columns: Mapping[str, Shape],
    tuples: int,
    least: int = 1,
    skew: float = 0.5,
    association: float | Mapping[str, float] = 0.5,
    blocks: int = 1,
) -> Discharges:
    """Return ``n`` records of nominal columns, and the taxonomies of their values.

    Categories of all columns lie on a line, in the order of the leaves of their trees. ``tuples`` records are drawn
    along it, and repeated. The first column takes the category at the place of a record; each other column does so for
    a share ``association`` of the tuples, and takes that of another place for the others. Before that, its line is cut
    into ``blocks``, which change places: then values go together only where they are near, and not along the whole
    line.

    :param n: number of records.
    :param seed: 0 to 2**64 - 1, or None.
    :param columns: the shape of the values of each column; all values occur.
    :param tuples: number of records that are drawn; equal ones may be among them. No fewer than categories of a column.
    :param least: least number of repetitions of each.
    :param skew: exponent of Zipf's law for repetitions and frequencies of categories; 0 makes them equal.
    :param association: from 0 to 1, for all columns but the first or for each by name.
    :param blocks: number of parts of the line; 1 leaves it as it is.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.shaped(**nym.datasets.LIKE["Dataset1"], seed=1)
    >>> len(frame), frame["diagnosis"].nunique(), frame["procedure"].nunique()
    (1172, 783, 430)
    """
    check_seed(seed)
    if not columns:
        raise ParameterError("give at least one column", parameter="columns")
    most = max(shape.categories for shape in columns.values())
    if tuples < most:
        raise ParameterError(f"give {most:,} or more, so that all categories occur", parameter="tuples", value=tuples)
    if not 1 <= blocks <= tuples:
        raise ParameterError(f"give from 1 to {tuples:,}", parameter="blocks", value=blocks)
    if least < 1 or n < least * tuples:
        raise ParameterError(f"give from 1 to {n // tuples:,}, so that there are records enough", parameter="least",
                             value=least)  # fmt: skip
    shares = association if isinstance(association, Mapping) else dict.fromkeys(list(columns)[1:], association)
    wrong = next((share for share in shares.values() if not 0 <= share <= 1), None)
    if wrong is not None or set(shares) != set(list(columns)[1:]):
        raise ParameterError("give a number from 0 to 1, or one for each column but the first", parameter="association",
                             value=association)  # fmt: skip
    require(n * _BYTES, f"a table of {n:,} records", "draw fewer")
    rng = np.random.default_rng(secrets.randbits(64) if seed is None else seed)
    repeated = np.repeat(np.arange(tuples), least + rng.multinomial(n - least * tuples, _zipf(tuples, skew, rng)))
    rng.shuffle(repeated)
    data, taxonomies = {}, {}
    for name, shape in columns.items():
        taxonomies[name], leaves = shape.drawn(name, rng)
        place = np.arange(tuples)
        if name in shares:
            parts = np.array_split(place, blocks)
            place = np.concatenate([parts[i] for i in rng.permutation(blocks)])
            others = rng.choice(tuples, round((1 - shares[name]) * tuples), replace=False)
            place[others] = rng.permutation(place[others])
        sizes = 1 + rng.multinomial(tuples - shape.categories, _zipf(shape.categories, skew, rng))
        codes = np.repeat(np.arange(shape.categories), sizes)[place]
        data[name] = pd.Categorical.from_codes(codes[repeated], pd.Index(leaves))
    return Discharges(pd.DataFrame(data), taxonomies)


def _zipf(count: int, exponent: float, rng: np.random.Generator) -> Any:
    """Return shares by Zipf's law, in random order."""
    weights = rng.permutation(np.arange(1, count + 1, dtype=np.float64) ** -exponent)
    return weights / weights.sum()
