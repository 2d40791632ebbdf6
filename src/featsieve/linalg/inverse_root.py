"""K^(−1/2) of a positive semidefinite matrix."""

from __future__ import annotations

import numpy as np

from featsieve.linalg.aliases import FloatArray

_SMALLEST = 1e-10  # of the largest eigenvalue


def inverse_root(K: FloatArray) -> FloatArray:
    """R with R K R' = I, directions of almost no eigenvalue left out.

    >>> inverse_root(np.diag([4.0, 0.0]))
    array([[0.5, 0. ]])
    """
    values, vectors = np.linalg.eigh(K)
    kept = values > _SMALLEST * values[-1]
    return (vectors[:, kept] / np.sqrt(values[kept])).T
