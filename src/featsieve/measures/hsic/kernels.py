"""Kernel functions on the data, and the columns of the units that they act on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.compiled.hsic_tiles import (
    ABSOLUTE,
    PRODUCT,
    SQUARED,
    apply_link,
    sum_contributions,
    weighted_exponential,
)
from featsieve.errors import InputError
from featsieve.input.parameters import brief
from featsieve.schema import Schema

DELTA_RATE = 1e4  # exp(−rate) is the smallest number there is: one mismatch, and nothing is left


@dataclass(frozen=True)
class UnitColumns:
    """The columns of some units: unit u has ``columns[starts[u]:starts[u + 1]]``."""

    columns: IntArray
    starts: IntArray
    is_code: Array

    @property
    def n_columns(self) -> int:
        return len(self.columns)

    @property
    def n_units(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.starts)

    def part(self, start: int, stop: int) -> UnitColumns:
        """Units start … stop only."""
        first, last = self.starts[start], self.starts[stop]
        starts = self.starts[start : stop + 1] - first
        return UnitColumns(self.columns[first:last], starts, self.is_code[first:last])


def unit_columns(schema: Schema, units: Sequence[int] | IntArray) -> UnitColumns:
    """
    >>> unit_columns(Schema(("a", "b", "c"), groups=((0, 2), (1,))), [1, 0]).columns.tolist()
    [1, 0, 2]
    """
    sizes = [len(schema.columns_of(int(unit))) for unit in units]
    columns = schema.columns_of_units(units)
    codes = np.array([int(c) in schema.categories for c in columns], dtype=np.bool_)
    return UnitColumns(columns, np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp), codes)


def no_columns(n_units: int) -> UnitColumns:
    """``n_units`` units without any column."""
    nothing = np.empty(0, dtype=np.intp)
    return UnitColumns(nothing, np.zeros(n_units + 1, dtype=np.intp), nothing.astype(np.bool_))


@dataclass(frozen=True)
class Slopes:
    """What a gradient is made of: Σ K ∘ M, and ``factor`` · P with P's row and column sums."""

    value: float
    P: FloatArray
    by_row: FloatArray
    by_column: FloatArray
    factor: float


@dataclass(frozen=True)
class KernelFunction:
    """k = link(Σ contributions): what a column adds, and what is made of the sum.

    ``degree`` 0 is the exponential link exp(−rate·t), else (rate·t + offset)**degree.
    ``by_equality``: every column is compared as a category, and one mismatch makes the kernel 0.
    """

    form: int
    degree: int
    offset: float = 0.0
    by_equality: bool = False

    @property
    def has_bandwidth(self) -> bool:
        """Distances are measured in units of a bandwidth."""
        return self.degree == 0 and not self.by_equality

    def columns_of(self, schema: Schema, units: Sequence[int] | IntArray) -> UnitColumns:
        """The columns of some units, marked as this kernel compares them."""
        columns = unit_columns(schema, units)
        if not self.by_equality:
            return columns
        return replace(columns, is_code=np.ones(columns.n_columns, dtype=np.bool_))

    def rate(self, bandwidth: FloatArray | float) -> FloatArray:
        """What multiplies the sum of contributions: 1/(2σ²) for Gauss, 1/σ for Laplace."""
        sigma = np.asarray(bandwidth, dtype=np.float64)
        if self.by_equality:
            return np.full_like(sigma, DELTA_RATE)
        if self.form == SQUARED:
            return np.asarray(1.0 / (2.0 * sigma**2))
        return np.asarray(1.0 / sigma) if self.form == ABSOLUTE else np.asarray(1.0 / sigma**2)

    def width_of_rate(self, rate: FloatArray) -> FloatArray:
        """The bandwidth that gives this rate."""
        return np.sqrt(1.0 / (2.0 * rate)) if self.form == SQUARED else 1.0 / rate

    def distance(self, total: FloatArray) -> FloatArray:
        """The distance that a bandwidth is compared with."""
        return np.sqrt(total) if self.form == SQUARED else total

    def scale(self, weights: FloatArray) -> FloatArray:
        """What a column weight w does to the contribution of w·x."""
        return weights if self.form == ABSOLUTE else weights**2

    def scale_slope(self, weights: FloatArray) -> FloatArray:
        """Derivative of :meth:`scale`."""
        return np.ones_like(weights) if self.form == ABSOLUTE else 2.0 * weights

    def values(self, total: FloatArray, rate: float) -> FloatArray:
        """Kernel values; ``total`` is overwritten."""
        apply_link(total, total.dtype.type(rate), total.dtype.type(self.offset), self.degree)
        return total

    def slopes(self, total: FloatArray, rate: float, M: FloatArray) -> Slopes:
        """Σ K ∘ M, and M times the derivatives of K by ``total``, which is overwritten."""
        if self.degree == 0:  # the derivative is −rate·K: one matrix serves for both
            by_row, by_column = weighted_exponential(total, rate, M)
            return Slopes(float(by_row.sum()), total, by_row, by_column, -rate)
        P = self.degree * M
        if self.degree > 1:
            P *= replace(self, degree=self.degree - 1).values(total.copy(), rate)
        value = float(np.vdot(self.values(total, rate), M))
        return Slopes(value, P, P.sum(axis=1), P.sum(axis=0), rate)

    def units_with_slope(self, weights: FloatArray) -> IntArray:
        """Where :meth:`scale_slope` is not zero: only there a weight can move the criterion."""
        return np.flatnonzero(self.scale_slope(weights))

    @property
    def has_slope(self) -> bool:
        """It changes little by little when a column is weighted."""
        return not self.by_equality

    @property
    def is_smooth(self) -> bool:
        return self.has_slope and self.form != ABSOLUTE

    def gram(self, A: Array, B: Array, bandwidth: float) -> FloatArray:
        """The kernel between the rows of two numeric arrays."""
        left, right = column_major(A), column_major(B)
        ones, codes = np.ones(len(left)), np.full(len(left), self.by_equality)
        total = sum_contributions(left, right, ones, codes, self.form, False)
        return self.values(total, float(self.rate(bandwidth)))


def column_major(X: Array) -> FloatArray:
    """One contiguous row for each column of ``X``, as the tile kernels read it."""
    return np.ascontiguousarray(np.asarray(X, dtype=np.float64).T)


KERNELS = {
    "rbf": KernelFunction(SQUARED, 0),
    "laplace": KernelFunction(ABSOLUTE, 0),
    "linear": KernelFunction(PRODUCT, 1),
    "poly": KernelFunction(PRODUCT, 3, offset=1.0),
    "delta": KernelFunction(SQUARED, 0, by_equality=True),
}


def kernel_function(name: Any) -> KernelFunction:
    """The kernel function of that name.

    >>> kernel_function("rbf").gram(np.array([[0.0]]), np.array([[1.0]]), bandwidth=1.0).round(4)
    array([[0.6065]])
    """
    if isinstance(name, str) and name in KERNELS:
        return KERNELS[name]
    allowed = ", ".join(map(repr, KERNELS))
    raise InputError(
        f"kernel must be one of {allowed} or a function of two 2-D arrays, got {brief(name)}."
    )
