"""From rows of W to columns: what comes after the path of penalties (P-L1INF leaves this open).

Where a set has a value with W at its best, units are exchanged while that rises. Where it has one
without W, a greedy set is compared as well: with many columns to choose from, a transformation fits
noise, and some of its rows may matter less for the columns as they are than others it dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Protocol

import numpy as np

from featsieve.arrays import IntArray
from featsieve.protocols import HasAdditions, HasRemovals, HasTransformValue, HasValue
from featsieve.runtime.ordering import best_first, best_index, tie_width

_OF_PATH = (3, 10)  # candidates: 3k + 10 units that the path kept longest, …
_OF_SCORES = (5, 50)  # … and the 5k + 50 best ones alone
_EXCHANGES_PER_UNIT = 2


def exchanged(
    bound: HasTransformValue, selected: Sequence[int], order: IntArray, n_components: int
) -> list[int]:
    """The units after the best exchanges with those that stand first in ``order``."""
    others = [int(unit) for unit in order if unit not in set(selected)]
    others = others[: _size(_OF_PATH, len(selected))]
    pool = [*selected, *others]
    value = bound.transform_value(pool, n_components)
    places = list(range(len(selected)))
    best = value(places)
    for _ in range(_EXCHANGES_PER_UNIT * len(places)):
        candidate, reached = _best_exchange(value, places, pool)
        if reached <= best + tie_width(best):
            break
        places, best = candidate, reached
    return [pool[position] for position in places]


def _best_exchange(
    value: Callable[[Sequence[int]], float], places: list[int], pool: Sequence[int]
) -> tuple[list[int], float]:
    """Of equal ones that in which the last unit leaves and the first one enters."""
    best, reached = places, -np.inf
    by_unit = np.argsort(pool, kind="stable").tolist()
    inside = [position for position in by_unit[::-1] if position in places]
    outside = [position for position in by_unit if position not in places]
    for leaving, entering in product(inside, outside):
        candidate = [entering if position == leaving else position for position in places]
        gained = value(candidate)
        if gained > reached + tie_width(reached if np.isfinite(reached) else 0.0):
            best, reached = candidate, gained
    return best, reached


class ColumnSets(HasValue, HasAdditions, HasRemovals, Protocol):
    """The values of sets of units, and of all additions and removals."""


def best_columns(sets: ColumnSets, selected: Sequence[int], order: IntArray) -> list[int]:
    """As many units as ``selected``, whose criterion as a set is at least that of ``selected``.

    ``order``: all units, those first that the path kept longest.
    """
    k = len(selected)
    scores = sets.values_with([], range(len(order)))
    lists = (selected, order[: _size(_OF_PATH, k)], best_first(scores)[: _size(_OF_SCORES, k)])
    # A constant column changes no set, so it would level with a copy of a selected one.
    says_something = np.abs(scores) > tie_width(float(np.abs(scores).max(initial=0.0)))
    some = (int(unit) for units in lists for unit in units)
    pool = [unit for unit in dict.fromkeys(some) if says_something[unit] or unit in selected]
    best, reached = list(selected), sets.value(selected)
    greedy = _forward(sets, pool, k)
    if sets.value(greedy) > reached + tie_width(reached):
        best, reached = greedy, sets.value(greedy)
    return _exchanged(sets, best, reached, pool)


def _size(line: tuple[int, int], k: int) -> int:
    return line[0] * k + line[1]


def _forward(sets: ColumnSets, pool: Sequence[int], k: int) -> list[int]:
    outside, selected = sorted(pool), list[int]()
    for _ in range(k):
        selected.append(outside.pop(best_index(sets.values_with(selected, outside))))
    return selected


def _exchanged(
    sets: ColumnSets, selected: list[int], reached: float, pool: Sequence[int]
) -> list[int]:
    """The unit that is missed least goes for the best other one, while the criterion rises."""
    for _ in range(_EXCHANGES_PER_UNIT * len(selected)):
        last_first = sorted(selected, reverse=True)  # of equal ones the last leaves
        leaving = last_first[best_index(sets.values_without(selected, last_first))]
        kept = [unit for unit in selected if unit != leaving]
        outside = sorted(set(pool) - set(selected))
        if not outside:
            break
        values = sets.values_with(kept, outside)
        entering = best_index(values)
        if values[entering] <= reached + tie_width(reached):
            break
        selected, reached = [*kept, outside[entering]], float(values[entering])
    return selected
