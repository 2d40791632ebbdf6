"""Large products and eigenproblems under the time limit.

A product is cut into pieces, between which the clock is looked at. LAPACK cannot be cut: its time
is predicted, and the run ends at once where it would not end in time.
"""

from __future__ import annotations

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.runtime.progress import Monitor

PIECE = 1 << 31  # multiplications: about a tenth of a second


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


PROBE = 400
GROWTH = 2.6  # of the time with n, as measured: LAPACK is relatively faster on large matrices


def expect_eigenvalues(A: FloatArray, monitor: Monitor) -> None:
    """End the run now if the eigenvalues of A take longer than is left.

    The time grows with a power of n, so a corner of A tells it in advance.
    """
    if len(A) <= PROBE or not monitor.has_limit:
        return
    corner = A[:PROBE, :PROBE]
    np.linalg.eigh(corner)  # the first call may load code
    start = monitor.elapsed
    np.linalg.eigh(corner)
    monitor.expect((monitor.elapsed - start) * (len(A) / PROBE) ** GROWTH)
