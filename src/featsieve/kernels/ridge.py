"""Ridge solutions of small positive semidefinite systems, and their cross-validation."""

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
        # A pivot of a positive semidefinite H is at least λ, but for rounding.
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
def ridge_solution(H: Any, h: Any, lam: float) -> Any:
    """(H + λI)⁻¹h."""
    L, x = np.empty_like(H), np.empty_like(h)
    _factor_and_forward(H, h, lam, L, x)
    _backward(L, x)
    return x


@njit(nogil=True, cache=True, fastmath=_FAST)
def _product_into(out: Any, A: Any, B: Any, scale: float) -> None:
    """out = scale · A ∘ B, lower triangle; B may be 1 × 1."""
    shared = B.shape[0] == 1
    for i in range(A.shape[0]):
        if shared:
            factor = scale * B[0, 0]
            for j in range(i + 1):
                out[i, j] = factor * A[i, j]
        else:
            for j in range(i + 1):
                out[i, j] = scale * A[i, j] * B[i, j]


@njit(nogil=True, cache=True, fastmath=_FAST)
def _half_quadratic(H: Any, x: Any) -> float:
    """x'Hx/2 from the lower triangle."""
    total = 0.0
    for i in range(x.size):
        row = 0.5 * H[i, i] * x[i]
        for j in range(i):
            row += H[i, j] * x[j]
        total += row * x[i]
    return total


@njit(nogil=True, cache=True, fastmath=_FAST)
def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


# Loops instead of sums along an axis: those alone would take seconds to compile.
@njit(nogil=True, cache=True)
def _sum_but_one(parts: Any, left_out: int, out: Any) -> None:
    """Σ of all matrices but one."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            total = 0.0
            for part in range(parts.shape[0]):
                if part != left_out:
                    total += parts[part, i, j]
            out[i, j] = total


@njit(nogil=True, cache=True)
def _mean_but_one(parts: Any, left_out: int, n: float, out: Any) -> None:
    """Σ of all vectors but one, over n."""
    for i in range(out.size):
        total = 0.0
        for part in range(parts.shape[0]):
            if part != left_out:
                total += parts[part, i]
        out[i] = total / n


@njit(nogil=True, cache=True)
def held_out_errors(gram_x: Any, gram_y: Any, cross: Any, counts: Any, lambdas: Any) -> Any:
    """α'Hα/2 − h'α on each held-out fold, α from the other folds; axes σ × fold × λ.

    Sums come with axes σ × fold first; H = gram_x ∘ gram_y/n², h = cross/n. The training sums are
    those of all other folds.
    """
    n_sigmas, n_folds, size = cross.shape
    out = np.empty((n_sigmas, n_folds, lambdas.size))
    H, H_out, L = np.empty((size, size)), np.empty((size, size)), np.empty((size, size))
    in_x, in_y = np.empty((size, size)), np.empty((gram_y.shape[2], gram_y.shape[3]))
    h, alpha = np.empty(size), np.empty(size)
    n = 0.0
    for count in counts:
        n += count
    for s in range(n_sigmas):
        for f in range(n_folds):
            n_in, n_out = n - counts[f], float(counts[f])
            _sum_but_one(gram_x[s], f, in_x)
            _sum_but_one(gram_y[s], f, in_y)
            _mean_but_one(cross[s], f, n_in, h)
            _product_into(H, in_x, in_y, 1.0 / (n_in * n_in))
            _product_into(H_out, gram_x[s, f], gram_y[s, f], 1.0 / (n_out * n_out))
            for k in range(lambdas.size):
                _factor_and_forward(H, h, lambdas[k], L, alpha)
                _backward(L, alpha)
                out[s, f, k] = _half_quadratic(H_out, alpha) - _dot(cross[s, f], alpha) / n_out
    return out
