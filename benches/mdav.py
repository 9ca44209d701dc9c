"""Microaggregation by MDAV, naively: what ours is compared with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def microaggregated(n: int, k: int, middle: Callable[..., int], near: Callable[..., np.ndarray]) -> np.ndarray:
    """Form groups by MDAV (Domingo-Ferrer and Mateo-Sanz 2002), naively.

    :param middle: of the records that are left, returns the one farthest from their middle.
    :param near: of a record and others, returns how far these are from it.
    """
    groups, left, made = np.full(n, -1), np.arange(n), 0

    def cut(record: int) -> None:
        nonlocal left, made
        order = np.argpartition(near(record, left), k - 1)
        groups[left[order[:k]]] = made
        left, made = np.delete(left, order[:k]), made + 1

    while len(left) >= 3 * k:
        first = middle(left)
        second = int(left[near(first, left).argmax()])
        cut(first)
        # Among those that are left the farthest from the first is still there: it was not one of the k nearest.
        cut(second)
    if len(left) >= 2 * k:
        cut(middle(left))
    groups[left] = made
    return groups


def by_costs(costs: np.ndarray, k: int) -> np.ndarray:
    """Form groups by MDAV where there are distances only: the farthest record is that of the largest sum of costs."""
    return microaggregated(
        len(costs), k, lambda left: int(left[costs[np.ix_(left, left)].sum(axis=1).argmax()]),
        lambda record, left: costs[record, left],
    )  # fmt: skip


def of_points(points: np.ndarray, k: int) -> np.ndarray:
    """Form groups of points by MDAV."""

    def near(record: int, left: np.ndarray) -> np.ndarray:
        return ((points[left] - points[record]) ** 2).sum(axis=1)

    def middle(left: np.ndarray) -> int:
        return int(left[((points[left] - points[left].mean(axis=0)) ** 2).sum(axis=1).argmax()])

    return microaggregated(len(points), k, middle, near)


def of_concepts(squares: list[np.ndarray], codes: list[np.ndarray], k: int) -> np.ndarray:
    """Form groups by semantic MDAV (Martínez, Sánchez and Valls 2012): the middle is the record of semantic means.

    :param squares: by column, squared distances from every category, a row, to every concept that may be a mean; the
        categories themselves come first.
    :param codes: by column, the category of each record.
    """

    def near(record: int, left: np.ndarray) -> np.ndarray:
        return sum(part[of[left], of[record]] for part, of in zip(squares, codes, strict=True))

    def middle(left: np.ndarray) -> int:
        far = np.zeros(len(left))
        for part, of in zip(squares, codes, strict=True):
            counts = np.bincount(of[left], minlength=len(part))
            far += part[of[left], (counts @ part).argmin()]
        return int(left[far.argmax()])

    return microaggregated(len(codes[0]), k, middle, near)
