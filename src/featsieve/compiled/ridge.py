"""Ridge systems of LSMI: factorisation, cross-validation errors, slopes of the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.compiled.inlining import called_by_kernels, kernel, part_of_kernel

_FAST = {"contract", "reassoc", "nsz"}
_PANEL = 4  # rows that are factored together

# Unsigned indices need no check for negative ones, which would keep the loops from being
# vectorised; slices would too, but each costs more than the short rows here.
_ZERO, _ONE, _TWO, _THREE, _FOUR = (np.uintp(i) for i in range(_PANEL + 1))


@part_of_kernel
def _padded_system(size: int) -> Any:
    """Room for an upper triangle, in whole panels, with the right hand side in the last column.

    The padding is an identity that no step changes. One panel wider than it is high: rows then
    come in whole vectors.
    """
    padded = (size + _PANEL - 1) // _PANEL * _PANEL
    U = np.zeros((padded, padded + _PANEL))
    for i in range(size, padded):
        U[i, i] = 1.0
    return U


@part_of_kernel
def _fill(U: Any, H: Any, h: Any, lam: float) -> None:
    """[H + λI | h], the upper triangle."""
    n, last = np.uintp(h.size), np.uintp(U.shape[1] - 1)
    for i in range(_ZERO, n):
        for j in range(i, n):
            U[i, j] = H[i, j]
        U[i, i] += lam
        U[i, last] = h[i]


@called_by_kernels(fastmath=_FAST)
def _factor(U: Any, least_pivot: float) -> None:
    """Cholesky rows in place of H + λI, diagonals inverted, and the forward substitution of h.

    A panel of four rows loses what finished panels contribute, two rows at a time; then its rows
    are finished among themselves.
    """
    width = np.uintp(U.shape[1])
    for p in range(_ZERO, np.uintp(U.shape[0]), _FOUR):
        for k in range(_ZERO, p, _FOUR):
            k1, k2, k3 = k + _ONE, k + _TWO, k + _THREE
            for i in range(p, p + _FOUR, _TWO):
                i1 = i + _ONE
                a0, b0, c0, d0 = U[k, i], U[k1, i], U[k2, i], U[k3, i]
                a1, b1, c1, d1 = U[k, i1], U[k1, i1], U[k2, i1], U[k3, i1]
                for j in range(p, width):
                    x, y, z, w = U[k, j], U[k1, j], U[k2, j], U[k3, j]
                    U[i, j] -= (a0 * x + b0 * y) + (c0 * z + d0 * w)
                    U[i1, j] -= (a1 * x + b1 * y) + (c1 * z + d1 * w)
        for i in range(p, p + _FOUR):
            for k in range(p, i):
                factor = U[k, i]
                for j in range(i, width):
                    U[i, j] -= factor * U[k, j]
            inverse = 1.0 / np.sqrt(max(U[i, i], least_pivot))
            for j in range(i + _ONE, width):
                U[i, j] *= inverse
            U[i, i] = inverse


@called_by_kernels(fastmath=_FAST)
def _backward(U: Any, x: Any) -> None:
    n, last = np.uintp(x.size), np.uintp(U.shape[1] - 1)
    for done in range(_ZERO, n):
        i = n - _ONE - done
        rest = U[i, last]
        for j in range(i + _ONE, n):
            rest -= U[i, j] * x[j]
        x[i] = rest * U[i, i]


@called_by_kernels(fastmath=_FAST)
def _product_into(out: Any, A: Any, B: Any, scale: float) -> None:
    """out = scale · A ∘ B, upper triangle; B may be 1 × 1."""
    n = np.uintp(out.shape[0])
    shared = B.shape[0] == 1
    for i in range(_ZERO, n):
        if shared:
            factor = scale * B[0, 0]
            for j in range(i, n):
                out[i, j] = factor * A[i, j]
        else:
            for j in range(i, n):
                out[i, j] = scale * A[i, j] * B[i, j]


# Loops instead of sums along an axis: those alone would take seconds to compile.
@kernel()
def _sum_but_one(parts: Any, left_out: int, out: Any) -> None:
    """Σ of all symmetric matrices but one, the upper triangle."""
    n = np.uintp(out.shape[0])
    for i in range(_ZERO, n):
        for j in range(i, n):
            out[i, j] = 0.0
        for part in range(parts.shape[0]):
            if part != left_out:
                for j in range(i, n):
                    out[i, j] += parts[part, i, j]


@called_by_kernels(fastmath=_FAST)
def _loss(H: Any, h: Any, n: float, alpha: Any) -> float:
    """α'Hα/2 − h'α/n from the upper triangle of H."""
    total, size = 0.0, np.uintp(alpha.size)
    for i in range(_ZERO, size):
        row = 0.5 * H[i, i] * alpha[i] - h[i] / n
        for j in range(i + _ONE, size):
            row += H[i, j] * alpha[j]
        total += row * alpha[i]
    return total


@kernel()
def ridge_solutions(
    gram_x: Any, gram_y: Any, cross: Any, counts: Any, lambdas: Any, left_out: Any
) -> Any:
    """α = (H + λI)⁻¹h from all folds but one, axes left out × λ × α; −1 leaves out none.

    Next to it α'Hα/2 − h'α with H and h of the fold left out, 0 where there is none. Sums come with
    the fold first; H = gram_x ∘ gram_y/n², h = cross/n.
    """
    n_folds, size = cross.shape
    alpha = np.empty((left_out.size, lambdas.size, size))
    losses = np.zeros((left_out.size, lambdas.size))
    H, H_out = np.empty((size, size)), np.empty((size, size))
    h, U = np.empty(size), _padded_system(size)
    total_x, total_y = np.empty((size, size)), np.empty((gram_y.shape[1], gram_y.shape[2]))
    for o in range(left_out.size):
        out = left_out[o]
        n = 0.0
        for f in range(n_folds):
            n += counts[f] if f != out else 0.0
        for i in range(size):
            h[i] = 0.0
            for f in range(n_folds):
                h[i] += cross[f, i] / n if f != out else 0.0
        _sum_but_one(gram_x, out, total_x)
        _sum_but_one(gram_y, out, total_y)
        _product_into(H, total_x, total_y, 1.0 / (n * n))
        if out >= 0:
            _product_into(H_out, gram_x[out], gram_y[out], 1.0 / (counts[out] * counts[out]))
        for k in range(lambdas.size):
            _fill(U, H, h, lambdas[k])
            # A pivot of a positive semidefinite H is at least λ, up to rounding.
            _factor(U, 0.5 * lambdas[k])
            _backward(U, alpha[o, k])
            if out >= 0:
                losses[o, k] = _loss(H_out, cross[out], counts[out], alpha[o, k])
    return alpha, losses


_ZERO = np.uintp(0)  # unsigned indices: no check for negative ones, so the loops are vectorised


@kernel(fastmath=_FAST)
def slopes(phi: Any, psi: Any, alpha: Any, factor: Any) -> Any:
    """φ ∘ (ψ diag(α) − factor), and its row sums."""
    out, by_row = np.empty_like(phi), np.empty(phi.shape[0])
    width = np.uintp(alpha.size)
    for i in range(_ZERO, np.uintp(by_row.size)):
        total = 0.0
        for j in range(_ZERO, width):
            out[i, j] = phi[i, j] * (psi[i, j] * alpha[j] - factor[i, j])
        for j in range(_ZERO, width):
            total += out[i, j]
        by_row[i] = total
    return out, by_row
