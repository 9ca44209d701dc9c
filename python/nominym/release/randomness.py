"""Test whether permutations inside groups, and the order of rows, look randomly drawn.

Every trial compares a figure with its mean and variance over all uniform permutations, which are known exactly, and
bounds the probability of such a deviation from the mean by Bennett's inequality. What a trial cannot detect is computed
too: the deviation that would not have been called improbable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.groups import Partition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.uint32]


@dataclass(frozen=True)
class Trial:
    """A figure and its distribution under chance."""

    what: str
    """What was counted, as a phrase without the figures."""
    found: float
    mean: float
    variance: float
    most: float = math.inf
    """The largest possible figure."""
    scale: float = 1.0
    """The most by which a single record may change the figure."""

    @property
    def probability(self) -> float:
        """Return a bound on the probability that a random draw deviates as much from the mean, on either side."""
        return 2 * _tail(abs(self.found - self.mean), self.variance, self._scale)

    @property
    def _scale(self) -> float:
        """Return 1, or more if records of a group keep their values together, as both or none of two do."""
        rarer = min(self.mean, self.most - self.mean)
        return self.scale * max(1.0, self.variance / rarer if rarer > 0 else 1.0)

    def unseen(self, level: float) -> float:
        """Return the share of records that could have been left unchanged with a probability above a level."""
        if not self.most - self.mean > 0:
            return 1.0
        least, beyond = 0.0, self.most - self.mean
        if 2 * _tail(beyond, self.variance, self._scale) > level:
            return 1.0
        for _ in range(60):
            middle = (least + beyond) / 2
            likely = 2 * _tail(middle, self.variance, self._scale) > level
            least, beyond = (middle, beyond) if likely else (least, middle)
        return beyond / (self.most - self.mean)


def _tail(distance: float, variance: float, scale: float) -> float:
    """Bound the probability of such a deviation from the mean by Bennett's inequality.

    >>> _tail(0.0, 4.0, 1.0), _tail(10.0, 4.0, 1.0) < 1e-3, _tail(1.0, 0.0, 1.0)
    (1.0, True, 0.0)
    """
    # Sums of many terms are exact to so much only.
    if distance <= 1e-6 * max(1.0, math.sqrt(variance)):
        return 1.0
    if variance <= 1e-12:
        return 0.0
    ratio = distance * scale / variance
    return math.exp(-variance / scale**2 * ((1 + ratio) * math.log1p(ratio) - ratio))


# ---- values


def draw_trials(
    before: Mapping[str, Codes], after: Mapping[str, Codes], others: Mapping[str, Codes], partition: Partition
) -> tuple[list[Trial], list[Trial]]:
    """Test whether values were permuted uniformly inside their groups, each column by itself.

    ``others`` are true values of the records that were not masked. The second list counts records that kept their
    values, which shows how many could have been left unchanged.
    """
    # Group after group, so that what is sorted is nearly sorted and what is looked up is near.
    along = partition.records
    before, after, others = ({name: codes[along] for name, codes in some.items()} for some in (before, after, others))
    partition = Partition(partition.group_of[along], np.arange(len(along), dtype=np.uint32))
    names = list(before)
    kept = [_unchanged(name, before[name], after[name], partition) for name in names]
    found = []
    if len(names) > 1:
        columns = list(before.values()), list(after.values())
        kept += _all_unchanged(*columns, partition)
        found += _whole_groups(*columns, partition)
    old = {name: _ranks(codes, partition) for name, codes in {**others, **before}.items()}
    new = {name: _ranks(codes, partition) for name, codes in after.items()}
    for name in names:
        found += [_alike(f"column {name!r} after masking follows {_its(other, before)}", old[other], new[name],
                         partition) for other in old]  # fmt: skip
    values = {name: _Values.of(before[name], after[name], partition) for name in names}
    for at, first in enumerate(names):
        for second in names[:at]:
            what = f"rows have values of columns {second!r} and {first!r} that one record had"
            found.append(_same_source(what, values[first], values[second], partition))
            what = f"columns {second!r} and {first!r} after masking follow each other"
            found.append(_alike(what, new[first], new[second], partition))
    return found, kept


def group_trials(group_of: Codes, others: Mapping[str, Codes], equal: Partition) -> list[Trial]:
    """Test whether the groups of equal records were drawn without regard to other columns."""
    own = _ranks(group_of, equal)
    what = "which of equal records is in which group follows"
    return [_alike(f"{what} {name}", _ranks(codes, equal), own, equal) for name, codes in others.items()]


def _its(name: str, masked: Mapping[str, Codes]) -> str:
    return f"column {name!r} before" if name in masked else name


def _cells(groups: Codes, codes: Codes) -> NDArray[np.uint64]:
    return groups.astype(np.uint64) << np.uint64(32) | codes


@dataclass(frozen=True, eq=False)
class _Values:
    """The values of a column, group by group: equal values of two groups are distinct."""

    before: NDArray[np.int64]
    """The number of the value of each record."""
    after: NDArray[np.int64]
    counts: NDArray[np.int64]
    """Records of each value."""
    group: NDArray[np.int64]
    """The group of each value."""

    @classmethod
    def of(cls, before: Codes, after: Codes, partition: Partition) -> _Values:
        """Number the values; those after are some of those before."""
        groups = partition.group_of
        kinds, place, counts = np.unique(_cells(groups, before), return_inverse=True, return_counts=True)
        found = np.searchsorted(kinds, _cells(groups, after))
        return cls(place.reshape(-1), found, counts, (kinds >> np.uint64(32)).astype(np.int64))


def _unchanged(name: str, before: Codes, after: Codes, partition: Partition) -> Trial:
    """Count the records that kept their value, which c of the s records of the group have."""
    values = _Values.of(before, before, partition)
    every = np.arange(len(values.counts))
    what = f"records kept their value of column {name!r}"
    return _hits(what, before == after, (values, every), (values, every), partition)


def _same_source(what: str, first: _Values, second: _Values, partition: Partition) -> Trial:
    """Count the rows whose two values come from one record of the group."""
    width = len(second.counts)
    there = np.sort(first.before * width + second.before)
    there = there[np.concatenate(([True], there[1:] != there[:-1]))]
    asked = first.after * width + second.after
    at = np.minimum(np.searchsorted(there, asked), len(there) - 1)
    return _hits(what, there[at] == asked, (first, there // width), (second, there % width), partition)


def _hits(
    what: str,
    found: NDArray[np.bool_],
    first: tuple[_Values, NDArray[np.int64]],
    second: tuple[_Values, NDArray[np.int64]],
    partition: Partition,
) -> Trial:
    """Compare the number of hits with that under a random permutation of the second column against the first.

    Beside the values of both columns are the pairs of them that hit. The variance of a sum over a random permutation is
    that of Hoeffding (1951): what rows and columns of the table of hits do not explain, divided by s − 1.
    """
    (left, left_of), (right, right_of) = first, second
    sizes, number = partition.sizes, len(partition.sizes)
    hits = np.bincount(left.group[left_of], left.counts[left_of].astype(np.float64) * right.counts[right_of], number)
    mean = hits / sizes
    rows = np.bincount(left_of, right.counts[right_of], len(left.counts)) / sizes[left.group]
    columns = np.bincount(right_of, left.counts[left_of], len(right.counts)) / sizes[right.group]
    spread = hits + mean**2
    spread -= sizes * np.bincount(left.group, left.counts * rows**2, number)
    spread -= sizes * np.bincount(right.group, right.counts * columns**2, number)
    # Where all records of a group have the same value there is nothing to draw.
    moving = spread > 1e-9 * sizes
    return Trial(
        what,
        float(found[moving[partition.group_of]].sum()),
        math.fsum(mean[moving]),
        math.fsum(spread[moving] / (sizes[moving] - 1)),
        float(sizes[moving].sum()),
    )


def _moving(columns: Sequence[Codes], partition: Partition) -> NDArray[np.bool_]:
    """Return which records are in groups in which some column has several values."""
    starts = np.cumsum(partition.sizes) - partition.sizes
    several = np.zeros(len(starts), dtype=bool)
    for codes in columns:
        along = codes[partition.records]
        several |= np.minimum.reduceat(along, starts) != np.maximum.reduceat(along, starts)
    return np.asarray(several[partition.group_of])


def _all_unchanged(before: list[Codes], after: list[Codes], partition: Partition) -> list[Trial]:
    """Count the records that kept all values: among all, and among those for which that is rare."""
    same = np.logical_and.reduce([old == new for old, new in zip(before, after, strict=True)])
    moving, chance = _moving(before, partition), np.ones(len(same))
    for codes in before:
        _, place, counts = np.unique(_cells(partition.group_of, codes), return_inverse=True, return_counts=True)
        chance *= counts[place.reshape(-1)] / partition.sizes[partition.group_of]
    trials = []
    for share in (1.0, 0.5, 0.1) if moving.any() else ():
        rare = moving & (chance <= np.quantile(chance[moving], share))
        mean = math.fsum(chance[rare])
        what = "records kept all their masked values" + (", of those that rarely do" if share < 1 else "")
        # How much more than a Poisson law that varies is measured on some of the groups.
        ratio = spread(before, partition, rare)
        trials.append(Trial(what, float(same[rare].sum()), mean, mean * ratio, float(rare.sum())))
    return trials


def _whole_groups(before: list[Codes], after: list[Codes], partition: Partition) -> list[Trial]:
    """Count the groups whose records all kept all values: with c equal ones among s, the probability is ∏ c! / s!."""
    groups, sizes = partition.group_of, partition.sizes
    same = np.logical_and.reduce([old == new for old, new in zip(before, after, strict=True)])
    still = np.zeros(len(sizes))
    factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, sizes.max() + 1)))))
    for codes in before:
        kinds, counts = np.unique(_cells(groups, codes), return_counts=True)
        still += np.bincount((kinds >> np.uint64(32)).astype(np.int64), factorial[counts]) - factorial[sizes]
    moving = np.bincount(groups, _moving(before, partition)) > 0
    whole = float((np.bincount(groups, same)[moving] == sizes[moving]).sum())
    mean = math.fsum(np.exp(still[moving]))
    return [Trial("groups kept all masked values of all their records", whole, mean, mean, float(moving.sum()))]


# Number of groups, and their largest size, from which to estimate how much the number of unchanged records varies.
_SOME, _SMALL = 2_000, 200


def spread(columns: Sequence[Codes], partition: Partition, among: NDArray[np.bool_]) -> float:
    """Return the variance of the number of records that keep all their values, divided by its mean.

    Two records of a group of s both keep theirs with probability c(c − 1)/s(s − 1) if c records have the value of both,
    and c·c'/s(s − 1) if they have different ones.
    """
    sizes = partition.sizes
    starts = np.cumsum(sizes) - sizes
    some = np.flatnonzero((np.bincount(partition.group_of, among) > 0) & (sizes <= _SMALL) & (sizes > 1))
    some = some[:: max(1, len(some) // _SOME)]
    mean = variance = 0.0
    for group in some.tolist():
        size = int(sizes[group])
        rows = partition.records[starts[group] : starts[group] + size]
        single = among[rows].astype(np.float64)
        both = np.outer(single, single)
        for codes in columns:
            equal = codes[rows][:, None] == codes[rows][None, :]
            times = equal.sum(1)
            single = single * times / size
            both *= times[:, None] * (times[None, :] - equal) / (size * (size - 1))
        expected = float(single.sum())
        np.fill_diagonal(both, 0.0)
        mean += expected
        variance += float(both.sum()) + expected - expected**2
    if not mean:
        return float(sizes.max(initial=1))
    return max(1.0, variance / mean)


# ---- ranks inside groups


@dataclass(frozen=True, eq=False)
class _Ranks:
    """The rank of each record inside its group, from −1/2 to 1/2, and the sum of its squares by group."""

    scores: NDArray[np.float64]
    squares: NDArray[np.float64]


def _ranks(codes: Codes, partition: Partition) -> _Ranks:
    groups, sizes = partition.group_of, partition.sizes
    _, place, counts = np.unique(_cells(groups, codes), return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts + (counts - 1) / 2
    starts = np.cumsum(sizes) - sizes
    scores = (middle[place.reshape(-1)] - starts[groups] - (sizes[groups] - 1) / 2) / sizes[groups]
    return _Ranks(scores, np.bincount(groups, scores**2, len(sizes)).astype(np.float64))


def _alike(what: str, first: _Ranks, second: _Ranks, partition: Partition) -> Trial:
    """Compare the correlation of ranks inside groups with that of random permutations."""
    several = partition.sizes > 1
    variance = first.squares[several] * second.squares[several] / (partition.sizes[several] - 1)
    found = float(np.dot(first.scores, second.scores))
    return Trial(what, found, 0.0, math.fsum(variance), scale=0.5)


# ---- rows


def row_trials(rows: Codes, columns: Mapping[str, Codes], partition: Partition) -> list[Trial]:
    """Test whether the rows are in random order, following neither that of the records nor their true values."""
    n = len(rows)
    if n < 3:
        return []
    place = np.arange(n, dtype=np.uint32)
    everything = {"the order of the original": place, **columns}
    own = _ranks(rows, partition)
    shown = (rows - (n - 1) / 2) / n
    order = np.argsort(rows)
    found = []
    for name, codes in everything.items():
        ranks = _ranks(codes, Partition(np.zeros(n, dtype=np.uint32), place)).scores
        variance = float(np.dot(ranks, ranks) * np.dot(shown, shown)) / (n - 1)
        found.append(Trial(f"the rows follow {name}", float(np.dot(ranks, shown)), 0.0, variance, scale=0.5))
        found.append(_alike(f"inside groups, the rows follow {name}", _ranks(codes, partition), own, partition))
    for name, codes in {**columns, "groups": partition.group_of}.items():
        found.append(_runs(f"neighbouring rows are similar in {name}", codes[order]))
    follow = float((np.abs(np.diff(rows.astype(np.int64))) == 1).sum())
    neighbours = "neighbours of the original stay neighbours"
    found.append(Trial(neighbours, follow, 2 * (n - 1) / n, 2.0, float(n - 1)))
    return [*found, _steps(rows)]


def _runs(what: str, along: Codes) -> Trial:
    """Count the neighbours with the same value."""
    n = len(along)
    c = np.unique(along, return_counts=True)[1].astype(np.float64)
    pairs, triples = float((c * (c - 1)).sum()), float((c * (c - 1) * (c - 2)).sum())
    mean = pairs / n
    apart = (pairs**2 - 4 * triples - 2 * pairs) / (n * (n - 1)) if n > 3 else 0.0
    variance = mean + 2 * triples / (n * (n - 1)) + apart - mean**2
    return Trial(what, float((along[1:] == along[:-1]).sum()), mean, max(variance, 0.0), float(n - 1))


def _steps(rows: Codes) -> Trial:
    """Count the records that follow their predecessor by the same number of rows, whatever that number.

    Each of n numbers is expected once, so that the largest count is compared with n Poisson laws.
    """
    n = len(rows)
    steps = np.mod(np.diff(rows.astype(np.int64)), n)
    most = int(np.bincount(steps).max())
    return _Largest("records follow each other by the same step", float(most), 1.0, 1.0, float(n - 1), ways=n)


@dataclass(frozen=True)
class _Largest(Trial):
    """The largest of several figures."""

    ways: int = 1

    @property
    def probability(self) -> float:
        """Return a bound on the probability that one of the figures is as large."""
        return min(1.0, self.ways * super().probability)


def improbable(trials: Sequence[Trial], level: float) -> list[Trial]:
    """Return the trials whose figure is improbable for a random draw, the least likely first."""
    # The more trials there are, the likelier one of them is far off.
    found = [trial for trial in trials if trial.probability < level / len(trials)]
    return sorted(found, key=lambda trial: trial.probability)


def unseen(trials: Sequence[Trial], beside: int, level: float) -> float:
    """Return the share of records that could have been left unchanged, by the sharpest of the trials."""
    return min((trial.unseen(level / (len(trials) + beside)) for trial in trials), default=1.0)


def told(trial: Trial) -> str:
    """Return what was found, and what chance predicts."""
    if math.isinf(trial.most):
        deviations = (trial.found - trial.mean) / math.sqrt(trial.variance) if trial.variance else math.inf
        return f"{trial.what} ({deviations:+.1f} standard deviations from what chance predicts)"
    return f"{trial.found:,.0f} {trial.what}, where chance predicts {trial.mean:,.1f}"


def are_same(before: NDArray[Any], after: NDArray[Any], groups: Codes) -> bool:
    """Return whether every group has the same values after as before."""
    old, new = (np.sort(_cells(groups, codes.astype(np.uint32))) for codes in (before, after))
    return bool(np.array_equal(old, new))
