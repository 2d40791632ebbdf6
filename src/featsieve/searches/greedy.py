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
        selected: list[int] = []
        is_outside = np.ones(bound.n_units, dtype=bool)
        chosen = np.full(bound.n_units, np.nan)
        trace: list[float] = []
        while len(selected) < k:
            if selected:
                run.add(selected[-1])
            current = run.scores(is_outside)
            scores = np.where(is_outside, current, chosen)
            best = best_index(np.where(is_outside, current, -np.inf))
            selected.append(best)
            is_outside[best] = False
            chosen[best] = current[best]
            trace.append(float(current[best]))
            bound.monitor.tick("adding", len(selected), k)
            yield SelectionResult(
                np.array(selected, dtype=np.intp),
                scores,
                objective=trace[-1],
                path=tuple(selected),
                trace=tuple(trace),
            )
