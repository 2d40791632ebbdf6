"""What one pass over pairs of rows sums: sets of units, gradients for weights and for W.

Each pass is a frozen object that maps a tile to :class:`Sums`, so that it can travel to the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.kernels.hsic_tiles import (
    ABSOLUTE,
    PRODUCT,
    candidate_sums,
    contribution_sums,
    sum_contributions,
)
from featsieve.measures.kernel.kernel_function import KernelFunction, Slopes
from featsieve.measures.kernel.target_side import TargetTiles
from featsieve.measures.kernel.tiles import RowPairs, Rows, Sums
from featsieve.measures.kernel.units import UnitColumns
from featsieve.schema import Array, FloatArray, IntArray


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


@dataclass(frozen=True)
class MatrixGradientPass:
    """Σ K_ab M_ab of XW, and its gradient by W (P-L1INF eq. 8)."""

    W: FloatArray
    kernel: KernelFunction
    rate: float
    target: TargetTiles

    def over(self, pairs: RowPairs) -> tuple[float, FloatArray]:
        columns: IntArray = np.arange(len(self.W), dtype=np.intp)
        sums: Sums = pairs.reduce(self, columns)
        return float(sums.parts[0]), sums.parts[1]

    def __call__(self, a: Rows, b: Rows) -> Sums:
        Za, Zb = np.ascontiguousarray(self.W.T @ a.X), np.ascontiguousarray(self.W.T @ b.X)
        ones, codes = np.ones(len(Za)), np.zeros(len(Za), dtype=np.bool_)
        total = sum_contributions(Za, Zb, ones, codes, self.kernel.form, a.start == b.start)
        slopes = self.kernel.slopes(total, self.rate, self.target.tile(a, b))
        gradient = a.X @ (slopes.P @ Zb.T) + b.X @ (slopes.P.T @ Za.T)
        if self.kernel.has_bandwidth:  # of squared distances: 2 (x_a − x_b)(z_a − z_b)'
            own = a.X @ (slopes.by_row[:, None] * Za.T) + b.X @ (slopes.by_column[:, None] * Zb.T)
            gradient = 2.0 * (own - gradient)
        return Sums((np.asarray(slopes.value), slopes.factor * gradient))


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
