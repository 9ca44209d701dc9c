"""Tables of any library: coded once on the way in, given back in kind on the way out.

``coding`` turns a column into numbers, ``frame`` holds a table and writes new values in the old type, ``attribute``
joins a column and its meaning, and sets two tables of the same records side by side; ``persons`` makes one record of
several rows.
"""

from nominym.table.attribute import Attribute, Change, Comparison, as_table, attributes, check_roots, of_columns, single
from nominym.table.coding import (
    ARROW_REFUSES,
    MISSING,
    Column,
    Missing,
    check_policy,
    code,
    complete,
    or_data_error,
    placed,
    to_arrow,
)
from nominym.table.frame import Table, bare, column_names, tidied
from nominym.table.persons import one_record_per_person

__all__ = [
    "ARROW_REFUSES",
    "MISSING",
    "Attribute",
    "Change",
    "Column",
    "Comparison",
    "Missing",
    "Table",
    "as_table",
    "attributes",
    "bare",
    "check_policy",
    "check_roots",
    "code",
    "column_names",
    "complete",
    "of_columns",
    "one_record_per_person",
    "or_data_error",
    "placed",
    "single",
    "tidied",
    "to_arrow",
]
