"""Set-valued records: transactions over named items, and what is published of them.

``Itemsets`` holds the records. A ``Release`` holds what nonreciprocal recoding publishes, and, for the owner, what must
stay secret; ``read_release`` reads one back. ``error_rate`` and ``query_error`` compare records with any published form
of them. The other modules convert columns and tables (``columns``, ``names``) and files (``files``), say who may be
whom (``graph``) and measure (``metrics``).

>>> import nominym as nym
>>> sets = nym.Itemsets.from_lists([["bread", "milk"], ["milk"], []])
>>> sets.n, sets.items, sets[0]
(3, ('bread', 'milk'), ['bread', 'milk'])
"""

from nominym.itemsets.files import read_release
from nominym.itemsets.metrics import error_rate, query_error
from nominym.itemsets.release import Release
from nominym.itemsets.sets import Itemsets

__all__ = ["Itemsets", "Release", "error_rate", "query_error", "read_release"]
