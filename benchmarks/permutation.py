"""What a permutation test costs beyond the one matrix product that it contains."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np

from benchmarks.frame import Case, compare, comparison_table, write_report
from featsieve.inference import permutation_test


def make_table(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, 0] + rng.normal(size=n_rows)


def ours(X: Any, y: Any, n_permutations: int, n_jobs: int | None = None) -> Any:
    return permutation_test(X, y, n_permutations=n_permutations, random_state=0, n_jobs=n_jobs)


def product(X: Any, permuted: Any) -> Any:
    return X.T @ permuted


def cases(n_rows: int, n_columns: int, n_permutations: int) -> list[Case]:
    X, y = make_table(n_rows, n_columns)
    classes = (y > 0).astype(int)
    rng = np.random.default_rng(1)
    permuted = np.array([rng.permutation(y) for _ in range(n_permutations)]).T
    peers = {"the matrix product alone": partial(product, X, permuted)}
    size = f"{n_rows} × {n_columns}, {n_permutations} permutations"
    return [
        Case(f"{size}, numbers", partial(ours, X, y, n_permutations), peers),
        Case(f"{size}, two classes", partial(ours, X, classes, n_permutations), peers),
        Case(f"{size}, numbers, n_jobs=2", partial(ours, X, y, n_permutations, 2), peers),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, default=2000)
    parser.add_argument("--permutations", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=15)
    arguments = parser.parse_args()
    asked = cases(arguments.rows, arguments.columns, arguments.permutations)
    comparisons = [compare(case, repeats=arguments.repeats, warm_up=2) for case in asked]
    note = (
        "featsieve's time is that of the whole `permutation_test`: input checks, scores, drawing "
        "the permutations, standardising, the product itself, p-values, Benjamini–Hochberg and "
        "Westfall–Young. The peer is `X.T @ Y` with Y (rows × permutations) ready, by the same "
        "BLAS with the same threads. The target is a ratio of at most 2."
    )
    path = write_report(
        "permutation",
        "Permutation test of all columns, and the matrix product it contains",
        comparison_table(comparisons),
        note,
        packages=["scipy", "numba"],
    )
    print(path.read_text())


if __name__ == "__main__":
    main()
