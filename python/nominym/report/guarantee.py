"""What was done to a table, what that guarantees and what it does not, in words. Both editions say it alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nominym.method import Method
from nominym.noise import Noise
from nominym.report.content import Picture, Section, Verdict
from nominym.report.subject import MaskedTable
from nominym.report.words import SOURCES, listed, number, one_in
from nominym.swap import DataSwap, RankSwap


class Description(NamedTuple):
    """A method in words."""

    name: str
    done: str
    source: tuple[str, ...] = ()


_STRICT = Description(
    "strict semantic rank swapping",
    "Strict semantic rank swapping: records that are alike in meaning are put into groups of at least k, and within "
    "each group every masked attribute is shuffled by itself.",
    ("rank",),
)
_PUBLISHED = Description(
    "semantic rank swapping as published",
    "Semantic rank swapping as published: values change places with values that mean nearly the same.",
    ("rank",),
)
_EXPONENTIAL = Description(
    "the exponential mechanism",
    "The exponential mechanism: a value is replaced by any concept of its domain, near ones more often than distant "
    "ones.",
    ("noise",),
)
_NOISE = Description(
    "semantic noise",
    "Semantic noise: values are replaced by concepts at a randomly drawn semantic distance.",
    ("noise",),
)
_DATA_SWAP = Description(
    "data swapping", "Data swapping: values are exchanged within random pairs of records.", ("distortion",)
)
_UNKNOWN = Description("method not recorded", "Two tables were compared; how the second was made is not recorded.")


def described(method: Method | None) -> Description:
    """Say what a method does."""
    if isinstance(method, RankSwap):
        return _STRICT if method.strict else _PUBLISHED
    if isinstance(method, Noise):
        return _NOISE if method.epsilon is None else _EXPONENTIAL
    return _DATA_SWAP if isinstance(method, DataSwap) else _UNKNOWN


def subtitle(table: MaskedTable) -> str:
    """Name the masked columns, the method, and how much of it."""
    amount = next((name for name in ("k", "p", "alpha", "epsilon", "rate") if name in table.params), None)
    how_much = f", {amount} = {table.params[amount]:g}" if amount else ""
    return f"{listed(table.masked)} masked: {described(table.method).name}{how_much}"


SEEDED = Verdict(
    "open",
    "No guarantee: made with a seed",
    ["The draw was made with a seed, for a study: whoever has or guesses the seed and has the data can repeat it. Mask "
     "without a seed for a release."],
)  # fmt: skip
"""A seed takes any guarantee away."""


def statement(table: MaskedTable) -> Verdict:
    """State what the method guarantees, whatever was drawn."""
    method = table.method
    epsilon = method.epsilon if isinstance(method, Noise) else None
    if table.seeded and (table.bound, epsilon) != (None, None):
        return SEEDED
    if epsilon is not None:
        sentence = (
            f"Each masked value by itself has local differential privacy with ε = {epsilon:g}; a record with "
            f"{len(table.masked)} masked values spends {number(epsilon * len(table.masked))} in all. That is about "
            "values, not about finding a row."
        )
        terms = [
            ("Adversary", "Knows everything but the value in question and what was drawn for it."),
            ("Unit", "One value of one record; the ε of all values of a person add up."),
        ]
        return Verdict("holds", f"Each value has local differential privacy, ε = {epsilon:g}", [sentence], terms)
    if table.bound is None:
        why = "how it was made is not recorded" if method is None else f"{described(method).name} gives none"
        risk = "The risk of this very release can only be measured, by attacks; a stronger attack may find more."
        return Verdict("open", "No guarantee", [f"No re-identification probability is guaranteed: {why}. {risk}"])
    names = listed(table.masked)
    kept = f": kept columns ({listed(table.kept)}) are neither known of a person nor predictable from the masked ones"
    apart = f"tells the rows of a group apart{kept if table.kept else ''}."
    terms = [
        ("Adversary", f"Knows the original {names} of all records, who is in which group, the algorithm and its "
         "options. Does not know what was drawn."),
        ("Unit", "One record. Where a person has several, each is protected by itself, and what links them links their "
         "rows too."),
        ("Premise", f"Nothing else {apart}"),
    ]  # fmt: skip
    return of_groups(table.bound, f"the true {names} of everybody", terms, f" Premise: nothing else {apart}")


def of_groups(bound: float, known: str, terms: Sequence[tuple[str, str]], premise: str = "") -> Verdict:
    """State what follows from values that change places within groups."""
    sentence = (
        f"Guaranteed by construction: an adversary who knows {known}, the groups and the algorithm, but not the draw, "
        "finds every row of a person's group equally likely to be theirs. The probability of each is 1 divided by the "
        f"size of the group, at most {one_in(bound)}.{premise}"
    )
    return Verdict("holds", f"Re-identification probability of a row: at most {one_in(bound)}", [sentence], terms)


def section(said: Verdict, *more: Picture) -> list[Section]:
    """Explain the guarantee, where there is one."""
    lead = "The guarantee follows from how the release was made; it was not measured, and does not depend on the draw."
    return [Section("Guarantee", lead, more, said.terms)] if said.terms else []


def not_covered(
    table: MaskedTable, summary: Mapping[str, Any], count: Callable[[Any], str], alone: str = ""
) -> Section:
    """List what is not covered. ``count`` writes numbers of groups; ``alone`` says more about kept columns."""
    found = list(summary.get("notes", []))
    if table.kept:
        more = " with a higher probability than the one guaranteed" if table.bound is not None else ""
        found.append(
            f"Kept as they were: {listed(table.kept, 12)}. An adversary who knows these of a person, or can predict "
            f"them from the masked columns, may re-identify the person{more}.{alone}"
        )
    groups = summary.get("groups", {})
    for name, figures in (*groups.get("read_off", {}).items(), *groups.get("constant", {}).items()):
        if figures["groups"]:
            found.append(
                f"In {count(figures['groups'])} groups all records have the same {name}: whoever is known to belong to "
                "one of them has it, whichever row is theirs."
            )
    if table.params.get("draw") == "joint":
        found.append(
            "Masked values of a row were moved together (draw='joint'): an adversary who recognises one can read the "
            "others."
        )
    gaps = [name for name, figures in summary.get("attributes", {}).items() if figures.get("missing")]
    if gaps and table.bound is None and not isinstance(table.method, DataSwap):
        found.append(f"Missing values of {listed(gaps)} stay where they were, and are not protected.")
    found += [
        "Differencing and repeats: two releases of one table, or of tables that differ in a few records, give away "
        "more than either. Publish one release of a table.",
        "Seeds: a release that was made with a seed guarantees nothing; keep no seed, and publish none.",
    ]
    return Section("What is not covered", notes=found)


def definitions(*names: str) -> Section:
    """Explain terms."""
    return Section("Definitions", terms=[(name, _DEFINED[name]) for name in names])


def sources(method: Method | None, *more: str) -> list[str]:
    """List the publications that a page rests on."""
    return [SOURCES[name] for name in dict.fromkeys((*described(method).source, *more))]


_DEFINED = {
    "Re-identification probability": "The probability, for the adversary, that a certain row is the one of a certain "
    "person.",
    "Records re-identified": "Expected share of records for which the row nearest to the true values is the person's "
    "own; of t equally near rows each is guessed with probability 1/t.",
    "Group": "Records that are alike in meaning, at least k of them, among which values were exchanged at random.",
    "Effective k": "Among how many a value, or a whole record, was really hidden.",
    "Semantic distance": "How far apart two values are in a taxonomy: from 0 (the same) to 1 (unrelated), by Wu and "
    "Palmer unless another measure is named. For ordered values, the difference relative to the largest one.",
    "Distance moved (RMSE)": "Root of the mean squared distance between a record's value before and after.",
    "Expected": "The mean over all draws that could have been made: it says nothing about the one that was.",
    "Distance correlation": "How far records that are near in one attribute are near in another: 0 to 1.",
    "Total variation": "Share of records that would have to change to make two distributions equal: 0 to 1.",
    "Mean and variance": "The value nearest to all others (the median, where values have an order), and the mean "
    "squared distance to it.",
    "Base": "The items that most of the records have that a row may be.",
    "Distance": "The items of a row that are uncertain: some of these records have them, others have not.",
    "Threshold": "The largest number of items in which one of these records differs from the base.",
    "Error rate": "Items flipped between a record and its base, relative to the items of the record.",
    "Error of counts": "Difference of a count before and after, relative to all records, over 500 random queries.",
    "Cramér's V": "Strength of the association of two attributes, 0 to 1; here before less after.",
}
