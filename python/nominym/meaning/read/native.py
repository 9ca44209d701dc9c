"""nominym's own files: a checked taxonomy as JSON for reading and editing, or as Parquet for size and speed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nominym.atomic import write_atomic
from nominym.content import parse_json
from nominym.control import require
from nominym.error import FormatError
from nominym.files import SAVE_AS_UTF8, StrPath, at_line, read_bytes, read_text, require_concepts
from nominym.meaning.taxonomy import Concepts

NAME = "nominym-taxonomy"
VERSION = 1

# Memory that a concept takes, at least, while it is read.
_BYTES = 500

_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        ("label", pa.string()),
        ("parents", pa.list_(pa.string())),
        ("synonyms", pa.list_(pa.string())),
    ]
)


def write_json(concepts: Concepts, path: StrPath) -> None:
    """Write one concept per line: ``{"id": …, "label": …, "parents": […], "synonyms": […]}``.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "sex.json")
    ...     write_json(Concepts(ids=["*", "F"], child=["F"], parent=["*"], labels={"F": "female"}), path)
    ...     print(path.read_text(encoding="utf-8"))
    ...     read_json(path).labels
    {"format": "nominym-taxonomy", "version": 1, "concepts": [
    {"id": "*"},
    {"id": "F", "label": "female", "parents": ["*"]}
    ]}
    <BLANKLINE>
    {'F': 'female'}
    """
    entries = ({key: value for key, value in row.items() if value not in (None, [])} for row in _rows(concepts))
    lines = map(json.JSONEncoder(ensure_ascii=False).encode, entries)
    head = f'{{"format": "{NAME}", "version": {VERSION}, "concepts": [\n'
    with write_atomic(path) as file:
        file.write((head + ",\n".join(lines) + "\n]}\n").encode())


def read_json(path: StrPath) -> Concepts:
    """Read a file of `write_json`, or one written by hand in the same form; only "id" is required."""
    text = read_text(path, remedy=SAVE_AS_UTF8)
    require_concepts(text.strip(), path, f'an object with "format": "{NAME}"')
    try:
        content = parse_json(text)
    except json.JSONDecodeError as error:
        raise at_line(path, error.lineno, f"{error.msg} (column {error.colno}); correct the JSON") from None
    except ValueError as error:
        raise FormatError(f"{path}: {error}; correct the JSON") from None
    header = content if isinstance(content, dict) else {}
    _require_ours(path, header.get("format"), header.get("version"))
    entries = header.get("concepts")
    if not isinstance(entries, list):
        raise FormatError(f'{path}: "concepts" is not a list; expected a list of objects with an "id"')
    require_concepts(entries, path, 'entries in "concepts"')
    for number, entry in enumerate(entries, 1):
        if problem := _problem(entry):
            raise FormatError(f"{path}, concept {number}: {problem}; expected keys: {_SCHEMA.names}")
    return _concepts(path, [[entry.get(name) for entry in entries] for name in _SCHEMA.names])


def is_ours(path: StrPath) -> bool:
    """Return whether a JSON file is nominym's own rather than a FHIR resource, judged by its beginning.

    A file that is neither counts as ours: the reader reports what is wrong with it.
    """
    return '"resourceType"' not in read_text(path, remedy=SAVE_AS_UTF8)


def write_parquet(concepts: Concepts, path: StrPath) -> None:
    """Write one concept per row: id, label (null where there is none), parents and synonyms (lists)."""
    with write_atomic(path) as file:
        to_parquet(concepts, file)


def to_parquet(concepts: Concepts, file: Any) -> None:
    """Write to an open file."""
    table = pa.Table.from_pylist(list(_rows(concepts)), schema=_SCHEMA)
    pq.write_table(table.replace_schema_metadata({"format": NAME, "version": str(VERSION)}), file)


def read_parquet(path: StrPath) -> Concepts:
    """Read a file of `write_parquet`."""
    return from_parquet(read_bytes(path), path)


def from_parquet(data: bytes, path: StrPath) -> Concepts:
    """Read the content of a file; messages name its path."""
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        # No two concepts are the same, but a damaged file may say that one is there any number of times.
        require(_BYTES * file.metadata.num_rows, f"{path} with {file.metadata.num_rows:,} concepts", "write it again")
        table = file.read()
        metadata = table.schema.metadata or {}
        name, version = (metadata.get(key, b"").decode() for key in (b"format", b"version"))
        _require_ours(path, name, int(version) if version.isdecimal() else version)
        if not table.schema.equals(_SCHEMA):
            raise FormatError(f"{path} has columns other than {', '.join(_SCHEMA.names)}; write it again")
        require_concepts(table, path, "one concept a row")
        for name in ("parents", "synonyms"):
            if pc.list_flatten(table[name]).null_count:
                raise pa.ArrowInvalid(f"a null within {name}")
        return _concepts(path, [column.to_pylist() for column in table.columns])
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is not a readable Parquet file: {error}; write it again") from None


def _rows(concepts: Concepts) -> Iterator[dict[str, Any]]:
    parents: dict[str, list[str]] = {}
    for lower, upper in zip(concepts.child, concepts.parent, strict=True):
        parents.setdefault(lower, []).append(upper)
    for concept in concepts.ids:
        yield {
            "id": concept,
            "label": concepts.labels.get(concept),
            "parents": parents.get(concept, []),
            "synonyms": list(concepts.synonyms.get(concept, ())),
        }


def _concepts(path: StrPath, columns: list[list[Any]]) -> Concepts:
    """Combine the columns of the schema into concepts, whatever file they are from."""
    ids, labels, parents, synonyms = columns
    return Concepts(
        ids=ids,
        child=[name for name, uppers in zip(ids, parents, strict=True) for _ in uppers or ()],
        parent=[upper for uppers in parents for upper in uppers or ()],
        labels={name: label for name, label in zip(ids, labels, strict=True) if label is not None},
        synonyms={name: names for name, names in zip(ids, synonyms, strict=True) if names},
        source=str(path),
    )


def _require_ours(path: StrPath, name: object, version: object) -> None:
    if name != NAME:
        raise FormatError(f"{path} is not a nominym taxonomy: its format is {name!r}, not {NAME!r}")
    if version != VERSION:
        raise FormatError(f"{path} is of version {version!r} and this nominym reads version {VERSION}; upgrade nominym")


def _problem(entry: object) -> str | None:
    """Return what is wrong with one concept of a JSON file."""
    if not isinstance(entry, dict):
        return f"{entry!r} is not an object"
    if unknown := entry.keys() - set(_SCHEMA.names):
        return f"unknown key {sorted(unknown)[0]!r}"
    if not isinstance(entry.get("id"), str):
        return f"the id {entry.get('id')!r} is not a string"
    if not isinstance(entry.get("label"), str | None):
        return f"the label of {entry['id']!r} is not a string"
    for key in ("parents", "synonyms"):
        items = entry.get(key, [])
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            return f"{key} of {entry['id']!r} is not a list of strings"
    return None
