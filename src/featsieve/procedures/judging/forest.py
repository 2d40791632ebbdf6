"""Trees one by one, as scikit-learn's forests grow them, on our threads.

The trees, their mean and their importance are those of ``ExtraTreesRegressor`` and, from rows drawn
with replacement, of ``RandomForestRegressor``, bit by bit. What is left out is what a forest does
around each tree, which takes longer than a small tree itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.runtime.pool import ordered_map

MOST_AT_ONCE = 10  # trees: small ones take less time than to hand them to a thread


@dataclass(frozen=True)
class Grower:
    """What all trees of a forest share; ``weight`` is None, or one number per row.

    ``draws``: each tree has rows of its own, drawn with replacement, and the best cuts instead of
    random ones.
    """

    table: FloatArray
    targets: FloatArray
    weight: FloatArray | None = None
    min_rows: int = 2
    max_features: float = 1.0
    max_depth: int | None = None
    draws: bool = False

    def trees(self, seeds: Sequence[int], n_jobs: int = 1) -> Iterator[Any]:
        """One tree per seed, in order."""
        X = np.ascontiguousarray(self.table, dtype=np.float32)
        Y = np.ascontiguousarray(self.targets, dtype=np.float64)
        size = max(1, min(MOST_AT_ONCE, len(seeds) // (2 * n_jobs)))
        pieces = [seeds[start : start + size] for start in range(0, len(seeds), size)]
        return chain.from_iterable(
            ordered_map(lambda piece: self._grown(X, Y, piece), pieces, n_jobs)
        )

    def _grown(self, X: Any, Y: FloatArray, seeds: Sequence[int]) -> list[Any]:
        from sklearn import config_context
        from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

        kind = DecisionTreeRegressor if self.draws else ExtraTreeRegressor
        rng = np.random.RandomState(0)  # a new one would take a third of the time of a small tree
        trees = [
            kind(
                min_samples_leaf=self.min_rows,
                max_features=self.max_features,
                max_depth=self.max_depth,
                random_state=rng,
            )
            for _ in seeds
        ]
        with config_context(skip_parameter_validation=True):  # which takes longer than the tree
            for tree, seed in zip(trees, seeds, strict=True):
                weight = self._times_drawn(rng, seed) if self.draws else self.weight
                rng.seed(seed)
                tree.fit(X, Y, sample_weight=weight, check_input=False)
        return trees

    def _times_drawn(self, rng: np.random.RandomState, seed: int) -> FloatArray:
        rng.seed(seed)
        n = len(self.table)
        if self.weight is None:
            rows = rng.randint(0, n, n)
        else:
            rows = rng.choice(n, n, p=self.weight / np.sum(self.weight))
        return np.bincount(rows, minlength=n).astype(np.float64)


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
    total = np.sum(mean)  # 0 where no branch parts anything
    return np.asarray(mean / total if total > 0 else mean)
