"""The verdict, for somebody who has to decide about a release and does not know the method."""

from __future__ import annotations

import math
from typing import Any

from nominym.report.content import State, Tile, Verdict
from nominym.report.given import Given
from nominym.report.words import interval, listed, number, one_in, percent

_DONE = {
    "strict": "Strict semantic rank swapping: records are put into groups of at least k that are alike in meaning, and "
    "within each group every masked attribute is shuffled on its own.",
    "published": "Semantic rank swapping as published: values change places with values that mean nearly the same.",
    "noise": "Semantic noise: values are replaced by concepts as far away in meaning as a drawn error says.",
    "exponential": "The exponential mechanism: a value is replaced by any concept of its domain, near ones more often "
    "than distant ones.",
    "swap": "Data swapping: values are exchanged within random pairs of records.",
    "unknown": "Two tables were compared; how the second was made is not recorded.",
}


_NAMED = {
    "strict": "strict semantic rank swapping",
    "published": "semantic rank swapping as published",
    "noise": "semantic noise",
    "exponential": "the exponential mechanism",
    "swap": "data swapping",
    "unknown": "method not recorded",
}


def named(given: Given) -> str:
    """Name the method, and how much of it."""
    amount = next((name for name in ("k", "p", "alpha", "epsilon", "rate") if name in given.params), None)
    return _NAMED[given.kind] + (f", {amount} = {given.params[amount]:g}" if amount else "")


def done(given: Given) -> str:
    """Say what was done."""
    return _DONE[given.kind]


def verdict(given: Given, attack: dict[str, Any]) -> Verdict:
    """Say what was promised, what was measured, and whether one fits the other."""
    names = listed(list(given.masked))
    everybody = "all" if attack["attacked"] == attack["records"] else f"{attack['attacked']:,} of the"
    sampled = attack["attacked"] < attack["records"]
    around = f" (95 % interval {interval(attack['low'], attack['high'])})" if sampled else ""
    measured = (
        f"The attack was run: somebody who knows the true {names} of a person looks for the row that fits best. Over "
        f"{everybody} {attack['records']:,} records this finds {percent(attack['share'])} of them{around}."
    )
    state, headline, promise = _said(given, attack, names)
    return Verdict(state, headline, promise, measured)


def _said(given: Given, attack: dict[str, Any], names: str) -> tuple[State, str, str]:
    bound, holds = attack["bound"], attack["holds"]
    if given.kind == "strict":
        least = 1 / given.params["k"]
        promise = (
            f"Promised: nobody can tell with a probability above {one_in(least)} which row belongs to a person, even "
            f"knowing that person's true {names}, the groups and the method. The attributes that were not masked are "
            "not covered."
        )
        if given.k != given.params["k"]:
            promise += f" Asked for here: at most {one_in(bound)}; that is measured, not proved."
            return _kept(bound, holds, promise)
        if holds:
            return "holds", "The promise holds", promise
        return "broken", "The promise does not hold", promise
    if given.kind == "published":
        promise = (
            "No promise: the method is said to bring re-identification down to 1 in k, but swaps find fewer candidates "
            "than k. What is told here is measured on this release alone; a stronger attack may find more."
        )
        if holds is None:
            return "open", "No promise; the risk was measured", promise
        if holds:
            return "open", f"No promise, but fewer than {one_in(bound)} were found", promise
        return "broken", f"The bound of {one_in(bound)} does not hold", promise
    if given.kind == "exponential":
        epsilon = given.params["epsilon"]
        promise = (
            f"Promised: each masked value on its own is protected by local differential privacy with ε = "
            f"{epsilon:g}; a record with {len(given.masked)} masked values spends "
            f"{number(epsilon * len(given.masked))} in all. That is a promise about values, not about finding a row."
        )
        return "open", "Values are protected; rows were measured", promise
    if given.kind == "unknown" and holds is not None:
        promise = f"Asked for: at most {one_in(bound)} of the records may be found. This is measured, not proved."
        return _kept(bound, holds, promise)
    return (
        "open",
        "No promise; the risk was measured",
        "No bound was promised: the method limits how much is lost, not how many records are found. What is told "
        "here is measured on this release alone; a stronger attack may find more.",
    )


def _kept(bound: float, holds: bool, promise: str) -> tuple[State, str, str]:
    if holds:
        return "holds", f"The bound of {one_in(bound)} is kept", promise
    return "broken", f"The bound of {one_in(bound)} is exceeded", promise


def tiles(given: Given, attack: dict[str, Any], largest_change: float | None) -> list[Tile]:
    """Give the figures that matter most."""
    sampled = attack["attacked"] < attack["records"]
    note = (
        f"95 % interval {interval(attack['low'], attack['high'])}"
        if sampled
        else f"of all {attack['records']:,}, by the attack"
    )
    found = [Tile(percent(attack["share"]), "Records found", note)]
    if not math.isnan(attack["bound"]):
        kept = "kept" if attack["holds"] else "not kept"
        found.append(
            Tile(percent(attack["bound"]), "Bound on records found", f"1 in {1 / attack['bound']:,.3g}; {kept}")
        )
    if "groups" in given.summary:
        groups = given.summary["groups"]
        found.append(Tile(number(groups["smallest"]), "Effective k", f"smallest of {groups['count']:,} groups"))
    else:
        medians = [
            figures["candidates"]["median"]
            for figures in given.summary.get("attributes", {}).values()
            if figures.get("candidates")
        ]
        if medians:
            found.append(Tile(number(min(medians)), "Effective k", "median candidates of a swap, lowest attribute"))
    changed = [1 - column.unchanged for column in given.columns]
    found.append(
        Tile(percent(math.fsum(changed) / len(changed)), "Values changed", f"mean of {_counted(len(changed))}")
    )
    moved = [column.rmse for column in given.columns if column.space is not None]
    if moved:
        found.append(
            Tile(number(math.fsum(moved) / len(moved)), "Distance moved", "root mean square; 0 same, 1 unrelated")
        )
    if largest_change is not None and not math.isnan(largest_change):
        found.append(Tile(number(largest_change, 2), "Change of correlations", "largest, of distance correlations"))
    return found


def _counted(attributes: int) -> str:
    return "one masked attribute" if attributes == 1 else f"{attributes} masked attributes"
