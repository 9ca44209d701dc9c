"""An original and its release, in two files, read once and compared: for audit, measure and report."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from nominym.aggregate import Microaggregate
from nominym.content import plain
from nominym.control import Progress
from nominym.error import NO_VALUE, Advice, DataError, ParameterError, PrivacyWarning
from nominym.files import StrPath, as_path, fingerprint
from nominym.itemsets import Itemsets, Recode, Release, closed, read_release
from nominym.itemsets import files as set_files
from nominym.itemsets.names import Missing
from nominym.journal import recover
from nominym.meaning import Meaning, Measure, Order, Taxonomy
from nominym.method import Method
from nominym.release import files, sizing
from nominym.release.columns import in_order
from nominym.release.manifest import Manifest, OwnersRecord, digest_of, manifest_path, read_manifest, read_record
from nominym.release.meanings import (
    alike,
    check_same,
    find_meanings,
    noun_of,
    read_meanings,
    read_taxonomy_of_items,
    with_numbers,
)
from nominym.release.parquet import ParquetTable
from nominym.release.pipeline import ITEMS, PERSON, QUASI, missing_texts
from nominym.release.sets import Layout, read_sets
from nominym.table import Column, Comparison, Table, code

if TYPE_CHECKING:
    from numpy.typing import NDArray


OrderKnown = Literal["record", "shown", "asserted", "unknown"]
"""How it is known which row is whose: from the owner's record; from kept columns, equal row by row; by assertion only;
or not at all."""


class _OfRelease:
    """What the files next to a release of a table or of item sets contain."""

    manifest: Manifest | None
    record: OwnersRecord | None
    sha256: tuple[str, str]

    @property
    def seeded(self) -> bool:
        """Return whether a seed was given, so that nothing is guaranteed."""
        by_record = self.record is not None and self.record.seed is not None
        return by_record or (self.manifest is not None and self.manifest.seeded)

    @property
    def other_input(self) -> bool:
        """Return whether, by the owner's record, the release was made from another original."""
        return _is_of_another(self.record, self.sha256[0])

    @property
    def groups(self) -> NDArray[np.uint32] | None:
        """Return the group of each record of the original, if the owner's record has groups."""
        return None if self.record is None else self.record.groups


@dataclass(frozen=True, eq=False, repr=False)
class FilePair(_OfRelease):
    """A table and its release, coded once."""

    comparison: Comparison
    """Both tables; the same records row by row, if ``aligned``."""
    order: OrderKnown
    """How it is known which row is whose."""
    manifest: Manifest | None
    """The manifest next to the release, if any."""
    record: OwnersRecord | None
    """The owner's record, if it was given."""
    released: tuple[str, ...]
    """All columns of the release."""
    sha256: tuple[str, str]
    """Of the original and of the release."""
    person: str | None = None
    """The column of the original that identifies persons, if there is one."""
    weaker: Mapping[str, str] = field(default_factory=dict)
    """Why attacks find less than they could, by column: its values are compared as labels because a meaning is
    missing."""
    strange: Mapping[str, str | None] = field(default_factory=dict)
    """Columns of the release that the original does not have, and for each the column of the original that it renames,
    if any: record by record, their values correspond one to one."""
    raw: tuple[Any, Any] | None = None
    """For microaggregation, with the owner's record: the columns of the original that the method uses, and the masked
    ones of the release, as written in the files, record by record."""
    marks: tuple[str, ...] = ()
    """What the file of the release holds besides values, or writes differently from this library."""

    @property
    def uncounted(self) -> str | None:
        """Return why nothing is guaranteed for the persons of ``person``, if so."""
        method = None if self.manifest is None else self.manifest.method
        if self.person is None or method is None or not method.statement(["values"]):
            return None
        if getattr(method, "person", self.person) == self.person:
            return None
        return f"for persons: groups were not formed of persons by column {self.person!r}"

    @property
    def aligned(self) -> bool:
        """Return whether it is known which row is whose."""
        return self.order != "unknown"

    @property
    def method(self) -> Method | None:
        """Return the method of the release, from its manifest."""
        return None if self.manifest is None else self.manifest.method

    @property
    def params(self) -> dict[str, Any]:
        """Return how the release was made, if known; the method's own record takes precedence."""
        return {} if self.manifest is None else {**self.manifest.params, **plain(self.manifest.method.params())}

    @property
    def summary(self) -> dict[str, Any]:
        """Return what was achieved: figures that do not depend on the draw."""
        said = Manifest(command="") if self.manifest is None else self.manifest
        return {**said.summary, "notes": said.notes}

    @property
    def secret_summary(self) -> dict[str, Any] | None:
        """Return all figures, if the owner's record was given."""
        return None if self.record is None else self.record.summary


@dataclass(frozen=True, eq=False, repr=False)
class SetsPair(_OfRelease):
    """Set-valued records and their release."""

    sets: Itemsets
    release: Release
    manifest: Manifest | None
    """The manifest next to the release, if any."""
    record: OwnersRecord | None
    """The owner's record, if it was given."""
    sha256: tuple[str, str]
    """Of the original and of the release."""
    person: Column | None = None
    """The person of each record, if given."""

    @property
    def uncounted(self) -> str | None:
        """Return why nothing is guaranteed for persons, if so."""
        if self.manifest is None or not self.manifest.method.statement(["values"]):
            return None
        counted = "persons" in (self.manifest.summary.get("groups") or {})
        digest = None if self.record is None else self.record.input.get("persons")
        if counted and self.person is None:
            return "for persons: groups were formed of persons, but the person of each record was not given"
        if self.person is not None and not counted:
            return "for persons: groups were not formed of persons"
        if self.person is not None and digest is not None and digest_of(self.person) != digest:
            return "for persons: by the owner's record, groups were formed of other persons"
        return None

    @property
    def seeded(self) -> bool:
        """Return whether a seed was given, so that nothing is guaranteed."""
        return bool(self.release.params.get("seeded")) or super().seeded


def are_sets(original: StrPath, release: StrPath) -> bool:
    """Return whether two files are item sets and a release of them."""
    _refuse_folders(original, release)
    if files.suffix(as_path(original)) in files.FIMI:
        return True
    if manifest_path(as_path(release)).exists():
        return read_manifest(release).command == Recode.command
    if as_path(release).suffix.lower() not in files.PARQUET:
        return False
    with closing(ParquetTable(release)) as table:
        return set_files.NAME.encode() in (table.schema.metadata or {})


def _refuse_folders(*paths: StrPath) -> None:
    """Refuse Parquet folders, as Spark writes them: nothing says which row of theirs is whose."""
    for path in paths:
        if as_path(path).is_dir():
            raise ParameterError(
                f"{os.fspath(path)} is a folder, as releases on Spark are: rows have no number there, so there is no "
                "owner's record, and nothing to compare row by row",
                remedy="write a sample of the records to one file, publish it on one machine by the same method with "
                "an owner's record, and compare that",
            )


def compare_files(
    original: StrPath,
    release: StrPath,
    meanings: Mapping[str, Meaning | StrPath | None] | None = None,
    *,
    key: StrPath | None = None,
    keep_order: bool = False,
    columns: Sequence[str] | None = None,
    person: str | None = None,
    measure: str | Measure | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    na: Sequence[str] = (),
    comment: str | None = None,
    order_needed: str | None = None,
    progress: Progress = None,
) -> FilePair:
    """Read a table and its release, with the manifest next to it, and compare them.

    ``key`` is the owner's record, which says which row is whose. ``keep_order`` asserts that both files have the same
    order; it is unnecessary if the manifest says so, and an error if kept columns differ row by row. ``order_needed``
    names what needs to know which row is whose, if anything: it is an error if that is not known.

    ``meanings`` are those of masked columns. A column without one, or with None, gets its meaning from the manifest;
    failing that, values that are all numbers are ordered, and others are equal or not. A taxonomy is needed as a file:
    without it, its column is compared as labels, and ``weaker`` says so. ``columns`` are others to read, by default all
    that both files have. ``person`` is the column of the original that identifies persons, and ``measure`` the semantic
    distance; both are by default those of the manifest. The rest is as for ``publish``.
    """
    original, release = as_path(original), as_path(release)
    _refuse_folders(original, release)
    recover(release)
    manifest = read_manifest(release) if manifest_path(release).exists() else None
    aligned = key is not None or (keep_order if manifest is None else manifest.order == "kept")
    shuffled = f"the rows of {os.fspath(release)} are shuffled"
    if keep_order and not aligned:
        remedy = Advice("give {} with the owner's record", key=NO_VALUE)
        raise ParameterError(f"by its manifest, {shuffled}", parameter="keep_order", value=True, remedy=remedy)
    if order_needed is not None and not aligned:
        which = "written with the release, or {} if both files have the same order"
        remedy = Advice(f"give {{}} with the owner's record {which}", key=NO_VALUE, keep_order=True)
        why = shuffled if manifest is not None else "there is no manifest that says so"
        raise ParameterError(f"{order_needed} needs to know which row is whose, and {why}", remedy=remedy)
    given = dict(meanings or {})
    given |= read_meanings({name: each for name, each in given.items() if each is not None}, progress)
    roles = {} if manifest is None else manifest.roles
    known = {**dict.fromkeys(roles.get(QUASI) or ()), **given}
    told = _person_of(manifest)
    person = told if person is None else person
    how: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding}
    # A release has no comments; what looks like one there is a value.
    with files.open_table(original, **how, comment=comment) as before, files.open_table(release, **how) as after:
        shared = [name for name in before.names if name in after.names]
        wanted = list(dict.fromkeys([*known, *(shared if columns is None else columns)]))
        kept = [name for name in shared if name not in known]
        asserted = aligned and key is None
        markers = dict.fromkeys(known, missing_texts(na))
        needed = list(dict.fromkeys([*wanted, *(kept if asserted else ())]))
        persons = [name for name in dict.fromkeys((person, told)) if name is not None and name not in needed]
        added = [name for name in after.names if name not in before.names] if columns is None else []
        # Under another name a column of the original may be there, identifiers too.
        all_of = list(dict.fromkeys([*needed, *persons, *(before.names if added else ())]))
        sizing.expect_comparison([before.rows, after.rows], len(needed))
        old = files.read_columns(before, all_of, markers, progress)
        unmarked = files.read_columns(after, [*needed, *added], (), progress)
        new = files.with_missing(unmarked, markers)
        others = old.select(before.names if added else []), new.select(added)
        old, new = old.select([*needed, *persons]), new.select(needed)
        sizing.require_comparison(old, new)
        released = tuple(after.names)
        sha256 = (str(before.fingerprint()["sha256"]), str(after.fingerprint()["sha256"]))
        marks = []
        if key is not None and set(released) <= set(unmarked.column_names):
            marks = files.foreign_marks(after, unmarked.select(released), release, delimiter, encoding)
    if manifest is not None:
        manifest.check(release, sha256[1])
    record = _record(key, original, release, (old.num_rows, new.num_rows), sha256)
    raw = _raw(manifest, record, old, unmarked)
    del unmarked
    old, new = alike(old, new, _ordered_times(manifest, old))
    meant, weaker = find_meanings(known, {} if manifest is None else manifest.meanings, old, new)
    numbers = [name for name in new.column_names if meant.get(name, Order()) == Order()]
    old, new = with_numbers(old, new, numbers)
    order: OrderKnown = "record" if record is not None else "asserted" if aligned else "unknown"
    if asserted and _shows_order(Comparison.of(old.select(kept), new.select(kept), {}), original, release):
        order = "shown"
    old, new = old.select([*wanted, *persons]), new.select(wanted)
    if measure is None:
        measure = getattr(None if manifest is None else manifest.method, "measure", "wu-palmer")
    found = {} if manifest is None else manifest.params.get("roots") or {}
    roots = {name: root for name, root in found.items() if root is not None and isinstance(meant.get(name), Taxonomy)}
    truth = None if record is None else record.rows
    comparison = Comparison.of(old, new, meant, measure=measure, roots=roots, truth=truth, progress=progress)
    strange = _renamed(others[0], others[1], added, truth) if order != "unknown" else dict.fromkeys(added)
    return FilePair(comparison, order, manifest, record, released, sha256, person, weaker, strange, raw, tuple(marks))


def _ordered_times(manifest: Manifest | None, old: Any) -> list[str]:
    """List the dates and times for which a release may have intervals: texts, read by the type of the original."""
    if manifest is None or manifest.command != Microaggregate.command:
        return []
    ordered = [name for name, said in manifest.meanings.items() if said["meaning"] == Order.__name__]
    return [name for name in ordered if name in old.column_names and pa.types.is_temporal(old[name].type)]


def _raw(manifest: Manifest | None, record: OwnersRecord | None, old: Any, new: Any) -> tuple[Any, Any] | None:
    """Return the columns that are compared as written, for the one method whose values follow from the original."""
    if manifest is None or record is None or manifest.command != Microaggregate.command:
        return None
    masked, options = list(manifest.roles.get(QUASI) or ()), manifest.options
    person = options.get("person")
    looked_at = dict.fromkeys([*masked, *(options.get("sensitive") or ()), *(() if person is None else (person,))])
    if not set(looked_at) <= set(old.column_names) or not set(masked) <= set(new.column_names):
        return None
    return old.select(list(looked_at)), in_order(new.select(masked), record.rows)


def _renamed(old: Any, new: Any, names: Sequence[str], truth: NDArray[np.uint32] | None) -> dict[str, str | None]:
    """Find the column of the original to which each of some columns of the release corresponds, if only renamed."""
    found: dict[str, str | None] = dict.fromkeys(names)
    if not names:
        return found
    before, after = Table(old), Table(new)
    for name in names:
        codes, size = after.column(name).dense()
        codes = codes if truth is None else codes[truth]
        for other in before.names:
            true, number = before.column(other).dense()
            pairs = len(np.unique(codes.astype(np.int64) * number + true)) if size == number > 1 else 0
            if pairs == number > 1:
                found[name] = other
                break
    return found


def _person_of(manifest: Manifest | None) -> str | None:
    """Return the column that identifies persons, if the manifest names one: for its method, or by its role."""
    if manifest is None:
        return None
    named = [manifest.options.get("person"), *(manifest.roles.get(PERSON) or ())]
    return next((str(name) for name in named if name is not None), None)


# ---- which row is whose

# So many rows out of the order that sorting could give are no chance.
_OUT_OF_ORDER = 20


def _shows_order(kept: Comparison, original: StrPath, release: StrPath) -> bool:
    """Return whether kept columns show that both files have the same order; raise if they differ.

    Columns by which both files may have been sorted show nothing: rows with the same values could be in any order.
    """
    columns = []
    for name in kept.shared:
        old, new, size = kept.coded(name)
        differ = old != new
        if differ.any():
            row = int(np.argmax(differ)) + 1
            raise DataError(
                f"it differs in {int(differ.sum()):,} of {len(kept):,} rows of {os.fspath(original)} and "
                f"{os.fspath(release)}, first in row {row:,}: the files are not in the same order",
                column=name,
                remedy=Advice("give {} with the owner's record; or, if it was masked, {}", key=NO_VALUE,
                              meanings=NO_VALUE),
            )  # fmt: skip
        columns.append(np.minimum(old, np.uint32(size)))
    if not columns:
        return False
    rows = tuples_of(columns)
    distinct, runs = int(rows.max()) + 1, 1 + int((rows[1:] != rows[:-1]).sum())
    return len(rows) - distinct <= len(rows) / 20 or runs - distinct >= _OUT_OF_ORDER


def tuples_of(columns: Sequence[NDArray[np.uint32]]) -> NDArray[np.int64]:
    """Number the combinations of values that occur.

    >>> tuples_of([np.array([7, 7, 3], dtype=np.uint32), np.array([0, 1, 0], dtype=np.uint32)]).tolist()
    [1, 2, 0]
    """
    found = np.zeros(len(columns[0]), dtype=np.int64)
    for codes in columns:
        # Numbered anew with every column, so that products stay small.
        values = np.unique(codes, return_inverse=True)[1].reshape(-1)
        found = np.unique(found * (int(values.max()) + 1) + values, return_inverse=True)[1].reshape(-1)
    return found


# ---- item sets


def compare_sets(
    original: StrPath,
    release: StrPath,
    *,
    key: StrPath | None = None,
    column: str | None = None,
    person: StrPath | None = None,
    record: str | None = None,
    item: str | None = None,
    missing: Missing = "error",
    delimiter: str | None = None,
    encoding: str = "utf-8",
    comment: str | None = None,
    taxonomy: Taxonomy | StrPath | None = None,
    progress: Progress = None,
) -> SetsPair:
    """Read set-valued records and their release, with the manifest next to it.

    ``person`` is the column that identifies persons; for a FIMI file, a file with one person per line. ``taxonomy`` is
    that of the items, needed if records were recoded by it: they are then compared as closures. The rest is as for
    ``publish``.
    """
    original, release = as_path(original), as_path(release)
    recover(release)
    sha256 = (str(fingerprint(original)["sha256"]), str(fingerprint(release)["sha256"]))
    manifest = read_manifest(release) if manifest_path(release).exists() else None
    if manifest is not None:
        manifest.check(release, sha256[1])
    how = Layout(column, None, person, record, item, missing, delimiter, encoding, comment)
    sets, _, persons, _ = read_sets(original, how, progress)
    published = read_release(release)
    if manifest is not None and published.method is None:
        published = replace(published, params=manifest.params)
    if taxonomy is None and "taxonomy" in published.params:
        made = {} if manifest is None else manifest.meanings.get(ITEMS, {})
        what = f"{os.fspath(release)} was recoded by {noun_of(made) if made else 'a taxonomy'}, which is needed"
        raise ParameterError(what, parameter="taxonomy", remedy=Advice("give {}", taxonomy=NO_VALUE))
    meant: Any = None if taxonomy is None else read_taxonomy_of_items(taxonomy, progress)
    if meant is not None:
        check_same(meant, {} if manifest is None else manifest.meanings.get(ITEMS, {}))
        sets, published = closed(sets, meant, progress=progress), replace(published, taxonomy=meant)
    if manifest is not None:
        if published.method is None:  # a text file has the rows only
            method: Any = manifest.method
            published = replace(published, method=method, params=manifest.params, summary=manifest.summary)
        published = replace(published, summary={**published.summary, "notes": manifest.notes})
    owners = _record(key, original, release, (sets.n, len(published)), sha256)
    whose = None if persons is None else code(persons, "person")
    if whose is not None and len(whose) != sets.n:
        raise DataError(f"{len(whose):,} persons for {sets.n:,} records; give one for each", parameter="person")
    return SetsPair(sets, published, manifest, owners, sha256, whose)


# ---- the owner's record


def _record(
    key: StrPath | None, original: StrPath, release: StrPath, records: tuple[int, int], sha256: tuple[str, str]
) -> OwnersRecord | None:
    """Check that both files have equally many records, and read the owner's record; warn if it is of another input."""
    if records[0] != records[1]:
        raise DataError(f"{os.fspath(original)} has {records[0]:,} records, {os.fspath(release)} has {records[1]:,}")
    if not records[0]:
        raise DataError(f"{os.fspath(original)} has no record")
    if key is None:
        return None
    record = read_record(key, release, records[1], sha256=sha256[1])
    if _is_of_another(record, sha256[0]):
        warnings.warn(
            f"by the owner's record, {os.fspath(release)} was not made from {os.fspath(original)} in its current state",
            PrivacyWarning,
            stacklevel=3,
        )
    return record


def _is_of_another(record: OwnersRecord | None, sha256: str) -> bool:
    return record is not None and bool(record.input.get("sha256", sha256) != sha256)
