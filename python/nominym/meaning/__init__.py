"""What values mean: a taxonomy, a distance matrix, an order, or equality.

A ``Meaning`` gives the values of a column their places in a ``Space``, which measures distances between places, finds
the mean of several, and tells what they have in common. Every method, statistic and attack asks a space, so columns of
different kinds need no special case. ``read`` has the readers of taxonomy files.
"""

from nominym.meaning.base import CONTENTS, MEASURES, Kind, Meaning, Measure, Space, as_measure, check_meanings, shortest
from nominym.meaning.concepts import Concepts
from nominym.meaning.equality import Equality
from nominym.meaning.matrix import DistanceMatrix, MatrixSpace
from nominym.meaning.order import Order
from nominym.meaning.read import read_taxonomy
from nominym.meaning.taxonomy import ConceptSpace, Taxonomy

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
