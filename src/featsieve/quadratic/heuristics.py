"""The paper's fast solvers (P-CMI: Linear, Spectral, TPower), and local search by swaps.

Each solver yields the best answer so far; :mod:`featsieve.quadratic.problem` lists them by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.quadratic.problem import (
    DENSE_EIGEN_LIMIT,
    Answer,
    Iterates,
    Options,
    Problem,
    Start,
    lanczos,
)
from featsieve.runtime.ordering import TIE_TOLERANCE
from featsieve.runtime.progress import SILENT, Monitor

MAX_MOVES = 1_000_000
SWAPS_AT_ONCE = 100_000_000  # looked at between two looks at the clock: some tenths of a second


def linear_steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """One answer: the solution of LP2, where 2w_ij = x_i + x_j turns x'Qx into ||Qx||_1."""
    yield problem.answer(problem.top(problem.row_sums))


def feature_weights(problem: Problem) -> FloatArray:
    """|x| of the leading eigenvector; a non-negative matrix has one without sign changes."""
    _, vectors = problem.eigenpairs(1)
    return np.abs(vectors[:, 0])


def spectral_steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """One answer: the k largest weights (P-CMI, section II-B4)."""
    yield problem.answer(problem.top(feature_weights(problem)))


# --- Local search --------------------------------------------------------------------------------


def improve(
    problem: Problem, indices: IntArray, patience: int = 0, monitor: Monitor = SILENT
) -> Answer:
    """The best set reached by swaps; ``patience`` > 0 goes on past local optima (tabu search)."""
    chosen = _climb(problem, indices, patience, monitor)
    while True:
        lowest = _lowest_tied(problem, chosen)
        chosen = _climb(problem, lowest, 0, monitor)
        if problem.value(chosen) <= problem.value(lowest) + _margin(problem):
            return problem.ranked(lowest)


def patience(problem: Problem) -> int:
    """Moves without progress before tabu search leaves a start."""
    return 50 + 2 * problem.k


def _margin(problem: Problem) -> float:
    """A gain that is no more than rounding."""
    return TIE_TOLERANCE * problem.scale * problem.k


def _climb(problem: Problem, indices: IntArray, patience: int, monitor: Monitor) -> IntArray:
    """Best swaps from this set on; the best set met, in index order."""
    from featsieve.compiled.quadratic import swap_search

    inside = np.zeros(problem.n, dtype=np.bool_)
    inside[indices] = True
    members = np.flatnonzero(inside)
    best = members.copy()
    others, products = np.flatnonzero(~inside), problem.Q[:, members].sum(axis=1)
    free_at, state = np.zeros(problem.n, dtype=np.int64), np.zeros(4)
    at_once = max(1, SWAPS_AT_ONCE // (problem.k * (problem.n - problem.k) + problem.n))
    for _ in range(0, MAX_MOVES, at_once):
        if swap_search(
            problem.Q,
            members,
            others,
            products,
            free_at,
            best,
            patience,
            at_once,
            _margin(problem),
            float(problem.Q.min()),
            state,
        ):
            break
        monitor.check()
    return np.sort(best)


def _lowest_tied(problem: Problem, members: IntArray) -> IntArray:
    """Replace members by lower indices that give the same value (ties to the lowest index)."""
    tolerance = TIE_TOLERANCE * max(abs(problem.value(members)), problem.scale)
    Q, diagonal = problem.Q, np.diagonal(problem.Q)
    members, products = members.copy(), problem.Q[:, members].sum(axis=1)
    inside = np.zeros(problem.n, dtype=np.bool_)
    inside[members] = True
    for position, member in enumerate(members):
        gains = (2 * products + diagonal)[:member] - 2 * Q[member, :member]
        gains -= 2 * products[member] - diagonal[member]
        tied = np.flatnonzero((np.abs(gains) <= tolerance) & ~inside[:member])
        if len(tied):
            members[position] = tied[0]
            inside[[member, tied[0]]] = False, True
            products += Q[tied[0]] - Q[member]
    return members


# --- The truncated power method ------------------------------------------------------------------

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
    start = np.where(np.arange(problem.n) % 2, 1.0, -1.0)  # near the negative end
    smallest, _ = lanczos(problem.Q, 1, "SA", start)
    return max(0.0, -float(smallest[0]))


def tpower_steps(problem: Problem, options: Options) -> Iterator[Answer]:
    """One answer per shift, each the best so far."""
    fractions = SHIFT_FRACTIONS[options.shift]
    full = psd_shift(problem) if any(fractions) else 0.0
    x = start_vector(problem, options.start)
    best: Run | None = None
    for done, fraction in enumerate(fractions):
        options.monitor.tick("trying shifts", done, len(fractions))
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
