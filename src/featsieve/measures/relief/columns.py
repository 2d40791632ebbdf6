"""What Relief needs to know of the columns before it compares rows: ranges, gaps, classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from featsieve.arrays import Array, BoolArray, FloatArray, IntArray
from featsieve.compiled.relief import GRID, TOGETHER
from featsieve.engines.base import require_memory
from featsieve.errors import InputError
from featsieve.protocols import Engine
from featsieve.schema import Block, Schema, Target


@dataclass(frozen=True)
class Survey:
    """Range, missing and infinite cells of each column; class counts and range of each output."""

    low: FloatArray
    high: FloatArray
    n_missing: IntArray
    n_infinite: IntArray
    class_counts: tuple[IntArray, ...]
    y_low: FloatArray
    y_high: FloatArray

    @classmethod
    def of_block(cls, block: Block, target: Target) -> Self:
        X = block.dense()
        is_missing, is_infinite = _gaps(X)
        return cls(
            np.fmin.reduce(X, axis=0),
            np.fmax.reduce(X, axis=0),
            is_missing,
            is_infinite,
            _class_counts(block.y, target),
            block.y.min(axis=0),
            block.y.max(axis=0),
        )

    def merge(self, other: Self) -> Self:
        pairs = zip(self.class_counts, other.class_counts, strict=True)
        return type(self)(
            np.fmin(self.low, other.low),
            np.fmax(self.high, other.high),
            self.n_missing + other.n_missing,
            self.n_infinite + other.n_infinite,
            tuple(a + b for a, b in pairs),
            np.minimum(self.y_low, other.y_low),
            np.maximum(self.y_high, other.y_high),
        )

    def refuse_infinite(self, schema: Schema) -> None:
        if not self.n_infinite.any():
            return
        worst = int(np.argmax(self.n_infinite))
        raise InputError(
            f"column {schema.names[worst]!r} has {int(self.n_infinite[worst])} infinite cells, and "
            "Relief needs distances; drop those rows, or mark the cells as missing (NaN)."
        )


def _gaps(X: FloatArray) -> tuple[IntArray, IntArray]:
    """Missing and infinite cells per column; one sum shows whether there are any."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            nothing = np.zeros(X.shape[1], dtype=np.intp)
            return nothing, nothing
    return np.count_nonzero(np.isnan(X), axis=0), np.count_nonzero(np.isinf(X), axis=0)


def _class_counts(y: Array, target: Target) -> tuple[IntArray, ...]:
    return tuple(
        np.bincount(y[:, output], minlength=n_classes)
        for output, n_classes in enumerate(target.class_counts)
    )


@dataclass(frozen=True)
class Columns:
    """The columns that vary, by how they are compared: numbers, codes, and those with gaps."""

    numeric: IntArray
    codes: IntArray
    gappy: IntArray
    gappy_is_code: BoolArray
    low: FloatArray
    high: FloatArray
    n_columns: int

    @classmethod
    def of(cls, survey: Survey, schema: Schema) -> Self:
        varies = survey.high > survey.low
        has_gaps = survey.n_missing > 0
        is_code = np.isin(np.arange(schema.n_columns), list(schema.categories))
        low, high = survey.low.copy(), survey.high.copy()
        low[is_code], high[is_code] = 0.0, 1.0
        gappy = np.flatnonzero(varies & has_gaps)
        return cls(
            np.flatnonzero(varies & ~has_gaps & ~is_code),
            np.flatnonzero(varies & ~has_gaps & is_code),
            gappy,
            is_code[gappy],
            low,
            high,
            schema.n_columns,
        )

    @cached_property
    def unit(self) -> float:
        """Distances are multiples of this, 2⁻⁴⁰ of a power of two above the largest possible."""
        return float(2.0 ** (np.ceil(np.log2(max(self.n_columns, 1))) - 40))

    def scaled(self, X: Array, columns: IntArray) -> FloatArray:
        """Columns of X on their range; codes stay codes."""
        cells = X if len(columns) == X.shape[1] else X[:, columns]
        return scaled_to_range(cells, self.low[columns], self.high[columns])

    def padded_numeric(self, X: Array) -> FloatArray:
        """Numeric columns, filled up with zeros to a number that the kernels take."""
        width = len(self.numeric)
        padded = np.zeros((len(X), -(-width // TOGETHER) * TOGETHER))
        padded[:, :width] = self.scaled(X, self.numeric)
        return padded


def scaled_to_range(values: Array, low: FloatArray, high: FloatArray) -> FloatArray:
    """(x − low)/(high − low), column by column."""
    with np.errstate(over="ignore"):
        width = high - low
    if np.isfinite(width).all():
        return np.asarray((values - low) / width)
    # Halves, where the range itself is more than the largest number.
    factor = np.where(np.isfinite(width), 1.0, 0.5)
    return np.asarray((values * factor - low * factor) / (high * factor - low * factor))


@dataclass(frozen=True)
class GapCounts:
    """How often each bin (or state) of a gappy column occurs in each group."""

    count: FloatArray

    def merge(self, other: Self) -> Self:
        return type(self)(self.count + other.count)


@dataclass(frozen=True)
class Expectations:
    """Average differences to a missing cell, over the known cells of its group.

    ``expected[c, g, b]``: a missing cell of group g against a known one in bin b;
    ``both[c, g, h]``: missing cells of groups g and h.
    """

    expected: FloatArray
    both: FloatArray


def fit_expectations(
    engine: Engine, columns: Columns, n_groups: int, output: int | None
) -> Expectations:
    """One pass over the rows, if there are gaps; ``output`` None: all rows are one group."""
    states = [engine.schema.n_states(c) for c in columns.gappy if c in engine.schema.categories]
    n_bins = max([GRID, *states])
    n_gappy = len(columns.gappy)
    if not n_gappy:
        return Expectations(np.zeros((0, n_groups, n_bins)), np.zeros((0, n_groups, n_groups)))
    require_memory(
        n_gappy * n_groups * (2 * n_bins + n_groups), engine.memory_limit, "columns with gaps"
    )

    def count_block(block: Block) -> GapCounts:
        cells = columns.scaled(block.dense(), columns.gappy).T
        groups = np.zeros(block.n_rows, np.intp) if output is None else block.y[:, output]
        return GapCounts(_count_bins(cells, columns.gappy_is_code, groups, (n_groups, n_bins)))

    return _expectations(engine.reduce_rows(count_block).count, columns.gappy_is_code)


def _count_bins(
    cells: FloatArray, is_code: BoolArray, groups: IntArray, shape: tuple[int, int]
) -> FloatArray:
    counts = np.zeros((len(cells), *shape))
    for column, values in enumerate(cells):
        known = ~np.isnan(values)
        grid = values if is_code[column] else np.minimum(values * GRID, GRID - 1)
        np.add.at(counts[column], (groups[known], grid[known].astype(np.intp)), 1.0)
    return counts


def _expectations(counts: FloatArray, is_code: BoolArray) -> Expectations:
    known = counts.sum(axis=2, keepdims=True)
    # A group in which nothing is known is taken to be like all rows together.
    shares = np.where(known > 0, counts, counts.sum(axis=1, keepdims=True))
    shares = shares / shares.sum(axis=2, keepdims=True)
    centres = np.arange(counts.shape[2]) / GRID
    between = np.abs(centres[:, None] - centres)
    expected = np.where(is_code[:, None, None], 1.0 - shares, shares @ between)
    return Expectations(expected, np.einsum("cgb,chb->cgh", expected, shares))
