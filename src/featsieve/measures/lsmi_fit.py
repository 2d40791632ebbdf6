"""From the sums of a product basis to LSMI: α, the value, and the cross-validation table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featsieve.kernels.ridge import ridge_solutions
from featsieve.measures.product_basis import BasisSums, GroupFit, GroupSums
from featsieve.schema import FloatArray

# Measured at 50 and 100 centres: an eigendecomposition costs as much as about 20 Cholesky factors.
_MAX_CHOLESKY = 20


@dataclass(frozen=True)
class Fit:
    """α = (H + λI)⁻¹h group by group, and LSMI = h'α/2 − 1/2 (P-LSMI eq. 9)."""

    value: float
    groups: tuple[GroupFit, ...]

    @property
    def alpha(self) -> FloatArray:
        return np.concatenate([group.alpha for group in self.groups])


def fit(sums: BasisSums, lam: float) -> Fit:
    """The fit for the first σ, from all folds together."""
    n = sums.counts.sum()
    value, groups = -0.5, []
    for part in sums.groups:
        gram_x, gram_y = part.gram_x[0].sum(axis=0), part.gram_y[0].sum(axis=0)
        h = part.cross[0].sum(axis=0) / n
        alpha = ridge((gram_x * gram_y / n**2)[None], h[None], np.array([lam]))[0, 0]
        value += float(h @ alpha) / 2
        groups.append(GroupFit(alpha, np.outer(alpha, alpha) * gram_y / n**2))
    return Fit(value, tuple(groups))


def ridge(H: FloatArray, h: FloatArray, lambdas: FloatArray) -> FloatArray:
    """(H[q] + λI)⁻¹h[q] for all q and λ, by whichever is cheaper for this many λ."""
    if len(lambdas) <= _MAX_CHOLESKY:
        return ridge_solutions(H, h, lambdas)
    eigenvalues, vectors = np.linalg.eigh(H)
    rotated = np.einsum("qij,qi->qj", vectors, h)
    shrunk = rotated[:, None, :] / (np.maximum(eigenvalues, 0)[:, None, :] + lambdas[:, None])
    return np.einsum("qij,qlj->qli", vectors, shrunk)


def cv_table(sums: BasisSums, lambdas: FloatArray) -> FloatArray:
    """Mean over folds of α'Hα/2 − h'α on the held-out rows, one line a σ, one column a λ.

    The training sums are the total minus the fold's own.
    """
    held_out = sums.counts
    training = held_out.sum() - held_out
    tables = [_group_table(part, training, held_out, lambdas) for part in sums.groups]
    return np.sum(tables, axis=0)


def _group_table(
    part: GroupSums, training: FloatArray, held_out: FloatArray, lambdas: FloatArray
) -> FloatArray:
    gram_x, gram_y = _rest(part.gram_x), _rest(part.gram_y)
    H = gram_x * gram_y / training[:, None, None] ** 2
    h = _rest(part.cross) / training[:, None]
    n_sigmas, n_folds, b = h.shape
    alpha = ridge(H.reshape(-1, b, b), h.reshape(-1, b), lambdas).reshape(n_sigmas, n_folds, -1, b)
    H_out = part.gram_x * part.gram_y / held_out[:, None, None] ** 2
    h_out = part.cross / held_out[:, None]
    quadratic = ((alpha @ H_out) * alpha).sum(axis=-1) / 2
    linear = (alpha @ h_out[..., None])[..., 0]
    return (quadratic - linear).mean(axis=1)


def _rest(folds: FloatArray) -> FloatArray:
    return folds.sum(axis=1, keepdims=True) - folds
