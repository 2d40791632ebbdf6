"""Compiled loops of the low-rank search: the sets that directions give, scored on the true matrix.

Plain loops and arrays from the caller: array expressions and allocations inside a kernel take
seconds to compile."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from featsieve.compiled.inlining import called_by_kernels, kernel
from featsieve.compiled.quadratic import copy_indices
from featsieve.compiled.selection import kth_largest

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]
KeyArray = npt.NDArray[np.uint64]


@kernel()
def fill_top(scores: FloatArray, k: int, scratch: FloatArray, chosen: IntArray) -> None:
    """The k largest scores into ``chosen``, in index order, ties to the lowest index."""
    n = len(scores)
    for i in range(n):
        scratch[i] = scores[i]
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


@kernel()
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


@called_by_kernels()
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


@kernel()
def keep_better(Q: FloatArray, chosen: IntArray, best: IntArray, best_value: float) -> float:
    """Score a set on Q and keep it if it is the best; the best value after that."""
    value = set_value(Q, chosen)
    if value > best_value:
        copy_indices(chosen, best)
        return value
    return best_value


@called_by_kernels()
def _low_rank_product(
    factors: FloatArray, signs: FloatArray, x: IntArray, line: FloatArray
) -> None:
    """factors·diag(signs)·factors'·x into ``line``, x given as a set."""
    for i in range(len(line)):
        line[i] = 0.0
    for m in range(factors.shape[1]):
        weight = 0.0
        for j in x:
            weight += signs[m] * factors[j, m]
        for i in range(len(line)):
            line[i] += weight * factors[i, m]


@kernel()
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
    line: FloatArray,
    scratch: FloatArray,
    x: IntArray,
    y: IntArray,
) -> tuple[float, float]:
    """The candidates of P-CMI eq. (6) for each row of ``scores`` (directions × n).

    x is the top-k, then the bottom-k of the row; y the top-k of Q_d x, with
    Q_d = factors·diag(signs)·factors'. Both are scored on the true Q. Returns the best x'Qx and
    the best x'Q_d y. ``line``, ``scratch`` (n) and ``x``, ``y`` (k) are work space.
    """
    k = len(best)
    for row in range(len(scores)):
        for side in (1.0, -1.0):
            for i in range(len(line)):
                line[i] = side * scores[row, i]
            fill_top(line, k, scratch, x)
            if not _is_new(x, keys, seen):
                continue
            best_value = keep_better(Q, x, best, best_value)
            _low_rank_product(factors, signs, x, line)
            fill_top(line, k, scratch, y)
            pair = 0.0
            for j in y:
                pair += line[j]
            best_pair = max(best_pair, pair)
            best_value = keep_better(Q, y, best, best_value)
    return best_value, best_pair
