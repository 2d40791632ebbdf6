"""Cut points to codes, and the boundaries that CAIM accepts."""

from __future__ import annotations

import numpy as np
from numba import njit

from featsieve.compiled.counting import Codes, Floats, Ints
from featsieve.compiled.inlining import part_of_kernel

LINEAR_CUTS = 8
TIE = 1e-12


@njit(nogil=True, cache=True, error_model="numpy")
def encode_columns(X: Floats, cuts: Floats, starts: Ints, codes: Codes) -> None:
    """Number of a column's cuts below each value; NaN gets one state more than the cuts make."""
    for r in range(X.shape[0]):
        for j in range(X.shape[1]):
            x, first, last = X[r, j], starts[j], starts[j + 1]
            if x != x:  # NaN
                codes[r, j] = last - first + 1
                continue
            while last - first > LINEAR_CUTS:
                middle = (first + last) // 2
                if cuts[middle] < x:
                    first = middle + 1
                else:
                    last = middle
            # Counting all of a few cuts beats stopping early: nothing for the CPU to guess.
            below = first - starts[j]
            for c in range(first, last):
                below += np.int64(cuts[c] < x)
            codes[r, j] = below


@part_of_kernel
def _interval_term(cumulative: Floats, low: int, high: int) -> float:
    """max_r² / M_r of the interval of distinct values low … high − 1."""
    most, total = 0.0, 0.0
    for s in range(cumulative.shape[1]):
        count = cumulative[high, s] - cumulative[low, s]
        total += count
        if count > most:
            most = count
    return most * most / total


@part_of_kernel
def _best_split(cumulative: Floats, is_cut: Codes, current: float) -> tuple[int, float]:
    """The boundary that raises the sum of terms most, and that sum; ties to the lowest boundary."""
    n_values = cumulative.shape[0] - 1
    best, best_sum = -1, 0.0
    low, high, own = 0, 0, 0.0
    for d in range(1, n_values):
        if d >= high or is_cut[d]:
            low, high = d if is_cut[d] else 0, d + 1
            while high < n_values and not is_cut[high]:
                high += 1
            own = _interval_term(cumulative, low, high)
            if is_cut[d]:
                continue
        left = _interval_term(cumulative, low, d)
        candidate = current - own + left + _interval_term(cumulative, d, high)
        if candidate > best_sum + TIE * best_sum or best < 0:
            best, best_sum = d, candidate
    return best, best_sum


@njit(nogil=True, cache=True, error_model="numpy")
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
