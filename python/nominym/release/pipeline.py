"""The pipeline: from records to a release with its manifest and, for the owner, a record.

Roles are checked, identifiers dropped, rows shuffled, the rest is masked, and all files are drafts until each of them
is complete. They get their names in this order: the owner's record, the manifest, the data. So a release is never there
without its manifest; if the process ends in between, the manifest is about a file that is not there, or not as it is
(``Manifest.check``).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nominym import _core
from nominym.control import Progress, check_progress, check_seed
from nominym.error import NO_VALUE, Advice, DataError, ParameterError, UnknownColumnError
from nominym.files import Draft, StrPath, check_new, read_text
from nominym.itemsets import Itemsets, Recode, Release
from nominym.itemsets import files as set_files
from nominym.meaning import Equality, Meaning, Order, read_taxonomy
from nominym.method import Method, Result
from nominym.release import files
from nominym.release.manifest import (
    RECORD_MODE,
    Manifest,
    OwnersRecord,
    describe,
    manifest_path,
    options_of,
    write_record,
)
from nominym.swap import DataSwap

IDENTIFIER, QUASI, KEEP = ROLES = ("identifier", "quasi-identifier", "keep")
"""The roles of columns: dropped, masked, published as they are."""

SEED_NOTE = (
    "made with a seed, for a study: whoever has or guesses the seed can repeat every draw, so this release guarantees "
    "nothing; for a release that protects, give none"
)
SCOPE_NOTE = (
    "what is said holds for this release alone: two releases of the same records, or of records that differ in one, "
    "give away more than either"
)


class Paths(NamedTuple):
    """Where the files of a release are."""

    release: Path
    manifest: Path
    key: Path | None
    """The owner's record, if one was asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Publication:
    """A release that was written."""

    manifest: Manifest
    """What stands beside it, for everybody."""
    result: Result | Release
    """The result of the method, rows in the order of the release; its ``secret`` is the owner's."""
    paths: Paths
    """Its files."""

    def __repr__(self) -> str:
        """Name file, method and size."""
        return f"<Publication {self.paths.release.name}: {self.result!r}>"


@dataclass(frozen=True)
class MeaningFile:
    """A file that says what values mean: a taxonomy, or an order (``.order``), one value a line, lowest first."""

    path: str
    format: str | None = None
    virtual_root: bool = False

    def read(self, progress: Progress = None) -> Meaning:
        """Read the file."""
        if Path(self.path).suffix.lower() == ".order":
            return Order([line for line in read_text(self.path).splitlines() if line.strip()])
        return read_taxonomy(self.path, self.format, virtual_root=self.virtual_root, progress=progress)


Meanings = Mapping[str, Meaning | MeaningFile | StrPath]
"""What the values of columns mean; a path is read as a ``MeaningFile``."""


def meaning_files(meanings: Meanings | None) -> dict[str, Meaning | MeaningFile]:
    """Return meanings in which every path is a ``MeaningFile``; nothing is read yet."""
    if meanings is not None and not isinstance(meanings, Mapping):
        raise ParameterError(
            f"a mapping from column names to meanings is needed, not {type(meanings).__name__}", parameter="meanings"
        )
    return {
        name: MeaningFile(os.fspath(meaning)) if isinstance(meaning, str | os.PathLike) else meaning
        for name, meaning in (meanings or {}).items()
    }


def read_meanings(meanings: Meanings | None, progress: Progress = None) -> dict[str, Meaning]:
    """Read the meanings that are in files, each file once."""
    given = meaning_files(meanings)
    sources = dict.fromkeys(each for each in given.values() if isinstance(each, MeaningFile))
    read = {source: source.read(progress) for source in sources}
    return {name: read[each] if isinstance(each, MeaningFile) else each for name, each in given.items()}


def publish(
    source: Any,
    target: StrPath,
    roles: Mapping[str, str] | None,
    method: Method,
    meanings: Meanings | None = None,
    *,
    key: StrPath | None = None,
    keep_order: bool = False,
    overwrite: bool = False,
    seed: int | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    na: Sequence[str] = (),
    label: Any = None,
    column: str | None = None,
    progress: Progress = None,
) -> Publication:
    """Make a release of records: drop what identifies, shuffle, mask, and write all files or none.

    >>> from tempfile import TemporaryDirectory
    >>> import nominym as nym
    >>> frame = {"name": ["Ann", "Bob", "Eve", "Joe"], "diagnosis": ["flu", "coma", "flu", "flu"]}
    >>> tax = nym.Taxonomy.from_edges([("flu", "illness"), ("coma", "illness")])
    >>> roles = {"name": "identifier", "diagnosis": "quasi-identifier"}
    >>> with TemporaryDirectory() as folder:
    ...     made = nym.publish(frame, Path(folder, "release.csv"), roles, nym.RankSwap(k=2), {"diagnosis": tax})
    ...     sorted(path.name for path in Path(folder).iterdir()), made.manifest.summary["bound"]
    (['release.csv', 'release.csv.manifest.json'], 0.5)

    Parameters
    ----------
    source
        A table: the path of a ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``) or ``.parquet`` file, or a frame of any
        library. For ``Recode``, set-valued records: an ``Itemsets``, a FIMI file, or a column of lists.
    target
        The file to write: ``.csv``, ``.tsv``, ``.txt``, ``.parquet``; of item sets, ``.parquet`` or ``.txt``.
    roles
        What each column is: "identifier" (dropped), "quasi-identifier" (masked) or "keep" (published as it is). A
        column without a role is an error. Item sets have no roles: None.
    method
        How to mask: ``RankSwap``, ``Noise``, ``DataSwap`` or ``Recode``.
    meanings
        What the values of quasi-identifiers mean, by column; a path is read as a taxonomy. ``DataSwap`` needs none.
    key
        The file of the owner's record, if there is to be one: the row of each record, the fingerprint of the input, the
        seed and the figures of this draw. Only its owner may read it (mode 600). Keep it apart from the release.
    keep_order
        Leave the rows in the order of the input, which may tell who is who.
    overwrite
        Replace files that are already there, even the input.
    seed
        For studies: the same seed gives the same release, which guarantees nothing.
    delimiter, encoding
        Of delimited text, in and out: by default a comma (a tab in ``.tsv``), and UTF-8.
    na
        Texts that mean a missing value in masked columns, as empty cells do.
    label, column
        For item sets, the column of sensitive labels (of a FIMI file, a file with one label a line; of an ``Itemsets``,
        the labels), and the column of lists.
    progress
        ``True`` for a bar, or a callable of (done, total).
    """
    check_seed(seed)
    check_progress(progress)
    if not isinstance(method, Method):
        raise ParameterError(
            f"a RankSwap, Noise, DataSwap or Recode is needed, not {type(method).__name__}", parameter="method"
        )
    if isinstance(source, str | os.PathLike):
        Path(source).stat()
    if isinstance(method, Recode):
        if keep_order or roles or meanings:
            raise ParameterError("item sets have no roles, and their rows are always shuffled: leave such settings out")
        return _publish_sets(source, Path(target), method, key, overwrite, seed, column, label, progress)
    if isinstance(source, Itemsets):
        raise ParameterError(f"{method!r} masks tables; item sets are recoded: give a Recode", parameter="method")
    paths = _paths(target, key)
    with files.open_table(source, delimiter=delimiter, encoding=encoding, hashed=key is not None) as table:
        files.is_parquet(target)
        given = check_roles(roles, table.names)
        masked = [name for name, role in given.items() if role == QUASI]
        if not masked:
            raise ParameterError("no column is to be masked", remedy=Advice("give {}", meanings=NO_VALUE))
        said = meaning_files(meanings)
        _check_meanings(said, masked, isinstance(method, DataSwap))
        sources = {name: each.path for name, each in said.items() if isinstance(each, MeaningFile)}
        inputs = [path for path in (source, *sources.values()) if isinstance(path, str | os.PathLike)]
        check_targets(paths, inputs, overwrite)
        known = read_meanings(said, progress)
        published = [name for name in table.names if given[name] != IDENTIFIER]
        # Kept columns come out as they were, whatever they say.
        records = files.read_columns(table, published, dict.fromkeys(masked, tuple(na)), progress)
        if records.num_rows < 2:
            found = "one record" if records.num_rows else "no record"
            raise DataError(f"{table.where} has {found}; two at least are needed to hide one among others")
        shape = {"rows": records.num_rows, "columns": len(table.names)}
        described = {**(table.fingerprint() if key is not None else {}), **shape}
        types = table.types
    rows = np.arange(records.num_rows, dtype=np.uint32)
    if not keep_order:
        rows = _core.shuffle_rows(records.num_rows, seed).astype(np.uint32)
        # Before masking, so that what a method does with the order of rows is done with a random one.
        records = files.in_order(records, files.inverse(rows))
    result: Result = method.apply(records, {name: known.get(name, Equality()) for name in masked}, seed, progress)  # type: ignore[attr-defined]
    del records
    manifest = replace(
        _manifest(result, seed, []),
        roles={role: [name for name, has in given.items() if has == role] for role in ROLES},
        meanings={name: describe(meaning, sources.get(name)) for name, meaning in known.items()},
        order="kept" if keep_order else "shuffled",
        output={"rows": shape["rows"], "columns": len(published)},
    )
    realised = {} if key is None else result.owners("the owner's record").summary
    record = OwnersRecord(rows, described, seed, realised)

    def write(draft: Path) -> None:
        files.write_draft(result.data, draft, target, delimiter, encoding, types)

    return Publication(_write_files(paths, write, manifest, record, overwrite), result, paths)


def _publish_sets(
    source: Any,
    target: Path,
    method: Recode,
    key: StrPath | None,
    overwrite: bool,
    seed: int | None,
    column: str | None,
    label: Any,
    progress: Progress,
) -> Publication:
    if target.suffix.lower() not in (".txt", ".dat", *files.PARQUET):
        raise ParameterError(f"{target}: a release of item sets ends in .parquet or .txt")
    paths = _paths(target, key)
    inputs = [path for path in (source, label) if isinstance(path, str | os.PathLike) and Path(path).is_file()]
    check_targets(paths, inputs, overwrite)
    sets, labels, left_out = files.read_sets(source, column, label, progress)
    release = method.apply(sets, labels, seed, progress)
    secret = release.secret
    assert secret is not None
    described = files.fingerprint(source) if key is not None and inputs[:1] == [source] else {}
    summary = {**release.summary, "error_rate": release.error_rate(progress=progress)} if key is not None else {}
    record = OwnersRecord(
        secret.row_of[secret.assignment], {**described, "rows": sets.n, "items": sets.n_items}, seed, summary
    )
    notes = [f"not part of the release: {', '.join(left_out)}"] if left_out else []
    manifest = replace(_manifest(release, seed, notes), output={"rows": len(release), "items": sets.n_items})
    write = set_files.draft_parquet if target.suffix.lower() in files.PARQUET else set_files.draft_text
    made = _write_files(paths, lambda draft: write(release, draft), manifest, record, overwrite)
    return Publication(made, release, paths)


def _manifest(result: Result | Release, seed: int | None, notes: Sequence[str]) -> Manifest:
    """Return what the public side of a result has to say."""
    assert result.method is not None
    return Manifest(
        command=result.method.command,
        options=options_of(result.method),
        params={name: value for name, value in result.params.items() if name != "version"},
        summary={name: value for name, value in result.summary.items() if name != "notes"},
        seeded=seed is not None,
        notes=[
            *result.summary.get("notes", []), *notes, SCOPE_NOTE, *([SEED_NOTE] if seed is not None else []),
        ],
    )  # fmt: skip


# ---- roles and meanings


def check_roles(roles: Mapping[str, str] | None, names: Sequence[str]) -> dict[str, str]:
    """Refuse columns without a role, and roles of columns that are not there.

    >>> check_roles({"name": "identifier", "diagnosis": "quasi-identifier"}, ["name", "diagnosis", "age"])
    Traceback (most recent call last):
    nominym.error.ParameterError: 1 column has no role: 'age'. Say of each whether it identifies a person ...
    """
    if not isinstance(roles, Mapping):
        raise ParameterError(
            f"a mapping from column names to roles is needed, not {type(roles).__name__}",
            parameter="roles",
            remedy="for example roles={'name': 'identifier', 'diagnosis': 'quasi-identifier', 'ward': 'keep'}",
        )
    for name, role in roles.items():
        if role not in ROLES:
            raise ParameterError(f"role {role!r} is unknown; give {', '.join(ROLES)}", column=name)
        if name not in names:
            close = difflib.get_close_matches(str(name), list(map(str, names)), n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            raise UnknownColumnError(f"there is no column {name!r}{hint} There are {files.listed(names, 50)}")
    without = [name for name in names if name not in roles]
    if without:
        have = "columns have" if len(without) > 1 else "column has"
        raise ParameterError(
            f"{len(without)} {have} no role: {files.listed(without, 50)}. Say of each whether it identifies a person "
            "(identifier: dropped), helps to recognise one (quasi-identifier: masked), or is published as it is (keep)",
            remedy=Advice("to leave them out, the safe choice: {}", roles=dict.fromkeys(without, IDENTIFIER)),
        )
    return dict(roles)


def _check_meanings(given: Mapping[str, Any], masked: Sequence[str], optional: bool) -> None:
    """Refuse masked columns without a meaning, and meanings of columns that are not masked."""
    for name in given:
        if name not in masked:
            raise ParameterError("it has a meaning, but is not masked: its role is no quasi-identifier", column=name)
    bare = next((name for name in masked if name not in given), None)
    if bare is not None and not optional:
        raise ParameterError(
            "nothing says what its values mean", column=bare, remedy=Advice("give {}", meanings=NO_VALUE)
        )


# ---- files


def _paths(target: StrPath, key: StrPath | None) -> Paths:
    return Paths(Path(target), manifest_path(target), None if key is None else Path(key))


def check_targets(paths: Paths, inputs: Sequence[StrPath], overwrite: bool) -> None:
    """Refuse, before any work, targets that are inputs, that are there already, or where nothing can be written."""
    targets = [path for path in paths if path is not None]
    if len({target.absolute() for target in targets}) < len(targets):
        raise ParameterError("the owner's record needs a file of its own", parameter="key", value=str(paths.key))
    for target in targets:
        for given in inputs:
            if not _same(target, given):
                continue
            if target != paths.release:
                raise ParameterError(f"{target} is an input; choose another name")
            if not overwrite:
                raise ParameterError(
                    f"{target} is the input; choose another name",
                    remedy=Advice("or give {} to lose the original", overwrite=True),
                )
        check_new(target, overwrite)
        Draft(target).discard()


def _same(target: Path, given: StrPath) -> bool:
    try:
        return target.samefile(given)
    except OSError:
        return False


def _write_files(
    paths: Paths, write: Callable[[Path], object], manifest: Manifest, record: OwnersRecord, overwrite: bool
) -> Manifest:
    """Write a release by ``write``, given the path of a draft; its manifest and, if asked for, the owner's record."""
    for target in paths:
        if target is not None:
            check_new(target, overwrite)
    with ExitStack() as stack:

        def draft(target: Path, mode: int = 0o666) -> Draft:
            made = Draft(target, mode)
            stack.callback(made.discard)
            return made

        data = draft(paths.release)
        write(data.path)
        found = {**files.fingerprint(data.path), "name": paths.release.name}
        said = replace(manifest, output={**found, **manifest.output})
        beside = draft(paths.manifest)
        beside.path.write_text(said.to_json(), encoding="utf-8")
        drafts = [beside, data]
        if paths.key is not None:
            drafts.insert(0, draft(paths.key, RECORD_MODE))
            write_record(record, drafts[0].path, found["sha256"])
        for each in drafts:
            each.finish()
        for each in drafts:
            each.publish()
    return said
