"""Weights on the l1 ball whose radius gives exactly k non-zeros (P-LSMI, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray, IntArray
from featsieve.input.parameters import check_choice, check_integer, check_real
from featsieve.protocols import (
    HasContextScores,
    HasRestarts,
    HasTuning,
    HasWeightGradient,
    HasWorkload,
)
from featsieve.result import COMPLETED, SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.pool import effective_n_jobs, ordered_map, single_threaded_blas
from featsieve.runtime.seeds import random_source
from featsieve.searches.ascent import MOVERS, NONZERO, Ascent, StepRule

SIZE_NOT_MET = "no radius gave the number asked for"
MOST_RESTARTS = 1_000_000
_MAX_DOUBLINGS = 20
_MAX_BISECTIONS = 12
_MANY_UNITS = 15
_SCREENED_UNITS = 10
_WORTH_A_THREAD = 3_000_000  # measured: below, threads wait for Python's lock more than they work


@dataclass(frozen=True)
class RadiusStep:
    """One radius that was tried: the weights it gave and their value."""

    radius: float
    weights: FloatArray
    value: float
    n_iter: int

    @property
    def support(self) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.weights > NONZERO).tolist())

    @property
    def size(self) -> int:
        return len(self.support)

    def rank(self, k: int) -> tuple[int, int, float]:
        """Smaller is better: (| |X| − k |, |X| − k, −value), Algorithm 1, line 24."""
        return abs(self.size - k), self.size - k, -self.value


@dataclass(frozen=True)
class Restart:
    """What one restart went through; ``best`` is its answer."""

    steps: tuple[RadiusStep, ...]
    best: RadiusStep


class L1Ball(BaseEstimator):
    """Maximise over non-negative weights of bounded sum; the radius is searched for k non-zeros.

    Parameters
    ----------
    n_init
        Restarts from random weights (and random centres, where the measure has them). On more
        than 15 units every second one starts from half of them (at most 10, at least 2k), those
        that look best in the presence of all others, where the measure tells.
    max_iter
        Most iterations for one radius.
    step
        ``"adaptive"``: spectral length with a line search; ``"authors"``: 1/√t.
    tol
        An ascent ends when the value changes by less than this on average.
    n_agree
        End the restarts once this many of them ended in the best set so far; None: run all.
    random_state, n_jobs
        The answer is the same for any ``n_jobs``.
    """

    requires: ClassVar[tuple[type, ...]] = (HasWeightGradient,)

    def __init__(
        self,
        *,
        n_init: int = 20,
        max_iter: int = 100,
        step: StepRule = "adaptive",
        tol: float = 1e-5,
        n_agree: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_init = n_init
        self.max_iter = max_iter
        self.step = step
        self.tol = tol
        self.n_agree = n_agree
        self.random_state = random_state
        self.n_jobs = n_jobs

    def steps(self, bound: Any, k: int) -> Iterator[SelectionResult]:
        """The best answer after each restart."""
        self._check()
        done: list[Restart] = []
        for restart in self._restarts(bound, k):
            done.append(restart)
            yield _result(done, k)
            bound.monitor.tick("restarts", len(done), self.n_init)
            if self._agreed(done, k):
                break

    def _check(self) -> None:
        check_choice("step", self.step, MOVERS)
        check_integer("n_init", self.n_init, 1, MOST_RESTARTS)
        check_integer("max_iter", self.max_iter, 1)
        check_real("tol", self.tol, 0)
        if self.n_agree is not None:
            check_integer("n_agree", self.n_agree, 1, also="None")

    def _restarts(self, bound: Any, k: int) -> Iterator[Restart]:
        """Finished restarts in their order; those still running end when nobody wants more."""
        unwanted = Event()
        ascent = Ascent(
            self.step,
            self.max_iter,
            self.tol,
            expired=lambda: unwanted.is_set() or bound.monitor.remaining() <= 0,
        )

        def run(piece: tuple[int, int]) -> Restart:
            number, seed = piece
            own = bound.restart(seed) if isinstance(bound, HasRestarts) else bound
            among = _screened(own, k) if number % 2 == 1 else np.arange(own.n_units)
            return _restart(own, ascent, k, among, np.random.default_rng(seed))

        running: Any = ordered_map(run, enumerate(self._seeds()), self._n_threads(bound))
        try:
            with single_threaded_blas():
                for restart in running:  # noqa: UP028 - the flag is set before running closes
                    yield restart
        finally:
            unwanted.set()
            running.close()

    def _n_threads(self, bound: Any) -> int:
        """One, if restarts would overwrite each other's model selection or wait for each other."""
        shares_tuning = isinstance(bound, HasTuning) and not isinstance(bound, HasRestarts)
        is_little = isinstance(bound, HasWorkload) and bound.workload < _WORTH_A_THREAD
        return 1 if shares_tuning or is_little else effective_n_jobs(self.n_jobs)

    def _seeds(self) -> list[int]:
        base = random_source(self.random_state).randint(np.iinfo(np.int32).max)
        seeds: list[int] = np.random.SeedSequence(base).generate_state(self.n_init).tolist()
        return seeds

    def _agreed(self, done: Sequence[Restart], k: int) -> bool:
        """The rule of ``n_agree``, a function of the restarts in their order only."""
        if self.n_agree is None:
            return False
        best = _best(done, k).best
        same = sum(restart.best.support == best.support for restart in done)
        return best.size == k and same >= self.n_agree


def _screened(bound: Any, k: int) -> IntArray:
    """Where weights may start: of many units, those that look best in the presence of all."""
    n_units = bound.n_units
    if n_units <= _MANY_UNITS or not isinstance(bound, HasContextScores):
        return np.arange(n_units)
    size = max(2 * k, min(_SCREENED_UNITS, n_units // 2))
    return best_first(bound.context_scores())[:size]


def _restart(
    bound: Any, ascent: Ascent, k: int, among: IntArray, rng: np.random.Generator
) -> Restart:
    steps: list[RadiusStep] = []

    def solve(radius: float) -> int:
        start = np.zeros(bound.n_units)
        start[among] = _random_weights(len(among), radius, rng)
        point, n_iter = ascent.run(bound, start, radius, k)
        steps.append(RadiusStep(radius, point.weights, point.value, n_iter))
        return point.size

    _search_radius(solve, k, ascent.expired)
    return Restart(tuple(steps), min(steps, key=lambda step: step.rank(k)))


def _search_radius(solve: Callable[[float], int], k: int, expired: Callable[[], bool]) -> None:
    """Double the radius until there are more than k non-zeros, then bisect; stop at exactly k."""
    radius, low = 0.1, 0.0
    for _ in range(_MAX_DOUBLINGS):
        radius, low = 2 * radius, radius
        size = solve(radius)
        if size == k or expired():
            return
        if size > k:
            break
    else:
        return
    high = radius
    for _ in range(_MAX_BISECTIONS):
        middle = (low + high) / 2
        size = solve(middle)
        if size == k or expired():
            return
        low, high = (middle, high) if size < k else (low, middle)


def _random_weights(n_units: int, radius: float, rng: np.random.Generator) -> FloatArray:
    """Strictly positive, because a weight at zero never returns."""
    weights = 1.0 + rng.random(n_units)
    return weights / weights.sum() * radius


def _best(done: Sequence[Restart], k: int) -> Restart:
    return min(done, key=lambda restart: restart.best.rank(k))


def _result(done: Sequence[Restart], k: int) -> SelectionResult:
    winner = _best(done, k)
    best = winner.best
    order = best_first(best.weights)
    return SelectionResult(
        indices=order[: best.size],
        scores=best.weights,
        objective=best.value,
        path=tuple(sorted(winner.steps, key=lambda step: step.radius)),
        trace=tuple(restart.best.value for restart in done),
        stop_reason=COMPLETED if best.size == k else SIZE_NOT_MET,
        extras={
            "weights": best.weights,
            "radius": best.radius,
            "n_iter": sum(step.n_iter for restart in done for step in restart.steps),
            "restarts": tuple(restart.best for restart in done),
        },
    )
