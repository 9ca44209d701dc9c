"""Tables of any library: coded once on the way in, given back in kind on the way out.

``coding`` turns a column into numbers, ``frame`` holds a table and writes new values in the old type, ``attribute``
joins a column and its meaning, and sets two tables of the same records side by side; ``pair`` compares two tables that
need not have the same records; ``persons`` makes one record of several rows.
"""

from nominym.options import Missing
from nominym.table.attribute import (
    Attribute,
    Change,
    Comparison,
    all_with_missing,
    as_table,
    attributes,
    check_roots,
    of_columns,
    single,
    unite,
)
from nominym.table.coding import (
    ARROW_REFUSES,
    MISSING,
    Column,
    Listed,
    check_policy,
    code,
    complete,
    or_data_error,
    placed,
    to_arrow,
)
from nominym.table.frame import Table, bare, column_names, names_of, tidied
from nominym.table.pair import Distinct, coded_alike, distinct, shared_columns, side_by_side
from nominym.table.persons import one_record_per_person, some_rows

__all__ = [
    "ARROW_REFUSES",
    "MISSING",
    "Attribute",
    "Change",
    "Column",
    "Comparison",
    "Distinct",
    "Listed",
    "Missing",
    "Table",
    "all_with_missing",
    "as_table",
    "attributes",
    "bare",
    "check_policy",
    "check_roots",
    "code",
    "coded_alike",
    "column_names",
    "complete",
    "distinct",
    "names_of",
    "of_columns",
    "one_record_per_person",
    "or_data_error",
    "placed",
    "shared_columns",
    "side_by_side",
    "single",
    "some_rows",
    "tidied",
    "to_arrow",
    "unite",
]
