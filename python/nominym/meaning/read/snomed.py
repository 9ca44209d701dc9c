"""SNOMED CT from the snapshot files of Release Format 2.

SNOMED International, "SNOMED CT Release File Specifications" (https://confluence.ihtsdotools.org/display/DOCRELFMT).
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from nominym.error import FormatError, ParameterError
from nominym.files import SAVE_AS_UTF8, StrPath, add_synonym, at_line, read_text, require_concepts
from nominym.meaning.taxonomy import Concepts

_IS_A = "116680003"
_FULLY_SPECIFIED_NAME = "900000000000003001"
_SYNONYM = "900000000000013009"


def release_files(folder: StrPath, component: str) -> list[Path]:
    """Find the snapshot files of "Concept", "Description" or "Relationship" at any depth of a release."""
    # Extensions put their name before "Snapshot", languages follow it.
    return sorted(Path(folder).rglob(f"sct2_{component}_*Snapshot*.txt"))


def read_snomed(path: StrPath, *, language: str = "en") -> Concepts:
    """Read the active concepts and is-a links of a release folder.

    The label is the fully specified name in `language`, and the synonyms are the active synonyms and that
    name without its semantic tag: "Asthma" for "Asthma (disorder)".
    """
    if not Path(path).is_dir():
        raise FormatError(f"{path} is not a folder; pass the folder of a SNOMED CT release (RF2)")
    ids: list[str] = _active(path, "Concept", "id")["id"].to_pylist()
    require_concepts(ids, path, "rows with active = 1 in sct2_Concept_*Snapshot*.txt")

    links = _active(path, "Relationship", "sourceId", "destinationId", "typeId")
    links = links.filter(pc.equal(links["typeId"], _IS_A))

    texts = _active(path, "Description", "conceptId", "languageCode", "typeId", "term")
    languages = pc.unique(texts["languageCode"])
    if not pc.is_in(pa.scalar(language), value_set=languages).as_py():
        known = ", ".join(repr(code) for code in sorted(languages.to_pylist()))
        raise ParameterError(f"{path} has no descriptions in language={language!r}; it has {known or 'none'}")
    # Descriptions stay active when their concept is retired.
    texts = texts.filter(
        pc.and_(
            pc.equal(texts["languageCode"], language),
            pc.is_in(texts["conceptId"], value_set=pa.array(ids, pa.string())),
        )
    )
    found = Concepts(ids, links["sourceId"].to_pylist(), links["destinationId"].to_pylist(), source=str(path))
    names = texts.filter(pc.equal(texts["typeId"], _FULLY_SPECIFIED_NAME))
    untagged = pc.replace_substring_regex(names["term"], r"\s*\([^()]*\)$", "")
    for concept, name, short in zip(
        names["conceptId"].to_pylist(), names["term"].to_pylist(), untagged.to_pylist(), strict=True
    ):
        if found.labels.setdefault(concept, name) != name:
            add_synonym(found.synonyms, concept, name)
        if short and short != name:
            add_synonym(found.synonyms, concept, short)
    others = texts.filter(pc.equal(texts["typeId"], _SYNONYM))
    for concept, term in zip(others["conceptId"].to_pylist(), others["term"].to_pylist(), strict=True):
        add_synonym(found.synonyms, concept, term)
    return found


def _active(folder: StrPath, component: str, *columns: str) -> pa.Table:
    """Read the active rows of all files of one component."""
    files = release_files(folder, component)
    if not files:
        raise FormatError(
            f"{folder} has no file sct2_{component}_*Snapshot*.txt, at any depth; "
            "pass the unpacked folder of a SNOMED CT release (RF2) with its Snapshot part"
        )
    table = pa.concat_tables([_read_columns(file, ["active", *columns]) for file in files])
    return table.filter(pc.equal(table["active"], "1"))


def _read_columns(file: Path, columns: list[str]) -> pa.Table:
    try:
        return pa_csv.read_csv(
            file,
            # RF2 has no quoting: a quote is part of a term.
            parse_options=pa_csv.ParseOptions(delimiter="\t", quote_char=False, double_quote=False),
            convert_options=pa_csv.ConvertOptions(
                include_columns=columns, column_types=dict.fromkeys(columns, pa.string())
            ),
        )
    except (KeyError, pa.ArrowInvalid) as error:
        raise _explain(file, columns, error) from None


def _explain(file: Path, columns: list[str], error: Exception) -> FormatError:
    """Find the line that Arrow, reading in parallel, cannot name."""
    text = read_text(file, remedy=SAVE_AS_UTF8)
    require_concepts(text.strip(), file, "a header and tab separated rows of SNOMED CT RF2")
    header, *rows = (line.rstrip("\r").split("\t") for line in text.split("\n"))
    for name in columns:
        if name not in header:
            return at_line(file, 1, f"no column {name!r} among {header}; expected the columns of SNOMED CT RF2")
    for number, row in enumerate(rows, 2):
        if row != [""] and len(row) != len(header):
            return at_line(file, number, f"{len(row)} cells, but {len(header)} in the header; fetch the file again")
    return FormatError(f"{file}: {error}")
