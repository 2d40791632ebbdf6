"""Widths of kernels: the median rule, 1/(2d) for d columns, or a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.compiled.hsic_tiles import ABSOLUTE
from featsieve.compiled.medians import (
    clear_dust,
    kth_difference,
    kth_value,
    next_value,
    pair_contributions,
)
from featsieve.engines.base import median_sample_size
from featsieve.errors import InputError
from featsieve.input.parameters import brief
from featsieve.measures.hsic.kernels import KernelFunction, UnitColumns, column_major, unit_columns
from featsieve.measures.hsic.tiles import gather_rows
from featsieve.protocols import Engine
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.progress import Monitor
from featsieve.schema import Schema

CONSTANT_BANDWIDTH = 1.0
UNITS_A_TICK = 64  # a median takes about a millisecond


def median_rows(n_samples: int, seed: int = 0, n_columns: int = 1) -> IntArray | None:
    """Rows on which medians are taken; None for all of them."""
    size = median_sample_size(n_samples, n_columns)
    if size == n_samples:
        return None
    chosen = np.random.default_rng(seed).choice(n_samples, size, replace=False)
    return np.sort(chosen).astype(np.intp)


def middle_ranks(n_pairs: int, n_zero: int) -> tuple[int, int]:
    """The two (equal if odd) middle ranks, of the positive values when the median is zero."""
    low, high = (n_pairs - 1) // 2, n_pairs // 2
    if high >= n_zero:
        return low, high
    n_positive = n_pairs - n_zero
    return n_zero + (n_positive - 1) // 2, n_zero + n_positive // 2


def median_of_sums(total: FloatArray, kernel: KernelFunction) -> float:
    """The median distance, from the summed contributions of all pairs (cleared of dust)."""
    clear_dust(total)
    n_zero = int(np.count_nonzero(total == 0.0))
    if n_zero == total.size:
        return CONSTANT_BANDWIDTH
    low, high = middle_ranks(total.size, n_zero)
    first = kth_value(total, low)
    second = first if high == low else next_value(total, first, high)
    return float(kernel.distance(np.array([first, second])).mean())


def median_of_column(column: Array) -> float:
    """The median of |x_i − x_j| over pairs i < j, exact, in O(n log n).

    >>> median_of_column(np.array([0.0, 1.0, 3.0]))
    2.0
    """
    ordered = np.sort(np.asarray(column, dtype=np.float64))
    n = len(ordered)
    run_lengths = np.diff(np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1], True]))
    n_pairs, n_zero = n * (n - 1) // 2, int((run_lengths * (run_lengths - 1) // 2).sum())
    if n_zero == n_pairs:
        return CONSTANT_BANDWIDTH
    low, high = middle_ranks(n_pairs, n_zero)
    return float((kth_difference(ordered, low) + kth_difference(ordered, high)) / 2)


def median_kernel_distance(X: Array, kernel: KernelFunction) -> float:
    """The median distance between the rows of a numeric array."""
    if X.shape[1] == 1:
        return median_of_column(X[:, 0])
    columns = column_major(X)
    ones, codes = np.ones(len(columns)), np.zeros(len(columns), dtype=np.bool_)
    return median_of_sums(pair_contributions(columns, ones, codes, kernel.form), kernel)


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
        return median_of_sums(self._sums(units), self.kernel)

    def of_changes(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        if not len(subset):
            return self._map(lambda unit: self.of_set([unit]), candidates)
        base = self._sums(unit_columns(self.schema, subset))

        def changed(unit: int) -> float:
            total = self._sums(unit_columns(self.schema, [unit]))
            total *= sign
            total += base
            return median_of_sums(total, self.kernel)

        return self._map(changed, candidates)

    def of_weights(self, scale: FloatArray) -> float:
        used = np.flatnonzero(scale)
        codes = np.array([int(c) in self.schema.categories for c in used], dtype=np.bool_)
        sums = pair_contributions(self.sample[used], scale[used], codes, self.kernel.form)
        return median_of_sums(sums, self.kernel)

    def of_projection(self, W: FloatArray) -> float:
        Z = np.ascontiguousarray(W.T @ self.sample)
        codes = np.zeros(len(Z), dtype=np.bool_)
        sums = pair_contributions(Z, np.ones(len(Z)), codes, self.kernel.form)
        return median_of_sums(sums, self.kernel)

    def _sums(self, units: UnitColumns) -> FloatArray:
        ones = np.ones(units.n_columns)
        return pair_contributions(self.sample[units.columns], ones, units.is_code, self.kernel.form)

    def _map(self, fn: Callable[[int], float], units: Sequence[int]) -> FloatArray:
        widths = np.empty(len(units))
        medians = ordered_map(fn, units, self.n_jobs if len(units) > 1 else 1)
        for done, width in enumerate(medians, start=1):
            widths[done - 1] = width
            if done % UNITS_A_TICK == 0:
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
    numeric = isinstance(bandwidth, int | float | np.number) and not isinstance(bandwidth, bool)
    if numeric and 0 < bandwidth < np.inf:
        return float(bandwidth)
    raise refused_bandwidth(bandwidth, name)


def refused_bandwidth(bandwidth: Any, name: str = "bandwidth") -> InputError:
    words = "'median', 'dimension', 'optimize'" if name == "bandwidth" else "'median'"
    return InputError(f"{name} must be {words} or a positive number, got {brief(bandwidth)}.")
