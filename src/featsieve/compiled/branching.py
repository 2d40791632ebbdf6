"""The compiled inner loop of branch and bound: the row bound of one node, tightened in rounds.

All arrays are over the node's free indices; ``shares`` has the halves of each pair's value as they
are split at the moment, ``pairs`` the symmetric halves, ``linear`` each index's own value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from featsieve.compiled.inlining import part_of_kernel
from featsieve.compiled.quadratic import kth_largest

FloatArray = npt.NDArray[np.floating[Any]]
FlagArray = npt.NDArray[np.int8]

OPEN, DONE, DECIDED = 0, 1, 2
PATIENCE = 8  # rounds without a better bound after which the steps are halved


@part_of_kernel
def _flag_largest(
    lines: FloatArray, i: int, count: int, scratch: FloatArray, flags: FlagArray
) -> float:
    """Flag the ``count`` largest values of line i, ties to the lowest index; their sum."""
    n = lines.shape[1]
    for j in range(n):
        flags[i, j] = 0
        scratch[j] = lines[i, j]
    if count == 0:
        return 0.0
    threshold = kth_largest(scratch, n, count)
    total, ties = 0.0, 0
    for j in range(count):  # the largest come first now
        ties += scratch[j] == threshold
    for j in range(n):
        value = lines[i, j]
        if value > threshold or (ties > 0 and value == threshold):
            flags[i, j] = 1
            total += value
            ties -= value == threshold
    return total


@part_of_kernel
def _compare_ends(pairs: FloatArray, linear: FloatArray, flags: FlagArray) -> tuple[float, int]:
    """What the top rows are worth as an answer, and how many pairs only one of their ends uses."""
    value, n_apart, top = 0.0, 0, len(linear)
    for i in range(top):
        value += linear[i] * flags[top, i]
        for j in range(i):
            if flags[top, i] & flags[top, j]:
                value += 2.0 * pairs[i, j]
            n_apart += (flags[top, i] & flags[i, j]) != (flags[top, j] & flags[j, i])
    return value, n_apart


@part_of_kernel
def _move_shares(lines: FloatArray, flags: FlagArray, step: float) -> None:
    """A subgradient step: less for the ends that use a pair alone."""
    top = lines.shape[1]
    for i in range(top):
        for j in range(i):
            change = step * ((flags[top, i] & flags[i, j]) - (flags[top, j] & flags[j, i]))
            lines[i, j] -= change
            lines[j, i] += change


@part_of_kernel
def _decides(lines: FloatArray, flags: FlagArray, spare: float) -> bool:
    """Whether some index must be in, or out, of every answer within ``spare`` of the bound.

    It is the top row of the largest worth, if the best of the rest costs too much in its place, or
    the row of the smallest worth, if it costs too much in the place of the last top row.
    """
    top = lines.shape[1]
    highest, last = -np.inf, np.inf  # of the top rows
    best, lowest = -np.inf, np.inf  # of the rest
    for i in range(top):
        worth = lines[top, i]
        if flags[top, i]:
            highest = worth if worth > highest else highest
            last = worth if worth < last else last
        else:
            best = worth if worth > best else best
            lowest = worth if worth < lowest else lowest
    return highest - best >= spare or last - lowest >= spare


@njit(nogil=True, cache=True, error_model="numpy")
def tighten_rows(
    lines: FloatArray,
    pairs: FloatArray,
    linear: FloatArray,
    left: int,
    rounds: int,
    best_value: float,
    margin: float,
    scratch: FloatArray,
    flags: FlagArray,
    best_top: FlagArray,
) -> tuple[int, float, float]:
    """Rounds of the row bound; (state, best bound, what the last round's bound can spare).

    ``lines`` has the shares, with −∞ on the diagonal (no index is its own partner), and after them
    a line that gets the worth of each row; ``flags`` gets the partners that each row uses and,
    after them, the top rows. Both keep the last round, ``best_top`` the best answer if one was
    better than ``best_value``. DONE: nothing better here. DECIDED: some index must be in or out.
    """
    n = len(linear)
    bound, spare, pace, stalled = np.inf, np.inf, 1.0, 0
    for _ in range(rounds):
        current = 0.0
        for i in range(n + 1):
            current = _flag_largest(lines, i, left - (i < n), scratch, flags)
            if i < n:
                lines[n, i] = linear[i] + current
        stalled += 1
        if current < bound:
            bound, stalled = current, 0
        if stalled == PATIENCE:
            pace, stalled = pace / 2, 0
        value, n_apart = _compare_ends(pairs, linear, flags)
        if value > best_value:
            best_value = value
            for i in range(n):
                best_top[i] = flags[n, i]
        # No pair used by one end alone: the relaxation is a 0/1 answer.
        if bound <= best_value + margin or n_apart == 0:
            return DONE, bound, spare
        spare = current - best_value - margin
        if _decides(lines, flags, spare):
            return DECIDED, bound, spare
        _move_shares(lines, flags, pace * (current - best_value) / n_apart)  # Polyak's length
    return OPEN, bound, spare
