"""Least angle regression on second moments, plain or with the lasso's drops."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from featsieve.arrays import BoolArray, FloatArray, IntArray
from featsieve.compiled.lasso import (
    append_to_factor,
    move_to_entry,
    next_drop,
    solve_with_factor,
)
from featsieve.procedures.lasso.tables import LarsMethod, Table
from featsieve.runtime.pool import single_threaded_blas
from featsieve.runtime.progress import Monitor

REPETITION = 1e-13  # squared pivot over the column's square: the active columns explain it
ROUNDING = 1e-13  # of the largest penalty: a smaller one is 0
AWAY = 1e-12  # a gap that shrinks more slowly than this never closes
ROOM = 32  # for active columns, at first
BATCH = 16  # rows of the Gram matrix that one product with all rows of the table brings


@dataclass(frozen=True)
class LarsLimits:
    """Where a path ends: at a penalty, after so many knots, or with so many coefficients."""

    alpha_min: float = 0.0
    max_iter: int = 500
    count: int | None = None


def lars_knots(
    table: Table, method: LarsMethod, limits: LarsLimits, monitor: Monitor
) -> tuple[FloatArray, FloatArray]:
    """Penalties, falling, and the coefficients of the first output at each of them."""
    with single_threaded_blas():  # threads would wait for each other: every product is short
        return _knots(table, method, limits, monitor)


NONZERO = 1e-10  # of the largest size: what a straight line leaves of a coefficient that is 0


def without_rounding(sizes: FloatArray) -> FloatArray:
    """Sizes of coefficients, rounding taken for 0; the last axis is one point of the path."""
    largest = sizes.max(axis=-1, initial=0.0, keepdims=True)
    return np.where(sizes > NONZERO * largest, sizes, 0.0)


def _knots(
    table: Table, method: LarsMethod, limits: LarsLimits, monitor: Monitor
) -> tuple[FloatArray, FloatArray]:
    state = LarsState(table, has_drops=method == "lasso")
    alphas, coefs = [state.alpha], [state.coef.copy()]
    end = max(limits.alpha_min, ROUNDING * state.alpha)
    while len(alphas) <= limits.max_iter and state.alpha > end:
        if not state.advance(limits.alpha_min):
            break
        alphas.append(state.alpha)
        coefs.append(state.coef.copy())
        if limits.count is not None and state.has_nonzero(limits.count):
            break
        monitor.tick("path", len(alphas), limits.max_iter + 1)
    return np.array(alphas), np.array(coefs)


class LarsState:
    """Where the path is: every active column has the slope ±alpha, every other a smaller one.

    As alpha falls by γ, the coefficients of the active columns A move by γw, with G_AA w = signs,
    and all slopes by −γu, u = G_·A w.
    """

    def __init__(self, table: Table, *, has_drops: bool) -> None:
        self._table, self._has_drops = table, has_drops
        self.slope = table.slope[:, 0].copy()
        self.coef = np.zeros(len(self.slope))
        self.alpha = float(np.abs(self.slope).max())
        self._is_free: BoolArray = np.ones(len(self.slope), dtype=bool)
        self._active = ActiveColumns(len(self.slope))
        self._rows = GramRows(table)
        self._enter(int(np.argmax(np.abs(self.slope))))

    def has_nonzero(self, count: int) -> bool:
        """Whether so many coefficients are not 0; those of columns that are not active are."""
        if self._active.size < count:
            return False
        sizes = np.abs(self.coef[self._active.columns])
        return int(np.count_nonzero(without_rounding(sizes))) >= count

    def _enter(self, column: int) -> None:
        """A column that repeats active ones stays out for good."""
        self._is_free[column] = False
        row = self._rows.row(column, self.slope, self._is_free)
        self._active.append(column, np.sign(self.slope[column]), row)

    def advance(self, alpha_min: float) -> bool:
        """Go to the next knot; False when no active column can move."""
        active = self._active
        if not active.size:
            return False
        columns = active.columns
        direction, change = active.direction()
        drop_length, dropped = next_drop(self.coef, columns, direction, self._has_drops)
        length_left = self.alpha - alpha_min
        move, entering = move_to_entry(
            self.slope, change, self._is_free, self.alpha, min(drop_length, length_left), AWAY
        )
        self.coef[columns] += move * direction
        self.alpha = alpha_min if move == length_left else self.alpha - move
        if move == length_left:
            return True
        if move == drop_length:
            self.coef[columns[dropped]] = 0.0
            self._is_free[columns[dropped]] = True
            active.remove(dropped)
        else:
            self._enter(entering)
        return True


@dataclass
class ActiveColumns:
    """Active columns in order of entry, with their rows of the Gram matrix and its factor."""

    width: int
    size: int = 0

    def __post_init__(self) -> None:
        self._columns = np.empty(ROOM, dtype=np.intp)
        self._signs = np.empty(ROOM)
        self._rows = np.empty((ROOM, self.width))
        self._factor = np.zeros((ROOM, ROOM))

    @property
    def columns(self) -> IntArray:
        return self._columns[: self.size]

    def append(self, column: int, sign: float, row: FloatArray) -> None:
        size = self.size
        if size == len(self._rows):
            self._grow()
        self._columns[size], self._signs[size], self._rows[size] = column, sign, row
        square = float(row[column])
        products = row[self._columns[:size]]
        if append_to_factor(self._factor, size, products, square) > REPETITION * square:
            self.size += 1

    def _grow(self) -> None:
        room = len(self._rows)
        self._columns = np.resize(self._columns, 2 * room)
        self._signs = np.resize(self._signs, 2 * room)
        self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._factor = np.pad(self._factor, (0, room))

    def remove(self, position: int) -> None:
        """The columns that entered later are factored again."""
        later = slice(position + 1, self.size)
        entries = (self._columns[later].copy(), self._signs[later].copy(), self._rows[later].copy())
        self.size = position
        for column, sign, row in zip(*entries, strict=True):
            self.append(column, sign, row)

    def direction(self) -> tuple[FloatArray, FloatArray]:
        """How the coefficients move as alpha falls, and how fast all slopes do."""
        w = self._signs[: self.size].copy()
        solve_with_factor(self._factor, w)
        return w, w @ self._rows[: self.size]


class GramRows:
    """Rows of the Gram matrix, computed for a batch of likely columns at a time."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: dict[int, FloatArray] = {}

    def row(self, column: int, slope: FloatArray, is_free: BoolArray) -> FloatArray:
        """Free columns of large slope may be asked for next."""
        if column not in self._known:
            likely = np.where(is_free, np.abs(slope), -1.0)
            order = np.argsort(-likely, kind="stable")[: 4 * BATCH].tolist()
            others = [j for j in order if j not in self._known and j != column and likely[j] >= 0]
            batch = np.array([column, *others[: BATCH - 1]], dtype=np.intp)
            self._known.update(zip(batch.tolist(), self._table.products(batch), strict=True))
        return self._known[column]
