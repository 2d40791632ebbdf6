"""Finite features whose inner products approximate a kernel: random Fourier, Nyström.

Centred sums of products of features give biased HSIC in O(n): they add over rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from featsieve.kernels.hsic_tiles import SQUARED, sum_contributions
from featsieve.measures.kernel.kernel_function import KernelFunction
from featsieve.measures.kernel.units import UnitColumns
from featsieve.schema import FloatArray, IntArray

N_FREQUENCIES = 256
N_LANDMARKS = 128


@dataclass(frozen=True)
class FeatureSums:
    """Σ φψ', Σφ and Σψ; one slice of φ a candidate."""

    cross: FloatArray
    x: FloatArray
    y: FloatArray
    n: int

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.cross + other.cross, self.x + other.x, self.y + other.y, self.n + other.n
        )

    def covariance(self) -> FloatArray:
        """n times the cross-covariance of the features, per candidate."""
        return self.cross - self.x[:, :, None] * (self.y / self.n)


class DataFeatures(Protocol):
    """Features of a base set with or without each candidate."""

    def of_rows(
        self, base: FloatArray, own: FloatArray, sign: int, widths: FloatArray
    ) -> FloatArray:
        """Candidates × rows × features; ``base`` and ``own`` hold columns by rows."""
        ...

    def finish(self, covariance: FloatArray, candidate: int) -> FloatArray:
        """Squared norms whose mean over features is the squared norm of the cross-covariance."""
        ...


@dataclass(frozen=True)
class FourierFeatures:
    """cos and sin of random projections: k(x, x') = E[cos ω'(x − x')].

    The law of ω is normal for Gauss and Cauchy for Laplace. Each frequency is one unbiased
    estimate of the squared norm, so their spread tells the error.
    """

    base: FloatArray  # columns × frequencies
    own: FloatArray
    starts: IntArray

    def phases(self, base: FloatArray, own: FloatArray, sign: int) -> FloatArray:
        shared = base.T @ self.base
        parts = [
            shared + sign * (own[s:t].T @ self.own[s:t])
            for s, t in zip(self.starts[:-1], self.starts[1:], strict=True)
        ]
        return np.array(parts)

    def of_rows(
        self, base: FloatArray, own: FloatArray, sign: int, widths: FloatArray
    ) -> FloatArray:
        angles = self.phases(base, own, sign) / widths[:, None, None]
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=2)

    def finish(self, covariance: FloatArray, candidate: int) -> FloatArray:
        squares = (covariance**2).sum(axis=1)
        half = len(squares) // 2
        return squares[:half] + squares[half:]


def fourier_features(
    kernel: KernelFunction, base: UnitColumns, own: UnitColumns, seed: int
) -> FourierFeatures:
    """One row of frequencies a column, drawn from (seed, column): the same in every pass."""
    return FourierFeatures(
        _frequencies(kernel, base, seed), _frequencies(kernel, own, seed), own.starts
    )


def _frequencies(kernel: KernelFunction, units: UnitColumns, seed: int) -> FloatArray:
    rows = [np.random.default_rng([seed, int(column)]) for column in units.columns]
    if kernel.form == SQUARED:
        return np.array([r.standard_normal(N_FREQUENCIES) for r in rows]).reshape(-1, N_FREQUENCIES)
    return np.array([r.standard_cauchy(N_FREQUENCIES) for r in rows]).reshape(-1, N_FREQUENCIES)


@dataclass(frozen=True)
class LandmarkFeatures:
    """Kernel values with landmark rows; K_pp^(−1/2) is applied to the sums, not to the rows."""

    kernel: KernelFunction
    base_units: UnitColumns
    own_units: UnitColumns
    base: FloatArray  # columns × landmarks
    own: FloatArray
    roots: tuple[FloatArray, ...]  # one K_pp^(−1/2) a candidate

    def of_rows(
        self, base: FloatArray, own: FloatArray, sign: int, widths: FloatArray
    ) -> FloatArray:
        return landmark_kernels(
            self.kernel, self.base_units, self.own_units, (base, own), (self.base, self.own), sign,
            widths,
        )  # fmt: skip

    def finish(self, covariance: FloatArray, candidate: int) -> FloatArray:
        return np.asarray([np.square(self.roots[candidate] @ covariance).sum()])


def landmark_kernels(
    kernel: KernelFunction,
    base_units: UnitColumns,
    own_units: UnitColumns,
    rows: tuple[FloatArray, FloatArray],
    landmarks: tuple[FloatArray, FloatArray],
    sign: int,
    widths: FloatArray,
) -> FloatArray:
    """Candidates × rows × landmarks."""
    shared = _contributions(rows[0], landmarks[0], base_units.is_code, kernel.form)
    parts = []
    spans = zip(own_units.starts[:-1], own_units.starts[1:], strict=True)
    for (s, t), width in zip(spans, widths, strict=True):
        own = _contributions(rows[1][s:t], landmarks[1][s:t], own_units.is_code[s:t], kernel.form)
        parts.append(kernel.values(shared + sign * own, float(kernel.rate(width))))
    return np.array(parts)


def _contributions(A: FloatArray, B: FloatArray, codes: FloatArray, form: int) -> FloatArray:
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B)
    return sum_contributions(A, B, np.ones(len(A)), codes, form, False)
