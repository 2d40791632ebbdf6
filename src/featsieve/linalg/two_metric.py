"""Two-metric projection with L-BFGS for p = ∞ (P-L1INF section 3).

The variables are W and one size s_u per block, with |w| ≤ s_u inside block u, so that criterion
plus λ Σ s_u is smooth (eq. 2). A step is scaled by L-BFGS on the free variables and by the
identity on the others, and is projected on the constraints until the objective falls enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from featsieve.linalg.aliases import BoolArray, FloatArray
from featsieve.linalg.block_norms import BlockPenalty, RowBlocks, epigraph_level
from featsieve.linalg.lbfgs import CurvaturePairs
from featsieve.linalg.proximal import Point, Problem, SmoothFunction, Solution

_MAX_HALVINGS = 40


@dataclass(frozen=True)
class _Iterate:
    """A feasible (W, s) with the value and the gradient of the smooth objective."""

    point: Point
    sizes: FloatArray

    @property
    def W(self) -> FloatArray:
        return self.point.W

    @property
    def objective(self) -> float:
        return self.point.objective


def minimize_two_metric(
    smooth: SmoothFunction,
    start: FloatArray,
    penalty: BlockPenalty,
    *,
    tol: float = 1e-7,
    max_iter: int = 1000,
    expired: Callable[[], bool] = lambda: False,
) -> Solution:
    """As :func:`featsieve.linalg.proximal.minimize_proximal`, by the paper's method; p = ∞ only."""
    problem = Problem(smooth, penalty)
    descent = _Projection(problem)
    W = np.array(start, dtype=np.float64)
    at = descent.evaluate(W, penalty.sizes(W))
    trace, residual, n_iter = [at.objective], problem.residual(at.point), 0
    while residual > tol and n_iter < max_iter and not expired():
        n_iter += 1
        with np.errstate(over="ignore", invalid="ignore"):  # steps of any length are tried
            new = descent.step(at)
        if new is at:
            break
        at, residual = new, problem.residual(new.point)
        trace.append(at.objective)
    return Solution(
        at.point, tuple(trace), residual, n_iter, problem.n_evaluations, bool(residual <= tol)
    )


class _Projection:
    """Steps along the projection arc, and the curvature seen on the way."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._blocks: RowBlocks = problem.penalty.blocks
        self._free: BoolArray | None = None
        self._pairs = CurvaturePairs()
        self._length = 0.0

    def evaluate(self, W: FloatArray, sizes: FloatArray) -> _Iterate:
        point = self._problem.at(W)
        objective = point.smooth + self._weight * float(sizes.sum())
        return _Iterate(replace(point, objective=objective), sizes)

    def step(self, at: _Iterate) -> _Iterate:
        gradient = self._joined(at.point.gradient, np.full(len(at.sizes), self._weight))
        direction = self._direction(at, gradient)
        length = 1.0
        for _ in range(_MAX_HALVINGS):
            W, sizes = self._project(at, length * direction)
            moved = self._joined(W - at.W, sizes - at.sizes)
            descent = float(gradient @ moved)
            if descent >= 0.0:
                length /= 2.0
                continue
            new = self.evaluate(W, sizes)
            if self._problem.gains(at.point, new.point, -descent):
                change = self._joined(new.point.gradient - at.point.gradient, 0.0 * sizes)
                self._pairs.add(moved, change)
                return new
            length /= 2.0
        return at

    @property
    def _weight(self) -> float:
        return self._problem.penalty.weight

    def _direction(self, at: _Iterate, gradient: FloatArray) -> FloatArray:
        """−H·gradient on the free variables, steepest descent on the others."""
        free = self._free_variables(at)
        scaled = self._pairs.direction(np.where(free, gradient, 0.0))
        self._length = self._length or 0.1 / max(float(np.abs(gradient).max()), 1e-300)
        if scaled is None:
            return -self._length * gradient
        moved = np.where(free, scaled, 0.0)
        slope = float(np.where(free, gradient, 0.0) @ moved)
        rest = self._pairs.length() or self._length
        if slope >= 0.0:
            return -rest * gradient
        return np.where(free, moved, -rest * gradient)

    def _free_variables(self, at: _Iterate) -> BoolArray:
        """Entries inside their bound, or that move inside, and sizes that no entry presses on."""
        bound = at.sizes[self._blocks.owner][:, None]
        presses = (np.abs(at.W) >= bound) & (at.W * at.point.gradient <= 0.0)
        held = self._blocks.reduce(lambda A: A.max(axis=1), presses.astype(np.float64)) > 0
        return np.concatenate([~presses.ravel(), ~held])

    def _project(self, at: _Iterate, move: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The nearest feasible point, block by block."""
        V = at.W + move[: at.W.size].reshape(at.W.shape)
        wanted = at.sizes + move[at.W.size :]
        sizes = np.zeros_like(wanted)
        for blocks, rows in self._blocks.layouts:
            flat = np.abs(V[rows].reshape(len(rows), -1))
            sizes[blocks] = epigraph_level(flat, wanted[blocks])
        bound = sizes[self._blocks.owner][:, None]
        return np.clip(V, -bound, bound) + 0.0, sizes

    def _joined(self, W: FloatArray, sizes: FloatArray) -> FloatArray:
        return np.concatenate([W.ravel(), sizes])
