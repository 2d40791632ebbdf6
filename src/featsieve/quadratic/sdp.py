"""SDP (P-CMI, section II-B4): the semidefinite relaxation, rounded by random projections.

The relaxation max <Q, X>, diag X = x, Σx = k, X1 = kx, X − xx' positive semidefinite is solved
in the low-rank form of Burer and Monteiro: X = VV' with one short row v_i a feature, first column
x, |v_i|² = v_i1 and column sums (k, 0, …, 0). The column sums are kept by a projection, the
diagonal by an augmented Lagrangian whose multipliers u give the dual bound: they are valid as they
are, once :func:`~featsieve.quadratic.bounds.sphere_bound` has corrected for the smallest eigenvalue
of diag(u) − Q. Memory is a few copies of Q; the paper's interior-point solver ended at n = 700.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.pool import single_threaded_blas
from featsieve.quadratic.answer import Answer
from featsieve.quadratic.bounds import sphere_bound
from featsieve.quadratic.problem import Problem
from featsieve.quadratic.registry import Options
from featsieve.schema import FloatArray

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
