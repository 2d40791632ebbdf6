"""Any engine with its blocks changed on their way out; mostly: columns centred and scaled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from featsieve.arrays import Array, FloatArray, IntArray
from featsieve.engines.base import EngineView
from featsieve.engines.memory import gathered
from featsieve.errors import InputError
from featsieve.protocols import CanPermuteTarget, Engine, S
from featsieve.schema import Block, Schema
from featsieve.statistics.moments import ColumnMoments, column_moments


@dataclass(frozen=True)
class Scaling:
    """(x − centre) · factor in double precision; a constant column becomes all zeros."""

    centre: FloatArray
    factor: FloatArray

    def apply(self, X: Any, columns: IntArray | None = None) -> FloatArray:
        centre, factor = self.centre, self.factor
        if columns is not None:
            centre, factor = centre[columns], factor[columns]
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        return (dense - centre) * factor

    def block(self, block: Block) -> Block:
        return Block(block.start, self.apply(block.X), block.y, block.weight)


def _block_moments(block: Block) -> ColumnMoments:
    """Of the block as it will be handed out, dense and row by row: the sums, and so the last digits
    of the scaling, do not depend on how the container keeps its cells."""
    X = np.ascontiguousarray(block.X if isinstance(block.X, np.ndarray) else block.X.toarray())
    with np.errstate(over="ignore", invalid="ignore"):  # fit_scaling looks for it
        return column_moments(X, block.weight)


def _itself(moments: ColumnMoments) -> ColumnMoments:
    return moments


def fit_scaling(engine: Engine, ddof: int) -> Scaling:
    """One pass for means and standard deviations; codes are left alone."""
    moments = engine.reduce_rows(_block_moments, moments=_itself, in_place=True)
    return scaling_of(moments, engine.schema, ddof)


def scaling_of(moments: ColumnMoments, schema: Schema, ddof: int) -> Scaling:
    """From the moments of all columns."""
    scale = moments.scale(ddof)
    if not np.isfinite(scale).all():
        name = schema.names[int(np.argmin(np.isfinite(scale)))]
        raise InputError(
            f"column {name!r} holds numbers so large that their squares overflow; divide it by a "
            "constant first."
        )
    factor = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    centre = moments.mean.copy()
    codes = list(schema.categories)
    centre[codes], factor[codes] = 0.0, 1.0
    return Scaling(centre, factor)


class BlockMap(Protocol):
    """What is done to every block of rows, and to columns that are taken."""

    def apply(self, X: Any, columns: IntArray | None = None) -> Any: ...

    def block(self, block: Block) -> Block: ...


class MappedEngine(EngineView):
    """The same engine with every block, tile and column mapped on its way out."""

    def __init__(self, engine: Engine, mapping: BlockMap) -> None:
        super().__init__(engine)
        self._mapping = mapping

    def reduce_rows(
        self,
        fn: Callable[[Block], S],
        *,
        moments: Callable[[S], ColumnMoments] | None = None,
        in_place: bool = False,
    ) -> S:
        """The cells have been looked at before, and mapped blocks are dense."""
        mapping = self._mapping
        return self._engine.reduce_rows(lambda block: fn(mapping.block(block)))

    def reduce_tiles(self, fn: Callable[[Block, Block], S]) -> S:
        mapping = self._mapping
        return self._engine.reduce_tiles(lambda a, b: fn(mapping.block(a), mapping.block(b)))

    def topk_tiles(
        self, fn: Callable[[Block, Block], FloatArray], k: int
    ) -> tuple[FloatArray, IntArray]:
        mapping = self._mapping
        return self._engine.topk_tiles(lambda a, b: fn(mapping.block(a), mapping.block(b)), k)

    def map_columns(self, fn: Callable[[FloatArray, IntArray], Array]) -> Array:
        mapping = self._mapping
        return self._engine.map_columns(lambda X, columns: fn(mapping.apply(X, columns), columns))

    def take(
        self, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> tuple[FloatArray, Array]:
        X, y = self._engine.take(rows, columns)
        return self._mapping.apply(X, columns), y

    def with_permuted_target(self, order: IntArray) -> MappedEngine:
        """X does not change, so neither does its mapping."""
        if not isinstance(self._engine, CanPermuteTarget):
            self._engine = gathered(self._engine)  # once, not for every permutation
        return MappedEngine(self._engine.with_permuted_target(order), self._mapping)


class StandardizedEngine(MappedEngine):
    """Every numeric column with mean 0 and deviation 1."""

    def __init__(self, engine: Engine, ddof: int) -> None:
        super().__init__(engine, fit_scaling(engine, ddof))
