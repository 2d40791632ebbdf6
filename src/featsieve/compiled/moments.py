"""Columns about a point: their sums, sums of squares and of products in one pass, their rows."""

from __future__ import annotations

import numpy as np

from featsieve.compiled.counting import Floats, Ints
from featsieve.compiled.inlining import kernel

# So many sums of each kind, or rows of one column, stay in the first cache.
TILE = 1024
# Of rows that are written, while columns are read.
ROWS_AT_ONCE = 8


@kernel()
def write_rows(X: Floats, origin: Floats, rows: Floats) -> None:
    """Columns that lie one after the other become rows that do."""
    n_rows, n_columns = X.shape
    n_full = n_rows - n_rows % ROWS_AT_ONCE
    for start in range(0, n_full, ROWS_AT_ONCE):
        for j in range(n_columns):
            o = origin[j]
            for i in range(start, start + ROWS_AT_ONCE):
                rows[i, j] = X[i, j] - o
    for i in range(n_full, n_rows):
        for j in range(n_columns):
            rows[i, j] = X[i, j] - origin[j]


@kernel()
def add_by_rows(
    X: Floats, origin: Floats, Y: Floats, sums: Floats, squares: Floats, cross: Floats
) -> None:
    """Rows lie one after the other: four at a time, so that the sums are seldom read and written.

    ``Y`` is rows × targets with one target at least, ``cross`` targets × columns.
    """
    n_rows, n_columns = X.shape
    for j0 in range(0, n_columns, TILE):
        j1 = min(j0 + TILE, n_columns)
        for i in range(0, n_rows - 3, 4):
            y0, y1, y2, y3 = Y[i, 0], Y[i + 1, 0], Y[i + 2, 0], Y[i + 3, 0]
            for j in range(j0, j1):
                o = origin[j]
                a, b, c, d = X[i, j] - o, X[i + 1, j] - o, X[i + 2, j] - o, X[i + 3, j] - o
                sums[j] += (a + b) + (c + d)
                squares[j] += (a * a + b * b) + (c * c + d * d)
                cross[0, j] += (a * y0 + b * y1) + (c * y2 + d * y3)
            for k in range(1, Y.shape[1]):
                y0, y1, y2, y3 = Y[i, k], Y[i + 1, k], Y[i + 2, k], Y[i + 3, k]
                for j in range(j0, j1):
                    o = origin[j]
                    first = (X[i, j] - o) * y0 + (X[i + 1, j] - o) * y1
                    cross[k, j] += first + ((X[i + 2, j] - o) * y2 + (X[i + 3, j] - o) * y3)
        for i in range(n_rows - n_rows % 4, n_rows):
            for j in range(j0, j1):
                a = X[i, j] - origin[j]
                sums[j] += a
                squares[j] += a * a
                for k in range(Y.shape[1]):
                    cross[k, j] += a * Y[i, k]


# Sums may be taken in any order, which vector instructions need; NaN and infinity stay.
@kernel(fastmath={"reassoc", "contract", "nsz"})
def add_by_columns(
    flat: Floats,
    stride: int,
    origin: Floats,
    Y: Floats,
    sums: Floats,
    squares: Floats,
    cross: Floats,
) -> None:
    """Columns lie one after the other: column j begins at ``flat[j * stride]``.

    Here ``Y`` is targets × rows.
    """
    n_rows = Y.shape[1]
    for i0 in range(0, n_rows, TILE):
        i1 = min(i0 + TILE, n_rows)
        for j in range(origin.size):
            o = origin[j]
            x = flat[j * stride + i0 : j * stride + i1]
            total, square = 0.0, 0.0
            for i in range(x.size):
                a = x[i] - o
                total += a
                square += a * a
            sums[j] += total
            squares[j] += square
            for k in range(Y.shape[0]):
                y = Y[k, i0:i1]
                product = 0.0
                for i in range(x.size):
                    product += (x[i] - o) * y[i]
                cross[k, j] += product


@kernel()
def add_stored(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    weights: Floats,
    sums: Floats,
    filled: Floats,
    counts: Ints,
) -> None:
    """Weighted sum, weight and number of the stored cells of each column of a CSR array.

    Rows of weight 0 do not count.
    """
    for i in range(weights.size):
        weight, counted = weights[i], np.int64(weights[i] > 0)
        for cell in range(indptr[i], indptr[i + 1]):
            j = indices[cell]
            sums[j] += weight * data[cell]
            filled[j] += weight
            counts[j] += counted


@kernel()
def add_stored_deviations(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    weights: Floats,
    centre: Floats,
    origin: Floats,
    Y: Floats,
    sums: Floats,
    squares: Floats,
    cross: Floats,
) -> None:
    """Of the stored cells: sums and squares about ``centre``, products with Y about ``origin``.

    ``Y`` is rows × targets and holds the weights already, ``cross`` is columns × targets.
    """
    for i in range(weights.size):
        weight = weights[i]
        for cell in range(indptr[i], indptr[i + 1]):
            j = indices[cell]
            value = np.float64(data[cell])
            a = value - centre[j]
            sums[j] += weight * a
            squares[j] += weight * a * a
            for k in range(Y.shape[1]):
                cross[j, k] += (value - origin[j]) * Y[i, k]
