"""The one public function: check, run a solver within its time, improve, bound."""

from __future__ import annotations

import numbers
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from featsieve.errors import InputError
from featsieve.input.parameters import check_time
from featsieve.quadratic.bounds import BoundEffort, upper_bound
from featsieve.quadratic.problem import (
    SOLVERS,
    Answer,
    BQPResult,
    Iterates,
    Options,
    Problem,
    Shift,
    Solver,
    SolverName,
    Start,
    check_nonnegative,
    make_problem,
)
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.progress import Monitor, last_of
from featsieve.runtime.seeds import random_generator

Choice = TypeVar("Choice")
RandomState = int | np.random.Generator | np.random.RandomState | None
# Up to here BLAS threads cost more than they save: they wait for each other most of the time.
ONE_THREAD_LIMIT = 1000


def solve(
    Q: npt.ArrayLike,
    k: int,
    *,
    solver: SolverName = "auto",
    random_state: RandomState = None,
    rank: int = 3,
    epsilon: float = 0.1,
    delta: float = 0.1,
    n_samples: int | None = None,
    iterates: Iterates = "real",
    shift: Shift = "schedule",
    start: Start = "linear",
    max_iter: int = 50,
    n_projections: int = 100,
    max_time: float | None = None,
    local_search: bool | None = None,
    bound: BoundEffort = "auto",
) -> BQPResult:
    """Maximise x'Qx over 0/1 vectors with k ones.

    Parameters
    ----------
    Q
        A square matrix; it is symmetrised.
    k
        The number of ones, at least 1 and below the size of Q.
    solver
        ``"linear"`` (LP2), ``"spectral"``, ``"sdp"``, ``"tpower"``, ``"lowrank"`` as in P-CMI;
        ``"exact"``: branch and bound; ``"auto"``: several starts, swaps, a proof if it is cheap.
    random_state
        Seed of ``"sdp"`` (projections), ``"lowrank"`` (samples) and ``"auto"``.
    rank, epsilon, delta, n_samples
        ``"lowrank"``: exact for rank 1 and 2; above, so many random directions that the value is
        within epsilon of the rank's best with probability 1 − delta, or ``n_samples`` of them.
    iterates, shift, start, max_iter
        ``"tpower"``: the original's real iterates or P-CMI's binary ones; how much of the shift
        that makes Q positive semidefinite is added; where it starts.
    n_projections
        ``"sdp"``: random projections in the rounding.
    max_time
        Seconds after which the best so far is returned.
    local_search
        Improve the answer by swaps; None: only for ``"auto"``.
    bound
        ``"auto"``: the tightest bound that takes a second at most for this size; ``"sdp"``: the
        semidefinite one too, whatever it costs; ``"cheap"``: only sums and eigenvalues.
    """
    monitor = Monitor(max_time=check_time(max_time))
    problem = make_problem(Q, k)
    entry = _lookup(solver, problem)
    options = Options(
        rng=random_generator(random_state),
        rank=_positive("rank", rank),
        epsilon=_in_unit_interval("epsilon", epsilon),
        delta=_in_unit_interval("delta", delta),
        n_samples=None if n_samples is None else _positive("n_samples", n_samples),
        iterates=_one_of("iterates", iterates, Iterates),
        shift=_one_of("shift", shift, Shift),
        start=_one_of("start", start, Start),
        max_iter=_positive("max_iter", max_iter),
        n_projections=_positive("n_projections", n_projections),
    )
    effort = _one_of("bound", bound, BoundEffort)
    with fitting_threads(problem):
        answer, _ = last_of(entry.steps(problem, options), monitor)
        if entry.local_search if local_search is None else local_search:
            answer = _with_swaps(problem, answer)
        return _finish(problem, answer, effort, monitor)


def fitting_threads(problem: Problem) -> AbstractContextManager[Any]:
    """As many BLAS threads as pay for a problem of this size."""
    return single_threaded_blas() if problem.n <= ONE_THREAD_LIMIT else nullcontext()


def _with_swaps(problem: Problem, answer: Answer) -> Answer:
    from featsieve.quadratic.tpower import improve

    better = improve(problem, answer.indices)
    if better.value < answer.value:  # rounding only: the search never goes down
        return answer
    return Answer(better.indices, better.value, answer.upper_bound)


def _finish(problem: Problem, answer: Answer, effort: BoundEffort, monitor: Monitor) -> BQPResult:
    limit = answer.upper_bound
    if not answer.is_proven:
        # Out of time: only the bounds that cost a pass over Q.
        effort = effort if monitor.remaining() > 0 else "cheap"
        limit = min(limit, upper_bound(problem, effort, answer.value))
    limit = max(limit, answer.value)
    final = Answer(answer.indices, answer.value, limit)
    return BQPResult(final.indices, final.value, limit, final.is_proven, monitor.elapsed)


def _lookup(name: str, problem: Problem) -> Solver:
    if name not in SOLVERS:
        raise InputError(f"solver={name!r} is not known; use one of {', '.join(SOLVERS)}.")
    if SOLVERS[name].needs_nonnegative:
        check_nonnegative(problem, name)
    return SOLVERS[name]


def _positive(name: str, value: int) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} must be an integer of at least 1, not {value!r}.")
    return int(value)


def _in_unit_interval(name: str, value: float) -> float:
    if not isinstance(value, numbers.Real) or not 0 < value < 1:
        raise InputError(f"{name} must lie between 0 and 1 (both excluded), not {value!r}.")
    return float(value)


def _one_of(name: str, value: Choice, choices: object) -> Choice:
    if value not in get_args(choices):
        raise InputError(
            f"{name}={value!r} is not known; use one of {', '.join(get_args(choices))}."
        )
    return value
