"""Readers of taxonomy files, one function for each format, and the choice among them."""

from __future__ import annotations

import errno
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nominym.control import Progress, reporter
from nominym.error import NO_VALUE, Advice, FormatError, ParameterError
from nominym.files import StrPath, as_path
from nominym.meaning.read.icd import ICD9, ICD10, read_icd9, read_icd10
from nominym.meaning.read.native import read_json, read_parquet
from nominym.meaning.read.obo import read_obo
from nominym.meaning.read.snomed import read_snomed, release_files
from nominym.meaning.read.tables import detect_table, read_arx, read_edges
from nominym.meaning.read.wordnet import read_wordnet
from nominym.meaning.taxonomy import Concepts, Taxonomy

FORMATS: Mapping[str, Callable[..., Concepts]] = {
    "edges": read_edges,
    "arx": read_arx,
    "obo": read_obo,
    "snomed": read_snomed,
    "wordnet": read_wordnet,
    ICD9: read_icd9,
    ICD10: read_icd10,
    "json": read_json,
    "parquet": read_parquet,
}

_PACKAGED = (ICD9, ICD10)
_BY_SUFFIX = {".obo": "obo", ".json": "json", ".parquet": "parquet"}
_TABLES = (".csv", ".tsv", ".txt")


def read_taxonomy(
    path: StrPath,
    format: str | None = None,  # noqa: A002 (the public name)
    *,
    virtual_root: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Taxonomy:
    """Read a taxonomy from a file or folder; the format is recognised unless given.

    Formats: ``obo``, ``edges`` (two-column CSV), ``arx`` (hierarchy CSV), ``snomed`` (RF2 snapshot folder),
    ``wordnet`` (dict folder), ``icd-9-cm`` and ``icd-10-cm`` (by name, from their packages), and ``json`` and
    ``parquet`` as ``Taxonomy.save`` writes them. Options are the format's own, see the guide on taxonomies.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "jobs.csv")
    ...     _ = file.write_text("child,parent\\nnurse,health\\nhealth,job\\nteacher,job\\n")
    ...     read_taxonomy(file)
    <Taxonomy: 4 concepts, 3 links, tree, root 'job'>
    """
    with reporter(progress, "taxonomy") as report:
        return Taxonomy.from_concepts(read_concepts(path, format, **options), virtual_root, progress=report)


def read_concepts(path: StrPath, format: str | None = None, **options: Any) -> Concepts:  # noqa: A002
    """Read a taxonomy file or folder, or one of the names "icd-9-cm" and "icd-10-cm".

    Without `format`, one of `FORMATS`, it is told by the name and, for delimited text, by the content.
    `options` are those of the reader of that format.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "sex.csv")
    ...     _ = path.write_text("Male;*\\nFemale;*\\n")
    ...     concepts = read_concepts(path)
    >>> concepts.ids, concepts.child, concepts.parent
    (['Male', '*', 'Female'], ['Male', 'Female'], ['*', '*'])
    """
    if format is not None and (not isinstance(format, str) or format not in FORMATS):
        raise ParameterError(f"unknown; use one of {', '.join(FORMATS)}", parameter="format", value=format)
    if str(path) not in _PACKAGED and not as_path(path).exists():
        names = " or ".join(_PACKAGED)
        raise FileNotFoundError(errno.ENOENT, f"no such file or folder, and not {names}", str(path))
    name = format or _detect(path, options)
    reader = FORMATS[name]
    known = [option for option in inspect.signature(reader).parameters if option != "path"]
    for option in options:
        if option not in known:
            raise ParameterError(
                f"format {name!r} has no option {option}=; it takes {', '.join(known) or 'no options'}"
            )
    return reader(path, **options)


def _detect(path: StrPath, options: Mapping[str, Any]) -> str:
    place = Path(path)
    if not place.exists():
        return str(path)
    if place.is_dir():
        if any(Path(place, name).is_file() for name in ("data.noun", "data.verb")):
            return "wordnet"
        if release_files(place, "Concept"):
            return "snomed"
    elif place.suffix.lower() in _TABLES:
        return detect_table(place, options)
    elif place.suffix.lower() in _BY_SUFFIX:
        return _BY_SUFFIX[place.suffix.lower()]
    remedy = Advice(f"give {{}} as one of {', '.join(FORMATS)}", format=NO_VALUE)
    raise FormatError(f"{path} does not show what format it is of", remedy=remedy)
