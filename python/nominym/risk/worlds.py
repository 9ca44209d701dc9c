"""Possible worlds of set-valued records: which published rows each of them could be, and how likely each row is."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.control import Progress, is_whole
from nominym.error import DataError, ParameterError
from nominym.itemsets import Itemsets, Release
from nominym.itemsets.graph import Groups, Ring
from nominym.risk import rings
from nominym.risk.linkage import Attacked, Sample
from nominym.stats import interval, quantiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.itemsets.release import Secret

# An assignment that is less likely than this to be drawn was not drawn, but made.
_NEVER = 1e-6


@dataclass(frozen=True, repr=False, eq=False)
class Worlds:
    """What someone who knows whole records and the release can infer about their rows."""

    records: int
    """Original records."""
    attacked: int
    """Number of records whose rows were counted: all, or a sample."""
    smallest: int
    """Smallest number of rows that one of them could be, by the published data alone."""
    quantiles: dict[str, int]
    """Quantiles of the number of rows."""
    by_rows: dict[str, float]
    """Probability of the true row by the published data alone, 1/rows: ``mean`` and ``largest``."""
    interval: tuple[float, float] | None
    """95 % bounds for that mean over all records, where a sample was attacked."""
    posterior: dict[str, float]
    """Probability of the row that the strongest adversary takes to be a record's: ``mean`` and ``largest`` over the
    records, and the shares of records for which it is above 2/k (``above_2k``, where k is given) and above 1/2
    (``above_half``)."""
    insiders: int
    """Number of other records, drawn at random, whose rows that adversary knows."""
    law: str
    """What that adversary knows, and how the probabilities were found."""
    bound: float | None
    """The probability that k allows, 1/k."""
    share_below: float | None
    """Share of records that could be fewer than k rows."""
    interval_below: tuple[float, float] | None
    """95 % bounds for that share of all records, where a sample was attacked."""
    strange: str | None
    """Why the owner's assignment cannot be one that the method draws, such as everybody in place; None if it can."""
    holds: bool | None
    """Whether every record attacked could be k rows or more, no posterior is above 1/k, and the assignment is one that
    the method draws."""
    counts: NDArray[np.uint32]
    """Number of rows for each record attacked, read-only; not in ``to_dict``."""

    def __repr__(self) -> str:
        """Return the smallest number of rows, and whether it is enough."""
        who = f"{self.records:,} records"
        if self.attacked < self.records:
            who = f"{self.attacked:,} of {who}"
        told = "" if self.bound is None else f", bound {self.bound:.4g} {'holds' if self.holds else 'BROKEN'}"
        median = self.quantiles["median"]
        insiders = "1 insider" if self.insiders == 1 else f"{self.insiders:,} insiders"
        known = f", {insiders}: posterior {self.posterior['mean']:.4g}" if self.insiders else ""
        return f"<Worlds of {who}: {self.smallest:,} rows or more, median {median:,}{known}{told}>"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name, except the single counts."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "counts"}


def worlds(
    rel: Release,
    sets: Itemsets,
    *,
    insiders: int = 0,
    k: int | None = None,
    sample: Sample = "auto",
    seed: int | None = None,
    progress: Progress = None,
) -> Worlds:
    """Attack a release of set-valued records: which rows could a record be, and how likely is each?

    >>> import nominym as nym
    >>> sets, _ = nym.datasets.baskets(2_000, seed=1, items=100)
    >>> rel = nym.recode(sets, k=8, order="gray", seed=1)
    >>> found = nym.risk.worlds(rel, sets, k=8)
    >>> found.holds, found.posterior["largest"] <= 1 / 8, found.share_below
    (True, True, 0.0)
    >>> nym.risk.worlds(rel, sets, k=8, insiders=20).posterior["mean"] < 0.13
    True
    >>> rel = nym.recode(sets, k=2, structure="ring", order="gray", insiders="accepted", seed=1)
    >>> nym.risk.worlds(rel, sets, insiders=1, seed=1).posterior["mean"]
    1.0

    Parameters
    ----------
    rel
        The release. With the owner's side, the adversary also knows which records may be which rows.
    sets
        The original records.
    insiders
        The number of records whose rows the adversary knows; they are drawn at random. Needs the owner's side.
    k
        Compare the number of rows with k, and the posteriors with 1/k.
    sample
        Number of records whose rows to count: "auto" for all of up to 100,000, else 20,000 drawn at random; a number;
        or None for all.
    seed
        For samples, draws and insiders; without it they come from the operating system's randomness.
    progress
        ``True`` for a bar, or a callable of (done, total).

    Returns
    -------
    Worlds
        *By the published data alone*, every row that a record could be is as likely as any other: 1/rows. *By the true
        law*, where the release has its owner's side, the adversary knows all records, who may be whom, the method, and
        the rows of the insiders. In a group of s with c insiders the posterior is 1/(s − c); mean and shares are exact
        expectations over the insiders, and the largest posterior is that of the worst case, all of them in one group.
        In a ring, insiders learn the winding number of the assignment; the law of the draw is estimated from many
        draws, and the figures are those of up to 100 sets of insiders. Neither adversary knows anything about a record
        but its items: known labels would tell rows apart.

    Notes
    -----
    Without insiders, an assignment is invisible, whatever it is. It is therefore compared with what the method draws:
    an owner who left everybody in place is detected in a ring by the winding number and in groups by the number of
    records in place, but not with so few records that this may happen by chance, nor (k = 2) where this is one of the
    two assignments of a ring. That fewer records than expected are in place, or any other choice of the owner, is not
    detected.

    Xue, Karras, Raïssi, Vaidya and Tan (2012), Anonymizing set-valued data by nonreciprocal recoding, KDD.
    """
    attacked_by = Attacked(k, sample, seed)
    if not isinstance(rel, Release):
        raise ParameterError(f"rel: a Release, as recode returns it, is needed, not {type(rel).__name__}")
    if not isinstance(sets, Itemsets):
        raise ParameterError(f"sets: the original Itemsets are needed, not {type(sets).__name__}")
    if not len(sets):
        raise DataError("there are no records to look for")
    known = _check_insiders(rel, insiders)
    rows = attacked_by.rows(len(sets))
    chosen = sets if rows is None else Itemsets(sets.core.select(rows), sets.names)
    counts = rel.compatible(chosen, progress=progress)
    nowhere = int((counts == 0).sum())
    if nowhere:
        raise DataError(
            f"{nowhere:,} of {len(counts):,} records could be no row of the release; give the records it was made from"
        )
    counts.setflags(write=False)
    values, times = np.unique(counts, return_counts=True)
    by_rows = 1 / counts
    mean, squares = float(by_rows.mean()), float((by_rows**2).mean())
    attacked, all_of = len(counts), len(sets)
    below = None if k is None else int((counts < k).sum()) / attacked
    sampled = rows is not None
    law, strange = "what is published alone: every row that a record could be is equally likely", None
    posterior = _figures(1 / values, times, k)
    if rel.secret is not None:
        if len(sets) != len(rel):
            raise DataError(f"{len(sets):,} records, but the release was made from {len(rel):,}; give all of them")
        posterior, law, strange = _by_law(rel, rel.secret, known, k, seed, progress)
    enough = k is None or (int(values[0]) >= k and posterior["largest"] <= 1 / k + 1e-12 and strange is None)
    return Worlds(
        records=all_of,
        attacked=attacked,
        smallest=int(values[0]),
        quantiles=quantiles(times.astype(np.uint64), values),
        by_rows={"mean": mean, "largest": float(by_rows.max())},
        interval=interval(mean, squares, attacked, all_of) if sampled else None,
        posterior=posterior,
        insiders=known,
        law=law,
        bound=attacked_by.bound,
        share_below=below,
        interval_below=interval(below, below, attacked, all_of) if sampled and below is not None else None,
        strange=strange,
        holds=None if k is None else enough,
        counts=counts,
    )


def _check_insiders(rel: Release, insiders: Any) -> int:
    """Raise if there are too many insiders, or nothing is known about them."""
    if not is_whole(insiders) or not 0 <= int(insiders) < max(1, len(rel)):
        what = f"give a whole number from 0 to {max(0, len(rel) - 1):,}, one less than there are records"
        raise ParameterError(what, parameter="insiders", value=insiders)
    if insiders and rel.secret is None:
        what = "only the owner's release, with its secret side, knows which records may be which rows"
        raise ParameterError(
            what, parameter="insiders", value=insiders, remedy="attack the release as recode returned it"
        )
    if insiders and not isinstance(rel.secret.graph, Groups | Ring):  # type: ignore[union-attr]
        what = "of a ring with l labels only the law of single records is known, 1/l, not that of several"
        raise ParameterError(what, parameter="insiders", value=insiders, remedy="use groups")
    return operator.index(insiders)


def _figures(posteriors: NDArray[np.float64], weights: NDArray[Any], k: int | None) -> dict[str, float]:
    """Summarize posteriors with their frequencies."""
    total = weights.sum()

    def above(limit: float) -> float:
        return float(weights[posteriors > limit + 1e-12].sum() / total)

    return {
        "mean": float((posteriors * weights).sum() / total),
        "largest": float(posteriors.max()),
        **({} if k is None else {"above_2k": above(2 / k)}),
        "above_half": above(0.5),
    }


def _by_law(
    rel: Release, secret: Secret, insiders: int, k: int | None, seed: int | None, progress: Progress
) -> tuple[dict[str, float], str, str | None]:
    """Guess as an adversary who knows which records may be which rows, and the rows of insiders."""
    graph = secret.graph
    if isinstance(graph, Groups):
        sizes = np.bincount(graph.group_of)
        figures = _in_groups(sizes[sizes > 0], insiders, k)
        return figures, "groups: exact, every row of a group that no insider has is equally likely", _moved(secret)
    if not isinstance(graph, Ring):
        figures = _figures(np.array([1 / graph.smallest]), np.array([len(rel)]), k)
        return figures, "a ring with l labels: every match of a record is drawn with probability 1/l", None
    method = "split" if rel.method is None or rel.method.method is None else rel.method.method
    learned = rings.learn(graph, secret.assignment, method, insiders, seed, progress)
    law = f"ring: estimated from {learned.draws:,} draws by {method}"
    if insiders:
        law = f"{law}, for {len(learned.means):,} sets of insiders"
    return _figures(learned.guesses, learned.times, k), law, learned.strange


def _in_groups(sizes: NDArray[np.int64], insiders: int, k: int | None) -> dict[str, float]:
    """Return the exact figures of groups: c of the insiders are in a record's group by the hypergeometric law."""
    n = int(sizes.sum())
    kinds, times = np.unique(sizes, return_counts=True)
    posteriors, weights = [], []
    for size, number in zip(kinds.tolist(), times.tolist(), strict=True):
        others = size - 1
        for inside in range(max(0, insiders - (n - size)), min(others, insiders) + 1):
            log = _log_choose(others, inside) + _log_choose(n - size, insiders - inside) - _log_choose(n - 1, insiders)
            posteriors.append(1 / (size - inside))
            weights.append(number * size * math.exp(log))
    return _figures(np.array(posteriors), np.array(weights), k)


def _log_choose(n: int, m: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)


def _moved(secret: Secret) -> str | None:
    """Return why an assignment cannot have been drawn in groups: too many records are in place.

    In a group of two or more the moments of their number are at most those of a Poisson number with mean 1, so that of
    g groups f or more are in place with probability at most exp(f − g − f·log(f/g)), by Chernoff's bound.
    """
    assert isinstance(secret.graph, Groups)
    sizes = np.bincount(secret.graph.group_of)
    free = sizes[secret.graph.group_of] > 1
    stay = int((secret.assignment == np.arange(len(secret.assignment)))[free].sum())
    groups = int((sizes > 1).sum())
    if stay <= groups or stay - groups - stay * math.log(stay / groups) > math.log(_NEVER):
        return None
    return f"{stay:,} of {int(free.sum()):,} records are in place, where {groups:,} are expected"
