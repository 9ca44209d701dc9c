"""Groups: disjoint sets of at least k records that are near each other in meaning.

``form`` makes them; what is done inside a group is a separate step (``permute`` gives values to other records of the
group). ``Partition`` says what can be published about groups: figures that depend on the groups and on the values of
the records, never on a draw.
"""

from nominym.groups.partition import Partition, form

__all__ = ["Partition", "form"]
