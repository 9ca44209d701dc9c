"""Releases: the pipeline from records to files, the files next to a release, and reading them back.

``publish`` makes a release: roles, shuffle, method, files, a public ``Manifest`` and, on request, the owner's record.
``compare_files`` and ``compare_sets`` compare an original with its release. ``read_table`` and ``write_table`` hold
codes, not texts, and write all or nothing. ``METHODS`` lists the methods by the names of their commands.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> import nominym as nym
>>> with TemporaryDirectory() as folder:
...     path = Path(folder, "visits.csv")
...     nym.release.write_table({"diagnosis": ["flu", "coma"]}, path)
...     nym.release.read_table(path)["diagnosis"].to_pylist()
['flu', 'coma']
"""

from nominym.release.comparing import FilePair, SetsPair, are_sets, compare_files, compare_sets
from nominym.release.files import read_table, write_table
from nominym.release.manifest import (
    METHODS,
    Manifest,
    OwnersRecord,
    describe,
    manifest_path,
    read_manifest,
    read_record,
)
from nominym.release.meanings import MeaningFile
from nominym.release.pipeline import Publication, publish
from nominym.release.verifying import Verification, verify

__all__ = [
    "METHODS",
    "FilePair",
    "Manifest",
    "MeaningFile",
    "OwnersRecord",
    "Publication",
    "SetsPair",
    "Verification",
    "are_sets",
    "compare_files",
    "compare_sets",
    "describe",
    "manifest_path",
    "publish",
    "read_manifest",
    "read_record",
    "read_table",
    "verify",
    "write_table",
]
