"""Is there dependence at all, and how strong is it? Tests and intervals by HSIC."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from featsieve.arrays import Array, FloatArray
from featsieve.compiled.permutation import permuted_sums
from featsieve.errors import InputError
from featsieve.measures.hsic.functions import KernelChoice
from featsieve.measures.hsic.grams import asymptotic_moments, centred, permutation_moments
from featsieve.measures.hsic.passes import check_enough_samples
from featsieve.runtime.seeds import random_source


@dataclass(frozen=True)
class HSICTestResult:
    """``statistic`` is biased HSIC tr(KHLH)/(n − 1)²; ``pvalue`` is that of independence."""

    statistic: float
    pvalue: float
    method: str


@dataclass(frozen=True)
class HSICInterval:
    """Unbiased HSIC with its asymptotic deviation and a two-sided interval."""

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
        ``"gamma"``: a gamma law with the exact mean and variance over all permutations, in O(n²).
    kernel, target_kernel, bandwidth, target_bandwidth, task
        As for :func:`featsieve.measures.hsic`; strings and graphs come as ``"precomputed"`` Gram
        matrices. By default classes have a delta kernel.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> hsic_test(x, x**2, random_state=0).pvalue
    0.001
    >>> hsic_test(x, x**2, method="gamma").pvalue < 1e-6
    True
    """
    K, L = KernelChoice(kernel, target_kernel, bandwidth, target_bandwidth, task).grams(X, Y)
    check_enough_samples(len(K))
    if method == "gamma":
        return _gamma_test(K, L)
    if method == "permutation":
        return _permutation_test(centred(K), L, n_permutations, random_state)
    raise InputError(f"method must be 'permutation' or 'gamma', got {method!r}.")


def _gamma_test(K: FloatArray, L: FloatArray) -> HSICTestResult:
    from scipy.stats import gamma

    observed = float(np.vdot(centred(K), L))
    null = permutation_moments(K, L)
    if null.variance <= 0:  # a constant side: nothing can be told
        return HSICTestResult(_scaled(observed, K), 1.0, "gamma")
    shape, scale = null.mean**2 / null.variance, null.variance / null.mean
    return HSICTestResult(
        _scaled(observed, K), float(gamma.sf(observed, shape, scale=scale)), "gamma"
    )


def _permutation_test(
    K: FloatArray, L: FloatArray, n_permutations: int, random_state: Any
) -> HSICTestResult:
    if n_permutations < 1:
        raise InputError(f"n_permutations must be at least 1, got {n_permutations}.")
    rng = random_source(random_state)
    n = len(K)
    orders: Array = np.array([rng.permutation(n) for _ in range(n_permutations)])
    everything = permuted_sums(K, L, np.vstack([np.arange(n), orders]))
    observed = everything[0]
    # Permutations that only swap equal rows must tie with the observed value, not fall below it.
    slack = 1e-12 * np.abs(everything).max()
    n_as_large = int(np.count_nonzero(everything[1:] >= observed - slack))
    pvalue = (1 + n_as_large) / (1 + n_permutations)
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
    """Unbiased HSIC and a normal interval from its asymptotic variance (P-HSIC eq. 8).

    Valid under dependence: near independence the variance degenerates, use :func:`hsic_test` there.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=100)
    >>> found = hsic_interval(x, x + 0.1 * rng.normal(size=100))
    >>> 0 < found.low < found.value < found.high
    True
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1, got {confidence!r}.")
    from scipy.stats import norm

    K, L = KernelChoice(kernel, target_kernel, bandwidth, target_bandwidth, task).grams(X, Y)
    found = asymptotic_moments(K, L)
    deviation = float(np.sqrt(found.variance))
    half = float(norm.ppf((1 + confidence) / 2)) * deviation
    return HSICInterval(found.value, deviation, found.value - half, found.value + half, confidence)
