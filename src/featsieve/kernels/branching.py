"""Compiled branch and bound for max x'Qx with k ones.

The bound of a node is a row bound: each free index takes its r − 1 best partners, and the r best
rows are summed. The two halves Q_ij = Q_ji of a pair may be shared out unequally without changing
any value; ``shares`` holds the current split, and subgradient steps move it to where both ends agree
on whether the pair is used. One split serves all nodes: every split is valid everywhere.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from featsieve.kernels.quadratic import kth_largest, set_value

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
FixArray = npt.NDArray[np.int8]

FREE, OUT, IN = -1, 0, 1


@njit(nogil=True, cache=True)
def _unpack(fixed: FixArray, members: IntArray, free: IntArray) -> tuple[int, int]:
    """Lists of the indices that are in and that are free; their lengths."""
    n_in = n_free = 0
    for i in range(len(fixed)):
        if fixed[i] == 1:
            members[n_in] = i
            n_in += 1
        elif fixed[i] == -1:
            free[n_free] = i
            n_free += 1
    return n_in, n_free


@njit(nogil=True, cache=True)
def _linear_terms(Q: FloatArray, members: IntArray, free: IntArray, linear: FloatArray) -> None:
    """What each free index adds on its own: Q_ii + 2 Σ Q_ij over the members."""
    for i in free:
        total = 0.0
        for j in members:
            total += Q[i, j]
        linear[i] = Q[i, i] + 2.0 * total


@njit(nogil=True, cache=True)
def _partners(
    shares: FloatArray, free: IntArray, i: int, wanted: int, scratch: FloatArray, used: FixArray
) -> float:
    """Mark the ``wanted`` best partners of i among the free; the sum of their shares."""
    size = 0
    for j in free:
        used[i, j] = 0
        if j != i:
            scratch[size] = shares[i, j]
            size += 1
    if wanted == 0:
        return 0.0
    threshold = kth_largest(scratch, size, wanted)
    total = 0.0
    left = wanted
    for j in free:
        if j != i and shares[i, j] > threshold:
            used[i, j] = 1
            total += shares[i, j]
            left -= 1
    for j in free:
        if left > 0 and j != i and shares[i, j] == threshold:
            used[i, j] = 1
            left -= 1
            total += threshold
    return total


@njit(nogil=True, cache=True)
def _move_shares(
    shares: FloatArray, used: FixArray, top: IntArray, is_top: FixArray, free: IntArray, room: float
) -> bool:
    """A subgradient step of Polyak's length; False if both ends of all pairs agree already."""
    norm = 0.0
    for i in top:
        for j in free:
            if j != i:
                other = used[j, i] if is_top[j] else 0
                if used[i, j] != other:
                    norm += 1.0 if not is_top[j] else 0.5  # a pair within top is met twice
    if norm == 0.0:
        return False
    step = room / norm
    for i in top:
        for j in free:
            if j != i and used[i, j] == 1 and not (is_top[j] and used[j, i] == 1):
                shares[i, j] -= step
                shares[j, i] += step
    return True


@njit(nogil=True, cache=True)
def _fix_by_cost(
    fixed: FixArray,
    free: IntArray,
    rows: FloatArray,
    is_top: FixArray,
    bound: float,
    goal: float,
) -> int:
    """Fix every free index whose other value would bring the bound to ``goal`` or below."""
    worst_top, best_rest = np.inf, -np.inf
    for i in free:
        if is_top[i]:
            worst_top = min(worst_top, rows[i])
        else:
            best_rest = max(best_rest, rows[i])
    n_fixed = 0
    for i in free:
        if is_top[i] and bound - rows[i] + best_rest <= goal:
            fixed[i] = 1
            n_fixed += 1
        elif not is_top[i] and bound - worst_top + rows[i] <= goal:
            fixed[i] = 0
            n_fixed += 1
    return n_fixed


@njit(nogil=True, cache=True)
def branch_and_bound(
    Q: FloatArray,
    shares: FloatArray,
    nodes: FixArray,
    bounds: FloatArray,
    depth: int,
    best: IntArray,
    best_value: float,
    margin: float,
    max_nodes: int,
    rounds: int,
) -> tuple[int, float]:
    """Work off up to ``max_nodes`` open nodes (a stack, deepest last); (open nodes, best value).

    ``nodes`` (fixed values, −1 = free), ``bounds``, ``shares`` and ``best`` are updated in place.
    """
    n, k = len(Q), len(best)
    members, free_all = np.empty(n, np.int64), np.empty(n, np.int64)
    top_all, trial = np.empty(n, np.int64), np.empty(k, np.int64)
    linear, rows, scratch = np.empty(n), np.empty(n), np.empty(n)
    used = np.zeros((n, n), np.int8)
    is_top = np.zeros(n, np.int8)
    for _ in range(max_nodes):
        if depth == 0:
            break
        depth -= 1
        if bounds[depth] <= best_value + margin:
            continue
        fixed = nodes[depth].copy()
        node_bound = bounds[depth]
        branch = -1
        tries = rounds
        while tries > 0:
            tries -= 1
            n_in, n_free = _unpack(fixed, members, free_all)
            left = k - n_in
            if left < 0 or n_free < left:
                branch = -1
                break
            free = free_all[:n_free]
            _linear_terms(Q, members[:n_in], free, linear)
            base = set_value(Q, members[:n_in])
            size = 0
            for i in free:
                is_top[i] = 0
                if left > 0:
                    rows[i] = linear[i] + _partners(shares, free, i, left - 1, scratch, used)
            bound = base
            if left > 0:
                for position in range(n_free):
                    scratch[position] = rows[free[position]]
                threshold = kth_largest(scratch, n_free, left)
                for i in free:
                    if rows[i] > threshold:
                        is_top[i] = 1
                        top_all[size] = i
                        size += 1
                for i in free:
                    if size < left and rows[i] == threshold:
                        is_top[i] = 1
                        top_all[size] = i
                        size += 1
                for i in top_all[:size]:
                    bound += rows[i]
            trial[:n_in] = members[:n_in]
            trial[n_in:] = top_all[:size]
            value = set_value(Q, trial)
            if value > best_value:
                best_value = value
                best[:] = trial
            node_bound = min(node_bound, bound)
            branch = -1
            if node_bound <= best_value + margin or left == 0 or n_free == left:
                break
            if _fix_by_cost(fixed, free, rows, is_top, bound, best_value + margin) > 0:
                tries = max(tries, 1)
                continue
            most = -np.inf
            for i in top_all[:size]:
                if rows[i] > most:
                    most, branch = rows[i], i
            room = bound - best_value
            if not _move_shares(shares, used, top_all[:size], is_top, free, room):
                branch = -1  # the relaxation is a 0/1 answer: nothing better below this node
                break
        if branch >= 0 and node_bound > best_value + margin:
            for side in (0, 1):
                nodes[depth] = fixed
                nodes[depth, branch] = side
                bounds[depth] = node_bound
                depth += 1
    return depth, best_value
