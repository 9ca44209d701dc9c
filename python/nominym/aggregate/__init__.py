"""Microaggregation and generalization: one value for all records of a group.

``microaggregate`` forms groups as rank swapping does and replaces every masked value with the mean of its group, or
with what the values of the group have in common. ``parse`` reads generalized values.
"""

from nominym.aggregate.method import Microaggregate, lost, microaggregate, published
from nominym.aggregate.values import aggregated, is_retyped, squares, total_squares
from nominym.meaning import Interval, parse

__all__ = [
    "Interval",
    "Microaggregate",
    "aggregated",
    "is_retyped",
    "lost",
    "microaggregate",
    "parse",
    "published",
    "squares",
    "total_squares",
]
