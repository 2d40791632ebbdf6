"""Random choices that depend on a seed and on row numbers only: folds, centres, subsamples."""

from __future__ import annotations

from typing import Literal

import numpy as np

from featsieve.schema import FloatArray, IntArray

CenterRule = Literal["random", "stratified", "kmeans++"]


def stratified_folds(
    labels: FloatArray | None, n_samples: int, n_folds: int, rng: np.random.Generator
) -> IntArray:
    """A fold for each row; within a class (all rows if there are none) as even as can be."""
    shuffled = rng.permutation(n_samples)
    if labels is not None:
        shuffled = shuffled[np.argsort(labels[shuffled], kind="stable")]
    folds = np.empty(n_samples, dtype=np.intp)
    folds[shuffled] = np.arange(n_samples) % n_folds
    return folds


def random_rows(n_samples: int, size: int, rng: np.random.Generator) -> IntArray:
    """Distinct rows in ascending order; all of them if there are not more."""
    if size >= n_samples:
        return np.arange(n_samples, dtype=np.intp)
    return np.sort(rng.choice(n_samples, size, replace=False)).astype(np.intp)


def stratified_rows(labels: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Rows with class shares as in the table: every (n/size)-th of a shuffle sorted by class."""
    n_samples = len(labels)
    shuffled = rng.permutation(n_samples)
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    picks = (np.arange(size) + 0.5) * (n_samples / size)
    return np.sort(by_class[picks.astype(np.intp)])


def spread_rows(X: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Rows far from each other: k-means++ seeding, P(row) ∝ squared distance to the nearest."""
    chosen = [int(rng.integers(len(X)))]
    nearest = ((X - X[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < size:
        total = nearest.sum()
        free = np.setdiff1d(np.arange(len(X)), chosen)
        row = rng.choice(len(X), p=nearest / total) if total > 0 else rng.choice(free)
        chosen.append(int(row))
        nearest = np.minimum(nearest, ((X - X[row]) ** 2).sum(axis=1))
    return np.sort(np.asarray(chosen, dtype=np.intp))
