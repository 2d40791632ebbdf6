"""Kernel functions on the data, the columns of the units that they act on, and their widths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

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
from featsieve.input.parameters import is_real, not_allowed
from featsieve.measures.hsic.medians import (
    median_of_column,
    median_of_sums,
    median_rows,
    pair_contributions,
)
from featsieve.measures.hsic.tiles import gather_rows
from featsieve.protocols import Engine
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.progress import Monitor
from featsieve.schema import Schema

LARGEST_RATE = float(np.finfo(np.float64).max) / 4  # times a distance of 0 it is 0 still
UNITS_PER_TICK = 64  # a median takes about a millisecond
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

    def place(self, unit: int) -> slice:
        """Where a unit's columns are among all."""
        return slice(self.starts[unit], self.starts[unit + 1])

    def take(self, units: Sequence[int]) -> UnitColumns:
        """These units only, in this order."""
        at = np.concatenate([np.arange(len(self.columns))[self.place(unit)] for unit in units])
        starts = np.concatenate([[0], np.cumsum(self.sizes[list(units)])]).astype(np.intp)
        return UnitColumns(self.columns[at], starts, self.is_code[at])


def unit_columns(schema: Schema, units: Sequence[int] | IntArray) -> UnitColumns:
    """
    >>> unit_columns(Schema(("a", "b", "c"), groups=((0, 2), (1,))), [1, 0]).columns.tolist()
    [1, 0, 2]
    """
    if schema.groups is None:
        columns, sizes = np.array(units, dtype=np.intp), [1] * len(units)
    else:
        columns = schema.columns_of_units(units)
        sizes = [len(schema.groups[unit]) for unit in units]
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
        with np.errstate(over="ignore", under="ignore", divide="ignore"):
            if self.form == SQUARED:
                rate = 1.0 / (2.0 * sigma**2)
            else:
                rate = 1.0 / sigma if self.form == ABSOLUTE else 1.0 / sigma**2
        return np.asarray(np.minimum(rate, LARGEST_RATE))

    def width_of_rate(self, rate: FloatArray) -> FloatArray:
        """The bandwidth that gives this rate."""
        return np.sqrt(1.0 / (2.0 * rate)) if self.form == SQUARED else 1.0 / rate

    def scale(self, weights: FloatArray) -> FloatArray:
        """What a column weight w does to the contribution of w·x."""
        return weights if self.form == ABSOLUTE else weights**2

    def scale_slope(self, weights: FloatArray) -> FloatArray:
        """Derivative of :meth:`scale`."""
        return np.ones_like(weights) if self.form == ABSOLUTE else 2.0 * weights

    def values(self, total: FloatArray, rate: float) -> FloatArray:
        """Kernel values; ``total`` is overwritten."""
        apply_link(
            total, total.dtype.type(rate), total.dtype.type(self.offset), self.degree or None
        )
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
    raise not_allowed("kernel", name, f"{allowed} or a function of two 2-D arrays")


def median_kernel_distance(
    X: Array, kernel: KernelFunction, monitor: Monitor | None = None
) -> float:
    """The median distance between the rows of a numeric array."""
    if X.shape[1] == 1:
        return median_of_column(X[:, 0])
    columns = column_major(X)
    ones, codes = np.ones(len(columns)), np.zeros(len(columns), dtype=np.bool_)
    sums = pair_contributions(columns, ones, codes, kernel.form, monitor)
    return median_of_sums(sums, kernel.form)


# --- widths: the median rule, 1/(2d) for d columns, or a number ----------------------------------


class WidthPolicy(Protocol):
    """Bandwidths for sets of units."""

    def of_set(self, subset: Sequence[int]) -> float:
        """Of all the units together."""
        ...

    def of_changes(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        """Of ``subset`` with (sign 1) or without (sign −1) each candidate."""
        ...

    def of_weights(self, scale: FloatArray) -> float:
        """Of all columns, their contributions scaled."""
        ...

    def of_projection(self, W: FloatArray) -> float:
        """Of XW."""
        ...


@dataclass(frozen=True)
class FixedWidth:
    """One number for everything."""

    bandwidth: float

    def of_set(self, subset: Sequence[int]) -> float:
        return self.bandwidth

    def of_changes(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        return np.full(len(candidates), self.bandwidth)

    def of_weights(self, scale: FloatArray) -> float:
        return self.bandwidth

    def of_projection(self, W: FloatArray) -> float:
        return self.bandwidth


@dataclass(frozen=True)
class DimensionWidth:
    """rate = 1/(2d) for d columns (P-HSIC section 3): σ = √d, for Laplace 2d."""

    schema: Schema
    form: int

    def _width(self, n_columns: Array | int) -> FloatArray:
        d = np.maximum(n_columns, 1)
        return 2.0 * d if self.form == ABSOLUTE else np.sqrt(d)

    def of_set(self, subset: Sequence[int]) -> float:
        return float(self._width(unit_columns(self.schema, subset).n_columns))

    def of_changes(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        sizes = unit_columns(self.schema, candidates).sizes
        return self._width(unit_columns(self.schema, subset).n_columns + sign * sizes)

    def of_weights(self, scale: FloatArray) -> float:
        return float(self._width(int(np.count_nonzero(scale))))

    def of_projection(self, W: FloatArray) -> float:
        return float(self._width(W.shape[1]))


@dataclass(frozen=True)
class MedianWidth:
    """The median distance of exactly the columns that are used, on the rows of a sample."""

    schema: Schema
    kernel: KernelFunction
    sample: FloatArray  # column by column
    n_jobs: int
    monitor: Monitor

    def of_set(self, subset: Sequence[int]) -> float:
        units = unit_columns(self.schema, subset)
        if units.n_columns == 1 and not units.is_code[0]:
            return median_of_column(self.sample[units.columns[0]])
        return self._median(self._sums_of_units(units))

    def of_changes(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        if not len(subset):
            return self._map(lambda unit: self.of_set([unit]), candidates)
        base = self._sums_of_units(unit_columns(self.schema, subset))

        def changed(unit: int) -> float:
            total = self._sums_of_units(unit_columns(self.schema, [unit]))
            total *= sign
            total += base
            return self._median(total)

        return self._map(changed, candidates)

    def of_weights(self, scale: FloatArray) -> float:
        used = np.flatnonzero(scale)
        codes = np.array([int(c) in self.schema.categories for c in used], dtype=np.bool_)
        return self._median(self._sums(used, scale[used], codes))

    def of_projection(self, W: FloatArray) -> float:
        Z = np.ascontiguousarray(W.T @ self.sample)
        codes = np.zeros(len(Z), dtype=np.bool_)
        return self._median(pair_contributions(Z, np.ones(len(Z)), codes, self.kernel.form))

    def _median(self, sums: FloatArray) -> float:
        return median_of_sums(sums, self.kernel.form)

    def _sums_of_units(self, units: UnitColumns) -> FloatArray:
        return self._sums(units.columns, np.ones(units.n_columns), units.is_code)

    def _sums(self, columns: IntArray, scale: FloatArray, is_code: Array) -> FloatArray:
        sample = self.sample[columns]
        return pair_contributions(sample, scale, is_code, self.kernel.form, self.monitor)

    def _map(self, fn: Callable[[int], float], units: Sequence[int]) -> FloatArray:
        widths = np.empty(len(units))
        medians = ordered_map(fn, units, self.n_jobs if len(units) > 1 else 1)
        for done, width in enumerate(medians, start=1):
            widths[done - 1] = width
            if done % UNITS_PER_TICK == 0:
                self.monitor.tick("taking medians", done, len(units))
        return widths


def width_policy(
    bandwidth: float | str, kernel: KernelFunction, engine: Engine, seed: int
) -> WidthPolicy:
    """The policy that a ``bandwidth`` parameter asks for (``"optimize"`` starts from medians)."""
    if not isinstance(bandwidth, str):
        return _fixed_width(positive_bandwidth(bandwidth), kernel)
    if bandwidth not in ("median", "dimension", "optimize"):
        raise refused_bandwidth(bandwidth)
    if kernel.by_equality or kernel.degree == 1:
        return FixedWidth(1.0)
    if bandwidth == "dimension" or not kernel.has_bandwidth:
        return DimensionWidth(engine.schema, kernel.form)
    sample = gather_rows(engine, median_rows(engine.n_samples, seed, engine.n_features)).X
    return MedianWidth(engine.schema, kernel, sample, engine.n_jobs, engine.monitor)


def _fixed_width(bandwidth: float, kernel: KernelFunction) -> FixedWidth:
    """The linear kernel is ⟨x, x'⟩ itself; in a power it is ⟨x, x'⟩/σ²."""
    return FixedWidth(1.0 if kernel.degree == 1 else bandwidth)


def positive_bandwidth(bandwidth: Any, name: str = "bandwidth") -> float:
    """A finite number above 0, or one sentence that says what is allowed."""
    if is_real(bandwidth) and 0 < bandwidth < np.inf:
        return float(bandwidth)
    raise refused_bandwidth(bandwidth, name)


def refused_bandwidth(bandwidth: Any, name: str = "bandwidth") -> InputError:
    choices = "'median', 'dimension', 'optimize'" if name == "bandwidth" else "'median'"
    return not_allowed(name, bandwidth, f"{choices} or a number > 0")
