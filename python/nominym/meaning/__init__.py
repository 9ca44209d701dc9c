"""What values mean: a taxonomy, a distance matrix, an order, equality, or sets.

A ``Meaning`` gives the values of a column their places in a ``Space``, which measures distances between places, finds
the mean of several, and finds what they have in common. Every method, statistic and attack uses a space, so columns of
different kinds need no special case. ``read`` has the readers of taxonomy files.
"""

from nominym.meaning.base import (
    CONTENTS,
    MANY,
    MEASURES,
    WITHOUT_TAXONOMY,
    Cells,
    Distances,
    Kind,
    Meaning,
    Measure,
    Space,
    Standing,
    as_measure,
    categories_of,
    check_meanings,
    is_frame,
    is_lazy,
    is_missing,
    is_polars,
    is_sequence,
    padded,
    shortest,
    to_list,
)
from nominym.meaning.generalized import Interval, parse
from nominym.meaning.matrix import DistanceMatrix, MatrixSpace
from nominym.meaning.order import Equality, Order
from nominym.meaning.read import read_taxonomy
from nominym.meaning.sets import Sets, SetSpace
from nominym.meaning.taxonomy import Concepts, ConceptSpace, Taxonomy

__all__ = [
    "CONTENTS",
    "MANY",
    "MEASURES",
    "WITHOUT_TAXONOMY",
    "Cells",
    "ConceptSpace",
    "Concepts",
    "DistanceMatrix",
    "Distances",
    "Equality",
    "Interval",
    "Kind",
    "MatrixSpace",
    "Meaning",
    "Measure",
    "Order",
    "SetSpace",
    "Sets",
    "Space",
    "Standing",
    "Taxonomy",
    "as_measure",
    "categories_of",
    "check_meanings",
    "is_frame",
    "is_lazy",
    "is_missing",
    "is_polars",
    "is_sequence",
    "padded",
    "parse",
    "read_taxonomy",
    "shortest",
    "to_list",
]
