"""Pairs of rows in tiles: all of them, or blocks of them where there are too many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Protocol, Self

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.protocols import Engine
from featsieve.runtime.pool import ordered_map
from featsieve.runtime.progress import SILENT, Monitor
from featsieve.schema import Block

TILE = 256
GATHERED_SHARE = 4  # of memory_limit: the rest is for tiles and for the search
WORTH_A_THREAD = 1 << 17  # kernel evaluations


@dataclass(frozen=True)
class Rows:
    """Some columns of consecutive rows, column by column: ``X[c, i]``; ``y`` is 2-D."""

    start: int
    X: FloatArray
    y: Array

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def cut(self, start: int, stop: int) -> Rows:
        X = np.ascontiguousarray(self.X[:, start:stop])
        return Rows(self.start + start, X, self.y[start:stop])


@dataclass(frozen=True)
class Sums:
    """Arrays that add over tiles."""

    parts: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


TileFunction = Callable[[Rows, Rows], Any]


class RowPairs(Protocol):
    """Pairs of rows, tile by tile; ``local``: always the same tiles, in this process.

    Rows are paired within groups of ``rows_together``; there is one group unless they are blocks.
    """

    @property
    def local(self) -> bool: ...

    @property
    def n_groups(self) -> int: ...

    @property
    def rows_together(self) -> int: ...

    def reduce(self, fn: TileFunction, columns: IntArray) -> Any:
        """Merge ``fn`` over all tiles (first rows at or before second), in a fixed order."""
        ...

    def reduce_each(self, fn: TileFunction, columns: IntArray) -> list[Any]:
        """The same for each group on its own."""
        ...

    def alone(self) -> RowPairs:
        """For use inside another thread."""
        ...


def cut_pair(a: Rows, b: Rows) -> Iterator[tuple[Rows, Rows]]:
    """The cache-sized tiles of a pair of blocks; of a block with itself only the upper ones."""
    left = [a.cut(s, min(s + TILE, a.n_rows)) for s in range(0, a.n_rows, TILE)]
    if a.start == b.start:
        yield from ((x, y) for i, x in enumerate(left) for y in left[i:])
        return
    right = [b.cut(s, min(s + TILE, b.n_rows)) for s in range(0, b.n_rows, TILE)]
    yield from ((x, y) for x in left for y in right)


def _merge(first: Any, second: Any) -> Any:
    return first.merge(second)


@dataclass(frozen=True)
class GatheredPairs:
    """All rows in memory, as one block; tiles run on threads."""

    rows: Rows
    n_jobs: int
    monitor: Monitor
    local: bool = True
    n_groups: int = 1

    @property
    def rows_together(self) -> int:
        return self.rows.n_rows

    def reduce(self, fn: TileFunction, columns: IntArray) -> Any:
        chosen = Rows(self.rows.start, self.rows.X[columns], self.rows.y)
        tiles = list(cut_pair(chosen, chosen))
        little = len(tiles) * TILE**2 * max(len(columns), 1) < WORTH_A_THREAD
        merged: Any = None
        parts = ordered_map(lambda tile: fn(*tile), tiles, 1 if little else self.n_jobs)
        for done, part in enumerate(parts, start=1):
            merged = part if merged is None else merged.merge(part)
            self.monitor.tick("reading pairs of rows", done, len(tiles))
        return merged

    def reduce_each(self, fn: TileFunction, columns: IntArray) -> list[Any]:
        return [self.reduce(fn, columns)]

    def alone(self) -> GatheredPairs:
        """The same rows for use inside another thread: no threads and no reports of its own."""
        return replace(self, n_jobs=1, monitor=SILENT)


@dataclass(frozen=True)
class StreamedPairs:
    """Rows stay where the engine has them; each pair of its blocks is cut to tiles there."""

    engine: Engine
    local: bool = False
    n_groups: int = 1

    @property
    def rows_together(self) -> int:
        return self.engine.n_samples

    def reduce_each(self, fn: TileFunction, columns: IntArray) -> list[Any]:
        return [self.reduce(fn, columns)]

    def alone(self) -> StreamedPairs:
        return self

    def reduce(self, fn: TileFunction, columns: IntArray) -> Any:
        return self.engine.reduce_tiles(partial(_reduce_blocks, fn, columns))


def _reduce_blocks(fn: TileFunction, columns: IntArray, a: Block, b: Block) -> Any:
    first = rows_of(a, columns)
    second = first if a.start == b.start else rows_of(b, columns)
    return reduce(_merge, (fn(x, y) for x, y in cut_pair(first, second)))


def rows_of(block: Block, columns: IntArray) -> Rows:
    return Rows(block.start, np.ascontiguousarray(block.dense()[:, columns].T), block.y)


def row_pairs(engine: Engine) -> RowPairs:
    """Gathered if the table takes no more than its share of the memory limit."""
    if 8 * engine.n_samples * engine.n_features * GATHERED_SHARE > engine.memory_limit:
        return StreamedPairs(engine)
    X, y = engine.take()
    rows = Rows(0, np.ascontiguousarray(X.T, dtype=np.float64), y)
    return GatheredPairs(rows, engine.n_jobs, engine.monitor)


BLOCK_ROWS = 1024
FEWEST_BLOCKS = 4
EXACT_EVALUATIONS = 10**11  # kernel evaluations of one pass: about a minute on two cores


@dataclass(frozen=True)
class BlockPairs:
    """Rows of disjoint random blocks, block after block; pairs never cross blocks."""

    whole: GatheredPairs
    n_groups: int
    rows_together: int
    local: bool = True

    def reduce(self, fn: TileFunction, columns: IntArray) -> Any:
        parts = self.reduce_each(fn, columns)
        merged = parts[0]
        for part in parts[1:]:
            merged = merged.merge(part)
        return merged

    def reduce_each(self, fn: TileFunction, columns: IntArray) -> list[Any]:
        """One result a group."""
        return [self._block(b).reduce(fn, columns) for b in range(self.n_groups)]

    def _block(self, number: int) -> GatheredPairs:
        rows = self.whole.rows
        start = number * self.rows_together
        stop = start + self.rows_together
        cut = Rows(start, rows.X[:, start:stop], rows.y[start:stop])
        return replace(self.whole, rows=cut)

    def alone(self) -> BlockPairs:
        return replace(self, whole=self.whole.alone())


def sample_blocks(engine: Engine, seed: int) -> BlockPairs:
    """As many random blocks as time and memory allow, never fewer than a few."""
    n_blocks = _affordable_blocks(engine)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(engine.n_samples)[: n_blocks * BLOCK_ROWS].astype(np.intp)
    X, y = engine.take(rows)
    gathered = Rows(0, np.ascontiguousarray(X.T, dtype=np.float64), y)
    whole = GatheredPairs(gathered, engine.n_jobs, engine.monitor)
    return BlockPairs(whole, n_blocks, BLOCK_ROWS)


def _affordable_blocks(engine: Engine) -> int:
    by_time = EXACT_EVALUATIONS // (BLOCK_ROWS**2 // 2 * engine.schema.n_units)
    row_bytes = 8 * max(engine.n_features, 1)
    by_memory = engine.memory_limit // (GATHERED_SHARE * BLOCK_ROWS * row_bytes)
    affordable = max(min(by_time, by_memory), FEWEST_BLOCKS)
    return int(min(affordable, engine.n_samples // BLOCK_ROWS))


def is_costly(engine: Engine) -> bool:
    """One exact pass over all pairs and units would take more than about a minute."""
    pairs = engine.n_samples**2 // 2
    return pairs * engine.schema.n_units > EXACT_EVALUATIONS


def relative_error(pairs: RowPairs, fn: TileFunction, columns: IntArray) -> float:
    """The standard error of a mean over blocks, in units of the mean."""
    values = np.array([part.parts[0].item() for part in pairs.reduce_each(fn, columns)])
    error, size = values.std(ddof=1) / np.sqrt(len(values)), np.abs(values.mean())
    return float(error / size) if size > 0 else 0.0


def choose_pairs(engine: Engine, approximation: str, seed: int) -> RowPairs:
    """All pairs, or random blocks where ``"auto"`` finds all pairs too many."""
    enough_rows = engine.n_samples >= FEWEST_BLOCKS * BLOCK_ROWS
    if approximation == "block" and not enough_rows:
        raise ValueError(
            f"approximation='block' needs at least {FEWEST_BLOCKS * BLOCK_ROWS} samples, got "
            f"{engine.n_samples}; use approximation='none'."
        )
    if approximation == "block" or (approximation == "auto" and is_costly(engine) and enough_rows):
        return sample_blocks(engine, seed)
    return row_pairs(engine)
