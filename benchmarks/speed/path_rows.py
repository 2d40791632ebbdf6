"""LassoSelector against scikit-learn's LARS, and solvers of the quadratic problem."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoLarsCV, lars_path

from benchmarks.speed.row import Contest, Limit, Options, Row, Table
from featsieve import LassoSelector
from featsieve.quadratic import solve

TABLE = Table()
SELECTED = 20


def problem(n_rows: int, n_columns: int = 500) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, :SELECTED] @ np.linspace(1.0, 0.2, SELECTED) + rng.normal(size=n_rows)


def against_lars_path(n_rows: int, options: Options) -> Contest:
    X, y = problem(n_rows)
    selector = LassoSelector(n_features_to_select=SELECTED, cv=0)

    def peer() -> Any:  # on standardised columns, as ours; it stops after as many steps
        centred = X - X.mean(axis=0)
        centred /= centred.std(axis=0)
        return lars_path(centred, y - y.mean(), method="lasso", max_iter=SELECTED)

    return Contest(lambda: selector.fit(X, y), peer, repeats=15)


def against_lars_cv(n_rows: int, options: Options) -> Contest:
    X, y = problem(n_rows)
    selector = LassoSelector(n_features_to_select=SELECTED)
    warnings.simplefilter("ignore", ConvergenceWarning)
    return Contest(
        lambda: selector.fit(X, y), lambda: LassoLarsCV(cv=5).fit(X, y), repeats=3, warm_up=1
    )


for n_rows in (300, 1000):
    for what, peer, prepare in (
        ("cv=0", "lars_path", against_lars_path),
        ("default CV", "LassoLarsCV", against_lars_cv),
    ):
        name = f"Lasso, {n_rows} × 500, k = 20, {what}"
        TABLE.add(Row(name, peer, 1.0, partial(prepare, n_rows)))


@TABLE.row("Lasso, 600 × 649, 10 classes", peer="2 s", allowed=1.0)
def ten_classes(options: Options) -> Contest:
    rng = np.random.default_rng(0)
    y = np.arange(600) % 10
    X = rng.normal(size=(600, 649)) + rng.normal(size=(10, 649))[y]
    return Contest(lambda: LassoSelector(n_features_to_select=20).fit(X, y), Limit(2.0), repeats=3)


def matrix(n: int) -> Any:
    half = np.abs(np.random.default_rng(0).normal(size=(n, n)))
    return half + half.T


@TABLE.row("lowrank, n = 2,000", peer="5 s", allowed=1.0)
def lowrank(options: Options) -> Contest:
    Q = matrix(2000)
    return Contest(lambda: solve(Q, 20, solver="lowrank", random_state=0), Limit(5.0), repeats=1)


def with_its_bound(solver: Any, n: int, options: Options) -> Contest:
    Q = matrix(n)
    return Contest(
        lambda: solve(Q, 10, solver=solver, random_state=0),
        lambda: solve(Q, 10, solver=solver, random_state=0, bound="auto"),
        repeats=3,
    )


for solver in ("linear", "spectral", "tpower", "lowrank"):
    prepare = partial(with_its_bound, solver, 500)
    TABLE.add(Row(f"{solver}, n = 500, default bound", 'bound="auto"', 1.0, prepare))
