"""The median distance between rows (P-LSMI 6.2: over pairs i < j)."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from featsieve.kernels.medians import kth_value
from featsieve.schema import FloatArray


def median_distance(Z: FloatArray) -> float:
    """Over all pairs of rows of Z, exactly; 0 where most pairs agree.

    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    squares = pdist(Z, "sqeuclidean")
    n_pairs = len(squares)
    below = kth_value(squares, (n_pairs - 1) // 2)
    if n_pairs % 2 == 1 or np.count_nonzero(squares <= below) > n_pairs // 2:
        return float(np.sqrt(below))
    above = squares[squares > below].min()
    return float(np.sqrt(below) + np.sqrt(above)) / 2
