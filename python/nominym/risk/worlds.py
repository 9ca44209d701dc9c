"""Possible worlds of set-valued records: how many published rows each of them could be."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.control import Progress
from nominym.error import DataError, ParameterError
from nominym.itemsets import Itemsets, Release
from nominym.risk.linkage import Attacked, Sample
from nominym.stats import interval, quantiles

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False)
class Worlds:
    """What somebody who knows a whole record and the release can tell of its row."""

    records: int
    """Original records."""
    attacked: int
    """Records that were looked for: all, or a sample."""
    smallest: int
    """Fewest rows that one of them could be."""
    quantiles: dict[str, int]
    """Quantiles of the number of rows."""
    posterior: dict[str, float]
    """Probability of the true row, 1/rows: ``mean`` and ``largest`` over the records attacked."""
    interval: tuple[float, float] | None
    """95 % bounds for the mean posterior of all records, where a sample was attacked."""
    bound: float | None
    """The posterior that k allows, 1/k."""
    share_below: float | None
    """Share of records that could be fewer than k rows."""
    interval_below: tuple[float, float] | None
    """95 % bounds for that share of all records, where a sample was attacked."""
    holds: bool | None
    """Whether every record attacked could be k rows or more."""
    counts: NDArray[np.uint32]
    """Number of rows for each record attacked, read-only; not in ``to_dict``."""

    def __repr__(self) -> str:
        """Tell the fewest rows, and whether they are enough."""
        who = f"{self.records:,} records"
        if self.attacked < self.records:
            who = f"{self.attacked:,} of {who}"
        told = "" if self.bound is None else f", bound {self.bound:.4g} {'holds' if self.holds else 'BROKEN'}"
        median = self.quantiles["median"]
        return f"<Worlds of {who}: {self.smallest:,} rows or more, median {median:,}{told}>"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name, but for the single counts."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "counts"}


def worlds(
    rel: Release,
    sets: Itemsets,
    *,
    sample: Sample = "auto",
    k: int | None = None,
    seed: int | None = None,
    progress: Progress = None,
) -> Worlds:
    """Attack a release of set-valued records: count for each the published rows that it could be.

    >>> import nominym as nym
    >>> sets, _ = nym.datasets.baskets(2_000, seed=1, items=100)
    >>> rel = nym.recode(sets, k=8, structure="ring", order="gray", seed=1)
    >>> found = nym.risk.worlds(rel, sets, k=8)
    >>> found.holds, found.posterior["largest"] <= 1 / 8, found.share_below
    (True, True, 0.0)

    Parameters
    ----------
    rel
        What was published.
    sets
        The records as they were.
    sample
        How many records to look for: "auto" for all of up to 100,000 and 20,000 drawn ones of more; a number; or None
        for all.
    k
        To compare the number of rows with.
    seed
        For the sample only; without it the sample is drawn from the operating system's randomness.
    progress
        ``True`` for a bar, or a callable of (done, total).

    Returns
    -------
    Worlds
        The adversary knows all items of a person and that the person is in the release. By what is published alone,
        every row that the record could be is as likely as any other: the posterior of the true one is 1/rows.

    Xue, Karras, Raïssi, Vaidya and Tan (2012), Anonymizing set-valued data by nonreciprocal recoding, KDD.
    """
    attacked_by = Attacked(k, sample, seed)
    if not isinstance(rel, Release):
        raise ParameterError(f"rel: a Release, as recode gives it, is needed, not {type(rel).__name__}")
    if not isinstance(sets, Itemsets):
        raise ParameterError(f"sets: the original Itemsets are needed, not {type(sets).__name__}")
    if not len(sets):
        raise DataError("there are no records to look for")
    rows = attacked_by.rows(len(sets))
    chosen = sets if rows is None else Itemsets(sets.core.select(rows), sets.names)
    counts = rel.compatible(chosen, progress=progress)
    nowhere = int((counts == 0).sum())
    if nowhere:
        raise DataError(
            f"{nowhere:,} of {len(counts):,} records could be no row of the release; give the records that it was "
            "made of"
        )
    counts.setflags(write=False)
    values, times = np.unique(counts, return_counts=True)
    posteriors = 1 / counts
    mean, squares = float(posteriors.mean()), float((posteriors**2).mean())
    attacked, all_of = len(counts), len(sets)
    below = None if k is None else int((counts < k).sum()) / attacked
    sampled = rows is not None
    return Worlds(
        records=all_of,
        attacked=attacked,
        smallest=int(values[0]),
        quantiles=quantiles(times.astype(np.uint64), values),
        posterior={"mean": mean, "largest": float(posteriors.max())},
        interval=interval(mean, squares, attacked, all_of) if sampled else None,
        bound=attacked_by.bound,
        share_below=below,
        interval_below=interval(below, below, attacked, all_of) if sampled and below is not None else None,
        holds=None if k is None else int(values[0]) >= k,
        counts=counts,
    )
