"""An original and its release, in two files, read once and set side by side: for audit, measure and report."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from nominym.control import Progress
from nominym.error import NO_VALUE, Advice, DataError, ParameterError, PrivacyWarning
from nominym.files import StrPath, as_path
from nominym.itemsets import Itemsets, Release, read_release
from nominym.itemsets import files as set_files
from nominym.meaning import Measure
from nominym.method import Method
from nominym.release import files
from nominym.release.manifest import Manifest, OwnersRecord, manifest_path, read_manifest, read_record
from nominym.release.pipeline import Meanings, missing_texts, read_meanings, read_sets
from nominym.table import Comparison


@dataclass(frozen=True, eq=False, repr=False)
class FilePair:
    """A table and its release, coded once."""

    comparison: Comparison
    """Both tables; row by row the same records, if ``aligned``."""
    aligned: bool
    """Whether it is known which row is whose."""
    manifest: Manifest | None
    """What stands beside the release, if anything."""
    params: dict[str, Any]
    """How the release was made, if that is known."""
    summary: dict[str, Any]
    """What was achieved, in figures that do not depend on the draw."""
    seeded: bool
    """Whether a seed was given, so that nothing is guaranteed."""
    secret_summary: dict[str, Any] | None
    """All figures, where the owner's record was given."""
    other_input: bool = False
    """Whether, by the owner's record, the release was made of another original."""

    @property
    def method(self) -> Method | None:
        """The method that made the release, as its manifest says."""
        return None if self.manifest is None else self.manifest.method


@dataclass(frozen=True, eq=False, repr=False)
class SetsPair:
    """Set-valued records and their release."""

    sets: Itemsets
    release: Release
    manifest: Manifest | None
    """What stands beside the release, if anything."""
    record: OwnersRecord | None
    """The owner's record, if it was given."""
    other_input: bool = False
    """Whether, by the owner's record, the release was made of another original."""

    @property
    def seeded(self) -> bool:
        """Whether a seed was given, so that nothing is guaranteed."""
        return bool(self.release.params.get("seeded")) or (self.manifest is not None and self.manifest.seeded)


def are_sets(original: StrPath, release: StrPath) -> bool:
    """Tell whether two files are item sets and a release of them."""
    if files.suffix(as_path(original)) in files.FIMI:
        return True
    if as_path(release).suffix.lower() not in files.PARQUET:
        return False
    with closing(files.ParquetTable(release)) as table:
        return set_files.NAME.encode() in (table.schema.metadata or {})


def compare_files(
    original: StrPath,
    release: StrPath,
    meanings: Meanings | None = None,
    *,
    key: StrPath | None = None,
    keep_order: bool = False,
    columns: Sequence[str] | None = None,
    measure: str | Measure | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    na: Sequence[str] = (),
    order_needed: str | None = None,
    progress: Progress = None,
) -> FilePair:
    """Read a table and its release, with the manifest beside it, and set them side by side.

    ``key`` is the owner's record, which says which row is whose; with ``keep_order``, both files have the same order,
    which is not needed where the manifest says so. ``meanings`` are those of masked columns; ``columns`` are others to
    read, by default all that both files have. The semantic distance ``measure`` is by default that of the manifest.
    ``order_needed`` names what needs to know which row is whose, if anything does: it is an error if that is not known.
    The rest is as for ``publish``.
    """
    original, release = as_path(original), as_path(release)
    manifest = read_manifest(release) if manifest_path(release).exists() else None
    aligned = key is not None or (keep_order if manifest is None else manifest.order == "kept")
    shuffled = f"the rows of {os.fspath(release)} are shuffled"
    if keep_order and not aligned:
        remedy = Advice("give {} with the owner's record", key=NO_VALUE)
        raise ParameterError(f"by its manifest, {shuffled}", parameter="keep_order", value=True, remedy=remedy)
    if order_needed is not None and not aligned:
        which = "that was written with the release, or {} if both files have the same order"
        remedy = Advice(f"give {{}} with the owner's record {which}", key=NO_VALUE, keep_order=True)
        raise ParameterError(f"{order_needed} needs to know which row is whose, and {shuffled}", remedy=remedy)
    known = read_meanings(meanings or {}, progress)
    how: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding}
    with files.open_table(original, **how) as before, files.open_table(release, **how) as after:
        chosen = [name for name in before.names if name in after.names] if columns is None else list(columns)
        wanted = list(dict.fromkeys([*known, *chosen]))
        markers = dict.fromkeys(known, missing_texts(na))
        old, new = (files.read_columns(table, wanted, markers, progress) for table in (before, after))
        sha256 = [table.fingerprint()["sha256"] for table in (before, after)]
    if manifest is not None:
        manifest.check(release, sha256[1])
    record, other = _record(key, original, release, (old.num_rows, new.num_rows), sha256)
    said = Manifest(command="") if manifest is None else manifest
    roots = {
        name: root for name, root in (said.params.get("roots") or {}).items() if name in known and root is not None
    }
    if measure is None:
        measure = getattr(None if manifest is None else manifest.method, "measure", "wu-palmer")
    truth = None if record is None else record.rows
    comparison = Comparison.of(old, new, known, measure=measure, roots=roots, truth=truth, progress=progress)
    summary, realised = {**said.summary, "notes": said.notes}, None if record is None else record.summary
    return FilePair(comparison, aligned, manifest, said.params, summary, said.seeded, realised, other)


def compare_sets(
    original: StrPath,
    release: StrPath,
    *,
    key: StrPath | None = None,
    column: str | None = None,
    progress: Progress = None,
) -> SetsPair:
    """Read set-valued records and their release, with the manifest beside it."""
    original, release = as_path(original), as_path(release)
    sha256 = [files.fingerprint(path)["sha256"] for path in (original, release)]
    manifest = read_manifest(release) if manifest_path(release).exists() else None
    if manifest is not None:
        manifest.check(release, sha256[1])
    sets, _, _ = read_sets(original, column, None, progress)
    published = read_release(release)
    if manifest is not None:
        if published.method is None:  # a text file has the rows only
            method: Any = manifest.method
            published = replace(published, method=method, params=manifest.params, summary=manifest.summary)
        published = replace(published, summary={**published.summary, "notes": manifest.notes})
    record, other = _record(key, original, release, (sets.n, len(published)), sha256)
    return SetsPair(sets, published, manifest, record, other)


def _record(
    key: StrPath | None, original: StrPath, release: StrPath, records: tuple[int, int], sha256: Sequence[str]
) -> tuple[OwnersRecord | None, bool]:
    """Check that both files have as many records, and read the owner's record; tell whether it is of another input."""
    if records[0] != records[1]:
        raise DataError(f"{os.fspath(original)} has {records[0]:,} records, {os.fspath(release)} has {records[1]:,}")
    if not records[0]:
        raise DataError(f"{os.fspath(original)} has no record")
    if key is None:
        return None, False
    record = read_record(key, release, records[1], sha256=sha256[1])
    other = bool(record.input.get("sha256", sha256[0]) != sha256[0])
    if other:
        warnings.warn(
            f"by the owner's record, {os.fspath(release)} was not made of {os.fspath(original)} as it is now",
            PrivacyWarning,
            stacklevel=3,
        )
    return record, other
