"""Medians of distances between rows: exact, and of the positive ones where most are zero."""

from __future__ import annotations

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.compiled.hsic_tiles import SQUARED
from featsieve.compiled.medians import (
    add_pair_contributions,
    clear_dust,
    kth_difference,
    kth_value,
    next_value,
)
from featsieve.engines.base import median_sample_size, slices
from featsieve.runtime.progress import Monitor

CONSTANT_BANDWIDTH = 1.0
TERMS_PER_TICK = 2**26  # contributions of one column to one pair of rows; about 50 ms


def median_rows(n_samples: int, seed: int = 0, n_columns: int = 1) -> IntArray | None:
    """Rows on which medians are taken; None for all of them."""
    size = median_sample_size(n_samples, n_columns)
    if size == n_samples:
        return None
    chosen = np.random.default_rng(seed).choice(n_samples, size, replace=False)
    return np.sort(chosen).astype(np.intp)


def middle_ranks(n_pairs: int, n_zero: int) -> tuple[int, int]:
    """The two (equal if odd) middle ranks, of the positive values when the median is zero."""
    low, high = (n_pairs - 1) // 2, n_pairs // 2
    if high >= n_zero:
        return low, high
    n_positive = n_pairs - n_zero
    return n_zero + (n_positive - 1) // 2, n_zero + n_positive // 2


def pair_contributions(
    columns: FloatArray,
    scale: FloatArray,
    is_code: Array,
    form: int,
    monitor: Monitor | None = None,
) -> FloatArray:
    """Σ_c scale_c · contribution_c for all pairs of rows; ``columns[c, i]``, as in a tile."""
    n_columns, n_rows = columns.shape
    total = np.zeros(n_rows * (n_rows - 1) // 2, columns.dtype)
    step = max(1, TERMS_PER_TICK // max(1, len(total)))
    for part in slices(n_columns, step):
        if monitor is not None and part.start:
            monitor.tick("taking medians", part.start, n_columns)
        add_pair_contributions(total, columns[part], scale[part], is_code[part], form)
    return total


def median_of_sums(total: FloatArray, form: int) -> float:
    """The median distance, from the summed contributions of all pairs (cleared of dust).

    Contributions of the form ``SQUARED`` add up to squared distances.
    """
    clear_dust(total)
    n_zero = int(np.count_nonzero(total == 0.0))
    if n_zero == total.size:
        return CONSTANT_BANDWIDTH
    low, high = middle_ranks(total.size, n_zero)
    first = kth_value(total, low)
    second = first if high == low else next_value(total, first, high)
    middle = np.array([first, second])
    return float((np.sqrt(middle) if form == SQUARED else middle).mean())


def median_of_column(column: Array) -> float:
    """The median of |x_i − x_j| over pairs i < j, exact, in O(n log n).

    >>> median_of_column(np.array([0.0, 1.0, 3.0]))
    2.0
    """
    ordered = np.sort(np.asarray(column, dtype=np.float64))
    n = len(ordered)
    run_lengths = np.diff(np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1], True]))
    n_pairs, n_zero = n * (n - 1) // 2, int((run_lengths * (run_lengths - 1) // 2).sum())
    if n_zero == n_pairs:
        return CONSTANT_BANDWIDTH
    low, high = middle_ranks(n_pairs, n_zero)
    return float((kth_difference(ordered, low) + kth_difference(ordered, high)) / 2)
