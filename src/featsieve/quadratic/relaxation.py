"""The tightest upper bound that an effort allows, and the semidefinite relaxation (with rounding).

The relaxation has a low-rank factor: X = VV' with one row v_i per index, whose first entry is x_i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.quadratic.bounds import (
    lifted_bound,
    lp2_bound,
    perron_bound,
    sphere_bound,
)
from featsieve.quadratic.problem import Answer, BoundEffort, Options, Problem, SdpForm
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.progress import SILENT, Monitor

SPHERE_LIMIT = 4000  # some Cholesky factors: a few seconds
SDP_LIMIT = 200  # a semidefinite relaxation: a few tenths of a second


def upper_bound(
    problem: Problem,
    effort: BoundEffort = "auto",
    monitor: Monitor = SILENT,
) -> float:
    """The tightest relaxation that this size allows within the effort; infinite for "none"."""
    if effort == "none":
        return np.inf
    bounds = [problem.row_bound]
    if effort == "sdp" or (effort == "auto" and problem.n <= SDP_LIMIT):
        bounds.append(relax(problem, monitor=monitor).upper_bound)
    elif problem.n <= SPHERE_LIMIT:
        bounds.append(sphere_bound(problem, monitor=monitor))
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


def relax(problem: Problem, form: SdpForm = "product", monitor: Monitor = SILENT) -> Relaxation:
    """The relaxation to its end, with its dual bound."""
    *_, (factor, multipliers) = rounds(problem, form, monitor)
    return Relaxation(factor, multipliers, dual_bound(problem, form, multipliers, monitor))


def dual_bound(
    problem: Problem, form: SdpForm, multipliers: FloatArray, monitor: Monitor = SILENT
) -> float:
    """What the multipliers prove."""
    if form == "product":
        return sphere_bound(problem, multipliers, monitor)
    return lifted_bound(problem, multipliers, monitor)


def rounds(
    problem: Problem, form: SdpForm, monitor: Monitor = SILENT
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Factor and multipliers after each round of the augmented Lagrangian."""
    V = _start(problem)
    penalty = PENALTY * _row_scale(problem)
    multipliers = np.zeros(problem.n)
    for _ in range(MAX_ROUNDS):
        V = _inner(problem, form, V, multipliers, penalty, monitor)
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
    square = float((problem.Q**2).sum() - 2 * (sums**2).sum() / n + (sums.sum() / n) ** 2)
    return max(float(np.sqrt(max(square, 0.0) / n)), 1e-9 * problem.scale, 1e-300)


def _violation(V: FloatArray) -> FloatArray:
    """|v_i|² − v_i1, zero for 0/1 answers."""
    return np.einsum("ij,ij->i", V, V) - V[:, 0]


def _inner(
    problem: Problem,
    form: SdpForm,
    V: FloatArray,
    multipliers: FloatArray,
    penalty: float,
    monitor: Monitor,
) -> FloatArray:
    """Some steps of L-BFGS on the augmented Lagrangian, within fixed column sums."""
    from scipy.optimize import minimize

    shape, unit = V.shape, problem.n * penalty
    # Σ v_i = k e_1 is X1 = kx; its first entry alone is Σx = k. A step keeps these sums.
    fixed = slice(None) if form == "product" else slice(0, 1)

    def lagrangian(flat: FloatArray) -> tuple[float, FloatArray]:
        monitor.check()
        V = flat.reshape(shape)
        product = problem.Q @ V
        violation = _violation(V)
        value = multipliers @ violation + penalty / 2 * violation @ violation
        weight = multipliers + penalty * violation
        gradient = 2 * (V * weight[:, None] - product)
        gradient[:, 0] -= weight
        gradient[:, fixed] -= gradient[:, fixed].mean(axis=0)
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


def sdp_steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """A rounded answer after each round, the dual bound with the last one."""
    directions: FloatArray | None = None
    for factor, multipliers in rounds(problem, options.sdp_form, options.monitor):
        if directions is None:
            directions = options.rng.standard_normal((factor.shape[1], options.n_projections))
        answer, last = _round(problem, factor, directions), multipliers
        yield answer
    bound = dual_bound(problem, options.sdp_form, last, options.monitor)
    yield Answer(answer.indices, answer.value, bound)
