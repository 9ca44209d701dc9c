"""What publishing costs: flipped items, and answers to counting queries."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nominym import _core
from nominym.control import Progress, check_seed, is_whole, reporter
from nominym.error import NO_VALUE, Advice, DataError, ParameterError
from nominym.itemsets.concepts import by_concept
from nominym.itemsets.names import whole_numbers
from nominym.itemsets.sets import Itemsets, check_sets
from nominym.meaning import Measure, Taxonomy, as_measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["present", "absent"]

# Sizes of In and Ex for the chess data.
_SIZES: dict[str, int] = {"present": 3, "absent": 4}


def error_rate(before: Itemsets, after: Itemsets, rows: Any = None, *, progress: Progress = None) -> float:
    """Return the items that publishing flips, relative to the items of the record, averaged over the records.

    >>> import nominym as nym
    >>> before = nym.Itemsets.from_lists([["bread", "milk"], ["milk"]])
    >>> after = nym.Itemsets.from_lists([["milk"], ["beer"]])
    >>> nym.itemsets.error_rate(before, after)
    1.25

    Parameters
    ----------
    before, after
        The records, and what is published for them.
    rows
        The row of ``after`` that stands for each record; by default the row of the same number.

    Returns
    -------
    float
        Mean of flipped / max(1, items of the record): the error rate ER of the source; an empty record counts as if it
        had one item. Linear in the items of both.

    Xue, Karras, Raïssi, Vaidya and Tan (2012), Anonymizing set-valued data by nonreciprocal recoding, KDD, section 5.1.
    """
    before, after = _together(before, after)
    chosen = _rows(before, after, rows)
    with reporter(progress, "errors") as report:
        return _core.error_rate(before.core, after.core, chosen, report)


def semantic_error(
    before: Itemsets,
    after: Itemsets,
    taxonomy: Taxonomy,
    rows: Any = None,
    *,
    measure: str | Measure = "wu-palmer",
    progress: Progress = None,
) -> float:
    """Return how far items are from the nearest published concepts and vice versa, averaged over the records.

    >>> import nominym as nym
    >>> tax = nym.Taxonomy.from_edges([("cola", "drinks"), ("tea", "drinks"), ("drinks", "food"), ("rice", "food")])
    >>> before = nym.Itemsets.from_lists([["cola", "tea"]])
    >>> nym.itemsets.semantic_error(before, nym.Itemsets.from_lists([["cola"]]), tax)
    0.0833...
    >>> nym.itemsets.semantic_error(before, nym.Itemsets.from_lists([["drinks"]]), tax)
    0.2...
    >>> nym.itemsets.semantic_error(before, nym.Itemsets.from_lists([[]]), tax)
    0.5

    Parameters
    ----------
    before, after
        The records, and what is published for them; items name concepts of the taxonomy by id, label or synonym.
    taxonomy
        The taxonomy, whose root is the root for depths.
    rows
        The row of ``after`` that stands for each record; by default the row of the same number.
    measure
        The semantic distance d; see ``nominym.MEASURES``.

    Returns
    -------
    float
        Let A be the lowest concepts of a record and B those of its row: the concepts of their items that are not above
        another one, so that a set and its closure are the same. An empty set is taken as the root, which carries no
        information. The error of the record is the mean of two means: over a in A of the smallest d(a, b) with b in B,
        and over b in B of the smallest d(a, b) with a in A. The result is the mean over the records.

    This is the distance form of the best-match average, used to compare records of phenotypes: Pesquita, Faria,
    Bastos, Ferreira, Falcão and Couto (2008), Metrics for GO based protein semantic similarity: a systematic
    evaluation, BMC Bioinformatics 9(S5).
    """
    check_sets(before=before, after=after)
    if not len(before):
        raise DataError("there are no records to compare")
    chosen = _rows(before, after, rows)
    how = as_measure(measure)
    sides = [by_concept(sets, taxonomy, lowest=True) for sets in (before, after)]
    content = taxonomy.content(how)
    with reporter(progress, "errors") as report:
        return _core.semantic_error(taxonomy.graph, *sides[0], *sides[1], chosen, how.name, content, report)


def _rows(before: Itemsets, after: Itemsets, rows: Any) -> NDArray[np.uint32]:
    """Check the published row of each record."""
    if rows is None:
        if len(before) != len(after):
            remedy = Advice("give {} to assign a row to each record", rows=NO_VALUE)
            raise DataError(f"{len(before):,} records before, {len(after):,} after", remedy=remedy)
        rows = np.arange(len(before))
    chosen = whole_numbers(rows)
    if chosen is None or len(chosen) != len(before):
        raise ParameterError(f"one row number for each of the {len(before):,} records is needed", parameter="rows")
    if chosen.min() < 0 or chosen.max() >= len(after):
        raise ParameterError(f"published rows are numbered from 0 to {len(after) - 1:,}", parameter="rows")
    return chosen.astype(np.uint32)


def query_error(
    before: Itemsets,
    after: Itemsets,
    kind: Kind = "present",
    size: int | None = None,
    queries: int = 500,
    seed: int | None = 0,
    *,
    progress: Progress = None,
) -> float:
    """Return the error of answers to random counting queries, relative to the number of records, averaged over queries.

    >>> import nominym as nym
    >>> before = nym.Itemsets.from_lists([["bread", "milk"], ["milk"], ["milk"], []])
    >>> after = nym.Itemsets.from_lists([["milk"], ["milk"], ["milk"], ["milk"]])
    >>> nym.itemsets.query_error(before, after, size=2)  # one has both items before, none after
    0.25

    Parameters
    ----------
    before, after
        The records, and what is published for them, in any order.
    kind
        "present" (type I): how many records have all of some items? "absent" (type II): how many have none of them?
    size
        Number of items in a query, drawn from those of ``before`` without replacement, all sets equally likely. By
        default 3 (present) or 4 (absent), as in the source for the chess data; for PUMSB it uses 1 and 5.
    queries
        Number of queries to draw.
    seed
        Seed of the queries: a number to ask several releases the same queries, or None for new ones each time.

    Returns
    -------
    float
        Mean of \\|count before − count after\\| / records. It is relative to all records, not to the count, so queries
        that no record meets count like others.

    Xue, Karras, Raïssi, Vaidya and Tan (2012), Anonymizing set-valued data by nonreciprocal recoding, KDD, section 5.2.
    """
    if not isinstance(kind, str) or kind not in _SIZES:
        raise ParameterError("give 'present' or 'absent'", parameter="kind", value=kind)
    check_seed(seed)
    check_sets(before=before, after=after)
    width = before.n_items
    size = min(_SIZES[kind], width) if size is None else size
    if not is_whole(size) or not 1 <= size <= width:
        what = f"give a whole number from 1 to {width:,}, the number of items"
        raise ParameterError(what, parameter="size", value=size)
    if not is_whole(queries) or not 1 <= queries < 2**32:
        raise ParameterError("give a whole number, 1 or more", parameter="queries", value=queries)
    if len(before) != len(after):
        raise DataError(f"{len(before):,} records before, {len(after):,} after: counts of both cannot be compared")
    before, after = _together(before, after)
    drawn = _core.draw_queries(width, operator.index(size), operator.index(queries), seed)
    counts = []
    for sets in (before, after):
        with reporter(progress, "queries") as report:
            counts.append(_core.count_queries(sets.core, drawn, kind == "absent", report).astype(np.int64))
    return float(np.abs(counts[0] - counts[1]).mean() / len(before))


def _together(before: Itemsets, after: Itemsets) -> tuple[Itemsets, Itemsets]:
    """Express both over the same items: those of the first, then those that only the second has."""
    check_sets(before=before, after=after)
    if not len(before):
        raise DataError("there are no records to compare")
    return over_both(before, after)


def over_both(first: Itemsets, second: Itemsets) -> tuple[Itemsets, Itemsets]:
    """Express two over the items of the first, then those that only the second has."""
    if not first.n_items or first.names.equals(second.names):
        return first.over(second.names), second
    if not second.n_items:
        return first, second.over(first.names)
    if first.names.type != second.names.type:
        raise DataError("items are whole numbers on one side and texts on the other; bring them to one type")
    new = second.names.filter(pc.invert(pc.is_in(second.names, value_set=first.names)))
    both = pa.concat_arrays([first.names, new])
    return first.over(both), second.over(both)
