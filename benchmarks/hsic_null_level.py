"""How often hsic_test rejects at 5 % when there is no dependence.

python -m benchmarks.hsic_null_level [--sets N] [--sizes N ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from benchmarks.frame import write_report
from featsieve.inference import hsic_test
from featsieve.inference.hsic_tests import gamma_pvalue
from featsieve.measures.hsic.functions import KernelChoice
from featsieve.measures.hsic.grams import centred

LEVEL = 0.05
SIZES = (20, 30, 50, 100, 200, 500)
PERMUTED_SIZES = 50  # a permutation test is exact by construction: a check on small samples
Sample = tuple[np.ndarray, np.ndarray]


def numbers(rng: np.random.Generator, n: int) -> Sample:
    return rng.normal(size=(n, 1)), rng.normal(size=n)


def skewed_target(rng: np.random.Generator, n: int) -> Sample:
    return rng.normal(size=(n, 2)), rng.exponential(size=n)


def classes(rng: np.random.Generator, n: int) -> Sample:
    return rng.normal(size=(n, 3)), np.r_[0, 1, 2, rng.integers(0, 3, n - 3)]


def binary_column(rng: np.random.Generator, n: int) -> Sample:
    return np.r_[0, 1, rng.random(n - 2) < 0.3].astype(float)[:, None], rng.normal(size=n)


LAWS: dict[str, Callable[[np.random.Generator, int], Sample]] = {
    "one normal column, normal target": numbers,
    "two normal columns, exponential target": skewed_target,
    "three normal columns, three classes": classes,
    "one binary column, normal target": binary_column,
}


def rejections(
    draw: Callable[[np.random.Generator, int], Sample], n: int, n_sets: int
) -> np.ndarray:
    """Shares of sets with p ≤ 5 %: gamma by two moments, by three, and by 199 permutations."""
    choice = KernelChoice(target_kernel="delta_or_rbf")
    pvalues = np.full((n_sets, 3), np.nan)
    for seed in range(n_sets):
        X, y = draw(np.random.default_rng([seed, n]), n)
        K, L = choice.grams(X, y)
        observed = float(np.vdot(centred(K), L))
        for at, with_skewness in enumerate((False, True)):
            pvalues[seed, at] = gamma_pvalue(K, L, observed, with_skewness=with_skewness)
        if n <= PERMUTED_SIZES:
            permuted = hsic_test(X, y, n_permutations=199, random_state=seed)
            pvalues[seed, 2] = permuted.pvalue
    shares: np.ndarray = (pvalues <= LEVEL).mean(axis=0)
    shares[np.isnan(pvalues).any(axis=0)] = np.nan
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=5000)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments = parser.parse_args()
    lines = ["| law | n | gamma, two moments | gamma, three moments | permutation (199) |"]
    lines.append("|---|---|---|---|---|")
    for name, draw in LAWS.items():
        for n in arguments.sizes:
            two, three, permuted = rejections(draw, n, arguments.sets)
            last = "" if np.isnan(permuted) else f"{permuted:.1%}"
            lines.append(f"| {name} | {n} | {two:.1%} | {three:.1%} | {last} |")
            print(lines[-1], flush=True)
    error = np.sqrt(LEVEL * (1 - LEVEL) / arguments.sets)
    is_large = min(arguments.sizes) > max(SIZES[:-1])  # hours of its own, so a file of its own
    write_report(
        "hsic_null_level_large" if is_large else "hsic_null_level",
        f"hsic_test: rejections at {LEVEL:.0%} over {arguments.sets} independent data sets",
        f"The standard error of each share is {error:.2%}. The gamma test uses three moments up to "
        "1000 rows.",
        "\n".join(lines),
        packages=("scipy", "numba"),
    )


if __name__ == "__main__":
    main()
