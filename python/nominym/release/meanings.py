"""Meanings of values: from a file, else from the manifest, else from the values themselves."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from nominym.control import Progress
from nominym.error import AbsentFileError, Advice, Code, FormatError, NominymError, ParameterError
from nominym.files import SAVE_AS_UTF8, StrPath, as_path, at_line, read_text
from nominym.meaning import Equality, Meaning, Order, Sets, Taxonomy, read_taxonomy
from nominym.release.columns import as_texts, is_text, whole
from nominym.release.manifest import describe

# ---- files


@dataclass(frozen=True)
class MeaningFile:
    """A file that gives values a meaning: a taxonomy, or an order (``.order``), one value per line, lowest first.

    With ``sets``, values are lists, and the taxonomy is that of their items.
    """

    path: str
    format: str | None = None
    virtual_root: bool = False
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Options of the format's reader, such as the columns of child and parent."""
    sets: bool = False

    def __fspath__(self) -> str:
        """Return the path."""
        return self.path

    def read(self, progress: Progress = None) -> Meaning:
        """Read the file."""
        if as_path(self.path).suffix.lower() == ".order":
            if self.sets:
                remedy = Advice(
                    "give a taxonomy of the items, or {} where they are equal or not", sets=Code("nym.Sets()")
                )
                raise ParameterError(f"{self.path} is an order; items of sets have none", remedy=remedy)
            return Order(_ranked(self.path))
        how = {"virtual_root": self.virtual_root, **self.options}
        taxonomy = read_taxonomy(self.path, self.format, progress=progress, **how)
        return Sets(taxonomy) if self.sets else taxonomy


def _ranked(path: str) -> list[str]:
    """Read the values of an order."""
    place: dict[str, int] = {}
    for number, line in enumerate(read_text(path, remedy=SAVE_AS_UTF8).splitlines(), 1):
        if line in place:
            raise at_line(path, number, f"{line!r} is already in line {place[line]}", "list each value once")
        if line.strip():
            place[line] = number
    if not place:
        raise FormatError(f"{path} holds no value", remedy="list all values, one per line, lowest first")
    return list(place)


Meanings = Mapping[str, Meaning | StrPath]
"""Meanings by column; a path is read as a ``MeaningFile``."""


_WITHOUT_FILES = {"numbers": Code("nym.Order()"), "equality": Code("nym.Equality()")}


def read_taxonomy_of_items(taxonomy: Any, progress: Progress = None) -> Any:
    """Read the taxonomy of the items of set-valued records, if it is in a file."""
    try:
        return read_meanings({"items": taxonomy}, progress)["items"]
    except NominymError as error:
        # There is one file, and no column to give another meaning.
        error.column = None if error.column == "items" else error.column
        if isinstance(error, AbsentFileError):
            error.remedy = "give the path of an existing file"
        raise


def read_meanings(meanings: Meanings, progress: Progress = None) -> dict[str, Meaning]:
    """Read the meanings that are in files, each file once."""
    paths = dict.fromkeys(each for each in meanings.values() if isinstance(each, str | os.PathLike))
    files_of = {each: each if isinstance(each, MeaningFile) else MeaningFile(os.fspath(each)) for each in paths}
    read = {}
    for each, file in files_of.items():
        column = next(name for name, meaning in meanings.items() if meaning is each or meaning == each)
        try:
            read[each] = file.read(progress)
        except FileNotFoundError as error:
            raise AbsentFileError(
                f"{error.filename}: {error.strerror}",
                column=column,
                remedy=Advice("give the path of an existing file, or {} or {}", **_WITHOUT_FILES),
            ) from None
        except NominymError as error:
            error.column = column if error.column is None else error.column
            raise
    return {name: read[each] if isinstance(each, str | os.PathLike) else each for name, each in meanings.items()}


# ---- meanings that nobody gave


def find_meanings(
    known: Mapping[str, Any], said: Mapping[str, Any], old: Any, new: Any
) -> tuple[dict[str, Meaning], dict[str, str]]:
    """Find the meaning of each masked column: as given, else from the manifest, else from the values.

    Also return what is compared as labels because a meaning is missing.
    """
    found: dict[str, Meaning] = {}
    weaker: dict[str, str] = {}
    for name, given in known.items():
        made = said.get(name, {})
        if given is not None:
            found[name] = given
            if made and not _is_that(given, made):
                weaker[name] = f"column {name!r}: the release was made with {noun_of(made)}, not with what is given"
        elif made:
            plain: dict[str, Meaning] = {"Order": Order(made.get("values")), "Sets": Sets()}
            found[name] = plain.get(made["meaning"], Equality())
            if made["meaning"] not in ("Order", "Equality", "Sets") or "sha256" in made:
                weaker[name] = (
                    f"column {name!r}: compared as labels, because {noun_of(made)} is missing; give "
                    f"{_asked(name, made)}"
                )
        else:
            found[name], other = natural_meaning(old[name], new[name])
            if other is not None:
                weaker[name] = (
                    f"column {name!r}: compared as labels, because {other!r} is not a number; declare it a missing "
                    f"value, or the values equal or not"
                )
    return found, weaker


def _is_that(meaning: Meaning, made: Mapping[str, Any]) -> bool:
    """Return whether a meaning is the one that a manifest describes."""
    if type(meaning).__name__ != made["meaning"]:
        return False
    if isinstance(meaning, Taxonomy | Sets):
        return bool(describe(meaning).get("sha256") == made.get("sha256"))
    if isinstance(meaning, Order):
        return list(map(str, meaning.values or ())) == list(map(str, made.get("values") or ()))
    return True


def check_same(meaning: Meaning, made: Mapping[str, Any]) -> None:
    """Raise if the taxonomy of items is not the one that a manifest describes, if any."""
    if made and not _is_that(meaning, made):
        what = f"the release was made with {noun_of(made)}, not with what is given"
        raise ParameterError(what, parameter="taxonomy")


def noun_of(made: Mapping[str, Any]) -> str:
    """Return a name for the meaning that a manifest describes."""
    if made["meaning"] == "Taxonomy":
        named = f"the taxonomy {made['name']}" if "name" in made else "a taxonomy"
        return f"{named} (SHA-256 of its content: {made.get('sha256')})"
    if made["meaning"] == "Sets":
        return f"sets of concepts (SHA-256 of the taxonomy: {made['sha256']})" if "sha256" in made else "sets"
    nouns = {"Order": "an order of its values", "Equality": "equality", "DistanceMatrix": "a matrix of distances"}
    return nouns.get(made["meaning"], str(made["meaning"]))


def _asked(name: str, made: Mapping[str, Any]) -> str:
    """Return the option that gives a column the meaning that a manifest describes."""
    file = ("sets:" if made["meaning"] == "Sets" else "") + made.get("name", "FILE")
    return f"--quasi {shlex.quote(f'{name}={file}')}"


# ---- numbers and texts


def alike(first: Any, second: Any, but: Sequence[str] = ()) -> tuple[Any, Any]:
    """Return two tables in which a column that is text in one is converted to text in the other, as if written."""
    for name in set(first.column_names) & set(second.column_names) - set(but):
        texts = [_holds_text(table[name].type) for table in (first, second)]
        if texts == [True, False]:
            second = _as_text(second, name)
        elif texts == [False, True]:
            first = _as_text(first, name)
    return first, second


def _holds_text(kind: Any) -> bool:
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)


def _as_text(table: Any, name: str) -> Any:
    column = whole(table[name])
    values = column.dictionary if pa.types.is_dictionary(column.type) else column
    texts = as_texts(name, values).dictionary_encode()
    if values is not column:
        codes = texts.indices.take(column.indices)
        texts = pa.DictionaryArray.from_arrays(codes, texts.dictionary)
    return table.set_column(table.column_names.index(name), name, texts)


# Numbers as programs write them, with no more digits than stay exact; leading zeros are those of codes.
_NUMBER = r"^\s*[+-]?((0|[1-9][0-9]{0,17})(\.[0-9]*)?|\.[0-9]+)([eE][+-][0-9]{1,2})?\s*$"


def natural_meaning(*columns: Any) -> tuple[Order | Equality, str | None]:
    """Return the natural meaning of values: an order if all are numbers or dates, else equality.

    Texts count as numbers if written as such; "007" is a code. If nearly all texts are numbers, also return one that is
    not.

    >>> natural_meaning(pa.array(["7", "12.5", None])), natural_meaning(pa.array(["007", "12"]))
    ((Order(), None), (Equality(), None))
    >>> natural_meaning(pa.array(["7", "8", "9", "?"]))
    (Equality(), '?')
    """
    found = [whole(column) for column in columns]
    if all(pa.types.is_dictionary(column.type) and column.type.ordered for column in found):
        return Order(), None
    values = [column.dictionary if pa.types.is_dictionary(column.type) else column for column in found]
    if all(is_text(part.type) for part in values):
        texts = pa.concat_arrays([part.cast(pa.large_string()).unique().drop_null() for part in values]).unique()
        are = pc.match_substring_regex(texts, _NUMBER)
        numbers = int(pc.sum(are).as_py() or 0)
        if len(texts) and numbers == len(texts):
            return Order(), None
        odd = texts.filter(pc.invert(are)) if numbers >= 3 * (len(texts) - numbers) else []
        leading = bool(len(odd)) and pc.any(pc.match_substring_regex(odd, "^[0-9]+$")).as_py()
        return Equality(), None if not len(odd) or leading else odd[0].as_py()
    return (Order() if all(map(_goes_by_size, values)) else Equality()), None


def with_numbers(first: Any, second: Any, names: Sequence[str]) -> tuple[Any, Any]:
    """Return two tables in which columns whose texts are numbers in both are converted to numbers."""
    for name in names:
        held = [whole(table[name]) for table in (first, second)]
        if not all(_holds_text(column.type) for column in held) or natural_meaning(*held)[0] != Order():
            continue
        if any(pa.types.is_dictionary(column.type) and column.type.ordered for column in held):
            continue  # these go by their own order
        texts = [column.dictionary if pa.types.is_dictionary(column.type) else column for column in held]
        plain = [pc.ascii_ltrim(pc.utf8_trim_whitespace(part), "+") for part in texts]
        whole_ones = all(pc.all(pc.match_substring_regex(part, "^-?[0-9]+$")).as_py() is not False for part in plain)
        numbers = [part.cast(pa.int64() if whole_ones else pa.float64()) for part in plain]
        first, second = (
            table.set_column(
                table.column_names.index(name),
                name,
                part.take(column.indices) if pa.types.is_dictionary(column.type) else part,
            )
            for table, column, part in zip((first, second), held, numbers, strict=True)
        )
    return first, second


def _goes_by_size(values: Any) -> bool:
    kind = values.type
    if pa.types.is_floating(kind):
        return bool(pc.all(pc.or_(pc.is_finite(values), pc.is_nan(values))).as_py() is not False)
    sized = ("is_integer", "is_decimal", "is_date", "is_time", "is_timestamp", "is_duration")
    return any(getattr(pa.types, check)(kind) for check in sized)
