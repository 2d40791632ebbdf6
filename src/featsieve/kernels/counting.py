"""Direct counting of coded columns: for columns of many states, for margins and for row blocks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from featsieve.kernels.bitplanes import Codes, Floats, Ints


@njit(nogil=True, cache=True, error_model="numpy")
def add_counts(codes: Codes, keys: Ints, cells: Ints, table: npt.NDArray[np.int64]) -> None:
    """table[keys[r], cells[j] + codes[r, j]] += 1 for all rows r and columns j."""
    for r in range(codes.shape[0]):
        row = table[keys[r]]
        for j in range(codes.shape[1]):
            row[cells[j] + codes[r, j]] += 1


@njit(nogil=True, cache=True, error_model="numpy")
def add_weights(codes: Codes, keys: Ints, weights: Floats, cells: Ints, table: Floats) -> None:
    """As ``add_counts``, with the weight of each row instead of 1."""
    for r in range(codes.shape[0]):
        row, weight = table[keys[r]], weights[r]
        for j in range(codes.shape[1]):
            row[cells[j] + codes[r, j]] += weight


@njit(nogil=True, cache=True)
def _move_class(
    mine: Codes, other: Codes, width: int, r0: int, r1: int, table: Floats, one: Ints, joint: Ints
) -> float:
    """Count rows r0 … r1 in ``one``, then move the counts to ``joint``; the sum of their n log n.

    Reading back by rows instead of by cells costs nothing for states that do not meet.
    """
    for r in range(r0, r1):
        one[mine[r] * width + other[r]] += 1
    total = 0.0
    for r in range(r0, r1):
        cell = mine[r] * width + other[r]
        count = one[cell]
        if count > 0:
            total += table[np.uint64(count)]
            joint[cell] += count
            one[cell] = 0
    return total


@njit(nogil=True, cache=True)
def _empty_joint(mine: Codes, other: Codes, width: int, table: Floats, joint: Ints) -> float:
    total = 0.0
    for r in range(mine.size):
        cell = mine[r] * width + other[r]
        count = joint[cell]
        if count > 0:
            total += table[np.uint64(count)]
            joint[cell] = 0
    return total


@njit(nogil=True, cache=True)
def direct_row(
    codes: Codes,
    class_bounds: Ints,
    states: Ints,
    i: int,
    columns: Ints,
    table: Floats,
    pair: Floats,
    triple: Floats,
) -> None:
    """Σ n log n over the tables of column i with ``columns``.

    ``codes`` is columns × rows, the rows sorted by class.
    """
    widest = 0
    for k in range(columns.size):
        widest = max(widest, states[columns[k]])
    one = np.zeros(states[i] * widest, np.int64)
    joint = np.zeros(states[i] * widest, np.int64)
    mine = codes[i]
    for k in range(columns.size):
        other, width = codes[columns[k]], states[columns[k]]
        total = 0.0
        for c in range(class_bounds.size - 1):
            total += _move_class(
                mine, other, width, class_bounds[c], class_bounds[c + 1], table, one, joint
            )
        triple[k] = total
        pair[k] = _empty_joint(mine, other, width, table, joint)


@njit(nogil=True, cache=True)
def segment_sums(codes: Codes, bounds: Ints, table: Floats) -> Floats:
    """Σ n log n over the states of each column within each segment of rows."""
    sums = np.zeros(codes.shape[0])
    counts = np.zeros(256, np.int64)
    for j in range(codes.shape[0]):
        column = codes[j]
        for s in range(bounds.size - 1):
            for r in range(bounds[s], bounds[s + 1]):
                counts[column[r]] += 1
            for r in range(bounds[s], bounds[s + 1]):
                sums[j] += table[np.uint64(counts[column[r]])]
                counts[column[r]] = 0
    return sums
