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
import numpy as np


# --- LSMI family and the l1 ball -----------------------------------------------------------------


def l1_projection_by_bisection(w, radius, nonnegative):
    """Shrink all sizes by the same amount until their sum is the radius."""
    size = np.maximum(w, 0.0) if nonnegative else np.abs(w)
    low, high = 0.0, size.max()
    if size.sum() > radius:
        for _ in range(200):
            shrink = (low + high) / 2
            inside = np.maximum(size - shrink, 0).sum() <= radius
            low, high = (low, shrink) if inside else (shrink, high)
    size = np.maximum(size - (high if size.sum() > radius else 0.0), 0.0)
    return size if nonnegative else np.sign(w) * size
# --- evaluation ----------------------------------------------------------------------------------


def f_measure_by_definition(selected: set[int], relevant: set[int]) -> float:
    """2pr/(p + r), 0 where precision and recall are both 0 (P-LSMI, section 6.2)."""
    hits = sum(1 for one in selected if one in relevant)
    if hits == 0:
        return 0.0
    precision, recall = hits / len(selected), hits / len(relevant)
    return 2 * precision * recall / (precision + recall)

import numpy as np

# --- Pearson and Hall ---------------------------------------------------------------------------


def weighted_correlation(x, y, weight):
    """Pearson's r by its definition; 0 for a constant column."""
    total = sum(weight)
    mean_x = sum(w * a for w, a in zip(weight, x, strict=True)) / total
    mean_y = sum(w * b for w, b in zip(weight, y, strict=True)) / total
    rows = list(zip(weight, x, y, strict=True))
    sxy = sum(w * (a - mean_x) * (b - mean_y) for w, a, b in rows)
    sxx = sum(w * (a - mean_x) ** 2 for w, a, _ in rows)
    syy = sum(w * (b - mean_y) ** 2 for w, _, b in rows)
    return 0.0 if sxx == 0 or syy == 0 else sxy / (sxx * syy) ** 0.5


def pearson_scores(X, y, task, weight=None):
    """Each column on its own: |r|, or Hall's Σ_c p(c) |r with 1[y = c]|; outputs are averaged."""
    weight = np.ones(len(X)) if weight is None else weight
    outputs = np.asarray(y).reshape(len(X), -1).T
    return np.array(
        [np.mean([_column_score(x, t, task, weight) for t in outputs]) for x in np.asarray(X).T]
    )


def _column_score(x, y, task, weight):
    if task == "regression":
        return abs(weighted_correlation(x, y, weight))
    share = {c: sum(weight[y == c]) / sum(weight) for c in set(y.tolist())}
    return sum(p * abs(weighted_correlation(x, 1.0 * (y == c), weight)) for c, p in share.items())


def hall_categorical(states, y, task):
    """Hall's correlation of a nominal column: indicator correlations weighted by frequencies."""
    ones = np.ones(len(y))
    total = 0.0
    for state in set(states.tolist()):
        here = states == state
        if task == "regression":
            total += here.mean() * abs(weighted_correlation(1.0 * here, y, ones))
            continue
        for label in set(y.tolist()):
            both = (here & (y == label)).mean()
            total += both * abs(weighted_correlation(1.0 * here, 1.0 * (y == label), ones))
    return total
