"""Weights of rows: on which scale they are, and whether they belong to the target."""

from __future__ import annotations

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.schema import KeptRows, power_of_two

MOST_UNITS = 16  # that the least weight may be: class sizes such as 333 and 667 are not counts
LEAST = 2.0**-900
LEAST_OTHERS = 1e-12  # of the weight of one row; information is then rounded to few digits
ROUNDING = 8 * np.finfo(np.float64).eps

NEARLY_A_FUNCTION = 0.75  # of Chatterjee's coefficient, which is 1 for a function and many rows
FEWEST_ROWS = 15  # below, independent weights may come near that by chance
N_PARTS = 5
ROWS_PER_PART = 5
CLEAR = 0.001


def counted_rows(weight: FloatArray) -> KeptRows | None:
    """Those of positive weight, where there are others."""
    rows = np.flatnonzero(weight)
    return None if len(rows) == len(weight) else KeptRows(rows, len(weight))


def relative_weights(weight: FloatArray) -> FloatArray:
    """Positive weights on a scale of their own, so that only their ratios count.

    Weights in the ratio of small integers become the least such numbers, which count rows;
    all others get the mean 1.

    >>> relative_weights(np.array([0.2, 0.2, 0.6])), relative_weights(np.array([0.4, 0.6]))
    (array([1., 1., 3.]), array([2., 3.]))
    >>> relative_weights(np.array([1.0, np.sqrt(3), 2.0])).round(3)
    array([0.634, 1.098, 1.268])
    """
    weight = np.maximum(weight * power_of_two(weight.max()), LEAST)  # no ratio or sum overflows
    ratios = np.unique(weight) / weight.min()
    for units in range(1, MOST_UNITS + 1):
        counts = units * ratios
        if (np.abs(counts - np.rint(counts)) <= ROUNDING * counts).all():
            return np.rint(units * (weight / weight.min()))
    return np.asarray(weight / weight.mean())


def weights_of_table(weight: FloatArray) -> FloatArray:
    """Relative weights of all rows; refused where one row has nearly all of the weight."""
    others = np.delete(weight, weight.argmax()) / weight.max()
    if len(others) and others.sum() < LEAST_OTHERS:
        raise InputError(
            f"sample_weight gives one row more than {1 / LEAST_OTHERS:.0e} times the weight of all "
            "others together, so that nothing can depend on those; give weights of similar size."
        )
    return relative_weights(weight)


def belong_to_target(weight: FloatArray, y: Array, is_classification: bool) -> bool:
    """Whether the weights are a function of the target: of its classes, or nearly of a number."""
    if _are_equal(weight):
        return False
    if is_classification:
        return _are_of_classes(weight, _joint_classes(y))
    return len(y) >= FEWEST_ROWS and any(
        _chatterjee(column, weight) > NEARLY_A_FUNCTION for column in y.T
    )


def depend_on_target(weight: FloatArray, y: Array, is_classification: bool) -> bool:
    """Whether the weights of some classes, or parts of the target's range, are clearly larger."""
    if _are_equal(weight):
        return False
    parts = [_joint_classes(y)] if is_classification else [_parts_of_range(c) for c in y.T]
    return any(_differ_clearly(weight, part) for part in parts)


def _are_equal(weight: FloatArray) -> bool:
    return bool(np.ptp(weight) <= ROUNDING * weight.max())


def _joint_classes(codes: Array) -> IntArray:
    return np.asarray(np.unique(codes, axis=0, return_inverse=True)[1], dtype=np.intp).ravel()


def _are_of_classes(weight: FloatArray, classes: IntArray) -> bool:
    """With a class for nearly every row, any weights would be."""
    n_classes = int(classes.max()) + 1
    of_class = np.zeros(n_classes)
    of_class[classes] = weight
    differences = np.abs(weight - of_class[classes])
    return 2 * n_classes <= len(weight) and bool((differences <= ROUNDING * weight).all())


def _chatterjee(x: FloatArray, y: FloatArray) -> float:
    """ξ(x, y): near 1 where y is a function of x, near 0 where it is independent."""
    from scipy.stats import rankdata

    along_x = y[np.lexsort((y, x))]
    ranks = rankdata(along_x, method="max")
    from_top = rankdata(-along_x, method="max")
    n = len(y)
    spread = float((from_top * (n - from_top)).sum())
    return 1.0 - n * float(np.abs(np.diff(ranks)).sum()) / (2.0 * spread)


def _parts_of_range(y: FloatArray) -> IntArray:
    from scipy.stats import rankdata

    ranks = rankdata(y, method="max")
    return np.asarray(-(-N_PARTS * ranks // len(y)) - 1, dtype=np.intp)


def _differ_clearly(weight: FloatArray, part: IntArray) -> bool:
    from scipy.stats import kruskal

    groups = [weight[part == p] for p in np.unique(part)]
    groups = [group for group in groups if len(group) >= ROWS_PER_PART]
    if len(groups) < 2 or _are_equal(np.concatenate(groups)):
        return False
    return bool(kruskal(*groups).pvalue < CLEAR)
