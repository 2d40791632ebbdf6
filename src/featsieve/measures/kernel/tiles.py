"""Pairs of row blocks, cut to cache size: gathered in memory where they fit, else streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, Protocol, Self

import numpy as np

from featsieve.pool import ordered_map
from featsieve.progress import SILENT, Monitor
from featsieve.protocols import Engine
from featsieve.schema import Array, Block, FloatArray, IntArray

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
