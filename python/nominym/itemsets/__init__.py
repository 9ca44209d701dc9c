"""Set-valued records: transactions over named items, and what is published of them.

``Itemsets`` holds the records, ``recode`` (or the method ``Recode``) protects them. A ``Release`` holds what is
published and, for the owner, what must stay secret; ``read_release`` reads one back. ``error_rate``, ``query_error``
and ``semantic_error`` compare records with any published form of them; ``closed`` and ``lowest`` go up and down a
taxonomy (``concepts``). The other modules read columns and tables (``columns``, ``names``), store releases in files
(``files``), model who may be whom (``graph``), order records (``order``) and measure (``metrics``).

>>> import nominym as nym
>>> sets = nym.Itemsets.from_lists([["bread", "milk"], ["milk"], []])
>>> sets.n, sets.items, sets[0]
(3, ('bread', 'milk'), ['bread', 'milk'])
"""

from nominym.itemsets.concepts import closed, lowest
from nominym.itemsets.files import read_release
from nominym.itemsets.metrics import error_rate, query_error, semantic_error
from nominym.itemsets.order import best_order, gray_order, gray_tsp_order, tour_length, tree_order
from nominym.itemsets.recode import Recode, recode
from nominym.itemsets.release import Release
from nominym.itemsets.sets import Itemsets

__all__ = [
    "Itemsets",
    "Recode",
    "Release",
    "best_order",
    "closed",
    "error_rate",
    "gray_order",
    "gray_tsp_order",
    "lowest",
    "query_error",
    "read_release",
    "recode",
    "semantic_error",
    "tour_length",
    "tree_order",
]
