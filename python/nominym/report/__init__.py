"""Reports: what was done to the data, what is guaranteed and what is not, on one page that anyone can open.

``write`` makes the report of a masked table or of published item sets: a single HTML file that needs no network, in an
edition for publication or in one for the owner; ``inline`` shows the first in a notebook. ``figures`` has the owner's
pictures for notebooks, ``sweep`` the table behind the risk–utility map, ``compare_methods`` other methods on the same
data. Needs the extra ``nominym[report]``.

The modules: ``subject`` is what a report is about; ``measured`` counts and ``draw`` turns tables into figures;
``guarantee`` states what is guaranteed; ``publication``, ``owner`` and ``itemsets`` put pages together from the parts
in ``content``; ``page`` writes them.
"""

from nominym.report import figures
from nominym.report.methods import compare_methods
from nominym.report.page import inline, write
from nominym.report.sweep import sweep

__all__ = ["compare_methods", "figures", "inline", "sweep", "write"]
