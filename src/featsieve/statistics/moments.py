"""Moments that merge over blocks of rows, and the indicator columns that categories become."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.schema import Block, Schema, one_hot

# Σ(x − x₀)² − n(x̄ − x₀)² may cancel down to a tenth of its first term, else it is summed again.
MOST_LOSS = 0.9
# A column whose spread is at this level of its mean is constant but for rounding.
CONSTANT_SPREAD = 2 * np.finfo(np.float64).eps


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
    return _moments(values, weight)[0]


def centred_columns(
    values: FloatArray, weight: FloatArray | None = None
) -> tuple[ColumnMoments, FloatArray]:
    """Moments of the columns of a dense array, and a copy of it about the means."""
    return _moments(values, weight)


def cross_moments(X: Any, Y: FloatArray, weight: FloatArray | None = None) -> CrossMoments:
    """Moments of X, of Y, and X'Y about the means; X dense or CSR, Y dense."""
    y_moments, y_centred = _moments(np.asarray(Y, dtype=np.float64), weight)
    if weight is not None:
        y_centred = y_centred * weight[:, None]
    if isinstance(X, np.ndarray):
        x_moments, cross = _dense_cross(X, y_centred, weight)
    else:
        x_moments, x_values = _moments(X, weight)
        cross = np.asarray(x_values.T @ y_centred)
    return CrossMoments(x_moments, y_moments, cross)


def _dense_cross(
    X: FloatArray, y_centred: FloatArray, weight: FloatArray | None
) -> tuple[ColumnMoments, FloatArray]:
    """About the first row is near enough to centred, but for columns where it is far out."""
    origin = np.asarray(X[0], dtype=np.float64)
    shifted = X - origin
    row_weight = np.ones(len(X)) if weight is None else weight
    total = float(row_weight.sum())
    shift = row_weight @ shifted / total if total else np.zeros_like(origin)
    cross = shifted.T @ y_centred
    deviation = _squares(shifted, weight)
    off_centre = total * shift**2
    far = off_centre > MOST_LOSS * deviation
    deviation -= off_centre
    if far.any():
        centred = shifted[:, far] - shift[far]
        deviation[far] = _squares(centred, weight)
        cross[far] = centred.T @ y_centred
    return _about(origin, total, shift, deviation), cross


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


def _moments(values: Any, weight: FloatArray | None) -> tuple[ColumnMoments, Any]:
    """The moments, and the values to multiply: centred, or nearly as they are when sparse.

    One centred factor is enough for a co-deviation, so a sparse one is never filled in.
    """
    if not isinstance(values, np.ndarray):
        moments = _sparse_moments(values, weight)
        return moments, _less(values, _sparse_origin(values, moments, weight))
    # About the first row: a constant column is exactly 0, and a large offset costs no digits.
    origin = np.asarray(values[0], dtype=np.float64)
    centred = values - origin
    total = float(len(values)) if weight is None else float(weight.sum())
    sums = centred.sum(axis=0) if weight is None else weight @ centred
    shift = sums / total if total else np.zeros_like(origin)
    centred -= shift
    return _about(origin, total, shift, _squares(centred, weight)), centred


def _sparse_moments(values: Any, weight: FloatArray | None) -> ColumnMoments:
    n_rows, n_columns = values.shape
    data = values.data.astype(np.float64)
    row_weight = np.ones(n_rows) if weight is None else weight
    stored_weight = np.repeat(row_weight, np.diff(values.indptr))
    total = float(row_weight.sum())
    sums = _sums_by_column(values, stored_weight * data)
    mean = sums / total if total else np.zeros(n_columns)
    off = data - mean[values.indices]
    empty = total - _sums_by_column(values, stored_weight)
    empty[_is_full(values, weight)] = 0.0  # a rounded 0 would count the square of an offset
    deviation = _sums_by_column(values, stored_weight * off**2) + empty * mean**2
    # The mean was rounded by the length of its sum; what is left of it shows in the deviations.
    left = _sums_by_column(values, stored_weight * off) - empty * mean
    shift = left / total if total else left
    return _about(mean, total, shift, np.maximum(deviation - total * shift**2, 0.0))


def _is_full(values: Any, weight: FloatArray | None) -> BoolArray:
    """Whether a sparse column has no empty cell in a row that counts."""
    counts = np.ones(values.shape[0]) if weight is None else (weight > 0).astype(np.float64)
    stored = _sums_by_column(values, np.repeat(counts, np.diff(values.indptr)))
    return np.asarray(stored == counts.sum())


def _sparse_origin(values: Any, moments: ColumnMoments, weight: FloatArray | None) -> FloatArray:
    """The mean of each full column, else 0.

    A column with an empty cell deviates by its mean at least once, so the difference of squares
    loses few digits; a full column may have any offset, but can be centred in its stored cells.
    """
    return np.where(_is_full(values, weight), moments.mean, 0.0)


def _less(values: Any, origin: FloatArray) -> Any:
    """A sparse array with ``origin`` subtracted from its stored cells."""
    shifted = values.astype(np.float64, copy=True)
    shifted.data -= origin[shifted.indices]
    return shifted


def _sums_by_column(values: Any, numbers: FloatArray) -> FloatArray:
    """Sum of one number per stored cell, column by column."""
    sums = np.bincount(values.indices, weights=numbers, minlength=values.shape[1])
    return np.asarray(sums, dtype=np.float64)


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
    moments, centred = _moments(np.concatenate([X, Y], axis=1), weight)
    other = centred if weight is None else centred * weight[:, None]
    return GramMoments(moments.weight, moments.mean, centred.T @ other, moments.remainder)


def _sparse_gram(X: Any, Y: FloatArray, weight: FloatArray | None) -> GramMoments:
    """X'X is the only full matrix; X itself is never filled in."""
    cross = cross_moments(X, Y, weight)
    row_weight = np.ones(X.shape[0]) if weight is None else weight
    origin = _sparse_origin(X, cross.x, weight)
    X, mean = _less(X, origin), cross.x.mean - origin
    squares = (X.T @ X.multiply(row_weight[:, None]).tocsr()).toarray()
    squares -= cross.x.weight * np.outer(mean, mean)
    np.fill_diagonal(squares, cross.x.deviation)
    _, centred = _moments(Y, weight)
    of_y = centred.T @ (centred * row_weight[:, None])
    return GramMoments(
        cross.x.weight,
        np.concatenate([cross.x.mean, cross.y.mean]),
        np.block([[squares, cross.cross], [cross.cross.T, of_y]]),
    )


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
        return np.isin(self.owner, list(self.schema.categories))

    def expand(self, block: Block) -> Any:
        """The block's X itself (dense or sparse) when nothing is categorical."""
        if not self.schema.categories:
            return block.X
        dense = block.dense()
        parts = [
            one_hot(dense[:, j], self.schema.n_states(j))
            if j in self.schema.categories
            else dense[:, [j]]
            for j in range(self.schema.n_columns)
        ]
        return np.concatenate(parts, axis=1)

    def per_unit(self, expanded: FloatArray) -> FloatArray:
        """Scores by unit (first axis): indicators add up to their column, a group is its best."""
        if self.schema.is_plain:
            return expanded
        starts = np.searchsorted(self.owner, np.arange(self.schema.n_columns))
        per_column = np.add.reduceat(expanded, starts, axis=0)
        return self.schema.best_of_groups(per_column)
