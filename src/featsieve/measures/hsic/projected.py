"""HSIC of XW and its gradient by W (P-L1INF section 5).

The rows are projected first, so that pairs of rows see q numbers and not d: the gradient is
X'R with R_a = Σ_b P_ab (z_a − z_b), summed over tiles on the projected rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.hsic_tiles import SQUARED, gaussian_slopes, sum_contributions
from featsieve.errors import InputError
from featsieve.measures.hsic.kernels import (
    FixedWidth,
    KernelFunction,
    MedianWidth,
    WidthPolicy,
    median_kernel_distance,
)
from featsieve.measures.hsic.medians import CONSTANT_BANDWIDTH
from featsieve.measures.hsic.passes import RowSums, SetChanges, SetPass, TargetTiles
from featsieve.measures.hsic.tiles import RowPairs, RowStrip, upper_tiles
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.products import watched_product
from featsieve.runtime.progress import SILENT, Monitor
from featsieve.schema import Schema
from featsieve.statistics.moments import Dummies, one_hot

_MOST_ROWS_FOR_START = 2000
_DUST = 1e-12  # what is left of a variance when it is taken away again
_DIFFERENT_STATES = np.sqrt(0.5)  # so that two rows in different states have distance 1


@dataclass(frozen=True)
class ProjectedSums:
    """Σ K ∘ M, and its derivatives by the projected rows, block by block."""

    value: float
    slopes: RowSums

    def merge(self, other: Self) -> Self:
        return type(self)(self.value + other.value, self.slopes.merge(other.slopes))


@dataclass(frozen=True)
class ProjectedPass:
    """Σ K ∘ M and its derivatives by the projected rows, for pairs of some rows and others."""

    kernel: KernelFunction
    rate: float
    target: TargetTiles

    def __call__(self, a: RowStrip, b: RowStrip) -> ProjectedSums:
        """Of a tile."""
        value, of_a, of_b = self.slopes(a.X, b.X, self.target.tile(a, b), a.start == b.start)
        if a.start == b.start:
            return ProjectedSums(value, RowSums({a.start: of_a + of_b}))
        return ProjectedSums(value, RowSums({a.start: of_a, b.start: of_b}))

    def slopes(
        self, a: FloatArray, b: FloatArray, M: FloatArray, triangle: bool
    ) -> tuple[float, FloatArray, FloatArray]:
        """The value, and its derivatives by the rows of both sides.

        ``triangle``: ``b`` begins with the rows of ``a``, and M is zero for pairs that come twice.
        """
        if self.kernel.form == SQUARED:
            value, of_a, of_b = gaussian_slopes(a, b, self.rate, M, triangle)
            return value, -2.0 * self.rate * of_a, -2.0 * self.rate * of_b
        ones, codes = np.ones(len(a)), np.zeros(len(a), dtype=np.bool_)
        total = sum_contributions(a, b, ones, codes, self.kernel.form, triangle)
        slopes = self.kernel.slopes(total, self.rate, M)
        return slopes.value, slopes.factor * (b @ slopes.P.T), slopes.factor * (a @ slopes.P)


class ProjectedHSIC:
    """The rows with categories as indicator columns, and what is asked about XW."""

    def __init__(
        self,
        pairs: RowPairs,
        schema: Schema,
        tiles: TargetTiles,
        kernel: KernelFunction,
        widths: WidthPolicy,
    ) -> None:
        if not kernel.is_smooth:
            raise InputError(
                "the gradient for a matrix needs an 'rbf', 'linear' or 'poly' kernel; choose one "
                "of them."
            )
        self._pairs = pairs.gathered()
        self._tiles, self._kernel = tiles, kernel
        self._widths = _expanded_widths(widths, schema)
        self._X = expanded_columns(self._pairs.rows.X, schema)

    @property
    def variances(self) -> FloatArray:
        """One per row of W."""
        return np.asarray(self._X.var(axis=1))

    def width(self, W: FloatArray) -> float:
        """The policy's width of XW."""
        return self._widths.of_projection(W)

    def value_and_gradient(self, W: FloatArray, rate: float) -> tuple[float, FloatArray]:
        projected = np.ascontiguousarray(W.T @ self._X)
        summed = ProjectedPass(self._kernel, rate, self._tiles)
        can_strip = self._pairs.local and self._pairs.can_strip(len(projected))
        value, slopes = (self._by_strips if can_strip else self._by_tiles)(projected, summed)
        return value, self._X @ slopes.T

    def _by_tiles(self, projected: FloatArray, summed: ProjectedPass) -> tuple[float, FloatArray]:
        """On the workers of a cluster, or where strips would take long."""
        everything: IntArray = np.arange(len(projected), dtype=np.intp)
        rows = replace(self._pairs.rows, X=projected)
        sums: ProjectedSums = replace(self._pairs, rows=rows).reduce(summed, everything)
        return sums.value, sums.slopes.joined()

    def _by_strips(self, projected: FloatArray, summed: ProjectedPass) -> tuple[float, FloatArray]:
        """By threads: tiles of a few columns are so quick that handing them over takes longer."""
        rows, strips = replace(self._pairs.rows, X=projected), self._pairs.strips()
        value, slopes = 0.0, np.zeros_like(projected)

        def of_strip(strip: tuple[slice, slice]) -> tuple[float, FloatArray, FloatArray]:
            a, b = map(rows.piece, strip)
            return summed.slopes(a.X, b.X, self._tiles.tile(a, b), True)

        parts = ordered_map(of_strip, strips, self._pairs.n_threads(len(projected)))
        for done, ((own, rest), part) in enumerate(zip(strips, parts, strict=True), start=1):
            value += part[0]
            slopes[:, own] += part[1]
            slopes[:, rest] += part[2]
            self._pairs.monitor.tick("reading pairs of rows", done, len(strips))
        return value, slopes

    def start(self, n_components: int) -> FloatArray | None:
        """The directions along which HSIC of all columns together rises fastest.

        For a metric A = WW' at A = I, the derivative of HSIC by A is a matrix; its leading
        eigenvectors show columns that matter only together, which no random W would.
        """
        if not self._can_start():
            return None
        monitor = self._pairs.monitor
        width = median_kernel_distance(self._X.T, self._kernel, monitor)
        P = np.exp(-float(self._kernel.rate(width)) * squared_distances(self._X, monitor))
        P *= self._fixed_matrix()
        P[np.diag_indices_from(P)] -= P.sum(axis=1)
        W = leading_eigenvectors(self._X, P, n_components, monitor)
        missing = max(n_components - W.shape[1], 0)
        noise = np.random.default_rng(0).standard_normal((len(W), missing))
        return np.concatenate([W, 0.1 / np.sqrt(len(W)) * noise], axis=1)

    def _can_start(self) -> bool:
        few = self._X.shape[1] <= _MOST_ROWS_FOR_START and self._pairs.n_groups == 1
        return few and self._kernel.form == SQUARED and self._kernel.has_bandwidth

    def _fixed_matrix(self) -> FloatArray:
        """M as a whole; tiles hold twice its value above the diagonal."""
        rows = replace(self._pairs.rows, X=self._X[:0])
        M = np.zeros((rows.n_rows, rows.n_rows))
        for a, b in upper_tiles(rows.strips(self._pairs.width)):
            self._pairs.monitor.check()
            M[a.start : a.start + a.n_rows, b.start : b.start + b.n_rows] = self._tiles.tile(a, b)
        return (M + M.T) / 2


class ProjectsRows:
    """What a bound HSIC answers about XW."""

    _rows: Any  # rows in pairs with the target's matrix
    _kernel: KernelFunction
    _widths: WidthPolicy
    useful_components = 2

    def _rate_at(self, weights: FloatArray) -> float:
        raise NotImplementedError("the bound measure keeps the width")

    @cached_property
    def _projected(self) -> ProjectedHSIC:
        rows = self._rows
        return ProjectedHSIC(rows.pairs, rows.schema, rows.target, self._kernel, self._widths)

    def column_sets(self) -> ColumnSetHSIC:
        """At the width that was given, else at one that follows the columns of each set."""
        if isinstance(self._widths, FixedWidth):
            return ColumnSetHSIC(self._rows, self._kernel, self._widths)
        spreads = np.zeros(self._rows.schema.n_units)
        np.add.at(spreads, self.unit_of_row, self._projected.variances)
        return ColumnSetHSIC(self._rows, self._kernel, SpreadWidth(spreads))

    @property
    def unit_of_row(self) -> IntArray:
        schema: Schema = self._rows.schema
        return schema.unit_of_column[Dummies(schema).owner]

    def start(self, n_components: int) -> FloatArray | None:
        return self._projected.start(n_components)

    def value_and_gradient_matrix(self, W: FloatArray) -> tuple[float, FloatArray]:
        W = np.asarray(W, dtype=np.float64)
        return self._projected.value_and_gradient(W, self._rate_at(W))


def squared_distances(X: FloatArray, monitor: Monitor = SILENT) -> FloatArray:
    """Between the rows of a table given column by column."""
    squares = np.einsum("ci,ci->i", X, X)
    products = watched_product(np.ascontiguousarray(X.T), X, monitor)
    return np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)


_NO_VALUE = 1e-12  # of the largest
_FEW_ROWS = 400  # up to here LAPACK takes a blink
_MOST_RESTARTS = 30


def leading_eigenvectors(
    X: FloatArray, P: FloatArray, n_components: int, monitor: Monitor = SILENT
) -> FloatArray:
    """Of X P X' (X holds columns by rows): from LAPACK for few columns, else by Lanczos steps,
    between which the clock is looked at. Directions that X does not have (those of constant
    columns, and between equal ones) are left out: rounding alone would choose among them."""
    n_columns = len(X)
    if n_columns <= max(_FEW_ROWS, 2 * n_components + 1):
        values, vectors = np.linalg.eigh(X @ P @ X.T)
        return _with_a_value(values, vectors)[:, ::-1][:, :n_components]
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    def times(v: FloatArray) -> FloatArray:
        monitor.check()
        return np.asarray(X @ (P @ (X.T @ v)))

    operator = LinearOperator((n_columns, n_columns), matvec=times, dtype=np.float64)
    v0 = np.random.default_rng(0).standard_normal(n_columns)
    n_wanted = min(n_components, X.shape[1])
    try:
        pairs = eigsh(operator, n_wanted, which="LA", v0=v0, tol=1e-10, maxiter=_MOST_RESTARTS)
        return _with_a_value(*pairs)[:, ::-1]
    except ArpackNoConvergence as partly:  # a start need not be exact
        return np.asarray(partly.eigenvectors[:, ::-1])


def _with_a_value(values: FloatArray, vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors[:, np.abs(values) > _NO_VALUE * np.abs(values).max(initial=0.0)])


def expanded_columns(X: FloatArray, schema: Schema) -> FloatArray:
    """Codes become indicator rows, scaled so that two states are at distance 1."""
    if not schema.categories:
        return X
    parts = [
        _DIFFERENT_STATES * one_hot(column, schema.n_states(c)).T
        if c in schema.categories
        else column[None]
        for c, column in enumerate(X)
    ]
    return np.ascontiguousarray(np.concatenate(parts))


def _expanded_widths(widths: WidthPolicy, schema: Schema) -> WidthPolicy:
    if isinstance(widths, MedianWidth):
        return replace(widths, sample=expanded_columns(widths.sample, schema))
    return widths


# --- sets of columns side by side, without W: compared by the hundred -----------------------------


class SetWidths(Protocol):
    """Bandwidths for sets of units."""

    def of_changes(
        self, subset: Sequence[int], candidates: Sequence[int], sign: int
    ) -> FloatArray: ...


@dataclass(frozen=True)
class SpreadWidth:
    """σ² is the variance of the columns, summed: d for d standardised ones (P-HSIC section 3).

    It follows the median distance, which takes far longer to find.
    """

    spreads: FloatArray  # one per unit

    def of_changes(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        """Of ``subset`` with (sign 1) or without (sign −1) each candidate."""
        base = self.spreads[list(subset)].sum()
        variance = base + sign * self.spreads[list(candidates)]
        is_spread = variance > _DUST * base
        return np.sqrt(np.where(is_spread, variance, CONSTANT_BANDWIDTH))


class ColumnSetHSIC(SetChanges):
    """The criterion of sets of units; ``rows`` are the rows in pairs with the target's matrix."""

    def __init__(self, rows: Any, kernel: KernelFunction, widths: SetWidths) -> None:
        self.n_units = rows.schema.n_units
        self.monitor = rows.monitor
        self._rows, self._kernel, self._widths = rows, kernel, widths

    def value(self, subset: Sequence[int]) -> float:
        *others, last = subset
        return float(self.values_with(others, [last])[0])

    def _changed(self, subset: Sequence[int], candidates: Sequence[int], sign: int) -> FloatArray:
        rows, kernel = self._rows, self._kernel
        base, units = (kernel.columns_of(rows.schema, part) for part in (subset, candidates))
        rates = kernel.rate(self._widths.of_changes(subset, candidates, sign))
        summed = SetPass(base, units, sign, kernel, rates, rows.target, rows.dtype)
        return summed.over(rows.pairs)
