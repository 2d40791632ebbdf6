"""Middle order statistics of many pairwise distances, without sorting them."""

from __future__ import annotations

from typing import Any

import numpy as np

from featsieve.compiled.hsic_tiles import add_contribution
from featsieve.compiled.inlining import called_by_kernels, kernel

_BINS = 2048
_SMALL = 32  # so few values are sorted
_DUST = 1e-12  # what a subtraction leaves of an exact zero, relative to the largest value


@kernel()
def _count_within(ordered: Any, width: float) -> int:
    """Pairs i < j of an ascending array with ordered[j] − ordered[i] ≤ width."""
    count, i = 0, 0
    for j in range(ordered.size):
        while ordered[j] - ordered[i] > width:
            i += 1
        count += j - i
    return count


@called_by_kernels()
def _next_difference(ordered: Any, width: float) -> float:
    """The smallest difference above ``width``."""
    smallest, i = np.inf, 0
    for j in range(ordered.size):
        while ordered[j] - ordered[i] > width:
            i += 1
        if i > 0:
            smallest = min(smallest, ordered[j] - ordered[i - 1])
    return smallest


@kernel()
def kth_difference(ordered: Any, k: int) -> float:
    """The k-th smallest (from 0) of all ordered[j] − ordered[i], i < j, in O(n log n) time."""
    low, high = 0.0, ordered[-1] - ordered[0]
    if _count_within(ordered, low) > k:
        return low
    while True:
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            return high
        if _count_within(ordered, middle) > k:
            high = middle
        else:
            low = _next_difference(ordered, middle)
            if _count_within(ordered, low) > k:
                return low


# Loops instead of min, max and sort: those alone would take seconds to compile.
@called_by_kernels()
def _extent(values: Any) -> Any:
    low, high = values[0], values[0]
    for value in values:
        low, high = min(low, value), max(high, value)
    return low, high


@called_by_kernels()
def _kth_of_few(values: Any, k: int) -> float:
    """By insertion into an ascending copy."""
    ordered = np.empty(values.size, values.dtype)
    for filled in range(values.size):
        position = filled
        while position > 0 and ordered[position - 1] > values[filled]:
            ordered[position] = ordered[position - 1]
            position -= 1
        ordered[position] = values[filled]
    return ordered[k]


@kernel()
def kth_value(values: Any, k: int) -> float:
    """The k-th smallest (from 0), by histograms that narrow down on it."""
    while values.size > _SMALL:
        low, high = _extent(values)
        scale = (_BINS - 1) / (high - low) if high > low else 0.0
        if not 0.0 < scale < np.inf:
            return low
        counts = np.zeros(_BINS, np.int64)
        for value in values:
            counts[np.int64((value - low) * scale)] += 1
        at = 0
        while counts[at] <= k:
            k -= counts[at]
            at += 1
        inside = np.empty(counts[at], values.dtype)
        filled = 0
        for value in values:
            if np.int64((value - low) * scale) == at:
                inside[filled] = value
                filled += 1
        values = inside
    return _kth_of_few(values, k)


@kernel()
def next_value(values: Any, value: float, k: int) -> float:
    """The k-th smallest (from 0), when ``value`` is the (k − 1)-th."""
    n_up_to, above = 0, np.inf
    for other in values:
        if other <= value:
            n_up_to += 1
        else:
            above = min(above, other)
    return value if n_up_to > k else above


@kernel()
def add_pair_contributions(total: Any, X: Any, scale: Any, is_code: Any, form: int) -> None:
    """Σ_c scale_c · contribution_c for all pairs of rows i < j; ``X[c, i]`` as in a tile."""
    n = X.shape[1]
    for c in range(X.shape[0]):
        at = 0
        for i in range(n - 1):
            row = total[at : at + n - 1 - i]
            add_contribution(row, X[c, i], X[c, i + 1 :], scale[c], is_code[c], form)
            at += n - 1 - i


@kernel()
def clear_dust(values: Any) -> None:
    """Set to zero, in place, what is zero up to rounding."""
    floor = _DUST * _extent(values)[1]
    for i in range(values.size):
        if values[i] <= floor:
            values[i] = 0.0


@kernel()
def fill_pair_squares(products: Any, norms: Any, out: Any) -> None:
    """‖a‖² + ‖b‖² − 2a'b of some rows with all rows after each, one after the other.

    ``products`` has a'b of these rows with themselves and all after them, ``norms`` their ‖·‖².
    """
    at, n_rest = 0, norms.size
    for i in range(products.shape[0]):
        norm = norms[i]
        row = out[at : at + n_rest - 1 - i]
        others, inner = norms[i + 1 :], products[i, i + 1 :]
        for j in range(row.size):
            row[j] = norm + others[j] - 2.0 * inner[j]
        at += n_rest - 1 - i
