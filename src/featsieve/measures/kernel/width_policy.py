"""How wide the data kernel is for a set of units: the policies of step 3 in P-HSIC Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from featsieve.kernels.hsic_tiles import SQUARED
from featsieve.kernels.medians import pair_contributions
from featsieve.measures.kernel.bandwidth import (
    median_of_column,
    median_of_sums,
    median_rows,
)
from featsieve.measures.kernel.kernel_function import KernelFunction
from featsieve.measures.kernel.target_kernel import positive_bandwidth
from featsieve.measures.kernel.units import UnitColumns, unit_columns
from featsieve.pool import ordered_map
from featsieve.protocols import Engine
from featsieve.schema import Array, FloatArray, Schema


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
    """rate = 1/(2d) for d columns (P-HSIC section 3): σ = √d for Gauss, 2d for Laplace."""

    schema: Schema
    form: int

    def _width(self, n_columns: Array | int) -> FloatArray:
        d = np.maximum(n_columns, 1)
        return np.sqrt(d) if self.form == SQUARED else 2.0 * d

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
            own = self._sums(unit_columns(self.schema, [unit]))
            own *= sign
            own += base
            return median_of_sums(own, self.kernel)

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
        return np.array(list(ordered_map(fn, units, self.n_jobs if len(units) > 1 else 1)))


def width_policy(
    bandwidth: float | str, kernel: KernelFunction, engine: Engine, seed: int
) -> WidthPolicy:
    """The policy that a ``bandwidth`` parameter asks for (``"optimize"`` starts from medians)."""
    if not kernel.has_bandwidth:
        return _product_policy(bandwidth, kernel, engine)
    if bandwidth == "dimension":
        return DimensionWidth(engine.schema, kernel.form)
    if bandwidth in ("median", "optimize"):
        X, _ = engine.take(median_rows(engine.n_samples, seed, engine.n_features))
        sample = np.ascontiguousarray(X.T, dtype=np.float64)
        return MedianWidth(engine.schema, kernel, sample, engine.n_jobs)
    return FixedWidth(positive_bandwidth(bandwidth))


def _product_policy(bandwidth: float | str, kernel: KernelFunction, engine: Engine) -> WidthPolicy:
    """Kernels of inner products: ⟨x, x'⟩ itself when linear, ⟨x, x'⟩/d or /σ² in a power."""
    if kernel.degree == 1:
        return FixedWidth(1.0)
    if isinstance(bandwidth, str):
        return DimensionWidth(engine.schema, SQUARED)
    return FixedWidth(positive_bandwidth(bandwidth))
