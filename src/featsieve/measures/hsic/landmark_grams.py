"""Low-rank Gram matrices of units by landmark rows: inner products in one pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar, Self

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.compiled.hsic_tiles import unit_kernels
from featsieve.engines.base import require_memory, spans
from featsieve.errors import InputError
from featsieve.linalg.inverse_root import inverse_root
from featsieve.measures.hsic.kernels import UNITS_PER_TICK, KernelFunction, UnitColumns
from featsieve.measures.hsic.medians import median_rows
from featsieve.measures.hsic.target_kernel import HasFeatures, TargetKernel
from featsieve.measures.hsic.tiles import gather_rows
from featsieve.measures.hsic.unit_grams import norms_of
from featsieve.protocols import Engine
from featsieve.runtime.progress import Monitor
from featsieve.schema import Block

CHUNK_NUMBERS = 1 << 22  # units × landmarks × rows held at once
N_LANDMARKS = 24  # of one unit: a Gaussian kernel on one column has no more directions to speak of


@dataclass(frozen=True)
class Landmarks:
    """The kernel of each unit with rows of a sample, at even ranks of the unit's first column."""

    units: UnitColumns
    kernel: KernelFunction
    rates: FloatArray
    values: FloatArray  # columns of all units × landmarks
    roots: tuple[FloatArray, ...]  # K_pp^(−1/2) of each unit; applied to sums and not to rows

    @property
    def n_landmarks(self) -> int:
        return int(self.values.shape[1])

    def of_rows(self, X: FloatArray) -> FloatArray:
        """Units × landmarks × rows; ``X`` holds columns by rows."""
        rows = np.ascontiguousarray(X[self.units.columns])
        units = self.units
        return unit_kernels(
            self.values, rows, units.starts, units.is_code, self.kernel.form, self.rates
        )

    def of_unit(self, unit: int) -> Landmarks:
        first, last = self.units.starts[unit], self.units.starts[unit + 1]
        return Landmarks(
            self.units.part(unit, unit + 1),
            self.kernel,
            self.rates[unit : unit + 1],
            self.values[first:last],
            self.roots[unit : unit + 1],
        )


def choose_landmarks(
    units: UnitColumns,
    kernel: KernelFunction,
    rates: FloatArray,
    sample: FloatArray,
    monitor: Monitor,
) -> Landmarks:
    """``sample`` holds columns by rows."""
    spread = [_spread_rows(sample[units.part(u, u + 1).columns]) for u in range(units.n_units)]
    values = np.concatenate(spread)
    grams = unit_kernels(values, values, units.starts, units.is_code, kernel.form, rates)
    roots = []
    for done, K in enumerate(grams, start=1):
        roots.append(inverse_root(K))
        if done % UNITS_PER_TICK == 0:
            monitor.tick("choosing landmarks", done, len(grams))
    return Landmarks(units, kernel, rates, values, tuple(roots))


def _spread_rows(rows: FloatArray) -> FloatArray:
    order = np.argsort(rows[0], kind="stable")
    ranks = np.linspace(0, len(order) - 1, min(N_LANDMARKS, len(order))).astype(np.intp)
    return rows[:, order[ranks]]


@dataclass(frozen=True)
class ProductSums:
    """Σ φψ' and Σφ for each unit, and Σψ."""

    cross: FloatArray
    units: FloatArray
    other: FloatArray
    n: int

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.cross + other.cross,
            self.units + other.units,
            self.other + other.other,
            self.n + other.n,
        )

    def covariance(self) -> FloatArray:
        return self.cross - self.units[:, :, None] * (self.other / self.n)[:, None, :]


@dataclass(frozen=True)
class LandmarkPass:
    """Products of all units' landmark kernels with the target's features, with those of one unit,
    or (``other`` None) with themselves."""

    landmarks: Landmarks
    other: HasFeatures | Landmarks | None

    def __call__(self, block: Block) -> ProductSums:
        per_row = self.landmarks.units.n_units * self.landmarks.n_landmarks
        size = max(CHUNK_NUMBERS // per_row, 16)
        X = block.dense().T
        parts = (
            self._rows(X[:, start:stop], block.y[start:stop])
            for start, stop in spans(block.n_rows, size)
        )
        return reduce(ProductSums.merge, parts)

    def _rows(self, X: FloatArray, y: Array) -> ProductSums:
        phi = self.landmarks.of_rows(X)
        sums = phi.sum(axis=2)
        if self.other is None:
            return ProductSums(phi @ phi.swapaxes(1, 2), sums, sums, X.shape[1])
        psi = self._other_features(X, y)
        cross = phi.reshape(-1, X.shape[1]) @ psi  # one large product instead of many small ones
        return ProductSums(
            cross.reshape(*sums.shape, psi.shape[1]), sums, psi.sum(axis=0)[None], X.shape[1]
        )

    def _other_features(self, X: FloatArray, y: Array) -> FloatArray:
        if isinstance(self.other, Landmarks):
            return self.other.of_rows(X)[0].T
        assert self.other is not None
        return self.other.features(y)


@dataclass(frozen=True)
class LandmarkGrams:
    """Low-rank Gram matrices: ⟨K̄_u, K̄_v⟩ is the squared norm of a small cross-covariance."""

    engine: Engine
    landmarks: Landmarks
    target: HasFeatures
    norms: FloatArray

    together: ClassVar[int] = 1

    def with_target(self) -> FloatArray:
        covariance = self._covariance(self.target)
        return self._squared_norms(covariance) / self.norms

    def columns(self, chosen: Sequence[int]) -> list[FloatArray]:
        return [self._column(unit) for unit in chosen]

    def _column(self, unit: int) -> FloatArray:
        covariance = self._covariance(self.landmarks.of_unit(unit)) @ self.landmarks.roots[unit].T
        return self._squared_norms(covariance) / self.norms / self.norms[unit]

    def _covariance(self, other: HasFeatures | Landmarks) -> FloatArray:
        return self.engine.reduce_rows(LandmarkPass(self.landmarks, other)).covariance()

    def _squared_norms(self, covariance: FloatArray) -> FloatArray:
        pairs = zip(self.landmarks.roots, covariance, strict=True)
        return np.array([np.square(root @ part).sum() for root, part in pairs])


def landmark_grams(
    engine: Engine,
    units: UnitColumns,
    kernel: KernelFunction,
    rates: FloatArray,
    target: TargetKernel,
    seed: int,
) -> LandmarkGrams:
    """Every question is one pass over the rows, on any engine."""
    if not isinstance(target, HasFeatures):
        raise InputError(
            "approximation='nystrom' needs a target kernel with finite features: classes, "
            "'linear', 'rbf' or 'laplace'; use n_blocks with a function or a Gram matrix."
        )
    n_numbers = 4 * units.n_units * N_LANDMARKS**2
    require_memory(n_numbers, engine.memory_limit, "the landmarks of all columns")
    sample = gather_rows(engine, median_rows(engine.n_samples, seed, engine.n_features)).X
    landmarks = choose_landmarks(units, kernel, rates, sample, engine.monitor)
    covariance = engine.reduce_rows(LandmarkPass(landmarks, None)).covariance()
    whitened = (R @ C @ R.T for R, C in zip(landmarks.roots, covariance, strict=True))
    squared = np.array([np.square(C).sum() for C in whitened])
    norms = norms_of(squared, np.full_like(squared, float(engine.n_samples) ** 2))
    return LandmarkGrams(engine, landmarks, target, norms)
