"""Records whose items are concepts of a taxonomy: their closures, and their lowest concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nominym.control import Progress, reporter
from nominym.error import ParameterError
from nominym.itemsets import names
from nominym.itemsets.sets import Itemsets, check_sets
from nominym.meaning import Taxonomy

if TYPE_CHECKING:
    from numpy.typing import NDArray


def closed(sets: Itemsets, taxonomy: Taxonomy, *, progress: Progress = None) -> Itemsets:
    """Add to every record all concepts above its items, except the root.

    >>> import nominym as nym
    >>> tax = nym.Taxonomy.from_edges([("cola", "drinks"), ("tea", "drinks"), ("drinks", "food"), ("rice", "food")])
    >>> nym.itemsets.closed(nym.Itemsets.from_lists([["cola", "tea"], ["rice"], []]), tax).to_lists()
    [['cola', 'drinks', 'tea'], ['rice'], []]

    Items name concepts by id, label or synonym; the result has ids. The root would be in every record, so it is left
    out: a record of nothing but the root becomes empty.
    """
    return _over_concepts(sets, taxonomy, lowest=False, progress=progress)


def lowest(sets: Itemsets, taxonomy: Taxonomy, *, labels: bool = False, progress: Progress = None) -> Itemsets:
    """Remove from every record the concepts that are above another of its concepts, and therefore redundant.

    >>> import nominym as nym
    >>> tax = nym.Taxonomy.from_edges([("C1", "D"), ("C2", "D"), ("D", "F")], labels={"C1": "cola", "D": "drinks"})
    >>> sets = nym.Itemsets.from_lists([["C1", "D"], ["D"]])
    >>> nym.itemsets.lowest(sets, tax).to_lists(), nym.itemsets.lowest(sets, tax, labels=True).to_lists()
    ([['C1'], ['D']], [['cola (C1)'], ['drinks (D)']])

    ``labels=True`` returns labels instead of ids. The root is left out.
    """
    return _over_concepts(sets, taxonomy, lowest=True, labels=labels, progress=progress)


def _over_concepts(
    sets: Itemsets, taxonomy: Taxonomy, *, lowest: bool, labels: bool = False, progress: Progress = None
) -> Itemsets:
    core, found = by_concept(sets, taxonomy, lowest=lowest, progress=progress)
    ids = taxonomy.ids
    named = [ids[concept] for concept in found.tolist()]
    if labels:
        named = [taxonomy.written(concept) for concept in found.tolist()]
    # An empty list has no type of its own.
    return Itemsets(core, names.from_python(named or [""], lambda place: f"concept {named[place]!r}")[: len(named)])


def by_concept(
    sets: Itemsets, taxonomy: Taxonomy, *, lowest: bool, progress: Progress = None
) -> tuple[Any, NDArray[np.uint32]]:
    """Do the same by number: return the new records, and the position in the taxonomy of each of their items."""
    check_sets(sets=sets)
    check_taxonomy(taxonomy)
    counts = sets.core.frequencies()
    used = np.flatnonzero(counts)
    concepts = np.zeros(sets.n_items, dtype=np.uint32)
    concepts[used] = taxonomy.concepts(sets.names.take(used).to_pylist(), counts[used].tolist(), items=True)
    with reporter(progress, "concepts") as report:
        return sets.core.over_concepts(taxonomy.graph, concepts, lowest, report)


def check_taxonomy(taxonomy: object) -> None:
    """Raise unless given a taxonomy."""
    if not isinstance(taxonomy, Taxonomy):
        what = f"give a Taxonomy, not {type(taxonomy).__name__}"
        raise ParameterError(what, parameter="taxonomy", remedy="nym.read_taxonomy reads one from a file")
