"""An engine's rows for kernel bases: categories as indicators, several class outputs as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from featsieve.dummies import Dummies
from featsieve.errors import InputError
from featsieve.measures.median_sample import median_sample_size
from featsieve.measures.smi.product_basis import Rows, sorted_by_fold
from featsieve.moments import column_moments
from featsieve.protocols import Engine, S
from featsieve.schema import Array, Block, FloatArray, IntArray, Schema, Target

_RESIDENT_BYTES = 2**25  # a table this small is read once, not at every pass
_CHUNK_ROWS = 2048
_ORIGIN_ROWS = 100


@dataclass(frozen=True)
class RowReader:
    """How a block becomes numbers; ``factor`` scales a numeric target, 1 leaves it alone.

    Origins are taken off first: only distances count, and those of numbers far from zero would
    lose their digits in ‖a‖² + ‖b‖² − 2a'b.
    """

    schema: Schema
    target: Target
    factor: FloatArray
    origin: FloatArray | float = 0.0
    target_origin: FloatArray | float = 0.0

    @property
    def unit_of_column(self) -> IntArray:
        """The unit of each expanded column."""
        return self.schema.unit_of_column[Dummies(self.schema).owner]

    def columns(self, X: FloatArray) -> FloatArray:
        """Numeric columns as they are; two states of a category are at distance 1."""
        dummies = Dummies(self.schema)
        expanded = dummies.expand(Block(0, np.asarray(X, dtype=np.float64), np.empty((len(X), 0))))
        if self.schema.categories:
            expanded[:, dummies.is_indicator] *= np.sqrt(0.5)
        return expanded - self.origin

    def targets(self, y: Array) -> FloatArray:
        """Numbers, scaled; or one column with the joint class of all outputs."""
        if not self.target.is_classification:
            return (np.asarray(y, dtype=np.float64) - self.target_origin) * self.factor
        shape = self.target.class_counts
        codes = np.asarray(y, dtype=np.intp)
        return np.ravel_multi_index(tuple(codes.T), shape).astype(np.float64)[:, None]


class TableRows:
    """Passes over the rows: kept in memory when the table is small, else through the engine."""

    def __init__(self, engine: Engine, *, scale_target: bool) -> None:
        self._engine = engine
        self.n_samples = engine.n_samples
        self.n_units = engine.schema.n_units
        self.n_jobs = engine.n_jobs
        self.is_delta = engine.target.is_classification
        self.n_groups = engine.target.n_joint_classes if self.is_delta else 1
        plain = RowReader(engine.schema, engine.target, self._factor(scale_target))
        first, _ = engine.take(np.arange(min(_ORIGIN_ROWS, engine.n_samples)))
        self._reader = replace(
            plain,
            origin=np.median(plain.columns(first), axis=0),
            target_origin=0.0 if self.is_delta else np.median(self._raw_targets, axis=0),
        )
        self.unit_of_column = self._reader.unit_of_column

    def _factor(self, scale_target: bool) -> FloatArray:
        """1 over the deviation (ddof 1) of each output."""
        n_outputs = self._engine.target.n_outputs
        if self.is_delta or not scale_target:
            return np.ones(n_outputs)
        with np.errstate(over="ignore", invalid="ignore"):
            scale = column_moments(np.asarray(self._raw_targets, dtype=np.float64)).scale(1)
        if not np.isfinite(scale).all():
            raise InputError(
                "y holds numbers so large that their squares overflow; divide it by a constant "
                "first."
            )
        return np.divide(1.0, scale, out=np.ones(n_outputs), where=scale > 0)

    @cached_property
    def _raw_targets(self) -> Array:
        return np.concatenate(self._engine.reduce_rows(_targets_of).parts)

    @cached_property
    def labels(self) -> FloatArray | None:
        """The class of each row of the table; None for numbers."""
        return self._reader.targets(self._raw_targets)[:, 0] if self.is_delta else None

    @cached_property
    def is_resident(self) -> bool:
        return self.fits(len(self.unit_of_column))

    def fits(self, width: int) -> bool:
        """Whether a matrix of all rows and so many columns may stay in memory."""
        n_bytes = 8 * self.n_samples * width
        return n_bytes <= min(_RESIDENT_BYTES, self._engine.memory_limit // 8)

    @cached_property
    def _resident(self) -> tuple[FloatArray, FloatArray]:
        X, y = self._engine.take()
        return np.ascontiguousarray(self._reader.columns(X)), self._reader.targets(y)

    @property
    def sample_size(self) -> int:
        """How many rows a median distance is taken from."""
        return median_sample_size(self.n_samples, len(self.unit_of_column))

    def take(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        if self.is_resident:
            X, y = self._resident
            return X[rows], y[rows]
        X, y = self._engine.take(rows)
        return self._reader.columns(X), self._reader.targets(y)

    def passes(self, folds: IntArray, n_folds: int) -> Callable[[Callable[[Rows], S]], S]:
        """A function that summarises all rows, chunk by chunk, with these folds."""
        if self.is_resident:
            chunks = list(_chunks(*self._resident, folds, n_folds))
            return lambda fn: _merged(map(fn, chunks))
        reader, engine = self._reader, self._engine

        def reduce(fn: Callable[[Rows], S]) -> S:
            def of_block(block: Block) -> S:
                own = folds[block.start : block.start + block.n_rows]
                X, y = reader.columns(block.dense()), reader.targets(block.y)
                return _merged(map(fn, _chunks(X, y, own, n_folds)))

            return engine.reduce_rows(of_block)

        return reduce


@dataclass(frozen=True)
class _Targets:
    """y of consecutive blocks."""

    parts: tuple[Array, ...]

    def merge(self, other: _Targets) -> _Targets:
        return _Targets(self.parts + other.parts)


def _targets_of(block: Block) -> _Targets:
    return _Targets((block.y,))


def _chunks(X: FloatArray, y: FloatArray, folds: IntArray, n_folds: int) -> Iterator[Rows]:
    for start in range(0, len(X), _CHUNK_ROWS):
        part = slice(start, start + _CHUNK_ROWS)
        yield sorted_by_fold(X[part], y[part], folds[part], n_folds)


def _merged(summaries: Iterator[S]) -> S:
    total = next(summaries)
    for summary in summaries:
        total = total.merge(summary)
    return total
