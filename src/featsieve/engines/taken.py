"""What is made of whole columns, from the cells of some rows, piece by piece on threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.engines.base import BYTES_PER_NUMBER, spans
from featsieve.engines.remote import CanMapTaken
from featsieve.protocols import Engine
from featsieve.runtime.pool import ordered_map

R = TypeVar("R")


@runtime_checkable
class CanLend(Protocol):
    """All cells as ``take`` would copy them, where they are; None where they lie otherwise."""

    def lent(self) -> FloatArray | None: ...


COPIES_PER_TILE = 4  # the columns taken, what is made of them, and the engine's own copy
VALUES_PER_PIECE = 1 << 18  # they keep a thread busy for about a millisecond, and fit its cache


def pieces(n_columns: int, n_values: int) -> list[tuple[int, int]]:
    """Columns of so many values each in pieces of work for threads."""
    return list(spans(n_columns, max(1, VALUES_PER_PIECE // max(n_values, 1))))


def map_taken(
    engine: Engine,
    fn: Callable[[FloatArray, tuple[int, int]], list[R]],
    rows: IntArray | None,
    columns: IntArray,
    n_values: int,
    message: str,
    n_jobs: int,
) -> list[R]:
    """One result per column, from the cells of some rows: where they are, or here in threads.

    ``fn`` gets the cells that were taken, and the first and last + 1 of the columns to look at; it
    looks at about ``n_values`` values per column.
    """
    n_rows = engine.n_samples if rows is None else len(rows)
    bytes_per_column = COPIES_PER_TILE * BYTES_PER_NUMBER * max(n_rows, 1)
    at_once = max(1, engine.memory_limit // bytes_per_column)
    is_all = rows is None and len(columns) == engine.n_features
    lent = engine.lent() if is_all and isinstance(engine, CanLend) else None
    if isinstance(engine, CanMapTaken):
        there = engine.map_taken(partial(_of_all_columns, fn), rows, columns, at_once)
        if there is not None:
            return [result for _, results in there for result in results]
    done: list[R] = []
    for start, stop in spans(len(columns), at_once if lent is None else len(columns)):
        taken = None if stop - start == engine.n_features else columns[start:stop]
        X = np.ascontiguousarray(engine.take(rows, taken)[0]) if lent is None else lent
        parts = pieces(stop - start, n_values)
        n_threads = n_jobs if len(parts) >= 2 * n_jobs else 1
        for results in ordered_map(partial(fn, X), parts, n_threads):
            done += results
            engine.monitor.tick(message, len(done), len(columns))
    return done


def _of_all_columns(fn: Callable[[FloatArray, tuple[int, int]], list[R]], X: FloatArray) -> list[R]:
    return fn(np.ascontiguousarray(X), (0, X.shape[1]))
