"""What values mean: a taxonomy, a distance matrix, an order, or equality.

A ``Meaning`` gives the values of a column their places in a ``Space``, which measures distances between places, finds
the mean of several, and tells what they have in common. Every method, statistic and attack asks a space, so columns of
different kinds need no special case. ``read`` has the readers of taxonomy files.
"""

from __future__ import annotations

import os
from typing import Any

from nominym.control import Progress, reporter
from nominym.meaning.base import Kind, Meaning, Space, check_meanings
from nominym.meaning.concept_space import ConceptSpace
from nominym.meaning.concepts import Concepts
from nominym.meaning.equality import Equality
from nominym.meaning.matrix import DistanceMatrix, MatrixSpace
from nominym.meaning.measure import CONTENTS, MEASURES, Measure, as_measure, shortest
from nominym.meaning.order import Order
from nominym.meaning.read import read_concepts
from nominym.meaning.taxonomy import Taxonomy

__all__ = [
    "CONTENTS",
    "MEASURES",
    "ConceptSpace",
    "Concepts",
    "DistanceMatrix",
    "Equality",
    "Kind",
    "MatrixSpace",
    "Meaning",
    "Measure",
    "Order",
    "Space",
    "Taxonomy",
    "as_measure",
    "check_meanings",
    "read_taxonomy",
    "shortest",
]


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
