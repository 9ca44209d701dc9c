"""One way to make a release of a table, whatever the method: read, check, shuffle, mask, write."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from nominym import _core
from nominym.cli import console
from nominym.cli.settings import Files, Settings, lines_to_add
from nominym.error import DataError, ParameterError
from nominym.release import parquet
from nominym.release.delimited import some
from nominym.release.manifest import Manifest, fingerprint, manifest_path, of_taxonomy
from nominym.release.publish import check_targets, publish
from nominym.release.roles import Roles
from nominym.release.table import column_names, in_order, inverse, is_parquet, read_table, write_draft
from nominym.result import Result
from nominym.rng import check_seed
from nominym.taxonomy import Taxonomy

Mask = Callable[[Any, dict[str, Taxonomy]], Result]
"""Masks an Arrow table, given the taxonomies of columns."""

SEED_NOTE = (
    "made with a seed, for a study: whoever has the seed and the original can repeat every draw. "
    "For a release that protects, leave --seed out"
)


def check(asked: Settings, taxonomies_needed: bool) -> list[str]:
    """Refuse, before anything is read, what cannot be done; gives the columns of the input."""
    files, roles = asked.files, asked.columns.roles
    check_seed(asked.method.get("seed"))
    names = column_names(files.input, delimiter=files.delimiter, encoding=files.encoding)
    is_parquet(files.output)
    try:
        roles.check(names)
    except ParameterError as error:
        without = [name for name in names if name not in asked.columns.given]
        how = lines_to_add(without, asked.from_file)
        raise ParameterError(f"{error}. For example, to leave them out, the safe choice:\n{how}") from None
    if not roles.masked:
        raise ParameterError(f"no column is to be masked; give --quasi, for example --quasi {names[0]}=taxonomy.csv")
    bare = [name for name in roles.masked if "taxonomy" not in asked.columns.given[name]]
    if taxonomies_needed and bare:
        raise ParameterError(
            f"column {bare[0]!r} has no taxonomy, which says what its values mean; give --quasi {bare[0]}=file"
        )
    sources = [source for source in asked.columns.sources().values() if os.path.exists(source)]  # noqa: PTH110
    check_targets(files.output, [files.input, *sources], files.key, files.overwrite)
    return names


def make(command: str, asked: Settings, mask: Mask, *, taxonomies_needed: bool = True) -> Manifest:
    """Make a release of a table, and say what was done."""
    files, roles = asked.files, asked.columns.roles
    names = check(asked, taxonomies_needed)
    taxonomies = asked.columns.taxonomies(console.progress())
    if roles.identifiers:
        console.notice(f"identifiers are dropped: {', '.join(roles.identifiers)}")
    if asked.method.get("seed") is not None:
        console.warn(SEED_NOTE)
    source = fingerprint(files.input)
    table = read_records(files, roles.published(names), roles.masked)
    records, types = table.num_rows, _types(files)
    rows = None
    if not files.keep_order:
        rows = _core.shuffle_rows(records, asked.method.get("seed")).astype(np.uint32)
        # Before masking, so that what a method does with the order of rows is done with a random one.
        table = in_order(table, inverse(rows))
    result = mask(table, taxonomies)
    del table
    said = Manifest(
        command=command,
        params={name: value for name, value in result.params.items() if name != "version"},
        achieved={name: value for name, value in result.summary.items() if name != "notes"},
        input={**source, "rows": records, "columns": len(names)},
        roles=_said(roles),
        taxonomies={name: of_taxonomy(tax, asked.columns.sources()[name]) for name, tax in taxonomies.items()},
        order="kept" if files.keep_order else "shuffled",
        notes=[*result.summary.get("notes", []), *([SEED_NOTE] if asked.method.get("seed") is not None else [])],
    )
    kept = np.arange(records, dtype=np.uint32) if rows is None else rows
    return published(
        files,
        lambda draft: write_draft(result.data, draft, files.output, files.delimiter, files.encoding, types),
        said,
        {"rows": records, "columns": len(result.data.column_names)},
        kept,
    )


def read_records(files: Files, columns: list[str], masked: tuple[str, ...]) -> Any:
    """Read the columns of a release; there have to be records to hide among."""
    table = read_table(
        files.input,
        columns,
        delimiter=files.delimiter,
        encoding=files.encoding,
        # Kept columns come out as they were, whatever they say.
        na=dict.fromkeys(masked, files.na),
        progress=console.progress(),
    )
    if table.num_rows < 2:
        found = "one record" if table.num_rows else "no record"
        raise DataError(f"{files.input} has {found}; two at least are needed to hide one among others")
    return table


def _types(files: Files) -> dict[str, Any]:
    """Give the types that columns of a Parquet file have to have again."""
    if not is_parquet(files.input):
        return {}
    return {field.name: field.type for field in parquet.schema(files.input)}


def _said(roles: Roles) -> dict[str, Any]:
    return {"identifier": roles.identifiers, "quasi-identifier": roles.masked, "keep": roles.kept}


def published(
    files: Files,
    write: Callable[[Any], object],
    manifest: Manifest,
    output: Mapping[str, Any],
    rows: Any,
) -> Manifest:
    """Write the files of a release, and say which they are."""
    said = publish(
        files.output,
        write,
        manifest,
        output=dict(output),
        rows=rows if files.key is not None else None,
        key=files.key,
        overwrite=files.overwrite,
    )
    for note in said.notes:
        if note != SEED_NOTE:
            console.notice(note)
    if files.key is not None:
        console.warn(f"{files.key} tells which row is whose: keep it secret, apart from the release")
    return said


def report(said: Manifest, files: Files) -> None:
    """Say in a few lines what a release of a table is."""
    dropped = said.roles.get("identifier") or ()
    console.say(
        f"{files.output}: {said.output['rows']:,} records, {said.output['columns']} columns"
        f"{f', without {some(dropped)}' if dropped else ''}; rows {said.order}"
    )
    for name, figures in said.achieved.get("attributes", {}).items():
        moved = f"moved by {figures['rmse']:.4f} on average (RMSE), " if "rmse" in figures else ""
        console.say(f"  {name}: {moved}{figures['unchanged']:.1%} of the values as they were")
    if "bound" in said.achieved:
        console.say(
            f"  promise: nobody finds the row of a person with a probability above {said.achieved['bound']:.3g}"
        )
    elif "achieved_rate" in said.achieved:
        console.say(f"  {said.achieved['pairs']:,} pairs swapped, {said.achieved['achieved_rate']:.2%} of the records")
    console.say(f"  manifest: {manifest_path(files.output).name}{f'; key: {files.key}' if files.key else ''}")
