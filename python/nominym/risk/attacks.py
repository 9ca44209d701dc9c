"""Attacks: functions from a scene to the probability, for each person, that the adversary's guess is right.

An attack that does not apply to a scene returns None. Guesses also record what the adversary sees when guessing, such
as a single equal row: where a method guarantees 1/k, it does so whatever is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nominym import _core
from nominym.control import reporter
from nominym.meaning import categories_of
from nominym.risk.scene import People, Scene
from nominym.table import MISSING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.meaning import Distances

# The nearest people who compete with somebody for rows, where there are no smaller groups.
_NEIGHBOURS = 200

# Number of records that are matched if groups are known, and if neighbours have to be found first. The latter takes
# longer the more records there are, so from the last number on, fewer are matched.
_IN_GROUPS, _IN_NEIGHBOURHOODS, _MANY = 10_000, 1_000, 400_000

# Number of values to look for in a column that links rows.
_BUNDLES = 2_000

# A column links rows if it has at least the first number of values, each shared by at most the second number of rows on
# average. A patient may have many rows, but then there are many patients; a few values that many rows share are more
# likely ages or wards.
_LINKS = ((20, 20), (150, 100))

# Numbers with more values than this are put into ranges, where it matters how often a value occurs: with another value,
# and in a bag of rows.
_PREDICTED, _BAGGED = 20, 200

# Largest number of values among which a renaming is looked for; if there are more numbers, their order shows which is
# which.
_NAMES = 5_000


@dataclass(frozen=True, eq=False)
class Guesses:
    """The guesses of an adversary, by target."""

    chance: NDArray[np.float64]
    """The probability that the guess is right."""
    sights: dict[str, NDArray[np.bool_]]
    """What the adversary sees, by target: phrases about a number of people, with a place for how often the guess is
    right."""
    of: int
    """Size of the population from which the targets come."""
    unit: str = "people"
    """The unit of the targets."""
    tells_worst: bool = True
    """Whether what is seen distinguishes those who are worse off from others."""


Attack = Callable[[Scene], Guesses | None]


def nearest_row(scene: Scene) -> Guesses | None:
    """Guess the row nearest by the mean distance over the known masked columns."""
    return _by_rows(scene, *scene.nearest)


def equal_rows(scene: Scene) -> Guesses | None:
    """Guess a row with exactly the known values; if there is none, claim nothing."""
    if scene.partial:
        return None
    far, ties, hits = scene.nearest
    return _by_rows(scene, far, ties, np.where(far == 0, hits, 0))


def one_to_one_recoding(scene: Scene) -> Guesses | None:
    """Infer which value was renamed to which, from frequencies and co-occurrences; then link."""
    if scene.partial or scene.brief:
        return None
    after = _translated(scene)
    same = all(new is old for new, (_, old, _) in zip(after, scene.columns, strict=True))
    return _by_rows(scene, *(scene.nearest if same else scene.search(after)))


def best_matching(scene: Scene) -> Guesses | None:
    """Assign every person a distinct row with the smallest sum of distances: in groups, or among neighbours."""
    if scene.partial or scene.brief:
        return None
    records = len(scene.comparison)
    if scene.cells is not None and not np.array_equal(scene.cells[0], scene.cells[1][:records]):
        # Known values that the release does not show leave people and rows that cannot be matched one to one.
        return None
    some = _IN_NEIGHBOURHOODS // (1 + records // _MANY) if scene.groups is None else _IN_GROUPS
    people = scene.people.some(some, scene.seed)
    before, after, distances = map(list, zip(*scene.columns, strict=True))
    after = [codes[:records] for codes in after]
    cells = None if scene.cells is None else scene.cells[0]
    with reporter(scene.progress, "best matching") as report:
        matched, row = _core.attack_matching(
            before, after, distances, _NEIGHBOURS, scene.seed, report, scene.groups, cells, people.rows
        )
    right = (people.owner[row] == people.owner[matched]).astype(np.float64)
    pairs = zip(before, after, distances, strict=True)
    far = np.sum([_core.category_distances(each, old[matched], new[row]) for old, new, each in pairs], axis=0)
    first, chance = people.best(matched, right, np.round(far, 12))
    equal = far[first] == 0
    sights = {
        "are given an equal row; it is theirs in {}": equal,
        "are given a row that is not equal; it is theirs in {}": ~equal,
    }
    # Two classes are too few to say who is worse off: nearly all people may be in one that is found just above a limit.
    return Guesses(chance, sights, people.number, tells_worst=False)


def informed_adversary(scene: Scene) -> Guesses | None:
    """Predict kept columns from masked ones, by records outside the group; groups are known, kept values are not."""
    if scene.partial or scene.also or not scene.kept or scene.groups is None:
        return None
    people, groups = scene.people, scene.groups
    masked = [(before, number) for before, _, number in (_ranged(*column, _PREDICTED) for column in scene.columns)]
    kept = [_kept(scene, name) for name in scene.kept]
    sampled = None if people.chosen is None else np.unique(groups[people.rows])
    with reporter(scene.progress, "informed adversary") as report:
        best, _, hit = _core.attack_informed(masked, kept, groups, report, sampled)
    best, hit = best[people.rows], hit[people.rows]
    first, chance = people.best(people.rows, hit, np.round(-best, 9))
    belief = best[first]
    likely = belief > min(2 / scene.k if scene.k else 1.0, 0.5)
    sights = {
        "have a row that seems more likely than not; it is theirs in {}": belief > 0.5,
        "have a row that seems likely; it is theirs in {}": likely,
        "have no row that seems likely; the likeliest is theirs in {}": ~likely,
    }
    return Guesses(chance, sights, people.number)


def linked_rows(scene: Scene) -> Guesses | None:
    """Treat rows that share a value of a kept column as one pseudonym's, and guess who has all their values.

    The kept value itself is not known. The targets are the values that two or more records share.

    A value must plausibly stand for a person, which is judged roughly by numbers: with 20 values or more, the mean over
    the records of the number of rows that share their value is 2 to 20; with 150 or more, up to 100. A column with
    fewer values, shared by more rows, is more likely an age or a ward. Recognising all rows of a ward by what is
    frequent there finds nobody.
    """
    if scene.partial or len(scene.also) != 1:
        return None
    unit_before, unit_after, units = scene.comparison.matched(scene.also[0])
    sizes = np.bincount(unit_before, minlength=units)
    gaps, sizes = sizes[-1], sizes[:-1]
    values, shared = np.count_nonzero(sizes), (sizes**2).sum() / max(len(unit_before) - gaps, 1)
    if shared < 2 or not any(values >= least and shared <= most for least, most in _LINKS):
        return None
    several = np.flatnonzero(sizes > 1).astype(np.uint32)
    targets = several
    if len(several) > _BUNDLES:
        targets = several[_core.draw_sample(len(several), _BUNDLES, scene.seed)]
    columns = [_ranged(*column, _BAGGED) for column in scene.columns]
    before = [(old, number) for old, _, number in columns]
    after = [(new, number) for _, new, number in columns]
    with reporter(scene.progress, "linked rows") as report:
        ties, hits = _core.attack_bundles(before, after, unit_before, unit_after, units, targets, report)
    record_of = np.empty(units, dtype=np.int64)
    record_of[unit_before] = np.arange(len(unit_before))
    # A person with several of these values is found by the one that tells most.
    everybody = People(scene.people.owner, scene.people.number)
    first, chance = everybody.best(record_of[targets], hits / np.maximum(ties, 1), ties)
    one = ties[first] == 1
    sights = {
        "have rows that fit them best; they are theirs in {}": one,
        "have rows that fit them as well as others; they are theirs in {}": ~one,
    }
    persons = everybody.number < len(scene.comparison)
    number = len(np.unique(everybody.owner[record_of[several]])) if persons else len(several)
    unit = "people" if persons else f"values of {scene.also[0]}"
    return Guesses(chance, sights, number, unit=unit)


ATTACKS: dict[str, Attack] = {
    "nearest row": nearest_row,
    "equal rows": equal_rows,
    "one-to-one recoding": one_to_one_recoding,
    "best matching": best_matching,
    "informed adversary": informed_adversary,
    "linked rows": linked_rows,
}
"""All attacks by name."""

BY_KEPT = ("informed adversary", "linked rows")
"""Attacks that use kept columns, though no value of them is known."""


# ---- guesses


def _by_rows(scene: Scene, far: NDArray[np.float64], ties: NDArray[np.uint32], hits: NDArray[np.uint32]) -> Guesses:
    """Guess one of the nearest rows; of several records of a person, by the one whose rows are nearest and fewest."""
    people = scene.people
    first, chance = people.best(people.rows, hits / np.maximum(ties, 1), far, ties)
    far, ties, alone, rare = far[first], ties[first], scene.alone[first], scene.rare[first]
    fewer = scene.k or 2
    equal, one = far == 0, ties == 1
    alone &= equal & one
    sights = {
        "with rare values that together nobody else has have exactly one equal row; it is theirs in {}": alone & rare,
        "with values that together nobody else has have exactly one equal row; it is theirs in {}": alone,
        "have exactly one equal row; it is theirs in {}": equal & one,
        f"have 2 to {fewer - 1} equal rows; the one taken is theirs in {{}}": equal & ~one & (ties < fewer),
        "have no equal row and one nearest; it is theirs in {}": ~equal & one,
        "have several nearest rows; the one taken is theirs in {}": ~one & (~equal | (ties >= fewer)),
    }
    return Guesses(chance, sights, people.number)


# ---- values


def _translated(scene: Scene) -> list[NDArray[np.uint32]]:
    """Return the release with every value replaced by the one it seems to stand for."""
    after = [new for _, new, _ in scene.columns]
    lines = [_on_line(distances) for _, _, distances in scene.columns]
    named = [i for i, line in enumerate(lines) if line is None or len(line) <= _NAMES]
    meant: dict[int, NDArray[np.uint32]] = {}
    if named:
        before = [(scene.columns[i][0], categories_of(scene.columns[i][2])) for i in named]
        release = [(scene.columns[i][1], categories_of(scene.columns[i][2])) for i in named]
        anchors = [scene.comparison.matched(name) for name in scene.also]
        with reporter(scene.progress, "one-to-one recoding") as report:
            found = _core.attack_recoding(before, release, anchors, scene.seed, report)
        meant = dict(zip(named, found, strict=True))
    for i, ((old, new, distances), line) in enumerate(zip(scene.columns, lines, strict=True)):
        if i not in meant and line is not None:
            meant[i] = _by_rank(old, new, line)
        categories = np.arange(categories_of(distances), dtype=np.uint32)
        translated = np.where(meant[i] == MISSING, categories, meant[i])[new]
        if not np.array_equal(translated, new):
            after[i] = translated
    return after


def _by_rank(
    before: NDArray[np.uint32], after: NDArray[np.uint32], positions: NDArray[np.float64]
) -> NDArray[np.uint32]:
    """Return for each category after masking the one at the same rank before; a missing value stays missing."""
    d = len(positions)
    counts = [np.where(np.isnan(positions), 0, np.bincount(codes, minlength=d)) for codes in (before, after)]
    old, new = (count / max(count.sum(), 1) for count in counts)
    middles = np.cumsum(new) - new / 2
    place = np.minimum(np.searchsorted(np.cumsum(old), middles), d - 1)
    return np.where(np.isnan(positions), np.arange(d), place).astype(np.uint32)


def _on_line(distances: Distances) -> NDArray[np.float64] | None:
    """Return the position of each category, if distances are given as positions."""
    if isinstance(distances, np.ndarray) and distances.ndim == 1 and distances.dtype == np.float64:
        return distances.astype(np.float64, copy=False)
    return None


def _kept(scene: Scene, name: Any) -> tuple[NDArray[np.uint32], int]:
    """Code a kept column as the release shows it; many numbers in ranges."""
    column = scene.comparison.after.column(name)
    codes, number = column.dense()
    if number <= _PREDICTED or column.kind not in ("whole", "number"):
        return codes, number
    order = np.argsort(np.array([float(value) for value in column.categories]), kind="stable")
    part = np.full(number, _PREDICTED, dtype=np.uint32)
    part[order] = _parts(column.counts[order], _PREDICTED)
    return part[codes], _PREDICTED + 1


def _ranged(
    before: NDArray[np.uint32], after: NDArray[np.uint32], distances: Distances, parts: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], int]:
    """Return a masked column before and after, and its number of categories; many numbers in ranges."""
    line = _on_line(distances)
    if line is None or len(line) <= parts:
        return before, after, categories_of(distances)
    values = ~np.isnan(line)
    part = np.full(len(line), parts, dtype=np.uint32)
    part[values] = _parts(np.bincount(before, minlength=len(line))[values], parts)
    return part[before], part[after], parts + 1


def _parts(counts: NDArray[Any], parts: int) -> NDArray[np.uint32]:
    """Divide ordered values into ranges with about equally many records.

    >>> _parts(np.array([1, 1, 2, 4]), 2).tolist()
    [0, 0, 0, 1]
    """
    middles = np.cumsum(counts) - counts / 2
    return np.minimum(middles * parts // max(int(counts.sum()), 1), parts - 1).astype(np.uint32, copy=False)
