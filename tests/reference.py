"""Slow, obvious twins of the fast functions: loops and definitions, nothing clever."""

from __future__ import annotations

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
