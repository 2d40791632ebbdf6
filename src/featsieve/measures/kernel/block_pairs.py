"""Block HSIC: pairs of rows inside random blocks only, for tables with too many rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featsieve.measures.kernel.tiles import (
    GATHERED_SHARE,
    GatheredPairs,
    RowPairs,
    Rows,
    TileFunction,
    row_pairs,
)
from featsieve.protocols import Engine
from featsieve.schema import IntArray

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
