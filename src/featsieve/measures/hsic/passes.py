"""One pass over tiles of row pairs: the target's side, and one accumulator per candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.compiled.hsic_tiles import (
    ABSOLUTE,
    PRODUCT,
    candidate_sums,
    contribution_sums,
    sum_contributions,
)
from featsieve.measures.hsic.bandwidth import median_rows
from featsieve.measures.hsic.estimates import FixedMatrix
from featsieve.measures.hsic.kernels import KernelFunction, Slopes, UnitColumns
from featsieve.measures.hsic.target_kernel import TargetKernel, target_kernel
from featsieve.measures.hsic.tiles import RowPairs, Rows, Sums
from featsieve.protocols import Engine
from featsieve.schema import Block, one_hot

CACHED_SHARE = 8  # of memory_limit
NO_COLUMNS: IntArray = np.empty(0, dtype=np.intp)


class TargetTiles(Protocol):
    """M of a tile, twice its value above the diagonal and zero below it."""

    def tile(self, a: Rows, b: Rows) -> FloatArray: ...


@dataclass(frozen=True)
class RowSums:
    """Row sums of Gram matrices by block of rows: a tile touches two blocks only."""

    pieces: Mapping[int, FloatArray]

    def merge(self, other: Self) -> Self:
        merged = dict(self.pieces)
        for start, piece in other.pieces.items():
            merged[start] = merged[start] + piece if start in merged else piece
        return type(self)(merged)

    def joined(self) -> FloatArray:
        """All rows in order, along the last axis."""
        return np.concatenate([self.pieces[start] for start in sorted(self.pieces)], axis=-1)


@dataclass(frozen=True)
class ComputedTarget:
    """M from y at every pass."""

    kernel: TargetKernel
    fixed: FixedMatrix
    row_sums: FloatArray
    rows_together: int
    dtype: Any = np.float64

    def tile(self, a: Rows, b: Rows) -> FloatArray:
        left = self.row_sums[a.start : a.start + a.n_rows]
        right = self.row_sums[b.start : b.start + b.n_rows]
        L = kernel_tile(self.kernel, a, b, self.fixed)
        M = self.fixed.tile(L, left, right, self._total(a.start))
        return doubled(M, a.start == b.start, self.fixed.with_diagonal).astype(self.dtype)

    def _total(self, start: int) -> float:
        """ΣL of the rows that are paired with the one at ``start``."""
        first = start - start % self.rows_together
        return float(self.row_sums[first : first + self.rows_together].sum())


@dataclass(frozen=True)
class StoredTarget:
    """M computed once: for many passes over rows that are few enough."""

    tiles: Mapping[tuple[int, int], FloatArray]

    def tile(self, a: Rows, b: Rows) -> FloatArray:
        return self.tiles[a.start, b.start]

    def merge(self, other: Self) -> Self:
        return type(self)({**self.tiles, **other.tiles})


def doubled(M: FloatArray, on_diagonal: bool, with_diagonal: bool) -> FloatArray:
    """Twice M above the diagonal of the whole matrix, so that its lower half need not be summed."""
    if not on_diagonal:
        return 2.0 * M
    upper = np.triu(2.0 * M)
    np.fill_diagonal(upper, np.diag(M) if with_diagonal else 0.0)
    return upper


def kernel_tile(kernel: TargetKernel, a: Rows, b: Rows, fixed: FixedMatrix) -> FloatArray:
    """L of a tile, its diagonal zeroed where the estimator wants that."""
    L = kernel.tile(Block(a.start, a.y, a.y), Block(b.start, b.y, b.y))
    if a.start == b.start and not fixed.with_diagonal:
        np.fill_diagonal(L, 0.0)
    return L


def _tile_row_sums(kernel: TargetKernel, fixed: FixedMatrix, a: Rows, b: Rows) -> RowSums:
    L = kernel_tile(kernel, a, b, fixed)
    if a.start == b.start:
        return RowSums({a.start: L.sum(axis=1)})
    return RowSums({a.start: L.sum(axis=1), b.start: L.sum(axis=0)})


def _stored_tile(target: ComputedTarget, a: Rows, b: Rows) -> StoredTarget:
    return StoredTarget({(a.start, b.start): target.tile(a, b)})


@dataclass(frozen=True)
class Counts:
    """Rows of each class, per output."""

    outputs: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.outputs, other.outputs, strict=True)))


def _count_classes(n_classes: tuple[int, ...], block: Block) -> Counts:
    return Counts(tuple(one_hot(block.y[:, o], n).sum(axis=0) for o, n in enumerate(n_classes)))


def fit_target_kernel(
    engine: Engine, kind: Any, bandwidth: float | str, seed: int = 0
) -> TargetKernel:
    """The target kernel asked for, with the class counts or the median that it needs."""
    target = engine.target
    counts: tuple[FloatArray, ...] = ()
    if target.is_classification:
        counts = engine.reduce_rows(partial(_count_classes, target.class_counts)).outputs
    _, sample = engine.take(median_rows(engine.n_samples, seed), NO_COLUMNS)
    return target_kernel(kind, target, counts, sample, bandwidth)


def fit_target_tiles(
    engine: Engine, pairs: RowPairs, kernel: TargetKernel, fixed: FixedMatrix, dtype: Any
) -> TargetTiles:
    """One pass for the row sums of L, and one to store M where that takes little memory."""
    sums: RowSums = pairs.reduce(partial(_tile_row_sums, kernel, fixed), NO_COLUMNS)
    computed = ComputedTarget(kernel, fixed, sums.joined(), pairs.rows_together, dtype)
    n_numbers = pairs.n_groups * pairs.rows_together**2
    small = 8 * n_numbers * CACHED_SHARE <= engine.memory_limit
    if not (small and pairs.local):
        return computed
    stored: StoredTarget = pairs.reduce(partial(_stored_tile, computed), NO_COLUMNS)
    return stored


@dataclass(frozen=True)
class SetPass:
    """Σ K_ab M_ab of a base set with (sign 1) or without (sign −1) each candidate."""

    base: UnitColumns
    candidates: UnitColumns
    sign: int
    kernel: KernelFunction
    rates: FloatArray
    target: TargetTiles
    dtype: Any = np.float64

    @property
    def columns(self) -> IntArray:
        return np.concatenate([self.base.columns, self.candidates.columns])

    def over(self, pairs: RowPairs) -> FloatArray:
        sums: Sums = pairs.reduce(self, self.columns)
        return sums.parts[0]

    def __call__(self, a: Rows, b: Rows) -> Sums:
        A, B = self._cast(a.X), self._cast(b.X)
        cut, triangle = self.base.n_columns, a.start == b.start
        number, kernel, units = self.dtype, self.kernel, self.candidates
        ones = np.ones(cut, dtype=self.dtype)
        base = sum_contributions(A[:cut], B[:cut], ones, self.base.is_code, kernel.form, triangle)
        sums = candidate_sums(
            A[cut:], B[cut:], units.starts, units.is_code, kernel.form, base, number(self.sign),
            self.rates.astype(number), self.target.tile(a, b), number(kernel.offset),
            kernel.degree, triangle,
        )  # fmt: skip
        return Sums((sums,))

    def _cast(self, X: FloatArray) -> FloatArray:
        return X if X.dtype == self.dtype else X.astype(self.dtype)


@dataclass(frozen=True)
class WeightGradientPass:
    """Σ K_ab M_ab for weighted columns, and its derivatives by the scale of each unit."""

    units: UnitColumns
    scale: FloatArray
    kernel: KernelFunction
    rate: float
    target: TargetTiles

    def over(self, pairs: RowPairs) -> tuple[float, FloatArray]:
        sums: Sums = pairs.reduce(self, self.units.columns)
        return float(sums.parts[0]), sums.parts[1]

    def __call__(self, a: Rows, b: Rows) -> Sums:
        units, form, triangle = self.units, self.kernel.form, a.start == b.start
        total = sum_contributions(a.X, b.X, self.scale, units.is_code, form, triangle)
        slopes = self.kernel.slopes(total, self.rate, self.target.tile(a, b))
        if form == ABSOLUTE or units.is_code.any():
            by_unit = contribution_sums(
                a.X, b.X, units.starts, units.is_code, form, slopes.P, triangle
            )
        else:
            by_unit = np.add.reduceat(_product_sums(a.X, b.X, slopes, form), units.starts[:-1])
        return Sums((np.asarray(slopes.value), slopes.factor * by_unit))


def _product_sums(A: FloatArray, B: FloatArray, slopes: Slopes, form: int) -> FloatArray:
    """Σ_ij P_ij x_i x_j of each column, or Σ_ij P_ij (x_i − x_j)², by matrix products."""
    products: FloatArray = np.einsum("ij,ij->i", A @ slopes.P, B)
    if form == PRODUCT:
        return products
    return (A * A) @ slopes.by_row + (B * B) @ slopes.by_column - 2.0 * products


def function_pass(
    function: Callable[[Array, Array], Array], target: TargetTiles, a: Rows, b: Rows
) -> Sums:
    """Σ K_ab M_ab with a user's kernel function."""
    K = np.asarray(function(a.X.T, b.X.T), dtype=np.float64)
    if K.shape != (a.n_rows, b.n_rows):
        raise ValueError(
            f"the kernel function returned shape {K.shape} for {a.n_rows} and {b.n_rows} rows; "
            "return one value for each pair of rows."
        )
    return Sums((np.asarray(np.vdot(K, target.tile(a, b))),))
