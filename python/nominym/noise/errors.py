"""Random errors with a given covariance, and the nearest valid covariance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nominym import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


def nearest_covariance(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return the positive semi-definite matrix nearest to a symmetric one, and its distance (Frobenius norm).

    Distance covariances of distances that are not Euclidean need not form a valid covariance matrix.

    >>> nearest_covariance(np.array([[1.0, 0.5], [0.5, 1.0]]))[1]
    0.0
    >>> round(nearest_covariance(np.array([[1.0, 2.0], [2.0, 1.0]]))[1], 6)
    1.0
    """
    values, vectors = np.linalg.eigh(matrix)
    # What rounding made negative is left as it is.
    if values.min() >= -1e-12 * max(values.max(), 0.0):
        return matrix, 0.0
    nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return nearest, float(np.linalg.norm(nearest - matrix))


def is_covariance(matrix: NDArray[np.float64]) -> bool:
    """Return whether errors of distances within [0, 1] can have a covariance, up to rounding.

    >>> is_covariance(np.array([[1.0, 0.5], [0.5, 1.0]])), is_covariance(np.array([[1.0, 2.0], [2.0, 1.0]]))
    (True, False)
    """
    # Distances about their means are within [−2, 2].
    if not (np.abs(matrix) <= 4.0 * len(matrix)).all() or not np.allclose(matrix, matrix.T, rtol=1e-9, atol=1e-12):
        return False
    values = np.linalg.eigvalsh(matrix)
    return bool(values.min() >= -1e-9 * max(values.max(), 0.0))


def draw(
    records: int, covariance: NDArray[np.float64], law: str, together: bool, seed: int | None
) -> list[NDArray[np.float64]]:
    """Draw errors for each column; their covariance over records is the given one.

    Laplace errors are normal errors, each multiplied by the root of an exponential number, which gives a Laplace
    distribution with the same covariance. Errors of one record share that number if the columns go ``together``.
    """
    values, vectors = np.linalg.eigh(covariance)
    factors = vectors * np.sqrt(np.maximum(values, 0.0))
    columns = len(covariance)
    normal = [_core.draw_normal(records, seed, column) for column in range(columns)]
    errors = []
    for i in range(columns):
        parts = (factor * drawn for factor, drawn in zip(factors[i], normal, strict=True) if factor)
        error = sum(parts, start=np.zeros(records))
        if law == "laplace":
            uniform = _core.draw_spread(records, seed, 0 if together else i)
            error *= np.sqrt(-np.log1p(-uniform))
        errors.append(error)
    return errors
