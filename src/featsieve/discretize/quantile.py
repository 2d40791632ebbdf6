"""Equally frequent states."""

from __future__ import annotations

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.discretize.base import Discretizer, check_bins, cuts_between


class Quantile(Discretizer):
    """States with (nearly) the same number of rows each; equal values are never separated.

    A column with at most ``n_bins`` distinct values keeps each of them as a state.

    Parameters
    ----------
    n_bins : int, default=5
    n_jobs : int, optional
        Threads over columns.

    Attributes
    ----------
    cuts_ : list of arrays
        Sorted cuts of each column; intervals are closed on the right.

    Examples
    --------
    >>> Quantile(n_bins=2).fit_transform(np.array([[3.0], [1.0], [2.0], [9.0]])).ravel()
    array([1, 0, 0, 1], dtype=uint8)
    """

    def __init__(self, n_bins: int = 5, *, n_jobs: int | None = None) -> None:
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def _check(self) -> None:
        check_bins(self.n_bins)

    def _cuts(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        ordered, last = _ordered_ends(values, weights, self.n_bins)
        steps = np.flatnonzero(ordered[1:] > ordered[:-1])
        if len(steps) < self.n_bins:
            distinct = ordered[np.concatenate((steps, [-1]))] if len(ordered) else ordered
            return cuts_between(distinct)
        cuts = np.unique(ordered[last])
        return cuts[cuts < ordered[-1]]


def _ordered_ends(
    values: FloatArray, weights: FloatArray | None, n_bins: int
) -> tuple[FloatArray, IntArray]:
    """Sorted values, and where each of the first bins ends.

    That is the smallest value with at least a share b / n_bins of the weight at or below it.
    """
    if weights is None:
        n = len(values)
        return np.sort(values), -(-np.arange(1, n_bins) * n // n_bins) - 1
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    total = below[-1] if len(below) else 0.0
    ends = np.searchsorted(below * n_bins, np.arange(1, n_bins) * total, side="left")
    return values[order], ends
