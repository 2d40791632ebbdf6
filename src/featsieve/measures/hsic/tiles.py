"""Pairs of rows in tiles: all of them, or those inside blocks of rows where there are too many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache, partial, reduce
from itertools import combinations_with_replacement, islice
from typing import Any, Protocol, Self

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import require_memory, rows_inside
from featsieve.protocols import Engine
from featsieve.runtime.pool import ordered_map, shared_map
from featsieve.runtime.progress import SILENT, Monitor
from featsieve.schema import Block

TILE = 256
NARROWEST_TILE = 16
TILE_EVALUATIONS = 1 << 26  # of a kernel in one tile: about a tenth of a second
WORTH_A_THREAD = 1 << 20  # kernel evaluations
WORTH_HELP = 1 << 21  # half a millisecond: a thread that sleeps takes a tenth of that to begin
GRACE = 0.5  # seconds: a search that looks at the clock itself ends by itself
WORTH_A_CLUSTER = 1 << 30  # half a second of work
TILES_PER_TASK = 8


@dataclass(frozen=True)
class RowStrip:
    """Some columns of consecutive rows, column by column: ``X[c, i]``; ``y`` is 2-D."""

    start: int
    X: FloatArray
    y: Array

    @property
    def n_rows(self) -> int:
        return len(self.y)

    def cut(self, start: int, stop: int) -> RowStrip:
        return RowStrip(self.start + start, self.X[:, start:stop], self.y[start:stop])

    def piece(self, rows: slice) -> RowStrip:
        """Consecutive rows, contiguous in memory."""
        cut = self.cut(rows.start, rows.stop)
        return replace(cut, X=np.ascontiguousarray(cut.X))

    def strips(self, width: int) -> list[RowStrip]:
        """The same rows in strips of at most ``width`` rows."""
        starts = range(0, self.n_rows, width)
        return [self.piece(slice(s, min(s + width, self.n_rows))) for s in starts]


@dataclass(frozen=True)
class Sums:
    """Arrays that add over tiles."""

    parts: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


EMPTY = RowStrip(0, np.empty((0, 0)), np.empty((0, 0)))

TileFunction = Callable[[RowStrip, RowStrip], Any]


class RowPairs(Protocol):
    """Pairs of rows, tile by tile; ``local``: always the same tiles, in this process.

    Rows are paired within groups of ``rows_together``; there is one group unless they are blocks.
    ``order`` lists the rows of the table that are paired, None for all of them as they are.
    """

    @property
    def local(self) -> bool: ...

    @property
    def n_groups(self) -> int: ...

    @property
    def rows_together(self) -> int: ...

    @property
    def order(self) -> IntArray | None: ...

    def reduce(self, fn: TileFunction, columns: IntArray) -> Any:
        """Merge ``fn`` over all tiles (first rows at or before second), in a fixed order."""
        ...

    def reduce_each(self, fn: TileFunction, columns: IntArray) -> list[Any]:
        """The same for each group separately."""
        ...

    def gathered(self) -> GatheredRowPairs:
        """Rows in memory, for what is asked of them hundreds of times."""
        ...

    def reduce_strips(self, fn: TileFunction, columns: IntArray) -> Any:
        """The same for quick functions, of larger tiles where that is possible: some rows, and
        these with all after them."""
        ...

    def alone(self) -> RowPairs:
        """The same pairs for use inside another thread: no reports, and no threads but those that
        have nothing else to do."""
        ...

    def n_helped(self, n_columns: int) -> int:
        """Threads that may share a pass over strips inside another thread."""
        ...


def tile_width(n_columns: int) -> int:
    """Rows of a tile: fewer where many columns would make it last long, by the shape only.

    >>> tile_width(500), tile_width(50_000)
    (256, 32)
    """
    width = TILE
    while width > NARROWEST_TILE and width**2 * n_columns > TILE_EVALUATIONS:
        width //= 2
    return width


def upper_tiles(strips: list[RowStrip]) -> Iterator[tuple[RowStrip, RowStrip]]:
    """All pairs of strips, the first at or before the second."""
    return ((a, b) for i, a in enumerate(strips) for b in strips[i:])


def _merge(first: Any, second: Any) -> Any:
    return first.merge(second)


@dataclass(frozen=True)
class GatheredRowPairs:
    """Rows in memory, paired inside each run of ``rows_together``; threads share the tiles."""

    rows: RowStrip
    rows_together: int
    width: int
    n_jobs: int
    monitor: Monitor
    order: IntArray | None = None
    local: bool = True
    helpers: int = 0  # inside another thread

    @property
    def n_groups(self) -> int:
        return self.rows.n_rows // self.rows_together

    def reduce(self, fn: TileFunction, columns: IntArray) -> Any:
        return reduce(_merge, self.reduce_each(fn, columns))

    def reduce_each(self, fn: TileFunction, columns: IntArray) -> list[Any]:
        per_group = self._tiles_per_group
        total = per_group * self.n_groups
        merged: list[Any] = []
        n_threads = self.n_threads(len(columns))
        parts = ordered_map(lambda tile: fn(*tile), self._tiles(columns), n_threads)
        for done, part in enumerate(parts):
            if done % per_group == 0:
                merged.append(part)
            else:
                merged[-1] = merged[-1].merge(part)
            self.monitor.tick("reading pairs of rows", done + 1, total)
        return merged

    def reduce_strips(self, fn: TileFunction, columns: IntArray) -> Any:
        if not self.can_strip(len(columns)):
            return self.reduce(fn, columns)
        rows, strips = replace(self.rows, X=self.rows.X[columns]), self.strips()
        n_threads, n_helped = self.n_threads(len(columns)), self.n_helped(len(columns))

        def of_strip(strip: tuple[slice, slice]) -> Any:
            self.monitor.check()  # shared work comes back all at once
            return fn(*map(rows.piece, strip))

        parts: Iterable[Any] = (
            shared_map(of_strip, strips, n_helped)
            if n_helped > 1
            else ordered_map(of_strip, strips, n_threads)
        )
        merged: Any = None
        for done, part in enumerate(parts, start=1):
            merged = part if merged is None else merged.merge(part)
            self.monitor.tick("reading pairs of rows", done, len(strips))
        return merged

    def can_strip(self, n_columns: int) -> bool:
        """Whether a strip takes so little time that the clock is looked at often enough."""
        return self.width * self.rows_together * n_columns <= TILE_EVALUATIONS

    def strips(self) -> list[tuple[slice, slice]]:
        """Some rows, and these with all rows of their group after them."""
        ends = range(self.rows_together, self.rows.n_rows + 1, self.rows_together)
        return [
            (slice(start, min(start + self.width, end)), slice(start, end))
            for end in ends
            for start in range(end - self.rows_together, end, self.width)
        ]

    def _tiles(self, columns: IntArray) -> Iterator[tuple[RowStrip, RowStrip]]:
        """As :func:`upper_tiles`; a strip is copied when it is first needed, not all at once."""
        for group in range(self.n_groups):
            strips: list[RowStrip] = []
            for i in range(self._n_strips):
                for j in range(i, self._n_strips):
                    if j == len(strips):
                        strips.append(self._strip(group, j, columns))
                    yield strips[i], strips[j]

    def _strip(self, group: int, number: int, columns: IntArray) -> RowStrip:
        first = group * self.rows_together
        start = first + number * self.width
        cut = self.rows.cut(start, min(start + self.width, first + self.rows_together))
        return replace(cut, X=np.ascontiguousarray(cut.X[columns]))

    @property
    def _n_strips(self) -> int:
        return -(-self.rows_together // self.width)

    @property
    def _tiles_per_group(self) -> int:
        return self._n_strips * (self._n_strips + 1) // 2

    def n_threads(self, n_columns: int) -> int:
        return 1 if self._evaluations(n_columns) < WORTH_A_THREAD else self.n_jobs

    def n_helped(self, n_columns: int) -> int:
        return 1 if self._evaluations(n_columns) < WORTH_HELP else 1 + self.helpers

    def _evaluations(self, n_columns: int) -> int:
        return self.n_groups * self.rows_together**2 * max(n_columns, 1)

    def alone(self) -> GatheredRowPairs:
        helpers = self.n_jobs - 1 or self.helpers
        return replace(self, n_jobs=1, helpers=helpers, monitor=self.monitor.silent(GRACE))

    def gathered(self) -> GatheredRowPairs:
        return self


@dataclass(frozen=True)
class SharedRowPairs(GatheredRowPairs):
    """Every worker of a cluster has the rows, and gets some of the tiles of each pass."""

    shared: Any = field(default=None, repr=False)
    local: bool = False

    def reduce_each(self, fn: TileFunction, columns: IntArray) -> list[Any]:
        if self._evaluations(len(columns)) < WORTH_A_CLUSTER:
            return super().reduce_each(fn, columns)
        per_group, n_groups = self._tiles_per_group, self.n_groups
        shares = [
            (group, first, min(first + TILES_PER_TASK, per_group))
            for group in range(n_groups)
            for first in range(0, per_group, TILES_PER_TASK)
        ]
        pairs = replace(self, rows=EMPTY, monitor=SILENT, shared=None)
        sums = self.shared.map(partial(_sum_of_tiles, pairs, fn, columns), shares)
        self.monitor.tick("reading pairs of rows", per_group * n_groups, per_group * n_groups)
        merged: dict[int, Any] = {}
        for (group, _, _), part in zip(shares, sums, strict=True):
            merged[group] = merged[group].merge(part) if group in merged else part
        return [merged[group] for group in range(n_groups)]

    def reduce_strips(self, fn: TileFunction, columns: IntArray) -> Any:
        is_large = self._evaluations(len(columns)) >= WORTH_A_CLUSTER
        return self.reduce(fn, columns) if is_large else super().reduce_strips(fn, columns)

    def sum_of(self, fn: TileFunction, columns: IntArray, group: int, first: int, stop: int) -> Any:
        """Over some tiles of a group, by their numbers."""
        numbers = islice(combinations_with_replacement(range(self._n_strips), 2), first, stop)
        strip = lru_cache(None)(lambda number: self._strip(group, number, columns))
        return reduce(_merge, (fn(strip(i), strip(j)) for i, j in numbers))

    def alone(self) -> GatheredRowPairs:
        """In the thread that asks for it, as if there were no cluster."""
        names = (f.name for f in fields(GatheredRowPairs) if f.name != "local")
        here = GatheredRowPairs(**{name: getattr(self, name) for name in names})
        return here.alone()


def _sum_of_tiles(
    pairs: SharedRowPairs,
    fn: TileFunction,
    columns: IntArray,
    rows: RowStrip,
    share: tuple[int, int, int],
) -> Any:
    return replace(pairs, rows=rows).sum_of(fn, columns, *share)


@dataclass(frozen=True)
class StreamedRowPairs:
    """Rows stay where the engine has them; each pair of its blocks is cut to tiles there."""

    engine: Engine
    local: bool = False
    n_groups: int = 1
    order: IntArray | None = None

    @property
    def rows_together(self) -> int:
        return self.engine.n_samples

    def reduce_each(self, fn: TileFunction, columns: IntArray) -> list[Any]:
        return [self.reduce(fn, columns)]

    def alone(self) -> StreamedRowPairs:
        return self

    def n_helped(self, n_columns: int) -> int:
        return 1

    def gathered(self) -> GatheredRowPairs:
        engine = self.engine
        require_memory(2 * engine.n_samples * engine.n_features, engine.memory_limit, "the table")
        X, y = engine.take()
        rows = RowStrip(0, np.ascontiguousarray(X.T, dtype=np.float64), y)
        width = tile_width(engine.n_features)
        return GatheredRowPairs(rows, engine.n_samples, width, engine.n_jobs, engine.monitor)

    def reduce_strips(self, fn: TileFunction, columns: IntArray) -> Any:
        return self.reduce(fn, columns)

    def reduce(self, fn: TileFunction, columns: IntArray) -> Any:
        width = tile_width(self.engine.n_features)
        return self.engine.reduce_tiles(partial(_reduce_blocks, fn, columns, width))


def _reduce_blocks(fn: TileFunction, columns: IntArray, width: int, a: Block, b: Block) -> Any:
    first = _strip_of(a, columns).strips(width)
    if a.start == b.start:
        tiles = upper_tiles(first)
    else:
        second = _strip_of(b, columns).strips(width)
        tiles = ((x, y) for x in first for y in second)
    return reduce(_merge, (fn(x, y) for x, y in tiles))


def _strip_of(block: Block, columns: IntArray) -> RowStrip:
    return RowStrip(block.start, np.ascontiguousarray(block.dense()[:, columns].T), block.y)


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
