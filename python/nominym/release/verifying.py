"""Verification: whether the files of a release support the guarantee that its manifest states.

A failed attack is no proof. What the owner can verify is that the release is what the method produces: groups of the
stated sizes, inside which values were given to other records and nothing else was done, in rows whose order reveals
nothing. No file shows the randomness of a draw as such. Departures from it do show, smaller ones with more records; the
report states how large one could be without showing.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym._core import __version__
from nominym.aggregate import Microaggregate
from nominym.content import plain
from nominym.control import Progress, reporter
from nominym.error import DataError, NominymError, PrivacyWarning, SizeError, listed
from nominym.groups import Partition, check_kept
from nominym.guarantee import Guarantee
from nominym.itemsets import Itemsets, Recode
from nominym.itemsets.graph import Groups
from nominym.itemsets.metrics import over_both
from nominym.meaning import Order
from nominym.method import Method, described
from nominym.release.aggregated import Remade
from nominym.release.comparing import FilePair, SetsPair, tuples_of
from nominym.release.manifest import Manifest, OwnersRecord, digest_of
from nominym.release.pipeline import IDENTIFIER, KEEP, PERSON, QUASI
from nominym.release.randomness import Trial, are_same, draw_trials, group_trials, improbable, row_trials, told, unseen
from nominym.swap import RankSwap
from nominym.table import code

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What happens less often than in this share of random releases is not taken for chance.
_RARE = 1e-6
# From this share of records that could have been left as they were, a draw is not called random.
_UNSEEN = 0.1
FOR_PERSONS = "for persons: "
"""Prefix of sentences about persons, for whom the release may guarantee nothing."""


@dataclass(frozen=True)
class Verification:
    """Whether a guarantee was verified, and why not."""

    doubts: tuple[str, ...] = ()
    """What is missing for it, one sentence each."""
    broken: tuple[str, ...] = ()
    """What contradicts it, one sentence each."""
    checks: tuple[str, ...] = ()
    """What was checked and is correct."""
    caveats: tuple[str, ...] = ()
    """What these files cannot show, through no fault of theirs, one sentence each."""

    @property
    def verified(self) -> bool:
        """Return whether everything that can be checked was checked and is correct."""
        return not self.doubts and not self.broken


def verify(pair: FilePair | SetsPair, progress: Progress = None) -> Verification:
    """Compare a release with its manifest, record by record and group by group; owner only.

    A guarantee is verified if the manifest describes exactly this file and a method with a guarantee; if there was no
    seed; if the owner's record belongs to exactly this original; if the order of rows reveals nothing; and if all
    figures follow from the files: groups, what they hold before and after, and what is public.

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
    return Verification(*(tuple(part) for part in (found.doubts, found.broken, found.checks, found.caveats)))


@dataclass
class _Findings:
    doubts: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)

    def check(self, so: bool, what: str, otherwise: str) -> None:
        """Record what was checked, or what contradicts it."""
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
        """Return the smallest size of a group."""
        return _least(self.method)


def is_guaranteed(method: Method | None) -> bool:
    """Return whether a method forms groups that a verification can check."""
    return method is not None and method.statement(["values"]).kind in ("groups", "labels")


def _least(method: Method) -> int:
    """Return the smallest size of a group: k, or l."""
    return int(getattr(method, "least", getattr(method, "k", 1)))


def _basis(pair: FilePair | SetsPair, found: _Findings) -> _Basis | None:
    """Collect what is needed and record doubts where something is missing; None if figures cannot be compared."""
    manifest, record = pair.manifest, pair.record
    if manifest is None:
        found.doubts.append("there is no manifest next to the release, so there is no guarantee to verify")
        return None
    method: Any = None
    try:
        method = manifest.method
    except NominymError as error:
        found.doubts.append(str(error))
    guaranteed = is_guaranteed(method)
    if method is not None and not guaranteed:
        found.doubts.append("this method guarantees nothing, so there is nothing to verify")
    if isinstance(pair, SetsPair) and guaranteed:
        _check_forms(pair, _least(method), found)
    if pair.seeded:
        found.doubts.append("the release was made with a seed: anyone who has or guesses it can repeat the draw")
        if not manifest.seeded:
            found.broken.append("by the owner's record a seed was given, which the manifest denies")
    if manifest.order == "kept":
        found.doubts.append("the rows are in the order of the original, which may reveal whose they are")
    if record is None:
        found.doubts.append("the owner's record was not given, so groups and rows cannot be checked")
        return None
    if "sha256" not in record.input:
        found.doubts.append(
            "by the owner's record, the release was not made from a file, so the original is not certain"
        )
    elif pair.other_input:
        found.doubts.append("by the owner's record, the release was made from another original")
        return None
    if record.groups is None and guaranteed:
        found.doubts.append("the owner's record has no groups: it is of an older version, or of a method without them")
    if record.groups is None or not guaranteed:
        return None
    group_of = np.unique(record.groups, return_inverse=True)[1].reshape(-1).astype(np.uint32)
    basis = _Basis(manifest, method, record, group_of)
    _check_rows(record.rows, _true_values(pair), basis.partition, found)
    smallest = int(basis.partition.sizes.min())
    found.check(
        smallest >= basis.least,
        f"every group has {basis.least:,} records or more",
        f"a group has {smallest:,} records, fewer than {basis.least:,}",
    )
    return basis


def _true_values(pair: FilePair | SetsPair) -> dict[str, NDArray[np.uint32]]:
    """Return the true values of the records, about which the order of rows must reveal nothing."""
    if isinstance(pair, FilePair):
        names = list(dict.fromkeys([*pair.comparison.shared, *(() if pair.person is None else (pair.person,))]))
        return {f"column {name!r} of the original": pair.comparison.before.column(name).dense()[0] for name in names}
    persons = {} if pair.person is None else {"persons": pair.person.dense()[0]}
    return {"the number of items": np.diff(pair.sets.core.starts()).astype(np.uint32), **persons}


def _check_rows(
    rows: NDArray[np.uint32], columns: Mapping[str, NDArray[np.uint32]], partition: Partition, found: _Findings
) -> None:
    """Check that the order of the rows reveals nothing about that of the records or their true values."""
    n = len(rows)
    strange = list(map(told, improbable(row_trials(rows, columns, partition), _RARE)))
    ways = [np.array_equal(rows, along) for along in (np.arange(n), np.arange(n)[::-1])]
    if not strange and any(ways) and 2 / math.factorial(min(n, 20)) < _RARE:
        strange = ["the rows follow the order of the original exactly"]
    found.check(
        not strange,
        "the order of the rows reveals nothing about that of the records",
        f"the rows are not in a random order: {'; '.join(strange[:3])}",
    )


# ---- tables


def _check_table(pair: FilePair, basis: _Basis, found: _Findings, progress: Progress) -> None:
    roles = basis.manifest.roles
    masked, kept = list(roles.get(QUASI) or ()), list(roles.get(KEEP) or ())
    found.doubts += pair.weaker.values()
    without = [name for name in pair.released if name not in masked and name not in kept]
    gone = [name for name in (*masked, *kept) if name not in pair.released]
    telling = dict.fromkeys([*(roles.get(IDENTIFIER) or ()), *(roles.get(PERSON) or ()), pair.person])
    dropped = [name for name in telling if name in pair.released]
    new = [name for name in (*masked, *kept) if name in pair.released and name not in pair.comparison.shared]
    found.check(
        not without and not gone and not dropped and not new,
        "every column of the release has its role",
        _sentences(
            (without, "{} of the release has no role in the manifest"),
            (gone, "{} of the manifest is not in the release"),
            (dropped, "{} identifies persons and is in the release"),
            (new, "{} of the manifest is not in the original"),
        ),
    )
    _check_options(pair, basis, found)
    named = masked, [name for name in pair.released if name in kept]
    _check_statement(basis, basis.method.statement(*named, roots=basis.manifest.params.get("roots")), found)
    if gone or new:
        return
    _check_kept(pair, kept, found)
    _check_limits(pair, basis, found)
    remade = None
    if isinstance(basis.method, Microaggregate):
        remade = Remade(pair, masked, basis.partition, basis.method, progress)
        _check_classes(remade, basis, found)
        _check_groups(pair, kept, remade, basis, found)
    elif _check_masked(pair, masked, basis, found):
        _check_draw(pair, masked, basis, found)
    found.check(not pair.marks, "the file holds values and nothing else", "; ".join(pair.marks))
    _check_figures(pair, masked, kept, basis, remade, found, progress)


def _check_options(pair: FilePair | SetsPair, basis: _Basis, found: _Findings) -> None:
    """Check that the parts of a manifest agree: the method, its parameters, and the roles of columns."""
    manifest, method = basis.manifest, basis.method
    made = {**method.params(), "seeded": manifest.seeded}
    person = getattr(method, "person", None)
    parts = {}
    if isinstance(pair, FilePair):
        masked = list(manifest.roles.get(QUASI) or ())
        changes = pair.comparison.changes
        said = manifest.params.get("roots")
        roots = said if isinstance(said, Mapping) and set(said) == set(masked) else {}
        # Without its taxonomy nobody knows the root of a column.
        known = {name: changes[name].before.root for name in masked if name in changes and name not in pair.weaker}
        made |= {"columns": masked, "roots": {**roots, **known}}
        parts["roles person"] = [] if person is None else [person], manifest.roles.get(PERSON) or []
        sensitive = list(getattr(method, "sensitive", None) or ())
        parts["roles keep"] = [], [name for name in sensitive if name not in (manifest.roles.get(KEEP) or ())]
    made, said = plain(made), manifest.params
    if manifest.version == __version__:
        parts |= {f"params {name}": (made.get(name), said.get(name)) for name in {**made, **said}}
    wrong = [name for name, (follows, stated) in parts.items() if not _same(follows, stated)]
    found.check(
        not wrong,
        "the manifest is of one method throughout",
        f"the manifest contradicts its own method, {method!r}: {', '.join(wrong)}",
    )


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
        found.check(not changed, "kept columns are unchanged, record by record", told)


def _check_masked(pair: FilePair, masked: list[str], basis: _Basis, found: _Findings) -> bool:
    """Check that every group has the same values after masking as before."""
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


def _check_classes(remade: Remade, basis: _Basis, found: _Findings) -> None:
    """Check that all records of a group show one value, that of the method, and how many records share it."""
    wrong = remade.departures()
    found.check(not wrong, "all records of a group have one value, which is that of the method", "; ".join(wrong))
    smallest = remade.smallest_class()
    found.check(
        smallest >= basis.least,
        f"every combination of masked values is on {basis.least:,} rows or more",
        f"a combination of masked values is on {smallest:,} rows, fewer than {basis.least:,}",
    )


def _check_groups(pair: FilePair, kept: list[str], remade: Remade, basis: _Basis, found: _Findings) -> None:
    """Form the groups again, and check that only chance decided which of equal records is in which."""
    if basis.manifest.seeded:
        return
    if basis.manifest.version != __version__:
        made = basis.manifest.version
        found.doubts.append(
            f"groups cannot be formed again: the release was made by version {made}, this is {__version__}"
        )
        return
    same = remade.formed(list(basis.manifest.params.get("columns", ())))
    if same is None:  # a meaning is not known, which is a doubt already
        return
    found.check(
        same,
        "the groups are those that the method forms from these values",
        "the groups are not those that the method forms from these values, so something else decided who is in which",
    )
    limited = getattr(basis.method, "sensitive", None) or {}
    others = {f"column {name!r}": _dense(pair, name) for name in kept if name not in limited}
    others["the order of the original"] = np.arange(len(pair.comparison), dtype=np.uint32)
    strange = improbable(group_trials(basis.group_of, others, remade.equal_records()), _RARE)
    found.check(
        not strange,
        "which of equal records is in which group looks randomly drawn",
        f"which of equal records is in which group was not drawn at random: {'; '.join(map(told, strange[:3]))}",
    )


def _check_limits(pair: FilePair, basis: _Basis, found: _Findings) -> None:
    """Check the share of a person, and of a sensitive value, in every group."""
    for name, share in (getattr(basis.method, "sensitive", None) or {}).items():
        _check_share(_dense(pair, name), share, f"value of {name!r}", basis, found)
    counted = getattr(basis.method, "person", None)
    for name in dict.fromkeys((counted, pair.person)):
        if name is not None:
            _check_persons(_dense(pair, name), f"value of {name!r}", basis, found)
    if pair.uncounted is not None:
        found.doubts.append(pair.uncounted)


def _dense(pair: FilePair, name: Any) -> NDArray[np.uint32]:
    return pair.comparison.before.column(name).dense()[0]


def _check_persons(codes: NDArray[np.uint32], what: str, basis: _Basis, found: _Findings) -> None:
    _check_share(codes, basis.least, what, basis, found, FOR_PERSONS)


def _check_share(
    codes: NDArray[Any], share: int, what: str, basis: _Basis, found: _Findings, of_whom: str = ""
) -> None:
    size = int(codes.max()) + 1
    cells, counts = np.unique(basis.group_of.astype(np.int64) * size + codes, return_counts=True)
    above = int((counts * share > basis.partition.sizes[cells // size]).sum())
    found.check(
        not above,
        f"no {what} is on more than 1/{share} of a group",
        f"{of_whom}in {above:,} cases one {what} is on more than 1/{share} of a group",
    )


def _check_draw(pair: FilePair, masked: list[str], basis: _Basis, found: _Findings) -> None:
    """Check that values were given to other records by permutations that look random."""
    coded = {name: pair.comparison.coded(name)[:2] for name in masked}
    before, after = ({name: codes[side] for name, codes in coded.items()} for side in (0, 1))
    if getattr(basis.method, "draw", "independent") == "joint":
        n, tuples = len(pair.comparison), tuples_of([np.concatenate(each) for each in coded.values()])
        together = are_same(tuples[:n], tuples[n:], basis.group_of)
        found.check(
            together,
            "masked values of a row were moved together",
            "masked values of a row were not moved together, as the manifest says",
        )
        if not together:
            return
        joint = {"all masked columns": tuples.astype(np.uint32)}
        before, after = {name: t[:n] for name, t in joint.items()}, {name: t[n:] for name, t in joint.items()}
    kept = [name for name in pair.comparison.shared if name not in masked]
    others = {f"column {name!r}": _dense(pair, name) for name in kept}
    others["the order of the original"] = np.arange(len(pair.comparison), dtype=np.uint32)
    trials, staying = draw_trials(before, after, others, basis.partition)
    strange = improbable([*trials, *staying], _RARE)
    share = unseen(staying, len(trials), _RARE)
    some = f"up to {math.ceil(1000 * share) / 10:g} % of the records" if share < 1 else "all records"
    could = f"{some} could have been left unchanged without detection"
    if strange:
        found.broken.append(f"the draw was not random: {_drawn(strange)}")
    elif share <= _UNSEEN:
        found.checks.append(f"what records got looks randomly drawn; {could}")
    else:
        few = f"too few records, or too many equal values, to tell a random draw from another: {could}"
        found.checks.append(few)
        found.caveats.append(few)


def _drawn(strange: list[Trial]) -> str:
    left = any("kept" in trial.what and trial.found > trial.mean for trial in strange)
    return "; ".join([*map(told, strange[:3]), *(["values were left in place"] if left else [])])


def _check_figures(
    pair: FilePair,
    masked: list[str],
    kept: list[str],
    basis: _Basis,
    remade: Remade | None,
    found: _Findings,
    progress: Progress,
) -> None:
    """Recompute the public figures from the original and the groups."""
    before, method = pair.comparison.before, basis.method
    named = getattr(method, "person", None)
    person = None if named is None else before.column(named).merged()
    limited = list(getattr(method, "sensitive", None) or ())
    changes = pair.comparison.changes
    # Without the meaning nobody knows which values mean the same.
    places = {name: changes[name].before.place_codes for name in masked if name not in pair.weaker}
    sizing = basis.partition.summary(places, {name: before.column(name) for name in kept}, person, limited)
    attributes: dict[str, dict[str, Any]] = {}
    still: list[str] = []
    lost: dict[str, dict[str, Any]] = {}
    altogether: dict[str, float] = {}
    if remade is not None:
        lost, altogether = remade.figures()
    for name, figures in described({name: changes[name] for name in masked}).items():
        if remade is not None:
            computed = {**figures, **lost.get(name, {})}
        else:
            computed = {**figures, **basis.partition.expected(changes[name].before, progress)}
            still += [name] if computed["expected_unchanged"] == 1.0 else []
        # Distances without the meaning are others, and there is no root.
        unknown = ("expected_rmse", "expected_unchanged", "root") if name in pair.weaker else ()
        attributes[name] = {figure: value for figure, value in computed.items() if figure not in unknown}
    bound = sizing.get("largest_share", 1 / sizing["smallest"]) if method.bound is not None else None
    bound = None if basis.manifest.seeded else bound
    records = {"records": len(pair.comparison)}
    figures = {**records, "groups": sizing, "attributes": attributes, "bound": bound, **altogether}
    # Without a meaning, some are not computed; another version may have had others.
    own = not pair.weaker and basis.manifest.version == __version__
    _compare(figures, basis.manifest.summary, found, _foreign(figures, basis.manifest.summary) if own else [])
    if isinstance(method, RankSwap | Microaggregate) and basis.manifest.version == __version__:
        _check_notes(pair, basis.manifest, method, masked, kept, still, found)


# How notes begin that say in figures what is checked elsewhere.
_HARDLY, _REGARD = "hardly anything changes: ", "groups were formed with regard to "


def _check_notes(
    pair: FilePair,
    manifest: Manifest,
    method: RankSwap | Microaggregate,
    masked: list[str],
    kept: list[str],
    still: list[str],
    found: _Findings,
) -> None:
    """Recompute the notes of the manifest, and compare."""
    before, changes = pair.comparison.before, pair.comparison.changes
    hidden = {name: changes[name].before.column for name in masked}
    ordered = [name for name in masked if isinstance(changes[name].before.meaning, Order)]
    person = None if method.person is None else before.column(method.person)
    beside = {name: before.column(name) for name in kept}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            accepted = [name for name in method.accept if name in kept]
            notes = check_kept(beside, hidden, method.k or 2, accepted, person, ordered)
        except DataError as error:
            found.broken.append(f"such a release would have been rejected: {error}")
            return
    found.doubts += notes.foregone
    computed = notes.public
    still = [name for name in manifest.params.get("columns", ()) if name in still]
    computed += [f"{', '.join(still)}: no value changes"] if still else []
    missing = [note for note in computed if note not in manifest.notes]
    known = [_HARDLY, *([_REGARD] if method.sensitive else [])]
    more = [note for note in manifest.notes if note not in computed and not any(map(str(note).startswith, known))]
    wrong = [f"the manifest lacks the note: {note}" for note in missing]
    wrong += [f"the manifest has a note that does not follow from the files: {note}" for note in more]
    found.check(not wrong, "the notes of the manifest follow from the files", "; ".join(wrong))


def _compare(computed: Mapping[str, Any], said: Mapping[str, Any], found: _Findings, more: Sequence[str] = ()) -> None:
    """Compare figures with those of the manifest, which may have no ``more``."""
    wrong = [
        f"{' '.join(map(str, path))}: {stated!r} in the manifest, {value!r} by the files"
        for path, value, stated in _pairs(computed, said)
        if not _same(value, stated)
    ]
    wrong += [f"{name}: in the manifest, but not a figure of this method" for name in more]
    told = f"figures of the manifest do not follow from the files: {'; '.join(wrong[:3])}"
    found.check(not wrong, "all public figures follow from the files", told)


class _Missing:
    """Marks what a manifest does not contain."""

    def __repr__(self) -> str:
        return "nothing"


_MISSING = _Missing()


def _pairs(computed: Mapping[Any, Any], said: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any, Any]]:
    for name, value in computed.items():
        stated = said.get(name, _MISSING) if isinstance(said, Mapping) else _MISSING
        if isinstance(value, Mapping) and isinstance(stated, Mapping):
            yield from _pairs(value, stated, (*path, name))
        else:
            yield (*path, name), value, stated


def _foreign(computed: Mapping[Any, Any], said: Any, path: tuple[str, ...] = ()) -> list[str]:
    """List what a mapping contains besides what was computed, part by part."""
    known = {str(name): value for name, value in computed.items()}
    found = []
    for name, value in said.items():
        here = (*path, str(name))
        if str(name) not in known:
            found.append(" ".join(here))
        elif isinstance(known[str(name)], Mapping) and isinstance(value, Mapping):
            found += _foreign(known[str(name)], value, here)
    return found


def _same(computed: Any, stated: Any) -> bool:
    if isinstance(computed, float) and isinstance(stated, int | float):
        return math.isclose(computed, stated, rel_tol=1e-9, abs_tol=1e-9)
    return bool(computed == stated)


# ---- item sets


def _check_forms(pair: SetsPair, least: int, found: _Findings) -> None:
    """Check that the rows of a group look alike: each published form is on enough rows. Needs no owner's record."""
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
        f"a published form is on only {fewest:,} rows, fewer than {least:,}: it is not that of a group",
    )


def _check_sets(pair: SetsPair, basis: _Basis, method: Recode, found: _Findings, progress: Progress) -> None:
    """Let the groups vote again, and compare."""
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
    _check_options(pair, basis, found)
    _check_statement(basis, replace(release, method=method, summary=basis.manifest.summary).guarantee, found)
    labels = None
    if release.labels is not None:
        # In the order of the records: a label is on the row of its record.
        labels = np.asarray(release.labels)[rows]
        digest = basis.record.input.get("labels")
        if digest is not None:
            told = "labels are those of the records", "labels are not those of the records, by the owner's record"
            found.check(digest_of(code(labels, "labels")) == digest, *told)
    if method.l is not None and labels is None:
        found.broken.append("there are no labels, although every group should show several")
    elif method.l is not None and labels is not None:
        _check_share(np.unique(labels.astype(str), return_inverse=True)[1].reshape(-1), method.l, "label", basis, found)
    sizes = basis.partition.sizes
    sizing = {"count": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max())}
    if pair.uncounted is not None:
        found.doubts.append(pair.uncounted)
    if pair.person is not None:
        codes, size = pair.person.dense()
        _check_persons(codes, "person", basis, found)
        if "persons" in basis.manifest.summary.get("groups", {}):
            cells = np.unique(basis.group_of.astype(np.int64) * size + codes)
            sizing["persons"] = int(np.bincount(cells // size).min())
    seeded = basis.manifest.seeded
    figures = {
        "records": len(pair.sets),
        "items": pair.sets.n_items,
        "matches": int(sizes.min()),
        "bound": None if seeded or method.bound is None else 1 / int(sizes.min()),
        "expected_error": expected,
        "threshold": {"mean": float(threshold.mean()), "largest": int(threshold.max())},
        "groups": sizing,
    }
    if labels is not None:
        counts = np.unique(labels.astype(str), return_counts=True)[1]
        figures["labels"] = {"number": len(counts), "largest_share": float(counts.max() / len(labels))}
    _compare(figures, basis.manifest.summary, found)


def _equal(first: Itemsets, second: Itemsets) -> bool:
    try:
        first, second = over_both(first, second)
    except SizeError:
        raise
    except NominymError:
        return False
    return first == second
