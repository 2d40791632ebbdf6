"""Rows in memory: any container, read by threads over a fixed grid of blocks."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from functools import reduce
from typing import Any, Self

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import (
    BYTES_IN_PLACE,
    BYTES_PER_NUMBER,
    COPIES_PER_BLOCK,
    TILE_ROWS,
    BaseEngine,
    Context,
    block_rows,
    float_dtype,
    rows_within,
    spans,
    tile_columns,
    weights_of,
)
from featsieve.engines.neighbours import Nearest, nearest_in_tile
from featsieve.engines.remote import CanShare
from featsieve.engines.sources import Source, open_columns
from featsieve.input.containers import select_columns, select_rows
from featsieve.input.tables import as_floats, has_flat_memory, is_sparse, unmasked
from featsieve.protocols import Engine, S
from featsieve.runtime.pool import ordered_map
from featsieve.schema import Block, KeptRows, Schema
from featsieve.statistics.weights import belong_to_target

WORTH_THREADS = 1 << 22  # numbers of rows that are taken
BYTES_TAKEN = 1 << 21  # at a time: what a thread has just read is still in its cache


class ArraySource:
    """A NumPy array of any order and dtype, or a read-only memmap."""

    def __init__(self, values: Array) -> None:
        self._values = values
        self._dtype = float_dtype(values.dtype)
        self.n_rows, self.n_columns = values.shape

    @property
    def row_bytes_in_place(self) -> int | None:
        is_view = self._values.dtype == self._dtype
        return self.n_columns * self._values.itemsize if is_view else None

    def rows(self, start: int, stop: int) -> FloatArray:
        return np.asarray(self._values[start:stop], dtype=self._dtype)

    def take(self, rows: IntArray | None, columns: IntArray | None) -> FloatArray:
        values = self._values if rows is None else self._values[rows]
        values = values if columns is None else values[:, columns]
        is_view = rows is None and columns is None
        copied = np.array if is_view else np.asarray
        return copied(values, dtype=self._dtype, order="C")

    def pick(self, rows: IntArray) -> FloatArray:
        return self.take(rows, None)

    def lent(self) -> FloatArray | None:
        """The array itself, if it is what ``take`` copies; not one that may be on a disk."""
        values = self._values
        is_plain = type(values) is np.ndarray and values.flags.carray
        return values if is_plain and values.dtype == self._dtype else None


class RowsOfSource:
    """Some rows of another source; only blocks of them are ever copied."""

    row_bytes_in_place = None

    def __init__(self, source: Source, kept: IntArray) -> None:
        self._source = source
        self._kept = kept
        self.n_rows, self.n_columns = len(kept), source.n_columns

    def rows(self, start: int, stop: int) -> Any:
        return self._source.pick(self._kept[start:stop])

    def take(self, rows: IntArray | None, columns: IntArray | None) -> FloatArray:
        return self._source.take(self._kept if rows is None else self._kept[rows], columns)

    def pick(self, rows: IntArray) -> Any:
        return self._source.pick(self._kept[rows])


def open_source(container: Any, schema: Schema) -> Source:
    """The right reader for a container; categorical columns come out as codes of the schema."""
    if isinstance(container, np.ndarray):
        container = as_floats(unmasked(container))
    elif not schema.categories and not is_sparse(container) and has_flat_memory(container):
        container = container.to_numpy()
    if schema.categories or not isinstance(container, np.ndarray):
        return open_columns(container, schema)
    return ArraySource(container)


def gathered(engine: Engine, native_target: Any = None) -> MemoryEngine:
    """The rows of any engine in memory, if they fit the budget; codes stay codes."""
    X, y = engine.take()
    schema = engine.schema.coded()
    context = Context(schema, engine.target, engine.monitor, engine.memory_limit, engine.n_jobs)
    weight = weights_of(engine)
    return MemoryEngine(X, y, context, weight=weight, native_target=native_target, origin=engine)


class MemoryEngine(BaseEngine):
    """Any in-memory container, read block by block so that only blocks are ever copied.

    ``container`` is what the user gave (array, sparse, dataframe); ``y`` is the encoded 2-D target;
    ``kept`` are the rows of the container that there are, and ``y``, ``weight`` and
    ``native_target`` are theirs; ``origin`` is the engine that the rows were gathered from.
    """

    def __init__(
        self,
        container: Any,
        y: Array,
        context: Context,
        *,
        weight: FloatArray | None = None,
        native_target: Any = None,
        rows_per_block: int | None = None,
        origin: Engine | None = None,
        kept: KeptRows | None = None,
    ) -> None:
        source = open_source(container, context.schema)
        self._source: Source = source if kept is None else RowsOfSource(source, kept.rows)
        super().__init__(context, self._source.n_rows)
        self._container = container
        self._y = y
        self._weight = weight
        self.has_weights = weight is not None
        self.weights_belong_to_target = weight is not None and belong_to_target(
            weight, y, context.target.is_classification
        )
        plain = y[:, 0] if y.shape[1] == 1 else y  # estimators want no column of one output
        self._native_target = plain if native_target is None else native_target
        self._origin = origin
        self.kept = kept
        self._grid_is_given = rows_per_block is not None
        self._rows_per_block = rows_per_block or block_rows(
            self.n_features, context.memory_limit, context.n_jobs
        )

    def _block(self, span: tuple[int, int]) -> Block:
        start, stop = span
        weight = None if self._weight is None else self._weight[start:stop]
        return Block(start, self._source.rows(start, stop), self._y[start:stop], weight)

    def _spans(self, width: int) -> list[tuple[int, int]]:
        return list(spans(self.n_samples, width))

    def _reduce_blocks(self, fn: Callable[[Block], S]) -> S:
        return self._reduce_spans(fn, self._spans(self._rows_per_block))

    def _reduce_in_place(self, fn: Callable[[Block], S]) -> S:
        row_bytes = self._source.row_bytes_in_place
        if row_bytes is None or self._grid_is_given:
            return self._reduce_blocks(fn)
        most = min(BYTES_IN_PLACE, self.memory_limit // (COPIES_PER_BLOCK * self.n_jobs))
        rows = max(self._rows_per_block, rows_within(most, row_bytes))
        return self._reduce_spans(fn, self._spans(rows))

    def _reduce_spans(self, fn: Callable[[Block], S], blocks: list[tuple[int, int]]) -> S:
        # One thread leaves its products all those of BLAS; few blocks share threads badly.
        n_jobs = self.n_jobs if len(blocks) >= 2 * self.n_jobs else 1
        summaries = ordered_map(lambda span: fn(self._block(span)), blocks, n_jobs)
        return self._merge(summaries, len(blocks), "reading rows")

    def reduce_tiles(self, fn: Callable[[Block, Block], S]) -> S:
        self.screen()
        tiles = self._spans(min(TILE_ROWS, self._rows_per_block))
        pairs = [(a, b) for i, a in enumerate(tiles) for b in tiles[i:]]
        summarise = self._in_units(fn)
        summaries = ordered_map(
            lambda pair: summarise(self._block(pair[0]), self._block(pair[1])), pairs, self.n_jobs
        )
        return self._merge(summaries, len(pairs), "reading pairs of rows")

    def topk_tiles(
        self, fn: Callable[[Block, Block], FloatArray], k: int
    ) -> tuple[FloatArray, IntArray]:
        self.screen()
        tiles = self._spans(min(TILE_ROWS, self._rows_per_block))

        distance = self._in_units(fn)

        def nearest_of(span: tuple[int, int]) -> Nearest:
            first = self._block(span)
            return reduce(Nearest.merge, (nearest_in(first, other) for other in tiles))

        def nearest_in(first: Block, other: tuple[int, int]) -> Nearest:
            self.monitor.check()  # of very many rows, one tile against all others takes long
            return nearest_in_tile(distance, first, self._block(other), k)

        nearest = []
        for done, part in enumerate(ordered_map(nearest_of, tiles, self.n_jobs), start=1):
            nearest.append(part)
            self.monitor.tick("seeking neighbours", done, len(tiles))
        return np.concatenate([n.distances for n in nearest]), np.concatenate(
            [n.rows for n in nearest]
        )

    def map_columns(self, fn: Callable[[FloatArray, IntArray], Array]) -> Array:
        self.screen()
        width = tile_columns(self.n_samples, self.memory_limit, self.n_jobs)
        width = min(width, -(-self.n_features // (4 * self.n_jobs)))  # a few tiles per thread
        tiles = [np.arange(*span) for span in spans(self.n_features, width)]
        parts = []
        mapped = ordered_map(
            lambda c: fn(self._scaled(self._source.take(None, c), c), c), tiles, self.n_jobs
        )
        for done, part in enumerate(mapped, start=1):
            parts.append(part)
            self.monitor.tick("reading columns", done, len(tiles))
        return np.concatenate(parts)

    def _take(self, rows: IntArray | None, columns: IntArray | None) -> tuple[FloatArray, Array]:
        n_columns = self.n_features if columns is None else len(columns)
        if rows is None or self.n_jobs == 1 or len(rows) * n_columns < WORTH_THREADS:
            return self._source.take(rows, columns), self.targets(rows)
        return self._take_on_threads(rows, columns), self.targets(rows)

    def lent(self) -> FloatArray | None:
        """All cells where they are, for those who only look at them."""
        self.screen()
        source = self._source
        return source.lent() if isinstance(source, ArraySource) and self.units is None else None

    def _take_on_threads(self, rows: IntArray, columns: IntArray | None) -> FloatArray:
        first = self._source.take(rows[:1], columns)
        X = np.empty((len(rows), first.shape[1]), dtype=first.dtype)

        def fill(span: tuple[int, int]) -> None:
            X[slice(*span)] = self._source.take(rows[slice(*span)], columns)

        width = rows_within(BYTES_TAKEN, BYTES_PER_NUMBER * X.shape[1])
        deque(ordered_map(fill, spans(len(rows), width), self.n_jobs), maxlen=0)
        return X

    def targets(self, rows: IntArray | None = None) -> Array:
        return self._y if rows is None else self._y[rows]

    def native(self, columns: IntArray) -> tuple[Any, Any]:
        X = select_columns(self._container, columns)
        return X if self.kept is None else select_rows(X, self.kept.rows), self._native_target

    def share(self, value: Any) -> Any:
        return self._origin.share(value) if isinstance(self._origin, CanShare) else None

    def with_permuted_target(self, order: IntArray) -> Self:
        """The same rows with the target in another order; X stays where it is, and so do weights
        that do not belong to the target."""
        other = copy.copy(self)
        other._y = self._y[order]
        other._native_target = select_rows(self._native_target, order)
        if self._weight is not None and self.weights_belong_to_target:
            other._weight = self._weight[order]
        return other
