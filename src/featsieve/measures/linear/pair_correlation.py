"""|Correlation| between all pairs of columns: what QPFS takes for redundancy (P-LSMI 4.2)."""

from __future__ import annotations

import numpy as np

from featsieve.dummies import Dummies
from featsieve.moments import CrossMoments, cross_moments
from featsieve.protocols import Engine
from featsieve.schema import Block, FloatArray, Schema


def pair_correlations(engine: Engine) -> FloatArray:
    """One number a pair of units, 1 on the diagonal; one pass over the rows.

    A categorical column enters by its indicator columns, a pair of states with its joint frequency;
    two groups are as correlated as their most correlated columns.
    """
    dummies = Dummies(engine.schema)

    def of_block(block: Block) -> CrossMoments:
        expanded = dummies.expand(block)
        dense = expanded if isinstance(expanded, np.ndarray) else expanded.toarray()
        return cross_moments(dense, dense, block.weight)

    by_column = _hall(engine.reduce_rows(of_block), dummies)
    np.fill_diagonal(by_column, 1.0)
    return _per_unit(by_column, engine.schema)


def _hall(moments: CrossMoments, dummies: Dummies) -> FloatArray:
    """Σ p(a, b) |corr| over the indicator columns of each pair; plain |corr| of numeric columns."""
    strength = np.abs(moments.correlation())
    indicator = dummies.is_indicator
    p = np.where(indicator, moments.x.mean, 1.0)
    share = np.outer(p, p)
    both = np.ix_(indicator, indicator)
    joint = moments.cross / moments.x.weight + np.outer(moments.x.mean, moments.x.mean)
    share[both] = joint[both]
    owner = dummies.owner
    n_columns = dummies.schema.n_columns
    summed = np.zeros((n_columns, n_columns))
    np.add.at(summed, (owner[:, None], owner[None, :]), share * strength)
    return summed


def _per_unit(by_column: FloatArray, schema: Schema) -> FloatArray:
    if schema.groups is None:
        return by_column
    rows = np.array([by_column[list(columns)].max(axis=0) for columns in schema.groups])
    return np.array([rows[:, list(columns)].max(axis=1) for columns in schema.groups])
