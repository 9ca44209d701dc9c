"""Taxonomies in the OBO flat file format of the OBO Foundry ontologies, through ``fastobo``.

Day-Richter et al., "The OBO Flat File Format Specification", versions 1.2 and 1.4
(https://owlcollab.github.io/oboformat/doc/GO.format.obo-1_4.html).
"""

from __future__ import annotations

import io
import re

from nominym.files import StrPath, add_synonym, at_line, missing_extra, read_text, require_concepts
from nominym.meaning.taxonomy import Concepts

# Published files break the syntax where it matters least, in the references of definitions, and fastobo
# refuses the whole file for it (or panics, on comment lines). So it sees the clauses in use only. A clause
# runs on over lines that end in a backslash.
_UNUSED = re.compile(
    r"^[ \t]*(?:!|(?!(?:id|name|alt_id|is_a|is_obsolete|(?:\w+_)?synonym):)[A-Za-z][\w-]*:)(?:\\.|[^\\\n])*",
    re.MULTILINE | re.DOTALL,
)
# Scope and references of a synonym are not used either; before OBO 1.4 the scope could be left out.
_SYNONYM = re.compile(r'^(?:(?:exact|narrow|broad|related)_)?synonym:[ \t]*("(?:\\.|[^"\\\n])*")[^\n]*', re.MULTILINE)


def read_obo(path: StrPath, *, encoding: str = "utf-8") -> Concepts:
    """Read the terms that are not obsolete, with ``is_a`` as links; ``alt_id`` counts as a synonym.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "tiny.obo")
    ...     _ = path.write_text("[Term]\\nid: X:1\\n\\n[Term]\\nid: X:2\\nname: two\\nis_a: X:1 ! one\\n")
    ...     concepts = read_obo(path)
    >>> concepts.ids, concepts.child, concepts.parent, concepts.labels
    (['X:1', 'X:2'], ['X:2'], ['X:1'], {'X:2': 'two'})
    """
    try:
        import fastobo
    except ImportError as error:
        raise missing_extra("OBO", "obo") from error

    text = read_text(path, encoding).replace("\r\n", "\n")
    text = _UNUSED.sub(lambda match: "\n" * match[0].count("\n"), text)
    text = _SYNONYM.sub(r"synonym: \1 EXACT []", text)

    found = Concepts(source=str(path))
    try:
        # fastobo takes the end of the file for an error where the last line is not ended.
        for frame in fastobo.iter(io.BytesIO(f"{text}\n".encode()), ordered=True):
            if not isinstance(frame, fastobo.term.TermFrame) or any(
                isinstance(clause, fastobo.term.IsObsoleteClause) and clause.obsolete for clause in frame
            ):
                continue
            concept = str(frame.id)
            found.ids.append(concept)
            for clause in frame:
                if isinstance(clause, fastobo.term.IsAClause):
                    found.link(concept, str(clause.term))
                elif isinstance(clause, fastobo.term.NameClause):
                    found.labels.setdefault(concept, clause.name.strip())
                elif isinstance(clause, fastobo.term.SynonymClause):
                    if name := clause.synonym.desc.strip():
                        add_synonym(found.synonyms, concept, name)
                elif isinstance(clause, fastobo.term.AltIdClause):
                    add_synonym(found.synonyms, concept, str(clause.alt_id))
    except SyntaxError as error:
        problem = f"{error.msg} at {(error.text or '').strip()!r}; correct the line to OBO 1.4 syntax"
        raise at_line(path, error.lineno or 1, problem) from None
    require_concepts(found.ids, path, "[Term] frames that are not obsolete")
    return found
