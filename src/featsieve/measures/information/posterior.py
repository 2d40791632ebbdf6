"""The distribution of mutual information given counts (Hutter and Zaffalon 2005).

P-HSIC compares with mutual information by this posterior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import digamma, xlogy
from scipy.stats import beta

from featsieve.arrays import FloatArray
from featsieve.errors import InputError
from featsieve.measures.information.functions import state_codes

Prior = Literal["perks", "jeffreys", "uniform"]

# The series for the variance grows as 1 / count: below so many rows in a cell it need not hold.
FEWEST_IN_A_CELL = 5.0
DRAW_SEED = 2005
MOST_DRAWS, FEWEST_DRAWS = 20_000, 1_000
CELLS_DRAWN = 4_000_000  # fewer draws of large tables: their information varies less
CELLS_AT_ONCE = 1_000_000


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

    The mean is exact. The variance is Hutter and Zaffalon's series where every cell holds at least
    5 rows (the prior's share included); else it comes from draws of the Dirichlet law, the same at
    every call.

    Parameters
    ----------
    x, y : one state per row
    prior : "perks" (1 row shared by all cells), "jeffreys" (½ per cell) or "uniform" (1 per cell)
    level : float, default=0.95
        Probability of the interval, from a Beta law on [0, log of the fewer states] with this mean
        and variance.

    >>> found = information_posterior([0, 1] * 50, [0, 1] * 50)
    >>> 0.55 < found.low < found.mean < found.high < 0.6932
    True
    """
    a, b = state_codes(x, "x"), state_codes(y, "y")
    if len(a) != len(b):
        raise InputError(f"x has {len(a)} rows and y has {len(b)}; give one state per row in each.")
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
    return _series_variance(table) if table.min() >= FEWEST_IN_A_CELL else _drawn_variance(table)


def _drawn_variance(table: FloatArray) -> float:
    """Variance of the information of tables drawn from the posterior, always the same draws."""
    n_draws = min(MOST_DRAWS, max(FEWEST_DRAWS, CELLS_DRAWN // table.size))
    at_once = max(1, CELLS_AT_ONCE // table.size)
    rng = np.random.default_rng(DRAW_SEED)
    sizes = [min(at_once, n_draws - start) for start in range(0, n_draws, at_once)]
    drawn = [_information(rng.standard_gamma(table, (size, *table.shape))) for size in sizes]
    return float(np.concatenate(drawn).var(ddof=1))


def _information(weights: FloatArray) -> FloatArray:
    """I(X; Y) of many tables, each proportional to its weights."""
    tables = weights / weights.sum(axis=(1, 2), keepdims=True)
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    joint = xlogy(tables, tables).sum(axis=(1, 2))
    return np.asarray(joint - xlogy(rows, rows).sum(axis=1) - xlogy(columns, columns).sum(axis=1))


def _series_variance(table: FloatArray) -> float:
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
