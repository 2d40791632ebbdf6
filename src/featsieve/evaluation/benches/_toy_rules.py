"""Rules of the authors of P-LSMI that differ from ours, for the rows that explain Table 4."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform

from featsieve.arrays import Array, FloatArray

N_PATH = 100


def nearest_k_lasso(X: FloatArray, y: Array, k: int) -> list[int]:
    """The point of a path of 100 penalties with the number of columns nearest to k, then top |β|.

    Fewer than k columns can come out; for numbers as for classes coded ±1.
    """
    from sklearn.linear_model import lasso_path

    scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    target = np.where(y == y.max(), 1.0, -1.0) if len(np.unique(y)) == 2 else y
    target = target - target.mean()
    largest = np.abs(scaled.T @ target).max() / len(target)
    _, path, _ = lasso_path(scaled, target, alphas=largest * np.geomspace(1.0, 1e-3, N_PATH))
    counts = (path != 0).sum(axis=0)
    point = path[:, int(np.argmin(np.abs(counts - k)))]
    order = np.argsort(-np.abs(point), kind="stable")[:k]
    return [int(j) for j in order if point[j] != 0]


def nan_rule_forward(X: FloatArray, y: Array, k: int) -> list[int]:
    """Forward selection by biased HSIC where a column whose median distance is 0 has no value.

    Two rows in two agree in a balanced binary column, so its median distance is 0 or 1 by chance;
    with 0 the authors' width is 0, their HSIC is not a number, and their maximum passes it over.
    """
    scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    target = _centred((y[:, None] == y[None, :]).astype(float))
    chosen: list[int] = []
    while len(chosen) < k:
        rest = [j for j in range(X.shape[1]) if j not in chosen]
        values = [_hsic(scaled[:, [*chosen, j]], target) for j in rest]
        chosen.append(rest[int(np.nanargmax(values))] if np.isfinite(values).any() else rest[0])
    return chosen


def _centred(K: FloatArray) -> FloatArray:
    rows = K.mean(axis=0)
    return np.asarray(K - rows[:, None] - rows[None, :] + rows.mean())


def _hsic(X: FloatArray, centred_target: FloatArray) -> float:
    squares = pdist(X, "sqeuclidean")
    width = float(np.median(squares))  # σ² of the median distance
    if width == 0:
        return float("nan")
    kernel = np.exp(-squareform(squares) / (2 * width))
    return float((kernel * centred_target).sum())
