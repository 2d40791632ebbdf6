"""An engine's rows as numeric columns for kernel measures: categories expanded, classes joined."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from featsieve.measures.product_basis import Rows, sorted_by_fold
from featsieve.protocols import Engine, S
from featsieve.schema import Array, Block, FloatArray, IntArray, Schema, Target, one_hot

_RESIDENT_BYTES = 2**25
_CHUNK_ROWS = 4096


def expand(X: FloatArray, schema: Schema) -> FloatArray:
    """Numeric columns as they are, categories as indicators; two states are at distance 1."""
    if not schema.categories:
        return X
    return np.column_stack([_expand_column(X[:, c], c, schema) for c in range(schema.n_columns)])


def _expand_column(values: FloatArray, column: int, schema: Schema) -> FloatArray:
    if column not in schema.categories:
        return values[:, None]
    return one_hot(values, schema.n_states(column)) / np.sqrt(2.0)


def unit_of_expanded(schema: Schema) -> IntArray:
    """The unit of each expanded column."""
    widths = [
        schema.n_states(c) if c in schema.categories else 1 for c in range(schema.n_columns)
    ]
    return np.repeat(schema.unit_of_column, widths)


def joined(y: Array, target: Target) -> FloatArray:
    """Numbers as they are; several outputs of classes become one class."""
    if not target.is_classification:
        return np.asarray(y, dtype=np.float64)
    shape = [target.n_classes(output) for output in range(target.n_outputs)]
    codes = np.asarray(y, dtype=np.intp)
    return np.ravel_multi_index(tuple(codes.T), shape).astype(np.float64)[:, None]


class TableRows:
    """Passes over the rows: in memory when the table is small, else through the engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.n_samples = engine.n_samples
        self.unit_of_column = unit_of_expanded(engine.schema)
        self.is_delta = engine.target.is_classification

    @property
    def n_columns(self) -> int:
        return len(self.unit_of_column)

    @property
    def is_resident(self) -> bool:
        n_bytes = 8 * self.n_samples * self.n_columns
        return n_bytes <= min(_RESIDENT_BYTES, self.engine.memory_limit // 8)

    def take(self, rows: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
        if rows is not None and self.is_resident:
            X, y = self._resident
            return X[rows], y[rows]
        X, y = self.engine.take(rows)
        return expand(X, self.engine.schema), joined(y, self.engine.target)

    @cached_property
    def _resident(self) -> tuple[FloatArray, FloatArray]:
        X, y = self.take()
        return np.ascontiguousarray(X), y

    @cached_property
    def targets(self) -> FloatArray:
        """All of y: folds are stratified over the whole table."""
        if self.is_resident:
            return self._resident[1]
        _, y = self.engine.take(columns=np.empty(0, dtype=np.intp))
        return joined(y, self.engine.target)

    def fold_chunks(self, folds: IntArray, n_folds: int) -> list[Rows] | None:
        """The prepared rows of a resident table, None for a table that streams."""
        if not self.is_resident:
            return None
        X, y = self._resident
        return list(_chunks(X, y, folds, n_folds))

    def reduce(self, fn: Callable[[Rows], S], folds: IntArray, n_folds: int) -> S:
        """Summarise rows chunk by chunk through the engine."""
        schema, target = self.engine.schema, self.engine.target

        def of_block(block: Block) -> S:
            X, y = expand(block.dense(), schema), joined(block.y, target)
            own = folds[block.start : block.start + block.n_rows]
            return merge_all(fn(rows) for rows in _chunks(X, y, own, n_folds))

        return self.engine.reduce_rows(of_block)


def _chunks(X: FloatArray, y: FloatArray, folds: IntArray, n_folds: int) -> Iterator[Rows]:
    for start in range(0, len(X), _CHUNK_ROWS):
        part = slice(start, start + _CHUNK_ROWS)
        yield sorted_by_fold(X[part], y[part], folds[part], n_folds)


def merge_all(summaries: Iterator[S]) -> S:
    total = next(summaries)
    for summary in summaries:
        total = total.merge(summary)
    return total
