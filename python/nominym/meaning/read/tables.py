"""Taxonomies as delimited text: (child, parent) tables and ARX generalization hierarchies.

Quotes follow RFC 4180. The ARX layout is that of Prasser and Kohlmayer, "Putting Statistical Disclosure
Control into Practice: The ARX Data Anonymization Tool" (2015): one row for each value, from the value itself
to its most general label.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise

from nominym.error import NO_VALUE, Advice, Code, ParameterError
from nominym.files import StrPath, add_synonym, at_line, read_text, require_concepts
from nominym.meaning.taxonomy import Concepts

# The comma comes last: it is the one that also occurs inside values.
_DELIMITERS = "\t;|,"
_SAMPLE = 1 << 16

# Column names that say which column is which, the surest first.
_KNOWN: Mapping[str, Sequence[str]] = {
    "child": ("child", "child_id", "id", "code", "concept", "concept_id", "node", "term", "source", "name"),
    "parent": ("parent", "parent_id", "parent_code", "broader", "is_a", "isa", "target"),
    "label": ("label",),
    "synonym": ("synonym", "synonyms"),
}
# Column names of a list of codes and what they stand for: a table that has no links.
_NUMBERED = ("code", "codes", "id", "concept", "concept_id")
_TITLES = ("description", "name", "text", "title")


def read_edges(
    path: StrPath,
    *,
    child: str | None = None,
    parent: str | None = None,
    label: str | None = None,
    synonym: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Concepts:
    """Read one is-a link per row; an empty parent cell declares a root.

    `child`, `parent`, `label` and `synonym` name columns of the header. Without them, a header is recognised by common
    names (child, id, code, source … and parent, target …); two columns without a header are child and parent. Further
    synonyms of a concept go into further rows.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "animals.csv")
    ...     _ = path.write_text("id,parent,label\\ndog,animal,Dog\\nanimal,,Animal\\n")
    ...     concepts = read_edges(path)
    >>> concepts.ids, concepts.child, concepts.parent, concepts.labels["dog"]
    (['dog', 'animal'], ['dog'], ['animal'], 'Dog')
    """
    rows = read_rows(path, delimiter, encoding)
    line, first = next(rows)
    asked = {"child": child, "parent": parent, "label": label, "synonym": synonym}
    columns = _header(path, first, asked)
    if columns is None:
        if len(first) != 2:
            fault = f"{len(first)} columns, and no column names that tell child from parent"
            said = Code("name them in the first line and pass child= and parent=, or levels=; or pass delimiter=")
            raise at_line(path, line, fault, Advice("{}", links=said))
        if {name.casefold() for name in first} & {*_KNOWN["label"], *_TITLES} and first[0].casefold() in _NUMBERED:
            fault = f"the columns {first[0]!r} and {first[1]!r} are a list of codes, without parents"
            lengths = Advice("give {}, the lengths of the groups, if codes begin with their group", prefix=NO_VALUE)
            raise at_line(path, line, fault, lengths)
        columns = {"child": 0, "parent": 1}
        rows = chain([(line, first)], rows)

    found = Concepts(source=str(path))
    ids: dict[str, None] = {}
    label_lines: dict[str, int] = {}
    for line, row in rows:
        lower, upper = row[columns["child"]], row[columns["parent"]]
        if not lower.strip():
            raise at_line(path, line, "the child cell is empty; a root has an empty parent cell instead")
        ids[lower] = None
        if upper.strip():
            ids[upper] = None
            found.link(lower, upper)
        if "label" in columns and (text := row[columns["label"]]):
            if found.labels.setdefault(lower, text) != text:
                fault = (
                    f"{lower!r} has the label {text!r} here and {found.labels[lower]!r} in line {label_lines[lower]}"
                )
                raise at_line(path, line, f"{fault}; give one label, and the other in a synonym column")
            label_lines.setdefault(lower, line)
        if "synonym" in columns and (text := row[columns["synonym"]]):
            add_synonym(found.synonyms, lower, text)
    require_concepts(ids, path, "rows below the header")
    found.ids.extend(ids)
    return found


def read_arx(path: StrPath, *, delimiter: str | None = None, encoding: str = "utf-8") -> Concepts:
    """Read an ARX generalization hierarchy: no header, ``value;level 1;…;*`` in each row.

    The same label in neighbouring cells is one concept, which is how ARX pads values of a lower height.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "work.csv")
    ...     _ = path.write_text("Private;Private;*\\nState-gov;Government;*\\n")
    ...     concepts = read_arx(path)
    >>> list(zip(concepts.child, concepts.parent))
    [('Private', '*'), ('State-gov', 'Government'), ('Government', '*')]
    """
    ids: dict[str, None] = {}
    # Each row repeats the links above its level, so these are kept once.
    links: dict[tuple[str, str], None] = {}
    leaf_lines: dict[str, int] = {}
    for line, row in read_rows(path, delimiter, encoding):
        if not all(cell.strip() for cell in row):
            raise at_line(path, line, "an empty cell; give every level a label, repeating it where needed")
        if (earlier := leaf_lines.setdefault(row[0], line)) != line:
            raise at_line(path, line, f"{row[0]!r} was generalized in line {earlier} already; keep one row")
        ids.update(dict.fromkeys(row))
        links.update((pair, None) for pair in pairwise(row) if pair[0] != pair[1])
    return Concepts(
        ids=list(ids), child=[lower for lower, _ in links], parent=[upper for _, upper in links], source=str(path)
    )


def detect_table(path: StrPath, options: Mapping[str, str]) -> str:
    """Return "edges" or "arx", the format of a delimited file judged by its content.

    Only an ARX hierarchy has more than two columns, no header, and the same last label in all rows.
    """
    if options.keys() & _KNOWN.keys():
        return "edges"
    text = read_text(path, options.get("encoding", "utf-8"))
    delimiter = _delimiter(text, options.get("delimiter"))
    sample = _sample(text, delimiter) if delimiter else []
    if not sample or len(sample[0]) < 3 or _header(path, sample[0], {}) is not None:
        return "edges"
    return "arx" if len({row[-1] for row in sample}) == 1 else "edges"


def read_rows(
    path: StrPath, delimiter: str | None, encoding: str, *, alone: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Read the rows that are not blank, at least one, each with its starting line; all have the same width.

    A single column is an error unless it may be `alone`.
    """
    text = read_text(path, encoding)
    require_concepts(text.strip(), path, "one is-a link a row")
    delimiter = _delimiter(text, delimiter) or ("," if alone else None)
    if delimiter is None:
        raise at_line(path, 1, "only one column; separate child and parent by , ; | or tab")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line, width, width_line = 1, 0, 0
    try:
        for row in reader:
            if row:
                if not width:
                    width, width_line = len(row), line
                elif len(row) != width:
                    problem = f"{len(row)} cells, but {width} in line {width_line}"
                    raise at_line(path, line, f"{problem}; quote cells that contain {delimiter!r}")
                yield line, [cell.strip() for cell in row]
            line = reader.line_num + 1
    except csv.Error as error:
        raise at_line(path, line, f'{error}; write " inside a quoted cell as ""') from None


def _delimiter(text: str, asked: str | None) -> str | None:
    """Return the delimiter by which most rows have as many cells as the first; None if no row splits."""
    if asked is not None:
        if not isinstance(asked, str) or len(asked) != 1 or asked in '"\r\n':
            fault = "it is not one character, such as ',', ';', '|' or '\\t'"
            raise ParameterError(fault, parameter="delimiter", value=asked)
        return asked
    widths = {delimiter: [len(row) for row in _sample(text, delimiter)] for delimiter in _DELIMITERS}
    alike = {each: found.count(found[0]) for each, found in widths.items() if found and found[0] > 1}
    return max(alike, key=alike.__getitem__, default=None)


def _sample(text: str, delimiter: str) -> list[list[str]]:
    """Split the first rows leniently: detection must not fail where the reader can report what is wrong."""
    head = text if len(text) <= _SAMPLE else text[:_SAMPLE].rpartition("\n")[0]
    head = head.replace("\0", "")  # which no csv reader takes before Python 3.11
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    return [[cell.strip() for cell in row] for row in rows if row]


def column_of(path: StrPath, first: Sequence[str], option: str, name: str) -> int:
    """Return the position of a column that an option names."""
    if name not in first:
        there = ", ".join(map(repr, first))
        raise ParameterError(f"{path} has no such column; its first line is {there}", parameter=option, value=name)
    return first.index(name)


def _header(path: StrPath, first: Sequence[str], asked: Mapping[str, str | None]) -> dict[str, int] | None:
    """Return the column of each role, or None if `first` is not a header."""
    names = [cell.strip().casefold() for cell in first]
    columns: dict[str, int] = {}
    for role, known in _KNOWN.items():
        name = asked.get(role)
        if name is not None:
            columns[role] = column_of(path, first, role, name)
        elif (found := next((name for name in known if name in names), None)) is not None:
            columns[role] = names.index(found)
    if columns.keys() >= {"child", "parent"}:
        if columns["child"] == columns["parent"]:
            raise ParameterError(f"{path}: children and parents are both in the column {first[columns['child']]!r}")
        return columns
    if any(asked.values()):
        missing = next(role for role in ("child", "parent") if role not in columns)
        fault = f"{path} has no column with a common name for {missing}"
        raise ParameterError(fault, remedy=Advice("give {}", **{missing: NO_VALUE}))
    return None
