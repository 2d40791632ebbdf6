"""Projected gradient ascent on the non-negative l1 ball, with model selection on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.linalg import project_l1_ball
from featsieve.protocols import Bound, HasTuning, HasWeightGradient

StepRule = Literal["adaptive", "authors"]
NONZERO = 1e-8  # P-LSMI's authors: a weight above this counts as non-zero
_SUFFICIENT_GAIN = 1e-4
_MAX_HALVINGS = 12
_FIRST_HALVINGS = 40  # in a wide table a step of 1 may be a million times too long
_STEP_RANGE = (1e-6, 1e3)


class WeightedBound(Bound, HasWeightGradient, Protocol):
    """A bound measure with a value and a gradient for weights."""


@dataclass(frozen=True)
class Point:
    """Weights with the value and the gradient that belong to them."""

    weights: FloatArray
    value: float
    gradient: FloatArray

    @property
    def size(self) -> int:
        return int(np.count_nonzero(self.weights > NONZERO))


Mover = Callable[[Point, int], Point]


Evaluate = Callable[[FloatArray], Point]
Expired = Callable[[], bool]


def evaluate(bound: HasWeightGradient, weights: FloatArray, *, tune: bool = False) -> Point:
    """``tune``: after model selection at these weights, where the measure has one."""
    if tune and isinstance(bound, HasTuning):
        bound.tune(weights)
    value, gradient = bound.value_and_gradient(weights)
    return Point(weights, float(value), gradient)


class AuthorsStep:
    """Length 1/√t, whatever happens."""

    def __init__(self, evaluate: Evaluate, radius: float, expired: Expired) -> None:
        self._evaluate, self._radius = evaluate, radius

    def __call__(self, point: Point, t: int) -> Point:
        moved = point.weights + point.gradient / np.sqrt(t)
        return self._evaluate(project_l1_ball(moved, self._radius, nonnegative=True))


class AdaptiveStep:
    """Spectral (Barzilai–Borwein) length, halved along the projection arc until the value gains.

    The length of the first step is a guess that knows nothing of the problem, so that it is halved
    more often: else an ascent from many small weights would end where it began.
    """

    def __init__(self, evaluate: Evaluate, radius: float, expired: Expired) -> None:
        self._evaluate, self._radius, self._length = evaluate, radius, 1.0
        self._expired = expired

    def __call__(self, point: Point, t: int) -> Point:
        length = self._length
        for _ in range(_FIRST_HALVINGS if t == 1 else _MAX_HALVINGS):
            moved = point.weights + length * point.gradient
            weights = project_l1_ball(moved, self._radius, nonnegative=True)
            new = self._evaluate(weights)
            gain = point.gradient @ (weights - point.weights)
            if new.value >= point.value + _SUFFICIENT_GAIN * gain:
                self._length = _spectral_length(point, new, length)
                return new
            if self._expired():
                break
            length /= 2
        return point


def _spectral_length(old: Point, new: Point, length: float) -> float:
    moved = new.weights - old.weights
    curvature = -moved @ (new.gradient - old.gradient)
    longer = moved @ moved / curvature if curvature > 0 else 2 * length
    return float(np.clip(longer, *_STEP_RANGE))


MOVERS: dict[StepRule, Callable[[Evaluate, float, Expired], Mover]] = {
    "adaptive": AdaptiveStep,
    "authors": AuthorsStep,
}


@dataclass(frozen=True)
class Ascent:
    """How to climb: the step rule, when to select the model, when to stop."""

    step: StepRule = "adaptive"
    max_iter: int = 100
    tol: float = 1e-5
    tune_every: int = 5
    expired: Expired = lambda: False

    def run(
        self, bound: WeightedBound, start: FloatArray, radius: float, k: int
    ) -> tuple[Point, int]:
        """The best point since the last model selection, and the number of iterations.

        Ends early with fewer than ``k`` non-zeros: a weight at zero never returns, because the
        gradient carries the weight as a factor.
        """
        first = evaluate(bound, start, tune=True)
        as_it_is = self.step == "authors" or isinstance(bound, HasTuning)
        scale = 1.0 if as_it_is else _scale_of(first)
        best, n_iter = self._climb(bound, _scaled(first, scale), radius, k, scale)
        return _scaled(best, 1 / scale), n_iter

    def _climb(
        self, bound: WeightedBound, start: Point, radius: float, k: int, scale: float
    ) -> tuple[Point, int]:
        move = MOVERS[self.step](lambda w: _scaled(evaluate(bound, w), scale), radius, self.expired)
        point = best = start
        values: list[float] = []
        for t in range(1, self.max_iter + 1):
            if t > 1 and self._tunes_at(t) and isinstance(bound, HasTuning):
                point = best = evaluate(bound, point.weights, tune=True)
            values.append(point.value)
            new = move(point, t)
            if new.size == 0:
                break
            if new.size < k:
                return new, t
            best = max(best, new, key=lambda p: p.value)
            if self._converged(point, values) or self.expired():
                break
            point = new
        return best, t

    def _tunes_at(self, t: int) -> bool:
        """P-LSMI's authors: at evaluations 1, 2, 3, then every fifth."""
        return t <= 3 or t % self.tune_every == 0

    def _converged(self, point: Point, values: list[float]) -> bool:
        """A small gradient, or a small mean of the last two changes of the value."""
        settled = len(values) >= 3 and np.abs(np.diff(values[-3:])).mean() < self.tol
        return bool(settled or np.linalg.norm(point.gradient) < self.tol)


def _scale_of(point: Point) -> float:
    """The factor that brings a first value, or its slope along the weights, to 1.

    Steps and tolerances suit values near 1, as those of SMI after model selection. A measure
    without one can have any size: HSIC at small weights is nearly 0, and so is its gradient.
    """
    size = max(abs(point.value), abs(float(point.gradient @ point.weights)))
    return 1.0 / size if np.isfinite(size) and size > np.finfo(np.float64).tiny else 1.0


def _scaled(point: Point, scale: float) -> Point:
    return Point(point.weights, point.value * scale, point.gradient * scale)
