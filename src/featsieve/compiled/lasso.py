"""Block coordinate descent for the group lasso on second moments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def descend(
    gram: Any, slope: Any, coef: Any, starts: Any, step: Any, penalty: Any, tol: float, sweeps: int
) -> int:
    """Minimise ½ tr(B'GB) − tr(B'C) + Σ_g penalty_g ‖B_g‖, block by block; returns the sweeps done.

    ``slope`` is C − GB and ``coef`` B, both changed in place; block g is the rows
    ``starts[g] … starts[g + 1]``; ``step[g]`` is one over the largest eigenvalue of G's block, so
    that a block of one row (or an orthonormal one) is minimised exactly and any other descends.
    """
    for sweep in range(sweeps):
        largest = 0.0
        for block in range(len(step)):
            first, last = starts[block], starts[block + 1]
            moved = coef[first:last] + step[block] * slope[first:last]
            norm = np.sqrt(np.sum(moved * moved))
            threshold = step[block] * penalty[block]
            keep = 1.0 - threshold / norm if norm > threshold else 0.0
            for row in range(first, last):
                for output in range(coef.shape[1]):
                    change = keep * moved[row - first, output] - coef[row, output]
                    if change != 0.0:
                        coef[row, output] += change
                        largest = max(largest, abs(change))
                        # G is symmetric, so its row stands for its column and lies in one piece.
                        for other in range(len(slope)):
                            slope[other, output] -= gram[row, other] * change
        if largest <= tol:
            return sweep + 1
    return sweeps
