"""HSIC Lasso (Yamada et al. 2014): a non-negative Lasso of centred Gram matrices.

min ½‖L̄ − Σ β_u K̄_u‖² + λ Σ β_u, β ≥ 0, where K̄_u is the centred Gram matrix of one unit, scaled to
norm 1. No Gram matrix is stored: ⟨K̄_u, K̄_v⟩ for all u is one pass of tile sums with M = K̄_v, and
the LAR path needs that only for the units v that enter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.compiled.hsic_tiles import sum_contributions, unit_row_sums
from featsieve.linalg.nonnegative_lar import LarPoint, nonnegative_lar
from featsieve.measures.hsic.bandwidth import width_policy
from featsieve.measures.hsic.estimates import FixedMatrix, centring
from featsieve.measures.hsic.kernels import (
    KernelFunction,
    UnitColumns,
    kernel_function,
    no_columns,
    unit_columns,
)
from featsieve.measures.hsic.passes import (
    NO_COLUMNS,
    RowSums,
    SetPass,
    TargetTiles,
    doubled,
    fit_target_kernel,
    fit_target_tiles,
)
from featsieve.measures.hsic.tiles import RowPairs, Rows, row_pairs
from featsieve.protocols import Engine
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first

_CONSTANT = 1e-12  # relative squared norm below which a centred Gram matrix is zero


@dataclass(frozen=True)
class GramMoments:
    """Row sums of every unit's Gram matrix, and its sum of squares."""

    rows: RowSums
    squares: FloatArray

    def merge(self, other: Self) -> Self:
        return type(self)(self.rows.merge(other.rows), self.squares + other.squares)


def gram_moments(
    units: UnitColumns, kernel: KernelFunction, rates: FloatArray, a: Rows, b: Rows
) -> GramMoments:
    same = a.start == b.start
    by_row, by_column, squares = unit_row_sums(
        a.X, b.X, units.starts, units.is_code, kernel.form, rates, same
    )
    rows = {a.start: by_row} if same else {a.start: by_row, b.start: by_column}
    return GramMoments(RowSums(rows), squares)


@dataclass(frozen=True)
class UnitAsTarget:
    """The centred Gram matrix of one unit in the place of M."""

    columns: slice
    is_code: FloatArray
    kernel: KernelFunction
    rate: float
    row_sums: FloatArray
    fixed: FixedMatrix

    def tile(self, a: Rows, b: Rows) -> FloatArray:
        A, B = a.X[self.columns], b.X[self.columns]
        total = sum_contributions(A, B, np.ones(len(A)), self.is_code, self.kernel.form, False)
        left = self.row_sums[a.start : a.start + a.n_rows]
        right = self.row_sums[b.start : b.start + b.n_rows]
        K = self.kernel.values(total, self.rate)
        M = self.fixed.tile(K, left, right, float(self.row_sums.sum()))
        return doubled(M, a.start == b.start, with_diagonal=True)


class CentredGrams:
    """Inner products of the units' normalised centred Gram matrices, a column at a time."""

    def __init__(
        self, pairs: RowPairs, units: UnitColumns, kernel: KernelFunction, rates: FloatArray, n: int
    ) -> None:
        self._pairs, self._units, self._kernel, self._rates = pairs, units, kernel, rates
        self._fixed = centring(n)
        moments: GramMoments = pairs.reduce(
            partial(gram_moments, units, kernel, rates), units.columns
        )
        self._row_sums = moments.rows.joined()
        squared = moments.squares - 2.0 / n * (self._row_sums**2).sum(axis=1)
        squared += (self._row_sums.sum(axis=1) / n) ** 2
        self._norms = np.sqrt(np.where(squared > _CONSTANT * moments.squares, squared, np.inf))

    def products(self, target: TargetTiles) -> FloatArray:
        """⟨K̄_u, M⟩ for all units."""
        summed = SetPass(no_columns(0), self._units, 1, self._kernel, self._rates, target)
        return summed.over(self._pairs) / self._norms

    def column(self, unit: int) -> FloatArray:
        """⟨K̄_u, K̄_unit⟩ for all units."""
        at = slice(self._units.starts[unit], self._units.starts[unit + 1])
        target = UnitAsTarget(
            at,
            self._units.is_code[at],
            self._kernel,
            float(self._rates[unit]),
            self._row_sums[unit],
            self._fixed,
        )
        return self.products(target) / self._norms[unit]


@dataclass(frozen=True)
class HSICLassoPath:
    """The procedure: LAR until k units are active."""

    kernel: str = "rbf"
    target_kernel: Any = "auto"
    bandwidth: float | str = 1.0
    target_bandwidth: float | str = 1.0
    seed: int = 0

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The best so far after each unit that enters or leaves."""
        assert k is not None  # only a procedure that counts by itself gets None
        schema, n = engine.schema, engine.n_samples
        pairs = row_pairs(engine)
        kernel = kernel_function(self.kernel)
        everything = range(schema.n_units)
        widths = width_policy(self.bandwidth, kernel, engine, self.seed)
        rates = kernel.rate(widths.of_changes([], everything, 1))
        grams = CentredGrams(pairs, unit_columns(schema, everything), kernel, rates, n)
        correlation = grams.products(self._target(engine, pairs))
        yield _answer(LarPoint((), np.zeros(schema.n_units), np.inf), correlation, [])
        points: list[LarPoint] = []
        for point in nonnegative_lar(correlation, grams.column, k):
            points.append(point)
            yield _answer(point, correlation, points)

    def _target(self, engine: Engine, pairs: RowPairs) -> TargetTiles:
        kind = "balanced_delta_or_rbf" if self.target_kernel == "auto" else self.target_kernel
        kernel = fit_target_kernel(engine, kind, self._target_width(engine), self.seed)
        return fit_target_tiles(engine, pairs, kernel, centring(engine.n_samples), np.float64)

    def _target_width(self, engine: Engine) -> float | str:
        """A number is in units of the target's own deviation."""
        if isinstance(self.target_bandwidth, str) or engine.target.is_classification:
            return self.target_bandwidth
        _, y = engine.take(columns=NO_COLUMNS)
        return self.target_bandwidth * float(np.sqrt(y.var(axis=0).mean()))


def _answer(point: LarPoint, relevance: FloatArray, points: list[LarPoint]) -> SelectionResult:
    order = best_first(point.coefficients)
    return SelectionResult(
        order[: len(point.active)],
        point.coefficients,
        path=tuple(p.active for p in points),
        trace=tuple(p.penalty for p in points),
        extras={
            "relevance": relevance,
            "alphas": np.array([p.penalty for p in points]),
            "coef_path": np.array([p.coefficients for p in points]),
        },
    )
