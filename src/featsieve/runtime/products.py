"""Large matrix products in pieces, so that the clock is looked at between them."""

from __future__ import annotations

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.runtime.progress import Monitor

PIECE = 1 << 31  # multiplications: a tenth of a second or less


def watched_product(A: FloatArray, B: FloatArray, monitor: Monitor) -> FloatArray:
    """A B, some rows of A at a time.

    >>> from featsieve.runtime.progress import SILENT
    >>> watched_product(np.eye(2), np.array([[1.0], [2.0]]), SILENT)
    array([[1.],
           [2.]])
    """
    n_rows = max(PIECE // max(B.size, 1), 1)
    if len(A) <= n_rows:
        return A @ B
    product = np.empty((len(A), B.shape[1]), dtype=np.result_type(A, B))
    for start in range(0, len(A), n_rows):
        monitor.check()
        np.matmul(A[start : start + n_rows], B, out=product[start : start + n_rows])
    return product
