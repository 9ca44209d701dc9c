"""Risk: attacks on releases, and how many people they re-identify.

``linkage`` takes what an adversary knows of each person and looks for the nearest row; ``linkages`` does so for every
known column and for all together; ``classes`` counts the records that share their values; ``worlds`` counts the
published rows that a set-valued record could be. ``link`` and ``links`` attack tables that are coded already. All
figures are numbers of records: no result says who was found.

Domingo-Ferrer and Torra (2001), A quantitative comparison of disclosure control methods for microdata, in
Confidentiality, Disclosure and Data Access, Elsevier; Pagliuca and Seri (1999), Some results of individual ranking
method on the system of enterprise accounts annual survey, Esprit SDC project.
"""

from nominym.risk.classes import Classes, classes
from nominym.risk.linkage import Linkage, link, linkage, linkages, links
from nominym.risk.worlds import Worlds, worlds

__all__ = ["Classes", "Linkage", "Worlds", "classes", "link", "linkage", "linkages", "links", "worlds"]
