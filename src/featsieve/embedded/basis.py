"""The blocks of columns under one penalty each, and the coordinates in which they are penalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.dummies import Dummies
from featsieve.embedded.tables import Table
from featsieve.errors import InputError
from featsieve.schema import FloatArray, IntArray, Schema

RANK_TOLERANCE = 1e-10  # eigenvalues of a unit's correlations below this are repetitions


@dataclass(frozen=True)
class Basis:
    """``matrix`` maps the expanded columns to coordinates; each unit owns a run of them.

    A single numeric column is scaled (or left alone); the columns of a group and the indicators of
    a categorical column are made orthonormal, so that the penalty is on the size of their fit and a
    column of two states counts as one number. Units without spread own no coordinate.
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
        """The size of each unit's coefficients, all outputs together."""
        squares = (coef**2).sum(axis=1)
        return np.sqrt(np.add.reduceat(squares, self.starts[:-1]))

    def coordinates_of(self, blocks: IntArray) -> IntArray:
        runs = [np.arange(self.starts[b], self.starts[b + 1]) for b in blocks]
        return np.concatenate(runs) if runs else np.array([], dtype=np.intp)

    def original(self, coef: FloatArray) -> FloatArray:
        """Coefficients of the expanded columns, each at the scale at which it was penalised."""
        return np.asarray(self.scale[:, None] * (self.matrix @ coef))


def find_basis(table: Table, schema: Schema, standardize: bool) -> Basis:
    deviation = table.columns.scale(0)
    unit_of = schema.unit_of_column[Dummies(schema).owner]
    by_unit = np.argsort(unit_of, kind="stable")
    runs = np.split(by_unit, np.searchsorted(unit_of[by_unit], np.arange(1, schema.n_units)))
    blocks = [_unit_block(table, columns, deviation, standardize) for columns in runs]
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


def _unit_block(
    table: Table, columns: IntArray, deviation: FloatArray, standardize: bool
) -> FloatArray:
    """From a unit's columns to its coordinates."""
    spread = deviation[columns]
    if len(columns) == 1:
        if not spread[0]:
            return np.empty((1, 0))
        return np.array([[1 / spread[0] if standardize else 1.0]])
    inverse = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    values, vectors = np.linalg.eigh(table.gram(columns) * np.outer(inverse, inverse))
    kept = values > RANK_TOLERANCE * len(columns)
    return inverse[:, None] * vectors[:, kept] / np.sqrt(values[kept])
