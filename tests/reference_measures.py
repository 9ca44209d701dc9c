"""Measures that others publish, by their definitions: record by record, with no counting of tuples."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd

Row = tuple[str, ...]


def rows(frame: pd.DataFrame, columns: list[str]) -> list[Row]:
    """Write every record; a missing value is a value of its own."""
    text = frame[columns].astype(object).where(frame[columns].notna(), "(missing)").astype(str)
    return list(map(tuple, text.itertuples(index=False)))


def k_marginal(before: pd.DataFrame, after: pd.DataFrame, columns: list[str], k: int) -> float:
    """Take the mean over all sets of k columns of Σ|p − q|, and map it to 0 … 1,000."""
    apart = []
    for names in map(list, combinations(columns, k)):
        p, q = (Counter(rows(frame, names)) for frame in (before, after))
        apart.append(sum(abs(p[cell] / len(before) - q[cell] / len(after)) for cell in {*p, *q}))
    return (2 - sum(apart) / len(apart)) * 500


def unique_exact_matches(before: pd.DataFrame, after: pd.DataFrame, columns: list[str]) -> tuple[int, int]:
    """Count the unique records, and those of them that are among the rows."""
    old, new = rows(before, columns), rows(after, columns)
    unique = [row for row in old if old.count(row) == 1]
    return len(unique), sum(row in new for row in unique)


def design(codes: list[list[str]], model: str) -> np.ndarray:
    """Make a column of zeros and ones for every value, and for every pair of values."""
    names = list(zip(*codes, strict=True))
    columns = [np.ones(len(names))]
    for size in {"main": [1], "pairs": [1, 2]}[model]:
        for some in combinations(range(len(codes)), size):
            found = [tuple(row[i] for i in some) for row in names]
            columns += [np.array([float(each == level) for each in found]) for level in sorted(set(found))]
    return np.column_stack(columns)


def propensity(before: pd.DataFrame, after: pd.DataFrame, columns: list[str], model: str) -> tuple[float, int]:
    """Fit the logistic model on all records by plain iteratively reweighted least squares; give pMSE and the rank."""
    both = rows(before, columns) + rows(after, columns)
    y = np.array([0.0] * len(before) + [1.0] * len(after))
    x = design([list(column) for column in zip(*both, strict=True)], model)
    beta, score = np.zeros(x.shape[1]), np.full(len(y), 0.5)
    for _ in range(30):
        weight = np.maximum(score * (1 - score), 1e-9)
        beta = beta + np.linalg.pinv(x.T @ (weight[:, None] * x), rcond=1e-12) @ (x.T @ (y - score))
        score = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
    return float(((score - y.mean()) ** 2).mean()), int(np.linalg.matrix_rank(x))


def propensity_of_cells(before: pd.DataFrame, after: pd.DataFrame, columns: list[str]) -> tuple[float, int]:
    """Take the share of a record's equals that are after as its score; give pMSE and the number of cells."""
    both = [*rows(before, columns), *rows(after, columns)]
    source = [0.0] * len(before) + [1.0] * len(after)
    mean = sum(source) / len(source)
    scores = [np.mean([y for y, other in zip(source, both, strict=True) if other == row]) for row in both]
    return float(np.mean([(score - mean) ** 2 for score in scores])), len(set(both))


def disclosure(before: pd.DataFrame, after: pd.DataFrame, keys: list[str], target: str) -> dict[str, float]:
    """Look every record up, as an intruder would."""
    n, m = len(before), len(after)
    old, new = rows(before, keys), rows(after, keys)
    of_old, of_new = ([row[0] for row in rows(frame, [target])] for frame in (before, after))
    found = dict.fromkeys(
        ["uio", "uis", "uiois", "repu", "dorig", "dsyn", "found", "dis", "disco", "disdio", "cap_original",
         "cap_release", "dcap"], 0.0,
    )  # fmt: skip
    for q, t in zip(old, of_old, strict=True):
        mine = [value for key, value in zip(old, of_old, strict=True) if key == q]
        there = [value for key, value in zip(new, of_new, strict=True) if key == q]
        found["uio"] += (len(mine) == 1) / n
        found["uiois"] += (len(mine) == 1 and len(there) > 0) / n
        found["repu"] += (len(mine) == 1 and len(there) == 1) / n
        found["dorig"] += (len(set(mine)) == 1) / n
        found["found"] += (len(there) > 0) / n
        found["dis"] += (len(set(there)) == 1) / n
        found["disco"] += (set(there) == {t}) / n
        found["disdio"] += (set(there) == {t} and len(set(mine)) == 1) / n
        found["cap_original"] += mine.count(t) / len(mine) / n
        found["dcap"] += there.count(t) / len(there) / n if there else 0.0
    for q, t in zip(new, of_new, strict=True):
        there = [value for key, value in zip(new, of_new, strict=True) if key == q]
        found["uis"] += (len(there) == 1) / m
        found["dsyn"] += (len(set(there)) == 1) / m
        found["cap_release"] += there.count(t) / len(there) / m
    found["base_cap"] = sum((count / n) ** 2 for count in Counter(of_old).values())
    found["tcap"] = found["disco"] / found["found"] if found["found"] else math.nan
    return found


def wilson(share: float, number: int, z: float = 1.959964) -> tuple[float, float]:
    """Solve (p − share)² = z² p (1 − p) / number for p."""
    a, b, c = 1 + z * z / number, -2 * share - z * z / number, share * share
    root = math.sqrt(b * b - 4 * a * c)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


def residual(attack: int, control: int, number: int, others: int) -> tuple[float, float, float]:
    """Carry the errors of two shares over to R by its derivatives, taken numerically."""
    (la, ha), (lc, hc) = wilson(attack / number, number), wilson(control / others, others)

    def risk(a: float, c: float) -> float:
        return (a - c) / (1 - c)

    a, c, h = (la + ha) / 2, (lc + hc) / 2, 1e-6
    by_a = (risk(a + h, c) - risk(a - h, c)) / (2 * h) * (ha - la) / 2
    by_c = (risk(a, c + h) - risk(a, c - h)) / (2 * h) * (hc - lc) / 2
    error = math.sqrt(by_a**2 + by_c**2)
    return risk(attack / number, control / others), risk(a, c) - error, risk(a, c) + error
