"""An original and its release, brought together: the same columns, and the same order if it can be had."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from nominym.cli import console, sets
from nominym.cli.settings import Given, Settings, settings
from nominym.error import DataError, ParameterError
from nominym.itemsets import Itemsets, Release, read_release
from nominym.release.key import read_key
from nominym.release.manifest import Manifest, fingerprint, manifest_path, read_manifest
from nominym.release.table import column_names, in_order, read_table
from nominym.taxonomy import Taxonomy


@dataclass(frozen=True)
class Pair:
    """Two tables of the same records."""

    before: Any
    after: Any
    taxonomies: dict[str, Taxonomy]
    aligned: bool
    """Whether the rows of both are in the same order."""
    manifest: Manifest | None

    @property
    def k(self) -> int | None:
        """What the release was to keep, as its manifest says."""
        return promised(self.manifest)


def promised(manifest: Manifest | None) -> int | None:
    """Give the k, or l, that a release was made with."""
    found = None if manifest is None else manifest.params.get("k", manifest.params.get("l"))
    return None if found is None else int(found)


def asked_for(
    command: str,
    config: Path | None,
    original: Path | None,
    release: Path | None,
    key: Path | None,
    keep_order: bool | None,
    *,
    quasi: Given = None,
    format: str | None = None,  # noqa: A002
    virtual_root: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    na: Given = None,
    column: str | None = None,
) -> Settings:
    """Read what a command that compares was asked for: the output of a release is its second file."""
    if config is None and release is None:
        raise ParameterError("give two files, the original and the release, or a --config file that names them")
    return settings(
        command,
        config_file=config,
        files={
            "input": original, "output": release, "key": key, "keep_order": keep_order, "delimiter": delimiter,
            "encoding": encoding, "na": na, "column": column,
        },
        quasi=quasi, format=format, virtual_root=virtual_root,
    )  # fmt: skip


def manifest_of(original: Path, release: Path) -> Manifest | None:
    """Read the manifest beside a release, if there is one, and see that it is about these files."""
    if not manifest_path(release).exists():
        return None
    found = read_manifest(release)
    found.check(release)
    if found.input.get("sha256") != fingerprint(original)["sha256"]:
        console.warn(f"by its manifest, {release} was not made of {original} as it is now")
    return found


def read_pair(asked: Settings, *, order_needed: str | None = None, columns: Given = None) -> Pair:
    """Read both tables; ``order_needed`` says for what rows have to correspond."""
    files = asked.files
    manifest = manifest_of(files.input, files.output)
    how: dict[str, Any] = {"delimiter": files.delimiter, "encoding": files.encoding}
    names = [column_names(path, **how) for path in (files.input, files.output)]
    both = [name for name in names[0] if name in names[1]] if columns is None else list(columns)
    taxonomies = asked.columns.taxonomies(console.progress())
    wanted = list(dict.fromkeys([*both, *asked.columns.roles.masked]))
    markers = dict.fromkeys(asked.columns.roles.masked, files.na)
    before, after = (
        read_table(path, wanted, **how, na=markers, progress=console.progress()) for path in (files.input, files.output)
    )
    kept = files.keep_order or (manifest is not None and manifest.order == "kept")
    aligned = bool(kept) or files.key is not None
    if before.num_rows != after.num_rows:
        raise DataError(f"{files.input} has {before.num_rows:,} records, {files.output} has {after.num_rows:,}")
    if not before.num_rows:
        raise DataError(f"{files.input} has no record")
    if files.key is not None:
        after = in_order(after, read_key(files.key, files.output, before.num_rows))
    elif order_needed and not aligned:
        raise ParameterError(
            f"{order_needed} needs to know which row is whose, and the rows of {files.output} are shuffled; give --key "
            "with the file that was written with the release, or --keep-order if both files have the same order"
        )
    return Pair(before, after, taxonomies, aligned, manifest)


def are_sets(original: Path, release: Path) -> bool:
    """Tell whether these are item sets and a release of them."""
    return sets.is_fimi(original) or sets.is_release(release)


def read_sets(asked: Settings) -> tuple[Itemsets, Release, Manifest | None]:
    """Read item sets and what was published of them."""
    files = asked.files
    manifest = manifest_of(files.input, files.output)
    records, _ = sets.read(files.input, files.column, None)
    release = read_release(files.output)
    if manifest is not None and not release.params:
        # A text file has the rows only.
        release = replace(release, params=manifest.params, summary=manifest.achieved)
    if records.n != len(release):
        raise DataError(f"{files.input} has {records.n:,} records, {files.output} has {len(release):,}")
    return records, release, manifest


def nominal(pair: Pair) -> list[str]:
    """List the columns with categories, in which distributions can be compared."""
    kinds = ((field.name, field.type) for field in pair.before.schema)
    return [
        name
        for name, kind in kinds
        if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_nested(kind))
    ]
