"""A pyHSICLasso that answers over pipes, in an environment of its own.

For each line read from standard input it fits once and prints the selected columns.
"""

from __future__ import annotations

import contextlib
import os
import sys

import numpy as np


def problem(n: int = 500, m: int = 500) -> tuple[np.ndarray, np.ndarray]:
    """Regression on three of m columns; the same numbers in both environments."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + 0.1 * rng.normal(size=n)
    return X, y


def main() -> None:
    from pyHSICLasso import HSICLasso

    X, y = problem()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    for line in sys.stdin:
        n_jobs = int(line)
        with contextlib.redirect_stdout(sys.stderr):
            model = HSICLasso()
            model.input(X.copy(), y.copy())
            model.regression(10, B=0, n_jobs=n_jobs)
        print(*model.get_index(), file=answers)


if __name__ == "__main__":
    main()
