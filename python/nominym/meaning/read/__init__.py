"""Readers of taxonomy files, one function for each format, and the choice of a reader."""

from __future__ import annotations

import errno
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nominym.control import Progress, reporter
from nominym.error import NO_VALUE, Advice, FormatError, ParameterError
from nominym.files import SAVE_AS_UTF8, StrPath, as_path, read_text
from nominym.meaning.read.health import read_claml, read_fhir
from nominym.meaning.read.icd import ICD9, ICD9_PROCEDURES, ICD10, read_icd9, read_icd9_procedures, read_icd10
from nominym.meaning.read.levels import read_levels, read_prefixes
from nominym.meaning.read.native import is_ours, read_json, read_parquet
from nominym.meaning.read.obo import read_obo
from nominym.meaning.read.rdf import SUFFIXES, detect_rdf, read_owl, read_skos
from nominym.meaning.read.snomed import read_snomed, release_files
from nominym.meaning.read.tables import detect_table, read_arx, read_edges
from nominym.meaning.read.wordnet import read_wordnet
from nominym.meaning.taxonomy import Concepts, Taxonomy

FORMATS: Mapping[str, Callable[..., Concepts]] = {
    "edges": read_edges,
    "levels": read_levels,
    "prefixes": read_prefixes,
    "arx": read_arx,
    "obo": read_obo,
    "owl": read_owl,
    "skos": read_skos,
    "claml": read_claml,
    "fhir": read_fhir,
    "snomed": read_snomed,
    "wordnet": read_wordnet,
    ICD9: read_icd9,
    ICD9_PROCEDURES: read_icd9_procedures,
    ICD10: read_icd10,
    "json": read_json,
    "parquet": read_parquet,
}

PACKAGED = (ICD9, ICD9_PROCEDURES, ICD10)
"""Names of vocabularies that packages provide."""
TABLES = (".csv", ".tsv", ".txt")
"""Suffixes of delimited files."""
OF_TABLES = ("child", "parent", "levels", "prefix")
"""Options that describe how a delimited file holds a hierarchy."""

_BY_SUFFIX = {".obo": "obo", ".parquet": "parquet"}


def read_taxonomy(
    path: StrPath,
    format: str | None = None,  # noqa: A002 (the public name)
    *,
    virtual_root: bool = False,
    progress: Progress = None,
    **options: Any,
) -> Taxonomy:
    """Read a taxonomy from a file or folder; the format is detected unless given.

    Formats: ``edges`` (CSV of child and parent), ``levels`` (CSV with a column for each level, most specific first),
    ``prefixes`` (codes grouped by their first characters), ``arx`` (hierarchy CSV), ``obo``, ``owl``, ``skos``,
    ``claml``, ``fhir`` (CodeSystem), ``snomed`` (RF2 snapshot folder), ``wordnet`` (dict folder), ``icd-9-cm``,
    ``icd-9-cm-procedures`` and ``icd-10-cm`` (by name, from their packages), and ``json`` and ``parquet`` as
    ``Taxonomy.save`` writes them. The options depend on the format; see the guide on taxonomies.

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
    """Read a taxonomy file or folder, or one of the names in `PACKAGED`.

    Without `format`, one of `FORMATS`, it is detected from the name and, for delimited text, from the content.
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
    if str(path) not in PACKAGED and not as_path(path).exists():
        names = ", ".join(PACKAGED)
        raise FileNotFoundError(errno.ENOENT, f"no such file or folder, and not one of {names}", str(path))
    name = format or _detect(path, options)
    reader = FORMATS[name]
    known = [option for option in inspect.signature(reader).parameters if option != "path"]
    for option in options:
        if option not in known:
            fault = f"the format {name!r} has no such option; it takes {', '.join(known) or 'none'}"
            raise ParameterError(fault, parameter=option, value=options[option])
    if name == "prefixes" and "prefix" not in options:
        raise ParameterError("give the lengths of the groups, such as [1, 2, 3, 4]", parameter="prefix")
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
    elif "prefix" in options or "levels" in options:
        return "prefixes" if "prefix" in options else "levels"
    elif place.suffix.lower() in TABLES:
        return detect_table(place, options)
    elif place.suffix.lower() == ".json":
        return "json" if is_ours(place) else "fhir"
    elif place.suffix.lower() == ".xml" and "<ClaML" in read_text(place, remedy=SAVE_AS_UTF8)[:10_000]:
        return "claml"
    elif place.suffix.lower() in SUFFIXES:
        return detect_rdf(place)
    elif place.suffix.lower() in _BY_SUFFIX:
        return _BY_SUFFIX[place.suffix.lower()]
    remedy = Advice(f"give {{}} as one of {', '.join(FORMATS)}", format=NO_VALUE)
    raise FormatError(f"the format of {path} cannot be detected", remedy=remedy)
