"""How many false columns stability selection lets through at most (Shah and Samworth 2013).

θ = q/p is the share of columns that a half of the rows selects. A column counts as false here when
a half selects it with probability θ or less: no more often than a column picked at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from featsieve.arrays import FloatArray

Assumption = Literal["none", "unimodal", "r-concave"]
ASSUMPTIONS = get_args(Assumption)

LARGEST_SHIFT, SMALLEST_SHIFT = 1e5, 1e-5


def false_selections(
    q: float, n_units: int, threshold: float, n_pairs: int, assumption: Assumption
) -> float:
    """The bound on the expected number of false columns among those at ``threshold`` or above.

    >>> round(false_selections(10, 200, 0.9, 50, "none"), 3)
    0.625
    >>> round(false_selections(10, 200, 0.9, 50, "unimodal"), 3)
    0.216
    """
    if threshold <= 0.5:
        return float(n_units)
    if threshold > 1.0:  # beyond all shares nothing is selected
        return 0.0
    if assumption == "none":
        bound = worst_case(q, n_units, threshold)
    elif assumption == "unimodal":
        bound = unimodal(q, n_units, threshold, n_pairs)
    else:
        bound = r_concave(q, n_units, threshold, n_pairs)
    return float(min(bound, q, n_units))


def worst_case(q: float, n_units: int, threshold: float) -> float:
    """Theorem 1: q²/p / (2τ − 1), whatever the distribution."""
    return q**2 / n_units / (2 * threshold - 1)


def unimodal(q: float, n_units: int, threshold: float, n_pairs: int) -> float:
    """Theorem 2: simultaneous selection frequencies of false columns have a unimodal law."""
    theta = q / n_units
    lowest = min(0.5 + theta**2, 0.5 + 1 / (2 * n_pairs) + 0.75 * theta**2)
    if theta > 1 / np.sqrt(3) or threshold <= lowest or threshold <= 0.5 + 1 / (2 * n_pairs):
        return worst_case(q, n_units, threshold)
    if threshold <= 0.75:
        factor = 1 / (2 * (2 * threshold - 1 - 1 / (2 * n_pairs)))
    else:
        factor = 4 * (1 - threshold + 1 / (2 * n_pairs)) / (1 + 1 / n_pairs)
    return min(factor * q**2 / n_units, worst_case(q, n_units, threshold))


def r_concave(q: float, n_units: int, threshold: float, n_pairs: int) -> float:
    """Equation (8): the laws are r-concave, −1/2 for pairs of halves and −1/4 for halves."""
    theta = q / n_units
    both = _tail(theta**2, n_pairs, -0.5, 2 * threshold - 1)
    single = _tail(theta, 2 * n_pairs, -0.25, threshold)
    return n_units * min(both, single)


def _tail(mean: float, size: int, r: float, threshold: float) -> float:
    count = int(np.ceil(threshold * size - 1e-9))
    return 1.0 if count < 1 else float(largest_tails(mean, size, r)[min(count, size)])


@lru_cache(maxsize=64)
def largest_tails(mean: float, size: int, r: float) -> FloatArray:
    """max P(X ≥ t/size) for t = 0 … size, over r-concave laws on {0, 1/size, …, 1} of this mean.

    The largest tail is reached by a law proportional to (a + i)^(1/r) for i ≤ k and to something
    less at k + 1, so a and k are searched (Shah and Samworth 2013, appendix A.4).
    """
    tails = np.ones(size + 1)
    total = mean * size
    lowest = int(np.ceil(2 * total)) + 1
    if lowest > size or mean <= 0:
        return tails
    laws = [_PowerLaw(k, -1.0 / r, total) for k in range(lowest, size + 1)]
    shifts = _shifts(laws)
    first = 0
    for t in range(lowest, size + 1):
        values = [law.tail(t, *shifts[i : i + 2]) for i, law in enumerate(laws) if i >= first]
        tails[t] = max(values)
        first += int(np.argmax(values))
    return np.minimum.accumulate(tails)


@dataclass(frozen=True)
class _PowerLaw:
    """Laws proportional to (a + i)^−power on 0 … last, and their tails at a given mean."""

    last: int
    power: float
    total: float

    @property
    def points(self) -> FloatArray:
        return np.arange(self.last + 1, dtype=np.float64)

    def weights(self, a: float) -> FloatArray:
        return ((a + self.points) / (a + self.last)) ** -self.power

    def excess(self, a: float) -> float:
        """How far the mean of the law is above the given one; it rises with a."""
        weights = self.weights(a)
        return float(self.points @ weights / weights.sum() - self.total)

    def tail(self, t: int, high: float, low: float | None = None) -> float:
        """The largest P(i ≥ t) for a between ``low`` and ``high``, with mass added at last + 1."""
        from scipy.optimize import minimize_scalar

        if low is None or low >= high:
            return 1.0 - self._below(high, t)
        best = minimize_scalar(self._below, bounds=(low, high), args=(t,), method="bounded")
        return 1.0 - float(best.fun)

    def _below(self, a: float, t: int) -> float:
        weights = self.weights(a)
        left = self.last + 1 - self.points
        return float((self.last + 1 - self.total) * weights[:t].sum() / (left @ weights))


def _shifts(laws: list[_PowerLaw]) -> list[float]:
    """For each law the a at which it has the given mean: smaller for longer laws."""
    from scipy.optimize import brentq

    shifts: list[float] = []
    upper = LARGEST_SHIFT
    for law in laws:
        fits = law.excess(SMALLEST_SHIFT) < 0 < law.excess(upper)
        upper = float(brentq(law.excess, SMALLEST_SHIFT, upper)) if fits else SMALLEST_SHIFT
        shifts.append(upper)
    return shifts


def least_threshold(
    q: float, n_units: int, pfer: float, n_pairs: int, assumption: Assumption
) -> float | None:
    """The smallest share of halves at which the bound is ``pfer`` or less; None: there is none."""
    for count in range(n_pairs + 1, 2 * n_pairs + 1):
        threshold = count / (2 * n_pairs)
        if false_selections(q, n_units, threshold, n_pairs, assumption) <= pfer:
            return threshold
    return None


def most_selected(
    n_units: int, pfer: float, threshold: float, n_pairs: int, assumption: Assumption
) -> int:
    """The largest q with which the bound at ``threshold`` is ``pfer`` or less; 0: there is none."""
    low, high = 0, n_units
    while low < high:
        q = (low + high + 1) // 2
        fits = false_selections(q, n_units, threshold, n_pairs, assumption) <= pfer
        low, high = (q, high) if fits else (low, q - 1)
    return low


def wilson_interval(counts: FloatArray, n: int, z: float = 1.959964) -> FloatArray:
    """95 % intervals of shares, one row (low, high) per count.

    >>> wilson_interval(np.array([0.0, 50.0, 100.0]), 100).round(3).tolist()
    [[0.0, 0.037], [0.404, 0.596], [0.963, 1.0]]
    """
    share = counts / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return np.clip(np.column_stack([centre - half, centre + half]), 0.0, 1.0)
