"""Columns by their importance in randomised trees (Breiman 2001; Geurts et al. 2006)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from featsieve.arrays import FloatArray
from featsieve.procedures.judging.rows import RowSample, draw_rows, encoded_units, judged_targets
from featsieve.protocols import Engine, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first

MOST_ROWS = 5000
TREES_PER_STEP = 20


@dataclass(frozen=True)
class TreeRanking:
    """A procedure; see :class:`featsieve.TreeImportance` for the parameters."""

    n_trees: int = 100
    min_rows: int = 2
    seed: int = 0

    nesting: ClassVar[Nesting] = "growing"

    def steps(self, engine: Engine, k: int | None) -> Iterator[SelectionResult]:
        """The ranking by the trees grown so far."""
        assert k is not None  # only a procedure that counts by itself gets None
        sample = draw_rows(engine, self.seed, MOST_ROWS)
        words = None
        if not sample.is_everything:
            words = f"trees of a sample of {sample.n_rows} rows"
        done, total = 0, np.zeros(engine.schema.n_units)
        while done < self.n_trees:
            size = min(TREES_PER_STEP, self.n_trees - done)
            total += size * forest_importance(sample, size, self.min_rows, self.seed + done)
            done += size
            scores = total / done
            order = best_first(scores)
            yield SelectionResult(order[:k], scores, order=order, approximation=words)
            engine.monitor.tick("growing trees", done, self.n_trees)


def forest_importance(sample: RowSample, n_trees: int, min_rows: int, seed: int) -> FloatArray:
    """The share of each unit in the fall of the squared error (Gini, for classes) of the trees."""
    from sklearn.ensemble import ExtraTreesRegressor

    table, owner = encoded_units(sample)
    targets = np.concatenate([part for _, part in judged_targets(sample)], axis=1)
    model = ExtraTreesRegressor(
        n_trees,
        min_samples_leaf=min_rows,
        max_features=min(1.0, max(1.0 / 3.0, 2.0 / np.sqrt(table.shape[1]))),
        random_state=seed % 2**32,
    )
    wanted = targets[:, 0] if targets.shape[1] == 1 else targets
    model.fit(table, wanted, sample_weight=sample.weight)
    importance = np.bincount(owner, model.feature_importances_, sample.schema.n_units)
    return np.asarray(importance)
