"""The pipeline: from records to a release with its manifest and the owner's record.

Roles are checked, identifiers dropped, rows shuffled, quasi-identifiers masked, and all files are drafts until each of
them is complete. Then they are published together (``atomic``).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nominym import _core, groups, journal
from nominym.atomic import Draft, check_new, same_file
from nominym.control import Progress, check_progress, check_seed
from nominym.error import (
    MASKED,
    NO_VALUE,
    Advice,
    DataError,
    ParameterError,
    UnknownColumnError,
    listed,
    warn,
)
from nominym.files import StrPath, as_path, fingerprint
from nominym.itemsets import Itemsets, Recode, Release
from nominym.itemsets import files as set_files
from nominym.itemsets.names import Missing
from nominym.meaning import WITHOUT_TAXONOMY, Equality, Taxonomy, is_sequence
from nominym.method import Method, Result
from nominym.release import files, sizing
from nominym.release.columns import in_order, inverse, types_kept
from nominym.release.manifest import (
    Manifest,
    OwnersRecord,
    describe,
    digest_of,
    manifest_path,
    options_of,
    write_record,
)
from nominym.release.meanings import Meanings, read_meanings, read_taxonomy_of_items
from nominym.release.sets import Layout, read_sets
from nominym.swap import DataSwap
from nominym.table import Table, code

IDENTIFIER, QUASI, KEEP, PERSON = ROLES = ("identifier", "quasi-identifier", "keep", "person")
"""The roles of columns: dropped; masked; published unchanged; dropped, but used to identify persons."""


ITEMS = "items"
"""The name of the meaning of item sets."""


class Paths(NamedTuple):
    """The paths of the files of a release; ``key`` is the owner's record, if one was requested."""

    release: Path
    manifest: Path
    key: Path | None


@dataclass(frozen=True, eq=False, repr=False)
class Publication:
    """A release written to files."""

    manifest: Manifest
    """The public manifest beside it."""
    result: Result | Release
    """The result of the method, rows in the order of the release; its ``secret`` is the owner's."""
    paths: Paths

    def __repr__(self) -> str:
        """Return file, method and size."""
        return f"<Publication {self.paths.release.name}: {self.result!r}>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the public side."""
        return {**self.__dict__, "paths": self.paths._replace(key=None)}


def missing_texts(na: Any) -> tuple[str, ...]:
    """Return the texts that mark a missing value; a single text is allowed too."""
    found = tuple(na) if is_sequence(na) else (na,)
    if not all(isinstance(text, str) for text in found):
        raise ParameterError("give texts that mark a missing value", parameter="na", value=na)
    return found


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
    comment: str | None = None,
    label: Any = None,
    person: Any = None,
    column: str | None = None,
    record: str | None = None,
    item: str | None = None,
    missing: Missing = "error",
    engine: str | None = None,
    plan: str | None = None,
    master: str | None = None,
    progress: Progress = None,
) -> Publication:
    """Make a release: drop identifiers, shuffle, mask, and write all files or none.

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
        A table: the path of a ``.csv``, ``.tsv``, ``.txt`` (also ``.gz``), ``.parquet``, ``.xlsx``, ``.dta`` or
        ``.sav`` file, or a frame from any library. For ``Recode``, set-valued records: an ``Itemsets``, a FIMI file, or
        a column of lists; baskets as ``.csv``, ``.tsv`` or ``.txt``, one per line; a table with ``record`` and
        ``item``.
    target
        The file to write: ``.csv``, ``.tsv``, ``.txt``, ``.parquet``; for item sets, ``.parquet``, ``.csv`` or
        ``.txt``.
    roles
        The role of each column: "identifier" (dropped), "quasi-identifier" (masked), "keep" (published unchanged) or
        "person" (dropped; identifies the person of each record, so that k counts persons). A column without a role is
        an error, unless the method names it as ``person`` or sensitive. Item sets have no roles: None.
    method
        How to mask: ``RankSwap``, ``Microaggregate``, ``Noise``, ``DataSwap`` or ``Recode``.
    meanings
        The meanings of quasi-identifiers, by column; a path is read as a taxonomy. ``DataSwap`` needs none. For item
        sets, ``{"items": taxonomy}`` recodes them by meaning, as ``Recode(taxonomy=…)`` does.
    key
        The file for the owner's record, if wanted: the row of each record, the fingerprint of the input, the seed and
        the figures of this draw. Only its owner may read it (mode 600). Keep it apart from the release.
    keep_order
        Keep the rows in the order of the input, which may reveal whose they are.
    overwrite
        Replace existing files; never one that is read, such as the input or a taxonomy.
    seed
        For studies: the same seed gives the same release, which guarantees nothing.
    delimiter, encoding
        Delimiter and encoding of text files, in and out: by default a comma (a tab in ``.tsv``), and UTF-8.
    na
        Texts that mark a missing value in masked columns, as empty cells do.
    comment
        Prefix of comment lines in delimited text; these are not part of the table or the release.
    label, person, column
        For item sets, the columns of sensitive labels and of persons (for a FIMI file, files with one per line; for an
        ``Itemsets``, the labels and persons themselves), and the column of lists.
    record, item
        For item sets in a table with one row per item, the columns of the record and of the item.
    missing
        For item sets, how to treat missing items and lists: "error", or "empty" to ignore them.
    engine, plan, master
        "spark" masks a Parquet folder, or a Spark data frame, on Apache Spark, and writes a Parquet folder whose rows
        are sorted by their content; ``plan`` is that of ``nominym.spark.rank_swap``, and ``master`` the cluster, by
        default that of the session, or all cores of this machine.
    progress
        ``True`` for a bar, or a callable of (done, total).
    """
    check_seed(seed)
    check_progress(progress)
    if not isinstance(method, Method):
        known = "a RankSwap, Microaggregate, Noise, DataSwap or Recode"
        raise ParameterError(f"{known} is needed, not {type(method).__name__}", parameter="method")
    if engine not in (None, "spark"):
        raise ParameterError("give 'spark', or leave it out", parameter="engine", value=engine)
    if engine == "spark" or type(source).__module__.startswith("pyspark."):
        from nominym import spark

        spark.check_options({"key": key, "keep_order": keep_order, "delimiter": delimiter, "na": na})
        where = spark.Where(column, label, person, record, item, missing)
        return spark.publish(source, target, roles, method, meanings, where=where, plan=plan, master=master,
                             overwrite=overwrite, seed=seed, progress=progress)  # fmt: skip
    for name, value in (("plan", plan), ("master", master)):
        if value is not None:
            raise ParameterError("it applies only where engine is 'spark'", parameter=name, value=value)
    if isinstance(source, str | os.PathLike):
        journal.recover(source)
        as_path(source).stat()
    out = as_path(target)
    paths = Paths(out, manifest_path(out), None if key is None else as_path(key))
    if isinstance(method, Recode):
        how = Layout(column, label, person, record, item, missing, delimiter, encoding, comment)
        check_items(method, roles or keep_order, meanings or {})
        return _publish_sets(source, paths, method, meanings or {}, overwrite, seed, how, progress)
    if isinstance(source, Itemsets):
        raise ParameterError(f"{method!r} masks tables; item sets are recoded: give a Recode", parameter="method")
    refuse_sets(
        {"label": label, "person": person, "column": column, "record": record, "item": item, "missing": missing}
    )
    markers = missing_texts(na)
    with files.open_table(source, delimiter=delimiter, encoding=encoding, comment=comment) as table:
        files.is_parquet(target)
        method, given = with_roles(method, check_mapping(roles))
        given = check_roles(given, table.names)
        masked = [name for name, role in given.items() if role == QUASI]
        if not masked:
            raise ParameterError("no column is masked", remedy=Advice("give {}", meanings=NO_VALUE))
        meanings = {} if meanings is None else meanings
        check_meant(meanings, masked, isinstance(method, DataSwap))
        sources = {name: os.fspath(each) for name, each in meanings.items() if isinstance(each, str | os.PathLike)}
        inputs = [path for path in (source, *sources.values()) if isinstance(path, str | os.PathLike)]
        check_targets(paths, inputs, overwrite)
        known = read_meanings(meanings, progress)
        used = [name for name in table.names if given[name] != IDENTIFIER]
        kept = [name for name in used if given[name] == KEEP]
        counted = getattr(method, "person", None)
        # Kept columns come out as they were, whatever they say.
        marked = [name for name in used if name not in kept]
        # Identifiers are read where several records may be one person's, which nothing else tells.
        alone = method.grouped and counted is None
        dropped = [name for name in table.names if alone and given[name] == IDENTIFIER]
        sizing.expect_release(table.rows, len(used), len(dropped))
        records = files.read_columns(table, [*used, *dropped], dict.fromkeys(marked, markers), progress)
        identifiers, records = records.select(dropped), records.select(used)
        if records.num_rows < 2:
            found = "one record" if records.num_rows else "no record"
            raise DataError(f"{table.where} has {found}; at least two are needed to hide one among others")
        if getattr(method, "missing", "keep") == "error":
            # Before the shuffle, so that the row that is named is one of the input.
            for name in masked:
                if pc.any(pc.is_null(records[name], nan_is_null=True)).as_py():
                    Table(records).column(name).check_missing("error")
        if counted is not None and pc.any(pc.is_null(records[counted], nan_is_null=True)).as_py():
            groups.check_persons(Table(records).column(counted))
        warn_of_persons({name: _shared(identifiers[name]) for name in identifiers.column_names})
        del identifiers
        sizing.require_release(records)
        shape = {"rows": records.num_rows, "columns": len(table.names)}
        described = {**(table.fingerprint() if key is not None else {}), **shape}
        types = table.types
    rows = np.arange(records.num_rows, dtype=np.uint32)
    if not keep_order:
        rows = _core.shuffle_rows(records.num_rows, seed).astype(np.uint32)
        # Before masking, so that what a method does with the order of rows is done with a random one.
        records = in_order(records, inverse(rows))
    table_of = Table(records)
    table_of.shuffled = not keep_order
    notes = _check_kept(method, table_of, masked, kept)
    result: Result = method.apply(table_of, {name: known.get(name, Equality()) for name in masked}, seed, progress)  # type: ignore[attr-defined]
    manifest = manifest_of(
        result,
        seed,
        notes,
        roles={role: [name for name, has in given.items() if has == role] for role in ROLES},
        meanings={name: describe(meaning, sources.get(name)) for name, meaning in known.items()},
        order="kept" if keep_order else "shuffled",
        output={"rows": shape["rows"], "columns": len(masked) + len(kept)},
    )
    realised = {} if key is None else result.owners("the owner's record").summary
    group_of = None if result.secret is None else result.secret.groups
    owners = OwnersRecord(rows, described, seed, realised, None if group_of is None else group_of[rows])

    def write(draft: Path) -> None:
        kept_types = types_kept(types, records, result.data)
        files.write_draft(result.data, draft, target, delimiter, encoding, kept_types)

    return _write_files(Publication(manifest, result, paths), write, owners, overwrite)


def _publish_sets(
    source: Any,
    paths: Paths,
    method: Recode,
    meanings: Meanings,
    overwrite: bool,
    seed: int | None,
    how: Layout,
    progress: Progress,
) -> Publication:
    suffix = paths.release.suffix.lower()
    if suffix not in (".csv", ".txt", ".dat", *files.PARQUET):
        raise ParameterError(f"{paths.release}: a release of item sets ends in .parquet, .csv or .txt")
    given = (source, how.label, how.person, *meanings.values())
    inputs = [path for path in given if isinstance(path, str | os.PathLike) and Path(path).is_file()]
    check_targets(paths, inputs, overwrite)
    method, meant = with_items(method, meanings, progress)
    sets, labels, persons, left_out = read_sets(source, how, progress)
    release = method.apply(sets, labels, seed, progress, person=persons)
    secret = release.secret
    assert secret is not None
    described: dict[str, Any] = {"rows": sets.n, "items": sets.n_items}
    summary = {}
    if paths.key is not None:
        described |= fingerprint(source) if inputs[:1] == [source] else {}
        beside = {"labels": labels, "persons": persons}
        described |= {name: digest_of(code(given, name)) for name, given in beside.items() if given is not None}
        summary = {**release.summary, "error_rate": release.error_rate(progress=progress)}
    rows, grouped = secret.row_of[secret.assignment], getattr(secret.graph, "group_of", None)
    record = OwnersRecord(rows, described, seed, summary, grouped)
    notes = [f"not part of the release: {', '.join(left_out)}"] if left_out else []
    output = {"rows": len(release), "items": release.base.n_items}
    manifest = manifest_of(release, seed, notes, meanings=meant, output=output)
    made = Publication(manifest, release, paths)

    def write(draft: Path) -> None:
        if suffix == ".csv":
            set_files.draft_csv(release, draft, how.delimiter or ",")
        else:
            (set_files.draft_parquet if suffix in files.PARQUET else set_files.draft_text)(release, draft)

    return _write_files(made, write, record, overwrite)


def check_items(method: Recode, settings: object, meanings: Meanings) -> None:
    """Refuse what item sets have no use for: roles, an order that is kept, and meanings of anything but items."""
    if settings:
        raise ParameterError("item sets have no roles, and their rows are always shuffled: leave these options out")
    if set(meanings) - {ITEMS} or (meanings and method.taxonomy is not None):
        fault = f"item sets have one meaning, that of {ITEMS!r}, which is given here or to the method"
        raise ParameterError(fault, parameter="meanings", value=list(meanings))


def with_items(method: Recode, meanings: Meanings, progress: Progress) -> tuple[Recode, dict[str, Any]]:
    """Return the method with what items mean, and what the manifest says of that."""
    if meanings:
        method = replace(method, taxonomy=read_taxonomy_of_items(meanings[ITEMS], progress))
    if not isinstance(method.taxonomy, Taxonomy):
        return method, {}
    named = next((os.fspath(each) for each in meanings.values() if isinstance(each, str | os.PathLike)), None)
    return method, {ITEMS: describe(method.taxonomy, named)}


def refuse_sets(given: Mapping[str, Any]) -> None:
    """Refuse options that only item sets have."""
    told = {name: NO_VALUE for name, each in given.items() if each is not None and (name, each) != ("missing", "error")}
    if told:
        remedy = Advice("leave " + ", ".join("{}" for _ in told) + " out", **told)
        raise ParameterError("a table has roles instead of labels, persons and columns of items", remedy=remedy)


def manifest_of(result: Result | Release, seed: int | None, notes: Sequence[str] = (), **more: Any) -> Manifest:
    """Return the manifest of a result; ``more`` is what only the pipeline knows."""
    assert result.method is not None
    seeded = seed is not None
    return Manifest(
        command=result.method.command,
        options=options_of(result.method),
        params={name: value for name, value in result.params.items() if name != "version"},
        summary={name: value for name, value in result.summary.items() if name != "notes"},
        guarantee=result.guarantee.to_dict(),
        seeded=seeded,
        notes=[*result.summary.get("notes", []), *notes],
        **more,
    )


# ---- roles and meanings


def with_roles(method: Method, roles: Mapping[str, str]) -> tuple[Method, dict[str, str]]:
    """Return method and roles, each completed with the persons and sensitive columns of the other."""
    persons = [name for name, role in roles.items() if role == PERSON]
    if len(persons) > 1:
        others = dict.fromkeys(persons[1:], IDENTIFIER)
        raise ParameterError(
            f"{len(persons)} columns have the role person: {listed(persons)}; only one is allowed",
            remedy=Advice("drop the others: {}", roles=others),
        )
    if "person" not in method.options():
        if persons:
            raise ParameterError(
                f"its role is person, but {type(method).__name__} does not count persons",
                column=persons[0],
                remedy=Advice("drop it: {}", roles={persons[0]: IDENTIFIER}),
            )
        return method, dict(roles)
    made: Any = method
    if persons and made.person not in (None, persons[0]):
        raise ParameterError(f"the role of {persons[0]!r} is person", parameter="person", value=made.person)
    if persons:
        made = replace(made, person=persons[0])
    implied = {} if made.person is None else {made.person: PERSON}
    implied |= dict.fromkeys(made.sensitive or (), KEEP)
    for name, role in implied.items():
        said = roles.get(name, role)
        # Either drops a person's column.
        if said != role and (said, role) != (IDENTIFIER, PERSON):
            raise _two_parts(name, role, said)
    return made, {**roles, **implied}


def _two_parts(name: str, role: str, said: str) -> ParameterError:
    """Return the error for a column whose role contradicts the method."""
    person = role == PERSON
    if said == QUASI:
        option = "person" if person else "sensitive"
        what = "persons are identified by a column that is dropped" if person else "a sensitive column stays unchanged"
        return ParameterError(
            f"it is masked; {what}",
            column=name,
            remedy=Advice("take it from {}, or from {}", masked=MASKED, **{option: NO_VALUE}),
        )
    what = "identifies persons" if person else "is sensitive"
    return ParameterError(
        f"it {what}, but its role is {said}", column=name, remedy=Advice("give {}", roles={name: role})
    )


_REPEATED = (0.05, 0.95)
"""Least and largest ratio of values to records of a column that may identify persons with several records."""
_FREQUENT = 0.05
"""Share of the records that no person has."""


class Shared(NamedTuple):
    """How records share the values of a column."""

    records: int
    values: int
    most: int
    """Records of the most frequent value."""


def _shared(column: Any) -> Shared:
    """Count the records and values of an identifier, if its values may identify persons."""
    values = column.drop_null()
    if not len(values) or pa.types.is_floating(values.type) or pa.types.is_nested(values.type):
        return Shared(0, 0, 0)
    counts = pc.value_counts(values.unify_dictionaries()).field("counts").to_numpy()
    return Shared(len(values), len(counts), int(counts.max()))


def warn_of_persons(identifiers: Mapping[Any, Shared]) -> None:
    """Warn the owner of identifiers that several records share: k counts records, not persons."""
    found, (least, most) = [], _REPEATED
    for name, (records, values, frequent) in identifiers.items():
        if records and frequent <= max(_FREQUENT * records, 2) and least <= values / records <= most:
            found.append(name)
    if found:
        one = "it identifies" if len(found) == 1 else "one of them identifies"
        warn(
            f"several records have the same {listed(found)}, and k counts records; if {one} persons, give it the "
            f"role person (--person {found[0]}), so that k counts persons"
        )


def _check_kept(method: Method, table: Table, masked: Sequence[str], kept: Sequence[str]) -> list[str]:
    """Raise on kept columns that undo masking; methods with groups check this themselves."""
    if method.grouped:
        return []
    before, beside = ({name: table.column(name) for name in names} for names in (masked, kept))
    return groups.check_kept(beside, before, getattr(method, "k", None) or 2, getattr(method, "accept", ())).public


def check_mapping(roles: Mapping[str, str] | None) -> Mapping[str, str]:
    """Raise unless given a mapping from columns to roles."""
    if isinstance(roles, Mapping):
        return roles
    raise ParameterError(
        f"a mapping from column names to roles is needed, not {type(roles).__name__}",
        parameter="roles",
        remedy="for example roles={'name': 'identifier', 'diagnosis': 'quasi-identifier', 'ward': 'keep'}",
    )


def check_roles(roles: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Raise on columns without a role, and on roles of columns that do not exist.

    >>> check_roles({"name": "identifier", "diagnosis": "quasi-identifier"}, ["name", "diagnosis", "age"])
    Traceback (most recent call last):
    nominym.error.ParameterError: 1 column has no role: 'age'. Decide whether it identifies a person ...
    """
    for name, role in roles.items():
        if role not in ROLES:
            raise ParameterError(f"role {role!r} is unknown; give {', '.join(ROLES)}", column=name)
        if name not in names:
            close = difflib.get_close_matches(str(name), list(map(str, names)), n=1)
            hint = f"; did you mean {close[0]!r}?" if close else "."
            comment = Advice("skip comment lines with {}", comment="#") if str(names[0]).startswith("#") else None
            told = f"there is no column {name!r}{hint} There are {listed(names, 50)}"
            raise UnknownColumnError(told, remedy=comment)
    for name in names:
        if any("\ud800" <= sign <= "\udfff" for sign in str(name)):
            raise DataError("its name cannot be written as UTF-8", column=name)
    without = [name for name in names if name not in roles]
    if without:
        have, each, them = ("columns have", " for each", "them") if len(without) > 1 else ("column has", "", "it")
        raise ParameterError(
            f"{len(without)} {have} no role: {listed(without, 50)}. Decide{each} whether it identifies a "
            f"person (identifier: dropped), helps to recognise one (quasi-identifier: masked), or is published "
            f"unchanged (keep)",
            remedy=Advice(f"to leave {them} out, the safe choice: {{}}", roles=dict.fromkeys(without, IDENTIFIER)),
        )
    return dict(roles)


def check_meant(given: Meanings, masked: Sequence[str], optional: bool) -> None:
    """Raise on masked columns without a meaning, and on meanings of columns that are not masked."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"a mapping from column names to meanings is needed, not {type(given).__name__}", parameter="meanings"
        )
    for name in given:
        if name not in masked:
            raise ParameterError("it has a meaning, but is not masked: its role is not quasi-identifier", column=name)
    for name in () if optional else masked:
        if name not in given:
            raise ParameterError(
                "it has no meaning",
                column=name,
                remedy=Advice(
                    "give {}; values without a taxonomy take {}, or {}", meanings=NO_VALUE, **WITHOUT_TAXONOMY
                ),
            )


# ---- files


def check_targets(paths: Paths, inputs: Sequence[StrPath], overwrite: bool) -> None:
    """Raise, before any work, on targets that are the same file or an input, exist already, or cannot be written."""
    journal.recover(paths.release)
    targets = [path for path in paths if path is not None]
    for one, other in combinations(targets, 2):
        if same_file(one, other):
            remedy = "the owner's record needs a file of its own" if other == paths.key else "choose another name"
            raise ParameterError(f"{one} and {other} are the same file; {remedy}")
    for target in targets:
        check_new(target, overwrite, inputs)
        Draft(target).discard()


def _write_files(
    made: Publication, write: Callable[[Path], object], record: OwnersRecord, overwrite: bool
) -> Publication:
    """Write a release by ``write``, given the path of a draft, its manifest and, if requested, the owner's record."""
    drafts, paths = [], made.paths
    with ExitStack() as stack:
        # Only the owner may read the owner's record.
        for target, mode in ((paths.key, 0o600), (paths.manifest, 0o666), (paths.release, 0o666)):
            if target is not None:
                drafts.append(Draft(target, mode))
                stack.callback(drafts[-1].discard)
        *owners, beside, data = drafts
        write(data.path)
        found = {**fingerprint(data.path), "name": paths.release.name}
        said = replace(made.manifest, output={**found, **made.manifest.output})
        beside.path.write_text(said.to_json(), encoding="utf-8")
        for key in owners:
            write_record(record, key.path, found["sha256"])
        journal.publish(drafts, overwrite)
    return replace(made, manifest=said)
