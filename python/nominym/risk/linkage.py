"""Distance-based record linkage: the nearest row of a release is taken to be the person's own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import ParameterError, UnknownColumnError
from nominym.meaning import Meaning, Measure, check_meanings
from nominym.risk.attacked import Attacked, Sample
from nominym.stats import interval, quantiles_of
from nominym.table import Comparison, Missing, column_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Up to so many columns, every combination of them is tried.
_FEW = 4


@dataclass(frozen=True, repr=False)
class Linkage:
    """What came of linking every person with the nearest rows. It does not say who was found."""

    known: tuple[Any, ...]
    """Columns that the adversary knows."""
    records: int
    """Records before."""
    attacked: int
    """Records that were looked for: all, or a sample."""
    share: float
    """Share of them whose own row is taken, expected over the choice among equally near rows: of t rows, 1/t."""
    interval: tuple[float, float] | None
    """95 % bounds for the share of all records, where a sample was attacked."""
    bound: float | None
    """The share that k allows, 1/k."""
    holds: bool | None
    """Whether the share is not above the bound by more than chance: 1/k bounds a probability, and every release is one
    draw. The lower 95 % bound is compared, for the draw and the sample."""
    ties: dict[str, int]
    """Quantiles of the number of equally near rows."""

    def __repr__(self) -> str:
        """Tell the share, and whether it is within its bound."""
        names = ", ".join(map(str, self.known))
        who = f"{self.records:,} records"
        if self.interval is not None:
            low, high = self.interval
            who = f"{who} ({low:.4f} to {high:.4f}, from {self.attacked:,})"
        told = "" if self.bound is None else f", bound {self.bound:.4g} {'holds' if self.holds else 'BROKEN'}"
        return f"<Linkage by {names}: share {self.share:.4f} of {who}{told}>"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name."""
        return asdict(self)


def linkage(
    before: Any,
    after: Any,
    meanings: Mapping[Any, Meaning],
    *,
    known: Any = None,
    k: int | None = None,
    sample: Sample = "auto",
    truth: Any = None,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    missing: Missing = "keep",
    seed: int | None = None,
    progress: Progress = None,
) -> Linkage:
    """Attack a release: take for each person the row that is nearest to what is known of them.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> strict = nym.rank_swap(frame, masked, k=5, seed=1)
    >>> found = nym.risk.linkage(frame, strict.data, masked, k=5)
    >>> found.share < found.bound, found.holds
    (True, True)
    >>> nym.risk.linkage(frame, frame, masked, k=5)
    <Linkage by diagnosis, procedure: share 0.7... of 2,000 records, bound 0.2 BROKEN>

    Parameters
    ----------
    before, after
        The table as it was and its release: frames of any kind, also of two kinds. Row i of ``after`` is the release of
        row i of ``before``, by position, unless ``truth`` says otherwise.
    meanings
        What the values of columns mean: a ``Taxonomy``, a ``DistanceMatrix``, an ``Order`` or an ``Equality``.
    known
        The columns that the adversary knows; by default all of ``meanings``.
    k
        To compare the share with 1/k.
    sample
        How many people to look for: "auto" for all of up to 100,000 records or of one known column, and for 20,000
        drawn records otherwise; a number; or None for all.
    truth
        The owner's key, for a release whose rows are in another order: the row of each record.
    measure, roots
        The distance, and roots for depths by column; by default the least common subsumer of the column.
    missing
        "keep" or "error". A missing value is equal to other missing ones, and as far from every value as the two
        farthest values of the column are from each other.
    seed
        For the sample only; without it the sample is drawn from the operating system's randomness.
    progress
        ``True`` for a bar, or a callable of (done, total).

    Returns
    -------
    Linkage
        The expected ``share`` of people whose own row is taken, its ``bound``, and quantiles of ``ties``. The nearest
        rows are exact. Numbers only: nobody is named.

    Pagliuca and Seri (1999), Some results of individual ranking method on the system of enterprise accounts annual
    survey; Domingo-Ferrer and Torra (2001), A quantitative comparison of disclosure control methods for microdata; with
    semantic distances, Martínez, Sánchez and Valls (2012), Evaluation of the disclosure risk of masking methods dealing
    with textual attributes, International Journal of Innovative Computing, Information and Control 8.
    """
    comparison = _compared(before, after, meanings, known, measure, roots, truth, missing, progress)
    return link(comparison, k=k, sample=sample, seed=seed, progress=progress)


def linkages(
    before: Any,
    after: Any,
    meanings: Mapping[Any, Meaning],
    *,
    k: int | None = None,
    sample: Sample = "auto",
    truth: Any = None,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    missing: Missing = "keep",
    seed: int | None = None,
    progress: Progress = None,
) -> pd.DataFrame:
    """Attack a release with every column known alone, and with all of them; with up to four, in every combination.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(500, seed=1)
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> res = nym.rank_swap(frame, masked, k=5, seed=1)
    >>> nym.risk.linkages(frame, res.data, masked, k=5)[["known", "attacked", "bound", "holds"]]
                        known  attacked  bound  holds
    0            (diagnosis,)       500    0.2   True
    1            (procedure,)       500    0.2   True
    2  (diagnosis, procedure)       500    0.2   True

    Returns
    -------
    pandas.DataFrame
        A row for each attack, with the fields of ``Linkage``, which see. One sample serves all attacks that need one.
    """
    comparison = _compared(before, after, meanings, None, measure, roots, truth, missing, progress)
    return links(comparison, k=k, sample=sample, seed=seed, progress=progress)


def link(
    comparison: Comparison,
    known: Any = None,
    *,
    k: int | None = None,
    sample: Sample = "auto",
    seed: int | None = None,
    progress: Progress = None,
) -> Linkage:
    """Attack a release whose columns are coded already: ``linkage`` explains it."""
    names = _known(known, comparison.changes)
    return _Attack(comparison, Attacked(k, sample, seed), progress).by(names)


def links(
    comparison: Comparison,
    *,
    k: int | None = None,
    sample: Sample = "auto",
    seed: int | None = None,
    progress: Progress = None,
) -> pd.DataFrame:
    """Attack a release whose columns are coded already: ``linkages`` explains it."""
    attack, names = _Attack(comparison, Attacked(k, sample, seed), progress), list(comparison.changes)
    sizes = range(1, len(names) + 1) if len(names) <= _FEW else (1, len(names))
    found = [attack.by(chosen).to_dict() for size in sizes for chosen in combinations(names, size)]
    return pd.DataFrame({name: pd.Series([row[name] for row in found]) for name in found[0]})


class _Attack:
    """An attack on one release; its sample serves all sets of known columns."""

    def __init__(self, comparison: Comparison, attacked: Attacked, progress: Progress) -> None:
        check_progress(progress)
        self._comparison, self._attacked, self._progress = comparison, attacked, progress

    @cached_property
    def _sample(self) -> NDArray[np.uint32] | None:
        return self._attacked.rows(len(self._comparison))

    def by(self, names: Sequence[Any]) -> Linkage:
        """Attack with some columns known."""
        records = len(self._comparison)
        # With one column the search is over its categories, which costs next to nothing.
        everybody = len(names) == 1 and self._attacked.sample == "auto"
        rows = None if everybody else self._sample
        own = np.arange(records, dtype=np.uint32) if rows is None else rows
        before, after, distances = zip(*(self._comparison.changes[name].united for name in names), strict=True)
        targets = [codes if rows is None else codes[rows] for codes in before]
        with reporter(self._progress, "record linkage") as report:
            ties, people, hits = _core.link_records(targets, list(after), list(distances), own, report)
        attacked = len(own)
        share = math.fsum(hits / ties) / attacked
        squares = math.fsum(hits / ties.astype(np.float64) ** 2) / attacked
        bound = self._attacked.bound
        return Linkage(
            known=tuple(names),
            records=records,
            attacked=attacked,
            share=share,
            interval=None if rows is None else interval(share, squares, attacked, records),
            bound=bound,
            holds=None if bound is None else interval(share, squares, attacked)[0] <= bound,
            ties=quantiles_of(ties, people),
        )


def _compared(
    before: Any,
    after: Any,
    meanings: Mapping[Any, Meaning],
    known: Any,
    measure: str | Measure,
    roots: Mapping[Any, object] | None,
    truth: Any,
    missing: Missing,
    progress: Progress,
) -> Comparison:
    """Code both tables; any fault in them is an error before anybody is looked for."""
    given = check_meanings(meanings)
    chosen = {name: given[name] for name in _known(known, given)}
    tops = {name: root for name, root in (roots or {}).items() if name in chosen or name not in given}
    return Comparison.of(
        before, after, chosen, measure=measure, roots=tops, truth=truth, missing=missing, progress=progress
    )


def _known(known: Any, meanings: Mapping[Any, Any]) -> list[Any]:
    if known is None:
        return list(meanings)
    try:
        names = column_names(known, list(meanings), "known")
    except UnknownColumnError as error:
        raise UnknownColumnError(f"known: {error}", remedy="give it a meaning, such as nym.Equality()") from None
    if not names:
        raise ParameterError("name one column at least; who knows nothing finds nobody", parameter="known")
    return names
