"""Files of releases of set-valued records."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from nominym.content import plain
from nominym.control import require
from nominym.error import DataError, FormatError, NominymError
from nominym.files import StrPath, at_line, read_bytes
from nominym.itemsets import columns, names
from nominym.itemsets.recode import Recode
from nominym.itemsets.release import Release
from nominym.itemsets.sets import ROWS, Itemsets, parse_fimi
from nominym.journal import recover
from nominym.meaning import Taxonomy
from nominym.table import ARROW_REFUSES

NAME = "nominym-release"
VERSION = 1
# Bytes of the objects that a line of text becomes, besides what it says.
_LINE = 500


def draft_parquet(release: Release, draft: Path) -> None:
    """Write a release to the draft of a Parquet file."""
    parts = {
        "base": release.base.to_column("arrow"),
        "distance": release.distance.to_column("arrow"),
        "threshold": pa.array(release.threshold),
    }
    if release.labels is not None:
        try:
            parts["label"] = pa.array(release.labels)
        except ARROW_REFUSES:
            raise DataError("a Parquet column has values of one type, in Unicode: turn the labels into texts") from None
    about = {"format": NAME, "version": VERSION, "params": plain(release.params), "summary": plain(release.summary)}
    table = pa.table(parts).replace_schema_metadata({NAME: json.dumps(about, ensure_ascii=False)})
    pq.write_table(table, draft, compression="zstd")


def draft_text(release: Release, draft: Path) -> None:
    """Write a release as text to a draft."""
    texts = names.texts(release.base.names, "a text file")
    labels = None if release.labels is None else [str(label) for label in release.labels]
    for label in labels or []:
        if re.search(r"[\r\n]", label):
            raise DataError(f"label {label!r} breaks the line; use a Parquet file")
        if not names.is_unicode(label):
            raise DataError(f"label {label!r} is not Unicode text; decode it again")
    with draft.open("wb") as file:
        for first in range(0, len(release), ROWS):
            end = min(first + ROWS, len(release))
            some = None if labels is None else labels[first:end]
            file.write(release.base.core.write(texts, first, end, release.distance.core, release.threshold, some))


_BETWEEN = "|"
_HEADER = re.compile(rb'"?base"?(.)"?distance"?\1"?threshold"?(?:\1"?label"?)?\r?(?:\n|$)')


def draft_csv(release: Release, draft: Path, delimiter: str = ",") -> None:
    """Write a release as delimited text to a draft: base, distance, threshold and, if there is one, label.

    The items of a cell are separated by bars.
    """
    for name in release.base.names.cast(pa.large_string()).to_pylist():
        if not name.strip() or name != name.strip() or re.search(r"[|\r\n]", name):
            fault = "cannot hold empty names, leading or trailing blanks, bars or line feeds"
            raise DataError(f"item {name!r}: delimited text {fault}; use a Parquet file")
    kinds = {"base": pa.string(), "distance": pa.string(), "threshold": pa.uint32()}
    labels = None if release.labels is None else pa.array([str(label) for label in release.labels], pa.string())
    schema = pa.schema({**kinds, **({} if labels is None else {"label": pa.string()})})
    how = pa_csv.WriteOptions(delimiter=delimiter)
    with draft.open("wb") as file, pa_csv.CSVWriter(file, schema, write_options=how) as writer:
        for first in range(0, len(release), ROWS):
            some = slice(first, first + ROWS)
            parts = [_joined(release.base[some]), _joined(release.distance[some]), pa.array(release.threshold[some])]
            parts += [] if labels is None else [labels[some]]
            writer.write_table(pa.table(parts, schema=schema))


def _joined(sets: Itemsets) -> Any:
    """Join the items of each record into one text."""
    texts = sets.names.cast(pa.string()).take(pa.array(sets.core.items()))
    lists = pa.ListArray.from_arrays(pa.array(sets.core.starts().astype(np.int32)), texts)
    return pc.binary_join(lists, _BETWEEN)


def _from_csv(data: bytes, delimiter: str) -> Release:
    table = pa_csv.read_csv(
        pa.BufferReader(data),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types={"base": pa.string(), "distance": pa.string(), "threshold": pa.uint32(), "label": pa.string()},
            strings_can_be_null=False,
        ),
    )
    starts, values = columns.split(pa.chunked_array([*table["base"].chunks, *table["distance"].chunks], pa.string())
                                   .combine_chunks(), _BETWEEN)  # fmt: skip
    both = Itemsets.of_names(starts, values)
    labels = table["label"] if "label" in table.column_names else None
    return _release(both[: table.num_rows], both[table.num_rows :], table["threshold"], labels)


def read_release(path: StrPath, taxonomy: Taxonomy | None = None) -> Release:
    """Read a release from its Parquet, CSV or text file, which never holds the owner's part.

    ``taxonomy`` is the one by which the records were recoded, if any; files do not hold it.

    Items are those that occur, in order. In text files, items are read as whole numbers if all are written as such, up
    to 2^31 − 1, and labels are texts; Parquet files keep their types.

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
    recover(path)
    data = read_bytes(path)
    try:
        if data[:4] == b"PAR1":
            found = _from_parquet(data, path)
        elif (header := _HEADER.match(data)) is not None:
            found = _from_csv(data, header[1].decode())
        else:
            found = _from_text(data, path)
    except (FormatError, MemoryError):
        raise
    # Of a damaged file, Arrow may raise anything that can be wrong with a number, an index, a type or a text.
    except (pa.ArrowException, ArithmeticError, LookupError, OSError, RecursionError, TypeError, ValueError) as error:
        raise FormatError(f"{os.fspath(path)}: not a release that this version can read ({error})") from None
    return found if taxonomy is None else replace(found, taxonomy=taxonomy)


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
    """Restore the method from a file, or return None where it says too little or something unknown to this version."""
    said = {each.name: params[each.name] for each in fields(Recode) if each.name in params}
    try:
        return Recode.from_options(said) if "structure" in said else None
    except NominymError:
        return None


def _from_text(data: bytes, path: StrPath) -> Release:
    number = data.count(b"\n")
    require(_LINE * number + 4 * len(data), f"reading {os.fspath(path)}, {number:,} lines", "write it as Parquet")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        broken = data.count(b"\n", 0, error.start) + 1
        raise at_line(path, broken, f"not UTF-8 text ({error.reason})") from None
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
    split = [line.split(" | ", 3) for line in lines]
    width = len(split[0]) if split else 3
    for number, line in enumerate(split, 1):
        if len(line) != width or not 3 <= width <= 4:
            raise at_line(path, number, f"{len(line)} fields; expected base | distance | threshold, and label or not")
        if not re.fullmatch(r"[0-9]{1,9}", line[2]):
            raise at_line(path, number, f"threshold {line[2]!r}; expected a whole number")
    parts = [[line[part] for line in split] for part in (0, 1)]
    numeric = all(_numeric("\n".join(part)) for part in parts)
    sets = [_items(part, path, numeric) for part in parts]
    labels = [line[3] for line in split] if width == 4 else None
    return _release(sets[0], sets[1], np.array([int(line[2]) for line in split], dtype=np.uint32), labels)


def _numeric(text: str) -> bool:
    """Return whether all items are whole numbers in plain form; 007, for example, is text."""
    if re.search(r"(?a)[^0-9\s]|\b0[0-9]|[0-9]{11}", text):
        return False
    return all(int(item) <= names.LARGEST for item in re.findall(r"[0-9]{10}", text))


def _items(lines: list[str], path: StrPath, numeric: bool) -> Itemsets:
    if numeric:
        return parse_fimi("".join(f"{line}\n" for line in lines).encode(), path)
    return Itemsets.from_lists([line.split() for line in lines])


def _release(base: Itemsets, distance: Itemsets, threshold: Any, labels: Any, *about: Any) -> Release:
    known = [sets.names for sets in (base, distance) if sets.n_items] or [base.names]
    ordered = names.sorted_names(pa.concat_arrays(known))
    return Release(base.over(ordered), distance.over(ordered), threshold, labels, *about)
