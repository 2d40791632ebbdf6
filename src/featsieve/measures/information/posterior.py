"""The distribution of mutual information given counts (Hutter and Zaffalon 2005).

P-HSIC compares with mutual information by this posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import digamma
from scipy.stats import beta

from featsieve.errors import InputError
from featsieve.measures.information.functions import state_codes
from featsieve.schema import FloatArray

Prior = Literal["perks", "jeffreys", "uniform"]


@dataclass(frozen=True)
class InformationPosterior:
    """Mean, variance and credible interval of I(X; Y) in nats."""

    mean: float
    variance: float
    low: float
    high: float


def information_posterior(
    x: Any, y: Any, *, prior: Prior = "perks", level: float = 0.95
) -> InformationPosterior:
    """What the rows say about I(X; Y), under a Dirichlet prior on the joint table.

    Parameters
    ----------
    x, y : one state a row
    prior : "perks" (1 row shared by all cells), "jeffreys" (½ a cell) or "uniform" (1 a cell)
    level : float, default=0.95
        Probability of the interval, from a Beta law on [0, log of the fewer states] with this mean
        and variance.

    >>> found = information_posterior([0, 1] * 50, [0, 1] * 50)
    >>> 0.6 < found.low < found.mean < found.high < 0.6932
    True
    """
    a, b = state_codes(x, "x"), state_codes(y, "y")
    if len(a) != len(b):
        raise InputError(f"x has {len(a)} rows and y has {len(b)}; give one state a row in each.")
    if not 0 < level < 1:
        raise InputError(f"level={level!r} is not possible; give a probability between 0 and 1.")
    table = np.zeros((int(a.max()) + 1, int(b.max()) + 1))
    np.add.at(table, (a, b), 1.0)
    return posterior_of_table(table + _prior_count(prior, table.size), level)


def posterior_of_table(table: FloatArray, level: float = 0.95) -> InformationPosterior:
    """The same from counts that hold the prior already; all must be positive."""
    if 1 in table.shape:
        return InformationPosterior(0.0, 0.0, 0.0, 0.0)
    mean, variance = _mean(table), _variance(table)
    low, high = _interval(mean, variance, float(np.log(min(table.shape))), level)
    return InformationPosterior(mean, variance, low, high)


def _prior_count(prior: Prior, n_cells: int) -> float:
    counts = {"perks": 1.0 / n_cells, "jeffreys": 0.5, "uniform": 1.0}
    if prior not in counts:
        allowed = ", ".join(map(repr, counts))
        raise InputError(f"prior={prior!r} is not known; allowed are {allowed}.")
    return counts[prior]


def _mean(table: FloatArray) -> float:
    """Exact: Σ n_ij/n [ψ(n_ij + 1) − ψ(n_i + 1) − ψ(n_j + 1) + ψ(n + 1)]."""
    n, rows, columns = table.sum(), table.sum(axis=1, keepdims=True), table.sum(axis=0)
    terms = digamma(table + 1) - digamma(rows + 1) - digamma(columns + 1) + digamma(n + 1)
    return float((table * terms).sum() / n)


def _variance(table: FloatArray) -> float:
    """(K − J²)/(n + 1) + [M + (r − 1)(s − 1)(½ − J) − Q]/((n + 1)(n + 2)), to O(n⁻³)."""
    n, rows, columns = table.sum(), table.sum(axis=1, keepdims=True), table.sum(axis=0)
    log_ratio = np.log(table * n / (rows * columns))
    J = (table * log_ratio).sum() / n
    K = (table * log_ratio**2).sum() / n
    M = ((1 / table - 1 / rows - 1 / columns + 1 / n) * table * log_ratio).sum()
    Q = 1 - (table**2 / (rows * columns)).sum()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    second = (M + freedom * (0.5 - J) - Q) / ((n + 1) * (n + 2))
    return max(0.0, float((K - J**2) / (n + 1) + second))


def _interval(mean: float, variance: float, top: float, level: float) -> tuple[float, float]:
    share, spread = mean / top, variance / top**2
    if spread <= 0 or share <= 0 or share >= 1:
        return mean, mean
    size = max(share * (1 - share) / spread - 1, np.finfo(float).tiny)
    tail = (1 - level) / 2
    law = beta(share * size, (1 - share) * size)
    return float(law.ppf(tail) * top), float(law.ppf(1 - tail) * top)
