"""Extremely randomised trees one by one, as scikit-learn's forest grows them, on our threads.

The trees, their mean and their importance are those of ``ExtraTreesRegressor``, bit by bit. What is
left out is what a forest does around each tree, which takes longer than a small tree itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.runtime.pool import ordered_map


@dataclass(frozen=True)
class Grower:
    """What all trees of a forest share; ``weight`` is None, or one number per row."""

    table: FloatArray
    targets: FloatArray
    weight: FloatArray | None = None
    min_rows: int = 2
    max_features: float = 1.0
    max_depth: int | None = None

    def trees(self, seeds: Sequence[int], n_jobs: int = 1) -> Iterator[Any]:
        """One tree per seed, in order."""
        X = np.ascontiguousarray(self.table, dtype=np.float32)
        Y = np.ascontiguousarray(self.targets, dtype=np.float64)
        return ordered_map(lambda seed: self._tree(X, Y, seed), seeds, n_jobs)

    def _tree(self, X: Any, Y: FloatArray, seed: int) -> Any:
        from sklearn import config_context
        from sklearn.tree import ExtraTreeRegressor

        tree = ExtraTreeRegressor(
            min_samples_leaf=self.min_rows,
            max_features=self.max_features,
            max_depth=self.max_depth,
            random_state=seed,
        )
        with config_context(skip_parameter_validation=True):  # which takes longer than the tree
            return tree.fit(X, Y, sample_weight=self.weight, check_input=False)


def tree_seeds(seed: int, n_trees: int) -> list[int]:
    """Those of a forest with this seed: the first ones do not depend on how many there are."""
    rng = np.random.RandomState(seed)
    return [int(rng.randint(np.iinfo(np.int32).max)) for _ in range(n_trees)]


def mean_prediction(trees: Sequence[Any], table: FloatArray) -> FloatArray:
    """One row for each row of the table, one column per target."""
    X = np.ascontiguousarray(table, dtype=np.float32)
    total = np.zeros((len(X), trees[0].n_outputs_))
    for tree in trees:
        total += tree.predict(X, check_input=False).reshape(len(X), -1)
    return total / len(trees)


def mean_importance(trees: Sequence[Any]) -> FloatArray:
    """The share of each column; zeros where no tree has a branch."""
    shares = [tree.feature_importances_ for tree in trees if tree.tree_.node_count > 1]
    if not shares:
        return np.zeros(trees[0].n_features_in_)
    mean = np.mean(shares, axis=0, dtype=np.float64)
    return np.asarray(mean / np.sum(mean))
