"""Sums of a product basis over rows: what LSMI's value, its folds and its gradient are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.kernels.basis_slopes import add_slopes
from featsieve.measures.smi.product_basis import Centers, Rows, TargetBasis, fold_grams
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
    groups = zip(centers.slices, target.psis, target.grams, strict=True)
    return BasisSums(
        np.diff(rows.bounds).astype(np.float64),
        tuple(_group_sums(rows, phi[:, part], psi, gram) for part, psi, gram in groups),
    )


def _group_sums(rows: Rows, phi: FloatArray, psi: FloatArray, gram_y: FloatArray) -> GroupSums:
    cross = np.empty((len(gram_y), phi.shape[1]))
    for out, fold in zip(cross, rows.folds, strict=True):
        if psi.shape[1] == 1:  # a delta
            np.matmul(psi[fold, 0], phi[fold], out=out)
        else:
            np.einsum("ij,ij->j", phi[fold], psi[fold], out=out)
    return GroupSums(fold_grams(rows, phi), gram_y, cross)


@dataclass(frozen=True)
class GradientSums:
    """Σ over rows and centres of C_li (x_ik − c_lk)², one number a column."""

    totals: FloatArray

    def merge(self, other: GradientSums) -> GradientSums:
        return GradientSums(self.totals + other.totals)


@dataclass(frozen=True)
class GroupFit:
    """α of one group, and the matrix M = (αα') ∘ (Σ ψψ')/n² of its gradient."""

    alpha: FloatArray
    M: FloatArray


def gradient_sums(
    rows: Rows,
    centers: Centers,
    phi: FloatArray,
    target: TargetBasis,
    weights: FloatArray,
    fits: Sequence[GroupFit],
    n_samples: int,
) -> GradientSums:
    """C = P − Φ ∘ (MΦ) with P = diag(α)(Φ ∘ Ψ)/n; the squares expand into three products."""
    C, by_row = np.empty_like(phi), np.zeros(len(phi))
    for part, psi, fit in zip(centers.slices, target.psis, fits, strict=True):
        p = phi[:, part]
        add_slopes(p, psi, fit.alpha / n_samples, p @ fit.M, C[:, part], by_row)
    used = np.flatnonzero(weights)
    totals = np.zeros(len(weights))
    totals[used] = (
        by_row @ rows.squares[:, used]
        + C.sum(axis=0) @ centers.squares[:, used]
        - 2.0 * np.einsum("lk,lk->k", C.T @ rows.X[:, used], centers.X[:, used])
    )
    return GradientSums(totals)
