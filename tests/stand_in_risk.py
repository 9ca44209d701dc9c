"""A small stand-in for ``nominym.risk``, by the definitions: used where the module itself is not there yet."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from nominym.frame import Table, code
from nominym.taxonomy.space import Space


@dataclass(frozen=True)
class Linkage:
    known: tuple[Any, ...]
    records: int
    attacked: int
    share: float
    interval: tuple[float, float] | None
    bound: float | None
    holds: bool | None
    ties: dict[str, int]

    def to_dict(self):
        return asdict(self)


def linkage(before, after, taxonomies, *, known=None, k=None, truth=None, measure="wu-palmer", roots=None, **_):
    names = list(taxonomies if known is None else known)
    tables = Table(before), Table(after)
    total = None
    for name in names:
        semantics = taxonomies[name]
        first, second = (code(table.values(name), str(name)) for table in tables)
        if isinstance(semantics, str) or semantics is None or isinstance(semantics, list):
            x, y = (np.array([str(v) for v in c.categories])[c.codes] for c in (first, second))
            cells = (x[:, None] != y[None, :]).astype(float)
        else:
            space = Space(semantics, [first, second], measure, (roots or {}).get(name))
            both = np.concatenate(space.places)
            matrix = space.matrix(both)
            x = np.minimum(first.codes, len(both) - 1)
            y = len(first.categories) + np.minimum(second.codes, len(second.categories) - 1)
            cells = matrix[np.ix_(x, y)]
        total = cells if total is None else total + cells
    nearest = total <= total.min(axis=1, keepdims=True) + 1e-9
    own = np.arange(len(total)) if truth is None else np.asarray(truth)
    hits = nearest[np.arange(len(total)), own] / nearest.sum(axis=1)
    share = float(hits.mean())
    bound = None if k is None else 1 / k
    ties = {"median": int(np.median(nearest.sum(axis=1)))}
    holds = None if bound is None else share - 2 * float(hits.std()) / len(hits) ** 0.5 <= bound
    return Linkage(tuple(names), len(total), len(total), share, None, bound, holds, ties)


@dataclass(frozen=True)
class Classes:
    n: int
    classes: int
    unique: int
    share_unique: float
    smallest: int
    mean: float


def classes(frame, columns=None, *, progress=None):
    sizes = pd.DataFrame({name: list(Table(frame).values(name)) for name in columns}).astype(str)
    sizes = sizes.groupby(list(columns)).size()
    n, alone = int(sizes.sum()), int((sizes == 1).sum())
    return Classes(n, len(sizes), alone, alone / n, int(sizes.min()), n / len(sizes))


@dataclass(frozen=True, eq=False)
class Worlds:
    records: int
    attacked: int
    smallest: int
    quantiles: dict[str, int]
    posterior: dict[str, float]
    holds: bool | None
    counts: Any

    def to_dict(self):
        return asdict(self)


def worlds(rel, sets, *, sample="auto", k=None, seed=None, progress=None):
    counts = rel.compatible(sets)
    smallest = int(counts.min())
    quantiles = {"min": smallest, "median": int(np.median(counts)), "max": int(counts.max())}
    posterior = {"mean": float((1 / counts).mean()), "largest": 1 / smallest}
    return Worlds(len(sets), len(sets), smallest, quantiles, posterior, k is None or smallest >= k, counts)
