"""From the sums of a product basis to LSMI: α, the value, and the cross-validation table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.kernels.ridge import ridge_solutions
from featsieve.measures.smi.basis_sums import BasisSums, GroupFit, GroupSums
from featsieve.schema import FloatArray, IntArray

# Measured at 50 and 100 centres: an eigendecomposition costs as much as about 20 Cholesky factors.
_MAX_CHOLESKY = 20
_ALL_FOLDS: IntArray = np.array([-1])


@dataclass(frozen=True)
class Fit:
    """α = (H + λI)⁻¹h group by group, and LSMI = h'α/2 − 1/2 (P-LSMI eq. 9)."""

    value: float
    groups: tuple[GroupFit, ...]

    @property
    def alpha(self) -> FloatArray:
        return np.concatenate([group.alpha for group in self.groups])


def fit(sums: BasisSums, lam: float) -> Fit:
    """From all folds together."""
    n, lambdas = float(sums.counts.sum()), np.array([lam])
    value, groups = -0.5, []
    for part in sums.groups:
        alpha = _ridge(part, sums.counts, lambdas, _ALL_FOLDS)[0][0, 0]
        value += float(part.cross.sum(axis=0) @ alpha) / (2 * n)
        groups.append(GroupFit(alpha, part.gram_y.sum(axis=0) / n**2))
    return Fit(value, tuple(groups))


def cv_table(by_sigma: Sequence[BasisSums], lambdas: FloatArray) -> FloatArray:
    """Mean held-out error over the folds, one line a σ, one column a λ."""
    return np.stack([cv_errors(sums, lambdas).mean(axis=0) for sums in by_sigma])


def cv_errors(sums: BasisSums, lambdas: FloatArray) -> FloatArray:
    """α'Hα/2 − h'α on the held-out rows (P-LSMI, after eq. 9), axes fold × λ.

    By Cholesky factors, or by an eigendecomposition where there are many λ for each.
    """
    errors = _by_cholesky if len(lambdas) <= _MAX_CHOLESKY else _by_eigenvectors
    total = np.zeros((len(sums.counts), len(lambdas)))
    for part in sums.groups:
        total += errors(part, sums.counts, lambdas)
    return total


def _by_cholesky(part: GroupSums, counts: FloatArray, lambdas: FloatArray) -> FloatArray:
    return _ridge(part, counts, lambdas, np.arange(len(counts)))[1]


def _ridge(
    part: GroupSums, counts: FloatArray, lambdas: FloatArray, left_out: IntArray
) -> tuple[FloatArray, FloatArray]:
    """α of each left-out fold and λ, and its error there."""
    alpha, errors = ridge_solutions(part.gram_x, part.gram_y, part.cross, counts, lambdas, left_out)
    return alpha, errors


def _by_eigenvectors(part: GroupSums, counts: FloatArray, lambdas: FloatArray) -> FloatArray:
    n_in = counts.sum() - counts
    H = _rest(part.gram_x) * _rest(part.gram_y) / n_in[:, None, None] ** 2
    eigenvalues, vectors = np.linalg.eigh(H)
    rotated = np.einsum("fij,fi->fj", vectors, _rest(part.cross) / n_in[:, None])
    shrunk = rotated[:, None] / (np.maximum(eigenvalues, 0)[:, None] + lambdas[:, None])
    alpha = shrunk @ np.swapaxes(vectors, -1, -2)
    H_out = part.gram_x * (part.gram_y / counts[:, None, None] ** 2)
    h_out = (part.cross / counts[:, None])[..., None]
    errors: FloatArray = ((alpha @ H_out) * alpha).sum(axis=-1) / 2 - (alpha @ h_out)[..., 0]
    return errors


def _rest(folds: FloatArray) -> FloatArray:
    rest: FloatArray = folds.sum(axis=0, keepdims=True) - folds
    return rest
