"""Compiled loops of the binary quadratic problem: swaps, and the scan of low-rank candidates."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
KeyArray = npt.NDArray[np.uint64]


@njit(nogil=True, cache=True)
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
    scratch[:n] = scores
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


@njit(nogil=True, cache=True)
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
    for j in others:
        most = max(most, 2.0 * products[j] + Q[j, j])
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


@njit(nogil=True, cache=True)
def swap_search(
    Q: FloatArray, start: IntArray, patience: int, max_moves: int, margin: float
) -> tuple[IntArray, float]:
    """Best swaps until ``patience`` moves in a row brought nothing new (0: plain ascent).

    With patience, a swapped index rests for a while (tabu search), so the search leaves a local
    optimum by its cheapest swap. The best set that was passed is returned.
    """
    n, k = len(Q), len(start)
    inside = np.zeros(n, dtype=np.bool_)
    inside[start] = True
    members = np.flatnonzero(inside)
    others = np.flatnonzero(~inside)
    products = np.zeros(n)
    for i in members:
        products += Q[i]
    value = set_value(Q, members)
    best, best_value = members.copy(), value
    free_at = np.zeros(n, dtype=np.int64)
    floor = Q.min()
    idle = 0
    for move in range(max_moves):
        gain, out, into = _best_swap(
            Q,
            members,
            others,
            products,
            free_at,
            move,
            best_value - value + margin,
            margin,
            floor,
        )
        if out < 0 or (patience == 0 and gain <= margin):
            break
        i, j = members[out], others[into]
        members[out], others[into] = j, i
        products += Q[j] - Q[i]
        value += gain
        free_at[i] = move + 1 + min(10, k // 2 + 1) + move % 7
        free_at[j] = move + 1 + min(5, (n - k) // 2) + move % 3
        idle += 1
        if value > best_value + margin:
            best[:] = members
            best_value = value
            idle = 0
        if idle > patience:
            break
    return best, set_value(Q, best)


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
        best[:] = chosen
        return value
    return best_value


@njit(nogil=True, cache=True)
def _low_rank_product(
    factors: FloatArray, signs: FloatArray, x: IntArray, line: FloatArray
) -> None:
    """factors·diag(signs)·factors'·x into ``line``, x given as a set."""
    line[:] = 0.0
    for m in range(factors.shape[1]):
        weight = 0.0
        for i in x:
            weight += signs[m] * factors[i, m]
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
) -> tuple[float, float]:
    """The candidates of P-CMI eq. (6) for each row of ``scores`` (directions × n).

    x is the top-k, then the bottom-k of the row; y the top-k of Q_d x, with
    Q_d = factors·diag(signs)·factors'. Both are scored on the true Q. Returns the best x'Qx and
    the best x'Q_d y.
    """
    n, k = len(factors), len(best)
    scratch = np.empty(n)
    line = np.empty(n)
    x = np.empty(k, dtype=np.int64)
    y = np.empty(k, dtype=np.int64)
    for row in range(len(scores)):
        for side in (1.0, -1.0):
            line[:] = side * scores[row]
            fill_top(line, k, scratch, x)
            if not _is_new(x, keys, seen):
                continue
            best_value = keep_better(Q, x, best, best_value)
            _low_rank_product(factors, signs, x, line)
            fill_top(line, k, scratch, y)
            best_pair = max(best_pair, line[y].sum())
            best_value = keep_better(Q, y, best, best_value)
    return best_value, best_pair
