"""nominym's own files: a checked taxonomy as JSON to read and edit, or as Parquet for size and speed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from nominym.error import FormatError
from nominym.files import (
    SAVE_AS_UTF8,
    StrPath,
    at_line,
    read_bytes,
    read_text,
    require_concepts,
    write_atomic,
)
from nominym.meaning.concepts import Concepts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NAME = "nominym-taxonomy"
VERSION = 1

_KEYS = {"id", "label", "parents", "synonyms"}
_SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        ("label", pa.string()),
        ("parents", pa.list_(pa.string())),
        ("synonyms", pa.list_(pa.string())),
    ]
)


def write_json(concepts: Concepts, path: StrPath) -> None:
    """Write one concept a line: ``{"id": …, "label": …, "parents": […], "synonyms": […]}``.

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
    """Read what `write_json` wrote, or a file written by hand in its shape; only "id" is required."""
    text = read_text(path, remedy=SAVE_AS_UTF8)
    require_concepts(text.strip(), path, f'an object with "format": "{NAME}"')
    try:
        content = json.loads(text, object_pairs_hook=_without_repeats)
        if "\\u" in text:
            # Escapes can spell half a character, which no other part of the library could take.
            json.dumps(content, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise at_line(path, error.lineno, f"{error.msg} (column {error.colno}); correct the JSON") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: {error}; correct the JSON") from None
    header = content if isinstance(content, dict) else {}
    _require_ours(path, header.get("format"), header.get("version"))
    entries = header.get("concepts")
    if not isinstance(entries, list):
        raise FormatError(f'{path}: "concepts" is not a list; expected a list of objects with an "id"')
    require_concepts(entries, path, 'entries in "concepts"')
    for number, entry in enumerate(entries, 1):
        if problem := _problem(entry):
            raise FormatError(f"{path}, concept {number}: {problem}; expected keys: {sorted(_KEYS)}")
    return Concepts(
        ids=[entry["id"] for entry in entries],
        child=[entry["id"] for entry in entries for _ in entry.get("parents", ())],
        parent=[upper for entry in entries for upper in entry.get("parents", ())],
        labels={entry["id"]: entry["label"] for entry in entries if entry.get("label") is not None},
        synonyms={entry["id"]: entry["synonyms"] for entry in entries if entry.get("synonyms")},
        source=str(path),
    )


def write_parquet(concepts: Concepts, path: StrPath) -> None:
    """Write one concept a row: id, label (null where there is none), parents and synonyms (lists)."""
    table = pa.Table.from_pylist(list(_rows(concepts)), schema=_SCHEMA)
    with write_atomic(path) as file:
        pq.write_table(table.replace_schema_metadata({"format": NAME, "version": str(VERSION)}), file)


def read_parquet(path: StrPath) -> Concepts:
    """Read what `write_parquet` wrote."""
    source = pa.BufferReader(read_bytes(path))
    try:
        table = pq.read_table(source)
        metadata = table.schema.metadata or {}
        name, version = (metadata.get(key, b"").decode() for key in (b"format", b"version"))
        _require_ours(path, name, int(version) if version.isdigit() else version)
        if not table.schema.equals(_SCHEMA):
            raise FormatError(f"{path} has other columns than {', '.join(_SCHEMA.names)}; write it anew")
        require_concepts(table, path, "one concept a row")
        table = table.combine_chunks()
        labelled = table.filter(pc.is_valid(table["label"]))
        child, parent = _pairs(table, "parents")
        synonyms: dict[str, list[str]] = {}
        for concept, text in zip(*_pairs(table, "synonyms"), strict=True):
            synonyms.setdefault(concept, []).append(text)
        return Concepts(
            ids=table["id"].to_pylist(),
            child=child,
            parent=parent,
            labels=dict(zip(labelled["id"].to_pylist(), labelled["label"].to_pylist(), strict=True)),
            synonyms=synonyms,
            source=str(path),
        )
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is no readable Parquet file: {error}; write it anew") from None


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


def _pairs(table: pa.Table, column: str) -> tuple[list[str], list[str]]:
    """Unfold a list column into ids and items."""
    owners = table["id"].take(pc.list_parent_indices(table[column]))
    items = pc.list_flatten(table[column])
    if items.null_count:
        raise pa.ArrowInvalid(f"a null within {column}")
    return owners.to_pylist(), items.to_pylist()


def _require_ours(path: StrPath, name: object, version: object) -> None:
    if name != NAME:
        raise FormatError(f"{path} is no nominym taxonomy: its format is {name!r}, not {NAME!r}")
    if version != VERSION:
        raise FormatError(f"{path} is of version {version!r} and this nominym reads version {VERSION}; upgrade nominym")


def _without_repeats(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a key is given twice among {[key for key, _ in pairs]}")
    return found


def _problem(entry: object) -> str | None:
    """Say what is wrong with one concept of a JSON file."""
    if not isinstance(entry, dict):
        return f"{entry!r} is not an object"
    if unknown := entry.keys() - _KEYS:
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
