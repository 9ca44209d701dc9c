"""Hierarchies without links: tables with one column for each level, and codes grouped by their prefixes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from nominym.error import Advice, Code, FormatError, ParameterError
from nominym.files import StrPath, add_synonym, at_line, require_concepts
from nominym.meaning.base import is_missing
from nominym.meaning.read.tables import column_of, read_rows
from nominym.meaning.taxonomy import Concepts

_SIGNS = re.compile(r"[\W_]+")
_CODE = ("code", "id", "child", "concept", "value")


def read_levels(
    path: StrPath,
    *,
    levels: Sequence[str] | None = None,
    label: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Concepts:
    """Read a table with one column for each level, most specific first; the first line names the columns.

    `levels` are the columns to use, most specific first; by default all of them. `label` is the column that holds
    labels of the most specific values. A name repeated from one level to the next is one concept, and an empty cell
    skips a level. The same name in two other places means two concepts: the one with nothing below it keeps the name,
    any other has the names above it in its id. Several names on the highest level get one concept above them.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "places.csv")
    ...     _ = path.write_text("city,county,state\\nNew York,New York,New York\\nAlbany,Albany County,New York\\n")
    ...     concepts = read_levels(path, levels=["city", "county", "state"])
    >>> list(zip(concepts.child, concepts.parent))
    [('Albany County', 'New York'), ('Albany', 'Albany County')]
    """
    rows = read_rows(path, delimiter, encoding, alone=True)
    line, header = next(rows)
    if levels is None:
        chosen = [place for place in range(len(header)) if header[place] != label]
    elif isinstance(levels, str) or not levels or len(set(levels)) < len(levels):
        raise ParameterError("list columns, each once, most specific first", parameter="levels", value=levels)
    else:
        chosen = [column_of(path, header, "levels", name) for name in levels]
    named = None if label is None else column_of(path, header, "label", label)
    # A concept is its name and the number of the one above it; 0 is above all.
    nodes: dict[tuple[str, int], int] = {}
    labels: dict[int, str] = {}
    for line, row in rows:
        cells = [row[place] for place in reversed(chosen) if row[place]]
        if not cells:
            raise at_line(path, line, "every level is empty; give at least one")
        above, last = 0, None
        for name in cells:
            if name != last:
                above = nodes.setdefault((name, above), len(nodes) + 1)
            last = name
        if named is not None and row[chosen[0]] and row[named]:
            labels[above] = row[named]
    require_concepts(nodes, path, "rows below the names of the columns")
    return _from_nodes(list(nodes), labels, str(path))


def _from_nodes(nodes: Sequence[tuple[str, int]], labels: Mapping[int, str], source: str) -> Concepts:
    """Return the concepts of nodes (name, number of the node above, from 1), each with an id."""
    places: dict[str, list[int]] = {}
    for number, (name, _) in enumerate(nodes, 1):
        places.setdefault(name, []).append(number)
    inner = {above for _, above in nodes}
    ids = [name for name, _ in nodes]
    found = Concepts(source=source)
    for name, numbers in places.items():
        lowest = [number for number in numbers if number not in inner]
        for number in numbers if len(numbers) > 1 else ():
            if lowest != [number]:
                path = list(_upwards(nodes, number))
                ids[number - 1] = " < ".join(path if len(path) > 1 else [*path, "*"])
                found.labels[ids[number - 1]] = name
    found.ids.extend(ids)
    for number, (_, above) in enumerate(nodes, 1):
        if above:
            found.link(ids[number - 1], ids[above - 1])
        if number in labels:
            found.labels[ids[number - 1]] = labels[number]
    return found.below_one()


def _upwards(nodes: Sequence[tuple[str, int]], number: int) -> Iterator[str]:
    while number:
        name, number = nodes[number - 1]
        yield name


def read_prefixes(
    path: StrPath,
    *,
    prefix: Sequence[int],
    child: str | None = None,
    label: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Concepts:
    """Read codes, one per line or in a column of a table, grouped by their first `prefix` characters.

    `child` names the column of codes and `label` that of their labels; without them, a column named code or id is used,
    or the only one. See ``Taxonomy.from_prefixes``.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "isco.csv")
    ...     _ = path.write_text("code,label\\n2211,Generalist doctors\\n2221,Nurses\\n")
    ...     concepts = read_prefixes(path, prefix=[1, 2, 3, 4])
    >>> list(zip(concepts.child, concepts.parent)), concepts.labels["2221"]
    ([('22', '2'), ('221', '22'), ('2211', '221'), ('222', '22'), ('2221', '222')], 'Nurses')
    """
    rows = read_rows(path, delimiter, encoding, alone=True)
    line, first = next(rows)
    names = [cell.casefold() for cell in first]
    usual = next((names.index(name) for name in _CODE if name in names), None)
    code = usual if child is None else column_of(path, first, "child", child)
    named = names.index("label") if "label" in names else None
    named = named if label is None else column_of(path, first, "label", label)
    if code is None:
        if len(first) > 1:
            raise ParameterError(
                f"{path} has several columns, {', '.join(map(repr, first))}; name the one of codes",
                parameter="child",
                remedy=Advice("{}", layouts=Code("prefix= is for lists of codes")),
            )
        code, rows = 0, chain([(line, first)], rows)
    codes: dict[str, None] = {}
    labels: dict[str, str] = {}
    for line, row in rows:
        if not _SIGNS.sub("", row[code]):
            raise at_line(path, line, "no code in this line; give one, or delete the line")
        codes[row[code]] = None
        if named is not None and row[named]:
            labels[row[code]] = row[named]
    require_concepts(codes, path, "one code a line")
    try:
        return by_prefix(codes, prefix, labels, str(path))
    except ParameterError as error:
        error.parameter = "prefix" if error.parameter == "lengths" else error.parameter
        raise


def by_prefix(
    codes: Iterable[Any], lengths: Sequence[int], labels: Mapping[str, str] | None = None, source: str = "codes"
) -> Concepts:
    """Place every code below its prefixes of some lengths, from short to long; dots and blanks are ignored."""
    sizes = _checked_lengths(lengths)
    # By its letters and digits alone: "01.11" and "0111" are one code.
    written: dict[str, str] = {}
    upper: dict[str, str | None] = {}
    synonyms: dict[str, list[str]] = {}
    for code in _texts(codes):
        letters = _SIGNS.sub("", code)
        if not letters:
            raise FormatError(f"{source}: {code!r} is not a code: it has neither letters nor digits")
        above = None
        for size in [*(size for size in sizes if size < len(letters)), len(letters)]:
            part = letters[:size]
            shown = code if size == len(letters) else _first(code, size)
            if written.setdefault(part, shown) != shown:
                add_synonym(synonyms, part, shown)
            if written[part] != part:
                add_synonym(synonyms, part, part)
            upper[part] = above
            above = part
    if upper and sizes[0] > max(map(len, upper)):
        fault = f"no code has more than {max(map(len, upper))} characters, so nothing would be grouped"
        raise ParameterError(fault, parameter="lengths", value=lengths)
    found = Concepts(ids=[written[part] for part in upper], source=source)
    for part, above in upper.items():
        if above is not None:
            found.link(written[part], written[above])
    known = {_SIGNS.sub("", str(code)): text for code, text in (labels or {}).items()}
    for letters, text in known.items():
        if letters not in written:
            raise ParameterError(f"there is no code {letters!r} among the codes", parameter="labels")
        found.labels[written[letters]] = text
    found.synonyms.update({written[part]: names for part, names in synonyms.items()})
    if not found.ids:
        raise FormatError(f"{source}: no code; give at least one")
    return found.below_one()


def _first(code: str, size: int) -> str:
    """Return the beginning of a code with a given number of letters and digits."""
    seen = 0
    for end, sign in enumerate(code, 1):
        seen += not _SIGNS.fullmatch(sign)
        if seen == size:
            return code[:end]
    return code


def _checked_lengths(lengths: object) -> list[int]:
    told = "give numbers of characters, from few to many, such as [1, 2, 3, 4]"
    if isinstance(lengths, str) or not isinstance(lengths, Iterable):
        raise ParameterError(told, parameter="lengths", value=lengths)
    found = list(lengths)
    whole = all(isinstance(size, int | np.integer) and not isinstance(size, bool) for size in found)
    if not found or not whole or found != sorted(set(found)) or found[0] < 1:
        raise ParameterError(told, parameter="lengths", value=lengths)
    return [int(size) for size in found]


def _texts(codes: Iterable[Any]) -> Iterator[str]:
    """Return codes as text; numbers of different lengths have lost leading zeros."""
    digits: set[int] = set()
    for code in dict.fromkeys(codes):
        if is_missing(code):
            continue
        if isinstance(code, float | np.floating):
            raise ParameterError(f"{code!r} is not a code: codes are texts or whole numbers, not floats")
        if isinstance(code, int | np.integer):
            digits.add(len(str(code)))
            if len(digits) > 1 or code < 0:
                what = f"{code!r} differs from other codes in its number of digits: leading zeros may be lost"
                raise ParameterError(f"{what}; give codes as text")
        yield str(code).strip()
