"""The median distance between rows (P-LSMI 6.2: over pairs i < j)."""

from __future__ import annotations

import numpy as np

from featsieve.kernels.medians import clear_dust, fill_pair_squares, kth_value, next_value
from featsieve.schema import FloatArray

_ROWS = 256  # that meet all others in one matrix product


def median_distance(Z: FloatArray) -> float:
    """Over all pairs of rows of Z, exactly; 0 where most pairs agree.

    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    squares = pair_squares(Z)
    clear_dust(squares)
    below = kth_value(squares, (len(squares) - 1) // 2)
    above = next_value(squares, below, len(squares) // 2)
    return float(np.sqrt(below) + np.sqrt(above)) / 2


def pair_squares(Z: FloatArray) -> FloatArray:
    """Squared distances of all pairs i < j, row by row; equal rows up to rounding."""
    centered = Z - Z.mean(axis=0)  # smaller numbers, smaller rounding errors
    norms = np.einsum("ij,ij->i", centered, centered)
    n, at = len(Z), 0
    squares = np.empty(n * (n - 1) // 2)
    for start in range(0, n, _ROWS):
        products = centered[start : start + _ROWS] @ centered[start:].T
        stop = start + len(products)
        size = (stop - start) * (2 * n - 1 - start - stop) // 2  # Σ n − 1 − i over these rows
        fill_pair_squares(products, norms[start:], squares[at : at + size])
        at += size
    return squares
