"""Ranking: every unit on its own, the best k are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from sklearn.base import BaseEstimator

from featsieve.protocols import HasScores, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first


class Ranking(BaseEstimator):
    """Sort by score; ties go to the lowest index.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import Pearson
    >>> from featsieve.searches import Ranking
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(Pearson(), Ranking(), n_features_to_select=2)
    >>> selector.fit(X, y).result_.order.tolist()
    [2, 3, 0, 1]
    """

    requires: ClassVar[tuple[type, ...]] = (HasScores,)
    nesting: ClassVar[Nesting] = "growing"

    def steps(self, bound: HasScores, k: int) -> Iterator[SelectionResult]:
        scores = bound.scores()
        order = best_first(scores)
        trace = tuple(scores[order[:k]].tolist())
        yield SelectionResult(order[:k], scores, order=order, trace=trace)
