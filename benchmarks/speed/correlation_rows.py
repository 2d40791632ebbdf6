"""PearsonRanking, dense and sparse, against scikit-learn's bare function."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_selection import r_regression

from benchmarks.speed.row import Contest, Options, Table
from featsieve import PearsonRanking

TABLE = Table()


def against_r_regression(X: Any) -> Contest:
    y = np.random.default_rng(1).normal(size=X.shape[0])
    selector = PearsonRanking(n_features_to_select=10)
    return Contest(lambda: selector.fit(X, y), lambda: r_regression(X, y), repeats=9)


def dense(n_rows: int, n_columns: int) -> Any:
    return np.random.default_rng(0).normal(size=(n_rows, n_columns))


@TABLE.row("Pearson, 500 × 50,000", peer="r_regression", allowed=1.0)
def wide(options: Options) -> Contest:
    return against_r_regression(dense(500, 50_000))


@TABLE.row("Pearson, 100,000 × 100", peer="r_regression", allowed=1.0)
def tall(options: Options) -> Contest:
    return against_r_regression(dense(100_000, 100))


@TABLE.row("Pearson, sparse 100,000 × 5,000, 0.5 %", peer="r_regression", allowed=1.0)
def sparse(options: Options) -> Contest:
    X = sp.random_array((100_000, 5000), density=0.005, format="csr", rng=0)
    return against_r_regression(X)
