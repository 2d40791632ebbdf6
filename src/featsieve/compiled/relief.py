"""Manhattan distances, nearest distances and weighted differences for Relief.

Rows are given column by column: ``Q[c, i]`` for the rows that are asked about, ``B[c, j]`` for all
others, whose rows are grouped (by class): group g has rows ``starts[g]:starts[g + 1]``. A distance
is the sum over columns, in the order of the columns whatever the tile, so that it does not depend
on how the rows are cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_EXACT = {"contract"}  # rounding adds and takes away a constant: no reassociation there
_FAST = {"contract", "reassoc", "nsz"}
_ROWS = 16  # rows worked on together: a strip of their distances stays in cache over all columns
_STRIP = 2048
TOGETHER = 8  # columns added in one sweep; callers fill up with columns of zeros
GRID = 64  # bins of a numeric column with missing cells, on its range


@njit(nogil=True, cache=True, fastmath=_EXACT)
def _add_eight(
    total: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any,
    b0: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any, b7: Any,
) -> None:  # fmt: skip
    """total[j] += Σ |b_c[j] − a_c| over eight columns: one load and store of the sum for all."""
    for j in range(total.size):
        left = (abs(b0[j] - a0) + abs(b1[j] - a1)) + (abs(b2[j] - a2) + abs(b3[j] - a3))
        right = (abs(b4[j] - a4) + abs(b5[j] - a5)) + (abs(b6[j] - a6) + abs(b7[j] - a7))
        total[j] += left + right


@njit(nogil=True, cache=True)
def add_differences(total: Any, Q: Any, B: Any) -> None:
    """total[i, j] += Σ_c |B[c, j] − Q[c, i]|; the number of columns is a multiple of TOGETHER."""
    n_rows, n_others = total.shape
    for low in range(0, n_rows, _ROWS):
        for begin in range(0, n_others, _STRIP):
            end = min(begin + _STRIP, n_others)
            for c in range(0, Q.shape[0], TOGETHER):
                for i in range(low, min(low + _ROWS, n_rows)):
                    _add_eight(
                        total[i, begin:end], Q[c, i], Q[c + 1, i], Q[c + 2, i], Q[c + 3, i],
                        Q[c + 4, i], Q[c + 5, i], Q[c + 6, i], Q[c + 7, i], B[c, begin:end],
                        B[c + 1, begin:end], B[c + 2, begin:end], B[c + 3, begin:end],
                        B[c + 4, begin:end], B[c + 5, begin:end], B[c + 6, begin:end],
                        B[c + 7, begin:end],
                    )  # fmt: skip


@njit(nogil=True, cache=True, fastmath=_EXACT)
def _add_mismatch(total: Any, code: Any, others: Any) -> None:
    for j in range(total.size):
        total[j] += 0.0 if others[j] == code else 1.0


@njit(nogil=True, cache=True)
def add_mismatches(total: Any, Q: Any, B: Any) -> None:
    """total[i, j] += the number of columns in which the codes differ."""
    for c in range(Q.shape[0]):
        for i in range(total.shape[0]):
            _add_mismatch(total[i], Q[c, i], B[c])


@njit(nogil=True, cache=True, fastmath=_EXACT)
def _bin(value: float, is_code: bool) -> int:
    return int(value) if is_code else min(int(value * GRID), GRID - 1)


@njit(nogil=True, cache=True)
def _gappy_difference(
    a: float, a_group: int, b: float, b_group: int, is_code: bool, expected: Any, both: Any
) -> float:
    """The difference of two cells, or what it is on average over the group of a missing one."""
    if np.isnan(a):
        if np.isnan(b):
            return both[a_group, b_group]
        return expected[a_group, _bin(b, is_code)]
    if np.isnan(b):
        return expected[b_group, _bin(a, is_code)]
    if is_code:
        return 0.0 if a == b else 1.0
    return abs(a - b)


@njit(nogil=True, cache=True, fastmath=_EXACT)
def _add_known(total: Any, a: float, others: Any, is_code: bool, instead: float) -> None:
    """One known cell against others, of which the missing ones count ``instead``."""
    if is_code:
        for j in range(total.size):
            step = 0.0 if others[j] == a else 1.0
            total[j] += step if others[j] == others[j] else instead
    else:
        for j in range(total.size):
            step = abs(others[j] - a)
            total[j] += step if step == step else instead


@njit(nogil=True, cache=True)
def add_gappy_differences(
    total: Any, Q: Any, B: Any, is_code: Any, expected: Any, both: Any, groups: Any, starts: Any
) -> None:
    """Columns with missing cells: ``expected[c, group, bin]`` and ``both[c, group, group]``."""
    for c in range(Q.shape[0]):
        for i in range(total.shape[0]):
            a = Q[c, i]
            for g in range(starts.size - 1):
                begin, end = starts[g], starts[g + 1]
                if not np.isnan(a):
                    instead = expected[c, g, _bin(a, is_code[c])]
                    _add_known(total[i, begin:end], a, B[c, begin:end], is_code[c], instead)
                    continue
                for j in range(begin, end):
                    total[i, j] += _gappy_difference(
                        a, groups[i], B[c, j], g, is_code[c], expected[c], both[c]
                    )


@njit(nogil=True, cache=True, fastmath=_EXACT)
def round_to_multiples(total: Any, unit: float) -> None:
    """Every distance becomes a multiple of ``unit``, a power of two: ties survive rounding."""
    shift = 1.5 * 2.0**52 * unit
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] = (total[i, j] + shift) - shift


@njit(nogil=True, cache=True)
def nearest_distances(total: Any, starts: Any, k: int) -> Any:
    """The k smallest distances of each row to each group, ascending, infinity where there are
    fewer; and how many rows of the group are exactly as far as the last of them."""
    n_rows, n_groups = total.shape[0], starts.size - 1
    nearest = np.full((n_rows, n_groups, k), np.inf)
    at_edge = np.zeros((n_rows, n_groups), np.intp)
    for i in range(n_rows):
        for g in range(n_groups):
            kept = nearest[i, g]
            for j in range(starts[g], starts[g + 1]):
                distance = total[i, j]
                if distance < kept[k - 1]:
                    position = k - 1
                    while position > 0 and kept[position - 1] > distance:
                        kept[position] = kept[position - 1]
                        position -= 1
                    kept[position] = distance
            for j in range(starts[g], starts[g + 1]):
                at_edge[i, g] += total[i, j] == kept[k - 1]
    return nearest, at_edge


@njit(nogil=True, cache=True)
def _first_not_below(values: Any, wanted: float) -> int:
    low, high = 0, values.size
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def _first_above(values: Any, wanted: float) -> int:
    low, high = 0, values.size
    while low < high:
        middle = (low + high) // 2
        if values[middle] <= wanted:
            low = middle + 1
        else:
            high = middle
    return low


@njit(nogil=True, cache=True)
def _share(kept: Any, n_at_edge: int, distance: float, rank_sum: Any) -> float:
    """The weights of the ranks that rows at this distance hold, shared among them."""
    first, last = _first_not_below(kept, distance), _first_above(kept, distance)
    n_tied = n_at_edge if last == kept.size else last - first
    n_kept = _first_not_below(kept, np.inf)
    return (rank_sum[last] - rank_sum[first]) / (rank_sum[n_kept] * n_tied)


@njit(nogil=True, cache=True)
def _radius(kept: Any) -> float:
    """The largest finite of the nearest distances; −1 when there is none."""
    n_kept = _first_not_below(kept, np.inf)
    return kept[n_kept - 1] if n_kept > 0 else -1.0


@njit(nogil=True, cache=True)
def neighbour_pairs(total: Any, starts: Any, nearest: Any, at_edge: Any, rank_sum: Any) -> Any:
    """All (row, other row, group, share) with the other row among the nearest of its group.

    Rank r has the weight rank_sum[r + 1] − rank_sum[r]; the shares of a group add up to 1.
    """
    n_rows, n_groups = nearest.shape[0], nearest.shape[1]
    n_pairs = 0
    for i in range(n_rows):
        for g in range(n_groups):
            radius = _radius(nearest[i, g])
            for j in range(starts[g], starts[g + 1]):
                n_pairs += total[i, j] <= radius
    row, other = np.empty(n_pairs, np.intp), np.empty(n_pairs, np.intp)
    group, share = np.empty(n_pairs, np.intp), np.empty(n_pairs)
    t = 0
    for i in range(n_rows):
        for g in range(n_groups):
            kept = nearest[i, g]
            radius = _radius(kept)
            for j in range(starts[g], starts[g + 1]):
                if total[i, j] <= radius:
                    row[t], other[t], group[t] = i, j, g
                    share[t] = _share(kept, at_edge[i, g], total[i, j], rank_sum)
                    t += 1
    return row, other, group, share


@njit(nogil=True, cache=True, fastmath=_FAST)
def weighted_differences(Q: Any, B: Any, row: Any, other: Any, weights: Any) -> Any:
    """Σ over pairs of weights[w, pair] · |difference| for each w and column."""
    sums = np.zeros((weights.shape[0], Q.shape[0]))
    for c in range(Q.shape[0]):
        here, there = Q[c], B[c]
        for w in range(weights.shape[0]):
            acc = 0.0
            for t in range(row.size):
                acc += weights[w, t] * abs(there[other[t]] - here[row[t]])
            sums[w, c] = acc
    return sums


@njit(nogil=True, cache=True)
def weighted_mismatches(Q: Any, B: Any, row: Any, other: Any, weights: Any) -> Any:
    """As ``weighted_differences``, for codes."""
    sums = np.zeros((weights.shape[0], Q.shape[0]))
    for c in range(Q.shape[0]):
        for t in range(row.size):
            if Q[c, row[t]] != B[c, other[t]]:
                sums[:, c] += weights[:, t]
    return sums


@njit(nogil=True, cache=True)
def weighted_gappy_differences(
    Q: Any, B: Any, row: Any, other: Any, weights: Any, is_code: Any, expected: Any, both: Any,
    groups: Any, other_groups: Any,
) -> Any:  # fmt: skip
    """As ``weighted_differences``, for columns with missing cells."""
    sums = np.zeros((weights.shape[0], Q.shape[0]))
    for c in range(Q.shape[0]):
        for t in range(row.size):
            i, j = row[t], other[t]
            step = _gappy_difference(
                Q[c, i], groups[i], B[c, j], other_groups[j], is_code[c], expected[c], both[c]
            )
            sums[:, c] += weights[:, t] * step
    return sums
