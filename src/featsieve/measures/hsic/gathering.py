"""Which rows are paired, and where they are: gathered here, shared with a cluster, or streamed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np

from featsieve.arrays import IntArray
from featsieve.engines.base import rows_inside
from featsieve.engines.memory import gathered
from featsieve.engines.remote import CanShare
from featsieve.measures.hsic.tiles import (
    WORTH_A_CLUSTER,
    GatheredRowPairs,
    RowPairs,
    RowStrip,
    SharedRowPairs,
    StreamedRowPairs,
    tile_width,
)
from featsieve.protocols import Engine
from featsieve.schema import Block

GATHERED_SHARE = 4  # of memory_limit: the rest is for tiles and for the search


def _fits_here(engine: Engine) -> bool:
    return 8 * engine.n_samples * engine.n_features * GATHERED_SHARE <= engine.memory_limit


def brought_here(engine: Engine) -> Engine:
    """The rows of other machines, if they are few: asked for once, and not by each pass."""
    return engine if engine.is_local or not _fits_here(engine) else gathered(engine)


def row_pairs(engine: Engine) -> RowPairs:
    """All pairs; gathered if the table takes no more than its share of the memory limit."""
    if not _fits_here(engine):
        return StreamedRowPairs(engine)
    return _gathered_pairs(engine, None, engine.n_samples)


def _gathered_pairs(engine: Engine, order: IntArray | None, rows_together: int) -> GatheredRowPairs:
    rows = _taken(engine, order) if order is not None else gather_rows(engine)
    common = rows_together, tile_width(engine.n_features), engine.n_jobs, engine.monitor, order
    evaluations = rows.n_rows * rows_together * engine.n_features
    if isinstance(engine, CanShare) and evaluations >= WORTH_A_CLUSTER:
        shared = engine.share(rows)
        if shared is not None:
            return SharedRowPairs(rows, *common, shared=shared)
    return GatheredRowPairs(rows, *common)


def _taken(engine: Engine, order: IntArray) -> RowStrip:
    X, y = engine.take(order)
    return RowStrip(0, np.ascontiguousarray(X.T, dtype=np.float64), y)


@dataclass(frozen=True)
class Strips:
    """Rows of some blocks, in row order."""

    parts: tuple[RowStrip, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.parts + other.parts)


def _chosen_rows(rows: IntArray | None, block: Block) -> Strips:
    X, y = block.dense() if block.is_sparse else block.X, block.y
    if rows is not None:
        local = rows_inside(rows, block.start, block.n_rows)
        X, y = X[local], y[local]
    return Strips((RowStrip(block.start, np.array(X.T, order="C"), np.array(y)),))


def gather_rows(engine: Engine, rows: IntArray | None = None) -> RowStrip:
    """All rows, or these (ascending), block by block: never long without a look at the clock."""
    parts = engine.reduce_rows(partial(_chosen_rows, rows)).parts
    X = np.empty((engine.n_features, sum(part.n_rows for part in parts)))
    start = 0
    for part in parts:
        X[:, start : start + part.n_rows] = part.X
        start += part.n_rows
    return RowStrip(0, X, np.concatenate([part.y for part in parts]))


def block_pairs(engine: Engine, n_blocks: int, rows_together: int, seed: int) -> GatheredRowPairs:
    """Pairs inside disjoint random blocks of rows; rows that fill no block are left out."""
    shuffled = np.random.default_rng(seed).permutation(engine.n_samples)
    order = shuffled[: n_blocks * rows_together].astype(np.intp)
    return _gathered_pairs(engine, order, rows_together)
