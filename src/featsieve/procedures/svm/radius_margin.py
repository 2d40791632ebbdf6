"""R²W² (Weston et al. 2000): scale the columns so that the bound of leave-one-out error is small.

R² is the squared radius of the smallest ball around the rows, W² = 1/margin², both in the kernel's
space. Soft margins by K + I/C (Chapelle et al. 2002). Each is the optimum of a quadratic program,
so its derivative is that of the program at the optimum (the envelope theorem)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.procedures.svm.dual import Solver
from featsieve.procedures.svm.rows import Problem, Rows
from featsieve.runtime.products import watched_product
from featsieve.runtime.progress import SILENT, Monitor


class ScaledKernel(Protocol):
    """A kernel of columns whose squares are multiplied by one scale per unit."""

    def matrix(self, rows: Rows, scales: FloatArray) -> FloatArray: ...

    def pull_back(
        self, rows: Rows, K: FloatArray, diagonal: FloatArray, V: FloatArray
    ) -> FloatArray:
        """d/d scales of Σ M_ab K_ab with M = diag(diagonal) − VV'."""
        ...


@dataclass(frozen=True)
class LinearKernel:
    """K_ab = rate Σ_j s_j x_aj x_bj."""

    rate: float
    monitor: Monitor = SILENT

    def matrix(self, rows: Rows, scales: FloatArray) -> FloatArray:
        scaled = rows.X * (self.rate * scales[rows.unit_of])
        return watched_product(scaled, rows.X.T, self.monitor)

    def pull_back(
        self, rows: Rows, K: FloatArray, diagonal: FloatArray, V: FloatArray
    ) -> FloatArray:
        per_column = diagonal @ rows.X**2 - ((V.T @ rows.X) ** 2).sum(axis=0)
        return self.rate * rows.per_unit(per_column)


@dataclass(frozen=True)
class GaussianKernel:
    """K_ab = exp(−rate Σ_j s_j (x_aj − x_bj)²)."""

    rate: float
    monitor: Monitor = SILENT

    def matrix(self, rows: Rows, scales: FloatArray) -> FloatArray:
        return np.exp(-self.rate * squared_distances(rows, scales, self.monitor))

    def pull_back(
        self, rows: Rows, K: FloatArray, diagonal: FloatArray, V: FloatArray
    ) -> FloatArray:
        # The diagonal of K is 1 whatever the scales, so only −VV' counts.
        N = (V @ V.T) * K
        crossed = watched_product(N, rows.X, self.monitor)
        per_column = N.sum(axis=1) @ rows.X**2 - np.einsum("ij,ij->j", rows.X, crossed)
        return 2.0 * self.rate * rows.per_unit(per_column)


def squared_distances(rows: Rows, scales: FloatArray, monitor: Monitor) -> FloatArray:
    scaled = rows.X * np.sqrt(scales[rows.unit_of])
    squares = np.einsum("ij,ij->i", scaled, scaled)
    distances = squares[:, None] + squares - 2.0 * watched_product(scaled, scaled.T, monitor)
    np.fill_diagonal(distances, 0.0)
    return np.maximum(distances, 0.0)


def mean_rate(rows: Rows) -> float:
    """One over the mean squared length of a row, all scales 1."""
    mean = float(np.einsum("ij,ij->", rows.X, rows.X)) / rows.n_samples
    return 1.0 / mean if mean > 0 else 1.0


def median_rate(rows: Rows, monitor: Monitor) -> float:
    """1/(2σ²) with σ the median distance between the rows, all scales 1."""
    distances = squared_distances(rows, np.ones(rows.n_units), monitor)
    middle = float(np.median(distances[np.triu_indices(len(distances), 1)]))
    return 0.5 / middle if middle > 0 else 0.5


@dataclass
class RadiusMargin:
    """R² Σ W² over the problems, with its gradient for the scales; starts where it last ended."""

    problems: list[Problem]
    kernel: ScaledKernel
    ridge: float
    solver: Solver
    _ball: FloatArray | None = None
    _alphas: dict[int, FloatArray] = field(default_factory=dict)

    def value_and_gradient(self, rows: Rows, scales: FloatArray) -> tuple[float, FloatArray]:
        kernel = self.kernel.matrix(rows, scales)
        K = kernel + self.ridge * np.eye(rows.n_samples)
        beta, radius = self._radius(K)
        coef, width = self._margins(K)
        # d(R²W²) = W² dR² + R² dW² with dR² = Σ (diag(β) − ββ')∘dK and dW² = −Σ aa'∘dK.
        V = np.column_stack([np.sqrt(width) * beta, np.sqrt(radius) * coef])
        return radius * width, self.kernel.pull_back(rows, kernel, width * beta, V)

    def _radius(self, K: FloatArray) -> tuple[FloatArray, float]:
        start = np.full(len(K), 1.0 / len(K)) if self._ball is None else self._ball
        ball = self.solver.enclosing_ball(K, start)
        self._ball = ball.alpha
        return ball.alpha, -ball.value

    def _margins(self, K: FloatArray) -> tuple[FloatArray, float]:
        """One column α∘y per problem, and Σ W²."""
        width, coef = 0.0, np.empty((len(K), len(self.problems)))
        for at, problem in enumerate(self.problems):
            start = self._alphas.get(at, np.zeros(len(K)))
            dual = self.solver.squared_margin(K, problem.sign, self.ridge, start)
            self._alphas[at] = dual.alpha
            coef[:, at] = dual.alpha * problem.sign
            width -= 2.0 * dual.value
        return coef, width
