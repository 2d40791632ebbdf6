"""CMIM: the least information that a candidate adds to any selected unit (Fleuret 2004)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from featsieve.arrays import BoolArray, FloatArray
from featsieve.runtime.ordering import best_first, tie_width
from featsieve.searches.greedy import BoundInformation, Criterion, RunningCriterion


class ConditionalMinimum(Criterion):
    """min(I(X; Y), min_j I(X; Y | X_j)) (CMIM, Fleuret 2004).

    Of many units, only those that can win are evaluated; of few, picking them would cost more than
    it saves.
    """

    few_units: ClassVar[int] = 4096

    def begin(self, bound: BoundInformation) -> RunningCriterion:
        return RunningMinimum(bound) if bound.n_units <= self.few_units else LazyMinimum(bound)


class RunningMinimum:
    """The minimum of every candidate, up to date."""

    def __init__(self, bound: BoundInformation) -> None:
        self._bound = bound
        self._scores = bound.relevance().copy()
        self.scale = bound.information_scale

    def add(self, unit: int) -> None:
        gains = self._bound.information_with(unit).conditional
        self._scores = np.minimum(self._scores, gains)

    def scores(self, outside: BoolArray) -> FloatArray:
        return self._scores


class LazyMinimum(RunningMinimum):
    """A score can only fall as units are selected, so an old one is a bound.

    Units are grouped by relevance; a group is brought up to date only if its largest bound reaches
    the best score that is up to date. Where that saves too little, all are kept up to date.
    """

    group_size: ClassVar[int] = 1024
    worthwhile: ClassVar[float] = 0.5

    def __init__(self, bound: BoundInformation) -> None:
        super().__init__(bound)
        order = best_first(self._scores)
        self._groups = np.split(order, range(self.group_size, len(order), self.group_size))
        self._seen = [0] * len(self._groups)
        self._selected: list[int] = []
        self._n_evaluated = 0
        self._is_lazy = True

    def add(self, unit: int) -> None:
        if not self._is_lazy:
            super().add(unit)
            return
        self._selected.append(unit)
        if self._n_evaluated > self.worthwhile * len(self._selected) * len(self._scores):
            self._is_lazy = False
            for selected in self._selected[min(self._seen) :]:
                super().add(selected)

    def scores(self, outside: BoolArray) -> FloatArray:
        while self._is_lazy and (group := self._stale_group(outside)) is not None:
            self._update(group)
        return self._scores

    def _stale_group(self, outside: BoolArray) -> int | None:
        """The group with the largest bound, if it is behind and could still win (or tie)."""
        masked = np.where(outside, self._scores, -np.inf)
        bounds = np.array([masked[units].max() for units in self._groups])
        fresh = np.array(self._seen) == len(self._selected)
        best = np.max(bounds[fresh], initial=-np.inf)
        group = int(np.argmax(np.where(fresh, -np.inf, bounds)))
        reaches = bounds[group] > -np.inf and (
            np.isinf(best) or bounds[group] >= best - tie_width(best, self.scale)
        )
        return group if reaches and not fresh[group] else None

    def _update(self, group: int) -> None:
        units = np.sort(self._groups[group])
        missing = self._selected[self._seen[group] :]
        for selected in missing:
            gains = self._bound.information_with(selected, units).conditional
            self._scores[units] = np.minimum(self._scores[units], gains)
        self._seen[group] = len(self._selected)
        self._n_evaluated += len(units) * len(missing)
