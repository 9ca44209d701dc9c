"""Data to try nominym on: synthetic hospital discharges, patients and baskets, and loaders for public data sets.

>>> import nominym as nym
>>> frame, taxonomies = nym.datasets.discharges(**nym.datasets.SHAPES["srs-2"], seed=1)
>>> frame.shape, frame["diagnosis"].nunique(), frame["procedure"].nunique()
((1012, 6), 55, 94)
"""

from __future__ import annotations

from nominym.datasets.baskets import Baskets, baskets
from nominym.datasets.discharges import SHAPES, Discharges, discharges
from nominym.datasets.loaders import load_adult, load_diabetes, load_icd9
from nominym.datasets.patients import Patients, patients
from nominym.datasets.shaped import LIKE, Shape, shaped

__all__ = [
    "LIKE",
    "SHAPES",
    "Baskets",
    "Discharges",
    "Patients",
    "Shape",
    "baskets",
    "discharges",
    "load_adult",
    "load_diabetes",
    "load_icd9",
    "patients",
    "shaped",
]
