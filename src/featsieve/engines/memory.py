"""Rows in memory: threads over a fixed grid of blocks."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import reduce
from typing import Any, Self

import numpy as np

from featsieve.containers import select_columns, select_rows
from featsieve.engines.base import BaseEngine, Context, Nearest, nearest_in_tile
from featsieve.engines.blocks import (
    TILE_ROWS,
    block_rows,
    spans,
    tile_columns,
)
from featsieve.engines.sources import Source, open_source
from featsieve.pool import ordered_map
from featsieve.protocols import Engine, S
from featsieve.schema import Array, Block, FloatArray, IntArray, Schema


def gathered(engine: Engine) -> MemoryEngine:
    """The rows of any engine in memory, if they fit the budget; codes stay codes."""
    X, y = engine.take()
    given = engine.schema
    states = {c: tuple(range(len(s))) for c, s in given.categories.items()}
    schema = Schema(given.names, states, given.groups, given.group_names)
    context = Context(schema, engine.target, engine.monitor, engine.memory_limit, engine.n_jobs)
    return MemoryEngine(X, y, context)


class MemoryEngine(BaseEngine):
    """Any in-memory container, read block by block so that only blocks are ever copied.

    ``container`` is what the user gave (array, sparse, dataframe); ``y`` is the encoded 2-D target.
    """

    def __init__(
        self,
        container: Any,
        y: Array,
        context: Context,
        *,
        weight: FloatArray | None = None,
        native_target: Any = None,
        rows_a_block: int | None = None,
    ) -> None:
        self._source: Source = open_source(container, context.schema)
        super().__init__(context, self._source.n_rows)
        self._container = container
        self._y = y
        self._weight = weight
        self.has_weights = weight is not None
        self._native_target = y if native_target is None else native_target
        self._rows_a_block = rows_a_block or block_rows(
            self.n_features, context.memory_limit, context.n_jobs
        )

    def _block(self, span: tuple[int, int]) -> Block:
        start, stop = span
        weight = None if self._weight is None else self._weight[start:stop]
        return Block(start, self._source.rows(start, stop), self._y[start:stop], weight)

    def _spans(self, width: int) -> list[tuple[int, int]]:
        return list(spans(self.n_samples, width))

    def _reduce_blocks(self, fn: Callable[[Block], S]) -> S:
        blocks = self._spans(self._rows_a_block)
        # A single block leaves its matrix products all the threads that BLAS has.
        n_jobs = min(self.n_jobs, len(blocks))
        summaries = ordered_map(lambda span: fn(self._block(span)), blocks, n_jobs)
        return self._merge(summaries, len(blocks), "reading rows")

    def reduce_tiles(self, fn: Callable[[Block, Block], S]) -> S:
        self.screen()
        tiles = self._spans(min(TILE_ROWS, self._rows_a_block))
        pairs = [(a, b) for i, a in enumerate(tiles) for b in tiles[i:]]
        summaries = ordered_map(
            lambda pair: fn(self._block(pair[0]), self._block(pair[1])), pairs, self.n_jobs
        )
        return self._merge(summaries, len(pairs), "reading pairs of rows")

    def topk_tiles(
        self, fn: Callable[[Block, Block], FloatArray], k: int
    ) -> tuple[FloatArray, IntArray]:
        self.screen()
        tiles = self._spans(min(TILE_ROWS, self._rows_a_block))

        def nearest_of(span: tuple[int, int]) -> Nearest:
            first = self._block(span)
            found = (nearest_in_tile(fn, first, self._block(other), k) for other in tiles)
            return reduce(Nearest.merge, found)

        found = list(ordered_map(nearest_of, tiles, self.n_jobs))
        return np.concatenate([n.distances for n in found]), np.concatenate([n.rows for n in found])

    def map_columns(self, fn: Callable[[FloatArray, IntArray], Array]) -> Array:
        self.screen()
        width = tile_columns(self.n_samples, self.memory_limit, self.n_jobs)
        tiles = [np.arange(*span) for span in spans(self.n_features, width)]
        found = []
        mapped = ordered_map(lambda c: fn(self._source.take(None, c), c), tiles, self.n_jobs)
        for done, part in enumerate(mapped, start=1):
            found.append(part)
            self.monitor.tick("reading columns", done, len(tiles))
        return np.concatenate(found)

    def take(
        self, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> tuple[FloatArray, Array]:
        self.screen()
        self._require_memory_for(rows, columns)
        return self._source.take(rows, columns), self._y if rows is None else self._y[rows]

    def native(self, columns: IntArray) -> tuple[Any, Any]:
        return select_columns(self._container, columns), self._native_target

    def with_permuted_target(self, order: IntArray) -> Self:
        """The same rows with the target in another order; X and the weights stay where they are."""
        other = copy.copy(self)
        other._y = self._y[order]
        other._native_target = select_rows(self._native_target, order)
        return other
