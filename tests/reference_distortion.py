"""Data swapping and distortion by their definitions."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd


def feasible_pairs(
    frame: pd.DataFrame, columns: list[str], equal: list[str], unequal: list[str], true_swaps: bool
) -> list[tuple[int, int]]:
    """List the pairs of rows that may be swapped; a missing value equals missing values only."""
    text = frame.astype(object).where(frame.notna(), "(missing)").astype(str)
    found = []
    for i, j in combinations(range(len(frame)), 2):
        a, b = text.iloc[i], text.iloc[j]
        agree = all(a[name] == b[name] for name in equal)
        differ = all(a[name] != b[name] for name in unequal)
        true = not true_swaps or any(a[name] != b[name] for name in columns)
        if agree and differ and true:
            found.append((i, j))
    return found


def law(pairs: list[tuple[int, int]], wanted: int) -> dict[frozenset[tuple[int, int]], float]:
    """Give the chance of every set of pairs: each pair uniform among the feasible ones that are left."""
    if not wanted or not pairs:
        return {frozenset(): 1.0}
    found: dict[frozenset[tuple[int, int]], float] = {}
    for pair in pairs:
        left = [other for other in pairs if not set(pair) & set(other)]
        for rest, chance in law(left, wanted - 1).items():
            found[rest | {pair}] = found.get(rest | {pair}, 0.0) + chance / len(pairs)
    return found


def shares(frame: pd.DataFrame, columns: list[str]) -> Counter[tuple[str, ...]]:
    text = frame[columns].astype(object).where(frame[columns].notna(), "(missing)").astype(str)
    return Counter(map(tuple, text.itertuples(index=False)))


def joint(before: pd.DataFrame, after: pd.DataFrame, columns: list[str]) -> dict[str, float]:
    """Compute the measures of any joint distribution from their formulas."""
    f, g, n = shares(before, columns), shares(after, columns), len(before)
    cells = sorted({*f, *g})
    p, q = (np.array([counts[cell] / n for cell in cells]) for counts in (f, g))
    found = {
        "hellinger": np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum()),
        "total_variation": 0.5 * np.abs(p - q).sum(),
        "entropy_change": -(q[q > 0] * np.log(q[q > 0])).sum() + (p[p > 0] * np.log(p[p > 0])).sum(),
    }
    return {name: float(value) for name, value in found.items()}


def measures(before: pd.DataFrame, after: pd.DataFrame, columns: list[str]) -> dict[str, float]:
    """Compute all measures, those of two columns too."""
    found = joint(before, after, columns)
    if len(columns) == 2:
        (v0, c0), (v1, c1) = (association(shares(frame, columns)) for frame in (before, after))
        found |= {"cramers_v_change": v0 - v1, "contingency_change": c0 - c1}
    return found


def association(counts: Counter[tuple[str, ...]]) -> tuple[float, float]:
    """Give Cramér's V and Pearson's C from the full contingency table."""
    rows, columns = (sorted({cell[i] for cell in counts}) for i in (0, 1))
    table = np.array([[counts[r, c] for c in columns] for r in rows], dtype=float)
    n = table.sum()
    expected = table.sum(1, keepdims=True) * table.sum(0) / n
    chi = ((table - expected) ** 2 / expected).sum()
    least = min(table.shape) - 1
    return (float(np.sqrt(chi / n / least)), float(np.sqrt(chi / (chi + n)))) if least else (0.0, 0.0)
