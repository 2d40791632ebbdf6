"""TPower (P-CMI, section II-B2): the truncated power method for the k-sparse leading vector."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from featsieve.quadratic.answer import Answer
from featsieve.quadratic.problem import DENSE_EIGEN_LIMIT, Problem
from featsieve.quadratic.registry import Iterates, Options, Start
from featsieve.schema import FloatArray, IntArray

# A full shift makes the iterates monotone but freezes them at the start; none lets them cycle.
# From slow and safe to fast and loose, each run starting where the best one ended.
SHIFT_FRACTIONS = {
    "none": (0.0,),
    "partial": (0.5,),
    "full": (1.0,),
    "schedule": (0.75, 0.5, 0.25, 0.1, 0.0),
}
RELATIVE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Run:
    """The last iterate and the best support that was passed on the way."""

    last: FloatArray
    objective: float  # x'(Q + shift)x over the last step, as the original reports it
    best: IntArray
    best_value: float


def start_vector(problem: Problem, start: Start) -> FloatArray:
    """Linear's solution (the paper's start), or the two starts of the original program."""
    diagonal = np.diagonal(problem.Q)
    if start == "diagonal":
        return _indicator(problem.n, problem.top(diagonal)[:1])
    scores = problem.row_sums if start == "linear" else diagonal
    return _indicator(problem.n, problem.top(scores)) / np.sqrt(problem.k)


def truncated_power(
    problem: Problem,
    x: FloatArray,
    *,
    iterates: Iterates,
    shift: float,
    max_iter: int,
    tol: float,
) -> Run:
    """Multiply by Q + shift·I, keep the k largest entries; the best support passed is kept.

    As in the original: a first step, then up to ``max_iter`` more until the objective x_t'Q x_{t-1}
    changes by less than ``tol``.
    """
    best = np.flatnonzero(x)
    value = problem.value(best) if len(best) == problem.k else -np.inf
    objective = np.inf
    for _ in range(max_iter + 1):
        product = problem.Q @ x + shift * x
        x, support = _truncate(problem, product, iterates)
        reached = problem.value(support)
        if reached > value:
            best, value = support, reached
        objective, before = float(x @ product), objective
        if abs(objective - before) < tol:
            break
    return Run(x, objective, best, value)


def _truncate(
    problem: Problem, product: FloatArray, iterates: Iterates
) -> tuple[FloatArray, IntArray]:
    """Real iterates keep the values of the largest |entries|; the paper's become 0 and 1."""
    if iterates == "binary":
        support = problem.top(product)
        return _indicator(problem.n, support) / np.sqrt(problem.k), support
    support = problem.top(np.abs(product))
    kept = product[support]
    norm = float(np.linalg.norm(kept))
    x = np.zeros(problem.n)
    x[support] = kept / norm if norm > 0 else 1 / np.sqrt(problem.k)
    return x, support


def _indicator(n: int, support: IntArray) -> FloatArray:
    x = np.zeros(n)
    x[support] = 1.0
    return x


def psd_shift(problem: Problem) -> float:
    """The smallest t >= 0 for which Q + tI has no negative eigenvalue."""
    if problem.n <= DENSE_EIGEN_LIMIT:
        return max(0.0, -float(np.linalg.eigvalsh(problem.Q)[0]))
    from scipy.sparse.linalg import eigsh

    start = np.where(np.arange(problem.n) % 2, 1.0, -1.0)  # near the negative end
    smallest = eigsh(problem.Q, k=1, which="SA", v0=start, return_eigenvectors=False)
    return max(0.0, -float(smallest[0]))


def steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """One answer a shift, each the best so far."""
    fractions = SHIFT_FRACTIONS[options.shift]
    full = psd_shift(problem) if any(fractions) else 0.0
    x = start_vector(problem, options.start)
    best: Run | None = None
    for fraction in fractions:
        run = truncated_power(
            problem,
            x,
            iterates=options.iterates,
            shift=fraction * full,
            max_iter=options.max_iter,
            tol=RELATIVE_TOLERANCE * problem.scale,
        )
        if best is None or run.best_value > best.best_value:
            best = run
        x = _indicator(problem.n, best.best) / np.sqrt(problem.k)
        yield problem.ranked(best.best)
