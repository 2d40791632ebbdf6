"""From rows of W to columns: the set that the penalty leaves, a greedy one, and exchanges.

A transformation with many columns to choose from fits noise: of its rows some may matter less for
the columns as they are, which a selector hands back, than others that the path dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from featsieve.arrays import IntArray
from featsieve.protocols import HasAdditions, HasRemovals, HasValue
from featsieve.runtime.ordering import best_first, best_index, tie_width

_OF_PATH = (3, 10)  # candidates: 3k + 10 units that the path kept longest, …
_OF_SCORES = (5, 50)  # … and the 5k + 50 best ones alone
_EXCHANGES_PER_UNIT = 2


class ColumnSets(HasValue, HasAdditions, HasRemovals, Protocol):
    """The values of sets of units, and of all additions and removals."""


def best_columns(sets: ColumnSets, selected: Sequence[int], order: IntArray) -> list[int]:
    """As many units as ``selected``, whose criterion as a set is at least that of ``selected``.

    ``order``: all units, those first that the path kept longest.
    """
    k = len(selected)
    scores = sets.values_with([], range(len(order)))
    lists = (selected, order[: _size(_OF_PATH, k)], best_first(scores)[: _size(_OF_SCORES, k)])
    pool = list(dict.fromkeys(int(unit) for units in lists for unit in units))
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
        leaving = selected[best_index(sets.values_without(selected, selected))]
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
