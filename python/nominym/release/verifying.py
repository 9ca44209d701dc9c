"""Verification: whether the files of a release bear out the guarantee that its manifest states.

An attack that fails is no proof. What can be verified by the owner is that the release is what the method makes: groups
of the stated sizes, inside which values were given to other records and nothing else was done, in rows whose order says
nothing. The one thing that no file shows is the randomness of the draw; gross departures from it do show.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym._core import __version__
from nominym.control import Progress, reporter
from nominym.error import NominymError
from nominym.groups import Partition
from nominym.guarantee import Guarantee
from nominym.itemsets import Itemsets, Recode
from nominym.itemsets.graph import Groups
from nominym.itemsets.metrics import over_both
from nominym.method import Method
from nominym.release.comparing import FilePair, SetsPair, person_of, tuples_of
from nominym.release.files import listed
from nominym.release.manifest import Manifest, OwnersRecord
from nominym.release.pipeline import IDENTIFIER, KEEP, PERSON, QUASI

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What happens in fewer of so many releases is not taken for chance.
_RARE = 1e-6


@dataclass(frozen=True)
class Verification:
    """Whether a guarantee was verified, and why not."""

    doubts: tuple[str, ...] = ()
    """What is missing for it: a sentence each."""
    broken: tuple[str, ...] = ()
    """What contradicts it: a sentence each."""
    checks: tuple[str, ...] = ()
    """What was checked and is as it should be."""

    @property
    def verified(self) -> bool:
        """Whether all that can be checked was checked, and is as it should be."""
        return not self.doubts and not self.broken


def verify(pair: FilePair | SetsPair, progress: Progress = None) -> Verification:
    """Compare a release with what its manifest says, record by record and group by group; owner only.

    A guarantee is verified with a manifest of a method that has one, of this very file; without a seed; with the
    owner's record, of this very original; with rows in an order that says nothing; and if all figures follow from the
    files: groups, what they hold before and after, and what is public.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import nominym as nym
    >>> with TemporaryDirectory() as folder:
    ...     path, target, key = (Path(folder, name) for name in ("visits.csv", "release.csv", "owner.parquet"))
    ...     nym.release.write_table({"age": list(range(30, 60))}, path)
    ...     roles = {"age": "quasi-identifier"}
    ...     _ = nym.publish(path, target, roles, nym.RankSwap(k=4), {"age": nym.Order()}, key=key)
    ...     nym.release.verify(nym.release.compare_files(path, target, key=key)).verified
    True
    """
    found = _Findings()
    basis = _basis(pair, found)
    if basis is not None and isinstance(pair, FilePair):
        _check_table(pair, basis, found, progress)
    elif basis is not None and isinstance(pair, SetsPair) and isinstance(basis.method, Recode):
        _check_sets(pair, basis, basis.method, found, progress)
    return Verification(tuple(found.doubts), tuple(found.broken), tuple(found.checks))


@dataclass
class _Findings:
    doubts: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)

    def check(self, so: bool, what: str, otherwise: str) -> None:
        """Note what was checked, or what contradicts it."""
        (self.checks if so else self.broken).append(what if so else otherwise)


@dataclass(frozen=True, eq=False)
class _Basis:
    """What a verification starts from."""

    manifest: Manifest
    method: Method
    record: OwnersRecord
    group_of: NDArray[np.uint32]
    """The group of each record, groups numbered from 0 without gaps."""

    @cached_property
    def partition(self) -> Partition:
        return Partition(self.group_of, np.argsort(self.group_of, kind="stable").astype(np.uint32))

    @property
    def least(self) -> int:
        """The smallest size of a group."""
        return _least(self.method)


def _least(method: Method) -> int:
    """Return the smallest size of a group: k, or l."""
    return int(getattr(method, "least", getattr(method, "k", 1)))


def _basis(pair: FilePair | SetsPair, found: _Findings) -> _Basis | None:
    """Collect what is needed, and doubt where something is missing; None where figures cannot be compared at all."""
    manifest, record = pair.manifest, pair.record
    if manifest is None:
        found.doubts.append("no manifest stands beside the release, so nothing is guaranteed that could be verified")
        return None
    method: Any = None
    try:
        method = manifest.method
    except NominymError as error:
        found.doubts.append(str(error))
    guaranteed = method is not None and method.statement(["values"]).kind in ("groups", "labels")
    if method is not None and not guaranteed:
        found.doubts.append(f"{method!r} has no guarantee that files could show")
    if isinstance(pair, SetsPair) and guaranteed:
        _check_forms(pair, _least(method), found)
    if pair.seeded:
        found.doubts.append("the release was made with a seed: whoever has or guesses it repeats the draw")
        if not manifest.seeded:
            found.broken.append("by the owner's record a seed was given, which the manifest denies")
    if manifest.order != "shuffled":
        found.doubts.append("the rows are in the order of the original, which may tell whose they are")
    if record is None:
        found.doubts.append("the owner's record is not given, so groups and rows cannot be checked")
        return None
    if "sha256" not in record.input:
        found.doubts.append("by the owner's record, the release was not made of a file, so the original is not certain")
    elif pair.other_input:
        found.doubts.append("by the owner's record, the release was made of another original")
        return None
    if record.groups is None and guaranteed:
        found.doubts.append("the owner's record has no groups: it is of an older version, or of a method without them")
    if record.groups is None or not guaranteed:
        return None
    group_of = np.unique(record.groups, return_inverse=True)[1].reshape(-1).astype(np.uint32)
    basis = _Basis(manifest, method, record, group_of)
    _check_rows(record.rows, found)
    smallest = int(basis.partition.sizes.min())
    found.check(
        smallest >= basis.least,
        f"every group has {basis.least:,} records or more",
        f"a group has {smallest:,} records, fewer than {basis.least:,}",
    )
    return basis


def _check_rows(rows: NDArray[np.uint32], found: _Findings) -> None:
    """Check that the order of the rows says nothing about that of the records."""
    n = len(rows)
    steps = np.diff(rows.astype(np.int64))
    follow = int((np.abs(steps) == 1).sum())
    if n < 3:
        return
    place = np.arange(n) - (n - 1) / 2
    correlation = float(np.dot(place, rows - (n - 1) / 2)) / (n * (n * n - 1) / 12)
    # Of a random order, two neighbours are expected to stay neighbours, and the correlation is normal.
    chance = math.erfc(abs(correlation) * math.sqrt((n - 1) / 2))
    orders = 2 / math.factorial(min(n, 20))
    same = abs(correlation) > 1 - 1e-9 and orders < _RARE
    telling = _tail(follow, 2.0) < _RARE or chance < _RARE or same
    found.check(
        not telling,
        "the order of the rows says nothing about that of the records",
        f"the rows follow the order of the original: rank correlation {correlation:.2f}, {follow:,} of {n - 1:,} "
        "neighbours stay neighbours",
    )


def _tail(count: float, expected: float) -> float:
    """Bound the probability that a count of rare, nearly independent events is so large or larger (Chernoff)."""
    if count <= expected:
        return 1.0
    return math.exp(count - expected - count * math.log(count / expected)) if expected > 0 else 0.0


# ---- tables


def _check_table(pair: FilePair, basis: _Basis, found: _Findings, progress: Progress) -> None:
    roles = basis.manifest.roles
    masked, kept = list(roles.get(QUASI) or ()), list(roles.get(KEEP) or ())
    found.doubts += pair.weaker.values()
    without = [name for name in pair.released if name not in masked and name not in kept]
    gone = [name for name in (*masked, *kept) if name not in pair.released]
    telling = dict.fromkeys([*(roles.get(IDENTIFIER) or ()), *(roles.get(PERSON) or ()), pair.person])
    dropped = [name for name in telling if name in pair.released]
    found.check(
        not without and not gone and not dropped,
        "every column of the release has its role",
        _sentences(
            (without, "{} of the release has no role in the manifest"),
            (gone, "{} of the manifest is not in the release"),
            (dropped, "{} identifies persons and is in the release"),
        ),
    )
    named = basis.manifest.params.get("columns", masked), [name for name in pair.released if name in kept]
    _check_statement(basis, basis.method.statement(*named), found)
    if gone or any(name not in pair.comparison.shared for name in (*masked, *kept)):
        return
    _check_kept(pair, kept, found)
    whole = _check_masked(pair, masked, basis, found)
    _check_limits(pair, basis, found)
    if whole:
        _check_draw(pair, masked, basis, found)
    _check_figures(pair, masked, kept, basis, found, progress)


def _check_statement(basis: _Basis, guarantee: Guarantee, found: _Findings) -> None:
    """Check that the manifest states what the method guarantees, and nothing else."""
    if basis.manifest.seeded:
        return
    stated = basis.manifest.statement
    same = stated == guarantee
    if basis.manifest.version != __version__:  # which may have had other words for it
        same = (stated.kind, stated.bound) == (guarantee.kind, guarantee.bound)
    found.check(
        same,
        "the statement of the guarantee is that of the method",
        "the guarantee that the manifest states is not that of its method",
    )


def _sentences(*faults: tuple[list[Any], str]) -> str:
    named = [text.format(f"column {listed(names)}") for names, text in faults if names]
    return "; ".join(named)


def _check_kept(pair: FilePair, kept: list[str], found: _Findings) -> None:
    changed = {}
    for name in kept:
        before, after, _ = pair.comparison.coded(name)
        count = int((before != after).sum())
        if count:
            changed[name] = count
    told = "; ".join(f"column {name!r} is kept, but differs in {count:,} records" for name, count in changed.items())
    if kept:
        found.check(not changed, "kept columns are as they were, record by record", told)


def _check_masked(pair: FilePair, masked: list[str], basis: _Basis, found: _Findings) -> bool:
    """Check that every group has after masking the values that it had before."""
    other = {}
    for name in masked:
        before, after, _ = pair.comparison.coded(name)
        cells = [np.sort(basis.group_of.astype(np.uint64) << np.uint64(32) | codes) for codes in (before, after)]
        wrong = np.unique((cells[0] >> np.uint64(32))[cells[0] != cells[1]])
        if len(wrong):
            other[name] = len(wrong)
    told = "; ".join(
        f"column {name!r}: in {count:,} groups the values after masking are not those before"
        for name, count in other.items()
    )
    found.check(not other, "inside every group, values were given to other records and nothing else", told)
    return not other


def _check_limits(pair: FilePair, basis: _Basis, found: _Findings) -> None:
    """Check the share of a person, and of a sensitive value, in every group."""
    limits: dict[str, int] = dict(basis.manifest.params.get("sensitive") or {})
    person = person_of(basis.manifest)
    if person is not None:
        limits[person] = basis.least
    for name, share in limits.items():
        _check_share(pair.comparison.before.column(name).dense()[0], share, f"value of {name!r}", basis, found)


def _check_share(codes: NDArray[Any], share: int, what: str, basis: _Basis, found: _Findings) -> None:
    size = int(codes.max()) + 1
    cells, counts = np.unique(basis.group_of.astype(np.int64) * size + codes, return_counts=True)
    above = int((counts * share > basis.partition.sizes[cells // size]).sum())
    found.check(
        not above,
        f"no {what} is on more than 1/{share} of a group",
        f"in {above:,} cases one {what} is on more than 1/{share} of a group",
    )


def _check_draw(pair: FilePair, masked: list[str], basis: _Basis, found: _Findings) -> None:
    """Check that no more records kept all their values than chance explains.

    Under uniform permutations a record of a group of s keeps a value that c of them have with probability c/s, and all
    of them keep theirs with probability ∏ c! / s!; groups are independent. How much more than a Poisson law the number
    of records varies is measured on some of the groups.
    """
    columns = [pair.comparison.coded(name)[:2] for name in masked]
    same = np.logical_and.reduce([before == after for before, after in columns])
    before = [codes for codes, _ in columns]
    if basis.manifest.params.get("draw") == "joint":
        before = [tuples_of(before).astype(np.uint32)]
    sizes, group_of = basis.partition.sizes, basis.group_of
    chance, still = np.ones(len(group_of)), np.zeros(len(sizes))
    factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, sizes.max() + 1)))))
    for codes in before:
        cells = group_of.astype(np.uint64) << np.uint64(32) | codes
        kinds, place, counts = np.unique(cells, return_inverse=True, return_counts=True)
        chance *= counts[place.reshape(-1)] / sizes[group_of]
        ways = np.bincount((kinds >> np.uint64(32)).astype(np.int64), factorial[counts])
        still += ways - factorial[sizes]
    expected = np.bincount(group_of, chance)
    # Where all records of a group are the same, all keep their values.
    moving = expected < sizes * (1 - 1e-12)
    count, mean = int(same[moving[group_of]].sum()), float(expected[moving].sum())
    spread = _spread(before, basis.partition, np.flatnonzero(moving))
    whole = int((np.bincount(group_of, same)[moving] == sizes[moving]).sum())
    expected_whole = float(np.exp(still[moving]).sum())
    likely = min(_tail(count / spread, mean / spread), _tail(whole, expected_whole)) >= _RARE
    found.check(
        likely,
        "no more records kept all their masked values than chance explains",
        f"{count:,} records kept all their masked values, in {whole:,} groups all of them, where permuting leaves "
        f"{mean:,.1f} and {expected_whole:,.1f} on average: values were left where they were",
    )


# So many groups, of up to so many records, tell how much the number of records that keep their values varies.
_SOME, _SMALL = 2_000, 200


def _spread(columns: list[NDArray[np.uint32]], partition: Partition, moving: NDArray[np.int64]) -> float:
    """Return the variance of the number of records of a group that keep all their values, divided by its mean.

    Two records of a group of s both keep theirs with probability c(c − 1)/s(s − 1) if c records have the value of both,
    and c·c'/s(s − 1) if they have different ones.
    """
    sizes = partition.sizes
    starts = np.cumsum(sizes) - sizes
    some = moving[sizes[moving] <= _SMALL]
    some = some[:: max(1, len(some) // _SOME)]
    mean = variance = 0.0
    for group in some.tolist():
        size = int(sizes[group])
        rows = partition.records[starts[group] : starts[group] + size]
        single, both = np.ones(size), np.ones((size, size))
        for codes in columns:
            equal = codes[rows][:, None] == codes[rows][None, :]
            times = equal.sum(1)
            single *= times / size
            both *= times[:, None] * (times[None, :] - equal) / (size * (size - 1))
        expected = float(single.sum())
        np.fill_diagonal(both, 0.0)
        mean += expected
        variance += float(both.sum()) + expected - expected**2
    if not mean:
        return float(sizes[moving].max(initial=1))
    return max(1.0, variance / mean)


def _check_figures(
    pair: FilePair, masked: list[str], kept: list[str], basis: _Basis, found: _Findings, progress: Progress
) -> None:
    """Compute the public figures anew, from the original and the groups."""
    before, said = pair.comparison.before, basis.manifest.summary
    told = person_of(basis.manifest)
    person = None if told is None else before.column(told)
    limited = list(basis.manifest.params.get("sensitive") or ())
    columns = [{name: before.column(name) for name in names} for names in (masked, kept)]
    sizing = basis.partition.summary(columns[0], columns[1], person, limited)
    attributes: dict[str, dict[str, Any]] = {}
    for name in masked:
        stated = said.get("attributes", {}).get(name, {})
        computed = basis.partition.expected(pair.comparison.changes[name].before, progress)
        if name in pair.weaker:
            # Distances without the meaning are others.
            computed.pop("expected_rmse")
        attributes[name] = {figure: computed[figure] for figure in stated if figure in computed}
    figures = {"records": len(pair.comparison), "groups": sizing, "attributes": attributes}
    _compare(figures, said, found)


def _compare(computed: Mapping[str, Any], said: Mapping[str, Any], found: _Findings) -> None:
    wrong = [
        f"{' '.join(map(str, path))}: {stated!r} in the manifest, {value!r} by the files"
        for path, value, stated in _pairs(computed, said)
        if not _same(value, stated)
    ]
    told = f"figures of the manifest do not follow from the files: {'; '.join(wrong[:3])}"
    found.check(not wrong, "all public figures follow from the files", told)


def _pairs(computed: Mapping[Any, Any], said: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any, Any]]:
    for name, value in computed.items():
        stated = said.get(name) if isinstance(said, Mapping) else None
        if isinstance(value, Mapping) and isinstance(stated, Mapping):
            yield from _pairs(value, stated, (*path, name))
        else:
            yield (*path, name), value, stated


def _same(computed: Any, stated: Any) -> bool:
    if isinstance(computed, float) and isinstance(stated, int | float):
        return math.isclose(computed, stated, rel_tol=1e-9, abs_tol=1e-9)
    return bool(computed == stated)


# ---- item sets


def _check_forms(pair: SetsPair, least: int, found: _Findings) -> None:
    """Check that the rows of a group look alike: each published form is on so many rows. That needs no record."""
    release = pair.release
    draws = np.random.default_rng().integers(1 << 63, size=(2, release.base.n_items + 1), dtype=np.uint64)
    forms = release.threshold.astype(np.uint64)
    for sets, numbers in zip((release.base, release.distance), draws, strict=True):
        # A set is known by the sum of the random numbers of its items.
        sums = np.concatenate(([np.uint64(0)], np.cumsum(numbers[sets.core.items()], dtype=np.uint64)))
        ends = sets.core.starts().astype(np.int64)
        forms = forms * np.uint64(0x9E3779B97F4A7C15) + (sums[ends[1:]] - sums[ends[:-1]])
    fewest = int(np.unique(forms, return_counts=True)[1].min())
    found.check(
        fewest >= least,
        f"every published form is on {least:,} rows or more",
        f"a published form is on {fewest:,} rows only, fewer than {least:,}: it is not that of a group",
    )


def _check_sets(pair: SetsPair, basis: _Basis, method: Recode, found: _Findings, progress: Progress) -> None:
    """Let the groups vote anew, and compare."""
    release, rows = pair.release, basis.record.rows
    with reporter(progress, "votes") as report:
        base, distance, threshold, expected = Groups(basis.group_of).vote(pair.sets.core, rows, report)
    names = pair.sets.names
    parts = {
        "base": _equal(Itemsets(base, names), release.base),
        "distance": _equal(Itemsets(distance, names), release.distance),
        "threshold": bool(np.array_equal(threshold, release.threshold)),
    }
    wrong = [name for name, same in parts.items() if not same]
    found.check(
        not wrong,
        "base, distance and threshold are those that the groups vote for",
        f"{', '.join(wrong)}: not what the groups vote for",
    )
    _check_statement(basis, replace(release, method=method, summary=basis.manifest.summary).guarantee, found)
    if method.l is not None and release.labels is None:
        found.broken.append("there are no labels, where every group is to show several")
    elif method.l is not None:
        labels = np.unique(np.asarray(release.labels).astype(str), return_inverse=True)[1].reshape(-1)
        _check_share(labels[rows], method.l, "label", basis, found)
    sizes = basis.partition.sizes
    sizing = {"count": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())}
    if "persons" in basis.manifest.summary.get("groups", {}):
        if pair.person is None:
            found.doubts.append("whose record each is, is not given, so persons in groups cannot be counted")
        else:
            codes, size = pair.person.dense()
            _check_share(codes, basis.least, "person", basis, found)
            cells = np.unique(basis.group_of.astype(np.int64) * size + codes)
            sizing["persons"] = int(np.bincount(cells // size).min())
    figures = {
        "records": len(pair.sets),
        "matches": int(sizes.min()),
        "expected_error": expected,
        "threshold": {"mean": float(threshold.mean()), "largest": int(threshold.max())},
        "groups": sizing,
    }
    _compare(figures, basis.manifest.summary, found)


def _equal(first: Itemsets, second: Itemsets) -> bool:
    try:
        first, second = over_both(first, second)
    except NominymError:
        return False
    return first == second
