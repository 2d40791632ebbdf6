"""What all engines share: the grid of blocks, merging in order, the screen for missing cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self, TypeVar, cast

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines import cells
from featsieve.engines.remote import CanShare
from featsieve.errors import MemoryBudgetError
from featsieve.input.parameters import format_bytes
from featsieve.protocols import Engine, S
from featsieve.runtime.freed import FreedMemory
from featsieve.runtime.progress import Monitor
from featsieve.schema import Block, KeptRows, Schema, Target
from featsieve.statistics.moments import ColumnMoments

F = TypeVar("F", bound=Callable[..., Any])

BLOCK_BYTES = 1 << 24
BYTES_IN_PLACE = 1 << 26  # of a block that is read where it is
MOST_ROWS = 1 << 16
FEWEST_ROWS = 16
COPIES_PER_BLOCK = 4  # the block, its centred copy, a product and its expansion
TILE_ROWS = 1024
TILE_COLUMNS = 64
BYTES_PER_NUMBER = 8
NO_COLUMNS: IntArray = np.array([], dtype=np.intp)


def block_rows(n_features: int, memory_limit: int, n_jobs: int) -> int:
    """Rows per block: a power of two that depends on the shape, less where the budget forces it.

    >>> block_rows(50, 1 << 30, 2), block_rows(50_000, 1 << 30, 2), block_rows(50_000, 1 << 26, 2)
    (32768, 32, 16)
    """
    row_bytes = BYTES_PER_NUMBER * max(n_features, 1)
    rows = rows_within(BLOCK_BYTES, row_bytes)
    while rows > FEWEST_ROWS and COPIES_PER_BLOCK * n_jobs * rows * row_bytes > memory_limit:
        rows //= 2
    return rows


def rows_within(n_bytes: int, row_bytes: int) -> int:
    """The largest power of two of rows that take so many bytes, within limits.

    >>> rows_within(1000, 8), rows_within(1000, 60)
    (64, 16)
    """
    rows = MOST_ROWS
    while rows > FEWEST_ROWS and rows * row_bytes > n_bytes:
        rows //= 2
    return rows


def spans(total: int, width: int) -> Iterator[tuple[int, int]]:
    """Consecutive (start, stop) that cover ``range(total)``.

    >>> list(spans(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, total, width):
        yield start, min(start + width, total)


def slices(total: int, width: int) -> Iterator[slice]:
    """The same as :func:`spans`, to index some rows at a time."""
    return (slice(*span) for span in spans(total, width))


def tile_columns(n_samples: int, memory_limit: int, n_jobs: int) -> int:
    """Columns per tile when whole columns are needed at once."""
    affordable = memory_limit // (COPIES_PER_BLOCK * n_jobs * BYTES_PER_NUMBER * max(n_samples, 1))
    if affordable < 1:
        require_memory(
            COPIES_PER_BLOCK * n_jobs * n_samples, memory_limit, "one full column per thread"
        )
    return min(TILE_COLUMNS, affordable)


def map_taken_columns(engine: Any, fn: Callable[[FloatArray, IntArray], Array]) -> Array:
    """One tile of columns after the other, for rows that have to be brought in first."""
    width = tile_columns(engine.n_samples, engine.memory_limit, 1)
    tiles = [np.arange(*span) for span in spans(engine.n_features, width)]
    return np.concatenate([fn(engine.take(columns=tile)[0], tile) for tile in tiles])


def float_dtype(dtype: Any) -> Any:
    """float32 stays float32; everything else becomes float64."""
    return np.float32 if dtype == np.float32 else np.float64


def require_memory(n_numbers: int, memory_limit: int, what: str) -> None:
    """Refuse, in one sentence, what the budget forbids."""
    needed = n_numbers * BYTES_PER_NUMBER
    if needed > memory_limit:
        raise MemoryBudgetError(
            f"{what} needs {format_bytes(needed)}, but memory_limit is "
            f"{format_bytes(memory_limit)}; raise memory_limit, or give fewer rows or columns."
        )


def require_table(n_rows: int, n_columns: int, memory_limit: int) -> None:
    """What ``take`` asks for, before anything else is made for a table that will not fit."""
    require_memory(n_rows * n_columns, memory_limit, f"a table of {n_rows} × {n_columns}")


COPIES_OF_PAIRS = 4  # the matrix, its sum over blocks or its symmetric form, and work space


def require_pairs(n_units: int, n_columns: int | None, memory_limit: int) -> None:
    """Refuse a matrix of all pairs of units that does not fit; some of its columns may."""
    if n_columns is not None and n_columns < n_units:
        return
    what = f"the matrix of all pairs of {n_units} columns, with its copies,"
    require_memory(COPIES_OF_PAIRS * n_units**2, memory_limit, what)


MEDIAN_ROWS = 2000
SAMPLE_NUMBERS = 1 << 24
FEWEST_SAMPLED_ROWS = 100


def median_sample_size(n_samples: int, n_columns: int) -> int:
    """Rows for a median of distances: all up to 2,000, fewer where there are very many columns.

    By the shape of the table and never by the memory limit, which must not change an answer.

    >>> median_sample_size(500, 10), median_sample_size(10**6, 10), median_sample_size(10**6, 10**5)
    (500, 2000, 167)
    """
    most = min(MEDIAN_ROWS, max(SAMPLE_NUMBERS // max(n_columns, 1), FEWEST_SAMPLED_ROWS))
    return min(n_samples, most)


@dataclass(frozen=True)
class Context:
    """What an engine needs to know besides its rows."""

    schema: Schema
    target: Target
    monitor: Monitor
    memory_limit: int
    n_jobs: int
    refuse_missing: bool = False
    rescale: bool = True
    refuse_extreme: bool = True


class BaseEngine:
    """Common parts; a subclass says how blocks are mapped and rows are taken."""

    has_weights = False
    weights_belong_to_target = False
    kept: KeptRows | None = None
    is_local = True

    def __init__(self, context: Context, n_samples: int) -> None:
        self.schema = context.schema
        self.target = context.target
        self.monitor = context.monitor
        self.memory_limit = context.memory_limit
        self.n_jobs = context.n_jobs
        self.n_samples = n_samples
        self.n_features = context.schema.n_columns
        self._must_screen = context.refuse_missing
        self._rescale = context.rescale
        self._refuse_extreme = context.refuse_extreme
        # Known after a first pass; None: no column is extreme.
        self.units: cells.Units | None = None
        self._must_keep_units = False

    @cached_property
    def _freed(self) -> FreedMemory:
        return FreedMemory(self.memory_limit)

    def reduce_rows(
        self,
        fn: Callable[[Block], S],
        *,
        moments: Callable[[S], ColumnMoments] | None = None,
        in_place: bool = False,
    ) -> S:
        reduce = self._reduce_in_place if in_place else self._reduce_blocks
        if not self._must_screen:
            return reduce(self._in_units(fn))
        screened = reduce(partial(cells.screened, fn, moments))
        if not screened.cells.are_usual:
            self._settle(screened.cells)
        self._must_screen = False
        return screened.summary if self.units is None else reduce(self._in_units(fn))

    def screen(self) -> None:
        """Refuse missing values now, by a pass of their own, unless a pass already did."""
        if self._must_screen:
            scan = self._reduce_blocks(cells.scan_cells)
            if not scan.are_usual:
                self._settle(scan)
            self._must_screen = False

    def keep_units(self, units: cells.Units | None) -> None:
        """Of other rows, to whose sums those of this engine will be added."""
        self.units, self._must_keep_units = units, True

    def _settle(self, scan: cells.CellScan) -> None:
        """Refuse the unusual cells of the first look, or fix the units for all later passes."""
        cells.refuse_bad(scan, self.schema)
        if self._must_keep_units:
            cells.refuse_too_large(scan, self.units, self.schema)
        elif self._rescale:
            self.units = cells.units_of(scan)
        elif self._refuse_extreme:
            cells.refuse_extreme(scan, self.schema)

    def _in_units(self, fn: F) -> F:
        """A function of blocks that gets them in the units of this engine."""
        return fn if self.units is None else cast(F, partial(_of_scaled, fn, self.units))

    def _scaled(self, X: Any, columns: IntArray | None = None) -> Any:
        return X if self.units is None else self.units.apply(X, columns)

    def _reduce_blocks(self, fn: Callable[[Block], S]) -> S:
        raise NotImplementedError("an engine maps its own blocks")

    def _reduce_in_place(self, fn: Callable[[Block], S]) -> S:
        """The same for a function that makes no copy of a block."""
        return self._reduce_blocks(fn)

    def map_columns(self, fn: Callable[[FloatArray, IntArray], Array]) -> Array:
        return map_taken_columns(self, fn)

    def take(
        self, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> tuple[FloatArray, Array]:
        self.screen()
        self._require_memory_for(rows, columns)
        X, y = self._take(rows, columns)
        # Row by row in memory: products must not depend on the container by their rounding.
        return np.ascontiguousarray(self._scaled(X, columns)), y

    def _take(self, rows: IntArray | None, columns: IntArray | None) -> tuple[FloatArray, Array]:
        raise NotImplementedError("an engine takes its own rows")

    def targets(self, rows: IntArray | None = None) -> Array:
        """The 2-D target of these rows (all by default), without any column of X."""
        return self._take(rows, NO_COLUMNS)[1]

    def _require_memory_for(self, rows: IntArray | None, columns: IntArray | None) -> None:
        n_rows = self.n_samples if rows is None else len(rows)
        n_columns = self.n_features if columns is None else len(columns)
        require_table(n_rows, n_columns, self.memory_limit)

    def _merge(self, summaries: Iterable[S], total: int, message: str) -> S:
        merged: Any = None
        for done, summary in enumerate(summaries, start=1):
            merged = summary if merged is None else merged.merge(summary)
            self.monitor.tick(message, done, total)
        return merged


@dataclass(frozen=True)
class _Weights:
    """The weights of blocks of rows, in order."""

    parts: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.parts + other.parts)


def weights_of(engine: Engine) -> FloatArray | None:
    """One per row, or None without weights."""
    return np.concatenate(engine.reduce_rows(_block_weights).parts) if engine.has_weights else None


def _block_weights(block: Block) -> _Weights:
    assert block.weight is not None
    return _Weights((block.weight,))


def _of_scaled(fn: Callable[..., Any], units: cells.Units, *blocks: Block) -> Any:
    return fn(*[units.block(block) for block in blocks])


def rows_of(block: Block, rows: IntArray | None) -> tuple[Any, Array]:
    """X and y of those of the asked-for rows that lie in this block, in ascending order."""
    if rows is None:
        return block.X, block.y
    local = rows_inside(rows, block.start, block.n_rows)
    return block.X[local], block.y[local]


def rows_inside(rows: IntArray, start: int, n_rows: int) -> IntArray:
    """Those of the rows that lie in a block, in ascending order, counted from its start."""
    ascending = rows if _is_sorted(rows) else np.sort(rows)
    low, high = np.searchsorted(ascending, [start, start + n_rows])
    return ascending[low:high] - start


def _is_sorted(rows: IntArray) -> bool:
    """A look is far cheaper than sorting."""
    return bool((rows[1:] >= rows[:-1]).all())


def in_order(parts: Iterable[tuple[Array, Array]], rows: IntArray | None) -> tuple[Array, Array]:
    """The rows of all blocks together, in the order they were asked for."""
    pieces = list(parts)
    X = np.concatenate([x for x, _ in pieces])
    y = np.concatenate([y for _, y in pieces])
    if rows is None or _is_sorted(rows):
        return X, y
    back = np.argsort(np.argsort(rows, kind="stable"), kind="stable")
    return X[back], y[back]


class EngineView:
    """Another engine's rows as they are; a subclass changes what it hands out."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.n_samples = engine.n_samples
        self.n_features = engine.n_features
        self.schema = engine.schema
        self.target = engine.target
        self.monitor = engine.monitor
        self.memory_limit = engine.memory_limit
        self.n_jobs = engine.n_jobs
        self.has_weights = engine.has_weights
        self.weights_belong_to_target = engine.weights_belong_to_target
        self.kept = engine.kept
        self.is_local = engine.is_local

    def map_columns(self, fn: Callable[[FloatArray, IntArray], Array]) -> Array:
        return map_taken_columns(self, fn)

    def targets(self, rows: IntArray | None = None) -> Array:
        return self._engine.targets(rows)

    def native(self, columns: IntArray) -> tuple[Any, Any]:
        return self._engine.native(columns)

    def share(self, value: Any) -> Any:
        return self._engine.share(value) if isinstance(self._engine, CanShare) else None
