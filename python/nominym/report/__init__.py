"""Reports: what was done to the data, what is guaranteed and what is not, on one page that anyone can open.

``write`` makes the report of a masked table or of published item sets: a single HTML file that needs no network, in an
edition for publication or in one for the owner; ``inline`` shows the first in a notebook. ``figures`` has the owner's
pictures for notebooks, ``sweep`` the table behind the risk–utility map, ``compare_methods`` other methods on the same
data. ``compare`` is for before a release: several methods on a table, and which to take. Needs the extra
``nominym[report]``.

The modules: ``subject`` is what a report is about; ``measured`` counts and ``draw`` turns tables into figures;
``guarantee`` states what is guaranteed; ``publication``, ``owner`` and ``itemsets`` put pages together from the parts
in ``content``; ``page`` writes them. ``choosing`` compares methods, ``suggestion`` is the rule by which one is
suggested, and ``choice_page`` the page about it.
"""

from nominym.report import figures
from nominym.report.choosing import Choice, compare
from nominym.report.methods import compare_methods
from nominym.report.page import inline, write
from nominym.report.sweep import sweep

__all__ = ["Choice", "compare", "compare_methods", "figures", "inline", "sweep", "write"]
