"""How often hsic_test rejects at 5 % when there is no dependence.

python -m benchmarks.hsic_null_level [--sets N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from benchmarks.frame import write_report
from featsieve.inference import hsic_test

LEVEL = 0.05
Sample = tuple[np.ndarray, np.ndarray]


def two_numbers(rng: np.random.Generator) -> Sample:
    return rng.normal(size=(60, 2)), rng.exponential(size=60)


def classes(rng: np.random.Generator) -> Sample:
    return rng.normal(size=(50, 3)), np.r_[0, 1, 2, rng.integers(0, 3, 47)]


def binary_column(rng: np.random.Generator) -> Sample:
    return (rng.random((60, 1)) < 0.3).astype(float), rng.normal(size=60)


LAWS: dict[str, Callable[[np.random.Generator], Sample]] = {
    "two normal columns, exponential target, n = 60": two_numbers,
    "three normal columns, three classes, n = 50": classes,
    "one binary column, normal target, n = 60": binary_column,
}


def rejection_rate(
    draw: Callable[[np.random.Generator], Sample], method: str, n_sets: int
) -> float:
    pvalues = []
    for seed in range(n_sets):
        X, y = draw(np.random.default_rng(seed))
        found = hsic_test(X, y, method=method, n_permutations=199, random_state=seed)  # type: ignore[arg-type]
        pvalues.append(found.pvalue)
    return float(np.mean(np.array(pvalues) <= LEVEL))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=1000)
    given = parser.parse_args()
    lines = ["| law | permutation (199) | gamma |", "|---|---|---|"]
    for name, draw in LAWS.items():
        rates = [rejection_rate(draw, method, given.sets) for method in ("permutation", "gamma")]
        lines.append(f"| {name} | {rates[0]:.1%} | {rates[1]:.1%} |")
    write_report(
        "hsic_null_level",
        f"hsic_test: rejections at {LEVEL:.0%} over {given.sets} independent data sets",
        "\n".join(lines),
        packages=("scipy", "numba"),
    )


if __name__ == "__main__":
    main()
