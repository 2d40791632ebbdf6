"""Exchanges of selected units against others, one at a time, while the criterion rises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from featsieve.arrays import IntArray
from featsieve.protocols import HasTransformValue
from featsieve.runtime.ordering import tie_width

_POOL_FACTOR = 3
_POOL_EXTRA = 10
_EXCHANGES_PER_UNIT = 2


def exchanged(
    bound: HasTransformValue, selected: Sequence[int], order: IntArray, n_components: int
) -> list[int]:
    """The units after the best exchanges with those that stand first in ``order``."""
    limit = _POOL_FACTOR * len(selected) + _POOL_EXTRA
    others = [int(unit) for unit in order if unit not in set(selected)][:limit]
    pool = [*selected, *others]
    value = bound.transform_value(pool, n_components)
    places = list(range(len(selected)))
    best = value(places)
    for _ in range(_EXCHANGES_PER_UNIT * len(places)):
        candidate, reached = _best_exchange(value, places, len(pool))
        if reached <= best + tie_width(best):
            break
        places, best = candidate, reached
    return [pool[position] for position in places]


def _best_exchange(
    value: Callable[[Sequence[int]], float], places: list[int], n_pool: int
) -> tuple[list[int], float]:
    best, reached = places, -np.inf
    outside = [position for position in range(n_pool) if position not in places]
    for leaving, entering in product(places, outside):
        candidate = [entering if position == leaving else position for position in places]
        gained = value(candidate)
        if gained > reached + tie_width(reached if np.isfinite(reached) else 0.0):
            best, reached = candidate, gained
    return best, reached
