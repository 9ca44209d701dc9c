"""Reports: what was done to the data, whether the promise holds, and what it cost, on one page that anyone can open.

``write`` makes the report of a masked table, ``write_itemsets`` that of published item sets: a single HTML file that
needs no network. ``figures`` has the same pictures for notebooks, ``sweep`` and ``sweep_itemsets`` the tables behind
the risk–utility map. Needs the extra ``nominym[report]``.

The modules: ``tables`` counts, ``draw`` turns tables into figures, ``risks`` asks ``nominym.risk``, ``again`` masks
with other parameters, ``words`` says it in sentences, ``records`` and ``sets`` put a page together, ``page`` writes it.
"""

from nominym.report import figures
from nominym.report.again import sweep, sweep_itemsets
from nominym.report.records import write
from nominym.report.sets import write_itemsets

__all__ = ["figures", "sweep", "sweep_itemsets", "write", "write_itemsets"]
