"""Forward selection: add the unit that makes the set best, k times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from featsieve.arrays import FloatArray
from featsieve.input.parameters import check_fraction_or_count
from featsieve.protocols import HasAdditions, HasValue
from featsieve.result import SelectionResult
from featsieve.runtime.ordering import best_first
from featsieve.searches.rounds import round_size


class Forward(BaseEstimator):
    """Greedy additions.

    Parameters
    ----------
    step : int or float, default=1
        How many units a round adds: a count, or a fraction f of those still outside
        (then int(f · m) + 1 of them).
    """

    requires: ClassVar[tuple[type, ...]] = (HasValue,)

    def __init__(self, *, step: float = 1) -> None:
        self.step = step

    def steps(self, bound: Any, k: int) -> Iterator[SelectionResult]:
        check_fraction_or_count("step", self.step)
        selected: list[int] = []
        outside = list(range(bound.n_units))
        scores = np.full(bound.n_units, np.nan)
        trace: list[float] = []
        while len(selected) < k:
            values = values_with(bound, selected, outside)
            scores[outside] = values
            size = min(round_size(self.step, len(outside)), k - len(selected))
            chosen = [outside[p] for p in best_first(values)[:size]]
            selected += chosen
            outside = [unit for unit in outside if unit not in set(chosen)]
            trace.append(float(scores[selected[-1]]) if size == 1 else bound.value(selected))
            yield SelectionResult(
                np.array(selected, dtype=np.intp),
                scores.copy(),
                objective=trace[-1],
                path=tuple(selected),
                trace=tuple(trace),
            )
            bound.monitor.tick("adding", len(selected), k)


def values_with(bound: Any, subset: Sequence[int], candidates: Sequence[int]) -> FloatArray:
    """All additions at once where the measure can, else one by one."""
    if isinstance(bound, HasAdditions):
        return bound.values_with(subset, candidates)
    return np.array([bound.value([*subset, candidate]) for candidate in candidates])
