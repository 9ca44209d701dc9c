"""What all meanings share: values of any library, measures, places and distances, names of concepts.

A meaning defines how far apart two values are, what the mean of several is, and what several have in common. The
semantic distances of taxonomies, their formulas and ranges, are here too: every meaning takes a measure.
"""

from __future__ import annotations

import difflib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from nominym import _core
from nominym.control import Progress, require_matrix
from nominym.error import NO_VALUE, Advice, AmbiguousConceptError, Code, DataError, ParameterError, UnknownConceptError
from nominym.meaning.generalized import one_of


def is_missing(value: Any) -> bool:
    """Return whether a single value is missing: None, NaN, NaT or NA."""
    return value is None or bool(pd.api.types.is_scalar(value) and pd.isna(value))


def is_polars(data: object, kind: str) -> bool:
    """Return whether something is a polars object, without importing polars, which is an extra."""
    return any(cls.__name__ == kind and cls.__module__.startswith("polars.") for cls in type(data).__mro__)


def is_frame(data: object) -> bool:
    """Return whether data have named columns: a frame of any library, an Arrow stream, a mapping of columns."""
    if isinstance(data, pd.DataFrame | pa.Table | pa.RecordBatch | Mapping) or is_polars(data, "DataFrame"):
        return True
    columns = pd.Series | pd.Index | pa.Array | pa.ChunkedArray
    if isinstance(data, columns) or is_polars(data, "Series"):
        return False
    return hasattr(data, "__arrow_c_stream__") or is_lazy(data)


def is_lazy(data: object) -> bool:
    """Return whether data are a lazy query of polars or narwhals."""
    return type(data).__name__ == "LazyFrame" and hasattr(data, "collect")


def is_sequence(values: object) -> bool:
    """Return whether something is a list of values from any library, rather than a single value or a table."""
    single = isinstance(values, str | bytes | Mapping) or is_frame(values)
    return not single and hasattr(values, "__iter__")


def to_list(values: Any) -> list[Any]:
    """Return the values of a column from any library as Python objects."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


class MeasureInfo(NamedTuple):
    """Facts about a measure."""

    formula: str
    """The distance between two concepts (notation: ``MEASURES``)."""
    range: str
    normalized: bool
    """Whether every distance lies in [0, 1]."""
    origin: str
    """How the published measure becomes a distance, with its equation in the thesis and its source."""


MEASURES: dict[str, MeasureInfo] = {
    "wu-palmer": MeasureInfo("s / (2·depth(L) + s)", "[0, 1)", True, "1 − similarity (4.6, 6.1); Wu and Palmer 1994"),
    "path": MeasureInfo("p", "0 … 2(D−1)", False, "a distance as published (4.3); Rada et al. 1989"),
    "leacock-chodorow": MeasureInfo(
        "ln(p+1) / ln(2D)", "[0, 1)", True, "1 − sim/sim(a,a) (4.4, 4.5); Leacock and Chodorow 1998"
    ),
    "taxonomic-feature": MeasureInfo(
        "log2(1 + (u−i)/u)", "[0, 1)", True, "a distance as published (4.10); Sánchez et al. 2012"
    ),
    "resnik": MeasureInfo(
        "1 − IC(L)/max IC, 0 for a = b", "[0, 1]", True, "1 − sim/max IC, identity imposed (4.12); Resnik 1995"
    ),
    "lin": MeasureInfo("1 − 2·IC(L)/(IC(a)+IC(b))", "[0, 1]", True, "1 − similarity (4.13); Lin 1998"),
    "jiang-conrath": MeasureInfo(
        "IC(a) + IC(b) − 2·IC(L)", "0 … 2·max IC", False, "a distance as published (4.14); Jiang and Conrath 1997"
    ),
}
"""All measures by name.

``L`` is the common subsumer of ``a`` and ``b`` with the greatest depth (ties: smallest path sum, then id), ``s`` the
links from both up to ``L``, ``p`` the links on the shortest path over any common subsumer, ``D`` the greatest depth
in the taxonomy, ``u`` and ``i`` the number of subsumers of either and of both (each concept subsumes itself).
"""

CONTENTS: dict[str, str] = {
    "seco": "1 − ln(hyponyms+1)/ln(concepts) (4.15); Seco, Veale and Hayes 2004",
    "zhou": "k·seco + (1−k)·ln(depth)/ln(D) (4.16); Zhou, Wang and Gu 2008",
    "sanchez": "−ln((leaves/subsumers + 1)/(all leaves + 1)) (4.17); Sánchez, Batet and Isern 2011",
}
"""Information content from the structure of a taxonomy, by name; counts of use give equation 4.11."""


@dataclass(frozen=True)
class Measure:
    """A semantic distance. A plain name means the measure with its defaults.

    Measures of information content take ``ic``: one of ``CONTENTS``, or how often each concept is used (by id; a use
    counts for all subsumers too). ``k`` weighs hyponyms against depth in Zhou's content.

    >>> Measure("lin", ic="sanchez").name
    'lin'
    >>> Measure("wupalmer")
    Traceback (most recent call last):
    nominym.error.ParameterError: there is no measure 'wupalmer'; there are wu-palmer, path, leacock-chodorow, \
taxonomic-feature, resnik, lin, jiang-conrath
    """

    name: str = "wu-palmer"
    ic: str | Mapping[str, float] = field(default="seco", hash=False)
    k: float = 0.5

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not isinstance(self.name, str) or self.name not in MEASURES:
            raise ParameterError(f"there is no measure {self.name!r}; there are {', '.join(MEASURES)}")
        if not isinstance(self.ic, str | Mapping) or (isinstance(self.ic, str) and self.ic not in CONTENTS):
            known = f"there are {', '.join(CONTENTS)}, or give counts by id"
            raise ParameterError(f"there is no information content {self.ic!r}; {known}")
        for name, count in self.ic.items() if isinstance(self.ic, Mapping) else ():
            if not isinstance(count, Real) or not 0 <= count < float("inf"):
                raise ParameterError(f"ic: the count of {name!r} is {count!r}; counts are numbers ≥ 0")
        if not isinstance(self.k, Real) or not 0 <= self.k <= 1:
            fault = "the weight in Zhou's information content lies in [0, 1]"
            raise ParameterError(fault, parameter="k", value=self.k)
        if not self.needs_content and (self.ic != "seco" or self.k != 0.5):
            raise ParameterError(f"measure {self.name!r} does not use information content: leave ic and k out")

    def params(self) -> dict[str, object]:
        """Return what defines the measure, for the record of a result; counts of use are not included."""
        if not self.needs_content:
            return {"measure": self.name}
        ic = self.ic if isinstance(self.ic, str) else "counts"
        return {"measure": self.name, "ic": ic} | ({"ic_k": self.k} if ic == "zhou" else {})

    @property
    def info(self) -> MeasureInfo:
        """Return formula, range and source."""
        return MEASURES[self.name]

    @property
    def needs_content(self) -> bool:
        """Return whether the measure is based on information content."""
        return self.name in ("resnik", "lin", "jiang-conrath")


def as_measure(measure: str | Measure) -> Measure:
    """Turn a name into a measure."""
    return measure if isinstance(measure, Measure) else Measure(measure)


def shortest(measure: str | Measure) -> str | Measure:
    """Return the name of a measure if that defines it, so that equal measures compare as equal.

    >>> shortest(Measure("lin")), shortest(Measure("lin", ic="sanchez"))
    ('lin', Measure(name='lin', ic='sanchez', k=0.5))
    """
    given = as_measure(measure)
    return given.name if given == Measure(given.name) else given


Kind = Literal["text", "whole", "number", "truth", "time", "mixed", "nested"]
"""Kinds of values of a column: ``number`` has decimal places, ``mixed`` several types, ``nested`` lists."""


class Values(Protocol):
    """Distinct values of a column, as the table room codes them."""

    @property
    def name(self) -> str | None:
        """Return the name of the column, for messages."""

    @property
    def categories(self) -> tuple[Any, ...]:
        """Return the distinct values."""

    @property
    def numbers(self) -> NDArray[Any] | None:
        """Return the distinct values as an array, if they are plain numbers."""

    @property
    def lists(self) -> Any:
        """Return the distinct values as an Arrow array of lists, if they are lists of texts or whole numbers."""

    @property
    def counts(self) -> NDArray[np.uint64]:
        """Return the number of records of each."""

    @property
    def kind(self) -> Kind:
        """Return their kind."""

    @property
    def order(self) -> tuple[Any, ...] | None:
        """Return all values from lowest to highest, if the column itself orders them."""

    @property
    def released(self) -> bool:
        """Return whether it is compared as part of a release, in which values may be generalized."""


Distances: TypeAlias = "NDArray[np.float64] | NDArray[np.uint32] | _core.Concepts | tuple[_core.Sets, bool]"
"""Distances between categories, as the core takes them: a matrix, positions on a line with NaN for what is missing,
numbers that are equal or not, concepts of a tree, or sets and whether what is missing is one more."""


def categories_of(distances: Distances) -> int:
    """Return the number of categories of some distances."""
    return len(distances[0]) + distances[1] if isinstance(distances, tuple) else len(distances)


MANY = 2_000
"""Number of categories from which a matrix is avoided if possible; with fewer it is cheap and more precise."""


class Cells(NamedTuple):
    """What is in each group of some records: the places in ascending order, and how many records have each."""

    starts: NDArray[np.uint64]
    """Where the places of each group begin, and where the last ends; no group is empty."""
    places: NDArray[np.uint32]
    counts: NDArray[np.uint64]

    @property
    def firsts(self) -> NDArray[np.int64]:
        """Return where the places of each group begin."""
        return self.starts[:-1].astype(np.int64)

    @property
    def groups(self) -> NDArray[np.int64]:
        """Return the group of each place."""
        ends = self.starts.astype(np.int64)
        return np.repeat(np.arange(len(ends) - 1), ends[1:] - ends[:-1])


class Standing(NamedTuple):
    """What represents each group: a place, or a value of a list."""

    chosen: NDArray[np.int64]
    """The place, or the number of the value, for each group."""
    values: Any = None
    """The values, if they are not places."""
    parts: Any = ()
    """For each of the values, the places that it stands for; of an interval the ends, of a mean the number."""


class Space(ABC):
    """A meaning applied to the values at hand: every value has a place, and places have distances.

    Values that mean the same have one place. A space serves one column, or several that are compared.
    """

    root: str | None = None
    """The concept that is the root for depths, where there is one."""
    unit: float | None = None
    """The difference that has distance 1, if values are numbers."""
    measured: bool = True
    """Whether there are distances between 0 and the largest; False if values are only equal or not."""
    linked: bool = False
    """Whether distances of pairs take much longer than those of rows: in a taxonomy with several parents."""
    positions: NDArray[np.float64] | None = None
    """The position of each place on a line, if distances are differences of positions: no matrix is needed then."""

    def __init__(self, columns: Sequence[Values]) -> None:
        """Raise on columns without any value."""
        if columns and not any(len(column.counts) for column in columns):
            names = ", ".join(repr(column.name) for column in columns if column.name is not None)
            raise DataError(f"column {names}: no value at all" if names else "values: no value at all")
        self.places: list[NDArray[np.uint32]] = []
        """For each column, the places of its categories."""
        self.names: Sequence[str] = ()
        """What is at each place: the id of a concept, or the value."""

    def __len__(self) -> int:
        """Count the places."""
        return len(self.names)

    def name(self, place: int) -> str:
        """Return the name of a place."""
        return self.names[place]

    def label(self, place: int) -> str:
        """Return the label of a place."""
        return self.name(place)

    def matrixless(self, places: NDArray[np.uint32], missing: bool) -> Distances | None:
        """Return the distances between some places for the core without a matrix, or None if a matrix is as good.

        With ``missing``, there is one more place for missing values, as in ``padded``.
        """
        return None

    def rows(self, places: NDArray[np.uint32]) -> _core.ConceptRows | None:
        """Return some places for the core to measure row by row, or None if only a matrix is possible."""
        return None

    def matrix(self, places: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure all pairs of some places."""
        require_matrix(len(places), 8, "the column has too many categories for this; make its values coarser")
        return self.block(places, places, progress)

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure every place of one list against every place of another."""
        return np.ascontiguousarray(self.pairs(a[:, None], b[None, :], progress))

    @abstractmethod
    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure pairs of places."""

    @abstractmethod
    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the place with the smallest sum of distances to the counted ones, among all places."""

    @abstractmethod
    def centroids(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find for each group what is nearest to all its values, by the sum of squared distances."""

    def common(self, places: NDArray[np.uint32]) -> str:
        """Return what several places have in common: a concept, an interval, a set."""
        return one_of({self.name(place) for place in places.tolist()})

    def commons(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find for each group what all its values have in common."""
        known: dict[bytes, int] = {}
        values: list[str] = []
        chosen = np.empty(len(cells.starts) - 1, dtype=np.int64)
        starts, held = (4 * cells.starts.astype(np.int64)).tolist(), cells.places.tobytes()
        for group, (start, end) in enumerate(pairwise(starts)):
            key = held[start:end]
            if key not in known:
                known[key] = len(values)
                values.append(self.common(np.frombuffer(key, dtype=np.uint32)))
            chosen[group] = known[key]
        return Standing(chosen, values, [np.frombuffer(key, dtype=np.uint32) for key in known])

    def beside(self, column: Values, found: Standing) -> Space:
        """Return the space of the only column, with the representatives of its groups as a second column.

        The texts of the second are not parsed. Several values share a separate place, different from their own.
        """
        several = [number for number, part in enumerate(found.parts) if len(part) > 1]
        places = np.array([part[0] for part in found.parts], dtype=np.uint32)
        places[several] = len(self) + np.arange(len(several))
        other = copy(self)
        other.names = [*self.names, *(found.values[number] for number in several)]
        other.places = [self.places[0], places]
        return other

    def labelled(self, columns: Sequence[Values]) -> bool:
        """Return whether all values of some columns are labels, not ids."""
        return False

    def spellings(self, by_label: bool) -> Sequence[str]:
        """Return how each place is written: by id, or by label if that names only one concept."""
        return self.names


def padded(distances: NDArray[np.float64], missing: bool) -> NDArray[np.float64]:
    """Add missing values to a matrix of distances, if there are any.

    A missing value is as far from every value as the two farthest values are from each other, or 1: it says nothing
    about which values are near.
    """
    if not missing:
        return distances
    d = len(distances)
    wider = np.full((d + 1, d + 1), distances.max(initial=0.0) or 1.0)
    wider[:d, :d] = distances
    wider[d, d] = 0
    return wider


class Meaning(ABC):
    """What gives the values of a column their meaning: a taxonomy, a matrix, an order, or equality."""

    noun: ClassVar[str]
    """Its name in messages."""

    @abstractmethod
    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Return the space of some columns; values without a meaning raise an error that lists them."""

    def arrangement(self, values: Values) -> Sequence[int] | NDArray[np.int64]:
        """List the categories of a column from lowest to highest; unchanged if this meaning has no order."""
        return range(len(values.categories))


def refuse_root(root: object, columns: Sequence[Values], noun: str) -> None:
    """Raise if a root is given for values that are not concepts of a taxonomy."""
    if root is not None:
        name = columns[0].name if columns else None
        raise ParameterError(f"only a taxonomy has a root, not {noun}", parameter="root", value=root, column=name)


WITHOUT_TAXONOMY = {"equality": Code("nym.Equality()"), "data_swap": Code("nym.data_swap")}
"""Remedies for values without a taxonomy: treat them as equal or not, or swap them without a meaning."""

ONE_VALUE = Advice(
    "if they are sets, give {} as its meaning; or drop the column, or publish it by itself with {}",
    sets=Code("nym.Sets()"),
    recode=Code("nym.recode"),
)
"""Remedies for a column in which a record has several values."""


def refuse_lists(columns: Sequence[Values]) -> None:
    """Raise on columns in which a record has several values."""
    for column in columns:
        if column.kind == "nested":
            fault = "holds lists or the like, but one value per record is needed"
            raise DataError(fault, column=column.name, remedy=ONE_VALUE)


def refuse_numbers(columns: Sequence[Values]) -> None:
    """Raise on values without an unambiguous name: 250.0 may mean the concept "250" or "250.0"."""
    refuse_lists(columns)
    for column in columns:
        if column.kind == "number" and column.categories:
            fault = "holds numbers with decimal places, but nominal values are needed"
            others = {"numbers": Code("nym.Order()"), "equality": Code("nym.Equality()")}
            remedy = Advice("read the column as text or as whole numbers, or use {} or {} as its meaning", **others)
            raise DataError(fault, column=column.name, remedy=remedy)


def check_meanings(meanings: object, columns: Sequence[Any] | None = None) -> dict[Any, Meaning]:
    """Raise unless given a mapping from columns to meanings."""
    if not isinstance(meanings, Mapping) or not meanings:
        raise ParameterError(
            "a mapping from column names to meanings is needed, with at least one column",
            parameter="meanings",
            value=meanings if meanings is None or isinstance(meanings, str) else type(meanings).__name__,
            remedy="for example meanings={'diagnosis': taxonomy, 'age': nym.Order()}",
        )
    for name, meaning in meanings.items():
        if not isinstance(meaning, Meaning):
            raise ParameterError(
                f"a Taxonomy, a DistanceMatrix, an Order, an Equality or Sets is needed, not {type(meaning).__name__}",
                column=name,
                remedy="for numbers, dates and ranked values give nym.Order(), for other values nym.Equality()",
            )
    return dict(meanings)


How = Literal["id", "label", "synonym", "ambiguous", "none"]

_SHOWN = 10
_ZEROS = re.compile(r"[+-]?0[0-9]")
# Enough to find a misspelling, few enough to answer at once in the largest ontologies.
_COMPARED = 5000


def folded(value: object) -> str:
    """Return a name in the form in which names are compared: without case and surrounding blanks.

    >>> folded("  Hepatic COMA ")
    'hepatic coma'
    """
    return str(value).strip().casefold()


class Names:
    """All names of the concepts of one taxonomy: ids, then labels, then synonyms."""

    def __init__(self, ids: Sequence[str], labels: Sequence[str | None], synonyms: Mapping[int, Sequence[str]]) -> None:
        """Store the names; look-up tables are built when first needed."""
        self._ids = ids
        self._labels = labels
        self._synonyms = synonyms
        self._exact = {name: index for index, name in enumerate(ids)}

    @cached_property
    def _tables(self) -> dict[How, dict[str, list[int]]]:
        labels = ((i, label) for i, label in enumerate(self._labels) if label is not None)
        synonyms = ((i, name) for i, names in self._synonyms.items() for name in names)
        return {"id": _table(enumerate(self._ids)), "label": _table(labels), "synonym": _table(synonyms)}

    def find(self, value: object) -> tuple[How, list[int]]:
        """Look up a value: return how it was found, and the concepts it names."""
        exact = self._exact.get(str(value))
        if exact is not None:
            return "id", [exact]
        name = folded(value)
        for how, table in self._tables.items():
            if found := table.get(name):
                return (how if len(found) == 1 else "ambiguous"), found
        return "none", []

    def close(self, value: object) -> list[str]:
        """Return names spelled much like a value, the closest first, as written in the taxonomy."""
        name = folded(value)
        # Names that begin or end alike, the more letters the better; few enough to compare in full.
        for letters in (4, 3, 2):
            begin, end = name[:letters], name[-letters:]
            near: dict[str, int] = {}
            for table in self._tables.values():
                for other, concepts in table.items():
                    if abs(len(other) - len(name)) <= 3 and (other.startswith(begin) or other.endswith(end)):
                        near.setdefault(other, concepts[0])
            if found := difflib.get_close_matches(name, list(near)[:_COMPARED], n=2, cutoff=0.75):
                return [self._written(other, near[other]) for other in found]
        return []

    def _written(self, name: str, concept: int) -> str:
        written = (self._ids[concept], self._labels[concept], *self._synonyms.get(concept, ()))
        return next(spelling for spelling in written if spelling is not None and folded(spelling) == name)

    def resolve(
        self,
        values: Sequence[object],
        counts: Sequence[int] | None = None,
        column: str | None = None,
        items: bool = False,
    ) -> NDArray[np.uint32]:
        """Find the concept of each value; one error lists all values that name none or several.

        ``counts`` (how often each value occurs), ``column`` and ``items`` (whether values are items of sets) are only
        used in the message.
        """
        exact = list(map(self._exact.get, map(str, values)))
        if None not in exact:
            return np.array(exact, dtype=np.uint32)
        found = [self.find(value) for value in values]
        missed = [i for i, (_, concepts) in enumerate(found) if len(concepts) != 1]
        if not missed:
            return np.array([concepts[0] for _, concepts in found], dtype=np.uint32)
        times = [1 if counts is None else counts[i] for i in missed]
        parts = [self._fault(values[i], count) for i, count in zip(missed[:_SHOWN], times, strict=False)]
        more = f"; and {len(missed) - _SHOWN:,} more values" if len(missed) > _SHOWN else ""
        records = sum(times)
        unit = "time" if items else "record"
        many = f"{len(missed):,} {'item' if items else 'value'}{'s' * (len(missed) > 1)} "
        many += f"({records:,} {unit}{'s' * (records > 1)})"
        listed = f"{'; '.join(parts)}{more}"
        listed += "" if listed.endswith("?") else "."
        kind, fault, remedy = (
            (AmbiguousConceptError, "that do not name one concept", "Name these concepts by id")
            if any(found[i][1] for i in missed[:_SHOWN])
            else (UnknownConceptError, "not in the taxonomy", "Correct the values or complete the taxonomy")
        )
        seen = {"matched": Code("Taxonomy.match shows how each value is read")}
        advice = Advice("{}", **seen)
        if kind is UnknownConceptError and items and column is None:
            advice = Advice("{}; leave {} out to use the items as they are", **seen, taxonomy=NO_VALUE)
        elif kind is UnknownConceptError and items:
            advice = Advice("{}; items without a taxonomy take {}", **seen, sets=Code("nym.Sets()"))
        elif kind is UnknownConceptError and all(map(_is_number, values)):
            advice = Advice("{}; or use {} as the meaning of numbers", **seen, numbers=Code("nym.Order()"))
        elif kind is UnknownConceptError and (mark := next(filter(marks_missing, (values[i] for i in missed)), None)):
            advice = Advice(f"{{}}; if {mark!r} stands for a missing value, {{}}", **seen, blank=BLANK)
        elif kind is UnknownConceptError and column is not None:
            advice = Advice("{}; values without a taxonomy take {}, or {}", **seen, **WITHOUT_TAXONOMY)
        raise kind(f"{many} {fault}: {listed} {remedy}", column=column, remedy=advice)

    def _fault(self, value: object, count: int) -> str:
        shown = f"{value!r} ({count:,}×)" if count > 1 else repr(value)
        if concepts := self.find(value)[1]:
            return f"{shown} names {', '.join(repr(self._ids[c]) for c in concepts[:4])}"
        close = " or ".join(map(repr, self.close(value)))
        return f"{shown}, did you mean {close}?" if close else shown


BLANK = Code("replace it with None")
"""What messages to Python callers have in place of the option that names texts of missing values."""
_MARKS = {"", "-", "--", ".", "..", "?", "#n/a", "n.a.", "n/a", "na", "nan", "null", "missing", "<na>"}


def marks_missing(value: object) -> bool:
    """Return whether a value is a text that often stands for a missing one.

    >>> marks_missing("NA"), marks_missing("Namibia")
    (True, False)
    """
    return isinstance(value, str) and value.strip().casefold() in _MARKS


def _is_number(value: object) -> bool:
    """Return whether a value is a number, or a text that is one, other than a code with leading zeros."""
    try:
        return not isinstance(value, bool) and math.isfinite(float(str(value))) and not _ZEROS.match(str(value))
    except ValueError:
        return False


def _table(names: Iterable[tuple[int, str]]) -> dict[str, list[int]]:
    table: dict[str, list[int]] = {}
    for concept, name in names:
        holders = table.setdefault(folded(name), [])
        if concept not in holders:
            holders.append(concept)
    return table
