"""Sums of a product basis over rows: what LSMI's value, its folds and its gradient are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.kernels.basis_slopes import slopes
from featsieve.measures.smi.product_basis import (
    Centers,
    Rows,
    TargetBasis,
    cross_by_fold,
    grams_by_fold,
)
from featsieve.schema import FloatArray


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
        own = phi[:, part]
        groups.append(GroupSums(grams_by_fold(rows, own), gram_y, cross_by_fold(rows, own, psi)))
    return BasisSums(np.diff(rows.bounds).astype(np.float64), tuple(groups))


@dataclass(frozen=True)
class GradientSums:
    """Σ over rows and centres of C_li (x_ik − c_lk)², one number a column."""

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
    """The same with M as it is; there is one group, so ``phi`` is whole."""
    M = np.outer(fit.alpha, fit.alpha) * fit.gram_y
    C, by_row = slopes(phi, psi, fit.alpha / n, phi @ M)
    return by_row, C.sum(axis=0), C.T @ X
