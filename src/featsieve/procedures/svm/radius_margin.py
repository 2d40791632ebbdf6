"""R²W² (Weston et al. 2000): scale the columns so that the bound of leave-one-out error is small.

R² is the squared radius of the smallest ball around the rows, W² = 1/margin², both in the kernel's
space. Soft margins by K + I/C (Chapelle et al. 2002). Each is the optimum of a quadratic program,
so its derivative is that of the program at the optimum (the envelope theorem)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.engines.base import slices
from featsieve.procedures.svm.dual import Dual, Solver
from featsieve.procedures.svm.rows import Problem, Rows
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.products import watched_product
from featsieve.runtime.progress import SILENT, Monitor

MOST_AT_ONCE = 3  # programs: each has a matrix of its own


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
    n_jobs: int = 1

    def matrix(self, rows: Rows, scales: FloatArray) -> FloatArray:
        def link(tile: FloatArray) -> None:
            tile *= -self.rate
            np.exp(tile, out=tile)

        return of_distances(rows, scales, link, self.monitor, self.n_jobs)

    def pull_back(
        self, rows: Rows, K: FloatArray, diagonal: FloatArray, V: FloatArray
    ) -> FloatArray:
        # The diagonal of K is 1 whatever the scales, so only −VV' counts.
        def sums(tile: slice) -> FloatArray:
            X, N = rows.X[tile], V[tile] @ V.T
            N *= K[tile]
            return np.asarray(N.sum(axis=1) @ X**2 - np.einsum("ij,ij->j", X, N @ rows.X))

        total = np.zeros(rows.X.shape[1])
        for part in ordered_map(sums, tiles(len(K)), self.n_jobs):
            total += part
            self.monitor.check()
        return 2.0 * self.rate * rows.per_unit(total)


TILE_CELLS = 1 << 17  # of a matrix of all pairs of rows: what is done to them is done in the cache


def tiles(n_rows: int) -> Iterator[slice]:
    """Of consecutive rows; they do not depend on the number of threads."""
    return slices(n_rows, max(1, TILE_CELLS // n_rows))


def of_distances(
    rows: Rows,
    scales: FloatArray,
    link: Callable[[FloatArray], None],
    monitor: Monitor,
    n_jobs: int = 1,
) -> FloatArray:
    """Squared distances between all rows, after ``link`` has changed them in place."""
    scaled = rows.X * np.sqrt(scales[rows.unit_of])
    squares, n = np.einsum("ij,ij->i", scaled, scaled), len(scaled)
    out = np.empty((n, n))

    def fill(span: slice) -> None:
        tile = np.matmul(scaled[span], scaled.T, out=out[span])
        tile *= -2.0
        tile += squares[span, None] + squares
        np.maximum(tile, 0.0, out=tile)
        np.fill_diagonal(tile[:, span], 0.0)
        link(tile)

    for _ in ordered_map(fill, tiles(n), n_jobs):
        monitor.check()
    return out


def mean_rate(rows: Rows) -> float:
    """One over the mean squared length of a row, all scales 1."""
    mean = float(np.einsum("ij,ij->", rows.X, rows.X)) / rows.n_samples
    return 1.0 / mean if mean > 0 else 1.0


def median_rate(rows: Rows, monitor: Monitor) -> float:
    """1/(2σ²) with σ the median distance between the rows, all scales 1."""
    distances = of_distances(rows, np.ones(rows.n_units), lambda _: None, monitor)
    middle = float(np.median(distances[np.triu_indices(len(distances), 1)]))
    return 0.5 / middle if middle > 0 else 0.5


@dataclass
class RadiusMargin:
    """R² Σ W² over the problems, with its gradient for the scales; starts where it last ended."""

    problems: list[Problem]
    kernel: ScaledKernel
    ridge: float
    solver: Solver
    n_jobs: int = 1
    _ball: FloatArray | None = None
    _alphas: dict[int, FloatArray] = field(default_factory=dict)

    def value_and_gradient(self, rows: Rows, scales: FloatArray) -> tuple[float, FloatArray]:
        K = self.kernel.matrix(rows, scales)
        of_kernel = K.diagonal().copy()
        np.fill_diagonal(K, of_kernel + self.ridge)
        programs = [partial(self._radius, K)]
        programs += [partial(self._margin, K, at) for at in range(len(self.problems))]
        n_jobs = min(self.n_jobs, MOST_AT_ONCE)
        ball, *duals = ordered_map(lambda program: program(), programs, n_jobs)
        self.solver.record([ball, *duals])
        self._ball, beta, radius = ball.alpha, ball.alpha, -ball.value
        width, coef = 0.0, np.empty((len(K), len(duals)))
        for at, (problem, dual) in enumerate(zip(self.problems, duals, strict=True)):
            self._alphas[at] = dual.alpha
            coef[:, at] = dual.alpha * problem.sign
            width -= 2.0 * dual.value
        # d(R²W²) = W² dR² + R² dW² with dR² = Σ (diag(β) − ββ')∘dK and dW² = −Σ aa'∘dK.
        V = np.column_stack([np.sqrt(width) * beta, np.sqrt(radius) * coef])
        np.fill_diagonal(K, of_kernel)
        return radius * width, self.kernel.pull_back(rows, K, width * beta, V)

    def _radius(self, K: FloatArray) -> Dual:
        start = np.full(len(K), 1.0 / len(K)) if self._ball is None else self._ball
        return self.solver.enclosing_ball(K, start)

    def _margin(self, K: FloatArray, at: int) -> Dual:
        start = self._alphas.get(at, np.zeros(len(K)))
        return self.solver.squared_margin(K, self.problems[at].sign, self.ridge, start)
