"""Upper bounds on max x'Qx: eigenvalues, rows, and the semidefinite relaxation (with rounding)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.quadratic.problem import Answer, Options, Problem
from featsieve.runtime.pool import single_threaded_blas


@dataclass(frozen=True)
class Rounds:
    """What some rounds of tightening came to, over the free indices."""

    is_done: bool  # no answer here is better than the one known
    bound: float
    worth: FloatArray
    is_top: Array
    better: Array  # the best answer met if it beats the one known, else empty
    decided: Array | None  # 1: must be in, 0: must be out, −1: open


def tighten(
    shares: FloatArray,
    pairs: FloatArray,
    linear: FloatArray,
    left: int,
    *,
    rounds: int,
    value: float,
    margin: float,
) -> Rounds:
    """Up to ``rounds`` rounds for choosing ``left`` indices; ``shares`` is changed in place.

    ``pairs`` is the symmetric matrix, ``linear`` what each index adds on its own, ``value`` the
    best known; an answer has to beat it by more than ``margin``.
    """
    from featsieve.compiled.branching import DECIDED, DONE, tighten_rows

    size = len(linear)
    lines = np.empty((size + 1, size))
    lines[:size] = shares
    np.fill_diagonal(lines[:size], -np.inf)
    flags = np.zeros((size + 1, size), dtype=np.int8)
    better = np.zeros(size, dtype=np.int8)
    state, bound, spare = tighten_rows(
        lines, pairs, linear, left, rounds, value, margin, np.empty(size), flags, better
    )
    shares[:] = lines[:size]
    worth, is_top = lines[size], flags[size] == 1
    fixed = _decided(worth, is_top, spare) if state == DECIDED else None
    return Rounds(state == DONE, bound, worth, is_top, np.flatnonzero(better), fixed)


def _decided(worth: FloatArray, is_top: Array, spare: float) -> Array:
    """1 or 0 for each index whose move to the other side costs ``spare`` or more, else −1."""
    cost = np.where(is_top, worth - worth[~is_top].max(), worth[is_top].min() - worth)
    return np.where(cost >= spare, is_top, -1).astype(np.int8)


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
        bounds.append(relax(problem).upper_bound)
    elif problem.n <= SPHERE_LIMIT:
        bounds.append(sphere_bound(problem))
    elif problem.is_nonnegative:
        bounds += [lp2_bound(problem), perron_bound(problem)]
    return min(bounds)


MAX_ROUNDS = 12
INNER_STEPS = 40
PENALTY = 4.0  # in units of a typical row norm of the centred Q
FEASIBLE = 1e-4


@dataclass(frozen=True)
class Relaxation:
    """The factor V, the multipliers u and the bound that they prove."""

    factor: FloatArray
    multipliers: FloatArray
    upper_bound: float


def relax(problem: Problem) -> Relaxation:
    """The relaxation to its end, with its dual bound."""
    *_, (factor, multipliers) = rounds(problem)
    return Relaxation(factor, multipliers, sphere_bound(problem, multipliers))


def rounds(problem: Problem) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Factor and multipliers after each round of the augmented Lagrangian."""
    V = _start(problem)
    penalty = PENALTY * _row_scale(problem)
    multipliers = np.zeros(problem.n)
    for _ in range(MAX_ROUNDS):
        V = _inner(problem, V, multipliers, penalty)
        violation = _violation(V)
        multipliers = multipliers + penalty * violation
        yield V, multipliers
        if np.sqrt(np.mean(violation**2)) < FEASIBLE:
            return


def _start(problem: Problem) -> FloatArray:
    """A feasible point apart from the centring: x = k/n, the rest random (a fixed seed)."""
    # Rank √(2n): enough for a factor without bad local optima (Barvinok, Pataki).
    rank = int(np.ceil(np.sqrt(2 * problem.n))) + 2
    share = problem.k / problem.n
    rest = np.random.default_rng(0).standard_normal((problem.n, rank - 1))
    rest *= np.sqrt(share * (1 - share)) / np.linalg.norm(rest, axis=1, keepdims=True)
    return np.column_stack([np.full(problem.n, share), rest - rest.mean(axis=0)])


def _row_scale(problem: Problem) -> float:
    """Root of the mean squared row norm of the doubly centred Q; never 0."""
    sums = problem.row_sums
    n = problem.n
    square = (problem.Q**2).sum() - 2 * (sums**2).sum() / n + (sums.sum() / n) ** 2
    return max(float(np.sqrt(max(square, 0.0) / n)), 1e-9 * problem.scale, 1e-300)


def _violation(V: FloatArray) -> FloatArray:
    """|v_i|² − v_i1, zero for 0/1 answers."""
    return np.einsum("ij,ij->i", V, V) - V[:, 0]


def _inner(problem: Problem, V: FloatArray, multipliers: FloatArray, penalty: float) -> FloatArray:
    """Some steps of L-BFGS on the augmented Lagrangian, within fixed column sums."""
    from scipy.optimize import minimize

    shape, unit = V.shape, problem.n * penalty

    def lagrangian(flat: FloatArray) -> tuple[float, FloatArray]:
        V = flat.reshape(shape)
        product = problem.Q @ V
        violation = _violation(V)
        value = multipliers @ violation + penalty / 2 * violation @ violation
        weight = multipliers + penalty * violation
        gradient = 2 * (V * weight[:, None] - product)
        gradient[:, 0] -= weight
        gradient -= gradient.mean(axis=0)  # the step keeps the column sums
        return float(value - np.vdot(V, product)) / unit, (gradient / unit).ravel()

    options: Any = {"maxiter": INNER_STEPS, "maxcor": 8, "gtol": 1e-10, "ftol": 1e-13}
    with single_threaded_blas():  # L-BFGS's short vectors: threads would wait for each other
        best = minimize(lagrangian, V.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(best.x).reshape(shape)


def _round(problem: Problem, V: FloatArray, directions: FloatArray) -> Answer:
    """The best of the sets that the random projections of V give."""
    scores = V @ directions
    # Goemans and Williamson in 0/1 terms: the side on which the common vector e_1 lies is "in".
    scores *= np.sign(directions[0])
    sets = [problem.top(column) for column in scores.T]
    return problem.ranked(max(sets, key=problem.value))


def steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """A rounded answer after each round, the dual bound with the last one."""
    directions: FloatArray | None = None
    for factor, multipliers in rounds(problem):
        if directions is None:
            directions = options.rng.standard_normal((factor.shape[1], options.n_projections))
        answer, last = _round(problem, factor, directions), multipliers
        yield answer
    yield Answer(answer.indices, answer.value, sphere_bound(problem, last))
