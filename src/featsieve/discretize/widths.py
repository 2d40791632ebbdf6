"""Cuts from a column's range, or from its mean and deviation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.discretize.base import MAX_CUTS, Discretizer, check_bins
from featsieve.errors import InputError


class EqualWidth(Discretizer):
    """Intervals of the same width between the smallest and the largest value.

    Parameters
    ----------
    n_bins : int, default=5
    n_jobs : int, optional
        Threads over columns.

    Attributes
    ----------
    cuts_ : list of arrays
        Sorted cuts of each column; intervals are closed on the right.
    """

    def __init__(self, n_bins: int = 5, *, n_jobs: int | None = None) -> None:
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def _check(self) -> None:
        check_bins(self.n_bins)

    def _cuts(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        if not len(values) or values.min() == values.max():
            return np.empty(0)
        share = np.arange(1, self.n_bins) / self.n_bins
        return np.unique((1 - share) * values.min() + share * values.max())


class SigmaCuts(Discretizer):
    """Cuts at the mean plus multiples of the standard deviation (ddof 1).

    Parameters
    ----------
    multiples : sequence of float, default=(-1.5, -0.5, 0.5, 1.5)
        Five states, as P-LSMI's authors cut for mRMR.
    n_jobs : int, optional
        Threads over columns.

    Attributes
    ----------
    cuts_ : list of arrays
        Sorted cuts of each column; intervals are closed on the right.
    """

    def __init__(
        self,
        multiples: Sequence[float] = (-1.5, -0.5, 0.5, 1.5),
        *,
        n_jobs: int | None = None,
    ) -> None:
        self.multiples = multiples
        self.n_jobs = n_jobs

    def _check(self) -> None:
        try:
            multiples = np.asarray(self.multiples, dtype=np.float64)
        except (TypeError, ValueError):
            multiples = np.empty(0)
        one_row = multiples.ndim == 1 and 1 <= len(multiples) <= MAX_CUTS
        if not one_row or not np.isfinite(multiples).all():
            raise InputError(
                f"multiples={self.multiples!r} is not possible; give a list of 1 to {MAX_CUTS} "
                "finite numbers."
            )

    def _cuts(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        if len(values) < 2 or values.min() == values.max():
            return np.empty(0)
        total = len(values) if weights is None else weights.sum()
        mean = np.average(values, weights=weights)
        squares = (values - mean) ** 2 if weights is None else weights * (values - mean) ** 2
        deviation = np.sqrt(squares.sum() / max(total - 1, np.finfo(float).tiny))
        return np.unique(mean + np.asarray(self.multiples, dtype=float) * deviation)
