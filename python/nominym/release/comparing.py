"""An original and its release, in two files, read once and set side by side: for audit, measure and report."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nominym.control import Progress
from nominym.error import NO_VALUE, Advice, DataError, ParameterError, PrivacyWarning
from nominym.files import StrPath
from nominym.itemsets import Itemsets, Release, read_release
from nominym.itemsets import files as set_files
from nominym.meaning import Measure
from nominym.method import Method
from nominym.release import files
from nominym.release.manifest import Manifest, OwnersRecord, manifest_path, read_manifest, read_record
from nominym.release.pipeline import Meanings, read_meanings
from nominym.table import Comparison


@dataclass(frozen=True, eq=False, repr=False)
class FilePair:
    """A table and its release, coded once."""

    comparison: Comparison
    """Both tables; row by row the same records, if ``aligned``."""
    manifest: Manifest | None
    """What stands beside the release, if anything."""
    record: OwnersRecord | None
    """The owner's record, if it was given."""
    aligned: bool
    """Whether it is known which row is whose."""

    @property
    def method(self) -> Method | None:
        """The method that made the release, as its manifest says."""
        return None if self.manifest is None else self.manifest.method

    @property
    def k(self) -> int | None:
        """The k that the release was made with."""
        return getattr(self.method, "k", None)

    @property
    def params(self) -> dict[str, Any]:
        """How the release was made."""
        return {} if self.manifest is None else self.manifest.params

    @property
    def summary(self) -> dict[str, Any]:
        """What was achieved, in figures that do not depend on the draw."""
        return {} if self.manifest is None else {**self.manifest.summary, "notes": self.manifest.notes}

    @property
    def secret_summary(self) -> dict[str, Any] | None:
        """All figures, where the owner's record was given."""
        return None if self.record is None else self.record.summary

    @property
    def seeded(self) -> bool:
        """Whether a seed was given, so that nothing is guaranteed."""
        return self.manifest is not None and self.manifest.seeded


@dataclass(frozen=True, eq=False, repr=False)
class SetsPair:
    """Set-valued records and their release."""

    sets: Itemsets
    """The records."""
    release: Release
    """What was published of them."""
    manifest: Manifest | None
    """What stands beside the release, if anything."""
    record: OwnersRecord | None
    """The owner's record, if it was given."""

    @property
    def k(self) -> int | None:
        """The k, or l, that the release was made with."""
        return None if self.release.method is None else self.release.method.least


def are_sets(original: StrPath, release: StrPath) -> bool:
    """Tell whether two files are item sets and a release of them."""
    if files.is_fimi(original):
        return True
    if Path(release).suffix.lower() not in files.PARQUET:
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

    Parameters
    ----------
    original, release
        Files of tables.
    meanings
        What the values of masked columns mean, by column.
    key
        The owner's record, which says which row is whose.
    keep_order
        The rows of both files are in the same order. Not needed where the manifest says so.
    columns
        Further columns to read; by default all that both files have.
    measure
        The semantic distance; by default the one that the release was made with.
    delimiter, encoding, na
        As for ``publish``.
    order_needed
        What needs to know which row is whose, if anything does: it is an error if that is not known.
    """
    manifest = read_manifest(release) if manifest_path(release).exists() else None
    if keep_order and key is None and manifest is not None and manifest.order != "kept":
        raise ParameterError(
            f"by its manifest, the rows of {os.fspath(release)} are shuffled",
            parameter="keep_order",
            value=True,
            remedy=Advice("give {} with the owner's record", key=NO_VALUE),
        )
    aligned = key is not None or keep_order or (manifest is not None and manifest.order == "kept")
    if order_needed is not None and not aligned:
        raise ParameterError(
            f"{order_needed} needs to know which row is whose, and the rows of {os.fspath(release)} are shuffled",
            remedy=Advice(
                "give {} with the owner's record that was written with the release, or {} if both files have the same "
                "order", key=NO_VALUE, keep_order=True,
            ),
        )  # fmt: skip
    known = read_meanings(meanings, progress)
    how: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "hashed": True}
    with files.open_table(original, **how) as before, files.open_table(release, **how) as after:
        chosen = [name for name in before.names if name in after.names] if columns is None else list(columns)
        wanted = list(dict.fromkeys([*known, *chosen]))
        markers = dict.fromkeys(known, tuple(na))
        old, new = (files.read_columns(table, wanted, markers, progress) for table in (before, after))
        sha256 = [table.fingerprint()["sha256"] for table in (before, after)]
    if manifest is not None:
        manifest.check(release, sha256[1])
    records = _same_records(original, release, old.num_rows, new.num_rows)
    record = _record(key, original, release, records, sha256)
    params = {} if manifest is None else manifest.params
    if measure is None:
        measure = "wu-palmer" if manifest is None else getattr(manifest.method, "measure", "wu-palmer")
    comparison = Comparison.of(
        old,
        new,
        known,
        measure=measure,
        roots={name: root for name, root in (params.get("roots") or {}).items() if name in known and root is not None},
        truth=None if record is None else record.rows,
        progress=progress,
    )
    return FilePair(comparison, manifest, record, aligned)


def compare_sets(
    original: StrPath,
    release: StrPath,
    *,
    key: StrPath | None = None,
    column: str | None = None,
    progress: Progress = None,
) -> SetsPair:
    """Read set-valued records and their release, with the manifest beside it."""
    sha256 = [files.fingerprint(path)["sha256"] for path in (original, release)]
    manifest = read_manifest(release) if manifest_path(release).exists() else None
    if manifest is not None:
        manifest.check(release, sha256[1])
    sets, _, _ = files.read_sets(original, column, None, progress)
    published = read_release(release)
    if manifest is not None and published.method is None:
        # A text file has the rows only.
        method: Any = manifest.method
        published = replace(published, method=method, params=manifest.params, summary=manifest.summary)
    if manifest is not None:
        published = replace(published, summary={**published.summary, "notes": manifest.notes})
    records = _same_records(original, release, sets.n, len(published))
    return SetsPair(sets, published, manifest, _record(key, original, release, records, sha256))


def _same_records(original: StrPath, release: StrPath, before: int, after: int) -> int:
    if before != after:
        raise DataError(f"{os.fspath(original)} has {before:,} records, {os.fspath(release)} has {after:,}")
    if not before:
        raise DataError(f"{os.fspath(original)} has no record")
    return before


def _record(
    key: StrPath | None, original: StrPath, release: StrPath, records: int, sha256: Sequence[str]
) -> OwnersRecord | None:
    """Read the owner's record, if there is one, and warn where it is of another input; ``sha256`` is of both files."""
    if key is None:
        return None
    record = read_record(key, release, records, sha256=sha256[1])
    if record.input.get("sha256", sha256[0]) != sha256[0]:
        warnings.warn(
            f"by the owner's record, {os.fspath(release)} was not made of {os.fspath(original)} as it is now",
            PrivacyWarning,
            stacklevel=3,
        )
    return record
