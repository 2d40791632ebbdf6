"""Numbers that no set of k indices can exceed."""

from __future__ import annotations

from typing import Literal

import numpy as np

from featsieve.quadratic.problem import Problem
from featsieve.schema import FloatArray

BoundEffort = Literal["auto", "cheap", "sdp"]
EIGEN_LIMIT = 1000  # one dense eigendecomposition: below a second
SPHERE_LIMIT = 4000  # some Cholesky factors: a few seconds
SPLIT_LIMIT = 500  # a hundred rounds: below a second
SDP_LIMIT = 200  # a semidefinite relaxation: a few tenths of a second
_ROUNDING = 1e-13
_BLOCK_ENTRIES = 1 << 20


def lp2_bound(problem: Problem) -> float:
    """The optimum of LP2, the k largest row sums; needs Q >= 0 (P-CMI, Lemma A.2)."""
    return float(np.sort(problem.row_sums)[-problem.k :].sum())


def row_bound(problem: Problem) -> float:
    """LP2 with only k − 1 partners a row: valid for any Q, never above LP2 for Q >= 0."""
    best = np.diagonal(problem.Q) + _best_partners(problem)
    return float(np.sort(best)[-problem.k :].sum())


def _best_partners(problem: Problem) -> FloatArray:
    """For each row the sum of its k − 1 largest entries off the diagonal, some rows at a time."""
    partners = problem.k - 1
    sums = np.zeros(problem.n)
    step = max(1, _BLOCK_ENTRIES // problem.n)
    for first in range(0, problem.n if partners else 0, step):
        rows = problem.Q[first : first + step].copy()
        at = np.arange(len(rows))
        rows[at, first + at] = -np.inf
        rows.partition(problem.n - partners, axis=1)
        sums[first : first + step] = rows[:, problem.n - partners :].sum(axis=1)
    return sums


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
    if problem.scale == 0:
        return 0.0
    lift = problem.scale / problem.n  # of every entry: v stays positive, λ_max does not fall
    v = problem.row_sums + problem.scale
    for _ in range(n_iter):
        v = problem.Q @ v + lift * v.sum()
        v /= v.max()
    return problem.k * float(((problem.Q @ v + lift * v.sum()) / v).max())


def sphere_bound(problem: Problem, diagonal: FloatArray | None = None) -> float:
    """The maximum over all real x with Σx = k and Σx² = k, which hold for every 0/1 answer.

    ``diagonal`` u moves weight from x_i² to x_i (they are equal at 0 and 1): every u gives a valid
    bound, and the best u gives the semidefinite relaxation. With x = k/n + z and z ⟂ 1 the value
    is constant + b'z + z'Mz on a sphere, and for every λ above λ_max(M), weak duality gives
    z'Mz + b'z <= λ|z|² + b'(λI − M)^-1 b / 4.
    """
    M, b, constant = _centred(problem, diagonal)
    radius2 = problem.k * (1 - problem.k / problem.n)
    if problem.n <= EIGEN_LIMIT or diagonal is not None:
        eigenvalues, vectors = np.linalg.eigh(M)
        size = float(np.abs(eigenvalues).max())
        dual = _sphere_dual(eigenvalues, (vectors.T @ b) ** 2 / 4, radius2)
    else:
        size = float(np.abs(M).sum(axis=1).max())
        dual = _cholesky_dual(M, b, radius2)
    # Computed eigenvalues and sums are off by rounding: keep on the safe side of it.
    return constant + dual + _ROUNDING * problem.n * (size * radius2 + abs(constant))


def _centred(problem: Problem, diagonal: FloatArray | None) -> tuple[FloatArray, FloatArray, float]:
    """M, b and the constant of x'(Q − diag(u))x + u'x at x = k/n + z, for z ⟂ 1."""
    share = problem.k / problem.n
    M = problem.Q.copy()
    u: FloatArray = np.zeros(problem.n)
    if diagonal is not None:
        u = diagonal
        np.fill_diagonal(M, np.diagonal(M) - u)
    sums = M.sum(axis=1)
    b = 2 * share * sums + u
    M -= (sums / problem.n)[:, None]
    M -= sums / problem.n - sums.sum() / problem.n**2
    return M, b - b.mean(), float(share * share * sums.sum() + share * u.sum())


def _cholesky_dual(M: FloatArray, b: FloatArray, radius2: float) -> float:
    """The dual value, with every λ proven to be above λ_max by a Cholesky factor.

    A tenth of the cost of all eigenvalues. λ starts a little above an estimate of λ_max and grows
    by Newton steps (Moré and Sorensen) while the maximiser z is still outside the sphere.
    """
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse.linalg import eigsh

    start = np.linspace(-1.0, 1.0, len(M))
    top = eigsh(M, k=1, which="LA", v0=start, tol=1e-4, return_eigenvectors=False)[0]
    step, best = 1e-3 * max(float(top), 1e-6 * float(M.max())), np.inf
    level = float(top)
    for _ in range(8):
        level += step
        shifted = -M
        np.fill_diagonal(shifted, np.diagonal(shifted) + level)
        try:
            factor = cho_factor(shifted, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            step *= 10
            continue
        z = cho_solve(factor, b) / 2
        best = min(best, float(level * radius2 + b @ z / 2))
        outside = float(np.sqrt(z @ z / radius2)) - 1
        if outside <= 0.01:
            break
        step = outside * float(z @ z / (z @ cho_solve(factor, z)))
    return best


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
    elif problem.n <= SPHERE_LIMIT:
        bounds.append(sphere_bound(problem))
    elif problem.is_nonnegative:
        bounds += [lp2_bound(problem), perron_bound(problem)]
    return min(bounds)
