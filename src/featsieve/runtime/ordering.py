"""The one tie rule: values equal within 1e-12 relative go to the lowest index."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray

TIE_TOLERANCE = 1e-12


def best_first(scores: FloatArray) -> IntArray:
    """Indices from the largest score to the smallest, ties to the lowest index, NaN last.

    >>> best_first(np.array([1.0, 3.0, 3.0 + 1e-15, np.nan, 2.0])).tolist()
    [1, 2, 4, 0, 3]
    """
    scores = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-scores)  # faster than a stable sort; ties are put in order below
    ranked = scores[order]
    n_known = len(ranked) - int(np.count_nonzero(np.isnan(ranked)))
    order[n_known:].sort()
    with np.errstate(invalid="ignore"):
        close = ranked[:-1] - ranked[1:] <= TIE_TOLERANCE * np.abs(ranked[:-1])
    close |= ranked[:-1] == ranked[1:]  # equal infinities
    if not close.any():
        return order
    for start, stop in _ties(-ranked, close):
        order[start:stop] = np.sort(order[start:stop])
    return order


def _ties(rising: FloatArray, close: BoolArray) -> Iterator[tuple[int, int]]:
    """First and last + 1 of the values that are tied with the first of them."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], close, [False]])))
    for start, last in edges.reshape(-1, 2).tolist():  # each is close to the next one
        while start <= last:
            top = rising[start]
            ceiling = top + TIE_TOLERANCE * abs(top) if np.isfinite(top) else top
            stop = start + int(np.searchsorted(rising[start : last + 1], ceiling, side="right"))
            yield start, stop
            start = stop


def first_of_copies(
    key: FloatArray, same: Callable[[int, int], bool], tolerance: float
) -> IntArray:
    """For each item the first one that is the same; only items of nearly equal keys are compared.

    >>> first_of_copies(np.array([2.0, 1.0, 2.0, 1.0]), lambda i, j: i != 1, 1e-9).tolist()
    [0, 1, 0, 3]
    """
    first = np.arange(len(key))
    order = np.argsort(key, kind="stable")
    is_near = np.diff(key[order]) <= tolerance * (1.0 + np.abs(key[order[1:]]))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_near, [False]])))
    for start, last in edges.reshape(-1, 2).tolist():
        kept: list[int] = []
        for item in sorted(order[start : last + 1].tolist()):
            first[item] = next((earlier for earlier in kept if same(earlier, item)), item)
            if first[item] == item:
                kept.append(item)
    return first


def tie_width(top: float, scale: float = 0.0) -> float:
    """How far below ``top`` a score still ties with it."""
    return TIE_TOLERANCE * max(abs(top), scale)


def best_index(scores: FloatArray, scale: float = 0.0) -> int:
    """Where the largest score is; ties to the lowest index, NaN never wins over a number.

    ``scale`` is the size of the terms whose differences the scores are: where those cancel, the
    scores are rounding, and so are differences between them.

    >>> best_index(np.array([0.5, np.nan, 2.0, 2.0 + 1e-15]))
    2
    >>> best_index(np.array([0.0, 4e-16])), best_index(np.array([0.0, 4e-16]), scale=1.0)
    (1, 0)
    """
    scores = np.asarray(scores, dtype=np.float64)
    top = float(scores[scores.argmax()])  # argmax stops at the first NaN
    if math.isnan(top):
        known = scores[~np.isnan(scores)]
        if not len(known):
            return 0
        top = float(known.max())
    floor = top - tie_width(top, scale) if math.isfinite(top) else top
    return int((scores >= floor).argmax())
