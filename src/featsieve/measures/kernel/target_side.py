"""The target's half of an HSIC: tiles of the fixed matrix M."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from featsieve.measures.kernel.bandwidth import median_rows
from featsieve.measures.kernel.hsic_estimates import FixedMatrix
from featsieve.measures.kernel.target_kernel import TargetKernel, target_kernel
from featsieve.measures.kernel.tiles import RowPairs, Rows
from featsieve.protocols import Engine
from featsieve.schema import Block, FloatArray, IntArray, one_hot

CACHED_SHARE = 8  # of memory_limit
NO_COLUMNS: IntArray = np.empty(0, dtype=np.intp)


class TargetTiles(Protocol):
    """M of a tile, twice its value above the diagonal and zero below it."""

    def tile(self, a: Rows, b: Rows) -> FloatArray: ...


@dataclass(frozen=True)
class RowSums:
    """Row sums of Gram matrices by block of rows: a tile touches two blocks only."""

    pieces: Mapping[int, FloatArray]

    def merge(self, other: Self) -> Self:
        merged = dict(self.pieces)
        for start, piece in other.pieces.items():
            merged[start] = merged[start] + piece if start in merged else piece
        return type(self)(merged)

    def joined(self) -> FloatArray:
        """All rows in order, along the last axis."""
        return np.concatenate([self.pieces[start] for start in sorted(self.pieces)], axis=-1)


@dataclass(frozen=True)
class ComputedTarget:
    """M from y at every pass."""

    kernel: TargetKernel
    fixed: FixedMatrix
    row_sums: FloatArray
    rows_together: int
    dtype: Any = np.float64

    def tile(self, a: Rows, b: Rows) -> FloatArray:
        left = self.row_sums[a.start : a.start + a.n_rows]
        right = self.row_sums[b.start : b.start + b.n_rows]
        L = kernel_tile(self.kernel, a, b, self.fixed)
        M = self.fixed.tile(L, left, right, self._total(a.start))
        return doubled(M, a.start == b.start, self.fixed.with_diagonal).astype(self.dtype)

    def _total(self, start: int) -> float:
        """ΣL of the rows that are paired with the one at ``start``."""
        first = start - start % self.rows_together
        return float(self.row_sums[first : first + self.rows_together].sum())


@dataclass(frozen=True)
class StoredTarget:
    """M computed once: for many passes over rows that are few enough."""

    tiles: Mapping[tuple[int, int], FloatArray]

    def tile(self, a: Rows, b: Rows) -> FloatArray:
        return self.tiles[a.start, b.start]

    def merge(self, other: Self) -> Self:
        return type(self)({**self.tiles, **other.tiles})


def doubled(M: FloatArray, on_diagonal: bool, with_diagonal: bool) -> FloatArray:
    """Twice M above the diagonal of the whole matrix, so that its lower half need not be summed."""
    if not on_diagonal:
        return 2.0 * M
    upper = np.triu(2.0 * M)
    np.fill_diagonal(upper, np.diag(M) if with_diagonal else 0.0)
    return upper


def kernel_tile(kernel: TargetKernel, a: Rows, b: Rows, fixed: FixedMatrix) -> FloatArray:
    """L of a tile, its diagonal zeroed where the estimator wants that."""
    L = kernel.tile(Block(a.start, a.y, a.y), Block(b.start, b.y, b.y))
    if a.start == b.start and not fixed.with_diagonal:
        np.fill_diagonal(L, 0.0)
    return L


def _tile_row_sums(kernel: TargetKernel, fixed: FixedMatrix, a: Rows, b: Rows) -> RowSums:
    L = kernel_tile(kernel, a, b, fixed)
    if a.start == b.start:
        return RowSums({a.start: L.sum(axis=1)})
    return RowSums({a.start: L.sum(axis=1), b.start: L.sum(axis=0)})


def _stored_tile(target: ComputedTarget, a: Rows, b: Rows) -> StoredTarget:
    return StoredTarget({(a.start, b.start): target.tile(a, b)})


@dataclass(frozen=True)
class Counts:
    """Rows of each class, per output."""

    outputs: tuple[FloatArray, ...]

    def merge(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.outputs, other.outputs, strict=True)))


def _count_classes(n_classes: tuple[int, ...], block: Block) -> Counts:
    return Counts(tuple(one_hot(block.y[:, o], n).sum(axis=0) for o, n in enumerate(n_classes)))


def fit_target_kernel(
    engine: Engine, kind: Any, bandwidth: float | str, seed: int = 0
) -> TargetKernel:
    """The target kernel asked for, with the class counts or the median that it needs."""
    target = engine.target
    counts: tuple[FloatArray, ...] = ()
    if target.is_classification:
        counts = engine.reduce_rows(partial(_count_classes, target.class_counts)).outputs
    _, sample = engine.take(median_rows(engine.n_samples, seed), NO_COLUMNS)
    return target_kernel(kind, target, counts, sample, bandwidth)


def fit_target_tiles(
    engine: Engine, pairs: RowPairs, kernel: TargetKernel, fixed: FixedMatrix, dtype: Any
) -> TargetTiles:
    """One pass for the row sums of L, and one to store M where that takes little memory."""
    sums: RowSums = pairs.reduce(partial(_tile_row_sums, kernel, fixed), NO_COLUMNS)
    computed = ComputedTarget(kernel, fixed, sums.joined(), pairs.rows_together, dtype)
    n_numbers = pairs.n_groups * pairs.rows_together**2
    small = 8 * n_numbers * CACHED_SHARE <= engine.memory_limit
    if not (small and pairs.local):
        return computed
    stored: StoredTarget = pairs.reduce(partial(_stored_tile, computed), NO_COLUMNS)
    return stored
