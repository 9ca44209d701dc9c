"""The taxonomy: concepts with is-a links, their names and distances, and the places of values among them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from nominym import chart
from nominym._core import ConceptRows, Graph, common_concepts, mean_concepts
from nominym.control import Progress, reporter, steps
from nominym.error import (
    Advice,
    CycleError,
    MeaningWarning,
    ParameterError,
    RootError,
    TaxonomyError,
    UnknownConceptError,
    warn,
)
from nominym.meaning import codes
from nominym.meaning.base import (
    MANY,
    Cells,
    Distances,
    Meaning,
    Measure,
    Names,
    Space,
    Standing,
    Values,
    as_measure,
    is_frame,
    is_missing,
    is_sequence,
    refuse_numbers,
    to_list,
)
from nominym.meaning.matrix import allocate

VIRTUAL_ROOT = "(virtual root)"
"""Id of the concept that ``virtual_root=True`` adds above several roots."""

_SHOWN = 10
# Categories of a taxonomy with several parents from which no matrix is made: their distances take longer without one.
_VERY_MANY = 5_000


@dataclass(frozen=True)
class Concepts:
    """Concepts and is-a links as a reader found them: the intermediate form between a file and a ``Taxonomy``.

    Duplicate ids, unknown parents, cycles and several roots are allowed here; they are reported, with one wording for
    all formats, when the taxonomy is built.
    """

    ids: list[str] = field(default_factory=list)
    """One id for each concept, in file order."""
    child: list[str] = field(default_factory=list)
    """The lower end of each is-a link."""
    parent: list[str] = field(default_factory=list)
    """The upper end of each is-a link, in step with ``child``. The order of one child's parents is kept."""
    labels: dict[str, str] = field(default_factory=dict)
    """Preferred label by id; concepts without one are left out."""
    synonyms: dict[str, list[str]] = field(default_factory=dict)
    """Further names by id."""
    source: str = "edges"
    """The source (usually a path), for messages."""

    def link(self, child: str, parent: str) -> None:
        """Add an is-a link."""
        self.child.append(child)
        self.parent.append(parent)

    def below_one(self, name: str | None = None, label: str | None = None) -> Concepts:
        """Add one concept above those without a parent, if there are several, and return all concepts.

        It is named as the format names the whole; if that name is taken, it is marked as the name of the whole.
        """
        lower, known = set(self.child), set(self.ids)
        tops = [top for top in dict.fromkeys(self.ids) if top not in lower]
        if len(tops) > 1:
            top = VIRTUAL_ROOT if name is None else name if name not in known else f"({name})"
            self.ids.append(top)
            for each in tops:
                self.link(each, top)
            if label is not None and label != top:
                self.labels[top] = label
        return self


class Taxonomy(Meaning):
    """An immutable taxonomy: a directed acyclic graph of concepts with one root.

    Concepts are named by id, label or synonym, ignoring case; results name them by id.

    >>> import nominym as nym
    >>> tax = nym.Taxonomy.from_edges([
    ...     ("Coma", "Disorder"), ("Neuropathy", "Disorder"),
    ...     ("Hepatic coma", "Coma"), ("Hypoglycemic coma", "Coma"),
    ... ])
    >>> tax.distance("Coma", "Neuropathy"), tax.depth("hepatic coma")
    (0.5, 3)
    >>> tax.lcs(["Hepatic coma", "Hypoglycemic coma"])
    'Coma'
    """

    noun: ClassVar[str] = "a taxonomy"

    def __init__(
        self, graph: Graph, ids: Sequence[str], labels: Sequence[str | None], synonyms: Mapping[int, Sequence[str]]
    ) -> None:
        """Initialize; use ``from_edges``, ``from_concepts`` or ``nominym.read_taxonomy`` instead."""
        self.graph = graph
        """The compiled structure, in which concepts are positions in ``ids``."""
        self._ids = tuple(ids)
        self._labels = labels
        self._synonyms = synonyms
        self._names = Names(self._ids, labels, synonyms)
        self._contents: dict[tuple[str, float], NDArray[np.float64]] = {}

    # ---------------------------------------------------------------- making

    @classmethod
    def from_edges(
        cls,
        pairs: Any,
        virtual_root: bool = False,
        labels: Mapping[str, str] | None = None,
        synonyms: Mapping[str, Sequence[str]] | None = None,
        *,
        progress: Progress = None,
    ) -> Taxonomy:
        """Build a taxonomy from (child, parent) pairs or a two-column frame.

        Ids are converted to text. A pair without a parent only declares its child.

        >>> len(Taxonomy.from_edges([("a", "top"), ("b", "top"), ("b", "a")]))
        3
        """
        links = _links(pairs)
        ids = dict.fromkeys(name for link in links for name in link if name is not None)
        for option, named in (("labels", labels or {}), ("synonyms", synonyms or {})):
            for key, names in named.items():
                if key not in ids:
                    raise ParameterError(f"{option}: there is no concept {key!r} among the links; keys are ids")
                if option == "synonyms" and isinstance(names, str):
                    raise ParameterError(f"synonyms: a list of names is needed for {key!r}, not the one text {names!r}")
        concepts = Concepts(
            ids=list(ids),
            child=[child for child, parent in links if parent is not None],
            parent=[parent for _, parent in links if parent is not None],
            labels=dict(labels or {}),
            synonyms={name: list(names) for name, names in (synonyms or {}).items()},
        )
        return cls.from_concepts(concepts, virtual_root, progress=progress)

    @classmethod
    def from_prefixes(
        cls,
        codes: Iterable[Any],
        lengths: Sequence[int],
        labels: Mapping[str, str] | None = None,
        *,
        progress: Progress = None,
    ) -> Taxonomy:
        """Build a taxonomy of codes grouped by their first characters, as in ISCO, ATC, NACE and postcodes.

        ``lengths`` are the prefix lengths of the groups, from short to long; dots, blanks and the like are ignored.
        Shorter or longer codes are placed between or below the groups, missing codes are left out, and several codes of
        the first length get one concept above them. ``labels`` are by code or prefix.

        >>> tax = Taxonomy.from_prefixes(["2211", "2221", "5311"], [1, 2, 3, 4], labels={"22": "Health"})
        >>> tax.lcs(["2211", "2221"]), tax.label("22"), tax.depth("5311"), tax.root
        ('22', 'Health', 5, '(virtual root)')
        >>> Taxonomy.from_prefixes(["01.11", "01.13"], [2, 3, 4]).subsumers("0113")
        ['01.13', '01.1', '01']
        """
        from nominym.meaning.read.levels import by_prefix

        if isinstance(codes, str) or not hasattr(codes, "__iter__"):
            raise ParameterError(f"a list of codes is needed, not {codes!r}", parameter="codes")
        return cls.from_concepts(by_prefix(to_list(codes), lengths, labels), progress=progress)

    @classmethod
    def from_concepts(cls, concepts: Concepts, virtual_root: bool = False, *, progress: Progress = None) -> Taxonomy:
        """Check the concepts of a reader and build the taxonomy.

        Duplicate ids, links to unknown concepts, cycles, several roots (unless ``virtual_root``) and an empty list
        are errors that name the concepts. Progress is reported in steps: checked, linked, named.
        """
        with steps(progress, "taxonomy", 3) as done:
            ids, child, parent = _checked(concepts, virtual_root)
            done(1)
            # In the core, "ties by id" is "the lower index": concepts are numbered in the order of their ids.
            ids.sort()
            index = {name: i for i, name in enumerate(ids)}
            ends = [np.fromiter(map(index.__getitem__, names), np.uint32, len(names)) for names in (child, parent)]
            try:
                graph = Graph(len(ids), *ends)
            except CycleError as error:
                cycle = " → ".join(ids[i] for i in [*error.concepts, error.concepts[0]])
                fault = f"the is-a links form a cycle: {cycle}; remove one of these links"
                raise CycleError(f"{concepts.source}: {fault}") from None
            except RootError as error:
                fault = f"{len(error.concepts):,} concepts have no parent: {_some(ids[i] for i in error.concepts)}"
                remedy = Advice("link them, or give {} to add one concept above them", virtual_root=True)
                raise RootError(f"{concepts.source}: {fault}", remedy=remedy) from None
            done(2)
            labels = [concepts.labels.get(i) for i in ids]
            synonyms = {index[i]: tuple(names) for i, names in concepts.synonyms.items() if i in index and names}
            taxonomy = cls(graph, ids, labels, synonyms)
            done(3)
            return taxonomy

    def to_concepts(self) -> Concepts:
        """Return the content of the taxonomy, in the form that readers return and writers take."""
        child, parent = self.graph.edges()
        return Concepts(
            ids=list(self._ids),
            child=[self._ids[i] for i in child],
            parent=[self._ids[i] for i in parent],
            labels={i: label for i, label in zip(self._ids, self._labels, strict=True) if label is not None},
            synonyms={self._ids[i]: list(names) for i, names in self._synonyms.items()},
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the taxonomy to a ``.json`` or ``.parquet`` file, which ``read_taxonomy`` loads fast."""
        from nominym.meaning.read import native

        writers = {".json": native.write_json, ".parquet": native.write_parquet}
        path = Path(path)
        if path.suffix not in writers:
            raise ParameterError(f"{path}: a taxonomy is saved as .json or .parquet")
        writers[path.suffix](self.to_concepts(), path)

    def restrict(self, root: object) -> Taxonomy:
        """Return the taxonomy below a concept, which becomes its root.

        >>> Taxonomy.from_edges([("a", "top"), ("b", "top"), ("c", "a")]).restrict("a").ids
        ('a', 'c')
        """
        return self.restrict_to(self.concept(root))[0]

    def restrict_to(self, root: int) -> tuple[Taxonomy, NDArray[np.uint32]]:
        """Do the same by position; also return the positions that are kept, in order."""
        if root == self.graph.root:
            return self, np.arange(len(self), dtype=np.uint32)
        graph, kept = self.graph.restrict(root)
        positions = kept.tolist()
        synonyms = {new: self._synonyms[old] for new, old in enumerate(positions) if old in self._synonyms}
        ids, labels = ([names[i] for i in positions] for names in (self._ids, self._labels))
        return Taxonomy(graph, ids, labels, synonyms), kept

    def to_tree(self, tree: str = "first-parent") -> Taxonomy:
        """Return a tree: ``"first-parent"`` keeps the first parent of each concept, in the order of the file."""
        if tree != "first-parent":
            raise ParameterError(f"tree={tree!r}: the only way to make a tree is 'first-parent'")
        return self if self.is_tree else Taxonomy(self.graph.first_parents(), self._ids, self._labels, self._synonyms)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as concepts: the compiled part is built again."""
        return Taxonomy.from_concepts, (self.to_concepts(),)

    # --------------------------------------------------------------- looking

    def __len__(self) -> int:
        """Count the concepts."""
        return len(self._ids)

    def __contains__(self, value: object) -> bool:
        """Return whether a value names exactly one concept."""
        return len(self._names.find(value)[1]) == 1

    def __iter__(self) -> Iterator[str]:
        """Iterate over the ids."""
        return iter(self._ids)

    def __repr__(self) -> str:
        """Return size, shape and root."""
        shape = "tree" if self.is_tree else "DAG"
        return f"<Taxonomy: {len(self):,} concepts, {self.links:,} links, {shape}, root {self.root!r}>"

    def _repr_html_(self) -> str:
        """Show size, shape and the concepts directly below the root in a notebook."""
        below = self.graph.children(self.graph.root)
        shown = ", ".join(self.written(int(concept)) for concept in below[:_SHOWN])
        more = f" and {len(below) - _SHOWN:,} more" if len(below) > _SHOWN else ""
        rows = [("Root", self.written(self.graph.root)), ("Below it", shown + more)]
        return chart.card(repr(self), rows)

    @property
    def ids(self) -> tuple[str, ...]:
        """Return all ids, in order."""
        return self._ids

    @property
    def root(self) -> str:
        """Return the id of the concept above all others."""
        return self._ids[self.graph.root]

    @property
    def links(self) -> int:
        """Return the number of is-a links."""
        return self.graph.links

    @property
    def is_tree(self) -> bool:
        """Return whether no concept has several parents."""
        return self.graph.is_tree

    def concept(self, value: object) -> int:
        """Return the position in ``ids`` of the concept that a value names."""
        return int(self._names.resolve([value])[0])

    def concepts(
        self,
        values: Iterable[object],
        counts: Sequence[int] | None = None,
        column: str | None = None,
        items: bool = False,
    ) -> NDArray[np.uint32]:
        """Return the positions in ``ids`` of the concepts that values name; one error lists all values that name none.

        ``counts`` (how often each value occurs), ``column`` and ``items`` (whether values are items of sets) are only
        used in the message.
        """
        listed = list(values)
        try:
            found = self._names.resolve(listed, counts, column, items)
        except UnknownConceptError as error:
            if (other := codes.likely(self.root, listed)) is not None:
                error.message += f". {other}"
            raise
        self._doubt(listed, column)
        return found

    def _doubt(self, values: Sequence[object], column: str | None = None) -> None:
        """Warn of values that are concepts but may be codes of another system."""
        if (why := codes.doubt(self.root, values)) is not None:
            where = "" if column is None else f"column {column!r}: "
            warn(f"{where}{why}; write codes with their dots, or use the other code system", MeaningWarning)

    def match(self, values: Any) -> pd.DataFrame:
        """Show how each distinct value is read: by id, by label, by synonym, as several concepts, or not at all.

        >>> tax = Taxonomy.from_edges([("D1", "D0")], labels={"D1": "Coma"})
        >>> tax.match(["coma", "d1", "flu", "coma"])
          value concept    how  count
        0  coma      D1  label      2
        1    d1      D1     id      1
        2   flu    None   none      1
        """
        counted = Counter(value for value in to_list(values) if not is_missing(value))
        found = [self._names.find(value) for value in counted]
        if all(len(named) == 1 for _, named in found):
            self._doubt(list(counted))
        concepts = [self._ids[named[0]] if len(named) == 1 else None for _, named in found]
        columns = {"value": list(counted), "concept": concepts, "how": [how for how, _ in found]}
        return pd.DataFrame(columns, dtype=object).assign(count=np.array(list(counted.values()), dtype=np.int64))

    def space(self, columns: Sequence[Values], measure: str | Measure = "wu-palmer", root: object = None) -> Space:
        """Place the values of some columns among the concepts below their least common subsumer, or below ``root``."""
        return ConceptSpace(self, columns, measure, root)

    def label(self, concept: object) -> str:
        """Return the preferred label, or the id if there is none.

        >>> Taxonomy.from_edges([("D1", "D0")], labels={"D1": "Coma"}).label("d1")
        'Coma'
        """
        index = self.concept(concept)
        return self._labels[index] or self._ids[index]

    def written(self, index: int) -> str:
        """Return label and id of the concept at a position in ``ids``; only the id if it has no label.

        >>> Taxonomy.from_edges([("D1", "D0")], labels={"D1": "Coma"}).written(1)
        'Coma (D1)'
        """
        name, label = self._ids[index], self._labels[index]
        return name if label is None or label.casefold() == name.casefold() else f"{label} ({name})"

    def synonyms(self, concept: object) -> tuple[str, ...]:
        """Return the synonyms."""
        return tuple(self._synonyms.get(self.concept(concept), ()))

    def depth(self, concept: object) -> int:
        """Return the number of concepts on the longest path from the root; the root's depth is 1.

        >>> Taxonomy.from_edges([("a", "top"), ("b", "a"), ("b", "top")]).depth("b")
        3
        """
        return self.graph.depth(self.concept(concept))

    def parents(self, concept: object) -> list[str]:
        """List the direct parents, in the order of the file.

        >>> Taxonomy.from_edges([("b", "z"), ("b", "a"), ("a", "z")]).parents("b")
        ['z', 'a']
        """
        return self._named(self.graph.parents(self.concept(concept)))

    def children(self, concept: object) -> list[str]:
        """List the direct children.

        >>> Taxonomy.from_edges([("b", "top"), ("a", "top")]).children("top")
        ['a', 'b']
        """
        return self._named(self.graph.children(self.concept(concept)))

    def subsumers(self, concept: object) -> list[str]:
        """List the concept and everything above it, nearest first.

        >>> Taxonomy.from_edges([("a", "top"), ("b", "a")]).subsumers("b")
        ['b', 'a', 'top']
        """
        return self._named(self.graph.subsumers(self.concept(concept)))

    def subtree(self, concept: object) -> list[str]:
        """List the concept and everything below it.

        >>> Taxonomy.from_edges([("a", "top"), ("b", "a")]).subtree("a")
        ['a', 'b']
        """
        return self._named(self.graph.subtree(self.concept(concept)))

    def lcs(self, values: Iterable[object]) -> str:
        """Find the least common subsumer: the common subsumer of greatest depth (ties: fewest descendants, then id).

        >>> Taxonomy.from_edges([("a", "top"), ("b", "a"), ("c", "a")]).lcs(["b", "c"])
        'a'
        """
        if isinstance(values, str):
            raise ParameterError(f"lcs takes a list of values, not the one text {values!r}")
        return self._ids[self.graph.lcs(self.concepts(values))]

    def _named(self, concepts: NDArray[np.uint32]) -> list[str]:
        return [self._ids[i] for i in concepts]

    # ------------------------------------------------------------- measuring

    def distance(self, a: object, b: object, measure: str | Measure = "wu-palmer") -> float:
        """Measure the semantic distance between two concepts (``nominym.MEASURES`` lists the measures).

        >>> tax = Taxonomy.from_edges([("a", "top"), ("b", "top")])
        >>> tax.distance("a", "b"), tax.distance("a", "b", "path")
        (0.5, 2.0)
        """
        chosen = as_measure(measure)
        first, second = (np.array([self.concept(x)], dtype=np.uint32) for x in (a, b))
        return float(self.graph.pairs(first, second, chosen.name, self.content(chosen))[0])

    def distance_matrix(
        self,
        values: Any = None,
        measure: str | Measure = "wu-palmer",
        *,
        out: NDArray[np.float32] | str | os.PathLike[str] | None = None,
        progress: Progress = None,
    ) -> NDArray[np.float32]:
        """Measure the distances between all pairs of values (default: all concepts), as float32.

        ``out`` receives the result: an array of the right shape, or the path of an ``.npy`` file written through a
        memory map, for matrices larger than memory. Costs O(d·(links above the values / 32 + d)).

        >>> Taxonomy.from_edges([("a", "top"), ("b", "top")]).distance_matrix(["a", "b"]).round(2).tolist()
        [[0.0, 0.5], [0.5, 0.0]]
        """
        chosen = as_measure(measure)
        if isinstance(values, str):
            raise ParameterError(f"distance_matrix takes a list of values, not the one text {values!r}")
        concepts = np.arange(len(self), dtype=np.uint32) if values is None else self.concepts(values)
        content = self.content(chosen)
        with allocate(len(concepts), out) as matrix, reporter(progress, "distances") as report:
            self.graph.matrix(concepts, chosen.name, matrix, content, report)
        return matrix

    def content(self, measure: Measure, whole: Taxonomy | None = None) -> NDArray[np.float64] | None:
        """Return the information content that a measure needs (computed once), or None if it needs none.

        Counts name concepts of ``whole``, of which this taxonomy may be a part; concepts outside are ignored.
        """
        if not measure.needs_content:
            return None
        if isinstance(measure.ic, str):
            key = (measure.ic, measure.k)
            if key not in self._contents:
                self._contents[key] = self.graph.information(measure.ic, measure.k)
            return self._contents[key]
        (whole or self).concepts(measure.ic)
        counts = np.zeros(len(self))
        for name, count in measure.ic.items():
            found = self._names.find(name)[1]
            if len(found) == 1:
                counts[found[0]] += count
        try:
            return self.graph.information("corpus", counts=counts)
        except ParameterError as error:
            unused = [self._ids[i] for i in error.concepts]
            raise ParameterError(
                f"ic: concept {_some(unused)} is never used, nor anything below it, so its information content "
                "(−ln 0) is infinite; give every leaf a count, for example one more than it has"
            ) from None


def _some(names: Iterable[object]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN:,} more" if len(listed) > _SHOWN else ""
    return ", ".join(repr(name) for name in listed[:_SHOWN]) + more


def _checked(concepts: Concepts, virtual_root: bool) -> tuple[list[str], list[str], list[str]]:
    """Return ids and both ends of all links, with a virtual root if needed."""
    source = concepts.source
    ids, child, parent = list(concepts.ids), list(concepts.child), list(concepts.parent)
    if not ids:
        raise TaxonomyError(f"{source}: no concept; a taxonomy needs at least one")
    known = set(ids)
    if len(known) < len(ids):
        twice = [name for name, times in Counter(ids).items() if times > 1]
        raise TaxonomyError(f"{source}: duplicate ids: {_some(twice)}; keep one concept for each")
    for end, ends in (("child", child), ("parent", parent)):
        if unknown := dict.fromkeys(name for name in ends if name not in known):
            fault = f"is-a links whose {end} is unknown: {_some(unknown)}"
            raise TaxonomyError(f"{source}: {fault}; add the concepts or drop the links")
    children = set(child)
    roots = [name for name in ids if name not in children] if virtual_root else []
    if len(roots) > 1:
        if VIRTUAL_ROOT in known:
            raise TaxonomyError(f"{source}: the id {VIRTUAL_ROOT!r} is taken; rename that concept")
        ids.append(VIRTUAL_ROOT)
        child += roots
        parent += [VIRTUAL_ROOT] * len(roots)
    return ids, child, parent


def _links(pairs: Any) -> list[tuple[str, str | None]]:
    """List (child, parent) pairs, whatever holds them."""
    if is_frame(pairs):
        pairs = _rows(pairs)
    elif isinstance(pairs, str) or not hasattr(pairs, "__iter__"):
        raise ParameterError(f"edges: (child, parent) pairs or a two-column frame are needed, not {pairs!r}")
    links = []
    for row, pair in enumerate(pairs):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ParameterError(f"edges: row {row} is {pair!r}, not a (child, parent) pair")
        child, parent = (None if is_missing(name) else name for name in (pair[0], pair[1]))
        if child is None:
            raise ParameterError(f"edges: row {row} has no child")
        number = next((name for name in (child, parent) if isinstance(name, float | np.floating)), None)
        if number is not None:
            raise ParameterError(f"edges: row {row} names {number!r}; ids are text or whole numbers, not floats")
        links.append((str(child), None if parent is None else str(parent)))
    return links


def _rows(frame: Any) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of a two-column frame from any library."""
    try:
        named = isinstance(frame, Mapping | pd.DataFrame)
        columns = [values for _, values in frame.items()] if named else pa.table(frame).columns
    except MemoryError:
        raise
    except (pa.ArrowException, TypeError, ValueError) as reason:
        raise ParameterError(f"edges: this {type(frame).__name__} cannot be read as a table ({reason})") from None
    wrong = next((values for values in columns if not is_sequence(values)), None)
    if wrong is not None:
        raise ParameterError(f"edges: columns of ids are needed, not {wrong!r}")
    if len(columns) != 2:
        raise ParameterError(f"edges: a frame of two columns (child, parent) is needed, not {len(columns)}")
    child, parent = map(to_list, columns)
    if len(child) != len(parent):
        raise ParameterError(f"edges: {len(child):,} children and {len(parent):,} parents; give pairs")
    return zip(child, parent, strict=True)


class ConceptSpace(Space):
    """Semantic distances between the concepts below the least common subsumer of all values, or below ``root``."""

    def __init__(self, taxonomy: Taxonomy, columns: Sequence[Values], measure: str | Measure, root: object) -> None:
        """Place the values of the columns."""
        super().__init__(columns)
        self.measure = as_measure(measure)
        refuse_numbers(columns)
        placed = [taxonomy.concepts(c.categories, c.counts.tolist(), c.name) for c in columns]
        used = np.concatenate([*placed, np.empty(0, dtype=np.uint32)])
        try:
            top = taxonomy.graph.lcs(used) if root is None else taxonomy.concept(root)
        except UnknownConceptError as error:
            raise type(error)(f"root={root!r}: {error}") from None
        self.taxonomy, kept = taxonomy.restrict_to(top)
        """The restricted taxonomy."""
        self.root, self.names, self.linked = self.taxonomy.root, self.taxonomy.ids, not self.taxonomy.is_tree
        outside = used[kept[np.minimum(np.searchsorted(kept, used), len(kept) - 1)] != used]
        if len(outside):
            names = ", ".join(repr(column.name) for column in columns if column.name is not None)
            where = f"column {names}: " if names else ""
            raise ParameterError(f"{where}{taxonomy.ids[outside[0]]!r} is not below the root {self.root!r}")
        self.places = [np.searchsorted(kept, p).astype(np.uint32) for p in placed]
        self.content = self.taxonomy.content(self.measure, taxonomy)
        """Information content of every place, where the measure needs it."""

    def label(self, place: int) -> str:
        """Return label and id of a concept."""
        return self.taxonomy.written(place)

    def matrixless(self, places: NDArray[np.uint32], missing: bool) -> Distances | None:
        """Return the concepts themselves if there are many (in a tree, even few), to measure them on demand."""
        if len(places) <= (_VERY_MANY if self.linked else MANY):
            return None
        nowhere = np.full(int(missing), 2**32 - 1, dtype=np.uint32)
        return self.taxonomy.graph.placed(np.concatenate([places, nowhere]), self.measure.name, self.content)

    def rows(self, places: NDArray[np.uint32]) -> ConceptRows:
        """Return some concepts for the core to measure row by row."""
        return self.taxonomy.graph.rows(places, self.measure.name, self.content)

    def block(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure every concept of one list against every concept of another; all against all in one pass."""
        if a is not b:
            return self.pairs(np.repeat(a, len(b)), np.tile(b, len(a)), progress).reshape(len(a), len(b))
        out = np.empty((len(a), len(a)))
        with reporter(progress, "distances") as report:
            self.taxonomy.graph.matrix(a, self.measure.name, out, self.content, report)
        return out

    def pairs(self, a: NDArray[np.uint32], b: NDArray[np.uint32], progress: Progress = None) -> NDArray[np.float64]:
        """Measure pairs of concepts."""
        with reporter(progress, "distances") as report:
            return self.taxonomy.graph.pairs(a, b, self.measure.name, self.content, report)

    def mean(self, places: NDArray[np.uint32], counts: NDArray[np.uint64], progress: Progress = None) -> int:
        """Find the semantic mean; ties by id."""
        with reporter(progress, "semantic mean") as report:
            return self.taxonomy.graph.mean(places, counts, self.measure.name, self.content, report)

    def centroids(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the concepts of least squared distance; ties by whether a value is below, by depth, and by id."""
        with reporter(progress, "semantic means") as report:
            found = mean_concepts(self.taxonomy.graph, cells, self.measure.name, self.content, report)
        return Standing(found.astype(np.int64))

    def common(self, places: NDArray[np.uint32]) -> str:
        """Return the id of the least common subsumer."""
        return self.name(self.taxonomy.graph.lcs(np.ascontiguousarray(places, dtype=np.uint32)))

    def commons(self, cells: Cells, progress: Progress = None) -> Standing:
        """Find the least common subsumers."""
        with reporter(progress, "common subsumers") as report:
            return Standing(common_concepts(self.taxonomy.graph, cells, report).astype(np.int64))

    def labelled(self, columns: Sequence[Values]) -> bool:
        """Return whether all values of some columns are labels, not ids."""

        def are_labels(places: NDArray[np.uint32], column: Values) -> bool:
            ids = [self.names[place] for place in places.tolist()]
            labels = [self.taxonomy.label(name) for name in ids]
            return labels == list(column.categories) and labels != ids

        return bool(columns) and all(map(are_labels, self.places, columns))

    def spellings(self, by_label: bool) -> Sequence[str]:
        """Return how each concept is written: by id, or by label if that names only one concept."""
        if not by_label:
            return self.names
        labels = [self.taxonomy.label(name) for name in self.names]
        times = Counter(text.casefold() for text in (*labels, *self.names))
        both = zip(labels, self.names, strict=True)
        return [label if times[label.casefold()] == 1 else name for label, name in both]
