"""Greedy information criteria against praznik and FEAST, and the way from numbers to codes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

import featsieve
from benchmarks.speed.peers import feast, praznik
from benchmarks.speed.row import Contest, Limit, Measured, Options, Row, Table
from featsieve.discretize import Quantile
from featsieve.input.boundary import Settings, open_engine
from featsieve.measures import MutualInformation
from featsieve.searches import Greedy
from featsieve.searches.conditional_minimum import ConditionalMinimum

TABLE = Table()
SELECTED = 50
# Ours, praznik's name, FEAST's name.
CRITERIA = (
    ("MRMR", "MRMR", "mRMR_D"),
    ("JMI", "JMI", "JMI"),
    ("CMIM", "CMIM", "CMIM"),
    ("DISR", "DISR", "DISR"),
    ("CondMI", "CMI", "CondMI"),
)


def madelon(options: Options) -> tuple[Any, Any]:
    """Madelon in five states per column; without --data a table by the same generator."""
    if options.data is not None and (options.data / "madelon.parquet").exists():
        import pyarrow.parquet as pq

        *columns, target = pq.read_table(options.data / "madelon.parquet").columns
        X = np.column_stack([column.to_numpy() for column in columns]).astype(np.float64)
        y = np.unique(target.to_numpy(), return_inverse=True)[1]
    else:
        X, y = make_classification(2000, 500, n_informative=5, n_redundant=15, random_state=0)
    return Quantile(5).fit_transform(X).astype(np.int64), y


def fit(method: str, codes: Any, y: Any) -> Callable[[], Any]:
    selector = getattr(featsieve, method)(discretizer=None, n_features_to_select=SELECTED)

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CondMI says that nothing is left to gain
            return selector.fit(codes, y)

    return run


def against_praznik(method: str, other: str, threads: int, options: Options) -> Contest:
    codes, y = madelon(options)
    return Contest(fit(method, codes, y), praznik(codes, y, other, SELECTED, threads), repeats=15)


def against_feast(method: str, other: str, options: Options) -> Contest:
    codes, y = madelon(options)
    return Contest(fit(method, codes, y), feast(codes, y, other, SELECTED), repeats=3, warm_up=1)


for mine, theirs, in_feast in CRITERIA:
    for n_threads in (1, 2):
        name = f"{mine}, madelon codes, k = 50, against {n_threads} thread{'s' * (n_threads > 1)}"
        prepare = partial(against_praznik, mine, theirs, n_threads)
        TABLE.add(Row(name, "praznik", 1.0, prepare))
    prepare = partial(against_feast, mine, in_feast)
    TABLE.add(Row(f"{mine}, madelon codes, k = 50, against C", "FEAST", 1.0, prepare))


@TABLE.row("CMIM, madelon codes, outside the criterion", peer="4 ms", allowed=1.0)
def outside_the_criterion(options: Options) -> Contest:
    codes, y = madelon(options)
    run_all = fit("CMIM", codes, y)

    def seconds() -> float:
        start = perf_counter()
        run_all()
        total = perf_counter() - start
        bound: Any = MutualInformation(discretizer=None).bind(open_engine(codes, y, Settings()))
        bound.information_with(0)  # codes, counts and planes are there
        start = perf_counter()
        for _ in Greedy(ConditionalMinimum()).steps(bound, SELECTED):
            pass
        return total - (perf_counter() - start)

    return Contest(Measured(seconds), Limit(0.004), repeats=25)


def partitions(X: Any) -> None:
    ends = [len(X) * b // 5 for b in range(1, 5)]
    for column in X.T:
        np.partition(np.ascontiguousarray(column), ends)


@TABLE.row("states of 100,000 × 200 floats", peer="np.partition", allowed=0.5)
def states(options: Options) -> Contest:
    X = np.random.default_rng(0).normal(size=(100_000, 200))
    return Contest(lambda: Quantile(5).fit_transform(X), lambda: partitions(X), repeats=3)
