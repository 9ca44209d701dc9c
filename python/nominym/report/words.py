"""Figures in words that need no manual."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nominym import guarantee

SOURCES = {
    "rank": "M. Rodriguez-Garcia, M. Batet, D. Sánchez: Utility-preserving privacy protection of nominal data sets via "
    "semantic rank swapping, Information Fusion 45 (2019).",
    "aggregation": "S. Martínez, D. Sánchez, A. Valls: Semantic adaptive microaggregation of categorical microdata, "
    "Computers & Security 31 (2012); J. Domingo-Ferrer, J. M. Mateo-Sanz: Practical data-oriented microaggregation for "
    "statistical disclosure control, IEEE TKDE 14 (2002).",
    "noise": "M. Rodríguez-García: Semantic perturbative privacy-preserving methods for nominal data, doctoral thesis, "
    "Universitat Rovira i Virgili (2017).",
    "distortion": "S. Gomatam, A. F. Karr: Distortion measures for categorical data swapping, NISS technical report "
    "131 (2003).",
    "correlation": "G. J. Székely, M. L. Rizzo, N. K. Bakirov: Measuring and testing dependence by correlation of "
    "distances, Annals of Statistics 35 (2007).",
    "wu-palmer": "Z. Wu, M. Palmer: Verb semantics and lexical selection, ACL (1994).",
    "linkage": "J. Domingo-Ferrer, V. Torra: Disclosure risk assessment in statistical data protection, Journal of "
    "Computational and Applied Mathematics 164 (2004).",
    "marginals": "C. Task, K. Bhagat, G. Howarth: SDNist v2: deidentified data report tool, NIST (2023).",
    "propensity": "J. Snoke, G. M. Raab, B. Nowok, C. Dibben, A. Slavković: General and specific utility measures for "
    "synthetic data, Journal of the Royal Statistical Society A 181 (2018).",
    "disclosure": "G. M. Raab, B. Nowok, C. Dibben: Practical privacy metrics for synthetic data, arXiv 2406.16826 "
    "(2024).",
    "map": "G. T. Duncan, S. A. Keller-McNulty, S. L. Stokes: Disclosure risk vs. data utility: the R-U "
    "confidentiality map, NISS technical report 121 (2001).",
    "itemsets": "M. Xue, P. Karras, C. Raïssi, J. Vaidya, K.-L. Tan: Anonymizing set-valued data by nonreciprocal "
    "recoding, KDD (2012).",
}


def percent(share: float | None, digits: int = 3) -> str:
    """Return a share in percent.

    >>> percent(0.0312), percent(1), percent(0.00001), percent(0), percent(0.99996), percent(0.234, 2)
    ('3.12\\xa0%', '100\\xa0%', 'under 0.01\\xa0%', '0\\xa0%', 'over 99.9\\xa0%', '23\\xa0%')
    """
    if share is None or math.isnan(share):
        return "–"
    if 0 < share < 1e-4:
        return "under 0.01\u00a0%"
    written = f"{float(f'{100 * share:.{digits}g}'):.10g}"
    if share < 1 and written == "100":
        return f"over {100 - 10 ** (2 - digits):g}\u00a0%"
    return f"{written}\u00a0%"


def number(value: Any, digits: int = 3) -> str:
    """Return a number as text, or a dash if there is none; whole numbers in full.

    >>> number(12345), number(0.12345), number(float("nan"))
    ('12,345', '0.123', '–')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int) or (hasattr(value, "dtype") and value.dtype.kind in "iu"):
        return f"{int(value):,}"
    # A change so small is none: sums of floats end like this.
    return "0" if abs(value) < 1e-12 else f"{value:.{digits}g}"


def about(count: float, least: int = 10) -> str:
    """Return a count for publication, rounded to two digits; small ones as "fewer than".

    >>> about(1234), about(10), about(3), about(3, 0)
    ('1,200', '10', 'fewer than 10', '3')
    """
    return f"fewer than {least}" if count < least else f"{float(f'{count:.2g}'):,.0f}"


def listed(names: Sequence[Any], most: int = 6, word: str = "and") -> str:
    """List names in a sentence.

    >>> listed(["age", "sex", "job"]), listed("abcdefgh", 2)
    ('age, sex and job', 'a, b and 6 more')
    """
    texts = [str(name) for name in names]
    if len(texts) > most:
        return f"{', '.join(texts[:most])} and {len(texts) - most} more"
    return guarantee.listed(texts, word) if texts else "nothing"


def option_value(value: Any) -> str:
    """Return the value of an option as text; empty if there is nothing to say."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(" and ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in value)
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else str(value)


def one_in(bound: float) -> str:
    """Return a bound in words.

    >>> one_in(0.1)
    '1 in 10 (10\\xa0%)'
    """
    return f"1 in {round(1 / bound):,} ({percent(bound)})"


def by_chance(share: float, bound: float, attacked: float) -> str:
    """Explain why a share that was found may be above a bound that holds.

    >>> by_chance(0.213, 0.2, 1000)
    'More than the bound of 20\xa0% was found, which is within chance: the bound limits a probability, and among 1,000 \
attacked the share of lucky guesses varies around it, by up to about 4.4 percentage points.'
    """
    # A bound counts as exceeded where chance would do that once in 1,000: 3.09 standard deviations.
    # Guesses inside a group are right together, so their number varies as by the Poisson law.
    spread = 3.09 * math.sqrt(bound / max(attacked, 1)) * 100
    points = f"{float(f'{spread:.2g}'):g}"
    return (
        f"More than the bound of {percent(bound)} was found, which is within chance: the bound limits a probability, "
        f"and among {int(attacked):,} attacked the share of lucky guesses varies around it, by up to about {points} "
        "percentage points."
    )


def interval(low: float, high: float) -> str:
    """Return an interval as text."""
    return f"{percent(low)} to {percent(high)}"
