"""Attacks on released tables: one table of attacks, what was known, and how many people were found."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from nominym import _core
from nominym.control import Progress, check_progress, check_seed, is_whole
from nominym.error import Advice, ParameterError, UnknownColumnError
from nominym.meaning import Meaning, Measure, check_meanings
from nominym.risk.attacks import ATTACKS, BY_KEPT, Guesses
from nominym.risk.scene import People, Scene, check_groups
from nominym.stats import interval
from nominym.table import Comparison, Missing, column_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

Sample: TypeAlias = Literal["auto"] | int | None
"""Values of ``sample=``: "auto", a number of records, or None for all."""

# "auto" attacks everybody up to the first number of people, and a sample of the second size beyond it.
_ALL, _SAMPLE = 100_000, 20_000

# With more kept columns than the first number, each by itself gets a brief scene, in which "auto" attacks as many
# people as the second.
_KEPT, _IN_BRIEF = 8, 5_000

# A bound is exceeded if at least as many finds would be less probable than this where it holds: among all people, and
# among those of whom the adversary sees the same. Small, since every attack has several such classes.
_OF_ALL, _OF_CLASS = 1e-3, 5e-4

# People count as worse off than 2/k or 1/2 if their class is, but for this probability.
_WORSE_OFF = 0.05


@dataclass(frozen=True)
class Attacked:
    """The options of an attack that do not depend on the data."""

    k: int | None
    sample: Sample
    seed: int | None

    def __post_init__(self) -> None:
        """Check the options."""
        if self.k is not None and not (is_whole(self.k) and self.k >= 1):
            raise ParameterError("give a whole number, 1 or more, or None", parameter="k", value=self.k)
        sample = self.sample
        named = sample == "auto" if isinstance(sample, str) else sample is None
        if not named and not (is_whole(sample) and int(sample) >= 1):  # type: ignore[arg-type]
            what = "give 'auto', a number of records, or None for all of them"
            raise ParameterError(what, parameter="sample", value=sample)
        check_seed(self.seed)

    @property
    def bound(self) -> float | None:
        """Return the largest share that k allows."""
        return None if self.k is None else 1 / operator.index(self.k)

    def rows(self, n: int) -> NDArray[np.uint32] | None:
        """Draw who is attacked, ascending; None for everybody."""
        if self.sample is None:
            return None
        automatic = n if n <= _ALL else _SAMPLE
        size = automatic if isinstance(self.sample, str) else operator.index(self.sample)
        return None if size >= n else _core.draw_sample(n, size, self.seed)


@dataclass(frozen=True, repr=False, eq=False)
class Linkage:
    """The outcome of attacking a release. It does not say who was found."""

    attacks: pd.DataFrame
    """One row for each attack and what was known: ``attack``; ``known``, the masked columns; ``also_known``, the kept
    ones; how many were ``attacked``; the ``share`` of them who are found, expected over the choice among equally good
    guesses, and 95 % bounds for that of all people, ``low`` and ``high``; the share of those in classes, by what the
    adversary sees, that are found with a probability ``above_2k``, 2/k, and ``above_half``, which "best matching" does
    not provide; the ``bound`` 1/k, whether it ``holds``, and if not, ``why``."""
    records: int
    """Records before."""
    persons: int | None
    """Number of persons; None if every record is a person."""
    bound: float | None
    """The share that k allows, 1/k."""

    @property
    def worst(self) -> dict[str, Any]:
        """Return the most successful attack, as a row of ``attacks``."""
        return _largest(self.attacks)

    @property
    def share(self) -> float:
        """Return the share found by the most successful attack."""
        return float(self.worst["share"])

    @property
    def share_masked(self) -> float | None:
        """Return the largest share found by masked columns alone; None if no such attack was run."""
        alone = self._by_masked
        return float(alone["share"].max()) if len(alone) else None

    @property
    def holds(self) -> bool | None:
        """Return whether no attack exceeds the bound by more than chance; None without k. This is not a proof."""
        return None if self.bound is None else all(self.attacks["holds"])

    @property
    def holds_masked(self) -> bool | None:
        """Return the same for the attacks by masked columns alone; None without k, or if no such attack was run."""
        alone = self._by_masked
        return None if self.bound is None or not len(alone) else all(alone["holds"])

    @property
    def _by_masked(self) -> pd.DataFrame:
        return self.attacks[_is_by_masked(self.attacks)]

    def __eq__(self, other: object) -> bool:
        """Return whether all figures are equal."""
        return self.to_dict() == other.to_dict() if isinstance(other, Linkage) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the largest shares, how they were found, and whether the bound is exceeded."""
        who = f"{self.records:,} records" + ("" if self.persons is None else f" of {self.persons:,} persons")
        parts = []
        by_masked = _is_by_masked(self.attacks)
        for some, how in ((by_masked, "by masked columns"), (~by_masked, "with kept columns")):
            if some.any():
                worst = _largest(self.attacks[some])
                also = f", {', '.join(map(str, worst['also_known']))}" if worst["also_known"] else ""
                parts.append(f"{how} {worst['share']:.4f} ({worst['attack']}{also})")
        if self.bound is not None:
            where = "" if self.holds_masked is False else " with kept columns"
            told = "not exceeded" if self.holds else f"EXCEEDED{where}"
            parts.append(f"bound {self.bound:.4g} {told}")
        return f"<Linkage of {who}: found {', '.join(parts)}>"

    def to_dict(self) -> dict[str, Any]:
        """Return all figures by name, the attacks as a list."""
        return {
            "records": self.records,
            "persons": self.persons,
            "bound": self.bound,
            "share": self.share,
            "share_masked": self.share_masked,
            "holds": self.holds,
            "holds_masked": self.holds_masked,
            "attacks": _rows(self.attacks),
        }


def linkage(
    before: Any,
    after: Any,
    meanings: Mapping[Any, Meaning],
    *,
    known: Any = None,
    kept: Any = None,
    attacks: Any = None,
    person: Any = None,
    groups: Any = None,
    k: int | None = None,
    sample: Sample = "auto",
    truth: Any = None,
    measure: str | Measure = "wu-palmer",
    roots: Mapping[Any, object] | None = None,
    missing: Missing = "keep",
    seed: int | None = None,
    progress: Progress = None,
) -> Linkage:
    """Attack a release in several ways, with masked columns known, and with kept columns known as well.

    >>> import nominym as nym
    >>> frame, taxonomies = nym.datasets.discharges(2_000, seed=1)
    >>> frame = frame[["diagnosis", "procedure", "sex"]]
    >>> masked = {name: taxonomies[name] for name in ("diagnosis", "procedure")}
    >>> strict = nym.rank_swap(frame, masked, k=5)
    >>> found = nym.risk.linkage(frame, strict.data, masked, k=5)
    >>> found.share_masked < 0.25, found.holds_masked
    (True, True)
    >>> nym.risk.linkage(frame, frame, masked, k=5).holds_masked
    False

    Parameters
    ----------
    before, after
        The original table and its release: frames of any kind, which may differ. Row i of ``after`` is the release of
        row i of ``before``, by position, unless ``truth`` says otherwise.
    meanings
        The meanings of masked columns: a ``Taxonomy``, a ``DistanceMatrix``, an ``Order`` or an ``Equality``.
    known
        The masked columns that the adversary knows; by default all of ``meanings``.
    kept
        The kept columns that the adversary may know as well, one by one and all together: rows with another value are
        then no candidates. By default all columns of both tables without a meaning; [] for none. Numbers match if they
        are equal, all other values if their texts are.
    attacks
        Names from ``nominym.risk.ATTACKS``; by default all that apply. "nearest row" takes the nearest row; "equal
        rows" one with exactly the known values, or none; "one-to-one recoding" first infers which value was renamed to
        which; "best matching" assigns rows to all people at once; "informed adversary", where groups are known,
        predicts kept columns from masked ones; "linked rows" combines the rows that share a value of a kept column, if
        few rows do. With more than 8 kept columns, "one-to-one recoding" and "best matching" run with none and with all
        of them known, not with each by itself.
    person
        A column of ``before`` that identifies the person of each record. The adversary knows all records of a person
        and guesses one row; all shares count persons.
    groups
        The group of each record, for an adversary who knows the groups.
    k
        To compare shares with 1/k.
    sample
        Number of people to look for: "auto" for all of up to 100,000, else 20,000 drawn at random; a number; or None
        for all. "best matching" looks for about 10,000 of them, or 1,000 without groups; "linked rows" for 2,000
        values. With more than 8 kept columns, "auto" takes 5,000 where one of them is known by itself.
    truth
        For a release whose rows are in another order, the row of each record, from the owner's record.
    measure, roots
        The distance, and roots for depths by column; by default the least common subsumer of the column.
    missing
        "keep" or "error". A missing value is equal to other missing ones, and as far from every value as the two
        farthest values of the column are from each other.
    seed
        For samples, and for ties of "one-to-one recoding" and "best matching"; without it they are drawn from the
        operating system's randomness.
    progress
        ``True`` for a bar, or a callable of (done, total).

    Returns
    -------
    Linkage
        The table ``attacks``, the largest ``share`` found, ``share_masked`` by masked columns alone, and whether the
        bound ``holds``. Numbers only: nobody is named.

    Pagliuca and Seri (1999), Some results of individual ranking method on the system of enterprise accounts annual
    survey; Domingo-Ferrer and Torra (2001), A quantitative comparison of disclosure control methods for microdata; with
    semantic distances, Martínez, Sánchez and Valls (2012), Evaluation of the disclosure risk of masking methods dealing
    with textual attributes, International Journal of Innovative Computing, Information and Control 8.
    """
    given = check_meanings(meanings)
    comparison = Comparison.of(
        before, after, given, measure=measure, roots=roots, truth=truth, missing=missing, progress=progress
    )
    return link(
        comparison,
        known=known,
        kept=kept,
        attacks=attacks,
        person=person,
        groups=groups,
        k=k,
        sample=sample,
        seed=seed,
        progress=progress,
    )


def link(
    comparison: Comparison,
    *,
    known: Any = None,
    kept: Any = None,
    attacks: Any = None,
    person: Any = None,
    groups: Any = None,
    k: int | None = None,
    sample: Sample = "auto",
    seed: int | None = None,
    progress: Progress = None,
) -> Linkage:
    """Attack a release whose columns are already coded; see ``linkage``."""
    check_progress(progress)
    who = Attacked(k, sample, seed)
    chosen = _attacks(attacks)
    masked, others = _masked(known, comparison), _kept(kept, comparison)
    people = People.of(comparison.before, person)
    people = replace(people, chosen=who.rows(people.number))
    numbered = check_groups(groups, len(comparison))
    scene = Scene(comparison, people, tuple(masked), (), tuple(others), False, numbered, k, seed, progress)
    found = []
    for each in _scenes(scene, sample):
        for name in chosen:
            guesses = ATTACKS[name](each)
            if guesses is not None:
                found.append(_judged(name, each, guesses, who.bound))
    if not found:
        what = "none of these applies here: linked rows need a kept column whose values few rows share, an informed "
        raise ParameterError(f"{what}adversary kept columns and groups", parameter="attacks", value=attacks)
    found.sort(key=lambda row: chosen.index(row["attack"]))
    table = pd.DataFrame({name: pd.Series([row[name] for row in found]) for name in found[0]})
    return Linkage(table, len(comparison), None if person is None else people.number, who.bound)


def _scenes(scene: Scene, sample: Sample) -> Iterator[Scene]:
    """List what may be known: all masked columns, with each kept one, with all kept ones; and each masked one alone."""
    yield scene
    single = scene
    if len(scene.kept) > _KEPT:
        people = scene.people.drawn(_IN_BRIEF, scene.seed) if isinstance(sample, str) else scene.people
        single = replace(scene, people=people, brief=True)
    for name in scene.kept:
        yield replace(single, also=(name,))
    if len(scene.kept) > 1:
        yield replace(scene, also=scene.kept)
    if len(scene.known) > 1:
        for name in scene.known:
            yield replace(scene, known=(name,), partial=True)


def _judged(name: str, scene: Scene, guesses: Guesses, bound: float | None) -> dict[str, Any]:
    """Make a row of the table."""
    chance, size = guesses.chance, len(guesses.chance)
    share = math.fsum(chance) / size
    low, high = interval(share, math.fsum(chance**2) / size, size, guesses.of)
    row = {
        "attack": name,
        "known": scene.known,
        "also_known": scene.also,
        "attacked": size,
        "share": share,
        "low": low,
        "high": high,
        "above_2k": None,
        "above_half": None,
        "bound": bound,
        "holds": None,
        "why": "",
    }
    if bound is None:
        return row
    classes = [(text, mask, int(mask.sum()), math.fsum(chance[mask])) for text, mask in guesses.sights.items()]
    for key, limit in (("above_2k", 2 * bound), ("above_half", 0.5)) if guesses.tells_worst else ():
        masks = [mask for _, mask, n, right in classes if _exceeds(right, n, limit, _WORSE_OFF)]
        row[key] = float(np.logical_or.reduce(masks).mean()) if masks else 0.0
    reasons = []
    if _exceeds(share * size, size, bound, _OF_ALL):
        reasons.append(f"{_percent(share)} of the {size:,} {guesses.unit} are found")
    exceeding = [
        (right / n, f"{n:,} {guesses.unit} {text.format(f'{_percent(right / n)} of the cases')}")
        for text, _, n, right in classes
        if n < size and _exceeds(right, n, bound, _OF_CLASS)
    ]
    if exceeding:
        reasons.append(max(exceeding)[1])
    return {**row, "holds": not reasons, "why": "; ".join(reasons)}


def _exceeds(found: float, number: int, limit: float, probability: float) -> bool:
    """Return whether so large a number found is improbable if every guess is right with probability ``limit``.

    The tail of the Poisson law, from its first term: the further ones fall at least as fast as the second. Guesses
    inside a group are not independent: who guesses one row of a pair right has both right. But rows are a uniform
    permutation of the people of a group of s, so j given guesses are all right with a probability of at most
    (s - j)! / s!, and no factorial moment of the number found is larger than that of the Poisson law with its mean.

    >>> _exceeds(21, 100, 0.1, 0.001), _exceeds(22, 100, 0.1, 0.001), _exceeds(1, 1, 0.05, 0.001)
    (False, True, False)
    """
    mean = limit * number
    if found <= mean or limit >= 1:
        return False
    term = found * math.log(mean) - mean - math.lgamma(found + 1)
    return term - math.log1p(-mean / (found + 1)) < math.log(probability)


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %" if share == 1 else "more than 99 %"


def _is_by_masked(attacks: pd.DataFrame) -> pd.Series[bool]:
    return (attacks["also_known"].map(len) == 0) & ~attacks["attack"].isin(BY_KEPT)


def _rows(attacks: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows by name; None where the table has no number."""
    return [
        {str(name): None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
        for row in attacks.to_dict("records")
    ]


def _largest(attacks: pd.DataFrame) -> dict[str, Any]:
    return max(_rows(attacks), key=lambda row: float(row["share"]))


# ---- what is asked for


def _attacks(names: Any) -> list[str]:
    if names is None:
        return list(ATTACKS)
    try:
        chosen = column_names(names, list(ATTACKS), "attacks")
    except UnknownColumnError:
        chosen = []
    if not chosen:
        raise ParameterError(f"name some of {', '.join(map(repr, ATTACKS))}", parameter="attacks", value=names)
    return sorted(chosen, key=list(ATTACKS).index)


def _masked(known: Any, comparison: Comparison) -> Sequence[Any]:
    meant = list(comparison.changes)
    if known is None:
        names = meant
    else:
        try:
            names = column_names(known, meant, "known")
        except UnknownColumnError as error:
            raise UnknownColumnError(f"known: {error}", remedy="give it a meaning, such as nym.Equality()") from None
    if not names:
        raise ParameterError("name at least one column; an adversary who knows nothing finds nobody", parameter="known")
    return names


def _kept(kept: Any, comparison: Comparison) -> Sequence[Any]:
    if kept is None:
        return comparison.kept
    try:
        return column_names(kept, comparison.kept, "kept")
    except UnknownColumnError as error:
        remedy = Advice("name columns of both tables that have no meaning, or {} for none", kept=[])
        raise UnknownColumnError(f"kept: {error}", remedy=remedy) from None
