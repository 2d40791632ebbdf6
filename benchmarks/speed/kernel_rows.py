"""HSICLasso against pyHSICLasso, MLMIRanking against its limit."""

from __future__ import annotations

import contextlib
import io
import os
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_wine

from benchmarks.speed.row import Contest, Limit, Options, Skipped, Table
from featsieve import HSICLasso, MLMIRanking

TABLE = Table()
BLOCK = 20


def problem(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + X[:, 2] + 0.1 * rng.normal(size=n_rows)


@TABLE.row("HSICLasso, 2,000 × 500, blocks of 20", peer="pyHSICLasso, B = 20", allowed=1 / 3)
def hsic_lasso(options: Options) -> Contest:
    try:
        from pyHSICLasso import HSICLasso as Peer
    except ImportError:
        raise Skipped("pyHSICLasso is not installed") from None
    X, y = problem(2000, 500)
    selector = HSICLasso(n_features_to_select=10, n_blocks=len(X) // BLOCK, n_jobs=os.cpu_count())

    def peer() -> Any:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            model = Peer()
            model.input(X.copy(), y.copy())
            model.regression(10, B=BLOCK, M=1, n_jobs=os.cpu_count())
        return model.get_index()

    return Contest(lambda: selector.fit(X, y), peer, repeats=2)


@TABLE.row("MLMIRanking, wine", peer="0.5 s", allowed=1.0)
def mlmi_wine(options: Options) -> Contest:
    X, y = load_wine(return_X_y=True)
    return Contest(lambda: MLMIRanking(random_state=0).fit(X, y), Limit(0.5), repeats=3)


@TABLE.row("MLMIRanking, housing", peer="0.5 s", allowed=1.0)
def mlmi_housing(options: Options) -> Contest:
    if options.data is None:
        raise Skipped("housing.parquet needs --data FOLDER")
    import pyarrow.parquet as pq

    *columns, target = pq.read_table(options.data / "housing.parquet").columns
    X = np.column_stack([column.to_numpy() for column in columns]).astype(np.float64)
    y = target.to_numpy().astype(np.float64)
    return Contest(lambda: MLMIRanking(random_state=0).fit(X, y), Limit(0.5), repeats=3)
