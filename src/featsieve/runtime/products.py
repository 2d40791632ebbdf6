"""Large products and eigenproblems under the time limit.

A product is cut into pieces, between which the clock is looked at. LAPACK cannot be cut: its time
is predicted, and the run ends at once where it would not end in time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.runtime.progress import Monitor

T = TypeVar("T")

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


def watched_call(call: Callable[[FloatArray], T], A: FloatArray, monitor: Monitor) -> T:
    """``call(A)`` of LAPACK, unless it would take longer than is left: then the run ends now.

    The time grows with a power of the size, so a corner of A tells it in advance.

    >>> from featsieve.runtime.progress import SILENT
    >>> watched_call(np.linalg.inv, np.diag([2.0, 4.0]), SILENT)
    array([[0.5 , 0.  ],
           [0.  , 0.25]])
    """
    monitor.check()
    if min(A.shape) > PROBE and monitor.has_limit:
        corner = A[:PROBE, :PROBE]
        call(corner)  # the first call may load code
        start = monitor.elapsed
        call(corner)
        longer, shorter = max(A.shape) / PROBE, min(A.shape) / PROBE
        monitor.expect((monitor.elapsed - start) * longer * shorter ** (GROWTH - 1))
    return call(A)
