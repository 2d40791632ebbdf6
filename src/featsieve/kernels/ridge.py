"""Ridge solutions of small positive semidefinite systems, and their cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_FAST = {"contract", "reassoc", "nsz"}
_PANEL = 4  # rows that are factored together

# Unsigned indices need no check for negative ones, which would keep the loops from being
# vectorised; slices would too, but each costs more than the short rows here.
_ZERO, _ONE, _TWO, _THREE, _FOUR = (np.uintp(i) for i in range(_PANEL + 1))


@njit(nogil=True, cache=True)
def _padded(size: int) -> int:
    """Whole panels."""
    return (size + _PANEL - 1) // _PANEL * _PANEL


@njit(nogil=True, cache=True)
def _empty_system(size: int) -> Any:
    """Room for an upper triangle with the right hand side in its last column.

    One panel wider than it is high: rows then come in whole vectors.
    """
    return np.empty((_padded(size), _padded(size) + _PANEL))


@njit(nogil=True, cache=True)
def _fill(U: Any, H: Any, h: Any, lam: float) -> None:
    """[H + λI | h], the upper triangle; the padding is an identity that changes nothing."""
    n, last = np.uintp(h.size), np.uintp(U.shape[1] - 1)
    for i in range(_ZERO, n):
        for j in range(i, n):
            U[i, j] = H[i, j]
        for j in range(n, last):
            U[i, j] = 0.0
        U[i, i] += lam
        U[i, last] = h[i]
    for i in range(n, np.uintp(U.shape[0])):
        for j in range(i, last + _ONE):
            U[i, j] = 0.0
        U[i, i] = 1.0


@njit(nogil=True, cache=True, fastmath=_FAST)
def _subtract_panel(U: Any, k: Any, p: Any) -> None:
    """Rows p … p + 3 less what the finished rows k … k + 3 contribute, two rows at a time."""
    for i in range(p, p + _FOUR, _TWO):
        a0, b0, c0, d0 = U[k, i], U[k + _ONE, i], U[k + _TWO, i], U[k + _THREE, i]
        second = i + _ONE
        a1, b1, c1, d1 = (
            U[k, second],
            U[k + _ONE, second],
            U[k + _TWO, second],
            U[k + _THREE, second],
        )
        for j in range(p, np.uintp(U.shape[1])):
            x, y, z, w = U[k, j], U[k + _ONE, j], U[k + _TWO, j], U[k + _THREE, j]
            U[i, j] -= (a0 * x + b0 * y) + (c0 * z + d0 * w)
            U[second, j] -= (a1 * x + b1 * y) + (c1 * z + d1 * w)


@njit(nogil=True, cache=True, fastmath=_FAST)
def _finish_panel(U: Any, p: Any, least_pivot: float) -> None:
    """The rows of a panel among themselves; diagonals are left inverted."""
    width = np.uintp(U.shape[1])
    for i in range(p, p + _FOUR):
        for k in range(p, i):
            factor = U[k, i]
            for j in range(i, width):
                U[i, j] -= factor * U[k, j]
        inverse = 1.0 / np.sqrt(max(U[i, i], least_pivot))
        for j in range(i + _ONE, width):
            U[i, j] *= inverse
        U[i, i] = inverse


@njit(nogil=True, cache=True)
def _factor(U: Any, lam: float) -> None:
    """Cholesky rows in place of H + λI, and the forward substitution in place of h."""
    for p in range(_ZERO, np.uintp(U.shape[0]), _FOUR):
        for k in range(_ZERO, p, _FOUR):
            _subtract_panel(U, k, p)
        # A pivot of a positive semidefinite H is at least λ, but for rounding.
        _finish_panel(U, p, 0.5 * lam)


@njit(nogil=True, cache=True, fastmath=_FAST)
def _backward(U: Any, x: Any) -> None:
    n, last = np.uintp(x.size), np.uintp(U.shape[1] - 1)
    for done in range(_ZERO, n):
        i = n - _ONE - done
        rest = U[i, last]
        for j in range(i + _ONE, n):
            rest -= U[i, j] * x[j]
        x[i] = rest * U[i, i]


@njit(nogil=True, cache=True)
def _solve(H: Any, h: Any, lam: float, U: Any, x: Any) -> None:
    """x = (H + λI)⁻¹h from the upper triangle of H; ``U`` is an empty system."""
    _fill(U, H, h, lam)
    _factor(U, lam)
    _backward(U, x)


@njit(nogil=True, cache=True, fastmath=_FAST)
def _product_into(out: Any, A: Any, B: Any, scale: float) -> None:
    """out = scale · A ∘ B, upper triangle; B may be 1 × 1."""
    n = np.uintp(A.shape[0])
    shared = B.shape[0] == 1
    for i in range(_ZERO, n):
        if shared:
            factor = scale * B[0, 0]
            for j in range(i, n):
                out[i, j] = factor * A[i, j]
        else:
            for j in range(i, n):
                out[i, j] = scale * A[i, j] * B[i, j]


@njit(nogil=True, cache=True, fastmath=_FAST)
def _half_quadratic(H: Any, x: Any) -> float:
    """x'Hx/2 from the upper triangle."""
    total, n = 0.0, np.uintp(x.size)
    for i in range(_ZERO, n):
        row = 0.5 * H[i, i] * x[i]
        for j in range(i + _ONE, n):
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
    """Σ of all symmetric matrices but one (−1: of all), the upper triangle."""
    n = np.uintp(out.shape[0])
    for i in range(_ZERO, n):
        for j in range(i, n):
            out[i, j] = 0.0
        for part in range(parts.shape[0]):
            if part != left_out:
                for j in range(i, n):
                    out[i, j] += parts[part, i, j]


@njit(nogil=True, cache=True)
def _mean_but_one(parts: Any, left_out: int, n: float, out: Any) -> None:
    """Σ of all vectors but one (−1: of all), over n."""
    for i in range(out.size):
        total = 0.0
        for part in range(parts.shape[0]):
            if part != left_out:
                total += parts[part, i]
        out[i] = total / n


@njit(nogil=True, cache=True)
def ridge_fit(gram_x: Any, gram_y: Any, cross: Any, n: float, lam: float) -> Any:
    """α = (H + λI)⁻¹h of all folds together, M = (αα') ∘ gram_y/n², and h'α.

    Sums come with the fold first; H = gram_x ∘ gram_y/n², h = cross/n.
    """
    size, scale = cross.shape[1], 1.0 / (n * n)
    total_x, total_y = np.empty((size, size)), np.empty(gram_y.shape[1:])
    H, h, alpha = np.empty((size, size)), np.empty(size), np.empty(size)
    _sum_but_one(gram_x, -1, total_x)
    _sum_but_one(gram_y, -1, total_y)
    _mean_but_one(cross, -1, n, h)
    _product_into(H, total_x, total_y, scale)
    _solve(H, h, lam, _empty_system(size), alpha)
    M = total_x  # no longer needed
    shared = total_y.shape[0] == 1
    for i in range(size):
        for j in range(i, size):
            y = total_y[0, 0] if shared else total_y[i, j]
            M[i, j] = M[j, i] = alpha[i] * alpha[j] * y * scale
    return alpha, M, _dot(h, alpha)


@njit(nogil=True, cache=True)
def held_out_errors(gram_x: Any, gram_y: Any, cross: Any, counts: Any, lambdas: Any) -> Any:
    """α'Hα/2 − h'α on each held-out fold, α from the other folds; axes fold × λ.

    Sums come with the fold first; H = gram_x ∘ gram_y/n², h = cross/n. The training sums are
    those of all other folds.
    """
    n_folds, size = cross.shape
    out = np.empty((n_folds, lambdas.size))
    H, H_out, U = np.empty((size, size)), np.empty((size, size)), _empty_system(size)
    in_x, in_y = np.empty((size, size)), np.empty(gram_y.shape[1:])
    h, alpha = np.empty(size), np.empty(size)
    n = 0.0
    for count in counts:
        n += count
    for f in range(n_folds):
        n_in, n_out = n - counts[f], float(counts[f])
        _sum_but_one(gram_x, f, in_x)
        _sum_but_one(gram_y, f, in_y)
        _mean_but_one(cross, f, n_in, h)
        _product_into(H, in_x, in_y, 1.0 / (n_in * n_in))
        _product_into(H_out, gram_x[f], gram_y[f], 1.0 / (n_out * n_out))
        for k in range(lambdas.size):
            _solve(H, h, lambdas[k], U, alpha)
            out[f, k] = _half_quadratic(H_out, alpha) - _dot(cross[f], alpha) / n_out
    return out
