"""The grid of widths: multiples of the median distance, and absolute values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.compiled.medians import clear_dust, fill_pair_squares, kth_value, next_value
from featsieve.measures.lsmi.basis import BasisSums
from featsieve.runtime.ordering import best_index

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


@dataclass(frozen=True)
class GridPoint:
    """Where the minimum is, and the sums of that σ."""

    sigma: int
    lam: int
    sums: BasisSums


Evaluate = Callable[[range], tuple[Sequence[BasisSums], FloatArray]]


def best_on_grid(evaluate: Evaluate, n_sigmas: int, start: int | None) -> GridPoint:
    """``evaluate`` gives the sums and the error table of consecutive σ.

    Without a start all are tried; with one, its neighbours, and on downhill while the minimum
    lies at the edge of what was tried.
    """
    if start is None:
        tried = _Tried(range(n_sigmas), evaluate)
    else:
        tried = _Tried(range(max(start - 1, 0), min(start + 2, n_sigmas)), evaluate)
        while (edge := tried.edge(n_sigmas)) is not None:
            tried.extend(edge, evaluate)
    return tried.best()


class _Tried:
    """A window of σ that grows at its ends."""

    def __init__(self, window: range, evaluate: Evaluate) -> None:
        self.window = window
        self.sums, self.table = evaluate(window)

    def edge(self, n_sigmas: int) -> int | None:
        """The next σ to try, None when the minimum lies inside."""
        row = best_index(-self.table.min(axis=1))
        if row == 0 and self.window.start > 0:
            return self.window.start - 1
        if row == len(self.window) - 1 and self.window.stop < n_sigmas:
            return self.window.stop
        return None

    def extend(self, sigma: int, evaluate: Evaluate) -> None:
        sums, row = evaluate(range(sigma, sigma + 1))
        if sigma < self.window.start:
            self.window = range(sigma, self.window.stop)
            self.sums, self.table = [*sums, *self.sums], np.vstack([row, self.table])
        else:
            self.window = range(self.window.start, sigma + 1)
            self.sums, self.table = [*self.sums, *sums], np.vstack([self.table, row])

    def best(self) -> GridPoint:
        row, lam = divmod(best_index(-self.table.ravel()), self.table.shape[1])
        return GridPoint(self.window.start + row, lam, self.sums[row])
