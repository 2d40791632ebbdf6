"""Estimates from whole Gram matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.measures.hsic.passes import fixed_matrix


def gram_hsic(K: FloatArray, L: FloatArray, estimator: str = "unbiased") -> float:
    """HSIC of two Gram matrices.

    >>> x = np.array([0.0, 1.0, 2.0, 4.0])
    >>> float(gram_hsic(np.outer(x, x), np.outer(x, x), "biased").__round__(4))
    8.5069
    """
    fixed = fixed_matrix(len(K), estimator)
    if not fixed.with_diagonal:
        K, L = without_diagonal(K), without_diagonal(L)
    rows = L.sum(axis=1)
    return float(np.vdot(K, fixed.tile(L, rows, rows, float(rows.sum()))))


def without_diagonal(K: FloatArray) -> FloatArray:
    return K - np.diag(np.diag(K))


@dataclass(frozen=True)
class HSICMoments:
    """An unbiased HSIC with R and its asymptotic variance (P-HSIC eq. 8)."""

    value: float
    R: float
    variance: float


def asymptotic_moments(K: FloatArray, L: FloatArray) -> HSICMoments:
    """Value, R and variance of P-HSIC eq. (8), in O(n²): valid under dependence only."""
    m = len(K)
    value = gram_hsic(K, L)
    K, L = without_diagonal(K), without_diagonal(L)
    k, l = K.sum(axis=1), L.sum(axis=1)  # noqa: E741 - the paper's symbols
    both = (K * L).sum(axis=1)
    h = (m - 2) ** 2 * both + (m - 2) * (both.sum() - K @ l - L @ k) - m * k * l
    h += l.sum() * k + k.sum() * l - k @ l
    R = float(h @ h) / (4 * m * ((m - 1.0) * (m - 2) * (m - 3)) ** 2)
    return HSICMoments(value, R, max(16.0 / m * (R - value**2), 0.0))


def gram_mmd(K: FloatArray, L: FloatArray) -> float:
    """Biased MMD² = tr KL for target labels +1/m₊ and −1/m₋ (P-HSIC section 4)."""
    return float(np.vdot(K, L))


def gram_kta(K: FloatArray, L: FloatArray, normalize: bool = False) -> float:
    """Kernel target alignment: tr KL, divided by ‖K‖‖L‖ if ``normalize`` (P-HSIC section 4)."""
    aligned = float(np.vdot(K, L))
    return aligned / float(np.linalg.norm(K) * np.linalg.norm(L)) if normalize else aligned


def centred(K: FloatArray) -> FloatArray:
    """HKH."""
    rows = K.mean(axis=0)
    return K - rows - rows[:, None] + rows.mean()
