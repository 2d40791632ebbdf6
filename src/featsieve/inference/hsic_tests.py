"""Is there dependence at all, and how strong is it? Tests and intervals by HSIC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.compiled.permutation import permuted_sums
from featsieve.errors import InputError
from featsieve.inference.exchange import exchange, rarest_pvalue
from featsieve.input.parameters import check_choice, check_integer, check_real
from featsieve.measures.hsic.functions import KernelChoice
from featsieve.measures.hsic.grams import asymptotic_moments, centred, permutation_moments
from featsieve.measures.hsic.passes import check_enough_samples
from featsieve.runtime.seeds import random_source, root_seed

THIRD_MOMENT_ROWS = 1000  # beyond, its n³ operations cost more than it corrects


@dataclass(frozen=True)
class HSICTestResult:
    """``statistic`` is biased HSIC tr(KHLH)/(n − 1)²; ``pvalue`` is that of independence.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> result = hsic_test(x, x**2, random_state=0)
    >>> result.method, result.pvalue
    ('permutation', 0.001)
    """

    statistic: float
    pvalue: float
    method: str


@dataclass(frozen=True)
class HSICInterval:
    """Unbiased HSIC with its asymptotic deviation and a two-sided interval.

    Examples
    --------
    >>> from featsieve.inference import hsic_interval
    >>> x = np.random.default_rng(0).normal(size=100)
    >>> interval = hsic_interval(x, x**2)
    >>> interval.low < interval.value < interval.high
    True
    """

    value: float
    deviation: float
    low: float
    high: float
    confidence: float


def hsic_test(
    X: Any,
    Y: Any,
    *,
    method: Literal["permutation", "gamma"] = "permutation",
    n_permutations: int = 999,
    groups: Any = None,
    block_size: int | None = None,
    kernel: Any = "rbf",
    target_kernel: Any = "delta_or_rbf",
    bandwidth: float | str = "median",
    target_bandwidth: float | str = "median",
    task: str = "auto",
    random_state: Any = None,
) -> HSICTestResult:
    """Test that X and Y are independent.

    Parameters
    ----------
    method
        ``"permutation"``: p = (1 + #{permuted ≥ observed})/(1 + R), exact in level;
        ``"gamma"``: a gamma law with the exact mean, variance and (up to 1000 rows) skewness over
        all permutations. It is never 0: no permutation is rarer than 1/n!.
    n_permutations
        R, for ``"permutation"``.
    groups, block_size
        For rows that are not exchangeable: permutations stay inside ``groups``, and move
        ``block_size`` consecutive rows as one; see :func:`permutation_test`.
    kernel, target_kernel, bandwidth, target_bandwidth, task
        As for :func:`featsieve.measures.hsic`. By default classes have a delta kernel.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> hsic_test(x, x**2, random_state=0).pvalue
    0.001
    >>> hsic_test(x, x**2, method="gamma").pvalue < 1e-6
    True
    """
    check_choice("method", method, ("permutation", "gamma"))
    K, L = KernelChoice(kernel, target_kernel, bandwidth, target_bandwidth, task).grams(X, Y)
    check_enough_samples(len(K))
    if method == "gamma":
        if groups is not None or block_size is not None:
            raise InputError(
                "method='gamma' is for rows that may all change places; use method='permutation' "
                "with groups or block_size."
            )
        return _gamma_test(K, L)
    orders = _orders(len(K), n_permutations, groups, block_size, random_state)
    return _permutation_test(centred(K), L, orders)


def _gamma_test(K: FloatArray, L: FloatArray) -> HSICTestResult:
    observed = float(np.vdot(centred(K), L))
    pvalue = gamma_pvalue(K, L, observed, with_skewness=len(K) <= THIRD_MOMENT_ROWS)
    return HSICTestResult(_scaled(observed, K), pvalue, "gamma")


def gamma_pvalue(K: FloatArray, L: FloatArray, observed: float, *, with_skewness: bool) -> float:
    """By a gamma law with two moments, or a shifted one (Pearson's type III) with three."""
    from scipy.stats import pearson3

    null = permutation_moments(K, L, third=with_skewness)
    if null.variance <= 0:  # a constant side: nothing can be told
        return 1.0
    deviation = np.sqrt(null.variance)
    skewness = 2.0 * deviation / null.mean if null.third is None else null.third / deviation**3
    pvalue = float(pearson3.sf(observed, skewness, loc=null.mean, scale=deviation))
    return max(pvalue, rarest_pvalue(len(K)))


def _orders(
    n: int, n_permutations: int, groups: Any, block_size: int | None, random_state: Any
) -> IntArray:
    n_permutations = check_integer("n_permutations", n_permutations, 1)
    if groups is not None or block_size is not None:
        seed = root_seed(random_state)
        return exchange(n, groups, block_size).orders(seed, 0, n_permutations)
    rng = random_source(random_state)
    return np.array([rng.permutation(n) for _ in range(n_permutations)], dtype=np.intp)


def _permutation_test(K: FloatArray, L: FloatArray, orders: IntArray) -> HSICTestResult:
    values = permuted_sums(K, L, np.vstack([np.arange(len(K)), orders]))
    observed = values[0]
    # Permutations that only swap equal rows must tie with the observed value, not fall below it.
    slack = 1e-12 * np.abs(values).max()
    n_as_large = int(np.count_nonzero(values[1:] >= observed - slack))
    pvalue = (1 + n_as_large) / (1 + len(orders))
    return HSICTestResult(_scaled(float(observed), K), pvalue, "permutation")


def _scaled(trace: float, K: FloatArray) -> float:
    return trace / (len(K) - 1) ** 2


def hsic_interval(
    X: Any,
    Y: Any,
    *,
    confidence: float = 0.95,
    kernel: Any = "rbf",
    target_kernel: Any = "delta_or_rbf",
    bandwidth: float | str = "median",
    target_bandwidth: float | str = "median",
    task: str = "auto",
) -> HSICInterval:
    """Unbiased HSIC and a normal interval from its asymptotic variance (Song et al. 2007).

    Valid under dependence: near independence the variance degenerates, use :func:`hsic_test` there.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> interval = hsic_interval(x, x + 0.1 * rng.normal(size=100))
    >>> 0 < interval.low < interval.value < interval.high
    True
    """
    confidence = check_real("confidence", confidence, 0, 1, inclusive="neither")
    from scipy.stats import norm

    K, L = KernelChoice(kernel, target_kernel, bandwidth, target_bandwidth, task).grams(X, Y)
    moments = asymptotic_moments(K, L)
    value, deviation = moments.value, float(np.sqrt(moments.variance))
    half = float(norm.ppf((1 + confidence) / 2)) * deviation
    return HSICInterval(value, deviation, value - half, value + half, confidence)
