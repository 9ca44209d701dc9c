"""What insiders learn from a ring: the law of its assignments, estimated from draws, given the rows they know.

Along the order, the record at position p gets the node at position p + s, with a shift s from 0 to k − 1. Across every
place of the ring equally many records, w, are sent: the winding number of the assignment, which is the mean of all its
shifts. Anyone who knows some shifts therefore learns w, and with it the law of every other shift.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from nominym import _core
from nominym.control import Progress, steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nominym.itemsets.graph import Ring

    Floats: TypeAlias = NDArray[np.float64]
    Numbers: TypeAlias = NDArray[np.int64]

# Rings so small have few assignments: draws that agree with what insiders know are counted.
_SMALL, _SMALL_K, _COUNTED = 10, 4, 20_000
# Longer rings are judged by draws from rings of this length: far apart, shifts depend on each other by w alone.
_LONG = 1_000
# How much to draw: the number of edges in all, and the fewest and most assignments.
_EDGES, _FEWEST, _MOST = 16_000_000, 100, 2_000
# Up to this k it is followed which nodes ahead are taken: at most 126 sets of them.
_FOLLOWED = 10
# From this many times k positions away, a row reveals nothing beyond w.
_REACH = 3
# Sets of insiders at most, all where there are no more; fewer where there are many insiders, or many states to follow.
_ROUNDS, _FOLLOW = 100, 200_000
# Numbers that are kept at a time.
_ROOM = 50_000_000
# An assignment that leaves more records in place than draws do, by this many standard deviations, was not drawn.
_FAR_OUT = 6.0
_TINY, _IMPOSSIBLE = 1e-300, -1e6


@dataclass(frozen=True, eq=False)
class Belief:
    """What insiders believe about the shifts of others."""

    positions: Numbers
    """Positions near insiders."""
    near: Floats
    """For each of them, the probability of every shift."""
    far: Floats
    """The probability of every shift at all other positions."""
    others: int
    """The number of those positions."""


def shifts_of(ring: Ring, assignment: NDArray[Any]) -> Numbers:
    """Return the shift of the record at each position of a ring.

    >>> from nominym.itemsets.graph import Ring
    >>> shifts_of(Ring(np.array([2, 0, 1]), 2), np.array([1, 2, 0])).tolist()
    [1, 1, 1]
    """
    n = len(ring.order)
    position = np.argsort(ring.order)
    found: Numbers = (position[np.asarray(assignment)[ring.order]] - np.arange(n)) % n
    return found


def draw_shifts(n: int, k: int, method: str, seeds: Sequence[int], progress: Progress = None) -> Numbers:
    """Draw assignments of a ring, a row of shifts for each seed."""
    order = np.arange(n, dtype=np.uint32)
    found = np.empty((len(seeds), n), dtype=np.int64)
    with steps(progress, "draws from the ring", len(seeds)) as report:
        for i, seed in enumerate(seeds):
            found[i] = _core.assign_ring(order, k, method, seed)[1]
            report(i + 1)
    return (found - order) % n


class Counted:
    """The law of a small ring: how often each assignment was drawn."""

    def __init__(self, draws: Numbers, k: int) -> None:
        """Count draws, one per row."""
        self.draws, self.k = draws, k

    def beliefs(self, n: int, known: Numbers, seen: Numbers) -> Iterator[Belief]:
        """Count the draws that agree with the shifts seen at the known positions, for each row of these."""
        for at, shifts in zip(known, seen, strict=True):
            agree = self.draws[(self.draws[:, at] == shifts).all(axis=1)]
            others = np.setdiff1d(np.arange(n), at)
            shares = (agree[:, others, None] == np.arange(self.k)).mean(axis=0)
            yield Belief(others, shares, np.full(self.k, 1 / self.k), 0)


@dataclass(frozen=True, eq=False)
class _Steps:
    """The draw along a ring of one winding number, as a walk: a state is the set of nodes ahead that are taken.

    At each position, the record takes a free node, and its own if no record before it has; w nodes ahead are therefore
    always taken. Arrays are by shift and state.
    """

    after: Numbers
    """Where each shift leads."""
    before: Numbers
    """From where each shift leads to a state."""
    leave: Floats
    """The probability of each shift from a state."""
    arrive: Floats
    """The same from the state before."""
    stationary: Floats
    """The probability of each state."""

    @classmethod
    def count(cls, draws: Numbers, k: int, w: int) -> _Steps:
        """Count the steps of draws with winding number ``w``."""
        states = np.array([sum(1 << node for node in taken) for taken in combinations(range(k - 1), w)])
        number = np.zeros(1 << (k - 1), dtype=np.int64)
        number[states] = np.arange(len(states))
        shift = np.arange(k)[:, None]
        # A node that is free when the walk comes to it can be taken by its own record only.
        allowed = ((states >> shift) & 1 == 0) & ((states & 1 == 1) | (shift == 0))
        after = number[np.where(allowed, (states | (1 << shift)) >> 1, 0)]
        taken = np.zeros_like(draws)
        for back in range(1, k):
            moved = np.roll(draws, back, axis=1) - back
            taken |= np.where(moved >= 0, 1 << np.maximum(moved, 0), 0)
        cells = (draws * len(states) + number[taken]).ravel()
        # Half a time more each, so that nothing that can be drawn is held to be impossible.
        times = np.bincount(cells, minlength=k * len(states)).reshape(k, -1) + 0.5 * allowed
        leave = times / times.sum(axis=0)
        before, arrive = np.zeros_like(after), np.zeros_like(leave)
        for s in range(k):
            sources = np.flatnonzero(allowed[s])
            before[s, after[s, sources]] = sources
            arrive[s, after[s, sources]] = leave[s, sources]
        return cls(after, before, leave, arrive, times.sum(axis=0) / times.sum())

    def follow(self, seen: Numbers) -> tuple[Floats, Floats]:
        """Return the logarithm of each shift's probability given those before it, and the distribution of each shift.

        ``seen`` has sequences of neighbours in its rows: their shifts, or −1 where these are not known. They may begin
        anywhere on a long ring.
        """
        rows, length = seen.shape
        each, known, shift = np.arange(rows), seen >= 0, np.maximum(seen, 0)
        logs, states = np.empty(seen.shape), np.empty((length, rows, len(self.stationary)))
        state = np.tile(self.stationary, (rows, 1))
        for p in range(length):
            states[p] = state
            moved = state[:, self.before] * self.arrive
            state = np.where(known[:, p, None], moved[each, shift[:, p]], moved.sum(axis=1))
            total = state.sum(axis=1)
            possible = total > 0
            logs[:, p] = np.log(total, where=possible, out=np.full(rows, _IMPOSSIBLE))
            state = np.where(possible[:, None], state / np.maximum(total, _TINY)[:, None], self.stationary)
        shares = np.empty((*seen.shape, len(self.after)))
        later = np.ones((rows, len(self.stationary)))
        for p in reversed(range(length)):
            moved = later[:, self.after] * self.leave
            joint = np.einsum("bs,bks->bk", states[p], moved)
            shares[:, p] = joint / np.maximum(joint.sum(axis=1, keepdims=True), _TINY)
            later = np.where(known[:, p, None], moved[each, shift[:, p]], moved.sum(axis=1))
            later /= np.maximum(later.max(axis=1, keepdims=True), _TINY)
        return logs, shares


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Neighbouring positions with insiders among them, and enough others on both sides."""

    of: int
    """Which set of insiders."""
    positions: Numbers
    counted: slice
    """All; or, where insiders are everywhere, the second of three turns around the ring."""


def _stretches(of: int, known: Numbers, n: int, reach: int) -> list[_Stretch]:
    """Divide a ring where insiders are so far apart that they inform each other only through w."""
    known = np.sort(known)
    gaps = (np.roll(known, -1) - known - 1) % n + 1
    wide = np.flatnonzero(gaps > 2 * reach)
    if not len(wide):
        return [_Stretch(of, (known[0] + np.arange(3 * n)) % n, slice(n, 2 * n))]
    along = np.roll(known, -int(wide[0]) - 1)
    ends = np.sort((wide - wide[0] - 1) % len(known))
    found, first = [], 0
    for last in ends.tolist():
        length = int(along[last] - along[first]) % n + 2 * reach + 1
        found.append(_Stretch(of, (along[first] - reach + np.arange(length)) % n, slice(length)))
        first = last + 1
    return found


class Walked:
    """The law of a ring: how often each winding number is drawn, and the law of shifts given it.

    Nearby shifts depend on each other through the nodes taken ahead, which is modelled up to k = 10. For larger k, the
    rows of insiders are excluded for their neighbours, and the rest of that dependence is ignored.
    """

    def __init__(self, draws: Mapping[int, Numbers], k: int) -> None:
        """Count draws, one per row, by winding number."""
        self.k = k
        times = np.array([len(rows) for rows in draws.values()])
        self.prior = times / times.sum()
        self.shares = np.array([np.bincount(rows.ravel(), minlength=k) / rows.size for rows in draws.values()])
        self.steps = [_Steps.count(rows, k, w) for w, rows in draws.items()] if k <= _FOLLOWED else None

    def beliefs(self, n: int, known: Numbers, seen: Numbers) -> Iterator[Belief]:
        """Infer the winding number, and shifts near the known positions, for each row of these."""
        if self.steps is None:
            yield from (self._taken(n, *each) for each in zip(known, seen, strict=True))
            return
        parts = [part for i, at in enumerate(known) for part in _stretches(i, at, n, _REACH * self.k)]
        logs = np.zeros((len(known), len(self.steps)))
        shares: list[Floats] = [np.empty(0)] * len(parts)
        order = sorted(range(len(parts)), key=lambda i: len(parts[i].positions))
        size = max(len(each.stationary) for each in self.steps)
        while order:
            # From the longest on, as many at a time as fit.
            length = len(parts[order[-1]].positions)
            room = max(1, _ROOM // (length * size * self.k))
            some, order = order[-room:], order[:-room]
            shifts = np.full((len(some), length), -1)
            for row, i in enumerate(some):
                sorting = np.argsort(known[parts[i].of])
                at, what = known[parts[i].of][sorting], seen[parts[i].of][sorting]
                place = np.minimum(np.searchsorted(at, parts[i].positions), len(at) - 1)
                shifts[row, : len(place)] = np.where(at[place] == parts[i].positions, what[place], -1)
            told = [each.follow(shifts) for each in self.steps]
            for row, i in enumerate(some):
                counted = parts[i].counted
                logs[parts[i].of] += [log[row, counted].sum() for log, _ in told]
                shares[i] = np.stack([share[row, counted] for _, share in told])
        for i, at in enumerate(known):
            weights = self._weights(logs[i])
            mine = [j for j, part in enumerate(parts) if part.of == i]
            positions = np.concatenate([parts[j].positions[parts[j].counted] for j in mine])
            near = np.concatenate([np.tensordot(weights, shares[j], 1) for j in mine])
            strangers = ~np.isin(positions, at)
            others = n - len(at) - int(strangers.sum())
            yield Belief(positions[strangers], near[strangers], weights @ self.shares, others)

    def _weights(self, logs: Floats) -> Floats:
        """Return the probability of each winding number given what was seen."""
        weights = self.prior * np.exp(logs - logs.max())
        found: Floats = weights / weights.sum()
        return found

    def _taken(self, n: int, known: Numbers, seen: Numbers) -> Belief:
        """Infer the winding number, and exclude the rows of insiders for their neighbours."""
        tiny = np.log(np.maximum(self.shares, _TINY))
        far = self._weights(tiny[:, seen].sum(axis=1)) @ self.shares
        nodes = (known + seen) % n
        positions = np.setdiff1d((nodes[:, None] - np.arange(self.k)) % n, known)
        free = ~np.isin((positions[:, None] + np.arange(self.k)) % n, nodes)
        near = free * far
        return Belief(positions, near / near.sum(axis=1, keepdims=True), far, n - len(known) - len(positions))


@dataclass(frozen=True, eq=False)
class Learned:
    """What insiders learn about the rows of others, over sets of insiders."""

    guesses: Floats
    """Probabilities of best guesses."""
    times: Numbers
    """The number of records for each."""
    means: Floats
    """Mean probability, for each set of insiders."""
    draws: int
    """Number of assignments from which the law was estimated."""
    strange: str | None
    """Why the assignment cannot be one that the method draws."""


def learn(
    ring: Ring, assignment: NDArray[Any], method: str, insiders: int, seed: int | None, progress: Progress
) -> Learned:
    """Let random insiders guess the rows of all others by the law of the draw.

    The assignment itself counts as one more draw if none has its winding number: an adversary may consider it.
    """
    own, n, k = shifts_of(ring, assignment), len(ring.order), ring.k
    source = np.random.SeedSequence(None if seed is None else operator.index(seed))
    law: Counted | Walked
    if n <= _SMALL and k <= _SMALL_K:
        number = _COUNTED
        draws = draw_shifts(n, k, method, source.generate_state(number, np.uint64).tolist(), progress)
        strange = None if (draws == own).all(axis=1).any() else f"none of {number:,} draws is like it"
        law = Counted(np.vstack([draws, own]), k)
    else:
        length = min(n, max(_LONG, 4 * k))
        number = int(np.clip(_EDGES // (length * k), _FEWEST, _MOST))
        draws = draw_shifts(length, k, method, source.generate_state(number, np.uint64).tolist(), progress)
        windings, mine = draws.sum(axis=1) // length, int(own.sum()) // n
        by_winding = {w: draws[windings == w] for w in np.unique(windings).tolist()}
        strange = _strange(own, by_winding.get(mine), number, mine)
        law = Walked({mine: own[None], **by_winding}, k)
    if not insiders:
        return Learned(np.array([1 / k]), np.array([n]), np.array([1 / k]), number, strange)
    size = 1 if isinstance(law, Counted) or law.steps is None else max(len(each.stationary) for each in law.steps)
    rounds = int(np.clip(_FOLLOW // (insiders * size), 10, _ROUNDS))
    if comb(n, insiders) <= rounds:
        known, rounds = np.array(list(combinations(range(n), insiders))), comb(n, insiders)
    else:
        seeds = source.spawn(1)[0].generate_state(rounds, np.uint64).tolist()
        known = np.array([_core.draw_sample(n, insiders, each) for each in seeds], dtype=np.int64)
    guesses, times, means = [], [], []
    with steps(progress, "insiders", rounds) as report:
        for done, belief in enumerate(law.beliefs(n, known, own[known]), 1):
            far = [belief.far.max()] * (belief.others > 0)
            guesses.append(np.concatenate([belief.near.max(axis=1), far]))
            times.append(np.array([1] * len(belief.near) + [belief.others] * len(far)))
            means.append(guesses[-1] @ times[-1] / times[-1].sum())
            report(done)
    return Learned(np.concatenate(guesses), np.concatenate(times), np.array(means), number, strange)


def _strange(own: Numbers, alike: Numbers | None, number: int, winding: int) -> str | None:
    """Return why an assignment cannot have been drawn, by its winding number and the records in place."""
    n, stay = len(own), float((own == 0).mean())
    if alike is None:
        what = "everybody is in place" if winding == 0 else f"its winding number is {winding}"
        return f"{what}, which is so in none of {number:,} draws"
    if len(alike) < _FEWEST // 2:
        return None
    shares = (alike == 0).mean(axis=1)
    far = _FAR_OUT * max(float(shares.std()), 1 / alike.shape[1]) * (alike.shape[1] / n) ** 0.5
    if stay <= shares.mean() + far:
        return None
    return f"{stay:.1%} of the records are in place, in draws {shares.mean():.1%}"
