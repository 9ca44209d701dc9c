"""Distance-based record linkage: the nearest row of a release is taken to be the person's own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nominym import _core
from nominym.control import Progress, check_progress, reporter
from nominym.error import DataError, ParameterError, UnknownColumnError
from nominym.frame import Missing, Table, check_missing, column_names
from nominym.risk.columns import Known
from nominym.risk.figures import interval, quantiles_of
from nominym.risk.request import Request, Sample, check_truth
from nominym.taxonomy.measure import Measure, as_measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

# "auto" attacks all of so many records, and a sample of so many of more.
_ALL, _SAMPLE = 100_000, 20_000

# Up to so many columns, every combination of them is tried.
_FEW = 4


@dataclass(frozen=True, repr=False)
class Linkage:
    """What came of linking every person with the nearest rows. It does not say who was found."""

    known: tuple[Any, ...]
    """Columns that the intruder knows."""
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
        """Give all figures by name."""
        return asdict(self)


def linkage(
    before: Any,
    after: Any,
    taxonomies: Mapping[Any, Any],
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
    >>> strict = nym.rank_swap(frame, masked, k=5, guarantee="strict", seed=1)
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
    taxonomies
        What the values of columns mean: a ``Taxonomy`` or a ``DistanceMatrix``; ``None`` for numbers, dates and ordered
        categoricals or the list of all values in order, whose distance is the difference relative to the largest; or
        "equal", by which equal values have distance 0 and others 1.
    known
        The columns that the intruder knows; by default all of ``taxonomies``.
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
    attack = _Attack(
        before, after, taxonomies, known, Request(k, sample, seed), truth, measure, roots, missing, progress
    )
    return attack.by(attack.names)


def linkages(
    before: Any,
    after: Any,
    taxonomies: Mapping[Any, Any],
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
    >>> res = nym.rank_swap(frame, masked, k=5, guarantee="strict", seed=1)
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
    attack = _Attack(
        before, after, taxonomies, None, Request(k, sample, seed), truth, measure, roots, missing, progress
    )
    sizes = range(1, len(attack.names) + 1) if len(attack.names) <= _FEW else (1, len(attack.names))
    sets = [chosen for size in sizes for chosen in combinations(attack.names, size)]
    found = [attack.by(chosen).to_dict() for chosen in sets]
    return pd.DataFrame({name: pd.Series([row[name] for row in found]) for name in found[0]})


class _Attack:
    """Two tables made ready; any fault in them is told before anybody is looked for."""

    def __init__(
        self,
        before: Any,
        after: Any,
        taxonomies: Mapping[Any, Any],
        known: Any,
        request: Request,
        truth: Any,
        measure: str | Measure,
        roots: Mapping[Any, object] | None,
        missing: Missing,
        progress: Progress,
    ) -> None:
        check_progress(progress)
        check_missing(missing)
        how = as_measure(measure)
        self._request, self._progress = request, progress
        self.names = _names(taxonomies, known)
        unknown = [name for name in roots or {} if name not in taxonomies]
        if unknown:
            raise ParameterError(f"roots: {unknown[0]!r} is not among the columns: {', '.join(map(str, taxonomies))}")
        tables = Table(before), Table(after)
        sizes = [_records(table, self.names, when) for table, when in zip(tables, ("before", "after"), strict=True)]
        if truth is None:
            _refuse_other_order(before, after)
        self._records = sizes[0]
        self._truth = check_truth(truth, *sizes)
        self._columns = {
            name: Known(tables, name, taxonomies[name], how, (roots or {}).get(name), missing, progress)
            for name in self.names
        }
        self._drawn: NDArray[np.uint32] | str | None = "not yet"

    def by(self, names: Sequence[Any]) -> Linkage:
        """Attack with some columns known."""
        columns = [self._columns[name] for name in names]
        rows = self._sample(len(columns))
        distances = [column.distances for column in columns]
        targets = [column.before if rows is None else column.before[rows] for column in columns]
        own = self._truth if rows is None else self._truth[rows]
        with reporter(self._progress, "record linkage") as report:
            ties, people, hits = _core.link_records(
                targets, [column.after for column in columns], distances, own, report
            )
        attacked = len(own)
        share = math.fsum(hits / ties) / attacked
        squares = math.fsum(hits / ties.astype(np.float64) ** 2) / attacked
        bound = self._request.bound
        return Linkage(
            known=tuple(names),
            records=self._records,
            attacked=attacked,
            share=share,
            interval=None if rows is None else interval(share, squares, attacked, self._records),
            bound=bound,
            holds=None if bound is None else interval(share, squares, attacked)[0] <= bound,
            ties=quantiles_of(ties, people),
        )

    def _sample(self, columns: int) -> NDArray[np.uint32] | None:
        # With one column the search is over its categories, which costs next to nothing.
        if columns == 1 and self._request.sample == "auto":
            return None
        if isinstance(self._drawn, str):
            self._drawn = self._request.draw(self._records, _ALL, _SAMPLE)
        return self._drawn


def _names(taxonomies: Any, known: Any) -> list[Any]:
    if not isinstance(taxonomies, Mapping) or not taxonomies:
        raise ParameterError(
            "taxonomies: a mapping from column names to taxonomies is needed, with one column at least"
        )
    if known is None:
        return list(taxonomies)
    names = column_names(known, list(taxonomies))
    if not names:
        raise ParameterError("known: name one column at least; who knows nothing finds nobody")
    for name in names:
        if name not in taxonomies:
            raise UnknownColumnError(
                f"known: {name!r} is not among taxonomies, which have {', '.join(map(repr, taxonomies))}; give it a "
                "taxonomy, or 'equal'"
            )
        if names.count(name) > 1:
            raise ParameterError(f"known: {name!r} stands {names.count(name)} times; name each column once")
    return names


def _records(table: Table, names: Sequence[Any], when: str) -> int:
    for name in names:
        if name not in table.names:
            raise UnknownColumnError(
                f"there is no column {name!r} in the table {when}; there are {', '.join(map(repr, table.names))}"
            )
    table.check_lengths()
    records = len(table.values(names[0]))
    if not records:
        raise DataError(f"the table {when} has no records")
    return records


def _refuse_other_order(before: Any, after: Any) -> None:
    """Refuse frames whose index says that the rows are in another order: risk would be told to be lower than it is."""
    if not (isinstance(before, pd.DataFrame) and isinstance(after, pd.DataFrame)) or len(before) != len(after):
        return
    first, second = before.index, after.index
    if first.equals(second) or not (first.is_unique and second.is_unique):
        return
    if bool(first.isin(second).all()):
        raise DataError(
            "the tables have the same index in another order; rows are compared by position, so sort one like the "
            "other, or give truth=after.index.get_indexer(before.index)"
        )
