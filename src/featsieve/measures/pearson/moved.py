"""Pearson's and Hall's scores under permutations that move weights together with the target.

Then the moments of the target are the same in all permutations, and those of the columns are not:
they come from products of the columns, and of their squares, with the moved weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Self

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.engines.base import spans, weights_of
from featsieve.protocols import Engine
from featsieve.schema import Block
from featsieve.statistics.moments import ColumnMoments, Dummies, centred_columns, column_moments

NUMBERS_AT_ONCE = 1 << 22  # of moved weights
FEWEST_ROWS = 64


@dataclass(frozen=True)
class MovedMoments:
    """Σ w x, Σ w x² and, for each column y of the target, Σ w x y: one row per column of X and one
    column per permutation; x is about a fixed point, y about its mean."""

    sums: FloatArray
    squares: FloatArray
    cross: FloatArray

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.sums + other.sums, self.squares + other.squares, self.cross + other.cross
        )


@dataclass(frozen=True)
class MovedPearson:
    """The engine's columns against the columns of its target, which take their weights along."""

    engine: Engine
    dummies: Dummies
    target: FloatArray

    def strengths(self, orders: IntArray) -> Callable[[int, bool], FloatArray]:
        """Hall's weight × |ρ| with a column of the target, which may stand alone for its output."""
        moments = self.engine.reduce_rows(partial(self._of_block, orders))
        inverse_root = self._inverse_roots(moments)
        shift = moments.sums / self._total
        p_state = np.where(
            self.dummies.is_indicator[:, None], self._columns.mean[:, None] + shift, 1
        )

        def strength(column: int, alone: bool) -> FloatArray:
            cross = moments.cross[column]
            share = p_state if alone else p_state * self._target_moments.mean[column]
            if not alone:
                share += self.dummies.is_indicator[:, None] * (cross / self._total)
            deviation = self._target_moments.deviation[column]
            return np.asarray(share * np.abs(cross) * inverse_root / np.sqrt(deviation or 1.0))

        return strength

    def _inverse_roots(self, moments: MovedMoments) -> FloatArray:
        """Of the columns' deviations; 0 for a constant column."""
        deviation = moments.squares - moments.sums**2 / self._total
        rounding = self.engine.n_samples * np.finfo(np.float64).eps * moments.squares
        varies = (deviation > rounding) & ~self._columns.is_constant()[:, None]
        root = np.sqrt(np.where(varies, deviation, 1.0))
        return np.divide(1.0, root, out=np.zeros_like(root), where=varies)

    @cached_property
    def _columns(self) -> ColumnMoments:
        """Without weights, which are other ones in each permutation."""
        return self.engine.reduce_rows(lambda block: column_moments(self.dummies.expand(block)))

    @cached_property
    def _weight(self) -> FloatArray:
        weight = weights_of(self.engine)
        assert weight is not None
        return weight

    @cached_property
    def _total(self) -> float:
        return float(self._weight.sum())

    @cached_property
    def _target_moments(self) -> ColumnMoments:
        return centred_columns(self.target, self._weight)[0]

    @cached_property
    def _moved(self) -> FloatArray:
        """What goes with the target, one row each: the weights, and Σ's terms w y."""
        centred = centred_columns(self.target, self._weight)[1]
        return np.ascontiguousarray([self._weight, *(self._weight[:, None] * centred).T])

    def _of_block(self, orders: IntArray, block: Block) -> MovedMoments:
        """A few rows at a time: the moved weights can be far larger than the block."""
        X = self.dummies.expand(block)
        rows = max(NUMBERS_AT_ONCE // (len(orders) * len(self._moved)), FEWEST_ROWS)
        total: MovedMoments | None = None
        for start, stop in spans(block.n_rows, rows):
            piece = X[start:stop] if isinstance(X, np.ndarray) else X[start:stop].toarray()
            here = orders[:, block.start + start : block.start + stop]
            moments = _products(piece - self._columns.mean, self._moved, here)
            total = moments if total is None else total.merge(moments)
        assert total is not None
        return total


def _products(centred: FloatArray, moved: FloatArray, orders: IntArray) -> MovedMoments:
    weight, *terms = moved
    moved_weight, across = weight[orders].T, centred.T
    return MovedMoments(
        across @ moved_weight,
        (across**2) @ moved_weight,
        np.array([across @ term[orders].T for term in terms]),
    )
