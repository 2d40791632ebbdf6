"""The covariance of expanded columns as something to multiply with, in the smaller of two forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.engines.base import require_memory
from featsieve.protocols import Engine
from featsieve.runtime.products import watched_call, watched_product
from featsieve.runtime.progress import Monitor
from featsieve.schema import Block, Schema, Target
from featsieve.statistics.moments import Dummies, GramMoments, gram_moments, target_columns

_SMALLEST = 1e-12  # of the largest eigenvalue
_COPIES = 3  # the sum so far, one block's part, and the merged one


class Scatter(Protocol):
    """A symmetric positive semidefinite matrix C, one row per expanded column."""

    def times(self, W: FloatArray) -> FloatArray:
        """C W."""
        ...

    def block(self, rows: IntArray) -> FloatArray:
        """C of some rows and the same columns."""
        ...


class Covariance(Scatter, Protocol):
    """The covariance of all rows."""

    @property
    def n_rows(self) -> int: ...

    def less(self, D: FloatArray) -> Scatter:
        """C − DD', which must also be positive semidefinite."""
        ...

    def strip(self, rows: IntArray) -> FloatArray:
        """C of some rows and all columns."""
        ...

    def leading(self, n: int, monitor: Monitor) -> FloatArray:
        """Eigenvectors of the largest eigenvalues, as far as there are any."""
        ...

    def trace(self) -> float: ...


@dataclass(frozen=True)
class DenseCovariance:
    """The matrix itself: rows of the table were added up, so any number of them will do."""

    matrix: FloatArray

    @property
    def n_rows(self) -> int:
        return len(self.matrix)

    def times(self, W: FloatArray) -> FloatArray:
        return self.matrix @ W

    def block(self, rows: IntArray) -> FloatArray:
        return self.matrix[np.ix_(rows, rows)]

    def less(self, D: FloatArray) -> DenseCovariance:
        """Subtracted once: in each product the difference would carry the rounding of its parts."""
        return DenseCovariance(self.matrix - D @ D.T)

    def strip(self, rows: IntArray) -> FloatArray:
        return self.matrix[rows]

    def leading(self, n: int, monitor: Monitor) -> FloatArray:
        vectors: FloatArray = watched_call(np.linalg.eigh, self.matrix, monitor)[1]
        return vectors[:, ::-1][:, :n]

    def trace(self) -> float:
        return float(np.trace(self.matrix))


@dataclass(frozen=True)
class FactoredCovariance:
    """C = F'F with one row of F per row of the table: smaller where columns outnumber rows."""

    factor: FloatArray

    @property
    def n_rows(self) -> int:
        return self.factor.shape[1]

    def times(self, W: FloatArray) -> FloatArray:
        product: FloatArray = self.factor.T @ (self.factor @ W)
        return product

    def block(self, rows: IntArray) -> FloatArray:
        part = self.factor[:, rows]
        return part.T @ part

    def less(self, D: FloatArray) -> ReducedScatter:
        return ReducedScatter(self, D)

    def strip(self, rows: IntArray) -> FloatArray:
        product: FloatArray = self.factor[:, rows].T @ self.factor
        return product

    def leading(self, n: int, monitor: Monitor) -> FloatArray:
        products = watched_product(self.factor, self.factor.T, monitor)
        values, vectors = watched_call(np.linalg.eigh, products, monitor)
        kept = values > _SMALLEST * max(float(values[-1]), np.finfo(np.float64).tiny)
        scaled = (vectors[:, kept] / np.sqrt(values[kept]))[:, ::-1][:, :n]
        directions: FloatArray = self.factor.T @ scaled
        return directions

    def trace(self) -> float:
        return float(np.square(self.factor).sum())


@dataclass(frozen=True)
class ReducedScatter:
    """C − DD' as two products."""

    covariance: FactoredCovariance
    D: FloatArray

    def times(self, W: FloatArray) -> FloatArray:
        return self.covariance.times(W) - self.D @ (self.D.T @ W)

    def block(self, rows: IntArray) -> FloatArray:
        part = self.D[rows]
        return self.covariance.block(rows) - part @ part.T


@dataclass(frozen=True)
class JointCovariance:
    """The covariance of the columns, and of them with the columns of the target.

    ``shares`` holds the mean of each target column: the share of each class.
    """

    columns: Covariance
    with_target: FloatArray
    shares: FloatArray
    unit_of_row: IntArray


def fit_covariance(engine: Engine, n_scatters: int = 0) -> JointCovariance:
    """One pass over the rows for d × d numbers, or the rows themselves if those are fewer.

    ``n_scatters`` more matrices will be made from it (:meth:`Covariance.less`).
    """
    dummies = Dummies(engine.schema)
    d, n = len(dummies.owner), engine.n_samples
    units = engine.schema.unit_of_column[dummies.owner]
    if n < d:
        require_memory(_COPIES * n * d, engine.memory_limit, f"a table of {n} × {d} indicators")
        X, y = engine.take()
        return _factored(_expanded(dummies, Block(0, X, y)), _target(y, engine.target), units)
    copies = max(_COPIES, 1 + n_scatters)
    require_memory(copies * d * d, engine.memory_limit, f"the covariance of {d} columns")
    of_block = partial(_moments_of_block, engine.schema, engine.target)
    moments = engine.reduce_rows(dummies.in_slices(of_block, engine))
    product = moments.product / moments.weight
    return JointCovariance(
        DenseCovariance(np.ascontiguousarray(product[:d, :d])),
        np.ascontiguousarray(product[:d, d:]),
        moments.mean[d:],
        units,
    )


def _moments_of_block(schema: Schema, target: Target, block: Block) -> GramMoments:
    dummies = Dummies(schema)
    X = dummies.expand(block)
    if isinstance(X, np.ndarray):
        X = X.astype(np.float64, copy=False)
    return gram_moments(X, _target(block.y, target), block.weight)


def _expanded(dummies: Dummies, block: Block) -> FloatArray:
    return np.asarray(dummies.expand(block), dtype=np.float64)


def _target(y: FloatArray, target: Target) -> FloatArray:
    parts: Sequence[FloatArray] = [part for _, part in target_columns(y, target)]
    return np.concatenate([*parts, np.empty((len(y), 0))], axis=1)


def _factored(X: FloatArray, Y: FloatArray, units: IntArray) -> JointCovariance:
    shares = Y.mean(axis=0)
    root = np.sqrt(len(X))
    factor = (X - X.mean(axis=0)) / root
    with_target = factor.T @ ((Y - shares) / root)
    return JointCovariance(FactoredCovariance(factor), with_target, shares, units)
