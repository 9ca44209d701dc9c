"""Classifications as health authorities publish them: ClaML and the CodeSystem of HL7 FHIR.

ClaML is EN 14463 ("Classification Markup Language"), in which the WHO and national offices publish ICD-10, ICD-O and
ICF; CodeSystem is a resource of HL7 FHIR (https://hl7.org/fhir/codesystem.html).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from nominym.content import parse_json
from nominym.error import FormatError
from nominym.files import SAVE_AS_UTF8, StrPath, add_synonym, at_line, read_text, require_concepts
from nominym.meaning.taxonomy import Concepts

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_PARENTS = ("parent", "subsumedBy")


def read_claml(path: StrPath, *, language: str | None = None) -> Concepts:
    """Read the classes of a ClaML file, with ``SuperClass`` as links; codes without their dots are synonyms.

    Labels are the preferred rubrics, in `language` if given and available. Modifiers do not create codes: a file that
    builds codes by ``ModifiedBy`` must list them.
    """
    text = read_text(path, remedy=SAVE_AS_UTF8)
    require_concepts(text.strip(), path, "a ClaML document")
    if "<!ENTITY" in text:
        raise FormatError(f"{path} declares entities, which are not read; write it without <!ENTITY>")
    try:
        root = ElementTree.fromstring(text.encode())
    except ElementTree.ParseError as error:
        raise at_line(path, error.position[0], f"{error}; expected a ClaML document") from None
    if root.tag != "ClaML":
        raise FormatError(f"{path} is not a ClaML document: its first element is {root.tag!r}")
    found = Concepts(source=str(path))
    for number, each in enumerate(root.iterfind("Class"), 1):
        code = (each.get("code") or "").strip()
        if not code:
            raise FormatError(f"{path}: Class {number} has no code; give it one")
        found.ids.append(code)
        for upper in each.iterfind("SuperClass"):
            found.link(code, (upper.get("code") or "").strip())
        label = _rubric(each, language)
        if label:
            found.labels[code] = label
        _add_undotted(found, code)
    require_concepts(found.ids, path, "elements named Class")
    title = root.find("Title")
    name = (title.get("name") if title is not None else None) or "ClaML"
    return found.below_one(name, None if title is None else _text(title))


def _rubric(each: ElementTree.Element, language: str | None) -> str | None:
    """Return the preferred label of a class."""
    for kind in ("preferredLong", "preferred"):
        labels = [label for rubric in each.iterfind("Rubric") if rubric.get("kind") == kind
                  for label in rubric.iterfind("Label")]  # fmt: skip
        labels.sort(key=lambda label: language is not None and label.get(_LANGUAGE) != language)
        if labels and (text := _text(labels[0])):
            return text
    return None


def _text(element: ElementTree.Element) -> str | None:
    """Return the text of an element; references inside are not part of a name."""
    parts = [element.text or ""]
    for part in element:
        parts += ["" if part.tag == "Reference" else "".join(part.itertext()), part.tail or ""]
    return " ".join("".join(parts).split()) or None


def _add_undotted(found: Concepts, code: str) -> None:
    if "." in code:
        add_synonym(found.synonyms, code, code.replace(".", ""))


def read_fhir(path: StrPath) -> Concepts:
    """Read a CodeSystem: nested concepts are below the outer one, and concepts that name a parent are below it.

    Labels are the displays, synonyms the designations. The content must be complete.
    """
    text = read_text(path, remedy=SAVE_AS_UTF8)
    require_concepts(text.strip(), path, 'an object with "resourceType": "CodeSystem"')
    try:
        content = parse_json(text)
    except json.JSONDecodeError as error:
        raise at_line(path, error.lineno, f"{error.msg} (column {error.colno}); correct the JSON") from None
    except ValueError as error:
        raise FormatError(f"{path}: {error}; correct the JSON") from None
    kind = content.get("resourceType") if isinstance(content, dict) else None
    if kind != "CodeSystem":
        raise FormatError(f"{path} is not a FHIR CodeSystem: its resourceType is {kind!r}")
    if content.get("content", "complete") not in ("complete", "fragment"):
        raise FormatError(f"{path} has no concepts of its own: its content is {content['content']!r}; get the full one")
    if content.get("hierarchyMeaning", "is-a") not in ("is-a", "grouped-by", "classified-with"):
        raise FormatError(
            f"{path}: its hierarchy means {content['hierarchyMeaning']!r}, not is-a: parts are not near in meaning"
        )
    found = Concepts(source=str(path))
    links: dict[tuple[str, str], None] = {}
    for concept, above in _nested(content.get("concept"), path):
        code = concept["code"]
        found.ids.append(code)
        if above is not None:
            links[code, above] = None
        display = concept.get("display")
        if isinstance(display, str) and display.strip():
            found.labels[code] = display.strip()
        for name in _objects(concept.get("designation"), path, code):
            value = name.get("value")
            if isinstance(value, str) and value.strip() and value.strip() != found.labels.get(code):
                add_synonym(found.synonyms, code, value.strip())
        for said in _objects(concept.get("property"), path, code):
            other = said.get("valueCode") or said.get("valueString")
            if isinstance(other, str) and said.get("code") in (*_PARENTS, "child"):
                links[(other, code) if said["code"] == "child" else (code, other)] = None
        _add_undotted(found, code)
    require_concepts(found.ids, path, 'entries in "concept"')
    for lower, upper in links:
        found.link(lower, upper)
    whole = [said for key in ("name", "title", "url", "id") if isinstance(said := content.get(key), str) and said]
    title = content.get("title")
    return found.below_one(whole[0] if whole else "CodeSystem", title if isinstance(title, str) else None)


def _nested(concepts: Any, path: StrPath) -> Iterator[tuple[Mapping[str, Any], str | None]]:
    """Iterate over concepts and those nested in them, each with the code of the enclosing one."""
    stack: list[tuple[Any, str | None]] = [(concepts, None)]
    while stack:
        listed, above = stack.pop()
        for concept in _objects(listed, path, above):
            code = concept.get("code")
            if not isinstance(code, str) or not code.strip():
                raise FormatError(f"{path}: a concept has the code {code!r}; a text is needed")
            yield concept, above
            stack.append((concept.get("concept"), code))


def _objects(listed: Any, path: StrPath, where: str | None) -> list[Mapping[str, Any]]:
    """Return a list of objects; empty if there is none."""
    if listed is None:
        return []
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise FormatError(f"{path}: a list of objects is needed in {where or 'the CodeSystem'!r}; correct the JSON")
    return listed
