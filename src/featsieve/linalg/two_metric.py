"""Two-metric projection with L-BFGS for p = ∞ (P-L1INF section 3).

The variables are W and one size s_u per block, with |w| ≤ s_u inside block u, so that criterion
plus λ Σ s_u is smooth (eq. 2). A step is scaled by L-BFGS on the free variables and by the
identity on the others, and is projected on the constraints until the objective falls enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from featsieve.linalg.aliases import BoolArray, FloatArray
from featsieve.linalg.block_norms import BlockPenalty, RowBlocks, epigraph_level
from featsieve.linalg.lbfgs import CurvaturePairs
from featsieve.linalg.proximal import Point, Problem, SmoothFunction, Solution, descend

_MAX_HALVINGS = 40


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
    W = np.array(start, dtype=np.float64)
    descent = _Projection(problem, penalty.sizes(W))
    return descend(problem, descent.at(W, descent.sizes), descent.step, tol, max_iter, expired)


class _Projection:
    """Steps along the projection arc; the sizes s of the point and the curvature on the way."""

    def __init__(self, problem: Problem, sizes: FloatArray) -> None:
        self._problem = problem
        self._blocks: RowBlocks = problem.penalty.blocks
        self.sizes = sizes
        self._pairs = CurvaturePairs()
        self._length = 0.0

    def at(self, W: FloatArray, sizes: FloatArray) -> Point:
        """The smooth objective: with s in place of the norms."""
        point = self._problem.at(W)
        return replace(point, objective=point.smooth + self._weight * float(sizes.sum()))

    def step(self, point: Point) -> Point:
        gradient = self._joined(point.gradient, np.full(len(self.sizes), self._weight))
        direction = self._direction(point, gradient)
        length = 1.0
        for _ in range(_MAX_HALVINGS):
            W, sizes = self._project(point, length * direction)
            moved = self._joined(W - point.W, sizes - self.sizes)
            descent = float(gradient @ moved)
            if descent < 0.0:
                new = self.at(W, sizes)
                if self._problem.gains(point, new, -descent):
                    change = self._joined(new.gradient - point.gradient, 0.0 * sizes)
                    self._pairs.add(moved, change)
                    self.sizes = sizes
                    return new
            length /= 2.0
        return point

    @property
    def _weight(self) -> float:
        return self._problem.penalty.weight

    def _direction(self, point: Point, gradient: FloatArray) -> FloatArray:
        """−H·gradient on the free variables, steepest descent on the others."""
        free = self._free_variables(point)
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

    def _free_variables(self, point: Point) -> BoolArray:
        """Entries inside their bound, or that move inside, and sizes that no entry presses on."""
        bound = self.sizes[self._blocks.owner][:, None]
        presses = (np.abs(point.W) >= bound) & (point.W * point.gradient <= 0.0)
        held = self._blocks.reduce(lambda A: A.max(axis=1), presses.astype(np.float64)) > 0
        return np.concatenate([~presses.ravel(), ~held])

    def _project(self, point: Point, move: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The nearest feasible point, block by block."""
        V = point.W + move[: point.W.size].reshape(point.W.shape)
        levels = self.sizes + move[point.W.size :]
        sizes = np.zeros_like(levels)
        for blocks, rows in self._blocks.layouts:
            flat = np.abs(V[rows].reshape(len(rows), -1))
            sizes[blocks] = epigraph_level(flat, levels[blocks])
        bound = sizes[self._blocks.owner][:, None]
        return np.clip(V, -bound, bound) + 0.0, sizes

    def _joined(self, W: FloatArray, sizes: FloatArray) -> FloatArray:
        return np.concatenate([W.ravel(), sizes])
