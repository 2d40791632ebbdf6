"""Compiled loops of the binary quadratic problem: swaps, and the bound of branch and bound.

Plain loops and arrays from the caller: array expressions and allocations inside a kernel take
seconds to compile."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from featsieve.compiled.inlining import kernel, part_of_kernel
from featsieve.compiled.selection import kth_largest

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]
FlagArray = npt.NDArray[np.int8]

OPEN, DONE, DECIDED = 0, 1, 2
PATIENCE = 8  # rounds without a better bound after which the steps are halved


@part_of_kernel
def copy_indices(source: IntArray, target: IntArray) -> None:
    for a in range(len(source)):
        target[a] = source[a]


@part_of_kernel
def _best_swap(
    Q: FloatArray,
    members: IntArray,
    others: IntArray,
    products: FloatArray,
    free_at: IntArray,
    move: int,
    needed: float,
    margin: float,
    floor: float,
) -> tuple[float, int, int]:
    """The swap (positions in members and others) that gains most.

    A swap with an index that is still tabu counts only if it gains more than ``needed``.
    ``floor`` is the smallest entry of Q.
    """
    best_gain, out, into = -np.inf, -1, -1
    most = -np.inf
    for b in range(len(others)):
        reach = 2.0 * products[others[b]] + Q[others[b], others[b]]
        if reach > most:
            most = reach
    for a in range(len(members)):
        i = members[a]
        loss = Q[i, i] - 2.0 * products[i]
        if loss + most - 2.0 * floor <= best_gain:
            continue  # no partner can make this one the best
        for b in range(len(others)):
            j = others[b]
            gain = loss + 2.0 * products[j] + Q[j, j] - 2.0 * Q[i, j]
            if gain > best_gain + margin and (
                (free_at[i] <= move and free_at[j] <= move) or gain > needed
            ):
                best_gain, out, into = gain, a, b
    return best_gain, out, into


@kernel()
def swap_search(
    Q: FloatArray,
    members: IntArray,
    others: IntArray,
    products: FloatArray,
    free_at: IntArray,
    best: IntArray,
    patience: int,
    max_moves: int,
    margin: float,
    floor: float,
    state: FloatArray,
) -> bool:
    """Best swaps until ``patience`` moves in a row brought nothing new (0: plain ascent).

    At most ``max_moves`` of them: whether it is finished. ``state`` keeps what the next call needs:
    the value and the best value relative to the start, the idle moves, and all moves.

    With patience, a swapped index rests for a while (tabu search: ``free_at`` is the move from
    which it may move again), so the search leaves a local optimum by its cheapest swap.
    ``products`` is Qx, ``floor`` the smallest entry of Q; ``best`` receives the best set passed.
    """
    n, k = len(Q), len(members)
    value, best_value = state[0], state[1]
    idle, first = int(state[2]), int(state[3])
    for move in range(first, first + max_moves):
        needed = best_value - value + margin
        gain, out, into = _best_swap(
            Q, members, others, products, free_at, move, needed, margin, floor
        )
        if out < 0 or idle > patience or (patience == 0 and gain <= margin):
            return True
        i, j = members[out], others[into]
        members[out], others[into] = j, i
        for m in range(n):
            products[m] += Q[j, m] - Q[i, m]
        value += gain
        free_at[i] = move + 1 + min(10, k // 2 + 1) + move % 7
        free_at[j] = move + 1 + min(5, (n - k) // 2) + move % 3
        idle += 1
        if value > best_value + margin:
            copy_indices(members, best)
            best_value = value
            idle = 0
    state[0], state[1], state[2], state[3] = value, best_value, idle, first + max_moves
    return False


# --- Branch and bound: the row bound of one node, tightened in rounds ----------------------------
# All arrays are over the node's free indices: ``shares`` has the halves of each pair's value as
# they are split at the moment, ``pairs`` the symmetric halves, ``linear`` each index's own value.


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


@kernel()
def tighten_rows(
    lines: FloatArray,
    pairs: FloatArray,
    linear: FloatArray,
    left: int,
    rounds: int,
    margin: float,
    scratch: FloatArray,
    flags: FlagArray,
    best_top: FlagArray,
    state: FloatArray,
) -> tuple[int, float]:
    """Rounds of the row bound; how they ended, and what the last round's bound can spare.

    ``state`` keeps what the next call needs: the best bound, the best value known, the pace, and
    the rounds without a better bound.

    ``lines`` has the shares, with −∞ on the diagonal (no index is its own partner), and after them
    a line that gets the worth of each row; ``flags`` gets the partners that each row uses and,
    after them, the top rows. Both keep the last round, ``best_top`` the best answer if one was
    better than that known. DONE: nothing better here. DECIDED: some index must be in or out.
    """
    n = len(linear)
    bound, best_value, pace, stalled = state[0], state[1], state[2], state[3]
    spare = np.inf
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
            state[0] = bound
            return DONE, spare
        spare = current - best_value - margin
        if _decides(lines, flags, spare):
            state[0] = bound
            return DECIDED, spare
        _move_shares(lines, flags, pace * (current - best_value) / n_apart)  # Polyak's length
    state[0], state[1], state[2], state[3] = bound, best_value, pace, stalled
    return OPEN, spare
