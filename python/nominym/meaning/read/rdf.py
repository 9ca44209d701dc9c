"""OWL ontologies and SKOS vocabularies in RDF/XML, Turtle or N-Triples, through rdflib (extra ``rdf``).

W3C, "OWL 2 Web Ontology Language" (2012) and "SKOS Simple Knowledge Organization System Reference" (2009).
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Mapping
from typing import Any

from nominym.error import FormatError
from nominym.files import SAVE_AS_UTF8, StrPath, as_path, missing_extra, read_text, require_concepts
from nominym.meaning.taxonomy import Concepts

SUFFIXES: Mapping[str, str] = {
    ".owl": "xml", ".rdf": "xml", ".xml": "xml", ".skos": "xml", ".ttl": "turtle", ".nt": "nt",
}  # fmt: skip
"""Suffixes of RDF files, and rdflib's names of their syntax."""


def read_owl(path: StrPath, *, language: str = "en") -> Concepts:
    """Read the named classes of an ontology that are not deprecated, with asserted ``rdfs:subClassOf`` as links.

    Nothing is inferred, and imported ontologies are not fetched: classify and merge the ontology first where that
    matters. Ids are the IRIs, or ``oboInOwl:id`` if every class has one; several classes without a parent are below
    ``owl:Thing``, as OWL defines.
    """
    graph, rdflib = _parsed(path)
    owl, rdfs, rdf = rdflib.OWL, rdflib.RDFS, rdflib.RDF
    obo = rdflib.Namespace("http://www.geneontology.org/formats/oboInOwl#")
    classes = {each for kind in (owl.Class, rdfs.Class) for each in graph.subjects(rdf.type, kind)}
    links = [(low, up) for low, up in graph.subject_objects(rdfs.subClassOf) if _is_named(low, up, rdflib)]
    classes |= {end for link in links for end in link}
    gone = {each for each, said in graph.subject_objects(owl.deprecated) if str(said).lower() in ("true", "1")}
    kept = {each for each in classes - gone - {owl.Nothing, owl.Thing} if isinstance(each, rdflib.URIRef)}
    require_concepts(kept, path, "classes of an OWL ontology (owl:Class) that have a name and are not deprecated")
    names = [
        rdflib.SKOS.altLabel,
        *(obo[kind] for kind in ("hasExactSynonym", "hasNarrowSynonym", "hasBroadSynonym", "hasRelatedSynonym")),
    ]
    return _concepts(graph, rdflib, path, kept, links, rdfs.label, names, obo.id, language).below_one("owl:Thing")


def read_skos(path: StrPath, *, language: str = "en") -> Concepts:
    """Read the concepts of a vocabulary, with ``skos:broader`` and ``skos:narrower`` as links.

    Ids are the notations if every concept has one of its own, else the IRIs. Several top concepts are below the concept
    scheme. Labels are those in `language`, or without a language; all others are synonyms.
    """
    graph, rdflib = _parsed(path)
    skos, rdf = rdflib.SKOS, rdflib.RDF
    links = [(low, up) for low, up in graph.subject_objects(skos.broader) if _is_named(low, up, rdflib)]
    links += [(low, up) for up, low in graph.subject_objects(skos.narrower) if _is_named(low, up, rdflib)]
    kept = {each for each in graph.subjects(rdf.type, skos.Concept) if isinstance(each, rdflib.URIRef)}
    kept |= {end for link in links for end in link}
    require_concepts(kept, path, "concepts of a SKOS vocabulary (skos:Concept)")
    names = [skos.altLabel, skos.hiddenLabel]
    found = _concepts(graph, rdflib, path, kept, links, skos.prefLabel, names, skos.notation, language)
    schemes = sorted(set(graph.subjects(rdf.type, skos.ConceptScheme)))
    if len(schemes) != 1:
        return found
    titles = [text for kind in (skos.prefLabel, rdflib.RDFS.label, rdflib.DCTERMS.title)
              for text in graph.objects(schemes[0], kind)]  # fmt: skip
    label, _ = _labels(titles, language)
    return found.below_one(str(schemes[0]), label)


def detect_rdf(path: StrPath) -> str:
    """Return whether an RDF file is a SKOS vocabulary or an OWL ontology, judged by its content."""
    text = read_text(path, remedy=SAVE_AS_UTF8)
    skos = len(re.findall(r"\b(?:broader|narrower|topConceptOf|hasTopConcept)\b", text))
    return "skos" if skos > len(re.findall(r"\bsubClassOf\b", text)) else "owl"


def _parsed(path: StrPath) -> tuple[Any, Any]:
    """Parse a file; nothing is fetched from elsewhere."""
    try:
        import rdflib
    except ImportError as error:
        raise missing_extra("OWL and SKOS", "rdf") from error
    syntax = SUFFIXES.get(as_path(path).suffix.lower(), "xml")
    text = read_text(path, remedy=SAVE_AS_UTF8)
    if syntax == "xml" and "turtle" in _likely(text):
        syntax = "turtle"
    if "<!ENTITY" in text and re.search(r"<!ENTITY\s+\S+\s+(?:SYSTEM|PUBLIC)", text):
        raise FormatError(
            f"{path} refers to other files (<!ENTITY … SYSTEM>), which are not read; remove these references"
        )
    graph = rdflib.Graph()
    log = logging.getLogger("rdflib")
    level = log.level
    try:
        # What is odd about an IRI is of no matter here.
        log.setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Relative IRIs are those of the file, wherever it lies.
            graph.parse(data=text, format=syntax, publicID=f"file:///{as_path(path).name}")
    except MemoryError:
        raise
    except Exception as error:  # of a file that is none, the parsers raise what they like
        told = re.sub(r"\s+", " ", str(error)).strip()[:200]
        raise FormatError(
            f"{path}: not RDF as {syntax} ({told}); give RDF/XML (.owl, .rdf, .xml), Turtle (.ttl) or N-Triples (.nt)"
        ) from None
    finally:
        log.setLevel(level)
    return graph, rdflib


def _likely(text: str) -> str:
    return "xml" if text.lstrip().startswith("<?xml") or "<rdf:RDF" in text[:10_000] else "turtle"


def _is_named(low: Any, up: Any, rdflib: Any) -> bool:
    """Return whether a link is between named concepts, not to a restriction or to itself."""
    return isinstance(low, rdflib.URIRef) and isinstance(up, rdflib.URIRef) and low != up


def _concepts(
    graph: Any, rdflib: Any, path: StrPath, kept: set[Any], links: list[Any], label: Any, names: list[Any], code: Any,
    language: str,
) -> Concepts:  # fmt: skip
    """Name the concepts, in the order of their IRIs, because a graph has no order."""
    ordered = sorted(kept)
    codes = {each: sorted({str(text).strip() for text in graph.objects(each, code)} - {""}) for each in ordered}
    single = [texts[0] for texts in codes.values() if len(texts) == 1]
    by_code = len(single) == len(set(single)) == len(ordered)
    ids = {each: codes[each][0] if by_code else str(each) for each in ordered}
    found = Concepts(ids=list(ids.values()), source=str(path))
    for low, up in sorted(set(links)):
        if low in kept and up in kept:
            found.link(ids[low], ids[up])
    for each, name in ids.items():
        chosen, others = _labels(list(graph.objects(each, label)), language)
        if chosen is not None:
            found.labels[name] = chosen
        others += sorted({str(text) for kind in names for text in graph.objects(each, kind)})
        others += [*codes[each], re.split(r"[#/]", str(each))[-1]]
        more = [text for text in dict.fromkeys(map(str.strip, others)) if text and text not in (name, chosen)]
        if more:
            found.synonyms[name] = more
    return found


def _labels(texts: list[Any], language: str) -> tuple[str | None, list[str]]:
    """Choose the label in a language, else one without a language, else the first; also return the others."""

    def rank(text: Any) -> tuple[int, str, str]:
        said = (getattr(text, "language", None) or "").lower()
        primary = said.split("-")[0]
        return (0 if said == language.lower() else 1 if primary == language.lower() else 2 if not said else 3,
                said, str(text))  # fmt: skip

    ordered = [str(text).strip() for text in sorted(texts, key=rank)]
    return (ordered[0], ordered[1:]) if ordered else (None, [])
