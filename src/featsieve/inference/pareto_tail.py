"""p-values below 1/(1 + R): a generalised Pareto law for the tail (Knijnenburg et al. 2009).

An approximation: the scores beyond a high threshold are taken to follow their limiting law.
"""

from __future__ import annotations

import numpy as np

from featsieve.arrays import FloatArray

KEPT = 251  # the largest permuted scores of each unit
FEWEST = 30
STEP = 10
ENOUGH_COUNTS = 10  # from here on counting is as good
WORST_FIT = 0.153  # Cramér–von Mises at 5 % (Choulakian and Stephens 2001, shape near 0)


class LargestScores:
    """The largest permuted scores of each unit, in falling order."""

    def __init__(self, n_units: int) -> None:
        self.values = np.full((n_units, KEPT), -np.inf)

    def add(self, permuted: FloatArray) -> None:
        """Units by permutations; NaN is never large."""
        both = np.concatenate(
            [self.values, np.where(np.isnan(permuted), -np.inf, permuted)], axis=1
        )
        self.values = -np.sort(np.partition(-both, KEPT - 1, axis=1)[:, :KEPT], axis=1)


def tail_pvalue(largest: FloatArray, n_permutations: int, observed: float) -> float | None:
    """P(score ≥ observed) by the law of the largest scores; None where no law fits.

    >>> rng = np.random.default_rng(0)
    >>> scores = -np.sort(-rng.exponential(size=1000))
    >>> p = tail_pvalue(scores[:251], 1000, 12.0)
    >>> 1e-7 < p < 1e-4  # exp(−12) is 6e-6
    True
    """
    n_tail = min(KEPT - 1, n_permutations // 4)
    while n_tail >= FEWEST:
        threshold = float(largest[n_tail - 1] + largest[n_tail]) / 2
        excess = largest[:n_tail][::-1] - threshold  # rising
        law = fit_pareto(excess)
        if law is not None and _misfit(excess, *law) <= WORST_FIT:
            return n_tail / n_permutations * float(survival(np.array(observed - threshold), *law))
        n_tail -= STEP
    return None


def fit_pareto(excess: FloatArray) -> tuple[float, float] | None:
    """Shape k and scale a of 1 − (1 − kz/a)^(1/k), by probability-weighted moments.

    The estimates are those of Hosking and Wallis (1987); ``excess`` is in rising order. A law with
    an end would call everything beyond it impossible, so it becomes an exponential one, which errs
    to the safe side.
    """
    n = len(excess)
    first = float(excess.mean())
    second = float(np.mean(excess * (1.0 - (np.arange(1, n + 1) - 0.35) / n)))
    if first <= 0 or first - 2 * second <= 0:
        return None
    shape = first / (first - 2 * second) - 2.0
    return (shape, 2 * first * second / (first - 2 * second)) if shape < 0 else (0.0, first)


def survival(z: FloatArray, shape: float, scale: float) -> FloatArray:
    """1 − F(z)."""
    if abs(shape) < 1e-9:
        return np.exp(-z / scale)
    return np.asarray(np.maximum(1.0 - shape * z / scale, 0.0) ** (1.0 / shape))


def _misfit(excess: FloatArray, shape: float, scale: float) -> float:
    """Cramér and von Mises's distance of the excesses from the law."""
    n = len(excess)
    places = (2 * np.arange(1, n + 1) - 1) / (2 * n)
    return float(np.sum((1.0 - survival(excess, shape, scale) - places) ** 2) + 1 / (12 * n))
