"""Any engine with a copy of every column beside it, computed block by block when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, Self

import numpy as np

from featsieve.arrays import Array, BoolArray, FloatArray, IntArray
from featsieve.compiled.copying import side_by_side
from featsieve.engines.base import (
    BYTES_PER_NUMBER,
    NO_COLUMNS,
    EngineView,
    in_order,
    require_table,
    rows_of,
    rows_within,
    slices,
)
from featsieve.protocols import Engine, S
from featsieve.schema import Block, Schema
from featsieve.statistics.moments import ColumnMoments, rows_about
from featsieve.statistics.slices import summed_in_slices

MOST_ROWS_AT_ONCE = 1024  # that are copied; they and their copies stay in the cache
BYTES_AT_ONCE = 1 << 22


class Copier(Protocol):
    """Copies of dense rows, given their indices in the table."""

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray: ...


@dataclass(frozen=True)
class Collected:
    """Some columns of some rows, block by block."""

    parts: tuple[tuple[FloatArray, Array], ...]

    def merge(self, other: Self) -> Self:
        return type(self)(self.parts + other.parts)


def rows_at_once(n_columns: int) -> int:
    """How many rows to copy at a time; what a copy is made of takes several times their memory."""
    return min(MOST_ROWS_AT_ONCE, rows_within(BYTES_AT_ONCE, BYTES_PER_NUMBER * max(n_columns, 1)))


@dataclass(frozen=True)
class Augment:
    """Columns and copies side by side; a unit that is ``swapped`` stands among the copies.

    A method that prefers the first of equals must not know which of two is the copy.
    """

    copier: Copier
    swapped: BoolArray  # per column

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray:
        both = np.empty((len(X), 2 * X.shape[1]))
        for some in slices(len(X), rows_at_once(X.shape[1])):
            part = rows_about(X[some], 0.0)
            side_by_side(part, self.copier(part, rows[some]), self.swapped, both[some])
        return both

    def block(self, block: Block) -> Block:
        rows = np.arange(block.start, block.start + block.n_rows)
        X = block.X.toarray() if block.is_sparse else block.X
        return Block(block.start, self(X, rows), block.y, block.weight)


def doubled_schema(schema: Schema) -> Schema:
    """Every unit twice: units 0 … m − 1, then the other half of each pair in the same order."""
    width = schema.n_columns
    names = (*schema.names, *(f"{name} (copy)" for name in schema.names))
    shifted = {column + width: states for column, states in schema.categories.items()}
    groups = schema.groups
    if groups is not None:
        groups = (*groups, *(tuple(c + width for c in columns) for columns in groups))
    group_names = (*schema.group_names, *(f"{name} (copy)" for name in schema.group_names))
    return Schema(names, {**schema.categories, **shifted}, groups, group_names)


class EngineWithCopies(EngineView):
    """The same rows, twice as many columns; the copies never exist for all rows at once."""

    def __init__(self, engine: Engine, augment: Augment) -> None:
        super().__init__(engine)
        self._augment = augment
        self.n_features = 2 * engine.n_features
        self.schema = doubled_schema(engine.schema)

    def reduce_rows(
        self,
        fn: Callable[[Block], S],
        *,
        moments: Callable[[S], ColumnMoments] | None = None,
        in_place: bool = False,
    ) -> S:
        """The moments of columns and copies say nothing of the cells below.

        A block and its copies are as long as two blocks: a few rows of it are augmented at a time.
        """
        look = self.monitor.check if self.is_local else None
        augmented = partial(_of_augmented, fn, self._augment)
        return self._engine.reduce_rows(partial(summed_in_slices, augmented, self.n_features, look))

    def reduce_tiles(self, fn: Callable[[Block, Block], S]) -> S:
        return self._engine.reduce_tiles(partial(_of_augmented, fn, self._augment))

    def topk_tiles(
        self, fn: Callable[[Block, Block], FloatArray], k: int
    ) -> tuple[FloatArray, IntArray]:
        return self._engine.topk_tiles(partial(_of_augmented, fn, self._augment), k)

    def take(
        self, rows: IntArray | None = None, columns: IntArray | None = None
    ) -> tuple[FloatArray, Array]:
        columns = np.arange(self.n_features) if columns is None else columns
        n_rows = self.n_samples if rows is None else len(rows)
        if not len(columns):
            return np.empty((n_rows, 0)), self.targets(rows)
        require_table(n_rows, len(columns), self.memory_limit)
        if rows is not None and len(rows) * self.n_features * 8 <= self.memory_limit:
            X, y = self._engine.take(rows)
            return self._augment(X, rows)[:, columns], y
        collected = self.reduce_rows(partial(_collect, rows, columns))
        return in_order(collected.parts, rows)

    def native(self, columns: IntArray) -> tuple[Any, Any]:
        """Plain numbers: no container holds copies."""
        return self.take(columns=columns)[0], self._engine.native(NO_COLUMNS)[1]


def _of_augmented(fn: Callable[..., Any], augment: Augment, *blocks: Block) -> Any:
    return fn(*[augment.block(block) for block in blocks])


def _collect(rows: IntArray | None, columns: IntArray, block: Block) -> Collected:
    X, y = rows_of(block, rows)
    return Collected(((np.ascontiguousarray(X[:, columns]), np.asarray(y)),))
