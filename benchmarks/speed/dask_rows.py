"""Fits on a cluster of two workers against one worker, and against one local thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

import featsieve
from benchmarks.speed.row import Contest, Options, Row, Skipped, Table

TABLE = Table()
PARTS = 20
# Rows and columns: the parts lie in the workers' memory before the clock starts.
SHAPES = {"PearsonRanking": (2_000_000, 200), "MRMR": (2_000_000, 200), "HSICRanking": (8000, 200)}

NOTE = (
    "MRMR on a cluster is 7 rounds of messages: the target, the cuts, the codes with relevance, "
    "and 4 for pairs, where 13 columns are counted and 9 are needed. In one fit of 0.62 s each of "
    "two workers worked for 0.46 s: 0.01 on the target, 0.03 taking cells, 0.05 on cuts, 0.28 "
    "encoding and 0.09 counting pairs. The rest is messages, and cells that travel. So 1.4 times "
    "one local thread of 0.64 s (0.46 s) would leave no time for messages. On a worker fresh "
    "memory is dear: the first 20 MB that were touched took 21 to 28 ms, the same again 1 ms."
)


def part(seed: int, n_rows: int, n_columns: int) -> Any:
    return np.random.default_rng(seed).standard_normal((n_rows, n_columns), dtype=np.float32)


def classes_of(X: Any) -> Any:
    return (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)


def on_cluster(stack: ExitStack, method: str, n_workers: int) -> Callable[[], Any]:
    try:
        import dask
        import dask.array as da
        from distributed import Client, LocalCluster, wait
    except ImportError:
        raise Skipped("dask and distributed are not installed") from None
    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
    )
    client = stack.enter_context(Client(stack.enter_context(cluster), set_as_default=False))
    n_rows, n_columns = SHAPES[method]
    make = dask.delayed(part)
    shape = (n_rows // PARTS, n_columns)
    with client.as_current():
        pieces = [da.from_delayed(make(s, *shape), shape, np.float32) for s in range(PARTS)]
        X = da.concatenate(pieces).persist()
        y = classes_of(X).persist()
        wait([X, y])
    selector = getattr(featsieve, method)(n_features_to_select=10)

    def fit() -> Any:
        with client.as_current(), dask.config.set(scheduler=client):
            return selector.fit(X, y)

    return fit


def on_one_thread(method: str) -> Callable[[], Any]:
    n_rows, n_columns = SHAPES[method]
    X = np.concatenate([part(seed, n_rows // PARTS, n_columns) for seed in range(PARTS)])
    y = classes_of(X)
    selector = getattr(featsieve, method)(n_features_to_select=10, n_jobs=1)
    return lambda: selector.fit(X, y)


def two_against(other: str, method: str, options: Options) -> Contest:
    stack = ExitStack()
    two = on_cluster(stack, method, 2)
    alone = on_one_thread(method) if other == "local" else on_cluster(stack, method, 1)
    return Contest(two, alone, repeats=2, close=stack.close)


for method, (n_rows, n_columns) in SHAPES.items():
    for other, peer, allowed in (("1", "1 worker", 1 / 1.6), ("local", "1 local thread", 1 / 1.4)):
        name = f"Dask, {method}, {n_rows:,} × {n_columns}, 2 workers against {peer}"
        TABLE.add(Row(name, peer, allowed, partial(two_against, other, method)))
