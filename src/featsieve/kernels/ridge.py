"""Ridge solutions of many small positive semidefinite systems."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_FAST = {"contract", "reassoc", "nsz"}


@njit(nogil=True, cache=True, fastmath=_FAST)
def _factor_and_forward(H: Any, h: Any, lam: float, L: Any, x: Any) -> None:
    """Cholesky rows of H + lam I (inverted diagonal), with the forward substitution on the way."""
    for i in range(h.size):
        for j in range(i):
            total = H[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            L[i, j] = total * L[j, j]
        pivot, right = H[i, i] + lam, h[i]
        for k in range(i):
            pivot -= L[i, k] * L[i, k]
            right -= L[i, k] * x[k]
        # Rounding can push a pivot of a singular H below λ, never below by right.
        L[i, i] = 1.0 / np.sqrt(max(pivot, 0.5 * lam))
        x[i] = right * L[i, i]


@njit(nogil=True, cache=True, fastmath=_FAST)
def _backward(L: Any, x: Any) -> None:
    for i in range(x.size - 1, -1, -1):
        solved = x[i] * L[i, i]
        x[i] = solved
        for k in range(i):
            x[k] -= solved * L[i, k]


@njit(nogil=True, cache=True)
def ridge_solutions(H: Any, h: Any, lambdas: Any) -> Any:
    """``out[q, l]`` = (H[q] + lambdas[l] I)⁻¹ h[q]."""
    n_systems, size = h.shape
    out = np.empty((n_systems, lambdas.size, size))
    L = np.empty((size, size))
    for q in range(n_systems):
        for index in range(lambdas.size):
            x = out[q, index]
            _factor_and_forward(H[q], h[q], lambdas[index], L, x)
            _backward(L, x)
    return out
