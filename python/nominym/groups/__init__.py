"""Groups: disjoint sets of at least k records that are near each other in meaning.

``form`` makes them; what is done inside a group is a separate step (``permute`` gives values to other records of the
group). ``Partition`` has what can be published about groups: figures that depend on the groups and on the values of the
records, never on a draw. ``check_kept`` rejects kept columns that would undo what groups protect.
"""

from nominym.groups.forming import Formed, check_columns, check_size, form_of_table
from nominym.groups.kept import Notes, Sizes, check_kept
from nominym.groups.partition import Partition, check_limits, check_persons, form

__all__ = [
    "Formed",
    "Notes",
    "Partition",
    "Sizes",
    "check_columns",
    "check_kept",
    "check_limits",
    "check_persons",
    "check_size",
    "form",
    "form_of_table",
]
