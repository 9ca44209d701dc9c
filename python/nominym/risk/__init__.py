"""Risk: attacks on releases, and how many people they re-identify.

``linkage`` attacks a released table in several ways, ``ATTACKS``, with masked columns known, and with kept ones too;
``link`` does so for coded tables. ``classes`` counts the records that share their values; ``worlds`` counts the
published rows that a set-valued record could be. ``unique_exact_matches``, ``disclosure`` and ``inference`` are
published measures. All figures are numbers of people: no result says who was found.

Domingo-Ferrer and Torra (2001), A quantitative comparison of disclosure control methods for microdata, in
Confidentiality, Disclosure and Data Access, Elsevier; Pagliuca and Seri (1999), Some results of individual ranking
method on the system of enterprise accounts annual survey, Esprit SDC project.
"""

from nominym.risk.attacks import ATTACKS as _ATTACKS
from nominym.risk.classes import Classes, classes
from nominym.risk.disclosure import Disclosure, disclosure, disclosures
from nominym.risk.inference import Inference, Success, inference
from nominym.risk.linkage import Linkage, link, linkage
from nominym.risk.matches import UniqueMatches, unique_exact_matches
from nominym.risk.worlds import Worlds, worlds

ATTACKS = tuple(_ATTACKS)
"""The names of all attacks on tables."""

__all__ = [
    "ATTACKS",
    "Classes",
    "Disclosure",
    "Inference",
    "Linkage",
    "Success",
    "UniqueMatches",
    "Worlds",
    "classes",
    "disclosure",
    "disclosures",
    "inference",
    "link",
    "linkage",
    "unique_exact_matches",
    "worlds",
]
