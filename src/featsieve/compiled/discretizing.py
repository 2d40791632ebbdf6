"""Cut points: encoding by them, quantiles, and the boundaries that CAIM accepts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from featsieve.compiled.counting import Codes, Floats, Ints
from featsieve.compiled.inlining import called_by_kernels, kernel, part_of_kernel
from featsieve.compiled.selection import kth_largest

Buckets = npt.NDArray[np.uint16]
TIE = 1e-12
LARGEST = np.finfo(np.float64).max


@kernel()
def encode_few_cuts(X: Floats, cuts: Floats, missing: Codes, codes: Codes) -> None:
    """Number of a column's cuts below each value; ``missing[j]`` for NaN in column j.

    ``cuts`` is cuts × columns, filled up with infinity: counting all cuts of a whole row, with
    nothing for the CPU to guess, uses vector instructions.
    """
    for r in range(X.shape[0]):
        row, states = X[r], codes[r]
        for j in range(row.size):
            states[j] = np.uint8(0) if row[j] == row[j] else missing[j]
        for c in range(cuts.shape[0]):
            for j in range(row.size):
                states[j] += np.uint8(cuts[c, j] < row[j])


@kernel()
def encode_columns(
    columns: Floats, cuts: Floats, missing: Codes, states: Codes, codes: Codes
) -> None:
    """The same for a table that lies column by column; ``codes`` are rows × columns all the same.

    ``states`` holds as many rows as are coded at a time, so few that the cache keeps their codes.
    """
    n_columns, n_rows = columns.shape
    for first in range(0, n_rows, states.size):
        size = min(states.size, n_rows - first)
        for j in range(n_columns):
            values, last = columns[j, first : first + size], missing[j]
            for r in range(size):
                states[r] = np.uint8(0) if values[r] == values[r] else last
            for c in range(cuts.shape[0]):
                cut = cuts[c, j]
                for r in range(size):
                    states[r] += np.uint8(cut < values[r])
            for r in range(size):
                codes[first + r, j] = states[r]


@kernel()
def encode_many_cuts(values: Floats, cuts: Floats, codes: Codes) -> None:
    """The same for one column of many cuts, by bisection."""
    for r in range(values.size):
        x, low, high = values[r], 0, cuts.size
        while low < high:
            middle = (low + high) // 2
            if cuts[middle] < x:
                low = middle + 1
            else:
                high = middle
        codes[r] = low if x == x else cuts.size + 1


@kernel()
def code_ranges(X: Floats, low: Floats, high: Floats, fractions: Ints) -> None:
    """Smallest and largest known value of each column, and how many are not finite integers.

    ``low`` comes as infinity, ``high`` as minus infinity; comparing with NaN changes neither.
    """
    for r in range(X.shape[0]):
        row = X[r]
        for j in range(row.size):
            value = np.float64(row[j])
            low[j] = value if value < low[j] else low[j]
            high[j] = value if value > high[j] else high[j]
            is_code = (np.rint(value) == value) & (abs(value) <= LARGEST)
            fractions[j] += np.int64((value == value) & (not is_code))


@kernel()
def known_columns(X: Floats, j0: int, columns: Floats, n_known: Ints) -> None:
    """The known values of columns j0, j0 + 1, … of X, infinite ones as the largest finite ones.

    ``columns`` has one place more than there are rows: a NaN is written and then overwritten.
    """
    n_known[:] = 0
    for first in range(0, X.shape[0], 256):  # so many rows that the cache holds them
        last = min(X.shape[0], first + 256)
        for j in range(columns.shape[0]):
            known = n_known[j]
            for r in range(first, last):
                value = np.float64(X[r, j0 + j])
                columns[j, known] = min(max(value, -LARGEST), LARGEST)
                known += np.int64(value == value)
            n_known[j] = known


@part_of_kernel
def _insert(ordered: Floats, size: int, value: float) -> None:
    slot = size
    while slot > 0 and ordered[slot - 1] > value:
        ordered[slot] = ordered[slot - 1]
        slot -= 1
    ordered[slot] = value


@part_of_kernel
def _few_distinct(values: Floats, n: int, most: int, ordered: Floats) -> int:
    """How many distinct values there are, in order in ``ordered``; ends at one more than ``most``.

    A column of numbers shows more than a few at once, so this hardly reads it.
    """
    count = 0
    for r in range(n):
        slot = 0
        while slot < count and ordered[slot] < values[r]:
            slot += 1
        if slot == count or ordered[slot] != values[r]:
            if count == most:
                return most + 1
            _insert(ordered, count, values[r])
            count += 1
    return count


@part_of_kernel
def _fill_buckets(values: Floats, n: int, ordered: Floats, buckets: Buckets, counts: Ints) -> float:
    """Put each value into one of equally wide buckets, in their order; the largest value.

    The range comes from a few of the values: those outside it fall into the outer buckets.
    """
    size = min(n, ordered.size)
    for k in range(size):
        _insert(ordered, k, values[k * (n // size)])
    low, high = ordered[size // 32], ordered[size - 1 - size // 32]
    scale = (counts.size - 2) / (high - low) if high > low else 0.0
    scale = scale if scale < LARGEST else 0.0
    last = np.float64(counts.size - 2)
    counts[:] = 0
    largest = values[0]
    for r in range(n):
        position = min(max((values[r] - low) * scale, -1.0), last) if scale > 0 else 0.0
        bucket = np.uint64(position + 1.0)
        buckets[r] = bucket
        counts[bucket] += 1
        largest = max(largest, values[r])
    return largest


@kernel()
def quantile_cuts(
    columns: Floats,
    n_known: Ints,
    n_bins: int,
    ordered: Floats,
    buckets: Buckets,
    counts: Ints,
    chosen: Floats,
    cuts: Floats,
    n_cuts: Ints,
) -> None:
    """Cuts of each column into equally frequent states, and how many.

    Only the buckets that hold a quantile are looked at again, so this costs a fraction of sorting.
    ``ordered``, ``buckets``, ``counts`` and ``chosen`` are work space.
    """
    for c in range(columns.shape[0]):
        values, n = columns[c], n_known[c]
        n_distinct = _few_distinct(values, n, n_bins, ordered)
        n_cuts[c] = 0
        if n_distinct <= n_bins:
            for k in range(n_distinct - 1):
                middle = ordered[k] / 2 + ordered[k + 1] / 2
                cuts[c, k] = middle if middle < ordered[k + 1] else ordered[k]
                n_cuts[c] += 1
            continue
        largest = _fill_buckets(values, n, ordered, buckets, counts)
        bucket, below, size, gathered = 0, np.int64(0), 0, -1
        for k in range(1, n_bins):
            rank = (k * n + n_bins - 1) // n_bins - 1
            while below + counts[bucket] <= rank:
                below += counts[bucket]
                bucket += 1
            if bucket != gathered:
                size, gathered = 0, bucket
                for r in range(n):  # a value of another bucket is overwritten by the next one
                    chosen[size] = values[r]
                    size += int(buckets[r] == np.uint64(bucket))
            value = kth_largest(chosen, size, size + below - rank)
            if value < largest and (n_cuts[c] == 0 or value > cuts[c, n_cuts[c] - 1]):
                cuts[c, n_cuts[c]] = value
                n_cuts[c] += 1


@called_by_kernels()  # from three places, so that parts would be three copies to compile
def _interval_term(cumulative: Floats, low: int, high: int) -> float:
    """max_r² / M_r of the interval of distinct values low … high − 1."""
    most, total = 0.0, 0.0
    above, below = cumulative[high], cumulative[low]
    for s in range(above.size):
        count = above[s] - below[s]
        total += count
        if count > most:
            most = count
    return most * most / total


@part_of_kernel
def _best_split(cumulative: Floats, is_cut: Codes, current: float) -> tuple[int, float]:
    """The boundary that raises the sum of terms most, and that sum; ties to the lowest boundary."""
    n_values = len(cumulative) - 1
    best, best_sum = -1, 0.0
    low, high, term = 0, 0, 0.0
    for d in range(1, n_values):
        if d >= high or is_cut[d]:
            low, high = d if is_cut[d] else 0, d + 1
            while high < n_values and not is_cut[high]:
                high += 1
            term = _interval_term(cumulative, low, high)
            if is_cut[d]:
                continue
        left = _interval_term(cumulative, low, d)
        candidate = current - term + left + _interval_term(cumulative, d, high)
        if candidate > best_sum + TIE * best_sum or best < 0:
            best, best_sum = d, candidate
    return best, best_sum


@kernel()
def caim_boundaries(
    cumulative: Floats, n_classes: int, total: float, is_cut: Codes, accepted: Ints
) -> int:
    """Boundaries into ``accepted`` in their order, and how many (Kurgan and Cios 2004).

    ``cumulative[d]`` holds the class counts of the d smallest distinct values, ``total`` is the
    term of all values in one interval; boundary d lies below the d-th distinct value (from 0). A
    boundary is accepted if CAIM grows, or if there are fewer intervals than classes. ``is_cut``
    comes as zeros, one more than there are values.
    """
    n_cuts, reached = 0, 0.0
    while n_cuts < accepted.size:
        boundary, total = _best_split(cumulative, is_cut, total)
        caim = total / (n_cuts + 2)
        if caim <= reached + TIE * reached and n_cuts + 1 >= n_classes:
            break
        is_cut[boundary] = 1
        accepted[n_cuts] = boundary
        n_cuts += 1
        reached = caim
    return n_cuts
