"""Distance-based record linkage: the nearest row of a release is taken to be the person's own."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from nominym import _core
from nominym.control import Progress, check_seed, is_whole, reporter
from nominym.error import ParameterError, UnknownColumnError
from nominym.meaning import Meaning, Measure, check_meanings
from nominym.stats import interval, quantiles
from nominym.table import Comparison, Missing, column_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

Sample: TypeAlias = Literal["auto"] | int | None
"""What ``sample=`` takes: "auto", a number of records, or None for all."""

# "auto" attacks all of so many records, and a sample of so many of more.
_ALL, _SAMPLE = 100_000, 20_000

# Up to so many columns, every combination of them is tried.
_FEW = 4


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
        named = sample == "auto" if isinstance(sample, str) else sample is None
        if not named and not (is_whole(sample) and int(sample) >= 1):  # type: ignore[arg-type]
            what = "give 'auto', a number of records, or None for all of them"
            raise ParameterError(what, parameter="sample", value=sample)
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
    given = check_meanings(meanings)
    chosen = {name: given[name] for name in _known(known, given)}
    tops = {name: root for name, root in (roots or {}).items() if name in chosen or name not in given}
    comparison = Comparison.of(
        before, after, chosen, measure=measure, roots=tops, truth=truth, missing=missing, progress=progress
    )
    return link(comparison, k=k, sample=sample, seed=seed, progress=progress)


def linkages(
    before: Any,
    after: Any,
    meanings: Mapping[Any, Meaning],
    *,
    k: int | None = None,
    sample: Sample = "auto",
    seed: int | None = None,
    progress: Progress = None,
    **options: Any,
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

    Options are those of ``linkage``. Each row has the fields of a ``Linkage``; one sample serves all attacks.
    """
    comparison = Comparison.of(before, after, check_meanings(meanings), progress=progress, **options)
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
    who = Attacked(k, sample, seed)
    return _attack(comparison, names, who, who.rows(len(comparison)), progress)


def links(
    comparison: Comparison,
    *,
    k: int | None = None,
    sample: Sample = "auto",
    seed: int | None = None,
    progress: Progress = None,
) -> pd.DataFrame:
    """Attack a release whose columns are coded already: ``linkages`` explains it."""
    names, who = list(comparison.changes), Attacked(k, sample, seed)
    rows = who.rows(len(comparison))
    sizes = range(1, len(names) + 1) if len(names) <= _FEW else (1, len(names))
    combined = [chosen for size in sizes for chosen in combinations(names, size)]
    found = [_attack(comparison, chosen, who, rows, progress).to_dict() for chosen in combined]
    return pd.DataFrame({name: pd.Series([row[name] for row in found]) for name in found[0]})


def _attack(
    comparison: Comparison, names: Sequence[Any], who: Attacked, rows: NDArray[np.uint32] | None, progress: Progress
) -> Linkage:
    """Attack with some columns known; ``rows`` are the sample."""
    if len(names) == 1 and who.sample == "auto":
        # With one column the search is over its categories, which costs next to nothing.
        rows = None
    records = len(comparison)
    true_rows = np.arange(records, dtype=np.uint32) if rows is None else rows
    before, after, distances = zip(*(comparison.changes[name].united for name in names), strict=True)
    targets = [codes if rows is None else codes[rows] for codes in before]
    with reporter(progress, "record linkage") as report:
        ties, people, hits = _core.link_records(targets, list(after), list(distances), true_rows, report)
    attacked = len(true_rows)
    share = math.fsum(hits / ties) / attacked
    squares = math.fsum(hits / ties.astype(np.float64) ** 2) / attacked
    return Linkage(
        known=tuple(names),
        records=records,
        attacked=attacked,
        share=share,
        interval=None if rows is None else interval(share, squares, attacked, records),
        bound=who.bound,
        holds=None if who.bound is None else interval(share, squares, attacked)[0] <= who.bound,
        ties=quantiles(people, ties),
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
