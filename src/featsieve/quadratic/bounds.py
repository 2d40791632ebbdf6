"""Upper bounds on max x'Qx with k ones, from row sums and eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.quadratic.problem import ROUNDING, Problem, lanczos
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import SILENT, Monitor

EIGEN_LIMIT = 1000  # one dense eigendecomposition: below a second


def lp2_bound(problem: Problem) -> float:
    """The optimum of LP2, the k largest row sums; needs Q >= 0 (P-CMI, Lemma A.2)."""
    return float(np.sort(problem.row_sums)[-problem.k :].sum())


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


def sphere_bound(
    problem: Problem, diagonal: FloatArray | None = None, monitor: Monitor = SILENT
) -> float:
    """The maximum over all real x with Σx = k and Σx² = k, which hold for every 0/1 answer.

    ``diagonal`` u moves weight from x_i² to x_i (they are equal at 0 and 1): every u gives a valid
    bound, and the best u gives the semidefinite relaxation. With x = k/n + z and z ⟂ 1 the value
    is constant + b'z + z'Mz on a sphere, and for every λ above λ_max(M), weak duality gives
    z'Mz + b'z <= λ|z|² + b'(λI − M)^-1 b / 4.
    """
    M, b, constant = _centred(problem, diagonal)
    radius2 = problem.k * (1 - problem.k / problem.n)
    if problem.n <= EIGEN_LIMIT or diagonal is not None:
        eigenvalues, vectors = watched_call(np.linalg.eigh, M, monitor)
        size = float(np.abs(eigenvalues).max())
        dual = _sphere_dual(eigenvalues, (vectors.T @ b) ** 2 / 4, radius2)
    else:
        size = float(np.abs(M).sum(axis=1).max())
        dual = _cholesky_dual(M, b, radius2, monitor)
    # Computed eigenvalues and sums are off by rounding: keep on the safe side of it.
    return constant + dual + ROUNDING * problem.n * (size * radius2 + abs(constant))


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


def _cholesky_dual(M: FloatArray, b: FloatArray, radius2: float, monitor: Monitor) -> float:
    """The dual value, with every λ proven to be above λ_max by a Cholesky factor.

    A tenth of the cost of all eigenvalues. λ starts a little above an estimate of λ_max and grows
    by Newton steps (Moré and Sorensen) while the maximiser z is still outside the sphere.
    """
    from scipy.linalg import cho_solve, cholesky

    top = lanczos(M, 1, "LA", np.linspace(-1.0, 1.0, len(M)), tol=1e-4)[0][0]
    step, best = 1e-3 * max(float(top), 1e-6 * float(M.max())), np.inf
    level = float(top)
    for _ in range(8):
        monitor.check()
        level += step
        shifted = -M
        np.fill_diagonal(shifted, np.diagonal(shifted) + level)
        try:
            factor = watched_call(partial(cholesky, lower=True), shifted, monitor), True
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


def lifted_bound(problem: Problem, diagonal: FloatArray, monitor: Monitor = SILENT) -> float:
    """The dual value of the relaxation that only knows Σx = k and x_i² = x_i.

    ``diagonal`` u moves weight from x_i² to x_i. With τ above λ_max(Q − diag(u)) and ν free,
    x'Qx <= τk − νk + (u + ν1)'(τI + diag(u) − Q)^-1 (u + ν1) / 4 for every 0/1 answer; the best ν
    has a closed form, and the value is convex in τ.
    """
    k = problem.k
    shifted = problem.Q - np.diag(diagonal)
    eigenvalues, vectors = watched_call(np.linalg.eigh, shifted, monitor)
    ones, pull = vectors.sum(axis=0), vectors.T @ diagonal
    top = float(eigenvalues[-1])
    spread = max(float(np.abs(eigenvalues).max()), float(np.abs(diagonal).max()), 1e-100)

    def value(gap: float) -> float:
        weights = 0.25 / (gap + top - eigenvalues)
        a, b, c = (ones * ones) @ weights, (ones * pull) @ weights, (pull * pull) @ weights
        return float((top + gap) * k + c - (k - 2 * b) ** 2 / (4 * a))

    best = _smallest_on_log_scale(value, 1e-12 * spread, 1e3 * problem.n * spread)
    return best + ROUNDING * problem.n * spread * k


def _smallest_on_log_scale(function: Callable[[float], float], low: float, high: float) -> float:
    """The smallest value met while a bracket around the minimum of a convex function shrinks."""
    best = np.inf
    for _ in range(80):
        ratio = (high / low) ** (1 / 3)
        left, right = low * ratio, high / ratio
        values = function(left), function(right)
        best = min(best, *values)
        low, high = (low, right) if values[0] <= values[1] else (left, high)
    return best
