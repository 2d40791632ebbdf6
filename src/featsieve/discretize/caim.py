"""Class-attribute interdependence maximisation (Kurgan and Cios 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.discretizing import caim_boundaries
from featsieve.discretize.base import MAX_CUTS, Discretizer, cuts_between


@dataclass(kw_only=True, eq=False, repr=False)
class CAIM(Discretizer):
    """Cut where the classes are told apart best.

    Boundaries are added greedily among the midpoints of adjacent distinct values, the one with the
    largest (1/n) Σ_r max_r² / M_r first, while that grows or there are fewer intervals than
    classes. Ties go to the lowest boundary.

    Parameters
    ----------
    n_jobs : int, optional
        Threads over columns.

    Attributes
    ----------
    cuts_ : list of arrays
        Sorted cuts of each column; intervals are closed on the right.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [3.0], [10.0], [11.0]])
    >>> CAIM().fit(X, [0, 0, 0, 1, 1]).cuts_
    [array([6.5])]
    """

    needs_target: ClassVar[bool] = True

    n_jobs: int | None = None

    def _cuts(
        self, values: FloatArray, classes: IntArray | None, weights: FloatArray | None
    ) -> FloatArray:
        distinct, rank = np.unique(values, return_inverse=True)
        if len(distinct) < 2 or classes is None:
            return np.empty(0)
        n_classes = int(classes.max()) + 1
        keys = rank * n_classes + classes
        counts = np.bincount(keys, weights=weights, minlength=len(distinct) * n_classes)
        cumulative = np.zeros((len(distinct) + 1, n_classes))
        np.cumsum(counts.reshape(-1, n_classes), axis=0, out=cumulative[1:])
        return cuts_between(distinct)[np.sort(accepted_boundaries(cumulative)) - 1]


def accepted_boundaries(cumulative: FloatArray) -> IntArray:
    """In the order they are accepted; ``cumulative`` are class counts up to each distinct value."""
    n_values, classes = len(cumulative) - 1, cumulative[-1]
    accepted = np.empty(min(MAX_CUTS, n_values - 1), dtype=np.int64)
    n_cuts = caim_boundaries(
        cumulative,
        int(np.count_nonzero(classes)),
        float(classes.max() ** 2 / classes.sum()),
        np.zeros(n_values + 1, dtype=np.uint8),
        accepted,
    )
    return accepted[:n_cuts]
