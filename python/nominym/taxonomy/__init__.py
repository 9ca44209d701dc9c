"""Taxonomies and semantic distances."""

from __future__ import annotations

import os
from typing import Any

from nominym.control import Progress, reporter
from nominym.taxonomy.concepts import Concepts
from nominym.taxonomy.matrix import DistanceMatrix
from nominym.taxonomy.measure import CONTENTS, MEASURES, Measure
from nominym.taxonomy.read import read_concepts
from nominym.taxonomy.taxonomy import Taxonomy

__all__ = ["CONTENTS", "MEASURES", "Concepts", "DistanceMatrix", "Measure", "Taxonomy", "read_taxonomy"]


def read_taxonomy(
    path: str | os.PathLike[str],
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
