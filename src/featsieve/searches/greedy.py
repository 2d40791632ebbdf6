"""Pairwise greedy search: add the unit that a criterion values most beside the selected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.ordering import best_index
from featsieve.result import SelectionResult
from featsieve.searches.criteria import Criterion, JointInformation


class Greedy(BaseEstimator):
    """One engine for all greedy information criteria; ties go to the lowest index.

    Parameters
    ----------
    criterion : a criterion of featsieve.searches.criteria, default JointInformation (JMI)
    """

    def __init__(self, criterion: Criterion | None = None) -> None:
        self.criterion = criterion

    @property
    def requires(self) -> tuple[type, ...]:
        return self._criterion.requires

    @property
    def _criterion(self) -> Criterion:
        return JointInformation() if self.criterion is None else self.criterion

    def steps(self, bound: Any, k: int) -> Iterator[SelectionResult]:
        run = self._criterion.begin(bound)
        indices = np.empty(k, dtype=np.intp)
        path: list[int] = []
        trace: list[float] = []
        is_outside = np.ones(bound.n_units, dtype=bool)
        barred = np.zeros(bound.n_units)  # −∞ for the selected
        chosen = np.full(bound.n_units, np.nan)
        for step in range(k):
            if path:
                run.add(path[-1])
            current = run.scores(is_outside)
            best = best_index(current + barred, run.scale)
            scores = np.where(is_outside, current, chosen)
            indices[step] = best
            is_outside[best], barred[best], chosen[best] = False, -np.inf, current[best]
            path.append(best)
            trace.append(float(current[best]))
            bound.monitor.tick("adding", step + 1, k)
            yield SelectionResult(
                indices[: step + 1],  # what is written later lies behind it
                scores,
                objective=trace[-1],
                path=tuple(path),
                trace=tuple(trace),
            )
