"""How the visited rows are compared with all rows: in memory, or by passes over a larger table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.measures.relief.columns import Columns, Survey, fit_expectations, scaled_to_range
from featsieve.measures.relief.comparison import Comparison, Differences, Nearest, Rows
from featsieve.protocols import Engine
from featsieve.runtime.pool import ordered_map
from featsieve.schema import Block

RANK_DECAY = 50.0  # σ in exp(−(rank/σ)²), for regression
MOST_TOGETHER = 64  # visited rows that are compared with others in one piece of work
MOST_PER_PASS = 2048  # visited rows of one pass over a table that is not in memory
BUDGET_SHARE = 8  # pieces of work hold this part of the memory limit
COPIES = 3  # of a table that is gathered: as it is, column by column, row by row
TILE_ROWS, TILE_OTHERS = 128, 2048  # wide, because the kernels sweep over the others
QUICK_SQUARE = 1 << 33  # differences: well under a second
PAIR_BYTES = 40  # a distance, and a pair of neighbours where all rows tie


@dataclass(frozen=True)
class OutputSide:
    """One output of the target: the groups and numbers it gives to rows, and the comparison."""

    comparison: Comparison
    output: int
    low: FloatArray
    high: FloatArray

    def rows(self, X: Array, y: Array, index: IntArray) -> Rows:
        groups, numbers = np.zeros(len(y), np.intp), np.zeros(len(y))
        if self.comparison.uses_target:
            numbers = scaled_to_range(y[:, self.output][None], self.low, self.high)[0]
        else:
            groups = y[:, self.output].astype(np.intp)
        return Rows.prepare(self.comparison.columns, X, groups, index, numbers)

    def sorted_rows(self, X: Array, y: Array, index: IntArray) -> Rows:
        """Sorted by group, so that the rows of a class lie together."""
        if self.comparison.uses_target:
            return self.rows(X, y, index)
        order = np.argsort(y[:, self.output], kind="stable")
        return self.rows(X[order], y[order], index[order])

    def block_rows(self, block: Block) -> Rows:
        index = np.arange(block.start, block.start + block.n_rows, dtype=np.intp)
        return self.sorted_rows(block.dense(), block.y, index)


def output_side(
    engine: Engine, survey: Survey, columns: Columns, output: int, n_neighbors: int
) -> OutputSide:
    ranges = survey.y_low[[output]], survey.y_high[[output]]
    if engine.target.is_classification:
        weight = _class_pair_weights(survey.class_counts[output] / engine.n_samples)
        expectations = fit_expectations(engine, columns, len(weight), output)
        rank_sum = np.arange(n_neighbors + 1, dtype=np.float64)
        comparison = Comparison(columns, expectations, weight, rank_sum)
    else:
        expectations = fit_expectations(engine, columns, 1, None)
        decay = np.exp(-((np.arange(1, n_neighbors + 1) / RANK_DECAY) ** 2))
        rank_sum = np.concatenate([[0.0], np.cumsum(decay)])
        comparison = Comparison(columns, expectations, np.ones((1, 1)), rank_sum, uses_target=True)
    return OutputSide(comparison, output, *ranges)


def _class_pair_weights(prior: FloatArray) -> FloatArray:
    """P(h)/(1 − P(g)) for a neighbour of class h ≠ g, −1 for one of the same class."""
    weight = prior[None, :] / (1.0 - prior)[:, None]
    np.fill_diagonal(weight, -1.0)
    return np.asarray(weight)


def compare_rows(engine: Engine, side: OutputSide, visited: IntArray) -> Iterator[Differences]:
    """Sums of differences to the neighbours, for some of the visited rows at a time."""
    table_bytes = 8 * engine.n_samples * engine.n_features
    is_small = COPIES * table_bytes <= engine.memory_limit - engine.memory_limit // BUDGET_SHARE
    return (_gathered if is_small else _streamed)(engine, side, visited)


def _gathered(engine: Engine, side: OutputSide, visited: IntArray) -> Iterator[Differences]:
    """All rows in memory, compared piece by piece on threads."""
    rows = side.sorted_rows(*engine.take(), np.arange(engine.n_samples, dtype=np.intp))
    position = np.argsort(rows.index)
    comparison = side.comparison
    square = _square(engine, comparison, rows) if _can_square(engine, visited) else None

    def compare(piece: IntArray) -> Differences:
        queries = rows.take(position[piece])
        rough = None if square is None else square[position[piece]]
        nearest, pairs = comparison.nearest(queries, rows, rough)
        return comparison.differences(queries, rows, pairs, nearest)

    pieces = _cut(visited, _rows_together(_thread_bytes(engine), engine.n_samples))
    return ordered_map(compare, pieces, engine.n_jobs)


def _can_square(engine: Engine, visited: IntArray) -> bool:
    """Whether all distances can be kept, so that each is computed once for both of its rows.

    With a time limit only if that is quick: piece by piece there is an answer at any time.
    """
    n = engine.n_samples
    is_small = 4 * n * n <= engine.memory_limit // BUDGET_SHARE
    is_quick = n * n * engine.n_features <= QUICK_SQUARE or engine.monitor.remaining() == np.inf
    return len(visited) == n and is_small and is_quick


def _square(engine: Engine, comparison: Comparison, rows: Rows) -> FloatArray:
    """Rough distances of all pairs of rows."""
    n = engine.n_samples
    square = np.empty((n, n), np.float32)
    tiles = [
        (slice(first, min(first + TILE_ROWS, n)), slice(second, min(second + TILE_OTHERS, n)))
        for first in range(0, n, TILE_ROWS)
        for second in range(first, n, TILE_OTHERS)
    ]

    def fill(tile: tuple[slice, slice]) -> None:
        first, second = tile
        rough = comparison.rough_distances(rows.take(first), rows.take(second))
        square[second, first] = rough.T
        square[first, second] = rough

    for done, _ in enumerate(ordered_map(fill, tiles, engine.n_jobs), start=1):
        engine.monitor.tick("measuring distances", done, len(tiles))
    return square


def _streamed(engine: Engine, side: OutputSide, visited: IntArray) -> Iterator[Differences]:
    """Two passes over all rows for some visited ones: the nearest first, then the differences."""
    comparison, thread_bytes = side.comparison, _thread_bytes(engine)
    row_bytes = 8 * (engine.n_features + 4 * comparison.n_groups * comparison.n_neighbors)
    affordable = engine.memory_limit // (BUDGET_SHARE * row_bytes)
    for piece in _cut(visited, min(max(affordable, 1), MOST_PER_PASS)):
        queries = side.rows(*engine.take(piece), piece)
        nearest = engine.reduce_rows(partial(_nearest_in_block, side, queries, thread_bytes))
        total = engine.reduce_rows(
            partial(_differences_in_block, side, queries, nearest, thread_bytes)
        )
        yield replace(total, n_rows=len(piece))


def _nearest_in_block(side: OutputSide, queries: Rows, thread_bytes: int, block: Block) -> Nearest:
    rows = side.block_rows(block)
    parts = []
    for part in _cut(np.arange(queries.n_rows), _rows_together(thread_bytes, rows.n_rows)):
        parts.append(side.comparison.nearest(queries.take(part), rows)[0])
    return Nearest.joined(parts)


def _differences_in_block(
    side: OutputSide, queries: Rows, nearest: Nearest, thread_bytes: int, block: Block
) -> Differences:
    rows = side.block_rows(block)
    parts = []
    for part in _cut(np.arange(queries.n_rows), _rows_together(thread_bytes, rows.n_rows)):
        some, limits = queries.take(part), nearest.take(part)
        pairs = side.comparison.pairs_within(some, rows, limits)
        parts.append(side.comparison.differences(some, rows, pairs, limits))
    return reduce(Differences.merge, parts)


def _cut(items: IntArray, size: int) -> list[IntArray]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _thread_bytes(engine: Engine) -> int:
    return engine.memory_limit // (BUDGET_SHARE * engine.n_jobs)


def _rows_together(thread_bytes: int, n_others: int) -> int:
    return min(max(thread_bytes // (PAIR_BYTES * n_others), 1), MOST_TOGETHER)
