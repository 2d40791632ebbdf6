"""Fits from a Parquet file of 100 columns against the bare read, and how they grow with rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.speed.row import Contest, Limit, Measured, Options, Table, seconds_of
from featsieve import MRMR, PearsonRanking, open_parquet

TABLE = Table()
COLUMNS = 100
ROWS_PER_GROUP = 100_000
BATCH = 1 << 15
FEWEST_ROWS = 100_000


def write_table(path: Path, n_rows: int) -> None:
    """Random float32, one row group at a time."""
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(COLUMNS)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.int8())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, ROWS_PER_GROUP):
            X = rng.standard_normal(
                (min(ROWS_PER_GROUP, n_rows - start), COLUMNS), dtype=np.float32
            )
            y = X[:, 0] + X[:, 1] * X[:, 2] + X[:, 3] + rng.standard_normal(len(X))
            columns = [*map(pa.array, X.T.copy()), pa.array((y > 0).astype(np.int8))]
            writer.write_table(pa.table(columns, schema=schema))


def batches(path: Path) -> Any:
    file = pq.ParquetFile(path, memory_map=False, pre_buffer=False)
    return file.iter_batches(batch_size=BATCH)


def bare_read(path: Path) -> None:
    for _ in batches(path):
        pass


def read_and_convert(path: Path) -> None:
    for batch in batches(path):
        np.column_stack([column.to_numpy() for column in batch.columns])


def fit(selector: Any, path: Path) -> Any:
    return selector.fit(open_parquet(path), "y")


def stored_table(stack: ExitStack, n_rows: int, options: Options) -> Path:
    """Written once where a folder is given, else for this row."""
    temporary = TemporaryDirectory(prefix="featsieve-bench-")
    folder = options.folder or Path(stack.enter_context(temporary))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"speed-{n_rows}.parquet"
    if not path.exists():
        write_table(path, n_rows)
    return path


def contest(selector: Any, peer: Callable[[Path], None], options: Options) -> Contest:
    stack = ExitStack()
    path = stored_table(stack, options.parquet_rows, options)
    repeats = 3 if options.parquet_rows <= 2_000_000 else 1
    ours, theirs = partial(fit, selector, path), partial(peer, path)
    return Contest(ours, theirs, repeats=repeats, close=stack.close)


@TABLE.row("MRMR from Parquet, 100 columns, k = 10", peer="the bare read", allowed=5.0)
def mrmr(options: Options) -> Contest:
    return contest(MRMR(n_features_to_select=10), bare_read, options)


@TABLE.row("MRMR from Parquet, memory_limit 64 MiB", peer="the bare read", allowed=5.0)
def mrmr_little_memory(options: Options) -> Contest:
    return contest(MRMR(n_features_to_select=10, memory_limit="64MiB"), bare_read, options)


@TABLE.row("Pearson from Parquet, 2 jobs", peer="read and conversion", allowed=1.3)
def pearson(options: Options) -> Contest:
    return contest(PearsonRanking(n_features_to_select=10, n_jobs=2), read_and_convert, options)


def exponent(selector: Any, options: Options) -> Contest:
    """p where the time grows as rows to the power of p, from 0.1 M rows on: 1 is linear."""
    stack = ExitStack()
    sizes = FEWEST_ROWS, options.parquet_rows
    small, large = (stored_table(stack, n_rows, options) for n_rows in sizes)

    def growth() -> float:
        times = [min(_times(partial(fit, selector, path))) for path in (small, large)]
        return math.log(times[1] / times[0], sizes[1] / sizes[0])

    return Contest(Measured(growth), Limit(1.0), repeats=1, warm_up=0, close=stack.close)


def _times(run: Callable[[], Any]) -> list[float]:
    return [seconds_of(run) for _ in range(3)][1:]


@TABLE.row("MRMR from Parquet, exponent of rows", peer="1 (linear)", allowed=1.1)
def mrmr_growth(options: Options) -> Contest:
    return exponent(MRMR(n_features_to_select=10), options)


@TABLE.row("Pearson from Parquet, exponent of rows", peer="1 (linear)", allowed=1.1)
def pearson_growth(options: Options) -> Contest:
    return exponent(PearsonRanking(n_features_to_select=10, n_jobs=2), options)
