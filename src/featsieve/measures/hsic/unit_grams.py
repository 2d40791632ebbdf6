"""Inner products of the centred Gram matrices of units, without ever storing one.

HSIC Lasso needs ⟨K̄_u, L̄⟩ for all units u, and ⟨K̄_u, K̄_v⟩ only for the units v that enter its path.
Over pairs of rows each of these is one pass of tile sums with M = K̄_v; with landmark rows it is one
pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.compiled.hsic_tiles import sum_contributions, unit_row_sums
from featsieve.engines.base import require_memory, spans
from featsieve.errors import InputError
from featsieve.linalg.inverse_root import inverse_root
from featsieve.measures.hsic.bandwidth import median_rows
from featsieve.measures.hsic.kernels import KernelFunction, UnitColumns, no_columns
from featsieve.measures.hsic.passes import (
    RowSums,
    SetPass,
    TargetTiles,
    centring,
    doubled,
)
from featsieve.measures.hsic.target_kernel import HasFeatures, TargetKernel
from featsieve.measures.hsic.tiles import RowPairs, RowStrip
from featsieve.protocols import Engine
from featsieve.schema import Block

_CONSTANT = 1e-12  # relative squared norm below which a centred Gram matrix is zero
ROW_SUMS_SHARE = 16  # of memory_limit, for the row sums of many units
N_LANDMARKS = 24  # of one unit: a Gaussian kernel on one column has no more directions to speak of


class UnitGrams(Protocol):
    """Centred Gram matrices of norm 1, one per unit, known by their inner products."""

    def with_target(self) -> FloatArray:
        """⟨K̄_u, L̄⟩ for all units u; L̄ is centred and not scaled."""
        ...

    def column(self, unit: int) -> FloatArray:
        """⟨K̄_u, K̄_unit⟩ for all units u."""
        ...


def _norms(squared: FloatArray, scale: FloatArray) -> FloatArray:
    """Infinity where a Gram matrix is constant, so that every product with it is 0."""
    return np.sqrt(np.where(squared > _CONSTANT * scale, squared, np.inf))


# --- pairs of rows -------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnitGramSums:
    """Row sums of every unit's Gram matrix, and its sum of squares."""

    rows: RowSums
    squares: FloatArray

    def merge(self, other: Self) -> Self:
        return type(self)(self.rows.merge(other.rows), self.squares + other.squares)


def _gram_sums(
    units: UnitColumns, kernel: KernelFunction, rates: FloatArray, a: RowStrip, b: RowStrip
) -> UnitGramSums:
    same = a.start == b.start
    by_row, by_column, squares = unit_row_sums(
        a.X, b.X, units.starts, units.is_code, kernel.form, rates, same
    )
    rows = {a.start: by_row} if same else {a.start: by_row, b.start: by_column}
    return UnitGramSums(RowSums(rows), squares)


@dataclass(frozen=True)
class UnitAsTarget:
    """The centred Gram matrix of one unit in the place of M."""

    columns: slice
    is_code: Array
    kernel: KernelFunction
    rate: float
    row_sums: FloatArray  # groups × rows together

    def tile(self, a: RowStrip, b: RowStrip) -> FloatArray:
        A, B = a.X[self.columns], b.X[self.columns]
        total = sum_contributions(A, B, np.ones(len(A)), self.is_code, self.kernel.form, False)
        K = self.kernel.values(total, self.rate)
        group, first = divmod(a.start, self.row_sums.shape[1])
        sums, second = self.row_sums[group], first + b.start - a.start
        left, right = sums[first : first + a.n_rows], sums[second : second + b.n_rows]
        M = centring(len(sums)).tile(K, left, right, float(sums.sum()))
        return doubled(M, a.start == b.start, with_diagonal=True)


@dataclass(frozen=True)
class PairedGrams:
    """Gram matrices over pairs of rows: all of them, or those inside blocks, centred by block."""

    pairs: RowPairs
    units: UnitColumns
    kernel: KernelFunction
    rates: FloatArray
    norms: FloatArray
    target: TargetTiles

    def with_target(self) -> FloatArray:
        return self._products(self.target)

    def column(self, unit: int) -> FloatArray:
        at = slice(self.units.starts[unit], self.units.starts[unit + 1])
        rate = float(self.rates[unit])
        chosen = self.units.part(unit, unit + 1)
        fn = partial(_gram_sums, chosen, self.kernel, self.rates[unit : unit + 1])
        sums: UnitGramSums = self.pairs.reduce(fn, chosen.columns)
        by_group = sums.rows.joined()[0].reshape(self.pairs.n_groups, -1)
        target = UnitAsTarget(at, chosen.is_code, self.kernel, rate, by_group)
        return self._products(target) / self.norms[unit]

    def _products(self, target: TargetTiles) -> FloatArray:
        summed = SetPass(no_columns(0), self.units, 1, self.kernel, self.rates, target)
        return summed.over(self.pairs) / self.norms


def paired_grams(
    pairs: RowPairs,
    units: UnitColumns,
    kernel: KernelFunction,
    rates: FloatArray,
    target: TargetTiles,
    memory_limit: int,
) -> PairedGrams:
    """With the norms of all units, from passes over as many units as their row sums allow."""
    n_rows = pairs.n_groups * pairs.rows_together
    width = max(1, memory_limit // (ROW_SUMS_SHARE * 8 * n_rows))
    parts = [
        _centred_norms(pairs, units.part(start, stop), kernel, rates[start:stop])
        for start, stop in spans(units.n_units, width)
    ]
    return PairedGrams(pairs, units, kernel, rates, np.concatenate(parts), target)


def _centred_norms(
    pairs: RowPairs, units: UnitColumns, kernel: KernelFunction, rates: FloatArray
) -> FloatArray:
    """‖HKH‖ of each unit: ΣK² − 2/n Σ(K1)² + (ΣK/n)², summed over groups of n rows."""
    sums: UnitGramSums = pairs.reduce(partial(_gram_sums, units, kernel, rates), units.columns)
    n = pairs.rows_together
    rows = sums.rows.joined().reshape(units.n_units, pairs.n_groups, n)
    squared = sums.squares - 2.0 / n * (rows**2).sum(axis=(1, 2))
    squared += ((rows.sum(axis=2) / n) ** 2).sum(axis=1)
    return _norms(squared, sums.squares)


# --- landmark rows -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Landmarks:
    """The kernel of each unit with rows of a sample, at even ranks of the unit's first column."""

    units: UnitColumns
    kernel: KernelFunction
    rates: FloatArray
    values: tuple[FloatArray, ...]  # columns × landmarks, one array per unit
    roots: tuple[FloatArray, ...]  # K_pp^(−1/2), which is applied to sums and not to rows

    def of_rows(self, X: FloatArray, unit: int) -> FloatArray:
        """Rows × landmarks; ``X`` holds columns by rows."""
        at = slice(self.units.starts[unit], self.units.starts[unit + 1])
        rows = np.ascontiguousarray(X[self.units.columns[at]])
        return self._kernel_values(rows, self.values[unit], unit)

    def _kernel_values(self, rows: FloatArray, marks: FloatArray, unit: int) -> FloatArray:
        at = slice(self.units.starts[unit], self.units.starts[unit + 1])
        codes, ones = self.units.is_code[at], np.ones(len(rows))
        total = sum_contributions(rows, marks, ones, codes, self.kernel.form, False)
        return self.kernel.values(total, float(self.rates[unit]))


def choose_landmarks(
    units: UnitColumns, kernel: KernelFunction, rates: FloatArray, sample: FloatArray
) -> Landmarks:
    """``sample`` holds columns by rows."""
    values = tuple(_spread_rows(sample[units.part(u, u + 1).columns]) for u in range(units.n_units))
    plain = Landmarks(units, kernel, rates, values, ())
    grams = (plain._kernel_values(marks, marks, u) for u, marks in enumerate(values))
    return Landmarks(units, kernel, rates, values, tuple(inverse_root(K) for K in grams))


def _spread_rows(rows: FloatArray) -> FloatArray:
    order = np.argsort(rows[0], kind="stable")
    ranks = np.linspace(0, len(order) - 1, min(N_LANDMARKS, len(order))).astype(np.intp)
    return np.ascontiguousarray(rows[:, order[ranks]])


@dataclass(frozen=True)
class ProductSums:
    """Σ φψ', Σφ for each unit, and Σψ."""

    cross: FloatArray
    unit: FloatArray
    other: FloatArray
    n: int

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.cross + other.cross,
            self.unit + other.unit,
            self.other + other.other,
            self.n + other.n,
        )

    def covariance(self) -> FloatArray:
        return self.cross - self.unit[:, :, None] * (np.atleast_2d(self.other)[:, None] / self.n)


def _target_products(landmarks: Landmarks, target: HasFeatures, block: Block) -> ProductSums:
    return _products(landmarks, block.dense().T, target.features(block.y))


def _unit_products(landmarks: Landmarks, unit: int, block: Block) -> ProductSums:
    X = block.dense().T
    return _products(landmarks, X, landmarks.of_rows(X, unit))


def _products(landmarks: Landmarks, X: FloatArray, psi: FloatArray) -> ProductSums:
    n_units, n_marks = landmarks.units.n_units, landmarks.values[0].shape[1]
    cross, sums = np.empty((n_units, n_marks, psi.shape[1])), np.empty((n_units, n_marks))
    for unit in range(n_units):
        phi = landmarks.of_rows(X, unit)
        cross[unit], sums[unit] = phi.T @ psi, phi.sum(axis=0)
    return ProductSums(cross, sums, psi.sum(axis=0), len(psi))


def _self_products(landmarks: Landmarks, block: Block) -> ProductSums:
    X = block.dense().T
    parts = [landmarks.of_rows(X, unit) for unit in range(landmarks.units.n_units)]
    sums = np.array([phi.sum(axis=0) for phi in parts])
    return ProductSums(np.array([phi.T @ phi for phi in parts]), sums, sums, block.n_rows)


@dataclass(frozen=True)
class LandmarkGrams:
    """Low-rank Gram matrices: ⟨K̄_u, K̄_v⟩ is the squared norm of a small cross-covariance."""

    engine: Engine
    landmarks: Landmarks
    target: HasFeatures
    norms: FloatArray

    def with_target(self) -> FloatArray:
        fn = partial(_target_products, self.landmarks, self.target)
        return self._squared_norms(fn, None) / self.norms

    def column(self, unit: int) -> FloatArray:
        fn = partial(_unit_products, self.landmarks, unit)
        products = self._squared_norms(fn, self.landmarks.roots[unit])
        return products / self.norms / self.norms[unit]

    def _squared_norms(self, fn: Any, other_root: FloatArray | None) -> FloatArray:
        covariance = self.engine.reduce_rows(fn).covariance()
        if other_root is not None:
            covariance = covariance @ other_root.T
        pairs = zip(self.landmarks.roots, covariance, strict=True)
        return np.array([np.square(root @ part).sum() for root, part in pairs])


def landmark_grams(
    engine: Engine, units: UnitColumns, kernel: KernelFunction, rates: FloatArray,
    target: TargetKernel, seed: int,
) -> LandmarkGrams:  # fmt: skip
    """Every question is one pass over the rows, on any engine."""
    if not isinstance(target, HasFeatures):
        raise InputError(
            "approximation='nystrom' needs a target kernel with finite features: classes, "
            "'linear', 'rbf' or 'laplace'; use n_blocks with a function or a Gram matrix."
        )
    require_memory(
        units.n_units * 2 * N_LANDMARKS**2, engine.memory_limit, "landmarks of all units"
    )
    X, _ = engine.take(median_rows(engine.n_samples, seed, engine.n_features))
    landmarks = choose_landmarks(units, kernel, rates, np.asarray(X.T, dtype=np.float64))
    covariance = engine.reduce_rows(partial(_self_products, landmarks)).covariance()
    whitened = [R @ C @ R.T for R, C in zip(landmarks.roots, covariance, strict=True)]
    squared = np.array([np.square(C).sum() for C in whitened])
    return LandmarkGrams(
        engine, landmarks, target, _norms(squared, np.full_like(squared, engine.n_samples**2))
    )
