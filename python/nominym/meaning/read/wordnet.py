"""WordNet from the files of its database, in the layout that Princeton and Debian ship.

Fellbaum (ed.), "WordNet: An Electronic Lexical Database" (1998); layout: wndb(5WN),
https://wordnet.princeton.edu/documentation/wndb5wn.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nominym.error import FormatError, ParameterError
from nominym.files import StrPath, at_line, read_text, require_concepts
from nominym.meaning.taxonomy import Concepts

_HYPERNYMS = {"@", "@i"}
_CHOICES = ("noun", "verb", "noun+verb")


def read_wordnet(path: StrPath, *, pos: str = "noun", encoding: str = "utf-8") -> Concepts:
    """Read the synsets of a dict folder, with hypernyms and instance hypernyms as links.

    Ids are those of NLTK: ``dog.n.01`` is the first sense of the noun "dog". The label is the first word of
    the synset and the synonyms are its other words. `pos` is "noun", "verb" or "noun+verb"; only the nouns
    have a single root.
    """
    if pos not in _CHOICES:
        raise ParameterError(f"pos={pos!r} is not a part of speech with a taxonomy; use one of {_CHOICES}")
    if not Path(path).is_dir():
        raise FormatError(f"{path} is not a folder; pass the dict folder of WordNet, with data.noun in it")
    found = Concepts(source=str(path))
    for part in pos.split("+"):
        senses = _read_senses(path, part, encoding)
        data = _part_file(path, "data", part)
        names: dict[str, str] = {}
        links: list[tuple[int, str, str]] = []
        for line, fields in _records(data, encoding):
            try:
                offset, words, above = _parse_synset(fields)
                lemma = words[0].lower()
            except (IndexError, ValueError):
                raise at_line(data, line, f"no synset of wndb(5WN): {' '.join(fields)[:60]!r}") from None
            try:
                number = senses[lemma].index(offset) + 1
            except (KeyError, ValueError):
                problem = f"the index has no sense {offset} of {lemma!r}"
                raise at_line(data, line, f"{problem}; take both files from one release") from None
            concept = names[offset] = f"{lemma}.{fields[2]}.{number:02d}"
            found.ids.append(concept)
            found.labels[concept], *others = (word.replace("_", " ") for word in words)
            if others:
                found.synonyms[concept] = others
            links.extend((line, concept, upper) for upper in above)
        for line, concept, upper in links:
            if upper not in names:
                raise at_line(data, line, f"hypernym {upper} is not a synset of {data.name}; fetch it again")
            found.link(concept, names[upper])
        require_concepts(names, data, "synsets as in wndb(5WN)")
    return found


def _part_file(folder: StrPath, kind: str, part: str) -> Path:
    file = Path(folder, f"{kind}.{part}")
    if not file.is_file():
        raise FormatError(
            f"{folder} has no file {file.name}; pos={part!r} needs data.{part} and index.{part} of WordNet"
        )
    return file


def _records(file: Path, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Split the lines into fields, without licence (indented) and gloss (behind a bar)."""
    for line, record in enumerate(read_text(file, encoding).split("\n"), 1):
        if record.strip() and not record.startswith("  "):
            yield line, record.partition(" | ")[0].split()


def _parse_synset(fields: list[str]) -> tuple[str, list[str], list[str]]:
    """Return offset, words and hypernym offsets of a record of a data file."""
    end = 4 + 2 * int(fields[3], 16)
    words = fields[4:end:2]
    count = int(fields[end])
    pointers = fields[end + 1 : end + 1 + 4 * count]
    if len(pointers) != 4 * count:
        raise ValueError("the record ends within its pointers")
    targets = zip(pointers[::4], pointers[1::4], strict=True)
    return fields[0], words, [offset for symbol, offset in targets if symbol in _HYPERNYMS]


def _read_senses(folder: StrPath, part: str, encoding: str) -> dict[str, list[str]]:
    """Read the synset offsets of each lemma, most frequent sense first: their position is the sense number."""
    file = _part_file(folder, "index", part)
    senses: dict[str, list[str]] = {}
    for line, fields in _records(file, encoding):
        try:
            offsets = fields[6 + int(fields[3]) :]
            complete = len(offsets) == int(fields[2])
        except (IndexError, ValueError):
            complete = False
        if not complete:
            raise at_line(file, line, f"no index entry of wndb(5WN): {' '.join(fields)[:60]!r}")
        senses[fields[0]] = offsets
    return senses
