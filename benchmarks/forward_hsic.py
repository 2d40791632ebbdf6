"""FOHSIC, one column per round, against nothing but the exponentials that it cannot avoid.

In each round every candidate column needs one exponential per pair of rows. The yardstick computes
as many with the same compiled function, from numbers in the processor's first cache.

    python -m benchmarks.forward_hsic [--rows N] [--columns N] [--kept K] [--repeats N]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numba import njit

from benchmarks.frame import Case, compare, comparison_table, write_report
from featsieve import FOHSIC
from featsieve.compiled.exp import LOG2E, exp2

AT_ONCE = 1024


@njit(nogil=True, fastmath={"contract"})  # type: ignore[untyped-decorator]
def sum_exponentials(distances: Any, rate: float, n_rounds: int) -> float:
    sums = np.zeros_like(distances)
    for turn in range(n_rounds):
        slope = -LOG2E * (rate + turn * 1e-12)  # different numbers in each turn
        for i in range(distances.size):
            sums[i] += exp2(slope * distances[i])
    return float(sums.sum())


def n_exponentials(n: int, m: int, k: int) -> int:
    return n * (n - 1) // 2 * sum(m - done for done in range(k))


def forward_case(n: int, m: int, k: int, **parameters: Any) -> Case:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)
    distances = rng.random(AT_ONCE)
    n_rounds = n_exponentials(n, m, k) // AT_ONCE
    given = "".join(f", {name}={value!r}" for name, value in parameters.items())
    return Case(
        f"FOHSIC, {k} of {m} columns, {n} rows{given}",
        lambda: FOHSIC(n_features_to_select=k, step=1, n_jobs=1, **parameters).fit(X, y),
        {"its exponentials": lambda: sum_exponentials(distances, 0.5, n_rounds)},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--kept", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    size = arguments.rows, arguments.columns, arguments.kept
    cases = [forward_case(*size), forward_case(*size, bandwidth=1.0)]
    comparisons = [compare(case, repeats=arguments.repeats) for case in cases]
    path = write_report(
        "forward_hsic",
        "FOHSIC against its exponentials",
        "One thread on both sides; one exponential per pair of rows, candidate and round.",
        comparison_table(comparisons),
        packages=("numba",),
    )
    print(path.read_text())


if __name__ == "__main__":
    main()
