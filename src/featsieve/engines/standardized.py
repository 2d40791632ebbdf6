"""Any engine, seen with its numeric columns centred and scaled (categorical codes stay codes)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.memory import gathered
from featsieve.engines.view import EngineView
from featsieve.errors import InputError
from featsieve.protocols import CanPermuteTarget, Engine, S
from featsieve.schema import Block
from featsieve.statistics.moments import ColumnMoments, column_moments


@dataclass(frozen=True)
class Scaling:
    """(x − centre) · factor; a constant column becomes all zeros."""

    centre: FloatArray
    factor: FloatArray

    def apply(self, X: Any, columns: IntArray | None = None) -> FloatArray:
        centre, factor = self.centre, self.factor
        if columns is not None:
            centre, factor = centre[columns], factor[columns]
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        return ((dense - centre) * factor).astype(dense.dtype, copy=False)

    def block(self, block: Block) -> Block:
        return Block(block.start, self.apply(block.X), block.y, block.weight)


def _block_moments(block: Block) -> ColumnMoments:
    with np.errstate(over="ignore", invalid="ignore"):  # fit_scaling looks for it
        return column_moments(block.X, block.weight)


def _itself(moments: ColumnMoments) -> ColumnMoments:
    return moments


def fit_scaling(engine: Engine, ddof: int) -> Scaling:
    """One pass for means and standard deviations; codes are left alone."""
    moments = engine.reduce_rows(_block_moments, moments=_itself, in_place=True)
    scale = moments.scale(ddof)
    if not np.isfinite(scale).all():
        name = engine.schema.names[int(np.argmin(np.isfinite(scale)))]
        raise InputError(
            f"column {name!r} holds numbers so large that their squares overflow; divide it by a "
            "constant first."
        )
    factor = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    centre = moments.mean.copy()
    codes = list(engine.schema.categories)
    centre[codes], factor[codes] = 0.0, 1.0
    return Scaling(centre, factor)


class StandardizedEngine(EngineView):
    """The same engine with every block, tile and column scaled on its way out."""

    def __init__(self, engine: Engine, ddof: int, scaling: Scaling | None = None) -> None:
        super().__init__(engine)
        self._ddof = ddof
        self._scaling = scaling or fit_scaling(engine, ddof)

    def reduce_rows(
        self,
        fn: Callable[[Block], S],
        *,
        moments: Callable[[S], ColumnMoments] | None = None,
        in_place: bool = False,
    ) -> S:
        """The cells have been looked at for the scaling, and scaled blocks are dense."""
        scaling = self._scaling
        return self._engine.reduce_rows(lambda block: fn(scaling.block(block)))

    def reduce_tiles(self, fn: Callable[[Block, Block], S]) -> S:
        scaling = self._scaling
        return self._engine.reduce_tiles(lambda a, b: fn(scaling.block(a), scaling.block(b)))

    def topk_tiles(
        self, fn: Callable[[Block, Block], FloatArray], k: int
    ) -> tuple[FloatArray, IntArray]:
        scaling = self._scaling
        return self._engine.topk_tiles(lambda a, b: fn(scaling.block(a), scaling.block(b)), k)

    def map_columns(self, fn: Callable[[FloatArray, IntArray], Array]) -> Array:
        scaling = self._scaling
        return self._engine.map_columns(lambda X, columns: fn(scaling.apply(X, columns), columns))

    def take(
        self, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> tuple[FloatArray, Array]:
        X, y = self._engine.take(rows, columns)
        return self._scaling.apply(X, columns), y

    def with_permuted_target(self, order: IntArray) -> StandardizedEngine:
        """X does not change, so neither does its scaling."""
        if not isinstance(self._engine, CanPermuteTarget):
            self._engine = gathered(self._engine)  # once, not for every permutation
        rows = self._engine.with_permuted_target(order)
        return StandardizedEngine(rows, self._ddof, self._scaling)
