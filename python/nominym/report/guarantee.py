"""What was done to a table, and its guarantee, as both editions of a report state it."""

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
    "Strict semantic rank swapping: records of similar meaning are put into groups of at least k, and within each "
    "group every masked attribute is shuffled by itself.",
    ("rank",),
)
_MEANS = Description(
    "semantic microaggregation",
    "Semantic microaggregation: records of similar meaning are put into groups of at least k, and all records of a "
    "group get the mean of its values.",
    ("aggregation",),
)
_COMMON = Description(
    "generalization in groups",
    "Generalization in groups: records of similar meaning are put into groups of at least k, and all records of a "
    "group get what its values have in common: a concept above them, an interval, a list of values.",
    ("aggregation",),
)
_PUBLISHED = Description(
    "semantic rank swapping as published",
    "Semantic rank swapping as published: values are swapped with values of similar meaning.",
    ("rank",),
)
_EXPONENTIAL = Description(
    "the exponential mechanism",
    "The exponential mechanism: a value is replaced with any concept of its domain, near ones more often than "
    "distant ones.",
    ("noise",),
)
_NOISE = Description(
    "semantic noise",
    "Semantic noise: values are replaced with concepts at a randomly drawn semantic distance.",
    ("noise",),
)
_DATA_SWAP = Description(
    "data swapping", "Data swapping: values are exchanged within random pairs of records.", ("distortion",)
)
_UNKNOWN = Description("method not recorded", "Two tables were compared; how the second was made is not recorded.")


def described(method: Method | None) -> Description:
    """Return the description of a method."""
    if isinstance(method, RankSwap):
        return _STRICT if method.strict else _PUBLISHED
    if isinstance(method, Microaggregate):
        return _MEANS if method.replace == "mean" else _COMMON
    if isinstance(method, Noise):
        return _NOISE if method.epsilon is None else _EXPONENTIAL
    return _DATA_SWAP if isinstance(method, DataSwap) else _UNKNOWN


def subtitle(table: MaskedTable) -> str:
    """Return the masked columns, the method, and its amount."""
    amount = next((name for name in ("k", "p", "alpha", "epsilon", "rate") if name in table.params), None)
    how_much = f", {amount} = {table.params[amount]:g}" if amount else ""
    return f"{listed(table.masked)} masked: {described(table.method).name}{how_much}"


def statement(said: Guarantee, *notes: str) -> Verdict:
    """Return the verdict: what is guaranteed, or that nothing is; ``notes`` say first if hardly anything changes."""
    if notes:
        first = [f"{note[:1].upper()}{note[1:]}." for note in notes]
        return Verdict("open", f"Hardly anything changes. {said.headline}", [*first, said.claim], said.terms)
    return Verdict("holds" if said else "open", said.headline, [said.claim], said.terms)


def verified(said: Verdict, checked: Verification | None) -> Verdict:
    """Add whether the files of a release support the guarantee of their manifest."""
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
    lead = "The guarantee follows from how the release was made. It was not measured and does not depend on the draw."
    return [Section("Guarantee", lead, more, said.terms)] if said.terms else []


def not_covered(said: Guarantee, notes: Sequence[str], *blocks: Grid) -> Section:
    """List what is not covered, and the notes."""
    return Section("What is not covered", blocks=blocks, notes=[*said.not_covered, *notes])


def notes_of(table: MaskedTable, summary: Mapping[str, Any]) -> list[str]:
    """Return the notes, except those that come first on the page."""
    found = list(summary.get("notes", []))[len(table.first) :]
    gaps = [name for name, figures in summary.get("attributes", {}).items() if figures.get("missing")]
    if gaps and "groups" not in summary and not isinstance(table.method, DataSwap):
        found.append(f"Missing values of {listed(gaps)} stay in place and are not protected.")
    return found


def one_value(summary: Mapping[str, Any], count: Callable[[Any], str]) -> list[Grid]:
    """Tabulate how many groups have a single value; ``count`` formats numbers."""
    groups = summary.get("groups", {})
    rows = []
    for role, name in (("masked", "read_off"), ("kept", "constant")):
        for column, figures in groups.get(name, {}).items():
            counted = (figures["groups"], figures["records"])
            rows.append([str(column), role, *(Cell(count(each) if each else "none", each) for each in counted)])
    caption = "Groups with a single value: anyone known to belong to such a group has it, whichever row is theirs"
    header = ["attribute", "masked or kept", "groups with one value", "records in them"]
    return [Grid.of(caption, header, rows)] if rows else []


def other_tools(table: MaskedTable) -> Remark | None:
    """Explain, beside the sizes of groups, why tools that count equal rows report another k."""
    if "groups" not in table.summary or isinstance(table.method, Microaggregate):
        return None
    return Remark(
        "Other tools may report k = 1 here",
        f"A tool that counts equal rows, such as pycanon, may find {_combination(table.masked)} that occurs only "
        f"once, and report k = 1 for this release. That is no contradiction. Such tools measure k-anonymity, where "
        f"the masked values of a row are those of its person, made so coarse that k rows look alike. Here values keep "
        f"their detail and are swapped inside groups: the values of a row come from any records of its group, so a "
        f"row that is the only one of its kind does not show whose it is.",
    )


def _combination(masked: Sequence[Any]) -> str:
    return f"a combination of {listed(masked)}" if len(masked) > 1 else f"a value of {listed(masked)}"


def definitions(*names: str) -> Section:
    """Return definitions of terms."""
    return Section("Definitions", terms=[(name, _DEFINED[name]) for name in names])


def sources(method: Method | None, *more: str) -> list[str]:
    """Return the publications that a page cites."""
    return [SOURCES[name] for name in dict.fromkeys((*described(method).source, *more))]


_DEFINED = {
    "Re-identification probability": "The probability, for the adversary, that a given row belongs to a given person.",
    "Re-identified": "Share of those attacked for whom the adversary picks the right row, expected over the choice "
    "among equally good ones: of t such rows, each is picked with probability 1/t.",
    "Worst-off": "People about whom an adversary sees something, such as a single equal row, that makes the guess "
    "right with more than the stated probability; or of whose row the adversary is that certain.",
    "Group": "At least k records of similar meaning, among which values were exchanged at random.",
    "Group of equals": "At least k records of similar meaning, which all have the same masked values.",
    "Information loss": "The sum of squared distances between values before and after, relative to the sum if one "
    "mean replaced all records: from 0 (nothing lost) to 1 (a single group).",
    "Effective k": "The number among which a value, or a whole record, was actually hidden.",
    "Semantic distance": "How far apart two values are in a taxonomy: from 0 (the same) to 1 (unrelated), by Wu and "
    "Palmer unless another measure is named. For ordered values, the difference relative to the largest one.",
    "Distance moved (RMSE)": "Root of the mean squared distance between a record's value before and after.",
    "Expected": "The mean over all possible draws: it says nothing about the actual one.",
    "Distance correlation": "How far records that are near in one attribute are also near in another: 0 to 1.",
    "Total variation": "Share of records that would have to change to make two distributions equal: 0 to 1.",
    "Mean and variance": "The value nearest to all others (the median, where values have an order), and the mean "
    "squared distance to it.",
    "Base": "The items that most of the possible records of a row have.",
    "Distance": "The uncertain items of a row: some of its possible records have them, others do not.",
    "Threshold": "The largest number of items in which a possible record differs from the base.",
    "Error rate": "Items flipped between a record and its base, relative to the items of the record.",
    "Error of counts": "Difference of a count before and after, relative to all records, over 500 random queries.",
    "Cramér's V": "Strength of the association of two attributes, 0 to 1; here before minus after.",
    "k-marginal score": "From 1,000, where all joint distributions of k attributes are unchanged, to 0, where they "
    "have nothing in common; the mean over all sets of k attributes, as NIST defines it.",
    "pMSE and S_pMSE": "How well a model with a parameter for each combination of values of a marginal can tell "
    "records before and after apart, mean over the marginals: from 0 (not at all) to 1/4 (always). S_pMSE "
    "is relative to a table drawn anew from the distribution of the original, so 1 is chance.",
    "Unique exact matches": "Records whose values nobody else has, and that a row of the release has. A match of "
    "masked values does not show whose row it is: where these are swapped in groups of k, the "
    "re-identification probability is still 1/k. Kept values are those of the person, so a "
    "match of all attributes may show it.",
    "Disclosure": "What an intruder gets right who looks up the masked values of a person in the release as if it were "
    "the original, and reads off the kept value where all rows found agree. Compare it with what the "
    "original itself discloses, and with guesses by frequency.",
}
