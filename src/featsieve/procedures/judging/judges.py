"""Quick models of different kinds that judge a set of columns on rows held out.

Classes are predicted by regression on their indicators, so that one piece of code serves numbers,
classes and several outputs. Columns come encoded and standardised (:mod:`.rows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from featsieve.arrays import FloatArray
from featsieve.procedures.judging.forest import Grower, mean_prediction, tree_seeds
from featsieve.runtime.pool import single_threaded_blas


class Judge(Protocol):
    """A model that is trained and asked in one call."""

    def predict(
        self,
        train: FloatArray,
        targets: FloatArray,
        test: FloatArray,
        seed: int,
        weight: FloatArray | None = None,
    ) -> FloatArray:
        """One row of predicted targets for each row of ``test``; ``weight``: of ``train``."""
        ...


@dataclass(frozen=True)
class Neighbors:
    """The (weighted) mean of the nearest rows."""

    n_neighbors: int = 5

    def predict(
        self,
        train: FloatArray,
        targets: FloatArray,
        test: FloatArray,
        seed: int,
        weight: FloatArray | None = None,
    ) -> FloatArray:
        k = min(self.n_neighbors, len(train))
        distances = squared_distances(test, train)
        nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
        if weight is None:
            return np.asarray(targets[nearest].mean(axis=1))
        shares = weight[nearest] / weight[nearest].sum(axis=1, keepdims=True)
        return np.asarray(np.einsum("ij,ijk->ik", shares, targets[nearest]))


@dataclass(frozen=True)
class Trees:
    """Extremely randomised trees."""

    n_trees: int = 25
    min_rows: int = 2

    def predict(
        self,
        train: FloatArray,
        targets: FloatArray,
        test: FloatArray,
        seed: int,
        weight: FloatArray | None = None,
    ) -> FloatArray:
        grower = Grower(train, targets, weight, min_rows=self.min_rows)
        trees = list(grower.trees(tree_seeds(seed % 2**32, self.n_trees)))
        return mean_prediction(trees, test)


@dataclass(frozen=True)
class KernelRidge:
    """Ridge regression with a Gaussian kernel whose width follows the number of columns."""

    penalty: float = 0.03

    def predict(
        self,
        train: FloatArray,
        targets: FloatArray,
        test: FloatArray,
        seed: int,
        weight: FloatArray | None = None,
    ) -> FloatArray:
        rate = 0.5 / max(train.shape[1], 1)
        counted = 1.0 if weight is None else weight / weight.mean()
        centre = np.average(targets, axis=0, weights=weight)
        with single_threaded_blas():  # the second one would go on waiting, and keep a core from us
            K = np.exp(-rate * squared_distances(train, train))
            K[np.diag_indices_from(K)] += self.penalty / counted
            weights = cho_solve(cho_factor(K, lower=True, overwrite_a=True), targets - centre)
            return np.asarray(np.exp(-rate * squared_distances(test, train)) @ weights + centre)


JUDGES: Mapping[str, Judge] = {
    "neighbors": Neighbors(),
    "trees": Trees(),
    "ridge": KernelRidge(),
}
COUNT_JUDGES = ("neighbors", "trees")


def squared_distances(A: FloatArray, B: FloatArray) -> FloatArray:
    """Between all rows of A and all rows of B.

    >>> squared_distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[25.]])
    """
    squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1)[None, :]
    return np.asarray(np.maximum(squares - 2.0 * (A @ B.T), 0.0))
