"""Releases on Spark: Parquet folders in and out, with a manifest beside the folder."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from nominym.error import DataError, ParameterError
from nominym.files import as_path, fingerprint
from nominym.itemsets import Recode
from nominym.meaning import Equality
from nominym.release import Publication, describe, manifest_path
from nominym.release.meanings import read_meanings
from nominym.release.pipeline import (
    IDENTIFIER,
    QUASI,
    ROLES,
    Paths,
    Shared,
    check_items,
    check_mapping,
    check_meant,
    check_roles,
    manifest_of,
    refuse_sets,
    warn_of_persons,
    with_items,
    with_roles,
)
from nominym.spark import sets
from nominym.spark.methods import staged
from nominym.spark.plan import CHANGED, PlanError
from nominym.spark.sets import Where
from nominym.spark.source import Staged, quoted, sizes
from nominym.swap import DataSwap

if TYPE_CHECKING:
    from nominym.control import Progress
    from nominym.files import StrPath
    from nominym.method import Method


def check_options(given: Mapping[str, Any]) -> None:
    """Refuse options of releases that mean nothing on Spark."""
    for name, value in given.items():
        if value not in (None, False, (), []):
            rows = name in ("key", "keep_order")
            why = "rows have no number on Spark" if rows else "a Parquet folder has no use for it"
            raise ParameterError(f"{why}; leave it out where engine is 'spark'", parameter=name, value=value)


def publish(
    source: DataFrame | StrPath,
    target: StrPath,
    roles: Mapping[str, str] | None,
    method: Method,
    meanings: Any = None,
    *,
    where: Where | None = None,
    plan: Any = None,
    master: str | None = None,
    overwrite: bool = False,
    seed: int | None = None,
    progress: Progress = None,
) -> Publication:
    """Make a release of a Spark data frame or a Parquet folder; ``nominym.publish`` explains roles and meanings.

    ``where`` says which columns hold item sets. The folder is written under another name first, and gets its own when
    it is complete.
    """
    where = where or Where()
    if not isinstance(method, Recode):
        refuse_sets(where._asdict())
    out = as_path(target)
    _check_target(source, out, overwrite)
    data = _read(source, master)
    _check_inputs(data, out)
    how: dict[str, Any] = {"plan": plan, "seed": seed, "progress": progress}
    if isinstance(method, Recode):
        check_items(method, roles, meanings or {})
        method, described = with_items(method, meanings or {}, progress)
        staging = sets.staged(method, data, where, **how)
        shape = {"items": staging.result.summary["items"]}
        return _written(staging, out, overwrite, data, seed, meanings=described, output=shape)
    method, given = with_roles(method, check_mapping(roles))
    given = check_roles(given, data.columns)
    masked = [name for name, role in given.items() if role == QUASI]
    if not masked:
        raise ParameterError("no column is masked", parameter="roles")
    meanings = {} if meanings is None else meanings
    check_meant(meanings, masked, isinstance(method, DataSwap))
    sources = {name: os.fspath(each) for name, each in meanings.items() if isinstance(each, str | os.PathLike)}
    known = read_meanings(meanings, progress)
    identifiers = [name for name, role in given.items() if role == IDENTIFIER]
    if getattr(method, "bound", None) is not None and getattr(method, "person", None) is None:
        warn_of_persons({name: _shared(data, name) for name in identifiers})
    meant = {name: known.get(name, Equality()) for name in masked}
    staging = staged(method, data, meant, dropped=identifiers, always=True, **how)
    return _written(
        staging, out, overwrite, data, seed,
        roles={role: [name for name, has in given.items() if has == role] for role in ROLES},
        meanings={name: describe(meaning, sources.get(name)) for name, meaning in known.items()},
        output={"columns": len(staging.result.data.columns)},
    )  # fmt: skip


def _written(
    staging: Staged, out: Path, overwrite: bool, data: DataFrame, seed: int | None, *, output: Any, **more: Any
) -> Publication:
    """Write what is staged, and its manifest; ``more`` is what the manifest says besides."""
    paths = Paths(out, manifest_path(out), None)
    made = staging.result
    try:
        draft = _draft(made.data, out)
        try:
            if sum(pq.read_metadata(part).num_rows for part in _parts(draft)) != made.summary["records"]:
                raise PlanError(CHANGED)
            shape = {**_fingerprint(draft), "name": out.name, "rows": made.summary["records"], **output}
            manifest = manifest_of(made, seed, order="sorted", output=shape, **more)
            beside = draft.with_name(f"{draft.name}.json")
            beside.write_text(manifest.to_json(), encoding="utf-8")
            _put(draft, out, overwrite)
            beside.replace(paths.manifest)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
            draft.with_name(f"{draft.name}.json").unlink(missing_ok=True)
    finally:
        staging.end()
    return Publication(manifest, replace(made, data=data.sparkSession.read.parquet(out.absolute().as_uri())), paths)


def _check_target(source: Any, out: Path, overwrite: bool) -> None:
    if isinstance(source, str | os.PathLike):
        path = as_path(source)
        path.stat()
        if path.resolve() == out.resolve() or out.resolve() in path.resolve().parents:
            raise ParameterError(f"{out} is read: a release needs a folder of its own", parameter="target")
    if out.exists() and not overwrite:
        raise FileExistsError(f"{out} already exists; give overwrite=True (--overwrite) to replace it")
    if not out.absolute().parent.is_dir():
        raise FileNotFoundError(f"{out.absolute().parent} is no folder")


def _check_inputs(data: DataFrame, out: Path) -> None:
    """Refuse a target from which the data frame is read."""
    target = out.resolve()
    for name in data.inputFiles() if out.exists() else ():
        given = urlsplit(name)
        path = Path(unquote(given.path)).resolve()
        if given.scheme in ("", "file") and (path == target or target in path.parents):
            raise ParameterError(f"{out} is read: a release needs a folder of its own", parameter="target")


def _read(source: Any, master: str | None) -> DataFrame:
    if isinstance(source, DataFrame):
        return source
    # Workers have to be of the same Python as the driver.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    running = SparkSession.getActiveSession()
    builder = SparkSession.builder.appName("nominym")
    if running is None:
        builder = builder.master(master or "local[*]").config("spark.ui.enabled", "false")
    elif master is not None and running.sparkContext.master != master:
        raise ParameterError(
            f"a session on {running.sparkContext.master} is running; end it, or leave this out",
            parameter="master",
            value=master,
        )
    try:
        return builder.getOrCreate().read.parquet(as_path(source).absolute().as_uri())
    except Exception as reason:  # whatever the engine raises about a folder
        raise DataError(
            f"{os.fspath(source)} cannot be read on Spark as Parquet ({type(reason).__name__}); Java 17 and a Parquet "
            "file or folder are needed"
        ) from reason


def _shared(data: DataFrame, name: str) -> Shared:
    """Count the records and values of an identifier whose values may identify persons."""
    kind = dict(data.dtypes)[name]
    if kind in ("float", "double") or kind.startswith(("array", "struct", "map")):
        return Shared(0, 0, 0)
    records, times = sizes(data.filter(quoted(name).isNotNull()), [quoted(name)])
    return Shared(int((records * times).sum()), int(times.sum()), int(records.max(initial=0)))


def _draft(frame: DataFrame, out: Path) -> Path:
    """Write all parts to a folder beside the target, and leave nothing in it but them."""
    draft = out.absolute().with_name(f".{out.name}.{secrets.token_hex(8)}.draft")
    try:
        frame.write.parquet(draft.as_uri())
        for each in draft.iterdir():
            if not each.name.startswith("part-"):
                each.unlink()
        for number, part in enumerate(_parts(draft)):
            part.rename(draft / f"part-{number:05}.parquet")
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return draft


def _parts(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("part-*"))


def _fingerprint(folder: Path) -> dict[str, Any]:
    """Return the size of all parts, and the SHA-256 of the list of their hashes."""
    found = [fingerprint(part) for part in _parts(folder)]
    told = "".join(f"{each['sha256']}  {each['name']}\n" for each in found)
    return {"bytes": sum(each["bytes"] for each in found), "sha256": hashlib.sha256(told.encode()).hexdigest()}


def _put(draft: Path, out: Path, overwrite: bool) -> None:
    old = draft.with_name(f"{draft.name}.old")
    if overwrite and out.exists():
        out.rename(old)
    try:
        draft.rename(out)
    except OSError:
        with suppress(FileNotFoundError):
            old.rename(out)
        raise
    if old.is_dir():
        shutil.rmtree(old, ignore_errors=True)
    else:
        old.unlink(missing_ok=True)
