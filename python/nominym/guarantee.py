"""What a release guarantees, stated once: the claim, its adversary, unit and premise, and what is not covered.

>>> import nominym as nym
>>> said = nym.RankSwap(k=10).statement(["diagnosis"], ["age"])
>>> said.headline
'Re-identification probability of a row: at most 1 in 10'
>>> print(said.premise)
Nothing else tells the rows of a group apart: age is neither known of a person nor predictable from diagnosis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

Kind = Literal["groups", "labels", "local", "none"]

GROUPS = (
    "To an adversary who knows the masked values of everybody, the groups and the algorithm, but nothing that tells "
    "the rows of a group apart, every row of a group is equally likely to belong to a given member of it"
)
"""The guarantee of permuting inside groups, in one sentence."""

LABELS = (
    "Every group shows at least l different labels, each on at most a share of 1/l of its rows. That is about labels "
    "that are shown, not about what an adversary believes"
)
"""The guarantee of l, in one sentence."""

LIMITS = (
    "That is about what groups show, not about what an adversary believes, nor about finding a row. An adversary who "
    "takes the groups as given, without reasoning from how they were formed, is left with the shares of a group: a row "
    "is a given record's with a probability of 1 divided by its size"
)
"""The guarantee of limits on kept columns, in one sentence."""

REPEATS = (
    "Differencing and repeats: two releases of the same records, or of records that differ in a few, reveal more than "
    "either. Publish one."
)
JOINT = "Masked values of a row were moved together: an adversary who recognises one reads the others."
SHARED = "Values that all records of a group share: they are known of its members without finding the row."
ORDER = (
    "Order: where rows stay in the order of the original, or keep its index, anyone who knows that order knows whose "
    "they are. Shuffle the rows before you publish them."
)
MEANS = (
    "Insiders: a mean is computed from the values of its group, so anyone who knows all of them but one, such as "
    "members who pool what they know, can compute the last. Even rounded, the published figures of the loss narrow "
    "down values further."
)
ENDS = (
    "What a generalized value says: that every record of its group lies within it. The ends of an interval, and each "
    "value that is listed, are those of somebody in the group; even rounded, the published figures of the loss narrow "
    "down the others."
)
SEEDS = "Seeds: anyone who has or guesses the seed can repeat the draw. A release made with a seed guarantees nothing."


@dataclass(frozen=True)
class Guarantee:
    """What holds for a release whatever was drawn, and against whom."""

    kind: Kind
    """"groups", "labels" shown, "local" differential privacy, or "none"."""
    headline: str
    """A short form."""
    claim: str
    """The guarantee, or why there is none, in a sentence or two."""
    bound: float | None = None
    """The bound on the re-identification probability, where one is guaranteed."""
    adversary: str = ""
    """The adversary: what they know, and what they do not."""
    unit: str = ""
    """What is protected: one record, one person or one value."""
    premise: str = ""
    """What must be true for it to hold."""
    not_covered: tuple[str, ...] = ()
    """What it does not cover."""

    def __bool__(self) -> bool:
        """Return whether anything is guaranteed."""
        return self.kind != "none"

    def __str__(self) -> str:
        """Return the whole statement, one line for each part."""
        said = [f"{name}: {text}" for name, text in self.terms]
        return "\n".join([self.claim, *said, *(f"Not covered: {text}" for text in self.not_covered)])

    @property
    def terms(self) -> list[tuple[str, str]]:
        """Return the parts by name, for pages and tables."""
        parts = {"Adversary": self.adversary, "Unit": self.unit, "Premise": self.premise}
        return [(name, text) for name, text in parts.items() if text]

    def to_dict(self) -> dict[str, Any]:
        """Return all parts by name."""
        return {**asdict(self), "not_covered": list(self.not_covered)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Guarantee:
        """Restore a guarantee from ``to_dict``; anything else is a ``ValueError``."""
        names = {each.name for each in fields(cls)}
        texts = {name: given.get(name) for name in names - {"bound", "not_covered"}}
        bound, not_covered = given.get("bound"), given.get("not_covered")
        if (
            set(given) != names
            or texts["kind"] not in get_args(Kind)
            or not isinstance(bound, float | int | None)
            or not isinstance(not_covered, list | tuple)
            or not all(isinstance(text, str) for text in (*texts.values(), *not_covered))
        ):
            raise ValueError("not a statement of a guarantee")
        return cls(**{**given, "not_covered": tuple(not_covered)})


def of_groups(
    k: int,
    masked: Sequence[Any],
    kept: Sequence[Any] = (),
    *,
    what: str = "",
    person: Any = None,
    accepted: Sequence[Any] = (),
    joint: bool = False,
) -> Guarantee:
    """State what permuting inside groups of k guarantees. ``what`` names what is masked where there are no columns.

    >>> of_groups(5, ["icd"], person="patient").headline
    'Probability that a row belongs to a given person: at most 1 in 5'
    """
    values = what or f"the true {listed(masked)}"
    apart = "Nothing else tells the rows of a group apart"
    if kept:
        apart += f": {listed(kept)} {'are' if len(kept) > 1 else 'is'} neither known of a person nor predictable from "
        apart += listed(masked)
    if accepted:
        apart += f", although {listed(accepted)} could tell many rows apart, which the owner accepted"
    if person is None:
        headline = f"Re-identification probability of a row: at most 1 in {k:,}"
        claim = f"{GROUPS}: the probability is 1 divided by the size of the group, at most 1/{k}."
        unit = (
            "One record. If a person has several, each is protected by itself, and whatever links them links their "
            "rows: name the column that identifies persons, so that groups are formed of persons."
        )
    else:
        headline = f"Probability that a row belongs to a given person: at most 1 in {k:,}"
        claim = f"{GROUPS}, and no person has more than 1/{k} of the rows of a group: the probability that a row is "
        claim += f"one of a given person's is at most 1/{k}."
        unit = f"One person, by the column {person}, which is not published; what an adversary knows of a person may "
        unit += "be all of their records."
    return Guarantee(
        kind="groups",
        headline=headline,
        claim=claim,
        bound=1 / k,
        adversary=f"Knows {values} of all records, who is in which group, the algorithm and its options. Does not know "
        "what was drawn, nor anyone's row.",
        unit=unit,
        premise=f"{apart}.",
        # Item sets are published in random order; rows of a table stay where they are unless somebody shuffles them.
        not_covered=(*_not_covered(k, kept, joint), *(() if what else (ORDER,)), REPEATS, SEEDS),
    )


def of_classes(
    k: int,
    masked: Sequence[Any],
    kept: Sequence[Any] = (),
    *,
    means: bool = True,
    person: Any = None,
    sensitive: Mapping[Any, int] | None = None,
    accepted: Sequence[Any] = (),
) -> Guarantee:
    """State what one value for all records of a group of k guarantees: the group's mean, or what its values share.

    >>> of_classes(5, ["icd", "age"]).headline
    'k-anonymity: every combination of icd and age that occurs is shared by at least 5 records'
    """
    columns, members = listed(masked), f"{k:,} {'records' if person is None else 'persons'}"
    inside = MEANS if means else ENDS
    shared = f"every combination of {columns} that occurs is shared by at least {members}"
    if sensitive:
        limited = of_limits(k, masked, kept, sensitive, person=person, accepted=accepted)
        return replace(
            limited,
            headline=f"k-anonymity: {shared}; in groups, {listed(_limits(sensitive))}",
            claim=f"Every group has one value of {columns}, so that {shared}. {limited.claim}",
            not_covered=(inside, *limited.not_covered),
        )
    known = of_groups(k, masked, kept, person=person, accepted=accepted)
    what = f"all rows of a group show the same {columns}"
    claim = known.claim[0].lower() + known.claim[1:]
    return replace(
        known,
        headline=f"k-anonymity: {shared}",
        claim=f"{shared[0].upper()}{shared[1:]}, because {what}. Therefore, {claim}",
        adversary=f"Knows the true {columns} of all records, who is in which group, the algorithm and its options. "
        "Does not know what was drawn, nor anyone's row.",
        # Where no column is kept, rows of a group are all the same: a member who knows their own learns nothing.
        not_covered=(inside, *(text for text in known.not_covered if kept or not text.startswith("Insiders"))),
    )


def _limits(sensitive: Mapping[Any, int]) -> list[str]:
    return [f"no value of {name} is on more than 1 in {share:,}" for name, share in sensitive.items()]


def _not_covered(k: int, kept: Sequence[Any], joint: bool) -> list[str]:
    found = []
    if kept:
        found.append(
            f"Kept columns: an adversary who knows {listed(kept, 'or')} of a person, or can predict it, may "
            f"re-identify the person with a higher probability than 1/{k}. Mask what an adversary may know."
        )
    found.append(SHARED)
    if joint:
        found.append(JOINT)
    found.append(
        f"Insiders: t members of a group of s who know their own rows leave 1/(s − t) for the others, which may be "
        f"more than 1/{k}."
    )
    return found


def of_limits(
    k: int,
    masked: Sequence[Any],
    kept: Sequence[Any],
    sensitive: Mapping[Any, int],
    *,
    person: Any = None,
    accepted: Sequence[Any] = (),
    joint: bool = False,
) -> Guarantee:
    """State what permuting guarantees inside groups of k formed with regard to kept columns.

    >>> of_limits(5, ["icd"], ["hiv"], {"hiv": 3}).headline
    'Groups of at least 5 records, in which no value of hiv is on more than 1 in 3'
    """
    columns, members = listed(list(sensitive)), f"{k:,} {'records' if person is None else 'persons'}"
    limits = [f"{name} is on more than 1 in {share:,}" for name, share in sensitive.items()]
    shares = [f"no value of {name} is on more than 1/{share} of its rows" for name, share in sensitive.items()]
    if person is not None:
        shares = [f"no person has more than 1/{k} of its rows", *shares]
    allowed = f" The owner accepted {listed(accepted)}, which could tell many rows apart." if accepted else ""
    return Guarantee(
        kind="labels",
        headline=f"Groups of at least {members}, in which no value of {listed(limits, 'or')}",
        claim=f"Every group has at least {members}, and {listed(shares)}. {LIMITS}.",
        adversary="Anybody who looks at a group.",
        unit="One group of rows.",
        not_covered=(
            f"Belief: groups were formed with regard to {columns}, so an adversary who knows the algorithm and the "
            f"groups may be more certain of {columns} of a person than the shares in a group suggest (minimality).",
            f"Re-identification: for the same reason, such an adversary may find a person's row with a probability "
            f"above 1/{k}, up to 1. No probability is guaranteed.",
            f"Kept columns: an adversary who knows {listed(kept or list(sensitive), 'or')} of a person, or can predict "
            f"it from {listed(masked)}, may find the row. Mask what an adversary may know.{allowed}",
            SHARED,
            *((JOINT,) if joint else ()),
            ORDER,
            REPEATS,
            SEEDS,
        ),
    )


def of_labels(least: int) -> Guarantee:
    """State what groups with l labels guarantee."""
    return Guarantee(
        kind="labels",
        headline=f"At least {least:,} sensitive labels in every group",
        claim=LABELS.replace("1/l", f"1/{least}").replace("least l", f"least {least:,}") + ".",
        adversary="Anybody who looks at a group.",
        unit="One group of rows.",
        not_covered=(
            "Belief: groups are formed with regard to labels, so an adversary who knows the algorithm and everybody's "
            "items may find some labels of a person likelier than others (minimality).",
            "Re-identification: which rows may be a record's depends on its label, so no probability is guaranteed.",
            "Known labels: an adversary who knows the label of a person looks for it in the rows.",
            SHARED,
            REPEATS,
            SEEDS,
        ),
    )


def local(epsilon: float, masked: Sequence[Any]) -> Guarantee:
    """State what the exponential mechanism guarantees."""
    spent = f"{epsilon * len(masked):.3g}"
    return Guarantee(
        kind="local",
        headline=f"Each value has local differential privacy, ε = {epsilon:g}",
        claim=f"Each masked value by itself has local differential privacy with ε = {epsilon:g}; a record with "
        f"{len(masked)} masked values spends {spent} in all. That is about values, not about finding a row.",
        adversary="Knows everything but the value in question and what was drawn for it.",
        unit="One value of one record; the ε of all values of a person add up.",
        premise="The domain of values and the options were chosen without regard to the data.",
        not_covered=(
            "Re-identification: no probability of finding a row is guaranteed.",
            "Missing values: whether a value is missing is not protected.",
            "Figures: the number of categories that occurred, and of missing values, is that of the data.",
            REPEATS,
            SEEDS,
        ),
    )


def none(why: str, seeded: bool = False) -> Guarantee:
    """State that nothing is guaranteed, and why."""
    headline = "No guarantee: made with a seed, for studies" if seeded else "No guarantee"
    return Guarantee("none", headline, why, not_covered=(REPEATS, *(() if seeded else (SEEDS,))))


SEEDED = none(
    "Made with a seed, for studies: anyone who has the data, and has or guesses the seed, can repeat the draw. Nothing "
    "is guaranteed; for a release, give no seed.",
    seeded=True,
)
"""A seed voids every guarantee."""


def listed(names: Sequence[Any], word: str = "and") -> str:
    """Return names as a list in words.

    >>> listed(["age", "sex", "ward"]), listed(["age"]), listed(["age", "sex"], "or")
    ('age, sex and ward', 'age', 'age or sex')
    """
    *first, last = map(str, names)
    return f"{', '.join(first)} {word} {last}" if first else last
