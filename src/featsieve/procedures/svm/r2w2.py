"""Descent of R²W² in the scales of the columns, and elimination of the smallest scales."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.linalg import project_l1_ball
from featsieve.procedures.svm.dual import Solver
from featsieve.procedures.svm.radius_margin import (
    GaussianKernel,
    LinearKernel,
    RadiusMargin,
    ScaledKernel,
    mean_rate,
    median_rate,
)
from featsieve.procedures.svm.rows import Rows, loop_result, one_vs_rest, problems_of, read_rows
from featsieve.protocols import Engine, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.runtime.progress import Monitor
from featsieve.searches.stepwise import round_size

KernelName = Literal["linear", "rbf"]
KERNELS: dict[KernelName, Callable[[Rows, Monitor, int], ScaledKernel]] = {
    "linear": lambda rows, monitor, _: LinearKernel(mean_rate(rows), monitor),
    "rbf": lambda rows, monitor, n: GaussianKernel(median_rate(rows, monitor), monitor, n),
}
FIRST_MOVE = 0.5  # of the sum of all scales
SUFFICIENT = 1e-4
HALVINGS = 8


@dataclass(frozen=True)
class ScaleElimination:
    """A procedure; see :class:`featsieve.R2W2` for the parameters."""

    kernel: KernelName = "rbf"
    C: float = 1.0
    step: float = 0.5
    max_iter: int = 20
    tol: float = 1e-3
    standardize: bool = True

    nesting: ClassVar[Nesting] = "shrinking"

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        assert k is not None  # only a procedure that counts by itself gets None
        rows, y = read_rows(engine, gram_matrices=8, standardize=self.standardize)
        solver = Solver(engine.monitor, self.tol)
        kernel = KERNELS[self.kernel](rows, engine.monitor, engine.n_jobs)
        problems = problems_of(y, one_vs_rest)
        bound = RadiusMargin(problems, kernel, 1.0 / self.C, solver, engine.n_jobs)
        descent = Descent(bound, float(rows.n_units), self.max_iter, engine.monitor)
        scores, trace = np.zeros(rows.n_units), list[float]()
        left, removed = by_spread(rows)
        scales: FloatArray = np.ones(len(left))
        rows = rows.of_units(left)
        while True:
            point = descent.run(rows, scales)
            scores[left] = point.scales
            trace.append(point.value)
            ranked = point.best_first()
            order = np.concatenate([left[ranked], removed])
            yield loop_result(order, scores, k, trace)
            if len(left) <= k:
                break
            size = min(round_size(self.step, len(left)), len(left) - k)
            removed = order[len(left) - size :]
            kept = np.sort(ranked[: len(left) - size])
            rows, left, scales = rows.of_units(kept), left[kept], point.scales[kept]
            engine.monitor.tick("eliminating", len(removed), len(scores))
        solver.warn("R2W2")


@dataclass(frozen=True)
class Point:
    """Scales with the value of R²W² and the gradient of its logarithm."""

    scales: FloatArray
    value: float
    gradient: FloatArray

    def best_first(self) -> IntArray:
        """By scale; those at 0 by how little the bound would gain from them."""
        ranked = best_first(self.scales)
        zeros = np.flatnonzero(self.scales == 0)
        n_positive = len(ranked) - len(zeros)
        return np.concatenate([ranked[:n_positive], zeros[best_first(-self.gradient[zeros])]])


@dataclass(frozen=True)
class Descent:
    """Projected gradient on log R²W² over scales ≥ 0 with a fixed sum, with spectral steps."""

    bound: RadiusMargin
    total: float
    max_iter: int
    monitor: Monitor

    def run(self, rows: Rows, start: FloatArray) -> Point:
        point = self._at(rows, self._project(start))
        length = FIRST_MOVE * self.total / max(float(np.abs(point.gradient).sum()), 1e-300)
        for done in range(1, self.max_iter + 1):
            moved, length = self._move(rows, point, length)
            self.monitor.tick("scaling", done, self.max_iter + 1)
            if moved.value >= point.value * (1 - SUFFICIENT):
                return min(point, moved, key=lambda p: p.value)
            point = moved
        return point

    def _at(self, rows: Rows, scales: FloatArray) -> Point:
        self.monitor.check()
        value, gradient = self.bound.value_and_gradient(rows, scales)
        return Point(scales, value, gradient / value)

    def _project(self, scales: FloatArray) -> FloatArray:
        """On the simplex of this sum: adding a constant to all brings any point above it."""
        lifted = scales + max(0.0, self.total - float(scales.min() * len(scales)))
        return project_l1_ball(lifted, self.total, nonnegative=True)

    def _move(self, rows: Rows, point: Point, length: float) -> tuple[Point, float]:
        """Along the projection arc until log R²W² falls enough; and the next length."""
        for _ in range(HALVINGS):
            moved = self._at(rows, self._project(point.scales - length * point.gradient))
            change = moved.scales - point.scales
            if np.log(moved.value / point.value) <= SUFFICIENT * (point.gradient @ change):
                return moved, _next_length(change, moved.gradient - point.gradient, length)
            length /= 4
        return point, length


def by_spread(rows: Rows) -> tuple[IntArray, IntArray]:
    """Units that vary, and constant ones, which the bound cannot tell from harmless ones."""
    varies = rows.per_unit(np.ptp(rows.X, axis=0)) > 0
    if not varies.any():
        return np.arange(rows.n_units), np.empty(0, dtype=np.intp)
    return np.flatnonzero(varies), np.flatnonzero(~varies)


def _next_length(change: FloatArray, bend: FloatArray, length: float) -> float:
    """Barzilai and Borwein's, where the function curves upwards."""
    curvature = float(change @ bend)
    return float(change @ change) / curvature if curvature > 0 else 2.0 * length
