"""Σ over blocks of rows of ‖W_block‖_p: values, dual norms, proximal steps, and smooth faces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from featsieve.linalg.aliases import Array, BoolArray, FloatArray, IntArray


class RowNorm(Protocol):
    """A norm of each row of a 2-D array."""

    def of(self, A: FloatArray) -> FloatArray: ...

    def dual(self, A: FloatArray) -> FloatArray:
        """The dual norm: the largest ⟨a, b⟩ over ‖b‖ ≤ 1."""
        ...

    def shrink(self, A: FloatArray, t: float) -> FloatArray:
        """The proximal step: argmin over b of ½‖a − b‖² + t‖b‖."""
        ...

    def is_tied(self, A: FloatArray) -> BoolArray:
        """Entries that only move together, as the size of their row."""
        ...

    def slope(self, A: FloatArray) -> FloatArray:
        """The gradient of the norm by the entries that are not tied."""
        ...


class MaxNorm:
    """The largest absolute value; its dual is the sum.

    The proximal step is the vector less its projection on the l1 ball of radius t, which clips
    the entries at one level: entries at the level are tied exactly.
    """

    def of(self, A: FloatArray) -> FloatArray:
        return np.asarray(np.abs(A).max(axis=1))

    def dual(self, A: FloatArray) -> FloatArray:
        return np.asarray(np.abs(A).sum(axis=1))

    def shrink(self, A: FloatArray, t: float) -> FloatArray:
        level = clip_level(np.abs(A), t)[:, None]
        return np.clip(A, -level, level) + 0.0

    def is_tied(self, A: FloatArray) -> BoolArray:
        size = np.abs(A)
        return np.asarray((size > 0) & (size == size.max(axis=1, keepdims=True)))

    def slope(self, A: FloatArray) -> FloatArray:
        return np.zeros_like(A)


class EuclideanNorm:
    """The length of each row: the group lasso."""

    def of(self, A: FloatArray) -> FloatArray:
        return np.asarray(np.linalg.norm(A, axis=1))

    def dual(self, A: FloatArray) -> FloatArray:
        return self.of(A)

    def shrink(self, A: FloatArray, t: float) -> FloatArray:
        length = self.of(A)
        kept = np.maximum(length - t, 0.0)
        return A * np.divide(kept, length, out=np.zeros_like(length), where=length > 0)[:, None]

    def is_tied(self, A: FloatArray) -> BoolArray:
        return np.zeros(A.shape, dtype=np.bool_)

    def slope(self, A: FloatArray) -> FloatArray:
        length = self.of(A)[:, None]
        return np.divide(A, length, out=np.zeros_like(A), where=length > 0)


class SumNorm:
    """The sum of absolute values: entries vanish one by one, rows only when all of them do."""

    def of(self, A: FloatArray) -> FloatArray:
        return np.asarray(np.abs(A).sum(axis=1))

    def dual(self, A: FloatArray) -> FloatArray:
        return np.asarray(np.abs(A).max(axis=1))

    def shrink(self, A: FloatArray, t: float) -> FloatArray:
        return np.copysign(np.maximum(np.abs(A) - t, 0.0), A) + 0.0

    def is_tied(self, A: FloatArray) -> BoolArray:
        return np.zeros(A.shape, dtype=np.bool_)

    def slope(self, A: FloatArray) -> FloatArray:
        return np.sign(A)


NORMS: dict[float, RowNorm] = {np.inf: MaxNorm(), 2: EuclideanNorm(), 1: SumNorm()}


def clip_level(size: FloatArray, t: float) -> FloatArray:
    """The θ of each row with Σ max(size − θ, 0) = t; 0 where the row sums to t or less.

    >>> clip_level(np.array([[3.0, 1.0], [0.5, 0.25]]), 1.0).tolist()
    [2.0, 0.0]
    """
    if size.shape[1] == 1:
        return np.maximum(size[:, 0] - t, 0.0)
    ordered = -np.sort(-size, axis=1)
    levels = (np.cumsum(ordered, axis=1) - t) / np.arange(1, size.shape[1] + 1)
    above = np.count_nonzero(ordered > levels, axis=1)
    return np.maximum(levels[np.arange(len(size)), np.maximum(above, 1) - 1], 0.0)


def epigraph_level(size: FloatArray, bound: FloatArray) -> FloatArray:
    """The t of the nearest point of {(w, t): |w_k| ≤ t}: t = (Σ of the K largest |w| + a)/(K + 1).

    ``size`` holds |w|, one row per point, and ``bound`` its a. A bound that holds already stays.

    >>> epigraph_level(np.array([[3.0, 1.0]]), np.array([1.0])).tolist()
    [2.0]
    """
    ordered = -np.sort(-size, axis=1)
    sums = np.concatenate([np.zeros((len(size), 1)), np.cumsum(ordered, axis=1)], axis=1)
    levels = (sums + bound[:, None]) / np.arange(1, size.shape[1] + 2)
    above = np.count_nonzero(ordered > levels[:, :-1], axis=1)
    return np.maximum(levels[np.arange(len(size)), above], 0.0)


@dataclass(frozen=True)
class RowBlocks:
    """Which rows of a matrix belong together: ``owner[r]`` is the block of row r, 0, 1, …"""

    owner: IntArray

    @cached_property
    def n_blocks(self) -> int:
        return int(self.owner.max(initial=-1)) + 1

    @cached_property
    def layouts(self) -> tuple[tuple[IntArray, IntArray], ...]:
        """Blocks of equal size together: their numbers, and their rows as a 2-D array."""
        order = np.argsort(self.owner, kind="stable")
        sizes = np.bincount(self.owner, minlength=self.n_blocks)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        layouts = []
        for size in np.unique(sizes[sizes > 0]):
            blocks = np.flatnonzero(sizes == size)
            layouts.append((blocks, order[starts[blocks][:, None] + np.arange(size)]))
        return tuple(layouts)

    def map(self, fn: Callable[[FloatArray], Array], W: FloatArray) -> Array:
        """``fn`` of every block as one row, put back in place."""
        out = np.empty(W.shape, dtype=fn(np.zeros((1, 1))).dtype)
        for _, rows in self.layouts:
            out[rows] = fn(W[rows].reshape(len(rows), -1)).reshape(*rows.shape, W.shape[1])
        return out

    def reduce(self, fn: Callable[[FloatArray], FloatArray], W: FloatArray) -> FloatArray:
        """One number per block."""
        out = np.zeros(self.n_blocks)
        for blocks, rows in self.layouts:
            out[blocks] = fn(W[rows].reshape(len(rows), -1))
        return out


@dataclass(frozen=True)
class BlockPenalty:
    """weight · Σ_u ‖W_u‖_p over blocks of rows, with p = inf, 2 or 1."""

    blocks: RowBlocks
    p: float
    weight: float

    @property
    def norm(self) -> RowNorm:
        return NORMS[self.p]

    def sizes(self, W: FloatArray) -> FloatArray:
        """‖W_u‖_p of each block."""
        return self.blocks.reduce(self.norm.of, W)

    def value(self, W: FloatArray) -> float:
        return self.weight * float(self.sizes(W).sum())

    def dual_sizes(self, G: FloatArray) -> FloatArray:
        return self.blocks.reduce(self.norm.dual, G)

    def shrink(self, V: FloatArray, step: float) -> FloatArray:
        """The proximal step of length ``step``."""
        return self.blocks.map(lambda A: self.norm.shrink(A, step * self.weight), V)

    def shrink_by(self, V: FloatArray, lengths: FloatArray) -> FloatArray:
        """The same with a length for each row, equal within a block."""
        scale = lengths[:, None]
        return self.shrink(V / scale, 1.0) * scale

    def residual(self, W: FloatArray, gradient: FloatArray) -> float:
        """How far W is from stationary, in units of W and of the weight (0 at a solution).

        The change of W by a proximal step of length max|W|/weight, over max|W|; at W = 0, what the
        dual norms of the gradient exceed the weight by, over the weight.
        """
        size = float(np.abs(W).max(initial=0.0))
        if self.weight == 0.0:
            return float(np.abs(gradient).max(initial=0.0))
        if size == 0.0:
            return max(float(self.dual_sizes(gradient).max(initial=0.0)) / self.weight - 1.0, 0.0)
        step = size / self.weight
        return float(np.abs(W - self.shrink(W - step * gradient, step)).max()) / size

    def face(self, W: FloatArray) -> Face:
        tied = self.blocks.map(self.norm.is_tied, W)
        free = (W != 0.0) & ~tied
        leaders, follows = np.unique(self.blocks.owner[np.nonzero(tied)[0]], return_inverse=True)
        return Face(self, free, tied, np.sign(W[tied]), follows.astype(np.intp), leaders)


@dataclass(frozen=True)
class Face:
    """The piece of the penalty around a matrix on which it is smooth, with its coordinates.

    Coordinates are the entries that move freely, then one size per block with tied entries.
    Entries at zero stay there.
    """

    penalty: BlockPenalty
    free: BoolArray
    tied: BoolArray
    sign: FloatArray
    follows: IntArray
    leaders: IntArray

    def same_as(self, other: Face | None) -> bool:
        return (
            other is not None
            and np.array_equal(self.free, other.free)
            and np.array_equal(self.tied, other.tied)
            and np.array_equal(self.sign, other.sign)
        )

    def coordinates(self, W: FloatArray) -> FloatArray:
        sizes = np.zeros(len(self.leaders))
        sizes[self.follows] = np.abs(W[self.tied])
        return np.concatenate([W[self.free], sizes])

    def matrix(self, coordinates: FloatArray) -> FloatArray:
        W = np.zeros(self.free.shape)
        n_free = len(coordinates) - len(self.leaders)
        W[self.free] = coordinates[:n_free]
        W[self.tied] = self.sign * coordinates[n_free:][self.follows]
        return W

    def slope(self, W: FloatArray, gradient: FloatArray) -> FloatArray:
        """The gradient of criterion plus penalty in these coordinates."""
        weight, blocks = self.penalty.weight, self.penalty.blocks
        by_entry = gradient[self.free]
        if weight:
            by_entry = by_entry + weight * blocks.map(self.penalty.norm.slope, W)[self.free]
        along = self.sign * gradient[self.tied]
        sizes = np.bincount(self.follows, weights=along, minlength=len(self.leaders)) + weight
        return np.concatenate([by_entry, sizes])

    def longest_step(self, coordinates: FloatArray, direction: FloatArray) -> float:
        """How far one can go without leaving the face."""
        n_free = len(coordinates) - len(self.leaders)
        value, move = coordinates[:n_free], direction[:n_free]
        if self.penalty.p == 1:
            return _first_zero(np.abs(value), np.sign(value) * move)
        if self.penalty.p == 2:
            return np.inf
        size, growth = coordinates[n_free:], direction[n_free:]
        bound, bound_growth = self._of_free(size), self._of_free(growth)
        upper = _first_zero(bound - value, bound_growth - move)
        lower = _first_zero(bound + value, bound_growth + move)
        return min(upper, lower, _first_zero(size, growth))

    def _of_free(self, by_leader: FloatArray) -> FloatArray:
        """The number of the block that each free entry belongs to."""
        by_block = np.zeros(self.penalty.blocks.n_blocks)
        by_block[self.leaders] = by_leader
        return by_block[self.penalty.blocks.owner[np.nonzero(self.free)[0]]]


def _first_zero(gap: FloatArray, growth: FloatArray) -> float:
    """The smallest step at which a gap closes."""
    closing = growth < 0.0
    if not closing.any():
        return np.inf
    return float((gap[closing] / -growth[closing]).min())
