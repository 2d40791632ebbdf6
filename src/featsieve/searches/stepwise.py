"""Stepwise searches: forward selection adds, backward elimination drops (Song et al. 2007)."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray, IntArray
from featsieve.input.parameters import (
    Check,
    check_flag,
    check_fraction_or_count,
    check_parameters,
)
from featsieve.protocols import Bound, HasAdditions, HasRemovals, HasValue, Nesting
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first


class BoundValue(Bound, HasValue, Protocol):
    """A bound measure with a value for a set of units."""


def round_size(step: float, current: int) -> int:
    """A count as it is; a fraction of the current count as Song et al. (2007) take it.

    >>> round_size(3, 10), round_size(0.1, 10), round_size(0.1, 5)
    (3, 2, 1)
    """
    if isinstance(step, numbers.Integral):
        return int(step)
    return int(step * current) + 1


@dataclass(kw_only=True, eq=False, repr=False)
class Forward(BaseEstimator):
    """Greedy additions.

    Parameters
    ----------
    step : int or float, default=1
        How many units a round adds: a count, or a fraction f of those still outside
        (then int(f · m) + 1 of them).

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import HSIC
    >>> from featsieve.searches import Forward
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(HSIC(), Forward(), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 3]
    """

    requires: ClassVar[tuple[type, ...]] = (HasValue,)
    nesting: ClassVar[Nesting] = "growing"
    checks: ClassVar[Mapping[str, Check]] = {"step": check_fraction_or_count}

    step: float = 1

    def steps(self, bound: BoundValue, k: int) -> Iterator[SelectionResult]:
        check_parameters(self, self.checks)
        selected: list[int] = []
        outside = list(range(bound.n_units))
        scores = np.full(bound.n_units, np.nan)
        trace: list[float] = []
        while len(selected) < k:
            size = min(round_size(self.step, len(outside)), k - len(selected))
            values = values_with(bound, selected, outside)
            scores[outside] = values
            chosen = [outside[p] for p in best_first(values)[:size]]
            selected += chosen
            entered = set(chosen)
            outside = [unit for unit in outside if unit not in entered]
            trace.append(float(scores[selected[-1]]) if size == 1 else bound.value(selected))
            yield SelectionResult(
                np.array(selected, dtype=np.intp),
                scores.copy(),
                objective=trace[-1],
                path=tuple(selected),
                trace=tuple(trace),
            )
            bound.monitor.tick("adding", len(selected), k)


def values_with(bound: BoundValue, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
    """All additions at once where the measure can, else one by one."""
    if isinstance(bound, HasAdditions):
        return bound.values_with(subset, candidates)
    return _one_by_one(bound, ([*subset, candidate] for candidate in candidates))


@dataclass(kw_only=True, eq=False, repr=False)
class Backward(BaseEstimator):
    """Greedy removals; the last removed is the best.

    Parameters
    ----------
    step : int or float, default=1
        How many units a round removes: a count, or a fraction f of the current count
        (then int(f · m) + 1 of them), never below k.
    order_selected : bool, default=True
        Go on one by one below k, so that the selected units come best first.

    Examples
    --------
    >>> from featsieve import FeatureSelector
    >>> from featsieve.measures import HSIC
    >>> from featsieve.searches import Backward
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = FeatureSelector(HSIC(), Backward(step=0.1), n_features_to_select=2)
    >>> selector.fit(X, y).indices_.tolist()
    [2, 3]
    """

    requires: ClassVar[tuple[type, ...]] = (HasValue,)
    nesting: ClassVar[Nesting] = "shrinking"
    checks: ClassVar[Mapping[str, Check]] = {
        "step": check_fraction_or_count,
        "order_selected": check_flag,
    }

    step: float = 1
    order_selected: bool = True

    def steps(self, bound: BoundValue, k: int) -> Iterator[SelectionResult]:
        check_parameters(self, self.checks)
        left = list(range(bound.n_units))
        removed: list[int] = []
        scores = np.full(bound.n_units, np.nan)
        objective: float | None = None
        trace: list[float] = []
        while len(left) > (1 if self.order_selected else k):
            size = removals_due(self.step, len(left), k)
            values = values_without(bound, left, left)
            scores[left] = -values
            if len(left) == k and objective is None:
                objective = float(bound.value(left))
            # Of equals the last one goes first, so that the first one is kept.
            dropped = [left[p] for p in best_first(-values)[::-1][:size]]
            trace.append(float(values.max()))
            removed += dropped
            gone = set(dropped)
            left = [unit for unit in left if unit not in gone]
            yield elimination_result(left, removed, scores, k, objective, trace)
            bound.monitor.tick("removing", len(removed), bound.n_units - 1)
        if objective is None:
            objective = float(bound.value(left))
        yield elimination_result(left, removed, scores, k, objective, trace)


def removals_due(step: float, current: int, k: int) -> int:
    """A full round above k, ending at k exactly; one by one below, for the order."""
    return min(round_size(step, current), current - k) if current > k else 1


def elimination_result(
    left: Sequence[int] | IntArray,
    removed: Sequence[int],
    scores: FloatArray,
    k: int,
    objective: float | None,
    trace: Sequence[float],
) -> SelectionResult:
    """The best order so far: what is left (by its last scores), then the removed, last first."""
    units = np.asarray(left, dtype=np.intp)
    ranked = units[best_first(scores[units])]
    order = np.array([*ranked.tolist(), *reversed(removed)], dtype=np.intp)
    return SelectionResult(
        order[:k],
        scores.copy(),
        objective=objective,
        order=order,
        path=tuple(removed),
        trace=tuple(trace),
    )


def values_without(
    bound: BoundValue, subset: Sequence[int], candidates: Sequence[int]
) -> FloatArray:
    """All removals at once where the measure can, else one by one."""
    if isinstance(bound, HasRemovals):
        return bound.values_without(subset, candidates)
    return _one_by_one(bound, ([u for u in subset if u != c] for c in candidates))


def _one_by_one(bound: BoundValue, subsets: Iterable[Sequence[int]]) -> FloatArray:
    """A measure may not look at the clock itself."""
    values = []
    for subset in subsets:
        bound.monitor.check()
        values.append(bound.value(subset))
    return np.array(values)
