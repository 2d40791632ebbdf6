"""Slow, obvious twins of the fast functions: loops and definitions, nothing clever."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

# --- HSIC family ----------------------------------------------------------------------------------


def rbf_gram(X, sigma):
    """exp(−‖x_i − x_j‖²/2σ²), one pair at a time."""
    n = len(X)
    return np.array(
        [[np.exp(-((X[i] - X[j]) ** 2).sum() / (2 * sigma**2)) for j in range(n)] for i in range(n)]
    )


def four_index_hsic(K, L):
    """The U-statistic of P-HSIC eq. (6) and (7): every ordered quadruple."""
    m = len(K)
    total = 0.0
    for s, t, u, v in permutations(range(m), 4):
        total += K[s, t] * L[s, t] + K[s, t] * L[u, v] - 2 * K[s, t] * L[s, u]
    return total / (m * (m - 1) * (m - 2) * (m - 3))


def four_index_R(K, L):
    """R of P-HSIC eq. (8) by the definition; h is symmetrised over its four arguments."""
    m = len(K)
    parts = np.zeros(m)
    for quadruple in permutations(range(m), 4):
        h = 0.0
        for s, t, u, v in permutations(quadruple):
            h += K[s, t] * L[s, t] + K[s, t] * L[u, v] - 2 * K[s, t] * L[s, u]
        parts[quadruple[0]] += h / 24
    return float(np.mean((parts / ((m - 1) * (m - 2) * (m - 3))) ** 2))


def biased_hsic(K, L):
    """tr(KHLH)/(n − 1)² with H written out (P-LSMI eq. 4)."""
    n = len(K)
    H = np.eye(n) - np.ones((n, n)) / n
    return float(np.trace(K @ H @ L @ H)) / (n - 1) ** 2


def median_pair_distance(X):
    """The median over pairs i < j; of the positive distances when that is zero; 1 without any."""
    n = len(X)
    found = np.array([np.sqrt(((X[i] - X[j]) ** 2).sum()) for i, j in combinations(range(n), 2)])
    if np.median(found) > 0:
        return float(np.median(found))
    return float(np.median(found[found > 0])) if (found > 0).any() else 1.0
