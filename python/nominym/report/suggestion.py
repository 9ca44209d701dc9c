"""Which of the methods compared to take: the rule, and its reason in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nominym.report import words
from nominym.report.words import number

if TYPE_CHECKING:
    import pandas as pd

CRITERIA = {"loss": "information loss", "counts": "change of counts", "correlations": "change of correlations"}
"""What methods can be judged by, and what it is called."""

_NOTHING = "No suggestion"


def percent(share: float) -> str:
    """Write a share as terminals and notebooks show it, with a common space."""
    return words.percent(share).replace("\u00a0", " ")


@dataclass(frozen=True)
class Suggestion:
    """A method that is suggested, why, and what that does not cover."""

    name: str
    """The row of the table that is suggested; empty where none is."""
    headline: str
    """In a few words."""
    reasons: tuple[str, ...]
    """Why, in sentences."""
    guaranteed: bool = False
    """Whether it has a stated bound."""
    not_covered: tuple[str, ...] = ()
    """What the suggestion and the bound say nothing about."""

    def __str__(self) -> str:
        """Return all of it, a line for each part."""
        return "\n".join([self.headline, *self.reasons, *(f"Not covered: {text}" for text in self.not_covered)])


def suggest(table: pd.DataFrame, max_risk: float, by: str = "loss") -> Suggestion:
    """Suggest a row of the table of a comparison: of those whose stated bound suffices, the one that loses least.

    A method without a stated bound is suggested only where none has one; the largest share found in any draw has to
    suffice then, and the suggestion says that it is a measurement. A method whose bound an attack exceeded by more
    than chance is never suggested.
    """
    rows: list[dict[str, Any]] = [
        {str(name): value for name, value in row.items()} for row in table[table["error"] == ""].to_dict("records")
    ]
    bounded = [row for row in rows if not math.isnan(row["bound"])]
    limit = percent(max_risk)
    reasons: list[str] = []
    broken = [row["name"] for row in bounded if row["holds"] is False]
    if broken:
        reasons.append(f"Left out, because an attack exceeded the bound by more than chance: {', '.join(broken)}.")
    if bounded:
        fit = [row for row in bounded if row["bound"] <= max_risk * (1 + 1e-12) and row["holds"] is not False]
        what = f"stated bound of at most {limit}"
    else:
        fit = [row for row in rows if row["largest"] <= max_risk]
        what = f"measured risk of at most {limit} in every draw"
        reasons.append("None of these methods has a stated bound, so measured risk decides: it is no guarantee.")
    judged = _in_order(fit, by)
    if not judged:
        why = f"None of them has a {what}." if not fit else f"Of those with a {what}, none has a {CRITERIA[by]}."
        return Suggestion("", f"{_NOTHING}: {why[0].lower()}{why[1:-1]}", tuple(reasons))
    best = judged[0]
    reasons.append(_smallest(judged, what, by))
    reasons.append(_measured(best))
    if not math.isnan(best["kept"]):
        more = "The bound is not about such an adversary. " if bounded else ""
        reasons.append(
            f"An adversary who also knows kept columns, and takes the nearest row, found {percent(best['kept'])}. "
            f"{more}Mask what an adversary may know."
        )
    for other in CRITERIA:
        if other != by:
            reasons += _by_another(fit, best, other)
    bound = f": re-identification probability at most {percent(best['bound'])}" if bounded else ", without a guarantee"
    return Suggestion(best["name"], f"Suggested: {best['name']}{bound}", tuple(reasons), bool(bounded))


def _in_order(rows: list[dict[str, Any]], by: str) -> list[dict[str, Any]]:
    """Return the rows that lose least first; of equal ones, those whose values moved least, then the least found."""
    judged = [row for row in rows if not math.isnan(row[by])]
    return sorted(judged, key=lambda row: (row[by], row["loss"], row["largest"], row["name"]))


def _shown(row: dict[str, Any], by: str) -> str:
    return number(row[by]) if by == "correlations" else percent(row[by])


def _smallest(judged: list[dict[str, Any]], what: str, by: str) -> str:
    """Return the reason: which loss is smallest."""
    best, *others = judged
    said = f"It has the smallest {CRITERIA[by]} ({_shown(best, by)}) "
    said += f"of the {len(judged)} with a {what}." if others else f"as the only one with a {what}."
    if others and others[0][by] == best[by]:
        more = "Others do as well, but with a larger information loss or share found; the next is"
        return f"{said} {more} {others[0]['name']}."
    return said + (f" The next is {others[0]['name']} ({_shown(others[0], by)})." if others else "")


def _measured(row: dict[str, Any]) -> str:
    """Return what attacks found, and what that does not mean."""
    said = (
        f"Attacks by an adversary who knows all masked values found {percent(row['risk'])} on average, and at most "
        f"{percent(row['largest'])} in a draw. That is a measurement: a stronger attack may find more"
    )
    if math.isnan(row["bound"]):
        return f"{said}."
    said += f"; what is guaranteed is the bound, {percent(row['bound'])}."
    if row["largest"] > row["bound"]:
        said += " " + words.by_chance(row["largest"], row["bound"], row["attacked"]).replace("\u00a0", " ")
    return said


def _by_another(fit: list[dict[str, Any]], best: dict[str, Any], by: str) -> list[str]:
    """Return the suggestion by other criteria, where it is another method."""
    other = next(iter(_in_order(fit, by)), best)
    if other["name"] == best["name"]:
        return []
    here = f"; here it is {_shown(best, by)}" if not math.isnan(best[by]) else ""
    return [f"If the {CRITERIA[by]} matters more: {other['name']} ({_shown(other, by)}{here})."]
