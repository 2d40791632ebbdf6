"""Pearson's and Hall's scores of all columns under many permutations, by matrix products.

The products add over blocks of rows like any other moments, so a table that is larger than memory,
sparse or on a cluster is passed over as it is; only the target is held as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.engines.base import slices
from featsieve.measures.pearson.moved import MovedPearson
from featsieve.protocols import Engine
from featsieve.schema import Block
from featsieve.statistics.moments import CrossMoments, Dummies, cross_moments, target_columns

ROWS_IN_CACHE = 32  # rows of a product that are scaled at once
NUMBERS_AT_ONCE = 1 << 22  # of permuted targets
FEWEST_ROWS = 64
SUMS_OF_COLUMNS = 2  # next to the products with the target, where weights move
COPIES = 3  # a product, the one it is merged with, and the shift between them

Strength = Callable[
    [int, bool], FloatArray
]  # of a column of the target, alone for its output or not


@dataclass(frozen=True)
class PermutedPearson:
    """The engine's columns against permutations of its target."""

    engine: Engine

    @property
    def numbers_per_order(self) -> int:
        """Products of all expanded columns with all target columns, and the order itself."""
        n_products = self._target.shape[1] + (SUMS_OF_COLUMNS if self.engine.has_weights else 0)
        products = len(self._dummies.owner) * n_products
        return COPIES * (self.engine.n_jobs + 1) * products + self.engine.n_samples

    def scores(self, orders: IntArray) -> FloatArray:
        """One row per unit, one column per order."""
        moves_weights = self.engine.has_weights and self.engine.weights_belong_to_target
        strength = self._moved.strengths(orders) if moves_weights else self._strengths(orders)
        outputs, first = [], 0
        for width in self._widths:
            expanded = _sum_of_columns(strength, range(first, first + width))
            outputs.append(self._dummies.per_unit(expanded))
            first += width
        return outputs[0] if len(outputs) == 1 else np.mean(outputs, axis=0)

    @cached_property
    def _moved(self) -> MovedPearson:
        return MovedPearson(self.engine, self._dummies, self._target)

    @cached_property
    def _dummies(self) -> Dummies:
        return Dummies(self.engine.schema)

    @cached_property
    def _parts(self) -> list[FloatArray]:
        """The target's columns, one array per output."""
        y = self.engine.targets()
        return [_needed(columns) for _, columns in target_columns(y, self.engine.target)]

    @property
    def _widths(self) -> list[int]:
        return [part.shape[1] for part in self._parts]

    @cached_property
    def _target(self) -> FloatArray:
        return np.concatenate(self._parts, axis=1)

    def _strengths(self, orders: IntArray) -> Strength:
        """Hall's weight × |ρ| with a column of the target."""
        fn = partial(_block_moments, self._dummies, self._target, orders)
        moments = self.engine.reduce_rows(fn)

        def strength(column: int, alone: bool) -> FloatArray:
            part = slice(column * len(orders), (column + 1) * len(orders))
            weight = self._share(moments, part, alone=alone)
            strength = _absolute_correlation(moments, part)
            if weight is not None:
                strength *= weight
            return strength

        return strength

    def _share(self, moments: CrossMoments, part: slice, *, alone: bool) -> FloatArray | None:
        """Hall's weight p(state, class); summed over the classes it is p(state).

        Only the joint frequency depends on the permutation (and p(class), with weights).
        """
        indicator = self._dummies.is_indicator
        p_state = np.where(indicator, moments.x.mean, 1.0)[:, None]
        if alone:
            return p_state if indicator.any() else None
        share = p_state * moments.y.mean[part]
        share[indicator] += moments.cross[indicator, part] / moments.x.weight
        return share


def _sum_of_columns(strength: Strength, columns: range) -> FloatArray:
    """Over the target columns of an output."""
    total = strength(columns[0], len(columns) == 1)
    for column in columns[1:]:
        total += strength(column, False)
    return total


def _needed(columns: FloatArray) -> FloatArray:
    """Two classes are told apart by one indicator: the other's |ρ| is the same."""
    return columns[:, 1:] if columns.shape[1] == 2 else columns


def _block_moments(
    dummies: Dummies, target: FloatArray, orders: IntArray, block: Block
) -> CrossMoments:
    """A few rows at a time: the permuted targets of all orders can be far larger than the block."""
    X, columns = dummies.expand(block), np.ascontiguousarray(target.T)
    rows = max(NUMBERS_AT_ONCE // (len(orders) * len(columns)), FEWEST_ROWS)
    total: CrossMoments | None = None
    for piece in slices(block.n_rows, rows):
        here = orders[:, block.start + piece.start : block.start + piece.stop]
        Y = np.concatenate([column[here].T for column in columns], axis=1)
        weight = None if block.weight is None else block.weight[piece]
        moments = cross_moments(X[piece], Y, weight)
        total = moments if total is None else total.merge(moments)
    assert total is not None
    return total


def _absolute_correlation(moments: CrossMoments, part: slice) -> FloatArray:
    """|ρ|, written over the co-deviations, a few rows at a time so that they stay in the cache."""
    strength = moments.cross[:, part]
    by_column = _inverse_root(moments.x.deviation, moments.x.is_constant())[:, None]
    by_order = _inverse_root(moments.y.deviation, moments.y.is_constant())[part]
    for some in slices(len(strength), ROWS_IN_CACHE):
        rows = strength[some]
        rows *= by_column[some]
        rows *= by_order
        np.abs(rows, out=rows)
    return strength


def _inverse_root(deviation: FloatArray, constant: BoolArray) -> FloatArray:
    root = np.sqrt(deviation)
    return np.divide(1.0, root, out=np.zeros_like(root), where=~constant)
