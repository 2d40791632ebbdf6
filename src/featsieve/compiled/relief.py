"""Manhattan distances, nearest rows and weighted differences for Relief.

``Q`` has the rows that are asked about, ``B`` all others, which are grouped (by class): group g has
the rows ``starts[g]:starts[g + 1]``. Rough distances of all pairs come first, in single precision
and column by column (``Q[c, i]``, ``B[c, j]``). The pairs that may be near by them are listed, and
only those get their exact distance, row by row (``Q[i, c]``, ``B[j, c]``).

Arrays are made outside of what is compiled: each way to make one takes a first fit about a
twentieth of a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.compiled.inlining import called_by_kernels, kernel

_EXACT = {"contract"}
_FAST = {"contract", "reassoc", "nsz"}
_ROWS = 16  # rows worked on together: a strip of their distances stays in cache over all columns
_STRIP = 1024
TOGETHER = 8  # columns added in one sweep; callers fill up with columns of zeros
# So few differences, or values to look among, take NumPy a thousandth of the time that the kernel
# takes to compile; the answers are the same to the last bit.
FEW_DIFFERENCES, FEW_VALUES = 1 << 17, 1 << 14
GRID = 64  # bins of a numeric column with missing cells, on its range


@called_by_kernels(fastmath=_EXACT)
def _add_eight(
    total: Any, a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any,
    b0: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any, b7: Any,
) -> None:  # fmt: skip
    """total[j] += Σ |b_c[j] − a_c| over eight columns: one load and store of the sum for all."""
    for j in range(total.size):
        left = (abs(b0[j] - a0) + abs(b1[j] - a1)) + (abs(b2[j] - a2) + abs(b3[j] - a3))
        right = (abs(b4[j] - a4) + abs(b5[j] - a5)) + (abs(b6[j] - a6) + abs(b7[j] - a7))
        total[j] += left + right


def add_differences(total: Any, Q: Any, B: Any) -> None:
    """total[i, j] += Σ_c |B[c, j] − Q[c, i]|; the number of columns is a multiple of TOGETHER."""
    (add_few if total.size * len(Q) <= FEW_DIFFERENCES else add_many)(total, Q, B)


def add_few(total: Any, Q: Any, B: Any) -> None:
    """As ``_add_eight`` adds."""
    for c in range(0, len(Q), TOGETHER):
        d = [np.abs(b - q[:, None]) for q, b in zip(Q[c : c + 8], B[c : c + 8], strict=True)]
        total += ((d[0] + d[1]) + (d[2] + d[3])) + ((d[4] + d[5]) + (d[6] + d[7]))


@kernel()
def add_many(total: Any, Q: Any, B: Any) -> None:
    n_rows, n_others = total.shape
    for low in range(0, n_rows, _ROWS):
        for begin in range(0, n_others, _STRIP):
            end = min(begin + _STRIP, n_others)
            for c in range(0, len(Q), TOGETHER):
                for i in range(low, min(low + _ROWS, n_rows)):
                    _add_eight(
                        total[i, begin:end], Q[c, i], Q[c + 1, i], Q[c + 2, i], Q[c + 3, i],
                        Q[c + 4, i], Q[c + 5, i], Q[c + 6, i], Q[c + 7, i], B[c, begin:end],
                        B[c + 1, begin:end], B[c + 2, begin:end], B[c + 3, begin:end],
                        B[c + 4, begin:end], B[c + 5, begin:end], B[c + 6, begin:end],
                        B[c + 7, begin:end],
                    )  # fmt: skip


@called_by_kernels(fastmath=_EXACT)
def _add_mismatch(total: Any, code: Any, others: Any) -> None:
    one = total.dtype.type(1)
    for j in range(total.size):
        total[j] += one - one if others[j] == code else one


@kernel()
def add_mismatches(total: Any, Q: Any, B: Any) -> None:
    """total[i, j] += the number of columns in which the codes differ."""
    for c in range(Q.shape[0]):
        for i in range(total.shape[0]):
            _add_mismatch(total[i], Q[c, i], B[c])


@called_by_kernels(fastmath=_EXACT)
def _bin(value: float, is_code: bool) -> int:
    return int(value) if is_code else min(int(value * GRID), GRID - 1)


@called_by_kernels()
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


@called_by_kernels(fastmath=_EXACT)
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


@kernel()
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


@called_by_kernels()
def _keep_smallest(kept: Any, values: Any) -> None:
    """``kept``, ascending, becomes the smallest of its own and the other values."""
    last = kept.size - 1
    for j in range(values.size):
        value = values[j]
        if value < kept[last]:
            position = last
            while position > 0 and kept[position - 1] > value:
                kept[position] = kept[position - 1]
                position -= 1
            kept[position] = value


def kth_smallest(total: Any, starts: Any, k: int) -> Any:
    """The k-th smallest value of each row in each group, infinity where there are fewer."""
    smallest = np.full((len(total), starts.size - 1), np.inf)
    if total.size > FEW_VALUES:
        kth_of_many(total, starts, np.empty(k, total.dtype), smallest)
        return smallest
    for g in np.flatnonzero(np.diff(starts) >= k):
        values = np.partition(total[:, starts[g] : starts[g + 1]], k - 1, axis=1)
        smallest[:, g] = values[:, k - 1]
    return smallest


@kernel()
def kth_of_many(total: Any, starts: Any, kept: Any, smallest: Any) -> None:
    n_rows, n_groups = smallest.shape
    for i in range(n_rows):
        for g in range(n_groups):
            kept[:] = np.inf
            _keep_smallest(kept, total[i, starts[g] : starts[g + 1]])
            smallest[i, g] = kept[kept.size - 1]


@called_by_kernels(fastmath=_FAST)
def _distance(a: Any, b: Any) -> float:
    total = 0.0
    for c in range(a.size):
        total += abs(a[c] - b[c])
    return total


def pair_distances(Q: Any, B: Any, row: Any, other: Any) -> Any:
    """Exact distances of listed pairs, rows given row by row."""
    distance = np.empty(row.size)
    _pair_distances(Q, B, row, other, distance)
    return distance


@kernel()
def _pair_distances(Q: Any, B: Any, row: Any, other: Any, distance: Any) -> None:
    for t in range(row.size):
        distance[t] = _distance(Q[row[t]], B[other[t]])


@kernel()
def add_pair_mismatches(distance: Any, Q: Any, B: Any, row: Any, other: Any) -> None:
    """The same for codes, given column by column."""
    for c in range(Q.shape[0]):
        for t in range(row.size):
            distance[t] += Q[c, row[t]] != B[c, other[t]]


@kernel()
def add_pair_gappy_differences(
    distance: Any, Q: Any, B: Any, row: Any, other: Any, is_code: Any, expected: Any, both: Any,
    groups: Any, other_groups: Any,
) -> None:  # fmt: skip
    """The same for columns with missing cells, given column by column."""
    for c in range(Q.shape[0]):
        for t in range(row.size):
            i, j = row[t], other[t]
            distance[t] += _gappy_difference(
                Q[c, i], groups[i], B[c, j], other_groups[j], is_code[c], expected[c], both[c]
            )


def nearest_distances(distance: Any, first: Any, k: int) -> Any:
    """The k smallest distances of each list ``first[s]:first[s + 1]``, ascending, infinity where
    there are fewer; and how many of the list are exactly as far as the last of them."""
    nearest, at_edge = np.full((first.size - 1, k), np.inf), np.zeros(first.size - 1, np.intp)
    _nearest_distances(distance, first, nearest, at_edge)
    return nearest, at_edge


@kernel()
def _nearest_distances(distance: Any, first: Any, nearest: Any, at_edge: Any) -> None:
    for s in range(at_edge.size):
        kept = nearest[s]
        _keep_smallest(kept, distance[first[s] : first[s + 1]])
        last, count = kept[kept.size - 1], 0
        for t in range(first[s], first[s + 1]):
            count += distance[t] == last
        at_edge[s] = count


def neighbour_shares(distance: Any, first: Any, nearest: Any, at_edge: Any, rank_sum: Any) -> Any:
    """How much each listed pair counts: 0 for those that are not among the nearest of their list.

    Rank r has the weight rank_sum[r + 1] − rank_sum[r]; rows at one distance share the weights of
    their ranks, and the shares of a list add up to 1.
    """
    share = np.zeros(distance.size)
    _neighbour_shares(distance, first, nearest, at_edge, rank_sum, share)
    return share


@kernel()
def _neighbour_shares(
    distance: Any, first: Any, nearest: Any, at_edge: Any, rank_sum: Any, share: Any
) -> None:
    for s in range(at_edge.size):
        kept, n_kept = nearest[s], 0
        for r in range(kept.size):
            n_kept += kept[r] < np.inf
        for t in range(first[s], first[s + 1]):
            value = distance[t]
            if n_kept > 0 and value <= kept[n_kept - 1]:
                below, up_to = 0, 0  # ranks of nearer rows, and of those as far
                for r in range(n_kept):
                    below += kept[r] < value
                    up_to += kept[r] <= value
                n_tied = at_edge[s] if up_to == kept.size else up_to - below
                share[t] = (rank_sum[up_to] - rank_sum[below]) / (rank_sum[n_kept] * n_tied)


@called_by_kernels(fastmath=_EXACT)
def _add_weighted(sums: Any, weight: float, here: Any, there: Any) -> None:
    for c in range(sums.size):
        sums[c] += weight * abs(there[c] - here[c])


def weighted_differences(Q: Any, B: Any, row: Any, other: Any, weights: Any) -> Any:
    """Σ over pairs of weights[w, pair] · |difference| for each w and column; Q[i, c], B[j, c]."""
    sums = np.zeros((weights.shape[0], Q.shape[1]))
    _add_weighted_differences(Q, B, row, other, weights, sums)
    return sums


@kernel()
def _add_weighted_differences(
    Q: Any, B: Any, row: Any, other: Any, weights: Any, sums: Any
) -> None:
    for t in range(row.size):
        for w in range(len(sums)):
            _add_weighted(sums[w], weights[w, t], Q[row[t]], B[other[t]])


@kernel()
def weighted_mismatches(Q: Any, B: Any, row: Any, other: Any, weights: Any) -> Any:
    """The same for codes, given column by column."""
    sums = np.zeros((weights.shape[0], Q.shape[0]))
    for c in range(Q.shape[0]):
        for t in range(row.size):
            if Q[c, row[t]] != B[c, other[t]]:
                for w in range(len(sums)):
                    sums[w, c] += weights[w, t]
    return sums


@kernel()
def weighted_gappy_differences(
    Q: Any, B: Any, row: Any, other: Any, weights: Any, is_code: Any, expected: Any, both: Any,
    groups: Any, other_groups: Any,
) -> Any:  # fmt: skip
    """The same for columns with missing cells, given column by column."""
    sums = np.zeros((weights.shape[0], Q.shape[0]))
    for c in range(Q.shape[0]):
        for t in range(row.size):
            i, j = row[t], other[t]
            step = _gappy_difference(
                Q[c, i], groups[i], B[c, j], other_groups[j], is_code[c], expected[c], both[c]
            )
            for w in range(len(sums)):
                sums[w, c] += weights[w, t] * step
    return sums
