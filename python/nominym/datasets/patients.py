"""A synthetic table of hospital stays with columns of every kind: numbers, ranked values, categories, concepts."""

from __future__ import annotations

import secrets
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from nominym._core import draw_synthetic
from nominym.datasets.discharges import AGE_GROUPS, SEXES, _real, _whole, discharges
from nominym.files import StrPath
from nominym.meaning import Equality, Meaning, Order, Taxonomy

if TYPE_CHECKING:
    from numpy.typing import NDArray

EDUCATION = ("none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate")
RESULTS = ("low", "normal", "raised", "high")

# Groups of occupations by the education that they ask for, least first; pupils and the retired are by age.
_OCCUPATIONS = {
    "elementary work": ("cleaner", "packer", "kitchen helper", "farm labourer"),
    "machines and transport": ("bus driver", "lorry driver", "machine operator", "assembler"),
    "crafts": ("bricklayer", "electrician", "mechanic", "baker", "carpenter"),
    "sales and service": ("cook", "hairdresser", "shop assistant", "care worker", "guard"),
    "office work": ("secretary", "bookkeeper", "receptionist", "stock clerk"),
    "technicians": ("laboratory technician", "IT technician", "draughtsman", "sales agent"),
    "health and teaching": ("nurse", "physiotherapist", "teacher", "social worker"),
    "sciences and law": ("engineer", "software developer", "lawyer", "physician", "scientist"),
}
_BRANCHES = {
    "manual work": ("elementary work", "machines and transport", "crafts"),
    "services": ("sales and service", "office work"),
    "professions": ("technicians", "health and teaching", "sciences and law"),
    "not in work": ("pupil", "retired", "homemaker"),
}
_LEVELS = np.cumsum([0.05, 0.12, 0.28, 0.25, 0.16, 0.11, 0.03])
_SHARES = np.cumsum([0.10, 0.60, 0.20, 0.10])


class _Stream(IntEnum):
    """The independent streams of random numbers; the numbers are part of what a seed means."""

    AGE = 700
    EDUCATION = 701
    OCCUPATION = 702
    RESULT = 703
    PERSON = 704
    ROWS = 705


class Patients(NamedTuple):
    """Records and the meanings of their columns, except ``patient`` and ``result``."""

    data: pd.DataFrame
    meanings: dict[str, Meaning]

    def write(self, folder: StrPath) -> list[Path]:
        """Write the table and the meanings of its columns to a folder, as files for the command line.

        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     [path.name for path in patients(10, seed=1).write(folder)]
        ['patients.csv', 'education.order', 'occupations.csv', 'diagnoses.json']
        """
        names = ("patients.csv", "education.order", "occupations.csv", "diagnoses.json")
        paths = [Path(folder, name) for name in names]
        self.data.to_csv(paths[0], index=False, lineterminator="\n")
        paths[1].write_text("".join(f"{level}\n" for level in EDUCATION), encoding="utf-8")
        links = [f"{child},{parent}\n" for child, parent in _links()]
        paths[2].write_text("".join(["child,parent\n", *links]), encoding="utf-8")
        taxonomy = self.meanings["diagnosis"]
        assert isinstance(taxonomy, Taxonomy)
        taxonomy.save(paths[3])
        return paths


def patients(n: int, seed: int | None = None, *, repeats: float = 0.2) -> Patients:
    """Return ``n`` synthetic hospital stays of eight columns, and the meanings of their values.

    ``patient`` identifies the patient; ``age`` (years) and ``days`` are numbers, ``education`` is ranked, ``sex`` is
    equal or not, ``occupation`` has a hierarchy and ``diagnosis`` a taxonomy with several parents; ``result``, from a
    laboratory, has no meaning here. Ages, sexes and days depend on the diagnosis as in ``discharges``, occupations on
    the education.

    >>> import nominym as nym
    >>> frame, meanings = nym.datasets.patients(1000, seed=1)
    >>> list(frame)
    ['patient', 'age', 'sex', 'education', 'occupation', 'diagnosis', 'days', 'result']
    >>> {name: type(meaning).__name__ for name, meaning in meanings.items()}
    {'age': 'Order', 'sex': 'Equality', 'education': 'Order', 'occupation': 'Taxonomy', 'diagnosis': 'Taxonomy', \
'days': 'Order'}

    :param n: number of stays.
    :param seed: 0 to 2**64 - 1, for reproducible stays; without one they are new each time.
    :param repeats: from 0 to below 1; share of stays of patients who had an earlier one.
    """
    n = _whole("n", n, 1, 2**32 - 2)
    repeats = _real("repeats", repeats, "from 0 to below 1", lambda value: 0 <= value < 1)
    seed = secrets.randbits(64) if seed is None else _whole("seed", seed, 0, 2**64 - 1)
    stays, taxonomies = discharges(n, seed, diagnoses=min(783, n), procedures=1)
    first = max(n - int(repeats * n), 1)
    # A patient comes again with what was the secondary diagnosis.
    person = np.arange(n)
    person[first:] = _floor(draw_synthetic(n, seed, _Stream.PERSON)[first:], first)
    diagnosis = stays["diagnosis"].astype(object).to_numpy(copy=True)
    diagnosis[first:] = stays["secondary"].astype(object).to_numpy()[person[first:]]

    age = _ages(stays["age_group"].cat.codes.to_numpy(), draw_synthetic(n, seed, _Stream.AGE))
    level = np.searchsorted(_LEVELS[:-1], draw_synthetic(n, seed, _Stream.EDUCATION), side="right")
    level = np.minimum(level, np.select([age < 7, age < 13, age < 19], [0, 1, 2], len(EDUCATION) - 1))
    occupation = _occupations(age, level, draw_synthetic(n, seed, _Stream.OCCUPATION))
    days = stays["length_of_stay"].to_numpy().astype(np.int64)
    # Long stays have more results that are out of range.
    lots = draw_synthetic(n, seed, _Stream.RESULT) ** np.where(days > 7, 0.8, 1.0)
    frame = pd.DataFrame(
        {
            "patient": [f"P{number:06}" for number in person],
            "age": age[person],
            "sex": np.array(SEXES, dtype=object)[stays["sex"].cat.codes.to_numpy()[person]],
            "education": np.array(EDUCATION, dtype=object)[level[person]],
            "occupation": occupation[person],
            "diagnosis": diagnosis,
            "days": days,
            "result": np.array(RESULTS, dtype=object)[np.searchsorted(_SHARES[:-1], lots, side="right")],
        }
    )
    order = np.argsort(draw_synthetic(n, seed, _Stream.ROWS), kind="stable")
    meanings: dict[str, Meaning] = {
        "age": Order(),
        "sex": Equality(),
        "education": Order(EDUCATION),
        "occupation": _hierarchy(),
        "diagnosis": taxonomies["diagnosis"],
        "days": Order(),
    }
    return Patients(frame.iloc[order].reset_index(drop=True), meanings)


def _links() -> list[tuple[str, str]]:
    """List the links of the hierarchy of occupations, child and parent."""
    branches = [(branch, "occupation") for branch in _BRANCHES]
    groups = [(group, branch) for branch, held in _BRANCHES.items() for group in held]
    return branches + groups + [(name, group) for group, held in _OCCUPATIONS.items() for name in held]


@lru_cache(maxsize=1)
def _hierarchy() -> Taxonomy:
    return Taxonomy.from_edges(_links())


def _floor(lots: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Turn uniform numbers into list positions."""
    places: NDArray[np.int64] = np.minimum((lots * count).astype(np.int64), count - 1)
    return places


def _ages(group: NDArray[np.integer[Any]], lots: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw the year within each age group; the last one ends at 99."""
    low = np.array([int(name.rstrip("+").partition("-")[0]) for name in AGE_GROUPS])
    high = np.append(low[1:], 100)
    ages: NDArray[np.int64] = low[group] + (lots * (high - low)[group]).astype(np.int64)
    return ages


def _occupations(age: NDArray[np.int64], level: NDArray[np.int64], lots: NDArray[np.float64]) -> NDArray[np.object_]:
    """Choose an occupation near the place that the education has in the list, or one that goes by age."""
    names = np.array([name for held in _OCCUPATIONS.values() for name in held], dtype=object)
    place = level / (len(EDUCATION) - 1) * 0.75 + 0.25 * lots
    found = names[_floor(place, len(names))]
    # The same lot decides whether somebody keeps house: it is spread evenly over all places.
    found = np.where((lots * 97) % 1 < 0.07, "homemaker", found)
    found = np.where(age >= 67, "retired", np.where(age < 18, "pupil", found))
    return found.astype(object)
