"""Numbers that no set of k indices can exceed."""

from __future__ import annotations

from typing import Literal

import numpy as np

from featsieve.quadratic.problem import Problem
from featsieve.schema import FloatArray

BoundEffort = Literal["auto", "cheap", "sdp"]
EIGEN_LIMIT = 1000  # one dense eigendecomposition: below a second
SPLIT_LIMIT = 500  # a hundred rounds: below a second
SDP_LIMIT = 200  # a semidefinite relaxation: a few tenths of a second
_ROUNDING = 1e-13


def lp2_bound(problem: Problem) -> float:
    """The optimum of LP2, the k largest row sums; needs Q >= 0 (P-CMI, Lemma A.2)."""
    return float(np.sort(problem.row_sums)[-problem.k :].sum())


def row_bound(problem: Problem) -> float:
    """LP2 with only k − 1 partners a row: valid for any Q, never above LP2 for Q >= 0."""
    off_diagonal = problem.Q.copy()
    np.fill_diagonal(off_diagonal, -np.inf)
    partners = problem.k - 1
    best = np.diagonal(problem.Q).copy()
    if partners:
        best += np.partition(off_diagonal, -partners, axis=1)[:, -partners:].sum(axis=1)
    return float(np.sort(best)[-problem.k :].sum())


def split_bound(problem: Problem, value: float, n_rounds: int = 100) -> float:
    """The row bound after some rounds on the split of the pairs; ``value``: the best known."""
    from featsieve.quadratic.rows import tighten

    diagonal = np.ascontiguousarray(np.diagonal(problem.Q))
    found = tighten(
        problem.Q.copy(),
        problem.Q,
        diagonal,
        problem.k,
        rounds=n_rounds,
        value=value,
        margin=-np.inf,  # go on to the last round: the bound is what is wanted
    )
    return found.bound + _ROUNDING * problem.n * problem.scale * problem.k


def perron_bound(problem: Problem, n_iter: int = 20) -> float:
    """k·λ_max of a non-negative Q, from above by Collatz and Wielandt: max (Qv)_i/v_i."""
    lifted = problem.Q + problem.scale / problem.n  # positive: v stays positive
    v = lifted.sum(axis=1)
    for _ in range(n_iter):
        v = lifted @ v
        v /= v.max()
    return problem.k * float((lifted @ v / v).max())


def sphere_bound(problem: Problem, diagonal: FloatArray | None = None) -> float:
    """The maximum over all real x with Σx = k and Σx² = k, which hold for every 0/1 answer.

    ``diagonal`` u moves weight from x_i² to x_i (they are equal at 0 and 1): every u gives a valid
    bound, and the best u gives the semidefinite relaxation. With x = k/n + z and z ⟂ 1 the value
    is constant + b'z + z'Mz on a sphere, and for every λ above λ_max(M), weak duality gives
    z'Mz + b'z <= λ|z|² + b'(λI − M)^-1 b / 4.
    """
    n, share = problem.n, problem.k / problem.n
    u = np.zeros(n) if diagonal is None else diagonal
    M = problem.Q - np.diag(u)
    sums = M.sum(axis=1)
    constant = share * share * sums.sum() + share * u.sum()
    b = 2 * share * sums + u
    M -= (sums[:, None] + sums[None, :]) / n - sums.sum() / n**2
    eigenvalues, vectors = np.linalg.eigh(M)
    weights = (vectors.T @ (b - b.mean())) ** 2 / 4
    radius2 = problem.k * (1 - share)
    # Computed eigenvalues and sums are off by rounding: keep on the safe side of it.
    slack = _ROUNDING * n * (np.abs(eigenvalues).max() * radius2 + abs(constant))
    return float(constant + _sphere_dual(eigenvalues, weights, radius2) + slack)


def _sphere_dual(eigenvalues: FloatArray, weights: FloatArray, radius2: float) -> float:
    """min over λ > λ_max of λ·radius² + Σ weights/(λ − eigenvalues), by bisection of the slope."""
    top = float(eigenvalues.max())
    below = top - eigenvalues
    pull = float(np.sqrt(weights.sum() / radius2))
    spread = max(float(np.abs(eigenvalues).max()), pull, 1e-100)
    low, high = 1e-13 * spread, 2 * spread
    for _ in range(100):
        gap = np.sqrt(low * high)
        if (weights / (gap + below) ** 2).sum() > radius2:
            low = gap
        else:
            high = gap
    return float((top + high) * radius2 + (weights / (high + below)).sum())


def upper_bound(
    problem: Problem, effort: BoundEffort = "auto", value: float | None = None
) -> float:
    """The tightest of the bounds that this size allows within the effort.

    ``value`` is the best known, which the split of the pairs aims at; without it there is none.
    """
    bounds = [row_bound(problem)]
    if effort != "cheap" and value is not None and problem.n <= SPLIT_LIMIT:
        bounds.append(split_bound(problem, value))
    if effort == "sdp" or (effort == "auto" and problem.n <= SDP_LIMIT):
        from featsieve.quadratic.sdp import relax

        bounds.append(relax(problem).upper_bound)
    elif problem.n <= EIGEN_LIMIT:
        bounds.append(sphere_bound(problem))
    elif problem.is_nonnegative:
        bounds += [lp2_bound(problem), perron_bound(problem)]
    return min(bounds)
