"""The compiled inner loop of branch and bound: the row bound of one node, tightened in rounds.

All arrays are over the node's free indices; ``shares`` has the halves of each pair's value as they
are split at the moment, ``pairs`` the symmetric halves, ``linear`` each index's own value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from featsieve.kernels.quadratic import kth_largest

FloatArray = npt.NDArray[np.floating[Any]]
FlagArray = npt.NDArray[np.int8]

OPEN, DONE, DECIDED = 0, 1, 2
PATIENCE = 8  # rounds without a better bound after which the steps are halved


@njit(nogil=True, cache=True)
def _flag_largest(
    values: FloatArray, count: int, skip: int, scratch: FloatArray, flags: FlagArray
) -> float:
    """Flag the ``count`` largest values (never ``skip``), ties to the lowest; their sum."""
    size = len(values) - 1 if skip < len(values) else len(values)
    at = 0
    for j in range(len(values)):
        flags[j] = 0
        if j != skip:
            scratch[at] = values[j]
            at += 1
    if count == 0:
        return 0.0
    threshold = kth_largest(scratch, size, count)
    total, above = 0.0, 0
    for j in range(len(values)):
        if j != skip and values[j] > threshold:
            flags[j] = 1
            total += values[j]
            above += 1
    for j in range(len(values)):
        if above < count and j != skip and values[j] == threshold:
            flags[j] = 1
            total += threshold
            above += 1
    return total


@njit(nogil=True, cache=True)
def _top_value(pairs: FloatArray, linear: FloatArray, is_top: FlagArray) -> float:
    """What the top rows are worth as an answer."""
    total = 0.0
    for i in range(len(linear)):
        if is_top[i]:
            total += linear[i]
            for j in range(i):
                if is_top[j]:
                    total += 2.0 * pairs[i, j]
    return total


@njit(nogil=True, cache=True)
def _move_shares(shares: FloatArray, used: FlagArray, is_top: FlagArray, room: float) -> bool:
    """A subgradient step of Polyak's length; False if both ends of all pairs agree already."""
    n = len(shares)
    norm = 0
    for i in range(n):
        for j in range(i):
            if (is_top[i] & used[i, j]) != (is_top[j] & used[j, i]):
                norm += 1
    if norm == 0:
        return False
    step = room / norm
    for i in range(n):
        for j in range(i):
            change = step * ((is_top[i] & used[i, j]) - (is_top[j] & used[j, i]))
            shares[i, j] -= change
            shares[j, i] += change
    return True


@njit(nogil=True, cache=True)
def _decide(
    worth: FloatArray, is_top: FlagArray, bound: float, goal: float, decided: FlagArray
) -> bool:
    """1 or 0 for each index that can bring more than ``goal`` only in or only out, else −1."""
    worst_top, best_rest = np.inf, -np.inf
    for i in range(len(worth)):
        if is_top[i]:
            worst_top = min(worst_top, worth[i])
        else:
            best_rest = max(best_rest, worth[i])
    any_decided = False
    for i in range(len(worth)):
        decided[i] = -1
        if is_top[i] and bound - worth[i] + best_rest <= goal:
            decided[i] = 1
            any_decided = True
        elif not is_top[i] and bound - worst_top + worth[i] <= goal:
            decided[i] = 0
            any_decided = True
    return any_decided


@njit(nogil=True, cache=True)
def tighten_rows(
    shares: FloatArray,
    pairs: FloatArray,
    linear: FloatArray,
    left: int,
    rounds: int,
    best_value: float,
    margin: float,
    worth: FloatArray,
    scratch: FloatArray,
    used: FlagArray,
    is_top: FlagArray,
    best_top: FlagArray,
    decided: FlagArray,
) -> tuple[int, float]:
    """Rounds of the row bound; (state, best bound).

    ``shares``, ``worth`` and ``is_top`` keep the last round, ``best_top`` the best answer if one
    was better than ``best_value``. DONE: nothing better here. DECIDED: see ``decided``.
    """
    bound, pace, stalled = np.inf, 1.0, 0
    for _ in range(rounds):
        for i in range(len(linear)):
            partners = _flag_largest(shares[i], left - 1, i, scratch, used[i])
            worth[i] = linear[i] + partners
        current = _flag_largest(worth, left, len(worth), scratch, is_top)
        stalled = 0 if current < bound else stalled + 1
        if stalled == PATIENCE:
            pace, stalled = pace / 2, 0
        bound = min(bound, current)
        value = _top_value(pairs, linear, is_top)
        if value > best_value:
            best_value = value
            for i in range(len(is_top)):
                best_top[i] = is_top[i]
        if bound <= best_value + margin:
            return DONE, bound
        if _decide(worth, is_top, current, best_value + margin, decided):
            return DECIDED, bound
        if not _move_shares(shares, used, is_top, pace * (current - best_value)):
            return DONE, bound  # the relaxation is a 0/1 answer
    return OPEN, bound
