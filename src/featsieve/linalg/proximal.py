"""min J(W) + λ Σ_u ‖W_u‖_p by a monotone method: proximal steps, and L-BFGS on smooth faces.

A proximal gradient step of spectral length decides which rows and entries are zero or tied. On the
face that it finds, criterion and penalty are smooth, and an L-BFGS step there brings the speed
that gradient steps lack. Each step is taken only if it lowers the objective.

Problems that take many steps are mostly those in which one row may move a thousand times as far as
the others (a column that is the class itself, in LDA). From then on each block of rows has a
spectral length of its own: a diagonal metric, under which proximal steps stay closed forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from featsieve.linalg.aliases import FloatArray, IntArray
from featsieve.linalg.block_norms import BlockPenalty, Face
from featsieve.linalg.lbfgs import CurvaturePairs

SmoothFunction = Callable[[FloatArray], tuple[float, FloatArray]]

_SUFFICIENT = 1e-4
_MAX_HALVINGS = 40
_STEP_RANGE = (1e-12, 1e12)
_STEPS_OF_ONE_LENGTH = 25
_ROUNDING = 4.0 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Point:
    """A matrix with what is known about it."""

    W: FloatArray
    smooth: float
    gradient: FloatArray
    objective: float


@dataclass(frozen=True)
class Solution:
    """Where a solver ended: the point, the objective along the way, and the KKT residual."""

    point: Point
    trace: tuple[float, ...]
    residual: float
    n_iter: int
    n_evaluations: int
    converged: bool

    @property
    def W(self) -> FloatArray:
        return self.point.W


class Problem:
    """The objective; counts its evaluations."""

    def __init__(self, smooth: SmoothFunction, penalty: BlockPenalty) -> None:
        self.penalty = penalty
        self.n_evaluations = 0
        self._smooth = smooth

    def at(self, W: FloatArray) -> Point:
        value, gradient = self._smooth(W)
        self.n_evaluations += 1
        return Point(W, float(value), gradient, float(value) + self.penalty.value(W))

    def residual(self, point: Point) -> float:
        return self.penalty.residual(point.W, point.gradient)

    def gains(self, old: Point, new: Point, expected: float) -> bool:
        """Whether the objective falls by some of what the model promises.

        Where the promise is lost in rounding, the residual decides, if the objective stays. A
        point beyond the range of floating point is not a gain, whatever its objective.
        """
        if not np.isfinite(new.objective):
            return False
        if new.objective <= old.objective - _SUFFICIENT * expected:
            return True
        rounding = _ROUNDING * max(abs(old.objective), abs(old.smooth))
        still = expected <= rounding and new.objective <= old.objective + rounding
        return bool(still and self.residual(new) < self.residual(old))


def minimize_proximal(
    smooth: SmoothFunction,
    start: FloatArray,
    penalty: BlockPenalty,
    *,
    tol: float = 1e-7,
    max_iter: int = 1000,
    expired: Callable[[], bool] = lambda: False,
) -> Solution:
    """Minimise smooth(W) + penalty(W) from ``start``; ``smooth`` gives value and gradient."""
    problem = Problem(smooth, penalty)
    point = problem.at(np.array(start, dtype=np.float64))
    return descend(problem, point, _Descent(problem).step, tol, max_iter, expired)


def descend(
    problem: Problem,
    point: Point,
    step: Callable[[Point], Point],
    tol: float,
    max_iter: int,
    expired: Callable[[], bool],
) -> Solution:
    """Steps until the residual is small; ``step`` gives back the point itself if nothing gains."""
    trace, residual, n_iter = [point.objective], problem.residual(point), 0
    while residual > tol and n_iter < max_iter and not expired():
        n_iter += 1
        with np.errstate(over="ignore", invalid="ignore"):  # steps of any length are tried
            new = step(point)
        if new is point:  # rounding hides any further gain
            break
        point, residual = new, problem.residual(new)
        trace.append(point.objective)
    return Solution(
        point, tuple(trace), residual, n_iter, problem.n_evaluations, bool(residual <= tol)
    )


class _Descent:
    """The state between two steps: the spectral lengths, the face and its curvature."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._n_steps = 0
        self._lengths: FloatArray | None = None  # of the proximal step, one per row
        self._face: Face | None = None
        self._pairs = CurvaturePairs()

    def step(self, point: Point) -> Point:
        """A proximal step, then one on the face; the point itself if neither gains."""
        new = self._proximal_step(point)
        self._n_steps += 1
        face = self._problem.penalty.face(new.W)
        if face.same_as(self._face):
            self._pairs.add(*_change(face, point, new))
        else:
            self._face, self._pairs = face, CurvaturePairs()
        return self._face_step(face, new)

    def _proximal_step(self, point: Point) -> Point:
        n_rows = len(point.W)
        if self._lengths is None:
            self._lengths = np.full(n_rows, _first_length(point))
        new = self._shortened(point, self._lengths)
        if new is point:  # lengths of their own may miss what a common one finds
            new = self._shortened(point, np.full(n_rows, float(np.median(self._lengths))))
        return new

    def _shortened(self, point: Point, lengths: FloatArray) -> Point:
        """The first of ever shorter steps that gains; the point itself if none does."""
        for _ in range(_MAX_HALVINGS):
            V = point.W - lengths[:, None] * point.gradient
            W = self._problem.penalty.shrink_by(V, lengths)
            moved = np.square(W - point.W).sum(axis=1)
            if not moved.any():
                return point
            new = self._problem.at(W)
            if self._problem.gains(point, new, float(np.sum(moved / lengths)) / 2.0):
                self._lengths = self._next_lengths(point, new, lengths)
                return new
            if moved.sum() <= (1e-12 * np.abs(point.W).max()) ** 2:
                return point
            lengths = lengths / 2.0
        return point

    def _next_lengths(self, old: Point, new: Point, lengths: FloatArray) -> FloatArray:
        common = _spectral_length(old, new, float(np.median(lengths)))
        if self._n_steps < _STEPS_OF_ONE_LENGTH:
            return np.full(len(lengths), common)
        owner = self._problem.penalty.blocks.owner
        return _block_lengths(old, new, np.maximum(lengths, common), common, owner)

    def _face_step(self, face: Face, point: Point) -> Point:
        z, slope = face.coordinates(point.W), face.slope(point.W, point.gradient)
        if not len(z):
            return point
        direction = self._pairs.direction(slope)
        if direction is None:
            return point
        descent = float(direction @ slope)
        length = min(1.0, face.longest_step(z, direction))
        for _ in range(_MAX_HALVINGS // 4):
            if length <= 0.0 or descent >= 0.0:
                return point
            new = self._problem.at(face.matrix(z + length * direction))
            if self._problem.gains(point, new, -length * descent):
                self._pairs.add(*_change(face, point, new))
                return new
            length /= 2.0
        self._pairs = CurvaturePairs()
        return point


def _change(face: Face, old: Point, new: Point) -> tuple[FloatArray, FloatArray]:
    moved = face.coordinates(new.W) - face.coordinates(old.W)
    return moved, face.slope(new.W, new.gradient) - face.slope(old.W, old.gradient)


def _first_length(point: Point) -> float:
    steepest = float(np.linalg.norm(point.gradient))
    size = float(np.linalg.norm(point.W)) or 1.0
    return float(np.clip(0.1 * size / steepest if steepest > 0 else 1.0, *_STEP_RANGE))


def _spectral_length(old: Point, new: Point, length: float) -> float:
    """Barzilai and Borwein's length; twice the last one where the criterion is not convex."""
    moved = new.W - old.W
    curvature = float(np.vdot(moved, new.gradient - old.gradient))
    square = float(np.vdot(moved, moved))
    return float(np.clip(square / curvature if curvature > 0 else 2.0 * length, *_STEP_RANGE))


def _block_lengths(
    old: Point, new: Point, otherwise: FloatArray, common: float, owner: IntArray
) -> FloatArray:
    """Barzilai and Borwein's length of each block, ``otherwise`` where it does not curve up."""
    moved = new.W - old.W
    squares = np.bincount(owner, np.square(moved).sum(axis=1))
    curvature = np.bincount(owner, (moved * (new.gradient - old.gradient)).sum(axis=1))
    spectral = np.divide(squares, curvature, out=np.zeros_like(squares), where=curvature > 0)
    lengths = np.maximum(spectral, common / 2.0)[owner]
    return np.clip(np.where(curvature[owner] > 0, lengths, otherwise), *_STEP_RANGE)
