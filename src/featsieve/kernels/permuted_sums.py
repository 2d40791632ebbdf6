"""Σ_ij K_ij L_π(i)π(j) for many permutations π, without a permuted copy of L."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def permuted_sums(K: Any, L: Any, orders: Any) -> Any:
    """One sum for each row of ``orders``; K and L are symmetric."""
    n = len(K)
    sums = np.zeros(len(orders))
    for p in range(len(orders)):
        order = orders[p]
        total = 0.0
        for i in range(n):
            row = L[order[i]]
            inner = 0.0
            for j in range(i):
                inner += K[i, j] * row[order[j]]
            total += 2.0 * inner + K[i, i] * row[order[i]]
        sums[p] = total
    return sums
