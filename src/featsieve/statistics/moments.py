"""Moments that merge over blocks of rows, and the indicator columns that categories become."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from featsieve.arrays import Array, BoolArray, FloatArray, IntArray
from featsieve.compiled.moments import (
    add_by_columns,
    add_by_rows,
    add_stored,
    add_stored_deviations,
    write_rows,
)
from featsieve.schema import Block, Schema, Target
from featsieve.statistics.slices import summed_in_slices

# Σ(x − x₀)² − n(x̄ − x₀)² may cancel down to a tenth of its first term, else it is summed again.
MOST_LOSS = 0.9
# A column whose spread is at this level of its mean is constant but for rounding.
CONSTANT_SPREAD = 2 * np.finfo(np.float64).eps
# Products with more columns of y than this are left to BLAS.
FEW_TARGETS = 8
# NumPy turns fewer columns into rows before a kernel is loaded; of more it takes three times as
# long, or ten.
FEW_CELLS = 1 << 16


@dataclass(frozen=True)
class ColumnMoments:
    """Total weight, mean and sum of squared deviations of each column.

    ``remainder`` is what the rounding of the mean cut off: next to a large offset it is as large as
    the spread, and blocks would be merged about the wrong point without it.
    """

    weight: float
    mean: FloatArray
    deviation: FloatArray
    remainder: FloatArray | float = 0.0

    def merge(self, other: Self) -> Self:
        total = self.weight + other.weight
        if total == 0:
            return self
        shift = self.shift_to(other)
        share = self.weight * other.weight / total
        mean, remainder = _exact_sum(self.mean, self.remainder + shift * (other.weight / total))
        return type(self)(
            total, mean, self.deviation + other.deviation + shift**2 * share, remainder
        )

    def shift_to(self, other: Self) -> FloatArray:
        """The difference of the means, to full precision."""
        return (other.mean - self.mean) + (other.remainder - self.remainder)

    def is_constant(self) -> BoolArray:
        """Per column; the rounding of the mean itself is not spread."""
        noise = CONSTANT_SPREAD * np.abs(self.mean)
        return np.isfinite(self.deviation) & (
            np.sqrt(self.deviation) <= np.sqrt(self.weight) * noise
        )

    def scale(self, ddof: int) -> FloatArray:
        """Standard deviations, 0 for a constant column."""
        variance = self.deviation / max(self.weight - ddof, np.finfo(np.float64).tiny)
        return np.where(self.is_constant(), 0.0, np.sqrt(variance))


@dataclass(frozen=True)
class CrossMoments:
    """Moments of two sets of columns and the co-deviations between them."""

    x: ColumnMoments
    y: ColumnMoments
    cross: FloatArray

    def merge(self, other: Self) -> Self:
        total = self.x.weight + other.x.weight
        if total == 0:
            return self
        share = self.x.weight * other.x.weight / total
        shift = np.outer(self.x.shift_to(other.x), self.y.shift_to(other.y))
        return type(self)(
            self.x.merge(other.x), self.y.merge(other.y), self.cross + other.cross + shift * share
        )

    def correlation(self) -> FloatArray:
        """Pearson's r of every x column with every y column; 0 where either is constant."""
        spread = np.outer(np.sqrt(self.x.deviation), np.sqrt(self.y.deviation))
        constant = self.x.is_constant()[:, None] | self.y.is_constant()[None, :]
        r = np.divide(self.cross, spread, out=np.zeros_like(self.cross), where=~constant)
        return np.clip(r, -1.0, 1.0)


def column_moments(values: Any, weight: FloatArray | None = None) -> ColumnMoments:
    """Moments of the columns of a dense or CSR array."""
    of_values = _dense_cross if isinstance(values, np.ndarray) else _sparse_cross
    return of_values(values, np.zeros((values.shape[0], 1)), weight)[0]


def centred_columns(
    values: FloatArray, weight: FloatArray | None = None
) -> tuple[ColumnMoments, FloatArray]:
    """Moments of the columns of a dense array, and a copy of it about the means.

    Row by row in memory, whatever container they came from: the same sums to the last bit.
    """
    origin, total, shift, centred = _centred(values, weight)
    return _about(origin, total, shift, _squares(centred, weight)), centred


def _centred(
    values: FloatArray, weight: FloatArray | None
) -> tuple[FloatArray, float, FloatArray, FloatArray]:
    """The first row, the total weight, how far the means are from that row, and the deviations."""
    # About the first row: a constant column is exactly 0, and a large offset costs no digits.
    origin = np.asarray(values[0], dtype=np.float64)
    centred = rows_about(values, origin)
    total = float(len(values)) if weight is None else float(weight.sum())
    sums = centred.sum(axis=0) if weight is None else weight @ centred
    shift = sums / total if total else np.zeros_like(origin)
    centred -= shift
    return origin, total, shift, centred


def rows_about(X: Array, origin: FloatArray | float) -> FloatArray:
    """A dense array less a point, in double precision and row by row in memory.

    >>> rows_about(np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), 1.0).ravel(order="K")
    array([0., 1., 2., 3.])
    """
    down_columns = X.strides[0] == X.itemsize and not X.flags.c_contiguous
    if X.size < FEW_CELLS or not down_columns or X.dtype not in (np.float32, np.float64):
        return np.ascontiguousarray(X - np.asarray(origin, dtype=np.float64))
    rows = np.empty(X.shape)
    view = X.view()
    view.flags.writeable = False  # one kind of array, one compiled kernel
    write_rows(view, np.broadcast_to(origin, X.shape[1:]).astype(np.float64), rows)
    return rows


def cross_moments(X: Any, Y: FloatArray, weight: FloatArray | None = None) -> CrossMoments:
    """Moments of X, of Y, and X'Y about the means; X dense or CSR, Y dense."""
    y_moments, y_centred = centred_columns(np.asarray(Y, dtype=np.float64), weight)
    if weight is not None:
        y_centred = y_centred * weight[:, None]
    of_x = _dense_cross if isinstance(X, np.ndarray) else _sparse_cross
    x_moments, cross = of_x(X, y_centred, weight)
    return CrossMoments(x_moments, y_moments, cross)


def _dense_cross(
    X: FloatArray, y_centred: FloatArray, weight: FloatArray | None
) -> tuple[ColumnMoments, FloatArray]:
    """About the first row is near enough to centred, but for columns where it is far out."""
    origin = np.asarray(X[0], dtype=np.float64)
    if weight is None and 0 < y_centred.shape[1] <= FEW_TARGETS:
        total = float(len(X))
        sums, deviation, cross = _sums_about(X, origin, y_centred)
    else:
        row_weight = np.ones(len(X)) if weight is None else weight
        total = float(row_weight.sum())
        shifted = X - origin
        sums, deviation = row_weight @ shifted, _squares(shifted, weight)
        cross = shifted.T @ y_centred
    shift = sums / total if total else np.zeros_like(origin)
    off_centre = total * shift**2
    far = off_centre > MOST_LOSS * deviation
    deviation -= off_centre
    if far.any():
        centred = (X[:, far] - origin[far]) - shift[far]
        deviation[far] = _squares(centred, weight)
        cross[far] = centred.T @ y_centred
    return _about(origin, total, shift, deviation), cross


def _sums_about(
    X: FloatArray, origin: FloatArray, Y: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Σ(x − x₀), Σ(x − x₀)² and Σ(x − x₀)y of each column, whichever way X lies in memory."""
    sums, squares = np.zeros((2, len(origin)))
    cross = np.zeros((Y.shape[1], len(origin)))
    n_rows, step = len(X), X.strides[1] // X.itemsize
    if X.strides[0] == X.itemsize and step >= n_rows and not X.flags.c_contiguous:
        length = step * (len(origin) - 1) + n_rows
        flat = np.lib.stride_tricks.as_strided(X, (length,), (X.itemsize,), writeable=False)
        add_by_columns(flat, step, origin, np.ascontiguousarray(Y.T), sums, squares, cross)
    else:
        add_by_rows(_read_only(X), origin, np.ascontiguousarray(Y), sums, squares, cross)
    return sums, squares, np.ascontiguousarray(cross.T)


def _read_only(values: Array) -> Array:
    """A contiguous view that nobody may write to: one kind of array, one compiled kernel."""
    view = np.ascontiguousarray(values).view()
    view.flags.writeable = False
    return view


def _about(
    origin: FloatArray, weight: float, shift: FloatArray, deviation: FloatArray
) -> ColumnMoments:
    mean, remainder = _exact_sum(origin, shift)
    return ColumnMoments(weight, mean, deviation, remainder)


def _exact_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a + b, and what its rounding cut off (Knuth's two-sum)."""
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


def _squares(values: FloatArray, weight: FloatArray | None) -> FloatArray:
    weighted = values if weight is None else weight[:, None] * values
    return np.asarray(np.einsum("ij,ij->j", weighted, values))


def _sparse_cross(
    X: Any, Y: FloatArray, weight: FloatArray | None
) -> tuple[ColumnMoments, FloatArray]:
    """Of a CSR array, which is never filled in: one centred factor is enough for co-deviations."""
    n_columns = X.shape[1]
    weights = np.ones(X.shape[0]) if weight is None else np.ascontiguousarray(weight, np.float64)
    cells = X.indptr, X.indices, _read_only(X.data)
    total = float(weights.sum())
    sums, filled = np.zeros((2, n_columns))
    counts = np.zeros(n_columns, dtype=np.int64)
    add_stored(*cells, weights, sums, filled, counts)
    mean = sums / total if total else sums
    is_full = counts == np.count_nonzero(weights)
    origin = np.where(is_full, mean, 0.0)
    rest, deviation = np.zeros((2, n_columns))
    cross = np.zeros((n_columns, Y.shape[1]))
    add_stored_deviations(
        *cells, weights, mean, origin, np.ascontiguousarray(Y), rest, deviation, cross
    )
    empty = np.where(is_full, 0.0, total - filled)  # a rounded 0 would count an offset's square
    # The mean was rounded by the length of its sum; what is left of it shows in the deviations.
    shift = (rest - empty * mean) / (total or 1.0)
    deviation = np.maximum(deviation + empty * mean**2 - total * shift**2, 0.0)
    return _about(mean, total, shift, deviation), cross


def _sparse_origin(X: Any, moments: ColumnMoments, weight: FloatArray | None) -> FloatArray:
    """The mean of each full column, else 0.

    A column with an empty cell deviates by its mean at least once, so the difference of squares
    loses few digits; a full column may have any offset, but can be centred in its stored cells.
    """
    counts = np.ones(X.shape[0]) if weight is None else (weight > 0).astype(np.float64)
    per_cell = np.repeat(counts, np.diff(X.indptr))
    stored = np.bincount(X.indices, weights=per_cell, minlength=X.shape[1])
    return np.where(stored == counts.sum(), moments.mean, 0.0)


def _less(X: Any, origin: FloatArray) -> Any:
    """A sparse array with ``origin`` subtracted from its stored cells."""
    shifted = X.astype(np.float64, copy=True)
    shifted.data -= origin[shifted.indices]
    return shifted


@dataclass(frozen=True)
class GramMoments:
    """Means of x and y columns side by side, and all their co-deviations as one square matrix."""

    weight: float
    mean: FloatArray
    product: FloatArray
    remainder: FloatArray | float = 0.0

    def merge(self, other: Self) -> Self:
        total = self.weight + other.weight
        if total == 0:
            return self
        shift = (other.mean - self.mean) + (other.remainder - self.remainder)
        product = np.outer(shift, shift * (self.weight * other.weight / total))
        product += self.product
        product += other.product
        mean, remainder = _exact_sum(self.mean, self.remainder + shift * (other.weight / total))
        return type(self)(total, mean, product, remainder)


def gram_moments(X: Any, Y: FloatArray, weight: FloatArray | None = None) -> GramMoments:
    """Co-deviations of the columns of X (dense or CSR) and Y, with each other and themselves."""
    if not len(Y):
        width = X.shape[1] + Y.shape[1]
        return GramMoments(0.0, np.zeros(width), np.zeros((width, width)))
    if not isinstance(X, np.ndarray):
        return _sparse_gram(X, Y, weight)
    columns = np.concatenate([X, Y], axis=1) if Y.shape[1] else X
    origin, total, shift, centred = _centred(columns, weight)
    other = centred if weight is None else centred * weight[:, None]
    mean, remainder = _exact_sum(origin, shift)
    return GramMoments(total, mean, centred.T @ other, remainder)


def _sparse_gram(X: Any, Y: FloatArray, weight: FloatArray | None) -> GramMoments:
    """X'X is the only full matrix; X itself is never filled in."""
    cross = cross_moments(X, Y, weight)
    row_weight = np.ones(X.shape[0]) if weight is None else weight
    origin = _sparse_origin(X, cross.x, weight)
    X, mean = _less(X, origin), cross.x.mean - origin
    squares = (X.T @ X.multiply(row_weight[:, None]).tocsr()).toarray()
    squares -= cross.x.weight * np.outer(mean, mean)
    np.fill_diagonal(squares, cross.x.deviation)
    _, centred = centred_columns(Y, weight)
    of_y = centred.T @ (centred * row_weight[:, None])
    return GramMoments(
        cross.x.weight,
        np.concatenate([cross.x.mean, cross.y.mean]),
        np.block([[squares, cross.cross], [cross.cross.T, of_y]]),
    )


def one_hot(codes: Array, n_states: int) -> FloatArray:
    """Indicator columns of integer codes; a missing code (NaN or negative) has an all-zero row.

    >>> one_hot(np.array([0, 2, 1]), 3)
    array([[1., 0., 0.],
           [0., 0., 1.],
           [0., 1., 0.]])
    """
    out = np.zeros((len(codes), n_states))
    _mark(out, codes)
    return out


def _mark(indicators: FloatArray, codes: Array) -> None:
    """Zeros become the indicators of ``codes``."""
    known = np.flatnonzero(np.isfinite(codes) & (codes >= 0))
    indicators[known, codes[known].astype(np.intp)] = 1.0


def target_columns(y: Array, target: Target) -> Iterator[tuple[int, FloatArray]]:
    """Each output with its numeric columns: itself for regression, class indicators otherwise."""
    for output in range(target.n_outputs):
        column = y[:, output]
        if target.is_classification:
            yield output, one_hot(column, target.class_counts[output])
        else:
            yield output, np.asarray(column, dtype=np.float64)[:, None]


@dataclass(frozen=True)
class Dummies:
    """Which indicator columns stand for which column; numeric columns stand for themselves."""

    schema: Schema

    @cached_property
    def owner(self) -> IntArray:
        """The column that each expanded column belongs to."""
        width = np.ones(self.schema.n_columns, dtype=np.intp)
        for column in self.schema.categories:
            width[column] = self.schema.n_states(column)
        return np.repeat(np.arange(self.schema.n_columns), width)

    @cached_property
    def is_indicator(self) -> BoolArray:
        return np.isin(self.owner, [*self.schema.categories])

    def expand(self, block: Block) -> Any:
        """The block's X itself (dense or sparse) when nothing is categorical."""
        if not self.schema.categories:
            return block.X
        dense = block.dense()
        expanded = np.zeros((len(dense), len(self.owner)))
        expanded[:, ~self.is_indicator] = dense[:, self.owner[~self.is_indicator]]
        for column in self.schema.categories:
            _mark(expanded[:, self.of_column(column)], dense[:, column])
        return expanded

    def of_column(self, column: int) -> slice:
        """Which expanded columns stand for it."""
        return slice(*np.searchsorted(self.owner, [column, column + 1]).tolist())

    def in_slices(self, fn: Callable[[Block], Any], engine: Any = None) -> Callable[[Block], Any]:
        """``fn`` of a few rows at a time, where there are indicators: they may be very many.

        With an engine whose blocks are summarised in this process, its clock is looked at.
        """
        if not self.schema.categories:
            return fn
        look = engine.monitor.check if engine is not None and engine.is_local else None
        return partial(summed_in_slices, fn, len(self.owner), look)

    def per_unit(self, expanded: FloatArray) -> FloatArray:
        """Scores by unit (first axis): indicators add up to their column, a group is its best."""
        if self.schema.is_plain:
            return expanded
        starts = np.searchsorted(self.owner, np.arange(self.schema.n_columns))
        return self.schema.best_of_groups(np.add.reduceat(expanded, starts, axis=0))
