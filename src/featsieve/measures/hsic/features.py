"""HSIC linear in the number of rows: kernels as inner products of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.hsic_tiles import SQUARED, sum_contributions
from featsieve.engines.base import slices
from featsieve.errors import InputError
from featsieve.linalg.inverse_root import inverse_root
from featsieve.measures.hsic.kernels import KernelFunction, UnitColumns, WidthPolicy, no_columns
from featsieve.measures.hsic.passes import SetChanges
from featsieve.measures.hsic.target_kernel import HasFeatures, TargetKernel
from featsieve.protocols import Engine
from featsieve.schema import Block

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
        self, base: FloatArray, candidate: FloatArray, sign: int, widths: FloatArray
    ) -> FloatArray:
        """Candidates × rows × features; ``base`` and ``candidate`` hold columns by rows."""
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
    candidate: FloatArray
    starts: IntArray

    def phases(self, base: FloatArray, candidate: FloatArray, sign: int) -> FloatArray:
        shared = base.T @ self.base
        parts = [
            shared + sign * (candidate[s:t].T @ self.candidate[s:t])
            for s, t in zip(self.starts[:-1], self.starts[1:], strict=True)
        ]
        return np.array(parts)

    def of_rows(
        self, base: FloatArray, candidate: FloatArray, sign: int, widths: FloatArray
    ) -> FloatArray:
        angles = self.phases(base, candidate, sign) / widths[:, None, None]
        return np.concatenate([np.cos(angles), np.sin(angles)], axis=2)

    def finish(self, covariance: FloatArray, candidate: int) -> FloatArray:
        squares = (covariance**2).sum(axis=1)
        half = len(squares) // 2
        return squares[:half] + squares[half:]


def fourier_features(
    kernel: KernelFunction, base: UnitColumns, candidate: UnitColumns, seed: int
) -> FourierFeatures:
    """One row of frequencies per column, drawn from (seed, column): the same in every pass."""
    return FourierFeatures(
        _frequencies(kernel, base, seed), _frequencies(kernel, candidate, seed), candidate.starts
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
    candidate_units: UnitColumns
    base: FloatArray  # columns × landmarks
    candidate: FloatArray
    roots: tuple[FloatArray, ...]  # one K_pp^(−1/2) per candidate

    def of_rows(
        self, base: FloatArray, candidate: FloatArray, sign: int, widths: FloatArray
    ) -> FloatArray:
        units = self.base_units, self.candidate_units
        marks = self.base, self.candidate
        return landmark_kernels(self.kernel, *units, (base, candidate), marks, sign, widths)

    def finish(self, covariance: FloatArray, candidate: int) -> FloatArray:
        return np.asarray([np.square(self.roots[candidate] @ covariance).sum()])


def landmark_kernels(
    kernel: KernelFunction,
    base_units: UnitColumns,
    candidate_units: UnitColumns,
    rows: tuple[FloatArray, FloatArray],
    landmarks: tuple[FloatArray, FloatArray],
    sign: int,
    widths: FloatArray,
) -> FloatArray:
    """Candidates × rows × landmarks."""
    shared = _contributions(rows[0], landmarks[0], base_units.is_code, kernel.form)
    parts = []
    spans = zip(candidate_units.starts[:-1], candidate_units.starts[1:], strict=True)
    for (s, t), width in zip(spans, widths, strict=True):
        added = _contributions(
            rows[1][s:t], landmarks[1][s:t], candidate_units.is_code[s:t], kernel.form
        )
        parts.append(kernel.values(shared + sign * added, float(kernel.rate(width))))
    return np.array(parts)


def _contributions(A: FloatArray, B: FloatArray, codes: FloatArray, form: int) -> FloatArray:
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B)
    return sum_contributions(A, B, np.ones(len(A)), codes, form, False)


CHUNK_NUMBERS = 1 << 22  # candidates × rows × features held at once


@dataclass(frozen=True)
class FeaturePass:
    """Sums of feature products for some candidates."""

    base: UnitColumns
    candidate: UnitColumns
    sign: int
    widths: FloatArray
    features: DataFeatures
    target: HasFeatures
    n_features: int

    def __call__(self, block: Block) -> FeatureSums:
        size = max(CHUNK_NUMBERS // (self.n_features * max(len(self.widths), 1)), 16)
        dense = block.dense()
        merged: Any = None
        for rows in slices(block.n_rows, size):
            part = self._rows(dense[rows].T, block.y[rows])
            merged = part if merged is None else merged.merge(part)
        return merged

    def _rows(self, X: FloatArray, y: Any) -> FeatureSums:
        phi = self.features.of_rows(
            X[self.base.columns], X[self.candidate.columns], self.sign, self.widths
        )
        psi = self.target.features(y)
        return FeatureSums(phi.swapaxes(1, 2) @ psi, phi.sum(axis=1), psi.sum(axis=0), len(psi))


class BoundFeatureHSIC(SetChanges):
    """Biased HSIC of approximate kernels; every question is one pass over the rows."""

    def __init__(
        self,
        engine: Engine,
        kernel: KernelFunction,
        widths: WidthPolicy,
        target: TargetKernel,
        method: str,
        seed: int,
        divisor: float,
    ) -> None:
        self.n_units, self.monitor = engine.schema.n_units, engine.monitor
        self._engine, self._kernel, self._widths = engine, kernel, widths
        self._method, self._seed, self._divisor = method, seed, divisor
        self._target = _with_features(target)
        self._error = 0.0
        if method == "rff" and (engine.schema.categories or not kernel.has_bandwidth):
            raise InputError(
                "approximation='rff' needs numeric columns and an 'rbf' or 'laplace' kernel; use "
                "'nystrom' or 'block'."
            )
        if method == "nystrom":
            marks = _take_rows(engine, 2 * N_LANDMARKS, seed)
            self._landmarks, self._held_out = marks[:, ::2].copy(), marks[:, 1::2].copy()

    def value(self, subset: Sequence[int]) -> float:
        if not len(subset):
            return 0.0
        widths = np.array([self._widths.of_set(subset)])
        return float(self._values(subset, no_columns(1), 1, widths)[0])

    def _changed(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        widths = self._widths.of_changes(subset, candidates, sign)
        return self._values(
            subset, self._kernel.columns_of(self._engine.schema, candidates), sign, widths
        )

    def _values(
        self, subset: Sequence[int], candidate: UnitColumns, sign: int, widths: FloatArray
    ) -> FloatArray:
        base = self._kernel.columns_of(self._engine.schema, subset)
        features, size = self._features(base, candidate, sign, widths)
        summed = FeaturePass(base, candidate, sign, widths, features, self._target, size)
        covariance = self._engine.reduce_rows(summed).covariance()
        parts = np.array([features.finish(c, u) for u, c in enumerate(covariance)])
        values: FloatArray = parts.mean(axis=1)
        best = int(np.argmax(values))
        if self._method == "rff":
            deviation = parts[best].std(ddof=1) / np.sqrt(parts.shape[1])
            self._error = float(deviation / values[best]) if values[best] > 0 else 0.0
        else:
            self._error = self._missing_part(summed, best)
        return values / self._divisor

    def _missing_part(self, summed: FeaturePass, best: int) -> float:
        """The mean of k(x, x) − k̂(x, x), in units of k(x, x), over rows that are not landmarks."""
        base, candidate = summed.base, summed.candidate
        others, marks = (
            (X[base.columns], X[candidate.columns]) for X in (self._held_out, self._landmarks)
        )

        def kernel(rows: Any, columns: Any) -> FloatArray:
            values = landmark_kernels(
                self._kernel, base, candidate, rows, columns, summed.sign, summed.widths
            )
            return np.asarray(values[best])

        present = np.square(kernel(others, marks) @ inverse_root(kernel(marks, marks)).T).sum()
        return float(1.0 - present / np.trace(kernel(others, others)))

    def _features(
        self, base: UnitColumns, candidate: UnitColumns, sign: int, widths: FloatArray
    ) -> tuple[DataFeatures, int]:
        if self._method == "rff":
            return fourier_features(self._kernel, base, candidate, self._seed), 2 * N_FREQUENCIES
        marks = self._landmarks[base.columns], self._landmarks[candidate.columns]
        grams = landmark_kernels(self._kernel, base, candidate, marks, marks, sign, widths)
        roots = tuple(inverse_root(K) for K in grams)
        return LandmarkFeatures(self._kernel, base, candidate, *marks, roots), N_LANDMARKS

    def report(self) -> Mapping[str, Any]:
        if self._method == "rff":
            words = (
                f"random Fourier features ({N_FREQUENCIES} frequencies); standard error "
                f"{self._error:.1%} of the best value"
            )
        else:
            words = (
                f"Nyström ({self._landmarks.shape[1]} landmark rows); {self._error:.1%} of k(x, x) "
                "is missing on other rows for the best set"
            )
        return {"approximation": f"{words}; biased estimate"}


def _with_features(target: TargetKernel) -> HasFeatures:
    if not isinstance(target, HasFeatures):
        raise InputError(
            "approximation='rff' and 'nystrom' need a target kernel with finite features: classes, "
            "'linear', 'rbf' or 'laplace'; use 'block' with a function or a Gram matrix."
        )
    return target


def _take_rows(engine: Engine, n_rows: int, seed: int) -> FloatArray:
    n = min(n_rows, engine.n_samples)
    rows = np.random.default_rng(seed).choice(engine.n_samples, n, replace=False)
    X, _ = engine.take(np.sort(rows).astype(np.intp))
    return np.ascontiguousarray(X.T, dtype=np.float64)
