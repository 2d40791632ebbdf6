"""Compiled loops of the binary quadratic problem: swaps, and the scan of low-rank candidates.

Plain loops and arrays from the caller: array expressions and allocations inside a kernel take
seconds to compile."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from featsieve.compiled.inlining import part_of_kernel

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]
KeyArray = npt.NDArray[np.uint64]


@part_of_kernel
def kth_largest(values: FloatArray, size: int, k: int) -> float:
    """The k-th largest of ``values[:size]``, which is reordered on the way (quickselect)."""
    target = k - 1
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return values[target]


@njit(nogil=True, cache=True)
def fill_top(scores: FloatArray, k: int, scratch: FloatArray, chosen: IntArray) -> None:
    """The k largest scores into ``chosen``, in index order, ties to the lowest index."""
    n = len(scores)
    for i in range(n):
        scratch[i] = scores[i]
    threshold = kth_largest(scratch, n, k)
    above = 0
    for i in range(n):
        if scores[i] > threshold:
            above += 1
    ties = k - above
    filled = 0
    for i in range(n):
        if scores[i] > threshold:
            chosen[filled] = i
            filled += 1
        elif scores[i] == threshold and ties > 0:
            chosen[filled] = i
            filled += 1
            ties -= 1


@part_of_kernel
def copy_indices(source: IntArray, target: IntArray) -> None:
    for a in range(len(source)):
        target[a] = source[a]


@njit(nogil=True, cache=True)
def set_value(Q: FloatArray, chosen: IntArray) -> float:
    """x'Qx of a set, from the upper triangle of a symmetric matrix."""
    total = 0.0
    for a in range(len(chosen)):
        i = chosen[a]
        pairs = 0.0
        for b in range(a):
            pairs += Q[i, chosen[b]]
        total += Q[i, i] + 2.0 * pairs
    return total


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


@njit(nogil=True, cache=True, error_model="numpy")
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
) -> None:
    """Best swaps until ``patience`` moves in a row brought nothing new (0: plain ascent).

    With patience, a swapped index rests for a while (tabu search: ``free_at`` is the move from
    which it may move again), so the search leaves a local optimum by its cheapest swap.
    ``products`` is Qx, ``floor`` the smallest entry of Q; ``best`` receives the best set passed.
    """
    n, k = len(Q), len(members)
    value = best_value = 0.0  # relative to the start
    idle = 0
    for move in range(max_moves):
        needed = best_value - value + margin
        gain, out, into = _best_swap(
            Q, members, others, products, free_at, move, needed, margin, floor
        )
        if out < 0 or idle > patience or (patience == 0 and gain <= margin):
            break
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


@njit(nogil=True, cache=True)
def _is_new(chosen: IntArray, keys: KeyArray, seen: KeyArray) -> bool:
    """Whether this set was not met lately; ``seen`` remembers it from now on."""
    key = np.uint64(0)
    for i in chosen:
        key += keys[i]
    slot = key & np.uint64(len(seen) - 1)
    if seen[slot] == key:
        return False
    seen[slot] = key
    return True


@njit(nogil=True, cache=True)
def keep_better(Q: FloatArray, chosen: IntArray, best: IntArray, best_value: float) -> float:
    """Score a set on Q and keep it if it is the best; the best value after that."""
    value = set_value(Q, chosen)
    if value > best_value:
        copy_indices(chosen, best)
        return value
    return best_value


@njit(nogil=True, cache=True)
def _low_rank_product(
    factors: FloatArray, signs: FloatArray, x: IntArray, line: FloatArray
) -> None:
    """factors·diag(signs)·factors'·x into ``line``, x given as a set."""
    for i in range(len(line)):
        line[i] = 0.0
    for m in range(factors.shape[1]):
        weight = 0.0
        for j in x:
            weight += signs[m] * factors[j, m]
        for i in range(len(line)):
            line[i] += weight * factors[i, m]


@njit(nogil=True, cache=True)
def scan_directions(
    Q: FloatArray,
    factors: FloatArray,
    signs: FloatArray,
    scores: FloatArray,
    keys: KeyArray,
    seen: KeyArray,
    best: IntArray,
    best_value: float,
    best_pair: float,
    line: FloatArray,
    scratch: FloatArray,
    x: IntArray,
    y: IntArray,
) -> tuple[float, float]:
    """The candidates of P-CMI eq. (6) for each row of ``scores`` (directions × n).

    x is the top-k, then the bottom-k of the row; y the top-k of Q_d x, with
    Q_d = factors·diag(signs)·factors'. Both are scored on the true Q. Returns the best x'Qx and
    the best x'Q_d y. ``line``, ``scratch`` (n) and ``x``, ``y`` (k) are work space.
    """
    k = len(best)
    for row in range(len(scores)):
        for side in (1.0, -1.0):
            for i in range(len(line)):
                line[i] = side * scores[row, i]
            fill_top(line, k, scratch, x)
            if not _is_new(x, keys, seen):
                continue
            best_value = keep_better(Q, x, best, best_value)
            _low_rank_product(factors, signs, x, line)
            fill_top(line, k, scratch, y)
            pair = 0.0
            for j in y:
                pair += line[j]
            best_pair = max(best_pair, pair)
            best_value = keep_better(Q, y, best, best_value)
    return best_value, best_pair
