"""The plain numpy versions that the HSIC kernels are measured against.

Written as a good numpy programmer would: M fixed once, distances by BLAS where there are many
columns, everything else in place, no temporary that can be avoided.
"""

from __future__ import annotations

import numpy as np


def fixed_matrix(L: np.ndarray) -> np.ndarray:
    """M with HSIC_unbiased = Σ K_ab M_ab (P-HSIC eq. 4), zero diagonal."""
    n = len(L)
    L = L - np.diag(np.diag(L))
    rows = L.sum(axis=1)
    M = L - (rows[:, None] + rows) / (n - 2) + rows.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(M, 0.0)
    return M / (n * (n - 3))


def squared_distances(X: np.ndarray) -> np.ndarray:
    """All squared distances by one matrix product."""
    norms = np.einsum("ij,ij->i", X, X)
    D = X @ X.T
    D *= -2.0
    D += norms[:, None]
    D += norms
    return np.maximum(D, 0.0, out=D)


def single_scores(X: np.ndarray, M: np.ndarray, gamma: float) -> np.ndarray:
    """HSIC of every column alone with kernel exp(−γ d²)."""
    K = np.empty_like(M)
    scores = np.empty(X.shape[1])
    for j, x in enumerate(X.T):
        np.subtract.outer(x, x, out=K)
        K *= K
        K *= -gamma
        np.exp(K, out=K)
        scores[j] = np.vdot(K, M)
    return scores


def removal_scores(X: np.ndarray, D: np.ndarray, M: np.ndarray, gamma: float) -> np.ndarray:
    """HSIC without each column, from the squared distances D of all of them."""
    K = np.empty_like(D)
    scores = np.empty(X.shape[1])
    for j, x in enumerate(X.T):
        np.subtract.outer(x, x, out=K)
        K *= K
        np.subtract(D, K, out=K)
        K *= -gamma
        np.exp(K, out=K)
        scores[j] = np.vdot(K, M)
    return scores


def backward_ranking(X: np.ndarray, M: np.ndarray, fraction: float = 0.1) -> list[int]:
    """BAHSIC with γ = 1/(2d): all columns, first eliminated first."""
    alive = np.arange(X.shape[1])
    eliminated: list[int] = []
    while len(alive) > 1:
        D = squared_distances(X[:, alive])
        scores = removal_scores(X[:, alive], D, M, 1.0 / (2 * (len(alive) - 1)))
        n_out = min(int(fraction * len(alive)) + 1, len(alive) - 1)
        out = np.argsort(-scores, kind="stable")[:n_out]
        eliminated.extend(alive[out].tolist())
        alive = np.delete(alive, out)
    return [*eliminated, int(alive[0])]
