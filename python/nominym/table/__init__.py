"""Tables of any library: coded once on the way in, given back in kind on the way out.

``coding`` turns a column into numbers, ``frame`` holds a table, ``attribute`` joins a column and its meaning,
``write_back`` writes new values in the old type, ``comparison`` sets two tables of the same records side by side.
"""

from nominym.table.attribute import Attribute, attributes, check_roots, of_columns, placed, single
from nominym.table.coding import MISSING, Column, Missing, check_policy, code, complete
from nominym.table.comparison import Change, Comparison, as_table, check_truth, united_by_text
from nominym.table.frame import Table, column_names

__all__ = [
    "MISSING",
    "Attribute",
    "Change",
    "Column",
    "Comparison",
    "Missing",
    "Table",
    "as_table",
    "attributes",
    "check_policy",
    "check_roots",
    "check_truth",
    "code",
    "column_names",
    "complete",
    "of_columns",
    "placed",
    "single",
    "united_by_text",
]
