"""Who may be whom: the graph from records to published nodes, in the three forms in which it comes.

A node has the number of a record. A record *matches* the nodes that may be its published form; a node stands for its
*preimages*. Every form gives the nodes that a record ``matches``, the ``smallest`` number of them, and whether it
``has`` an assignment. It lets the preimages ``vote``: for base, distance and threshold, each node in the row given to
it, and the expected error rate. None shows its content: graphs are secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from nominym import _core

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Report = Callable[[int, int], object] | None
    Voted = tuple[_core.Sets, _core.Sets, NDArray[np.uint32], float]


@dataclass(frozen=True, eq=False, repr=False)
class Ring:
    """Along a cyclic order, a record matches its own node and the k − 1 next.

    >>> Ring(np.array([2, 0, 1], dtype=np.uint32), 2).matches(1)
    array([1, 2], dtype=uint32)
    """

    order: NDArray[np.uint32]
    k: int

    @property
    def smallest(self) -> int:
        """Return k: all records match as many."""
        return self.k

    @cached_property
    def _position(self) -> NDArray[np.int64]:
        return np.argsort(self.order)

    def vote(self, sets: _core.Sets, rows: NDArray[np.uint32], report: Report) -> Voted:
        """Let the k before and at each position vote."""
        return _core.vote_ring(sets, self.order, self.k, rows, report)

    def matches(self, i: int) -> NDArray[np.uint32]:
        """Return the record and the k − 1 after it."""
        found: NDArray[np.uint32] = self.order[(self._position[i] + np.arange(self.k)) % len(self.order)]
        return found

    def has(self, assignment: NDArray[np.uint32]) -> bool:
        """Return whether every record moves 0 to k − 1 positions forward."""
        ahead = (self._position[assignment] - self._position) % len(self.order)
        return bool((ahead < self.k).all())


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """A record matches all nodes of its group.

    >>> Groups(np.array([0, 1, 0], dtype=np.uint32)).matches(2)
    array([0, 2], dtype=uint32)
    """

    group_of: NDArray[np.uint32]

    @cached_property
    def smallest(self) -> int:
        """Return the size of the smallest group."""
        sizes = np.bincount(self.group_of)
        return int(sizes[sizes > 0].min())

    def vote(self, sets: _core.Sets, rows: NDArray[np.uint32], report: Report) -> Voted:
        """Let each group vote for all its nodes."""
        return _core.vote_groups(sets, self.group_of, rows, report)

    def matches(self, i: int) -> NDArray[np.uint32]:
        """Return the members of the group."""
        return np.flatnonzero(self.group_of == self.group_of[i]).astype(np.uint32)

    def has(self, assignment: NDArray[np.uint32]) -> bool:
        """Return whether all stay inside their groups."""
        return bool((self.group_of[assignment] == self.group_of).all())


@dataclass(frozen=True, eq=False, repr=False)
class Assignments:
    """The union of disjoint assignments: record i matches the nodes of column i.

    >>> Assignments(np.array([[0, 1, 2], [1, 2, 0]], dtype=np.uint32)).matches(2)
    array([2, 0], dtype=uint32)
    """

    table: NDArray[np.uint32]
    """m × n: the node of each record in each assignment."""

    @property
    def smallest(self) -> int:
        """Return m: all records match as many."""
        return len(self.table)

    def vote(self, sets: _core.Sets, rows: NDArray[np.uint32], report: Report) -> Voted:
        """Let the m preimages of each node vote."""
        return _core.vote_assignments(sets, self.table, rows, report)

    def matches(self, i: int) -> NDArray[np.uint32]:
        """Return one node for each assignment."""
        return self.table[:, i].copy()

    def has(self, assignment: NDArray[Any]) -> bool:
        """Return whether every record goes where one of the assignments sends it."""
        found = np.zeros(len(assignment), dtype=bool)
        for row in self.table:
            found |= row == assignment
        return bool(found.all())


Graph: TypeAlias = Ring | Groups | Assignments
