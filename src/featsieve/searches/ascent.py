"""Projected gradient ascent on the non-negative l1 ball, with model selection on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.linalg import project_l1_ball
from featsieve.protocols import HasTuning

StepRule = Literal["adaptive", "authors"]
NONZERO = 1e-8  # P-LSMI's authors: a weight above this counts as non-zero
_SUFFICIENT_GAIN = 1e-4
_MAX_HALVINGS = 12
_STEP_RANGE = (1e-6, 1e3)


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


def evaluate(bound: Any, weights: FloatArray) -> Point:
    value, gradient = bound.value_and_gradient(weights)
    return Point(weights, float(value), gradient)


class AuthorsStep:
    """Length 1/√t, whatever happens."""

    def __init__(self, bound: Any, radius: float) -> None:
        self._bound, self._radius = bound, radius

    def __call__(self, point: Point, t: int) -> Point:
        moved = point.weights + point.gradient / np.sqrt(t)
        return evaluate(self._bound, project_l1_ball(moved, self._radius, nonnegative=True))


class AdaptiveStep:
    """Spectral (Barzilai–Borwein) length, halved along the projection arc until the value gains."""

    def __init__(self, bound: Any, radius: float) -> None:
        self._bound, self._radius, self._length = bound, radius, 1.0

    def __call__(self, point: Point, t: int) -> Point:
        length = self._length
        for _ in range(_MAX_HALVINGS):
            moved = point.weights + length * point.gradient
            weights = project_l1_ball(moved, self._radius, nonnegative=True)
            new = evaluate(self._bound, weights)
            gain = point.gradient @ (weights - point.weights)
            if new.value >= point.value + _SUFFICIENT_GAIN * gain:
                self._length = _spectral_length(point, new, length)
                return new
            length /= 2
        return point


def _spectral_length(old: Point, new: Point, length: float) -> float:
    moved = new.weights - old.weights
    curvature = -moved @ (new.gradient - old.gradient)
    longer = moved @ moved / curvature if curvature > 0 else 2 * length
    return float(np.clip(longer, *_STEP_RANGE))


MOVERS: dict[StepRule, Callable[[Any, float], Mover]] = {
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
    expired: Callable[[], bool] = lambda: False

    def run(self, bound: Any, start: FloatArray, radius: float, k: int) -> tuple[Point, int]:
        """The best point since the last model selection, and the number of iterations.

        Ends early with fewer than ``k`` non-zeros: a weight at zero never returns, because the
        gradient carries the weight as a factor.
        """
        move = MOVERS[self.step](bound, radius)
        point = best = self._tuned(bound, start)
        values: list[float] = []
        for t in range(1, self.max_iter + 1):
            if t > 1 and self._tunes_at(t) and isinstance(bound, HasTuning):
                point = best = self._tuned(bound, point.weights)
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

    def _tuned(self, bound: Any, weights: FloatArray) -> Point:
        if isinstance(bound, HasTuning):
            bound.tune(weights)
        return evaluate(bound, weights)

    def _converged(self, point: Point, values: list[float]) -> bool:
        """A small gradient, or a small mean of the last two changes of the value."""
        settled = len(values) >= 3 and np.abs(np.diff(values[-3:])).mean() < self.tol
        return bool(settled or np.linalg.norm(point.gradient) < self.tol)
