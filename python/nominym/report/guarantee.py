"""What was done to a table, and where its guarantee stands on a page. Both editions say it alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nominym.aggregate import Microaggregate
from nominym.guarantee import Guarantee
from nominym.method import Method
from nominym.noise import Noise
from nominym.release import Verification
from nominym.report.content import Cell, Grid, Picture, Remark, Section, Verdict
from nominym.report.subject import MaskedTable
from nominym.report.words import SOURCES, listed
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
_MEANS = Description(
    "semantic microaggregation",
    "Semantic microaggregation: records that are alike in meaning are put into groups of at least k, and all records "
    "of a group get the mean of its values.",
    ("aggregation",),
)
_COMMON = Description(
    "generalization in groups",
    "Generalization in groups: records that are alike in meaning are put into groups of at least k, and all records of "
    "a group get what its values have in common: a concept above them, an interval, a list of values.",
    ("aggregation",),
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
    if isinstance(method, Microaggregate):
        return _MEANS if method.replace == "mean" else _COMMON
    if isinstance(method, Noise):
        return _NOISE if method.epsilon is None else _EXPONENTIAL
    return _DATA_SWAP if isinstance(method, DataSwap) else _UNKNOWN


def subtitle(table: MaskedTable) -> str:
    """Name the masked columns, the method, and how much of it."""
    amount = next((name for name in ("k", "p", "alpha", "epsilon", "rate") if name in table.params), None)
    how_much = f", {amount} = {table.params[amount]:g}" if amount else ""
    return f"{listed(table.masked)} masked: {described(table.method).name}{how_much}"


def statement(said: Guarantee, *notes: str) -> Verdict:
    """Put what is guaranteed, or that nothing is, on a page; ``notes`` say first that hardly anything changes."""
    if notes:
        first = [f"{note[:1].upper()}{note[1:]}." for note in notes]
        return Verdict("open", f"Hardly anything changes. {said.headline}", [*first, said.claim], said.terms)
    return Verdict("holds" if said else "open", said.headline, [said.claim], said.terms)


def verified(said: Verdict, checked: Verification | None) -> Verdict:
    """Add whether the files of a release bear out what their manifest guarantees."""
    if checked is None:
        return said
    if checked.broken:
        found = [f"{why[:1].upper()}{why[1:]}." for why in checked.broken]
        return Verdict("broken", "Broken: the files contradict the manifest", [*found, *said.paragraphs], said.terms)
    if checked.doubts:
        headline = f"Not verified: {said.headline}"
        why = f"The guarantee is stated by the manifest. It is not verified: {'; '.join(checked.doubts)}."
        return said._replace(state="open", headline=headline, paragraphs=[*said.paragraphs, why])
    return said._replace(paragraphs=[*said.paragraphs, f"Verified by the files: {'; '.join(checked.checks)}."])


def section(said: Verdict, *more: Picture) -> list[Section]:
    """Explain the guarantee, where there is one."""
    lead = "The guarantee follows from how the release was made; it was not measured, and does not depend on the draw."
    return [Section("Guarantee", lead, more, said.terms)] if said.terms else []


def not_covered(said: Guarantee, notes: Sequence[str], *blocks: Grid) -> Section:
    """List what is not covered, and what a reader should not miss."""
    return Section("What is not covered", blocks=blocks, notes=[*said.not_covered, *notes])


def notes_of(table: MaskedTable, summary: Mapping[str, Any]) -> list[str]:
    """Return what a reader should not miss, apart from what comes before anything else."""
    found = list(summary.get("notes", []))[len(table.first) :]
    gaps = [name for name, figures in summary.get("attributes", {}).items() if figures.get("missing")]
    if gaps and "groups" not in summary and not isinstance(table.method, DataSwap):
        found.append(f"Missing values of {listed(gaps)} stay where they were, and are not protected.")
    return found


def one_value(summary: Mapping[str, Any], count: Callable[[Any], str]) -> list[Grid]:
    """Tabulate how many groups have one value only; ``count`` writes numbers."""
    groups = summary.get("groups", {})
    rows = []
    for role, name in (("masked", "read_off"), ("kept", "constant")):
        for column, figures in groups.get(name, {}).items():
            counted = (figures["groups"], figures["records"])
            rows.append([str(column), role, *(Cell(count(each) if each else "none", each) for each in counted)])
    caption = "Groups with one value only: whoever is known to belong to one of them has it, whichever row is theirs"
    header = ["attribute", "masked or kept", "groups with one value", "records in them"]
    return [Grid.of(caption, header, rows)] if rows else []


def other_tools(table: MaskedTable) -> Remark | None:
    """Explain, beside the sizes of groups, why tools that count equal rows read another k."""
    if "groups" not in table.summary or isinstance(table.method, Microaggregate):
        return None
    return Remark(
        "Other tools may read k = 1 here",
        f"A tool that counts equal rows, such as pycanon, may find {_combination(table.masked)} that occurs only "
        "once, and read k = 1 from this release. That is no contradiction. Such tools measure k-anonymity, where "
        "the masked values of a row are those of its owner, made so coarse that k rows look alike. Here values stay as "
        "fine as they were and change places inside groups: the values of a row come from any records of its group, so "
        "a row that is the only one of its kind does not show whose it is.",
    )


def _combination(masked: Sequence[Any]) -> str:
    return f"a combination of {listed(masked)}" if len(masked) > 1 else f"a value of {listed(masked)}"


def definitions(*names: str) -> Section:
    """Explain terms."""
    return Section("Definitions", terms=[(name, _DEFINED[name]) for name in names])


def sources(method: Method | None, *more: str) -> list[str]:
    """List the publications that a page rests on."""
    return [SOURCES[name] for name in dict.fromkeys((*described(method).source, *more))]


_DEFINED = {
    "Re-identification probability": "The probability, for the adversary, that a certain row is the one of a certain "
    "person.",
    "Re-identified": "Share of those attacked for whom the row that the adversary takes is their own, expected over "
    "the choice among equally good ones: of t rows each is taken with probability 1/t.",
    "Worst-off": "People of whom an adversary sees something, such as a single equal row, that makes the guess right "
    "with more than the probability named; or whose row the adversary believes in so strongly.",
    "Group": "Records that are alike in meaning, at least k of them, among which values were exchanged at random.",
    "Group of equals": "Records that are alike in meaning, at least k of them, which all have the same masked values.",
    "Information loss": "The sum of squared distances between values before and after, relative to the sum if one mean "
    "stood for all records: from 0 (nothing lost) to 1 (one group of all).",
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
    "k-marginal score": "From 1,000, where all joint distributions of k attributes are as they were, to 0, where they "
    "have nothing in common; the mean over all sets of k attributes, as NIST has it.",
    "pMSE and S_pMSE": "How well records before and after can be told apart by a model with a parameter for each "
    "combination of values of a marginal, mean over the marginals: 0 is not at all, 1/4 without fail. S_pMSE is "
    "relative to what a table drawn anew from the distribution of the original would have, so 1 is chance.",
    "Unique exact matches": "Records whose values nobody else has, and that a row of the release has. Whose row it is, "
    "a match does not say: where values change places in groups of k, the re-identification probability is 1/k all the "
    "same.",
    "Disclosure": "What somebody gets right who looks the masked values of a person up in the release, takes it for "
    "the original, and reads off the kept value where all rows found agree. To be compared with what the original "
    "itself discloses, and with guesses by how frequent values are.",
}
