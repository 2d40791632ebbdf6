"""Coefficients of LSMI's gradient, in one pass over a basis matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_FAST = {"contract", "reassoc", "nsz"}
_ZERO = np.uintp(0)  # unsigned indices: no check for negative ones, so the loops are vectorised


@njit(nogil=True, cache=True, fastmath=_FAST)
def slopes(phi: Any, psi: Any, alpha: Any, factor: Any) -> Any:
    """φ ∘ (ψ diag(α) − factor), and its row sums."""
    out, by_row = np.empty_like(phi), np.empty(phi.shape[0])
    width = np.uintp(alpha.size)
    for i in range(_ZERO, np.uintp(by_row.size)):
        total = 0.0
        for j in range(_ZERO, width):
            slope = phi[i, j] * (psi[i, j] * alpha[j] - factor[i, j])
            out[i, j] = slope
            total += slope
        by_row[i] = total
    return out, by_row
