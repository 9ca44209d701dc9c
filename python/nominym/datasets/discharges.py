"""Synthetic hospital discharges of any size, with the shape of the discharge data in the literature."""

from __future__ import annotations

import math
import operator
import secrets
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from nominym._core import draw_synthetic
from nominym.control import Progress, require, steps
from nominym.datasets import vocabulary
from nominym.error import ParameterError
from nominym.meaning import Taxonomy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SHAPES: dict[str, dict[str, Any]] = {
    "srs-1": {"n": 1172, "diagnoses": 783, "procedures": 430, "skew": 0.5, "association": 0.61, "spread": 0.6},
    "srs-2": {"n": 1012, "diagnoses": 55, "procedures": 94, "skew": 0.3, "association": 0.69, "spread": 0.35},
    "sna-1": {"n": 1350, "diagnoses": 17, "secondary": 19, "skew": 0.0, "association": 0.975, "spread": 0.5},
    "sna-2": {"n": 1316, "diagnoses": 18, "procedures": 21, "skew": 0.0, "association": 0.915, "spread": 0.35},
}
"""Arguments of ``discharges`` that give the size, the numbers of categories and, within 0.03 for
most seeds, the semantic distance correlation of the data of Rodríguez-García (2017), chapter 7:

======= ===== ========================================== =========== ===================
shape       n columns (categories)                       correlation in
======= ===== ========================================== =========== ===================
srs-1    1172 diagnosis (783), procedure (430)                  0.46 table 7.1
srs-2    1012 diagnosis (55), procedure (94)                    0.64 section 7.4
sna-1    1350 diagnosis (17), secondary (19)                    0.94 table 7.6
sna-2    1316 diagnosis (18), procedure (21)                    0.88 table 7.11
======= ===== ========================================== =========== ===================

The source does not give the numbers of categories of sna-2; those here are near those of sna-1.
"""

# Memory for each record at the peak, measured: the random numbers of a few columns and the codes of all.
_BYTES = 80

AGE_GROUPS = ("0-17", "18-34", "35-49", "50-64", "65-74", "75-84", "85+")
SEXES = ("female", "male")

# Share of each age group, share of women, mean days beyond the first; by system of the body, None for others.
_PATIENTS: dict[str | None, tuple[tuple[float, ...], float, float]] = {
    None: ((0.10, 0.12, 0.14, 0.22, 0.19, 0.15, 0.08), 0.50, 3.0),
    "mental functions": ((0.12, 0.28, 0.25, 0.18, 0.08, 0.06, 0.03), 0.50, 6.5),
    "eye": ((0.06, 0.06, 0.09, 0.21, 0.27, 0.22, 0.09), 0.52, 1.0),
    "ear": ((0.40, 0.14, 0.12, 0.13, 0.10, 0.07, 0.04), 0.48, 1.5),
    "circulatory system": ((0.02, 0.04, 0.09, 0.25, 0.26, 0.22, 0.12), 0.44, 4.0),
    "female reproductive system": ((0.03, 0.21, 0.30, 0.22, 0.13, 0.08, 0.03), 1.00, 2.5),
    "male reproductive system": ((0.09, 0.09, 0.12, 0.26, 0.25, 0.15, 0.04), 0.00, 2.5),
    "childbearing": ((0.03, 0.72, 0.25, 0.00, 0.00, 0.00, 0.00), 1.00, 2.0),
    "skeleton": ((0.16, 0.11, 0.11, 0.17, 0.16, 0.17, 0.12), 0.53, 4.0),
}
_AGE_FACTOR = np.array([0.6, 0.7, 0.9, 1.1, 1.2, 1.4, 1.5])


class Discharges(NamedTuple):
    """Records, and the taxonomy of each of their nominal columns."""

    data: pd.DataFrame
    taxonomies: dict[str, Taxonomy]


class _Stream(IntEnum):
    """The independent streams of random numbers; the numbers are part of what a seed means."""

    SITES = 0
    AGE = 1
    SEX = 2
    STAY = 3
    DIAGNOSES = 4
    PROCEDURES = 5
    # And as many after these as there are columns:
    POSITION = 10
    FOLLOWS = 20


class _Categories(NamedTuple):
    """The categories of one column in code order, laid out on the line from 0 to 1 by their frequencies."""

    concepts: NDArray[np.intp]
    """The number of each category in the vocabulary."""
    ends: NDArray[np.float64]
    """Where each category ends on the line."""
    sites: NDArray[np.float64]
    """Where each site of the body begins on the line, and a last 1."""


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
    progress: Progress = None,
) -> Discharges:
    """Return ``n`` synthetic hospital discharges and the taxonomies of their nominal columns.

    The columns are ``diagnosis`` and ``secondary`` (with one taxonomy, whose concepts can have several
    parents), ``procedure`` (with a tree), and ``age_group``, ``sex`` and ``length_of_stay``, which follow the
    diagnosis. The same seed always gives the same records; without a seed they are new each time.

    :param n: number of records.
    :param seed: 0 to 2**64 - 1, or None.
    :param diagnoses: number of distinct principal diagnoses. It is met exactly, as those of the other columns
        are, where ``n`` is not below it; a smaller sample has the categories that happen to be drawn.
    :param procedures: number of distinct procedures.
    :param secondary: number of distinct secondary diagnoses; None takes that of ``diagnoses``.
    :param skew: exponent of Zipf's law, which the frequencies of the categories follow; 0 makes them equal.
    :param association: 0 to 1; share of the records whose secondary diagnosis is of the same site of the body
        as the principal one, and likewise for the procedure. All other records are drawn independently.
    :param spread: above 0 to 1; number of sites that the categories come from, as share of the most possible.
        Few sites make categories of near meaning. Where they have too few concepts, others are added.
    :param progress: None, True for a bar, or a callable of the columns drawn and the columns in all.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(1000, seed=1, diagnoses=300)
    >>> len(frame), frame["diagnosis"].nunique()
    (1000, 300)
    >>> taxonomies["diagnosis"].label("D0031")
    'Blood flow disorder'

    The sizes and defaults are those of the discharge data in M. Rodríguez-García, Semantic perturbative
    privacy-preserving methods for nominal data, thesis, Universitat Rovira i Virgili, 2017: see ``SHAPES``.
    """
    disorders, treatments = vocabulary.diagnoses(), vocabulary.procedures()
    # Records are numbered with 32 bits everywhere in the library.
    n = _whole("n", n, 1, 2**32 - 2)
    require(n * _BYTES, f"a table of {n:,} records", "draw fewer")
    diagnoses = _whole("diagnoses", diagnoses, 1, disorders.size)
    procedures = _whole("procedures", procedures, 1, treatments.size)
    secondary = diagnoses if secondary is None else _whole("secondary", secondary, 1, disorders.size)
    skew = _real("skew", skew, "at least 0", lambda value: 0 <= value < math.inf)
    association = _real("association", association, "from 0 to 1", lambda value: 0 <= value <= 1)
    spread = _real("spread", spread, "above 0, at most 1", lambda value: 0 < value <= 1)
    # One number for all streams, or the columns would not belong together.
    seed = secrets.randbits(64) if seed is None else _whole("seed", seed, 0, 2**64 - 1)

    # The sites take turns, in random order, to give a category.
    sites = int(disorders.site.max()) + 1
    turn = np.argsort(np.argsort(draw_synthetic(sites, seed, _Stream.SITES), kind="stable"))
    places = math.ceil(spread * min(diagnoses, sites))
    lots = draw_synthetic(disorders.size, seed, _Stream.DIAGNOSES)
    plan = {
        "diagnosis": (disorders, diagnoses, lots),
        # The lot of the neighbor: codes next to the principal ones, near in meaning but not the same.
        "secondary": (disorders, secondary, lots[_neighbors(disorders.site[disorders.site >= 0])]),
        "procedure": (treatments, procedures, draw_synthetic(treatments.size, seed, _Stream.PROCEDURES)),
    }
    columns: dict[str, Any] = {}
    leader, lead = None, np.empty(0)
    with steps(progress, "discharges", len(plan)) as done:
        for number, (name, (words, count, lots)) in enumerate(plan.items()):
            categories = _choose(words, count, skew, turn, places, lots)
            position = draw_synthetic(n, seed, _Stream.POSITION + number)
            if leader is None:
                leader, lead = categories, position
            else:
                # The lowest lots, in exactly this number: a share left to chance would blur the correlation.
                share = round(association * n)
                follows = draw_synthetic(n, seed, _Stream.FOLLOWS + number)
                followers = np.argpartition(follows, min(share, n - 1))[:share]
                position[followers] = np.interp(lead[followers], leader.sites, categories.sites)
            codes = _codes(position, categories.ends)
            ids = pd.Index([words.concepts.ids[concept] for concept in categories.concepts])
            made = pd.Categorical.from_codes(codes, ids)
            columns[name] = made if n >= count else made.remove_unused_categories()
            if categories is leader:
                patients = _patients(codes, words.system[categories.concepts], seed)
            done(number + 1)
    taxonomies = {name: words.taxonomy for name, (words, _, _) in plan.items()}
    return Discharges(pd.DataFrame(columns | patients, copy=False), taxonomies)


def _neighbors(site: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the place before each place; at the beginning of a site, the last place of the site."""
    before = np.arange(-1, len(site) - 1)
    begins = np.flatnonzero(np.diff(site, prepend=-1))
    before[begins] = np.append(begins[1:], len(site)) - 1
    return before


def _choose(
    words: vocabulary.Vocabulary,
    count: int,
    skew: float,
    turn: NDArray[np.intp],
    places: int,
    lots: NDArray[np.float64],
) -> _Categories:
    """Choose ``count`` concepts: the first ``places`` sites by turns, then the next ones."""
    concepts = np.flatnonzero(words.site >= 0)
    site = words.site[concepts]
    drawn = np.lexsort((lots, site))
    round_of = np.empty_like(drawn)
    round_of[drawn] = np.arange(len(drawn)) - np.searchsorted(site[drawn], site[drawn])
    chosen = np.lexsort((turn[site], round_of, turn[site] // places))[:count]
    # Chosen first is most frequent, so that the columns agree on which sites are.
    frequency = np.arange(1, count + 1, dtype=np.float64) ** -skew
    in_code_order = np.argsort(chosen)
    concepts = concepts[chosen[in_code_order]]
    edges = np.concatenate(([0.0], np.cumsum(frequency[in_code_order]) / frequency.sum()))
    edges[-1] = 1.0
    sites = edges[np.searchsorted(words.site[concepts], np.arange(len(turn) + 1))]
    return _Categories(concepts, edges[1:], sites)


def _codes(position: NDArray[np.float64], ends: NDArray[np.float64]) -> NDArray[np.int16]:
    """Return the category at each position, every category at least once if there are enough positions."""
    # A site without categories at the end of the line leads to position 1, beyond the last category.
    last = len(ends) - 1
    codes = np.minimum(np.searchsorted(ends, position, side="right"), last).astype(np.int16)
    counts = np.bincount(codes, minlength=len(ends))
    spare = len(position) - len(ends)
    if spare < 0 or counts.all():
        return codes
    # Shrink what the categories have beyond one record, then deal them out again in the order of positions:
    # records move to near categories, which keeps the association.
    beyond = np.maximum(counts - 1, 0)
    wanted = beyond * (spare / beyond.sum())
    kept = np.floor(wanted).astype(np.int64)
    rounded_up = np.argsort(kept - wanted, kind="stable")[: spare - kept.sum()]
    kept[rounded_up] += 1
    codes[np.argsort(position, kind="stable")] = np.repeat(np.arange(len(ends), dtype=np.int16), kept + 1)
    return codes


def _patients(codes: NDArray[np.int16], system: NDArray[np.int32], seed: int) -> dict[str, Any]:
    """Return age, sex and length of stay; ``system`` is that of each category of the principal diagnosis."""
    names = list(vocabulary.BODY)
    profiles = [_PATIENTS.get(names[number], _PATIENTS[None]) for number in system]
    lot = draw_synthetic(len(codes), seed, _Stream.AGE)
    age = np.zeros(len(codes), np.int8)
    for edges in np.cumsum([ages for ages, _, _ in profiles], axis=1).T[:-1]:
        age += lot >= edges[codes]
    women = np.array([share for _, share, _ in profiles])
    sex = (draw_synthetic(len(codes), seed, _Stream.SEX) >= women[codes]).astype(np.int8)
    days = np.array([mean for _, _, mean in profiles])[codes] * _AGE_FACTOR[age]
    stay = 1 - np.log1p(-draw_synthetic(len(codes), seed, _Stream.STAY)) * days
    return {
        "age_group": pd.Categorical.from_codes(age, pd.Index(AGE_GROUPS), ordered=True),
        "sex": pd.Categorical.from_codes(sex, pd.Index(SEXES)),
        "length_of_stay": stay.astype(np.int32),
    }


def _whole(name: str, value: int, low: int, high: int) -> int:
    allowed = f"from {low} to {high}"
    try:
        number = operator.index(value)
    except TypeError:
        raise ParameterError(f"{name} must be a whole number {allowed}, not {value!r}") from None
    if not low <= number <= high:
        raise ParameterError(f"{name} must be {allowed}, not {number}")
    return number


def _real(name: str, value: float, allowed: str, accepts: Callable[[float], bool]) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be a number {allowed}, not {value!r}") from None
    if not accepts(number):
        raise ParameterError(f"{name} must be {allowed}, not {number}")
    return number
