"""Weights on the l1 ball whose radius gives exactly k non-zeros (P-LSMI, Algorithm 1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from threading import Event
from typing import Any, ClassVar, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import IncompatibleError
from featsieve.input.parameters import (
    Check,
    check_choice,
    check_integer,
    check_parameters,
    check_random_state,
    check_real,
    effective_n_jobs,
    unless,
)
from featsieve.protocols import (
    CAPABILITY_WORDS,
    HasContextScores,
    HasRestarts,
    HasTuning,
    HasValue,
    HasWeightGradient,
    HasWorkload,
)
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.pool import ordered_map, single_threaded_blas
from featsieve.runtime.seeds import random_source
from featsieve.searches.ascent import MOVERS, NONZERO, Ascent, StepRule, WeightedBound, evaluate

RadiusRule = Literal["weights", "columns"]
MOST_RESTARTS = 1_000_000
_FIRST_RADIUS = 0.1
_MAX_DOUBLINGS = 20
_MAX_BISECTIONS = 12
_MAX_STALLED = 3
_SAME_RADIUS = 0.05  # relative; nearer radii differ by luck, and a set can be trimmed instead
_PATIENCE = 6
_SMALL_SHARE = 0.02  # of the mean weight, for units that fill a set
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

    def distance(self, k: int) -> tuple[int, int]:
        """Smaller is better: (| |X| − k |, |X| − k), the first keys of Algorithm 1, line 24."""
        return abs(self.size - k), self.size - k


@runtime_checkable
class HasHelp(Protocol):
    """Whether threads that have nothing else to do help an evaluation of a restart (optional)."""

    @property
    def is_helped(self) -> bool: ...


Worth = Callable[[RadiusStep], float]


@dataclass(frozen=True)
class Restart:
    """What one restart went through; ``best`` is its answer."""

    steps: tuple[RadiusStep, ...]
    best: RadiusStep


@dataclass(kw_only=True, eq=False, repr=False)
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
        End the restarts once this many of them ended in the best set so far, or six in a row
        brought nothing better; None: run all.
    rank_radii_by
        What compares the answers of restarts with equally many non-zeros: the value at their
        weights, or the value of the selected columns without weights, as Algorithm 1 has it.
    random_state, n_jobs
        The answer is the same for any ``n_jobs``.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import HSIC
    >>> from featsieve.searches import L1Ball
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(HSIC(), L1Ball(random_state=0), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 3]
    """

    requires: ClassVar[tuple[type, ...]] = (HasWeightGradient,)
    checks: ClassVar[Mapping[str, Check]] = {
        "n_init": partial(check_integer, minimum=1, maximum=MOST_RESTARTS),
        "max_iter": partial(check_integer, minimum=1),
        "step": partial(check_choice, allowed=MOVERS),
        "tol": partial(check_real, low=0),
        "n_agree": unless(None, partial(check_integer, minimum=1, also="None")),
        "rank_radii_by": partial(check_choice, allowed=get_args(RadiusRule)),
        "random_state": check_random_state,
    }

    n_init: int = 20
    max_iter: int = 100
    step: StepRule = "adaptive"
    tol: float = 1e-5
    n_agree: int | None = None
    rank_radii_by: RadiusRule = "weights"
    random_state: Any = None
    n_jobs: int | None = None

    def steps(self, bound: WeightedBound, k: int) -> Iterator[SelectionResult]:
        """The best answer after each restart."""
        check_parameters(self, self.checks)
        worth = self._worth(bound)
        done: list[Restart] = []
        trace: list[float] = []
        for restart in self._restarts(bound, k, done):
            done.append(restart)
            winner = _best(done, k, worth)
            trace.append(worth(winner.best))
            yield _result(done, winner)
            bound.monitor.tick("restarts", len(done), self.n_init)
            if self._settled(done, winner, k, trace):
                break

    def _worth(self, bound: WeightedBound) -> Worth:
        """The last key of Algorithm 1, line 24; columns meet the same centres in all restarts."""
        if self.rank_radii_by == "weights":
            return lambda step: step.value
        if not isinstance(bound, HasValue):
            raise IncompatibleError(
                f"rank_radii_by='columns' needs {CAPABILITY_WORDS[HasValue]}, which this measure "
                "lacks; use rank_radii_by='weights'."
            )
        value = lru_cache(maxsize=None)(bound.value)
        return lambda step: value(step.support)

    def _restarts(self, bound: WeightedBound, k: int, done: Sequence[Restart]) -> Iterator[Restart]:
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
            fresh = bound.restart(seed) if isinstance(bound, HasRestarts) else bound
            among = _screened(fresh, k) if number % 2 == 1 else np.arange(fresh.n_units)
            return _restart(fresh, ascent, k, among, np.random.default_rng(seed))

        n_threads = self._n_threads(bound)
        at_once = partial(self._at_once, bound, done, n_threads)
        running: Any = ordered_map(run, enumerate(self._seeds()), n_threads, at_once, unwanted)
        try:
            with single_threaded_blas():
                for restart in running:  # noqa: UP028 - the flag is set before running closes
                    yield restart
        finally:
            unwanted.set()
            running.close()

    def _n_threads(self, bound: WeightedBound) -> int:
        """One, if restarts would overwrite each other's model selection or wait for each other."""
        shares_tuning = isinstance(bound, HasTuning) and not isinstance(bound, HasRestarts)
        is_little = isinstance(bound, HasWorkload) and bound.workload < _WORTH_A_THREAD
        return 1 if shares_tuning or is_little else effective_n_jobs(self.n_jobs)

    def _at_once(self, bound: WeightedBound, done: Sequence[Restart], n_threads: int) -> int:
        """Restarts under way: where threads help each other, hardly more than will be needed."""
        if not (isinstance(bound, HasHelp) and bound.is_helped):
            return 2 * n_threads
        return max(n_threads // 2, min(2 * n_threads, self._fewest_left(done)))

    def _fewest_left(self, done: Sequence[Restart]) -> int:
        """How many restarts will run after these, whatever they bring."""
        if self.n_agree is None:
            return self.n_init - len(done)
        same = max(Counter(restart.best.support for restart in done).values(), default=0)
        return max(1, min(self.n_agree - same, _PATIENCE + 1 - len(done)))

    def _seeds(self) -> list[int]:
        base = random_source(self.random_state).randint(np.iinfo(np.int32).max)
        seeds: list[int] = np.random.SeedSequence(base).generate_state(self.n_init).tolist()
        return seeds

    def _settled(
        self, done: Sequence[Restart], winner: Restart, k: int, trace: Sequence[float]
    ) -> bool:
        """The rule of ``n_agree``, a function of the restarts in their order only."""
        if self.n_agree is None or winner.best.size != k:
            return False
        same = sum(restart.best.support == winner.best.support for restart in done)
        waited = len(trace) > _PATIENCE and trace[-1] <= trace[-1 - _PATIENCE]
        return same >= self.n_agree or waited


def _screened(bound: WeightedBound, k: int) -> IntArray:
    """Where weights may start: of many units, those that look best in the presence of all."""
    n_units = bound.n_units
    if n_units <= _MANY_UNITS or not isinstance(bound, HasContextScores):
        return np.arange(n_units)
    size = max(2 * k, min(_SCREENED_UNITS, n_units // 2))
    return best_first(bound.context_scores())[:size]


def _restart(
    bound: WeightedBound, ascent: Ascent, k: int, among: IntArray, rng: np.random.Generator
) -> Restart:
    steps: list[RadiusStep] = []

    def solve(radius: float) -> RadiusStep:
        start = np.zeros(bound.n_units)
        start[among] = _random_weights(len(among), radius, rng)
        point, n_iter = ascent.run(bound, start, radius, k)
        steps.append(RadiusStep(radius, point.weights, point.value, n_iter))
        return steps[-1]

    _search_radius(solve, k, ascent.expired)
    steps.extend(_resized(bound, ascent, k, steps))
    return Restart(tuple(steps), min(steps, key=lambda step: (*step.distance(k), -step.value)))


def _resized(
    bound: WeightedBound, ascent: Ascent, k: int, steps: Sequence[RadiusStep]
) -> Iterator[RadiusStep]:
    """Sets made to have k units: a larger one trimmed, a smaller one filled.

    Where fewer than k units matter, a radius with k non-zeros is often so large that hardly any
    dependence is left: less than half of what the best smaller set has. That set is filled then.
    At the time limit one set of k units is enough.
    """
    exact = max((step.value for step in steps if step.size == k), default=-np.inf)
    larger = [step for step in steps if step.size > k]
    if larger and exact == -np.inf:
        yield _trimmed(bound, ascent, k, max(larger, key=lambda step: step.value))
        if ascent.expired():
            return
    smaller = [step for step in steps if 0 < step.size < k and step.value > 2 * exact]
    if smaller:
        yield _filled(bound, k, max(smaller, key=lambda step: step.value))


def _trimmed(bound: WeightedBound, ascent: Ascent, k: int, step: RadiusStep) -> RadiusStep:
    """The k largest weights stay and climb once more; if one is lost on the way, as they were."""
    slopes = evaluate(bound, step.weights, tune=True).gradient
    says_nothing = not slopes.any()  # then weights are chance
    kept = np.arange(k) if says_nothing else best_first(step.weights)[:k]
    start = np.zeros(bound.n_units)
    start[kept] = step.weights[kept]
    n_iter = 0
    if not ascent.expired():
        point, n_iter = ascent.run(bound, start, step.radius, k)
        if point.size == k:
            return RadiusStep(step.radius, point.weights, point.value, n_iter)
    point = evaluate(bound, start, tune=True)
    return RadiusStep(step.radius, point.weights, point.value, n_iter)


def _filled(bound: WeightedBound, k: int, step: RadiusStep) -> RadiusStep:
    """The units that gain most at a small weight come in with that weight."""
    missing = step.weights <= NONZERO
    small = _SMALL_SHARE * step.weights.sum() / step.size
    slopes = evaluate(bound, np.where(missing, small, step.weights), tune=True).gradient
    order = best_first(np.where(missing, slopes, -np.inf))[: k - step.size]
    weights = np.where(missing, 0.0, step.weights)
    weights[order] = small
    point = evaluate(bound, weights, tune=True)
    return RadiusStep(max(step.radius, weights.sum()), weights, point.value, 0)


def _search_radius(
    solve: Callable[[float], RadiusStep], k: int, expired: Callable[[], bool]
) -> None:
    """Double the radius until there are more than k non-zeros, then bisect; stop at exactly k.

    Three radii in a row without a better value also end the doubling: the bound no longer binds,
    and weights that are far too large leave every row alone.
    """
    radius, best, n_stalled = _FIRST_RADIUS, -np.inf, 0
    for _ in range(_MAX_DOUBLINGS):
        radius *= 2
        step = solve(radius)
        n_stalled = 0 if step.value > best else n_stalled + 1
        best = max(best, step.value)
        if step.size == k or n_stalled == _MAX_STALLED or expired():
            return
        if step.size > k:
            break
    else:
        return
    _bisect(solve, k, (radius / 2, radius), expired)


def _bisect(
    solve: Callable[[float], RadiusStep],
    k: int,
    bracket: tuple[float, float],
    expired: Callable[[], bool],
) -> None:
    low, high = bracket
    for _ in range(_MAX_BISECTIONS):
        if high - low <= _SAME_RADIUS * high:
            return
        middle = (low + high) / 2
        size = solve(middle).size
        if size == k or expired():
            return
        low, high = (middle, high) if size < k else (low, middle)


def _random_weights(n_units: int, radius: float, rng: np.random.Generator) -> FloatArray:
    """Strictly positive, because a weight at zero never returns."""
    weights = 1.0 + rng.random(n_units)
    return weights / weights.sum() * radius


def _best(done: Sequence[Restart], k: int, worth: Worth) -> Restart:
    return min(done, key=lambda restart: (*restart.best.distance(k), -worth(restart.best)))


def _result(done: Sequence[Restart], winner: Restart) -> SelectionResult:
    best = winner.best
    return SelectionResult(
        indices=best_first(best.weights)[: best.size],
        scores=best.weights,
        objective=best.value,
        path=tuple(sorted(winner.steps, key=lambda step: step.radius)),
        trace=tuple(restart.best.value for restart in done),
        extras={
            "weights": best.weights,
            "radius": float(best.radius),
            "n_iter": sum(step.n_iter for restart in done for step in restart.steps),
            "restarts": tuple(restart.best for restart in done),
        },
    )
