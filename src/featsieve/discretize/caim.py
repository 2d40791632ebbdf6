"""Class-attribute interdependence maximisation (Kurgan and Cios 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
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
        if not len(values) or classes is None:
            return np.empty(0)
        order = np.argsort(values)
        ordered = values[order]
        is_last = np.append(ordered[1:] != ordered[:-1], True)
        distinct = ordered[is_last]
        if len(distinct) < 2:
            return np.empty(0)
        if weights is None:
            cumulative = _numbers_up_to(is_last, classes[order])
        else:
            cumulative = _weights_up_to(is_last, order, classes, weights)
        return cuts_between(distinct)[np.sort(accepted_boundaries(cumulative)) - 1]


def _numbers_up_to(is_last: BoolArray, classes: IntArray) -> FloatArray:
    """Rows of each class up to each distinct value, from rows in the order of their values."""
    n_classes = int(classes.max()) + 1
    cumulative = np.zeros((np.count_nonzero(is_last) + 1, n_classes))
    for label in range(n_classes):
        cumulative[1:, label] = np.cumsum(classes == label)[is_last]
    return cumulative


def _weights_up_to(
    is_last: BoolArray, order: IntArray, classes: IntArray, weights: FloatArray
) -> FloatArray:
    """The same with weights, which are added up in the order of the rows of the table."""
    n_classes, n_distinct = int(classes.max()) + 1, np.count_nonzero(is_last)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.cumsum(is_last) - is_last
    keys = rank * n_classes + classes
    sums = np.bincount(keys, weights=weights, minlength=n_distinct * n_classes)
    cumulative = np.zeros((n_distinct + 1, n_classes))
    np.cumsum(sums.reshape(-1, n_classes), axis=0, out=cumulative[1:])
    return cumulative


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
