"""The median distance between rows (P-LSMI 6.2: over pairs i < j)."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from featsieve.kernels.medians import kth_value, next_value
from featsieve.schema import FloatArray


def median_distance(Z: FloatArray) -> float:
    """Over all pairs of rows of Z, exactly; 0 where most pairs agree.

    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    squares = pdist(Z, "sqeuclidean")
    below = kth_value(squares, (len(squares) - 1) // 2)
    above = next_value(squares, below, len(squares) // 2)
    return float(np.sqrt(below) + np.sqrt(above)) / 2
