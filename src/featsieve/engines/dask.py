"""Rows on a Dask cluster: one partition is one block, summaries are merged where they are.

Whatever scheduler is active runs the tasks (threads by default, a cluster when there is a client);
a lost worker only means that its tasks run again, so the answer stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import (
    BYTES_PER_NUMBER,
    COPIES_PER_BLOCK,
    BaseEngine,
    Context,
    in_order,
    require_memory,
    rows_inside,
    rows_of,
    spans,
)
from featsieve.engines.cells import Units
from featsieve.engines.dask_calls import (
    Caller,
    Calls,
    Stack,
    futures_in_order,
    merge_row_by_row,
    tree_merge,
)
from featsieve.engines.dask_cluster import KeptParts, SharedValue, delayed
from featsieve.engines.dask_run import cluster_client, compute
from featsieve.engines.memory import open_source
from featsieve.engines.neighbours import Nearest
from featsieve.engines.row_tiles import nearest_rows, summary_of_pairs
from featsieve.errors import InputError
from featsieve.input.containers import select_columns
from featsieve.input.parameters import check_lengths
from featsieve.input.tables import require_matrix, rounded_columns
from featsieve.input.targets import (
    TargetScan,
    encode_target,
    refuse_scalar,
    scan_target,
    target_matrix,
)
from featsieve.protocols import S
from featsieve.runtime.freed import FreedMemory
from featsieve.runtime.progress import Monitor
from featsieve.schema import Block, Schema, Target

MOST_PICKS = 256
BYTES_AT_A_TIME = 1 << 17


class DaskTable:
    """X and y of a Dask collection as aligned partitions with known lengths."""

    def __init__(self, X: Any, y: Any, monitor: Monitor) -> None:
        self.collection = X
        self.native_target = y
        self.parts = _partitions(X)
        self.caller = Caller(self.parts, monitor)
        looks = self._looks()
        lengths = [length for length, _ in looks]
        self.rounded = frozenset[int]().union(*(columns for _, columns in looks))
        self.starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
        self.targets = _aligned_targets(y, self.starts, monitor)

    @property
    def n_samples(self) -> int:
        return int(self.starts[-1])

    def scan_target(self, task: str) -> TargetScan:
        calls = self.caller.on([(y,) for y in self.targets])
        scan: TargetScan = calls.merged_in_any_order(partial(scan_target, task=task))
        return scan

    def scan_columns(self, fn: Callable[[Any], S]) -> S:
        """A summary of the raw partitions, before any schema is known."""
        summary: S = self.caller.on([(part,) for part in self.parts]).merged(fn)
        return summary

    def _looks(self) -> list[tuple[int, frozenset[int]]]:
        """An array of floats with known chunks says by itself what there is to know."""
        X = self.collection
        if getattr(X, "chunks", None) and X.dtype.kind == "f" and not np.isnan(X.chunks[0]).any():
            return [(int(length), frozenset()) for length in X.chunks[0]]
        return self.caller.on([(part,) for part in self.parts]).results(_look)


class DaskEngine(BaseEngine):
    """Passes over the partitions of a :class:`DaskTable`."""

    is_local = False

    def __init__(self, table: DaskTable, context: Context) -> None:
        super().__init__(context, table.n_samples)
        self._table = table
        self._frame = _Frame(context.schema, context.target)
        filled = np.flatnonzero(np.diff(table.starts)).tolist()
        self._pieces = [(table.parts[i], table.targets[i], int(table.starts[i])) for i in filled]
        self._most_threads = self._threads_within(table.starts)
        self._calls: Calls = table.caller.on(self._pieces, filled, self._most_threads)

    def _threads_within(self, starts: IntArray) -> int:
        """That may work on a partition each, with its copies, under the memory limit."""
        longest = int(np.diff(starts).max())
        n_bytes = COPIES_PER_BLOCK * BYTES_PER_NUMBER * longest * max(self.n_features, 1)
        return max(1, self.memory_limit // n_bytes)

    @property
    def _is_read_again(self) -> bool:
        """Whether pairs of blocks are made a few at a time: all blocks together, which Dask would
        keep for the pairs to come, exceed the budget of this process."""
        n_numbers = self.n_samples * self.n_features
        return cluster_client() is None and BYTES_PER_NUMBER * n_numbers > self.memory_limit

    def _result(self, lazy: Any) -> Any:
        return compute([lazy], self.monitor, self._most_threads)[0]

    @cached_property
    def _blocks(self) -> list[Any]:
        frame = delayed(self._frame)
        return [delayed(_block)(frame, *piece) for piece in self._pieces]

    def _of_rows(self, fn: Callable[[Block], Any]) -> Callable[..., Any]:
        """Block and result are one task: blocks of their own would travel between workers."""
        return self._looking(partial(_call_on_rows, fn, self._frame))

    def _looking(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """In this process the memory is looked at after each block."""
        return fn if cluster_client() is not None else partial(_call_and_look, fn, self._freed)

    def keep(self, fn: Callable[[Block], Any]) -> KeptParts | None:
        client = cluster_client()
        if client is None:
            return None
        self.screen()
        return self._calls.kept(client, self._of_rows(self._in_units(fn)))

    def share(self, value: Any) -> SharedValue | None:
        client = cluster_client()
        return None if client is None else SharedValue(client, value, self.monitor)

    def map_taken(
        self, fn: Callable[[FloatArray], Any], rows: IntArray | None, columns: IntArray, width: int
    ) -> list[tuple[IntArray, Any]] | None:
        """Cells travel between workers, a tile of columns each, and only results come here."""
        client = cluster_client()
        n_tiles = 0 if client is None else min(sum(client.nthreads().values()), self._most_tiles)
        if n_tiles < 2:
            return None
        self.screen()
        n_tiles = max(n_tiles, -(-len(columns) // width))
        tiles = [tile for tile in np.array_split(columns, n_tiles) if len(tile)]
        cells = partial(_tiles_of_parts, self._frame, self.units, rows, tiles)
        results = self._calls.transposed(cells, partial(_call_on_cells, fn), len(tiles))
        return list(zip(tiles, results, strict=True))

    @property
    def _most_tiles(self) -> int:
        """Each tile of each block is a task."""
        return MOST_PICKS // max(len(self._pieces), 1)

    def _reduce_blocks(self, fn: Callable[[Block], S]) -> S:
        summary: S = self._calls.merged(self._of_rows(fn))
        self.monitor.tick("reading rows", len(self._pieces), len(self._pieces))
        return summary

    def reduce_tiles(self, fn: Callable[[Block, Block], S]) -> S:
        self.screen()
        summarise = delayed(self._looking(partial(summary_of_pairs, self._in_units(fn))))
        rows = [
            [summarise(first, second) for second in self._blocks[i:]]
            for i, first in enumerate(self._blocks)
        ]
        if self._is_read_again:
            summary: S = merge_row_by_row(rows, self._result)
        else:
            summary = self._result(tree_merge(list(chain(*rows))))
        n_pairs = sum(map(len, rows))
        self.monitor.tick("reading pairs of rows", n_pairs, n_pairs)
        return summary

    def topk_tiles(
        self, fn: Callable[[Block, Block], FloatArray], k: int
    ) -> tuple[FloatArray, IntArray]:
        self.screen()
        nearest = delayed(self._looking(nearest_rows))
        distance = self._in_units(fn)
        lazy = [
            tree_merge([nearest(distance, first, second, k) for second in self._blocks])
            for first in self._blocks
        ]
        blocks: list[Nearest] = (
            list(map(self._result, lazy))
            if self._is_read_again
            else compute(lazy, self.monitor, self._most_threads)
        )
        return np.concatenate([n.distances for n in blocks]), np.concatenate(
            [n.rows for n in blocks]
        )

    def _take(self, rows: IntArray | None, columns: IntArray | None) -> tuple[FloatArray, Array]:
        cells = self._calls.results(self._of_rows(partial(_cells, rows=rows, columns=columns)))
        return in_order(cells, rows)

    def native(self, columns: IntArray) -> tuple[Any, Any]:
        require_memory(
            self.n_samples * len(columns), self.memory_limit, "gathering a Dask collection"
        )
        y = self._table.native_target
        values = [select_columns(self._table.collection, columns), y]
        X, y = compute(values, self.monitor, self._most_threads)
        return X, y


def _call_on_rows(fn: Callable[[Block], Any], frame: _Frame, part: Any, y: Any, start: int) -> Any:
    return fn(_block(frame, part, y, start))


def _call_and_look(fn: Callable[..., Any], freed: FreedMemory, *arguments: Any) -> Any:
    result = fn(*arguments)
    freed.look()
    return result


def _partitions(X: Any) -> list[Any]:
    """Delayed pieces of consecutive rows, all columns together."""
    if hasattr(X, "columns"):
        return _parts_of(X)
    require_matrix(X)
    return _rows_together(X)


def _rows_together(array: Any) -> list[Any]:
    return _parts_of(array.rechunk({1: -1}) if array.ndim > 1 else array)


def _parts_of(collection: Any) -> list[Any]:
    """Futures where all parts are in the memory of a cluster, else delayed objects."""
    futures = None if cluster_client() is None else futures_in_order(collection)
    return futures or list(np.ravel(collection.to_delayed()))


def _aligned_targets(y: Any, starts: IntArray, monitor: Monitor) -> list[Any]:
    """y cut at the same rows as X."""
    n_rows = int(starts[-1])
    if y is None:
        y = np.empty((n_rows, 0))
    if hasattr(y, "to_delayed"):
        y = _as_dask_array(y, monitor)
        check_lengths(n_rows, y)
        y = y.rechunk(
            {0: tuple(int(n) for n in np.diff(starts)), **({1: -1} if y.ndim > 1 else {})}
        )
        return _parts_of(y)
    refuse_scalar(y)
    check_lengths(n_rows, y)
    return [_slice(y, int(a), int(b)) for a, b in pairwise(starts)]


def _slice(y: Any, start: int, stop: int) -> Any:
    part = y.iloc[start:stop] if hasattr(y, "iloc") else y[start:stop]
    return part if isinstance(part, np.ndarray) else delayed(part)  # Dask looks into lists


def _as_dask_array(y: Any, monitor: Monitor) -> Any:
    """y with known chunks. A series is taken apart by its own pieces: when Dask joins the pieces of
    a file that is read for few columns, its lengths no longer fit its partitions."""
    if not hasattr(y, "to_dask_array") and not any(np.isnan(size) for size in y.shape):
        return y
    import dask.array as da

    pieces = y.to_delayed() if hasattr(y, "to_dask_array") else _rows_together(y)
    parts = [delayed(target_matrix)(part) for part in pieces]
    shapes = compute([delayed(np.shape)(part) for part in parts], monitor)
    return da.concatenate(
        [
            da.from_delayed(part, shape, dtype=object)
            for part, shape in zip(parts, shapes, strict=True)
        ]
    )


def _look(part: Any) -> tuple[int, frozenset[int]]:
    """How many rows there are, and which columns hold integers that floats round."""
    return int(part.shape[0]), rounded_columns(part)


@dataclass(frozen=True)
class _Frame:
    """What a worker has to know to make a block of raw rows."""

    schema: Schema
    target: Target


def _block(frame: _Frame, part: Any, y: Any, start: int) -> Block:
    source = open_source(part, frame.schema)
    target = encode_target(y, frame.target)
    if len(target) != source.n_rows:
        raise InputError(
            f"a part of the Dask collection has {source.n_rows} rows where its chunks say "
            f"{len(target)}; name the right chunks to map_blocks, or call compute_chunk_sizes()."
        )
    return Block(start, source.rows(0, source.n_rows), target)


def _cells(block: Block, rows: IntArray | None, columns: IntArray | None) -> tuple[Array, Array]:
    X, y = rows_of(block, rows)
    X = X if columns is None else X[:, columns]
    return (X.toarray() if block.is_sparse else X), y


def _tiles_of_parts(
    frame: _Frame,
    units: Units | None,
    rows: IntArray | None,
    tiles: Sequence[IntArray],
    parts: Sequence[tuple[Any, Any, int]],
) -> list[Stack]:
    """The asked-for rows of some parts, tile by tile, each tile in one piece of memory."""
    sizes = tuple(_n_taken(rows, part.shape[0], start) for part, _, start in parts)
    bounds = np.concatenate(([0], np.cumsum(sizes)))
    arrays: list[FloatArray] = []
    for part, (first, stop) in zip(parts, pairwise(bounds), strict=True):
        block = _block(frame, *part)
        dtype = np.result_type(block.X.dtype, *arrays[:1])
        if not arrays or arrays[0].dtype != dtype:
            like = arrays or [np.empty((bounds[-1], len(tile)), dtype=dtype) for tile in tiles]
            arrays = [array.astype(dtype, copy=False) for array in like]
        _put_rows(block, rows, tiles, [array[first:stop] for array in arrays])
    pairs = zip(arrays, tiles, strict=True)
    return [Stack(sizes, X if units is None else units.apply(X, tile)) for X, tile in pairs]


def _n_taken(rows: IntArray | None, n_rows: int, start: int) -> int:
    return n_rows if rows is None else len(rows_inside(rows, start, n_rows))


def _put_rows(
    block: Block, rows: IntArray | None, tiles: Sequence[IntArray], into: Sequence[FloatArray]
) -> None:
    """A few rows at a time: on the workers of Dask, fresh memory costs more than copying."""
    chosen = slice(None) if rows is None else rows_inside(rows, block.start, block.n_rows)
    local = np.arange(block.n_rows)[chosen]
    at_once = max(1, BYTES_AT_A_TIME // (BYTES_PER_NUMBER * max(block.X.shape[1], 1)))
    for first, stop in spans(len(local), at_once):
        cells = block.X[local[first:stop]]
        cells = cells.toarray() if block.is_sparse else cells
        for tile, array in zip(tiles, into, strict=True):
            array[first:stop] = cells[:, tile]


def _call_on_cells(fn: Callable[[FloatArray], Any], blocks: Sequence[FloatArray]) -> Any:
    return fn(np.concatenate(blocks))
