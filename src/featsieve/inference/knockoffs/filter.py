"""From the statistics W of columns against their copies to a set with a bounded share of errors."""

from __future__ import annotations

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.runtime.ordering import best_first


def knockoff_threshold(W: FloatArray, fdr: float) -> float:
    """T = min{t > 0: (1 + #{W ≤ −t}) / max(1, #{W ≥ t}) ≤ fdr}; infinity where there is none.

    >>> knockoff_threshold(np.array([3.0, 2.5, 2.0, -0.1, 1.5]), 0.25)
    1.5
    >>> knockoff_threshold(np.array([3.0, -2.5]), 0.25)
    inf
    """
    sizes = np.unique(np.abs(W[(W != 0) & np.isfinite(W)]))
    rising = np.sort(W)
    n_above = len(W) - np.searchsorted(rising, sizes, side="left")
    n_below = np.searchsorted(rising, -sizes, side="right")
    passes = (1 + n_below) / np.maximum(1, n_above) <= fdr
    return float(sizes[passes.argmax()]) if passes.any() else float("inf")


def level_per_copy(fdr: float, n_copies: int) -> float:
    """For which level the threshold of each copy is set: of several, half (Ren and Barber 2024)."""
    return fdr if n_copies == 1 else fdr / 2


def e_values(W: FloatArray, fdr: float) -> FloatArray:
    """e = m 1{W ≥ T} / (1 + #{W ≤ −T}), with T for ``fdr`` (Ren and Barber 2024).

    Over all columns without an effect they add up to at most m in expectation, so they may be
    averaged over several copies, and the level of :func:`e_bh` may be chosen afterwards.

    >>> e_values(np.array([3.0, 2.5, 2.0, -0.1, 1.5]), 0.25).tolist()
    [5.0, 5.0, 5.0, 0.0, 5.0]
    """
    threshold = knockoff_threshold(W, fdr)
    if not np.isfinite(threshold):
        return np.zeros(len(W))
    return len(W) * (threshold <= W) / (1.0 + np.count_nonzero(-threshold >= W))


def e_bh(values: FloatArray, fdr: float) -> IntArray:
    """The columns whose e-values pass at level ``fdr``, best first (Wang and Ramdas 2022).

    >>> e_bh(np.array([5.0, 5.0, 5.0, 0.0, 5.0]), 0.25).tolist()
    [0, 1, 2, 4]
    """
    order = best_first(values)
    n_tests = len(values)
    passes = values[order] >= n_tests / (fdr * np.arange(1, n_tests + 1))
    n_selected = int(np.flatnonzero(passes)[-1]) + 1 if passes.any() else 0
    return order[:n_selected]


def smallest_level(values: FloatArray) -> tuple[float, IntArray]:
    """The least level at which e-values select anything, and what; 1 and nothing if none does.

    >>> level, chosen = smallest_level(np.array([2.0, 2.0, 0.0, 2.0]))
    >>> round(level, 3), chosen.tolist()
    (0.667, [0, 1, 3])
    """
    order = best_first(values)
    ranked = values[order]
    counts = np.arange(1, len(values) + 1)
    needed = np.divide(
        len(values), ranked * counts, out=np.full(len(values), np.inf), where=ranked > 0
    )
    if not len(needed) or needed.min() > 1:
        return 1.0, order[:0]
    level = float(needed.min())
    return level, e_bh(values, level * (1 + 1e-12))
