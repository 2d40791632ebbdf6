"""Compiled branch and bound for max x'Qx with k ones.

The bound of a node is a row bound: each free index takes its r − 1 best partners, and the r best
rows are summed. The two halves Q_ij = Q_ji of a pair may be shared out unequally without changing
any value; ``shares`` holds the current split, and subgradient steps move it to where both ends
agree on whether the pair is used. One split serves all nodes: every split is valid everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from featsieve.kernels.quadratic import fill_top, keep_better, kth_largest, set_value

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
FixArray = npt.NDArray[np.int8]


class Work(NamedTuple):
    """Scratch arrays of one call: index lists, one number an index, one flag a pair."""

    members: IntArray
    free: IntArray
    top: IntArray
    linear: FloatArray
    rows: FloatArray
    scratch: FloatArray
    spare: FloatArray
    is_top: FixArray
    used: FixArray


@njit(nogil=True, cache=True)
def _make_work(n: int) -> Work:
    return Work(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.empty(n),
        np.zeros(n, np.int8),
        np.zeros((n, n), np.int8),
    )


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
def _row_bound(
    Q: FloatArray, shares: FloatArray, members: IntArray, free: IntArray, left: int, work: Work
) -> float:
    """The bound of a node; fills ``rows``, ``used`` and the ``left`` best rows (top, is_top)."""
    _linear_terms(Q, members, free, work.linear)
    bound = set_value(Q, members)
    for a in range(len(free)):
        i = free[a]
        work.is_top[i] = 0
        if left > 0:
            partners = _partners(shares, free, i, left - 1, work.scratch, work.used)
            work.rows[i] = work.linear[i] + partners
            work.spare[a] = work.rows[i]
    if left > 0:
        top = work.top[:left]
        fill_top(work.spare[: len(free)], left, work.scratch, top)
        for a in range(left):
            i = free[top[a]]
            top[a] = i
            work.is_top[i] = 1
            bound += work.rows[i]
    return bound


@njit(nogil=True, cache=True)
def _leader(rows: FloatArray, top: IntArray) -> int:
    """The best row: without it the bound falls most, with it the answer is likely."""
    leader = top[0]
    for i in top:
        if rows[i] > rows[leader]:
            leader = i
    return leader


@njit(nogil=True, cache=True)
def _examine(
    Q: FloatArray,
    shares: FloatArray,
    fixed: FixArray,
    bound: float,
    work: Work,
    best: IntArray,
    best_value: float,
    margin: float,
    rounds: int,
) -> tuple[float, int, float]:
    """Tighten a node's bound; (bound, index to branch on or −1 if the node is done, best value)."""
    branch = -1
    spent = 0
    while spent < rounds:
        n_in, n_free = _unpack(fixed, work.members, work.free)
        left = len(best) - n_in
        if left < 0 or left > n_free:
            return bound, -1, best_value
        members, free, top = work.members[:n_in], work.free[:n_free], work.top[:left]
        current = _row_bound(Q, shares, members, free, left, work)
        best_value = keep_better(Q, np.concatenate((members, top)), best, best_value)
        bound = min(bound, current)
        goal = best_value + margin
        if bound <= goal or left == 0 or left == n_free:
            return bound, -1, best_value
        if _fix_by_cost(fixed, free, work.rows, work.is_top, current, goal) > 0:
            continue
        branch = _leader(work.rows, top)
        if not _move_shares(shares, work.used, top, work.is_top, free, current - best_value):
            return bound, -1, best_value  # the relaxation is a 0/1 answer: no better one below
        spent += 1
    return bound, branch, best_value


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
    work = _make_work(len(Q))
    for _ in range(max_nodes):
        if depth == 0:
            break
        depth -= 1
        if bounds[depth] <= best_value + margin:
            continue
        fixed = nodes[depth].copy()
        bound, branch, best_value = _examine(
            Q, shares, fixed, bounds[depth], work, best, best_value, margin, rounds
        )
        if branch < 0:
            continue
        for side in (0, 1):  # "in" on top of the stack: good answers come early
            nodes[depth] = fixed
            nodes[depth, branch] = side
            bounds[depth] = bound
            depth += 1
    return depth, best_value
