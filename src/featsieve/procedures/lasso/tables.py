"""The moments that a lasso needs, and the blocks of columns under one penalty each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, Self

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.runtime.products import watched_call
from featsieve.runtime.progress import SILENT, Monitor
from featsieve.schema import Schema
from featsieve.statistics.moments import ColumnMoments, Dummies, GramMoments, centred_columns

LarsMethod = Literal["lasso", "lar"]


class Table(Protocol):
    """Columns x about their means against outputs y, all moments divided by the total weight."""

    @property
    def columns(self) -> ColumnMoments: ...

    @property
    def output_mean(self) -> FloatArray: ...

    @property
    def slope(self) -> FloatArray:
        """X'Y: one row per column and one column per output."""
        ...

    def gram(self, columns: IntArray) -> FloatArray:
        """X'X of these columns."""
        ...

    def residual_slope(self, coef: FloatArray, active: IntArray) -> FloatArray:
        """X'(Y − X coef), where ``coef`` has one row for each active column."""
        ...

    def residual_variance(self, coef: FloatArray, active: IntArray) -> FloatArray:
        """Mean square of Y − X coef about its mean, one number per output."""
        ...

    def through(self, basis: Any) -> Table:
        """The same table with columns ``X basis``; ``basis`` is a sparse matrix."""
        ...

    def products(self, columns: IntArray) -> FloatArray:
        """These rows of X'X."""
        ...


@dataclass(frozen=True)
class GramTable:
    """From co-deviations that were summed over blocks of rows."""

    columns: ColumnMoments
    output_mean: FloatArray
    squares: FloatArray
    slope: FloatArray
    output_squares: FloatArray

    @classmethod
    def of_moments(cls, moments: GramMoments, n_columns: int) -> Self:
        m, weight = n_columns, moments.weight
        mean, product = moments.mean, moments.product / (weight or 1.0)
        columns = ColumnMoments(weight, mean[:m], weight * np.diagonal(product)[:m])
        return cls(
            columns, mean[m:], product[:m, :m], product[:m, m:], np.diagonal(product)[m:].copy()
        )

    def gram(self, columns: IntArray) -> FloatArray:
        return np.ascontiguousarray(self.squares[np.ix_(columns, columns)])

    def residual_slope(self, coef: FloatArray, active: IntArray) -> FloatArray:
        return self.slope - self.squares[:, active] @ coef

    def residual_variance(self, coef: FloatArray, active: IntArray) -> FloatArray:
        explained = 2 * self.slope[active] - self.gram(active) @ coef
        return np.maximum(self.output_squares - (coef * explained).sum(axis=0), 0.0)

    def through(self, basis: Any) -> GramTable:
        squares = _in_coordinates(basis, _in_coordinates(basis, self.squares).T).T
        return GramTable(
            _columns_through(self.columns, basis, np.diagonal(squares)),
            self.output_mean,
            squares,
            basis.T @ self.slope,
            self.output_squares,
        )

    def products(self, columns: IntArray) -> FloatArray:
        return self.squares[columns]


@dataclass(frozen=True)
class RowTable:
    """From the rows themselves, centred and weighted by the root of their share.

    Column j of the table is ``scale[j]`` times column j of ``X``: a scale copies no rows.
    """

    columns: ColumnMoments
    output_mean: FloatArray
    X: FloatArray
    Y: FloatArray
    scale: FloatArray

    @classmethod
    def of_rows(cls, X: FloatArray, Y: FloatArray, weight: FloatArray | None = None) -> Self:
        columns, x = centred_columns(X, weight)
        outputs, y = centred_columns(Y, weight)
        scale = 1 / np.sqrt(columns.weight or 1.0)
        if weight is not None:
            x *= np.sqrt(weight)[:, None]
            y *= np.sqrt(weight)[:, None]
        return cls(columns, outputs.mean, x, scale * y, np.full(x.shape[1], scale))

    @cached_property
    def slope(self) -> FloatArray:
        return self._slope_of(self.Y)

    def _slope_of(self, outputs: FloatArray) -> FloatArray:
        return self.scale[:, None] * (self.X.T @ outputs)

    def _chosen(self, columns: IntArray) -> FloatArray:
        return self.X[:, columns] * self.scale[columns]

    def gram(self, columns: IntArray) -> FloatArray:
        chosen = self._chosen(columns)
        return np.ascontiguousarray(chosen.T @ chosen)

    def residual_slope(self, coef: FloatArray, active: IntArray) -> FloatArray:
        return self._slope_of(self.Y - self._chosen(active) @ coef)

    def residual_variance(self, coef: FloatArray, active: IntArray) -> FloatArray:
        residual = self.Y - self._chosen(active) @ coef
        return np.asarray((residual**2).sum(axis=0))

    def through(self, basis: Any) -> RowTable:
        if _is_diagonal(basis):
            old, scale = self.columns, basis.data
            columns = ColumnMoments(old.weight, scale * old.mean, scale**2 * old.deviation)
            return RowTable(columns, self.output_mean, self.X, self.Y, self.scale * scale)
        X = np.ascontiguousarray((basis.T @ (self.scale * self.X).T).T)
        columns = _columns_through(self.columns, basis, np.einsum("ij,ij->j", X, X))
        return RowTable(columns, self.output_mean, X, self.Y, np.ones(X.shape[1]))

    def products(self, columns: IntArray) -> FloatArray:
        return (self._chosen(columns).T @ self.X) * self.scale


def _is_diagonal(basis: Any) -> bool:
    n_rows, n_coordinates = basis.shape
    is_square = n_rows == n_coordinates == basis.nnz
    return is_square and np.array_equal(basis.indices, np.arange(n_rows))


def _in_coordinates(basis: Any, rows: FloatArray) -> FloatArray:
    """basis'rows; a diagonal basis scales, without a product."""
    return basis.data[:, None] * rows if _is_diagonal(basis) else np.asarray(basis.T @ rows)


def _columns_through(columns: ColumnMoments, basis: Any, variance: FloatArray) -> ColumnMoments:
    return ColumnMoments(columns.weight, basis.T @ columns.mean, columns.weight * variance)


def mean_squared_error(
    coef: FloatArray, active: IntArray, *, trained: Table, tested: Table
) -> float:
    """Of the model that ``trained`` centred, on the rows of ``tested``; mean over the outputs."""
    if not tested.columns.weight or not trained.columns.weight:
        return float("nan")
    shift = (tested.columns.mean - trained.columns.mean)[active]
    bias = tested.output_mean - trained.output_mean - shift @ coef
    return float(np.mean(tested.residual_variance(coef, active) + bias**2))


RANK_TOLERANCE = 1e-10  # eigenvalues of a unit's correlations below this are repetitions


@dataclass(frozen=True)
class Basis:
    """``matrix`` maps the expanded columns to coordinates; each unit owns a run of them.

    A single numeric column is scaled (or left alone); the columns of a group and the indicators of
    a categorical column are made orthonormal, so that the penalty is on the size of their fit and a
    column of two states counts as one number. Units without spread have no coordinate.
    """

    matrix: Any
    units: IntArray
    starts: IntArray
    scale: FloatArray

    @property
    def is_plain(self) -> bool:
        """Every unit is one coordinate."""
        return len(self.units) == self.matrix.shape[1]

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.starts)

    @property
    def penalty(self) -> FloatArray:
        """The root of a unit's rank weighs its penalty (Yuan and Lin's rule)."""
        return np.sqrt(self.sizes)

    def norms(self, coef: FloatArray) -> FloatArray:
        """The size of each unit's coefficients, all outputs together; for one matrix or many."""
        if self.is_plain and coef.shape[-1] == 1:
            return np.abs(coef[..., 0])
        squares = (coef**2).sum(axis=-1)
        if not self.is_plain:
            squares = np.add.reduceat(squares, self.starts[:-1], axis=-1)
        return np.sqrt(squares)

    def coordinates_of(self, blocks: IntArray) -> IntArray:
        runs = [np.arange(self.starts[b], self.starts[b + 1]) for b in blocks]
        return np.concatenate(runs) if runs else np.array([], dtype=np.intp)

    def original(self, coef: FloatArray) -> FloatArray:
        """Coefficients of the expanded columns, each at the scale at which it was penalised."""
        return np.asarray(self.scale[:, None] * (self.matrix @ coef))


def find_basis(table: Table, schema: Schema, standardize: bool, monitor: Monitor = SILENT) -> Basis:
    deviation = table.columns.scale(0)
    if schema.is_plain and deviation.any():
        return _scaling(deviation, standardize)
    unit_of = schema.unit_of_column[Dummies(schema).owner]
    by_unit = np.argsort(unit_of, kind="stable")
    runs = np.split(by_unit, np.searchsorted(unit_of[by_unit], np.arange(1, schema.n_units)))
    blocks = [_unit_block(table, columns, deviation, standardize, monitor) for columns in runs]
    units = np.array([u for u, block in enumerate(blocks) if block.shape[1]], dtype=np.intp)
    if not len(units):
        raise InputError("every column is constant, so none can be selected; give other columns.")
    rows = np.concatenate([np.repeat(runs[u], blocks[u].shape[1]) for u in units])
    starts = np.concatenate([[0], np.cumsum([blocks[u].shape[1] for u in units])]).astype(np.intp)
    columns = np.concatenate(
        [np.tile(np.arange(starts[i], starts[i + 1]), len(runs[u])) for i, u in enumerate(units)]
    )
    values = np.concatenate([blocks[u].ravel() for u in units])
    matrix = sp.csr_array((values, (rows, columns)), shape=(len(unit_of), int(starts[-1])))
    return Basis(matrix, units, starts, deviation if standardize else np.ones(len(deviation)))


def _scaling(deviation: FloatArray, standardize: bool) -> Basis:
    """Single numeric columns: each that varies is one coordinate."""
    units = np.flatnonzero(deviation)
    values = 1 / deviation[units] if standardize else np.ones(len(units))
    ends = np.concatenate([[0], np.cumsum(deviation != 0)])
    shape = (len(deviation), len(units))
    matrix = sp.csr_array((values, np.arange(len(units)), ends), shape=shape)
    scale = deviation if standardize else np.ones(len(deviation))
    return Basis(matrix, units, np.arange(len(units) + 1), scale)


def _unit_block(
    table: Table, columns: IntArray, deviation: FloatArray, standardize: bool, monitor: Monitor
) -> FloatArray:
    """From a unit's columns to its coordinates."""
    spread = deviation[columns]
    if len(columns) == 1:
        if not spread[0]:
            return np.empty((1, 0))
        return np.array([[1 / spread[0] if standardize else 1.0]])
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    correlation = table.gram(columns) * np.outer(inverse, inverse)
    values, vectors = watched_call(np.linalg.eigh, correlation, monitor)
    kept = values > RANK_TOLERANCE * len(columns)
    return inverse[:, None] * vectors[:, kept] / np.sqrt(values[kept])
