"""The one public function: check, run a solver within its time, improve, bound."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from featsieve.input.parameters import (
    check_choice,
    check_flag,
    check_integer,
    check_random_state,
    check_real,
    check_time,
)
from featsieve.quadratic.problem import (
    SOLVERS,
    Answer,
    BoundEffort,
    BQPResult,
    Iterates,
    Options,
    Problem,
    SdpForm,
    Shift,
    SolverName,
    Start,
    check_nonnegative,
    make_problem,
)
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.progress import Monitor, last_of
from featsieve.runtime.seeds import random_generator

RandomState = int | np.random.Generator | np.random.RandomState | None
# Up to here BLAS threads cost more than they save: they wait for each other most of the time.
ONE_THREAD_LIMIT = 3000
SPLIT_LIMIT = 500  # a hundred rounds on the split of the pairs: below a second


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
    sdp_form: SdpForm = "product",
    max_time: float | None = None,
    local_search: bool | None = None,
    bound: BoundEffort | None = None,
) -> BQPResult:
    """Maximise x'Qx over 0/1 vectors with k ones.

    Parameters
    ----------
    Q
        A square matrix; it is symmetrised.
    k
        The number of ones, from 1 to the size of Q.
    solver
        ``"linear"`` (LP2), ``"spectral"``, ``"sdp"``, ``"tpower"``, ``"lowrank"`` as in
        Venkateswara et al. (2015); ``"exact"``: branch and bound; ``"auto"``: several starts,
        swaps, a proof if it is cheap.
    random_state
        Seed of ``"sdp"`` (projections), ``"lowrank"`` (samples) and ``"auto"``.
    rank, epsilon, delta, n_samples
        ``"lowrank"``: exact for rank 1 and 2. Above, a net of directions so dense that the value is
        within epsilon of the rank's best; the paper's random directions, which reach that with
        probability 1 − delta, where they are fewer; or ``n_samples`` random ones.
    iterates, shift, start, max_iter
        ``"tpower"``: the original's real iterates or the binary ones of Venkateswara et al.; how
        much of the shift that makes Q positive semidefinite is added; where it starts.
    n_projections
        ``"sdp"``: random projections in the rounding.
    sdp_form
        ``"sdp"``: ``"product"`` also asks that X1 = kx, which holds for every 0/1 answer and gives
        a tighter bound; ``"plain"`` asks only that diag(X) = x and Σx = k.
    max_time
        Seconds after which the best so far is returned.
    local_search
        Improve the answer by swaps, past local optima by tabu search; None: only for ``"auto"``
        and ``"lowrank"``.
    bound
        ``"auto"``: the tightest bound that takes a second at most for this size; ``"sdp"``: the
        semidefinite one too, whatever it costs; ``"cheap"``: only sums and eigenvalues;
        ``"none"``: leave it out. None: ``"cheap"`` for ``"linear"``, ``"spectral"``, ``"tpower"``
        and ``"lowrank"``, else ``"auto"``. Out of time, only sums are used.

    Examples
    --------
    >>> result = solve([[3, 1, 0], [1, 2, 1], [0, 1, 1]], 2)
    >>> sorted(result.indices.tolist()), result.value, result.proven_optimal
    ([0, 1], 7.0, True)
    """
    monitor = Monitor(max_time=check_time(max_time))
    problem = make_problem(Q, k)
    options = Options(
        monitor=monitor,
        rank=check_integer("rank", rank, 1),
        epsilon=check_real("epsilon", epsilon, 0, 1, inclusive="neither"),
        delta=check_real("delta", delta, 0, 1, inclusive="neither"),
        n_samples=None if n_samples is None else check_integer("n_samples", n_samples, 1),
        iterates=check_choice("iterates", iterates, get_args(Iterates)),
        shift=check_choice("shift", shift, get_args(Shift)),
        start=check_choice("start", start, get_args(Start)),
        max_iter=check_integer("max_iter", max_iter, 1),
        n_projections=check_integer("n_projections", n_projections, 1),
        sdp_form=check_choice("sdp_form", sdp_form, get_args(SdpForm)),
    )
    if local_search is not None:
        check_flag("local_search", local_search)
    check_random_state("random_state", random_state)
    steps = answers(problem, solver, options, local_search, bound, random_state)
    answer, _ = last_of(steps, monitor)
    return result_of(answer, monitor.elapsed)


def result_of(answer: Answer, elapsed: float) -> BQPResult:
    limit = answer.upper_bound if np.isfinite(answer.upper_bound) else None
    return BQPResult(answer.indices, answer.value, limit, answer.is_proven, elapsed)


def answers(
    problem: Problem,
    solver: str,
    options: Options,
    local_search: bool | None = None,
    bound: BoundEffort | None = None,
    random_state: RandomState = None,
) -> Iterator[Answer]:
    """The best answer so far, with a bound (unless that is left out), again and again."""
    entry = SOLVERS[check_choice("solver", solver, SOLVERS)]
    effort = entry.bound if bound is None else check_choice("bound", bound, get_args(BoundEffort))
    if entry.needs_nonnegative:
        check_nonnegative(problem, solver)
    if problem.k == problem.n:
        everything = problem.ranked(np.arange(problem.n))
        yield everything.bounded(everything.value)
        return
    with fitting_threads(problem):
        limit, options = np.inf, replace(options, rng=random_generator(random_state))
        for number, answer in enumerate(entry.steps(problem, options)):
            if number == 0 and effort != "none":
                limit = problem.row_bound
            yield answer.bounded(limit)
        if entry.local_search if local_search is None else local_search:
            answer = _with_swaps(problem, answer, options.monitor)
            yield answer.bounded(limit)
        if not answer.is_proven and effort != "none":
            yield answer.bounded(_tightest(problem, answer, effort, options.monitor))


def fitting_threads(problem: Problem) -> AbstractContextManager[Any]:
    """As many BLAS threads as pay for a problem of this size."""
    return single_threaded_blas() if problem.n <= ONE_THREAD_LIMIT else nullcontext()


def _with_swaps(problem: Problem, answer: Answer, monitor: Monitor) -> Answer:
    from featsieve.quadratic.heuristics import improve, patience

    better = improve(problem, answer.indices, patience(problem), monitor)
    if better.value < answer.value:  # rounding only: the search never goes down
        return answer
    return Answer(better.indices, better.value, answer.upper_bound)


def _tightest(problem: Problem, answer: Answer, effort: BoundEffort, monitor: Monitor) -> float:
    from featsieve.quadratic.exact import split_bound
    from featsieve.quadratic.relaxation import upper_bound

    limit = upper_bound(problem, effort, monitor)
    if effort == "cheap" or problem.n > SPLIT_LIMIT:
        return limit
    return min(limit, split_bound(problem, answer.value, monitor=monitor))
