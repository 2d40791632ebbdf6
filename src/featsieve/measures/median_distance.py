"""The median distance between rows (P-LSMI 6.2: over pairs i < j)."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from featsieve.schema import FloatArray, IntArray

_MIN_PAIRS = 4096
_SAMPLE = 1024


def median_distance(Z: FloatArray) -> float:
    """Over all pairs of rows of Z, exactly.

    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    squares = pdist(Z, "sqeuclidean")
    n_pairs = len(squares)
    if n_pairs == 0:
        return 0.0
    middle = np.array([(n_pairs - 1) // 2, n_pairs // 2])
    return float(np.sqrt(order_statistics(squares, middle)).mean())


def order_statistics(values: FloatArray, positions: IntArray) -> FloatArray:
    """``np.sort(values)[positions]`` for neighbouring positions.

    A sample brackets them, so that only the values within the bracket are sorted: several times
    faster than a partition of everything.
    """
    if len(values) >= _MIN_PAIRS:
        low, high = _bracket(values, positions)
        n_below = np.count_nonzero(values < low)
        inside = values[(values >= low) & (values <= high)]
        if n_below <= positions[0] and positions[-1] < n_below + len(inside):
            values, positions = inside, positions - n_below
    return np.partition(values, positions)[positions]


def _bracket(values: FloatArray, positions: IntArray) -> FloatArray:
    """Two values that very likely lie on both sides."""
    step = len(values) // _SAMPLE
    sample = np.sort(values[::step])
    place = positions[0] / len(values) * len(sample)
    margin = 4 * np.sqrt(len(sample)) / 2  # four deviations of a sample quantile at the median
    places = np.clip([place - margin, place + margin], 0, len(sample) - 1)
    return sample[places.astype(np.intp)]
