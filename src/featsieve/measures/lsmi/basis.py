"""The product basis of LSMI, its Gram sums, and the grid of widths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.exp import decay
from featsieve.compiled.medians import clear_dust, fill_pair_squares, kth_value, next_value
from featsieve.compiled.ridge import slopes
from featsieve.runtime.ordering import best_index


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


@dataclass(frozen=True)
class GroupSums:
    """Σ φφ', Σ ψψ' and Σ φψ of one group; the leading axis is the fold."""

    gram_x: FloatArray
    gram_y: FloatArray
    cross: FloatArray

    def merge(self, other: GroupSums) -> GroupSums:
        return GroupSums(
            self.gram_x + other.gram_x, self.gram_y + other.gram_y, self.cross + other.cross
        )


@dataclass(frozen=True)
class BasisSums:
    """Everything LSMI needs of the rows at one σ, adding over blocks of them."""

    counts: FloatArray
    groups: tuple[GroupSums, ...]

    def merge(self, other: BasisSums) -> BasisSums:
        groups = tuple(a.merge(b) for a, b in zip(self.groups, other.groups, strict=True))
        return BasisSums(self.counts + other.counts, groups)


@dataclass(frozen=True)
class GridSums:
    """The sums of several σ from one pass."""

    by_sigma: tuple[BasisSums, ...]

    def merge(self, other: GridSums) -> GridSums:
        pairs = zip(self.by_sigma, other.by_sigma, strict=True)
        return GridSums(tuple(a.merge(b) for a, b in pairs))


def basis_sums(rows: Rows, centers: Centers, phi: FloatArray, target: TargetBasis) -> BasisSums:
    """The sums of these rows, fold by fold."""
    groups = []
    for part, psi, gram_y in zip(centers.slices, target.psis, target.grams, strict=True):
        block = phi[:, part]
        cross = cross_by_fold(rows, block, psi)
        groups.append(GroupSums(grams_by_fold(rows, block), gram_y, cross))
    return BasisSums(np.diff(rows.bounds).astype(np.float64), tuple(groups))


@dataclass(frozen=True)
class GradientSums:
    """Σ over rows and centres of C_li (x_ik − c_lk)², one number per column."""

    totals: FloatArray

    def merge(self, other: GradientSums) -> GradientSums:
        return GradientSums(self.totals + other.totals)


@dataclass(frozen=True)
class GroupFit:
    """α of one group, and Σ ψψ'/n² of all rows."""

    alpha: FloatArray
    gram_y: FloatArray


def gradient_sums(
    rows: Rows,
    centers: Centers,
    phi: FloatArray,
    target: TargetBasis,
    weights: FloatArray,
    fits: Sequence[GroupFit],
    n_samples: int,
) -> GradientSums:
    """C = P − Φ ∘ (MΦ), P = diag(α)(Φ ∘ Ψ)/n, M = (αα') ∘ Σ ψψ'/n²; the squares expand."""
    used = np.flatnonzero(weights)
    X, squares = rows.X[:, used], rows.squares[:, used]
    totals = np.zeros(len(weights))
    for part, psi, fit in zip(centers.slices, target.psis, fits, strict=True):
        slopes_of = _delta_slopes if psi.shape[1] == 1 else _gaussian_slopes
        by_row, by_center, products = slopes_of(phi[:, part], psi, fit, n_samples, X)
        totals[used] += by_row @ squares + by_center @ centers.squares[part, used]
        totals[used] -= 2.0 * np.einsum("lk,lk->k", products, centers.X[part, used])
    return GradientSums(totals)


def _delta_slopes(
    phi: FloatArray, psi: FloatArray, fit: GroupFit, n: int, X: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Row sums and column sums of C, and C'X; M has rank one, so C = diag(r) Φ diag(α)."""
    predicted = phi @ fit.alpha
    r = psi[:, 0] / n - fit.gram_y[0, 0] * predicted
    products = phi.T @ (r[:, None] * X)
    return r * predicted, fit.alpha * (r @ phi), fit.alpha[:, None] * products


def _gaussian_slopes(
    phi: FloatArray, psi: FloatArray, fit: GroupFit, n: int, X: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The same with M as it is; there is one group, so ``phi`` has all its columns."""
    M = np.outer(fit.alpha, fit.alpha) * fit.gram_y
    C, by_row = slopes(phi, psi, fit.alpha / n, phi @ M)
    return by_row, C.sum(axis=0), C.T @ X


_ROWS = 256  # that meet all others in one matrix product


def median_distance(Z: FloatArray) -> float:
    """Over all pairs of rows of Z, exactly; 0 where most pairs agree.

    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    squares = pair_squares(Z)
    clear_dust(squares)
    below = kth_value(squares, (len(squares) - 1) // 2)
    above = next_value(squares, below, len(squares) // 2)
    return float(np.sqrt(below) + np.sqrt(above)) / 2


def pair_squares(Z: FloatArray) -> FloatArray:
    """Squared distances of all pairs i < j, row by row; equal rows up to rounding."""
    centered = Z - Z.mean(axis=0)  # smaller numbers, smaller rounding errors
    norms = np.einsum("ij,ij->i", centered, centered)
    n, at = len(Z), 0
    squares = np.empty(n * (n - 1) // 2)
    for start in range(0, n, _ROWS):
        products = centered[start : start + _ROWS] @ centered[start:].T
        stop = start + len(products)
        size = (stop - start) * (2 * n - 1 - start - stop) // 2  # Σ n − 1 − i over these rows
        fill_pair_squares(products, norms[start:], squares[at : at + size])
        at += size
    return squares


@dataclass(frozen=True)
class GridPoint:
    """Where the minimum is, and the sums of that σ."""

    sigma: int
    lam: int
    sums: BasisSums


Evaluate = Callable[[range], tuple[Sequence[BasisSums], FloatArray]]


def best_on_grid(evaluate: Evaluate, n_sigmas: int, start: int | None) -> GridPoint:
    """``evaluate`` gives the sums and the error table of consecutive σ.

    Without a start all are tried; with one, its neighbours, and on downhill while the minimum
    lies at the edge of what was tried.
    """
    if start is None:
        tried = _Tried(range(n_sigmas), evaluate)
    else:
        tried = _Tried(range(max(start - 1, 0), min(start + 2, n_sigmas)), evaluate)
        while (edge := tried.edge(n_sigmas)) is not None:
            tried.extend(edge, evaluate)
    return tried.best()


class _Tried:
    """A window of σ that grows at its ends."""

    def __init__(self, window: range, evaluate: Evaluate) -> None:
        self.window = window
        self.sums, self.table = evaluate(window)

    def edge(self, n_sigmas: int) -> int | None:
        """The next σ to try, None when the minimum lies inside."""
        row = best_index(-self.table.min(axis=1))
        if row == 0 and self.window.start > 0:
            return self.window.start - 1
        if row == len(self.window) - 1 and self.window.stop < n_sigmas:
            return self.window.stop
        return None

    def extend(self, sigma: int, evaluate: Evaluate) -> None:
        sums, row = evaluate(range(sigma, sigma + 1))
        if sigma < self.window.start:
            self.window = range(sigma, self.window.stop)
            self.sums, self.table = [*sums, *self.sums], np.vstack([row, self.table])
        else:
            self.window = range(self.window.start, sigma + 1)
            self.sums, self.table = [*self.sums, *sums], np.vstack([self.table, row])

    def best(self) -> GridPoint:
        row, lam = divmod(best_index(-self.table.ravel()), self.table.shape[1])
        return GridPoint(self.window.start + row, lam, self.sums[row])
