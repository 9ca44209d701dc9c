"""Files of set-valued records and of releases. Each gets its name only when it is complete."""

from __future__ import annotations

import gzip
import json
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from nominym import _core
from nominym.control import Progress, reporter
from nominym.error import DataError, FormatError, NominymError, ParameterError
from nominym.files import StrPath, at_line, check_new, draft_of, read_bytes, write_atomic
from nominym.itemsets import columns, names
from nominym.itemsets.recode import Recode
from nominym.itemsets.release import Release
from nominym.itemsets.sets import Itemsets
from nominym.values import plain

NAME = "nominym-release"
VERSION = 1

_LARGEST = 2**31 - 1
# Rows that are written at a time: Ctrl-C is heard in between.
_ROWS = 1 << 16


def read_fimi(path: StrPath, items: Any, progress: Progress) -> Itemsets:
    """Read a file of transactions."""
    data = read_bytes(path)
    if Path(path).suffix == ".gz":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise FormatError(f"{os.fspath(path)}: {error}; expected a gzip file") from None
    with reporter(progress, "reading") as report:
        sets = _parse(data, path, report)
    return sets if items is None else sets._over(items, lambda row: f"{os.fspath(path)}, line {row + 1}")


def _parse(data: bytes, path: StrPath, report: Any = None) -> Itemsets:
    try:
        core, ids = _core.Sets.parse(data, report)
    except ParameterError as error:
        raise FormatError(f"{os.fspath(path)}, {error}") from None
    return Itemsets(core, pa.array(ids.astype(np.int64)))


def write_fimi(sets: Itemsets, path: StrPath, overwrite: bool) -> None:
    """Write a file of transactions."""
    if pa.types.is_large_string(sets.names.type) and len(sets.names):
        raise DataError("FIMI files have whole numbers for items, not texts; use to_column() and a Parquet file")
    texts = _texts(sets.names, "a FIMI file")
    check_new(path, overwrite)
    with write_atomic(path) as file:
        for first in range(0, sets.n, _ROWS):
            file.write(sets.core.write(texts, first, min(first + _ROWS, sets.n)))


def _texts(found: Any, where: str) -> list[str]:
    """Return names as they stand in lines of text."""
    if pa.types.is_integer(found.type):
        numbers = found.to_numpy()
        wrong = np.flatnonzero((numbers < 0) | (numbers > _LARGEST))
        if len(wrong):
            raise DataError(f"item {numbers[wrong[0]]}: {where} has numbers from 0 to {_LARGEST}; use a Parquet file")
    texts: list[str] = found.cast(pa.large_string()).to_pylist()
    wrong_text = next((text for text in texts if not text or re.search(r"[\s|]", text)), None)
    if wrong_text is not None:
        raise DataError(f"item {wrong_text!r}: {where} cannot have blanks, bars and empty names; use a Parquet file")
    return texts


# ---- releases


def write_release(release: Release, path: StrPath, overwrite: bool, *, text: bool) -> None:
    """Write a release as text or to a Parquet file."""
    check_new(path, overwrite)
    with draft_of(path) as draft:
        (draft_text if text else draft_parquet)(release, draft)


def draft_parquet(release: Release, draft: Path) -> None:
    """Write a release to the draft of a Parquet file."""
    parts = {
        "base": columns.to_arrow(release.base),
        "distance": columns.to_arrow(release.distance),
        "threshold": pa.array(release.threshold),
    }
    if release.labels is not None:
        try:
            parts["label"] = pa.array(release.labels)
        except names.ARROW_REFUSES:
            raise DataError("a Parquet column has values of one type, in Unicode: turn the labels into texts") from None
    about = {"format": NAME, "version": VERSION, "params": plain(release.params), "summary": plain(release.summary)}
    table = pa.table(parts).replace_schema_metadata({NAME: json.dumps(about, ensure_ascii=False)})
    pq.write_table(table, draft, compression="zstd")


def draft_text(release: Release, draft: Path) -> None:
    """Write a release as text to a draft."""
    texts = _texts(release.base.names, "a text file")
    labels = None if release.labels is None else [str(label) for label in release.labels]
    for label in labels or []:
        if re.search(r"[\r\n]", label):
            raise DataError(f"label {label!r} breaks the line; use a Parquet file")
        if not names.is_unicode(label):
            raise DataError(f"label {label!r} is no Unicode text; decode it anew")
    with draft.open("wb") as file:
        for first in range(0, len(release), _ROWS):
            end = min(first + _ROWS, len(release))
            some = None if labels is None else labels[first:end]
            lines = release.base.core.write(texts, first, end, release.distance.core, release.threshold, some)
            file.write(lines)


def read_release(path: StrPath) -> Release:
    """Read a release from the Parquet or text file that it was written to; the owner's part was never there.

    Items are those that occur, in order. In text files, items that are all written as whole numbers up to 2^31 − 1 are
    such, and labels are texts; Parquet files keep their types.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import nominym as nym
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "release.txt")
    ...     _ = path.write_text("1 2 | 1 | 1 | flu\\n2 | 1 3 | 1 | coma\\n")
    ...     rel = nym.itemsets.read_release(path)
    >>> rel.base.to_lists(), rel.distance[1], rel.threshold.tolist(), rel.labels.tolist()
    ([[1, 2], [2]], [1, 3], [1, 1], ['flu', 'coma'])
    """
    data = read_bytes(path)
    try:
        return _from_parquet(data, path) if data[:4] == b"PAR1" else _from_text(data, path)
    except FormatError:
        raise
    # Of a damaged file, Arrow may raise anything that can be wrong with a number, an index, a type or a text.
    except (pa.ArrowException, ArithmeticError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        raise FormatError(f"{os.fspath(path)}: not a release that this version can read ({error})") from None


def _from_parquet(data: bytes, path: StrPath) -> Release:
    table = pq.read_table(pa.BufferReader(data))
    table.validate(full=True)
    about = json.loads((table.schema.metadata or {})[NAME.encode()])
    if (about["format"], about["version"]) != (NAME, VERSION):
        raise FormatError(
            f"{os.fspath(path)}: {about['format']} version {about['version']}, not {NAME} version {VERSION}"
        )
    labels = table["label"] if "label" in table.column_names else None
    sets = [Itemsets.from_column(table[part]) for part in ("base", "distance")]
    params, summary = dict(about["params"]), dict(about["summary"])
    return _release(sets[0], sets[1], table["threshold"], labels, _method(params), params, summary)


def _method(params: Mapping[str, Any]) -> Recode | None:
    """Restore the method from what a file says, or None where it says too little or what this version does not know."""
    said = {each.name: params[each.name] for each in fields(Recode) if each.name in params}
    try:
        return Recode.from_options(said) if "structure" in said else None
    except NominymError:
        return None


def _from_text(data: bytes, path: StrPath) -> Release:
    lines = [line.removesuffix(b"\r") for line in data.removesuffix(b"\n").split(b"\n")] if data else []
    split = [line.split(b" | ", 3) for line in lines]
    width = len(split[0]) if split else 3
    for number, line in enumerate(split, 1):
        if len(line) != width or not 3 <= width <= 4:
            raise at_line(path, number, f"{len(line)} fields; expected base | distance | threshold, and label or not")
        if not re.fullmatch(rb"[0-9]{1,9}", line[2]):
            raise at_line(path, number, f"threshold {line[2].decode(errors='replace')!r}; expected a whole number")
    texts = [b"".join(line[part] + b"\n" for line in split) for part in (0, 1)]
    numeric = all(_numeric(text) for text in texts)
    sets = [_items(text, path, numeric) for text in texts]
    labels = None
    if width == 4:
        try:
            labels = [line[3].decode() for line in split]
        except UnicodeDecodeError as error:
            raise FormatError(f"{os.fspath(path)}: a label is not UTF-8 text ({error.reason})") from None
    return _release(sets[0], sets[1], np.array([int(line[2]) for line in split], dtype=np.uint32), labels)


def _numeric(text: bytes) -> bool:
    """Tell whether all items are whole numbers as files have them; what only looks so, such as 007, is text."""
    if re.search(rb"[^0-9\s]|\b0[0-9]|[0-9]{11}", text):
        return False
    return all(int(item) <= _LARGEST for item in re.findall(rb"[0-9]{10}", text))


def _items(text: bytes, path: StrPath, numeric: bool) -> Itemsets:
    if numeric:
        return _parse(text, path)
    try:
        rows = [line.split() for line in text.decode().removesuffix("\n").split("\n")]
    except UnicodeDecodeError as error:
        raise FormatError(f"{os.fspath(path)}: an item is not UTF-8 text ({error.reason})") from None
    return Itemsets.from_lists(rows)


def _release(base: Itemsets, distance: Itemsets, threshold: Any, labels: Any, *about: Any) -> Release:
    known = [sets.names for sets in (base, distance) if sets.n_items] or [base.names]
    ordered = names.sorted_names(pa.concat_arrays(known))
    return Release(base.over(ordered), distance.over(ordered), threshold, labels, *about)
