"""A sparse graph of the rows: each is joined with its nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.arrays import FloatArray, IntArray
from featsieve.errors import InputError
from featsieve.protocols import Engine
from featsieve.schema import Block
from featsieve.statistics.moments import ColumnMoments, Dummies, column_moments, one_hot


@dataclass(frozen=True)
class Graph:
    """Symmetric edge weights as a sparse matrix, and the degree of each row."""

    edges: Any
    degree: FloatArray

    def smoothed(self, values: FloatArray) -> FloatArray:
        """Edge weights times values (one column per column)."""
        return np.asarray(self.edges @ values)


def neighbour_graph(engine: Engine, n_neighbors: int) -> Graph:
    """Rows i and j are joined if one is among the k nearest of the other, by exp(−d²/t).

    d is the Euclidean distance, to which a categorical column adds 1 where states differ; t is the
    mean of d² over all pairs of a row and one of its k nearest.
    """
    squares, others = engine.topk_tiles(_distances(engine), min(n_neighbors, engine.n_samples - 1))
    mean = float(squares.mean())
    strength = np.exp(-squares / mean) if mean > 0 else np.ones_like(squares)
    return _joined(strength, others)


def _joined(strength: FloatArray, others: IntArray) -> Graph:
    import scipy.sparse as sp

    n, k = others.shape
    rows = np.repeat(np.arange(n), k)
    directed = sp.csr_array((strength.ravel(), (rows, others.ravel())), shape=(n, n))
    edges = directed.maximum(directed.T).tocsr()
    return Graph(edges, np.asarray(edges.sum(axis=1)).ravel())


def _moments(block: Block) -> ColumnMoments:
    with np.errstate(over="ignore", invalid="ignore"):
        return column_moments(block.X)


def _distances(engine: Engine) -> Any:
    """Squared distances between two blocks of rows."""
    moments = engine.reduce_rows(_moments)
    dummies = Dummies(engine.schema)
    is_code = dummies.is_indicator
    centre = np.where(is_code, 0.0, moments.mean[dummies.owner])
    # Two indicators differ where two states do, so each counts one half.
    factor = np.where(is_code, np.sqrt(0.5), 1.0)
    unit = _unit(engine, moments)

    def between(first: Block, second: Block) -> FloatArray:
        A, B = (_points(dummies.expand(block), centre, factor) for block in (first, second))
        squares = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2.0 * (A @ B.T)
        return np.asarray(np.maximum(np.rint(squares / unit), 0.0) * unit)

    return between


def _points(values: Any, centre: FloatArray, factor: FloatArray) -> FloatArray:
    dense = values if isinstance(values, np.ndarray) else values.toarray()
    return np.asarray((np.asarray(dense, dtype=np.float64) - centre) * factor)


def _unit(engine: Engine, moments: ColumnMoments) -> float:
    """Squared distances are multiples of this, so that those equal but for rounding tie."""
    columns = engine.schema.numeric_columns
    variance = float((moments.deviation[columns] / moments.weight).sum())
    if not np.isfinite(variance):
        raise InputError(
            "the columns hold numbers so large that squared distances overflow; divide them by a "
            "constant first."
        )
    size = variance + len(engine.schema.categories)
    return float(2.0 ** (np.floor(np.log2(size)) - 34)) if size > 0 else 1.0


def state_columns(values: FloatArray, n_states: int | None) -> FloatArray:
    """A column as what is put on the graph: itself, or the indicators of its states."""
    return values[:, None] if n_states is None else one_hot(values, n_states)
