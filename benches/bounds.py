"""What no grouping can do better: lower bounds on the cost of groups of at least k records."""

from __future__ import annotations

import numpy as np
from ortools.graph.python import min_cost_flow
from scipy.optimize import minimize

STEPS = 100  # of the search for a better bound, at each temperature
TEMPERATURES = (0.1, 0.03, 0.01)  # relative to the mean cost of a record's k nearest
RANK = 40


def flow(costs: np.ndarray, k: int) -> np.ndarray:
    """Choose for each record k possible origins, each record being one k times, at the least cost; True where chosen.

    Groups of k or more records are a mixture of such choices, so no grouping costs less.
    """
    n = len(costs)
    source, target = np.divmod(np.arange(n * n), n)
    solver = min_cost_flow.SimpleMinCostFlow()
    whole = np.rint(costs.ravel() * 1e6).astype(np.int64)
    arcs = solver.add_arcs_with_capacity_and_unit_cost(source, target + n, np.ones(n * n, dtype=np.int64), whole)
    solver.set_nodes_supplies(np.arange(2 * n), np.repeat([k, -k], n))
    assert solver.solve() == solver.OPTIMAL
    return np.asarray(solver.flows(arcs), dtype=bool).reshape(n, n)


def semidefinite(costs: np.ndarray, k: int, chosen: np.ndarray) -> float:
    """Return what a record of any groups of at least k costs on average, at least, given the choice of the flow.

    Let X be 1 / s for two records of one group of s, else 0. The cost of the groups is ⟨C, X⟩. X is positive
    semidefinite, its rows add up to 1, and its cells are between 0 and 1 / k. So for all y and V

        ⟨C, X⟩ ≥ ⟨C − VVᵀ − (y1ᵀ + 1yᵀ)/2, X⟩ + Σy ≥ Σy − Σ max(0, VVᵀ + (y1ᵀ + 1yᵀ)/2 − C) / k.

    With V = 0, the best y gives the flow bound; V begins with what makes the flow's choice indefinite, and both are
    improved by quasi-Newton steps on a smooth version. Whatever they find is a bound.
    """
    n = len(costs)
    nearest = np.sort(costs, axis=1)[:, :k]
    scale = nearest.mean()
    values, vectors = np.linalg.eigh((chosen + chosen.T) / (2 * k))
    v = vectors[:, :RANK] * np.sqrt(np.maximum(-values[:RANK], 0) * scale)
    found = np.concatenate([nearest[:, -1], v.ravel()])
    short = costs.astype(np.float32)

    def excess(found: np.ndarray, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y, v = found[:n].astype(costs.dtype), found[n:].reshape(n, -1).astype(costs.dtype)
        return v @ v.T + (y[:, None] + y) / 2 - costs, v

    def smooth(found: np.ndarray, temperature: float) -> tuple[float, np.ndarray]:
        cells, v = excess(found, short)
        cells /= np.float32(temperature)
        tail = np.exp(-np.abs(cells))
        total = temperature * (np.maximum(cells, 0) + np.log1p(tail)).sum(dtype=np.float64) / k
        weight = np.where(cells > 0, 1, tail) / (1 + tail) / k
        slope = np.concatenate([weight.sum(axis=1) - 1, (2 * weight @ v).ravel()])
        return total - found[:n].sum(), slope.astype(np.float64)

    for temperature in TEMPERATURES:
        options = {"maxiter": STEPS, "maxcor": 20}
        found = minimize(smooth, found, (temperature * scale,), "L-BFGS-B", jac=True, options=options).x
    cells, _ = excess(found, costs)
    return float(found[:n].sum() - np.maximum(cells, 0).sum() / k) / n
