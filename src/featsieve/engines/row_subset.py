"""Some rows of any engine, as an engine of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import EngineView
from featsieve.engines.memory import gathered
from featsieve.input.containers import select_rows
from featsieve.protocols import Engine, S
from featsieve.runtime.progress import Monitor
from featsieve.schema import Block
from featsieve.statistics.moments import ColumnMoments


@dataclass(frozen=True)
class _Perhaps:
    """A summary, or nothing where a block has none of the rows."""

    summary: Any

    def merge(self, other: Self) -> Self:
        if self.summary is None or other.summary is None:
            return other if self.summary is None else self
        return type(self)(self.summary.merge(other.summary))


class RowSubset(EngineView):
    """``rows`` (ascending) of ``engine``; passes go over all rows and look at these."""

    def __init__(
        self, engine: Engine, rows: IntArray, *, monitor: Monitor | None = None, n_jobs: int = 1
    ) -> None:
        super().__init__(engine)
        self._rows = rows
        self.n_samples = len(rows)
        self.kept = None
        self.monitor = monitor or engine.monitor
        self.n_jobs = n_jobs

    def reduce_rows(
        self,
        fn: Callable[[Block], S],
        *,
        moments: Callable[[S], ColumnMoments] | None = None,
        in_place: bool = False,
    ) -> S:
        """The moments of some rows say nothing of the others."""
        summary: S = self._engine.reduce_rows(partial(_of_rows, fn, self._rows)).summary
        return summary

    def reduce_tiles(self, fn: Callable[[Block, Block], S]) -> S:
        summary: S = self._engine.reduce_tiles(partial(_of_rows, fn, self._rows)).summary
        return summary

    def topk_tiles(
        self, fn: Callable[[Block, Block], FloatArray], k: int
    ) -> tuple[FloatArray, IntArray]:
        return gathered(self).topk_tiles(fn, k)

    def take(
        self, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> tuple[FloatArray, Array]:
        return self._engine.take(self._global(rows), columns)

    def targets(self, rows: IntArray | None = None) -> Array:
        return self._engine.targets(self._global(rows))

    def native(self, columns: IntArray) -> tuple[Any, Any]:
        X, y = self._engine.native(columns)
        return select_rows(X, self._rows), select_rows(y, self._rows)

    def _global(self, rows: IntArray | None) -> IntArray:
        return self._rows if rows is None else self._rows[rows]


def _of_rows(fn: Callable[..., Any], rows: IntArray, *blocks: Block) -> _Perhaps:
    parts = [_part(block, rows) for block in blocks]
    if any(part.n_rows == 0 for part in parts):
        return _Perhaps(None)
    return _Perhaps(fn(*parts))


def _part(block: Block, rows: IntArray) -> Block:
    """The rows of this block, at their places among the chosen ones."""
    low, high = np.searchsorted(rows, [block.start, block.start + block.n_rows])
    local = rows[low:high] - block.start
    weight = None if block.weight is None else block.weight[local]
    return Block(int(low), block.X[local], block.y[local], weight)
