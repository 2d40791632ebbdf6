"""One look at all cells: missing ones are refused, and extreme units are brought near 1, exactly.

Squares and fourth powers of numbers such as 1e200 or 1e-200 leave the range of floating point, and
with them goes the answer. A column whose largest number is that far out is multiplied by a power of
two, which rounds nothing, so no measure has to know about it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Self

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.protocols import S
from featsieve.schema import (
    SAFE_EXPONENT,
    SAFE_EXPONENT_SINGLE,
    Block,
    Schema,
    is_extreme,
    power_of_two,
)
from featsieve.statistics.moments import ColumnMoments


@dataclass(frozen=True)
class CellScan:
    """Per column: how many cells are missing or infinite, and the largest magnitude of the rest.

    ``are_usual``: none is missing, infinite or extreme.
    """

    n_bad: IntArray
    largest: FloatArray
    safe_exponent: int
    are_usual: bool

    def merge(self, other: Self) -> Self:
        return type(self)(
            self.n_bad + other.n_bad,
            np.maximum(self.largest, other.largest),
            min(self.safe_exponent, other.safe_exponent),
            self.are_usual and other.are_usual,
        )

    @property
    def extreme(self) -> BoolArray:
        return is_extreme(self.largest, self.safe_exponent)


@dataclass(frozen=True)
class Screened(Generic[S]):
    """A summary together with the scan of its cells, from one and the same pass."""

    summary: S
    cells: CellScan

    def merge(self, other: Screened[S]) -> Screened[S]:
        return Screened(self.summary.merge(other.summary), self.cells.merge(other.cells))


@dataclass(frozen=True)
class Units:
    """The power of two that each column is multiplied by."""

    factor: FloatArray

    def apply(self, X: Any, columns: IntArray | None = None) -> Any:
        factor = self.factor if columns is None else self.factor[columns]
        if isinstance(X, np.ndarray):
            return (X * factor).astype(X.dtype, copy=False)
        scaled = X.copy()
        scaled.data = (X.data * factor[X.indices]).astype(X.dtype, copy=False)
        return scaled

    def block(self, block: Block) -> Block:
        return Block(block.start, self.apply(block.X), block.y, block.weight)


def scan_cells(block: Block) -> CellScan:
    return _scan_sparse(block.X) if block.is_sparse else _scan_dense(block.X)


def _scan_dense(X: FloatArray) -> CellScan:
    """The largest number is at least the root mean square, at most the root of all squares."""
    with np.errstate(all="ignore"):
        size = np.sqrt(np.einsum("ij,ij->j", X, X).astype(np.float64))
    return _scan_unproven(X, size / np.sqrt(max(len(X), 1)), size)


def _scan_by_moments(block: Block, moments: ColumnMoments) -> CellScan:
    """The largest number is at least the mean and half the deviation, at most the mean and the root
    of all squared deviations together. The weight of the moments is the number of rows."""
    mean, spread = np.abs(moments.mean), np.sqrt(moments.deviation)
    least = np.maximum(mean, spread / (2 * np.sqrt(moments.weight)))
    return _scan_unproven(block.X, least, mean + spread)


def _scan_unproven(X: Any, least: FloatArray, most: FloatArray) -> CellScan:
    """A look at those columns only whose largest number is not proven to be finite and usual.

    ``least`` and ``most`` enclose it but for rounding; a NaN proves nothing.
    """
    safe, are_usual = _safe_exponent(X), True
    n_bad, largest = np.zeros(len(most), dtype=np.intp), most
    is_proven = (least > 2.0 ** (1 - safe)) & (most < 2.0 ** (safe - 1))
    doubtful = np.flatnonzero(~is_proven)
    if len(doubtful):
        look = _look_at_dense if isinstance(X, np.ndarray) else _scan_sparse
        part = look(X[:, doubtful])
        n_bad[doubtful], largest[doubtful] = part.n_bad, part.largest
        are_usual = part.are_usual
    return CellScan(n_bad, largest, safe, are_usual)


def _look_at_dense(X: FloatArray) -> CellScan:
    finite = np.isfinite(X)
    size = np.abs(np.where(finite, X, 0.0)).astype(np.float64)
    n_bad = np.count_nonzero(~finite, axis=0).astype(np.intp)
    return _looked_at(n_bad, size.max(axis=0), _safe_exponent(X))


def _scan_sparse(X: Any) -> CellScan:
    n_columns = X.shape[1]
    size = np.abs(X.data).astype(np.float64)
    finite = np.isfinite(size)
    n_bad = np.bincount(X.indices[~finite], minlength=n_columns)
    largest = np.zeros(n_columns)
    np.maximum.at(largest, X.indices, np.where(finite, size, 0.0))
    return _looked_at(n_bad.astype(np.intp), largest, _safe_exponent(X))


def _looked_at(n_bad: IntArray, largest: FloatArray, safe: int) -> CellScan:
    is_unusual = n_bad.any() or is_extreme(largest, safe).any()
    return CellScan(n_bad, largest, safe, not is_unusual)


def _safe_exponent(X: Any) -> int:
    return SAFE_EXPONENT_SINGLE if X.dtype == np.float32 else SAFE_EXPONENT


def screened(
    fn: Callable[[Block], S], moments: Callable[[S], ColumnMoments] | None, block: Block
) -> Screened[S]:
    """A summary of bad or extreme cells is never used: zeros spare the measure their warnings."""
    if moments is None or block.weight is not None:  # a row of little weight leaves no moments
        cells = scan_cells(block)
        return Screened(fn(block if cells.are_usual else _without_cells(block)), cells)
    with np.errstate(all="ignore"):
        summary = fn(block)
        cells = _scan_by_moments(block, moments(summary))
    return Screened(summary if cells.are_usual else fn(_without_cells(block)), cells)


def _without_cells(block: Block) -> Block:
    X = block.X
    zeros = type(X)(X.shape, dtype=X.dtype) if block.is_sparse else np.zeros_like(X)
    return Block(block.start, zeros, block.y, block.weight)


def refuse_bad(cells: CellScan, schema: Schema) -> None:
    """One sentence that names the worst column, the count and the advice."""
    columns = np.flatnonzero(cells.n_bad)
    if not len(columns):
        return
    worst = int(columns[np.argmax(cells.n_bad[columns])])
    n_others = len(columns) - 1
    others = f" (and {n_others} more column{'s' * (n_others > 1)})" if n_others else ""
    raise InputError(
        f"column {schema.names[worst]!r}{others} has {int(cells.n_bad[worst])} missing (NaN) or "
        "infinite cells, and this method takes finite numbers only; impute or drop them, or use a "
        "method that takes missing values (see the method table)."
    )


def units_of(cells: CellScan) -> Units | None:
    """None where no column is extreme."""
    extreme = cells.extreme
    return Units(np.where(extreme, power_of_two(cells.largest), 1.0)) if extreme.any() else None


def refuse_too_large(cells: CellScan, units: Units | None, schema: Schema) -> None:
    """For rows whose units are those of other rows."""
    with np.errstate(over="ignore"):
        size = cells.largest * (1.0 if units is None else units.factor)
    columns = np.flatnonzero(size > 2.0**cells.safe_exponent)
    if len(columns):
        raise too_far_apart(f"column {schema.names[columns[0]]!r}")


def too_far_apart(what: str) -> InputError:
    return InputError(
        f"the values of {what} and those of the first rows are too far apart for sums of both; "
        "bring all rows to one unit first."
    )


def refuse_extreme(cells: CellScan, schema: Schema) -> None:
    """For a method that was told to use the columns in the units they come in."""
    columns = np.flatnonzero(cells.extreme)
    if len(columns):
        first = int(columns[0])
        raise InputError(
            f"column {schema.names[first]!r} holds numbers of the size {cells.largest[first]:.0e}, "
            "whose powers leave the range of floating point; multiply it by a constant, or let the "
            "method standardise the columns."
        )
