"""HSFS against pyHSICLasso, and one value with gradient against its kernel matrix.

python -m benchmarks.l1_linf [--peer PYTHON_WITH_PYHSICLASSO] [--repeats N]
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.against_pyhsiclasso import against_pyhsiclasso
from benchmarks.frame import Case, Comparison, compare, comparison_table, write_report
from benchmarks.pyhsiclasso_peer import problem


def gradient_case() -> Case:
    from featsieve.input.boundary import Settings, open_engine
    from featsieve.measures import HSIC
    from featsieve.measures.hsic.kernels import kernel_function

    X, y = problem()
    bound = HSIC(bandwidth=2.0, estimator="v_statistic").bind(open_engine(X, y, Settings()))
    W = np.random.default_rng(0).normal(size=(X.shape[1], 2)) / 20
    kernel, Z = kernel_function("rbf"), X @ W
    return Case(
        "HSIC of XW with its gradient, 500 × 500, q = 2",
        lambda: bound.value_and_gradient_matrix(W),
        {"its kernel matrix alone": lambda: kernel.gram(Z, Z, 2.0)},
    )


def run_selection(python: str, repeats: int) -> Comparison:
    from featsieve import HSFS

    selector = HSFS(n_features_to_select=10, n_components=2)
    name = "HSFS, 500 × 500, 10 features, q = 2"
    return against_pyhsiclasso(name, selector, python=python, repeats=repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="a Python that has pyHSICLasso")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    comparisons = [compare(gradient_case(), repeats=20)]
    if arguments.peer:
        comparisons.append(run_selection(arguments.peer, arguments.repeats))
    write_report(
        "l1_linf",
        "Transformations as selectors: speed",
        "Both sides on one thread.",
        comparison_table(comparisons),
        packages=("numba", "scipy", "scikit-learn"),
    )


if __name__ == "__main__":
    main()
