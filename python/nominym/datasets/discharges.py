"""Synthetic hospital discharges of any size, with the shape of the discharge data in the literature."""

from __future__ import annotations

import operator
import secrets
from enum import IntEnum, auto
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from nominym._core import draw_uniform
from nominym.datasets import vocabulary
from nominym.error import ParameterError
from nominym.taxonomy import Taxonomy

if TYPE_CHECKING:
    from numpy.typing import NDArray

AGE_GROUPS = ("0-17", "18-34", "35-49", "50-64", "65-74", "75-84", "85+")
SEXES = ("female", "male")

# Share of each age group; systems that are not named have the first.
_AGES: dict[str, tuple[float, ...]] = {
    "": (0.10, 0.12, 0.14, 0.22, 0.19, 0.15, 0.08),
    "childbearing": (0.03, 0.72, 0.25, 0.00, 0.00, 0.00, 0.00),
    "ear": (0.40, 0.14, 0.12, 0.13, 0.10, 0.07, 0.04),
    "mental functions": (0.12, 0.28, 0.25, 0.18, 0.08, 0.06, 0.03),
    "circulatory system": (0.02, 0.04, 0.09, 0.25, 0.26, 0.22, 0.12),
    "eye": (0.06, 0.06, 0.09, 0.21, 0.27, 0.22, 0.09),
}
_FEMALE = {"female reproductive system": 1.0, "childbearing": 1.0, "male reproductive system": 0.0}
# Mean days beyond the first, by age group, and what a system makes of it.
_DAYS = np.array([1.6, 1.8, 2.5, 3.3, 4.1, 4.9, 5.5])
_DAYS_FACTOR = {"mental functions": 2.2, "eye": 0.4, "ear": 0.5, "skeleton": 1.3, "circulatory system": 1.2}


class _Stream(IntEnum):
    """The independent streams of random numbers; the order is part of what a seed means."""

    SITES = auto()
    DIAGNOSES = auto()
    SECONDARY = auto()
    PROCEDURES = auto()
    POSITION = auto()
    OWN_SECONDARY = auto()
    OWN_PROCEDURE = auto()
    FOLLOWS_SECONDARY = auto()
    FOLLOWS_PROCEDURE = auto()
    AGE = auto()
    SEX = auto()
    DAYS = auto()


class Discharges(NamedTuple):
    """What ``discharges`` returns."""

    data: pd.DataFrame
    taxonomies: dict[str, Taxonomy]


SHAPES: dict[str, dict[str, Any]] = {}


def discharges(
    n: int,
    seed: int | None = None,
    *,
    diagnoses: int = 783,
    procedures: int = 430,
    secondary: int | None = None,
    skew: float = 1.0,
    association: float = 0.5,
    spread: float = 0.5,
) -> Discharges:
    if secondary is None:
        secondary = diagnoses
    if seed is None:
        seed = secrets.randbits(64)
    diagnosis_words = vocabulary.diagnoses()
    procedure_words = vocabulary.procedures()
    popularity = draw_uniform(int(diagnosis_words.site.max()) + 1, seed, _Stream.SITES)
    own = draw_uniform(int((diagnosis_words.site>=0).sum()), seed, _Stream.DIAGNOSES)
    principal, principal_weights = _choose(diagnosis_words, diagnoses, popularity, skew, spread, own)
    other, other_weights = _choose(diagnosis_words, secondary, popularity, skew, spread, np.roll(own, 1))
    procs, procs_weights = _choose(procedure_words, procedures, popularity, skew, spread, draw_uniform(int((procedure_words.site>=0).sum()), seed, _Stream.PROCEDURES))
    position = draw_uniform(n, seed, _Stream.POSITION)
    def follow(follows, own):
        return np.where(draw_uniform(n, seed, follows) < association, position, draw_uniform(n, seed, own))
    a = _assign(position, principal_weights)
    b = _assign(follow(_Stream.FOLLOWS_SECONDARY, _Stream.OWN_SECONDARY), other_weights)
    c = _assign(follow(_Stream.FOLLOWS_PROCEDURE, _Stream.OWN_PROCEDURE), procs_weights)
    return principal[a], other[b], procs[c]


def _choose(words, count, popularity, skew, spread, own):
    concepts = np.flatnonzero(words.site >= 0)
    site = words.site[concepts]
    rank = np.empty(len(popularity)); rank[np.argsort(popularity)] = np.arange(len(popularity))
    turn = np.empty(len(concepts))
    by_site = np.lexsort((own, site))
    first = np.searchsorted(site[by_site], np.arange(len(popularity)))
    turn[by_site] = np.arange(len(concepts)) - first[site[by_site]]
    key = (turn + 0.5) * (rank[site] + 1) ** (1 / spread - 1)
    chosen = np.lexsort((rank[site], key))[:count]
    order = np.argsort(chosen)
    weights = np.arange(1.0, count + 1) ** -skew
    return concepts[chosen[order]], weights[order]


def _assign(position, weights):
    edges = np.cumsum(weights) / weights.sum()
    edges[-1] = 1.0
    codes = np.searchsorted(edges, position, side="right").astype(np.int16)
    counts = np.bincount(codes, minlength=len(weights))
    if counts.all() or len(position) < len(weights):
        return codes
    excess = np.maximum(counts - 1, 0)
    share = excess * (len(position) - len(weights)) / excess.sum()
    kept = np.floor(share).astype(np.int64)
    missing = len(position) - len(weights) - kept.sum()
    kept[np.argsort(kept - share, kind="stable")[:missing]] += 1
    codes[np.argsort(position, kind="stable")] = np.repeat(np.arange(len(weights), dtype=np.int16), kept + 1)
    return codes
