"""Basis functions φ(x)·ψ(y) at centres, and their products fold by fold (P-LSMI, 5.4.2).

φ is a Gaussian of the weighted columns; ψ is a delta on classes or a Gaussian on numbers. With a
delta, two centres of different classes never meet, so centres are kept sorted by class and every
matrix falls into one block a class: a **group**. Numbers form a single group. For a delta, ψ does
not depend on the centre within its group and is kept as one column, which broadcasts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from featsieve.kernels.exp import decay
from featsieve.schema import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, sorted by fold: fold f is ``bounds[f] … bounds[f + 1]``.

    ``y`` has numbers, or a single column with the (joint) class.
    """

    X: FloatArray
    y: FloatArray
    bounds: IntArray

    @cached_property
    def squares(self) -> FloatArray:
        return self.X**2

    @cached_property
    def as_one_fold(self) -> Rows:
        return Rows(self.X, self.y, self.bounds[[0, -1]])

    @cached_property
    def even_folds(self) -> bool:
        return bool((np.diff(self.bounds, n=2) == 0).all())

    @cached_property
    def folds(self) -> list[slice]:
        return [slice(a, b) for a, b in pairwise(self.bounds.tolist())]


def sorted_by_fold(X: FloatArray, y: FloatArray, folds: IntArray, n_folds: int) -> Rows:
    order = np.argsort(folds, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(folds, minlength=n_folds))])
    return Rows(np.ascontiguousarray(X[order]), np.ascontiguousarray(y[order]), bounds)


@dataclass(frozen=True)
class Centers:
    """Where the basis functions sit, sorted by class; ``labels`` is None for numbers.

    ``order`` says which of the centres as given comes first, second, …
    """

    X: FloatArray
    y: FloatArray
    order: IntArray
    slices: tuple[slice, ...]
    labels: FloatArray | None

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def squares(self) -> FloatArray:
        return self.X**2

    def psi(self, y: FloatArray, group: int, sigma: float) -> FloatArray:
        """ψ of these rows for the centres of one group: (n, 1) for a delta, else (n, b)."""
        if self.labels is not None:
            return (y == self.labels[group]).astype(np.float64)
        return gaussian(squared_distances(y, self.y), sigma)


def make_centers(X: FloatArray, y: FloatArray, is_delta: bool) -> Centers:
    if not is_delta:
        return Centers(X, y, np.arange(len(X)), (slice(0, len(X)),), None)
    order = np.argsort(y[:, 0], kind="stable")
    labels, starts = np.unique(y[order, 0], return_index=True)
    stops = [*starts[1:].tolist(), len(X)]
    slices = tuple(slice(int(a), int(b)) for a, b in zip(starts, stops, strict=True))
    return Centers(X[order], y[order], order, slices, labels)


def squared_distances(A: FloatArray, B: FloatArray) -> FloatArray:
    """Between all rows of A and of B: ‖a‖² + ‖b‖² − 2a'b; equal rows may be just below zero."""
    squares: FloatArray = A @ (-2.0 * B.T)
    squares += np.einsum("ij,ij->i", A, A)[:, None]
    squares += np.einsum("ij,ij->i", B, B)
    return squares


def weighted_distances(rows: Rows, centers: Centers, weights: FloatArray) -> FloatArray:
    """‖diag(w)(x − c)‖² for all rows and centres; columns without weight cost nothing."""
    used = np.flatnonzero(weights)
    scale = weights[used]
    return squared_distances(rows.X[:, used] * scale, centers.X[:, used] * scale)


def gaussian(squares: FloatArray, sigma: float) -> FloatArray:
    """exp(−d/2σ²) of squared distances; a rounding error below zero counts as zero."""
    values: FloatArray = decay(squares.ravel(), 0.5 / sigma**2)
    return values.reshape(squares.shape)


@dataclass(frozen=True)
class TargetBasis:
    """ψ of some rows for one σ, group by group, and Σ ψψ' of each of their folds."""

    psis: tuple[FloatArray, ...]
    grams: tuple[FloatArray, ...]


class TargetBases:
    """ψ by rows and σ; the last ``n_kept`` are remembered, for rows that come again.

    Weights do not matter here: an ascent asks for the same ψ at every step, and for classes there
    is only one.
    """

    def __init__(self, centers: Centers, n_kept: int) -> None:
        self._centers = centers
        self._of: Callable[[Rows, float], TargetBasis] = (
            lru_cache(n_kept)(self._compute) if n_kept else self._compute
        )

    def __call__(self, rows: Rows, sigma: float) -> TargetBasis:
        return self._of(rows, sigma if self._centers.labels is None else 0.0)

    def _compute(self, rows: Rows, sigma: float) -> TargetBasis:
        groups = range(len(self._centers.slices))
        psis = tuple(self._centers.psi(rows.y, group, sigma) for group in groups)
        return TargetBasis(psis, tuple(grams_by_fold(rows, psi) for psi in psis))


def grams_by_fold(rows: Rows, basis: FloatArray) -> FloatArray:
    """B'B of each fold."""
    if rows.even_folds:  # all in one call
        stacked = basis.reshape(len(rows.bounds) - 1, -1, basis.shape[1])
        return np.matmul(np.swapaxes(stacked, 1, 2), stacked)
    return np.stack([basis[fold].T @ basis[fold] for fold in rows.folds])


def cross_by_fold(rows: Rows, phi: FloatArray, psi: FloatArray) -> FloatArray:
    """Σ φψ of each fold; a delta's ψ is one column."""
    if psi.shape[1] == 1:
        return np.stack([psi[fold, 0] @ phi[fold] for fold in rows.folds])
    return np.stack([np.einsum("ij,ij->j", phi[fold], psi[fold]) for fold in rows.folds])
